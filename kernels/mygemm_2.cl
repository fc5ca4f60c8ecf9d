// Column-major local tiles: the third multiplication of the myGEMM file, without an edge.
//
//                        N
//              B   . . +------+ . .        A group makes one TS x TS tile of C. Per step it copies
//                K     | Bsub |            one tile of A and one of B. Dimension 0 walks down
//                  . . +------+ . .        columns, which is along memory, so both copies and the
//            K                             store of C are coalesced.
//       +------+--     +------+
//   A M | Asub |  ...  |  C   |            Asub[k][row]: one bank a work-item of dimension 0.
//       +------+--     +------+            Bsub[col][k]: one cell for all of them, a broadcast.
//
// The loop runs K / TS times, rounded down, and nothing is guarded: M and N have to be multiples
// of TS, and the last K % TS products are left out.
//
// Memory plan: Asub and Bsub, TS x (TS + PAD) each, their first index the column; one load of A and
// of B a work-item and step, two barriers a step.
// Source: "myGEMM.cl", its kernel myGEMM2. Kept: the sizes first, column-major storage, no guard,
// the truncating division, every index.

#ifndef TS
#define TS 16  // edge of the tile and of the work-group; has to divide M and N
#endif
#ifndef PAD
#define PAD 0  // unused elements at the end of each local column
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
void mygemm_2(const int M, const int N, const int K, __global const real *restrict A,
              __global const real *restrict B, __global real *restrict C) {
  const int row = get_local_id(0);
  const int col = get_local_id(1);
  const int globalRow = TS * get_group_id(0) + row;
  const int globalCol = TS * get_group_id(1) + col;

  __local real Asub[TS][TS + PAD];
  __local real Bsub[TS][TS + PAD];

  real acc = 0;
  const int numTiles = K / TS;  // rounds down: what K has beyond a multiple of TS is lost
  for (int t = 0; t < numTiles; ++t) {
    const int tiledRow = TS * t + row;
    const int tiledCol = TS * t + col;
    Asub[col][row] = A[tiledCol * M + globalRow];
    Bsub[col][row] = B[globalCol * K + tiledRow];
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      acc += Asub[k][row] * Bsub[col][k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  C[globalCol * M + globalRow] = acc;
}
