// Multiplies floats on a Hopper GPU's tensor cores in TF32: 11 bits of each float, sums in float.
//
//                            N
//              B     . . +--------+ . .     A group takes BM x BN tiles of C in turn. One of its
//                 K      | Bs, 32 |         work-items copies tiles of A and B, STAGES pairs ahead;
//                    . . +--------+ . .     two times four warps multiply, 64 columns of C each.
//          K                BN
//        +----+--        +--------+
//    A M | As |  ...  BM | C, 64  |         GROUPS groups, one a compute unit, go round the tiles.
//        | 32 |          | + 64   |
//        +----+--        +--------+
//
// The error is that of TF32: 2^-11 of each element of A and B, thousands of times a float's. The
// copies round to the nearest TF32 on their way.
//
// wgmma multiplies TF32 only where k runs fastest in both operands, and B's rows run along n. But
// its first operand may lie in registers, in any order. So C^T = B^T A^T is made: A as it lies is
// the second operand; B^T, the first, is gathered from Bs, two columns a read:
//
//   lane 4 g + t of a warp:  columns n, n + 1 of rows t and t + 4 of each 8 k, as rows g and g + 8
//   (g = 0..7, t = 0..3)     of the operand. n / 4, its chunk of 16 bytes in a row of Bs, and the
//                            chunk that the lanes g + 2 read lie four apart, since the swizzle puts
//                            chunk c of row k at c ^ k % 8: so 16 lanes find all of the banks.
//
// The lane's sums are then pairs of columns of C, too.
//
// 384 work-items could have 168 registers each; the copying four warps give most of theirs away
// (setmaxnreg), without which the sums and the values of B do not fit.
//
//   As   [row of A][32 k]               one block, 128 bytes a row, swizzled
//   Bs   [32 columns][k of 32][32]      four blocks, 128 bytes a k, swizzled
//
// Copies, barriers and the comments that hide wgmma from OpenCL's compiler are gpu_tensor's.
//
// Any M; N and K are multiples of 4, since rows have to begin on 16 bytes.
//
// Memory plan: STAGES * 32 * (BM + 128) floats of local memory; BM / 2 sums a work-item and two
// times 8 values of B, read while the last ones are multiplied.
// Source of the idea: CUTLASS's warp-specialized persistent kernels. New here: from OpenCL C, and
// the transposed product that needs no transposed copy of B.

#ifndef BM
#define BM 256  // rows of C a group
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
#define real float  // element type: float
#endif

#define BN 128  // columns of C a group: two times 64
#define BK 32   // k a step: a row of As is 128 bytes
#define MULTIPLIERS 256
#define ITEMS (MULTIPLIERS + 128)
#define BYTES_A (BM * BK * 4)
#define BYTES_B (BK * BN * 4)
#define BLOCK_B (BK * 32 * 4)

#if BM != 128 && BM != 256
#error "BM must be 128 or 256"
#endif
#if STAGES < 2
#error "one pair of tiles is used while another is copied: STAGES must be 2 or more"
#endif

// Operands of wgmma: BM / 2 sums, then four values of B, then the place of As.
#define TEXT(x) #x
#define NUMBER(x) TEXT(x)
#define NAMES_64 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "     \
  "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, "     \
  "%35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "     \
  "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_128 NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "   \
  "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, "     \
  "%95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "    \
  "%111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, "     \
  "%126, %127"
#define SUMS_4(n) "+f"(sum[n]), "+f"(sum[n + 1]), "+f"(sum[n + 2]), "+f"(sum[n + 3])
#define SUMS_16(n) SUMS_4(n), SUMS_4(n + 4), SUMS_4(n + 8), SUMS_4(n + 12)
#define SUMS_64(n) SUMS_16(n), SUMS_16(n + 16), SUMS_16(n + 32), SUMS_16(n + 48)
#if BM == 128
#define NAMES NAMES_64
#define SUMS SUMS_64(0)
#define LAST_NAMES "{%64, %65, %66, %67}, %68"
#else
#define NAMES NAMES_128
#define SUMS SUMS_64(0), SUMS_64(64)
#define LAST_NAMES "{%128, %129, %130, %131}, %132"
#endif

// sum (64 x BM, over four warps) += b (64 x 8, over four warps) * As^T (8 x BM).
#define MULTIPLY(b, place_a)                                                                       \
  asm volatile("//@{ .reg .pred p; setp.eq.u32 p, 0, 0; "                                          \
               "wgmma.mma_async.sync.aligned.m64n" NUMBER(BM) "k8.f32.tf32.tf32 {" NAMES "}, "     \
               LAST_NAMES ", p, 1, 1; }"                                                           \
               : SUMS : "r"((b)[0]), "r"((b)[1]), "r"((b)[2]), "r"((b)[3]), "l"(place_a))

// Where a block of 128-byte swizzled rows lies: its address, and 1024 bytes from one eight of rows
// to the next.
#define PLACE(address)                                                                             \
  ((ulong)(((address) & 0x3ffff) >> 4) | (ulong)1 << 16 | (ulong)(1024 >> 4) << 32 | (ulong)1 << 62)

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

