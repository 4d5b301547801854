/* Writes a predicted step as a Chrome trace; see emit_trace.h. */
#include "emit_trace.h"

#include <math.h>
#include <stdio.h>

#include "err.h"
#include "json.h"
#include "text.h"

enum { ROWS_MOST = 64 };

/* State of the writer, which writes the events of one row of the trace in order. */
struct emit_row {
    struct hm_json *json;
    int pid;
    double at_s; /* Time at which the next event begins, in seconds. */
};

static void put_name(struct hm_json *j, int pid, const char *name)
{
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    hm__json_put_text(j, "ph", "M");
    hm__json_put_text(j, "name", "process_name");
    hm__json_put_number(j, "pid", pid);
    hm__json_open(j, "args", HM_JSON_OBJECT);
    hm__json_put_text(j, "name", name);
    hm__json_close(j);
    hm__json_close(j);
}

/* Writes an event of the trace; times are rounded to nanoseconds. */
static void put_event(struct emit_row *row, const char *category, const char *name, int tid,
                      double start_s, double length_s)
{
    struct hm_json *j = row->json;
    double start = round(1e9 * start_s), end = round(1e9 * (start_s + length_s));

    if (!(end > start))
        return;
    hm__json_open(j, NULL, HM_JSON_OBJECT);
    hm__json_put_text(j, "ph", "X");
    hm__json_put_text(j, "cat", category);
    hm__json_put_text(j, "name", name);
    hm__json_put_number(j, "pid", row->pid);
    hm__json_put_number(j, "tid", tid);
    hm__json_put_number(j, "ts", start / 1e3);
    hm__json_put_number(j, "dur", (end - start) / 1e3);
    hm__json_close(j);
}

/* Writes an event that begins when the previous event of the row ends. */
static void put_next(struct emit_row *row, const char *category, const char *name, double length_s)
{
    put_event(row, category, name, 1, row->at_s, length_s);
    row->at_s += length_s > 0 ? length_s : 0;
}

static void open_trace(struct hm_json *j, const char *job, double n, double shown, double step_s)
{
    hm__json_open(j, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_number(j, "schemaVersion", 1);
    hm__json_put_text(j, "displayTimeUnit", "ms");
    hm__json_open(j, "otherData", HM_JSON_OBJECT);
    hm__json_put_text(j, "howmany", HM_VERSION);
    hm__json_put_text(j, "what", "a predicted step");
    hm__json_put_text(j, "job", job);
    hm__json_put_number(j, "workers", n);
    hm__json_put_number(j, "rows", shown);
    hm__json_put_number(j, "step_s", step_s);
    hm__json_close(j);
    hm__json_open(j, "distributedInfo", HM_JSON_OBJECT);
    hm__json_put_number(j, "rank", 0);
    hm__json_put_number(j, "world_size", n);
    hm__json_close(j);
    hm__json_open(j, "traceEvents", HM_JSON_LIST | HM_JSON_LINES);
    struct emit_row host = {.json = j};
    put_name(j, 0, "step");
    put_event(&host, "user_annotation", "ProfilerStep#0", 0, 0, step_s);
}

static int close_trace(struct hm_json *j, char **ret_text, struct hm_err *err)
{
    hm__json_close(j);
    hm__json_close(j);
    hm__text_add(j->out, "\n");
    return hm__text_take(j->out, ret_text, err);
}

int hm__emit_trace(const struct hm_answer *a, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};

    if (a->recommended == HM_NONE)
        return hm__fail(err, HM_E_MISSING, "no number of workers is recommended");
    const struct hm_point *p = &a->points[a->recommended];
    double shown = fmin(p->n, ROWS_MOST), wait = p->wait_s > 0 ? p->wait_s : 0;
    open_trace(&json, a->job, p->n, shown, p->time_s);
    for (int i = 0; i < (int)shown; i++) {
        struct emit_row row = {.json = &json, .pid = i + 1};
        char name[32];
        snprintf(name, sizeof(name), "worker %d", i);
        put_name(&json, row.pid, name);
        put_next(&row, "kernel", "compute", p->compute_s - wait);
        put_next(&row, "wait", "wait for slower workers", wait);
        put_event(&row, "kernel", "ncclAllReduce: communicate", 2,
                  fmax(p->time_s - p->communicate_s, 0), p->communicate_s);
    }
    return close_trace(&json, ret_text, err);
}

/*
 * Writes the row of one pipeline stage. The last stage waits for the first micro-batch and then
 * works without gaps; the first stage starts immediately and waits between its micro-batches.
 */
static void put_stage(struct emit_row *row, const struct hm_large_step *s, double place)
{
    double before = s->bubble_s * place / 3, after = s->bubble_s * place * 2 / 3;
    const struct {
        const char *name;
        double seconds;
        bool comm;
    } works[] = {{"matrix products", s->matmul_s, false},
                 {"attention", s->attention_s, false},
                 {"memory traffic", s->traffic_s, false},
                 {"host", s->host_s, false},
                 {"head and embedding", fmax(0, s->head_s + fmin(0, s->other_s)), false},
                 {"nccl: tensor parallel", s->tensor_s, true},
                 {"nccl: expert parallel", s->expert_s, true},
                 {"nccl: context parallel", s->context_s, true},
                 {"nccl: messages between stages", s->message_s, true}};

    put_next(row, "wait", "pipeline bubble", before);
    for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
        put_next(row, "kernel", works[i].name, works[i].seconds);
    put_next(row, "wait", "pipeline bubble", s->bubble_s - before - after);
    put_next(row, "wait", "pipeline bubble", after);
    put_next(row, "kernel", "nccl: data parallel", s->data_s);
    put_next(row, "kernel", "optimizer", s->optimizer_s);
    put_next(row, "wait", "other", fmax(0, s->other_s));
}

int hm__emit_trace_large(const struct hm_large_answer *a, char **ret_text, struct hm_err *err)
{
    struct hm_text out = {0};
    struct hm_json json = {.out = &out};
    const struct hm_large_choice *c = &a->points[a->recommended];
    double stages = fmin(fmax(c->layout.pipeline, 1), ROWS_MOST);

    open_trace(&json, a->job, c->n, stages, c->step.time_s);
    for (int i = 0; i < (int)stages; i++) {
        struct emit_row row = {.json = &json, .pid = i + 1};
        char name[32];
        snprintf(name, sizeof(name), "pipeline stage %d", i);
        put_name(&json, row.pid, name);
        put_stage(&row, &c->step, stages > 1 ? i / (stages - 1) : 0);
    }
    return close_trace(&json, ret_text, err);
}
