/*
 * howmany compare: the experiment of the survey by Zhang, Alqahtani and Demirbas in one command.
 * Each combination of task, platform and number of workers is a run of `howmany train`, as a child;
 * what it tells is gathered and set beside the published figures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "compare_tell.h"
#include "self.h"

struct compare_state {
    struct compare_asked asked;
    struct compare_result result;
    struct cli_job cluster_job; /* --set and the catalog */
    struct hm_cluster *cluster;
    const char *sets[CLI_LIST_MAX];
    const char *plot;
    bool json, csv, dry_run;
    struct cli_progress progress;
};

enum option {
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
    RECORD,
    JSON,
    CSV,
    PLOT,
    DRY_RUN,
    OPTIONS
};

static const struct cli_option options[OPTIONS] = {
    [TASKS] = {"tasks", 't', "LIST", "logistic, softmax, one-layer, two-layers (default: all)",
               "logistic softmax one-layer two-layers"},
    [PLATFORMS] = {"platforms", 0, "LIST",
                   "driver, server (bsp, ssp and async, or one of them), allreduce (default: all)",
                   "driver server bsp ssp async allreduce"},
    [N] = {"n", 'n', "RANGE", "workers (default 1,3,5)", NULL},
    [SIMULATE] = {"simulate", 0, "CLUSTER",
                  "a machine of the catalog or a cluster file (default: the survey's m4.xlarge, as "
                  "in examples/cluster-m4.yaml)",
                  "@machine"},
    [REAL] = {"real", 0, NULL, "real ranks on this machine, not simulated ones", NULL},
    [ITERATIONS] = {"iterations", 'i', "K",
                    "of mini-batches (default 20); a driver makes a tenth of them", NULL},
    [BATCH] = {"batch", 'b', "ROWS",
               "of each worker in a mini-batch (default 100 for logistic, 500 for images)", NULL},
    [ROWS] = {"rows", 0, "R", "of data that is made (default 10000 for logistic, 60000 images)",
              NULL},
    [SERVERS] = {"servers", 0, "S", "parameter servers (default 1)", NULL},
    [STALENESS] = {"staleness", 0, "S", "of ssp (default 3)", NULL},
    [DATA] = {"data", 'd', "DIR", "a folder with MNIST (default: digits are made)", "@file"},
    [SEED] = {"seed", 0, "K", "of everything random (default 1)", NULL},
    [SET] = {"set", 0, "KEY=VALUE", "change a key of the cluster, such as network.latency=1ms",
             NULL},
    [RECORD] = {"record", 0, "FILE",
                "append the traces to this table, .csv or .jsonl, or to a store, .db or "
                "postgresql://…",
                "@file"},
    [JSON] = {"json", 'j', NULL, "one document of JSON, with figures over time", NULL},
    [CSV] = {"csv", 0, NULL, "one row for each run", NULL},
    [PLOT] = {"plot", 'p', "FILE", "speed, and use over time, as a picture: .svg, .png or .pdf",
              "@file"},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the runs it would make, and make none", NULL},
};

static void *begin(void)
{
    struct compare_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->asked = (struct compare_asked){
            .iterations = 20, .servers = 1, .staleness = 3, .seed = 1, .sets = s->sets};
        memset(s->asked.tasks, true, sizeof(s->asked.tasks));
        memset(s->asked.ways, true, sizeof(s->asked.ways));
        s->result.asked = &s->asked;
    }
    return s;
}

