/* Opening the store, and putting tables of runs and traces into it. */
#include "asked_store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format.h"
#include "guest.h"
#include "stored.h"
#include "text.h"

enum { PATH_ROOM = 1024, BATCH = 1000, KEY = 40 };

/* ---- where -------------------------------------------------------------------------------------
 */

bool cli_is_store(const char *record)
{
    return strncmp(record, "postgresql://", 13) == 0 || strncmp(record, "postgres://", 11) == 0 ||
           hm_text_ends(record, ".db") || hm_text_ends(record, ".sqlite") ||
           hm_text_ends(record, ".sqlite3");
}

/* Make every folder on the way to a file. */
static int make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = mkdir(path, 0777);
        int why = errno;
        *slash = '/';
        if (rc != 0 && why != EEXIST)
            return cli_complain("%s cannot be made: %s", path, strerror(why));
    }
    return 0;
}

/* Into path, where it is the person's own; NULL with a message. */
static const char *find_store(const char *record, char path[PATH_ROOM])
{
    const char *named = record ? record : getenv("HOWMANY_DB");
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;

    if (named && *named)
        return named;
    if (data && data[0] == '/')
        length = snprintf(path, PATH_ROOM, "%s/howmany/howmany.db", data);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_ROOM, "%s/.local/share/howmany/howmany.db", home);
    if (length <= 0 || length >= PATH_ROOM) {
        cli_complain("where is the store? There is no home folder; name one with --record or "
                     "HOWMANY_DB");
        return NULL;
    }
    return make_folders(path) ? NULL : path;
}

int cli_store_open(const char *record, struct hm_store **ret_store)
{
    char path[PATH_ROOM];
    struct hm_err err = {0};
    if (cli_guest())
        return cli_complain("a store is not named from outside");
    const char *where = find_store(record, path);
    if (!where)
        return EXIT_USAGE;
    return hm_store_open(where, ret_store, &err) ? cli_report(&err) : 0;
}

/* ---- rows of a table ---------------------------------------------------------------------------
 */

/* The column of a run that a table calls so; what bench calls started is when it was made. */
static const struct hm_store_column *find_column(const char *name)
{
    return hm_store_column_find(strcmp(name, "started") == 0 ? "made_at" : name);
}

/* What has no member of its own, as a JSON object; empty where there is nothing. */
static void gather_more(const struct hm_runs *runs, size_t row, struct hm_text *more)
{
    for (size_t c = 0; c < runs->column_count; c++) {
        const struct hm_column *column = &runs->columns[c];
        bool told =
            column->values ? isfinite(column->values[row]) : column->labels && column->labels[row];
        if (find_column(column->name) || !told)
            continue;
        hm_text_add(more, more->length ? "," : "{");
        hm_json_text(more, column->name);
        hm_text_add(more, ":");
        if (column->values)
            hm_json_number(more, column->values[row]);
        else
            hm_json_text(more, column->labels[row]);
    }
    if (more->length)
        hm_text_add(more, "}");
}

static void take_row(const struct hm_runs *runs, size_t row, struct hm_stored *run)
{
    for (size_t c = 0; c < runs->column_count; c++) {
        const struct hm_column *column = &runs->columns[c];
        const struct hm_store_column *own = find_column(column->name);
        if (own && own->kind == HM_STORE_TEXT && column->labels)
            *hm_stored_text(own, run) = column->labels[row];
        else if (own && own->kind == HM_STORE_NUMBER && column->values)
            *hm_stored_number(own, run) = column->values[row];
    }
}

/* FNV-1a, 64 bits: of what a row says, so that the same table is not added twice. */
static uint64_t hash(uint64_t sum, const char *text)
{
    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
    return (sum ^ 0xff) * 0x100000001b3u;
}

static uint64_t hash_run(const struct hm_stored *run)
{
    uint64_t sum = 0xcbf29ce484222325u;
    char number[40];

    for (size_t k = 1; k < HM_STORE_COLUMNS; k++) { /* the id is not of the run */
        const struct hm_store_column *c = &hm_store_columns[k];
        const char *text = number;
        if (c->kind == HM_STORE_TEXT)
            text = hm_stored_get_text(c, run);
        else
            snprintf(number, sizeof(number), "%.17g", hm_stored_get_number(c, run));
        sum = hash(sum, text ? text : "");
    }
    return sum;
}

/* A batch of runs on its way into the store, with what they borrow. */
struct batch {
    struct hm_stored runs[BATCH];
    struct hm_text more[BATCH];
    char keys[BATCH][KEY];
    size_t count;
};

static void batch_empty(struct batch *b)
{
    for (size_t k = 0; k < b->count; k++)
        hm_text_release(&b->more[k]);
    memset(b->more, 0, sizeof(b->more));
    b->count = 0;
}

static int batch_send(struct batch *b, struct hm_store *store, size_t *added)
{
    struct hm_err err = {0};
    size_t now = 0;
    int rc = b->count ? hm_store_add(store, b->runs, b->count, NULL, &now, &err) : 0;

    *added += now;
    batch_empty(b);
    return rc ? cli_report(&err) : 0;
}

/* How often a row like this was there before in the same table: repeats are runs of their own. */
struct seen {
    uint64_t *hashes;
    size_t *counts;
    size_t room; /* a power of 2, more than the rows */
};

