/*
 * Adding runs: one transaction for all of them. A key that is there already is no error: whoever
 * did not hear that a run was kept can send it again.
 */
#include <string.h>

#include "check.h"
#include "err.h"
#include "memory.h"
#include "store.h"
#include "stored.h"
#include "text.h"

enum { CELLS = HM_STORE_COLUMNS - 1 + 1, SAMPLE_CELLS = 6, AT_ONCE = 64 };

struct adding {
    struct hm_store *store;
    struct hm_text insert;  /* a run */
    struct hm_text samples; /* AT_ONCE of them */
    char now[HM_STORE_TIME];
    size_t added;
};

/* "INSERT INTO runs (…) VALUES ($1, …)": all columns but id, and sample_count. */
static void write_insert(struct hm_text *sql)
{
    hm_text_add(sql, "INSERT INTO runs (");
    for (size_t i = 1; i < HM_STORE_COLUMNS; i++)
        hm_text_addf(sql, "\"%s\", ", hm_store_columns[i].name);
    hm_text_add(sql, "sample_count) VALUES (");
    for (size_t i = 1; i <= CELLS; i++)
        hm_text_addf(sql, "%s$%zu", i > 1 ? ", " : "", i);
    hm_text_add(sql, ") ON CONFLICT (\"key\") DO NOTHING RETURNING id");
}

static void write_samples(struct hm_text *sql, size_t count)
{
    hm_text_add(sql, "INSERT INTO samples (run_id, position, iteration, seconds, elapsed_s, loss) "
                     "VALUES ");
    for (size_t i = 0; i < count; i++) {
        hm_text_add(sql, i ? ", (" : "(");
        for (size_t k = 1; k <= SAMPLE_CELLS; k++)
            hm_text_addf(sql, "%s$%zu", k > 1 ? ", " : "", i * SAMPLE_CELLS + k);
        hm_text_add(sql, ")");
    }
}

static int add_some(struct adding *a, const char *sql, int64_t id, const struct hm_stored *run,
                    size_t from, size_t count, struct hm_err *err)
{
    struct hm_sql_value cells[AT_ONCE * SAMPLE_CELLS];

    for (size_t i = 0; i < count; i++) {
        const struct hm_stored_sample *s = &run->samples[from + i];
        struct hm_sql_value *c = &cells[i * SAMPLE_CELLS];
        c[0] = hm_sql_integer(id);
        c[1] = hm_sql_integer((int64_t)(from + i));
        c[2] = hm_sql_real(s->iteration);
        c[3] = hm_sql_real(s->seconds);
        c[4] = hm_sql_real(s->elapsed_s);
        c[5] = hm_sql_real(s->loss);
    }
    return hm_store_query(a->store, sql, cells, count * SAMPLE_CELLS, NULL, NULL, NULL, err);
}

static int add_samples(struct adding *a, int64_t id, const struct hm_stored *run,
                       struct hm_err *err)
{
    size_t at = 0;
    int rc = 0;

    if (run->sample_count >= AT_ONCE && !a->samples.data)
        write_samples(&a->samples, AT_ONCE);
    if (a->samples.failed)
        return hm_fail_nomem(err);
    for (; rc == 0 && run->sample_count - at >= AT_ONCE; at += AT_ONCE)
        rc = add_some(a, a->samples.data, id, run, at, AT_ONCE, err);
    if (rc == 0 && at < run->sample_count) {
        struct hm_text rest = {0};
        write_samples(&rest, run->sample_count - at);
        rc = rest.failed ? hm_fail_nomem(err)
                         : add_some(a, rest.data, id, run, at, run->sample_count - at, err);
        hm_text_release(&rest);
    }
    return rc;
}

static int add_run(struct adding *a, const struct hm_stored *run, int64_t *ret_id,
                   struct hm_err *err)
{
    struct hm_sql_value cells[CELLS], key = hm_sql_text(run->key);
    int64_t id = 0;

    for (size_t i = 1; i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm_store_columns[i];
        const char *text = c->kind == HM_STORE_TEXT ? hm_stored_get_text(c, run) : NULL;
        if (!text && c->offset == offsetof(struct hm_stored, made_at))
            text = a->now;
        if (!text && c->offset == offsetof(struct hm_stored, status))
            text = "ok";
        cells[i - 1] = c->kind == HM_STORE_TEXT ? hm_sql_text(text)
                                                : hm_sql_real(hm_stored_get_number(c, run));
    }
    cells[CELLS - 1] = hm_sql_integer((int64_t)run->sample_count);
    int rc = hm_store_number(a->store, a->insert.data, cells, CELLS, &id, err);
    if (rc == 0 && id > 0) {
        a->added++;
        rc = run->sample_count ? add_samples(a, id, run, err) : 0;
    } else if (rc == 0) {
        rc = hm_store_number(a->store, "SELECT id FROM runs WHERE \"key\" = $1", &key, 1, &id, err);
    }
    *ret_id = id;
    return rc;
}

static int check_all(const struct hm_stored *runs, size_t count, struct hm_err *err)
{
    for (size_t i = 0; i < count; i++) {
        int rc = hm_stored_check(&runs[i], err);
        if (rc) {
            hm_err_at(err, "runs", (int)i + 1);
            return rc;
        }
    }
    return 0;
}

static int add_all(struct adding *a, const struct hm_stored *runs, size_t count, int64_t *ids,
                   struct hm_err *err)
{
    write_insert(&a->insert);
    hm_store_now(a->now);
    if (a->insert.failed)
        return hm_fail_nomem(err);
    int rc = hm_store_exec(a->store, a->store->sql->begin_write, err);
    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = add_run(a, &runs[i], &ids[i], err);
    return hm_store_end(a->store, rc, err);
}

int hm_store_add(struct hm_store *store, const struct hm_stored *runs, size_t count,
                 int64_t *ret_ids, size_t *ret_added, struct hm_err *err)
{
    struct adding a = {.store = store};
    int64_t *ids = NULL;
    int rc = check_all(runs, count, err);

    if (rc == 0 && !(ids = hm__calloc(count + 1, sizeof(*ids))))
        rc = hm_fail_nomem(err);
    if (rc == 0 && count > 0)
        rc = add_all(&a, runs, count, ids, err);
    if (rc == 0 && ret_ids && count > 0)
        memcpy(ret_ids, ids, count * sizeof(*ids));
    if (rc == 0 && ret_added)
        *ret_added = a.added;
    hm_text_release(&a.insert);
    hm_text_release(&a.samples);
    hm__free(ids);
    return rc;
}
