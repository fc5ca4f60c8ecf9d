// For CPUs: one work-item a core, which multiplies its part of C from the caches by whole vectors.
// C = alpha op(A) op(B) + beta C, where op(A) is M x K and op(B) K x N, all stored by rows.
//
//                          N                A work-group is one work-item. It makes `rows` x `cols`
//              B     +----+----+            of C: a band across the longer side, one band an item;
//                K   |    | Bp | KC         with 16 items or more, a piece of a grid. Per block of
//                    +----+----+            KC values of k and NC columns:
//         K               NC                1. B's block goes into scratch, strip by strip: for
//       +----+--     +----+----+               each k the NR values of a strip side by side.
//    A  | Ap |  ...  |    | C  | MR         2. For each panel of MR rows of A, for each strip: the
//       +----+--     +----+----+               micro-tile, MR x NR sums in vector registers. Per
//         KC                                   k it takes NV vectors of Bp and MR values of A.
//
// The block of B stays near the core, the panel of A in the first-level cache; C is read and put
// back once per block. Unless C is narrow the panel is copied first, the MR values of each k side
// by side: then a step reads at fixed distances from two pointers. Where B is narrow, or A so low
// that packing B would not be repaid, the micro-tile reads B where it lies. A transposed A has
// those MR values side by side already; a transposed B is always packed.
//
// On its way the micro-tile calls into the caches its lines of C and a part of the next panel, one
// row of each every BEAT steps: all at once they would hold up the loads of the loop.
//
// Edges cost the main loop nothing. The last strip of B is always packed, with zeros at its end;
// the last panel of A is always copied, its last row repeated. Such a tile goes to spare room in
// scratch, and from there its valid part to C. A last strip of one vector or less takes half the
// time, so bands begin at any vector. At a beta of 0 C is never read.
//
// N = 1 and M = 1 wait for memory: they read STREAMS rows side by side. One column of A B and one
// row of A B^T are the same sums of products; so are one row and A^T B's one column.
//
// Memory plan: no local memory. Scratch an item: (KC + 1) x (NC + NR) for B's block, MR x (KC + 16)
// for A's panel, MR x NR spare. MR * NV sums, NV vectors of B and one of A fill the 16 registers of
// AVX2 at 6 x 2. AVX-512 needs half the instructions: 8 x 2 leaves it registers to load ahead.
// Source of the idea: the blocking of GotoBLAS and BLIS; here in one launch.

#ifndef MR
#define MR 6  // rows of a micro-tile
#endif
#ifndef NV
#define NV 2  // vectors in a row of a micro-tile
#endif
#ifndef VECTOR_BYTES
#define VECTOR_BYTES 32  // a vector register
#endif
#ifndef ITEMS
#define ITEMS 2  // work-items that share C; the host divides by it
#endif
#ifndef TRANSPOSE_A
#define TRANSPOSE_A 0  // whether A is stored as K x M
#endif
#ifndef TRANSPOSE_B
#define TRANSPOSE_B 0  // whether B is stored as N x K
#endif
#ifndef real
#define real float  // element type: float or double
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define BYTES_float 4
#define BYTES_double 8
#define VW (VECTOR_BYTES / JOIN(BYTES_, real))  // elements of a vector
#define NR (NV * VW)                            // columns of a micro-tile
#define KC 256                                  // most values of k in a block
#define NC 1024                                 // most columns in a block
#define LINE (64 / JOIN(BYTES_, real))          // elements of a line of the cache
#define STREAMS 8   // rows side by side where a matrix is read once
#define BEAT 16     // steps from one row that is called into the cache to the next
#define ODD (STREAMS * VW > MR * NR ? STREAMS * VW : MR * NR)
#define PACKED ((KC + 1) * (NC + NR))  // elements of a block of B, with a row a strip to spare
#define SCRATCH (PACKED + MR * (KC + 16) + ODD)  // elements an item
#if ITEMS < 1
#error "ITEMS must be at least 1"
#elif VW == 2
typedef JOIN(real, 2) vec;
#elif VW == 4
typedef JOIN(real, 4) vec;
#elif VW == 8
typedef JOIN(real, 8) vec;
#elif VW == 16
typedef JOIN(real, 16) vec;
#else
#error "VECTOR_BYTES has to be 16, 32 or 64"
#endif
// Rows of a matrix begin anywhere. vload and vstore are calls in some CPU runtimes, this is not.
typedef vec loose __attribute__((aligned(sizeof(real))));
#define AT(p) (*(__global loose *)(p))
#define OF(p) (*(__global const loose *)(p))
typedef JOIN(real, 4) four __attribute__((aligned(sizeof(real))));
// OpenCL's own prefetch() is a call too. Compilers of OpenCL 1.2 may lack the other.
// PREFETCH is for what is read next, SOON for what the second-level cache shall hold.
#ifdef __has_builtin
#if __has_builtin(__builtin_prefetch) && __OPENCL_VERSION__ > 120
#define PREFETCH(p) __builtin_prefetch(p);
#define SOON(p) __builtin_prefetch(p, 0, 2);
#endif
#endif
#ifndef PREFETCH
#define PREFETCH(p)
#define SOON(p)
#endif
// PoCL's compiler may take a new processor for an older one, and make two registers of a vector.
#if VECTOR_BYTES == 64 && defined(__x86_64__)
#define WIDE __attribute__((target("avx512f,avx512vl,avx512dq")))
#else
#define WIDE
#endif
#define INLINED WIDE __attribute__((always_inline))

