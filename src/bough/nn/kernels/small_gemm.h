/* Matrix multiplications of a few rows at a time, for one instruction set. A BLAS would copy its matrices first; here
   they are read as they are. Where torch has no BLAS to call, all products are made here.

   C (m, n) = A B, row-major. A is (m, k), or (k, m) with `at`; B is (k, n), or (n, k) in `dots`. */

FN void NAME(tile)(const int full, const int m, const int at, int64_t k, const float *A, int64_t lda, const float *B,
                   int64_t ldb, float *C, int64_t ldc, int64_t left) {
    V sum[4][TILE];
    M masks[TILE];
    for (int v = 0; v < TILE; v++) {
        int64_t rest = left - v * N;
        masks[v] = MASK(rest < 0 ? 0 : rest > N ? N : rest);
        for (int r = 0; r < m; r++) sum[r][v] = SET(0.f);
    }
    for (int64_t q = 0; q < k; q++)
        for (int v = 0; v < TILE; v++) {
            V b = full ? LOAD(B + q * ldb + v * N) : LOAD_MASKED(B + q * ldb + v * N, masks[v]);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(SET(at ? A[q * lda + r] : A[r * lda + q]), b, sum[r][v]);
        }
    for (int r = 0; r < m; r++)
        for (int v = 0; v < TILE; v++) {
            if (full) STORE(C + r * ldc + v * N, sum[r][v]);
            else STORE_MASKED(C + r * ldc + v * N, masks[v], sum[r][v]);
        }
}

FN void NAME(sums)(const int m, const int at, int64_t n, int64_t k, const float *A, int64_t lda, const float *B,
                   int64_t ldb, float *C, int64_t ldc) {
    int64_t j = 0;
    for (; j + TILE * N <= n; j += TILE * N) NAME(tile)(1, m, at, k, A, lda, B + j, ldb, C + j, ldc, n);
    if (j < n) NAME(tile)(0, m, at, k, A, lda, B + j, ldb, C + j, ldc, n - j);
}

FN void NAME(dots_tile)(const int m, const int columns, int64_t k, const float *A, int64_t lda, const float *B,
                        int64_t ldb, float *C, int64_t ldc) {
    V sum[4][TILE];
    for (int r = 0; r < m; r++)
        for (int v = 0; v < columns; v++) sum[r][v] = SET(0.f);
    int64_t q = 0;
    for (; q + N <= k; q += N)
        for (int v = 0; v < columns; v++) {
            V b = LOAD(B + v * ldb + q);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(LOAD(A + r * lda + q), b, sum[r][v]);
        }
    if (q < k) {
        M mask = MASK(k - q);
        for (int v = 0; v < columns; v++) {
            V b = LOAD_MASKED(B + v * ldb + q, mask);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(LOAD_MASKED(A + r * lda + q, mask), b, sum[r][v]);
        }
    }
    for (int r = 0; r < m; r++)
        for (int v = 0; v < columns; v++) C[r * ldc + v] = TOTAL(sum[r][v]);
}

FN void NAME(dots)(const int m, int64_t n, int64_t k, const float *A, int64_t lda, const float *B, int64_t ldb,
                   float *C, int64_t ldc) {
    int64_t j = 0;
    for (; j + TILE <= n; j += TILE) NAME(dots_tile)(m, TILE, k, A, lda, B + j * ldb, ldb, C + j, ldc);
    for (; j < n; j++) NAME(dots_tile)(m, 1, k, A, lda, B + j * ldb, ldb, C + j, ldc);
}

#define FOUR_ROWS(product, ...)                \
    for (; m > 0; m -= 4, C += 4 * ldc, A += down) \
        switch (m) {                           \
        case 1: product(1, __VA_ARGS__); break; \
        case 2: product(2, __VA_ARGS__); break; \
        case 3: product(3, __VA_ARGS__); break; \
        default: product(4, __VA_ARGS__);      \
        }

/* As `matmul` in kernel.c, but not both A and B transposed. */
TARGET static void NAME(multiply)(int at, int bt, int64_t m, int64_t n, int64_t k, const float *A, int64_t lda,
                                  const float *B, int64_t ldb, float *C, int64_t ldc) {
    int64_t down = at ? 4 : 4 * lda;
    if (bt) FOUR_ROWS(NAME(dots), n, k, A, lda, B, ldb, C, ldc)
    else if (at) FOUR_ROWS(NAME(sums), 1, n, k, A, lda, B, ldb, C, ldc)
    else FOUR_ROWS(NAME(sums), 0, n, k, A, lda, B, ldb, C, ldc)
}
#undef FOUR_ROWS
