/* The forward and backward passes of the N-ary and the Child-Sum Tree-LSTM, in float32 on one thread.

   Each distinct child projects its h once: h times U's rows of its slot (N-ary), or times [U | U_f] (Child-Sum, which
   has one slot). That happens just before the lowest level that has a parent of it, so a row with one parent is read
   while it is in cache, and its place is then free again. One pass per row makes gates, c and h of a unit from its
   children's rows. The backward pass writes the gates' gradients into the children's rows (the first to come stores,
   later ones add), one matmul per level and slot makes dh of them, and one per slot at the end dU.

   C11 with the vector types of GCC and clang, for any 64-bit little-endian CPU. No Python or torch headers: arrays and
   the BLAS come as pointers, from loader.py, tree_lstm.py, losses.py and parser.py. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif
#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

_Static_assert(sizeof(void *) == 8, "Python hands over pointers as 64-bit integers");

/* Integers are passed as 64 bits: on a little-endian machine a BLAS of 32-bit ones reads the same number. */
typedef void (*Gemm)(const char *, const char *, const int64_t *, const int64_t *, const int64_t *, const float *,
                     const float *, const int64_t *, const float *, const int64_t *, const float *, float *,
                     const int64_t *);
typedef int (*SetThreads)(int);

typedef struct { /* one unit */
    int n, copies, da_first;
    const float *a, *mask, *dh;
    float *g, *t, *c, *h, *f, *da, *dc;
    int64_t f_step;
    float **p, **c_k, **dc_k, **h_row; /* (n) each, but h_row (copies) */
    uint8_t *first;                    /* (n) */
} Row;

typedef struct { /* as in tree_lstm.py */
    int64_t units, leaves, levels, degree, slots, d, child_sum, output_gate, keep, own_inputs, inputs, isa, few, given;
    const int64_t *sizes, *input_of;
    const int32_t *node; /* 0, or where h and c of each unit are; the first `given` are there already */
    const int32_t *start, *child, *row, *place, *row_of, *group, *dest; /* as in `plan` */
    const float *a, *U, *b, *mask;                                      /* b: the bias, or U_f */
    float *h, *c, *g, *f, *t, *o, *hs, *joined;                         /* kept for the way down */
    float *p;                                                           /* the projected rows, or their gradients */
    const float *gh, *gc;
    float *da, *dU, *db, *dhs, *dc;
    Gemm gemm;
    SetThreads set_threads;
} TreePass;

typedef struct { /* as in tree_lstm.py */
    int64_t nodes, inputs, maps, d, slots, child_sum, output_gate, affine, chunk, isa, few;
    const int64_t *parents; /* (nodes) */
    const uint8_t *known;   /* 0, or (nodes) */
    const float *x, *W, *b_W, *b_U, *U, *U_f;
    float *h, *c, *memory;
    Gemm gemm;
    SetThreads set_threads;
} Inference;

typedef struct { /* as in tree_lstm.py; state_table.h says what each is */
    int64_t capacity, slots, count, newest, oldest, hits;
    uint64_t *keys;                /* (capacity, 2) */
    int32_t *slot, *newer, *older; /* (slots), (capacity), (capacity) */
    float *h, *c;                  /* (capacity, d) */
} StateTable;

typedef struct { /* as in losses.py */
    int64_t nodes, states, d, classes, isa;
    const int64_t *rows, *labels;
    const float *h, *W, *b, *mask;
    float *dh, *dW, *db;
    double scale;
} NodeLoss;

typedef struct { /* as in losses.py */
    int64_t pairs, d, hidden, classes, isa, product, difference, squared;
    const float *left, *right, *y, *W_h, *b_h, *W_p, *b_p;
    float *dleft, *dright, *dW_h, *db_h, *dW_p, *db_p;
    Gemm gemm;
    SetThreads set_threads;
} PairLoss;

typedef struct { /* as in parser.py */
    int64_t steps, inputs, hidden, chunk, isa, distinct;
    const int64_t *sizes;       /* rows of each step, never more than of the one before */
    const int64_t *input_of;    /* 0, or each row's row of x */
    const float *x, *W, *U, *b; /* W, U and b in panels, forwards and then backwards */
    float *out, *z, *c, *all;   /* all: with input_of, what the `distinct` rows of x are mapped to */
} Lstm;

