// Rung 11: the work-items of a warp make a block of C that is as square as can be.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C in the manner of
//                K     | Bs, BK |          rung 10. Work-items that run in lock step, a warp, read
//                  . . +--------+ . .      As and Bs together: a value that several of them want is
//         K               BN               read once for all.
//       +----+--       +--------+
//   A M | As |  ...  BM|   C    |            rung 10, 8 columns of items      LANES_X = 8
//       | BK |         |        |              (BN = 64)    +--------+        +--------+
//       +----+--       +--------+              or 16        |warp    | 4      |warp    | 4
//                                              (BN = 128):  +--------+        +--------+
//                                              +----------------+               8 lanes,
//                                              |warp            | 2             at any BN
//                                              +----------------+
//
// 32 items in 2 x 16 of 8 x 8 cells want 16 values of A and 128 of B per k; in 4 x 8 they want 32
// and 64, two thirds of it. The rows and columns of an item are runs of four, LANES_Y * 4 and
// LANES_X * 4 apart, so lanes side by side read side by side, on separate banks.
//
//       a warp's block      . . . . 0000 1111 2222 ... 0000 1111 2222 ...    of lanes 0, 1, 2
//       of LANES_Y * TM  x  LANES_X * TN cells
//
// Nothing depends on the device's real warp: any other width computes the same.
//
// Memory plan: As 2 x BK x (BM + PAD), Bs 2 x BK x BN; (BM*BK + BK*BN) / 4 loads a group and step;
// one barrier a step; TM*TN sums and 2 * (TM + TN) values in registers. Edges as on rung 7.
// Source of the idea: warp tiles, as in CUTLASS. New on this rung: the place of an item in C.

#ifndef BM
#define BM 64  // rows of C a group
#endif
#ifndef BN
#define BN 128  // columns of C a group
#endif
#ifndef BK
#define BK 16  // values of k a step
#endif
#ifndef TM
#define TM 8  // rows of C a work-item
#endif
#ifndef TN
#define TN 8  // columns of C a work-item
#endif
#ifndef LANES_X
#define LANES_X 8  // work-items of a warp side by side
#endif
#ifndef PAD
#define PAD 4  // unused elements at the end of each row of As
#endif
#ifndef SWIZZLE
#define SWIZZLE 1  // 1 swaps rows within As, 0 leaves them in order
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if BM < 4 || BN < 4 || BK < 4 || TM < 4 || TN < 4
#error "tile edges and cells a work-item must be at least 4"
#endif
#if BK % 4 != 0 || TM % 4 != 0 || TN % 4 != 0 || PAD % 4 != 0 || PAD < 0
#error "BK, TM, TN and PAD have to be multiples of 4"
#endif
#if SWIZZLE && (BM % 16 != 0 || BK > 32)
#error "swapped rows need BM in steps of 16 and a BK of 32 or less"
#endif
#if BM % TM != 0 || BN % TN != 0
#error "TM has to divide BM, and TN has to divide BN"
#endif

#define ITEMS ((BM / TM) * (BN / TN))
#define LANES_Y (32 / LANES_X)  // work-items of a warp one below the other
#define WARP_ROWS (LANES_Y * TM)
#define WARP_COLS (LANES_X * TN)
#define RUNS_A (BM * BK / 4 / ITEMS)  // runs of four of each tile that one work-item copies
#define RUNS_B (BK * BN / 4 / ITEMS)

#if LANES_X < 1 || 32 % LANES_X != 0 || BM % WARP_ROWS != 0 || BN % WARP_COLS != 0
#error "whole warps have to fill the tile"
#endif
#if BM * BK / 4 % ITEMS != 0 || BK * BN / 4 % ITEMS != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif

// Where a row of As lies for this k.
#define PLACE(row, k) ((row) ^ (SWIZZLE * ((k) / 8) * (128 / BK)))

#define JOIN(type, count) type##count
#define VECTOR(type, count) JOIN(type, count)
typedef VECTOR(real, 4) real_4;

// Four elements from place `at` on. One by one, those past the matrix's last are read as the last.
static real_4 fetch(__global const real *matrix, const int at, const int last, const int whole) {
  real_4 run;
  if (whole) {
    run = *(__global const real_4 *)(matrix + at);
  } else {
    run.s0 = matrix[at < last ? at : last];
    run.s1 = matrix[at + 1 < last ? at + 1 : last];
    run.s2 = matrix[at + 2 < last ? at + 2 : last];
    run.s3 = matrix[at + 3 < last ? at + 3 : last];
  }
  return run;
}