static int seen_init(struct seen *s, size_t rows)
{
    for (s->room = 16; s->room < 2 * rows;)
        s->room *= 2;
    s->hashes = calloc(s->room, sizeof(*s->hashes));
    s->counts = calloc(s->room, sizeof(*s->counts));
    return s->hashes && s->counts ? 0 : cli_complain("out of memory");
}

static void seen_release(struct seen *s)
{
    free(s->hashes);
    free(s->counts);
}

static size_t seen_before(struct seen *s, uint64_t sum)
{
    size_t at = (size_t)sum & (s->room - 1);

    while (s->counts[at] > 0 && s->hashes[at] != sum)
        at = (at + 1) & (s->room - 1);
    s->hashes[at] = sum;
    return s->counts[at]++;
}

/* A key of what the run says and how many like it came before, where it has none of its own. */
static void give_key(struct batch *b, struct hm_stored *run, struct seen *seen, const char *kind)
{
    uint64_t sum = hash_run(run);

    if (run->key)
        return;
    snprintf(b->keys[b->count], KEY, "%s-%016" PRIx64 "-%zu", kind, sum, seen_before(seen, sum));
    run->key = b->keys[b->count];
}

static int send_runs(struct hm_store *store, const struct hm_runs *runs, struct batch *b,
                     struct seen *seen, size_t *added)
{
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < runs->count; row++) {
        struct hm_stored *run = &b->runs[b->count];
        *run = (struct hm_stored)HM_STORED_INIT;
        take_row(runs, row, run);
        gather_more(runs, row, &b->more[b->count]);
        if (b->more[b->count].failed)
            return cli_complain("out of memory");
        run->more = b->more[b->count].data;
        give_key(b, run, seen, "run");
        b->count++;
        if (b->count == BATCH)
            rc = batch_send(b, store, added);
    }
    return rc ? rc : batch_send(b, store, added);
}

int cli_store_add_runs(struct hm_store *store, const struct hm_runs *runs, size_t *ret_added)
{
    struct batch *b = calloc(1, sizeof(*b));
    struct seen seen = {0};
    size_t added = 0;
    int rc = b ? seen_init(&seen, runs->count) : cli_complain("out of memory");

    if (rc == 0 && runs->relative)
        rc = cli_complain("%s tells speedups, and a store keeps seconds", runs->source);
    rc = rc ? rc : send_runs(store, runs, b, &seen, &added);
    if (b)
        batch_empty(b);
    free(b);
    seen_release(&seen);
    *ret_added = added;
    return rc;
}

/* ---- traces ------------------------------------------------------------------------------------
 */

static struct hm_stored_sample *samples_of(const struct hm_trace *t)
{
    struct hm_stored_sample *samples = calloc(t->count, sizeof(*samples));

    for (size_t p = 0; samples && p < t->count; p++)
        samples[p] =
            (struct hm_stored_sample){t->iteration[p], t->seconds[p], t->elapsed_s[p], t->loss[p]};
    return samples;
}

/* Of the samples too: two runs of one algorithm on one m differ in nothing else. */
static uint64_t hash_samples(const struct hm_stored *run)
{
    uint64_t sum = hash_run(run);
    char text[120];

    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        snprintf(text, sizeof(text), "%.17g %.17g %.17g", s->iteration, s->seconds, s->loss);
        sum = hash(sum, text);
    }
    return sum;
}

static int send_trace(struct hm_store *store, const struct hm_trace *t,
                      const struct hm_stored *like, struct seen *seen, size_t *added)
{
    struct hm_stored run = *like;
    struct hm_stored_sample *samples = samples_of(t);
    struct hm_err err = {0};
    char key[KEY];
    size_t now = 0;

    if (!samples)
        return cli_complain("out of memory");
    run.algorithm = *t->algorithm ? t->algorithm : NULL;
    run.n = t->m;
    run.seed = t->seed;
    run.best = t->best;
    run.status = t->diverged ? "diverged" : "ok";
    run.iterations = t->iteration[t->count - 1];
    run.total = t->elapsed_s[t->count - 1];
    run.seconds = run.total / run.iterations;
    run.loss = t->loss[t->count - 1];
    run.samples = samples;
    run.sample_count = t->count;
    uint64_t sum = hash_samples(&run);
    snprintf(key, sizeof(key), "trace-%016" PRIx64 "-%zu", sum, seen_before(seen, sum));
    run.key = key;
    int rc = hm_store_add(store, &run, 1, NULL, &now, &err);
    *added += now;
    free(samples);
    return rc ? cli_report(&err) : 0;
}

int cli_store_add_traces(struct hm_store *store, const struct hm_traces *traces,
                         const struct hm_stored *like, size_t *ret_added)
{
    static const struct hm_stored nothing = HM_STORED_INIT;
    struct seen seen = {0};
    size_t added = 0;
    int rc = seen_init(&seen, traces->count);

    for (size_t k = 0; rc == 0 && k < traces->count; k++)
        rc = send_trace(store, &traces->traces[k], like ? like : &nothing, &seen, &added);
    seen_release(&seen);
    *ret_added = added;
    return rc;
}
