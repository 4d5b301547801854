/* howmany recommend: how many workers, from runs that were measured. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_job.h"
#include "asked_runs.h"

struct recommend_state {
    const char *file;
    const char *where[CLI_LIST_MAX];
    size_t where_count;
    struct cli_target place; /* what --batch, --latency and --at say */
    struct cli_range n;
    struct cli_job job;
    struct hm_recommend_question question;
    struct hm_runs *runs;
    struct hm_recommendation *recommendation;
    bool json, csv, all;
};

enum option {
    BATCH,
    LATENCY,
    AT,
    ALGORITHM,
    MACHINE,
    NUMBER,
    GOAL,
    ALPHA,
    BETA,
    DEADLINE,
    BUDGET,
    PRICE,
    JOB,
    ON,
    NETWORK,
    SET,
    WHERE,
    LEVEL,
    SEED,
    ALL,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [BATCH] = {"batch", 0, "N", "samples of an iteration", NULL},
    [LATENCY] = {"latency", 0, "TIME", "of the network, such as 20ms", NULL},
    [AT] = {"at", 0, "NAME=VALUE", "any other quantity of the runs, such as bandwidth='1 Gbit/s'",
            NULL},
    [ALGORITHM] = {"algorithm", 0, "NAME", "only runs of this algorithm", NULL},
    [MACHINE] = {"machine", 0, "NAME", "only runs on this machine", NULL},
    [NUMBER] = {"n", 'n', "LIST",
                "workers to choose from, such as 1..8 (default: those of the runs)", NULL},
    [GOAL] = {"goal", 'g', "GOAL",
              "what counts: time, cost, or balance (alpha * seconds + beta * money)",
              "time cost balance"},
    [ALPHA] = {"alpha", 0, "A", "weight of a second in the balance", NULL},
    [BETA] = {"beta", 0, "B", "weight of a dollar in the balance", NULL},
    [DEADLINE] = {"deadline", 'd', "TIME",
                  "it must be done within, such as 10min; the cheapest is then best", NULL},
    [BUDGET] = {"budget", 'b', "MONEY", "it must not cost more than, such as 0.5", NULL},
    [PRICE] = {"price", 0, "PRICE", "of a worker, such as '$1/h'; else a column cost tells", NULL},
    [JOB] = {"job", 0, "JOB", "a specification sheet, for its model when the runs do not tell",
             "@file"},
    [ON] = {"on", 0, "MACHINE", "with --job: the machine it runs on", "@machine"},
    [NETWORK] = {"network", 0, "NAME", "with --job: the network between machines", "@fabric"},
    [SET] = {"set", 0, "KEY=VALUE", "with --job: change a key of the job", NULL},
    [WHERE] = {"where", 'w', "COLUMN=VALUE", "only the runs that have this value", NULL},
    [LEVEL] = {"level", 'l', "P", "of intervals (default 90%)", NULL},
    [SEED] = {"seed", 0, "N", "of the draws behind them (default 0)", NULL},
    [ALL] = {"all", 'a', NULL, "all candidates as a table", NULL},
    [JSON] = {"json", 'j', NULL, "everything as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "the candidates as comma-separated values", NULL},
};

static void *begin(void)
{
    return calloc(1, sizeof(struct recommend_state));
}

static void end(void *state)
{
    struct recommend_state *s = state;

    hm_recommendation_free(s->recommendation);
    hm_runs_free(s->runs);
    cli_range_release(&s->n);
    cli_job_release(&s->job);
    free(s);
}

/* ---- the place ------------------------------------------------------------------------------ */

/* Of a known name its unit; of others whatever is written, as in a column. */
static int read_value(const char *option, const char *name, const char *text, double *value)
{
    struct hm_err err = {0};
    struct hm_dim dim;
    bool has_unit;

    if (strcmp(name, "latency") == 0)
        return cli_quantity(option, text, HM_DIM_TIME, value);
    if (strcmp(name, "bandwidth") == 0)
        return cli_quantity(option, text, HM_DIM_BYTE_RATE, value);
    if (strcmp(name, "batch") == 0 || strcmp(name, "size") == 0)
        return cli_quantity(option, text, HM_DIM_NONE, value);
    if (hm__quantity_read(text, value, &dim, &has_unit, &err) == 0)
        return 0;
    snprintf(err.field, sizeof(err.field), "--%s", option);
    return cli_report(&err);
}

static int add_place(struct recommend_state *s, const char *option, const char *name, size_t length,
                     const char *value)
{
    struct cli_target *t = &s->place;

    if (length == 0 || length >= sizeof(t->names[0]))
        return cli_complain("--%s: '%.*s' is not a name", option, (int)length, name);
    if (t->count == CLI_TARGETS_MAX)
        return cli_complain("--%s: more than %d quantities", option, CLI_TARGETS_MAX);
    char *own = t->names[t->count];
    memcpy(own, name, length);
    own[length] = '\0';
    for (size_t i = 0; i < t->count; i++)
        if (strcmp(t->names[i], own) == 0)
            return cli_complain("--%s: %s is given twice", option, own);
    t->at[t->count].name = own;
    int rc = read_value(option, own, value, &t->at[t->count].value);
    t->count += rc == 0;
    return rc;
}

static int add_at(struct recommend_state *s, const char *text)
{
    const char *equal = strchr(text, '=');

    if (!equal)
        return cli_complain("--at: '%s' is not NAME=VALUE", text);
    return add_place(s, "at", text, (size_t)(equal - text), equal + 1);
}

/* ---- options -------------------------------------------------------------------------------- */

static int read_n(struct recommend_state *s, const char *text)
{
    int rc = cli_range_parse(&s->n, text);

    for (size_t i = 0; rc == 0 && i < s->n.count; i++)
        if (s->n.values[i] < 1 || s->n.values[i] != floor(s->n.values[i]))
            rc = cli_complain("--n: whole numbers from 1 on, not %g", s->n.values[i]);
    return rc;
}

static int read_budget(const char *text, double *budget)
{
    int rc = cli_money("budget", text, budget);

    return rc == 0 && *budget == 0 ? cli_complain("--budget: '%s' is not more than 0", text) : rc;
}

static int accept_goal(struct recommend_state *s, int option, const char *value)
{
    struct hm_recommend_question *q = &s->question;

    switch ((enum option)option) {
    case GOAL:
        return cli_goal(value, &q->goal);
    case ALPHA:
        return cli_positive("alpha", value, HM_DIM_NONE, &q->alpha);
    case BETA:
        return cli_positive("beta", value, HM_DIM_NONE, &q->beta);
    case DEADLINE:
        return cli_positive("deadline", value, HM_DIM_TIME, &q->deadline_s);
    case BUDGET:
        return read_budget(value, &q->budget);
    default:
        return cli_positive("price", value, HM_DIM_PRICE, &q->price_per_s);
    }
}

static int accept_rest(struct recommend_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case JOB:
        s->job.path = value;
        return 0;
    case ON:
        return cli_job_on(&s->job, value);
    case NETWORK:
        s->job.network = value;
        return 0;
    case SET:
        return cli_job_set(&s->job, value);
    case WHERE:
        return cli_where_add(s->where, &s->where_count, value);
    case LEVEL:
        return cli_level(value, &s->question.level);
    case SEED:
        return cli_whole("seed", value, 0, 1e9, &s->question.seed);
    case ALL:
        s->all = true;
        return 0;
    default:
        s->json = s->json || option == JSON;
        s->csv = s->csv || option == CSV;
        return s->json && s->csv ? cli_complain("recommend: --json and --csv do not go together")
                                 : 0;
    }
}

