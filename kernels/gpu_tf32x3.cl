// Multiplies floats on NVIDIA's tensor cores in three passes of TF32, at any shape.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C; a warp WM x 32 of
//                K     | Bs, 32 |          it, in steps of 8 rows x 16 columns x 8 k: three mma.
//                  . . +--------+ . .      The tiles of A and B are copied straight from global to
//         K               BN               local memory, STAGES - 1 of them under way while one is
//       +----+--       +--------+          used, and no register holds them in between.
//   A M | As |  ...  BM|   C    |
//       | 32 |         |        |
//       +----+--       +--------+
//
// A float has 24 bits of fraction, TF32 has 11, and mma leaves the rest of its operands out:
//
//       a = |1.xxxxxxxxxx|yyyyyyyyyyyyy|      a_low = a - (a without its y), exact
//            mma takes a  left out            a * b = a_low * b + a * b_low + a * b, in mma
//
// What is missing is a_low * b_low and the last two bits of each low part: 2^-20 of a product, at
// most. mma adds with fewer bits than a float has, so after 32 k its sums are added to sums in
// float and start again at zero. On random matrices the error is a third of a float sum's.
//
// Special values, seen on an H200:
//   - Inf in A or B gives NaN in its row or column of C: Inf has no low part. NaN gives NaN.
//   - Up to the largest float nothing overflows that would not in float.
//   - Below 1e-34 the low parts sink under the smallest normal number and get lost: the error is
//     2e-6 of a product at 1e-36 and 2e-4 at 1e-38. Denormals keep their bits down to 2^-136.
//   - C may be denormal.
//
// The order of the rows, columns and k within a mma is free as long as A and B agree, so it is
// chosen such that a read gives registers that mma wants side by side:
//
//   lane 4 g + t of a warp       B: columns 2 g, 2 g + 1 of rows 4 t .. 4 t + 3, two rows a mma
//   (g = 0..7, t = 0..3)         (its first operand: C's transpose is made); A: row g, the same k.
//
// Chunks of 16 bytes are swapped within their rows (CHUNK_A, CHUNK_B), so that the lanes that read
// at once find all of the banks.
//
// Any shape: rows and columns outside are read from inside and never stored; what K lacks to a
// multiple of 32 is filled with zeros by the copy. Where K or N is no multiple of 4, elements are
// copied one by one. Copies start in the middle of a step, where mma keeps the unit busy.
//
// ROUND tiles are worked on at once; those that do not fill a round go first, cut into equal runs
// of steps for ROUND groups. A group leaves its sums of a part of a tile in `parts` and counts
// itself in at `counts`; the last of a TEAM adds up all of the team's, in their order, and counts
// in for it among the teams. Counts are zero before and after a launch.
//
// Memory plan: STAGES x (BM + BN) x 32 elements in local memory; 2 * WM sums a work-item; one
// barrier for 32 k.
// Source of the ideas: 3xTF32 of CUTLASS, and Stream-K. New here: the raw value as the high part,
// and the transposed product.

#ifndef BM
#define BM 128  // rows of C a group
#endif
#ifndef BN
#define BN 64  // columns of C a group
#endif
#ifndef WM
#define WM 64  // rows of C a warp
#endif
#ifndef STAGES
#define STAGES 3  // pairs of tiles in local memory
#endif
#ifndef ROUND
#define ROUND 1  // tiles worked on at once, the rest is shared; 1 shares none
#endif
#ifndef real
#define real float  // element type: float
#endif

#define BK 32  // values of k a step: a row of As is 128 bytes, all banks once
#define WN 32  // columns of C a warp
#define WARPS_X (BN / WN)
#define ITEMS (BM / WM * WARPS_X * 32)
#define TILE_A (BM * BK)
#define TILE_B (BK * BN)
#define PAIR (TILE_A + TILE_B)
#define ROWS_A (ITEMS / (BK / 4))  // rows of A that the group copies at once, in chunks of four
#define ROWS_B (ITEMS / (BN / 4))

#define RUNS (WM / 4)  // of four cells of C a work-item
#define CELLS(sum, n) (sum)[(n) / 2][(n) % 2]  // the nth of them
#define LEAST 4  // steps worth a group of their own
#define TEAM 16  // groups whose parts one of them adds up

