// The trade-offs article's local-memory kernel for square matrices: right at any N.
//
//                        N
//              B   . . +----+ . .          A group makes one TS x TS tile of C. Per step it
//                N     | Bs |              copies one tile of A and one of B; dimension 0 walks
//                  . . +----+ . .          over columns, so the copies run along memory.
//           N
//       +----+--     +----+                As[ty][k] is one cell for all tx: a broadcast.
//   A N | As |  ...  | C  |                Bs[k][tx] is a row: one bank a work-item.
//       +----+--     +----+
//
// Memory plan: As and Bs, TS x (TS + PAD) each; one load of A and of B a work-item and step, two
// barriers a step: 2*TS*TS loads for TS*TS*TS multiply-adds. Edge tiles are filled with zeros.
// Source: "OpenCL Memory Trade-offs: When Local Memory Beats Global for Data-Parallel Kernels",
// its tiled kernel. Kept: N as the only size, group and local id names, every index.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group
#endif
#ifndef PAD
#define PAD 0  // unused elements at the end of each local row
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif
#if PAD < 0
#error "PAD cannot be negative"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void tradeoffs_tiled(__global const real *restrict A, __global const real *restrict B,
                     __global real *restrict C, const int N) {
  __local real As[TS][TS + PAD];
  __local real Bs[TS][TS + PAD];

  const int bx = get_group_id(0);
  const int by = get_group_id(1);
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int row = by * TS + ty;
  const int col = bx * TS + tx;

  real sum = 0;
  for (int t = 0; t < (N + TS - 1) / TS; ++t) {
    const int aCol = t * TS + tx;
    const int bRow = t * TS + ty;
    if (row < N && aCol < N) {
      As[ty][tx] = A[row * N + aCol];
    } else {
      As[ty][tx] = 0;
    }
    if (bRow < N && col < N) {
      Bs[ty][tx] = B[bRow * N + col];
    } else {
      Bs[ty][tx] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  if (row < N && col < N) {
    C[row * N + col] = sum;
  }
}
