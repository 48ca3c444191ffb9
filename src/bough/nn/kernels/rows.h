/* The passes over one row, for one instruction set.

   A vector of N columns at a time, from j on; the last one is masked. `full` is a constant, so each pass is compiled
   twice: unmasked for whole vectors, masked for the rest. Inputs are added in the order of the children. */

#define LD(p) (full ? LOAD((p) + j) : LOAD_MASKED((p) + j, m))
#define ST(p, v) (full ? STORE((p) + j, v) : STORE_MASKED((p) + j, m, v))
#define PUT(p, v, first) ST(p, (first) ? (v) : ADD(LD(p), v))
#define COLUMNS(pass, ...)                                   \
    do {                                                     \
        int64_t j = 0;                                          \
        M m = MASK(0);                                       \
        for (; j + N <= d; j += N) pass(1, m, j, __VA_ARGS__); \
        if (j < d) m = MASK(d - j), pass(0, m, j, __VA_ARGS__); \
    } while (0)

/* exp(x) - 1 = s p + (s - 1) with s = 2^n: exact about 0. x lies in [-87.3, 88.3]; a NaN goes through. */
FN void NAME(expm1_parts)(V x, V *s, V *p) {
    V n = ROUND(MUL(x, SET(1.44269504089f)));
    V r = FNMADD(n, SET(-2.12194440e-4f), FNMADD(n, SET(0.693359375f), x));
    V q = SET(1.f / 5040);
    q = FMADD(q, r, SET(1.f / 720));
    q = FMADD(q, r, SET(1.f / 120));
    q = FMADD(q, r, SET(1.f / 24));
    q = FMADD(q, r, SET(1.f / 6));
    q = FMADD(q, r, SET(0.5f));
    *p = FMADD(MUL(q, r), r, r);
    *s = POWER_OF_TWO(n);
}

FN V NAME(tanh_v)(V x) { /* e / (e + 2) with e = exp(2|x|) - 1, and the sign of x */
    V s, p, one = SET(1.f);
    NAME(expm1_parts)(MIN(SET(40.f), ABS(ADD(x, x))), &s, &p);
    V e = FMADD(s, p, SUB(s, one));
    return COPY_SIGN(DIV(e, ADD(e, SET(2.f))), x);
}

FN V NAME(sigmoid_v)(V x) {
    V s, p;
    NAME(expm1_parts)(MAX(SET(-87.f), MIN(SET(88.f), SUB(SET(0.f), x))), &s, &p);
    return ZERO_BELOW(x, SET(-88.f), DIV(SET(1.f), ADD(SET(1.f), FMADD(s, p, s))));
}

FN V NAME(slope)(V y) { return FNMADD(y, y, y); } /* y (1 - y), of a sigmoid */
FN V NAME(tanh_slope)(V y) { return FNMADD(y, y, SET(1.f)); }

/* ---------------------------------------------------------------- N-ary: column blocks u, i, f_1 .. f_N, o */

FN V NAME(summed)(int full, M m, int64_t j, const int n, const float *base, float *const *p, int64_t at) {
    V z = LD(base + at);
    for (int k = 0; k < n; k++) z = ADD(z, LD(p[k] + at));
    return z;
}

FN void NAME(nary_forward_columns)(const int full, M m, int64_t j, const int n, const Row *r, int64_t d, int slots,
                                   int og) {
    V t = NAME(tanh_v)(NAME(summed)(full, m, j, n, r->a, r->p, 0));
    V i = NAME(sigmoid_v)(NAME(summed)(full, m, j, n, r->a, r->p, d));
    ST(r->g, t), ST(r->g + d, i);
    V c = MUL(i, r->mask ? MUL(t, LD(r->mask)) : t);
    for (int k = 0; k < n; k++) {
        V f = NAME(sigmoid_v)(NAME(summed)(full, m, j, n, r->a, r->p, (2 + k) * d));
        ST(r->g + (2 + k) * d, f);
        c = FMADD(f, LD(r->c_k[k]), c);
    }
    V h = NAME(tanh_v)(c);
    ST(r->c, c);
    if (og) {
        V o = NAME(sigmoid_v)(NAME(summed)(full, m, j, n, r->a, r->p, (2 + slots) * d));
        ST(r->g + (2 + slots) * d, o), ST(r->t, h);
        h = MUL(o, h);
    }
    ST(r->h, h);
    for (int k = 0; k < r->copies; k++) ST(r->h_row[k], h);
}

FN void NAME(nary_forward_row)(const int n, const Row *r, int64_t d, int slots, int og) {
    COLUMNS(NAME(nary_forward_columns), n, r, d, slots, og);
}

