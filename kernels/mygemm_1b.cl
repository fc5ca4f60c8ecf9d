// myGEMM 1 with the two dimensions exchanged, to show what a strided mapping costs.
//
//                        N                 Column-major: the next address is the next row.
//              B   . . . . . . .           Dimension 0 walks over columns, so at step k a warp
//                K . . @ @ @ . .           reads cells of B that lie K elements apart (@), shares
//                  . . . . . . .           one cell of A, and writes cells of C that lie M
//           K                              elements apart (x).
//   A   . . . . .  . . . . . . .  C
//     M . . @ . .  . . x x x . .           x: neighbours in dimension 0
//       . . . . .  . . . . . . .           @: what they read of A and B in one step
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source: "myGEMM.cl", its kernel myGEMM1b. Kept: the sizes first, column-major storage, row from
// dimension 1 and column from dimension 0 (a global size of N x M), no guard, every index.

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
void mygemm_1b(const int M, const int N, const int K, __global const real *restrict A,
               __global const real *restrict B, __global real *restrict C) {
  const int globalRow = get_global_id(1);
  const int globalCol = get_global_id(0);

  real acc = 0;
  for (int k = 0; k < K; ++k) {
    acc += A[k * M + globalRow] * B[globalCol * K + k];
  }
  C[globalCol * M + globalRow] = acc;
}
