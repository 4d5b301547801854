/* Tests the CSV reader and the import of price lists. */
#include "testing.h"

#include <unistd.h>

#include "csv.h"

static struct hm_csv *open_text(const char *text)
{
    struct hm_csv *csv = NULL;
    struct hm_err err = {0};

    if (hm__csv_parse(text, strlen(text), "t.csv", 0, &csv, &err))
        fail_msg("%s", err.message);
    return csv;
}

static void fields_quotes_and_line_ends(void **state)
{
    struct hm_csv *csv = open_text("\xef\xbb\xbf"
                                   "a,b,c\r\n1,\"x, \"\"y\"\"\nz\",3\n\n,,\n4,5,6");
    char **f;

    (void)state;
    assert_int_equal(hm__csv_column(csv, "a"), 0);
    assert_int_equal(hm__csv_column(csv, "b"), 1);
    assert_int_equal(hm__csv_column(csv, "d"), -1);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[1], "x, \"y\"\nz");
    assert_string_equal(f[2], "3");
    assert_int_equal(hm__csv_line(csv), 2);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[0], "");
    assert_int_equal(hm__csv_line(csv), 5);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[2], "6");
    assert_int_equal(hm__csv_next(csv, &f, NULL), 0);
    hm__csv_close(csv);
}

/* A line is a comment only if its first byte is '#'; quotes in comments have no meaning. */
static void comments_begin_with_a_hash(void **state)
{
    struct hm_csv *csv = open_text("# sizes\na,b\n\"#1\",2\n# a,\"x\n3,4\n#,\"\n#");
    char **f;

    (void)state;
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[0], "#1");
    assert_int_equal(hm__csv_line(csv), 3);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[0], "3");
    assert_int_equal(hm__csv_line(csv), 5);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 0);
    hm__csv_close(csv);
    csv = open_text("\"#a\"\n1\n\"#2\"\n");
    assert_int_equal(hm__csv_column(csv, "#a"), 0);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_int_equal(hm__csv_next(csv, &f, NULL), 1);
    assert_string_equal(f[0], "#2");
    hm__csv_close(csv);
}

