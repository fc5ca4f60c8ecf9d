// One work-item, one cell of C, column-major: the first multiplication of the myGEMM file.
//
//                        N                 Column-major: the next address is the next row.
//              B   . . | . . . .           Dimension 0 walks over rows, so at step k a warp reads
//                K . . | . . . .           A along memory (the column of @), shares one cell of B,
//                  . . | . . . .           and writes C along memory.
//           K
//   A   . . @ . .  . . x . . . .  C        x: neighbours in dimension 0
//     M . . @ . .  . . x . . . .           @: what they read of A in one step
//       . . @ . .  . . x . . . .
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source: "myGEMM.cl", its kernel myGEMM1. Kept: the sizes first, column-major storage, no guard,
// every index.

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
void mygemm_1(const int M, const int N, const int K, __global const real *restrict A,
              __global const real *restrict B, __global real *restrict C) {
  const int globalRow = get_global_id(0);
  const int globalCol = get_global_id(1);

  real acc = 0;
  for (int k = 0; k < K; ++k) {
    acc += A[k * M + globalRow] * B[globalCol * K + k];
  }
  C[globalCol * M + globalRow] = acc;
}
