/* Where each child's projected row is, from the edges sorted by parent.

   start (units + 1): each unit's first edge. For each edge: child, its unit; row, 2 * its row + whether the edge is the
   last that reads it; place, its row within the buffer of projected rows. row_of (units, slots): each unit's rows, -1
   for none. group (slots, levels + 1): the rows projected just before a level; dest (slots, levels): where they go.
   counts: rows, rows of the buffer, and the most children.
   Returns 0, or 1 where a unit has more children than slots, or 2 without memory. */
EXPORT int64_t bough_plan(int64_t units, int64_t edges, int64_t levels, int64_t slots, int64_t child_sum,
                          const int64_t *children, const int64_t *parents, const int64_t *sizes, int32_t *start,
                          int32_t *child, int32_t *row, int32_t *place, int32_t *row_of, int32_t *group, int32_t *dest,
                          int64_t *counts) {
    int32_t *uses = calloc(2 * units * slots + 4 * slots + 1, sizeof *uses);
    if (!uses) return 2;
    int32_t *place_of = uses + units * slots, *next = place_of + units * slots, *held = next + slots,
            *passing = held + slots, *fresh = passing + slots;
    int64_t degree = 0, rows = 0, places = 0, end = 0, e = 0;
    memset(start, 0, (units + 1) * sizeof *start);
    for (int64_t at = 0; at < edges; at++) start[parents[at] + 1]++;
    for (int64_t u = 0; u < units; u++) {
        if (start[u + 1] > degree) degree = start[u + 1];
        start[u + 1] += start[u];
    }
    if (!child_sum && degree > slots) return free(uses), 1;
#define SLOT(at) (child_sum ? 0 : (at) - start[parents[at]])
    for (int64_t at = 0; at < edges; at++) {
        child[at] = (int32_t)children[at];
        if (!uses[child[at] * slots + SLOT(at)]++) fresh[SLOT(at)]++;
    }
    for (int64_t k = 0; k < slots; k++) next[k] = (int32_t)rows, rows += fresh[k];
    for (int64_t at = 0; at < units * slots; at++) row_of[at] = -1;
    for (int64_t l = 0; l < levels; l++) {
        int64_t from = e;
        end += sizes[l], e = start[end];
        for (int64_t k = 0; k < slots; k++)
            group[k * (levels + 1) + l] = next[k], dest[k * levels + l] = held[k], passing[k] = 0;
        for (int64_t at = from; at < e; at++) { /* rows read again later come first, and keep their place */
            int64_t k = SLOT(at), key = child[at] * slots + k;
            if (uses[key] > 1 && row_of[key] < 0) row_of[key] = next[k]++, place_of[key] = held[k]++;
        }
        for (int64_t at = from; at < e; at++) {
            int64_t k = SLOT(at), key = child[at] * slots + k;
            if (row_of[key] < 0) row_of[key] = next[k]++, place_of[key] = held[k] + passing[k]++;
            row[at] = 2 * row_of[key], place[at] = (int32_t)(place_of[key] * slots + k);
        }
        for (int64_t k = 0; k < slots; k++)
            if (held[k] + passing[k] > places) places = held[k] + passing[k];
    }
    for (int64_t k = 0; k < slots; k++) group[k * (levels + 1) + levels] = next[k];
    for (int64_t at = edges; at-- > 0;) {
        int64_t key = child[at] * slots + SLOT(at);
        if (uses[key]) uses[key] = 0, row[at]++;
    }
    counts[0] = rows, counts[1] = places * slots, counts[2] = degree;
    free(uses);
    return 0;
}
