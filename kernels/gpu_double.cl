// Multiplies doubles on NVIDIA's tensor cores, at any shape.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C; a warp WM x 32 of
//                K     | Bs, 16 |          it, in steps of 8 rows x 16 columns x 8 k: one mma.
//                  . . +--------+ . .      The tiles of A and B are copied straight from global to
//         K               BN               local memory, STAGES - 1 of them under way while one is
//       +----+--       +--------+          used, and no register holds them in between.
//   A M | As |  ...  BM|   C    |
//       | 16 |         |        |            copy      | tile t + 3
//       +----+--       +--------+            barrier  #| tile t used up, tile t + 1 here
//                                            read      | k = 8..15 of t      | k = 0..7 of t + 1
//                                            multiply  | k = 0..7 of t       | k = 8..15 of t
//
// The order of the rows, columns and k within a mma is free as long as A and B agree, so it is
// chosen such that a read of 16 bytes gives registers that mma wants side by side:
//
//   lane 4 g + t of a warp       B: columns 2 g, 2 g + 1 of rows 2 t and 2 t + 1 (mma's first
//   (g = 0..7, t = 0..3)         operand, that is C's transpose is made); A: row g, k 2 t, 2 t + 1.
//
// Chunks of 16 bytes are swapped within their rows (CHUNK_A, CHUNK_B), so that the eight lanes
// that read at once find eight different ones of the 128 bytes that the banks give at a time.
//
// Any shape: rows and columns outside are read from the last one inside and never stored; what K
// lacks to a multiple of 16 is filled with zeros by the copy. Where K or N is odd, each element is
// copied alone.
//
// Memory plan: STAGES x (BM + BN) x 16 elements in local memory; WM * 32 / 32 = WM sums, WM / 4
// values of A and 16 of B a work-item, in two registers each; one barrier for 16 k.
// Source of the idea: CUTLASS's multistage pipeline. It needs mma.m16n8k8 on doubles: compute
// capability 9.0.

#ifndef BM
#define BM 128  // rows of C a group
#endif
#ifndef BN
#define BN 128  // columns of C a group
#endif
#ifndef WM
#define WM 64  // rows of C a warp
#endif
#ifndef STAGES
#define STAGES 3  // pairs of tiles in local memory
#endif
#ifndef real
#define real double  // element type: double
#endif

#if STAGES < 2
#error "one pair of tiles is used while another is copied: STAGES must be 2 or more"
#endif

#define BK 16  // values of k a step: a row of As is 128 bytes, all banks once
#define WN 32  // columns of C a warp
#define WARPS_X (BN / WN)
#define ITEMS (BM / WM * WARPS_X * 32)
#define TILE_A (BM * BK)
#define TILE_B (BK * BN)
#define PAIR (TILE_A + TILE_B)
#define ROWS_A (ITEMS / (BK / 2))  // rows of A that the group copies at once, in chunks of two
#define ROWS_B (ITEMS / (BN / 2))

#if WM % 16 != 0 || BM % WM != 0 || BN % WN != 0
#error "whole warps have to fill the tile"
#endif
#if BM % ROWS_A != 0 || ITEMS % (BN / 2) != 0 || BK % ROWS_B != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif

// Where chunk c of two elements lies in its row of As or Bs.
#define CHUNK_A(row, c) ((c) ^ ((row) % 2 * 4))
#define CHUNK_B(k, c) ((c) ^ ((k) / 2 % 4 * 2))

typedef double2 real_2;

// Starts a copy of two elements to a place in local memory: zeros where they are not `inside`.
static void copy_two(const uint to, __global const real *from, const int inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :: "r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

static void copy_one(const uint to, __global const real *from, const int inside) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
               :: "r"(to), "l"(from), "r"(inside ? 8 : 0) : "memory");
}

// Starts copies of single elements. What lies behind A is read at its last place.
static void fetch_singles(const uint to, __global const real *A, __global const real *B,
                          const int M, const int N, const int K, const int row0, const int col0,
                          const int k0, const int rest, const uint id) {
  const int k = id % BK;
  const uint row = id / BK;
  const int last = M * K - 1;
  const uint toA = to + (row * BK + CHUNK_A(row, k / 2) * 2 + k % 2) * 8;
  int at = (row0 + row) * K + k0 + k;
#pragma unroll
  for (int n = 0; n < TILE_A / ITEMS; ++n) {
    copy_one(toA + n * ITEMS * 8, A + (at < last ? at : last), k < rest);
    at += ITEMS / BK * K;
  }
  const uint col = id % BN;
  const uint first = id / BN;
  const uint toB = to + (TILE_A + first * BN + col % 2) * 8;
  at = (k0 + first) * N + ((int)(col0 + col) < N ? col0 + col : N - 1);
#pragma unroll
  for (int n = 0; n < TILE_B / ITEMS; ++n) {
    const int step = n * (ITEMS / BN);  // 2 and more of `first` are in it, or none
    const uint chunk = CHUNK_B(step + (ITEMS / BN > 2 ? first : 0), col / 2);
    copy_one(toB + (step * BN + chunk * 2) * 8, B + at, (int)first + step < rest);
    at += ITEMS / BN * N;
  }
}

