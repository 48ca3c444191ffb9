/* Repeat calls of the compiled code that a test wrote to a file, and compare what they leave in memory with what torch
   computed: so the code is tested on machines that have no torch. test_replay.py writes the file.

   The file is a list of 64-bit integers and bytes: blocks of memory, where pointers lie in them, calls, results. */

#include <stdio.h>

#include "kernel.c"

typedef int64_t (*Function)(int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                            int64_t, int64_t, int64_t, int64_t, int64_t, int64_t);
static const struct {
    const char *name;
    Function call;
} FUNCTIONS[] = {
    {"bough_plan", (Function)bough_plan},           {"bough_forward", (Function)bough_forward},
    {"bough_backward", (Function)bough_backward},   {"bough_node_loss", (Function)bough_node_loss},
    {"bough_pair_loss", (Function)bough_pair_loss}, {"bough_lstm", (Function)bough_lstm},
    {"bough_brackets", (Function)bough_brackets},   {"bough_infer", (Function)bough_infer},
    {"bough_infer_cached", (Function)bough_infer_cached},
};
#ifdef __SANITIZE_ADDRESS__
enum { SLACK = 0 }; /* so that a number read beyond a block is noticed */
#else
enum { SLACK = 64 };
#endif
enum { ARGUMENTS = 16, KNOWN = sizeof FUNCTIONS / sizeof *FUNCTIONS };

static void stop(const char *why) {
    fprintf(stderr, "replay: %s\n", why);
    exit(2);
}

static void read_bytes(FILE *file, void *to, size_t size) {
    if (size && fread(to, 1, size, file) != size) stop("the file ends too early");
}

static int64_t read_number(FILE *file) {
    int64_t number;
    read_bytes(file, &number, sizeof number);
    return number;
}

/* The largest difference, as a share of the largest number expected or of 1; infinite where a NaN stands alone. */
static double difference(const float *found, const float *expected, int64_t count) {
    double most = 0, scale = 1;
    for (int64_t k = 0; k < count; k++) {
        if (isnan(found[k]) != isnan(expected[k])) return INFINITY;
        if (fabs(expected[k]) > scale) scale = fabs(expected[k]);
        if (fabs(found[k] - expected[k]) > most) most = fabs(found[k] - expected[k]);
    }
    return most / scale;
}

int main(int argc, char **argv) {
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : 0;
    if (!file) stop("usage: replay FILE");
    int64_t count = read_number(file), checks = 0;
    char **blocks = calloc(count + 1, sizeof *blocks);
    for (int64_t b = 0; b < count; b++) {
        int64_t size = read_number(file);
        if (!(blocks[b] = malloc(size + SLACK))) stop("no memory");
        read_bytes(file, blocks[b], size);
    }
    for (int64_t left = read_number(file); left > 0; left--) {
        char *at = blocks[read_number(file)];
        at += read_number(file);
        char *target = blocks[read_number(file)];
        target += read_number(file);
        memcpy(at, &target, sizeof target);
    }
    for (int64_t left = read_number(file); left > 0; left--) {
        char name[32] = "";
        int64_t a[ARGUMENTS] = {0};
        read_bytes(file, name, sizeof name);
        for (int k = 0; k < ARGUMENTS; k++) {
            int64_t block = read_number(file), value = read_number(file);
            a[k] = block < 0 ? value : (int64_t)(blocks[block] + value);
        }
        int known = 0;
        while (known < KNOWN && strcmp(FUNCTIONS[known].name, name)) known++;
        if (known == KNOWN) stop(name);
        if (FUNCTIONS[known].call(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
                                  a[13], a[14], a[15]))
            stop("a call failed");
    }
    double worst = 0;
    for (int64_t left = read_number(file); left > 0; left--, checks++) {
        char *at = blocks[read_number(file)];
        at += read_number(file);
        int64_t exact = read_number(file), size = read_number(file);
        float *expected = malloc(size * sizeof *expected + 1);
        if (!expected) stop("no memory");
        read_bytes(file, expected, size * sizeof *expected);
        double found = difference((float *)at, expected, size);
        if (exact) found = memcmp(at, expected, size * sizeof *expected) ? INFINITY : 0;
        if (!(found <= worst)) worst = found;
        free(expected);
    }
    for (int64_t b = 0; b < count; b++) free(blocks[b]);
    free(blocks);
    fclose(file);
    printf("%lld arrays, largest difference %.2e\n", (long long)checks, worst);
    return worst <= 1e-5 ? 0 : 1;
}
