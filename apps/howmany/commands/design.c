/* howmany design: which few runs are worth making. */
#include <stdlib.h>
#include <string.h>

#include "asked_job.h"
#include "asked_runs.h"

struct design_state {
    struct cli_job job;
    struct cli_terms terms;
    struct cli_target target;
    struct cli_axes axes;
    const char *have, *budget;
    struct hm_design_settings settings;
    struct hm_runs *candidates, *measured;
    bool json, rounds;
};

enum option {
    N,
    SIZE,
    VARY,
    BUDGET,
    COST,
    ONLY,
    CRITERION,
    TARGET,
    HAVE,
    TERMS,
    KEEP,
    FILL,
    ROUNDS,
    ON,
    NETWORK,
    SET,
    JSON
};

static const struct cli_option options[] = {
    [N] = {"n", 'n', "LIST", "numbers of workers that could be run: 1..8, or 1,2,4", NULL},
    [SIZE] = {"size", 's', "LIST",
              "sizes that could be run: 0.1,0.2, or 4/256..32/256:20 for twenty values", NULL},
    [VARY] = {"vary", 0, "NAME=LIST", "values of another quantity that could be run", NULL},
    [BUDGET] = {"budget", 'b', "COST",
                "the runs may cost so much: 10; with a job also 2h of machine time, or '$5'", NULL},
    [COST] = {"cost", 0, "FORMULA",
              "of a run, over n, size and (with a job) seconds; default: machine time with a job, "
              "else size over the smallest size over n",
              NULL},
    [ONLY] = {"only", 0, "FORMULA", "only candidates where it is not 0, such as 'size*256 >= 4*n'",
              NULL},
    [CRITERION] = {"criterion", 'c', "A|D|I",
                   "least variance of the coefficients (A, default), least volume (D), or least "
                   "variance of the prediction at the target (I)",
                   "A D I"},
    [TARGET] = {"target", 0, "PLACE", "with criterion I: 64, or n=64,size=1", NULL},
    [HAVE] = {"have", 0, "RUNS", "what is already measured: which runs to make next", "@file"},
    [TERMS] = {"terms", 't', "LIST",
               "formulas whose coefficients are wanted (default 1,size/n,ln(n),n)", NULL},
    [KEEP] = {"keep", 0, "SHARE", "runs with a larger share are made (default 0.3)", NULL},
    [FILL] = {"fill", 'f', NULL, "spend what whole runs leave of the budget on more of them", NULL},
    [ROUNDS] = {"rounds", 'r', NULL,
                "what is known after each run, and the candidates that are not made", NULL},
    [ON] = {"on", 0, "MACHINE", "with a job: the machine to run on", "@machine"},
    [NETWORK] = {"network", 0, "NAME", "with a job: the network between machines", "@fabric"},
    [SET] = {"set", 0, "KEY=VALUE", "with a job: change a key of it", NULL},
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
};

static void *begin(void)
{
    return calloc(1, sizeof(struct design_state));
}

static void end(void *state)
{
    struct design_state *s = state;

    cli_axes_release(&s->axes);
    hm_runs_free(s->candidates);
    hm_runs_free(s->measured);
    cli_job_release(&s->job);
    cli_terms_release(&s->terms);
    free(s);
}

static int read_criterion(struct design_state *s, const char *value)
{
    if (strlen(value) != 1 || !strchr("ADI", *value))
        return cli_complain("--criterion: '%s' is not A, D or I", value);
    s->settings.criterion = *value == 'A'   ? HM_CRITERION_A
                            : *value == 'D' ? HM_CRITERION_D
                                            : HM_CRITERION_I;
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    struct design_state *s = state;

    switch (option) {
    case -1:
        if (s->job.path)
            return cli_complain("design: one job at a time ('%s' and '%s')", s->job.path, value);
        s->job.path = value;
        return 0;
    case N:
        return cli_axes_add(&s->axes, "n", value);
    case SIZE:
        return cli_axes_add(&s->axes, "size", value);
    case VARY:
        return cli_axes_vary(&s->axes, value);
    case BUDGET:
        s->budget = value;
        return 0;
    case COST:
        s->settings.cost = value;
        return 0;
    case ONLY:
        s->settings.only = value;
        return 0;
    case CRITERION:
        return read_criterion(s, value);
    case TARGET:
        return cli_target_parse(&s->target, value);
    case HAVE:
        s->have = value;
        return 0;
    case TERMS:
        return cli_terms_parse(&s->terms, value);
    case KEEP:
        return cli_quantity("keep", value, HM_DIM_NONE, &s->settings.keep);
    case FILL:
        s->settings.fill = true;
        return 0;
    case ROUNDS:
        s->rounds = true;
        return 0;
    case ON:
        return cli_job_on(&s->job, value);
    case NETWORK:
        s->job.network = value;
        return 0;
    case SET:
        return cli_job_set(&s->job, value);
    default:
        s->json = true;
        return 0;
    }
}

