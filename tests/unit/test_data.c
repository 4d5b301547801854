/* Tests the readers of training data: sums over all rows are compared with those of an independent
 * program. */
#include "data_files.h"

#include "memory.h"

static void rows_are_kept(void **state)
{
    struct hm_rows rows = {.sparse = true};

    (void)state;
    assert_int_equal(hm__rows_entries(&rows), 0);
    for (int round = 0; round < 2; round++) { /* The second pass reuses the memory of the first. */
        for (size_t i = 0; i < 500; i++) {
            uint32_t *columns = NULL;
            double *values = hm__rows_add(&rows, (double)i, i % 4, &columns);
            assert_non_null(values);
            for (uint32_t k = 0; k < i % 4; k++) {
                columns[k] = 2 * k;
                values[k] = (double)i + k;
            }
        }
        assert_int_equal(rows.count, 500);
        assert_int_equal(hm__rows_entries(&rows), 750);
        assert_near(value_at(&rows, 499, 4), 501, 0);
        assert_near(value_at(&rows, 499, 1), 0, 0);
        assert_near(rows.labels[77], 77, 0);
        hm__rows_clear(&rows);
        assert_int_equal(hm__rows_entries(&rows), 0);
    }
    hm__rows_release(&rows);
    assert_null(rows.starts);
    hm__rows_release(&rows);

    rows = (struct hm_rows){.features = 3};
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 100; i++) {
            double *values = hm__rows_add(&rows, -1, 0, NULL);
            assert_near(values[2], 0, 0); /* The memory is zeroed, even if it was used before. */
            values[2] = 5;
        }
        assert_int_equal(hm__rows_entries(&rows), 300);
        hm__rows_clear(&rows);
    }
    hm__rows_release(&rows);
}

/* A failed allocation leaves the rows unchanged, and the next attempt succeeds. */
static void rows_survive_a_failed_allocation(void **state)
{
    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct hm_rows rows = {.sparse = sparse, .features = 5};
        size_t failed = 0;
        for (long i = 0; i < 1000; i++) {
            uint32_t *columns = NULL;
            hm__alloc_fail_after(i % 3);
            double *values = hm__rows_add(&rows, (double)i, 5, &columns);
            hm__alloc_fail_after(-1);
            if (!values) {
                failed++;
                values = hm__rows_add(&rows, (double)i, 5, &columns);
            }
            for (uint32_t k = 0; k < 5; k++) {
                values[k] = (double)i * k;
                if (sparse)
                    columns[k] = k;
            }
        }
        assert_true(failed > 2);
        assert_int_equal(rows.count, 1000);
        assert_int_equal(hm__rows_entries(&rows), 5000);
        for (size_t i = 0; i < 1000; i++)
            assert_near(value_at(&rows, i, 3), 3 * (double)i, 0);
        hm__rows_release(&rows);
    }
    struct hm_rows wide = {.features = SIZE_MAX / 2};
    assert_null(hm__rows_add(&wide, 0, 0, NULL));
    hm__rows_release(&wide);
}

/* ---- against the oracle --------------------------------------------------------------------- */

struct known {
    char where[16], file[64], labels[512];
    double rows, features, entries, most, sum, check;
    int test;
};

static void check_shape(const struct hm_data_spec *spec, const struct known *k)
{
    static struct hm_data_shape shape;
    const char *at = k->labels;
    struct hm_err err = {0};
    size_t classes = 0;

    if (hm__data_scan(spec, &shape, &err))
        fail_msg("%s:%d: %s", err.source, err.line, err.message);
    assert_near(shape.rows, k->rows, 0);
    assert_near(shape.features, k->features, 0);
    assert_near(shape.entries, k->entries, 0);
    assert_near(shape.largest_entries, k->most, 0);
    assert_int_equal(shape.sparse, spec->format == HM_DATA_LIBSVM);
    for (; at; at = strchr(at + 1, ','), classes++) {
        double label, count;
        int line;
        assert_int_equal(sscanf(at + (*at == ','), "%lf:%lf:%d", &label, &count, &line), 3);
        assert_true(classes < shape.classes);
        assert_near(shape.labels[classes], label, 0);
        assert_int_equal(shape.lines[classes], line);
    }
    assert_int_equal(shape.classes, classes);
}

