/* Reads sample files of other tools and the values that the import must find in them, and compares
 * the two. */
#ifndef HM_IMPORT_SAMPLES_H
#define HM_IMPORT_SAMPLES_H

#include <dirent.h>
#include <sys/stat.h>

#include "import.h"
#include "memory.h"
#include "pull.h"
#include "testing.h"
#include "value.h"

/* Returns the folder of the sample files: $HOWMANY_DATA/formats, or the folder beside the
 * repository; NULL if there is none. */
static inline const char *samples_folder(void)
{
    static char path[1024];
    const char *data = getenv("HOWMANY_DATA"), *root = getenv("HM_SOURCE");
    struct stat status;

    if (data)
        snprintf(path, sizeof(path), "%s/formats", data);
    else
        snprintf(path, sizeof(path), "%s/../shared/data/formats", root ? root : ".");
    return stat(path, &status) == 0 ? path : NULL;
}

/* Parses JSON of any size into a tree. */
static inline struct hm_value *parse_tree(struct hm_arena *arena, const char *text, size_t length)
{
    struct hm_source *source = NULL;
    struct hm_stream stream;
    struct hm_pull pull;
    struct hm_value *tree = NULL;
    struct hm_err err = {0};
    bool whole = false;

    assert_int_equal(hm__source_open_memory(text, length, "json", &source, &err), 0);
    assert_int_equal(hm__stream_init(&stream, source, &err), 0);
    assert_int_equal(hm__pull_init(&pull, &stream, &err), 0);
    if (hm__pull_tree(&pull, arena, "json", &tree, &whole, &err) || !whole)
        fail_msg("not JSON: %.200s", text);
    hm__pull_release(&pull);
    hm__stream_release(&stream);
    return tree;
}

/*
 * Returns whether a key of the expected values describes the sample file itself and not its
 * contents.
 */
static inline bool is_remark(const char *key)
{
    return strcmp(key, "check") == 0 || strcmp(key, "note") == 0 || strcmp(key, "source") == 0;
}

/* Fails the test unless each expected value was found; numbers may differ by a relative error. */
static inline void compare_trees(const char *where, const struct hm_value *wanted,
                                 const struct hm_value *found, double relative)
{
    char path[512];

    if (wanted->kind == HM_VALUE_MAP) {
        for (size_t i = 0; i < wanted->count; i++) {
            const struct hm_value *item = hm__value_get(found, wanted->keys[i]);
            if (is_remark(wanted->keys[i]))
                continue;
            snprintf(path, sizeof(path), "%.400s.%.100s", where, wanted->keys[i]);
            if (!item)
                fail_msg("%s is missing", path);
            compare_trees(path, &wanted->items[i], item, relative);
        }
        return;
    }
    if (wanted->kind != found->kind || wanted->count != found->count)
        fail_msg("%s: %s of %zu, not %s of %zu", where, hm__value_kind_name(found), found->count,
                 hm__value_kind_name(wanted), wanted->count);
    for (size_t i = 0; i < wanted->count; i++) {
        snprintf(path, sizeof(path), "%.400s[%zu]", where, i);
        compare_trees(path, &wanted->items[i], &found->items[i], relative);
    }
    if (wanted->kind != HM_VALUE_SCALAR)
        return;
    char *end = NULL;
    double number = strtod(wanted->text, &end);
    if (wanted->quoted || *end != '\0') {
        if (strcmp(wanted->text, found->text) != 0)
            fail_msg("%s is '%s', not '%s'", where, found->text, wanted->text);
        return;
    }
    double other = strtod(found->text, NULL);
    if (fabs(other - number) > relative * fabs(number))
        fail_msg("%s is %s, not %s", where, found->text, wanted->text);
}

/* Reads a whole file; the caller frees the bytes. */
static inline char *read_bytes(const char *path, size_t *ret_length)
{
    FILE *file = fopen(path, "rb");
    struct stat status;

    if (!file || stat(path, &status))
        fail_msg("cannot open %s", path);
    char *bytes = malloc((size_t)status.st_size + 1);
    *ret_length = fread(bytes, 1, (size_t)status.st_size, file);
    fclose(file);
    return bytes;
}

/* Calls `visit` for each sample of a folder that has expected values, with the sample and these
 * values. */
static inline size_t each_sample(const char *folder,
                                 void (*visit)(const char *path, const struct hm_value *wanted))
{
    static const char end[] = ".expected.json";
    char path[1600];
    struct dirent **names = NULL;
    size_t done = 0;

    snprintf(path, sizeof(path), "%s/%s", samples_folder(), folder);
    int count = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(names[i]->d_name);
        if (length > sizeof(end) && strcmp(names[i]->d_name + length - sizeof(end) + 1, end) == 0) {
            struct hm_arena *arena = hm__arena_new();
            size_t size;
            snprintf(path, sizeof(path), "%s/%s/%s", samples_folder(), folder, names[i]->d_name);
            char *text = read_bytes(path, &size);
            struct hm_value *wanted = parse_tree(arena, text, size);
            path[strlen(path) - sizeof(end) + 1] = '\0';
            visit(path, wanted);
            free(text);
            hm__arena_free(arena);
            done++;
        }
        free(names[i]);
    }
    free(names);
    return done;
}

#endif
