// Multiplies halves on a Hopper GPU's tensor cores and adds up in float; C is half again.
//
//                            N
//              B     . . +--------+ . .     A group takes BM x BN tiles of C in turn. One work-item
//                 K      | Bs, 64 |         copies tiles of A and B, STAGES pairs ahead, and two
//                    . . +--------+ . .     times four warps multiply, half of BM rows each.
//          K                BN
//        +----+--        +--------+         GROUPS groups, one a compute unit:
//    A M | As |  ...     | warps  |
//        | 64 |       BM | 0 .. 3 |           |<- tiles that each makes alone ->|<- the rest ->|
//        +----+--        | 4 .. 7 |           | 0 |  GROUPS     |  2 * GROUPS ..|shared by all |
//                        +--------+           | 1 |  GROUPS + 1 |               |              |
//
// wgmma, which multiplies 64 x 16 by 16 x BN halves out of local memory, exists for the target
// sm_90a alone, and OpenCL's compiler writes for sm_90. So it stands in comments ("//@"), in which
// the compiler still fills in the registers; the host strips the marks from the compiler's text,
// names the other target and builds that (build = "ptx-sm_90a"). The same goes for setmaxnreg, by
// which the work-items that only copy give registers to the others.
//
// Copies go by the tensor memory access unit: a tile is named by the place of its first element in
// a matrix that a map of the host's describes. What lies outside comes as zeros.
//
//   As   [row of A][64 k]            one block, 128 bytes a row, swizzled: no banks in conflict
//   Bs   [64 columns][k of 64][64]   BN / 64 blocks, 128 bytes a k: wgmma transposes on its way
//
// full[s] ends when the copies of pair s have come, empty[s] when all eight warps have used it.
//
// The rest: tiles that do not go round among the groups. Where it gains enough, their steps of 64 k
// are shared out evenly: each group writes its part of a tile to `parts` and counts itself in, and
// the last adds all up, in order, so that C is the same each time. Nobody waits.
//
// Any M; N and K are multiples of 8, since rows have to begin on 16 bytes.
// Memory plan: STAGES * 64 * (BM + BN) halves of local memory; BM * BN / 256 sums a work-item.
// Source of the idea: CUTLASS's persistent kernels and stream-K. New here: from OpenCL C.

#ifndef BM
#define BM 128  // rows of C a group
#endif
#ifndef BN
#define BN 256  // columns of C a group
#endif
#ifndef STAGES
#define STAGES 4  // pairs of tiles in local memory
#endif
#ifndef BAND
#define BAND 8  // rows of tiles that are walked down before the next column of tiles
#endif
#ifndef GROUPS
#define GROUPS 132  // groups of a launch, one a compute unit
#endif
#ifndef real
#define real ushort  // the bits of a half: stored, never computed with
#endif

#define BK 64  // k a step: a row of As is 128 bytes
#define MULTIPLIERS 256
#define ITEMS (MULTIPLIERS + 128)
#define WM (BM / 2)  // rows of C that four warps multiply, 64 at a time
#define BYTES_A (BM * BK * 2)
#define BYTES_B (BK * BN * 2)
#define BLOCK_B (BK * 64 * 2)
#define LEAST 16  // steps that are worth a part of their own
#define GAIN 16   // steps a group that sharing has to save

#if (BM != 128 && BM != 256) || (BN != 64 && BN != 192 && BN != 256) || BM * BN > 49152
#error "BM must be 128 or 256 and BN 64, 192 or 256, with no more sums than there are registers"
#endif
#if STAGES < 2
#error "one pair of tiles is used while another is copied: STAGES must be 2 or more"
#endif

// Operands of wgmma: BN / 2 sums, then the places of As and Bs.
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define NAMES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "     \
  "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_96 NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, "    \
  "%45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, "     \
  "%63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, "     \
  "%81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define NAMES_128 NAMES_96 ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, "      \
  "%107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, "     \
  "%122, %123, %124, %125, %126, %127"
