/*
 * Looks for inputs that cost a reader more than its size explains. Fuzzing tries small inputs; work
 * that grows with the square of a size, or memory that grows faster than an input, shows only in
 * large ones. Each file of a folder is taken apart at its lines and separators, and grows to a
 * given size in several ways:
 *
 *   repeat  a piece is repeated
 *   count   a piece is repeated, with a number after each word, so that all names differ
 *   number  a piece is repeated, with another number in the place of each of its numbers
 *   stretch the first character of a piece is repeated, as in a long name or many brackets
 *
 * Two pieces of a file also grow to half of the size each, because work can grow with the product
 * of two lengths: both in the same of the first three ways; or a word is stretched and a line after
 * it is repeated.
 *
 * Each input is read by a child process, whose processor time and memory are compared with limits.
 *
 *   grow FOLDER [BYTES [PIECES [KEEP]]]
 *
 * tries PIECES pieces of each file (40 by default), evenly spaced, and writes inputs over the
 * limits to the existing folder KEEP. Prints a line for each of them, and at the end the number of
 * inputs, the longest time and the largest memory. Returns 1 if an input exceeded a limit or ended
 * the child.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT_MS = 1000, LIMIT_MB = 512, KILL_S = 20, BASE_MAX = 1 << 16 };
enum { PIECES_MAX = BASE_MAX };
enum { REPEAT, COUNT, NUMBER, STRETCH, WAYS };

static const char *const way_names[WAYS] = {"repeat", "count", "number", "stretch"};

/* An input that is built, in a buffer of `room` bytes. */
struct grown {
    uint8_t *data;
    size_t size, room;
};

/* What the inputs so far cost. */
struct totals {
    long inputs, failed;
    double seconds, megabytes;
};

static void append(struct grown *out, const void *bytes, size_t count)
{
    if (count > out->room - out->size)
        count = out->room - out->size;
    memcpy(out->data + out->size, bytes, count);
    out->size += count;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Appends a piece with a number after each of its words, or in the place of each of its numbers. */
static void append_counted(struct grown *out, const uint8_t *piece, size_t size, bool numbers,
                           unsigned long number)
{
    char digits[24];
    const size_t length = (size_t)snprintf(digits, sizeof(digits), "%lu", number);

    for (size_t i = 0; i < size; i++) {
        const bool last = i + 1 == size;
        if (numbers && is_digit(piece[i])) {
            if (last || !is_digit(piece[i + 1]))
                append(out, digits, length);
            continue;
        }
        append(out, piece + i, 1);
        if (!numbers && is_letter(piece[i]) && (last || !is_letter(piece[i + 1])))
            append(out, digits, length);
    }
}

/* A piece of a file: the bytes from `from` to to - 1. */
struct piece {
    size_t from, to;
};

/* Appends a piece that grows in one of the ways until the input has `most` bytes. */
static void append_grown(struct grown *out, const uint8_t *base, struct piece p, int way,
                         size_t most)
{
    for (unsigned long i = 1; out->size + 2 * (p.to - p.from) < most; i++) {
        const size_t before = out->size;
        if (way == REPEAT)
            append(out, base + p.from, p.to - p.from);
        else if (way == STRETCH)
            append(out, base + p.from, 1);
        else
            append_counted(out, base + p.from, p.to - p.from, way == NUMBER, i);
        if (out->size == before || out->size > most)
            break;
    }
    if (way == STRETCH)
        append(out, base + p.from, p.to - p.from);
}

/*
 * Builds an input in which one or two pieces of a file, in their order, grow, the piece i in the
 * way ways[i].
 */
static void grow(struct grown *out, const uint8_t *base, size_t size, const struct piece *pieces,
                 size_t count, const int *ways)
{
    size_t at = 0;

    out->size = 0;
    for (size_t i = 0; i < count; i++) {
        append(out, base + at, pieces[i].from - at);
        at = pieces[i].to;
        append_grown(out, base, pieces[i], ways[i], (out->room - (size - at)) * (i + 1) / count);
    }
    append(out, base + at, size - at);
}

/* Lets a child process read an input, and returns its status. */
static int measure(const struct grown *input, double *ret_seconds, double *ret_megabytes)
{
    struct rusage used = {0};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        const struct rlimit limit = {KILL_S, KILL_S};
        setrlimit(RLIMIT_CPU, &limit);
        LLVMFuzzerTestOneInput(input->data, input->size);
        _exit(0);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) {
        perror("grow");
        exit(2);
    }
    *ret_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
    *ret_megabytes = 1024e-6 * (double)used.ru_maxrss;
    return status;
}

static void keep_input(const struct grown *input, const char *folder, long number)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/grown-%ld", folder, number);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(input->data, 1, input->size, file) != input->size || fclose(file) != 0)
        perror(path);
}

static void try_input(const struct grown *input, const char *what, const char *keep,
                      struct totals *totals)
{
    double seconds, megabytes;
    const int status = measure(input, &seconds, &megabytes);

    totals->inputs++;
    totals->seconds = seconds > totals->seconds ? seconds : totals->seconds;
    totals->megabytes = megabytes > totals->megabytes ? megabytes : totals->megabytes;
    if (status == 0 && seconds * 1000 <= LIMIT_MS && megabytes <= LIMIT_MB)
        return;
    totals->failed++;
    printf("%s: %.2f s, %.0f MB%s\n", what, seconds, megabytes,
           status == 0 ? "" : ", ended by a signal or an error");
    if (keep)
        keep_input(input, keep, totals->failed);
}

