/* Tests imports of tar archives that the test writes: names, sizes, damage, and truncation at each
 * byte; and of Spark logs, in archives and alone. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "archive_made.h"
#include "budget.h"
#include "import_samples.h"

enum { BLOCK = 512 };

static const char log_text[] = "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\n"
                               "iter 10: loss 9.5, time 200.00ms, mfu 30.00%\n";

/* Appends a header with its checksum. `size` is the text of its size, with 11 digits. */
static void put_header_below(struct hm_text *out, const char *prefix, const char *name,
                             const char *size, char type, bool posix)
{
    unsigned char block[BLOCK] = {0};
    unsigned sum = 0;

    snprintf((char *)block, 100, "%s", name);
    snprintf((char *)block + 345, 155, "%s", prefix);
    memcpy(block + 124, size, 12);
    memset(block + 148, ' ', 8);
    block[156] = (unsigned char)type;
    if (posix)
        memcpy(block + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++)
        sum += block[i];
    snprintf((char *)block + 148, 8, "%06o", sum);
    hm__text_add_n(out, (const char *)block, BLOCK);
}

static void put_header(struct hm_text *out, const char *name, const char *size, char type,
                       bool posix)
{
    put_header_below(out, "", name, size, type, posix);
}

static void put_data(struct hm_text *out, const char *text, size_t length)
{
    static const char zeros[BLOCK];

    hm__text_add_n(out, text, length);
    hm__text_add_n(out, zeros, (BLOCK - length % BLOCK) % BLOCK);
}

static void put_file(struct hm_text *out, const char *name, const char *text, char type, bool posix)
{
    char size[24];

    snprintf(size, sizeof(size), "%011zo", strlen(text));
    put_header(out, name, size, type, posix);
    put_data(out, text, strlen(text));
}

static void put_end(struct hm_text *out)
{
    static const char zeros[2 * BLOCK];

    hm__text_add_n(out, zeros, sizeof(zeros));
}

static int import_tar(const struct hm_text *tar, size_t length, struct hm_imported **ret_im,
                      struct hm_err *err)
{
    struct hm_import_from from = {.name = "file", .data = tar->data, .length = length};

    *err = (struct hm_err){0};
    return hm__import_new(&from, ret_im, err);
}

/* Imports an archive of one log, and checks the name of the log and its number of workers. */
static void assert_log(const struct hm_text *tar, const char *name, double n)
{
    struct hm_imported *im = NULL;
    struct hm_err err;

    if (import_tar(tar, tar->length, &im, &err))
        fail_msg("%s: %s", name, err.message);
    assert_string_equal(im->importer->name, "nanogpt");
    assert_string_equal(im->name, name);
    assert_false(im->partial);
    assert_near(im->runs.cells[0].number, n, 0);
    hm__import_free(im);
}

static void archives_of_all_kinds_are_read(void **state)
{
    struct hm_text tar = {0};

    (void)state;
    for (int posix = 0; posix < 2; posix++) {
        put_header(&tar, "./logs/", "00000000000", '5', posix);
        put_file(&tar, "./logs/._run_n4.log", "attributes of macOS", '0', posix);
        put_file(&tar, "./logs/run_n4.log", log_text, posix ? '0' : '\0', posix);
        put_header(&tar, "./logs/link", "00000000000", '2', posix);
        put_end(&tar);
        assert_log(&tar, "file/logs/run_n4.log", 4);
        hm__text_release(&tar);
    }
}

/* A header of POSIX may have a prefix; older headers have none. */
static void prefixes_are_folders(void **state)
{
    struct hm_text tar = {0};
    char size[24];

    (void)state;
    snprintf(size, sizeof(size), "%011zo", strlen(log_text));
    for (int posix = 0; posix < 2; posix++) {
        put_header_below(&tar, "some/logs", "run_n4.log", size, '0', posix);
        put_data(&tar, log_text, strlen(log_text));
        put_end(&tar);
        assert_log(&tar, posix ? "file/some/logs/run_n4.log" : "file/run_n4.log", 4);
        hm__text_release(&tar);
    }
}

static void long_names_and_sizes_are_read(void **state)
{
    struct hm_text tar = {0};
    char size[12] = "\x80\0\0\0\0\0\0\0\0\0\0";

    (void)state;
    /* In the format of GNU tar, the name precedes the member, and the size is binary. */
    put_file(&tar, "././@LongLink", "logs/run_n16.log", 'L', false);
    size[11] = (char)strlen(log_text);
    put_header(&tar, "logs/run_", size, '0', false);
    put_data(&tar, log_text, strlen(log_text));
    put_end(&tar);
    assert_log(&tar, "file/logs/run_n16.log", 16);
    hm__text_release(&tar);
    /* In the format of pax, records precede the member; an unknown record is skipped, and a global
     * header has no effect. */
    put_file(&tar, "global", "19 comment=run_n99\n", 'g', true);
    put_file(&tar, "pax", "16 mtime=12.345\n25 path=logs/run_n32.log\n11 size=93\n", 'x', true);
    put_header(&tar, "short", "00000000000", '0', true);
    put_data(&tar, log_text, strlen(log_text));
    put_end(&tar);
    assert_int_equal(strlen(log_text), 93);
    assert_log(&tar, "file/logs/run_n32.log", 32);
    hm__text_release(&tar);
}