typedef struct { /* what is compiled for one instruction set */
    void (*nary_forward)(const Row *, int64_t, int, int), (*nary_backward)(const Row *, int64_t, int, int);
    void (*leaf_forward)(const Row *, int64_t, int), (*leaf_backward)(const Row *, int64_t, int);
    void (*child_sum_forward)(const Row *, int64_t, int), (*child_sum_backward)(const Row *, int64_t, int);
    void (*multiply)(int, int, int64_t, int64_t, int64_t, const float *, int64_t, const float *, int64_t, float *,
                     int64_t);
    double (*node_loss)(const NodeLoss *, float *);
    void (*lstm)(const Lstm *, int);
    void (*brackets)(int64_t, const float *, int64_t, int64_t *, float *);
} Passes;

#define FN TARGET static inline __attribute__((always_inline))
#define POINTER(x, at) ((x) ? (x) + (at) : 0)

#ifdef __x86_64__
#include "avx512.h"
#include "each_isa.h"
#include "avx2.h"
#include "each_isa.h"
#endif
#include "generic.h"
#include "each_isa.h"
#undef FN

static const Passes *passes_of(int64_t isa) {
#ifdef __x86_64__
    if (isa == 512) return &passes_avx512;
    if (isa == 256) return &passes_avx2;
#endif
    return isa ? &passes_generic : 0;
}

#ifndef BOUGH_SOURCE
#define BOUGH_SOURCE 0
#endif
/* A checksum of the files it was compiled from, by hatch_build.py. */
EXPORT int64_t bough_source(void) { return BOUGH_SOURCE; }

/* Rows up to which reading a matrix as it is beats a BLAS. MKL's code for other CPUs than Intel's is not its best. */
EXPORT int64_t bough_few(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_is("intel")) return 128;
#endif
    return 6;
}