TARGET static void NAME(nary_forward)(const Row *r, int64_t d, int slots, int og) {
    switch (r->n) {
    case 0: NAME(nary_forward_row)(0, r, d, slots, og); break;
    case 1: NAME(nary_forward_row)(1, r, d, slots, og); break;
    case 2: NAME(nary_forward_row)(2, r, d, slots, og); break;
    default: NAME(nary_forward_row)(r->n, r, d, slots, og);
    }
}

FN void NAME(leaf_forward_columns)(const int full, M m, int64_t j, const Row *r, int64_t d, int og) {
    V c = LD(r->a), h = NAME(tanh_v)(c);
    ST(r->c, c);
    if (og) {
        V o = NAME(sigmoid_v)(LD(r->a + d));
        ST(r->g, o), ST(r->t, h);
        h = MUL(o, h);
    }
    ST(r->h, h);
    for (int k = 0; k < r->copies; k++) ST(r->h_row[k], h);
}

TARGET static void NAME(leaf_forward)(const Row *r, int64_t d, int og) {
    COLUMNS(NAME(leaf_forward_columns), r, d, og);
}

/* dh of a unit: what came from outside and from each of its projected rows. */
FN V NAME(from_above)(const int full, M m, int64_t j, const Row *r) {
    V dh = r->dh ? LD(r->dh) : SET(0.f);
    for (int k = 0; k < r->copies; k++) dh = ADD(dh, LD(r->h_row[k]));
    return dh;
}

/* dc in full, and d of the output gate's pre-activation in `dz_o`. */
FN V NAME(through_output)(const int full, M m, int64_t j, const Row *r, const float *o_row, int og, V *dz_o) {
    V dh = NAME(from_above)(full, m, j, r), dc = LD(r->dc), t = LD(og ? r->t : r->h);
    if (!og) return FMADD(dh, NAME(tanh_slope)(t), dc);
    V o = LD(o_row);
    *dz_o = MUL(MUL(dh, t), NAME(slope)(o));
    return FMADD(MUL(dh, o), NAME(tanh_slope)(t), dc);
}

FN void NAME(spread)(const int full, M m, int64_t j, const int n, const Row *r, int64_t at, V dz) {
    PUT(r->da + at, dz, r->da_first);
    for (int k = 0; k < n; k++) PUT(r->p[k] + at, dz, r->first[k]);
}

FN void NAME(nary_backward_columns)(const int full, M m, int64_t j, const int n, const Row *r, int64_t d, int slots,
                                    int og) {
    V dz_o = SET(0.f), dc = NAME(through_output)(full, m, j, r, r->g + (2 + slots) * d, og, &dz_o);
    V t = LD(r->g), i = LD(r->g + d), du = MUL(dc, i), u = t;
    if (r->mask) u = MUL(t, LD(r->mask)), du = MUL(du, LD(r->mask));
    NAME(spread)(full, m, j, n, r, 0, MUL(du, NAME(tanh_slope)(t)));
    NAME(spread)(full, m, j, n, r, d, MUL(MUL(dc, u), NAME(slope)(i)));
    for (int k = 0; k < n; k++) {
        V f = LD(r->g + (2 + k) * d);
        NAME(spread)(full, m, j, n, r, (2 + k) * d, MUL(MUL(dc, LD(r->c_k[k])), NAME(slope)(f)));
        ST(r->dc_k[k], FMADD(dc, f, LD(r->dc_k[k])));
    }
    for (int k = n; k < slots; k++) /* no child: 0, but of a NaN a NaN */
        NAME(spread)(full, m, j, n, r, (2 + k) * d, MUL(dc, SET(0.f)));
    if (og) NAME(spread)(full, m, j, n, r, (2 + slots) * d, dz_o);
}

FN void NAME(nary_backward_row)(const int n, const Row *r, int64_t d, int slots, int og) {
    COLUMNS(NAME(nary_backward_columns), n, r, d, slots, og);
}

TARGET static void NAME(nary_backward)(const Row *r, int64_t d, int slots, int og) {
    switch (r->n) {
    case 0: NAME(nary_backward_row)(0, r, d, slots, og); break;
    case 1: NAME(nary_backward_row)(1, r, d, slots, og); break;
    case 2: NAME(nary_backward_row)(2, r, d, slots, og); break;
    default: NAME(nary_backward_row)(r->n, r, d, slots, og);
    }
}

