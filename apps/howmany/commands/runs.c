/*
 * howmany runs: the store of runs from the command line: list, show, add, import, export, delete.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_job.h"
#include "asked_runs.h"
#include "asked_store.h"
#include "format.h"
#include "guest.h"
#include "runs_documents.h"
#include "stored_render.h"

enum { WORDS = 64, PAGE = 20, EXPORT_PAGE = 5000 };

struct runs_state {
    const char *words[WORDS]; /* the first says what to do */
    size_t word_count;
    const char *where[CLI_LIST_MAX];
    const char *record, *key, *output;
    struct hm_store_filter filter;
    double limit;
    bool json, csv, traces, yes;
    struct hm_store *store;
};

enum option {
    RECORD,
    WHERE,
    SINCE,
    UNTIL,
    SORT,
    LIMIT,
    AFTER,
    KEY,
    OUTPUT,
    TRACES,
    YES,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [RECORD] = {"record", 'r', "STORE",
                "a file (.db), or postgresql://… (default: HOWMANY_DB, else your own)", "@file"},
    [WHERE] = {"where", 'w', "COLUMN=VALUE",
               "only runs that have this; also !=, <, <=, >, >=, such as n>=4 or latency<20ms",
               NULL},
    [SINCE] = {"since", 0, "TIME", "made at or after, such as 2026-11-15", NULL},
    [UNTIL] = {"until", 0, "TIME", "made at or before", NULL},
    [SORT] = {"sort", 's', "COLUMN", "list by it; -COLUMN: largest first (default: newest first)",
              NULL},
    [LIMIT] = {"limit", 0, "K", "list: so many (default 20)", NULL},
    [AFTER] = {"after", 0, "CURSOR", "list: go on where the page before ended", NULL},
    [KEY] = {"key", 0, "TEXT", "add, import: what has this key already is not added again", NULL},
    [OUTPUT] = {"output", 'o', "FILE", "export: .csv or .jsonl (default: CSV on standard output)",
                "@file"},
    [TRACES] = {"traces", 0, NULL,
                "export: the samples, as JSON lines or (--csv) a table that `converge` reads",
                NULL},
    [YES] = {"yes", 'y', NULL, "delete: all that match, without an id", NULL},
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "as comma-separated values", NULL},
};

static void *begin(void)
{
    struct runs_state *s = calloc(1, sizeof(*s));

    if (s)
        s->limit = PAGE;
    return s;
}

static void end(void *state)
{
    struct runs_state *s = state;

    cli_store_close(s->store);
    free(s);
}

static int accept_filter(struct runs_state *s, int option, const char *value)
{
    struct hm_store_filter *f = &s->filter;

    switch ((enum option)option) {
    case WHERE:
        f->where = s->where;
        return cli_where_add(s->where, &f->where_count, value);
    case SINCE:
        f->since = value;
        return 0;
    case UNTIL:
        f->until = value;
        return 0;
    case SORT:
        f->sort = value;
        return 0;
    case LIMIT:
        return cli_whole("limit", value, 1, cli_guest() ? CLI_GUEST_PAGE : 1e6, &s->limit);
    default:
        f->after = value;
        return 0;
    }
}

static int accept(void *state, int option, const char *value)
{
    struct runs_state *s = state;

    switch (option) {
    case -1:
        if (s->word_count == WORDS)
            return cli_complain("runs: too many words at '%s'", value);
        s->words[s->word_count++] = value;
        return 0;
    case RECORD:
        s->record = value;
        return 0;
    case KEY:
        s->key = value;
        return 0;
    case OUTPUT:
        s->output = value;
        return 0;
    case TRACES:
    case YES:
    case JSON:
    case CSV:
        *(option == TRACES ? &s->traces
          : option == YES  ? &s->yes
          : option == JSON ? &s->json
                           : &s->csv) = true;
        return s->json && s->csv ? cli_complain("runs: --json and --csv do not go together") : 0;
    default:
        return accept_filter(s, option, value);
    }
}

/* ---- list and show -----------------------------------------------------------------------------
 */

