// The tiling article's local-memory kernel, with its fault: it multiplies diagonals.
//
//                     one tile of A in global memory     what the group stores in As
//                          k ->                               x ->
//                        0 . . . .                          0 1 2 3 4
//                row     . 1 . . .                     y    0 1 2 3 4
//                        . . 2 . .                          0 1 2 3 4
//                        . . . 3 .                          0 1 2 3 4
//                        . . . . 4                          0 1 2 3 4
//
// Local id 0 picks both the row of A and the k within the tile, so only the diagonal of the tile
// is ever read and each of its cells is stored TS times. The same happens to B with local id 1.
// Every work-item of the group therefore ends with one and the same sum.
//
// Memory plan: As and Bs, TS x (TS + PAD) each; one load of A and of B a work-item and step, two
// barriers a step. Edge tiles are filled with zeros, so nothing is read out of bounds.
// Source: "Tiling Matrix Multiplication in OpenCL with __local Memory", its tiled kernel. Kept:
// every index, the fault included. tiling_tiled_fixed is the same kernel, mended.

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
void tiling_tiled(__global const real *restrict A, __global const real *restrict B,
                  __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_group_id(0) * TS + get_local_id(0);
  const int col = get_group_id(1) * TS + get_local_id(1);

  __local real As[TS][TS + PAD];
  __local real Bs[TS][TS + PAD];

  real sum = 0;
  for (int t = 0; t < (K + TS - 1) / TS; ++t) {
    const int tiledK = t * TS + get_local_id(0);
    const int tiledK2 = t * TS + get_local_id(1);

    // The fault: row and tiledK both advance with local id 0 ...
    if (row < M && tiledK < K) {
      As[get_local_id(1)][get_local_id(0)] = A[row * K + tiledK];
    } else {
      As[get_local_id(1)][get_local_id(0)] = 0;
    }
    // ... and col and tiledK2 both with local id 1.
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
