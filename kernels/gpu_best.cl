// Rung 12: all of the ladder in one pipeline that never stops, at any shape and in any form.
//
//                          N                A group makes one BM x BN tile of C out of two pairs of
//              B   . . +--------+ . .      tiles in turn; a work-item makes TM x TN cells of it,
//                K     | Bs, BK |          placed by warps as on rung 11. Items of 16 x 8 read
//                  . . +--------+ . .      less local memory per multiply-add than any rung before.
//         K               BN
//       +----+--       +--------+            global   | t + 1 comes  | fetch t + 2 ......
//   A M | As |  ...  BM|   C    |            barrier  |                            ###
//       | BK |         |        |            local    | read k = 1 ..| put t + 1 ..| read k = 0
//       +----+--       +--------+            multiply | k = 0 ..     | PUT_AT ..   | BK - 1
//
// Rung 10 read nothing ahead across a barrier. Here the first values of the next tiles are read
// before the last k of the old ones is multiplied. The next tiles are stored early in a step, so
// that no one waits for that at the barrier; those after them are fetched right behind.
//
// Any shape, and no guard in the main loop:
//   - what lies outside in M and N is read from somewhere inside and never stored;
//   - what K has beyond a multiple of BK goes first, behind zeros;
//   - the last steps fetch the last tiles once more, which no one uses;
//   - where rows are no multiple of 4 long, single elements are copied, a warp taking 8 k x 4 rows
//     of what lies along k (32 banks on its store), and C leaves in whole rows by local memory.
//
// No unit idles for long: ROUND tiles are worked on at once, and those that do not fill a round go
// first, cut into equal runs of steps for ROUND groups, here 3 tiles of 8 steps for 4 groups:
//       tiles    |       0       |       1       |       2       |
//       groups   |     0     |     1     |     2     |     3     |
// A group leaves a part's sums in `parts` and counts itself in at `counts` (0 between launches);
// the last of a TEAM adds up the team's sums in their order and counts in for it among the teams.
//
// C = alpha op(A) op(B) + beta C: what lies along k is turned on its way into local memory.
// Memory plan: As 2 x BK x (BM + 4), Bs 2 x BK x (BN + 4); one barrier a step; TM*TN sums and
// 2 * (TM + TN) values in registers, so one or two groups a unit: work in flight hides latency.
// Source of the ideas: the pipeline of CUTLASS, and Stream-K. New: the pipeline across tiles.

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
#define LOADS 0  // elements a load: 4 (rows are multiples of 4), 1, or 0 to choose at run time
#endif
#ifndef ROUND
#define ROUND 1  // tiles worked on at once: what is left of them is shared; 1 shares none
#endif
#ifndef ORDER
#define ORDER 0  // of multiply-adds: 0 row by row, 1 column by column; 2 and 3 the same, to and fro
#endif
#ifndef A_FIRST
#define A_FIRST 0  // whether a's values are read before b's
#endif
#ifndef PUT_AT
#define PUT_AT 3  // the k of a step at which the next tiles are stored
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // whether A is stored K x M
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // whether B is stored N x K
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#define LEAST 4  // steps worth a group of their own
#define TEAM 16  // groups whose parts one of them adds up
#define PAD 4    // with SWAP below it keeps stores of what is turned on separate banks
#define PITCH_A (BM + PAD)
#define PITCH_B (BN + PAD)
#define TILE_A (BK * PITCH_A)
#define PAIR (TILE_A + BK * PITCH_B)
#define ITEMS ((BM / TM) * (BN / TN))
#define WARPS (ITEMS / 32)
#define LANES_Y (32 / LANES_X)  // work-items of a warp one below the other
#define WARP_ROWS (LANES_Y * TM)
#define WARP_COLS (LANES_X * TN)
#define LOADS_A (BM * BK / ITEMS)  // elements of each tile that one work-item copies
#define LOADS_B (BK * BN / ITEMS)
#define ALONG_A (!TRANSPOSE_A)  // whether k runs along the rows of the matrix as stored
#define ALONG_B TRANSPOSE_B
#define WHOLE(ld) (LOADS == 1 ? 0 : LOADS == 4 ? 1 : (ld) % 4 == 0)  // all runs of four aligned
#define BLOCKS (BK / 8)  // of 8 k x 4 rows side by side, copied by single elements
#define STAGED (BM / TM)  // C leaves by local memory, ROWS rows of each work-item at a time
#define ROWS (4 * STAGED * BN <= 2 * PAIR ? 4 : 2 * STAGED * BN <= 2 * PAIR ? 2 : 1)
#define STAGED_ROW(y) ((y) / WARP_ROWS * LANES_Y + (y) % WARP_ROWS / 4)  // work-items above
#define FIRST_ROW(n) ((n) / LANES_Y * WARP_ROWS + (n) % LANES_Y * 4)    // the nth one's y

