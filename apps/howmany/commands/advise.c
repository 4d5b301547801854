/* howmany advise: which algorithm on how many workers, for a loss, a time or a budget. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asked_traces.h"
#include "guest.h"
#include "text.h"

enum { PACES_MAX = 32 };

struct advise_state {
    struct cli_traces traces;
    struct hm_advise_question question;
    struct cli_range ms;
    struct cli_job job; /* --on, and the jobs of --job with its --network and --set */
    const char *times[PACES_MAX], *jobs[PACES_MAX]; /* [ALGORITHM=]FILE */
    size_t times_count, job_count;
    struct hm_paces *paces[2 * PACES_MAX];
    size_t pace_count;
    struct hm_advice *advice;
    bool all, json, csv;
};

enum option {
    LOSS,
    REACH,
    WITHIN,
    BUDGET,
    GOAL,
    RECORD,
    WHERE,
    ALGORITHMS,
    M,
    TIMES,
    JOB,
    ON,
    NETWORK,
    SET,
    PRICE,
    ADAPTIVE,
    SWITCH_COST,
    BEST,
    MEASURE,
    EPOCHS,
    TERMS,
    LEVEL,
    SEED,
    ALL,
    JSON,
    CSV
};

static const struct cli_option options[] = {
    [LOSS] = {"loss", 0, "X", "to come so near to the best: P - P* at most X", NULL},
    [REACH] = {"reach", 0, "P", "to come down to this loss itself", NULL},
    [WITHIN] = {"within", 0, "TIME", "time there is, such as 60s; alone: for the least loss", NULL},
    [BUDGET] = {"budget", 0, "MONEY", "money there is, such as $5; alone: for the least loss",
                NULL},
    [GOAL] = {"goal", 'g', "GOAL", "what counts: time (default) or cost", "time cost"},
    [RECORD] = {"record", 0, "STORE", "the traces of a store: a file (.db), or postgresql://…",
                "@file"},
    [WHERE] = {"where", 'w', "COLUMN=VALUE", "of a store: only runs that have this", NULL},
    [ALGORITHMS] = {"algorithms", 'a', "LIST", "only these", NULL},
    [M] = {"m", 'm', "LIST",
           "numbers of workers, such as 1..256 or 1,2,4 (default: measured ones and powers of 2 "
           "between)",
           NULL},
    [TIMES] = {"times", 0, "[ALGORITHM=]FILE",
               "seconds of an iteration from these traces, or from runs (n, seconds), instead", //
               "@file"},
    [JOB] = {"job", 0, "[ALGORITHM=]JOB", "seconds of an iteration as `howmany plan` has them",
             "@file"},
    [ON] = {"on", 0, "MACHINE", "with --job: plan for this machine; its price, else", "@machine"},
    [NETWORK] = {"network", 0, "NAME", "with --job: the network between machines", "@fabric"},
    [SET] = {"set", 0, "KEY=VALUE", "with --job: change a key of the job", NULL},
    [PRICE] = {"price", 0, "PRICE", "of a worker, such as $0.5/h", NULL},
    [ADAPTIVE] = {"adaptive", 0, NULL, "also the best schedule of m on the way to the loss", NULL},
    [SWITCH_COST] = {"switch-cost", 0, "TIME", "with --adaptive: what a change of m takes", NULL},
    [BEST] = {"best", 0, "P",
              "the least loss there is (default: as the traces say, else estimated)", NULL},
    [MEASURE] = {"measure", 0, "COLUMN", "what the loss is (default objective, else loss)",
                 "objective loss test_error accuracy"},
    [EPOCHS] = {"epochs", 0, NULL, "count epochs, not iterations: for asynchronous runs", NULL},
    [TERMS] = {"terms", 't', "LIST", "formulas over i and m to choose from", NULL},
    [LEVEL] = {"level", 'l', "P", "of intervals (default 90%)", NULL},
    [SEED] = {"seed", 0, "N", "of the draws behind the intervals (default 0)", NULL},
    [ALL] = {"all", 0, NULL, "a table of all candidates", NULL},
    [JSON] = {"json", 'j', NULL, "everything as JSON", NULL},
    [CSV] = {"csv", 0, NULL, "the candidates as comma-separated values", NULL},
};

