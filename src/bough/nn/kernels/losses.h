/* The loss of pairs, and the entry of that of nodes. */

/* Returns 0, or 1 without memory, or 2 where a row or a label is out of range; the loss goes to *loss. */
EXPORT int64_t bough_node_loss(const NodeLoss *s, float *loss) {
    for (int64_t n = 0; n < s->nodes; n++)
        if (s->rows[n] < 0 || s->rows[n] >= s->states || s->labels[n] < 0 || s->labels[n] >= s->classes) return 2;
    float *z = malloc((s->classes + 1) * sizeof *z);
    if (!z) return 1;
    if (s->dh) {
        if (s->states) memset(s->dh, 0, s->states * s->d * sizeof *z);
        memset(s->dW, 0, s->classes * s->d * sizeof *z);
        memset(s->db, 0, s->classes * sizeof *z);
    }
    *loss = (float)passes_of(s->isa)->node_loss(s, z);
    free(z);
    return 0;
}

/* log p of one pair, by its target or its rating; dq is the gradient of the pair's logits. */
static double pair_loss(const PairLoss *s, float *q, float rating, float *dq) {
    double loss = 0;
    float top = -INFINITY, sum = 0.f, expected = 0.f;
    for (int64_t k = 0; k < s->classes; k++)
        if (!(q[k] <= top)) top = q[k];
    for (int64_t k = 0; k < s->classes; k++) sum += dq[k] = expf(q[k] - top);
    for (int64_t k = 0; k < s->classes; k++) dq[k] /= sum, expected += (float)(k + 1) * dq[k]; /* p for now */
    if (s->squared) {
        float off = expected - rating;
        for (int64_t k = 0; k < s->classes; k++) dq[k] *= 2 * off * ((float)(k + 1) - expected) / (float)s->pairs;
        return (double)off * off / (double)s->pairs;
    }
    int64_t low = (int64_t)rating - 1;
    if (low > s->classes - 2) low = s->classes - 2;
    for (int64_t k = 0; k < s->classes; k++) {
        float high = rating - (float)(low + 1), t = k == low ? 1 - high : k == low + 1 ? high : 0.f;
        if (t > 0) loss += t * (logf(t) - (q[k] - top - logf(sum)));
        dq[k] = (dq[k] - t) / (float)(s->pairs * s->classes);
    }
    return loss / (double)(s->pairs * s->classes);
}

/* Returns 0, or 1 without memory, or 2 where a rating is not on the scale. */
EXPORT int64_t bough_pair_loss(const PairLoss *s, float *loss) {
    int64_t n = s->pairs, d = s->d, wide = (s->product + s->difference) * d, hidden = s->hidden, classes = s->classes;
    for (int64_t r = 0; r < n; r++)
        if (!(s->y[r] >= 1 && s->y[r] <= (float)classes)) return 2;
    float *x = malloc((n * (2 * wide + 2 * hidden + 2 * classes) + 1) * sizeof *x);
    if (!x) return 1;
    float *dx = x + n * wide, *h = dx + n * wide, *dh = h + n * hidden, *q = dh + n * hidden, *dq = q + n * classes;
    double sum = 0;
    int threads = use_threads(s->set_threads, 1);
    const Passes *pass = passes_of(s->isa);
    for (int64_t r = 0; r < n; r++) {
        const float *a = s->left + r * d, *b = s->right + r * d;
        float *difference = x + r * wide + s->product * d;
        for (int64_t j = 0; s->product && j < d; j++) x[r * wide + j] = a[j] * b[j];
        for (int64_t j = 0; s->difference && j < d; j++) difference[j] = fabsf(a[j] - b[j]);
    }
    matmul(pass, s->gemm, 0, 1, n, hidden, wide, x, wide, s->W_h, wide, h, hidden);
    for (int64_t r = 0; r < n; r++)
        for (int64_t j = 0; j < hidden; j++) h[r * hidden + j] = 1 / (1 + expf(-h[r * hidden + j] - s->b_h[j]));
    matmul(pass, s->gemm, 0, 1, n, classes, hidden, h, hidden, s->W_p, hidden, q, classes);
    for (int64_t r = 0; r < n; r++) {
        for (int64_t k = 0; k < classes; k++) q[r * classes + k] += s->b_p[k];
        sum += pair_loss(s, q + r * classes, s->y[r], dq + r * classes);
    }
    *loss = (float)sum;
    if (s->dleft) {
        matmul(pass, s->gemm, 0, 0, n, hidden, classes, dq, classes, s->W_p, hidden, dh, hidden);
        matmul(pass, s->gemm, 1, 0, classes, hidden, n, dq, classes, h, hidden, s->dW_p, hidden);
        for (int64_t at = 0; at < n * hidden; at++) dh[at] *= h[at] * (1 - h[at]);
        matmul(pass, s->gemm, 0, 0, n, wide, hidden, dh, hidden, s->W_h, wide, dx, wide);
        matmul(pass, s->gemm, 1, 0, hidden, wide, n, dh, hidden, x, wide, s->dW_h, wide);
        memset(s->db_p, 0, classes * sizeof *x), memset(s->db_h, 0, hidden * sizeof *x);
        for (int64_t r = 0; r < n; r++) {
            const float *a = s->left + r * d, *b = s->right + r * d;
            const float *times = dx + r * wide, *apart = times + s->product * d;
            for (int64_t k = 0; k < classes; k++) s->db_p[k] += dq[r * classes + k];
            for (int64_t k = 0; k < hidden; k++) s->db_h[k] += dh[r * hidden + k];
            for (int64_t j = 0; j < d; j++) {
                float da = 0.f, db = 0.f;
                if (s->product) da = times[j] * b[j], db = times[j] * a[j];
                if (s->difference) {
                    float sign = a[j] > b[j] ? 1.f : a[j] < b[j] ? -1.f : a[j] - b[j]; /* 0, or of a NaN a NaN */
                    da += apart[j] * sign, db -= apart[j] * sign;
                }
                s->dleft[r * d + j] = da, s->dright[r * d + j] = db;
            }
        }
    }
    use_threads(s->set_threads, threads);
    free(x);
    return 0;
}
