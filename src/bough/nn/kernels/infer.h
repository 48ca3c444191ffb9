/* The states of a few small trees in one call, without what a gradient needs: the schedule, the input map and the
   forward pass. Nodes are read and written in their own order.

   A node that is `known` has its h and c already, and is only read. The nodes to be computed are the units of the pass,
   sorted by height; before them come the known children of such nodes, which are given. */

typedef struct {
    int64_t given, leaves, units, edges, levels;
    int64_t *children, *parents, *sizes; /* as `bough_plan` takes them */
    int32_t *node;                       /* (units) */
} Schedule;

static int known(const Inference *s, int64_t v) { return s->known && s->known[v]; }

/* Needs room for 3 n + 2 integers of 64 bits and 8 n + 3 of 32, all zeros. */
static Schedule schedule(const Inference *s, int64_t *wide) {
    int64_t n = s->nodes, ready = 0, top = 0;
    Schedule to = {.children = wide, .parents = wide + n, .sizes = wide + 2 * n};
    int32_t *first = (int32_t *)(wide + 3 * n + 2), *list = first + n + 1, *unknown = list + n, *height = unknown + n;
    int32_t *queue = height + n, *unit = queue + n, *start = unit + n;
    to.node = start + n + 2;
    for (int64_t v = 0; v < n; v++)
        if (s->parents[v] >= 0) first[s->parents[v] + 1]++;
    for (int64_t v = 0; v < n; v++) first[v + 1] += first[v];
    for (int64_t v = 0; v < n; v++) /* children in the order of their nodes; `unknown` counts all of them for now */
        if (s->parents[v] >= 0) list[first[s->parents[v]] + unknown[s->parents[v]]++] = (int32_t)v;
    for (int64_t v = 0; s->known && v < n; v++)
        if (s->known[v] && s->parents[v] >= 0) {
            unknown[s->parents[v]]--;
            if (!s->known[s->parents[v]]) unit[v] = (int32_t)to.given, to.node[to.given++] = (int32_t)v;
        }
    for (int64_t v = 0; v < n; v++) {
        height[v] = first[v + 1] > first[v];
        if (!unknown[v] && !known(s, v)) queue[ready++] = (int32_t)v;
    }
    for (int64_t k = 0; k < ready; k++) { /* what is ready makes its parent ready */
        int64_t v = queue[k], p = s->parents[v];
        start[height[v] + 1]++;
        if (height[v] > top) top = height[v];
        if (p < 0 || known(s, p)) continue;
        if (height[p] <= height[v]) height[p] = height[v] + 1;
        if (!--unknown[p]) queue[ready++] = (int32_t)p;
    }
    start[0] = (int32_t)to.given;
    for (int64_t l = 0; l <= top; l++) {
        int64_t size = start[l + 1];
        start[l + 1] += start[l];
        if (!l) to.sizes[to.levels++] = to.given + size, to.leaves = to.given + size;
        else /* pieces that stay in cache */
            for (; size > 0; size -= s->chunk) to.sizes[to.levels++] = size < s->chunk ? size : s->chunk;
    }
    to.units = start[top + 1];
    for (int64_t v = 0; v < n; v++)
        if (!known(s, v)) to.node[unit[v] = start[height[v]]++] = (int32_t)v;
    for (int64_t u = to.given; u < to.units; u++)
        for (int64_t at = first[to.node[u]]; at < first[to.node[u] + 1]; at++)
            to.children[to.edges] = unit[list[at]], to.parents[to.edges++] = u;
    return to;
}

