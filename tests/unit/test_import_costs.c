/*
 * Tests that files which were made to cost much time are read in about the time that other files of
 * their size take. Processor times are compared generously; without the fixes, they differ by
 * factors of 20 and more.
 */
#include <time.h>
#include <unistd.h>

#include "testing.h"

#include "budget.h"
#include "import.h"
#include "memory.h"
#include "text.h"

/* ---- costs ------------------------------------------------------------------------------------
 */

static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* Imports bytes as a format; returns the processor time in seconds. */
static double import_cost(const char *format, const struct hm_text *text, int *ret_rc,
                          struct hm_err *err)
{
    const struct hm_import_from from = {.name = "made",
                                        .data = text->data,
                                        .length = text->length,
                                        .as = hm__importer_find(format)};
    struct hm_imported *im = NULL;
    double start = processor_seconds();

    assert_non_null(from.as);
    *ret_rc = hm__import_new(&from, &im, err);
    hm__import_free(im);
    return processor_seconds() - start;
}

/* Checks that two files of about the same size are read, and that the first costs little more. */
static void check_costs(const char *format, struct hm_text *made, struct hm_text *usual)
{
    struct hm_err err = {0};
    int rc;

    assert_false(made->failed || usual->failed);
    double a = import_cost(format, made, &rc, &err);
    if (rc)
        fail_msg("%s: %s", format, err.message);
    double b = import_cost(format, usual, &rc, &err);
    assert_int_equal(rc, 0);
    if (a > 5 * b + 0.15)
        fail_msg("%s: %g s instead of %g s", format, a, b);
    hm__text_release(made);
    hm__text_release(usual);
}

/* ---- names ------------------------------------------------------------------------------------
 */

enum { PAIRS = 15, PIECE = 5, NAME_BITS = 20 };

/*
 * Pairs of pieces of names. With any choice of one piece of each pair, the names have FNV-1a hashes
 * with the same low 20 bits: the first piece and the second one of a pair change these bits of a
 * hash in the same way.
 */
static char pieces[PAIRS][2][PIECE + 1];

static uint32_t hash_on(uint32_t hash, const char *text)
{
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x1b3u;
    return hash & ((1u << NAME_BITS) - 1);
}

static void find_pieces(uint32_t start)
{
    uint32_t *seen = calloc((size_t)1 << NAME_BITS, sizeof(*seen));

    assert_non_null(seen);
    for (size_t i = 0; i < PAIRS; i++) {
        memset(seen, 0, sizeof(*seen) << NAME_BITS);
        for (uint32_t trial = 1;; trial++) {
            char piece[PIECE + 9];
            snprintf(piece, sizeof(piece), "%05x", trial);
            uint32_t hash = hash_on(start, piece);
            if (seen[hash]) {
                snprintf(pieces[i][0], PIECE + 1, "%05x", seen[hash]);
                snprintf(pieces[i][1], PIECE + 1, "%05x", trial);
                start = hash;
                break;
            }
            seen[hash] = trial;
        }
    }
    free(seen);
}

/*
 * Writes name number `i`, which begins with a letter; with `collide`, all names have hashes with
 * the same low bits.
 */
static void write_name(char name[1 + PAIRS * PIECE + 1], size_t i, bool collide)
{
    char *at = name + 1;

    name[0] = 'n';
    for (size_t k = 0; collide && k < PAIRS; k++, at += PIECE)
        memcpy(at, pieces[k][i >> k & 1], PIECE + 1);
    if (!collide)
        snprintf(at, 1 + PAIRS * PIECE, "%075zx", i);
}

static void prepare_names(uint64_t basis)
{
    find_pieces(hash_on((uint32_t)basis, "n"));
}

/* ---- protocol buffers -------------------------------------------------------------------------
 */

static void add_varint(struct hm_text *out, uint64_t value)
{
    char c;

    for (; value >= 0x80; value >>= 7) {
        c = (char)(value | 0x80);
        hm__text_add_n(out, &c, 1);
    }
    c = (char)value;
    hm__text_add_n(out, &c, 1);
}

/* Adds a field of bytes. */
static void add_field(struct hm_text *out, unsigned number, const char *data, size_t length)
{
    add_varint(out, number << 3 | 2);
    add_varint(out, length);
    hm__text_add_n(out, data, length);
}

