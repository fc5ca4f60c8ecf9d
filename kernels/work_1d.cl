// Rung 5: every work-item makes WPT cells of one column of C.
//
//                        N
//              B   . . +----+ . .          A group makes one TS x TS tile of C with TS x TS/WPT
//                K     | Bs |              work-items. An item owns WPT cells of one column,
//                  . . +----+ . .          STEP = TS / WPT rows apart:
//           K
//       +----+--     +----+                  . . x . .  ty            WPT = 2: the item's cells
//   A M | As |  ...  | C  |                  . . . . .
//       +----+--     +----+                  . . x . .  ty + STEP
//                                            . . . . .
//
// A value of Bs goes into a register once and serves WPT multiply-adds: WPT + 1 local loads for
// WPT of them, against 2 for 1 before, and WPT sums that do not wait for one another.
//
// Memory plan: As and Bs, TS x TS each; WPT loads of A and of B a work-item and step, two barriers
// a step; WPT sums in registers. Edge tiles are filled with zeros.
// Source of the idea: more work per thread, the next step of the myGEMM series. New on this rung:
// the WPT cells an item.

#ifndef TS
#define TS 32  // edge of the tile
#endif
#ifndef WPT
#define WPT 8  // cells of C a work-item; divides TS
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1 || WPT < 1
#error "TS and WPT must be at least 1"
#endif
#if TS % WPT != 0
#error "WPT has to divide TS"
#endif

#define STEP (TS / WPT)  // rows between two cells of a work-item, and the group's second edge

__kernel __attribute__((reqd_work_group_size(TS, STEP, 1)))
void work_1d(__global const real *restrict A, __global const real *restrict B,
             __global real *restrict C, const int M, const int N, const int K) {
  __local real As[TS][TS];
  __local real Bs[TS][TS];

  const int tx = get_local_id(0);
  const int ty = get_local_id(1);
  const int row0 = get_group_id(1) * TS + ty;
  const int col = get_group_id(0) * TS + tx;

  real sum[WPT];
  for (int w = 0; w < WPT; ++w) {
    sum[w] = 0;
  }

  for (int k0 = 0; k0 < K; k0 += TS) {
    for (int w = 0; w < WPT; ++w) {
      const int y = ty + w * STEP;
      const int row = row0 + w * STEP;
      As[y][tx] = (row < M && k0 + tx < K) ? A[row * K + k0 + tx] : (real)0;
      Bs[y][tx] = (k0 + y < K && col < N) ? B[(k0 + y) * N + col] : (real)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are in

    for (int k = 0; k < TS; ++k) {
      const real b = Bs[k][tx];
      for (int w = 0; w < WPT; ++w) {
        sum[w] += As[ty + w * STEP][k] * b;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // both tiles are used up
  }

  for (int w = 0; w < WPT; ++w) {
    const int row = row0 + w * STEP;
    if (row < M && col < N) {
      C[row * N + col] = sum[w];
    }
  }
}
