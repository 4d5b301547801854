/* howmany plan: the answer from a specification sheet. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "format.h"
#include "readers.h"
#include "render.h"
#include "text.h"

enum { LIST_MAX = 64 };

struct plan_state {
    const char *job;
    const char *on[LIST_MAX], *sets[LIST_MAX];
    size_t on_count, set_count, scheme_count;
    enum hm_scheme schemes[LIST_MAX];
    const char *network, *plot;
    bool json, csv, table, layers, no_chart;
    struct hm_question question;
    char *pieces[2 * LIST_MAX];
    size_t piece_count;
};

enum option {
    ON,
    NETWORK,
    SCHEME,
    SET,
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
    [SET] = {"set", 0, "KEY=VALUE",
             "change a key of the job, such as batch=256 or cluster.price='$1/h'", NULL},
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
    for (size_t i = 0; i < s->piece_count; i++)
        free(s->pieces[i]);
    free(s);
}

/* Money may be written without a sign: shells eat "$100". */
static int read_money(const char *text, double *value)
{
    char with_sign[64];
    double number;
    size_t used = hm_number_read(text, &number);

    if (used > 0 && text[used] == '\0') {
        snprintf(with_sign, sizeof(with_sign), "$%s", text);
        text = with_sign;
    }
    int rc = cli_quantity("budget", text, HM_DIM_MONEY, value);
    if (rc == 0 && *value < 0)
        rc = cli_complain("--budget: '%s' is less than nothing", text);
    return rc;
}

static int read_positive(const char *name, const char *text, struct hm_dim dim, double *value)
{
    int rc = cli_quantity(name, text, dim, value);
    if (rc == 0 && !(*value > 0))
        rc = cli_complain("--%s: '%s' is not more than 0", name, text);
    return rc;
}

static int read_goal(const char *text, enum hm_goal *goal)
{
    static const char *const names[] = {"time", "cost", "balance"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(text, names[i]) == 0) {
            *goal = (enum hm_goal)(HM_GOAL_TIME + i);
            return 0;
        }
    }
    return cli_complain("--goal: '%s' is not time, cost or balance", text);
}

/* Cut "a,b,c" into pieces and hand each on. */
static int each_piece(struct plan_state *s, const char *list,
                      int (*take)(struct plan_state *s, const char *piece))
{
    int rc = 0;

    while (rc == 0) {
        size_t length = strcspn(list, ",");
        if (s->piece_count == 2 * LIST_MAX)
            return cli_complain("more than %d names", LIST_MAX);
        char *piece = strndup(list, length);
        if (!piece)
            return cli_complain("out of memory");
        s->pieces[s->piece_count++] = piece;
        rc = *piece ? take(s, piece) : cli_complain("an empty name in '%s'", list);
        if (list[length] == '\0')
            break;
        list += length + 1;
    }
    return rc;
}

static int take_machine(struct plan_state *s, const char *piece)
{
    if (s->on_count == LIST_MAX)
        return cli_complain("--on: more than %d machines", LIST_MAX);
    s->on[s->on_count++] = piece;
    return 0;
}

static const char *scheme_name(const void *unused, size_t i)
{
    (void)unused;
    return i <= HM_SCHEME_BEST ? hm_scheme_name((enum hm_scheme)i) : NULL;
}