/* Compares the sums over all rows, read dense or sparse in blocks of an odd size. */
static void check_sums(const struct hm_data_spec *spec, const struct known *k, bool sparse)
{
    struct hm_rows block = {.sparse = sparse, .features = (size_t)k->features};
    double sum = 0, check = 0, rows = 0;
    struct hm_data *data = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm__data_open(spec, &data, &err), 0);
    while (hm__data_next(data, 97, &block, &err) > 0) {
        for (size_t i = 0; i < block.count; i++) {
            size_t first = sparse ? block.starts[i] : i * block.features;
            size_t after = sparse ? block.starts[i + 1] : first + block.features;
            double part = 0;
            for (size_t e = first; e < after; e++) {
                size_t column = sparse ? block.columns[e] : e - first;
                sum += block.values[e];
                part += block.values[e] * (double)(column % 97 + 1);
            }
            check += part * (fmod(rows++, 89) + 1);
        }
        hm__rows_clear(&block);
    }
    assert_int_equal(err.code, 0);
    assert_near(rows, k->rows, 0);
    assert_near(sum, k->sum, 1e-12);
    assert_near(check, k->check, 1e-12);
    hm__data_close(data);
    hm__rows_release(&block);
}

static void files_agree_with_the_oracle(void **state)
{
    FILE *table = open_source("tests/data/data.tsv");
    const char *zlib = getenv("HM_ZLIB"), *root = getenv("HM_SOURCE");
    char line[1024], path[1200];
    struct known k;

    (void)state;
    while (next_line(table, line, sizeof(line))) {
        int fields =
            sscanf(line, "%15s %63s %d %lf %lf %lf %lf %lf %lf %511s", k.where, k.file, &k.test,
                   &k.rows, &k.features, &k.entries, &k.most, &k.sum, &k.check, k.labels);
        assert_int_equal(fields, 10);
        bool shared = strcmp(k.where, "shared") == 0;
        snprintf(path, sizeof(path), "%s/%s", root ? root : ".", k.file);
        if (shared)
            snprintf(path, sizeof(path), "%s", example_source(k.file));
        if (shared && access(path, R_OK) != 0) {
            printf("# skipped %s: no such data (set HOWMANY_DATA)\n", k.file);
            continue;
        }
        if (shared && zlib && strcmp(zlib, "0") == 0) {
            printf("# skipped %s: no zlib\n", k.file);
            continue;
        }
        struct hm_data_spec spec = parse_data(path, k.test);
        check_shape(&spec, &k);
        check_sums(&spec, &k, true);
        check_sums(&spec, &k, false);
    }
    fclose(table);
}

/* ---- all ways of reading -------------------------------------------------------------------- */

enum { IMAGES = 11, SIDE = 3, IMAGE_BYTES = 16 + IMAGES * SIDE * SIDE, LABEL_BYTES = 8 + IMAGES };

/* Writes images and labels as two IDX files, which may be compressed later. */
static void write_idx(char images[TEST_PATH], char labels[TEST_PATH])
{
    unsigned char i[IMAGE_BYTES] = {0, 0, 8, 3, 0, 0, 0, IMAGES, 0, 0, 0, SIDE, 0, 0, 0, SIDE};
    unsigned char l[LABEL_BYTES] = {0, 0, 8, 1, 0, 0, 0, IMAGES};
    FILE *file;

    for (size_t k = 0; k < IMAGES * SIDE * SIDE; k++)
        i[16 + k] = (unsigned char)(k % 3 == 0 ? 7 * k : 0);
    for (size_t k = 0; k < IMAGES; k++)
        l[8 + k] = (unsigned char)(k % 4 + 250);
    write_bytes(images, "-images-idx3-ubyte", i, sizeof(i));
    snprintf(labels, TEST_PATH, "%.*s-labels-idx1-ubyte", (int)strlen("/tmp/hm-data-XXXXXX"),
             images);
    assert_non_null(file = fopen(labels, "wb"));
    assert_int_equal(fwrite(l, 1, sizeof(l), file), sizeof(l));
    fclose(file);
}