#define STEPS (VECTOR_BYTES == 64 ? 1 : 2)  // long ones at once run out of registers
// What is called of the next panel of A during the micro-tile at column n: CALLED values of k.
#define CALLED (TRANSPOSE_A ? MR : LINE)
#define PART(n) ((n) / NR * (TRANSPOSE_A ? MR * ldn : LINE))
// Named variables in place of arrays: a compiler keeps those in registers.
#define ROWS_4(F) F(0) F(1) F(2) F(3)
#define ROWS_6(F) ROWS_4(F) F(4) F(5)
#define ROWS_8(F) ROWS_6(F) F(6) F(7)
#define ROWS_12(F) ROWS_8(F) F(8) F(9) F(10) F(11)
#define EACH_ROW JOIN(ROWS_, MR)
#define EACH_STREAM JOIN(ROWS_, STREAMS)
#define COLS_1(F, i) F(i, 0)
#define COLS_2(F, i) COLS_1(F, i) F(i, 1)
#define COLS_3(F, i) COLS_2(F, i) F(i, 2)
#define COLS_4(F, i) COLS_3(F, i) F(i, 3)
#define EACH_COL JOIN(COLS_, NV)

#define ZERO_ONE(i, j) vec c##i##_##j = (vec)(0);
#define ZERO(i) EACH_COL(ZERO_ONE, i)
#define LOAD(i, j) const vec b##j = OF(b + j * VW);
#define FMA_ONE(i, j) if (j < vectors) c##i##_##j += a##i * b##j;
#define FMA(i) { const vec a##i = (vec)(a[i * row]); EACH_COL(FMA_ONE, i) }
// 8 steps ahead in a packed strip; from B itself that is elsewhere and does no harm.
#define STEP { EACH_COL(LOAD, 0) PREFETCH(b + 8 * NR) EACH_ROW(FMA) a += step; b += ldb; }
#define C_AT(i, j) AT(c + i * ldc + j * VW)
#define SCALE_ONE(i, j) c##i##_##j *= alpha;
#define SCALE(i) EACH_COL(SCALE_ONE, i)
#define PUT_ONE(i, j) C_AT(i, j) = c##i##_##j;
#define PUT(i) EACH_COL(PUT_ONE, i)
#define ADD_ONE(i, j) C_AT(i, j) = c##i##_##j + keep * C_AT(i, j);
#define ADD(i) EACH_COL(ADD_ONE, i)
#define SPARE_ONE(i, j) AT(spare + i * NR + j * VW) = c##i##_##j;
#define SPARE(i) EACH_COL(SPARE_ONE, i)
#define TOUCH(i, j) if (j * VW % LINE == 0) { PREFETCH(line + j * VW) }
// What each form of the micro-tile takes, and hands on.
#define INTO \
  __global real *c, const long ldc, __global real *spare, const int ks, const real alpha, \
      const real keep, const int rows, const int cols, __global const real *next, \
      const long ldn, const int calling
#define ON c, ldc, spare, ks, alpha, keep, rows, cols, next, ldn, calling

