/* howmany plan: the answer from a specification sheet. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_job.h"
#include "asked_platform.h"
#include "asked_runs.h"
#include "cli.h"
#include "format.h"
#include "guest.h"
#include "readers.h"
#include "render.h"
#include "text.h"

struct plan_state {
    struct cli_job job;
    enum hm_scheme schemes[CLI_LIST_MAX];
    size_t scheme_count;
    const char *plot;
    bool json, csv, table, layers, no_chart;
    struct hm_question question;
    struct cli_platform platform;
    const char *runs_file, *where[CLI_LIST_MAX];
    size_t where_count;
    struct cli_terms terms;
    bool fit_alone; /* --terms was given: the sheet has no say */
    struct hm_fit_settings settings;
    struct hm_runs *runs;
    struct hm_fit *fit;
    struct hm_answer *answer;
};

enum option {
    ON,
    NETWORK,
    SCHEME,
    PLATFORM,
    CONSISTENCY,
    STALENESS,
    SERVERS,
    COLOCATED,
    BACKUPS,
    STALE_COST,
    SET,
    RUNS,
    WHERE,
    TERMS,
    LEVEL,
    GOAL,
    ALPHA,
    BETA,
    DEADLINE,
    BUDGET,
    FASTER,
    WORK,
    MAX_N,
    WEAK,
    REFERENCE,
    TABLE,
    LAYERS,
    PLOT,
    NO_CHART,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [ON] = {"on", 0, "MACHINE[,…]",
            "machines of the catalog, or cluster files, to run on; several are ranked", "@machine"},
    [NETWORK] = {"network", 0, "NAME", "network between the machines, from the catalog", "@fabric"},
    [SCHEME] = {"scheme", 0, "NAME[,…]",
                "how to reduce gradients; several are ranked, 'all' ranks them all", "@scheme"},
    [PLATFORM] = {"platform", 0, "NAME[,…]",
                  "allreduce, driver (model at a driver) or server (parameter servers) in the "
                  "place of the job's communication; several are ranked, 'all' ranks them all",
                  "allreduce driver server all"},
    [CONSISTENCY] = {"consistency", 0, "NAME[,…]",
                     "of servers: bsp (steps together), ssp (at most --staleness apart), async, or "
                     "all (default bsp; with --platform all, all)",
                     "bsp ssp async all"},
    [STALENESS] = {"staleness", 0, "S",
                   "of ssp: clocks that the fastest worker may be ahead of the slowest (default 3)",
                   NULL},
    [SERVERS] = {"servers", 0, "S", "parameter servers (default: as many as the goal asks for)",
                 NULL},
    [COLOCATED] = {"colocated", 0, NULL,
                   "servers on the nodes of the workers, instead of nodes of their own", NULL},
    [BACKUPS] = {"backups", 0, "K",
                 "of bsp: a step takes the first n - K gradients of n workers; less than n", NULL},
    [STALE_COST] = {"stale-cost", 0, "FACTOR|[ALGORITHM=]FIT",
                    "of ssp and async: iterations that stale gradients cost, such as 1.2x; or a "
                    "fit that `howmany converge --save` has stored (.json)",
                    NULL},
    [SET] = {"set", 0, "KEY=VALUE",
             "change a key of the job, such as batch=256 or cluster.price='$1/h'", NULL},
    [RUNS] = {"runs", 0, "RUNS",
              "take the times from runs: those of the job's sheet corrected by them, or, without "
              "a job or with --terms, those of a fit alone; see howmany-fit(1)",
              "@file"},
    [WHERE] = {"where", 'w', "COLUMN=VALUE", "with --runs: only those that have this value", NULL},
    [TERMS] = {"terms", 0, "LIST", "with --runs: terms of the fit, such as 1,size/n,ln(n); or auto",
               "auto"},
    [LEVEL] = {"level", 0, "P", "with --runs: of intervals (default 90%)", NULL},
    [GOAL] = {"goal", 'g', "GOAL",
              "what counts: time, cost, or balance (alpha * seconds + beta * money)",
              "time cost balance"},
    [ALPHA] = {"alpha", 0, "A", "weight of a second in the balance", NULL},
    [BETA] = {"beta", 0, "B", "weight of a dollar in the balance", NULL},
    [DEADLINE] = {"deadline", 'd', "TIME",
                  "the job must be done within, such as 6h; the cheapest way is then best", NULL},
    [BUDGET] = {"budget", 'b', "MONEY", "the job must not cost more than, such as 100", NULL},
    [FASTER] = {"faster", 0, "FACTOR",
                "how many workers to be that many times faster than now, such as 2x", NULL},
    [WORK] = {"work", 0, "FACTOR",
              "how many workers to do that many times the work in the same time, such as 3x", NULL},
    [MAX_N] = {"max-n", 'n', "N",
               "most workers to consider (default: the cluster's, else 1024, or 64 for a graph)",
               NULL},
    [WEAK] = {"weak", 0, NULL, "weak scaling: every worker has the whole batch", NULL},
    [REFERENCE] = {"reference", 'r', "N",
                   "workers that speedups are relative to (default 1, or the job's)", NULL},
    [TABLE] = {"table", 't', NULL, "the curve as a table", NULL},
    [LAYERS] = {"layers", 0, NULL, "parameters, flop and bytes of the network, layer by layer",
                NULL},
    [PLOT] = {"plot", 'p', "FILE", "speedup and step as a picture: .svg, .png or .pdf", "@file"},
    [NO_CHART] = {"no-chart", 0, NULL, "no drawing on the terminal", NULL},
    [JSON] = {"json", 'j', NULL, "the whole answer as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "the curve as comma-separated values", NULL},
};

static void *begin(void)
{
    struct plan_state *s = calloc(1, sizeof(*s));
    if (s)
        s->question = (struct hm_question)HM_QUESTION_INIT;
    return s;
}

static void end(void *state)
{
    struct plan_state *s = state;

    hm_answer_free(s->answer);
    hm_fit_free(s->fit);
    hm_runs_free(s->runs);
    cli_terms_release(&s->terms);
    cli_job_release(&s->job);
    free(s);
}

static const char *scheme_name(const void *unused, size_t i)
{
    (void)unused;
    return i <= HM_SCHEME_BEST ? hm_scheme_name((enum hm_scheme)i) : NULL;
}

static int take_scheme(void *state, const char *piece)
{
    struct plan_state *s = state;
    int scheme = hm_scheme_find(piece);

    if (strcmp(piece, "all") == 0) {
        for (int i = 0; i < HM_SCHEME_COUNT && s->scheme_count < CLI_LIST_MAX; i++)
            if (hm_scheme_is_allreduce((enum hm_scheme)i))
                s->schemes[s->scheme_count++] = (enum hm_scheme)i;
        return 0;
    }
    if (scheme < 0) {
        const char *near = hm__suggest(piece, scheme_name, NULL);
        return near ? cli_complain("--scheme: there is no '%s'; did you mean %s?", piece, near)
                    : cli_complain("--scheme: there is no '%s'", piece);
    }
    if (!hm_scheme_is_allreduce((enum hm_scheme)scheme))
        return cli_complain("--scheme: %s is not an all-reduce; it can be a step of the job's "
                            "communicate",
                            piece);
    if (s->scheme_count == CLI_LIST_MAX)
        return cli_complain("--scheme: more than %d", CLI_LIST_MAX);
    s->schemes[s->scheme_count++] = (enum hm_scheme)scheme;
    return 0;
}

static int accept_output(struct plan_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case TABLE:
        s->table = true;
        break;
    case LAYERS:
        s->layers = true;
        break;
    case PLOT:
        s->plot = value;
        return cli_check_plot(value);
    case NO_CHART:
        s->no_chart = true;
        break;
    case JSON:
        s->json = true;
        break;
    case CSV:
        s->csv = true;
        break;
    case SET:
        return cli_job_set(&s->job, value);
    default:
        break;
    }
    if (s->json && s->csv)
        return cli_complain("plan: --json and --csv do not go together");
    if (s->layers && (s->json || s->csv))
        return cli_complain("plan: --layers is a table for reading; leave out --json and --csv");
    return 0;
}

