// A faulty kernel to test with: edge tiles are not filled up with zeros.
//
// Where a tile sticks out of A or B its cells stay as they were: never written in the first step,
// left over from the step before in later ones. The sums take them in all the same.

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
void no_zero_fill(__global const real *restrict A, __global const real *restrict B,
                  __global real *restrict C, const int M, const int N, const int K) {
  __local real As[TS][TS];
  __local real Bs[TS][TS];
  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int row = get_group_id(1) * TS + ty;
  const int col = get_group_id(0) * TS + tx;

  real sum = 0;
  for (int k0 = 0; k0 < K; k0 += TS) {
    if (row < M && k0 + tx < K) {
      As[ty][tx] = A[row * K + k0 + tx];
    }
    if (k0 + ty < K && col < N) {
      Bs[ty][tx] = B[(k0 + ty) * N + col];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int k = 0; k < TS; ++k) {
      sum += As[ty][k] * Bs[k][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