static void json_page(struct hm_text *out, const struct hm_store_page *page)
{
    hm__text_add(out, "{\"runs\":[");
    for (size_t k = 0; k < page->count; k++) {
        hm__text_add(out, k ? ",\n" : "\n");
        hm__render_stored_json(out, &page->runs[k]);
    }
    hm__text_add(out, "],\n\"next\":");
    hm__json_text(out, page->next);
    hm__text_add(out, "}\n");
}

static int list(struct runs_state *s)
{
    struct hm_style style = cli_style();
    struct hm_store_page *page;
    struct hm_text out = {0};
    struct hm_err err = {0};

    s->filter.limit = (size_t)s->limit;
    if (hm_store_list(s->store, &s->filter, &page, &err))
        return cli_report(&err);
    if (s->json)
        json_page(&out, page);
    else if (s->csv)
        hm__render_stored_csv(&out, page->runs, page->count);
    else if (page->count == 0)
        hm__text_add(&out, "no runs\n");
    else
        hm__render_stored_table(&out, page->runs, page->count, &style);
    if (!s->json && !s->csv && page->next)
        hm__text_addf(&out, "more: --after %s\n", page->next);
    hm_store_page_free(page);
    return cli_put_text(&out);
}

/* The one run of an id. */
static int find_run(struct runs_state *s, const char *id, struct hm_store_page **ret_page)
{
    char condition[64];
    const char *where[] = {condition};
    struct hm_store_filter filter = {.where = where, .where_count = 1, .limit = 1, .samples = true};
    struct hm_err err = {0};
    double number;

    if (cli_whole("id", id, 1, 9e15, &number))
        return EXIT_USAGE;
    snprintf(condition, sizeof(condition), "id=%.0f", number);
    if (hm_store_list(s->store, &filter, ret_page, &err))
        return cli_report(&err);
    if ((*ret_page)->count == 1)
        return 0;
    hm_store_page_free(*ret_page);
    return cli_complain("runs: there is no run %s", id);
}

static int show(struct runs_state *s)
{
    struct hm_text out = {0};

    if (s->word_count < 2)
        return cli_complain("runs show: which? Give an id; `howmany runs list` has them");
    for (size_t k = 1; k < s->word_count; k++) {
        struct hm_store_page *page;
        int rc = find_run(s, s->words[k], &page);
        if (rc) {
            hm__text_release(&out);
            return rc;
        }
        if (s->json)
            hm__render_stored_json(&out, &page->runs[0]);
        else
            hm__render_stored(&out, &page->runs[0]);
        hm__text_add(&out, s->json || k + 1 < s->word_count ? "\n" : "");
        hm_store_page_free(page);
    }
    return cli_put_text(&out);
}

/* ---- add and import ----------------------------------------------------------------------------
 */

/* {"runs": 3, "traces": 0, "added": 2, "ids": [7, 8, 5]} */
static int tell_added(const struct cli_added *added, size_t runs, size_t traces)
{
    struct hm_text out = {0};

    hm__text_addf(&out, "{\"runs\":%zu,\"traces\":%zu,\"added\":%zu,\"ids\":[", runs, traces,
                  added->count);
    if (added->ids.length)
        hm__text_add_n(&out, added->ids.data, added->ids.length);
    hm__text_add(&out, "]}\n");
    return cli_put_text(&out);
}

/* Words NAME=VALUE as a table of one row, so that names and units mean what they mean in tables. */
static int add_words(struct runs_state *s, struct hm_text *names, struct hm_text *values)
{
    for (size_t k = 1; k < s->word_count; k++) {
        const char *equal = strchr(s->words[k], '=');
        if (!equal || equal == s->words[k])
            return cli_complain("runs add: '%s' is not NAME=VALUE", s->words[k]);
        char *name = strndup(s->words[k], (size_t)(equal - s->words[k]));
        hm__text_add(names, k > 1 ? "," : "");
        hm__text_add(values, k > 1 ? "," : "");
        hm__csv_text(names, name ? name : "");
        hm__csv_text(values, equal + 1);
        free(name);
    }
    return 0;
}

