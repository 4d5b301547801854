/*
 * Measures messages between ranks. The ranks run the program howmany-links under a launcher that
 * this process starts. If this process is itself a rank of an MPI job, each rank of the job starts
 * one process of howmany-links instead. Times can also come from the output of nccl-tests, OSU or
 * IMB.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calibrate_session.h"
#include "child.h"
#include "import.h"
#include "train_launch.h"
#include "value.h"

/* Ranks that have not ended after LINKS_TIMEOUT_S seconds are stopped. */
static const double LINKS_TIMEOUT_S = 300, LAUNCHER_STUCK_S = 5;

int calibrate_rank(void)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                           {"PMI_SIZE", "PMI_RANK"},
                                           {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *size = getenv(names[i][0]), *rank = getenv(names[i][1]);
        double ranks = 0, own = 0;
        if (size && rank && hm__number_read(size, &ranks) && hm__number_read(rank, &own) &&
            ranks > 1)
            return (int)own;
    }
    return -1;
}

static bool add_row(struct calibrate_session *s, const struct hm_timing *row)
{
    if (s->timings.count == sizeof(s->rows) / sizeof(s->rows[0]))
        return false;
    s->rows[s->timings.count++] = *row;
    return true;
}

/* ---- howmany-links ----------------------------------------------------------------------------
 */

/* Reads a measurement from a line of the output of howmany-links; other lines are ignored. */
static void read_links_line(void *context, const char *line, double seconds)
{
    struct calibrate_session *s = context;
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *value;

    (void)seconds;
    if (arena && line[0] == '{' &&
        hm__json_parse(arena, line, strlen(line), "howmany-links", &value, NULL) == 0) {
        const struct hm_value *what = hm__value_get(value, "what");
        bool all = what && what->text && strcmp(what->text, "all_reduce") == 0;
        const struct hm_timing row = {.what = all ? HM_TIMED_ALL_REDUCE : HM_TIMED_SEND,
                                      .shape = {hm__value_number(value, "bytes")},
                                      .workers = hm__value_number(value, "workers"),
                                      .nodes = hm__value_number(value, "nodes"),
                                      .seconds = hm__value_number(value, "seconds"),
                                      .spread = hm__value_number(value, "spread")};
        if (row.seconds > 0 && row.shape[0] > 0)
            add_row(s, &row);
    }
    hm__arena_free(arena);
}

/* Builds the command line of the launcher, with the hosts that the request names. */
static int set_launcher(struct train_launch *l, const struct calibrate_request *r,
                        struct hm_text *text)
{
    if (r->launcher || !r->hosts) {
        l->launcher = r->launcher;
        return 0;
    }
    hm__text_addf(text, "mpirun -n {n} --host '%s'", r->hosts);
    l->launcher = text->data;
    return text->failed ? cli_complain("out of memory") : 0;
}

/* Reports why the ranks returned no results, and returns an exit code. */
static int report_links(const struct launch_child *child, const char *program)
{
    if (child->end == LAUNCH_CHILD_INTERRUPTED)
        return EXIT_INTERRUPTED;
    if (child->end == LAUNCH_CHILD_NOT_STARTED)
        return cli_complain("calibrate: %s does not start: %s", program, strerror(child->code));
    if (child->end == LAUNCH_CHILD_TIMED_OUT)
        return cli_complain("calibrate: the ranks have not ended after %.0f s", LINKS_TIMEOUT_S);
    return cli_complain("calibrate: the ranks ended with status %d:\n%s", child->code, child->tail);
}

int calibrate_links_measure(struct calibrate_session *s)
{
    const struct calibrate_request *r = s->request;
    int rank = calibrate_rank();
    struct train_launch l = {.program = "howmany-links",
                             .inside = rank >= 0,
                             .ranks = {.workers = rank >= 0 ? 1 : fmax(r->n, 2)}};
    struct launch_command command = {0};
    struct hm_text launcher = {0};
    struct hm_err err = {0};
    int rc = rank >= 0 ? 0 : set_launcher(&l, r, &launcher);

    rc = rc ? rc : train_launch_prepare(&l);
    if (rc == 0 && r->quick)
        rc = train_launch_option(&l, "quick", NULL);
    rc = rc ? rc : train_launch_command(&l, false, &command);
    if (rc == 0) {
        struct launch_child child = {.argv = command.argv,
                                     .timeout_s = LINKS_TIMEOUT_S,
                                     .stuck_s = LAUNCHER_STUCK_S,
                                     .line = read_links_line,
                                     .context = s};
        size_t before = s->timings.count;
        if (l.oversubscribed)
            fprintf(stderr, "howmany: calibrate: there are more ranks than cores: messages wait "
                            "for processes, so that their times mean little\n");
        rc = launch_child_run(&child, &err) ? cli_report(&err) : 0;
        if (rc == 0 && (child.end != LAUNCH_CHILD_EXITED || child.code != 0 ||
                        (rank <= 0 && s->timings.count == before)))
            rc = report_links(&child, command.argv[0]);
    }
    launch_command_release(&command);
    train_launch_release(&l);
    hm__text_release(&launcher);
    return rc;
}

/* ---- outputs of other tools -------------------------------------------------------------------
 */

/*
 * Copies the times of messages and all-reduces from an imported file, and returns their number. If
 * the file does not name the nodes, one rank on each node is assumed.
 */
static size_t take_rows(struct calibrate_session *s, const struct hm_imported *im)
{
    size_t taken = 0;

    for (size_t i = 0; i < im->runs.rows; i++) {
        const struct hm_import_cell *cells = im->runs.cells + i * im->runs.column_count;
        const char *name = cells[0].text ? cells[0].text : "";
        bool sum = strstr(name, "all_reduce") || strstr(name, "Allreduce");
        bool send = strcmp(name, "Latency") == 0 || strcmp(name, "PingPong") == 0;
        const struct hm_timing row = {.what = sum ? HM_TIMED_ALL_REDUCE : HM_TIMED_SEND,
                                      .shape = {cells[2].number},
                                      .workers = cells[1].number,
                                      .nodes = im->nodes > 0 ? im->nodes : cells[1].number,
                                      .seconds = cells[3].number,
                                      .spread = NAN};
        if ((sum || send) && row.workers > 1 && row.seconds > 0 && row.shape[0] > 0)
            taken += add_row(s, &row);
        s->nccl |= strstr(name, "all_reduce") != NULL;
    }
    return taken;
}

int calibrate_links_read(struct calibrate_session *s)
{
    char ranks[32];
    const char *set[] = {ranks};
    const struct hm_import_from from = {.name = s->request->from,
                                        .as = hm__importer_find("collectives"),
                                        .set = set,
                                        .set_count = s->request->n > 0};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};

    snprintf(ranks, sizeof(ranks), "n=%.0f", s->request->n);
    if (hm__import_new(&from, &im, &err))
        return cli_report(&err);
    size_t taken = take_rows(s, im);
    bool needs = im->needs_n;
    hm__import_free(im);
    if (taken < 2 && needs)
        return cli_complain("--from: %s does not say how many ranks there were; give -n",
                            s->request->from);
    if (taken < 2)
        return cli_complain(
            "--from: %s has no all-reduces and no messages between two ranks "
            "(nccl-tests all_reduce_perf, osu_latency, osu_allreduce, IMB PingPong)",
            s->request->from);
    return 0;
}
