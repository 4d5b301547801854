/*
 * Reads traces of the PyTorch profiler (kineto) and other Chrome traces, and measures how long the
 * device computes and communicates, and how much the two overlap. Times are in microseconds with up
 * to three decimals; they are stored as integers in nanoseconds, because a double near 1e12 would
 * lose the decimals.
 *
 * Training steps are marked by annotations "ProfilerStep#k" of the host; the copies of these
 * annotations on the device are ignored. A kernel communicates if its name contains nccl or rccl.
 * Names of events are not copied into results, because they may quote source code.
 */
#include "torch_trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "pull.h"

const char *const hm__trace_families[TRACE_FAMILIES] = {
    "matrix products", "convolutions", "attention", "normalisation and softmax",
    "elementwise",     "optimizer",    "other"};

/* The members of one trace event that the reader uses. */
struct event {
    char phase, category[32], name[256];
    int64_t ts, dur; /* Start and duration of the event in nanoseconds; -1 if not given. */
    char collective[40], dtype[24];
    /*
     * Number of elements that a collective transfers, and number of ranks in its process group; NaN
     * if not given.
     */
    double elements, group_size;
    /*
     * "External id", which connects a kernel to the operation that launched it; NaN if not given.
     */
    double id;
    /*
     * Sizes and types of the operation's inputs; all inputs that are not used are stored in the
     * last element.
     */
    struct trace_input inputs[TRACE_INPUTS + 1];
};

/* Times from this number of microseconds (the year 2096) on are not read, so that the sum of a
 * start and a duration does not overflow. */
static const int64_t MICROSECONDS_MOST = 4000000000000000;

/* Reads microseconds such as "1212075529876.817" as whole nanoseconds; returns -1 if the text is
 * not a number or if the number is too large. */
static int64_t read_ns(const char *text)
{
    int64_t whole = 0, part = 0;
    int digits = 0, decimals = 0;
    const char *p = text;

    for (; *p >= '0' && *p <= '9'; p++, digits++)
        if (digits < 18)
            whole = whole * 10 + (*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++)
            if (decimals < 3) {
                part = part * 10 + (*p - '0');
                decimals++;
            }
    for (; decimals < 3; decimals++)
        part *= 10;
    if (digits > 0 && digits <= 18 && whole < MICROSECONDS_MOST && *p == '\0')
        return whole * 1000 + part;
    double value;
    size_t used = hm__number_read(text, &value);
    return used > 0 && text[used] == '\0' && value < (double)MICROSECONDS_MOST
               ? (int64_t)(value * 1000)
               : -1;
}

/* Copies a string in lower case, at most room - 1 bytes. */
static void copy_lower(char *to, size_t room, const char *from)
{
    size_t i = 0;

    for (; i < room - 1 && from[i]; i++)
        to[i] = from[i] >= 'A' && from[i] <= 'Z' ? (char)(from[i] + 32) : from[i];
    to[i] = '\0';
}

/* Copies a string of known length, at most room - 1 bytes, and adds a NUL. */
static void copy_text(char *to, size_t room, const struct hm_pull *p)
{
    size_t length = p->length < room - 1 ? p->length : room - 1;

    memcpy(to, p->text, length);
    to[length] = '\0';
}

/* Returns the kind (family) of a kernel from its name, which must be in lower case. */
static int family_of(const char *name)
{
    static const struct {
        const char *piece;
        int family;
    } pieces[] = {{"flash", 2}, {"fmha", 2},        {"attention", 2}, {"conv", 1},
                  {"cudnn", 1}, {"wgrad", 1},       {"dgrad", 1},     {"fprop", 1},
                  {"gemm", 0},  {"cutlass", 0},     {"gemv", 0},      {"cijk_", 0},
                  {"norm", 3},  {"softmax", 3},     {"bn_", 3},       {"multi_tensor", 5},
                  {"adam", 5},  {"elementwise", 4}, {"vectorized", 4}};

    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        if (strstr(name, pieces[i].piece))
            return pieces[i].family;
    return TRACE_FAMILIES - 1;
}