static void end(void *state)
{
    struct compare_state *s = state;

    for (size_t i = 0; i < s->result.count; i++)
        compare_run_release(&s->result.runs[i]);
    free(s->result.runs);
    cli_range_release(&s->asked.n);
    hm_cluster_free(s->cluster);
    cli_job_release(&s->cluster_job);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static int take_set(struct compare_state *s, const char *value)
{
    if (s->asked.set_count == CLI_LIST_MAX / 2)
        return cli_complain("--set: more than %d", CLI_LIST_MAX / 2);
    s->sets[s->asked.set_count++] = value;
    return 0;
}

static int take_n(struct compare_state *s, const char *value)
{
    struct cli_range *n = &s->asked.n;

    cli_range_release(n);
    *n = (struct cli_range){0};
    if (cli_range_parse(n, value))
        return EXIT_USAGE;
    for (size_t i = 0; i < n->count; i++)
        if (!(n->values[i] >= 1) || n->values[i] > 1000 || n->values[i] != floor(n->values[i]))
            return cli_complain("--n: '%s' has what is not a whole number from 1 to 1000", value);
    return 0;
}

static int accept_number(struct compare_asked *a, int option, const char *value)
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

static int accept(void *state, int option, const char *value)
{
    struct compare_state *s = state;

    switch (option) {
    case TASKS:
        return compare_take_tasks(&s->asked, value);
    case PLATFORMS:
        return compare_take_platforms(&s->asked, value);
    case N:
        return take_n(s, value);
    case SIMULATE:
        s->asked.simulate = value;
        return 0;
    case REAL:
        s->asked.real = true;
        return 0;
    case DATA:
        s->asked.images = value;
        return 0;
    case SET:
        return take_set(s, value);
    case RECORD:
        s->asked.record = value;
        return 0;
    case PLOT:
        return cli_check_plot(s->plot = value);
    case JSON:
    case CSV:
    case DRY_RUN:
        *(option == JSON ? &s->json : option == CSV ? &s->csv : &s->dry_run) = true;
        return 0;
    default:
        return option < 0 ? cli_complain("compare: '%s' is not an option", value)
                          : accept_number(&s->asked, option, value);
    }
}

/* ---- before it starts ----------------------------------------------------------------------- */

/* To know its links, and to complain once and not in each run. */
static int load_cluster(struct compare_state *s)
{
    const struct compare_asked *a = &s->asked;
    int rc = 0;

    if (a->real && (a->simulate || a->set_count))
        return cli_complain("--real: then there is no cluster for --simulate and --set");
    if (a->real)
        return 0;
    s->cluster_job.catalog = cli_catalog_load();
    if (!s->cluster_job.catalog)
        return EXIT_USAGE;
    for (size_t i = 0; rc == 0 && !a->simulate && compare_cluster_sets[i]; i++)
        rc = cli_cluster_set(&s->cluster_job, compare_cluster_sets[i]);
    for (size_t i = 0; rc == 0 && i < a->set_count; i++)
        rc = cli_cluster_set(&s->cluster_job, a->sets[i]);
    s->result.cluster = a->simulate ? a->simulate : "m4.xlarge as the survey used it";
    rc = rc ? rc
            : cli_cluster_load(&s->cluster_job, a->simulate ? a->simulate : compare_cluster,
                               &s->cluster);
    if (rc == 0)
        s->result.bandwidth = s->cluster->network.bandwidth_bytes_per_s;
    return rc;
}

static int prepare(struct compare_state *s)
{
    int rc = s->asked.n.count > 0 ? 0 : take_n(s, "1,3,5");
    size_t most = COMPARE_TASKS * COMPARE_WAYS * s->asked.n.count;

    if (rc == 0 && s->json && s->csv)
        rc = cli_complain("compare: --json or --csv, not both");
    rc = rc ? rc : compare_check(&s->asked);
    rc = rc ? rc : load_cluster(s);
    if (rc == 0 && !(s->result.runs = calloc(most, sizeof(*s->result.runs))))
        rc = cli_complain("out of memory");
    return rc;
}

/* ---- runs ----------------------------------------------------------------------------------- */

struct making {
    struct compare_run *run;
    int rc;
};

static void take_line(void *context, const char *line, double seconds)
{
    struct making *m = context;

    (void)seconds;
    if (m->rc == 0 && compare_read_line(m->run, line))
        m->rc = cli_complain("out of memory");
}

/* What became of a run: 0, or an exit code with a message. */
static int settle(struct compare_run *run, const struct cli_child *child)
{
    if (child->end == CLI_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == CLI_CHILD_NOT_STARTED)
        return cli_complain("compare: howmany train does not start: %s", strerror(child->code));
    bool whole = compare_read_end(run);
    if (child->end == CLI_CHILD_EXITED && whole && (child->code == 0 || run->diverged))
        return 0;
    fputs(child->tail, stderr);
    cli_complain("compare: a run failed: %s", run->command);
    return child->end == CLI_CHILD_EXITED && child->code == EXIT_USAGE ? EXIT_USAGE
                                                                       : EXIT_NO_ANSWER;
}

static int quote_command(const struct cli_words *words, char **ret_command)
{
    struct hm_text text = {0};
    struct hm_err err = {0};

    hm__text_add(&text, "howmany ");
    if (cli_words_quote(&text, words) || hm__text_take(&text, ret_command, &err)) {
        hm__text_release(&text);
        return cli_complain("out of memory");
    }
    return 0;
}

static int make_run(struct compare_state *s, struct compare_run *run)
{
    struct cli_words words = {0};
    struct making m = {.run = run};
    struct cli_child child = {.line = take_line, .context = &m};
    struct hm_err err = {0};
    int rc = compare_run_words(&s->asked, run->task, run->way, run->n, &words);

    rc = rc ? rc : quote_command(&words, &run->command);
    if (rc == 0 && !s->dry_run) {
        rc = cli_self_run(&words, &child, &err) ? cli_report(&err) : 0;
        rc = rc ? rc : m.rc;
        rc = rc ? rc : settle(run, &child);
    }
    cli_words_release(&words);
    return rc;
}

static size_t count_runs(const struct compare_asked *a)
{
    size_t tasks = 0, ways = 0;

    for (size_t i = 0; i < COMPARE_TASKS; i++)
        tasks += a->tasks[i];
    for (size_t i = 0; i < COMPARE_WAYS; i++)
        ways += a->ways[i];
    return tasks * ways * a->n.count;
}

static int make_runs(struct compare_state *s)
{
    struct compare_asked *a = &s->asked;
    struct compare_result *r = &s->result;
    int rc = 0;

    s->progress = cli_progress_start("run", count_runs(a));
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        for (size_t w = 0; a->tasks[t] && w < COMPARE_WAYS; w++)
            for (size_t i = 0; rc == 0 && a->ways[w] && i < a->n.count; i++) {
                struct compare_run *run = &r->runs[r->count++];
                *run = (struct compare_run){
                    .task = &compare_tasks[t], .way = &compare_ways[w], .n = a->n.values[i]};
                run->batch = run->way->full ? 0 : compare_batch(a, run->task, run->n);
                rc = make_run(s, run);
                cli_progress_step(&s->progress, r->count);
            }
    cli_progress_end(&s->progress);
    return rc;
}

/* ---- telling -------------------------------------------------------------------------------- */

static int plot(struct compare_state *s)
{
    struct hm_text script = {0};
    struct hm_err err = {0};
    int rc = compare_plot(&s->result, s->plot, &script, &err) ? cli_report(&err) : 0;

    if (rc == 0)
        rc = script.failed ? cli_complain("out of memory") : cli_gnuplot(script.data, s->plot);
    hm__text_release(&script);
    return rc;
}

static int tell(struct compare_state *s)
{
    struct hm_style style = cli_style();
    struct hm_text out = {0};

    if (s->dry_run)
        for (size_t i = 0; i < s->result.count; i++)
            hm__text_addf(&out, "%s\n", s->result.runs[i].command);
    else if (s->json)
        compare_tell_json(&s->result, &out);
    else if (s->csv)
        compare_tell_csv(&s->result, &out);
    else
        compare_tell_text(&s->result, &style, &out);
    int rc = cli_put_text(&out);
    return rc == 0 && s->plot && !s->dry_run ? plot(s) : rc;
}

static int run(void *state)
{
    struct compare_state *s = state;
    int rc = prepare(s);

    if (rc)
        return rc;
    cli_interrupt_begin();
    rc = make_runs(s);
    if (rc == 0 && cli_interrupted())
        rc = EXIT_INTERRUPTED;
    cli_interrupt_end();
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr, "howmany: interrupted\n");
    return rc ? rc : tell(s);
}

