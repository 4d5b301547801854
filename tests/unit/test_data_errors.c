/* Tests invalid training data: each error must name the file, the line and what would be right. */
#include "data_files.h"

#include <sys/stat.h>

#include "memory.h"

/* Reads all rows and returns the code. */
static int scan(const struct hm_data_spec *spec, struct hm_err *err)
{
    static struct hm_data_shape shape;

    return hm__data_scan(spec, &shape, err);
}

static void expect(const struct hm_err *err, int rc, int code, const char *message, int line)
{
    if (rc >= 0 || strcmp(err->message, message) != 0 || err->line != line)
        fail_msg("%d, line %d: '%s' instead of line %d: '%s'", rc, err->line, err->message, line,
                 message);
    assert_int_equal(rc, code);
    assert_int_equal(err->code, code);
    assert_true(err->source[0] != '\0');
}

static const char word[] = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggg";

static void mistakes_in_libsvm_files(void **state)
{
    static const struct {
        const char *text, *message;
        int code, line;
    } rows[] = {
        {"1 2:1 1:1\n", "feature index 1 after 2", HM_E_SYNTAX, 1},
        {"1 1:1\n-1 3:1 3:2\n", "feature index 3 appears twice", HM_E_CONFLICT, 2},
        {"# c\n\n1 0:1\n", "feature index 0", HM_E_RANGE, 3},
        {"1 2147483648:1\n", "feature index 2147483648 is too large", HM_E_RANGE, 1},
        {"1 99999999999999999999999:1", "feature index 99999999999999999999999 is too large",
         HM_E_RANGE, 1},
        {"1 -1:1\n", "'-1:1' is not index:value", HM_E_SYNTAX, 1},
        {"1 qid:3 1:1\n", "'qid:3' is not index:value", HM_E_SYNTAX, 1},
        {"1 1 2:1\n", "'1' is not index:value", HM_E_SYNTAX, 1},
        {"1 1: 2:1\n", "'' of feature 1 is not a finite number", HM_E_TYPE, 1},
        {"1 1:1,5\r\n", "'1,5' of feature 1 is not a finite number", HM_E_TYPE, 1},
        {"1 1:1\n1 7:nan\n", "'nan' of feature 7 is not a finite number", HM_E_TYPE, 2},
        {"1 7:-inf\n", "'-inf' of feature 7 is not a finite number", HM_E_TYPE, 1},
        {"1 7:1e999\n", "'1e999' of feature 7 is not a finite number", HM_E_TYPE, 1},
        {"cat 1:1\n", "label 'cat' is not a finite number", HM_E_TYPE, 1},
        {"1 1:1\n1,2 1:1\n", "label '1,2' is not a finite number", HM_E_TYPE, 2},
        {"nan 1:1\n", "label 'nan' is not a finite number", HM_E_TYPE, 1},
        {"1:1 2:1\n", "label '1:1' is not a finite number", HM_E_TYPE, 1},
        {"1 1:\x01\n", "'?' of feature 1 is not a finite number", HM_E_TYPE, 1},
        {word,
         "label 'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff' is not a finite "
         "number",
         HM_E_TYPE, 1},
        {"", "no rows in the LIBSVM file", HM_E_MISSING, 0},
        {"# nothing\n\n \r\n", "no rows in the LIBSVM file", HM_E_MISSING, 0},
        {"1\n-1\n", "no features, only labels", HM_E_MISSING, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[TEST_PATH];
        struct hm_err err = {0};
        write_bytes(path, "", rows[i].text, strlen(rows[i].text));
        struct hm_data_spec spec = parse_data(path, false);
        expect(&err, scan(&spec, &err), rows[i].code, rows[i].message, rows[i].line);
        assert_string_equal(err.source, path);
        assert_true(err.hint[0] != '\0');
        unlink(path);
    }
}

static void mistakes_in_tables(void **state)
{
    static const struct {
        const char *text, *column, *message, *field;
        int code, line;
    } rows[] = {
        {"label,x\n1,2\n1,two\n", "", "'two' is not a finite number", "x", HM_E_TYPE, 3},
        {"label,x\n,2\n", "", "'' is not a finite number", "label", HM_E_TYPE, 2},
        {"label,x\n1,nan\n", "", "'nan' is not a finite number", "x", HM_E_TYPE, 2},
        {"label,x\n1,1e400\n", "", "'1e400' is not a finite number", "x", HM_E_TYPE, 2},
        {"label,x\n1,2 3\n", "", "'2 3' is not a finite number", "x", HM_E_TYPE, 2},
        {"label,x\n1,2,3\n", "", "3 fields where the header has 2", "", HM_E_SYNTAX, 2},
        {"label,x\n", "", "no rows in the CSV file", "", HM_E_MISSING, 0},
        {"a,b\n1,2\n", "y", "no column 'y'", "", HM_E_MISSING, 1},
        {"label\n1\n", "", "the only column is 'label'", "", HM_E_MISSING, 1},
        {"1,2\n3,4\n", "", "the first line has numbers instead of the names of columns", "",
         HM_E_MISSING, 1},
        {"", "", "no header line", "", HM_E_SYNTAX, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[TEST_PATH];
        struct hm_err err = {0};
        write_bytes(path, ".csv", rows[i].text, strlen(rows[i].text));
        struct hm_data_spec spec = parse_data(path, false);
        snprintf(spec.column, sizeof(spec.column), "%s", rows[i].column);
        expect(&err, scan(&spec, &err), rows[i].code, rows[i].message, rows[i].line);
        assert_string_equal(err.field, rows[i].field);
        assert_string_equal(err.source, path);
        if (rows[i].column[0])
            assert_string_equal(err.hint, "the columns are 'a' to 'b'");
        unlink(path);
    }
}

/* ---- images --------------------------------------------------------------------------------- */

static void mistakes_in_images(void **state)
{
#define BYTES(text) text, sizeof(text) - 1
#define LABELS BYTES("\0\0\x08\x01\0\0\0\2\4\5")
    static const struct {
        const char *images;
        size_t image_length;
        const char *labels;
        size_t label_length;
        const char *message;
        int code, line;
        bool of_labels;
    } rows[] = {
        {BYTES("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\2abc"), LABELS,
         "the file ends inside image 2 of 2", HM_E_SYNTAX, 2, false},
        {BYTES("\0\0\x08\x03\0\0\0\2\0\0\0\1\0\0\0\2abcde"), LABELS,
         "the file continues after the last of its 2 images", HM_E_SYNTAX, 2, false},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0"), LABELS, "the file ends inside its header", HM_E_SYNTAX,
         0, false},
        {BYTES("\0\0\x08"), LABELS, "not an IDX file", HM_E_SYNTAX, 0, false},
        {BYTES("\0\0\x0d\x03\0\0\0\2"), LABELS,
         "IDX values of type 0x0d, which are not unsigned bytes", HM_E_TYPE, 0, false},
        {BYTES("\0\0\x08\x01\0\0\0\2ab"), LABELS, "an IDX file of labels, but images are expected",
         HM_E_TYPE, 0, false},
        {BYTES("\0\0\x08\x00\0\0\0\2ab"), LABELS, "an IDX file of 0 sizes", HM_E_RANGE, 0, false},
        {BYTES("\0\0\x08\x99\0\0\0\2ab"), LABELS, "an IDX file of 153 sizes", HM_E_RANGE, 0, false},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\0"), LABELS, "an image has the size 0", HM_E_RANGE, 0,
         false},
        {BYTES("\0\0\x08\x03\0\0\0\2\xff\xff\xff\xff\xff\xff\xff\xff"), LABELS,
         "images of more than 16777216 values", HM_E_LIMIT, 0, false},
        {BYTES("\0\0\x08\x02\0\0\0\0\0\0\0\1"), BYTES("\0\0\x08\x01\0\0\0\0"),
         "no rows in the IDX file", HM_E_MISSING, 0, false},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\1ab"), BYTES("\0\0\x08\x01\0\0\0\2\4"),
         "the file ends before its last label", HM_E_SYNTAX, 0, true},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\1ab"), BYTES("\0\0\x08\x01\0\0\0\2\4\5\6"),
         "the file continues after its last label", HM_E_SYNTAX, 0, true},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\1ab"), BYTES("\0\0\x08\x03\0\0\0\2\4\5"),
         "not an IDX file of labels", HM_E_SYNTAX, 0, true},
        {BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\1ab"), BYTES(""), "not an IDX file of labels",
         HM_E_SYNTAX, 0, true},
    };
