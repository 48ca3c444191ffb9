/* The LSTM of a packed batch of sequences, without a gradient, for one instruction set. Weights come in panels of N
   units: for each row of the matrix N columns of each of the gates i, f, g, o. So the sums of a tile of rows are all
   that these rows' units need, and the gates follow while the sums are in registers. */

FN void NAME(lstm_tile)(const int m, const int gates, int64_t k, const float *A, int64_t lda, const float *B,
                        const float *z, int64_t z_step, float *to, int64_t to_step, float *c, int64_t c_step, M mask) {
    V sum[ROWS][4];
    for (int r = 0; r < m; r++)
        for (int v = 0; v < 4; v++) sum[r][v] = LOAD(z + r * z_step + v * N);
    for (int64_t q = 0; q < k; q++) {
        V b[4];
        for (int v = 0; v < 4; v++) b[v] = LOAD(B + (q * 4 + v) * N);
        for (int r = 0; r < m; r++) {
            V a = SET(A[r * lda + q]);
            for (int v = 0; v < 4; v++) sum[r][v] = FMADD(a, b[v], sum[r][v]);
        }
    }
    for (int r = 0; r < m; r++) {
        if (!gates) {
            for (int v = 0; v < 4; v++) STORE(to + r * to_step + v * N, sum[r][v]);
            continue;
        }
        V i = NAME(sigmoid_v)(sum[r][0]), f = NAME(sigmoid_v)(sum[r][1]), g = NAME(tanh_v)(sum[r][2]);
        V next = FMADD(f, LOAD(c + r * c_step), MUL(i, g));
        STORE(c + r * c_step, next);
        STORE_MASKED(to + r * to_step, mask, MUL(NAME(sigmoid_v)(sum[r][3]), NAME(tanh_v)(next)));
    }
}

#define LSTM_TILE(m) \
    case m: NAME(lstm_tile)(m, gates, k, A, lda, B, z, z_step, to, to_step, c, c_step, mask); break

/* All rows through one panel. */
FN void NAME(lstm_panel)(const int gates, int64_t rows, int64_t k, const float *A, int64_t lda, const float *B,
                         const float *z, int64_t z_step, float *to, int64_t to_step, float *c, int64_t c_step, M mask) {
    for (int64_t left = rows; left > 0; left -= ROWS) {
        switch (left) {
            LSTM_TILE(1);
            LSTM_TILE(2);
#if ROWS > 3
            LSTM_TILE(3);
            LSTM_TILE(4);
            LSTM_TILE(5);
#endif
        default: NAME(lstm_tile)(ROWS, gates, k, A, lda, B, z, z_step, to, to_step, c, c_step, mask);
        }
        A += ROWS * lda, z += ROWS * z_step, to += ROWS * to_step, c += ROWS * c_step;
    }
}
#undef LSTM_TILE

/* The rows of one step: z holds the input's part, `before` the states that those of its rows had which went on. */
FN void NAME(lstm_step)(const Lstm *s, const float *U, const float *z, const float *before, int64_t on, int64_t rows,
                        float *h) {
    int64_t d = s->hidden, panels = (d + N - 1) / N, width = panels * 4 * N;
    for (int64_t p = 0; p < panels; p++) {
        float *to = h + p * N, *c = s->c + p * N;
        const float *from = z + p * 4 * N;
        M mask = MASK(d - p * N < N ? d - p * N : N);
        NAME(lstm_panel)(1, on, d, before, 2 * d, U + p * d * 4 * N, from, width, to, 2 * d, c, panels * N, mask);
        NAME(lstm_panel)(1, rows - on, 0, 0, 0, 0, from + on * width, width, to + on * 2 * d, 2 * d,
                         c + on * panels * N, panels * N, mask);
    }
}

FN void NAME(lstm_inputs)(const Lstm *s, int back, int64_t rows, const float *x, float *z) {
    int64_t k = s->inputs, panels = (s->hidden + N - 1) / N, width = panels * 4 * N;
    const float *W = s->W + back * k * width, *b = s->b + back * width;
    for (int64_t p = 0; p < panels; p++)
        NAME(lstm_panel)(0, rows, k, x, k, W + p * k * 4 * N, b + p * 4 * N, 0, z + p * 4 * N, width, 0, 0, MASK(0));
}

TARGET static void NAME(lstm)(const Lstm *s, int back) {
    int64_t d = s->hidden, panels = (d + N - 1) / N, width = panels * 4 * N, rows = 0, row;
    const float *U = s->U + back * d * width, *before = 0;
    if (s->input_of) NAME(lstm_inputs)(s, back, s->distinct, s->x, s->all);
    if (s->steps) memset(s->c, 0, s->sizes[0] * panels * N * sizeof *s->c);
    for (int64_t t = 0; back && t < s->steps; t++) rows += s->sizes[t];
    row = rows;
    for (int64_t t = 0, mapped = 0, on = 0; t < s->steps; t++, mapped--) { /* t counts from the end if `back` */
        const int64_t *size = s->sizes + (back ? s->steps - 1 - t : t), step = back ? -1 : 1;
        if (!mapped) { /* the input's part of some steps, which are then still in cache */
            int64_t many = 0, from;
            for (; t + mapped < s->steps && many < s->chunk; mapped++) many += size[step * mapped];
            from = back ? row - many : row;
            if (!s->input_of) NAME(lstm_inputs)(s, back, many, s->x + from * s->inputs, s->z);
            else
                for (int64_t r = 0; r < many; r++)
                    memcpy(s->z + r * width, s->all + s->input_of[from + r] * width, width * sizeof *s->z);
            rows = from;
        }
        if (back) row -= *size;
        float *h = s->out + row * 2 * d + back * d;
        NAME(lstm_step)(s, U, s->z + (row - rows) * width, before, t ? (on < *size ? on : *size) : 0, *size, h);
        before = h, on = *size;
        if (!back) row += *size;
    }
}
