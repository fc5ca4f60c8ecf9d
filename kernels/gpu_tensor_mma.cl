// Multiplies halves on NVIDIA's tensor cores by mma.sync and adds up in float; C is half again.
//
//                          N
//              B   . . +--------+ . .      A group makes one BM x BN tile of C; a warp WM x WN of
//                K     | Bs, BK |          it, in steps of 16 rows x 8 columns x 16 k: one mma.
//                  . . +--------+ . .      The tiles of A and B are copied straight from global to
//         K               BN               local memory, STAGES - 1 of them under way while one is
//       +----+--       +--------+          used, and no register holds them in between.
//   A M | As |  ...  BM|   C    |
//       | BK |         |        |            copy      | pair t + STAGES
//       +----+--       +--------+            barrier  #| pair t used up, pair t + 1 here
//                                            read      | next 16 k of t    | first 16 k of t + 1
//                                            multiply  | these 16 k of t   | last 16 k of t
//
// mma wants its operands spread over the 32 lanes of a warp, and ldmatrix spreads them: it reads
// four blocks of 8 x 8 halves, each row of a block, 16 bytes, from a place that one lane names.
// Lane 4 g + t gets two halves of row g of each, 2 t and 2 t + 1; of B, whose blocks it transposes
// on the way, two k of column g.
//
//       A, rows down, k across:   | 0  2 |      B, k down, columns across:   | 0  2 |  two operands:
//       four blocks               | 1  3 |      four blocks                  | 1  3 |  0, 1 and 2, 3
//
// Chunks of 16 bytes are swapped within their rows (CHUNK_A, CHUNK_B), so that the eight lanes that
// name a block's rows name eight different ones of the 128 bytes that the banks give at a time.
//
// Any shape: rows and columns outside are read from the last one inside and never stored. K begins
// with as many zeros as it lacks to a multiple of BK, so only the first pair asks what is inside.
// Copies are of 8 halves where K and N are multiples of 8, of 2 where both are even. Single halves
// are less than a copy in the background can be: they go through registers.
//
// C goes through local memory, where the tiles were: a warp's rows of halves lie side by side then.
//
// Memory plan: STAGES * BK * (BM + BN) halves of local memory; WM * WN / 32 sums, WM / 2 + WN / 2
// registers of operands a work-item; one barrier for BK k.
// Source of the idea: CUTLASS's multistage pipeline. It needs compute capability 8.0.

#ifndef BM
#define BM 128  // rows of C a group
#endif
#ifndef BN
#define BN 128  // columns of C a group
#endif
#ifndef BK
#define BK 32  // values of k a step
#endif
#ifndef WM
#define WM 64  // rows of C a warp
#endif
#ifndef WN
#define WN 64  // columns of C a warp
#endif
#ifndef STAGES
#define STAGES 3  // pairs of tiles in local memory
#endif
#ifndef BAND
#define BAND 8  // rows of tiles that are walked down before the next column of tiles
#endif
#ifndef real
#define real ushort  // the bits of a half: stored, never computed with
#endif

#define WARPS_X (BN / WN)
#define ITEMS (BM / WM * WARPS_X * 32)
#define TILE_A (BM * BK)
#define TILE_B (BK * BN)
#define PAIR_BYTES ((TILE_A + TILE_B) * 2)

#if STAGES < 2
#error "one pair of tiles is used while another is copied: STAGES must be 2 or more"
#endif
#if (BK != 32 && BK != 64) || (WM != 32 && WM != 64) || (WN != 32 && WN != 64)
#error "BK, WM and WN must be 32 or 64"
#endif
#if BM % WM != 0 || BN % WN != 0 || BN % 64 != 0 || BM * BN > 32768 || ITEMS > 512
#error "whole warps have to fill the tile, with no more sums than there are registers"
#endif
#if ITEMS % BN != 0 || ITEMS % BK != 0 || TILE_A % (ITEMS * 8) != 0 || TILE_B % (ITEMS * 8) != 0
#error "the work-items cannot share the tiles of A and B evenly"
#endif
#if BM * BN > STAGES * BK * (BM + BN)
#error "the tile of C has to fit where the tiles of A and B were"
#endif

// Where chunk c of eight halves lies in its row of As, of Bs or of C's tile.
#define CHUNK_A(row, c) ((c) ^ ((row) / (64 / BK) % (BK / 8)))
#define CHUNK_B(row, c) ((c) ^ ((row) % 8))

// The address for PTX of a byte of local memory.
#define ADDRESS(tiles, at) ((uint)(size_t)(tiles) + (at))

// Starts a copy of 8 or 2 halves to a byte of `tiles`: zeros where they are not `inside`.
static void copy_ahead(__local real *tiles, const uint at, __global const real *from,
                       const int inside, const int width) {
  if (width == 8) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(ADDRESS(tiles, at)), "l"(from), "r"(inside ? 16 : 0) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                 :: "r"(ADDRESS(tiles, at)), "l"(from), "r"(inside ? 4 : 0) : "memory");
  }
}

