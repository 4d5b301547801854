/*
 * Tests the outcomes of the readers for the files of the fuzz corpora, and for the same files with
 * small errors: cut off, with lines left out or repeated, with other numbers or other bytes. The
 * outcomes of a file (the message and line of the error, or a sum of what was read) are stored as a
 * checksum in tests/data/answers/read_FOLDER.txt, so that no reader changes unnoticed. HM_RECORD=1
 * writes the current checksums; HM_PRINT=NAME prints the outcomes of one file, to compare two
 * versions. The argument of this program is the folder of the corpus.
 */
#include <dirent.h>

#include "kept_readers.h"
#include "testing.h"

enum { CUTS = 8, LINES = 10, NUMBERS = 14, BYTES = 24, FILES = 128 };

/* ---- files with errors ----------------------------------------------------------------------- */

struct trial {
    const struct reader *reader;
    const char *name;
    bool print;
    size_t made, variants, accepted;
    uint64_t checksum;
};

/* Removes the names of files in memory, which differ from run to run. */
static void hide_paths(char *text)
{
    for (char *at; (at = strstr(text, "/proc/self/fd/"));) {
        char *end = at + strlen("/proc/self/fd/");
        while (*end >= '0' && *end <= '9')
            end++;
        memmove(at, end, strlen(end) + 1);
    }
}

static void trial_read(struct trial *t, const char *data, size_t size)
{
    static struct outcome o;
    char *copy = malloc(size);

    t->made++;
    if (size < 2 || (t->reader->every && t->made % t->reader->every != 1)) {
        free(copy);
        return;
    }
    assert_non_null(copy);
    memcpy(copy, data, size);
    o.used = 0;
    o.text[0] = '\0';
    o.accepted = false;
    o.number = t->made;
    t->reader->read(copy, size, &o);
    hide_paths(o.text);
    t->variants++;
    t->accepted += o.accepted;
    for (const char *c = o.text; *c; c++)
        t->checksum = (t->checksum ^ (unsigned char)*c) * 0x100000001b3u;
    if (t->print)
        fprintf(stderr, "%zu: %s\n", t->variants, o.text);
    free(copy);
}

/* Reads the data with `length` bytes at `at` replaced by a text. */
static void trial_replace(struct trial *t, const char *data, size_t size, size_t at, size_t length,
                          const char *text, size_t text_length)
{
    char *changed = malloc(size - length + text_length + 1);

    assert_non_null(changed);
    memcpy(changed, data, at);
    memcpy(changed + at, text, text_length);
    memcpy(changed + at + text_length, data + at + length, size - at - length);
    trial_read(t, changed, size - length + text_length);
    free(changed);
}

static size_t line_length(const char *data, size_t size, size_t at)
{
    size_t end = at;

    while (end < size && data[end] != '\n')
        end++;
    return end < size ? end + 1 - at : end - at;
}