/* Makes an ONNX model with many weights. */
static struct hm_text make_onnx(size_t count, bool collide)
{
    struct hm_text graph = {0}, model = {0};
    char name[1 + PAIRS * PIECE + 1];

    for (size_t i = 0; i < count; i++) {
        struct hm_text tensor = {0};
        write_name(name, i, collide);
        add_field(&tensor, 8, name, strlen(name));
        add_field(&graph, 5, tensor.data, tensor.length);
        hm__text_release(&tensor);
    }
    hm__text_add_n(&model, "\x08\x08", 2);
    add_field(&model, 7, graph.data, graph.length);
    hm__text_release(&graph);
    return model;
}

/* Returns the masked CRC-32C of bytes, which TensorBoard stores. */
static uint32_t masked_checksum(const char *data, size_t length)
{
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static void add_fixed(struct hm_text *out, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        char c = (char)(value >> 8 * i);
        hm__text_add_n(out, &c, 1);
    }
}

/* Adds a record with scalars of `tags` names, beginning with name number `first`. */
static void add_scalars(struct hm_text *out, size_t first, size_t count, size_t tags)
{
    struct hm_text summary = {0}, event = {0};

    for (size_t i = 0; i < count; i++) {
        struct hm_text value = {0};
        char name[32];
        size_t length = (size_t)snprintf(name, sizeof(name), "t%07zu", first + i % tags);
        add_field(&value, 1, name, length);
        hm__text_add_n(&value, "\x15\0\0\0\0", 5);
        add_field(&summary, 1, value.data, value.length);
        hm__text_release(&value);
    }
    add_field(&event, 5, summary.data, summary.length);
    size_t at = out->length;
    add_fixed(out, event.length, 8);
    add_fixed(out, masked_checksum(out->data + at, 8), 4);
    hm__text_add_n(out, event.data, event.length);
    add_fixed(out, masked_checksum(event.data, event.length), 4);
    hm__text_release(&summary);
    hm__text_release(&event);
}

/* ---- tests ------------------------------------------------------------------------------------
 */

/* Readers with tables of names, whose names must not collide. */
static void names_do_not_collide(void **state)
{
    enum { WEIGHTS = 1 << 14, LINKS = 1 << PAIRS };
    struct hm_text onnx[2], links[2] = {{0}}, types[2] = {{0}};
    char name[1 + PAIRS * PIECE + 1];

    (void)state;
    prepare_names(1469598103934665603u);
    for (int k = 0; k < 2; k++)
        onnx[k] = make_onnx(WEIGHTS, k == 0);
    check_costs("onnx", &onnx[0], &onnx[1]);
    prepare_names(14695981039346656037u);
    for (int k = 0; k < 2; k++) {
        hm__text_add(&links[k], "<platform version=\"4.1\">\n");
        hm__text_add(&types[k], "def forward(self");
        for (size_t i = 0; i < LINKS; i++) {
            write_name(name, i, k == 0);
            hm__text_addf(&links[k], "<link id=\"%s\" bandwidth=\"1Bps\" latency=\"1s\"/>\n", name);
            hm__text_addf(&types[k], ", %s: \"f32[2]\"", name);
        }
        hm__text_add(&links[k], "</platform>\n");
        hm__text_add(&types[k], "):\n");
    }
    check_costs("simgrid", &links[0], &links[1]);
    check_costs("torch-fx", &types[0], &types[1]);
}

/* Values of a scalar that is new are read as fast as those of the first one, also if the table of
 * scalars is full. */
static void scalars_are_found_at_once(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        add_scalars(&texts[k], 0, 4096, 4096);
        for (size_t i = 0; i < 4; i++)
            add_scalars(&texts[k], k == 0 ? 10000 + 40000 * i : 0, 40000, k == 0 ? 40000 : 1);
    }
    check_costs("tensorboard", &texts[0], &texts[1]);
}