// Stores the `count` elements that lie inside, or all four at once.
static void store(__global real *C, const int at, const real_4 run, const int count,
                  const int whole) {
  if (whole) {
    *(__global real_4 *)(C + at) = run;
  } else {
    C[at] = run.s0;
    if (count > 1) C[at + 1] = run.s1;
    if (count > 2) C[at + 2] = run.s2;
    if (count > 3) C[at + 3] = run.s3;
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void warp_tile(__global const real *restrict A, __global const real *restrict B,
               __global real *restrict C, const int M, const int N, const int K) {
  __local real As[2][BK][BM + PAD] __attribute__((aligned(32)));
  __local real Bs[2][BK][BN] __attribute__((aligned(32)));

  const int id = get_local_id(0);
  const int warp = id / 32;
  // The first of this item's rows and columns in the tile; run n lies n * LANES * 4 further.
  const int y = warp / (BN / WARP_COLS) * WARP_ROWS + id % 32 / LANES_X * 4;
  const int x = warp % (BN / WARP_COLS) * WARP_COLS + id % LANES_X * 4;
  const int row0 = get_group_id(1) * BM;
  const int col0 = get_group_id(0) * BN;
  const int whole = K % 4 == 0 && N % 4 == 0;  // no run crosses an edge or its own boundary

  // Where this item's share of the tiles lies, and the first step's values.
  const int first = (K - 1) % BK + 1 - BK;  // 0 where BK divides K, else negative
  int fromA[RUNS_A];
  int fromB[RUNS_B];
  real_4 nextA[RUNS_A];
  real_4 nextB[RUNS_B];
#pragma unroll
  for (int n = 0; n < RUNS_A; ++n) {
    const int e = id + n * ITEMS;
    const int row = row0 + e / (BK / 4);
    const int k = first + e % (BK / 4) * 4;
    fromA[n] = (row < M ? row : M - 1) * K + k;
    nextA[n] = (real_4)(0);
    if (k >= 0) {
      nextA[n] = fetch(A, fromA[n], M * K - 1, whole);
    } else if (k > -4 && !whole) {
      nextA[n].s1 = k + 1 >= 0 ? A[fromA[n] + 1] : (real)0;
      nextA[n].s2 = k + 2 >= 0 ? A[fromA[n] + 2] : (real)0;
      nextA[n].s3 = A[fromA[n] + 3];
    }
  }
#pragma unroll
  for (int n = 0; n < RUNS_B; ++n) {
    const int e = id + n * ITEMS;
    const int k = first + e / (BN / 4);
    const int col = col0 + e % (BN / 4) * 4;
    fromB[n] = k * N + (col < N ? col : whole ? N - 4 : N - 1);
    nextB[n] = (real_4)(0);
    if (k >= 0) {
      nextB[n] = fetch(B, fromB[n], K * N - 1, whole);
    }
  }

  real_4 sum[TM][TN / 4];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      sum[i][j] = (real_4)(0);
    }
  }

  int now = 0;  // the pair in use
  for (int k0 = first; k0 < K; k0 += BK) {
#pragma unroll
    for (int n = 0; n < RUNS_A; ++n) {
      const int e = id + n * ITEMS;
      const int row = e / (BK / 4);
      const int k = e % (BK / 4) * 4;
      const int place = PLACE(row, k);  // the same for all four: k is a multiple of 4
      As[now][k][place] = nextA[n].s0;
      As[now][k + 1][place] = nextA[n].s1;
      As[now][k + 2][place] = nextA[n].s2;
      As[now][k + 3][place] = nextA[n].s3;
    }
#pragma unroll
    for (int n = 0; n < RUNS_B; ++n) {
      const int e = id + n * ITEMS;
      *(__local real_4 *)&Bs[now][e / (BN / 4)][e % (BN / 4) * 4] = nextB[n];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // this pair is in, and the other one used up

    if (k0 + BK < K) {  // fetch ahead; the whole group agrees
#pragma unroll
      for (int n = 0; n < RUNS_A; ++n) {
        fromA[n] += BK;
        nextA[n] = fetch(A, fromA[n], M * K - 1, whole);
      }
#pragma unroll
      for (int n = 0; n < RUNS_B; ++n) {
        fromB[n] += BK * N;
        nextB[n] = fetch(B, fromB[n], K * N - 1, whole);
      }
    }

    real_4 a[2][TM / 4];
    real_4 b[2][TN / 4];
#pragma unroll
    for (int k = -1; k < BK; ++k) {
      if (k + 1 < BK) {  // read one k ahead
#pragma unroll
        for (int i = 0; i < TM / 4; ++i) {
          const int place = PLACE(y + i * LANES_Y * 4, k + 1);
          a[(k + 1) % 2][i] = *(__local const real_4 *)&As[now][k + 1][place];
        }
#pragma unroll
        for (int j = 0; j < TN / 4; ++j) {
          b[(k + 1) % 2][j] = *(__local const real_4 *)&Bs[now][k + 1][x + j * LANES_X * 4];
        }
      }
      if (k >= 0) {
#pragma unroll
        for (int i = 0; i < TM / 4; ++i) {
#pragma unroll
          for (int j = 0; j < TN / 4; ++j) {
            sum[4 * i][j] += a[k % 2][i].s0 * b[k % 2][j];
            sum[4 * i + 1][j] += a[k % 2][i].s1 * b[k % 2][j];
            sum[4 * i + 2][j] += a[k % 2][i].s2 * b[k % 2][j];
            sum[4 * i + 3][j] += a[k % 2][i].s3 * b[k % 2][j];
          }
        }
      }
    }
    now = 1 - now;
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + y + i / 4 * (LANES_Y * 4) + i % 4;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      const int col = col0 + x + j * LANES_X * 4;
      if (row < M && col < N) {
        store(C, row * N + col, sum[i][j], N - col, whole);
      }
    }
  }
}