/* a of all units that have an input: W x and the biases, with the block of f once for each child. */
static void map_inputs(const Inference *s, const Schedule *to, int64_t width, float *x, float *mapped, float *a) {
    int64_t d = s->d, rows = (s->affine ? to->leaves : to->units) - to->given, columns = s->maps * d;
    int64_t gates = s->affine ? s->maps : width / d;
    const Passes *pass = passes_of(s->isa);
    for (int64_t r = 0; r < rows; r++)
        memcpy(x + r * s->inputs, s->x + to->node[to->given + r] * s->inputs, s->inputs * sizeof *x);
    if (gates == s->maps) mapped = a;
    matmul(pass, rows > s->few ? s->gemm : 0, 0, 1, rows, columns, s->inputs, x, s->inputs, s->W, s->inputs, mapped,
           columns);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < gates; k++) {
            int64_t f = !s->child_sum && !s->affine && k >= 2, from = !f ? k : k < 2 + s->slots ? 2 : 3;
            const float *z = mapped + r * columns + from * d, *b_W = s->b_W + from * d;
            float *out = a + r * gates * d + k * d;
            for (int64_t j = 0; j < d; j++) out[j] = z[j] + b_W[j];
            for (int64_t j = 0; !s->affine && j < d; j++) out[j] += s->b_U[k * d + j];
        }
}

static int all_finite(const float *x, int64_t size) {
    uint32_t wrong = 0, bits;
    for (int64_t at = 0; at < size; at++) {
        memcpy(&bits, x + at, sizeof bits);
        wrong |= -((bits & 0x7f800000u) == 0x7f800000u); /* the exponent of a NaN or an infinity */
    }
    return !wrong;
}

/* Returns 0, or 1 without memory, 2 where an input is not finite, 3 where a node has more children than slots. */
EXPORT int64_t bough_infer(const Inference *s) {
    int64_t n = s->nodes, d = s->d, width = (s->child_sum ? 3 + s->output_gate : 2 + s->slots + s->output_gate) * d;
    int64_t tables = 3 * (n + 1) + n * s->slots + s->slots * (2 * n + 3) + n + 1, counts[3];
    for (int64_t v = 0; v < n; v++)
        if (!known(s, v) && !all_finite(s->x + v * s->inputs, s->inputs)) return 2;
    int64_t *wide = calloc(3 * n + 2 + (8 * n + 3 + tables + 1) / 2, sizeof *wide);
    if (!wide) return 1;
    Schedule to = schedule(s, wide);
    if (!to.units) return free(wide), 0;
    int32_t *start = (int32_t *)(wide + 3 * n + 2) + 8 * n + 3, *child = start + to.units + 1, *row = child + to.edges;
    int32_t *place = row + to.edges, *row_of = place + to.edges, *group = row_of + to.units * s->slots;
    int32_t *dest = group + s->slots * (to.levels + 1);
    int64_t code = bough_plan(to.units, to.edges, to.levels, s->slots, s->child_sum, to.children, to.parents, to.sizes,
                              start, child, row, place, row_of, group, dest, counts);
    if (code) return free(wide), code == 1 ? 3 : 1;
    int64_t computed = to.units - to.given;
    float *x = s->memory, *mapped = x + computed * s->inputs, *a = mapped + computed * s->maps * d;
    float *g = a + computed * width, *f = g + width, *t = f + d, *hs = t + d, *p = hs + counts[0] * d;
    int threads = use_threads(s->set_threads, 1);
    map_inputs(s, &to, width, x, mapped, a);
    TreePass pass = {
        .units = to.units, .leaves = to.leaves, .levels = to.levels, .degree = counts[2], .slots = s->slots, .d = d,
        .child_sum = s->child_sum, .output_gate = s->output_gate, .own_inputs = 1, .isa = s->isa, .few = s->few,
        .given = to.given, .node = to.node, .sizes = to.sizes, .start = start, .child = child, .row = row,
        .place = place, .row_of = row_of, .group = group, .dest = dest, .a = a, .U = s->U,
        .b = s->child_sum ? s->U_f : s->affine ? s->b_U : 0, .h = s->h, .c = s->c, .g = g, .f = f, .t = t, .o = g,
        .hs = hs, .p = p, .gemm = s->gemm, .set_threads = s->set_threads,
    };
    code = bough_forward(&pass);
    use_threads(s->set_threads, threads);
    free(wide);
    return code;
}
