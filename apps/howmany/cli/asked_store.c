/* Opening the store, and putting tables of runs and traces into it. */
#include "asked_store.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"
#include "format.h"
#include "guest.h"
#include "stored.h"
#include "text.h"

enum { BATCH = 1000, KEY = 201, KEY_GIVEN = 180 };

/* ---- where -------------------------------------------------------------------------------------
 */

bool cli_is_store(const char *record)
{
    return strncmp(record, "postgresql://", 13) == 0 || strncmp(record, "postgres://", 11) == 0 ||
           hm__text_ends(record, ".db") || hm__text_ends(record, ".sqlite") ||
           hm__text_ends(record, ".sqlite3");
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

const char *cli_store_find(const char *record, char path[CLI_STORE_ROOM])
{
    const char *named = record ? record : getenv("HOWMANY_DB");
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;

    if (named && *named)
        return named;
    if (data && data[0] == '/')
        length = snprintf(path, CLI_STORE_ROOM, "%s/howmany/howmany.db", data);
    else if (home && home[0] == '/')
        length = snprintf(path, CLI_STORE_ROOM, "%s/.local/share/howmany/howmany.db", home);
    if (length <= 0 || length >= CLI_STORE_ROOM) {
        cli_complain("where is the store? There is no home folder; name one with --record or "
                     "HOWMANY_DB");
        return NULL;
    }
    return make_folders(path) ? NULL : path;
}

/* Whether a guest has a store: that of its host. */
static int check_guest(struct cli_guest *guest, const char *record)
{
    struct hm_err err = {0};

    if (record)
        return cli_complain("a store is not named from outside");
    if (!guest->store) {
        hm__fail(&err, HM_E_UNSUPPORTED, "this server keeps no runs");
        hm__err_field(&err, "store");
        hm__err_hint(&err, "it is started without a store; give it --record");
        return cli_report(&err);
    }
    guest->stored = true;
    return 0;
}

static int lend(struct cli_guest *guest, const char *record, struct hm_store **ret_store)
{
    struct hm_err err = {0};
    int rc = check_guest(guest, record);

    if (rc == 0 && guest->store->lend(guest->store->context, ret_store, &err))
        rc = cli_report(&err);
    return rc;
}

int cli_store_open(const char *record, struct hm_store **ret_store)
{
    char path[CLI_STORE_ROOM];
    struct cli_guest *guest = cli_guest();
    struct hm_err err = {0};

    if (guest)
        return lend(guest, record, ret_store);
    const char *where = cli_store_find(record, path);
    if (!where)
        return EXIT_USAGE;
    return hm_store_open(where, ret_store, &err) ? cli_report(&err) : 0;
}

int cli_store_open_to_add(const char *record, struct hm_store **ret_store)
{
    struct cli_guest *guest = cli_guest();

    *ret_store = NULL; /* the host writes */
    return guest ? check_guest(guest, record) : cli_store_open(record, ret_store);
}

void cli_store_close(struct hm_store *store)
{
    struct cli_guest *guest = cli_guest();

    if (guest && store)
        guest->store->take_back(guest->store->context, store, guest->err.code == HM_E_IO);
    else
        hm_store_close(store);
}

static int keep(struct hm_store *store, struct hm_store_batch *batch, struct hm_err *err)
{
    struct cli_guest *guest = cli_guest();

    return guest ? guest->store->keep(guest->store->context, batch, err)
                 : hm_store_add_batches(store, batch, 1, err);
}

/* ---- rows of a table ---------------------------------------------------------------------------
 */

/* The column of a run that a table calls so; what bench calls started is when it was made. */
static const struct hm_store_column *find_column(const char *name)
{
    return hm__store_column_find(strcmp(name, "started") == 0 ? "made_at" : name);
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
        hm__text_add(more, more->length ? "," : "{");
        hm__json_text(more, column->name);
        hm__text_add(more, ":");
        if (column->values)
            hm__json_number(more, column->values[row]);
        else
            hm__json_text(more, column->labels[row]);
    }
    if (more->length)
        hm__text_add(more, "}");
}

