/*
 * Counts the bytes that an import of runs writes, for each byte of the final file. An earlier
 * version changed the indexes row by row and wrote 107 GB for 5 million rows, because each commit
 * wrote a page of every index for almost every row: the ratio grew with the number of rows. Bytes
 * are counted by the kernel (wchar in /proc/self/io): the file, its log and temporary files. The
 * log and the file have each page about once; tables whose indexes are sorted in temporary files
 * add at most another time.
 */
#include "store_testing.h"

#include <sys/stat.h>

#include "store.h"
#include "table_add.h"
#include "text.h"

enum { SMALL = 20000, LARGE = 80000 };

/* Returns the number of bytes that this process has written, or -1 if the kernel does not count. */
static long long written(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    char line[128];
    long long bytes = -1;

    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "wchar: %lld", &bytes);
    if (file)
        fclose(file);
    return bytes;
}

/* Makes a table whose values are in no order, so that each row belongs elsewhere in every index. */
static struct hm_runs *made_table(size_t rows)
{
    struct hm_text text = {0};
    struct hm_runs *runs = NULL;
    uint64_t x = 1;

    hm__text_add(&text, "n,seconds,machine,batch,latency,loss,algorithm\n");
    for (size_t i = 0; i < rows; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        unsigned r = (unsigned)(x >> 33);
        hm__text_addf(&text, "%u,%u.%03u,m%u,%u,%u,0.%u,a%u\n", 1 + r % 512, 1 + r % 977, r % 1000,
                      r % 40, 1 + r % 4099, r % 8191, 1 + r % 999983, r % 7);
    }
    assert_false(text.failed);
    assert_done(hm_runs_parse(text.data, text.length, "made", &runs, err));
    assert_int_equal(runs->count, rows);
    hm__text_release(&text);
    return runs;
}

/* Returns the bytes that were written since `before` for each byte of the file. */
static double ratio_since(long long before, const char *where, size_t rows)
{
    struct stat info;
    long long bytes = written() - before;

    assert_int_equal(stat(where, &info), 0);
    print_message("# %zu rows: %.1f MB written for a file of %.1f MB\n", rows, (double)bytes / 1e6,
                  (double)info.st_size / 1e6);
    return (double)bytes / (double)info.st_size;
}

/* Imports a table into a new store, as `howmany runs import` does. */
static double import_ratio(size_t rows)
{
    char where[1024];
    struct hm_runs *runs = made_table(rows);
    struct hm_added added = {0};

    snprintf(where, sizeof(where), "%s", fresh_where());
    long long before = written();
    struct hm_store *store = open_store(where);
    struct hm_run_sink sink = hm__store_sink(store);
    assert_done(hm__table_add_runs(&sink, runs, NULL, &added, err));
    assert_int_equal(added.count, rows);
    hm__added_release(&added);
    hm_runs_free(runs);
    hm_store_close(store);
    return ratio_since(before, where, rows);
}

/* Adds the same rows in transactions of PART rows, each of which changes all indexes. */
static double parts_ratio(size_t rows)
{
    enum { PART = 250 };
    char where[1024];
    struct hm_runs *runs = made_table(rows);
    const double *n = runs->columns[0].values, *seconds = runs->columns[1].values;
    const double *loss = runs->columns[5].values;

    snprintf(where, sizeof(where), "%s", fresh_where());
    long long before = written();
    struct hm_store *store = open_store(where);
    for (size_t i = 0; i < rows; i += PART) {
        struct hm_stored part[PART];
        for (size_t k = 0; k < PART; k++) {
            part[k] = some_run(n[i + k], seconds[i + k]);
            part[k].loss = loss[i + k];
        }
        assert_done(hm_store_add(store, part, PART, NULL, NULL, err));
        assert_done(hm__store_place_waiting(store, err));
    }
    hm_runs_free(runs);
    hm_store_close(store);
    return ratio_since(before, where, rows);
}

static void imports_write_a_bounded_multiple_of_the_file(void **state)
{
    (void)state;
    if (written() < 0)
        skip();
    double few = import_ratio(SMALL), many = import_ratio(LARGE);
    assert_true(few < 3.5 && many < 3.5);
    assert_true(many < 1.25 * few);
    /* What an import must not do: the measure finds it. */
    few = parts_ratio(SMALL / 4);
    many = parts_ratio(SMALL);
    assert_true(few > 5 && many > 1.5 * few);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_write_a_bounded_multiple_of_the_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
