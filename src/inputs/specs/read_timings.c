/*
 * Reads the times of operations that `howmany calibrate --record` has written, which a recorded
 * device replays: a map with the device and a list of operations. docs/reference/calibrate.md
 * describes the keys.
 */
#include "read_timings.h"

#include <math.h>
#include <stddef.h>

#include "err.h"
#include "memory.h"
#include "read_list.h"
#include "readers.h"

enum { TIMINGS_MAX = 512 };

/* Largest dimension of a shape, and largest number of bytes in a message or a kernel. */
static const double SIDE_MAX = 1e15;

#define AT(member) offsetof(struct hm_timings, member)
#define ROW(member) offsetof(struct hm_timing, member)

/* The keys at the top of the file. Choices are stored as an int: `device` is 0 for a CPU and 1 for
 * a GPU. */
struct timings_head {
    struct hm_timings timings;
    int device;
};

static const char *const devices[] = {"cpu", "gpu", NULL};
static const char *const kinds[] = {
#define TIMED_NAME(id, name, sides, doc) name,
    HM_TIMED_MAP(TIMED_NAME)
#undef TIMED_NAME
        NULL};
static const char *const maths[] = {"auto", "fp64", "fp32", "tf32", "bf16", "fp16", "fp8", NULL};

static const struct hm_field head_fields[] = {
    {.name = "device",
     .kind = HM_FIELD_CHOICE,
     .offset = offsetof(struct timings_head, device),
     .choices = devices,
     .required = true,
     .doc = "what computed: cpu or gpu"},
    {.name = "name", .kind = HM_FIELD_TEXT, .offset = AT(name), .doc = "name of the device"},
    {.name = "library", .kind = HM_FIELD_TEXT, .offset = AT(library), .doc = "what computed"},
    {.name = "date", .kind = HM_FIELD_TEXT, .offset = AT(date), .doc = "day of the measurement"},
    {.name = "processors",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(processors),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "multiprocessors of a GPU, cores of a CPU"},
    {.name = "memory",
     .kind = HM_FIELD_REAL,
     .offset = AT(memory_bytes),
     .doc = "bytes of memory of a worker"},
    {.name = "workers",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(workers),
     .min = 1,
     .max = 1024,
     .whole = true,
     .doc = "equal GPUs in the machine"},
    {.name = "timings", .kind = HM_FIELD_OTHER, .required = true, .doc = "a list of operations"},
};

static const struct hm_field row_fields[] = {
    {.name = "what",
     .kind = HM_FIELD_CHOICE,
     .offset = ROW(what),
     .choices = kinds,
     .required = true,
     .doc = "kind of the operation"},
    {.name = "precision",
     .kind = HM_FIELD_CHOICE,
     .offset = ROW(math),
     .choices = maths,
     .doc = "number format of a product"},
    {.name = "shape", .kind = HM_FIELD_OTHER, .doc = "a list of sizes", .required = true},
    {.name = "workers",
     .kind = HM_FIELD_QUANTITY,
     .offset = ROW(workers),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "threads or ranks"},
    {.name = "nodes",
     .kind = HM_FIELD_QUANTITY,
     .offset = ROW(nodes),
     .min = 1,
     .max = 1e6,
     .whole = true,
     .doc = "nodes that the ranks are on"},
    {.name = "seconds",
     .kind = HM_FIELD_QUANTITY,
     .offset = ROW(seconds),
     .min = 1e-12,
     .max = 1e6,
     .required = true,
     .doc = "seconds of one operation"},
    {.name = "spread",
     .kind = HM_FIELD_QUANTITY,
     .offset = ROW(spread),
     .max = 1000,
     .doc = "relative distance between the fastest round and the median"},
};

enum {
    HEAD_FIELDS = sizeof(head_fields) / sizeof(head_fields[0]),
    ROW_FIELDS = sizeof(row_fields) / sizeof(row_fields[0])
};

/* Reads the shape of an operation and sets the defaults of missing keys. */
static int read_shape(struct hm_reader *r, const struct hm_value *map, void *object)
{
    struct hm_timing *row = object;
    size_t sides = hm__timed_sides(row->what);
    double *numbers;
    int rc = hm__read_numbers(r, map, "shape", HM_LIST_ABOVE_0, sides, &numbers, NULL);

    for (size_t i = 0; rc == 0 && i < sides; i++) {
        row->shape[i] = numbers[i];
        if (numbers[i] > SIDE_MAX)
            rc = hm__reader_fail(r, map, HM_E_RANGE, "a side of %g is larger than %g", numbers[i],
                                 SIDE_MAX);
    }
    bool product = row->what == HM_TIMED_GEMM || sides == HM_TIMING_SIDES;
    if (rc == 0 && product != (row->math != HM_MATH_AUTO))
        rc = hm__reader_fail(r, map, HM_E_CONFLICT,
                             product ? "%s needs a precision, such as bf16" : "%s has no precision",
                             hm__timed_name(row->what));
    if (!hm__value_get(map, "workers"))
        row->workers = 1;
    if (!hm__value_get(map, "nodes"))
        row->nodes = 1;
    if (!hm__value_get(map, "spread"))
        row->spread = NAN;
    return rc;
}

int hm__timings_parse(const char *text, size_t length, const char *source,
                      struct hm_timings *ret_timings, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct timings_head head = {
        .timings = {.processors = NAN, .memory_bytes = NAN, .workers = NAN, .memory = arena}};
    struct hm_reader reader = {.arena = arena, .err = err};
    struct hm_value *root;
    char *rows = NULL;
    int rc = arena ? hm__value_parse(arena, text, length, source, &root, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm__read_map(&reader, root, head_fields, HEAD_FIELDS, &head);
    if (rc == 0)
        rc = hm__read_objects(&reader, root, "timings", row_fields, ROW_FIELDS, read_shape,
                              sizeof(struct hm_timing), TIMINGS_MAX, &rows, &head.timings.count);
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    head.timings.rows = (struct hm_timing *)(void *)rows;
    head.timings.gpu = head.device == 1;
    *ret_timings = head.timings;
    return 0;
}

void hm__timings_release(struct hm_timings *timings)
{
    hm__arena_free(timings->memory);
    *timings = (struct hm_timings){0};
}
