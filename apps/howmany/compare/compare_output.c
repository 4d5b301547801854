/* Writes a comparison as text, JSON and CSV. All values are derived from the traces of the runs. */
#include "compare_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compare_explain.h"
#include "format.h"
#include "json.h"
#include "render.h"

/* ---- text ----------------------------------------------------------------------------------- */

static bool task_has_runs(const struct compare_result *r, const struct compare_task *task)
{
    return compare_extreme(r, task, true) != NULL;
}

static bool result_has_n(const struct compare_result *r, double n)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].n == n)
            return true;
    return false;
}

/*
 * Formats the bytes per second that a rank sends or receives, whichever is larger; "-" if no rank
 * has this role or the rank has no messages.
 */
static const char *rate_text(const struct compare_role *role, char text[HM_SHOWN])
{
    double most = fmax(role->sent, role->received);
    return most > 0 ? hm__show_rate(most, text) : "-";
}

static const char *memory_text(const struct compare_role *role, char text[HM_SHOWN])
{
    return isnan(role->memory) ? "-" : hm__show_bytes(role->memory, text);
}

static const char *share_text(double share, char text[HM_SHOWN])
{
    if (isnan(share))
        return "-";
    snprintf(text, HM_SHOWN, "%.0f %%", 100 * share);
    return text;
}

/* Adds two heading lines: the roles of the ranks, and the names of the columns. */
static void add_heading(const struct compare_result *r, struct hm_text *out)
{
    bool real = r->request->real;
    const char *cpu = real ? "    cpu" : "";

    hm__text_addf(out, "  %-40s   %-*s   %s\n", "", real ? 36 : 29, "a worker",
                  "a server, or the driver");
    hm__text_addf(out, "  %-9s %-5s %3s %10s %10s", "platform", "", "n", "samples/s", "per worker");
    for (int i = 0; i < 2; i++)
        hm__text_addf(out, "   %7s%s %11s %9s", "compute", cpu, "network", "memory");
    hm__text_add(out, "   published\n");
}

static void add_role_columns(const struct compare_result *r, const struct compare_role *role,
                             struct hm_text *out)
{
    char compute[HM_SHOWN], cpu[HM_SHOWN], rate[HM_SHOWN], memory[HM_SHOWN];

    hm__text_addf(out, "   %7s", share_text(role->compute, compute));
    if (r->request->real)
        hm__text_addf(out, " %6s", share_text(role->cpu, cpu));
    hm__text_addf(out, " %11s %9s", rate_text(role, rate), memory_text(role, memory));
}

static void add_run_row(const struct compare_result *r, const struct compare_run *run,
                        struct hm_text *out)
{
    struct hm_text consistency = {0}, published = {0};

    hm__text_add(&consistency, run->way->consistency ? run->way->consistency : "");
    if (run->way->consistency && strcmp(run->way->consistency, "ssp") == 0)
        hm__text_addf(&consistency, " %.0f", r->request->staleness);
    hm__text_addf(out, "  %-9s %-5s %3.0f %10.0f %10.0f", run->way->platform,
                  consistency.failed ? "" : consistency.data, run->n, run->samples_per_s,
                  run->samples_per_s / run->n);
    add_role_columns(r, &run->worker, out);
    add_role_columns(r, &run->other, out);
    if (run->n == COMPARE_PUBLISHED_N)
        compare_add_published(&published, run->task, run->way);
    if (published.data && !published.failed)
        hm__text_addf(out, "   %s", published.data);
    hm__text_add(out, run->diverged ? "   (diverged)\n" : "\n");
    hm__text_release(&consistency);
    hm__text_release(&published);
}

/* Adds a line for each published speed that was measured on a number of workers without a run. */
static void add_published_lines(const struct compare_result *r, const struct compare_task *task,
                                const struct hm_style *style, struct hm_text *out)
{
    for (size_t w = 0; w < COMPARE_WAYS && !result_has_n(r, COMPARE_PUBLISHED_N); w++) {
        struct hm_text line = {0}, figures = {0};
        compare_add_published(&figures, task, &compare_ways[w]);
        if (figures.data && !figures.failed) {
            hm__text_addf(&line, "%s on %d workers: %s", compare_ways[w].name, COMPARE_PUBLISHED_N,
                          figures.data);
            hm__render_taken_line(out, style, "published", &line);
        }
        hm__text_release(&line);
        hm__text_release(&figures);
    }
}