static int add(struct runs_state *s)
{
    struct hm_text names = {0}, values = {0};
    struct hm_err err = {0};
    struct hm_runs *runs = NULL;
    struct cli_added added = {0};

    if (s->word_count < 2)
        return cli_complain("runs add: what? Give NAME=VALUE, such as n=4 batch=64 seconds=1.5");
    int rc = add_words(s, &names, &values);
    if (s->key) {
        hm__text_add(&names, ",key");
        hm__text_add(&values, ",");
        hm__csv_text(&values, s->key);
    }
    hm__text_add(&names, "\n");
    hm__text_add(&names, values.data ? values.data : "");
    hm__text_add(&names, "\n");
    if (rc == 0 && (names.failed || values.failed))
        rc = cli_complain("out of memory");
    if (rc == 0 && hm_runs_parse(names.data, names.length, "runs add", &runs, &err))
        rc = cli_report(&err);
    rc = rc ? rc : cli_store_add_runs(s->store, runs, NULL, &added);
    if (rc == 0 && s->json)
        rc = tell_added(&added, 1, 0);
    else if (rc == 0)
        rc = cli_put(added.count ? "added\n" : "it is there already\n") ? 0 : EXIT_USAGE;
    cli_added_release(&added);
    hm_runs_free(runs);
    hm__text_release(&names);
    hm__text_release(&values);
    return rc;
}

/* What an import has done so far. */
struct importing {
    struct cli_added added;
    size_t runs, traces;
};

/* A key belongs to a whole table; of several the second would be taken for the first. */
static int import_table(struct runs_state *s, struct importing *done, const char *file,
                        const struct hm_runs *runs, const struct hm_traces *traces)
{
    size_t before = done->added.count, count = traces ? traces->count : runs->count;
    struct hm_text line = {0};
    int rc = traces ? cli_store_add_traces(s->store, traces, s->key, NULL, &done->added)
                    : cli_store_add_runs(s->store, runs, s->key, &done->added);

    *(traces ? &done->traces : &done->runs) += count;
    if (rc || s->json)
        return rc;
    hm__text_addf(&line, "%s: %zu %s, %zu new\n", file, count, traces ? "traces" : "runs",
                  done->added.count - before);
    return cli_put_text(&line);
}

/* Tables with iterations are traces, others runs. */
static int import_file(struct runs_state *s, struct importing *done, const char *file)
{
    struct hm_err err = {0}, other = {0};
    struct hm_traces *traces = NULL;
    struct hm_runs *runs = NULL;
    int rc = 0;

    if (cli_open_traces(&file, 1, NULL, &traces, &other) && cli_open_runs(file, &runs, &err))
        rc = cli_report(&err);
    rc = rc ? rc : import_table(s, done, file, runs, traces);
    hm_traces_free(traces);
    hm_runs_free(runs);
    return rc;
}

static int import(struct runs_state *s)
{
    struct importing done = {0};
    int rc = 0;

    if (s->word_count < 2)
        return cli_complain(
            "runs import: which file? A table of runs or traces, CSV or JSON lines");
    if (s->key && s->word_count > 2)
        return cli_complain("runs import: --key goes with one table");
    for (size_t k = 1; rc == 0 && k < s->word_count; k++)
        rc = import_file(s, &done, s->words[k]);
    if (rc == 0 && s->json)
        rc = tell_added(&done.added, done.runs, done.traces);
    cli_added_release(&done.added);
    return rc;
}

/* ---- export ------------------------------------------------------------------------------------
 */

/* Its text in JSON lines or a table; "" for a fresh run. */
static const char *staleness_of(const struct hm_stored *run, char text[40], struct hm_text *out)
{
    double staleness = 0;

    text[0] = '\0';
    out->failed = out->failed || hm_stored_staleness(run, &staleness, NULL) != 0;
    if (staleness > 0)
        snprintf(text, 40, "%.15g", staleness);
    if (isinf(staleness))
        snprintf(text, 40, "async");
    return text;
}