#if STAGES < 2 || ROUND < 1
#error "STAGES has to be 2 or more, since one is used while another is copied, and ROUND 1 or more"
#endif
#if WM % 16 != 0 || BM % WM != 0 || BN % WN != 0
#error "whole warps have to fill the tile"
#endif
#if BM % ROWS_A != 0 || ITEMS % (BN / 4) != 0 || BK % ROWS_B != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif

// Where chunk c of four elements lies in its row of As or Bs.
#define CHUNK_A(row, c) ((c) ^ ((row) % 2 * 4))
#define CHUNK_B(k, c) ((c) ^ ((k) / 4 % 4 * 2))

typedef float2 real_2;
typedef float4 real_4;

// Starts a copy of four elements to a place in local memory: zeros where they are not `inside`.
static void copy_four(const uint to, __global const real *from, const int inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

static void copy_one(const uint to, __global const real *from, const int inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
               :: "r"(to), "l"(from), "r"(inside ? 4 : 0) : "memory");
}

// Starts copies of single elements. What lies behind A is read at its last place.
static void fetch_singles(const uint to, __global const real *A, __global const real *B,
                          const int M, const int N, const int K, const int row0, const int col0,
                          const int k0, const int rest, const uint id) {
  const int k = id % BK;
  const uint row = id / BK;
  const int last = M * K - 1;
  const uint toA = to + (row * BK + CHUNK_A(row, k / 4) * 4 + k % 4) * 4;
  int at = (row0 + row) * K + k0 + k;
#pragma unroll
  for (int n = 0; n < TILE_A / ITEMS; ++n) {
    copy_one(toA + n * ITEMS * 4, A + (at < last ? at : last), k < rest);
    at += ITEMS / BK * K;
  }
  const uint col = id % BN;
  const uint first = id / BN;
  const uint toB = to + (TILE_A + first * BN + col % 4) * 4;
  at = (k0 + first) * N + ((int)(col0 + col) < N ? col0 + col : N - 1);
#pragma unroll
  for (int n = 0; n < TILE_B / ITEMS; ++n) {
    const int step = n * (ITEMS / BN);  // 4 and more of `first` are in it, or none
    const uint chunk = CHUNK_B(step + (ITEMS / BN > 4 ? first : 0), col / 4);
    copy_one(toB + (step * BN + chunk * 4) * 4, B + at, (int)first + step < rest);
    at += ITEMS / BN * N;
  }
}