/* Rows of a price list may be in any order. */
static void machines_are_found_at_once(void **state)
{
    enum { MACHINES = 9999, ROWS = 100000 };
    struct hm_catalog *catalog = NULL;
    double costs[2];

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    for (int k = 0; k < 2; k++) {
        char path[] = "/tmp/howmany-costs-XXXXXX";
        struct hm_import report = {0};
        struct hm_err err = {0};
        FILE *file = fdopen(mkstemp(path), "w");
        assert_non_null(file);
        fprintf(file, "InstanceType,Price,Region\n");
        for (int i = 0; i < ROWS; i++)
            fprintf(file, "m%04d,1,r\n", k == 0 ? i % MACHINES : i / 1000);
        assert_int_equal(fclose(file), 0);
        double start = processor_seconds();
        assert_int_equal(hm_catalog_import(catalog, path, NULL, false, &report, &err), 0);
        costs[k] = processor_seconds() - start;
        assert_true(report.machines >= 100 && report.rows == ROWS);
        hm_text_free(report.text);
        unlink(path);
    }
    hm_catalog_free(catalog);
    if (costs[0] > 5 * costs[1] + 0.15)
        fail_msg("%g s instead of %g s", costs[0], costs[1]);
}

/* The end of an arithmetic expression is searched for once if there is none. */
static void brackets_without_an_end_are_left_out(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hm__text_add(&texts[k], "#!/bin/sh\n#SBATCH --nodes=4\ntorchrun --batch-size 8 \n");
        for (size_t i = 0; i < 250000; i++)
            hm__text_add(&texts[k], k == 0 ? "$((" : "$(a");
    }
    check_costs("sbatch", &texts[0], &texts[1]);
}

/* A type without an end is not searched for to the end of its line for each of many types. */
static void types_without_an_end_are_left_out(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hm__text_add(&texts[k], "def forward(self, ");
        for (size_t i = 0; i < 40000; i++)
            hm__text_add(&texts[k], k == 0 ? "x:f[y:f[" : "x:f,y:f,");
        hm__text_add(&texts[k], "):\n");
    }
    check_costs("torch-fx", &texts[0], &texts[1]);
}

/* Stages of a Spark log are found at once, also those of repeated jobs. */
static void stages_are_found_at_once(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hm_text *t = &texts[k];
        int stages = k == 0 ? 20000 : 10;
        hm__text_add(t, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.3.0\"}\n");
        for (int i = 0; i < 20000; i++)
            hm__text_addf(t,
                          "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":"
                          "{\"Stage ID\":%d,\"Stage Attempt ID\":0}}\n",
                          i % stages);
        for (int i = 0; i < 60000; i++)
            hm__text_addf(t,
                          "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,"
                          "\"Task End Reason\":{\"Reason\":\"Success\"}}\n",
                          i % 10);
        for (int i = 0; i < 5000; i++) {
            hm__text_addf(
                t,
                "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":1,"
                "\"Stage Infos\":[{\"Stage ID\":%d,\"Stage Name\":\"a\"}]}\n",
                i, i % 10);
            hm__text_addf(t,
                          "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":2,"
                          "\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n",
                          i);
        }
    }
    check_costs("spark", &texts[0], &texts[1]);
}

/* Steps of a trace that overlap are not measured over the whole trace for each of them. */
static void overlapping_steps_have_a_limit(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        hm__text_add(&texts[k], "{\"schemaVersion\": 1, \"traceEvents\": [");
        for (int i = 0; i < 4000; i++)
            hm__text_addf(&texts[k],
                          "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": "
                          "\"ProfilerStep#%d\", \"ts\": %d, \"dur\": %d},\n",
                          i, k == 0 ? i : 10 * i, k == 0 ? 40000 : 10);
        for (int i = 0; i < 40000; i++)
            hm__text_addf(&texts[k],
                          "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", "
                          "\"ts\": %d, \"dur\": 1}",
                          i ? ",\n" : "", i);
        hm__text_add(&texts[k], "]}");
    }
    check_costs("torch-trace", &texts[0], &texts[1]);
}

/* ---- Keras ------------------------------------------------------------------------------------
 */