static void truncated_archives_are_partial(void **state)
{
    struct hm_text tar = {0};
    size_t taken = 0;

    (void)state;
    put_file(&tar, "run_n4.log", log_text, '0', true);
    put_end(&tar);
    for (size_t at = 0; at < tar.length; at++) {
        struct hm_imported *im = NULL;
        struct hm_err err;
        if (import_tar(&tar, at, &im, &err))
            assert_true(err.message[0]);
        /* One block of zeros is enough to mark the end of the archive. */
        else if (im->partial != (at < 3 * BLOCK))
            fail_msg("after %zu bytes, partial is %d", at, im->partial);
        taken += im != NULL;
        hm__import_free(im);
    }
    assert_true(taken > 2 * BLOCK);
    hm__text_release(&tar);
}

/* The checksum of a compressed archive is after the blocks of zeros that end the archive. */
static void checksums_of_compressed_archives_are_compared(void **state)
{
    struct hm_text tar = {0}, packed = {0};
    struct hm_imported *im = NULL;
    struct hm_err err;

    (void)state;
    if (!can_inflate())
        skip();
    put_file(&tar, "run_n4.log", log_text, '0', true);
    put_end(&tar);
    put_gzip(&packed, tar.data, tar.length);
    assert_int_equal(import_tar(&packed, packed.length, &im, &err), 0);
    assert_false(im->partial);
    hm__import_free(im);
    packed.data[packed.length - 5] ^= 1;
    im = NULL;
    int rc = import_tar(&packed, packed.length, &im, &err);
    assert_true(rc ? err.message[0] != '\0' : im->partial);
    hm__import_free(im);
    hm__text_release(&tar);
    hm__text_release(&packed);
}

static void damaged_archives_are_refused(void **state)
{
    static const char *const sizes[] = {
        "77777777777", "\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "not a size.",
        "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff"};
    struct hm_imported *im = NULL;
    struct hm_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct hm_text tar = {0};
        put_header(&tar, "run_n4.log", sizes[i], '0', true);
        put_data(&tar, log_text, strlen(log_text));
        put_end(&tar);
        /* If a size is beyond the end of the file, the archive was truncated; other invalid sizes
         * are damaged headers. */
        int rc = import_tar(&tar, tar.length, &im, &err);
        assert_true(rc ? rc == HM_E_SYNTAX : im->partial);
        hm__import_free(im);
        im = NULL;
        hm__text_release(&tar);
    }
    /* The first member is read although the header of the second is damaged. */
    struct hm_text tar = {0};
    put_file(&tar, "run_n4.log", log_text, '0', true);
    put_file(&tar, "run_n8.log", log_text, '0', true);
    tar.data[2 * BLOCK] = 'x';
    assert_int_equal(import_tar(&tar, tar.length, &im, &err), 0);
    assert_true(im->partial);
    assert_string_equal(im->name, "file/run_n4.log");
    hm__import_free(im);
    hm__text_release(&tar);
}

/* The parts of a Spark log must be read in the order of their numbers, whatever their order in the
 * archive. */
static void parts_are_read_in_order(void **state)
{
    static const char first[] =
        "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n"
        "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"a\",\"App ID\":\"x\","
        "\"Timestamp\":1000}\n";
    static const char second[] = "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":4000}\n";
    struct hm_text tar = {0};
    struct hm_imported *im = NULL;
    struct hm_err err;

    (void)state;
    put_file(&tar, "eventlog_v2_x/events_10_x", second, '0', true);
    put_file(&tar, "eventlog_v2_x/appstatus_x", "", '0', true);
    put_file(&tar, "eventlog_v2_x/events_9_x", first, '0', true);
    put_end(&tar);
    if (import_tar(&tar, tar.length, &im, &err))
        fail_msg("%s", err.message);
    assert_string_equal(im->importer->name, "spark");
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    assert_near(hm__value_number(facts, "seconds"), 3, 0);
    assert_int_equal(im->part_count, 2);
    assert_string_equal(im->parts[0], "eventlog_v2_x/events_9_x");
    hm__import_free(im);
    hm__text_release(&tar);
}

/* The log has two stages: one with tasks of 1, 1 and 4 s (mean 2 s, variance 2), and one with two
 * tasks of 3 s. */