// Starts this work-item's copies of the pair of tiles whose first k is k0.
static void fetch(const uint to, __global const real *A, __global const real *B, const int M,
                  const int N, const int K, const int k_end, const int row0, const int col0,
                  const int k0, const uint id, const int whole) {
  const int rest = k_end - k0;  // beyond it tiles are zeros
  if (whole) {
    const int c = id % (BK / 4) * 4;
    const int row = id / (BK / 4);
#pragma unroll
    for (int n = 0; n < BM / ROWS_A; ++n) {
      const int at = row + n * ROWS_A;
      const int inside = row0 + at < M ? row0 + at : M - 1;
      copy_four(to + (at * BK + CHUNK_A(at, c / 4) * 4) * 4, A + (inside * K + k0 + c), c < rest);
    }
    const int k = id / (BN / 4);
    const int col = id % (BN / 4) * 4;
    const int colin = col0 + col < N ? col0 + col : N - 4;
#pragma unroll
    for (int n = 0; n < BK / ROWS_B; ++n) {
      const int at = k + n * ROWS_B;
      copy_four(to + (TILE_A + at * BN + CHUNK_B(at, col / 4) * 4) * 4, B + ((k0 + at) * N + colin),
            at < rest);
    }
  } else if (rest >= BK) {
    fetch_singles(to, A, B, M, N, K, row0, col0, k0, BK, id);
  } else {
    fetch_singles(to, A, B, M, N, K, row0, col0, k0, rest, id);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// What mma leaves out of an operand: all but its sign, its exponent and ten bits.
static uint low(const real value) {
  return as_uint(value - as_float(as_uint(value) & 0xffffe000u));
}

// d (16 x 8) += a (16 x 8) * b (8 x 8), each spread over the lanes of a warp.
#define MMA(d, a, b)                                                                   \
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, "          \
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                  \
      : "+f"((d)[0]), "+f"((d)[1]), "+f"((d)[2]), "+f"((d)[3])                         \
      : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))

#if ROUND > 1
// Where in `parts` the nth group of a tile, after `first`, leaves its sums: the first of them has
// the start of the tile and maybe the end of another one, which lies before.
#define SLOT(first, n) (2 * ((first) + (n)) + ((n) == 0))

// Adds up what `count` groups made of a tile, this one as its nth. The last to come has all of it
// in `sum` and gets 1, the others 0.
static int gather(real sum[WM / 8][2][4], __global real_4 *parts, __global int *counts,
                  __local int *told, const int first, int count, int nth, const uint id) {
  int apart = 1;  // groups between one member and the next
  while (count > 1) {
    const int team = nth / TEAM * TEAM;
    const int members = count - team < TEAM ? count - team : TEAM;
    __global real_4 *part = parts + (long)SLOT(first, nth * apart) * RUNS * ITEMS + id;
#pragma unroll
    for (int n = 0; n < RUNS; ++n) {
      part[n * ITEMS] =
          (real_4)(CELLS(sum, n)[0], CELLS(sum, n)[1], CELLS(sum, n)[2], CELLS(sum, n)[3]);
    }
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
    for (int n = 0; n < WM; ++n) CELLS(sum, n / 4)[n % 4] = 0;
    for (int member = 0; member < members; ++member) {
      part = parts + (long)SLOT(first, (team + member) * apart) * RUNS * ITEMS + id;
#pragma unroll
      for (int n = 0; n < RUNS; ++n) {
        const real_4 run = part[n * ITEMS];
        CELLS(sum, n)[0] += run.s0;
        CELLS(sum, n)[1] += run.s1;
        CELLS(sum, n)[2] += run.s2;
        CELLS(sum, n)[3] += run.s3;
      }
    }
    nth /= TEAM;
    count = (count + TEAM - 1) / TEAM;
    apart *= TEAM;
  }
  return 1;
}
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_tf32x3(__global const real *restrict A, __global const real *restrict B,
                __global real *restrict C, const int M, const int N, const int K,
                __global real *restrict parts, __global int *restrict counts) {
  __local real tiles[STAGES * PAIR] __attribute__((aligned(128)));

  const uint id = get_local_id(0);
  const int whole = K % 4 == 0 && N % 4 == 0;
  const int g = id % 32 / 4;  // this lane's place in its warp
  const int t = id % 4;
  // The first row and column of this lane's share of A's tile and of its warp's of B's.
  const int y = id / 32 / WARPS_X * WM + g;
  const int x = id / 32 % WARPS_X * WN;
  const uint to = (uint)(size_t)tiles;  // cp.async takes an address in local memory as 32 bits

  const int tiles_x = (N + BN - 1) / BN;
  int tile = get_group_id(0);
#if ROUND > 1
  const int steps = (K + BK - 1) / BK;
  const uint shared = (M + BM - 1) / BM * tiles_x % ROUND;
  const uint all = shared * steps;
  const uint most = all / LEAST < ROUND ? all / LEAST : ROUND;
  const uint sharers = most > shared ? most : shared;
  const uint group = tile;
  int step = 0;      // the first of the tile's that is this group's
  int left = steps;  // its steps, in this tile and the next
  tile -= shared > 0 ? ROUND - shared : 0;
  if (tile < (int)shared) {
    if (group >= sharers) return;
    step = group * all / sharers;
    left = (group + 1) * all / sharers - step;
    tile = step / steps;
    step -= tile * steps;
  }
  for (; left > 0; ++tile) {
    const int k_start = step * BK;
    const int k_end = step + left < steps ? k_start + left * BK : K;
#else
  {
    const int k_start = 0;
    const int k_end = K;
#endif
    const int row0 = tile / tiles_x * BM;
    const int col0 = tile % tiles_x * BN;

    real sum[WM / 8][2][4];
#pragma unroll
    for (int n = 0; n < WM; ++n) CELLS(sum, n / 4)[n % 4] = 0;
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) {
      fetch(to + n * PAIR * 4, A, B, M, N, K, k_end, row0, col0, k_start + n * BK, id, whole);
    }

    int now = 0;            // the pair in use
    int next = STAGES - 1;  // where the next copies go
#pragma unroll 1
    for (int k0 = k_start; k0 < k_end; k0 += BK) {
      asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
      barrier(CLK_LOCAL_MEM_FENCE);  // this pair is here, and the last one used up
      __local const real *As = tiles + now * PAIR;
      __local const real *Bs = As + TILE_A;
      real part[WM / 8][2][4];
#pragma unroll
      for (int n = 0; n < WM; ++n) CELLS(part, n / 4)[n % 4] = 0;
#pragma unroll
      for (int k = 0; k < BK; k += 16) {
        real_4 runA[WM / 8];
        real_2 runB[2][4];
#pragma unroll
        for (int p = 0; p < 2; ++p) {
#pragma unroll
          for (int s = 0; s < 4; ++s) {
            runB[p][s] = *(__local const real_2 *)(Bs + (k + 4 * t + s) * BN + x +
                                                   (p * 16 + g * 2 ^ t * 8));
          }
        }
#pragma unroll
        for (int i = 0; i < WM / 8; ++i) {
          runA[i] = *(__local const real_4 *)(As + (y + i * 8) * BK + CHUNK_A(g, k / 4 + t) * 4);
        }
        if (k == BK / 2) {  // the last pair but one is used up since the barrier
          fetch(to + next * PAIR * 4, A, B, M, N, K, k_end, row0, col0,
                k0 + (STAGES - 1) * BK, id, whole);
        }
#pragma unroll
        for (int s = 0; s < 4; s += 2) {
          uint b[2][4];
          uint b_low[2][4];
#pragma unroll
          for (int p = 0; p < 2; ++p) {
            b[p][0] = as_uint(runB[p][s].s0);
            b[p][1] = as_uint(runB[p][s].s1);
            b[p][2] = as_uint(runB[p][s + 1].s0);
            b[p][3] = as_uint(runB[p][s + 1].s1);
            b_low[p][0] = low(runB[p][s].s0);
            b_low[p][1] = low(runB[p][s].s1);
            b_low[p][2] = low(runB[p][s + 1].s0);
            b_low[p][3] = low(runB[p][s + 1].s1);
          }
#pragma unroll
          for (int i = 0; i < WM / 8; i += 2) {
            uint a[2][2];
            uint a_low[2][2];
#pragma unroll
            for (int h = 0; h < 2; ++h) {
              const real first = s == 0 ? runA[i + h].s0 : runA[i + h].s2;
              const real second = s == 0 ? runA[i + h].s1 : runA[i + h].s3;
              a[h][0] = as_uint(first);
              a[h][1] = as_uint(second);
              a_low[h][0] = low(first);
              a_low[h][1] = low(second);
            }
#pragma unroll
            for (int n = 0; n < 4; ++n) MMA(part[i + n / 2][n % 2], b_low[n % 2], a[n / 2]);
#pragma unroll
            for (int n = 0; n < 4; ++n) MMA(part[i + n / 2][n % 2], b[n % 2], a_low[n / 2]);
#pragma unroll
            for (int n = 0; n < 4; ++n) MMA(part[i + n / 2][n % 2], b[n % 2], a[n / 2]);
          }
        }
      }
#pragma unroll
      for (int n = 0; n < WM; ++n) CELLS(sum, n / 4)[n % 4] += CELLS(part, n / 4)[n % 4];
      now = now + 1 < STAGES ? now + 1 : 0;
      next = next + 1 < STAGES ? next + 1 : 0;
    }

#if ROUND > 1
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    barrier(CLK_LOCAL_MEM_FENCE);  // the tiles are used up
    int finished = 1;
    if (step > 0 || step + left < steps) {
      const int first = ((tile * steps + 1) * sharers - 1) / all;
      const int last = ((tile + 1) * steps * sharers - 1) / all;
      finished = gather(sum, (__global real_4 *)parts, counts, (__local int *)tiles, first,
                        last - first + 1, group - first, id);
    }
    left -= steps - step;
    step = 0;
    if (!finished) continue;
#endif
#pragma unroll
    for (int i = 0; i < WM / 8; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = row0 + y - g + i * 8 + t * 2 + h;
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          const int col = col0 + x + p * 16 + g * 2;
          const real_2 run = (real_2)(sum[i][p][h], sum[i][p][2 + h]);
          if (row < M && col < N) {
            if (whole) {
              *(__global real_2 *)(C + row * N + col) = run;
            } else {
              C[row * N + col] = run.s0;
              if (col + 1 < N) C[row * N + col + 1] = run.s1;
            }
          }
        }
      }
    }
  }
}