static void *begin(void)
{
    struct advise_state *s = calloc(1, sizeof(*s));

    if (s)
        s->question = (struct hm_advise_question)HM_ADVISE_QUESTION_INIT;
    return s;
}

static void end(void *state)
{
    struct advise_state *s = state;

    hm_advice_free(s->advice);
    for (size_t k = 0; k < s->pace_count; k++)
        hm_paces_free(s->paces[k]);
    cli_job_release(&s->job);
    cli_range_release(&s->ms);
    cli_traces_release(&s->traces);
    free(s);
}

/* ---- options -----------------------------------------------------------------------------------
 */

static int read_reach(struct advise_state *s, const char *value)
{
    size_t used = hm__signed_read(value, &s->question.reach);

    return used > 0 && value[used] == '\0' ? 0
                                           : cli_complain("--reach: '%s' is not a number", value);
}

static int read_budget(struct advise_state *s, const char *value)
{
    int rc = cli_money("budget", value, &s->question.budget);

    return rc == 0 && !(s->question.budget > 0)
               ? cli_complain("--budget: '%s' is not more than 0", value)
               : rc;
}

static int read_goal(struct advise_state *s, const char *value)
{
    if (strcmp(value, "time") != 0 && strcmp(value, "cost") != 0)
        return cli_complain("--goal: '%s' is not time or cost", value);
    s->question.goal = strcmp(value, "cost") == 0 ? HM_GOAL_COST : HM_GOAL_TIME;
    return 0;
}

static int add_source(const char **list, size_t *count, const char *option, const char *value)
{
    if (*count == PACES_MAX)
        return cli_complain("--%s: more than %d", option, PACES_MAX);
    list[(*count)++] = value;
    return 0;
}

static int accept_times(struct advise_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case TIMES:
        return add_source(s->times, &s->times_count, "times", value);
    case JOB:
        return add_source(s->jobs, &s->job_count, "job", value);
    case ON:
        return cli_job_on(&s->job, value);
    case NETWORK:
        s->job.network = value;
        return 0;
    case SET:
        return cli_job_set(&s->job, value);
    default:
        return cli_positive("price", value, HM_DIM_PRICE, &s->question.price_per_s);
    }
}

static int accept_traces(struct advise_state *s, int option, const char *value)
{
    switch ((enum option)option) {
    case RECORD:
        return cli_traces_file(&s->traces, "advise", value);
    case WHERE:
        return cli_where_add(s->traces.where, &s->traces.where_count, value);
    case ALGORITHMS:
        return cli_traces_algorithms(&s->traces, value);
    case BEST:
        return cli_traces_best(&s->traces, value);
    case MEASURE:
        s->traces.settings.measure = value;
        return 0;
    case EPOCHS:
        s->traces.settings.epochs = true;
        return 0;
    case TERMS:
        return cli_terms_parse(&s->traces.terms, value);
    case LEVEL:
        return cli_level(value, &s->traces.converge.level);
    default:
        return cli_whole("seed", value, 0, CLI_SEED_MAX, &s->traces.converge.seed);
    }
}

static int accept_output(struct advise_state *s, int option)
{
    *(option == ALL ? &s->all : option == CSV ? &s->csv : &s->json) = true;
    return s->json && s->csv ? cli_complain("advise: --json and --csv do not go together") : 0;
}

static int accept(void *state, int option, const char *value)
{
    struct advise_state *s = state;
    struct hm_advise_question *q = &s->question;

    switch (option) {
    case -1:
        return cli_traces_file(&s->traces, "advise", value);
    case LOSS:
        return cli_positive("loss", value, HM_DIM_NONE, &q->loss);
    case REACH:
        return read_reach(s, value);
    case WITHIN:
        return cli_positive("within", value, HM_DIM_TIME, &q->within_s);
    case BUDGET:
        return read_budget(s, value);
    case GOAL:
        return read_goal(s, value);
    case M:
        return cli_range_parse(&s->ms, value);
    case TIMES:
    case JOB:
    case ON:
    case NETWORK:
    case SET:
    case PRICE:
        return accept_times(s, option, value);
    case ADAPTIVE:
        q->adaptive = true;
        return 0;
    case SWITCH_COST:
        return cli_quantity("switch-cost", value, HM_DIM_TIME, &q->switch_s);
    case ALL:
    case JSON:
    case CSV:
        return accept_output(s, option);
    default:
        return accept_traces(s, option, value);
    }
}