#if (BK != 8 && BK != 16 && BK != 32) || PUT_AT < 0 || PUT_AT > BK - 2 || ORDER < 0 || ORDER > 3
#error "BK has to be 8, 16 or 32, PUT_AT a k before the last of a step, and ORDER 0 to 3"
#endif
#if TM < 4 || TM % 4 || TN < 4 || TN % 4 || (LANES_X != 4 && LANES_X != 8) || ROUND < 1 || \
    (LOADS != 0 && LOADS != 1 && LOADS != 4)
#error "TM and TN have to be multiples of 4, LANES_X 4 or 8, LOADS 0, 1 or 4, and ROUND 1 or more"
#endif
#if BM % 16 || BM % WARP_ROWS || BN % 16 || BN % WARP_COLS || STAGED * BN > 2 * PAIR || \
    BM * BK % (4 * ITEMS) || BK * BN % (4 * ITEMS) || (ITEMS % BM && BM % ITEMS) || \
    (ITEMS % BN && BN % ITEMS) || WARPS % BLOCKS || (LOADS != 1 && ITEMS / (BK / 4) % 16)
#error "whole warps have to fill C's tile, share those of A and B evenly, and each stage a row of C"
#endif

// What a row of a turned tile is swapped by for this k, in fours; single elements need no swap.
#define SWAP(k, along) ((along) && LOADS != 1 ? (k) / 8 * (128 / BK) : 0)
#define JOIN(type, count) type##count
#define VECTOR(type, count) JOIN(type, count)
typedef VECTOR(real, 4) real_4;
#define FOUR(v, n) ((real_4)((v)[n], (v)[(n) + 1], (v)[(n) + 2], (v)[(n) + 3]))
#define SPREAD(v, n, four) { const real_4 run = four; \
  (v)[n] = run.s0, (v)[(n) + 1] = run.s1, (v)[(n) + 2] = run.s2, (v)[(n) + 3] = run.s3; }

// These serve As and Bs alike. Of a tile of `edge` rows (of B: columns) a work-item copies `loads`
// elements, fours if `whole`, along k or across; the nth lies row_step and k_step from the first.
static uint first_row(const uint id, const int edge, const int along, const int whole) {
  if (along) return whole ? id / (BK / 4) : id / 32 / BLOCKS * 4 + id % 32 / 8;
  return (whole ? id * 4 : id) % edge;
}
static uint first_k(const uint id, const int edge, const int along, const int whole) {
  if (along) return whole ? id % (BK / 4) * 4 : id / 32 % BLOCKS * 8 + id % 8;
  return (whole ? id * 4 : id) / edge;
}
static int row_step(const int n, const int edge, const int along, const int whole) {
  if (along) return whole ? n / 4 * (ITEMS / (BK / 4)) : n * (WARPS / BLOCKS * 4);
  return whole ? n / 4 * 4 * ITEMS % edge + n % 4 : n * ITEMS % edge;
}
static int k_step(const int n, const int edge, const int along, const int whole) {
  if (along) return whole ? n % 4 : 0;
  return whole ? n / 4 * 4 * ITEMS / edge : n * ITEMS / edge;
}
// How many places single elements are fetched from: the others lie whole rows behind one of them.
static int places(const int loads, const int edge, const int along) {
  return along ? loads : edge > ITEMS ? edge / ITEMS : 1;
}