static int accept_runs(struct plan_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case RUNS:
        s->runs_file = value;
        return 0;
    case WHERE:
        return cli_where_add(s->where, &s->where_count, value);
    case TERMS:
        s->fit_alone = true;
        return cli_terms_parse(&s->terms, value);
    default:
        return cli_level(value, &s->settings.level);
    }
}

static int accept_platform(struct cli_platform *p, int option, const char *value)
{
    switch ((enum option)option) {
    case PLATFORM:
        return cli_platform_add(p, value);
    case CONSISTENCY:
        return cli_consistency_add(p, value);
    case STALENESS:
        p->staleness = true;
        return cli_whole("staleness", value, 0, 1e6, &p->stale);
    case SERVERS:
        return cli_whole("servers", value, 1, 1e6, &p->servers);
    case BACKUPS:
        return cli_whole("backups", value, 0, 1000, &p->backups);
    case STALE_COST:
        return cli_stale_cost(p, value);
    default:
        p->colocated = true;
        return 0;
    }
}

static int accept(void *state, int option, const char *value)
{
    struct plan_state *s = state;
    struct hm_question *q = &s->question;

    switch (option) {
    case -1:
        if (s->job.path)
            return cli_complain("plan: one job at a time ('%s' and '%s')", s->job.path, value);
        s->job.path = value;
        return 0;
    case ON:
        return cli_job_on(&s->job, value);
    case NETWORK:
        s->job.network = value;
        return 0;
    case SCHEME:
        return cli_each(value, take_scheme, s);
    case PLATFORM:
    case CONSISTENCY:
    case STALENESS:
    case SERVERS:
    case COLOCATED:
    case BACKUPS:
    case STALE_COST:
        return accept_platform(&s->platform, option, value);
    case RUNS:
    case WHERE:
    case TERMS:
    case LEVEL:
        return accept_runs(s, option, value);
    case GOAL:
        return cli_goal(value, &q->goal);
    case ALPHA:
        return cli_positive("alpha", value, HM_DIM_NONE, &q->alpha);
    case BETA:
        return cli_positive("beta", value, HM_DIM_NONE, &q->beta);
    case DEADLINE:
        return cli_positive("deadline", value, HM_DIM_TIME, &q->deadline_s);
    case BUDGET:
        return cli_money("budget", value, &q->budget);
    case FASTER:
        return cli_positive("faster", value, HM_DIM_NONE, &q->faster);
    case WORK:
        return cli_positive("work", value, HM_DIM_NONE, &q->work);
    case MAX_N:
        return cli_positive("max-n", value, HM_DIM_NONE, &q->max_n);
    case REFERENCE:
        return cli_positive("reference", value, HM_DIM_NONE, &q->reference);
    case WEAK:
        q->weak = true;
        return 0;
    default:
        return accept_output(s, option, value);
    }
}