/* Writes a model that uses a model 16 times, which uses a model 16 times, and so on. */
static void write_nested(struct hm_text *out, int depth)
{
    hm__text_add(out,
                 "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": ["
                 "{\"class_name\": \"InputLayer\", \"name\": \"i\", \"config\": {\"batch_shape\": "
                 "[null, 4]}, \"inbound_nodes\": []}, ");
    if (depth > 0)
        write_nested(out, depth - 1);
    else
        hm__text_add(out, "{\"class_name\": \"Dense\", \"config\": {\"units\": 4}");
    hm__text_add(out, ", \"name\": \"u\", \"inbound_nodes\": [");
    for (int i = 0; i < 16; i++)
        hm__text_addf(out, "%s[[\"i\", 0, 0, {}]]", i ? ", " : "");
    hm__text_add(out,
                 "]}], \"input_layers\": [[\"i\", 0, 0]], \"output_layers\": [[\"u\", 0, 0]]}");
}

/* Models that are used by models are looked at a limited number of times. */
static void nested_models_have_a_limit(void **state)
{
    struct hm_err err = {0};
    int rc;

    (void)state;
    for (int depth = 2; depth <= 6; depth += 4) {
        struct hm_text text = {0};
        write_nested(&text, depth);
        hm__text_add(&text, "}");
        import_cost("keras", &text, &rc, &err);
        assert_int_equal(rc, depth == 2 ? 0 : HM_E_LIMIT);
        hm__text_release(&text);
    }
    assert_non_null(strstr(err.message, "a million times"));
}

/* Names in the list of a model's inputs are looked up, not compared one by one. */
static void inputs_of_models_are_found_at_once(void **state)
{
    struct hm_text texts[2] = {{0}};

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct hm_text *t = &texts[k];
        hm__text_add(t, "{\"class_name\": \"Functional\", \"config\": {\"layers\": ["
                        "{\"class_name\": \"Functional\", \"name\": \"u\", \"inbound_nodes\": [");
        for (int i = 0; i < 16; i++)
            hm__text_addf(t, "%s[[\"i\", 0, 0, {}]]", i ? ", " : "");
        hm__text_add(t, "], \"config\": {\"layers\": [");
        for (int i = 0; i < 5000; i++)
            hm__text_addf(t, "%s{\"class_name\": \"InputLayer\", \"name\": \"layer_number_%04d\"}",
                          i ? ", " : "", i);
        hm__text_addf(t, "], \"%s\": [", k ? "other_layers" : "input_layers");
        for (int i = 0; i < 10000; i++)
            hm__text_addf(t, "%s\"layer_number_x%03d\"", i ? ", " : "", i % 1000);
        hm__text_add(t, "]}}]}}");
    }
    check_costs("keras", &texts[0], &texts[1]);
}

/* ---- archives ---------------------------------------------------------------------------------
 */

/*
 * Makes a zip archive that is only a directory of `count` members and one other, which all have the
 * first `packed` bytes of the archive.
 */
static struct hm_text make_zip(size_t count, const char *name, size_t packed)
{
    struct hm_text zip = {0};

    hm__text_add_n(&zip, "PK\3\4", 4); /* An archive begins with a member. */
    for (size_t i = 0; i <= count; i++) {
        char member[32];
        size_t length = (size_t)snprintf(member, sizeof(member), i < count ? "%s_%05zu" : "other",
                                         name, (i * 7919) % count);
        hm__text_add_n(&zip, "PK\1\2", 4);
        add_fixed(&zip, 0, 8); /* Versions, flags, method. */
        add_fixed(&zip, 0, 8); /* Time, date, checksum. */
        add_fixed(&zip, packed, 4);
        add_fixed(&zip, packed, 4);
        add_fixed(&zip, length, 2);
        add_fixed(&zip, 0, 8); /* Lengths of the extra field and of the comment, attributes. */
        add_fixed(&zip, 0, 8);
        hm__text_add_n(&zip, member, length);
    }
    size_t size = zip.length - 4;
    hm__text_add_n(&zip, "PK\5\6", 4);
    add_fixed(&zip, 0, 4);
    add_fixed(&zip, count + 1, 2);
    add_fixed(&zip, count + 1, 2);
    add_fixed(&zip, size, 4);
    add_fixed(&zip, 4, 4);
    add_fixed(&zip, 0, 2);
    return zip;
}

static int count_file(void *data, const char *file, struct hm_err *err)
{
    (void)file;
    (void)err;
    ++*(size_t *)data;
    return 0;
}