// Fetches a work-item's share of the first tile, and notes where the next come from: the very start
// if none is wanted. Rows behind the last of `size` are replaced by one inside; before k = 0 is 0.
static void begin(real *next, uint *from, __global const real *X, const int row0, const int k0,
                  const int size, const int ld, const uint id, const int several, const int loads,
                  const int edge, const int along, const int whole) {
  const int row = row0 + first_row(id, edge, along, whole);
  const int k = k0 + first_k(id, edge, along, whole);
#pragma unroll
  for (int n = 0; n < loads; ++n) {
    const int at_row = row + row_step(n, edge, along, whole);
    const int at_k = k + k_step(n, edge, along, whole);
    const int inside = at_row < size ? at_row : !along && whole ? size - 4 + n % 4 : size - 1;
    const int at = along ? inside * ld + at_k : at_k * ld + inside;
    next[n] = at_k >= 0 ? X[at] : (real)0;
    if (whole ? n % 4 == 0 : n < places(loads, edge, along))
      from[whole ? n / 4 : n] = several ? at : 0;
  }
}

// Fetches a work-item's share of the tile that lies `ahead` values of k after the last it fetched.
static void fetch(real *next, uint *from, __global const real *X, const uint ahead, const uint ld,
                  const int loads, const int edge, const int along, const int whole) {
  const int count = whole ? loads / 4 : places(loads, edge, along);
#pragma unroll
  for (int n = 0; n < count; ++n) from[n] += along ? ahead : ahead * ld;
#pragma unroll
  for (int n = 0; n < loads; n += whole ? 4 : 1) {
    if (whole) SPREAD(next, n, *(__global const real_4 *)(X + from[n / 4]))
    else next[n] = X[from[n % count] + k_step(n / count * count, edge, along, whole) * ld];
  }
}

// Stores what a work-item fetched: runs of four as they came, turned, or single elements.
static void put(__local real *tile, const real *next, const uint id, const int pitch,
                const int loads, const int edge, const int along, const int whole) {
  const uint k = first_k(id, edge, along, whole), row = first_row(id, edge, along, whole);
  const uint swap = SWAP(k, along);
  const int fixed = whole || LOADS == 1;  // then steps are of 16 rows, or nothing is swapped
  __local real *place = tile + k * pitch + (fixed ? row ^ swap : 0);
#pragma unroll
  for (int n = 0; n < loads; n += whole && !along ? 4 : 1) {
    const int down = k_step(n, edge, along, whole) * pitch, aside = row_step(n, edge, along, whole);
    if (whole && !along) *(__local real_4 *)(place + down + aside) = FOUR(next, n);
    else place[down + (fixed ? aside : (row + aside) ^ swap)] = next[n];
  }
}

// Reads values of A's or B's tile that belong to one k: runs of four, `apart` from one another.
static void take(real *to, __local const real *from, const int count, const int apart) {
#pragma unroll
  for (int n = 0; n < count; n += 4) SPREAD(to, n, *(__local const real_4 *)(from + n / 4 * apart))
}

// Both. The order of these and of the multiply-adds changes how NVIDIA's assembler places the sums
// in banks of registers, by 1 to 5 %: which is the fastest is measured for each set of parameters.
static void take_both(real a[TM], real b[TN], __local const real *pair, const int y, const int x,
                      const int k) {
  __local const real *fromA = pair + (y ^ SWAP(k, ALONG_A)) + k * PITCH_A;
  __local const real *fromB = pair + TILE_A + (x ^ SWAP(k, ALONG_B)) + k * PITCH_B;
  if (A_FIRST) take(a, fromA, TM, 4 * LANES_Y);
  take(b, fromB, TN, 4 * LANES_X);
  if (!A_FIRST) take(a, fromA, TM, 4 * LANES_Y);
}

static void multiply(real sum[TM][TN], const real a[TM], const real b[TN]) {
#pragma unroll
  for (int n = 0; n < TM * TN; ++n) {
    const int length = ORDER % 2 ? TM : TN, line = n / length;
    const int place = ORDER >= 2 && line % 2 ? length - 1 - n % length : n % length;
    const int i = ORDER % 2 ? place : line, j = ORDER % 2 ? line : place;
    sum[i][j] += a[i] * b[j];
  }
}