/* Cost in its own units, or machine time, or money where the machine has a price. */
static int read_budget(struct design_state *s)
{
    struct hm_err err = {0};
    const struct hm_cluster *cluster = cli_job_cluster(&s->job);
    struct hm_dim dim;
    bool has_unit;
    double value;

    if (!s->budget)
        return 0;
    if (hm__quantity_read(s->budget, &value, &dim, &has_unit, &err))
        return cli_complain("--budget: %s", err.message);
    bool money = hm__dim_equal(dim, HM_DIM_MONEY), time = hm__dim_equal(dim, HM_DIM_TIME);
    if (!(value > 0))
        return cli_complain("--budget: '%s' is not more than 0", s->budget);
    if ((money || time) && (!s->job.path || s->settings.cost))
        return cli_complain("--budget: %s needs a job, which tells how long runs take, and no "
                            "--cost",
                            s->budget);
    if (money && !(cluster && cluster->node.price_per_s > 0))
        return cli_complain("--budget: %s needs a machine with a price: --on NAME, or --set "
                            "cluster.price='$1/h'",
                            s->budget);
    if (has_unit && !money && !time)
        return cli_complain("--budget: '%s' is neither a cost, nor time, nor money", s->budget);
    s->settings.budget = money ? value / cluster->node.price_per_s : value;
    return 0;
}

static int load(struct design_state *s)
{
    int rc = 0;

    if (s->axes.count == 0)
        return cli_complain("design: which runs could be made? Give --n 1..8, and perhaps --size "
                            "0.1,0.2");
    if (s->target.count && s->settings.criterion != HM_CRITERION_I)
        return cli_complain("design: --target goes with --criterion I");
    if (s->job.on_count > 1)
        return cli_complain("design: name one machine with --on");
    if (!s->job.path && (s->job.on_count || s->job.set_count || s->job.network))
        return cli_complain("design: --on, --network and --set need a job");
    if (s->job.path)
        rc = cli_job_load(&s->job);
    if (rc == 0)
        rc = read_budget(s);
    if (rc == 0 && s->have)
        rc = cli_runs_load(s->have, NULL, 0, &s->measured);
    return rc ? rc : cli_axes_cross(&s->axes, &s->candidates);
}

static int run(void *state)
{
    struct design_state *s = state;
    struct hm_design *design;
    struct hm_style style = cli_style();
    struct hm_err err = {0};
    char *text;
    int rc = load(s);

    if (rc)
        return rc;
    s->settings.job = s->job.job;
    s->settings.cluster = s->job.on_count ? s->job.clusters[0] : NULL;
    s->settings.terms = s->terms.terms;
    s->settings.term_count = s->terms.count;
    s->settings.have = s->measured;
    s->settings.target = s->target.at;
    s->settings.target_count = s->target.count;
    if (hm_design_new(s->candidates, &s->settings, &design, &err))
        return cli_report(&err);
    style.table = s->rounds;
    rc = hm_design_render(design, s->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT, &style, &text, &err);
    hm_design_free(design);
    if (rc)
        return cli_report(&err);
    rc = cli_put(text) ? 0 : EXIT_USAGE;
    hm_text_free(text);
    return rc;
}

const struct cli_command cli_design = {
    .name = "design",
    .arguments = "[JOB]",
    .summary = "which few runs are worth making",
    .description =
        "Looks at every combination of the values that could be run and chooses the runs that tell "
        "most about the coefficients of a fit within a budget (Ernest, NSDI 2016), as a convex "
        "programme. With a job, what its specification sheet says is known already, runs cost "
        "machine time, and the price is told in money too. With --have, what is already measured "
        "counts, and the runs are those to make next.\n\n"
        "Exit status: 0 answered; 2 wrong usage or input.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
