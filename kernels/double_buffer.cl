// Rung 9: two copies of both tiles, so that one barrier a step is enough.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C; places in As are
//                K     | Bs, BK |          swapped as on rung 8. There it waits twice a step: until
//                  . . +--------+ . .      the tiles are in, and until they are used up.
//         K               BN
//       +----+--       +--------+            step 0   store 0 | multiply out of 0
//   A M | As |  ...  BM|   C    |            step 1           store 1 | multiply out of 1
//       | BK |         |        |            step 2                   store 0 | multiply out of 0
//       +----+--       +--------+                     barriers: |
//
// With a second pair the next tiles have a place of their own. A work-item that is done multiplying
// stores at once, though others still read the old pair. It comes back to that one a step later,
// and the barrier between says that all have left it.
//
// Memory plan: As 2 x BK x (BM + PAD), Bs 2 x BK x BN: twice that of rung 8, which can cost groups
// per compute unit; (BM*BK + BK*BN) / 4 loads a group and step; one barrier a step; TM*TN sums in
// registers. Edges as on rung 7.
// Source of the idea: double buffering, as in CUTLASS. New on this rung: the second pair of tiles.

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

#define SIZE_X (BN / TN)  // the group's two edges
#define SIZE_Y (BM / TM)
#define ITEMS (SIZE_X * SIZE_Y)
#define RUNS_A (BM * BK / 4 / ITEMS)  // runs of four of each tile that one work-item copies
#define RUNS_B (BK * BN / 4 / ITEMS)

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

__kernel __attribute__((reqd_work_group_size(SIZE_X, SIZE_Y, 1)))
void double_buffer(__global const real *restrict A, __global const real *restrict B,
                   __global real *restrict C, const int M, const int N, const int K) {
  __local real As[2][BK][BM + PAD] __attribute__((aligned(32)));
  __local real Bs[2][BK][BN] __attribute__((aligned(32)));

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int id = ty * SIZE_X + tx;
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

#pragma unroll
    for (int k = 0; k < BK; ++k) {
      real_4 a[TM / 4];
      real_4 b[TN / 4];
#pragma unroll
      for (int i = 0; i < TM / 4; ++i) {
        a[i] = *(__local const real_4 *)&As[now][k][PLACE(ty * TM + i * 4, k)];
      }
#pragma unroll
      for (int j = 0; j < TN / 4; ++j) {
        b[j] = *(__local const real_4 *)&Bs[now][k][(j * SIZE_X + tx) * 4];
      }
#pragma unroll
      for (int i = 0; i < TM / 4; ++i) {
#pragma unroll
        for (int j = 0; j < TN / 4; ++j) {
          sum[4 * i][j] += a[i].s0 * b[j];
          sum[4 * i + 1][j] += a[i].s1 * b[j];
          sum[4 * i + 2][j] += a[i].s2 * b[j];
          sum[4 * i + 3][j] += a[i].s3 * b[j];
        }
      }
    }
    now = 1 - now;
  }

#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + ty * TM + i;
#pragma unroll
    for (int j = 0; j < TN / 4; ++j) {
      const int col = col0 + (j * SIZE_X + tx) * 4;
      if (row < M && col < N) {
        store(C, row * N + col, sum[i][j], N - col, whole);
      }
    }
  }
}
