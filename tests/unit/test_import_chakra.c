/*
 * Tests Chakra execution traces that protobuf-c writes, with the field numbers of Chakra's
 * et_def.proto.
 */
#include <math.h>
#include <unistd.h>

#include "import_samples.h"
#include "wire.pb-c.h"

enum { ROOM = 4096, VALUES = 4 };

/* A trace in memory. */
struct trace {
    uint8_t data[ROOM];
    size_t length;
    size_t ends[8]; /* Positions in the trace after each message. */
    size_t count;
};

/* Appends the length of a message as a varint, then the message. */
static void add_message(struct trace *t, const ProtobufCMessage *message)
{
    size_t length = protobuf_c_message_get_packed_size(message);

    for (size_t left = length;; left >>= 7) {
        t->data[t->length++] = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
        if (left <= 0x7f)
            break;
    }
    t->length += protobuf_c_message_pack(message, t->data + t->length);
    t->ends[t->count++] = t->length;
}

static Wire__Value value_of(const char *name, Wire__Value__ValueCase kind, double number)
{
    Wire__Value v;

    wire__value__init(&v);
    v.name = (char *)(uintptr_t)name;
    v.value_case = kind;
    if (kind == WIRE__VALUE__VALUE_INT64_VAL)
        v.int64_val = (int64_t)number;
    else if (kind == WIRE__VALUE__VALUE_UINT64_VAL)
        v.uint64_val = (uint64_t)number;
    else if (kind == WIRE__VALUE__VALUE_SINT64_VAL)
        v.sint64_val = (int64_t)number;
    else if (kind == WIRE__VALUE__VALUE_FIXED64_VAL)
        v.fixed64_val = (uint64_t)number;
    else if (kind == WIRE__VALUE__VALUE_DOUBLE_VAL)
        v.double_val = number;
    else
        v.bool_val = number != 0;
    return v;
}

/* Appends an operation with up to VALUES attributes; the times are in microseconds. */
static void add_operation(struct trace *t, const char *name, uint32_t type, uint64_t start,
                          uint64_t duration, const Wire__Value *values, size_t count)
{
    Wire__Operation o;
    Wire__Value copies[VALUES], *attributes[VALUES];
    uint64_t before[] = {0, 300};

    wire__operation__init(&o);
    for (size_t i = 0; i < count; i++) {
        copies[i] = values[i];
        attributes[i] = &copies[i];
    }
    o.id = t->count;
    o.name = (char *)(uintptr_t)name;
    o.type = type;
    o.data_deps = before;
    o.n_data_deps = t->count > 1 ? 2 : 0;
    o.start_time_micros = start;
    o.duration_micros = duration;
    o.attr = attributes;
    o.n_attr = count;
    add_message(t, &o.base);
}

/*
 * Makes the trace of a step of 2550 us: 1500 us of computing that begins at 0, a value that
 * protocol buffers omit; an operation of the processor; an all-reduce, an all-gather and a message.
 */
static void make_trace(struct trace *t, bool times)
{
    Wire__Metadata metadata;
    uint64_t unit = times ? 1 : 0;

    *t = (struct trace){0};
    wire__metadata__init(&metadata);
    metadata.version = (char *)(uintptr_t) "0.0.4";
    add_message(t, &metadata.base);
    const Wire__Value forward[] = {value_of("is_cpu_op", WIRE__VALUE__VALUE_BOOL_VAL, 0),
                                   value_of("num_ops", WIRE__VALUE__VALUE_INT64_VAL, 4096000),
                                   value_of("tensor_size", WIRE__VALUE__VALUE_UINT64_VAL, 65536)};
    add_operation(t, "forward", 4, 0, 1500 * unit, forward, 3);
    const Wire__Value host[] = {value_of("is_cpu_op", WIRE__VALUE__VALUE_BOOL_VAL, 1)};
    add_operation(t, "launch", 4, 1000 * unit, 200 * unit, host, 1);
    const Wire__Value reduce[] = {value_of("comm_type", WIRE__VALUE__VALUE_INT64_VAL, 0),
                                  value_of("comm_size", WIRE__VALUE__VALUE_INT64_VAL, 1 << 20)};
    add_operation(t, "reduce", 7, 1500 * unit, 700 * unit, reduce, 2);
    const Wire__Value gather[] = {value_of("comm_type", WIRE__VALUE__VALUE_SINT64_VAL, 2),
                                  value_of("comm_size", WIRE__VALUE__VALUE_FIXED64_VAL, 4096)};
    add_operation(t, "gather", 7, 2200 * unit, 300 * unit, gather, 2);
    const Wire__Value send[] = {value_of("comm_size", WIRE__VALUE__VALUE_DOUBLE_VAL, 1000)};
    add_operation(t, "send", 5, 2500 * unit, 50 * unit, send, 1);
}