#undef LABELS

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_data_spec spec = {.format = HM_DATA_IDX};
        char images[TEST_PATH], labels[TEST_PATH];
        struct hm_err err = {0};
        write_bytes(images, "-images", rows[i].images, rows[i].image_length);
        write_bytes(labels, "-labels", rows[i].labels, rows[i].label_length);
        snprintf(spec.path, sizeof(spec.path), "%s", images);
        snprintf(spec.labels, sizeof(spec.labels), "%s", labels);
        expect(&err, scan(&spec, &err), rows[i].code, rows[i].message, rows[i].line);
        assert_string_equal(err.source, rows[i].of_labels ? labels : images);
        assert_true(err.hint[0] != '\0');
        unlink(images);
        unlink(labels);
    }
}

static void images_and_labels_must_be_as_many(void **state)
{
    struct hm_data_spec spec = {.format = HM_DATA_IDX};
    char images[TEST_PATH], labels[TEST_PATH], wanted[2 * TEST_PATH];
    struct hm_err err = {0};

    (void)state;
    write_bytes(images, "", BYTES("\0\0\x08\x02\0\0\0\2\0\0\0\1ab"));
    write_bytes(labels, "", BYTES("\0\0\x08\x01\0\0\0\3abc"));
    snprintf(spec.path, sizeof(spec.path), "%s", images);
    snprintf(spec.labels, sizeof(spec.labels), "%s", labels);
    snprintf(wanted, sizeof(wanted), "2 images, but 3 labels in %s", labels);
    expect(&err, scan(&spec, &err), HM_E_CONFLICT, wanted, 0);
    unlink(labels);
    err = (struct hm_err){0};
    expect(&err, scan(&spec, &err), HM_E_IO, "cannot open: No such file or directory", 0);
    assert_string_equal(err.source, labels);
    unlink(images);
}

