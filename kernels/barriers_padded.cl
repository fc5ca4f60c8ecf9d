// The barriers article's advice on bank conflicts, on a kernel that is right: padded local rows.
//
//     Asub[16][16]: 16 work-items store a column       Asub[16][17]: the pad shifts every row
//
//       bank   0 .. 15 | 16 .. 31                        bank   0 .. 15 |  16 .. 31
//       x = 0  *       |                                 x = 0  *       |
//       x = 1          |  *                              x = 1          |   *
//       x = 2  *       |                                 x = 2    *     |
//       x = 3          |  *                              x = 3          |     *
//
// Dimension 0 walks over rows, so a warp's stores to both tiles and its loads of Asub fall one
// local row apart. On 32 banks of 4 bytes a 16-row warp meets 8 deep without the pad, 2 deep with
// one element, and not at all with two; at TS = 32 one element is enough.
//
// Memory plan: Asub and Bsub, TS x (TS + PAD) each; one load of A and of B a work-item and step,
// two barriers a step. Edge tiles are filled with zeros.
// Source: "Optimizing OpenCL Kernels with Local Memory and Work-Group Barriers", its tiled kernel
// and its [16][17] remark. Kept: row from dimension 0, the local indices, the guarded copies, both
// barriers. Changed: the tiles advance along K (barriers_tiled_fixed), and PAD is 1.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group
#endif
#ifndef PAD
#define PAD 1  // unused elements at the end of each local row
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
void barriers_padded(__global const real *restrict A, __global const real *restrict B,
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