// Closes a pair's copies: they are waited for together.
static void end_pair(void) {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits for this work-item's copies of all pairs but the last STAGES - 1, or STAGES - 2.
static void wait_for_first(void) {
  asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 1) : "memory");
}

static void wait_for_next(void) {
  asm volatile("cp.async.wait_group %0;" :: "n"(STAGES - 2) : "memory");
}

// Reads four blocks of 8 x 8 halves; lanes 8 n to 8 n + 7 name the rows of block n.
static void read_blocks(uint to[4], __local const real *tiles, const uint at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(ADDRESS(tiles, at)) : "memory");
}

// The same, each block transposed.
static void read_turned(uint to[4], __local const real *tiles, const uint at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(ADDRESS(tiles, at)) : "memory");
}

// sum (16 x 8) += a (16 x 16) * b (16 x 8), each spread over the lanes of a warp.
static void multiply(float sum[4], const uint a[4], const uint b[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static uint as_halves(const float first, const float second) {
  uint pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// A value of which the compiler knows nothing: what is computed from it stays where it is used, and
// takes no registers through the main loop.
static uint apart(uint value) {
  asm volatile("" : "+r"(value));
  return value;
}

// What a fetch takes: the matrices, and the first row and column of this group's tile of C.
#define TASK \
  __global const real *A, __global const real *B, const int M, const int N, const int K, \
      const int row0, const int col0
#define THIS A, B, M, N, K, row0, col0

// Starts copies of this work-item's shares of the pair of tiles whose first k is k0, `width` halves
// each. What lies before k = 0 is zeros, but it is asked for only where this is the `first` pair.
// What lies behind A is read at its last place.
static void fetch(__local real *tiles, const uint to, TASK, const int k0,
                  const uint id, const int width, const int first) {
  const int c = id % (BK / width) * width;
  const int y = id / (BK / width);
  const int last = M * K - width;
  int place = (row0 + y) * K + k0 + c;
#pragma unroll
  for (int n = 0; n < TILE_A / (ITEMS * width); ++n) {
    const int row = y + n * (ITEMS * width / BK);
    copy_ahead(tiles, to + (row * BK + CHUNK_A(row, c / 8) * 8 + c % 8) * 2,
               A + min(place, last), !first || k0 + c >= 0, width);
    place += ITEMS * width / BK * K;
  }
  const int x = id % (BN / width) * width;
  const int k = id / (BN / width);
  place = (k0 + k) * N + min(col0 + x, N - width);
#pragma unroll
  for (int n = 0; n < TILE_B / (ITEMS * width); ++n) {
    const int row = k + n * (ITEMS * width / BN);
    copy_ahead(tiles, to + (TILE_A + row * BN + CHUNK_B(row, x / 8) * 8 + x % 8) * 2,
               B + place, !first || k0 + row >= 0, width);
    place += ITEMS * width / BN * N;
  }
}

// The same by single halves, eight of them under way at once.
static void fetch_singles(__local real *tiles, const uint to, TASK, const int k0,
                          const uint id) {
  const int c = id % BK;
  const int y = id / BK;
  const int last = M * K - 1;
  int place = (row0 + y) * K + k0 + c;
#pragma unroll 8
  for (int n = 0; n < TILE_A / ITEMS; ++n) {
    const int row = y + n * (ITEMS / BK);
    const int at = to / 2 + row * BK + CHUNK_A(row, c / 8) * 8 + c % 8;
    tiles[at] = k0 + c >= 0 ? A[min(place, last)] : 0;
    place += ITEMS / BK * K;
  }
  const int x = id % BN;
  const int k = id / BN;
  place = (k0 + k) * N + min(col0 + x, N - 1);
#pragma unroll 8
  for (int n = 0; n < TILE_B / ITEMS; ++n) {
    const int row = k + n * (ITEMS / BN);
    const int at = to / 2 + TILE_A + row * BN + CHUNK_B(row, x / 8) * 8 + x % 8;
    tiles[at] = k0 + row >= 0 ? B[place] : 0;
    place += ITEMS / BN * N;
  }
}

// Fetches a pair by as many halves at a time as the rows allow.
static void fetch_pair(__local real *tiles, const uint to, TASK, const int k0,
                       const uint id, const int width, const int first) {
  if (width == 8) {
    fetch(tiles, to, THIS, k0, id, 8, first);
  } else if (width == 2) {
    fetch(tiles, to, THIS, k0, apart(id), 2, first);
  } else {
    fetch_singles(tiles, to, THIS, k0, apart(id));
  }
  end_pair();
}

// Reads a warp's operands of 16 k from the pair of tiles at a byte of `tiles`.
static void take(uint a[WM / 16][4], uint b[WN / 16][4], __local const real *tiles, const uint pair,
                 const uint from_a, const uint from_b, const int k) {
#pragma unroll
  for (int j = 0; j < WN / 16; ++j) {
    read_turned(b[j], tiles, pair + (from_b ^ j * 32) + k * BN * 2);
  }
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
    read_blocks(a[i], tiles, pair + (from_a ^ k * 2) + i * 16 * BK * 2);
  }
}

// The row and column of a tile among the tiles: down a band of BAND rows, then to the next column.
static void find_tile(const int tile, const int rows, const int cols, int *row, int *col) {
  const int above = tile / (BAND * cols) * BAND;
  const int high = min(BAND, rows - above);
  const int within = tile - above * cols;
  *row = above + within % high;
  *col = within / high;
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_tensor_mma(__global const real *restrict A, __global const real *restrict B,
                    __global real *restrict C, const int M, const int N, const int K) {
  __local real tiles[STAGES * PAIR_BYTES / 2] __attribute__((aligned(128)));

  const uint id = get_local_id(0);
  const uint lane = id % 32;
  const uint y = id / 32 / WARPS_X * WM;  // the first row and column of this warp's part
  const uint x = id / 32 % WARPS_X * WN;
  const int width = K % 8 == 0 && N % 8 == 0 ? 8 : K % 2 == 0 && N % 2 == 0 ? 2 : 1;
  int tile_row, tile_col;
  find_tile(get_group_id(0), (M + BM - 1) / BM, (N + BN - 1) / BN, &tile_row, &tile_col);
  const int row0 = tile_row * BM, col0 = tile_col * BN;

  // Where this lane's rows of blocks lie in a pair. Other blocks differ in bits of their own, or
  // are a whole number of swaps away.
  const uint from_a = ((y + lane % 16) * BK + CHUNK_A(lane % 16, lane / 16) * 8) * 2;
  const uint from_b = (TILE_A + lane % 16 * BN + CHUNK_B(lane % 16, x / 8 + lane / 16) * 8) * 2;

  float sum[WM / 16][WN / 8][4];
#pragma unroll
  for (int n = 0; n < WM * WN / 32; ++n) sum[n / (WN / 2)][n / 4 % (WN / 8)][n % 4] = 0;

  const int steps = (K + BK - 1) / BK;
  const int k_start = K - steps * BK;
  fetch_pair(tiles, 0, THIS, k_start, id, width, 1);
#pragma unroll 1
  for (int n = 1; n < STAGES; ++n) {
    if (n < steps) {
      fetch_pair(tiles, n * PAIR_BYTES, THIS, k_start + n * BK, id, width, 0);
    } else {
      end_pair();
    }
  }
  wait_for_first();
  barrier(CLK_LOCAL_MEM_FENCE);  // the first pair is here

  uint now = 0;  // the byte at which the pair in use begins
  uint a[2][WM / 16][4];
  uint b[2][WN / 16][4];
  take(a[0], b[0], tiles, now, from_a, from_b, 0);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
#pragma unroll
    for (int k = 0; k < BK / 16; ++k) {
      const int ahead = (k + 1) % (BK / 16);
      if (ahead == 0) {
        wait_for_next();
        barrier(CLK_LOCAL_MEM_FENCE);  // this pair is used up and the next one here
        if (step + STAGES < steps) {
          fetch_pair(tiles, now, THIS, k_start + (step + STAGES) * BK, id, width, 0);
        } else {
          end_pair();
        }
        now = now + PAIR_BYTES < STAGES * PAIR_BYTES ? now + PAIR_BYTES : 0;
      }
      take(a[(k + 1) % 2], b[(k + 1) % 2], tiles, now, from_a, from_b, ahead * 16);
#pragma unroll
      for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
          multiply(sum[i][j], a[k % 2][i], b[k % 2][j / 2] + j % 2 * 2);
        }
      }
    }
  }

  barrier(CLK_LOCAL_MEM_FENCE);  // the tiles are used up, and no copies under way
#pragma unroll
  for (int i = 0; i < WM / 16; ++i) {
#pragma unroll
    for (int j = 0; j < WN / 8; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const uint row = y + i * 16 + h * 8 + lane / 4;
        const uint at = row * BN + CHUNK_B(row, x / 8 + j) * 8 + lane % 4 * 2;
        *(__local uint *)(tiles + at) = as_halves(sum[i][j][h * 2], sum[i][j][h * 2 + 1]);
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);  // the tile of C is there
  if (width == 8) {
    const int c = id % (BN / 8);
    const int col = col0 + c * 8;
#pragma unroll
    for (int n = 0; n < BM * BN / 8 / ITEMS; ++n) {
      const int row = id / (BN / 8) + n * (ITEMS * 8 / BN);
      if (row0 + row < M && col < N) {
        *(__global uint4 *)(C + (row0 + row) * N + col) =
            *(__local const uint4 *)(tiles + row * BN + CHUNK_B(row, c) * 8);
      }
    }
  } else {
    const int c = id % BN;
    const int col = col0 + c;
#pragma unroll 4
    for (int n = 0; n < BM * BN / ITEMS; ++n) {
      const int row = id / BN + n * (ITEMS / BN);
      if (row0 + row < M && col < N) {
        C[(row0 + row) * N + col] = tiles[row * BN + CHUNK_B(row, c / 8) * 8 + c % 8];
      }
    }
  }
}
