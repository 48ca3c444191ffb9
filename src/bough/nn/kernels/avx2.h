/* 8 floats at a time. */

#define TARGET __attribute__((target("avx2,fma")))
FN float total_of_8(__m256 v) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}
#define NAME(x) x##_avx2
#define V __m256
#define M __m256i
#define N 8
#define MASK(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD _mm256_loadu_ps
#define LOAD_MASKED(p, m) _mm256_maskload_ps(p, m)
#define STORE _mm256_storeu_ps
#define STORE_MASKED _mm256_maskstore_ps
#define SET _mm256_set1_ps
#define ADD _mm256_add_ps
#define SUB _mm256_sub_ps
#define MUL _mm256_mul_ps
#define DIV _mm256_div_ps
#define MIN _mm256_min_ps
#define MAX _mm256_max_ps
#define FMADD _mm256_fmadd_ps
#define FNMADD _mm256_fnmadd_ps
#define TILE 2
#define ROWS 3
#define TOTAL total_of_8
#define ABS(x) _mm256_andnot_ps(SET(-0.f), x)
#define ROUND(x) _mm256_round_ps(x, 8)
#define POWER_OF_TWO(n) \
    _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23))
#define COPY_SIGN(to, from) _mm256_or_ps(to, _mm256_and_ps(from, SET(-0.f)))
#define ZERO_BELOW(x, bound, y) _mm256_and_ps(_mm256_cmp_ps(x, bound, _CMP_NLT_UQ), y)