// Starts this work-item's copies of the pair of tiles whose first k is k0.
static void fetch(const uint to, __global const real *A, __global const real *B, const int M,
                  const int N, const int K, const int row0, const int col0, const int k0,
                  const uint id, const int whole) {
  const int rest = K - k0;  // beyond it tiles are zeros
  if (whole) {
    const int c = id % (BK / 2) * 2;
    const int row = id / (BK / 2);
#pragma unroll
    for (int n = 0; n < BM / ROWS_A; ++n) {
      const int at = row + n * ROWS_A;
      const int inside = row0 + at < M ? row0 + at : M - 1;
      copy_two(to + (at * BK + CHUNK_A(at, c / 2) * 2) * 8, A + (inside * K + k0 + c), c < rest);
    }
    const int k = id / (BN / 2);
    const int col = id % (BN / 2) * 2;
    const int colin = col0 + col < N ? col0 + col : N - 2;
#pragma unroll
    for (int n = 0; n < BK / ROWS_B; ++n) {
      const int at = k + n * ROWS_B;
      copy_two(to + (TILE_A + at * BN + CHUNK_B(at, col / 2) * 2) * 8, B + ((k0 + at) * N + colin),
            at < rest);
    }
  } else if (rest >= BK) {
    fetch_singles(to, A, B, M, N, K, row0, col0, k0, BK, id);
  } else {
    fetch_singles(to, A, B, M, N, K, row0, col0, k0, rest, id);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Reads two k of one row of A's tile.
static void take_a(real a[2], __local const real *As, const int y, const int g, const int t,
                   const int step) {
  const real_2 run = *(__local const real_2 *)(As + y * BK + CHUNK_A(g, step * 4 + t) * 2);
  a[0] = run.s0;
  a[1] = run.s1;
}

// Reads two columns side by side of two rows of B's tile.
static void take_b(real b[2][4], __local const real *Bs, const int x, const int g, const int t,
                   const int step) {
#pragma unroll
  for (int p = 0; p < 2; ++p) {
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      const int at = (step * 8 + 2 * t + s) * BN + x + p * 16 + (g ^ t * 2) * 2;
      const real_2 run = *(__local const real_2 *)(Bs + at);
      b[p][2 * s] = run.s0;
      b[p][2 * s + 1] = run.s1;
    }
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_double(__global const real *restrict A, __global const real *restrict B,
                __global real *restrict C, const int M, const int N, const int K) {
  __local real tiles[STAGES * PAIR] __attribute__((aligned(128)));

  const uint id = get_local_id(0);
  const int row0 = get_group_id(1) * BM;
  const int col0 = get_group_id(0) * BN;
  const int whole = K % 2 == 0 && N % 2 == 0;
  const int g = id % 32 / 4;  // this lane's place in its warp
  const int t = id % 4;
  // The first row and column of this lane's share of A's tile and of its warp's of B's.
  const int y = id / 32 / WARPS_X * WM + g;
  const int x = id / 32 % WARPS_X * WN;
  const uint to = (uint)(size_t)tiles;  // cp.async takes an address in local memory as 32 bits

  real sum[WM / 8][2][4];
#pragma unroll
  for (int i = 0; i < WM / 8; ++i) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum[i][j / 4][j % 4] = 0;
    }
  }
#pragma unroll
  for (int n = 0; n < STAGES; ++n) {
    fetch(to + n * PAIR * 8, A, B, M, N, K, row0, col0, n * BK, id, whole);
  }
  asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 1) : "memory");
  barrier(CLK_LOCAL_MEM_FENCE);  // the first pair is here

  int now = 0;  // the pair in use
  real a[WM / 8][2];
  real b[2][2][4];
  take_b(b[0], tiles + TILE_A, x, g, t, 0);
#pragma unroll
  for (int i = 0; i < WM / 8; ++i) {
    take_a(a[i], tiles, y + i * 8, g, t, 0);
  }
#pragma unroll 1
  for (int k0 = 0; k0 < K; k0 += BK) {
#pragma unroll
    for (int step = 0; step < BK / 8; ++step) {
      const int ahead = (step + 1) % (BK / 8);
      if (ahead == 0) {
        asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
        barrier(CLK_LOCAL_MEM_FENCE);  // this pair is used up and the next one here
        fetch(to + now * PAIR * 8, A, B, M, N, K, row0, col0, k0 + STAGES * BK, id, whole);
        now = now + 1 < STAGES ? now + 1 : 0;
      }
      __local const real *As = tiles + now * PAIR;
      take_b(b[(step + 1) % 2], As + TILE_A, x, g, t, ahead);
#pragma unroll
      for (int i = 0; i < WM / 8; ++i) {
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, "
              "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
              : "+d"(sum[i][p][0]), "+d"(sum[i][p][1]), "+d"(sum[i][p][2]), "+d"(sum[i][p][3])
              : "d"(b[step % 2][p][0]), "d"(b[step % 2][p][1]), "d"(b[step % 2][p][2]),
                "d"(b[step % 2][p][3]), "d"(a[i][0]), "d"(a[i][1]));
        }
        take_a(a[i], As, y + i * 8, g, t, ahead);
      }
    }
  }

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