static int plot(struct plan_state *s)
{
    struct hm_style style = {.file = s->plot};
    struct hm_err err = {0};
    char *script;

    if (hm_answer_render(s->answer, HM_FORMAT_GNUPLOT, &style, &script, &err))
        return cli_report(&err);
    int rc = cli_gnuplot(script, s->plot);
    hm_text_free(script);
    return rc;
}

static int show_layers(const struct plan_state *s)
{
    struct hm_counts *counts;
    struct hm_text out = {0};
    struct hm_err err = {0};
    double weight = s->job.job->precision / 8;

    if (!s->job.job->network || s->job.job->network->layer_count == 0)
        return cli_complain("%s: --layers needs a network with layers",
                            s->job.path ? s->job.path : s->runs_file);
    if (hm_counts_new(s->job.job->network, s->job.job->source, &counts, &err))
        return cli_report(&err);
    hm__render_layers(&out, counts, weight);
    hm_counts_free(counts);
    return cli_put_text(&out);
}

static int show(struct plan_state *s)
{
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    char *text;
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;

    style.table = s->table;
    style.chart = style.chart && !s->no_chart;
    int rc = s->layers ? show_layers(s) : 0;
    if (rc)
        return rc;
    if (hm_answer_render(s->answer, format, &style, &text, &err))
        return cli_report(&err);
    if (!cli_put(text))
        rc = EXIT_USAGE;
    hm_text_free(text);
    if (rc == 0 && s->plot)
        rc = plot(s);
    if (rc == 0 && s->answer->status != HM_STATUS_OK)
        rc = EXIT_NO_ANSWER;
    return rc;
}

