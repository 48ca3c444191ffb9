/* 4 floats at a time, by the compiler's own vector types: NEON, SSE2 or what else the CPU has. */

typedef float Floats4 __attribute__((vector_size(16)));
typedef int32_t Ints4 __attribute__((vector_size(16)));

#define TARGET
#define NAME(x) x##_generic
#define V Floats4
#define M int64_t
#define N 4

FN V load_4(const float *p) {
    V v;
    memcpy(&v, p, sizeof v);
    return v;
}
FN V load_some(const float *p, int64_t n) {
    V v = {0.f, 0.f, 0.f, 0.f};
    if (n == N) return load_4(p);
    for (int k = 0; k < n; k++) v[k] = p[k];
    return v;
}
FN void store_some(float *p, int64_t n, V v) {
    if (n == N) memcpy(p, &v, sizeof v);
    else
        for (int k = 0; k < n; k++) p[k] = v[k];
}
FN V set_4(float x) { return (V){x, x, x, x}; }
FN V choose(Ints4 which, V a, V b) { return (V)((which & (Ints4)a) | (~which & (Ints4)b)); }

#define MASK(n) (n)
#define LOAD load_4
#define LOAD_MASKED load_some
#define STORE(p, v) store_some(p, N, v)
#define STORE_MASKED store_some
#define SET set_4
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define MIN(a, x) choose((a) < (x), a, x) /* of a NaN and a number the second operand, as on x86 */
#define MAX(a, x) choose((a) > (x), a, x)
#ifdef __ARM_NEON
#define FMADD(a, b, c) ((V)vfmaq_f32(c, a, b))
#define FNMADD(a, b, c) ((V)vfmsq_f32(c, a, b))
#else
#define FMADD(a, b, c) ((a) * (b) + (c))
#define FNMADD(a, b, c) ((c) - (a) * (b))
#endif
#ifdef __SSE2__ /* 16 registers */
#define TILE 2
#define ROWS 3
#else
#define TILE 4
#define ROWS 6
#endif
#define TOTAL(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#define ABS(x) ((V)((Ints4)(x) & 0x7fffffff))
#define ROUND(x) (((x) + SET(12582912.f)) - SET(12582912.f)) /* 1.5 * 2^23: what lies behind the point falls away */
#define POWER_OF_TWO(n) ((V)((__builtin_convertvector(n, Ints4) + 127) << 23))
#define COPY_SIGN(to, from) ((V)((Ints4)(to) | ((Ints4)(from) & (Ints4)SET(-0.f))))
#define ZERO_BELOW(x, bound, y) ((V)(~((x) < (bound)) & (Ints4)(y)))