/* ---- events -----------------------------------------------------------------------------------
 */

/*
 * Reads the sizes of one input from a list of numbers whose opening bracket has already been read.
 * If the list contains anything else, such as tensors, the sizes are marked as unknown.
 */
static void read_sides(struct hm_pull *p, struct trace_input *input)
{
    enum hm_pull_token token;

    while ((token = hm__pull_next(p)) == HM_PULL_NUMBER && input->sides < TRACE_SIDES) {
        hm__number_read(p->text, &input->side[input->sides]);
        input->sides++;
    }
    if (token == HM_PULL_LIST_END)
        return;
    input->sides = 0;
    if (token == HM_PULL_LIST || token == HM_PULL_OBJECT)
        hm__pull_leave(p);
    hm__pull_leave(p);
}

/* Reads the sizes or the types of the inputs of an operation. */
static void read_inputs(struct hm_pull *p, struct event *e)
{
    enum hm_pull_token token;

    if (!hm__pull_enter(p, HM_PULL_LIST))
        return;
    for (int i = 0; (token = hm__pull_next(p)) != HM_PULL_LIST_END && !p->failed; i++) {
        struct trace_input *input = &e->inputs[i < TRACE_INPUTS ? i : TRACE_INPUTS];
        if (token == HM_PULL_TEXT)
            snprintf(input->type, sizeof(input->type), "%.23s", p->text);
        else if (token == HM_PULL_LIST)
            read_sides(p, input);
        else if (token == HM_PULL_OBJECT)
            hm__pull_leave(p);
        else if (token == HM_PULL_END)
            return;
    }
}

static void read_args(struct hm_pull *p, struct event *e)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "External id")) {
            e->id = hm__pull_number(p);
        } else if (hm__pull_is(p, "Input Dims") || hm__pull_is(p, "Input type")) {
            read_inputs(p, e);
        } else if (hm__pull_is(p, "Collective name")) {
            if (hm__pull_next(p) == HM_PULL_TEXT)
                snprintf(e->collective, sizeof(e->collective), "%.39s", p->text);
        } else if (hm__pull_is(p, "dtype")) {
            if (hm__pull_next(p) == HM_PULL_TEXT)
                snprintf(e->dtype, sizeof(e->dtype), "%.23s", p->text);
        } else if (hm__pull_is(p, "In msg nelems")) {
            e->elements = hm__pull_number(p);
        } else if (hm__pull_is(p, "Group size")) {
            e->group_size = hm__pull_number(p);
        } else {
            hm__pull_skip(p);
        }
    }
}

static bool is_kernel(const struct event *e)
{
    return strcmp(e->category, "kernel") == 0 || strcmp(e->category, "Kernel") == 0;
}

static void read_event(struct hm_pull *p, struct event *e)
{
    e->ts = e->dur = -1;
    e->elements = e->group_size = e->id = NAN;
    memset(e->inputs, 0, sizeof(e->inputs));
    e->phase = e->category[0] = e->name[0] = e->collective[0] = e->dtype[0] = '\0';
    while (hm__pull_key(p)) {
        char key = p->text[0];
        if (key == 'a' && hm__pull_is(p, "args") &&
            (!e->category[0] || is_kernel(e) || hm__trace_op_known(e->name))) {
            read_args(p, e);
            continue;
        }
        bool phase = key == 'p' && hm__pull_is(p, "ph"),
             name = key == 'n' && hm__pull_is(p, "name");
        bool category = key == 'c' && hm__pull_is(p, "cat");
        bool ts = key == 't' && hm__pull_is(p, "ts"), dur = key == 'd' && hm__pull_is(p, "dur");
        if (!phase && !name && !category && !ts && !dur) {
            hm__pull_skip(p);
            continue;
        }
        enum hm_pull_token token = hm__pull_next(p);
        if (token == HM_PULL_OBJECT || token == HM_PULL_LIST)
            hm__pull_leave(p);
        if (token != HM_PULL_TEXT && token != HM_PULL_NUMBER)
            continue;
        if (phase)
            e->phase = p->text[0];
        else if (category)
            copy_text(e->category, sizeof(e->category), p);
        else if (name)
            copy_text(e->name, sizeof(e->name), p);
        else
            *(ts ? &e->ts : &e->dur) = read_ns(p->text);
    }
}