/* ---- f(m) from elsewhere -----------------------------------------------------------------------
 */

static bool has_algorithm(const struct advise_state *s, const char *name)
{
    for (size_t k = 0; k < s->traces.convergence->count; k++)
        if (strcmp(s->traces.convergence->algorithms[k].algorithm, name) == 0)
            return true;
    return false;
}

/* "cocoa=FILE" where there are traces of cocoa; otherwise the whole is a file's name. */
static char *split_source(const struct advise_state *s, const char *text, const char **ret_file)
{
    const char *equal = strchr(text, '=');
    char *name = equal ? strndup(text, (size_t)(equal - text)) : NULL;

    *ret_file = text;
    if (name && has_algorithm(s, name)) {
        *ret_file = equal + 1;
        return name;
    }
    free(name);
    return NULL;
}

/* Times of traces that name no algorithm are of all; times that are of none of ours are a mistake.
 */
static int check_times(const struct advise_state *s, const char *file, struct hm_paces *paces)
{
    size_t used = 0;

    for (size_t k = 0; k < paces->count; k++) {
        struct hm_pace *pace = &paces->paces[k];
        if (pace->algorithm && !*pace->algorithm && !has_algorithm(s, ""))
            pace->algorithm = NULL;
        used += !pace->algorithm || has_algorithm(s, pace->algorithm);
    }
    if (used > 0)
        return 0;
    return cli_complain("--times: %s has times of '%s', which there are no traces of; --times "
                        "ALGORITHM=%s says whose they are",
                        file, paces->count ? paces->paces[0].algorithm : "", file);
}

/* A table with iterations is traces; runs otherwise. */
static int times_of_file(struct advise_state *s, const char *file, const char *algorithm)
{
    struct hm_traces_settings only_times = {.times_only = true,
                                            .epochs = s->traces.settings.epochs};
    struct hm_traces *traces = NULL;
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_fit_settings settings = {0};
    struct hm_err err = {0}, other = {0};
    struct hm_paces **paces = &s->paces[s->pace_count];
    int rc = cli_open_traces(&file, 1, &only_times, &traces, &err);

    if (rc == 0) {
        for (size_t k = 0; algorithm && k < traces->count; k++)
            traces->traces[k].algorithm = algorithm;
        rc = hm_paces_from_traces(traces, paces, &err);
    } else if (cli_open_runs(file, &runs, &other) == 0) {
        err = (struct hm_err){0};
        rc = hm_fit_new(runs, &settings, &fit, &err);
        rc = rc ? rc : hm_paces_from_fit(fit, algorithm, paces, &err);
    }
    hm_fit_free(fit);
    hm_runs_free(runs);
    hm_traces_free(traces);
    if (rc)
        return cli_report(&err);
    return check_times(s, file, s->paces[s->pace_count++]);
}

static int times_of_job(struct advise_state *s, const char *file, const char *algorithm)
{
    struct cli_job job = s->job;
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    job.path = file;
    job.piece_count = 0;
    int rc = cli_job_load(&job);
    for (size_t k = 0; k < s->ms.count; k++)
        question.max_n = fmax(question.max_n, s->ms.values[k]);
    if (rc == 0 && hm_plan(job.job, (const struct hm_cluster *const *)job.clusters, job.on_count,
                           NULL, 0, &question, &answer, &err))
        rc = cli_report(&err);
    if (rc == 0 && hm_paces_from_answer(answer, algorithm, &s->paces[s->pace_count], &err))
        rc = cli_report(&err);
    s->pace_count += rc == 0;
    if (rc == 0 && answer->priced && isnan(s->question.price_per_s))
        s->question.price_per_s = answer->price_per_s / answer->accelerators;
    hm_answer_free(answer);
    cli_job_release(&job);
    return rc;
}

