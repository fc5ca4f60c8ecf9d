// One work-item, one cell of C, without a guard: the starting point of the barriers article.
//
//                        N                 Dimension 0 walks over rows: the neighbours in a
//              B   . . | . . . .           warp share B[k, col] and want A cells that lie K
//                K . . | . . . .           elements apart.
//                  . . | . . . .
//         K                                The global size has to be M x N exactly: a rounded-up
//   A   ------     . . x . . . .  C        one would read and write beyond the matrices.
//     M ------     . . x . . . .
//       ------     . . x . . . .           neighbours in dimension 0: the three x
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source: "Optimizing OpenCL Kernels with Local Memory and Work-Group Barriers", its naive
// kernel. Kept: row from dimension 0, column from dimension 1, the missing guard, every index.

#ifndef TS
#define TS 16  // edge of the work-group; has to divide M and N
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void barriers_naive(__global const real *restrict A, __global const real *restrict B,
                    __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);

  real sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