/* A trace as `howmany train --json` writes one: a head, its points, a summary. */
static void add_trace(struct hm_text *out, const struct hm_stored *run)
{
    char staleness[40];

    if (run->sample_count == 0)
        return;
    hm__text_add(out, "{\"run\":\"stored\"");
    if (run->algorithm)
        hm__json_named(out, "algorithm", run->algorithm);
    hm__json_field(out, "n", run->n);
    if (isfinite(run->seed))
        hm__json_field(out, "seed", run->seed);
    if (isfinite(run->best))
        hm__json_field(out, "best", run->best);
    if (*staleness_of(run, staleness, out))
        hm__json_named(out, "staleness", staleness);
    hm__text_add(out, "}\n");
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__text_add(out, "{\"iteration\":");
        hm__json_number(out, s->iteration);
        if (isfinite(s->seconds))
            hm__json_field(out, "seconds", s->seconds);
        if (isfinite(s->elapsed_s))
            hm__json_field(out, "elapsed_s", s->elapsed_s);
        hm__json_field(out, "objective", s->loss);
        hm__text_add(out, "}\n");
    }
    hm__text_add(out, "{\"summary\":true}\n");
}

static void cell(struct hm_text *out, double value)
{
    hm__text_add(out, ",");
    if (isfinite(value))
        hm__json_number(out, value);
}

/* The same as rows of a table, whose header is `trace_header`. */
static const char trace_header[] =
    "run,algorithm,m,seed,iteration,seconds,elapsed_s,objective,best,staleness\n";

