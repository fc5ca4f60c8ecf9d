// Rung 7: every memory instruction moves four elements.
//
//                          N
//              B   . . +--------+ . .      The tiles, the cells of a work-item and the fetch ahead
//                K     | Bs, BK |          are those of rung 6. What changes is how values travel:
//                  . . +--------+ . .
//         K               BN                 A   ==== ==== ====   four k of a row, one load;
//       +----+--       +--------+                                 four stores down a column of As
//   A M | As |  ...  BM|   C    |            B   ==== ==== ====   four columns, one load, one store
//       | BK |         |        |            As, Bs in the inner loop: four values a read
//       +----+--       +--------+            C   ==== ==== ====   four columns, one store
//
// A work-item spends its issue slots on multiply-adds, not on asking for memory: per k it reads
// TM / 4 + TN / 4 times for TM * TN of them, 4 for 64 by default. That needs rows of A, B and C
// to start on a boundary of four elements, so K and N have to be multiples of 4. At other sizes
// the same four elements are moved one by one; all work-items agree on which.
//
// Edges cost the main loop nothing, as on rung 6: what lies outside is read from inside and never
// stored, and what K has beyond a multiple of BK goes first, behind zeros.
//
// Memory plan: As BK x (BM + PAD), Bs BK x BN; (BM*BK + BK*BN) / 4 loads a group and step, shared
// evenly; two barriers a step; TM*TN sums in registers. PAD keeps rows of As on four elements.
// Source of the idea: vector data types, as in the myGEMM series and in CLBlast. New on this rung:
// the runs of four on every way a value takes.

#ifndef BM
#define BM 64  // rows of C a group
#endif
#ifndef BN
#define BN 128  // columns of C a group
#endif
#ifndef BK
#define BK 8  // values of k a step
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
#ifndef real
#define real float  // element type: half, float or double
#endif

#if BM < 4 || BN < 4 || BK < 4 || TM < 4 || TN < 4
#error "tile edges and cells a work-item must be at least 4"
#endif
#if BK % 4 != 0 || TM % 4 != 0 || TN % 4 != 0 || PAD % 4 != 0 || PAD < 0
#error "BK, TM, TN and PAD have to be multiples of 4"
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
void register_vector(__global const real *restrict A, __global const real *restrict B,
                     __global real *restrict C, const int M, const int N, const int K) {
  __local real As[BK][BM + PAD] __attribute__((aligned(32)));
  __local real Bs[BK][BN] __attribute__((aligned(32)));

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

  for (int k0 = first; k0 < K; k0 += BK) {
#pragma unroll
    for (int n = 0; n < RUNS_A; ++n) {
      const int e = id + n * ITEMS;
      const int row = e / (BK / 4);
      const int k = e % (BK / 4) * 4;
      As[k][row] = nextA[n].s0;
      As[k + 1][row] = nextA[n].s1;
      As[k + 2][row] = nextA[n].s2;
      As[k + 3][row] = nextA[n].s3;
    }
#pragma unroll
    for (int n = 0; n < RUNS_B; ++n) {
      const int e = id + n * ITEMS;
      *(__local real_4 *)&Bs[e / (BN / 4)][e % (BN / 4) * 4] = nextB[n];
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

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
        a[i] = *(__local const real_4 *)&As[k][ty * TM + i * 4];
      }
#pragma unroll
      for (int j = 0; j < TN / 4; ++j) {
        b[j] = *(__local const real_4 *)&Bs[k][(j * SIZE_X + tx) * 4];
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
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
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
