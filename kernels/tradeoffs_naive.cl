// One work-item, one cell of C, square matrices: the trade-offs article's starting point.
//
//                        N                 Dimension 0 walks over rows: the neighbours in a
//              B   . . | . . . .           warp share B[k, col] and want A cells that lie N
//                N . . | . . . .           elements apart.
//                  . . | . . . .
//         N                                The global size has to be N x N exactly: there is no
//   A   ------     . . x . . . .  C        guard.
//     N ------     . . x . . . .
//       ------     . . x . . . .           neighbours in dimension 0: the three x
//
// Memory plan: no local memory; each cell costs N loads of A, N loads of B and one store.
// Source: "OpenCL Memory Trade-offs: When Local Memory Beats Global for Data-Parallel Kernels",
// its naive kernel. Kept: N as the only size, row from dimension 0, every index.

#ifndef TS
#define TS 16  // edge of the work-group; has to divide N
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void tradeoffs_naive(__global const real *restrict A, __global const real *restrict B,
                     __global real *restrict C, const int N) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);

  real sum = 0;
  for (int k = 0; k < N; ++k) {
    sum += A[row * N + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