static int take_scheme(struct plan_state *s, const char *piece)
{
    int scheme = hm_scheme_find(piece);

    if (strcmp(piece, "all") == 0) {
        for (int i = 0; i < HM_SCHEME_COUNT && s->scheme_count < LIST_MAX; i++)
            if (hm_scheme_is_allreduce((enum hm_scheme)i))
                s->schemes[s->scheme_count++] = (enum hm_scheme)i;
        return 0;
    }
    if (scheme < 0) {
        const char *near = hm_suggest(piece, scheme_name, NULL);
        return near ? cli_complain("--scheme: there is no '%s'; did you mean %s?", piece, near)
                    : cli_complain("--scheme: there is no '%s'", piece);
    }
    if (!hm_scheme_is_allreduce((enum hm_scheme)scheme))
        return cli_complain("--scheme: %s is not an all-reduce; it can be a step of the job's "
                            "communicate",
                            piece);
    if (s->scheme_count == LIST_MAX)
        return cli_complain("--scheme: more than %d", LIST_MAX);
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
        if (s->set_count == LIST_MAX)
            return cli_complain("--set: more than %d", LIST_MAX);
        s->sets[s->set_count++] = value;
        break;
    default:
        break;
    }
    if (s->json && s->csv)
        return cli_complain("plan: --json and --csv do not go together");
    if (s->layers && (s->json || s->csv))
        return cli_complain("plan: --layers is a table for reading; leave out --json and --csv");
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    struct plan_state *s = state;
    struct hm_question *q = &s->question;

    switch (option) {
    case -1:
        if (s->job)
            return cli_complain("plan: one job at a time ('%s' and '%s')", s->job, value);
        s->job = value;
        return 0;
    case ON:
        return each_piece(s, value, take_machine);
    case NETWORK:
        s->network = value;
        return 0;
    case SCHEME:
        return each_piece(s, value, take_scheme);
    case GOAL:
        return read_goal(value, &q->goal);
    case ALPHA:
        return read_positive("alpha", value, HM_DIM_NONE, &q->alpha);
    case BETA:
        return read_positive("beta", value, HM_DIM_NONE, &q->beta);
    case DEADLINE:
        return read_positive("deadline", value, HM_DIM_TIME, &q->deadline_s);
    case BUDGET:
        return read_money(value, &q->budget);
    case FASTER:
        return read_positive("faster", value, HM_DIM_NONE, &q->faster);
    case WORK:
        return read_positive("work", value, HM_DIM_NONE, &q->work);
    case MAX_N:
        return read_positive("max-n", value, HM_DIM_NONE, &q->max_n);
    case REFERENCE:
        return read_positive("reference", value, HM_DIM_NONE, &q->reference);
    case WEAK:
        q->weak = true;
        return 0;
    default:
        return accept_output(s, option, value);
    }
}

/* Everything a run needs, so that one place frees it. */
struct plan_run {
    struct plan_state *s;
    struct hm_catalog *catalog;
    struct hm_job *job;
    struct hm_cluster *clusters[LIST_MAX];
    struct hm_override overrides[LIST_MAX + 1];
    size_t override_count;
    struct hm_answer *answer;
    char network[160];
};

/* --set for the job; --network too, when the job's own cluster is used. */
static void make_overrides(struct plan_run *r)
{
    struct plan_state *s = r->s;

    for (size_t i = 0; i < s->set_count; i++)
        r->overrides[r->override_count++].text = s->sets[i];
    if (s->network && s->on_count == 0) {
        snprintf(r->network, sizeof(r->network), "cluster.network=%s", s->network);
        r->overrides[r->override_count++].text = r->network;
    }
}

static int load_job(struct plan_run *r)
{
    const char *path = r->s->job;
    struct hm_err err = {0};
    size_t length;
    char *text = cli_read(path, &length, &err);
    int rc = text ? 0 : err.code;

    if (rc == 0)
        rc = hm_job_parse_with(r->catalog, text, length, path, r->overrides, r->override_count,
                               &r->job, &err);
    hm_text_free(text);
    return rc ? cli_report(&err) : 0;
}

static bool is_file(const char *name)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t length = strlen(name);

    for (size_t i = 0; i < 3; i++)
        if (length > strlen(endings[i]) &&
            strcmp(name + length - strlen(endings[i]), endings[i]) == 0)
            return true;
    return strchr(name, '/') != NULL;
}

