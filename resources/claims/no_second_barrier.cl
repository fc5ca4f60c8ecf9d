// A faulty kernel to test with: tiles are overwritten before the group has used them up.
//
// The barrier behind the sums is missing, so a quick work-item may overwrite cells of As and Bs
// that a slow one still reads: a data race, from the second step on.

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
void no_second_barrier(__global const real *restrict A, __global const real *restrict B,
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
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int k = 0; k < TS; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
