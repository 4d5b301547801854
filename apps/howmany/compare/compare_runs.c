/*
 * Executes the runs of a comparison. Each combination of task, platform and number of workers is a
 * child process, `howmany train`, whose trace is read line by line.
 */
#include "compare_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "format.h"
#include "listing.h"
#include "own_program.h"

/* State of a run whose child process is running. */
struct compare_child {
    struct compare_run *run;
    int rc; /* Exit code so far: 0, or EXIT_USAGE after a failure. */
};

static void read_output_line(void *context, const char *line, double seconds)
{
    struct compare_child *c = context;

    (void)seconds;
    if (c->rc == 0 && compare_run_read_line(c->run, line))
        c->rc = cli_complain("out of memory");
}

/* Checks how a run ended. Returns 0, or an exit code with a message. */
static int check_run(struct compare_run *run, const struct launch_child *child)
{
    if (child->end == LAUNCH_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == LAUNCH_CHILD_NOT_STARTED)
        return cli_complain("compare: cannot start howmany train: %s", strerror(child->code));
    bool complete = compare_run_finish(run);
    if (child->end == LAUNCH_CHILD_EXITED && complete && (child->code == 0 || run->diverged))
        return 0;
    fputs(child->tail, stderr);
    cli_complain("compare: a run failed: %s", run->command);
    bool usage = child->end == LAUNCH_CHILD_EXITED && child->code == EXIT_USAGE;
    return usage ? EXIT_USAGE : EXIT_NO_ANSWER;
}

static int quote_command(const struct launch_command *arguments, char **ret_command)
{
    struct hm_text text = {0};
    struct hm_err err = {0};

    hm__text_add(&text, "howmany ");
    if (launch_command_quote(&text, arguments) || hm__text_take(&text, ret_command, &err)) {
        hm__text_release(&text);
        return cli_complain("out of memory");
    }
    return 0;
}

static int make_run(const struct compare_request *request, struct compare_run *run, bool dry_run)
{
    struct launch_command arguments = {0};
    struct compare_child context = {.run = run};
    struct launch_child child = {.line = read_output_line, .context = &context};
    struct hm_err err = {0};
    int rc = compare_run_command(request, run->task, run->way, run->n, &arguments);

    rc = rc ? rc : quote_command(&arguments, &run->command);
    if (rc == 0 && !dry_run) {
        rc = launch_own_program(&arguments, &child, &err) ? cli_report(&err) : 0;
        rc = rc ? rc : context.rc;
        rc = rc ? rc : check_run(run, &child);
    }
    launch_command_release(&arguments);
    return rc;
}

static size_t count_runs(const struct compare_request *request)
{
    size_t tasks = 0, ways = 0;

    for (size_t i = 0; i < COMPARE_TASKS; i++)
        tasks += request->tasks[i];
    for (size_t i = 0; i < COMPARE_WAYS; i++)
        ways += request->ways[i];
    return tasks * ways * request->n.count;
}

/* Shows which run is starting, and the remaining time. */
static void show_run(struct cli_progress *progress, const struct compare_run *run, size_t number)
{
    char text[200], left[HM_SHOWN];
    double spent = cli_now_s() - progress->started_s;
    size_t done = number - 1;
    int used = snprintf(text, sizeof(text), "run %zu of %zu, %s, %s on %.0f", number,
                        progress->total, run->task->title, run->way->name, run->n);

    if (done > 0 && used > 0)
        snprintf(text + used, sizeof(text) - (size_t)used, ", about %s left",
                 hm__show_time(spent / (double)done * (double)(progress->total - done), left));
    cli_listing_put(progress->listing, (double)done, (double)progress->total, false);
    cli_progress_say(progress, text);
}

int compare_make_runs(struct compare_result *r, bool dry_run)
{
    const struct compare_request *q = r->request;
    struct cli_progress progress = cli_progress_start("compare", count_runs(q));
    int rc = 0;

    r->runs = calloc(count_runs(q) + 1, sizeof(*r->runs));
    if (!r->runs)
        return cli_complain("out of memory");
    if (!dry_run)
        cli_progress_list(&progress, "platforms on the same tasks");
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        for (size_t w = 0; q->tasks[t] && w < COMPARE_WAYS; w++)
            for (size_t i = 0; rc == 0 && q->ways[w] && i < q->n.count; i++) {
                struct compare_run *run = &r->runs[r->count++];
                *run = (struct compare_run){
                    .task = &compare_tasks[t], .way = &compare_ways[w], .n = q->n.values[i]};
                run->batch = run->way->full ? 0 : compare_batch(q, run->task, run->n);
                if (!dry_run)
                    show_run(&progress, run, r->count);
                rc = make_run(q, run, dry_run);
            }
    cli_progress_close(&progress);
    return rc;
}
