/*
 * Assigns rows to traces with a hash table. A key consists of the values that all rows of a trace
 * share: the labels, the number of workers m, the seed, the staleness, backups and rows. Within a
 * trace, iterations increase. If a row has a smaller iteration than the row before it, there are
 * three cases:
 *
 *   - the iteration was recorded before: the run restarted from a checkpoint, and the rows from
 *     that iteration on are replaced;
 *   - it is the first iteration: another run with the same labels begins;
 *   - the iteration was not recorded before: the table is not sorted, and the rows are sorted at
 *     the end.
 *
 * Apart from that sorting, the time is linear in the number of rows.
 */
#include "trace_table.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "err.h"

struct hm_trace_group {
    /* Key that the traces of this group share; its strings are in the arena of the groups. */
    struct hm_trace_key key;
    uint64_t hash;
    struct hm_trace_group *next; /* Next group of traces in the same bucket of the hash table. */
    const char *algorithm;       /* Name of the algorithm; in the arena of the traces. */
    size_t trace; /* Index of the latest trace of the group; SIZE_MAX if there is none. */
    bool fresh;   /* True if the next row begins a new trace. */
    /* Number of iterations of an earlier run that the new trace resumes; 0 if there is none. */
    double resumed_at;
    bool again; /* True if a repeated first iteration means a restart instead of a new run. */
};

int hm__trace_table_file(struct hm_trace_table *t, const char *source, bool json)
{
    size_t room = t->file_count + 1;
    struct hm_trace_file *files = hm__realloc(t->files, room, sizeof(*files));

    if (!files)
        return hm__fail_nomem(t->err);
    t->files = files;
    files[t->file_count] = (struct hm_trace_file){.json = json};
    t->file = &files[t->file_count++];
    hm__hash_begin(&t->hash_key);
    hm__arena_free(t->groups);
    t->last = NULL;
    t->group_count = 0;
    if (t->buckets)
        memset((void *)t->buckets, 0, t->bucket_count * sizeof(*t->buckets));
    t->groups = hm__arena_new();
    t->file->source = hm__arena_strdup(t->arena, source);
    return t->groups && t->file->source ? 0 : hm__fail_nomem(t->err);
}

void hm__trace_table_release(struct hm_trace_table *t)
{
    for (size_t i = 0; i < t->file_count; i++)
        hm__text_release(&t->files[i].have);
    for (size_t i = 0; i < t->count; i++)
        hm__free(t->traces[i].rows);
    hm__free(t->files);
    hm__free(t->traces);
    hm__free((void *)t->buckets);
    hm__arena_free(t->groups);
}

/* ---- groups --------------------------------------------------------------------------------- */

static uint64_t hash_key(const struct hm_trace_table *t, const struct hm_trace_key *key)
{
    enum { NUMBERS = 5 };
    uint64_t words[NUMBERS + HM_TRACE_LABELS] = {0};
    const double numbers[NUMBERS] = {isnan(key->m) ? -1 : key->m,
                                     isnan(key->seed) ? -1.5 : key->seed + 0.0, key->staleness,
                                     key->backups, isnan(key->rows) ? -1 : key->rows};

    memcpy(words, numbers, sizeof(numbers));
    for (size_t i = 0; i < HM_TRACE_LABELS; i++)
        words[NUMBERS + i] = hm__hash_text(&t->hash_key, key->labels[i]);
    return hm__hash_bytes(&t->hash_key, words, sizeof(words));
}