// The row and column of a tile among the tiles: down a band of BAND rows, then to the next column.
static void find_tile(const int tile, const int rows, const int cols, int *row, int *col) {
  const int above = tile / (BAND * cols) * BAND;
  const int high = min(BAND, rows - above);
  const int within = tile - above * cols;
  *row = above + within % high;
  *col = within / high;
}

// Reads a map anew: the driver's copy of it is out of date for the memory access unit.
static void take_map(__global const ulong *map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" :: "l"(map) : "memory");
}

// Tells the copying work-item that this warp has used a pair.
static void give_back(const uint used) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(used + STAGES * 8) : "memory");
}

// Reads this lane's values of B for 16 k, and starts to multiply; the last but one 16 k are done.
#define MULTIPLY_16(b, k)                                                                          \
  gather(b, a_at + mine + (k) / 8 * 1024);                                                         \
  asm volatile("//@wgmma.fence.sync.aligned;" ::: "memory");                                       \
  MULTIPLY(b, a + ((k) * 4 >> 4));                                                                 \
  MULTIPLY(b + 4, a + ((k) * 4 + 32 >> 4));                                                        \
  asm volatile("//@wgmma.commit_group.sync.aligned;" ::: "memory");                                \
  asm volatile("//@wgmma.wait_group.sync.aligned 1;" ::: "memory")

static void gather(uint *b, const uint at) {
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(b[k * 4]), "=r"(b[k * 4 + 1]) : "r"(at + k * 1024) : "memory");
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"  // four rows on, so four chunks away
                 : "=r"(b[k * 4 + 2]), "=r"(b[k * 4 + 3])
                 : "r"((at ^ 64) + 512 + k * 1024) : "memory");
  }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1)))
void gpu_tf32(__global const ulong *map_a, __global const ulong *map_b, __global real *C,
              const int M, const int N, const int K) {
  __local uchar tiles[STAGES * (BYTES_A + BYTES_B)] __attribute__((aligned(1024)));
  __local ulong barriers[2 * STAGES];

  const int id = get_local_id(0);
  const uint tiles_at = (uint)(size_t)tiles;
  const uint full = (uint)(size_t)barriers;  // empty[s] lies behind full[STAGES - 1]
  const int rows = (M + BM - 1) / BM;
  const int cols = (N + BN - 1) / BN;
  const int steps = (K + BK - 1) / BK;

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
      for (int tile = get_group_id(0); tile < rows * cols; tile += GROUPS) {
        int row, col;
        find_tile(tile, rows, cols, &row, &col);
        // Blocks outside are left out: the memory access unit is slow at zeros.
        const int blocks = min(BN / 32, (N - col * BN + 31) / 32);
        for (int step = 0; step < steps; ++step) {
          const uint here = full + stage * 8;
          const uint to = tiles_at + stage * (BYTES_A + BYTES_B);
          wait_for(here + STAGES * 8, parity ^ 1);
          asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                       :: "r"(here), "r"(BYTES_A + blocks * BLOCK_B) : "memory");
          fetch(to, map_a, step * BK, row * BM, here);
          for (int block = 0; block < blocks; ++block) {
            fetch(to + BYTES_A + block * BLOCK_B, map_b, col * BN + block * 32, step * BK, here);
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
  const int g = lane / 4;
  const int t = lane % 4;
  // Of a block's eight chunks a warp has 0, 1, 4, 5 or 2, 3, 6, 7.
  const int chunk = id / 32 % 2 * 2 + g / 4 + g / 2 % 2 * 4;
  const int x = id / 64 * 32 + chunk * 4 + g % 2 * 2;
  const uint mine = BYTES_A + id / 64 * BLOCK_B + t * 128 + (chunk ^ t) * 16 + g % 2 * 8;

  for (int tile = get_group_id(0); tile < rows * cols; tile += GROUPS) {
    float sum[BM / 2];
#pragma unroll
    for (int j = 0; j < BM / 2; ++j) sum[j] = 0;
    uint used = full;  // the barrier of the pair that the multiplications under way read
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      const uint here = full + stage * 8;
      const uint a_at = tiles_at + stage * (BYTES_A + BYTES_B);
      const ulong a = PLACE(a_at);
      uint now[8];
      uint next[8];
      wait_for(here, parity);
      MULTIPLY_16(now, 0);
      if (step > 0 && lane == 0) give_back(used);
      MULTIPLY_16(next, 16);
      used = here;
      stage = stage + 1 < STAGES ? stage + 1 : 0;
      parity ^= stage == 0;
    }
    asm volatile("//@wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
    for (int j = 0; j < BM / 2; j += 16) asm volatile("" : SUMS_16(j) :: "memory");
    if (lane == 0) give_back(used);

    int row, col;
    find_tile(tile, rows, cols, &row, &col);
    row = row * BM + t * 2;
    col = col * BN + x;
    __global real *to = C + (size_t)row * N + col;
#pragma unroll
    for (int j = 0; j < BM / 8; ++j) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        if (row + j * 8 + h < M && col < N) {
          *(__global float2 *)(to + h * N) = (float2)(sum[j * 4 + h], sum[j * 4 + 2 + h]);
        }
      }
      to += 8 * N;
    }
  }
}