static void stragglers_are_described(void **state)
{
    static const struct {
        int stage, ms;
    } tasks[] = {{0, 1000}, {0, 1000}, {0, 4000}, {1, 3000}, {1, 3000}, {2, 500}};
    struct hm_text log = {0};
    struct hm_imported *im = NULL;
    struct hm_err err;

    (void)state;
    hm__text_add(&log, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.5.0\"}\n");
    for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++)
        hm__text_addf(&log,
                      "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt "
                      "ID\":0,\"Task End Reason\":{\"Reason\":\"Success\"},\"Task "
                      "Info\":{\"Launch Time\":1000,\"Finish Time\":%d}}\n",
                      tasks[i].stage, 1000 + tasks[i].ms);
    if (import_tar(&log, log.length, &im, &err))
        fail_msg("%s", err.message);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    const struct hm_value *found = hm__value_get(facts, "stragglers");
    assert_near(hm__value_number(found, "stages"), 2, 0);
    assert_near(hm__value_number(found, "tasks"), 5, 0);
    /* The squared relative deviations are 2 / 4 for the 3 tasks of the first stage and 0 for the 2
     * tasks of the second. */
    assert_near(hm__value_number(found, "relative_deviation"), sqrt(0.5 * 3 / 5), 1e-12);
    assert_near(hm__value_number(found, "longest_over_mean_median"), 1, 1e-12);
    assert_near(hm__value_number(found, "longest_over_mean_p90"), 2, 1e-12);
    assert_near(hm__value_number(found, "longest_over_mean_max"), 2, 1e-12);
    hm__import_free(im);
    hm__text_release(&log);
}

/* Writes compressed bytes to a new file, whose name replaces the X of `path`. */
static void write_packed(char *path, const struct hm_text *text)
{
    char command[200];
    FILE *file = fdopen(mkstemp(path), "w");

    assert_non_null(file);
    assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof(command), "gzip -1 <%s >%s.gz && mv %s.gz %s", path, path, path, path);
    assert_int_equal(system(command), 0);
}

/* Imports a compressed log of many parts, in their order or in the opposite order. */
static int import_parts(bool in_order, struct hm_budget *budget, struct hm_err *err)
{
    enum { PARTS = 200, EVENTS = 5000 };
    char path[] = "/tmp/hm-import-XXXXXX", name[64];
    struct hm_import_from from = {.name = path, .as = hm__importer_find("spark")};
    struct hm_imported *im = NULL;
    struct hm_text tar = {0}, part = {0};

    hm__text_add(&part, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.3.0\"}\n");
    for (int i = 0; i < EVENTS; i++)
        hm__text_add(&part, "{\"Event\":\"x\"}\n");
    for (int i = 1; i <= PARTS; i++) {
        snprintf(name, sizeof(name), "log/events_%d_x", in_order ? i : PARTS + 1 - i);
        put_file(&tar, name, part.data, '0', true);
    }
    put_end(&tar);
    write_packed(path, &tar);
    hm__budget_enter(budget);
    int rc = hm__import_new(&from, &im, err);
    hm__budget_leave(budget);
    hm__import_free(rc ? NULL : im);
    unlink(path);
    hm__text_release(&tar);
    hm__text_release(&part);
    return rc;
}

/*
 * A compressed log is decompressed twice if its parts are in their order: 28 MB, instead of 1.4 GB
 * for decompressing it again for each part. The budget is checked for each 16 kB. In the opposite
 * order, the log is refused.
 */
static void parts_are_decompressed_once(void **state)
{
    const char *zlib = getenv("HM_ZLIB");
    struct hm_err err = {0};
    struct hm_budget budget = {.checks = 40000}, none = {.checks = 0};

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0)
        skip();
    assert_int_equal(import_parts(true, &budget, &err), 0);
    assert_int_equal(import_parts(false, &none, &err), HM_E_LIMIT);
    assert_string_equal(err.message, "the archive would be decompressed more than 64 times");
}

static int count_file(void *data, const char *file, struct hm_err *err)
{
    (void)file;
    (void)err;
    ++*(size_t *)data;
    return 0;
}

/* Files of a compressed archive are imported one by one unless this decompresses 32 GiB. */
static void archives_of_many_files_are_refused(void **state)
{
    const char *zlib = getenv("HM_ZLIB");

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0)
        skip();
    for (size_t count = 99; count <= 9999; count += 9900) {
        char path[] = "/tmp/hm-import-XXXXXX", name[64];
        struct hm_text tar = {0};
        struct hm_err err = {0};
        size_t visits = 0;
        for (size_t i = 0; i < count; i++) {
            snprintf(name, sizeof(name), "logs/run_%zu.log", i);
            put_file(&tar, name, "", '0', true);
        }
        put_end(&tar);
        write_packed(path, &tar);
        int rc = hm__import_walk_archive(path, count_file, &visits, &err);
        assert_int_equal(rc, count == 99 ? 0 : HM_E_LIMIT);
        assert_int_equal(visits, count == 99 ? 99 : 0);
        unlink(path);
        hm__text_release(&tar);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_decompressed_once),
        cmocka_unit_test(archives_of_many_files_are_refused),
        cmocka_unit_test(archives_of_all_kinds_are_read),
        cmocka_unit_test(prefixes_are_folders),
        cmocka_unit_test(long_names_and_sizes_are_read),
        cmocka_unit_test(truncated_archives_are_partial),
        cmocka_unit_test(checksums_of_compressed_archives_are_compared),
        cmocka_unit_test(damaged_archives_are_refused),
        cmocka_unit_test(parts_are_read_in_order),
        cmocka_unit_test(stragglers_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
