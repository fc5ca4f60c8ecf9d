// Rung 6: every work-item makes TM x TN cells of C out of TM + TN values held in registers.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C. Per step it copies
//                K     | Bs, BK |          BK columns of A and BK rows of B; A's tile is stored on
//                  . . +--------+ . .      its side, As[k][row].
//         K               BN
//       +----+--       +--------+            . . . . . .    a work-item's cells (TM = 2, TN = 4):
//   A M | As |  ...  BM|   C    |            . x x x x .    TM rows one below the other and runs
//       | BK |         |        |            . x x x x .    of four columns; with TN = 8 the second
//       +----+--       +--------+            . . . . . .    run lies half a tile to the right.
//
// For each k an item reads TM values of As and TN of Bs and makes TM * TN multiply-adds of them:
// 12 local loads for 32 by default, where rung 5 needs 9 for 8. The runs are whole 16-byte reads
// side by side. A work-item that multiplies has the next tiles already on their way: they are
// fetched into registers before the multiplication and stored after it.
//
// Edges cost the main loop nothing. Rows and columns beyond the matrix are fetched from its last
// row or column and never stored. What K has beyond a multiple of BK is taken in the first step,
// which starts at a negative k and takes zeros there.
//
// Memory plan: As BK x (BM + PAD), Bs BK x BN; BM*BK + BK*BN loads a group and step, shared evenly;
// two barriers a step; TM*TN sums in registers. PAD = 4 keeps the column-wise stores of As apart
// and its rows on 16 bytes.
// Source of the idea: 2-D register blocking, as in the myGEMM series and in CLBlast. New on this
// rung: the TM x TN cells an item, and the fetch ahead that keeps so few items busy.

#ifndef BM
#define BM 64  // rows of C a group
#endif
#ifndef BN
#define BN 64  // columns of C a group
#endif
#ifndef BK
#define BK 8  // values of k a step
#endif
#ifndef TM
#define TM 8  // rows of C a work-item
#endif
#ifndef TN
#define TN 4  // columns of C a work-item
#endif
#ifndef PAD
#define PAD 4  // unused elements at the end of each row of As
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if BM < 1 || BN < 1 || BK < 1 || TM < 1 || TN < 1
#error "tile edges and cells a work-item must be at least 1"
#endif
#if PAD < 0
#error "PAD cannot be negative"
#endif
#if BM % TM != 0 || BN % TN != 0
#error "TM has to divide BM, and TN has to divide BN"
#endif

#define RUN (TN < 4 ? TN : 4)  // columns in a row that one work-item owns
#define SIZE_X (BN / TN)       // the group's two edges
#define SIZE_Y (BM / TM)
#define ITEMS (SIZE_X * SIZE_Y)
#define LOADS_A (BM * BK / ITEMS)  // elements of each tile that one work-item copies
#define LOADS_B (BK * BN / ITEMS)

#if BM * BK % ITEMS != 0 || BK * BN % ITEMS != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif
#if TN % RUN != 0
#error "TN beyond 4 has to be a multiple of 4"
#endif

__kernel __attribute__((reqd_work_group_size(SIZE_X, SIZE_Y, 1)))
void register_2d(__global const real *restrict A, __global const real *restrict B,
                 __global real *restrict C, const int M, const int N, const int K) {
  __local real As[BK][BM + PAD] __attribute__((aligned(16)));
  __local real Bs[BK][BN] __attribute__((aligned(16)));

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int id = ty * SIZE_X + tx;
  const int row0 = get_group_id(1) * BM;
  const int col0 = get_group_id(0) * BN;

  // Where this item's share of the tiles lies, and the first step's values.
  const int first = (K - 1) % BK + 1 - BK;  // 0 where BK divides K, else negative
  int fromA[LOADS_A];
  int fromB[LOADS_B];
  real nextA[LOADS_A];
  real nextB[LOADS_B];
  for (int n = 0; n < LOADS_A; ++n) {
    const int e = id + n * ITEMS;
    const int row = row0 + e / BK;
    const int k = first + e % BK;
    fromA[n] = (row < M ? row : M - 1) * K + k;
    nextA[n] = k >= 0 ? A[fromA[n]] : (real)0;
  }
  for (int n = 0; n < LOADS_B; ++n) {
    const int e = id + n * ITEMS;
    const int k = first + e / BN;
    const int col = col0 + e % BN;
    fromB[n] = k * N + (col < N ? col : N - 1);
    nextB[n] = k >= 0 ? B[fromB[n]] : (real)0;
  }

  real sum[TM][TN];
  for (int i = 0; i < TM; ++i) {
    for (int j = 0; j < TN; ++j) {
      sum[i][j] = 0;
    }
  }

  for (int k0 = first; k0 < K; k0 += BK) {
    for (int n = 0; n < LOADS_A; ++n) {
      const int e = id + n * ITEMS;
      As[e % BK][e / BK] = nextA[n];
    }
    for (int n = 0; n < LOADS_B; ++n) {
      const int e = id + n * ITEMS;
      Bs[e / BN][e % BN] = nextB[n];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    if (k0 + BK < K) {  // fetch ahead; the whole group agrees
      for (int n = 0; n < LOADS_A; ++n) {
        fromA[n] += BK;
        nextA[n] = A[fromA[n]];
      }
      for (int n = 0; n < LOADS_B; ++n) {
        fromB[n] += BK * N;
        nextB[n] = B[fromB[n]];
      }
    }

    for (int k = 0; k < BK; ++k) {
      real a[TM];
      real b[TN];
      for (int i = 0; i < TM; ++i) {
        a[i] = As[k][ty * TM + i];
      }
      for (int j = 0; j < TN; ++j) {
        b[j] = Bs[k][j / RUN * (SIZE_X * RUN) + tx * RUN + j % RUN];
      }
      for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
          sum[i][j] += a[i] * b[j];
        }
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ty * TM + i;
    for (int j = 0; j < TN; ++j) {
      const int col = col0 + j / RUN * (SIZE_X * RUN) + tx * RUN + j % RUN;
      if (row < M && col < N) {
        C[row * N + col] = sum[i][j];
      }
    }
  }
}
