/* 16 floats at a time. */

#define TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,fma")))
#define NAME(x) x##_avx512
#define V __m512
#define M __mmask16
#define N 16
#define MASK(n) ((__mmask16)((1u << (n)) - 1))
#define LOAD _mm512_loadu_ps
#define LOAD_MASKED(p, m) _mm512_maskz_loadu_ps(m, p)
#define STORE _mm512_storeu_ps
#define STORE_MASKED _mm512_mask_storeu_ps
#define SET _mm512_set1_ps
#define ADD _mm512_add_ps
#define SUB _mm512_sub_ps
#define MUL _mm512_mul_ps
#define DIV _mm512_div_ps
#define MIN _mm512_min_ps /* of a NaN and a number the second operand, so x stands second */
#define MAX _mm512_max_ps
#define FMADD _mm512_fmadd_ps
#define FNMADD _mm512_fnmadd_ps
#define TILE 4
#define ROWS 6
#define TOTAL _mm512_reduce_add_ps
#define ABS _mm512_abs_ps
#define ROUND(x) _mm512_roundscale_ps(x, 8)
#define POWER_OF_TWO(n) \
    _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127)), 23))
#define COPY_SIGN(to, from) _mm512_or_ps(to, _mm512_and_ps(from, SET(-0.f)))
#define ZERO_BELOW(x, bound, y) _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, bound, _CMP_NLT_UQ), y)
