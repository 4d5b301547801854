/*
 * Implements the command howmany compare, which repeats the experiment of the survey by Zhang,
 * Alqahtani and Demirbas. Each combination of task, platform and number of workers is a run of
 * `howmany train`; the results are shown next to the published values.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "compare_output.h"
#include "compare_runs.h"
#include "machine.h"

struct compare_state {
    struct compare_request request;
    struct compare_result result;
    struct cli_machine cluster_job; /* The catalog, and the assignments of --set to the cluster. */
    struct hm_cluster *cluster;
    const char *sets[CLI_LIST_MAX];
    const char *plot, *measured;
    bool json, csv, dry_run;
};

enum compare_option {
    TASKS,
    PLATFORMS,
    N,
    SIMULATE,
    REAL,
    ITERATIONS,
    BATCH,
    ROWS,
    SERVERS,
    STALENESS,
    DATA,
    SEED,
    SET,
    MEASURED,
    RECORD,
    JSON,
    CSV,
    PLOT,
    DRY_RUN,
    OPTIONS
};

static const struct cli_option options[OPTIONS] = {
    [TASKS] = {"tasks", 0, "LIST", "logistic, softmax, one-layer, two-layers (default: all)",
               "logistic softmax one-layer two-layers"},
    [PLATFORMS] = {"platforms", 0, "LIST",
                   "driver, server (bsp, ssp and async), bsp, ssp, async, allreduce (default: all)",
                   "driver server bsp ssp async allreduce"},
    [N] = {"n", 'n', "RANGE", "numbers of workers (default 1,3,5)", NULL},
    [SIMULATE] =
        {"simulate", 0, "CLUSTER",
         "a machine from the catalog or a cluster file (default: the survey's m4.xlarge, as "
         "in examples/cluster-m4.yaml)",
         "@machine"},
    [REAL] = {"real", 0, NULL, "use real ranks on this machine instead of simulated ones", NULL},
    [ITERATIONS] = {"iterations", 'i', "K",
                    "iterations of a run (default 20); runs with a driver have a tenth of them",
                    NULL},
    [BATCH] = {"batch", 'b', "ROWS",
               "rows per worker of a mini-batch (default 100 for logistic, 500 for images)", NULL},
    [ROWS] = {"rows", 0, "R", "rows of generated data (default 10000 for logistic, 60000 images)",
              NULL},
    [SERVERS] = {"servers", 0, "S", "number of parameter servers (default 1)", NULL},
    [STALENESS] = {"staleness", 0, "S", "staleness bound of ssp (default 3)", NULL},
    [DATA] = {"data", 'd', "DIR", "a folder with MNIST (default: digits are generated)", "@file"},
    [SEED] = {"seed", 0, "K", "seed of all random numbers (default 1)", NULL},
    [SET] = {"set", 0, "KEY=VALUE", "change a key of the cluster, such as fabric.latency=1ms",
             NULL},
    [MEASURED] =
        {"measured", 0, "FILE",
         "runs of other frameworks to show next to these: CSV with task, platform, system, "
         "n, and samples_per_s or seconds and batch",
         "@file"},
    [RECORD] = {"record", 'r', "FILE",
                "append the traces to this table, .csv or .jsonl, or to a store, .db or "
                "postgresql://…",
                "@file"},
    [JSON] = {"json", 'j', NULL, "one JSON document, with figures over time", NULL},
    [CSV] = {"csv", 0, NULL, "one row for each run", NULL},
    [PLOT] = {"plot", 0, "FILE", "speed, and usage over time, as a picture: .svg, .png or .pdf",
              "@file"},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the runs without executing them", NULL},
};

static void *compare_begin(void)
{
    struct compare_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->request = (struct compare_request){
            .iterations = 20, .servers = 1, .staleness = 3, .seed = 1, .sets = s->sets};
        memset(s->request.tasks, true, sizeof(s->request.tasks));
        memset(s->request.ways, true, sizeof(s->request.ways));
        s->result.request = &s->request;
    }
    return s;
}