#define SUMS_4(sum, n) "+f"(sum[n]), "+f"(sum[n + 1]), "+f"(sum[n + 2]), "+f"(sum[n + 3])
#define SUMS_16(sum, n) SUMS_4(sum, n), SUMS_4(sum, n + 4), SUMS_4(sum, n + 8), SUMS_4(sum, n + 12)
#define SUMS_32(sum, n) SUMS_16(sum, n), SUMS_16(sum, n + 16)
#if BN == 64
#define NAMES NAMES_32
#define SUMS(sum) SUMS_32(sum, 0)
#define LAST_NAMES "%32, %33"
#elif BN == 192
#define NAMES NAMES_96
#define SUMS(sum) SUMS_32(sum, 0), SUMS_32(sum, 32), SUMS_32(sum, 64)
#define LAST_NAMES "%96, %97"
#else
#define NAMES NAMES_128
#define SUMS(sum) SUMS_32(sum, 0), SUMS_32(sum, 32), SUMS_32(sum, 64), SUMS_32(sum, 96)
#define LAST_NAMES "%128, %129"
#endif

// sum (64 x BN, over four warps) += As (64 x 16) * Bs (16 x BN).
#define MULTIPLY(sum, place_a, place_b)                                                            \
  asm volatile("//@{ .reg .pred p; setp.eq.u32 p, 0, 0; "                                          \
               "wgmma.mma_async.sync.aligned.m64n" NUMBER(BN) "k16.f32.f16.f16 {" NAMES "}, "      \
               LAST_NAMES ", p, 1, 1, 0, 1; }"                                                     \
               : SUMS(sum) : "l"(place_a), "l"(place_b))

// Where swizzled rows of 128 bytes lie: their address, and the bytes from one eight of rows to the
// next (1024) and from one block of 64 columns to the next.
#define PLACE(address, block)                                                                      \
  ((ulong)(((address) & 0x3ffff) >> 4) | (ulong)((block) >> 4) << 16 | (ulong)(1024 >> 4) << 32 |  \
   (ulong)1 << 62)

static void wait_for(const uint barrier_at, const uint parity) {
  uint done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier_at), "r"(parity) : "memory");
  } while (!done);
}

// Starts the copy of the tile whose first element stands at column x and row y of a matrix.
static void fetch(const uint to, __global const ulong *map, const int x, const int y,
                  const uint barrier_at) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier_at) : "memory");
}

// The tiles of the rest, the groups that share them, and the steps of a tile.
typedef struct {
  int tiles, workers, steps;
} rest_t;

// The first of a worker's steps, counted through all tiles of the rest.
static int begin_of(const rest_t rest, const int worker) {
  return (uint)(worker * rest.tiles * rest.steps) / (uint)rest.workers;
}

// The last worker whose steps begin at or before a step.
static int worker_at(const rest_t rest, const int step) {
  return (uint)((step + 1) * rest.workers - 1) / (uint)(rest.tiles * rest.steps);
}

// A piece of a group's work: the steps from first to last, the latter left out, of one tile.
typedef struct {
  int tile, first, last;
} piece_t;

// A group's n-th piece; one without steps follows the last.
static piece_t piece_of(const int n, const int alone, const rest_t rest) {
  const int group = get_group_id(0);
  piece_t piece;
  piece.first = 0;
  piece.last = rest.steps;
  piece.tile = n * GROUPS + group;
  if (n >= alone) {
    const int begin = group < rest.workers ? begin_of(rest, group) : 0;
    const int end = group < rest.workers ? begin_of(rest, group + 1) : 0;
    const int tile = begin / rest.steps + n - alone;
    piece.tile = alone * GROUPS + tile;
    piece.first = max(begin - tile * rest.steps, 0);
    piece.last = min(end - tile * rest.steps, rest.steps);
  }
  return piece;
}

// The row and column of a tile among the tiles: down a band of BAND rows, then to the next column.
static void find_tile(const int tile, const int rows, const int cols, int *row, int *col) {
  const int above = tile / (BAND * cols) * BAND;
  const int high = min(BAND, rows - above);
  const int within = tile - above * cols;
  *row = above + within % high;
  *col = within / high;
}

static uint as_halves(const float first, const float second) {
  uint pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(second), "f"(first));
  return pair;
}

// Two lanes whose numbers differ in a bit trade: the one without it gives its second for a first.
static void trade(uint *first, uint *second, const int bit) {
  const int is_upper = get_local_id(0) & bit;
  uint got;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;"
               : "=r"(got) : "r"(is_upper ? *first : *second), "r"(bit));
  *first = is_upper ? got : *first;
  *second = is_upper ? *second : got;
}

