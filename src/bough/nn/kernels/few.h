/* Matmuls of a few rows, for one instruction set, as rows.h is: where a BLAS would copy its matrix first, it is read as
   it is. A is (m, k) and C (m, n), row-major, m at most 4; B is (k, n), or (n, k) in `few_dots`. */

FN void NAME(few_tile)(const int full, const int m, long n, long k, const float *A, const float *B, float *C, long ldc,
                       long left) {
    V sum[4][TILE];
    M masks[TILE];
    for (int v = 0; v < TILE; v++) {
        long rest = left - v * N;
        masks[v] = MASK(rest < 0 ? 0 : rest > N ? N : rest);
        for (int r = 0; r < m; r++) sum[r][v] = SET(0.f);
    }
    for (long q = 0; q < k; q++)
        for (int v = 0; v < TILE; v++) {
            V b = full ? LOAD(B + q * n + v * N) : LOAD_MASKED(B + q * n + v * N, masks[v]);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(SET(A[r * k + q]), b, sum[r][v]);
        }
    for (int r = 0; r < m; r++)
        for (int v = 0; v < TILE; v++) {
            if (full) STORE(C + r * ldc + v * N, sum[r][v]);
            else STORE_MASKED(C + r * ldc + v * N, masks[v], sum[r][v]);
        }
}

FN void NAME(few_rows)(const int m, long n, long k, const float *A, const float *B, float *C, long ldc) {
    long j = 0;
    for (; j + TILE * N <= n; j += TILE * N) NAME(few_tile)(1, m, n, k, A, B + j, C + j, ldc, n);
    if (j < n) NAME(few_tile)(0, m, n, k, A, B + j, C + j, ldc, n - j);
}

TARGET static void NAME(few)(int m, long n, long k, const float *A, const float *B, float *C, long ldc) {
    switch (m) {
    case 1: NAME(few_rows)(1, n, k, A, B, C, ldc); break;
    case 2: NAME(few_rows)(2, n, k, A, B, C, ldc); break;
    case 3: NAME(few_rows)(3, n, k, A, B, C, ldc); break;
    default: NAME(few_rows)(4, n, k, A, B, C, ldc);
    }
}

FN void NAME(dots_tile)(const int m, const int columns, long k, const float *A, const float *B, float *C, long ldc) {
    V sum[4][TILE];
    for (int r = 0; r < m; r++)
        for (int v = 0; v < columns; v++) sum[r][v] = SET(0.f);
    long q = 0;
    for (; q + N <= k; q += N)
        for (int v = 0; v < columns; v++) {
            V b = LOAD(B + v * k + q);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(LOAD(A + r * k + q), b, sum[r][v]);
        }
    if (q < k) {
        M mask = MASK(k - q);
        for (int v = 0; v < columns; v++) {
            V b = LOAD_MASKED(B + v * k + q, mask);
            for (int r = 0; r < m; r++) sum[r][v] = FMADD(LOAD_MASKED(A + r * k + q, mask), b, sum[r][v]);
        }
    }
    for (int r = 0; r < m; r++)
        for (int v = 0; v < columns; v++) C[r * ldc + v] = TOTAL(sum[r][v]);
}

FN void NAME(dots_rows)(const int m, long n, long k, const float *A, const float *B, float *C, long ldc) {
    long j = 0;
    for (; j + TILE <= n; j += TILE) NAME(dots_tile)(m, TILE, k, A, B + j * k, C + j, ldc);
    for (; j < n; j++) NAME(dots_tile)(m, 1, k, A, B + j * k, C + j, ldc);
}

TARGET static void NAME(few_dots)(int m, long n, long k, const float *A, const float *B, float *C, long ldc) {
    switch (m) {
    case 1: NAME(dots_rows)(1, n, k, A, B, C, ldc); break;
    case 2: NAME(dots_rows)(2, n, k, A, B, C, ldc); break;
    case 3: NAME(dots_rows)(3, n, k, A, B, C, ldc); break;
    default: NAME(dots_rows)(4, n, k, A, B, C, ldc);
    }
}