/* The bits of the widest vectors that this machine has of those compiled: 512 or 256 on x86, else 128. */
EXPORT int64_t bough_isa(void) {
#ifdef __x86_64__
    __builtin_cpu_init();
    int fma = __builtin_cpu_supports("fma");
    if (fma && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return 512;
    if (fma && __builtin_cpu_supports("avx2")) return 256;
#endif
    return 128;
}

#include "plan.h"

/* The states of a layer, forwards and backwards side by side. */
EXPORT int64_t bough_lstm(const Lstm *s) {
    for (int back = 0; back < 2; back++) passes_of(s->isa)->lstm(s, back);
    return 0;
}

/* The best bracketing of each sentence: parents (count, room); scores as in chart.h, one sentence every `apart`. */
EXPORT int64_t bough_brackets(int64_t isa, int64_t count, const int64_t *lengths, const float *scores, int64_t apart,
                       int64_t step, int64_t *parents, int64_t room) {
    int64_t n = 0;
    for (int64_t b = 0; b < count; b++) n = lengths[b] > n ? lengths[b] : n;
    float *memory = malloc((4 * (n + 1) * (n + 1) + n + 16 + 4 * n + (n + 1) * n * (n + 1) / 6) * sizeof *memory);
    if (!memory) return 1;
    for (int64_t b = 0; b < count; b++)
        passes_of(isa)->brackets(lengths[b], scores + b * apart, step, parents + b * room, memory);
    free(memory);
    return 0;
}

/* Row-major (m, n) C = A B, where A is (m, k) or, with `at`, (k, m), and B (k, n) or, with `bt`, (n, k): by the BLAS,
   or where there is none by `multiply`. */
static void matmul(const Passes *pass, Gemm gemm, int at, int bt, int64_t m, int64_t n, int64_t k, const float *A,
                   int64_t lda, const float *B, int64_t ldb, float *C, int64_t ldc) {
    static const float one = 1.f, zero = 0.f;
    if (!gemm) pass->multiply(at, bt, m, n, k, A, lda, B, ldb, C, ldc);
    else if (m && n && k)
        gemm(bt ? "T" : "N", at ? "T" : "N", &n, &m, &k, &one, B, &ldb, A, &lda, &zero, C, &ldc);
    else
        for (int64_t r = 0; r < m; r++) memset(C + r * ldc, 0, n * sizeof *C);
}

/* Returns how many threads the BLAS had before. */
static int use_threads(SetThreads set, int threads) { return set ? set(threads) : 0; }

#include "losses.h"

typedef struct {
    Row row;
    const Passes *pass;
    int64_t d, width, gates; /* widths of a projected row and of what is kept of the gates */
    void *memory;
} Walk;

static int begin(Walk *w, const TreePass *s) {
    w->d = s->d;
    w->width = (s->child_sum ? 3 + s->output_gate : 2 + s->slots + s->output_gate) * s->d;
    w->gates = s->child_sum ? w->width - s->d : w->width;
    w->pass = passes_of(s->isa);
    float **pointers = w->memory = malloc((3 * s->degree + s->slots + 1) * sizeof *pointers + s->degree);
    if (!pointers) return 1;
    w->row = (Row){.p = pointers, .c_k = pointers + s->degree, .dc_k = pointers + 2 * s->degree,
                   .h_row = pointers + 3 * s->degree, .first = (uint8_t *)(pointers + 3 * s->degree + s->slots)};
    return 0;
}

/* A group of rows, (m, k), through a slot's matrix: B (k, n), or in the backward pass its transpose (n, k). */
static void project(const Walk *w, const TreePass *s, int back, int64_t m, int64_t n, int64_t k, const float *A,
                    const float *B, float *C, int64_t ldc) {
    Gemm gemm = m > s->few ? s->gemm : 0;
    if (B) matmul(w->pass, gemm, 0, back, m, n, k, A, k, B, back ? k : n, C, ldc);
    else { /* U and U_f were not joined */
        matmul(w->pass, gemm, 0, 0, m, n - k, k, A, k, s->U, n - k, C, ldc);
        matmul(w->pass, gemm, 0, 0, m, k, k, A, k, s->b, k, C + n - k, ldc);
    }
}

/* What both ways need of unit u; the copies of h are rows of `copies`. */
static int at_unit(Walk *w, const TreePass *s, int64_t u, float *copies) {
    Row *r = &w->row;
    int64_t d = w->d, kept = s->keep ? u : 0, affine = !s->child_sum && s->b, leaf = affine && u < s->leaves;
    int64_t gated = affine ? u - s->leaves : u, from = s->start[u];
    r->n = s->start[u + 1] - s->start[u], r->copies = 0;
    for (int64_t k = 0; k < s->slots; k++)
        if (s->row_of[u * s->slots + k] >= 0) r->h_row[r->copies++] = copies + s->row_of[u * s->slots + k] * d;
    for (int k = 0; k < r->n; k++) {
        int64_t child = s->child[from + k];
        r->c_k[k] = s->c + (s->node ? s->node[child] : child) * d;
    }
    int64_t at = s->node ? s->node[u] : u;
    r->h = s->h + at * d, r->c = s->c + at * d, r->t = POINTER(s->t, kept * d);
    r->g = leaf ? POINTER(s->o, kept * d) : s->g + (s->keep ? gated : 0) * w->gates;
    r->f = POINTER(s->f, (s->keep ? from : 0) * d), r->f_step = s->keep ? d : 0;
    r->mask = leaf ? 0 : POINTER(s->mask, gated * d);
    return (int)leaf;
}

EXPORT int64_t bough_forward(const TreePass *s) {
    Walk w;
    if (begin(&w, s)) return 1;
    Row *r = &w.row;
    int64_t d = s->d, u = 0, columns = w.width - d, affine = !s->child_sum && s->b;
    int threads = use_threads(s->set_threads, 1);
    const float *U = s->child_sum ? s->joined : s->U;
    if (s->child_sum && s->joined)
        for (int64_t k = 0; k < d; k++) {
            memcpy(s->joined + k * w.width, s->U + k * columns, columns * sizeof *U);
            memcpy(s->joined + k * w.width + columns, s->b + k * d, d * sizeof *U);
        }
    for (int64_t l = 0; l < s->levels; l++) {
        for (int64_t k = 0; k < s->slots; k++) {
            const int32_t *group = s->group + k * (s->levels + 1) + l;
            if (group[1] > group[0])
                project(&w, s, 0, group[1] - group[0], w.width, d, s->hs + group[0] * d, POINTER(U, k * d * w.width),
                        s->p + (s->dest[k * s->levels + l] * s->slots + k) * w.width, s->slots * w.width);
        }
        for (int64_t end = u + s->sizes[l]; u < end; u++) {
            int leaf = at_unit(&w, s, u, s->hs);
            if (u < s->given) {
                for (int k = 0; k < r->copies; k++) memcpy(r->h_row[k], r->h, d * sizeof *U);
                continue;
            }
            if (leaf) {
                r->a = s->a + (u - s->given) * (1 + s->output_gate) * d;
                w.pass->leaf_forward(r, d, (int)s->output_gate);
                continue;
            }
            r->a = affine ? s->b : s->a + (s->own_inputs ? u - s->given : s->input_of[u]) * w.width;
            for (int k = 0; k < r->n; k++) r->p[k] = s->p + s->place[s->start[u] + k] * w.width;
            if (s->child_sum) w.pass->child_sum_forward(r, d, (int)s->output_gate);
            else w.pass->nary_forward(r, d, (int)s->slots, (int)s->output_gate);
        }
    }
    use_threads(s->set_threads, threads);
    free(w.memory);
    return 0;
}

EXPORT int64_t bough_backward(const TreePass *s) {
    Walk w;
    if (begin(&w, s)) return 1;
    Row *r = &w.row;
    int64_t d = s->d, u = s->units, columns = w.width - d, affine = !s->child_sum && s->b, top = 1;
    int64_t rows = s->group[s->slots * (s->levels + 1) - 1];
    uint8_t *seen = calloc(s->inputs + 1, 1);
    float *level = malloc(w.width * sizeof *level); /* db of one level: sums of sums keep their precision */
    if (!seen || !level) return free(seen), free(level), free(w.memory), 1;
    int threads = use_threads(s->set_threads, 1);
    const float *U = s->child_sum ? s->joined : s->U;
    if (s->gc && s->units) memcpy(s->dc, s->gc, s->units * d * sizeof *s->dc);
    else if (s->units) memset(s->dc, 0, s->units * d * sizeof *s->dc);
    if (affine) memset(s->db, 0, w.width * sizeof *s->db);
    for (int64_t l = s->levels; l-- > 0;) {
        int64_t from = u - s->sizes[l];
        for (top = 1; u-- > from; top = 0) {
            int leaf = at_unit(&w, s, u, s->dhs);
            r->dh = POINTER(s->gh, u * d), r->dc = s->dc + u * d;
            if (leaf) {
                r->da = s->da + u * (1 + s->output_gate) * d;
                w.pass->leaf_backward(r, d, (int)s->output_gate);
                continue;
            }
            int64_t input = affine || s->own_inputs ? u : s->input_of[u];
            r->da = affine ? level : s->da + input * w.width;
            r->da_first = affine ? top : !seen[input];
            if (!affine) seen[input] = 1;
            for (int k = 0; k < r->n; k++) {
                int64_t e = s->start[u] + k;
                r->p[k] = s->p + (s->row[e] >> 1) * w.width, r->first[k] = s->row[e] & 1;
                r->dc_k[k] = s->dc + s->child[e] * d;
            }
            if (s->child_sum) w.pass->child_sum_backward(r, d, (int)s->output_gate);
            else w.pass->nary_backward(r, d, (int)s->slots, (int)s->output_gate);
        }
        u = from;
        if (affine && l > 0 && s->sizes[l])
            for (int64_t j = 0; j < w.width; j++) s->db[j] += level[j];
        for (int64_t k = 0; k < s->slots; k++) {
            const int32_t *group = s->group + k * (s->levels + 1) + l;
            if (group[1] > group[0])
                project(&w, s, 1, group[1] - group[0], d, w.width, s->p + group[0] * w.width, U + k * d * w.width,
                        s->dhs + group[0] * d, d);
        }
    }
    for (int64_t m = 0; !affine && m < s->inputs; m++)
        if (!seen[m]) memset(s->da + m * w.width, 0, w.width * sizeof *s->da);
    if (s->child_sum) {
        matmul(w.pass, s->gemm, 1, 0, d, columns, rows, s->hs, d, s->p, w.width, s->dU, columns);
        matmul(w.pass, s->gemm, 1, 0, d, d, rows, s->hs, d, s->p + columns, w.width, s->db, d);
    } else
        for (int64_t k = 0; k < s->slots; k++) {
            int64_t first = s->group[k * (s->levels + 1)], count = s->group[(k + 1) * (s->levels + 1) - 1] - first;
            matmul(w.pass, s->gemm, 1, 0, d, w.width, count, s->hs + first * d, d, s->p + first * w.width, w.width,
                   s->dU + k * d * w.width, w.width);
        }
    use_threads(s->set_threads, threads);
    free(seen), free(level), free(w.memory);
    return 0;
}

#include "infer.h"
#include "state_table.h"