/* Checks that all ways of reading give the same rows: dense, sparse, and in blocks of any size. */
static void check_ways(const struct hm_data_spec *spec, size_t features)
{
    static const size_t sizes[] = {1, 2, 3, 7, 1000};
    struct hm_rows whole = read_rows(spec, true, 0, SIZE_MAX);

    for (size_t e = 0; e < hm__rows_entries(&whole); e++)
        assert_true(whole.values[e] != 0);
    for (size_t i = 0; i < 5; i++)
        for (int sparse = 0; sparse < 2; sparse++) {
            struct hm_rows rows = read_rows(spec, sparse, features, sizes[i]);
            assert_same_rows(&rows, &whole, features);
            hm__rows_release(&rows);
            /* Features that the file does not have are zero. */
            rows = read_rows(spec, sparse, features + 2, sizes[i]);
            assert_same_rows(&rows, &whole, features);
            assert_near(value_at(&rows, 0, features + 1), 0, 0);
            hm__rows_release(&rows);
        }
    hm__rows_release(&whole);
}

static void compress(const char *path, const char *options)
{
    char command[2 * TEST_PATH + 32];

    snprintf(command, sizeof(command), "gzip -n %s '%s'", options, path);
    assert_int_equal(system(command), 0);
}

/* Checks that the compressed file gives the same rows, or the error that this build has no zlib. */
static void check_compressed(const char *path, const struct hm_rows *plain, size_t features)
{
    const char *zlib = getenv("HM_ZLIB");
    struct hm_data_spec spec;
    struct hm_err err = {0};

    if (zlib && strcmp(zlib, "0") == 0) {
        assert_int_equal(hm__data_parse(path, false, 1, &spec, &err), HM_E_UNSUPPORTED);
        return;
    }
    spec = parse_data(path, false);
    struct hm_rows rows = read_rows(&spec, true, 0, 5);
    assert_same_rows(&rows, plain, features);
    hm__rows_release(&rows);
}

static void images_are_read_in_any_way(void **state)
{
    char images[TEST_PATH], labels[TEST_PATH], compressed[TEST_PATH + 3];

    (void)state;
    write_idx(images, labels);
    struct hm_data_spec spec = parse_data(images, false);
    assert_int_equal(spec.format, HM_DATA_IDX);
    assert_string_equal(spec.labels, labels);
    check_ways(&spec, SIDE * SIDE);
    struct hm_rows rows = read_rows(
        &spec, false, 0, 4); /* The number of features is read from the header of the image file. */
    assert_int_equal(rows.features, SIDE * SIDE);
    assert_near(value_at(&rows, 1, 3), 84, 0);
    assert_near(rows.labels[3], 253, 0);
    /* First only the images are compressed, then both. */
    compress(images, "");
    snprintf(compressed, sizeof(compressed), "%s.gz", images);
    check_compressed(compressed, &rows, SIDE * SIDE);
    compress(labels, "");
    check_compressed(compressed, &rows, SIDE * SIDE);
    hm__rows_release(&rows);
    unlink(compressed);
    snprintf(compressed, sizeof(compressed), "%s.gz", labels);
    unlink(compressed);
}