static void compare_end(void *state)
{
    struct compare_state *s = state;

    compare_result_release(&s->result);
    cli_range_release(&s->request.n);
    hm_cluster_free(s->cluster);
    cli_machine_release(&s->cluster_job);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int add_cluster_set(struct compare_state *s, const char *value)
{
    if (s->request.set_count == CLI_LIST_MAX / 2)
        return cli_complain("--set: more than %d", CLI_LIST_MAX / 2);
    s->sets[s->request.set_count++] = value;
    return 0;
}

static int read_workers(struct compare_state *s, const char *value)
{
    struct cli_range *n = &s->request.n;

    if (cli_range_parse(n, "n", value))
        return EXIT_USAGE;
    for (size_t i = 0; i < n->count; i++)
        if (!(n->values[i] >= 1) || n->values[i] > 1000 || n->values[i] != floor(n->values[i]))
            return cli_complain("--n: '%s' has the value %g; it must be a whole number from 1 to "
                                "1000",
                                value, n->values[i]);
    return 0;
}

static int accept_number(struct compare_request *a, int option, const char *value)
{
    const char *name = options[option].name;

    switch (option) {
    case ITERATIONS:
        return cli_whole(name, value, 1, 1e9, &a->iterations);
    case BATCH:
        return cli_whole(name, value, 1, 1e9, &a->batch);
    case ROWS:
        return cli_whole(name, value, 1, 1e9, &a->rows);
    case SERVERS:
        return cli_whole(name, value, 1, 10000, &a->servers);
    case STALENESS:
        return cli_whole(name, value, 0, 1e9, &a->staleness);
    default:
        return cli_whole(name, value, 0, CLI_SEED_MAX, &a->seed);
    }
}

static int compare_accept(void *state, int option, const char *value)
{
    struct compare_state *s = state;

    switch (option) {
    case TASKS:
        return compare_select_tasks(&s->request, value);
    case PLATFORMS:
        return compare_select_platforms(&s->request, value);
    case N:
        return read_workers(s, value);
    case SIMULATE:
        s->request.simulate = value;
        return 0;
    case REAL:
        s->request.real = true;
        return 0;
    case DATA:
        s->request.images = value;
        return 0;
    case SET:
        return add_cluster_set(s, value);
    case MEASURED:
        s->measured = value;
        return 0;
    case RECORD:
        s->request.record = value;
        return 0;
    case PLOT:
        return cli_check_plot(s->plot = value);
    case JSON:
    case CSV:
    case DRY_RUN:
        *(option == JSON ? &s->json : option == CSV ? &s->csv : &s->dry_run) = true;
        return 0;
    default:
        return option < 0 ? cli_complain("compare: unexpected operand '%s'", value)
                          : accept_number(&s->request, option, value);
    }
}

/* ---- preparation ---------------------------------------------------------------------------- */

/*
 * Loads the cluster to find its bandwidth. An error in the cluster is then reported once, before
 * the runs start.
 */
static int load_compare_cluster(struct compare_state *s)
{
    const struct compare_request *a = &s->request;
    int rc = 0;

    if (a->real && (a->simulate || a->set_count))
        return cli_complain("--real: it cannot be combined with --simulate or --set");
    if (a->real)
        return 0;
    for (size_t i = 0; rc == 0 && !a->simulate && compare_cluster_sets[i]; i++)
        rc = cli_machine_set(&s->cluster_job, compare_cluster_sets[i]);
    for (size_t i = 0; rc == 0 && i < a->set_count; i++)
        rc = cli_machine_set(&s->cluster_job, a->sets[i]);
    s->result.cluster = a->simulate ? a->simulate : "m4.xlarge as the survey used it";
    rc = rc ? rc
            : cli_machine_load(&s->cluster_job, a->simulate ? a->simulate : compare_cluster,
                               &s->cluster);
    if (rc == 0)
        s->result.bandwidth = s->cluster->fabric.bandwidth_bytes_per_s;
    return rc;
}

static int compare_prepare(struct compare_state *s)
{
    int rc = s->request.n.count > 0 ? 0 : read_workers(s, "1,3,5");

    if (rc == 0 && s->json && s->csv)
        rc = cli_complain("compare: --json or --csv, not both");
    rc = rc ? rc : compare_check(&s->request);
    if (rc == 0 && s->measured)
        rc = compare_measured_read(s->measured, &s->result.measured);
    return rc ? rc : load_compare_cluster(s);
}

/* ---- output --------------------------------------------------------------------------------- */

static int write_plot(struct compare_state *s)
{
    struct hm_text script = {0};
    struct hm_err err = {0};
    int rc = compare_output_plot(&s->result, s->plot, &script, &err) ? cli_report(&err) : 0;

    if (rc == 0)
        rc = script.failed ? cli_complain("out of memory") : cli_gnuplot(script.data, s->plot);
    hm__text_release(&script);
    return rc;
}

static int print_comparison(struct compare_state *s)
{
    struct hm_style style = cli_style();
    struct hm_text out = {0};

    if (s->dry_run)
        for (size_t i = 0; i < s->result.count; i++)
            hm__text_addf(&out, "%s\n", s->result.runs[i].command);
    else if (s->json)
        compare_output_json(&s->result, &out);
    else if (s->csv)
        compare_output_csv(&s->result, &out);
    else
        compare_output_text(&s->result, &style, &out);
    int rc = cli_put_text(&out);
    return rc == 0 && s->plot && !s->dry_run ? write_plot(s) : rc;
}

static int compare_run_command_line(void *state)
{
    struct compare_state *s = state;
    int rc = compare_prepare(s);

    if (rc)
        return rc;
    launch_interrupt_begin();
    rc = compare_make_runs(&s->result, s->dry_run);
    if (rc == 0 && launch_interrupted())
        rc = EXIT_INTERRUPTED;
    launch_interrupt_end();
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr, "howmany: interrupted\n");
    return rc ? rc : print_comparison(s);
}

