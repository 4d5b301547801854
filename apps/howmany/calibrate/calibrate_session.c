/* Performs a calibration: chooses what to measure and with how much effort, and writes the
 * results. */
#include "calibrate_session.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "servers.h"

void calibrate_session_release(struct calibrate_session *s)
{
    calibrate_device_close(&s->device);
    hm_cluster_free(s->sheet);
    hm_catalog_free(s->catalog);
    hm__arena_free(s->arena);
}

/* ---- what to measure --------------------------------------------------------------------------
 */

/* Checks that a file can be written before anything is measured. */
static int check_writable(const char *option, const char *path)
{
    char folder[PATH_MAX];

    if (!path)
        return 0;
    int length = snprintf(folder, sizeof(folder), "%s", path);
    if (length <= 0 || (size_t)length >= sizeof(folder))
        return cli_complain("--%s: '%.60s' is not the name of a file", option, path);
    if (access(path, F_OK) == 0 ? access(path, W_OK) == 0 : access(dirname(folder), W_OK) == 0)
        return 0;
    return cli_complain("--%s: %s cannot be written: %s", option, path, strerror(errno));
}

static int check_request(const struct calibrate_request *r)
{
    if (r->replay && (r->cpu || r->gpu || r->fabric))
        return cli_complain("--replay: the file says what was measured; leave --cpu, --gpu and "
                            "--fabric out");
    if (r->cpu && r->gpu)
        return cli_complain("calibrate: a machine has one kind of worker: give --cpu or --gpu");
    if ((r->hosts || r->launcher) && !r->fabric)
        return cli_complain("--%s: it applies only with --fabric", r->hosts ? "hosts" : "launcher");
    if (r->hosts && r->launcher)
        return cli_complain("--hosts: name the hosts in the command of --launcher instead");
    if (r->n > 0 && !r->fabric && !r->from)
        return cli_complain("--n: it applies only with --fabric or --from");
    if (r->plain && (r->gpu || r->replay))
        return cli_complain("--plain: it applies only to the CPU");
    int rc = r->plot ? cli_check_plot(r->plot) : 0;
    if (rc == 0)
        rc = check_writable("output", r->output);
    return rc ? rc : check_writable("record", r->record);
}

/*
 * Opens the device that the request names. If it names no device, opens a GPU if there is one, else
 * the CPU.
 */
static int open_device(struct calibrate_session *s)
{
    const struct calibrate_request *r = s->request;
    struct hm_err err = {0}, unused = {0};
    bool any = !r->cpu && !r->gpu && !r->replay && !r->fabric && !r->from;
    int rc = 0;

    if (r->replay)
        rc = calibrate_recorded_open(&s->device, r->replay, &err);
    else if (r->gpu)
        rc = calibrate_gpu_open(&s->device, (int)r->gpu_index, &err);
    else if (any && calibrate_gpu_open(&s->device, (int)r->gpu_index, &unused) == 0)
        return 0;
    else if (any || r->cpu)
        rc = calibrate_cpu_open(&s->device, !r->plain, &err);
    if (rc && r->gpu && !err.field[0]) {
        snprintf(err.field, sizeof(err.field), "gpu");
        snprintf(err.source, sizeof(err.source), "request");
    }
    return rc ? cli_report(&err) : 0;
}

/* ---- measuring --------------------------------------------------------------------------------
 */

static void show_step(void *context, size_t done, size_t total)
{
    struct cli_progress *progress = context;

    progress->total = total;
    cli_progress_step(progress, done);
}

static bool is_stopped(void *context)
{
    (void)context;
    return launch_interrupted();
}

/* Appends the operations of the device to the rows of the session, after the times of messages.
 * Returns the number of operations. */
static size_t list_ops(struct calibrate_session *s, struct hm_timing *rows)
{
    const struct hm_timings *facts = &s->device.facts;

    if (s->request->replay) {
        size_t count = 0;
        for (size_t i = 0; i < facts->count && count < HM_CALIBRATION_OPS; i++)
            rows[count++] = facts->rows[i];
        return count;
    }
    return facts->gpu ? hm__calibration_gpu_ops(s->request->quick, rows)
                      : hm__calibration_cpu_ops(s->request->quick, facts->processors, rows);
}

static int measure_device(struct calibrate_session *s)
{
    bool quick = s->request->quick, replay = s->request->replay != NULL;
    bool gpu = s->device.facts.gpu;
    struct cli_progress progress = cli_progress_start("calibrate", 1);
    const struct calibrate_effort effort = {.rounds = replay  ? 1
                                                      : quick ? 2
                                                      : gpu   ? 4
                                                              : 6,
                                            .fastest = !replay && !gpu,
                                            .samples = replay  ? 1
                                                       : quick ? 3
                                                               : 8,
                                            .sample_s = quick                 ? 1e-3
                                                        : s->device.facts.gpu ? 5e-3
                                                                              : 2e-2,
                                            .longest_s = replay  ? INFINITY
                                                         : quick ? 0.1
                                                                 : 0.5,
                                            .step = show_step,
                                            .stopped = is_stopped,
                                            .context = &progress};
    struct hm_timing *rows = s->rows + s->timings.count;
    struct hm_err err = {0};
    size_t kept = 0;

    int rc = calibrate_measure(&s->device, &effort, rows, list_ops(s, rows), &kept, &err);
    cli_progress_end(&progress);
    if (rc == HM_E_CANCELLED)
        return EXIT_INTERRUPTED;
    if (rc)
        return cli_report(&err);
    /* A recorded device is measured in one round, so the spread between rounds is copied from the
     * recording. */
    for (size_t i = 0; replay && i < kept; i++)
        rows[i].spread = s->device.facts.rows[i].spread;
    s->timings.count += kept;
    return 0;
}