#if ROUND > 1
// Where in `parts` the nth group of a tile, after `first`, leaves its sums: the first of them has
// the start of the tile and maybe the end of another one, which lies before.
#define SLOT(first, n) (2 * ((first) + (n)) + ((n) == 0))
#define RUNS (TM * TN / 4)
// Adds up what `count` groups made of a tile, this one as its nth. The last to come has all of it
// in `sum` and gets 1, the others 0.
static int gather(real sum[TM][TN], __global real_4 *parts, __global int *counts,
                  __local int *told, const int first, int count, int nth, const uint id) {
  int apart = 1;  // groups between one member and the next
  while (count > 1) {
    const int team = nth / TEAM * TEAM, members = count - team < TEAM ? count - team : TEAM;
    __global real_4 *part = parts + (long)SLOT(first, nth * apart) * RUNS * ITEMS + id;
#pragma unroll
    for (int n = 0; n < RUNS; ++n) part[n * ITEMS] = FOUR(sum[n / (TN / 4)], n % (TN / 4) * 4);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all of the group's sums are there
    if (id == 0) {
      const int level = (apart > 1) + (apart > TEAM);
      __global int *arrived = counts + SLOT(first, team * apart) * 4 + level;
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      *told = atomic_inc(arrived) == members - 1;
      mem_fence(CLK_GLOBAL_MEM_FENCE);
      if (*told) *arrived = 0;  // for the next launch
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the answer is there
    const int is_last = *told;
    barrier(CLK_LOCAL_MEM_FENCE);  // and read, before another one
    if (!is_last) return 0;
#pragma unroll
    for (int n = 0; n < TM * TN; ++n) sum[n / TN][n % TN] = 0;
    for (int member = 0; member < members; ++member) {
      part = parts + (long)SLOT(first, (team + member) * apart) * RUNS * ITEMS + id;
#pragma unroll
      for (int n = 0; n < RUNS; ++n)
        SPREAD(sum[n / (TN / 4)], n % (TN / 4) * 4,
               FOUR(sum[n / (TN / 4)], n % (TN / 4) * 4) + part[n * ITEMS])
    }
    nth /= TEAM, count = (count + TEAM - 1) / TEAM, apart *= TEAM;
  }
  return 1;
}
#endif

// Stores this item's cells of the tile at row0 and col0.
static void store(real sum[TM][TN], __global real *C, __local real *tiles, const int row0,
                  const int col0, const int y, const int x, const uint id, const int M,
                  const int N, const real alpha, const real beta) {
#if LOADS == 4
#pragma unroll
  for (int n = 0; n < TM * TN; n += 4) {
    const int i = n / TN;
    const int row = row0 + y + i / 4 * (LANES_Y * 4) + i % 4, col = col0 + x + n % TN * LANES_X;
    if (row < M && col < N) {
      __global real_4 *to = (__global real_4 *)(C + row * N + col);
      real_4 run = alpha * FOUR(sum[i], n % TN);
      if (beta != 0) run += beta * *to;
      *to = run;
    }
  }
#else  // each pass takes ROWS rows of every work-item through local memory
#pragma unroll
  for (int i = 0; i < TM; i += ROWS) {
    barrier(CLK_LOCAL_MEM_FENCE);  // what stood here is used up
#pragma unroll
    for (int n = 0; n < ROWS * TN; n += 4) {
      const int to = (STAGED_ROW(y) * ROWS + n / TN) * BN + x + n % TN * LANES_X;
      *(__local real_4 *)(tiles + to) = FOUR(sum[i + n / TN], n % TN);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the rows of every work-item are here
#pragma unroll 4
    for (int n = 0; n < ROWS * TN; ++n) {
      const int e = id + n * ITEMS, item = FIRST_ROW(e / BN / ROWS);
      const int row = row0 + item + i / 4 * (LANES_Y * 4) + i % 4 + e / BN % ROWS;
      const int col = col0 + e % BN;
      if (row < M && col < N) {
        const int at = row * N + col;
        C[at] = beta != 0 ? alpha * tiles[e] + beta * C[at] : alpha * tiles[e];
      }
    }
  }
#endif
}

#define SHARE_A LOADS_A, BM, ALONG_A, wholeA
#define SHARE_B LOADS_B, BN, ALONG_B, wholeB

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void gpu_best(
    __global const real *restrict A, __global const real *restrict B, __global real *restrict C,
    const int M, const int N, const int K, const int lda, const int ldb, const real alpha,
    const real beta, __global real *restrict parts, __global int *restrict counts) {
  __local real tiles[2 * PAIR] __attribute__((aligned(32)));
  const uint id = get_local_id(0);
  const int lane = id % 32, warp = id / 32, wholeA = WHOLE(lda), wholeB = WHOLE(ldb);
  // The first of this item's rows and columns in the tile; run n lies n * LANES * 4 further.
  const int y = warp / (BN / WARP_COLS) * WARP_ROWS + lane / LANES_X * 4;
  const int x = warp % (BN / WARP_COLS) * WARP_COLS + lane % LANES_X * 4;
  const int tiles_x = (N + BN - 1) / BN;
  int tile = get_group_id(0);
#if ROUND > 1
  const int steps = (K + BK - 1) / BK;
  const uint shared = (M + BM - 1) / BM * tiles_x % ROUND, all = shared * steps;
  const uint most = all / LEAST < ROUND ? all / LEAST : ROUND;
  const uint sharers = most > shared ? most : shared, group = tile;
  int step = 0, left = steps;  // the first of the tile's that is this group's, and how many are its
  tile -= shared > 0 ? ROUND - shared : 0;
  if (tile < (int)shared) {
    if (group >= sharers) return;
    step = group * all / sharers;
    left = (group + 1) * all / sharers - step;
    tile = step / steps;
    step -= tile * steps;
  }
  for (; left > 0; ++tile) {
    const int k_start = (K - 1) % BK + 1 - BK + step * BK;
    const int k_end = step + left < steps ? k_start + left * BK : K;
#else
  {
    const int k_start = (K - 1) % BK + 1 - BK, k_end = K;  // 0 where BK divides K, else negative
#endif
    const int row0 = tile / tiles_x * BM, col0 = tile % tiles_x * BN;
    int k0 = k_start;
    const int several = k0 + BK < k_end;
    const int ldA = several ? lda : 0, ldB = several ? ldb : 0;
    int ahead = several ? BK : 0;
    uint fromA[LOADS_A], fromB[LOADS_B];
    real nextA[LOADS_A], nextB[LOADS_B];
    begin(nextA, fromA, A, row0, k0, M, lda, id, several, SHARE_A);
    begin(nextB, fromB, B, col0, k0, N, ldb, id, several, SHARE_B);
    put(tiles, nextA, id, PITCH_A, SHARE_A);
    put(tiles + TILE_A, nextB, id, PITCH_B, SHARE_B);
    fetch(nextA, fromA, A, ahead, ldA, SHARE_A);
    fetch(nextB, fromB, B, ahead, ldB, SHARE_B);
    barrier(CLK_LOCAL_MEM_FENCE);  // the first pair is in
    real sum[TM][TN], a[2][TM], b[2][TN];
#pragma unroll
    for (int n = 0; n < TM * TN; ++n) sum[n / TN][n % TN] = 0;
    take_both(a[0], b[0], tiles, y, x, 0);
    int now = 0;  // where the pair in use lies
    for (; k0 < k_end; k0 += BK) {
#pragma unroll
      for (int k = 0; k < BK - 1; ++k) {
        take_both(a[(k + 1) % 2], b[(k + 1) % 2], tiles + now, y, x, k + 1);
        if (k == PUT_AT) {
          put(tiles + PAIR - now, nextA, id, PITCH_A, SHARE_A);
          put(tiles + PAIR - now + TILE_A, nextB, id, PITCH_B, SHARE_B);
          ahead = k0 + 2 * BK < k_end ? BK : 0;  // once more where nothing is left
          fetch(nextA, fromA, A, ahead, ldA, SHARE_A);
          fetch(nextB, fromB, B, ahead, ldB, SHARE_B);
        }
        multiply(sum, a[k % 2], b[k % 2]);
      }
      now = PAIR - now;
      barrier(CLK_LOCAL_MEM_FENCE);  // the next pair is in, and this one used up
      take_both(a[0], b[0], tiles + now, y, x, 0);
      multiply(sum, a[1], b[1]);
    }
#if ROUND > 1
    int finished = 1;
    if (step > 0 || step + left < steps) {
      const int first = ((tile * steps + 1) * sharers - 1) / all;
      const int last = ((tile + 1) * steps * sharers - 1) / all;
      barrier(CLK_LOCAL_MEM_FENCE);  // the tiles are used up
      finished = gather(sum, (__global real_4 *)parts, counts, (__local int *)tiles, first,
                        last - first + 1, group - first, id);
    }
    left -= steps - step, step = 0;
    if (!finished) continue;
#endif
    store(sum, C, tiles, row0, col0, y, x, id, M, N, alpha, beta);
#if ROUND > 1
    barrier(CLK_LOCAL_MEM_FENCE);  // what stood in the tiles is used up
#endif
  }
}
