// The barriers article's local-memory kernel, mended: the tiles advance along K.
//
//                            N
//              B   .  .  +------+  .        A group makes one TS x TS tile of C; step t copies
//                K       | Bsub |           TS columns of A's rows and TS rows of B's columns.
//                  .  .  +------+  .        Dimension 0 still walks over rows, as published:
//            K
//       +------+--       +------+           Asub[x][y] = A: x strides over whole rows, in global
//   A M | Asub |  ...    |  C   |           memory (K elements) and in local (TS + PAD).
//       +------+--       +------+
//
// A warp's stores to both tiles and its loads of Asub fall TS + PAD elements apart, on the same few
// banks while PAD is 0; barriers_padded shows the cure.
//
// Memory plan: Asub and Bsub, TS x (TS + PAD) each; one load of A and of B a work-item and step,
// two barriers a step. Edge tiles are filled with zeros.
// Source: "Optimizing OpenCL Kernels with Local Memory and Work-Group Barriers", its tiled
// kernel. Kept: row from dimension 0, the local indices, the guarded copies, both barriers.
// Changed: A is read at (row, t*TS + localCol) and B at (t*TS + localRow, col).

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
void barriers_tiled_fixed(__global const real *restrict A, __global const real *restrict B,
                          __global real *restrict C, const int M, const int N, const int K) {
  const int row = get_global_id(0);
  const int col = get_global_id(1);
  const int localRow = get_local_id(0);
  const int localCol = get_local_id(1);

  __local real Asub[TS][TS + PAD];
  __local real Bsub[TS][TS + PAD];

  real sum = 0;
  for (int t = 0; t < (K + TS - 1) / TS; ++t) {
    const int tiledRow = t * TS + localRow;
    const int tiledCol = t * TS + localCol;
    Asub[localRow][localCol] = (row < M && tiledCol < K) ? A[row * K + tiledCol] : (real)0;
    Bsub[localRow][localCol] = (col < N && tiledRow < K) ? B[tiledRow * N + col] : (real)0;
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
