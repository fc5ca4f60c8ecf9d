// Rung 4: A's tile is kept on its side, and padding takes the bank conflicts out of that.
//
//                        N
//              B   . . +----+ . .          A group makes one TS x TS tile of C, as on rung 3, but
//                K     | Bs |              stores A's tile transposed: As[k][row]. The inner loop
//                  . . +----+ . .          then reads one row of As and one of Bs per k, the layout
//           K                              that lets later rungs take several rows of A at once.
//       +----+--     +----+
//   A M | As |  ...  | C  |                A is still copied along its memory, so the work-items of
//       +----+--     +----+                dimension 0 store down a column of As.
//
//     A warp's stores, As 16 x 16         the same, As 16 x 18 (PAD = 2)
//       k = 0   banks  0  1                 k = 0   banks  0  1
//       k = 1         16 17                 k = 1         18 19
//       k = 2          0  1                 k = 2          4  5
//       k = 3         16 17                 k = 3         22 23
//       ...  8 deep on 4 banks              ...  32 different banks
//
// With 32 banks of 4 bytes PAD = 32 / TS clears the way for float (from TS = 8 up); PAD = 0 shows
// the cost. Bs is read and stored along its rows, where a pad would add conflicts: it has none.
//
// Memory plan: As TS x (TS + PAD), Bs TS x TS; one load of A and of B a work-item and step, two
// barriers a step. Edge tiles are filled with zeros.
// Source of the idea: the padding remark of "Optimizing OpenCL Kernels with Local Memory and
// Work-Group Barriers". New on this rung: the transposed tile and its pad.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group
#endif
#ifndef PAD
#define PAD 2  // unused elements at the end of each row of As
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
void tiled_padded(__global const real *restrict A, __global const real *restrict B,
                  __global real *restrict C, const int M, const int N, const int K) {
  __local real As[TS][TS + PAD];
  __local real Bs[TS][TS];

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int row = get_group_id(1) * TS + ty;
  const int col = get_group_id(0) * TS + tx;

  real sum = 0;
  for (int k0 = 0; k0 < K; k0 += TS) {
    As[tx][ty] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : (real)0;
    Bs[ty][tx] = (k0 + ty < K && col < N) ? B[(k0 + ty) * N + col] : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      sum += As[k][ty] * Bs[k][tx];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  if (row < M && col < N) {
    C[row * N + col] = sum;
  }
}
