// Rung 12: all of the ladder in one pipeline that never stops, at any shape.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C out of two pairs of
//                K     | Bs, BK |          tiles in turn; a work-item makes TM x TN cells of it,
//                  . . +--------+ . .      placed by warps as on rung 11. Items of 8 x 16 read
//         K               BN               less local memory per multiply-add than any rung before.
//       +----+--       +--------+
//   A M | As |  ...  BM|   C    |            global   | ... tile t + 1 arrives ...... | fetch t + 2
//       | BK |         |        |            barrier  |                               | ###
//       +----+--       +--------+            local    | read k = 1 | read k = 2 | ... |  read k = 0
//                                            multiply | k = 0      | k = 1      | ... | k = BK - 1
//
// Rung 10 read nothing ahead across a barrier. Here the next tiles are stored, and their first
// values read, before the last k of the old ones is multiplied: each multiply-add finds its
// values in registers, from the first k to the last. The tiles after those are fetched right
// after the store, a whole step before they are wanted: a fetch at the top of the loop is moved
// down by NVIDIA's assembler, to where its wait shows.
//
// Any shape, and no guard in the main loop:
//   - what lies outside in M and N is read from somewhere inside and never stored;
//   - what K has beyond a multiple of BK goes first, behind zeros;
//   - the last steps fetch the last tiles once more, which no one uses;
//   - where K or N is no multiple of 4, single elements are copied, a warp taking 8 k x 4 rows of
//     A (32 banks on its store), and C goes through local memory to leave in whole rows.
// LOADS says which way of copying is built: 4 elements at a time, 1, or 0 for both and a choice at
// run time, the same for all work-items.
//
// Memory plan: As 2 x BK x (BM + 4), Bs 2 x BK x BN; BM*BK + BK*BN elements loaded a group and
// step; one barrier a step; TM*TN sums and 2 * (TM + TN) values in registers, which leaves room for
// one or two groups per compute unit: latency is hidden by independent work, not by occupancy.
// Source of the idea: the pipeline of CUTLASS. New on this rung: the pipeline across tiles, larger
// work-items where that pays, and edges for every shape.

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
#ifndef LOADS
#define LOADS 0  // elements a load: 4 (K and N multiples of 4), 1, or 0 to choose at run time
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if BK != 8 && BK != 16 && BK != 32
#error "BK has to be 8, 16 or 32"
#endif
#if TM < 4 || TN < 4 || TM % 4 != 0 || TN % 4 != 0
#error "TM and TN have to be multiples of 4"
#endif
#if LANES_X < 1 || 32 % LANES_X != 0
#error "LANES_X has to divide 32"
#endif
#if LOADS != 0 && LOADS != 1 && LOADS != 4
#error "LOADS has to be 0, 1 or 4"
#endif

#define PAD 4  // with PLACE below it keeps the stores of As on separate banks
#define TILE_A (BK * (BM + PAD))
#define TILE_B (BK * BN)
#define TILES (2 * (TILE_A + TILE_B))
#define ITEMS ((BM / TM) * (BN / TN))
#define WARPS (ITEMS / 32)
#define LANES_Y (32 / LANES_X)  // work-items of a warp one below the other
#define WARP_ROWS (LANES_Y * TM)
#define WARP_COLS (LANES_X * TN)
#define LOADS_A (BM * BK / ITEMS)  // elements of each tile that one work-item copies
#define LOADS_B (BK * BN / ITEMS)
// Places in A and B that a work-item fetches from: of each run of four, then of single elements.
#define FROM ((LOADS_A + LOADS_B) / 4 + 2)
#define SINGLE_A (FROM - 2)
#define SINGLE_B (FROM - 1)

// Single elements of A: a warp copies blocks of 8 k x 4 rows, each BLOCK_STEP rows below the last.
#define BLOCKS (BK / 8)  // blocks side by side
#define BLOCK_STEP (WARPS / BLOCKS * 4)
#define BLOCK_ROW(id) ((id) / 32 / BLOCKS * 4 + (id) % 32 / 8)
#define BLOCK_K(id) ((id) / 32 % BLOCKS * 8 + (id) % 8)

