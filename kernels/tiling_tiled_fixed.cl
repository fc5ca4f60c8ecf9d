// The tiling article's local-memory kernel, mended: the two axes change places.
//
//                        N
//              B   . . +----+ . .          A group makes one TS x TS tile of C. Per step it
//                K     | Bs |              copies one tile of A and one of B, side by side in
//                  . . +----+ . .          memory because dimension 0 now walks over columns:
//           K                              As[y][x] is row y, k = x; Bs[y][x] is k = y, column x.
//       +----+--     +----+
//   A M | As |  ...  | C  |                As[y][k] is one cell for all x: a broadcast.
//       +----+--     +----+                Bs[k][x] is a row: one bank a work-item.
//
// Memory plan: As and Bs, TS x (TS + PAD) each; one load of A and of B a work-item and step, two
// barriers a step. Edge tiles are filled with zeros.
// Source: "Tiling Matrix Multiplication in OpenCL with __local Memory", its tiled kernel. Kept:
// everything below the first two lines. Changed: row from dimension 1 and col from dimension 0,
// the mapping that the article's own local indices assume.

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
void tiling_tiled_fixed(__global const real *restrict A, __global const real *restrict B,
                        __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_group_id(1) * TS + get_local_id(1);
  const int col = get_group_id(0) * TS + get_local_id(0);

  __local real As[TS][TS + PAD];
  __local real Bs[TS][TS + PAD];

  real sum = 0;
  for (int t = 0; t < (K + TS - 1) / TS; ++t) {
    const int tiledK = t * TS + get_local_id(0);
    const int tiledK2 = t * TS + get_local_id(1);

    if (row < M && tiledK < K) {
      As[get_local_id(1)][get_local_id(0)] = A[row * K + tiledK];
    } else {
      As[get_local_id(1)][get_local_id(0)] = 0;
    }
    if (col < N && tiledK2 < K) {
      Bs[get_local_id(1)][get_local_id(0)] = B[tiledK2 * N + col];
    } else {
      Bs[get_local_id(1)][get_local_id(0)] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      sum += As[get_local_id(1)][k] * Bs[k][get_local_id(0)];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