static void compressed_files_cut_short(void **state)
{
    const char *zlib = getenv("HM_ZLIB");
    char path[TEST_PATH], command[3 * TEST_PATH];
    struct hm_data_spec spec = {.format = HM_DATA_LIBSVM};
    struct hm_err err = {0};

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0) {
        printf("# skipped: no zlib\n");
        return;
    }
    write_bytes(path, ".gz", "", 0);
    snprintf(command, sizeof(command),
             "seq 1 20000 | sed 's/.*/1 &:&/' | gzip -n | head -c 30000 >'%s'", path);
    assert_int_equal(system(command), 0);
    snprintf(spec.path, sizeof(spec.path), "%s", path);
    expect(&err, scan(&spec, &err), HM_E_IO, "the compressed file is cut short", 0);
    assert_string_equal(err.source, path);
    unlink(path);
}

/* ---- blocks --------------------------------------------------------------------------------- */

static int read_into(const char *path, bool sparse, size_t features, size_t *ret_count,
                     struct hm_err *err)
{
    struct hm_data_spec spec = parse_data(path, false);
    struct hm_rows rows = {.sparse = sparse, .features = features};
    struct hm_data *data = NULL;
    int rc = hm__data_open(&spec, &data, err);

    if (rc == 0)
        rc = hm__data_next(data, 100, &rows, err);
    *ret_count = rows.count;
    hm__data_close(data);
    hm__rows_release(&rows);
    return rc;
}

static void data_wider_than_the_block(void **state)
{
    const char *wanted = "feature 5 in a row, but the model has 3 features";
    char path[TEST_PATH];
    size_t count;

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        struct hm_err err = {0};
        write_bytes(path, ".svm", BYTES("1 3:1\n1 1:1 5:1\n"));
        expect(&err, read_into(path, sparse, 3, &count, &err), HM_E_RANGE, wanted, 2);
        assert_int_equal(count, 1); /* The row before the invalid one was appended. */
        unlink(path);
        write_bytes(path, ".csv", BYTES("l,a,b,c,d,e\n1,2,3,4,5,6\n"));
        err = (struct hm_err){0};
        expect(&err, read_into(path, sparse, 3, &count, &err), HM_E_RANGE, wanted, 2);
        unlink(path);
        err = (struct hm_err){0};
        expect(&err, read_into("dense:2x5", sparse, 3, &count, &err), HM_E_RANGE, wanted, 1);
    }
    struct hm_err err = {0};
    write_bytes(path, ".svm", BYTES("1 3:1\n"));
    expect(&err, read_into(path, false, 0, &count, &err), HM_E_MISSING,
           "a LIBSVM file does not contain its number of features", 0);
    unlink(path);
}