static int accept(void *state, int option, const char *value)
{
    struct recommend_state *s = state;

    switch (option) {
    case -1:
        if (s->file)
            return cli_complain("recommend: one table of runs at a time ('%s' and '%s')", s->file,
                                value);
        s->file = value;
        return 0;
    case BATCH:
        return add_place(s, "batch", "batch", 5, value);
    case LATENCY:
        return add_place(s, "latency", "latency", 7, value);
    case AT:
        return add_at(s, value);
    case ALGORITHM:
        s->question.algorithm = value;
        return 0;
    case MACHINE:
        s->question.machine = value;
        return 0;
    case NUMBER:
        return read_n(s, value);
    case GOAL:
    case ALPHA:
    case BETA:
    case DEADLINE:
    case BUDGET:
    case PRICE:
        return accept_goal(s, option, value);
    default:
        return accept_rest(s, option, value);
    }
}

/* ---- answering ------------------------------------------------------------------------------ */

static int load(struct recommend_state *s)
{
    if (!s->job.path && (s->job.on_count || s->job.set_count || s->job.network))
        return cli_complain("recommend: --on, --network and --set go with --job");
    if (!s->file && s->job.path && s->where_count)
        return cli_complain("recommend: --where needs runs");
    if (s->job.on_count > 1)
        return cli_complain("recommend: one machine at a time: name one with --on");
    int rc = s->job.path ? cli_job_load(&s->job) : 0;
    if (rc == 0 && (s->file || !s->job.path))
        rc = cli_runs_load(s->file, s->where, s->where_count, &s->runs);
    s->question.at = s->place.at;
    s->question.at_count = s->place.count;
    s->question.n = s->n.values;
    s->question.n_count = s->n.count;
    s->question.job = s->job.job;
    s->question.cluster = s->job.on_count ? s->job.clusters[0] : NULL;
    return rc;
}

static int show(struct recommend_state *s)
{
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;
    char *text;

    style.table = s->all;
    if (hm_recommendation_render(s->recommendation, format, &style, &text, &err))
        return cli_report(&err);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    if (rc == 0 && s->recommendation->best == HM_NONE)
        rc = EXIT_NO_ANSWER;
    return rc;
}

static int run(void *state)
{
    struct recommend_state *s = state;
    struct hm_err err = {0};
    int rc = load(s);

    if (rc)
        return rc;
    if (hm_recommend(s->runs, &s->question, &s->recommendation, &err))
        return cli_report(&err);
    return show(s);
}

const struct cli_command cli_recommend = {
    .name = "recommend",
    .arguments = "[RUNS]",
    .summary = "how many workers, from runs that were measured",
    .description =
        "Reads runs (CSV with a header, or JSON lines; plain or .gz; - is standard input; a store; "
        "without any, your own store) and says how many workers are best for a batch, a latency "
        "and whatever else the runs differ in. "
        "Runs that match exactly answer; else a fit of the runs, with intervals; else the model of "
        "a job, if one is named; else it says which run would help. What is known to fail is "
        "never recommended.\n\n"
        "Exit status: 0 answered; 1 cannot tell yet, or nothing meets deadline and budget; 2 wrong "
        "usage or input.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