// The micro-tile: c (rows x cols of it are valid) = alpha * a (MR x ks) * b (ks x NR) + keep * c.
// In a the rows are `row` apart and the values of k `step`; `vectors` of each row of b count.
// What is inlined has no `restrict`: Oclgrind does not know what a compiler makes of that.
INLINED void sums(__global const real *a, const long row, const long step,
                  __global const real *b, const long ldb, const int vectors, INTO) {
  EACH_ROW(ZERO)
  __global const real *line = c;
  int k = 0;
  for (int i = 0; i < MR && k + BEAT <= ks; ++i) {
    EACH_COL(TOUCH, 0)
    if (calling) { SOON(next) }
    line += ldc;
    next += ldn;
    for (const int end = k + BEAT; k < end; k += STEPS) { STEP if (STEPS == 2) { STEP } }
  }
  for (; k + STEPS <= ks; k += STEPS) { STEP if (STEPS == 2) { STEP } }
  for (; k < ks; ++k) { STEP }
  if (alpha != 1) { EACH_ROW(SCALE) }
  if (rows == MR && cols == NR) {
    if (keep != 0) { EACH_ROW(ADD) } else { EACH_ROW(PUT) }
  } else {
    EACH_ROW(SPARE)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        const real sum = spare[i * NR + j];
        c[i * ldc + j] = keep != 0 ? sum + keep * c[i * ldc + j] : sum;
      }
  }
}

// Of A as it lies, and of a panel of it, whose strides are known here; with one vector for an edge.
WIDE void tile(__global const real *restrict a, const long lda, __global const real *restrict b,
               const long ldb, INTO) {
  sums(a, TRANSPOSE_A ? 1 : lda, TRANSPOSE_A ? lda : 1, b, ldb, NV, ON);
}
WIDE void panel_tile(__global const real *restrict a, __global const real *restrict b,
                     const long ldb, INTO) {
  sums(a, 1, MR, b, ldb, NV, ON);
}
WIDE void edge_tile(__global const real *restrict a, __global const real *restrict b, INTO) {
  sums(a, 1, MR, b, NR, 1, ON);
}

// A panel's micro-tiles: the first `direct` columns of B lie in b, the others in packed. Unless it
// is `copied` A itself is read. On the way the panel at `next`, which lies in A, is called.
#define AT_N c + n, ldc, spare, ks, alpha, keep, rows, valid, next + PART(n), ldn, calling
void strips(__global const real *restrict a, const long lda, __global const real *restrict panel,
            __global const real *restrict b, __global const real *restrict packed,
            __global real *c, const long ldc, __global real *spare, const int ks, const real alpha,
            const real keep, const int rows, const int copied, const int direct, const int cols,
            __global const real *next, const long ldn) {
  for (int n = 0; n < cols; n += NR) {
    const int valid = NR < cols - n ? NR : cols - n;
    const int calling = n / NR * CALLED < ks;
    __global const real *strip = packed + (long)(n - direct) * (ks + 1);
    if (n < direct && copied) panel_tile(panel, b + n, ldc, AT_N);
    else if (n < direct) tile(a, lda, b + n, ldc, AT_N);
    else if (!copied) tile(a, lda, strip, NR, AT_N);
    else if (valid <= VW) edge_tile(panel, strip, AT_N);
    else panel_tile(panel, strip, NR, AT_N);
  }
}
// 4 x 4 values turned in registers: `from` gives 4 rows lds apart, `out` takes them ldo apart.
#define FOUR(i) const four b##i = *(__global const four *)(from + i * lds + k);
#define TURNED(i, p) *(__global four *)(out + (k + i) * ldo) = (four)(b0.p, b1.p, b2.p, b3.p);
INLINED void turn(__global real *out, const long ldo, __global const real *from, const long lds,
                  const int ks) {
  int k = 0;
  for (; k + 4 <= ks; k += 4) {
    ROWS_4(FOUR)
    TURNED(0, s0) TURNED(1, s1) TURNED(2, s2) TURNED(3, s3)
  }
  for (; k < ks; ++k) for (int i = 0; i < 4; ++i) out[k * ldo + i] = from[i * lds + k];
}

#if TRANSPOSE_B
// Packs ks rows of cols columns of op(B), which lie as rows in b, into strips of ks x NR, which
// are as far apart as those of a B as it is.
WIDE void pack(__global real *restrict to, __global const real *restrict b, const long ldb,
               const int ks, const int cols) {
  for (int n = 0; n < cols; n += NR, to += (ks + 1) * NR) {
    const int valid = NR < cols - n ? NR : cols - n;
    int j = 0;
    for (; j + 4 <= valid; j += 4, b += 4 * ldb) turn(to + j, NR, b, ldb, ks);
    for (; j < NR; ++j, b += ldb)
      for (int k = 0; k < ks; ++k) to[k * NR + j] = j < valid ? b[k] : (real)0;
  }
}
#else
// The lines of each row 8 lines on are called: hardware follows so many rows only slowly.
#define MOVE_ONE(i, j) \
  if (j * VW % LINE == 0) { PREFETCH(row + i * ldb + n + j * VW + 8 * LINE) } \
  AT(out + i * NR + j * VW) = OF(row + i * ldb + n + j * VW);