/* Reads the data with some lines left out or repeated, evenly spaced. */
static void trial_lines(struct trial *t, const char *data, size_t size)
{
    size_t count = 0, at = 1, number = 0;

    for (size_t i = 0; i < size; i++)
        count += data[i] == '\n';
    while (at < size) {
        size_t length = line_length(data, size, at);
        if (number++ % (count / (LINES * t->reader->dense) + 1) == 0) {
            trial_replace(t, data, size, at, length, "", 0);
            trial_replace(t, data, size, at, 0, data + at, length);
        }
        at += length;
    }
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the data with some numbers, evenly spaced, replaced by others. */
static void trial_numbers(struct trial *t, const char *data, size_t size)
{
    static const char *const others[] = {"0", "-1", "7", "1e400", "x"};
    size_t count = 0, number = 0;

    for (size_t at = 2; at < size; at++)
        count += is_digit(data[at]) && !is_digit(data[at - 1]);
    for (size_t at = 2; at < size; at++) {
        size_t length = 0;
        if (!is_digit(data[at]) || is_digit(data[at - 1]) ||
            number++ % (count / (NUMBERS * t->reader->dense) + 1) != 0)
            continue;
        while (at + length < size && is_digit(data[at + length]))
            length++;
        for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
            trial_replace(t, data, size, at, length, others[k], strlen(others[k]));
    }
}

static void trial_run(struct trial *t, const char *data, size_t size)
{
    const size_t cuts = CUTS * t->reader->dense, bytes = BYTES * t->reader->dense;

    t->checksum = 0xcbf29ce484222325u;
    trial_read(t, data, size);
    for (size_t i = 1; i < cuts; i++)
        trial_read(t, data, size * i / cuts);
    for (size_t i = 0; i < bytes; i++) {
        size_t at = 1 + (size - 1) * i / bytes;
        char other = (char)(data[at] ^ (1 << i % 8));
        trial_replace(t, data, size, at, 1, &other, 1);
    }
    trial_lines(t, data, size);
    trial_numbers(t, data, size);
}

/* ---- the files ------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists the names of a folder in order; returns their number. */
static size_t list_folder(const char *path, char *names[FILES])
{
    DIR *folder = opendir(path);
    struct dirent *entry;
    size_t count = 0;

    assert_non_null(folder);
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.' && count < FILES)
            names[count++] = strdup(entry->d_name);
    closedir(folder);
    qsort(names, count, sizeof(*names), compare_texts);
    return count;
}

static char *load_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 20);

    assert_true(file && data);
    *ret_size = fread(data, 1, 1 << 20, file);
    fclose(file);
    return data;
}

/* Compares the outcomes of a file with the next line of the stored checksums. Returns true if they
 * differ. */
static bool compare_line(FILE *kept, FILE *out, const struct trial *t)
{
    char got[200], wanted[200] = "";

    snprintf(got, sizeof(got), "%s/%s: %zu of %zu accepted, checksum %016llx", t->reader->folder,
             t->name, t->accepted, t->variants, (unsigned long long)t->checksum);
    if (out)
        fprintf(out, "%s\n", got);
    else if (!next_line(kept, wanted, sizeof(wanted)) || strcmp(wanted, got) != 0)
        return fprintf(stderr, "- %s\n+ %s\n", wanted, got) > 0;
    return false;
}

static const struct reader *reader;

/* Reads all files of the folder; returns the number of those that are read differently. */
static size_t read_folder(const char *root, FILE *kept, FILE *out)
{
    const char *print = getenv("HM_PRINT");
    char path[2048], *names[FILES];
    size_t wrong = 0, size;

    snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", root, reader->folder);
    size_t count = list_folder(path, names);
    for (size_t i = 0; i < count; i++) {
        struct trial t = {
            .reader = reader, .name = names[i], .print = print && strcmp(print, names[i]) == 0};
        snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s", root, reader->folder, names[i]);
        char *data = load_file(path, &size);
        trial_run(&t, data, size);
        wrong += compare_line(kept, out, &t);
        free(data);
        free(names[i]);
    }
    return wrong;
}

static void readers_are_kept(void **state)
{
    const char *root = getenv("HM_SOURCE"), *record = getenv("HM_RECORD");
    const char *zlib = getenv("HM_ZLIB"), *zstd = getenv("HM_ZSTD");
    char path[1024];

    (void)state;
    if ((zlib && zlib[0] == '0') || (zstd && zstd[0] == '0'))
        skip(); /* This test is skipped, because some of the files are compressed. */
    root = root ? root : ".";
    snprintf(path, sizeof(path), "%s/tests/data/answers/read_%s.txt", root, reader->folder);
    FILE *out = record && record[0] == '1' ? fopen(path, "w") : NULL, *kept = fopen(path, "r");
    assert_non_null(kept);
    size_t wrong = read_folder(root, kept, out);
    fclose(kept);
    if (out)
        fclose(out);
    if (wrong > 0)
        fail_msg("%zu files are read differently; HM_RECORD=1 keeps the outcomes of today", wrong);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(readers_are_kept)};

    for (size_t r = 0; argc == 2 && kept_readers[r].folder; r++)
        if (strcmp(kept_readers[r].folder, argv[1]) == 0)
            reader = &kept_readers[r];
    return reader ? cmocka_run_group_tests_name("kept_inputs", tests, NULL, NULL) : 2;
}
