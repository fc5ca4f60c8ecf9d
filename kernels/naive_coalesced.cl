// Rung 2: one work-item, one cell of C, with neighbours side by side in memory.
//
//                        N                 Dimension 0, along which a warp's work-items are
//              B   . . . . . . .           numbered, walks along the rows of C. At step k the
//                K . . @ @ @ . .           warp shares one cell of A and reads one run of B, and
//                  . . . . . . .           it writes one run of C: few memory lines, all used.
//           K
//   A   . . . . .  . . . . . . .  C        x: neighbours in dimension 0
//     M . . @ . .  . . x x x . .           @: what they read of A and B in one step
//       . . . . .  . . . . . . .
//
// Memory plan: no local memory; each cell costs K loads of A, K loads of B and one store.
// Source of the idea: coalescing, as GPU programming guides teach it. New on this rung: nothing
// but the exchanged axes.

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
void naive_coalesced(__global const real *restrict A, __global const real *restrict B,
                     __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(1);
  const int col = get_global_id(0);

  if (row < M && col < N) {
    real sum = 0;
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
  }
}