/* The parts of a log in an archive are ordered once, not for each of them. */
static void parts_are_ordered_once(void **state)
{
    enum { PARTS = 9999 };
    double costs[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        char path[] = "/tmp/howmany-costs-XXXXXX";
        struct hm_err err = {0};
        struct hm_text zip = make_zip(PARTS, k == 0 ? "events" : "evenly", 0);
        FILE *file = fdopen(mkstemp(path), "w");
        size_t visits = 0;
        assert_non_null(file);
        assert_int_equal(fwrite(zip.data, 1, zip.length, file), zip.length);
        assert_int_equal(fclose(file), 0);
        double start = processor_seconds();
        assert_int_equal(hm__import_walk_archive(path, count_file, &visits, &err), 0);
        costs[k] = processor_seconds() - start;
        assert_int_equal(visits, k == 0 ? 2 : PARTS + 1);
        hm__text_release(&zip);
        unlink(path);
    }
    if (costs[0] > 5 * costs[1] + 0.15)
        fail_msg("%g s instead of %g s", costs[0], costs[1]);
}

/* Members of a zip archive that share their bytes could make a small file decode to terabytes. */
static void overlapping_members_are_refused(void **state)
{
    (void)state;
    for (size_t packed = 20; packed <= 80; packed += 60) {
        struct hm_text zip = make_zip(99, "events", packed);
        struct hm_archive *archive = NULL;
        struct hm_err err = {0};
        int rc = hm__archive_open("made", zip.data, zip.length, &archive, &err);
        assert_int_equal(rc, packed == 20 ? 0 : HM_E_LIMIT);
        if (packed == 20)
            assert_int_equal(archive->count, 100);
        else
            assert_string_equal(err.message, "has members that overlap");
        hm__archive_free(archive);
        hm__text_release(&zip);
    }
}

/* Long names of columns are searched once, not for each row. */
static void names_of_columns_are_searched_once(void **state)
{
    static const char *const formats[] = {"lightning", "wandb"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_text texts[2] = {{0}};
        for (int k = 0; k < 2; k++) {
            hm__text_add(&texts[k], i == 0 ? "step,train_loss," : "Step,a - train_loss,");
            for (int c = 0; c < 100000; c++)
                hm__text_add(&texts[k], k == 0 ? "lo" : "");
            hm__text_add(&texts[k], "c\n");
            for (int row = 0; row < 40000; row++)
                hm__text_add(&texts[k], "1,,1\n");
        }
        check_costs(formats[i], &texts[0], &texts[1]);
    }
}

/* Returns how often the budget is checked while a log with long lines is read. */
static long count_checks(int lines, int length)
{
    enum { CHECKS = 100000 };
    struct hm_budget budget = {.checks = CHECKS};
    struct hm_text text = {0};
    struct hm_err err = {0};
    int rc;

    hm__text_add(&text, "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\n");
    for (int i = 0; i < lines; i++)
        hm__text_addf(&text, "%*d\n", length, i);
    hm__budget_enter(&budget);
    import_cost("nanogpt", &text, &rc, &err);
    hm__budget_leave(&budget);
    assert_int_equal(rc, 0);
    hm__text_release(&text);
    return CHECKS - budget.checks;
}

/* The time limit is checked often, also in a file of few lines. */
static void long_lines_are_checked_often(void **state)
{
    (void)state;
    assert_true(count_checks(50, 20000) >= count_checks(1, 1) + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_lines_are_checked_often),
        cmocka_unit_test(names_of_columns_are_searched_once),
        cmocka_unit_test(names_do_not_collide),
        cmocka_unit_test(scalars_are_found_at_once),
        cmocka_unit_test(machines_are_found_at_once),
        cmocka_unit_test(brackets_without_an_end_are_left_out),
        cmocka_unit_test(nested_models_have_a_limit),
        cmocka_unit_test(inputs_of_models_are_found_at_once),
        cmocka_unit_test(parts_are_ordered_once),
        cmocka_unit_test(stages_are_found_at_once),
        cmocka_unit_test(overlapping_steps_have_a_limit),
        cmocka_unit_test(overlapping_members_are_refused),
        cmocka_unit_test(types_without_an_end_are_left_out),
    };
    return cmocka_run_group_tests_name("import_costs", tests, NULL, NULL);
}
