// C = A + B, element by element, column-major: the smallest kernel of the myGEMM file.
//
//        N                  Column-major: cell (row, col) lies at col*M + row. Dimension 0 walks
//      +--------+           down a column, which is along memory, so a warp reads and writes
//      | x      |           whole lines.
//    M | x      |
//      | x      |           neighbours in dimension 0: the three x
//      +--------+
//
// Memory plan: no local memory; two loads, one addition and one store a work-item.
// Source: "myGEMM.cl", its kernel myAdd. Kept: the sizes first and K among them though unused,
// column-major storage, no guard, every index.

#ifndef TS
#define TS 16  // edge of the work-group; has to divide M and N
#endif
#ifndef real
#define real float  // element type: half, float or double
#endif

#if TS < 1
#error "TS must be at least 1"
#endif

__kernel __attribute__((reqd_work_group_size(TS, TS, 1)))
void mygemm_add(const int M, const int N, const int K, __global const real *restrict A,
                __global const real *restrict B, __global real *restrict C) {
  const int globalRow = get_global_id(0);
  const int globalCol = get_global_id(1);

  C[globalCol * M + globalRow] = A[globalCol * M + globalRow] + B[globalCol * M + globalRow];
}