static void add_collective(struct trace *t, const struct event *e)
{
    char name[40];
    size_t i = 0;

    snprintf(name, sizeof(name), "%.39s", e->collective[0] ? e->collective : e->name);
    if (!e->collective[0])
        name[strcspn(name, "_(")] = '\0';
    for (; i < t->collective_count; i++) {
        struct trace_collective *c = &t->collectives[i];
        if (strcmp(c->name, name) == 0 && strcmp(c->dtype, e->dtype) == 0 &&
            (c->group_size == e->group_size || (isnan(c->group_size) && isnan(e->group_size))))
            break;
    }
    if (i == TRACE_COLLECTIVES)
        return;
    struct trace_collective *c = &t->collectives[i];
    if (i == t->collective_count) {
        memcpy(c->name, name, sizeof(name));
        memcpy(c->dtype, e->dtype, sizeof(c->dtype));
        c->group_size = e->group_size;
        t->collective_count++;
    }
    c->kernels++;
    c->ns += (double)e->dur;
    c->elements += isnan(e->elements) ? 0 : e->elements;
}

static void add_work(struct trace *t, enum trace_work work, const struct event *e)
{
    if (!hm__trace_add(&t->work[work], e->ts, e->ts + e->dur))
        t->im->failed = true;
    t->sums[work] += (double)e->dur;
}

static void add_event(struct trace *t, const struct event *e)
{
    const char *category = e->category;

    t->events++;
    if (e->phase != 'X')
        return;
    t->complete++;
    if (strcmp(category, "cpu_op") == 0 || strcmp(category, "Operator") == 0) {
        t->cpu_ops++;
        if (hm__trace_op_known(e->name))
            hm__trace_op_add(t, e->name, e->id, e->inputs);
    }
    if (e->ts < 0 || e->dur < 0)
        return;
    if (is_kernel(e)) {
        char name[sizeof(e->name)];
        copy_lower(name, sizeof(name), e->name);
        bool comm = strstr(name, "nccl") || strstr(name, "rccl");
        add_work(t, comm ? TRACE_COMM : TRACE_COMPUTE, e);
        if (comm)
            add_collective(t, e);
        else
            t->families[family_of(name)] += (double)e->dur;
        if (!comm)
            hm__trace_op_time(t, name, e->id, e->dur);
    } else if (strcmp(category, "gpu_memcpy") == 0 || strcmp(category, "Memcpy") == 0) {
        add_work(t, TRACE_COPY, e);
    } else if (strcmp(category, "gpu_memset") == 0 || strcmp(category, "Memset") == 0) {
        add_work(t, TRACE_SET, e);
    } else if (strncmp(e->name, "ProfilerStep#", 13) == 0 &&
               strcmp(category, "gpu_user_annotation") != 0 && t->step_count < TRACE_STEPS) {
        struct trace_step *step = &t->steps[t->step_count++];
        step->at = (struct trace_interval){e->ts, e->ts + e->dur};
        step->number = NAN;
        hm__number_read(e->name + 13, &step->number);
    }
}

/* ---- the document -----------------------------------------------------------------------------
 */

static void read_events(struct trace *t, struct hm_pull *p)
{
    struct event e;

    while (hm__pull_next(p) == HM_PULL_OBJECT) {
        read_event(p, &e);
        if (p->failed)
            return;
        add_event(t, &e);
    }
}

