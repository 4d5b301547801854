/* Adds traces to a store, each as a run with samples. */
#include <math.h>
#include <string.h>

#include "err.h"
#include "json.h"
#include "memory.h"
#include "stored.h"
#include "table_add.h"
#include "table_keys.h"
#include "table_send.h"

static struct hm_stored_sample *samples_new(const struct hm_trace *t)
{
    struct hm_stored_sample *samples = hm__calloc(t->count, sizeof(*samples));

    for (size_t p = 0; samples && p < t->count; p++)
        samples[p] =
            (struct hm_stored_sample){t->iteration[p], t->seconds[p], t->elapsed_s[p], t->loss[p]};
    return samples;
}

/*
 * Returns whether a trace has values that are stored in the JSON object `more` of a run, because
 * the store has no columns for them.
 */
static bool trace_has_more(const struct hm_trace *t)
{
    return t->staleness > 0 || t->backups > 0 || t->rows > 0;
}

/*
 * Writes a JSON object with the members of the object `like` and the staleness, backups and rows of
 * a trace.
 */
static void add_trace_members(struct hm_text *more, const char *like, const struct hm_trace *t)
{
    struct hm_text members = {0};
    struct hm_json json = {.out = &members};
    size_t length = like ? strlen(like) : 0;

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    if (t->staleness > 0)
        hm__json_put_text(&json, "consistency", isinf(t->staleness) ? "async" : "ssp");
    if (t->staleness > 0 && !isinf(t->staleness))
        hm__json_put_number(&json, "staleness", t->staleness);
    if (t->backups > 0)
        hm__json_put_number(&json, "backups", t->backups);
    if (t->rows > 0)
        hm__json_put_number(&json, "rows", t->rows);
    hm__json_close(&json);
    /* Join both JSON objects: remove the } of the first and the { of the second. */
    if (length > 2) {
        hm__text_add_n(more, like, length - 1);
        hm__text_add(more, ",");
    }
    if (members.data)
        hm__text_add(more, members.data + (length > 2 ? 1 : 0));
    more->failed = more->failed || members.failed;
    hm__text_release(&members);
}

/* A trace as a run of the store, and the memory to which the run points. */
struct trace_run {
    struct hm_stored run;
    struct hm_stored_sample *samples;
    struct hm_text more;
    char key[HM_KEY_BYTES];
};

/* The traces that are added, and the properties that their runs have in common. */
struct trace_batch {
    const struct hm_traces *traces;
    const char *key;
    const struct hm_stored *like;
    struct hm_seen_hashes seen;
    struct trace_run *made; /* Memory of the runs; `count` of them are in use. */
    struct hm_stored *runs;
    size_t count, room;
};

/* Makes the run of a trace, without a key. */
static int make_trace_run(const struct trace_batch *b, size_t number, struct trace_run *to,
                          struct hm_err *err)
{
    const struct hm_trace *t = &b->traces->traces[number];

    *to = (struct trace_run){.run = *b->like, .samples = samples_new(t)};
    if (trace_has_more(t))
        add_trace_members(&to->more, b->like->more, t);
    if (!to->samples || to->more.failed)
        return hm__fail_nomem(err);
    struct hm_stored *run = &to->run;
    run->more = to->more.data ? to->more.data : b->like->more;
    run->algorithm = *t->algorithm ? t->algorithm : NULL;
    run->n = t->m;
    run->seed = t->seed;
    run->best = t->best;
    run->status = t->diverged ? "diverged" : "ok";
    run->iterations = t->iteration[t->count - 1];
    run->total = t->elapsed_s[t->count - 1];
    run->seconds = run->total / run->iterations;
    run->loss = t->loss[t->count - 1];
    run->samples = to->samples;
    run->sample_count = t->count;
    return 0;
}

static void trace_run_release(struct trace_run *r)
{
    hm__free(r->samples);
    hm__text_release(&r->more);
}

static void traces_empty(struct trace_batch *b)
{
    while (b->count > 0)
        trace_run_release(&b->made[--b->count]);
}

/* Checks all traces before any of them is stored. */
static int check_traces(const struct trace_batch *b, struct hm_err *err)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < b->traces->count; k++) {
        const struct hm_trace *t = &b->traces->traces[k];
        struct hm_err why = {0};
        struct trace_run one;
        rc = make_trace_run(b, k, &one, &why);
        if (rc == 0)
            rc = hm_stored_check(&one.run, &why);
        trace_run_release(&one);
        if (rc == 0)
            continue;
        hm__fail(err, rc, "trace %zu: %.300s", k + 1, why.message);
        hm__err_field(err, why.field);
        hm__err_at(err, t->source ? t->source : "traces", t->line);
        hm__err_hint(err, "%s", why.hint[0] ? why.hint : "no trace of the table was added");
    }
    return rc;
}

static int send_traces(const struct hm_run_sink *sink, struct trace_batch *b,
                       struct hm_added *added, struct hm_err *err)
{
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < b->traces->count; k++) {
        struct trace_run *made = &b->made[b->count];
        rc = make_trace_run(b, k, made, err);
        b->count++;
        if (rc)
            break;
        hm__key_write(made->key, b->key, k + 1, "trace", hm__key_hash(&made->run), &b->seen);
        made->run.key = made->key;
        b->runs[b->count - 1] = made->run;
        if (b->count < b->room && k + 1 < b->traces->count)
            continue;
        const struct hm_store_batch batch = {
            .runs = b->runs, .count = b->count, .more = k + 1 < b->traces->count, .checked = true};
        rc = hm__table_send(sink, batch, added, err);
        traces_empty(b);
    }
    traces_empty(b);
    return rc;
}

int hm__table_add_traces(const struct hm_run_sink *sink, const struct hm_traces *traces,
                         const char *key, const struct hm_stored *like, struct hm_added *added,
                         struct hm_err *err)
{
    static const struct hm_stored nothing = HM_STORED_INIT;
    struct trace_batch b = {.traces = traces, .key = key, .like = like ? like : &nothing};
    int rc = hm__key_check(key, err);

    b.room = traces->count < HM_BATCH_RUNS ? traces->count + 1 : HM_BATCH_RUNS;
    b.made = rc ? NULL : hm__calloc(b.room, sizeof(*b.made));
    b.runs = rc ? NULL : hm__calloc(b.room, sizeof(*b.runs));
    if (rc == 0)
        rc = b.made && b.runs ? hm__seen_init(&b.seen, traces->count, err) : hm__fail_nomem(err);
    if (rc == 0)
        rc = check_traces(&b, err);
    struct hm_whole_sink whole;
    if (rc == 0)
        rc = hm__whole_begin(&whole, sink, traces->count, added, err);
    if (rc == 0)
        rc = hm__whole_end(&whole, send_traces(&whole.sink, &b, added, err), added, err);
    hm__seen_release(&b.seen);
    hm__free(b.made);
    hm__free(b.runs);
    return rc;
}