// C on its way through local memory: ROWS rows of every work-item at a time. STAGED_ROW counts the
// work-items one below the other, FIRST_ROW gives the y of the nth.
#define STAGED (BM / TM)
#if 4 * STAGED * BN <= TILES
#define ROWS 4
#elif 2 * STAGED * BN <= TILES
#define ROWS 2
#else
#define ROWS 1
#endif
#define STAGED_ROW(y) ((y) / WARP_ROWS * LANES_Y + (y) % WARP_ROWS / 4)
#define FIRST_ROW(n) ((n) / LANES_Y * WARP_ROWS + (n) % LANES_Y * 4)

#if BM % 16 != 0 || BM % WARP_ROWS != 0 || BN % WARP_COLS != 0
#error "whole warps have to fill the tile, and BM has to be a multiple of 16"
#endif
#if BM * BK % (4 * ITEMS) != 0 || BK * BN % (4 * ITEMS) != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif
#if WARPS % BLOCKS != 0 || (ITEMS % BN != 0 && BN % ITEMS != 0)
#error "warps cannot share the tiles evenly element by element"
#endif
#if STAGED * BN > TILES
#error "a row of every work-item does not fit where the tiles were"
#endif

// Where a row of As lies for this k; runs of four rows stay together.
#define PLACE(row, k) ((row) ^ ((k) / 8 * (128 / BK)))

#define JOIN(type, count) type##count
#define VECTOR(type, count) JOIN(type, count)
typedef VECTOR(real, 4) real_4;

// Fetches a work-item's share of the tiles that lie `ahead` values of k after the last it fetched.
// A single element behind lastA or lastB, the last place of its matrix, is read there.
static void fetch(real nextA[LOADS_A], real nextB[LOADS_B], __global const real *A,
                  __global const real *B, int from[FROM], const int ahead, const int lastA,
                  const int lastB, const int N, const int K, const int whole) {
  if (whole) {
#pragma unroll
    for (int n = 0; n < LOADS_A; n += 4) {
      from[n / 4] += ahead;
      const real_4 run = *(__global const real_4 *)(A + from[n / 4]);
      nextA[n] = run.s0;
      nextA[n + 1] = run.s1;
      nextA[n + 2] = run.s2;
      nextA[n + 3] = run.s3;
    }
#pragma unroll
    for (int n = 0; n < LOADS_B; n += 4) {
      from[(LOADS_A + n) / 4] += ahead * N;
      const real_4 run = *(__global const real_4 *)(B + from[(LOADS_A + n) / 4]);
      nextB[n] = run.s0;
      nextB[n + 1] = run.s1;
      nextB[n + 2] = run.s2;
      nextB[n + 3] = run.s3;
    }
  } else {
    from[SINGLE_A] += ahead;
    from[SINGLE_B] += ahead * N;
#pragma unroll
    for (int n = 0; n < LOADS_A; ++n) {
      const int at = from[SINGLE_A] + n * BLOCK_STEP * K;
      nextA[n] = A[at < lastA ? at : lastA];
    }
#pragma unroll
    for (int n = 0; n < LOADS_B; ++n) {
      const int at = from[SINGLE_B] + n * ITEMS / BN * N + n * ITEMS % BN;
      nextB[n] = B[at < lastB ? at : lastB];
    }
  }
}

// Stores what a work-item fetched: runs of four as they came, or single elements.
static void put(__local real *tileA, __local real *tileB, const real nextA[LOADS_A],
                const real nextB[LOADS_B], const int id, const int whole) {
  if (whole) {
#pragma unroll
    for (int n = 0; n < LOADS_A; ++n) {
      const int run = id + n / 4 * ITEMS;
      const int row = run / (BK / 4);
      const int k = run % (BK / 4) * 4;
      tileA[(k + n % 4) * (BM + PAD) + PLACE(row, k)] = nextA[n];
    }
#pragma unroll
    for (int n = 0; n < LOADS_B; n += 4) {
      *(__local real_4 *)(tileB + id * 4 + n * ITEMS) =
          (real_4)(nextB[n], nextB[n + 1], nextB[n + 2], nextB[n + 3]);
    }
  } else {
    const int k = BLOCK_K(id);
#pragma unroll
    for (int n = 0; n < LOADS_A; ++n) {
      tileA[k * (BM + PAD) + PLACE(BLOCK_ROW(id) + n * BLOCK_STEP, k)] = nextA[n];
    }
#pragma unroll
    for (int n = 0; n < LOADS_B; ++n) {
      tileB[id + n * ITEMS] = nextB[n];
    }
  }
}

