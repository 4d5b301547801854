/*
 * Tests that readers of other tools' files report missing memory: each allocation fails once while
 * a file of the fuzz corpus is read. The import must then fail, or give the same result.
 */
#include "testing.h"

#include <dirent.h>

#include "import.h"
#include "memory.h"

enum { FILE_MOST = 1 << 20 };

/* Reads a file of the corpus as the fuzzer does: the first byte chooses the reader. */
static int import_bytes(const char *data, size_t size, struct hm_imported **ret_import,
                        struct hm_err *err)
{
    static const char *const set[] = {"n=4", "columns=JobID,Elapsed,NNodes,State,MaxRSS"};
    size_t formats = 0;
    unsigned char first = (unsigned char)data[0];

    while (hm__importers[formats])
        formats++;
    const struct hm_import_from from = {.name = "corpus",
                                        .data = data + 1,
                                        .length = size - 1,
                                        .as = first ? hm__importers[(first - 1u) % formats] : NULL,
                                        .set = set,
                                        .set_count = 2};
    return hm__import_new(&from, ret_import, err);
}

static bool texts_equal(const struct hm_text *a, const struct hm_text *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->data, b->data, a->length) == 0);
}

static bool imports_equal(const struct hm_imported *a, const struct hm_imported *b)
{
    if (a->item_count != b->item_count || a->partial != b->partial || a->needs_n != b->needs_n ||
        a->runs.rows != b->runs.rows || a->traces.rows != b->traces.rows ||
        a->timings.count != b->timings.count || a->usual_count != b->usual_count)
        return false;
    for (size_t i = 0; i < a->item_count; i++)
        if (strcmp(a->items[i].what, b->items[i].what) != 0)
            return false;
    return texts_equal(&a->facts_text, &b->facts_text) && texts_equal(&a->document, &b->document);
}

/* Returns the number of imports that failed. */
static long read_without_memory(const char *name, const char *data, size_t size)
{
    struct hm_imported *whole = NULL;
    struct hm_err none = {0};
    long failures = 0, after = 0;
    int whole_rc = import_bytes(data, size, &whole, &none);

    for (bool failed = true; failed; after += 1 + after / (is_torture() ? 4000 : 100)) {
        struct hm_imported *im = NULL;
        struct hm_err err = {0};
        hm__alloc_fail_once(after);
        int rc = import_bytes(data, size, &im, &err);
        failed = hm__alloc_fail_after(-1) < 0;
        /* An ONNX graph without memory is reported as too large. */
        bool named = rc == HM_E_NOMEM || (rc == HM_E_LIMIT && strstr(err.message, "memory"));
        if (rc != whole_rc && (!named || !failed))
            fail_msg("%s, allocation %ld: %d, %s", name, after, rc, err.message);
        if (rc == 0 && !imports_equal(im, whole))
            fail_msg("%s: another result if allocation %ld fails", name, after);
        failures += rc != whole_rc;
        hm__import_free(im);
    }
    hm__import_free(whole);
    return failures;
}

static void missing_memory_is_reported(void **state)
{
    static char data[FILE_MOST];
    const char *root = getenv("HM_SOURCE");
    char path[1024];
    size_t files = 0;

    (void)state;
    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/import", root ? root : ".");
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char name[1024];
        snprintf(name, sizeof(name), "tests/fuzz/corpus/import/%.200s", entry->d_name);
        FILE *file = open_source(name);
        size_t size = fread(data, 1, sizeof(data), file);
        fclose(file);
        assert_true(size > 1 && size < sizeof(data));
        if (strcmp(entry->d_name, "tar_gnu_gz") == 0) /* Recognising it needs memory. */
            continue;
        if (read_without_memory(entry->d_name, data, size) < 3)
            fail_msg("%s: fewer than 3 imports failed", entry->d_name);
        files++;
    }
    closedir(folder);
    assert_true(files > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing_memory_is_reported)};

    return cmocka_run_group_tests_name("import_memory", tests, NULL, NULL);
}