static void take_row(const struct hm_runs *runs, size_t row, struct hm_stored *run)
{
    for (size_t c = 0; c < runs->column_count; c++) {
        const struct hm_column *column = &runs->columns[c];
        const struct hm_store_column *own = find_column(column->name);
        if (own && own->kind == HM_STORE_TEXT && column->labels)
            *hm__stored_text(own, run) = column->labels[row];
        else if (own && own->kind == HM_STORE_NUMBER && column->values)
            *hm__stored_number(own, run) = column->values[row];
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
        const struct hm_store_column *c = &hm__store_columns[k];
        const char *text = number;
        if (c->kind == HM_STORE_TEXT)
            text = hm__stored_get_text(c, run);
        else
            snprintf(number, sizeof(number), "%.17g", hm__stored_get_number(c, run));
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
        hm__text_release(&b->more[k]);
    memset(b->more, 0, sizeof(b->more));
    b->count = 0;
}

/* Add runs, and say what came of it. */
static int send(struct hm_store *store, const struct hm_stored *runs, size_t count,
                struct cli_added *added)
{
    int64_t ids[BATCH];
    struct hm_store_batch batch = {.runs = runs, .count = count, .ids = ids};
    struct hm_err err = {0};

    if (count == 0)
        return 0;
    if (keep(store, &batch, &err))
        return cli_report(&err);
    added->count += batch.added;
    for (size_t k = 0; k < count; k++)
        hm__text_addf(&added->ids, "%s%" PRId64, added->ids.length ? "," : "", ids[k]);
    return added->ids.failed ? cli_complain("out of memory") : 0;
}

void cli_added_release(struct cli_added *added)
{
    hm__text_release(&added->ids);
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

/* A key that was given and its number; or one of what the run says and how many like it came
 * before. */
static void write_key(char text[KEY], const char *given, size_t number, const char *kind,
                      uint64_t sum, struct seen *seen)
{
    if (given)
        snprintf(text, KEY, "%s-%zu", given, number);
    else
        snprintf(text, KEY, "%s-%016" PRIx64 "-%zu", kind, sum, seen_before(seen, sum));
}

/* Number and a hyphen have to fit behind it. */
static int check_key(const char *key)
{
    if (key && (*key == '\0' || strlen(key) > KEY_GIVEN))
        return cli_complain("the key is empty or longer than %d bytes", KEY_GIVEN);
    return 0;
}

/* Rows of a table on their way into the store. */
struct sending {
    const struct hm_runs *runs;
    struct batch *batch;
    struct seen seen;
    const char *key;
};

/* Put a row at the end of the batch; its own key counts first. */
static int fill_in(struct sending *s, size_t row)
{
    struct batch *b = s->batch;
    struct hm_stored *run = &b->runs[b->count];
    struct hm_text *more = &b->more[b->count];

    *run = (struct hm_stored)HM_STORED_INIT;
    take_row(s->runs, row, run);
    gather_more(s->runs, row, more);
    run->more = more->data;
    if (!run->key) {
        write_key(b->keys[b->count], s->key, row + 1, "run", hash_run(run), &s->seen);
        run->key = b->keys[b->count];
    }
    b->count++;
    return more->failed ? cli_complain("out of memory") : 0;
}

/* What cannot be kept is found before anything is. */
static int check_rows(struct sending *s)
{
    struct hm_err err = {0};
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < s->runs->count; row++) {
        rc = fill_in(s, row);
        if (rc == 0 && hm_stored_check(&s->batch->runs[0], &err)) {
            struct hm_err told = {0};
            hm__fail(&told, err.code, "run %zu: %.300s", row + 1, err.message);
            hm__err_field(&told, err.field);
            hm__err_at(&told, s->runs->source, 0);
            hm__err_hint(&told, err.hint[0] ? "%s" : "no run of the table was added", err.hint);
            rc = cli_report(&told);
        }
        batch_empty(s->batch);
    }
    memset(s->seen.counts, 0, s->seen.room * sizeof(*s->seen.counts));
    return rc;
}

static int send_rows(struct hm_store *store, struct sending *s, struct cli_added *added)
{
    struct batch *b = s->batch;
    int rc = 0;

    for (size_t row = 0; rc == 0 && row < s->runs->count; row++) {
        rc = fill_in(s, row);
        if (rc == 0 && (b->count == BATCH || row + 1 == s->runs->count)) {
            rc = send(store, b->runs, b->count, added);
            batch_empty(b);
        }
    }
    batch_empty(b);
    return rc;
}

int cli_store_add_runs(struct hm_store *store, const struct hm_runs *runs, const char *key,
                       struct cli_added *added)
{
    struct sending s = {.runs = runs, .batch = calloc(1, sizeof(*s.batch)), .key = key};
    int rc = s.batch ? seen_init(&s.seen, runs->count) : cli_complain("out of memory");

    rc = rc ? rc : check_key(key);
    if (rc == 0 && runs->relative)
        rc = cli_complain("%s tells speedups, and a store keeps seconds", runs->source);
    rc = rc ? rc : check_rows(&s);
    rc = rc ? rc : send_rows(store, &s, added);
    free(s.batch);
    seen_release(&s.seen);
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

/* How stale a trace is has no column of its own: as `more`, beside what stands there. */
static void add_staleness(struct hm_text *more, const char *like, double staleness)
{
    size_t length = like ? strlen(like) : 0;

    hm__text_add_n(more, like ? like : "{", length ? length - 1 : 1); /* without its brace */
    hm__text_add(more, length > 2 ? "," : "");
    if (isinf(staleness))
        hm__text_add(more, "\"consistency\":\"async\"");
    else {
        hm__text_add(more, "\"consistency\":\"ssp\",\"staleness\":");
        hm__json_number(more, staleness);
    }
    hm__text_add(more, "}");
}

/* The k-th of the traces. */
static int send_trace(struct hm_store *store, const struct hm_traces *traces, size_t k,
                      const char *given, const struct hm_stored *like, struct seen *seen,
                      struct cli_added *added)
{
    const struct hm_trace *t = &traces->traces[k];
    struct hm_stored run = *like;
    struct hm_stored_sample *samples = samples_of(t);
    struct hm_text more = {0};
    char key[KEY];

    if (t->staleness > 0)
        add_staleness(&more, like->more, t->staleness);
    if (!samples || more.failed) {
        hm__text_release(&more);
        free(samples);
        return cli_complain("out of memory");
    }
    run.more = more.data ? more.data : like->more;
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
    write_key(key, given, k + 1, "trace", hash_samples(&run), seen);
    run.key = key;
    int rc = send(store, &run, 1, added);
    free(samples);
    hm__text_release(&more);
    return rc;
}

int cli_store_add_traces(struct hm_store *store, const struct hm_traces *traces, const char *key,
                         const struct hm_stored *like, struct cli_added *added)
{
    static const struct hm_stored nothing = HM_STORED_INIT;
    struct seen seen = {0};
    int rc = seen_init(&seen, traces->count);

    rc = rc ? rc : check_key(key);
    for (size_t k = 0; rc == 0 && k < traces->count; k++)
        rc = send_trace(store, traces, k, key, like ? like : &nothing, &seen, added);
    seen_release(&seen);
    return rc;
}
