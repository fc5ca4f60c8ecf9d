// The barriers article's local-memory kernel, with its fault: the tiles walk the wrong way.
//
//           K                     N
//       +----+------          +----+----+----+
//       | t=0|                | t=0| t=1| t=2|       Step t reads rows t*TS ... of A and columns
//       +----+            B K +----+----+----+       t*TS ... of B, and always their first TS
//   A M | t=1|                |                      values of k. Both should stay on the rows
//       +----+                |                      and columns of the group's own tile of C and
//       | t=2|                                       advance along k.
//
// The group's place in C enters no load, so every group computes the same cells.
//
// Memory plan: Asub and Bsub, TS x (TS + PAD) each; one load of A and of B a work-item and step,
// two barriers a step. Whatever falls outside is zero, so nothing is read out of bounds.
// Source: "Optimizing OpenCL Kernels with Local Memory and Work-Group Barriers", its tiled
// kernel. Kept: every index, the fault included. barriers_tiled_fixed is the same, mended.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group
#endif
#ifndef PAD
#define PAD 0  // unused elements at the end of each local row
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif
#if PAD < 0
#error "PAD cannot be negative"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void barriers_tiled(__global const real *restrict A, __global const real *restrict B,
                    __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  const int localRow = get_local_id(0);
  const int localCol = get_local_id(1);

  __local real Asub[TS][TS + PAD];
  __local real Bsub[TS][TS + PAD];

  real sum = 0;
  for (int t = 0; t < (K + TS - 1) / TS; ++t) {
    // The fault: t should advance k, and row and col should place the tile.
    const int tiledRow = t * TS + localRow;
    const int tiledCol = t * TS + localCol;
    Asub[localRow][localCol] =
        (tiledRow < M && localCol < K) ? A[tiledRow * K + localCol] : (real)0;
    Bsub[localRow][localCol] =
        (tiledCol < N && localRow < K) ? B[localRow * N + tiledCol] : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      sum += Asub[localRow][k] * Bsub[k][localCol];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