/*
 * Copies the properties that the device itself reports into the session, except for its rows of
 * times.
 */
static void take_facts(struct calibrate_session *s)
{
    const struct hm_timings *facts = &s->device.facts;
    size_t count = s->timings.count;
    time_t now = time(NULL);
    struct tm day;

    strftime(s->date, sizeof(s->date), "%Y-%m-%d", gmtime_r(&now, &day));
    s->timings =
        (struct hm_timings){.gpu = s->nccl, .processors = NAN, .memory_bytes = NAN, .workers = NAN};
    if (s->device.ops)
        s->timings = *facts;
    else
        s->timings.library = s->request->fabric ? "MPI" : s->request->from;
    /* The date of the measurement is set only if this program made the measurement, because the
     * output of other tools does not contain a date. */
    if (!s->timings.date && (s->device.ops || s->request->fabric))
        s->timings.date = s->date;
    s->timings.rows = s->rows;
    s->timings.count = count;
    s->timings.memory = NULL;
}

/* ---- the catalog ------------------------------------------------------------------------------
 */

/*
 * Finds the accelerator in the catalog. An unknown name is an error if the user gave it, but not if
 * it comes from the CUDA driver.
 */
static int find_sheet(struct calibrate_session *s)
{
    const char *given = s->request->accelerator, *driver = s->device.facts.name;
    struct hm_err err = {0};
    char name[128];

    if (!s->device.ops || !s->device.facts.gpu)
        return given ? cli_complain("--accelerator: it applies only to a GPU") : 0;
    snprintf(name, sizeof(name), "%s", given ? given : "");
    if (!given && driver)
        hm__catalog_device_name(driver, name, sizeof(name));
    if (!given && !driver)
        return 0;
    if (hm_catalog_machine(s->catalog, name, &s->sheet, &err)) {
        snprintf(err.field, sizeof(err.field), "accelerator");
        snprintf(err.source, sizeof(err.source), "request");
        return given ? cli_report(&err) : 0;
    }
    s->accelerator = hm__arena_strdup(s->arena, name);
    return s->accelerator ? 0 : cli_complain("out of memory");
}

/* ---- results ----------------------------------------------------------------------------------
 */

static int write_machine(struct calibrate_session *s)
{
    struct hm_text out = {0};
    int rc;

    hm__calibration_yaml(&out, &s->timings, &s->machine, s->accelerator);
    if (out.failed)
        rc = cli_complain("out of memory");
    else if (s->request->output)
        rc = cli_write_file(s->request->output, out.data, out.length);
    else
        rc = s->request->json ? 0 : cli_put(out.data) ? 0 : EXIT_USAGE;
    hm__text_release(&out);
    return rc;
}

static int write_record(const struct calibrate_session *s)
{
    struct hm_text out = {0};

    if (!s->request->record)
        return 0;
    hm__timings_json(&out, &s->timings);
    int rc = out.failed ? cli_complain("out of memory")
                        : cli_write_file(s->request->record, out.data, out.length);
    hm__text_release(&out);
    return rc;
}

static int measure_all(struct calibrate_session *s)
{
    const struct calibrate_request *r = s->request;
    int rc = 0;

    /* The CPU is measured after the messages, because the other ranks keep the cores busy while
     * messages are measured. */
    if (r->fabric)
        rc = calibrate_links_measure(s);
    if (calibrate_rank() > 0)
        return rc;
    if (rc == 0 && r->from)
        rc = calibrate_links_read(s);
    if (rc == 0)
        rc = open_device(s);
    if (rc == 0 && s->device.ops)
        rc = measure_device(s);
    return rc;
}

int calibrate_session_run(struct calibrate_session *s)
{
    struct hm_err err = {0};
    int rc = check_request(s->request);

    if (rc)
        return rc;
    if (!(s->arena = hm__arena_new()) || !(s->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    launch_interrupt_begin();
    rc = measure_all(s);
    launch_interrupt_end();
    if (rc || calibrate_rank() > 0)
        return rc; /* Only rank 0 has results; the other ranks end here. */
    take_facts(s);
    rc = find_sheet(s);
    if (rc == 0 && hm__calibrate(&s->timings, s->sheet ? &s->sheet->node : NULL, &s->machine, &err))
        rc = cli_report(&err);
    if (rc == 0)
        rc = write_record(s);
    if (rc == 0)
        rc = write_machine(s);
    if (rc == 0)
        rc = calibrate_plot(s);
    return rc ? rc : calibrate_report(s);
}
