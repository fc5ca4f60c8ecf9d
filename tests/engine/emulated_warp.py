"""What PTX says that a warp does, in plain OpenCL C that any device runs.

The functions of a kernel that hold PTX are taken out of its source, and macros of the same names
put in, which call the functions below. Lanes exchange operands through local memory behind the
kernel's tiles. All work-items of a group have to meet each barrier, so every warp has to pass the
same instructions: true of kernels whose only branches on a lane's number are stores.

Copies in the background are held back as long as PTX lets them be: until they are waited for.
Their places hold NaN meanwhile, and so does all of local memory at first, so that a sum of what has
not come is found out. NaN also comes of a block that ldmatrix could not read at once, since two of
its rows lie in the same banks.
"""

import re
from dataclasses import replace

from gemmviz.core.model import Variant

TILES = "__local real tiles[STAGES * PAIR_BYTES / 2] __attribute__((aligned(128)));"
LONGEST = "(TILE_A + TILE_B) / ITEMS / 2"  # copies of a pair a work-item: of two halves each

FUNCTIONS = f"""
typedef struct {{
  __global const real *from;
  uint at;
  int width;  // 0 where zeros are written
}} copy_t;

typedef struct {{
  float a[16][16], b[16][8];
  uint places[32];
}} warp_t;

typedef struct {{
  copy_t copies[STAGES][{LONGEST}];
  int begun, closed, done;  // copies of the open pair; pairs
}} queue_t;

typedef struct {{
  warp_t warps[ITEMS / 32];
  queue_t queues[ITEMS];
}} behind_t;

#define BEHIND(tiles) ((__local behind_t *)((tiles) + STAGES * PAIR_BYTES / 2))
#define OWN_WARP(tiles) (BEHIND(tiles)->warps + get_local_id(0) / 32)
#define OWN_QUEUE(tiles) (BEHIND(tiles)->queues + get_local_id(0))
#define LANE ((int)(get_local_id(0) % 32))
#define NOTHING 0x7e00  // the bits of NaN

static float as_number(const uint bits) {{
  const ushort half_bits = bits;
  return vload_half(0, (const half *)&half_bits);
}}

static void begin_warps(__local real *tiles) {{
  for (int n = get_local_id(0); n < STAGES * PAIR_BYTES / 2; n += ITEMS) tiles[n] = NOTHING;
  OWN_QUEUE(tiles)->begun = OWN_QUEUE(tiles)->closed = OWN_QUEUE(tiles)->done = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
}}

#define copy_ahead(tiles, at, from, inside, width) queue_copy(tiles, at, from, inside, width)
static void queue_copy(__local real *tiles, const uint at, __global const real *from,
                       const int inside, const int width) {{
  __local queue_t *queue = OWN_QUEUE(tiles);
  __local copy_t *copy = &queue->copies[queue->closed % STAGES][queue->begun++];
  copy->from = inside ? from : 0;
  copy->at = at / 2;
  copy->width = width;
  // An address that is no multiple of a copy's size is an error, and ends a kernel.
  if (at % (width * 2) != 0 || (inside && (ulong)from % (width * 2) != 0)) copy->width = 0;
  for (int n = 0; n < width; ++n) tiles[at / 2 + n] = NOTHING;
}}

#define end_pair() close_pair(tiles)
static void close_pair(__local real *tiles) {{
  __local queue_t *queue = OWN_QUEUE(tiles);
  for (int n = queue->begun; n < {LONGEST}; ++n) queue->copies[queue->closed % STAGES][n].width = 0;
  queue->begun = 0;
  ++queue->closed;
}}

#define wait_for_first() finish_pairs(tiles, WAIT_FOR_FIRST)
#define wait_for_next() finish_pairs(tiles, WAIT_FOR_NEXT)
static void finish_pairs(__local real *tiles, const int under_way) {{
  __local queue_t *queue = OWN_QUEUE(tiles);
  for (; queue->done < queue->closed - under_way; ++queue->done) {{
    for (int n = 0; n < {LONGEST}; ++n) {{
      __local const copy_t *copy = &queue->copies[queue->done % STAGES][n];
      for (int i = 0; i < copy->width; ++i) tiles[copy->at + i] = copy->from ? copy->from[i] : 0;
    }}
  }}
}}

#define read_blocks(to, tiles, at) exchange_blocks(to, tiles, at, 0)
#define read_turned(to, tiles, at) exchange_blocks(to, tiles, at, 1)
static void exchange_blocks(uint to[4], __local const real *tiles, const uint at,
                            const int turned) {{
  __local warp_t *warp = OWN_WARP((__local real *)tiles);
  warp->places[LANE] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int block = 0; block < 4; ++block) {{
    uint banks = 0;
    for (int row = 0; row < 8; ++row) banks |= 1 << warp->places[block * 8 + row] / 16 % 8;
    to[block] = 0;
    for (int n = 0; n < 2; ++n) {{
      const int row = turned ? LANE % 4 * 2 + n : LANE / 4;
      const int col = turned ? LANE / 4 : LANE % 4 * 2 + n;
      const uint place = warp->places[block * 8 + row];
      const uint bits = place % 16 == 0 && banks == 0xff ? tiles[place / 2 + col] : NOTHING;
      to[block] |= bits << (16 * n);
    }}
  }}
  barrier(CLK_LOCAL_MEM_FENCE);
}}

#define multiply(sum, a, b) multiply_together(tiles, sum, a, b)
static void multiply_together(__local real *tiles, float sum[4], const uint a[4],
                              const uint b[2]) {{
  __local warp_t *warp = OWN_WARP(tiles);
  for (int n = 0; n < 8; ++n) {{
    warp->a[LANE / 4 + n / 2 % 2 * 8][LANE % 4 * 2 + n % 2 + n / 4 * 8] =
        as_number(a[n / 2] >> n % 2 * 16);
  }}
  for (int n = 0; n < 4; ++n) {{
    warp->b[LANE % 4 * 2 + n % 2 + n / 2 * 8][LANE / 4] = as_number(b[n / 2] >> n % 2 * 16);
  }}
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int n = 0; n < 4; ++n) {{
    for (int k = 0; k < 16; ++k) {{
      sum[n] += warp->a[LANE / 4 + n / 2 * 8][k] * warp->b[k][LANE % 4 * 2 + n % 2];
    }}
  }}
  barrier(CLK_LOCAL_MEM_FENCE);
}}

#define as_halves(first, second) round_to_halves(first, second)
static uint round_to_halves(const float first, const float second) {{
  ushort bits[2];
  vstore_half_rte(first, 0, (half *)bits);
  vstore_half_rte(second, 1, (half *)bits);
  return bits[0] | (uint)bits[1] << 16;
}}

#define apart(value) (value)
"""
NAMES = ("copy_ahead", "end_pair", "wait_for_first", "wait_for_next",
         "read_blocks", "read_turned", "multiply", "as_halves", "apart")  # fmt: skip


_WAITS = ("wait_for_first", "wait_for_next")


def emulated(variant: Variant) -> Variant:
    """The variant with its PTX replaced: it runs anywhere, if built with ``-cl-opt-disable``.

    PoCL's optimiser does not see through so many barriers.
    """
    source, macros = variant.source, ""
    for name in NAMES:
        pattern = re.compile(rf"^static \w+ {name}\([^{{]*{{\n.*?^}}\n", re.MULTILINE | re.DOTALL)
        (text,) = pattern.findall(source)
        if name in _WAITS:
            (under_way,) = re.findall(r'"n"\((.*)\) :', text)
            macros += f"#define {name.upper()} ({under_way})\n"
        source = source.replace(text, FUNCTIONS if name == NAMES[0] else "")
    assert not re.search(r"\basm\b", source), "some PTX is left"
    assert source.count(TILES) == 1
    more = TILES.replace("]", " + sizeof(behind_t) / 2]", 1)
    source = source.replace(TILES, f"{more} begin_warps(tiles);")
    return replace(variant, source=macros + source, needs=())
