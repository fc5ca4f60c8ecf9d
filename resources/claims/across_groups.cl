// A faulty kernel to test with: all groups read a cell that the first one writes.
//
// The first work-item of all stores its cell, everybody waits at a barrier for global memory, and
// adds nought times that cell. The first group is in order; no barrier makes the others wait for it.

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
void across_groups(__global const real *restrict A, __global const real *restrict B,
                   __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(1);
  const int col = get_global_id(0);

  real sum = 0;
  if (row < M && col < N) {
    for (int k = 0; k < K; ++k) {
      sum += A[row * K + k] * B[k * N + col];
    }
  }
  if (row == 0 && col == 0) {
    C[0] = sum;
  }
  barrier(CLK_GLOBAL_MEM_FENCE);
  if (row < M && col < N && row + col > 0) {
    C[row * N + col] = sum + 0 * C[0];
  }
}