// Stores a lane's sums of one row, two of each eight columns of 32. The four lanes that share the
// row trade until each has eight columns of its own.
static void store_halves(__global real *to, const int fits, const float *run) {
  uint pairs[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) pairs[i] = as_halves(run[i * 4], run[i * 4 + 1]);
  trade(&pairs[0], &pairs[1], 1);
  trade(&pairs[2], &pairs[3], 1);
  trade(&pairs[0], &pairs[2], 2);
  trade(&pairs[1], &pairs[3], 2);
  if (fits) *(__global uint4 *)to = (uint4)(pairs[0], pairs[1], pairs[2], pairs[3]);
}

// Reads a map anew: the driver's copy of it is out of date for the memory access unit.
static void take_map(__global const ulong *map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}

// Waits for all work-items that multiply.
static void meet(void) {
  asm volatile("bar.sync 1, %0;" :: "n"(MULTIPLIERS) : "memory");
}

// Tells the copying work-item that this warp has used a pair.
static void give_back(const uint used) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(used + STAGES * 8) : "memory");
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_tensor(__global const ulong *map_a, __global const ulong *map_b, __global real *C,
                const int M, const int N, const int K, __global float *parts,
                __global int *counters) {
  __local uchar tiles[STAGES * (BYTES_A + BYTES_B)] __attribute__((aligned(1024)));
  __local ulong barriers[2 * STAGES];
  __local int order;

  const int id = get_local_id(0);
  const uint tiles_at = (uint)(size_t)tiles;
  const uint full = (uint)(size_t)barriers;  // empty[s] lies behind full[STAGES - 1]
  const int rows = (M + BM - 1) / BM, cols = (N + BN - 1) / BN;
  const int alone = rows * cols / GROUPS;  // tiles that each group makes alone
  rest_t rest;
  rest.tiles = rows * cols % GROUPS;
  rest.steps = (K + BK - 1) / BK;
  // Parts cost time too: where sharing gains little, tiles stay whole.
  const int gain = rest.steps - rest.tiles * rest.steps / GROUPS;
  rest.workers = gain < GAIN ? rest.tiles
                             : min(GROUPS, rest.tiles * max(1, rest.steps / LEAST));

  if (id == 0) {
    for (int s = 0; s < STAGES; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(full + s * 8) : "memory");
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 8;"
                   :: "r"(full + (STAGES + s) * 8) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  barrier(CLK_LOCAL_MEM_FENCE);

  int stage = 0;
  uint parity = 0;
  if (id >= MULTIPLIERS) {
    asm volatile("//@setmaxnreg.dec.sync.aligned.u32 40;");
    if (id == MULTIPLIERS) {  // one work-item copies
      take_map(map_a);
      take_map(map_b);
      for (int n = 0;; ++n) {
        const piece_t piece = piece_of(n, alone, rest);
        if (piece.last <= piece.first) break;
        int row, col;
        find_tile(piece.tile, rows, cols, &row, &col);
        // Blocks outside are left out: the memory access unit is slow at zeros.
        const int blocks = min(BN / 64, (N - col * BN + 63) / 64);
        for (int step = piece.first; step < piece.last; ++step) {
          const uint here = full + stage * 8;
          const uint to = tiles_at + stage * (BYTES_A + BYTES_B);
          wait_for(here + STAGES * 8, parity ^ 1);
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       :: "r"(here), "r"(BYTES_A + blocks * BLOCK_B) : "memory");
          fetch(to, map_a, step * BK, row * BM, here);
#pragma unroll
          for (int i = 0; i < BN / 64; ++i) {
            if (i < blocks) {
              fetch(to + BYTES_A + i * BLOCK_B, map_b, col * BN + i * 64, step * BK, here);
            }
          }
          stage = stage + 1 < STAGES ? stage + 1 : 0;
          parity ^= stage == 0;
        }
      }
    }
    return;
  }

  asm volatile("//@setmaxnreg.inc.sync.aligned.u32 232;");
  const int lane = id % 32;
  const int y = id / 128 * WM + id / 32 % 4 * 16 + lane / 4;
  for (int n = 0;; ++n) {
    const piece_t piece = piece_of(n, alone, rest);
    if (piece.last <= piece.first) break;
    float sum[WM / 64][BN / 2];
#pragma unroll
    for (int i = 0; i < WM / 64; ++i) {
#pragma unroll
      for (int j = 0; j < BN / 2; ++j) sum[i][j] = 0;
    }
    uint used = full;  // the barrier of the pair that the multiplications under way read
#pragma unroll 1
    for (int step = piece.first; step < piece.last; ++step) {
      const uint here = full + stage * 8;
      const uint a_at = tiles_at + stage * (BYTES_A + BYTES_B) + id / 128 * (BYTES_A / 2);
      const uint b_at = tiles_at + stage * (BYTES_A + BYTES_B) + BYTES_A;
      const ulong a = PLACE(a_at, 16);
      const ulong b = PLACE(b_at, BLOCK_B);
      wait_for(here, parity);
      asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < BK / 16; ++k) {
#pragma unroll
        for (int i = 0; i < WM / 64; ++i) {
          MULTIPLY(sum[i], a + i * (64 * 128 >> 4) + k * (32 >> 4), b + k * (16 * 128 >> 4));
        }
      }
      asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory");
      if (step > piece.first && lane == 0) give_back(used);
      used = here;
      stage = stage + 1 < STAGES ? stage + 1 : 0;
      parity ^= stage == 0;
    }
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int i = 0; i < WM / 64; ++i) asm volatile("" : SUMS(sum[i]) :: "memory");
    if (lane == 0) give_back(used);

    int row, col;
    find_tile(piece.tile, rows, cols, &row, &col);
    row = row * BM + y;
    col = col * BN + lane % 4 * 8;
    __global real *to = C + (size_t)row * N + col;
    if (piece.last - piece.first == rest.steps) {
#pragma unroll
      for (int i = 0; i < WM / 64; ++i) {
#pragma unroll
        for (int j = 0; j < BN / 2; j += 16) {
          const int fits = col + j * 2 < N;
          store_halves(to + j * 2, fits && row + i * 64 < M, sum[i] + j);
          store_halves(to + 8 * N + j * 2, fits && row + i * 64 + 8 < M, sum[i] + j + 2);
        }
        to += 64 * N;
      }
      continue;
    }

    const int tile = piece.tile - alone * GROUPS;
    const int first = worker_at(rest, tile * rest.steps);
    const int last = worker_at(rest, (tile + 1) * rest.steps - 1);
    // A worker's second part is of the tile after the one that it began with.
    __global float4 *part = (__global float4 *)parts +
        (get_group_id(0) * 2 + (n > alone)) * (BM * BN / 4) + id;