/*
 * Adds the speeds that the runs would reach with all rows of the survey. With fewer rows, a full
 * batch requires less computation per message, so the speed cannot be compared with the published
 * speed.
 */
static void add_scaled_speeds(const struct compare_result *r, const struct compare_task *task,
                              const struct hm_style *style, struct hm_text *out)
{
    const struct compare_run *best = compare_extreme(r, task, true);
    struct hm_text line = {0};
    bool any = false, ahead = false;

    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        if (run->task != task || !run->way->full || run->rows == task->rows || r->request->real)
            continue;
        if (!any)
            hm__text_addf(&line, "a driver's samples/s depend on rows: with %.0f it would reach",
                          task->rows);
        double speed = compare_scaled_speed(run, task->rows);
        hm__text_addf(&line, "%s %.0f on %.0f", any ? "," : "", speed, run->n);
        ahead = ahead || (run != best && run->n == best->n && speed > best->samples_per_s);
        any = true;
    }
    if (ahead)
        hm__text_add(&line, ", and be the fastest");
    if (any)
        hm__render_taken_line(out, style, "rows", &line);
    hm__text_release(&line);
}

static const struct compare_run *first_run(const struct compare_result *r,
                                           const struct compare_task *task)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].task == task)
            return &r->runs[i];
    return NULL;
}

/*
 * Adds the measurements of other frameworks as rows of the table. The columns up to samples per
 * second are the same as for the runs. They are followed by the ratio to the speed of the run on
 * the same platform, and by the name of the framework.
 */
static void add_measured_rows(const struct compare_result *r, const struct compare_task *task,
                              struct hm_text *out)
{
    bool any = false;

    for (size_t i = 0; i < r->measured.count; i++) {
        const struct compare_measured *m = &r->measured.rows[i];
        const struct compare_run *run = compare_same_run(r, m);
        char ratio[HM_SHOWN] = "-";
        if (m->task != task)
            continue;
        if (!any)
            hm__text_addf(out, "\n  %-9s %-5s %3s %10s %10s   %8s   %s\n", "measured", "", "n",
                          "samples/s", "per worker", "of above", "framework");
        any = true;
        if (run)
            snprintf(ratio, sizeof(ratio), "%.2gx", m->samples_per_s / run->samples_per_s);
        hm__text_addf(out, "  %-9s %-5s %3.0f %10.0f %10.0f   %8s   %s", m->way->platform,
                      m->way->consistency ? m->way->consistency : "", m->n, m->samples_per_s,
                      m->samples_per_s / m->n, ratio, m->system);
        hm__text_addf(out, m->runs > 1 ? ", median of %zu runs\n" : "\n", m->runs);
    }
}

static void add_task_text(const struct compare_result *r, const struct compare_task *task,
                          const struct hm_style *style, struct hm_text *out)
{
    const struct compare_run *first = first_run(r, task);
    double batch = r->request->batch > 0 ? r->request->batch : task->batch;
    struct hm_text line = {0};

    hm__text_addf(out,
                  "%s%s%s: %.0f rows of %.0f features%s, %.0f parameters; batches of %.0f rows per "
                  "worker, with a driver of all rows\n\n",
                  hm__render_bold(style, true), task->title, hm__render_bold(style, false),
                  first->rows, task->features,
                  !task->images                            ? ""
                  : strncmp(first->data, "digits", 6) == 0 ? " (generated digits, like MNIST's)"
                                                           : " (MNIST)",
                  first->unknowns, batch);
    add_heading(r, out);
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].task == task)
            add_run_row(r, &r->runs[i], out);
    add_measured_rows(r, task, out);
    hm__text_add(out, "\n");
    compare_add_sentence(&line, r, task);
    hm__render_taken_line(out, style, "fastest", &line);
    add_scaled_speeds(r, task, style, out);
    add_published_lines(r, task, style, out);
    hm__text_add(out, "\n");
    hm__text_release(&line);
}

void compare_output_text(const struct compare_result *r, const struct hm_style *style,
                         struct hm_text *out)
{
    char rate[HM_SHOWN];
    struct hm_text line = {0};