#define MOVE(i) EACH_COL(MOVE_ONE, i)

// Packs ks rows of cols columns of B into strips of ks x NR. They lie ks + 1 rows apart, since at a
// power of two the same row of all strips would share a set of the cache.
WIDE void pack(__global real *restrict to, __global const real *restrict b, const long ldb,
               const int ks, const int cols) {
  const long strip = (ks + 1) * NR;
  const int whole = cols - cols % NR;
  for (int k = 0, many; k < ks; k += many) {
    __global const real *row = b + k * ldb;
    __global real *out = to + k * NR;
    many = k + 8 <= ks ? 8 : 1;
    for (int n = 0; n < whole; n += NR, out += strip) {
      if (many == 8) { ROWS_8(MOVE) } else { MOVE(0) }
    }
  }
  if (whole < cols)
    for (int k = 0; k < ks; ++k)
      for (int j = 0; j < NR; ++j)
        to[whole / NR * strip + k * NR + j] = whole + j < cols ? b[k * ldb + whole + j] : (real)0;
}
#endif

#if TRANSPOSE_A
#define TAKE(i) out[i] = row[i];

// Copies a panel of A, `rows` of its MR columns as stored valid: the last stands in for the others.
WIDE void copy(__global real *restrict to, __global const real *restrict a, const long lda,
               const int ks, const int rows) {
  for (int k = 0; k < ks; ++k) {
    __global const real *row = a + k * lda;
    __global real *out = to + k * MR;
    if (rows == MR) { EACH_ROW(TAKE) }
    else for (int i = 0; i < MR; ++i) out[i] = row[i < rows ? i : rows - 1];
  }
}
#else
// Copies a panel of A, `rows` of its MR rows valid: the last of them stands in for the others.
WIDE void copy(__global real *restrict to, __global const real *restrict a, const long lda,
               const int ks, const int rows) {
  int m = 0;
  for (; m + 4 <= rows; m += 4) turn(to + m, MR, a + m * lda, lda, ks);
  for (; m < MR; ++m) {
    __global const real *from = a + (m < rows ? m : rows - 1) * lda;
    for (int k = 0; k < ks; ++k) to[k * MR + m] = from[k];
  }
}
#endif

#define DOT_ZERO(i) vec s##i = (vec)(0);
#define DOT_ADD(i) s##i += OF(a + i * lda + k) * x;
#define DOT_PUT(i) AT(spare + i * VW) = s##i;

// One column: c (rows x 1) = alpha * A (rows x K) * b (K x 1) + beta * c.
WIDE void one_column(__global const real *restrict A, __global const real *restrict b,
                     __global real *restrict c, __global real *restrict spare, const int rows,
                     const int K, const real alpha, const real beta) {
  const int many = rows >= STREAMS, count = many ? STREAMS : 1;  // few: all streams are one row
  const long lda = many ? K : 0;
  const int whole = K - K % VW;
  for (int m = 0; m < rows; m += count) {
    const int from = m + count <= rows ? m : rows - count;  // some may be summed up twice
    __global const real *a = A + (long)from * K;
    EACH_STREAM(DOT_ZERO)
    for (int k = 0; k < whole; k += VW) { const vec x = OF(b + k); EACH_STREAM(DOT_ADD) }
    EACH_STREAM(DOT_PUT)
    for (int i = m - from; i < count; ++i) {
      real sum = 0;
      for (int j = 0; j < VW; ++j) sum += spare[i * VW + j];
      for (int k = whole; k < K; ++k) sum += a[i * lda + k] * b[k];
      c[from + i] = beta != 0 ? alpha * sum + beta * c[from + i] : alpha * sum;
    }
  }
}

#define ROW_VALUE(i) const real a##i = alpha * a[k + i];
#define ROW_ADD(i) sum += a##i * OF(b + i * ldb + n);
#define ROW_ADD_ONE(i) c[n] += a##i * b[i * ldb + n];

