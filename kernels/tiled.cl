// Rung 3: each group stages one tile of A and one of B in local memory per step.
//
//                        N
//              B   . . +----+ . .          A group makes one TS x TS tile of C. Every element it
//                K     | Bs |              copies from global memory is then used TS times.
//                  . . +----+ . .
//           K                              As[ty][tx] is row ty, k = tx; Bs[ty][tx] is k = ty,
//       +----+--     +----+                column tx: both copies run along memory.
//   A M | As |  ...  | C  |
//       +----+--     +----+                As[ty][k] is one cell for all tx: a broadcast.
//                                          Bs[k][tx] is a row: one bank a work-item.
//
// Memory plan: As and Bs, TS x TS each; one load of A and of B a work-item and step, two barriers a
// step. Edge tiles are filled with zeros, which add nothing to the sums.
// Source of the idea: blocking for a scratchpad, as in "OpenCL Memory Trade-offs" and in most
// introductions to local memory. New on this rung: the tiles.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void tiled(__global const real *restrict A, __global const real *restrict B,
           __global real *restrict C, const int M, const int N, const int K) {
  __local real As[TS][TS];
  __local real Bs[TS][TS];

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int row = get_group_id(1) * TS + ty;
  const int col = get_group_id(0) * TS + tx;

  real sum = 0;
  for (int k0 = 0; k0 < K; k0 += TS) {
    As[ty][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : (real)0;
    Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