/*
 * Finds the next piece of a file: the rest of a line, or the text to the next separator. Returns
 * its end.
 */
static size_t piece_end(const uint8_t *base, size_t size, size_t from, bool lines)
{
    size_t to = from;

    while (to < size && base[to] != '\n' && (lines || !memchr(",;:{}[]()<>= \t\"|", base[to], 17)))
        to++;
    return to < size ? to + 1 : to;
}

/* A file that is taken apart, and what is needed to try its inputs. */
struct trial {
    const char *path, *keep;
    const uint8_t *base;
    size_t size;
    struct grown *out;
    struct totals *totals;
};

static void try_ways(const struct trial *t, const struct piece *pieces, size_t count,
                     const int *ways)
{
    char what[1200];

    snprintf(what, sizeof(what), "%s, bytes %zu to %zu, %s", t->path, pieces[0].from, pieces[0].to,
             way_names[ways[0]]);
    if (count > 1) {
        size_t length = strlen(what);
        snprintf(what + length, sizeof(what) - length, "; %zu to %zu, %s", pieces[1].from,
                 pieces[1].to, way_names[ways[1]]);
    }
    grow(t->out, t->base, t->size, pieces, count, ways);
    try_input(t->out, what, t->keep, t->totals);
}

/* Tries one piece in all ways. */
static void try_one(const struct trial *t, const struct piece *piece)
{
    for (int way = 0; way < WAYS; way++)
        try_ways(t, piece, 1, &way);
}

/* Tries two pieces in each of the ways that suit two. */
static void try_two(const struct trial *t, const struct piece *two)
{
    for (int way = 0; way < STRETCH; way++)
        try_ways(t, two, 2, (const int[]){way, way});
}

/* Tries a stretched word before a line that is repeated. */
static void try_word_and_line(const struct trial *t, struct piece word, size_t number)
{
    static const int ways[] = {STRETCH, REPEAT};
    struct piece two[2] = {word};
    size_t from = word.to;

    for (size_t i = 0; i <= number % 4; i++) {
        while (from < t->size && t->base[from - 1] != '\n')
            from++;
        if (from == t->size)
            break;
        two[1] = (struct piece){from, piece_end(t->base, t->size, from, true)};
        from = two[1].to;
    }
    if (two[1].to > 0)
        try_ways(t, two, 2, ways);
}

/* Finds at most PIECES_MAX pieces of a file. Returns their number. */
static size_t find_pieces(const struct trial *t, bool lines, struct piece *ret_pieces)
{
    size_t count = 0;

    for (size_t from = 0, to; from < t->size && count < PIECES_MAX; from = to) {
        to = piece_end(t->base, t->size, from, lines);
        ret_pieces[count++] = (struct piece){from, to};
    }
    return count;
}

static void try_file(const char *path, struct grown *out, size_t most, const char *keep,
                     struct totals *totals)
{
    static uint8_t base[BASE_MAX];
    static struct piece pieces[PIECES_MAX];
    struct trial t = {.path = path, .keep = keep, .base = base, .out = out, .totals = totals};
    uint64_t random = 1;
    FILE *file = fopen(path, "rb");

    if (!file)
        return;
    t.size = fread(base, 1, sizeof(base), file);
    fclose(file);
    for (int lines = 0; lines < 2; lines++) {
        const size_t count = find_pieces(&t, lines, pieces), step = count / most + 1;
        for (size_t i = 0; i < count; i += step)
            try_one(&t, &pieces[i]);
        for (size_t i = 0; count > 1 && i < most; i++) {
            struct piece two[2];
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const size_t first = (size_t)(random >> 33) % (count - 1);
            two[0] = pieces[first];
            two[1] = pieces[first + 1 + (size_t)(random >> 20) % (count - 1 - first)];
            try_two(&t, two);
            if (!lines)
                try_word_and_line(&t, two[0], i);
        }
    }
}

int main(int argc, char **argv)
{
    struct grown out = {.room = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 1000000};
    const size_t pieces = argc > 3 ? (size_t)strtoul(argv[3], NULL, 10) : 40;
    struct totals totals = {0};
    struct dirent **names = NULL;
    const int count = argc > 1 ? scandir(argv[1], &names, NULL, alphasort) : -1;

    out.data = malloc(out.room + 1);
    if (count <= 0 || pieces == 0 || out.room == 0 || !out.data) {
        fprintf(stderr, "usage: grow FOLDER [BYTES [PIECES [KEEP]]]\n");
        return 2;
    }
    for (int i = 0; i < count; i++) {
        char path[1024];
        snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]->d_name);
        if (names[i]->d_name[0] != '.')
            try_file(path, &out, pieces, argc > 4 ? argv[4] : NULL, &totals);
        free(names[i]);
    }
    free(names);
    free(out.data);
    printf("%ld inputs of %zu bytes, at most %.2f s and %.0f MB\n", totals.inputs, out.room,
           totals.seconds, totals.megabytes);
    return totals.failed > 0;
}