static bool same_number(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool same_key(const struct hm_trace_key *a, const struct hm_trace_key *b)
{
    if (!same_number(a->m, b->m) || !same_number(a->seed, b->seed) ||
        a->staleness != b->staleness || a->backups != b->backups || !same_number(a->rows, b->rows))
        return false;
    for (size_t i = 0; i < HM_TRACE_LABELS; i++)
        if (strcmp(a->labels[i], b->labels[i]) != 0)
            return false;
    return true;
}

static int grow_buckets(struct hm_trace_table *t)
{
    size_t count = t->bucket_count ? 2 * t->bucket_count : 64;
    struct hm_trace_group **buckets = hm__calloc(count, sizeof(*buckets));

    if (!buckets)
        return hm__fail_nomem(t->err);
    for (size_t i = 0; i < t->bucket_count; i++)
        for (struct hm_trace_group *g = t->buckets[i], *next; g; g = next) {
            next = g->next;
            g->next = buckets[g->hash % count];
            buckets[g->hash % count] = g;
        }
    hm__free((void *)t->buckets);
    t->buckets = buckets;
    t->bucket_count = count;
    return 0;
}

static int add_group(struct hm_trace_table *t, const struct hm_trace_key *key, uint64_t hash,
                     struct hm_trace_group **ret_group)
{
    if (t->group_count >= t->bucket_count && grow_buckets(t))
        return HM_E_NOMEM;
    struct hm_trace_group *g = hm__arena_alloc(t->groups, 1, sizeof(*g));
    if (!g)
        return hm__fail_nomem(t->err);
    *g = (struct hm_trace_group){.key = *key, .hash = hash, .trace = SIZE_MAX};
    for (size_t i = 0; i < HM_TRACE_LABELS; i++)
        if (!(g->key.labels[i] = hm__arena_strdup(t->groups, key->labels[i])))
            return hm__fail_nomem(t->err);
    char *name = hm__arena_strdup(t->arena, key->labels[HM_LABEL_ALGORITHM]);
    if (!name)
        return hm__fail_nomem(t->err);
    /* Replace control characters, which a terminal would interpret. */
    for (char *c = name; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    g->algorithm = name;
    g->next = t->buckets[hash % t->bucket_count];
    t->buckets[hash % t->bucket_count] = g;
    t->group_count++;
    *ret_group = g;
    return 0;
}

static int find_group(struct hm_trace_table *t, const struct hm_trace_key *key,
                      struct hm_trace_group **ret_group)
{
    struct hm_trace_group *g = t->last;
    int rc = 0;

    /*
     * The group of the previous row is tried first, because the rows of one trace are usually
     * consecutive.
     */
    if (!g || !same_key(&g->key, key)) {
        uint64_t hash = hash_key(t, key);
        g = t->bucket_count ? t->buckets[hash % t->bucket_count] : NULL;
        while (g && (g->hash != hash || !same_key(&g->key, key)))
            g = g->next;
        if (!g)
            rc = add_group(t, key, hash, &g);
    }
    if (rc == 0)
        *ret_group = t->last = g;
    return rc;
}

/* ---- traces --------------------------------------------------------------------------------- */

/* Records which labels differ between traces; the notes mention them. */
static int compare_labels(struct hm_trace_table *t, const struct hm_trace_key *key)
{
    for (size_t i = 0; i < HM_TRACE_LABELS; i++) {
        const char *label = key->labels[i];
        if (!*label)
            continue;
        if (!t->first[i] && !(t->first[i] = hm__arena_strdup(t->arena, label)))
            return hm__fail_nomem(t->err);
        t->mixed[i] = t->mixed[i] || strcmp(t->first[i], label) != 0;
    }
    bool late = strcmp(key->labels[HM_LABEL_PULL], "late") == 0;
    t->pulls_late = t->pulls_late || late;
    t->pulls_fresh = t->pulls_fresh || (!late && key->staleness > 0 && isfinite(key->staleness));
    return 0;
}

static int new_trace(struct hm_trace_table *t, struct hm_trace_group *g)
{
    int rc = compare_labels(t, &g->key);

    if (rc)
        return rc;
    struct hm_trace_raw *traces = hm__grow(t->traces, t->count, &t->room, sizeof(*traces));
    if (!traces)
        return hm__fail_nomem(t->err);
    t->traces = traces;
    g->trace = t->count;
    t->traces[t->count++] = (struct hm_trace_raw){
        .algorithm = g->algorithm,
        .source = t->file->source,
        .m = g->key.m,
        .seed = g->key.seed,
        .staleness = g->key.staleness,
        .backups = g->key.backups,
        .data_rows = g->key.rows,
        .file = t->file_count - 1,
        .best = NAN,
        .bound = -INFINITY,
        .resumed_at = g->resumed_at,
    };
    g->fresh = false;
    g->again = false;
    g->resumed_at = 0;
    return 0;
}

/* Returns the index of the first row whose iteration is at least the given iteration. */
static size_t find_row(const struct hm_trace_raw *raw, double iteration)
{
    size_t low = 0, high = raw->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (raw->rows[middle].iteration < iteration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void note_restart(struct hm_trace_raw *raw, const struct hm_trace_row *row)
{
    raw->restarts++;
    raw->restart_at = row->at;
    raw->restart_line = row->line;
    raw->diverged = false;
}

/* Updates the optimum P* and its lower bound. Both are properties of the problem, so they stay
 * valid if the row is replaced later. */
static void update_bests(struct hm_trace_raw *raw, const struct hm_trace_row *row,
                         const struct hm_trace_bests *bests)
{
    double loss = isnan(row->objective) ? row->other : row->objective;
    double best = bests->best, slack = 1e-6 * fabs(best);

    if (isnan(best) && isfinite(loss) && isfinite(bests->suboptimality)) {
        best = loss - bests->suboptimality;
        slack = 1e-6 * (fabs(loss) + fabs(bests->suboptimality));
    }
    if (isfinite(best) && isnan(raw->best)) {
        raw->best = best;
        raw->best_slack = slack;
    } else if (isfinite(best) && fabs(best - raw->best) > slack + raw->best_slack) {
        raw->best_differs = true;
    }
    if (isfinite(row->objective) && isfinite(bests->gap) && bests->gap >= 0)
        raw->bound = fmax(raw->bound, row->objective - bests->gap);
}

static int append_row(struct hm_trace_table *t, struct hm_trace_raw *raw,
                      const struct hm_trace_row *row)
{
    struct hm_trace_row *rows = hm__grow(raw->rows, raw->count, &raw->room, sizeof(*rows));
    if (!rows)
        return hm__fail_nomem(t->err);
    raw->rows = rows;
    raw->rows[raw->count++] = *row;
    return 0;
}

int hm__trace_table_head(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                         double resumed_at)
{
    struct hm_trace_group *g;
    int rc = find_group(t, key, &g);

    if (rc)
        return rc;
    /* A restarted or resumed run continues the existing trace of its key, if there is one. */
    g->again = g->trace != SIZE_MAX && (again || resumed_at > 0);
    g->fresh = !g->again;
    g->resumed_at = g->fresh ? resumed_at : 0;
    return 0;
}

/* Returns whether a row shows that the table is not sorted: its iteration is smaller than the
 * iteration of the last row and was not recorded before. Iteration 1 is excluded, because it can
 * begin another run. */
static bool is_out_of_order(const struct hm_trace_raw *raw, double iteration)
{
    size_t at = find_row(raw, iteration);

    return iteration != 1 && at < raw->count && raw->rows[at].iteration != iteration;
}

int hm__trace_table_add(struct hm_trace_table *t, const struct hm_trace_key *key, bool again,
                        const struct hm_trace_row *row, const struct hm_trace_bests *bests)
{
    struct hm_trace_group *g;
    int rc = find_group(t, key, &g);

    if (rc)
        return rc;
    struct hm_trace_raw *raw = g->trace == SIZE_MAX ? NULL : &t->traces[g->trace];
    bool known = raw && !g->fresh && raw->count > 0;
    if (known && !again && !g->again)
        raw->unsorted = raw->unsorted || is_out_of_order(raw, row->iteration);
    bool back = known && !raw->unsorted && row->iteration <= raw->rows[raw->count - 1].iteration;
    bool other = back && row->iteration <= raw->rows[0].iteration && !again && !g->again;
    if (!known || other) {
        if ((rc = new_trace(t, g)))
            return rc;
        raw = &t->traces[g->trace];
    } else if (back || again) {
        raw->count = back ? find_row(raw, row->iteration) : raw->count;
        note_restart(raw, row);
    }
    g->again = false;
    update_bests(raw, row, bests);
    return append_row(t, raw, row);
}

int hm__trace_table_end(struct hm_trace_table *t, const struct hm_trace_key *key, bool diverged)
{
    struct hm_trace_group *g;
    int rc = find_group(t, key, &g);

    if (rc == 0 && diverged && g->trace != SIZE_MAX && !g->fresh)
        t->traces[g->trace].diverged = true;
    return rc;
}