FN void NAME(leaf_backward_columns)(const int full, M m, int64_t j, const Row *r, int64_t d, int og) {
    V dz_o = SET(0.f), dc = NAME(through_output)(full, m, j, r, r->g, og, &dz_o);
    ST(r->da, dc);
    if (og) ST(r->da + d, dz_o);
}

TARGET static void NAME(leaf_backward)(const Row *r, int64_t d, int og) {
    COLUMNS(NAME(leaf_backward_columns), r, d, og);
}

/* ------------------------------------------- Child-Sum: column blocks u, i, (o,) f; an f for each child in r->f */

FN void NAME(child_sum_forward_columns)(const int full, M m, int64_t j, const int n, const Row *r, int64_t d, int og) {
    V t = NAME(tanh_v)(NAME(summed)(full, m, j, n, r->a, r->p, 0));
    V i = NAME(sigmoid_v)(NAME(summed)(full, m, j, n, r->a, r->p, d));
    ST(r->g, t), ST(r->g + d, i);
    V c = MUL(i, r->mask ? MUL(t, LD(r->mask)) : t), a_f = LD(r->a + (2 + og) * d);
    for (int k = 0; k < n; k++) {
        V f = NAME(sigmoid_v)(ADD(a_f, LD(r->p[k] + (2 + og) * d)));
        ST(r->f + k * r->f_step, f);
        c = FMADD(f, LD(r->c_k[k]), c);
    }
    V h = NAME(tanh_v)(c);
    ST(r->c, c);
    if (og) {
        V o = NAME(sigmoid_v)(NAME(summed)(full, m, j, n, r->a, r->p, 2 * d));
        ST(r->g + 2 * d, o), ST(r->t, h);
        h = MUL(o, h);
    }
    ST(r->h, h);
    for (int k = 0; k < r->copies; k++) ST(r->h_row[k], h);
}

FN void NAME(child_sum_forward_row)(const int n, const Row *r, int64_t d, int og) {
    COLUMNS(NAME(child_sum_forward_columns), n, r, d, og);
}

TARGET static void NAME(child_sum_forward)(const Row *r, int64_t d, int og) {
    switch (r->n) {
    case 0: NAME(child_sum_forward_row)(0, r, d, og); break;
    case 1: NAME(child_sum_forward_row)(1, r, d, og); break;
    case 2: NAME(child_sum_forward_row)(2, r, d, og); break;
    default: NAME(child_sum_forward_row)(r->n, r, d, og);
    }
}

FN void NAME(child_sum_backward_columns)(const int full, M m, int64_t j, const int n, const Row *r, int64_t d, int og) {
    V dz_o = SET(0.f), dc = NAME(through_output)(full, m, j, r, r->g + 2 * d, og, &dz_o);
    V t = LD(r->g), i = LD(r->g + d), du = MUL(dc, i), u = t, df = SET(0.f);
    if (r->mask) u = MUL(t, LD(r->mask)), du = MUL(du, LD(r->mask));
    V dz_u = MUL(du, NAME(tanh_slope)(t)), dz_i = MUL(MUL(dc, u), NAME(slope)(i));
    for (int k = n; k-- > 0;) { /* from the last edge to the first: the first met of a row is the one that stores */
        V f = LD(r->f + k * r->f_step), dz_f = MUL(MUL(dc, LD(r->c_k[k])), NAME(slope)(f));
        df = ADD(df, dz_f);
        PUT(r->p[k], dz_u, r->first[k]);
        PUT(r->p[k] + d, dz_i, r->first[k]);
        if (og) PUT(r->p[k] + 2 * d, dz_o, r->first[k]);
        PUT(r->p[k] + (2 + og) * d, dz_f, r->first[k]);
        ST(r->dc_k[k], FMADD(dc, f, LD(r->dc_k[k])));
    }
    NAME(spread)(full, m, j, 0, r, 0, dz_u);
    NAME(spread)(full, m, j, 0, r, d, dz_i);
    if (og) NAME(spread)(full, m, j, 0, r, 2 * d, dz_o);
    NAME(spread)(full, m, j, 0, r, (2 + og) * d, df);
}

FN void NAME(child_sum_backward_row)(const int n, const Row *r, int64_t d, int og) {
    COLUMNS(NAME(child_sum_backward_columns), n, r, d, og);
}

TARGET static void NAME(child_sum_backward)(const Row *r, int64_t d, int og) {
    switch (r->n) {
    case 0: NAME(child_sum_backward_row)(0, r, d, og); break;
    case 1: NAME(child_sum_backward_row)(1, r, d, og); break;
    default: NAME(child_sum_backward_row)(r->n, r, d, og);
    }
}
