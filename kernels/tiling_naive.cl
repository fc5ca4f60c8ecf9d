// One work-item, one cell of C: the guarded starting point of the tiling article.
//
//                        N                 Dimension 0 walks over rows, so the neighbours in a
//              B   . . | . . . .           warp sit one below the other: at step k they all
//                K . . | . . . .           want the same B[k, col], and A cells that lie a
//                  . . | . . . .           whole row of K elements apart.
//         K
//   A   ------     . . x . . . .  C        x is one work-item: row x of A times column x of B
//     M ------     . . x . . . .           neighbours in dimension 0: the three x
//       ------     . . x . . . .
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source: "Tiling Matrix Multiplication in OpenCL with __local Memory", its first kernel. Kept:
// row from dimension 0, column from dimension 1, the early return, every index.

#ifndef TS
#define TS 16  // edge of the work-group, in work-items
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void tiling_naive(__global const real *restrict A, __global const real *restrict B,
                  __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  if (row >= M || col >= N) return;

  real sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