static const struct cli_heading headings[] = {{"tasks", "runs"},      {"simulate", "machines"},
                                              {"iterations", "runs"}, {"set", "machines"},
                                              {"record", "output"},   {NULL, NULL}};

const struct cli_command cli_compare = {
    .name = "compare",
    .examples = {"howmany compare --tasks one-layer -n 3 --rows 1500",
                 "howmany compare --tasks softmax --dry-run", "howmany compare --dry-run"},
    .arguments = "",
    .summary = "compare platforms with each other and with published figures",
    .description =
        "The experiment of a survey (Zhang, Alqahtani, Demirbas: A comparison of distributed "
        "machine learning platforms, ICCCN 2017) in one command: four tasks (logistic regression "
        "on 10,000 rows of 10,000 features; MNIST by softmax, one and two hidden layers) on a "
        "driver, on parameter servers (bsp, ssp, async) and by all-reduce, with 1, 3 and 5 "
        "workers. Each is a run of howmany train, simulated on a cluster like the survey's or, "
        "with --real, on real ranks.\n\n"
        "Shows samples per second, of all workers and of each; the share of the time in which "
        "workers compute; network and memory of workers and of servers or the driver; and why the "
        "fastest platform is fastest. Published figures are shown with the runs on 3 workers. "
        "--json has the same over time. With --measured, speeds of other frameworks on the same "
        "tasks are shown below the runs, with their ratio to the run on the same platform and n; "
        "tools/run-frameworks measures them.\n\n"
        "Without --data, images like MNIST's are generated. Fewer --rows make it faster. The "
        "samples per second of mini-batches do not depend on the rows; those of a driver do, and "
        "the speed with all rows is shown too.\n\n"
        "Exit status: 0 all runs were made; 1 one failed; 2 wrong usage or input; 130 interrupted.",
    .options = options,
    .option_count = OPTIONS,
    .headings = headings,
    .accept = compare_accept,
    .run = compare_run_command_line,
    .begin = compare_begin,
    .end = compare_end,
};