#pragma unroll
    for (int i = 0; i < WM / 64; ++i) {
#pragma unroll
      for (int j = 0; j < BN / 8; ++j) {
        part[(i * (BN / 8) + j) * MULTIPLIERS] =
            (float4)(sum[i][j * 4], sum[i][j * 4 + 1], sum[i][j * 4 + 2], sum[i][j * 4 + 3]);
      }
    }
    meet();
    if (id == 0) {
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      order = atomic_inc(counters + tile);
      asm volatile("fence.acq_rel.gpu;" ::: "memory");
      if (order == last - first) counters[tile] = 0;
    }
    meet();
    const int others = last - first - order;
    meet();  // before `order` is written again
    if (others > 0) continue;
    // Few sums at a time leave registers for many loads under way.
#pragma unroll 1
    for (int j = 0; j < BM / 128 * BN / 8; j += 8) {
      float run[32];
#pragma unroll
      for (int i = 0; i < 32; ++i) run[i] = 0;
#pragma unroll 2
      for (int worker = first; worker <= last; ++worker) {
        const int second = begin_of(rest, worker) < tile * rest.steps;
        part = (__global float4 *)parts + (worker * 2 + second) * (BM * BN / 4) + id;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          const float4 more = part[(j + i) * MULTIPLIERS];
          run[i * 4] += more.x;
          run[i * 4 + 1] += more.y;
          run[i * 4 + 2] += more.z;
          run[i * 4 + 3] += more.w;
        }
      }
      const int down = j / (BN / 8) * 64, x = j % (BN / 8) * 8;
#pragma unroll
      for (int i = 0; i < 32; i += 16) {
        const int fits = col + x + i * 2 < N;
        store_halves(to + down * N + x + i * 2, fits && row + down < M, run + i);
        store_halves(to + (down + 8) * N + x + i * 2, fits && row + down + 8 < M, run + i + 2);
      }
    }
  }
}