// Reads TM values of A's tile, or TN of B's, that belong to one k.
static void take_a(real a[TM], __local const real *tileA, const int y, const int k) {
#pragma unroll
  for (int i = 0; i < TM; i += 4) {
    const int place = k * (BM + PAD) + PLACE(y + i * LANES_Y, k);
    const real_4 run = *(__local const real_4 *)(tileA + place);
    a[i] = run.s0;
    a[i + 1] = run.s1;
    a[i + 2] = run.s2;
    a[i + 3] = run.s3;
  }
}

static void take_b(real b[TN], __local const real *tileB, const int x, const int k) {
#pragma unroll
  for (int j = 0; j < TN; j += 4) {
    const real_4 run = *(__local const real_4 *)(tileB + k * BN + x + j * LANES_X);
    b[j] = run.s0;
    b[j + 1] = run.s1;
    b[j + 2] = run.s2;
    b[j + 3] = run.s3;
  }
}

// Both. The order changes how NVIDIA's assembler places the sums in banks of registers: each of
// the two is the faster one (by 1 to 2 %) for its way of copying.
static void take(real a[TM], real b[TN], __local const real *tileA, __local const real *tileB,
                 const int y, const int x, const int k) {
#if LOADS == 0
  take_a(a, tileA, y, k);
  take_b(b, tileB, x, k);
#else
  take_b(b, tileB, x, k);
  take_a(a, tileA, y, k);
#endif
}

