/* The states of subtrees kept from call to call, by a 128-bit digest of the subtree's inputs and shape.

   A table of entries with room for `capacity`; `slot` (slots, a power of two) finds an entry by its key, -1 where there
   is none; `newer` and `older` list the entries by their last use. */

static uint64_t mixed(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static const uint64_t ODD[4] = {0x9E3779B97F4A7C15u, 0xBF58476D1CE4E5B9u, 0x94D049BB133111EBu, 0xD6E8FEB86659FD93u};

/* Adds 16 bytes at a time to both halves of a digest, so that each half depends on all of them. */
static void digest_bytes(const char *bytes, int64_t size, uint64_t *digest) {
    uint64_t a = digest[0] ^ ODD[0], b = digest[1] ^ ODD[1], word[2];
    for (int64_t at = 0; at < size; at += 16) {
        word[0] = word[1] = 0;
        if (size - at >= 16) memcpy(word, bytes + at, 16);
        else memcpy(word, bytes + at, size - at);
        a = mixed(word[0] ^ a, word[1] ^ ODD[2]);
        b = mixed(word[1] ^ b, word[0] ^ ODD[3]);
    }
    digest[0] = a, digest[1] = b;
}

/* digest (nodes, 2) of every subtree: its inputs, of the leaves only if `affine`, and the places of its children. */
static void digest_subtrees(const Inference *s, int32_t *waiting, uint64_t *digest) {
    int64_t n = s->nodes, ready = 0;
    int32_t *rank = waiting + n, *queue = rank + n;
    for (int64_t v = 0; v < n; v++)
        if (s->parents[v] >= 0) rank[v] = waiting[s->parents[v]]++;
    for (int64_t v = 0; v < n; v++) {
        digest[2 * v] = digest[2 * v + 1] = 1 + (uint64_t)waiting[v];
        if (!s->affine || !waiting[v])
            digest_bytes((const char *)(s->x + v * s->inputs), s->inputs * sizeof *s->x, digest + 2 * v);
        if (!waiting[v]) queue[ready++] = (int32_t)v;
    }
    for (int64_t k = 0; k < ready; k++) {
        int64_t v = queue[k], p = s->parents[v];
        digest[2 * v] = mixed(digest[2 * v] ^ ODD[2], ODD[3]);
        digest[2 * v + 1] = mixed(digest[2 * v + 1] ^ ODD[3], ODD[2]);
        if (p < 0) continue;
        for (int half = 0; half < 2; half++)
            digest[2 * p + half] += mixed(digest[2 * v + half] ^ ODD[half], (uint64_t)rank[v] * ODD[3] + ODD[2]);
        if (!--waiting[p]) queue[ready++] = (int32_t)p;
    }
}

/* Where a key is in `slot`, or where it would be. */
static int64_t slot_of(const StateTable *t, const uint64_t *key) {
    int64_t at = (int64_t)(key[0] & (uint64_t)(t->slots - 1));
    for (; t->slot[at] >= 0; at = (at + 1) & (t->slots - 1)) {
        const uint64_t *other = t->keys + 2 * t->slot[at];
        if (other[0] == key[0] && other[1] == key[1]) break;
    }
    return at;
}

static void unlink_entry(StateTable *t, int32_t entry) {
    int32_t newer = t->newer[entry], older = t->older[entry];
    if (newer >= 0) t->older[newer] = older;
    else t->newest = older;
    if (older >= 0) t->newer[older] = newer;
    else t->oldest = newer;
}

static void make_newest(StateTable *t, int32_t entry) {
    t->newer[entry] = -1, t->older[entry] = (int32_t)t->newest;
    if (t->newest >= 0) t->newer[t->newest] = entry;
    else t->oldest = entry;
    t->newest = entry;
}

/* Frees a slot, and moves what was pushed behind it by another key. */
static void free_slot(StateTable *t, int64_t hole) {
    int64_t mask = t->slots - 1;
    for (int64_t at = (hole + 1) & mask; t->slot[at] >= 0; at = (at + 1) & mask) {
        int64_t home = (int64_t)(t->keys[2 * t->slot[at]] & (uint64_t)mask);
        if (((at - home) & mask) >= ((at - hole) & mask)) t->slot[hole] = t->slot[at], hole = at;
    }
    t->slot[hole] = -1;
}

/* An entry for a new key: unused, or that which was not used for the longest time. */
static int32_t add_entry(StateTable *t, const uint64_t *key) {
    int32_t entry = (int32_t)t->count;
    if (t->count < t->capacity) t->count++;
    else {
        entry = (int32_t)t->oldest;
        unlink_entry(t, entry);
        free_slot(t, slot_of(t, t->keys + 2 * entry));
    }
    memcpy(t->keys + 2 * entry, key, 2 * sizeof *key);
    t->slot[slot_of(t, key)] = entry;
    make_newest(t, entry);
    return entry;
}

/* As `bough_infer`, but the states of subtrees that are in the table are copied, and the others are put there. */
EXPORT int64_t bough_infer_cached(const Inference *s, StateTable *t) {
    int64_t n = s->nodes, d = s->d, bytes = d * sizeof *s->h;
    uint64_t *digest = calloc(n + 1, 2 * sizeof *digest + 3 * sizeof(int32_t) + 1);
    if (!digest) return 1;
    int32_t *numbers = (int32_t *)(digest + 2 * n);
    uint8_t *known = (uint8_t *)(numbers + 3 * n);
    digest_subtrees(s, numbers, digest);
    for (int64_t v = 0; v < n; v++) {
        int32_t entry = t->slot[slot_of(t, digest + 2 * v)];
        if (entry < 0) continue;
        memcpy(s->h + v * d, t->h + entry * d, bytes), memcpy(s->c + v * d, t->c + entry * d, bytes);
        unlink_entry(t, entry), make_newest(t, entry);
        known[v] = 1, t->hits++;
    }
    Inference rest = *s;
    rest.known = known;
    int64_t code = bough_infer(&rest);
    for (int64_t v = 0; !code && v < n; v++)
        if (!known[v] && t->slot[slot_of(t, digest + 2 * v)] < 0) {
            int32_t entry = add_entry(t, digest + 2 * v);
            memcpy(t->h + entry * d, s->h + v * d, bytes), memcpy(t->c + entry * d, s->c + v * d, bytes);
        }
    free(digest);
    return code;
}