static void add_trace_rows(struct hm_text *out, const struct hm_stored *run)
{
    char staleness[40];

    staleness_of(run, staleness, out);
    for (size_t p = 0; p < run->sample_count; p++) {
        const struct hm_stored_sample *s = &run->samples[p];
        hm__text_addf(out, "%lld,", (long long)run->id);
        hm__csv_text(out, run->algorithm ? run->algorithm : "");
        const double cells[] = {run->n,       run->seed, s->iteration, s->seconds,
                                s->elapsed_s, s->loss,   run->best};
        for (size_t k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
            cell(out, cells[k]);
        hm__text_addf(out, ",%s\n", staleness);
    }
}

/* Into a file, or to whoever asks (NULL). */
static int write_out(FILE *file, struct hm_text *out)
{
    if (!file)
        return cli_put_text(out);
    int rc = out->failed ? cli_complain("out of memory")
             : out->length && fputs(out->data, file) < 0
                 ? cli_complain("runs export: cannot write: %s", strerror(errno))
                 : 0;
    hm__text_release(out);
    return rc;
}

static void add_exported(struct runs_state *s, struct hm_text *out, const struct hm_stored *run)
{
    if (s->traces && s->csv) {
        add_trace_rows(out, run);
    } else if (s->traces) {
        add_trace(out, run);
    } else {
        hm__render_stored_json(out, run);
        hm__text_add(out, "\n");
    }
}

/* Lines can be written page by page; a CSV of runs has its header from all of them. */
static int export_lines(struct runs_state *s, FILE *file)
{
    struct hm_store_page *page = NULL;
    struct hm_err err = {0};
    int rc = 0;

    s->filter.limit = EXPORT_PAGE;
    s->filter.samples = s->traces;
    do {
        struct hm_text out = {0};
        if (s->traces && s->csv && !page)
            hm__text_add(&out, trace_header);
        char *after = page ? strdup(page->next) : NULL;
        hm_store_page_free(page);
        page = NULL;
        s->filter.after = after;
        rc = hm_store_list(s->store, &s->filter, &page, &err) ? cli_report(&err) : 0;
        for (size_t k = 0; rc == 0 && k < page->count; k++)
            add_exported(s, &out, &page->runs[k]);
        if (rc == 0)
            rc = write_out(file, &out);
        hm__text_release(&out);
        free(after);
    } while (rc == 0 && page->next);
    hm_store_page_free(page);
    return rc;
}

static int export_csv(struct runs_state *s, FILE *file)
{
    struct hm_store_page *page;
    struct hm_text out = {0};
    struct hm_err err = {0};

    s->filter.limit = 0;
    if (hm_store_list(s->store, &s->filter, &page, &err))
        return cli_report(&err);
    hm__render_stored_csv(&out, page->runs, page->count);
    hm_store_page_free(page);
    return write_out(file, &out);
}

static int export(struct runs_state *s)
{
    const char *name = s->output ? s->output : s->word_count > 1 ? s->words[1] : NULL;
    if (!s->filter.sort)
        s->filter.sort = "id"; /* as they came */
    s->csv = s->csv || (s->traces && name && hm__text_ends(name, ".csv"));
    bool lines = s->traces || s->json || (name && hm__text_ends(name, ".jsonl"));

    if (name && !lines && !hm__text_ends(name, ".csv"))
        return cli_complain("runs export: '%s' must end in .csv or .jsonl", name);
    FILE *file = name ? fopen(name, "w") : NULL;
    if (name && !file)
        return cli_complain("%s cannot be written: %s", name, strerror(errno));
    int rc = lines ? export_lines(s, file) : export_csv(s, file);
    if (name && fclose(file) != 0 && rc == 0)
        rc = cli_complain("%s cannot be written: %s", name, strerror(errno));
    return rc;
}

/* ---- delete ------------------------------------------------------------------------------------
 */

static int delete_matching(struct runs_state *s, const struct hm_store_filter *filter)
{
    struct hm_err err = {0};
    int64_t count = 0;

    if (hm_store_delete(s->store, filter, &count, &err))
        return cli_report(&err);
    printf("%lld deleted\n", (long long)count); /* never for a guest */
    return count > 0 ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

static int delete (struct runs_state *s)
{
    int rc = 0;

    if (s->word_count == 1 && !s->yes)
        return cli_complain("runs delete: which? Give ids, or --where … with --yes");
    if (s->word_count == 1)
        return delete_matching(s, &s->filter);
    for (size_t k = 1; rc == 0 && k < s->word_count; k++) {
        char condition[64];
        const char *where[] = {condition};
        struct hm_store_filter filter = {.where = where, .where_count = 1};
        double id;
        if (cli_whole("id", s->words[k], 1, 9e15, &id))
            return EXIT_USAGE;
        snprintf(condition, sizeof(condition), "id=%.0f", id);
        rc = delete_matching(s, &filter);
    }
    return rc;
}

/* ---- documents ---------------------------------------------------------------------------------
 */

static int put_document(struct runs_state *s)
{
    return cli_documents_put(s->store, s->words + 1, s->word_count - 1);
}

static int get_document(struct runs_state *s)
{
    return cli_documents_get(s->store, s->words + 1, s->word_count - 1);
}

static int documents(struct runs_state *s)
{
    return cli_documents_list(s->store, s->words + 1, s->word_count - 1, s->json);
}

static int run(void *state)
{
    static const struct {
        const char *name;
        int (*act)(struct runs_state *s);
        bool adds;
    } actions[] = {{"list", list, false},
                   {"show", show, false},
                   {"add", add, true},
                   {"import", import, true},
                   {"export", export, false},
                   {"delete", delete, false},
                   {"put", put_document, false},
                   {"get", get_document, false},
                   {"documents", documents, false}};
    struct runs_state *s = state;
    const char *wanted = s->word_count ? s->words[0] : "list";

    s->word_count = s->word_count ? s->word_count : 1;
    for (size_t k = 0; k < sizeof(actions) / sizeof(actions[0]); k++)
        if (strcmp(actions[k].name, wanted) == 0) {
            int rc = actions[k].adds ? cli_store_open_to_add(s->record, &s->store)
                                     : cli_store_open(s->record, &s->store);
            return rc ? rc : actions[k].act(s);
        }
    return cli_complain("runs: '%s' is not list, show, add, import, export, delete, put, get or "
                        "documents",
                        wanted);
}

const struct cli_command cli_runs = {
    .name = "runs",
    .arguments = "[list|show|add|import|export|delete|put|get|documents] [ARGUMENT]…",
    .summary = "what was measured, in the store",
    .description =
        "The store keeps runs and the samples of traces: in a file of your own "
        "(~/.local/share/howmany/howmany.db), in the one that HOWMANY_DB or --record names, or on "
        "a "
        "PostgreSQL server for a team.\n\n"
        "*list* shows a page of runs, *show* ID one with its samples, *add* NAME=VALUE… adds one, "
        "*import* FILE… tables of runs or traces, *export* [FILE] writes them again, *delete* ID… "
        "removes them. What is imported twice is there once.\n\n"
        "*put* KIND NAME FILE keeps a text under a kind (such as fit, cluster, job or prices) and "
        "a "
        "name, *get* KIND NAME prints it, *documents* [KIND] lists what there is; the last one "
        "counts.\n\n"
        "Exit status: 0 done; 1 nothing to delete; 2 wrong usage or input.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "list show add import export delete put get documents",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
