// Rung 1: one work-item, one cell of C, with the axes the unlucky way round.
//
//                        N                 Dimension 0, along which a warp's work-items are
//              B   . . | . . . .           numbered, walks down the rows of C. At step k the warp
//                K . . | . . . .           shares one cell of B and wants cells of A that lie K
//                  . . | . . . .           elements apart: as many memory lines as work-items.
//           K
//   A   . . @ . .  . . x . . . .  C        x: neighbours in dimension 0
//     M . . @ . .  . . x . . . .           @: what they read of A in one step
//       . . @ . .  . . x . . . .
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source of the idea: the textbook kernel as articles on OpenCL usually print it.

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
void naive_strided(__global const real *restrict A, __global const real *restrict B,
                   __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);

  if (row < M && col < N) {
    real sum = 0;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
  }
}
