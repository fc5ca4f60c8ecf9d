// A faulty kernel to test with: work-items outside C read and write all the same.
//
// The launch is rounded up to whole groups. Without a guard the work-items of the last ones read
// behind A and B and write behind C.

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
void past_the_end(__global const real *restrict A, __global const real *restrict B,
                  __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(1);
  const int col = get_global_id(0);

  real sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += A[row * K + k] * B[k * N + col];
  }
  C[row * N + col] = sum;
}