// One row: c (1 x cols) = alpha * a (1 x K) * B (K x cols) + beta * c, which stays in the cache.
WIDE void one_row(__global const real *restrict a, __global const real *restrict B,
                  __global real *restrict c, const long ldb, const int cols, const int K,
                  const real alpha, const real beta) {
  const int whole = cols - cols % VW;
  for (int n = 0; n < cols; ++n) c[n] = beta != 0 ? beta * c[n] : 0;
  int k = 0;
  for (; k + STREAMS <= K; k += STREAMS) {
    __global const real *b = B + k * ldb;
    EACH_STREAM(ROW_VALUE)
    for (int n = 0; n < whole; n += VW) {
      vec sum = OF(c + n);
      EACH_STREAM(ROW_ADD)
      AT(c + n) = sum;
    }
    for (int n = whole; n < cols; ++n) { EACH_STREAM(ROW_ADD_ONE) }
  }
  for (; k < K; ++k)
    for (int n = 0; n < cols; ++n) c[n] += alpha * a[k] * B[k * ldb + n];
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void cpu_best(__global const real *restrict A, __global const real *restrict B,
              __global real *restrict C, const int M, const int N, const int K, const real alpha,
              const real beta, __global real *restrict scratch) {
  // This item's part of C: panels and vectors shared evenly.
  const int high = ((M + MR - 1) / MR + get_num_groups(1) - 1) / get_num_groups(1) * MR;
  const int wide = ((N + VW - 1) / VW + get_num_groups(0) - 1) / get_num_groups(0) * VW;
  const int row0 = get_group_id(1) * high, col0 = get_group_id(0) * wide;
  const int rows = high < M - row0 ? high : M - row0, cols = wide < N - col0 ? wide : N - col0;
  const int item = get_group_id(1) * get_num_groups(0) + get_group_id(0);
  __global real *packed = scratch + (long)item * SCRATCH;
  __global real *panel = packed + PACKED;
  __global real *spare = panel + MR * (KC + 16);

  // A matrix with a side of 1 lies in a row, transposed or not.
  if (N == 1 || M == 1) {
    if (TRANSPOSE_A && M > 1)
      one_row(B, A + row0, C + row0, M, rows, K, alpha, beta);
    else if (TRANSPOSE_B && N > 1)
      one_column(B + (long)col0 * K, A, C + col0, spare, cols, K, alpha, beta);
    else if (N == 1)
      one_column(A + (long)row0 * K, B, C + row0, spare, rows, K, alpha, beta);
    else
      one_row(A, B + col0, C + col0, N, cols, K, alpha, beta);
    return;
  }

  // Equal blocks: a thin last one would not repay its packing.
  const int kc = (K - 1) / ((K + KC - 1) / KC) + 1;
  const int nc = ((cols - 1) / ((cols + NC - 1) / NC) / NR + 1) * NR;
  const int narrow = N <= 256 && N % VW == 0;
  const int packing = TRANSPOSE_B ? 1 : !narrow && rows >= 4 * MR;
  const long lda = TRANSPOSE_A ? M : K, ldb = TRANSPOSE_B ? K : N;
  const int copying = cols * sizeof(real) >= 1024;

  for (int k0 = 0; k0 < K; k0 += kc) {
    const int ks = kc < K - k0 ? kc : K - k0;
    for (int n0 = 0; n0 < cols; n0 += nc) {
      const int ns = nc < cols - n0 ? nc : cols - n0;
      __global const real *b =
          TRANSPOSE_B ? B + (col0 + n0) * ldb + k0 : B + k0 * ldb + col0 + n0;
      const real keep = k0 == 0 ? beta : (real)1;
      const int direct = packing ? 0 : ns - ns % NR;  // columns read where they lie
      pack(packed, b + direct, ldb, ks, ns - direct);
      for (int m = 0; m < rows; m += MR) {
        const int height = MR < rows - m ? MR : rows - m;
        __global const real *a = TRANSPOSE_A ? A + k0 * lda + row0 + m : A + (row0 + m) * lda + k0;
        __global const real *next = a + MR * (TRANSPOSE_A ? 1 : lda);
        __global real *c = C + (long)(row0 + m) * N + col0 + n0;
        const int copied = copying || height < MR;
        if (copied) copy(panel, a, lda, ks, height);
        strips(a, lda, panel, b, packed, c, N, spare, ks, alpha, keep, height, copied, direct, ns,
               next, lda);
      }
    }
  }
}