/* A machine by name or a cluster file, with the cluster.* keys of --set on top. */
static int load_cluster(struct plan_run *r, const char *name, struct hm_cluster **cluster)
{
    struct hm_override overrides[LIST_MAX + 1];
    size_t count = 0, length = 0;
    struct hm_text entry = {0};
    char network[160];
    struct hm_err err = {0};
    char *file = NULL;
    const char *text;

    for (size_t i = 0; i < r->s->set_count; i++)
        if (strncmp(r->s->sets[i], "cluster.", 8) == 0)
            overrides[count++].text = r->s->sets[i] + 8;
    if (r->s->network) {
        snprintf(network, sizeof(network), "network=%s", r->s->network);
        overrides[count++].text = network;
    }
    if (is_file(name)) {
        text = file = cli_read(name, &length, &err);
    } else {
        hm_text_add(&entry, "{\"machine\": ");
        hm_json_text(&entry, name);
        hm_text_add(&entry, "}");
        text = entry.failed ? "" : entry.data;
        length = entry.length;
    }
    int rc = text ? hm_cluster_parse(r->catalog, text, length, is_file(name) ? name : "--on",
                                     overrides, count, cluster, &err)
                  : err.code;
    hm_text_free(file);
    hm_text_release(&entry);
    if (rc == 0 && is_file(name))
        (*cluster)->name = name; /* in a ranking, the file tells clusters apart */
    return rc ? cli_report(&err) : 0;
}

static int load_clusters(struct plan_run *r)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->s->on_count; i++)
        rc = load_cluster(r, r->s->on[i], &r->clusters[i]);
    return rc;
}

static int plot(struct plan_run *r)
{
    struct hm_style style = {.file = r->s->plot};
    struct hm_err err = {0};
    char *script;

    if (hm_answer_render(r->answer, HM_FORMAT_GNUPLOT, &style, &script, &err))
        return cli_report(&err);
    int rc = cli_gnuplot(script, r->s->plot);
    hm_text_free(script);
    return rc;
}

static int show_layers(const struct plan_run *r)
{
    struct hm_counts *counts;
    struct hm_text out = {0};
    struct hm_err err = {0};
    double weight = r->job->precision / 8;

    if (!r->job->network || r->job->network->layer_count == 0)
        return cli_complain("%s: --layers needs a network with layers", r->s->job);
    if (hm_counts_new(r->job->network, r->job->source, &counts, &err))
        return cli_report(&err);
    hm_render_layers(&out, counts, weight);
    hm_counts_free(counts);
    bool ok = !out.failed && cli_put(out.data);
    hm_text_release(&out);
    return ok ? 0 : EXIT_USAGE;
}

static int show(struct plan_run *r)
{
    struct plan_state *s = r->s;
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    char *text;
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;

    style.table = s->table;
    style.chart = style.chart && !s->no_chart;
    int rc = s->layers ? show_layers(r) : 0;
    if (rc)
        return rc;
    if (hm_answer_render(r->answer, format, &style, &text, &err))
        return cli_report(&err);
    if (!cli_put(text))
        rc = EXIT_USAGE;
    hm_text_free(text);
    if (rc == 0 && s->plot)
        rc = plot(r);
    if (rc == 0 && r->answer->status != HM_STATUS_OK)
        rc = EXIT_NO_ANSWER;
    return rc;
}

static int answer(struct plan_run *r)
{
    const struct plan_state *s = r->s;
    struct hm_err err = {0};
    int rc = hm_plan(r->job, (const struct hm_cluster *const *)r->clusters, s->on_count, s->schemes,
                     s->scheme_count, &s->question, &r->answer, &err);

    return rc ? cli_report(&err) : 0;
}

static int run(void *state)
{
    struct plan_run r = {.s = state};
    int rc = 0;

    if (!r.s->job)
        return cli_complain("plan: which job? Give a file, such as examples/fig1.yaml");
    make_overrides(&r);
    if (r.s->on_count > 0 || cli_has_own_catalog())
        rc = (r.catalog = cli_catalog_load()) ? 0 : EXIT_USAGE;
    if (rc == 0)
        rc = load_job(&r);
    if (rc == 0)
        rc = load_clusters(&r);
    if (rc == 0)
        rc = answer(&r);
    if (rc == 0)
        rc = show(&r);
    hm_answer_free(r.answer);
    for (size_t i = 0; i < r.s->on_count; i++)
        hm_cluster_free(r.clusters[i]);
    hm_job_free(r.job);
    hm_catalog_free(r.catalog);
    return rc;
}

const struct cli_command cli_plan = {
    .name = "plan",
    .arguments = "JOB",
    .summary = "how many machines, how long, how much and why, without a run",
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