/* ---- names and recipes ---------------------------------------------------------------------- */

static void mistakes_in_recipes(void **state)
{
    static const struct {
        const char *text, *message;
        int code;
    } rows[] = {
        {"dense:10x", "the number of features is missing", HM_E_SYNTAX},
        {"dense:10", "the number of features is missing", HM_E_SYNTAX},
        {"dense:", "the number of rows is missing", HM_E_SYNTAX},
        {"dense:x5", "'x5' instead of the number of rows", HM_E_SYNTAX},
        {"dense:0x5", "the number of rows is 0, not a whole number from 1 to 1000000000000",
         HM_E_RANGE},
        {"dense:5x0", "the number of features is 0, not a whole number from 1 to 100000000",
         HM_E_RANGE},
        {"dense:1.5x2", "the number of rows is 1.5, not a whole number from 1 to 1000000000000",
         HM_E_RANGE},
        {"dense:5x1e9", "the number of features is 1e9, not a whole number from 1 to 100000000",
         HM_E_RANGE},
        {"dense:-5x1", "'-5x1' instead of the number of rows", HM_E_SYNTAX},
        {"dense:5x5:0.1", "':0.1' after the end of the recipe", HM_E_SYNTAX},
        {"sparse:10x10:2", "the density is 2, not above 0 and at most 1", HM_E_RANGE},
        {"sparse:10x10:0", "the density is 0, not above 0 and at most 1", HM_E_RANGE},
        {"sparse:10x10:", "the density is missing", HM_E_SYNTAX},
        {"digits:5x5", "'x5' after the end of the recipe", HM_E_SYNTAX},
        {"digits:0", "the number of rows is 0, not a whole number from 1 to 1000000000000",
         HM_E_RANGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_data_spec spec;
        struct hm_err err = {0};
        expect(&err, hm__data_parse(rows[i].text, false, 1, &spec, &err), rows[i].code,
               rows[i].message, 0);
        assert_string_equal(err.source, rows[i].text);
        assert_non_null(strstr(err.hint, "such as"));
    }
}

static void missing_files_are_reported(void **state)
{
    struct hm_data_spec spec;
    struct hm_err err = {0};
    char longest[2000];

    (void)state;
    expect(&err, hm__data_parse("no/such/file", false, 1, &spec, &err), HM_E_IO,
           "cannot open: No such file or directory", 0);
    assert_non_null(strstr(err.hint, "a recipe: dense:1000x20"));
    err = (struct hm_err){0};
    expect(&err, hm__data_parse("digit:500", false, 1, &spec, &err), HM_E_IO,
           "cannot open: No such file or directory", 0);
    assert_string_equal(err.hint, "did you mean the recipe digits?");
    err = (struct hm_err){0};
    expect(&err, hm__data_parse("/dev/null", false, 1, &spec, &err), HM_E_IO, "not a regular file",
           0);
    memset(longest, '/', sizeof(longest));
    snprintf(longest + 1990, 10, "dev");
    err = (struct hm_err){0};
    expect(&err, hm__data_parse(longest, false, 1, &spec, &err), HM_E_LIMIT,
           "the name of the folder is too long", 0);
}

static void folders_and_their_files(void **state)
{
    static const char images[] = "\0\0\x08\x02\0\0\0\1\0\0\0\1a",
                      labels[] = "\0\0\x08\x01\0\0\0\1b";
    char folder[] = "/tmp/hm-data-XXXXXX", path[4][TEST_PATH];
    static const char *const names[] = {"train-images.idx3-ubyte", "train-labels.idx1-ubyte",
                                        "odd.idx", "images"};
    struct hm_data_spec spec;
    struct hm_err err = {0};

    (void)state;
    assert_non_null(mkdtemp(folder));
    expect(&err, hm__data_parse(folder, false, 1, &spec, &err), HM_E_MISSING,
           "the folder does not contain the files of MNIST", 0);
    assert_string_equal(err.hint, "it has neither train-images-idx3-ubyte nor the same with .gz");
    for (size_t i = 0; i < 4; i++) {
        snprintf(path[i], TEST_PATH, "%s/%s", folder, names[i]);
        FILE *file = fopen(path[i], "wb");
        fwrite(i == 1 ? labels : images, 1, i == 1 ? sizeof(labels) - 1 : sizeof(images) - 1, file);
        fclose(file);
    }
    spec = parse_data(folder, false);
    assert_string_equal(spec.path, path[0]);
    assert_string_equal(spec.labels, path[1]);
    assert_int_equal(scan(&spec, NULL), 0);
    err = (struct hm_err){0};
    expect(&err, hm__data_parse(folder, true, 1, &spec, &err), HM_E_MISSING,
           "the folder does not contain the files of MNIST", 0);
    assert_non_null(strstr(err.hint, "t10k"));
    err = (struct hm_err){0};
    expect(&err, hm__data_parse(path[2], false, 1, &spec, &err), HM_E_MISSING,
           "the name does not contain 'images', so the file of the labels cannot be found", 0);
    err = (struct hm_err){0};
    expect(&err, hm__data_parse(path[3], false, 1, &spec, &err), HM_E_MISSING,
           "the file of the labels does not exist", 0);
    for (size_t i = 0; i < 4; i++)
        unlink(path[i]);
    rmdir(folder);
}

/* ---- memory --------------------------------------------------------------------------------- */

/* For every N, lets the Nth allocation fail; scanning and reading must report it. */
static void fail_everywhere(const char *text, bool sparse, size_t features, long least)
{
    struct hm_data_spec spec = parse_data(text, false);
    long fails = 0;

    for (long after = 0;; after++) {
        struct hm_rows rows = {.sparse = sparse, .features = features};
        struct hm_data *data = NULL;
        struct hm_err err = {0};
        hm__alloc_fail_after(after);
        int rc = scan(&spec, &err);
        if (rc == 0)
            rc = hm__data_open(&spec, &data, &err);
        while (rc >= 0 && data && (rc = hm__data_next(data, 3, &rows, &err)) > 0)
            ;
        hm__alloc_fail_after(-1);
        hm__data_close(data);
        hm__rows_release(&rows);
        if (rc == 0)
            break;
        assert_int_equal(rc, HM_E_NOMEM);
        assert_int_equal(err.code, HM_E_NOMEM);
        fails++;
    }
    assert_true(fails > least);
}

static void failed_allocations_are_reported(void **state)
{
    static const char images[] = "\0\0\x08\x02\0\0\0\2\0\0\0\1ab";
    char path[TEST_PATH], labels[TEST_PATH];

    (void)state;
    for (int sparse = 0; sparse < 2; sparse++) {
        write_bytes(path, ".svm", BYTES("1 1:1 3:2\n-1 2:3\n1\n"));
        fail_everywhere(path, sparse, 3, 12);
        unlink(path);
        write_bytes(path, ".csv", BYTES("label,a,b\n1,2,3\n-1,0,5\n"));
        fail_everywhere(path, sparse, 2, 12);
        unlink(path);
        write_bytes(path, "-images", images, sizeof(images) - 1);
        snprintf(labels, sizeof(labels), "%.*s-labels", (int)strlen(path) - 7, path);
        FILE *file = fopen(labels, "wb");
        fwrite("\0\0\x08\x01\0\0\0\2ab", 1, 10, file);
        fclose(file);
        fail_everywhere(path, sparse, 1, 12);
        unlink(path);
        unlink(labels);
        fail_everywhere("dense:80x5", sparse, 5, 10);
        fail_everywhere("sparse:80x50:0.3", sparse, 50, 10);
        fail_everywhere("digits:5", sparse, 784, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_in_libsvm_files),
        cmocka_unit_test(mistakes_in_tables),
        cmocka_unit_test(mistakes_in_images),
        cmocka_unit_test(images_and_labels_must_be_as_many),
        cmocka_unit_test(compressed_files_cut_short),
        cmocka_unit_test(data_wider_than_the_block),
        cmocka_unit_test(mistakes_in_recipes),
        cmocka_unit_test(missing_files_are_reported),
        cmocka_unit_test(folders_and_their_files),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
