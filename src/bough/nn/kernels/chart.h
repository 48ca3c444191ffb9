/* The binary bracketing of one sentence with the most brackets right on average, for one instruction set.

   `scores[i * step + w]` is the score of the w words from word i on. A chart holds its spans twice, by start and width
   and by end and n - width, so that the ways to split a span are two rows, `starts` and `ends`, read side by side. */

#define SPANS(w, i) for (int64_t i = 0, j = w; j <= n; i++, j++)
#define ROW_OF(chart, at) ((chart) + (at) * (n + 1))

/* joined[k] for the `ways` to split a span, and their largest; behind them, up to a whole vector, -inf. */
FN float NAME(joined)(int64_t ways, const float *starts, const float *ends, float *joined) {
    V top = SET(-INFINITY);
    float each[N], most = -INFINITY;
    for (int64_t k = 0; k < N; k++) joined[(ways - 1) / N * N + k] = -INFINITY;
    for (int64_t k = 0; k < ways; k++) joined[k] = starts[k] + ends[k];
    for (int64_t k = 0; k < ways; k += N) top = MAX(top, LOAD(joined + k));
    STORE(each, top);
    for (int k = 0; k < N; k++) most = each[k] > most ? each[k] : most;
    return most;
}

/* exp(joined - top) in place, and the sum. */
FN float NAME(exponentials)(int64_t ways, float top, float *joined) {
    V sum = SET(0.f), s, p;
    for (int64_t k = 0; k < ways; k += N) {
        NAME(expm1_parts)(MAX(SET(-87.f), SUB(LOAD(joined + k), SET(top))), &s, &p);
        V share = FMADD(s, p, s);
        STORE(joined + k, share);
        sum = ADD(sum, share);
    }
    return TOTAL(sum);
}

/* shares: of each span of two words and more, by width and start, the probability of each way to split it. */
TARGET static void NAME(inside)(int64_t n, const float *scores, int64_t step, float *starts, float *ends, float *row,
                                float *shares) {
    memset(starts, 0, (n + 1) * (n + 1) * sizeof *starts), memset(ends, 0, (n + 1) * (n + 1) * sizeof *ends);
    for (int64_t w = 2; w <= n; w++)
        SPANS(w, i) {
            float top = NAME(joined)(w - 1, ROW_OF(starts, i) + 1, ROW_OF(ends, j) + n - w + 1, row);
            float total = NAME(exponentials)(w - 1, top, row);
            for (int64_t k = 0; k < w - 1; k++) *shares++ = row[k] / total;
            ROW_OF(starts, i)[w] = ROW_OF(ends, j)[n - w] = top + logf(total) + scores[i * step + w];
        }
}

/* starts: the probability of each span; `shares` ends where it is given. */
TARGET static void NAME(outside)(int64_t n, const float *shares, float *starts, float *ends) {
    memset(starts, 0, (n + 1) * (n + 1) * sizeof *starts), memset(ends, 0, (n + 1) * (n + 1) * sizeof *ends);
    starts[n] = 1.f;
    for (int64_t w = n; w > 1; w--) {
        shares -= (n - w + 1) * (w - 1);
        SPANS(w, i) {
            float here = ROW_OF(starts, i)[w] += ROW_OF(ends, j)[n - w], *left = ROW_OF(starts, i) + 1;
            float *right = ROW_OF(ends, j) + n - w + 1;
            const float *share = shares + i * (w - 1);
            for (int64_t k = 0; k < w - 1; k++) {
                float part = share[k] * here;
                left[k] += part, right[k] += part;
            }
        }
    }
}

/* splits: the words left of the best split of each span, by start and width; `chances` are those of `outside`. */
TARGET static void NAME(best_splits)(int64_t n, const float *chances, float *starts, float *ends, float *row,
                                     int32_t *splits) {
    memset(starts, 0, (n + 1) * (n + 1) * sizeof *starts), memset(ends, 0, (n + 1) * (n + 1) * sizeof *ends);
    for (int64_t w = 2; w <= n; w++)
        SPANS(w, i) {
            float most = NAME(joined)(w - 1, ROW_OF(starts, i) + 1, ROW_OF(ends, j) + n - w + 1, row);
            int64_t k = 0;
            while (k < w - 2 && row[k] != most) k++;
            ROW_OF(splits, i)[w] = (int32_t)(k + 1);
            ROW_OF(starts, i)[w] = ROW_OF(ends, j)[n - w] = most + ROW_OF(chances, i)[w];
        }
}

/* The parents of one sentence's n words and n - 1 brackets in preorder. `memory` has room as `bough_brackets` says. */
TARGET static void NAME(brackets)(int64_t n, const float *scores, int64_t step, int64_t *parents, float *memory) {
    int64_t size = (n + 1) * (n + 1), nodes = 2 * n - 1;
    float *starts = memory, *ends = starts + size, *chances = ends + size, *row = chances + size;
    int32_t *splits = (int32_t *)(row + n + N), *waiting = splits + size;
    float *shares = (float *)(waiting + 2 * nodes);
    NAME(inside)(n, scores, step, starts, ends, row, shares);
    NAME(outside)(n, shares + (n - 1) * n * (n + 1) / 6, chances, ends);
    NAME(best_splits)(n, chances, starts, ends, row, splits);
    parents[0] = -1, waiting[0] = 0, waiting[1] = (int32_t)n; /* start and width of each node yet to be cut */
    for (int64_t node = 0; node < nodes; node++) {
        int64_t start = waiting[2 * node], width = waiting[2 * node + 1];
        if (width < 2) continue;
        int32_t left = ROW_OF(splits, start)[width];
        int64_t right = node + 2 * left; /* preorder: the left part of m words takes the next 2m - 1 numbers */
        parents[node + 1] = parents[right] = node;
        waiting[2 * node + 2] = (int32_t)start, waiting[2 * node + 3] = left;
        waiting[2 * right] = (int32_t)start + left, waiting[2 * right + 1] = (int32_t)(width - left);
    }
}
#undef SPANS
#undef ROW_OF
