/* The loss of nodes, for one instruction set. */

FN void NAME(dot_columns)(const int full, M m, int64_t j, const float *w, const float *x, const float *mask, V *sum) {
    *sum = FMADD(LD(w), mask ? MUL(LD(x), LD(mask)) : LD(x), *sum);
}

FN void NAME(node_backward_columns)(const int full, M m, int64_t j, const NodeLoss *s, const float *x,
                                    const float *mask, float *dh, const float *dz) {
    int64_t d = s->d;
    V masked = mask ? MUL(LD(x), LD(mask)) : LD(x), sum = SET(0.f);
    for (int64_t k = 0; k < s->classes; k++) {
        ST(s->dW + k * d, FMADD(SET(dz[k]), masked, LD(s->dW + k * d)));
        sum = FMADD(SET(dz[k]), LD(s->W + k * d), sum);
    }
    ST(dh, ADD(LD(dh), mask ? MUL(sum, LD(mask)) : sum));
}

/* The sum of -log softmax(scale W (h . mask) + b)[label] over nodes; with dh, its gradients too. */
TARGET static double NAME(node_loss)(const NodeLoss *s, float *z) {
    double loss = 0;
    int64_t d = s->d, classes = s->classes;
    for (int64_t n = 0; n < s->nodes; n++) {
        const float *x = s->h + s->rows[n] * d, *mask = POINTER(s->mask, n * d);
        float top = -INFINITY, sum = 0.f;
        for (int64_t k = 0; k < classes; k++) {
            V dot = SET(0.f);
            COLUMNS(NAME(dot_columns), s->W + k * d, x, mask, &dot);
            z[k] = s->b[k] + s->scale * TOTAL(dot);
            if (!(z[k] <= top)) top = z[k];
        }
        float right = z[s->labels[n]] - top;
        for (int64_t k = 0; k < classes; k++) sum += z[k] = expf(z[k] - top);
        loss += logf(sum) - right;
        if (!s->dh) continue;
        for (int64_t k = 0; k < classes; k++) {
            float dz = z[k] / sum - (k == s->labels[n]);
            s->db[k] += dz;
            z[k] = s->scale * dz;
        }
        COLUMNS(NAME(node_backward_columns), s, x, mask, s->dh + s->rows[n] * d, z);
    }
    return loss;
}