const struct cli_command cli_compare = {
    .name = "compare",
    .arguments = "",
    .summary = "set platforms beside each other, and beside published figures",
    .description =
        "The experiment of a survey (Zhang, Alqahtani, Demirbas: A comparison of distributed "
        "machine learning platforms, ICCCN 2017) in one command: four tasks (logistic regression "
        "on 10,000 rows of 10,000 features; MNIST by softmax, one and two hidden layers) on a "
        "driver, on parameter servers (bsp, ssp, async) and by all-reduce, with 1, 3 and 5 "
        "workers. Each is a run of howmany train, simulated on a cluster like the survey's or, "
        "with --real, on real ranks.\n\n"
        "Tells samples a second, of all workers and of each; the share of the time in which "
        "workers compute; network and memory of workers and of servers or the driver; and why the "
        "fastest platform is fastest. What was published stands beside the runs on 3 workers. "
        "--json has the same over time.\n\n"
        "Without --data the images are made, and look like MNIST's. With fewer --rows it is "
        "faster; samples a second of mini-batches do not change by that, a driver's do, and what "
        "they would be is told.\n\n"
        "Exit status: 0 all runs were made; 1 one failed; 2 wrong usage or input; 130 interrupted.",
    .options = options,
    .option_count = OPTIONS,
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