/* A guest cannot have curves of any length: they would fill the memory of the server. */
static int check_guest(const struct plan_state *s)
{
    double most = s->question.max_n;
    size_t count = s->job.on_count ? s->job.on_count : 1;

    for (size_t i = 0; s->question.max_n == 0 && i < count; i++) {
        const struct hm_cluster *c = s->job.on_count ? s->job.clusters[i] : &s->job.job->cluster;
        most = fmax(most, c->max_nodes * fmax(c->node.accelerators, 1));
    }
    if (most <= CLI_GUEST_N)
        return 0;
    return cli_complain("--max-n: more than %d workers, in a request", CLI_GUEST_N);
}

static int answer(struct plan_state *s)
{
    if (cli_guest() && check_guest(s))
        return EXIT_USAGE;
    struct hm_err err = {0};
    const struct cli_job *j = &s->job;
    int rc = hm_plan(j->job, (const struct hm_cluster *const *)j->clusters, j->on_count, s->schemes,
                     s->scheme_count, &s->question, &s->answer, &err);

    return rc ? cli_report(&err) : 0;
}

/* A job of which only the runs tell how long it takes; --set adds iterations and the like. */
static const char nothing_but_runs[] = "{\"compute\": \"1 s\", \"communicate\": \"none\"}";

/* The fit takes the place of the model, or corrects it. */
static int fit_runs(struct plan_state *s)
{
    struct hm_err err = {0};
    int rc = cli_runs_load(s->runs_file, s->where, s->where_count, &s->runs);

    if (rc)
        return rc;
    if (s->job.on_count > 1)
        return cli_complain("plan: the runs were made on one machine: name one with --on");
    s->settings.job = s->fit_alone ? NULL : s->job.job;
    s->settings.cluster = s->job.on_count ? s->job.clusters[0] : NULL;
    s->settings.terms = s->terms.terms;
    s->settings.term_count = s->terms.count;
    if (hm_fit_new(s->runs, &s->settings, &s->fit, &err))
        return cli_report(&err);
    if (s->fit->relative)
        return cli_complain("plan: %s tells speedups only; give the job as well, whose sheet tells "
                            "the time of one, or seconds",
                            s->runs_file);
    s->question.fit = s->fit;
    s->question.weak = s->question.weak || (s->fit_alone && s->fit->weak);
    return 0;
}

static int run(void *state)
{
    struct plan_state *s = state;

    if (!s->job.path && !s->runs_file)
        return cli_complain("plan: which job? Give a file, such as examples/fig1.yaml");
    if (!s->runs_file && (s->where_count || s->fit_alone || s->settings.level > 0))
        return cli_complain("plan: --where, --terms and --level go with --runs");
    if (!s->job.path) {
        s->job.text = nothing_but_runs;
        s->fit_alone = true;
    }
    int rc = cli_platform_finish(&s->platform);
    if (rc == 0)
        rc = cli_job_load(&s->job);
    s->question.ways = s->platform.ways;
    s->question.way_count = s->platform.way_count;
    if (rc == 0 && s->runs_file)
        rc = fit_runs(s);
    if (rc == 0)
        rc = answer(s);
    return rc ? rc : show(s);
}

const struct cli_command cli_plan = {
    .name = "plan",
    .arguments = "[JOB]",
    .summary = "how many machines, how long, how much and why, without a run or from a few",
    .description =
        "Reads a job (YAML, or JSON when the name ends in .json; - is standard input), searches "
        "every number of workers up to the ceiling and answers with the best for the goal. With a "
        "deadline and no goal, the cheapest way to meet it is best.\n\n"
        "Exit status: 0 answered; 1 nothing meets the goal, or more workers do not help (the "
        "nearest miss is shown); 2 wrong usage or input.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