static void read_devices(struct trace *t, struct hm_pull *p)
{
    if (!hm__pull_enter(p, HM_PULL_LIST))
        return;
    while (hm__pull_next(p) == HM_PULL_OBJECT) {
        t->devices++;
        while (hm__pull_key(p)) {
            if (hm__pull_is(p, "name") && !t->device[0]) {
                if (hm__pull_next(p) == HM_PULL_TEXT)
                    snprintf(t->device, sizeof(t->device), "%.95s", p->text);
            } else if (hm__pull_is(p, "numSms") && t->devices == 1) {
                t->processors = hm__pull_number(p);
            } else if (hm__pull_is(p, "totalGlobalMem") && t->devices == 1) {
                t->memory_bytes = hm__pull_number(p);
            } else {
                hm__pull_skip(p);
            }
        }
    }
}

static void read_distributed(struct trace *t, struct hm_pull *p)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "backend")) {
            if (hm__pull_next(p) == HM_PULL_TEXT)
                snprintf(t->backend, sizeof(t->backend), "%.23s", p->text);
        } else if (hm__pull_is(p, "rank")) {
            t->rank = hm__pull_number(p);
        } else if (hm__pull_is(p, "world_size")) {
            t->world = hm__pull_number(p);
        } else {
            hm__pull_skip(p);
        }
    }
}

static void read_members(struct trace *t, struct hm_pull *p)
{
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "traceEvents")) {
            if (hm__pull_enter(p, HM_PULL_LIST))
                read_events(t, p);
        } else if (hm__pull_is(p, "deviceProperties")) {
            read_devices(t, p);
        } else if (hm__pull_is(p, "distributedInfo")) {
            read_distributed(t, p);
        } else if (hm__pull_is(p, "schemaVersion")) {
            t->schema = hm__pull_number(p);
        } else if (hm__pull_is(p, "displayTimeUnit")) {
            if (hm__pull_next(p) == HM_PULL_TEXT)
                snprintf(t->unit, sizeof(t->unit), "%.15s", p->text);
        } else {
            hm__pull_skip(p);
        }
    }
}

static int torch_trace_read(struct hm_imported *im, struct hm_err *err)
{
    struct trace t = {
        .im = im, .schema = NAN, .rank = NAN, .world = NAN, .processors = NAN, .memory_bytes = NAN};
    struct hm_pull pull;
    int rc = hm__pull_init(&pull, &im->in, err);

    t.steps = hm__calloc(TRACE_STEPS, sizeof(*t.steps));
    t.collectives = hm__calloc(TRACE_COLLECTIVES, sizeof(*t.collectives));
    if (rc == 0 && (!t.steps || !t.collectives))
        rc = hm__fail_nomem(err);
    hm__json_put_text(&im->facts, "format", "pytorch profiler trace");
    if (rc == 0) {
        enum hm_pull_token token = hm__pull_next(&pull);
        if (token == HM_PULL_LIST)
            read_events(&t, &pull);
        else if (token == HM_PULL_OBJECT)
            read_members(&t, &pull);
        if (pull.failed)
            hm__import_cut(im);
        rc = hm__trace_finish(&t, err);
    }
    if (rc == 0)
        rc = hm__trace_timings(&t, err);
    for (int k = 0; k < TRACE_WORKS; k++)
        hm__free(t.work[k].items);
    hm__free(t.steps);
    hm__free(t.collectives);
    hm__free(t.ops.items);
    hm__free(t.ops.slots);
    hm__pull_release(&pull);
    return rc;
}

static int torch_trace_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    if (*p != '{' && *p != '[')
        return 0;
    if (hm__find(head->text, head->length, "\"traceEvents\"") ||
        (hm__find(head->text, head->length, "\"schemaVersion\"") &&
         hm__find(head->text, head->length, "\"deviceProperties\"")))
        return 95;
    return *p == '[' && hm__find(head->text, head->length, "\"ph\"") &&
                   hm__find(head->text, head->length, "\"ts\"")
               ? 85
               : 0;
}

const struct hm_importer hm__importer_torch_trace = {
    .name = "torch-trace",
    .title = "trace of the PyTorch profiler",
    .becomes = "a run, and a machine if the trace has the shapes of its operations",
    .recognise = torch_trace_recognise,
    .read = torch_trace_read,
};