static struct hm_imported *import_bytes(const uint8_t *data, size_t length, const char *set)
{
    const char *pairs[] = {set};
    struct hm_import_from from = {.name = "trace",
                                  .data = (const char *)data,
                                  .length = length,
                                  .set = pairs,
                                  .set_count = set ? 1 : 0};
    struct hm_imported *im = NULL;

    return hm__import_new(&from, &im, NULL) ? NULL : im;
}

static const struct hm_value *fact_at(const struct hm_value *facts, const char *a, const char *b)
{
    const struct hm_value *value = hm__value_get(facts, a);

    return value ? hm__value_get(value, b) : NULL;
}

static void assert_sum(const struct hm_value *sum, double count, double seconds, double bytes)
{
    assert_non_null(sum);
    assert_near(hm__value_number(sum, "count"), count, 0);
    assert_near(hm__value_number(sum, "seconds"), seconds, 1e-12);
    assert_near(hm__value_number(sum, "bytes"), bytes, 0);
}

static void traces_are_runs(void **state)
{
    struct trace t;

    (void)state;
    make_trace(&t, true);
    struct hm_imported *im = import_bytes(t.data, t.length, "n=8");
    assert_non_null(im);
    assert_string_equal(im->importer->name, "chakra");
    assert_false(im->partial);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    assert_near(hm__value_number(facts, "nodes"), 5, 0);
    assert_sum(fact_at(facts, "nodes_by_type", "compute"), 1, 1500e-6, 65536);
    assert_sum(fact_at(facts, "nodes_by_type", "collective"), 2, 1000e-6, (1 << 20) + 4096);
    assert_sum(fact_at(facts, "nodes_by_type", "send"), 1, 50e-6, 1000);
    assert_sum(fact_at(facts, "collectives", "all_reduce"), 1, 700e-6, 1 << 20);
    assert_sum(fact_at(facts, "collectives", "all_gather"), 1, 300e-6, 4096);
    assert_near(hm__value_number(fact_at(facts, "nodes_by_type", "compute"), "operations"), 4096000,
                0);
    assert_near(hm__value_number(fact_at(facts, "nodes_by_type", "host"), "seconds"), 200e-6,
                1e-12);
    assert_int_equal(im->runs.rows, 1);
    static const double wanted[] = {8, 2550e-6, 1500e-6, 1050e-6, (1 << 20) + 4096 + 1000};
    for (size_t i = 0; i < 5; i++)
        assert_near(im->runs.cells[i].number, wanted[i], 1e-12);
    hm__import_free(im);
}

static void traces_for_simulators_have_no_run(void **state)
{
    struct trace t;

    (void)state;
    make_trace(&t, false);
    struct hm_imported *im = import_bytes(t.data, t.length, NULL);
    assert_non_null(im);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    assert_true(isnan(hm__value_number(facts, "seconds")));
    assert_near(hm__value_number(fact_at(facts, "collectives", "all_reduce"), "bytes"), 1 << 20, 0);
    assert_int_equal(im->runs.rows, 0);
    assert_false(im->needs_n);
    hm__import_free(im);
}

static void truncated_traces_are_partial(void **state)
{
    struct trace t;

    (void)state;
    make_trace(&t, true);
    for (size_t cut = t.ends[1]; cut < t.length; cut++) {
        struct hm_imported *im = import_bytes(t.data, cut, NULL);
        bool boundary = false;
        size_t whole = 0;
        for (size_t i = 0; i < t.count; i++) {
            boundary |= t.ends[i] == cut;
            whole += i > 0 && t.ends[i] <= cut;
        }
        assert_non_null(im);
        assert_string_equal(im->importer->name, "chakra");
        /* A file that is cut after a message looks like a whole trace. */
        assert_int_equal(im->partial, !boundary);
        struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
        assert_near(hm__value_number(facts, "nodes"), (double)whole, 0);
        hm__import_free(im);
    }
}

static void the_files_of_a_job_give_the_ranks(void **state)
{
    char folder[] = "/tmp/howmany-chakra-XXXXXX", path[64];
    struct hm_imported *im = NULL;
    struct trace t;

    (void)state;
    make_trace(&t, true);
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/job.%d.et", folder, i);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(t.data, 1, t.length, file), t.length);
        fclose(file);
    }
    struct hm_import_from from = {.name = path};
    assert_int_equal(hm__import_new(&from, &im, NULL), 0);
    assert_near(im->runs.cells[0].number, 3, 0);
    hm__import_free(im);
    for (int i = 2; i > 0; i--) { /* The ranks before the one that is missing count. */
        snprintf(path, sizeof(path), "%s/job.%d.et", folder, i);
        unlink(path);
        snprintf(path, sizeof(path), "%s/job.0.et", folder);
        assert_int_equal(hm__import_new(&from, &im, NULL), 0);
        assert_near(im->runs.cells[0].number, i, 0);
        hm__import_free(im);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_runs),
        cmocka_unit_test(traces_for_simulators_have_no_run),
        cmocka_unit_test(truncated_traces_are_partial),
        cmocka_unit_test(the_files_of_a_job_give_the_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