static void broken_files_are_named(void **state)
{
    static const struct {
        const char *text, *message;
        size_t length;
        int line;
    } rows[] = {
        {"", "no header line", 0, 1},
        {"a,a\n", "column 'a' appears twice", 4, 1},
        {"a,b\n1\n", "1 fields where the header has 2", 6, 2},
        {"a,b\n1,2\n1,\"2\n", "a quote is opened and never closed", 12, 3},
        {"a,b\n# x\n1,\"10\"5\n",
         "text after the closing quote of a field (a quote inside a field is written twice)", 18,
         3},
        {"a,b\n# \0\n", "a NUL byte: this is not a text file", 8, 2},
        {"a,b\n1,\0\n", "a NUL byte: this is not a text file", 8, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_csv *csv = NULL;
        struct hm_err err = {0};
        char **f;
        int rc = hm__csv_parse(rows[i].text, rows[i].length, "t.csv", 0, &csv, &err);
        while (rc >= 0 && (rc = hm__csv_next(csv, &f, &err)) == 1)
            ;
        assert_true(rc < 0);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        hm__csv_close(csv);
    }
}

static void write_file(char *path, const char *text)
{
    snprintf(path, 64, "/tmp/hm-test-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static void missing_and_empty_files_are_named(void **state)
{
    char path[64];

    (void)state;
    for (int missing = 0; missing < 2; missing++) {
        struct hm_csv *csv = NULL;
        struct hm_err err = {0};
        write_file(path, "");
        if (missing)
            unlink(path);
        assert_int_equal(hm__csv_open(path, &csv, &err), missing ? HM_E_IO : HM_E_SYNTAX);
        assert_string_equal(err.source, path);
        assert_null(csv);
        unlink(path);
    }
}

static const char list[] =
    "Region,Price,InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,SpotPrice,Other\n"
    "r1,2.0,p4d.24xlarge,96,1152,A100,8,1.0,x\n"
    "r2,1.5,p4d.24xlarge,96,1152,A100,8,,x\n"
    "r1,,new.large,4,16,,,0.5,x\n"
    "r1,3.0,new.gpu,4,16,H100,2,0.5,x\n"
    "r1,0,free.small,4,16,,,,x\n"
    "r1,9.0,odd.gpu,,,\"Stra\"\"nge: #\",1,,x\n";

static void prices_are_imported(void **state)
{
    char path[64];
    struct hm_catalog *catalog;
    struct hm_import report;
    struct hm_cluster *c;
    struct hm_err err = {0};

    (void)state;
    write_file(path, list);
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    assert_int_equal(hm_catalog_import(catalog, path, NULL, false, &report, &err), 0);
    assert_int_equal(report.rows, 6);
    assert_int_equal(report.machines, 5);
    assert_int_equal(report.known, 1);
    assert_int_equal(report.accelerated, 1);
    assert_int_equal(report.unpriced, 1);
    assert_int_equal(hm_catalog_add(catalog, report.text, strlen(report.text), "i.yaml", &err), 0);

    assert_int_equal(hm_catalog_machine(catalog, "p4d.24xlarge", &c, &err), 0);
    assert_near(c->node.price_per_s * 3600, 1.5,
                1e-12);                       /* The price is that of the cheapest region. */
    assert_near(c->node.flops_16, 312e12, 0); /* The hardware comes from the catalog. */
    assert_near(c->node.accelerators, 8, 0);
    hm_cluster_free(c);
    assert_int_equal(hm_catalog_machine(catalog, "new.large", &c, &err), 0);
    assert_true(isnan(c->node.price_per_s)); /* An unknown price is not $0. */
    hm_cluster_free(c);
    assert_int_equal(hm_catalog_machine(catalog, "free.small", &c, &err), 0);
    assert_near(c->node.price_per_s, 0, 0);
    /* Four vCPUs are two cores of the usual speed, which is assumed. */
    assert_near(c->node.cores, 2, 0);
    assert_near(c->node.flops_32, 160e9, 0);
    assert_string_equal(c->assumed, "flops, cores, memory_bandwidth, fabric");
    hm_cluster_free(c);
    assert_string_equal(hm_catalog_text(catalog, HM_CATALOG_MACHINE, "odd.gpu", "title"),
                        "1 x Stra\"nge: #");
    assert_int_equal(hm_catalog_machine(catalog, "new.gpu", &c, &err), 0);
    assert_near(c->node.flops_16, 989.4e12, 0);
    /* The bandwidth is that of the link between the GPUs. */
    assert_near(c->node.link.bandwidth_bytes_per_s, 450e9, 0);
    assert_near(c->fabric.bandwidth_bytes_per_s, 1.25e9, 0);
    assert_string_equal(c->assumed, "fabric");
    assert_near(c->node.accelerators, 2, 0);
    hm_cluster_free(c);
    hm_text_free(report.text);

    assert_int_equal(hm_catalog_import(catalog, path, "r1", true, &report, &err), 0);
    assert_non_null(strstr(report.text, "price: $1/h"));
    assert_non_null(strstr(report.text, "spot price in r1"));
    hm_text_free(report.text);
    assert_int_equal(hm_catalog_import(catalog, path, "r9", false, &report, &err), HM_E_MISSING);
    hm_catalog_free(catalog);
    unlink(path);
}

#define SIXTEEN "0123456789abcdef"
#define LONG_NAME SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN SIXTEEN

static void broken_price_lists_are_named(void **state)
{
    static const struct {
        const char *text, *message, *field;
        int line;
    } rows[] = {
        {"InstanceType,Region\na,b\n", "no column 'Price'", "", 1},
        {"InstanceType,Price,Region\na,cheap,r\n", "'cheap' is not a number", "Price", 2},
        {"InstanceType,Price,Region\n", "no machine in the file", "", 0},
        {"InstanceType,Price,Region\na,1,r\n,1,r\n", "the row has no InstanceType", "", 3},
        /* Written to a catalog, both names would be `n?`. */
        {"InstanceType,Price,Region\nn\xc3\xa9,1,r\n",
         "the name has a character that is not printable ASCII", "InstanceType", 2},
        {"InstanceType,Price,Region\nn,1,r\nn\x14,1,r\n",
         "the name has a character that is not printable ASCII", "InstanceType", 3},
        /* A key of a catalog must not have more than 1024 characters. */
        {"InstanceType,Price,Region\n" LONG_NAME "m,1,r\n",
         "the name is longer than 128 characters", "InstanceType", 2},
    };
    struct hm_catalog *catalog;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[64];
        struct hm_import report;
        struct hm_err err = {0};
        write_file(path, rows[i].text);
        assert_true(hm_catalog_import(catalog, path, NULL, false, &report, &err) < 0);
        assert_string_equal(err.message, rows[i].message);
        assert_string_equal(err.field, rows[i].field);
        assert_int_equal(err.line, rows[i].line);
        unlink(path);
    }
    hm_catalog_free(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_quotes_and_line_ends),
        cmocka_unit_test(comments_begin_with_a_hash),
        cmocka_unit_test(broken_files_are_named),
        cmocka_unit_test(missing_and_empty_files_are_named),
        cmocka_unit_test(prices_are_imported),
        cmocka_unit_test(broken_price_lists_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