// Row by row, so that a value of a serves TN multiply-adds one after another.
static void multiply(real sum[TM][TN], const real a[TM], const real b[TN]) {
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      sum[i][j] += a[i] * b[j];
    }
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_best(__global const real *restrict A, __global const real *restrict B,
              __global real *restrict C, const int M, const int N, const int K) {
  __local real tiles[TILES] __attribute__((aligned(32)));

  const int id = get_local_id(0);
  const int lane = id % 32;
  const int warp = id / 32;
  const int row0 = get_group_id(1) * BM;
  const int col0 = get_group_id(0) * BN;
#if LOADS == 0
  const int whole = K % 4 == 0 && N % 4 == 0;  // every run of four lies on its own boundary
#else
  const int whole = LOADS == 4;
#endif
  // The first of this item's rows and columns in the tile; run n lies n * LANES * 4 further.
  const int y = warp / (BN / WARP_COLS) * WARP_ROWS + lane / LANES_X * 4;
  const int x = warp % (BN / WARP_COLS) * WARP_COLS + lane % LANES_X * 4;

  // This item's share of the first tiles, and where its share of later ones starts. A place behind
  // the last row or column of a matrix is replaced by one inside.
  int k0 = (K - 1) % BK + 1 - BK;  // 0 where BK divides K, else negative
  const int lastA = M * K - 1;
  const int lastB = K * N - 1;
  const int several = K > BK;  // else later fetches, for no one, are made at the very start
  int from[FROM];
  from[SINGLE_A] = several ? (row0 + BLOCK_ROW(id)) * K + k0 + BLOCK_K(id) : 0;
  from[SINGLE_B] = several ? (k0 + id / BN) * N + col0 + id % BN : 0;
  real nextA[LOADS_A];
  real nextB[LOADS_B];
#pragma unroll
  for (int n = 0; n < LOADS_A; ++n) {
    const int run = id + n / 4 * ITEMS;
    const int row = row0 + (whole ? run / (BK / 4) : BLOCK_ROW(id) + n * BLOCK_STEP);
    const int k = k0 + (whole ? run % (BK / 4) * 4 + n % 4 : BLOCK_K(id));
    const int at = (row < M ? row : M - 1) * K + k;
    nextA[n] = k >= 0 ? A[at] : (real)0;
    if (n % 4 == 0) {
      from[n / 4] = several ? at : 0;
    }
  }
#pragma unroll
  for (int n = 0; n < LOADS_B; ++n) {
    const int e = whole ? (id + n / 4 * ITEMS) * 4 + n % 4 : id + n * ITEMS;
    const int k = k0 + e / BN;
    const int col = col0 + e % BN;
    const int inside = col < N ? col : whole ? N - 4 + n % 4 : N - 1;
    nextB[n] = k >= 0 ? B[k * N + inside] : (real)0;
    if (n % 4 == 0) {
      from[(LOADS_A + n) / 4] = several ? k * N + inside : 0;
    }
  }
  __local real *As = tiles;  // the pair in use
  __local real *Bs = tiles + 2 * TILE_A;
  put(As, Bs, nextA, nextB, id, whole);
  fetch(nextA, nextB, A, B, from, several ? BK : 0, lastA, lastB, N, K, whole);
  barrier(CLK_LOCAL_MEM_FENCE);  // the first pair is in

  real sum[TM][TN];
  real a[2][TM];
  real b[2][TN];
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      sum[i][j] = 0;
    }
  }
  take(a[0], b[0], As, Bs, y, x, 0);

  int now = 0;
  for (; k0 < K; k0 += BK) {
#pragma unroll
    for (int k = 0; k < BK - 1; ++k) {
      take(a[(k + 1) % 2], b[(k + 1) % 2], As, Bs, y, x, k + 1);
      multiply(sum, a[k % 2], b[k % 2]);
    }
    now = 1 - now;
    As = tiles + now * TILE_A;
    Bs = tiles + 2 * TILE_A + now * TILE_B;
    put(As, Bs, nextA, nextB, id, whole);
    // Two steps ahead, or once more where nothing is left.
    const int ahead = k0 + 2 * BK < K ? BK : 0;
    fetch(nextA, nextB, A, B, from, ahead, lastA, lastB, N, K, whole);
    barrier(CLK_LOCAL_MEM_FENCE);  // this pair is in, and the other one used up
    take(a[0], b[0], As, Bs, y, x, 0);
    multiply(sum, a[1], b[1]);
  }

#if LOADS == 4
#pragma unroll
  for (int i = 0; i < TM; ++i) {
    const int row = row0 + y + i / 4 * (LANES_Y * 4) + i % 4;
#pragma unroll
    for (int j = 0; j < TN; j += 4) {
      const int col = col0 + x + j * LANES_X;
      if (row < M && col < N) {
        *(__global real_4 *)(C + row * N + col) =
            (real_4)(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
      }
    }
  }
#else  // each pass takes ROWS rows of every work-item through local memory
#pragma unroll
  for (int i = 0; i < TM; i += ROWS) {
    barrier(CLK_LOCAL_MEM_FENCE);  // what stood here is used up
#pragma unroll
    for (int n = 0; n < ROWS; ++n) {
#pragma unroll
      for (int j = 0; j < TN; j += 4) {
        *(__local real_4 *)(tiles + (STAGED_ROW(y) * ROWS + n) * BN + x + j * LANES_X) =
            (real_4)(sum[i + n][j], sum[i + n][j + 1], sum[i + n][j + 2], sum[i + n][j + 3]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the rows of every work-item are here
#pragma unroll 4
    for (int n = 0; n < ROWS * TN; ++n) {
      const int e = id + n * ITEMS;
      const int item = FIRST_ROW(e / BN / ROWS);
      const int row = row0 + item + i / 4 * (LANES_Y * 4) + i % 4 + e / BN % ROWS;
      const int col = col0 + e % BN;
      if (row < M && col < N) {
        C[row * N + col] = tiles[e];
      }
    }
  }
#endif
}