static int load_times(struct advise_state *s)
{
    int rc = 0;

    if (s->job_count == 0 && (s->job.network || s->job.set_count))
        return cli_complain("advise: --network and --set go with --job");
    if (s->job.on_count > 1)
        return cli_complain("advise: name one machine with --on");
    for (size_t k = 0; rc == 0 && k < s->times_count + s->job_count; k++) {
        bool table = k < s->times_count;
        const char *file;
        char *name = split_source(s, table ? s->times[k] : s->jobs[k - s->times_count], &file);
        rc = (table ? times_of_file : times_of_job)(s, file, name);
        free(name);
    }
    return rc;
}

/* Without a price of its own, the price of a worker of --on. */
static int load_price(struct advise_state *s)
{
    struct hm_cluster *cluster;

    if (s->question.price_per_s >= 0 || s->job.on_count == 0)
        return 0;
    int rc = cli_cluster_load(&s->job, s->job.on[0], &cluster);
    if (rc)
        return rc;
    if (cluster->node.price_per_s > 0)
        s->question.price_per_s = cluster->node.price_per_s / fmax(cluster->node.accelerators, 1);
    hm_cluster_free(cluster);
    return 0;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static int show(const struct advise_state *s)
{
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    enum hm_format format = s->json ? HM_FORMAT_JSON : s->csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;
    char *text;

    style.table = s->all;
    if (hm_advice_render(s->advice, format, &style, &text, &err))
        return cli_report(&err);
    int rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

static int check(const struct advise_state *s)
{
    const struct hm_advise_question *q = &s->question;

    if (!(q->loss > 0) && isnan(q->reach) && !(q->within_s > 0) && !(q->budget > 0))
        return cli_complain("advise: what is wanted? --loss 1e-4 (how near to the best), --reach, "
                            "--within 60s or --budget '$5'");
    if (q->switch_s > 0 && !q->adaptive)
        return cli_complain("--switch-cost: goes with --adaptive");
    return 0;
}

static int run(void *state)
{
    struct advise_state *s = state;
    struct hm_err err = {0};
    int rc = check(s);

    rc = rc ? rc : cli_convergence_load(&s->traces, "advise");
    rc = rc ? rc : load_times(s);
    rc = rc ? rc : load_price(s);
    if (rc)
        return rc;
    s->question.m = s->ms.values;
    s->question.m_count = s->ms.count;
    s->question.level = s->traces.converge.level;
    s->question.seed = s->traces.converge.seed;
    s->question.algorithms = s->traces.algorithms;
    s->question.algorithm_count = s->traces.algorithm_count;
    if ((s->question.budget > 0 || s->question.goal == HM_GOAL_COST) &&
        !(s->question.price_per_s > 0))
        return cli_complain("advise: what does a worker cost? Give --price '$0.5/h', or a machine "
                            "with --on");
    if (hm_advise(s->traces.convergence, (const struct hm_paces *const *)s->paces, s->pace_count,
                  &s->question, &s->advice, &err))
        return cli_report(&err);
    rc = show(s);
    return rc ? rc : s->advice->feasible ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

const struct cli_command cli_advise = {
    .name = "advise",
    .arguments = "[TRACES]…",
    .summary = "which algorithm on how many workers",
    .description =
        "Reads traces as `howmany converge` does, or a fit that it has stored (.json), and joins "
        "the loss after i iterations on m workers with the seconds of an iteration. Given a loss, "
        "it answers with the algorithm and m that get there first, or for the least money; given a "
        "time or a budget alone, with those that get furthest. It says why the others lose, who is "
        "ahead at which loss, how sure it is, and what run would make it surer. Seconds come from "
        "the traces themselves, or from elsewhere (--times, --job): convergence stays as it is "
        "when the machines change.\n\n"
        "Exit status: 0 answered; 1 nothing gets there, or not more likely than not; 2 wrong usage "
        "or input.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