    if (r->request->real)
        hm__text_add(out, "Platforms on real ranks of this machine\n\n");
    else
        hm__text_addf(out, "Platforms on a simulated cluster, %s, links of %s\n\n", r->cluster,
                      hm__show_rate(r->bandwidth, rate));
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        if (task_has_runs(r, &compare_tasks[t]))
            add_task_text(r, &compare_tasks[t], style, out);
    hm__text_addf(&line, "%s; 3 workers and 1 server or driver, m4.xlarge", compare_source);
    hm__render_taken_line(out, style, "published", &line);
    hm__text_release(&line);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_role(struct hm_json *json, const char *key, const struct compare_role *role)
{
    if (isnan(role->sent)) {
        hm__json_put_null(json, key);
        return;
    }
    hm__json_open(json, key, HM_JSON_OBJECT);
    hm__json_put_number(json, "compute", role->compute);
    hm__json_put_number(json, "cpu", role->cpu);
    hm__json_put_number(json, "sent_bytes_per_s", role->sent);
    hm__json_put_number(json, "received_bytes_per_s", role->received);
    hm__json_put_number(json, "memory_bytes", role->memory);
    hm__json_close(json);
}

static void put_intervals(struct hm_json *json, const struct compare_run *run)
{
    hm__json_open(json, "over_time", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < run->interval_count; i++) {
        const struct compare_interval *interval = &run->intervals[i];
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(json, "elapsed_s", interval->elapsed_s);
        hm__json_put_number(json, "samples_per_s", interval->samples_per_s);
        put_role(json, "worker", &interval->worker);
        put_role(json, "server", &interval->other);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void put_way(struct hm_json *json, const struct compare_result *r,
                    const struct compare_run *run)
{
    const struct compare_way *way = run->way;

    hm__json_put_text(json, "platform", way->platform);
    hm__json_put_text(json, "consistency", way->consistency ? way->consistency : "bsp");
    if (way->consistency && strcmp(way->consistency, "ssp") == 0)
        hm__json_put_number(json, "staleness", r->request->staleness);
    if (way->consistency)
        hm__json_put_number(json, "servers", run->others);
    hm__json_put_text(json, "algorithm", way->algorithm);
}

static void put_run(struct hm_json *json, const struct compare_result *r,
                    const struct compare_run *run)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    put_way(json, r, run);
    hm__json_put_number(json, "n", run->n);
    hm__json_put_number(json, "rows", run->rows);
    hm__json_put_number(json, "batch", run->way->full ? run->rows : run->batch);
    hm__json_put_number(json, "iterations", run->iterations);
    hm__json_put_number(json, "elapsed_s", run->elapsed_s);
    hm__json_put_number(json, "samples_per_s", run->samples_per_s);
    hm__json_put_number(json, "samples_per_s_per_worker", run->samples_per_s / run->n);
    if (run->way->full && !r->request->real)
        hm__json_put_number(json, "samples_per_s_all_rows",
                            compare_scaled_speed(run, run->task->rows));
    put_role(json, "worker", &run->worker);
    put_role(json, "server", &run->other);
    hm__json_put_number(json, "worker_link", compare_link_share(r, run, &run->worker));
    hm__json_put_number(json, "server_link", compare_link_share(r, run, &run->other));
    hm__json_put_text(json, "limited_by", compare_limit_name(compare_limit_of(r, run)));
    hm__json_put_bool(json, "diverged", run->diverged);
    hm__json_put_text(json, "command", run->command);
    put_intervals(json, run);
    hm__json_close(json);
}

static void put_published(struct hm_json *json, const struct compare_task *task)
{
    hm__json_open(json, "published", HM_JSON_LIST | HM_JSON_LINES);
    for (const struct compare_published *p = compare_published; p->system; p++) {
        bool driver = strcmp(p->way, "driver") == 0;
        if (strcmp(p->task, task->name) != 0)
            continue;
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "system", p->system);
        hm__json_put_text(json, "platform", driver ? "driver" : "server");
        hm__json_put_text(json, "consistency", driver ? "bsp" : p->way);
        hm__json_put_number(json, "n", COMPARE_PUBLISHED_N);
        hm__json_put_number(json, "batch", p->batch > 0 ? p->batch : (double)NAN);
        hm__json_put_number(json, "samples_per_s", p->samples_per_s);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void put_measured(struct hm_json *json, const struct compare_result *r,
                         const struct compare_task *task)
{
    hm__json_open(json, "measured", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < r->measured.count; i++) {
        const struct compare_measured *m = &r->measured.rows[i];
        const struct compare_run *run = compare_same_run(r, m);
        if (m->task != task)
            continue;
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "system", m->system);
        hm__json_put_text(json, "platform", m->way->platform);
        hm__json_put_text(json, "consistency", m->way->consistency ? m->way->consistency : "bsp");
        hm__json_put_number(json, "n", m->n);
        hm__json_put_number(json, "runs", (double)m->runs);
        hm__json_put_number(json, "samples_per_s", m->samples_per_s);
        hm__json_put_number(json, "samples_per_s_per_worker", m->samples_per_s / m->n);
        hm__json_put_number(json, "ratio",
                            run ? m->samples_per_s / run->samples_per_s : (double)NAN);
        hm__json_close(json);
    }
    hm__json_close(json);
}

static void put_task(struct hm_json *json, const struct compare_result *r,
                     const struct compare_task *task)
{
    const struct compare_run *first = first_run(r, task);
    const struct compare_run *best = compare_extreme(r, task, true);
    struct hm_text sentence = {0};

    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "task", task->name);
    hm__json_put_text(json, "title", task->title);
    hm__json_put_text(json, "data", first->data);
    hm__json_put_number(json, "features", task->features);
    hm__json_put_number(json, "parameters", first->unknowns);
    hm__json_put_text(json, "fastest", best->way->name);
    compare_add_sentence(&sentence, r, task);
    hm__json_put_text(json, "why", sentence.failed ? NULL : sentence.data);
    hm__text_release(&sentence);
    hm__json_open(json, "runs", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < r->count; i++)
        if (r->runs[i].task == task)
            put_run(json, r, &r->runs[i]);
    hm__json_close(json);
    put_published(json, task);
    put_measured(json, r, task);
    hm__json_close(json);
}

void compare_output_json(const struct compare_result *r, struct hm_text *out)
{
    struct hm_json json = {.out = out};

    hm__json_open(&json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_bool(&json, "simulated", !r->request->real);
    hm__json_put_text(&json, "cluster", r->cluster);
    hm__json_put_number(&json, "bandwidth_bytes_per_s",
                        r->bandwidth > 0 ? r->bandwidth : (double)NAN);
    hm__json_put_number(&json, "seed", r->request->seed);
    hm__json_put_text(&json, "source", compare_source);
    hm__json_open(&json, "tasks", HM_JSON_LIST | HM_JSON_LINES);
    for (size_t t = 0; t < COMPARE_TASKS; t++)
        if (task_has_runs(r, &compare_tasks[t]))
            put_task(&json, r, &compare_tasks[t]);
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

/* ---- CSV ------------------------------------------------------------------------------------ */

static void csv_role(struct hm_text *out, const struct compare_role *role)
{
    hm__csv_number(out, role->compute);
    hm__csv_number(out, role->cpu);
    hm__csv_number(out, role->sent);
    hm__csv_number(out, role->received);
    hm__csv_number(out, role->memory);
}

void compare_output_csv(const struct compare_result *r, struct hm_text *out)
{
    hm__text_add(out, "task,data,platform,consistency,n,rows,batch,samples_per_s,"
                      "samples_per_s_per_worker,worker_compute,worker_cpu,worker_sent_bytes_per_s,"
                      "worker_received_bytes_per_s,worker_memory_bytes,server_compute,server_cpu,"
                      "server_sent_bytes_per_s,server_received_bytes_per_s,server_memory_bytes,"
                      "limited_by,system\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct compare_run *run = &r->runs[i];
        hm__text_addf(out, "%s,", run->task->name);
        hm__csv_text(out, run->data);
        hm__text_addf(out, ",%s,%s", run->way->platform,
                      run->way->consistency ? run->way->consistency : "bsp");
        hm__csv_number(out, run->n);
        hm__csv_number(out, run->rows);
        hm__csv_number(out, run->way->full ? run->rows : run->batch);
        hm__csv_number(out, run->samples_per_s);
        hm__csv_number(out, run->samples_per_s / run->n);
        csv_role(out, &run->worker);
        csv_role(out, &run->other);
        hm__text_addf(out, ",%s,howmany\n", compare_limit_name(compare_limit_of(r, run)));
    }
    for (size_t i = 0; i < r->measured.count; i++) {
        const struct compare_measured *m = &r->measured.rows[i];
        if (!task_has_runs(r, m->task))
            continue;
        hm__text_addf(out, "%s,,%s,%s", m->task->name, m->way->platform,
                      m->way->consistency ? m->way->consistency : "bsp");
        hm__csv_number(out, m->n);
        hm__text_add(out, ",,");
        hm__csv_number(out, m->samples_per_s);
        hm__csv_number(out, m->samples_per_s / m->n);
        hm__text_add(out, ",,,,,,,,,,,,");
        hm__csv_text(out, m->system);
        hm__text_add(out, "\n");
    }
}