static void texts_are_read_in_any_way(void **state)
{
    static const char csv[] = "label,a,b\n1,0,2\n-1,3.5,0\r\n1,0,0\n",
                      svm[] = "1 2:2\n-1 1:3.5 # as above\n\n1";
    char path[TEST_PATH], compressed[TEST_PATH + 3];
    struct hm_rows rows[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        write_bytes(path, i ? ".svm" : ".csv", i ? svm : csv, i ? strlen(svm) : strlen(csv));
        struct hm_data_spec spec = parse_data(path, false);
        assert_int_equal(spec.format, i ? HM_DATA_LIBSVM : HM_DATA_CSV);
        check_ways(&spec, 2);
        rows[i] = read_rows(&spec, true, 0, 9);
        compress(path, "");
        snprintf(compressed, sizeof(compressed), "%s.gz", path);
        check_compressed(compressed, &rows[i], 2);
        unlink(compressed);
    }
    assert_same_rows(&rows[0], &rows[1], 2);
    hm__rows_release(&rows[0]);
    hm__rows_release(&rows[1]);
}

static void the_label_of_a_table_may_be_any_column(void **state)
{
    static const char text[] = "a,b,label,d\n1,2,3,4\n";
    static const struct {
        const char *column;
        double label, first;
    } cases[] = {{"", 3, 1}, {"a", 1, 2}, {"d", 4, 1}};
    char path[TEST_PATH];

    (void)state;
    write_bytes(path, ".csv", text, strlen(text));
    struct hm_data_spec spec = parse_data(path, false);
    for (size_t i = 0; i < 3; i++) {
        snprintf(spec.column, sizeof(spec.column), "%s", cases[i].column);
        struct hm_rows rows = read_rows(&spec, false, 0, 1);
        assert_int_equal(rows.features, 3);
        assert_near(rows.labels[0], cases[i].label, 0);
        assert_near(rows.values[0], cases[i].first, 0);
        hm__rows_release(&rows);
    }
    unlink(path);
    write_bytes(path, ".csv", "y,b\n7,2\n",
                8); /* Without a column named `label`, the first column contains the labels. */
    spec = parse_data(path, false);
    struct hm_rows rows = read_rows(&spec, false, 0, 1);
    assert_near(rows.labels[0], 7, 0);
    hm__rows_release(&rows);
    unlink(path);
}

/* Tests files with lines that are much longer than the buffer, with a last line without a newline,
 * and with more labels than are stored. */
static void long_lines_and_many_labels(void **state)
{
    enum { ROWS = 3, ENTRIES = 150000, LABELS = HM_DATA_CLASSES + 1 };
    static struct hm_data_shape shape;
    char path[TEST_PATH];
    struct hm_data_spec spec;
    FILE *file;

    (void)state;
    write_bytes(path, ".svm", "", 0);
    assert_non_null(file = fopen(path, "w"));
    for (int i = 0; i < ROWS; i++) {
        fprintf(file, "%s%d", i ? "\n" : "", i);
        for (int k = 1; k <= ENTRIES + i; k++)
            fprintf(file, " %d:%d", k, k % 9 + 1);
    }
    fclose(file);
    spec = parse_data(path, false);
    assert_int_equal(hm__data_scan(&spec, &shape, NULL), 0);
    assert_near(shape.features, ENTRIES + ROWS - 1, 0);
    assert_near(shape.largest_entries, ENTRIES + ROWS - 1, 0);
    assert_int_equal(shape.classes, 3);
    assert_int_equal(shape.lines[2], 3);
    for (int most = LABELS - 1; most <= LABELS; most++) {
        assert_non_null(file = fopen(path, "w"));
        for (int i = 0; i < most; i++)
            fprintf(file, "%d 1:1\n", i * 7919 % most);
        fclose(file);
        assert_int_equal(hm__data_scan(&spec, &shape, NULL), 0);
        assert_int_equal(shape.classes, most < LABELS ? most : 0);
        for (size_t i = 1; i < shape.classes; i++)
            assert_true(shape.labels[i - 1] < shape.labels[i]);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_kept),
        cmocka_unit_test(rows_survive_a_failed_allocation),
        cmocka_unit_test(files_agree_with_the_oracle),
        cmocka_unit_test(images_are_read_in_any_way),
        cmocka_unit_test(texts_are_read_in_any_way),
        cmocka_unit_test(the_label_of_a_table_may_be_any_column),
        cmocka_unit_test(long_lines_and_many_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
