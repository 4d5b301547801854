/* Fuzzes the reader of checkpoints. The bytes get a valid checksum, so that the parser reaches the
 * head and the arrays; a run must be able to continue from a checkpoint that is accepted. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkpoint.h"
#include "linear_problem.h"
#include "train.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 14, ROWS = 3 };

/* Computes the checksum of a checkpoint as checkpoint.c does. */
static uint64_t checksum(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, data + at, size - at < 8 ? size - at : 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum;
}

/* Returns the algorithm that the bytes name, or CoCoA. */
static const struct hm_algorithm *algorithm_in(const uint8_t *data, size_t size)
{
    static const char line[] = "\nalgorithm ";
    const uint8_t *at = memmem(data, size, line, sizeof(line) - 1);
    char name[16] = "cocoa";

    for (size_t i = 0; at && i + 1 < sizeof(name); i++) {
        const uint8_t *letter = at + sizeof(line) - 1 + i;
        name[i] = letter<data + size && * letter> ' ' ? (char)*letter : '\0';
    }
    name[sizeof(name) - 1] = '\0';
    const struct hm_algorithm *found = hm__algorithm_find(name);
    return found ? found : hm__algorithm_find("cocoa");
}

/* The bytes of the input and their checksum, which the reader sees as a file of this name: a real
 * file would take most of the time. */
static uint8_t contents[MOST + sizeof(uint64_t)];
static size_t contents_size;
static const char contents_name[] = "fuzz.checkpoint";

/* The linker gives the reader this function in the place of fopen64. */
FILE *__wrap_fopen64(const char *path, const char *mode);
FILE *__real_fopen64(const char *path, const char *mode);

FILE *__wrap_fopen64(const char *path, const char *mode)
{
    return strcmp(path, contents_name) == 0 ? fmemopen(contents, contents_size, mode)
                                            : __real_fopen64(path, mode);
}

static void go_on(struct hm_run *run, struct hm_train_totals *totals)
{
    struct hm_train_plan plan = {.eval_every = 1,
                                 .limits = {.iterations = run->iteration + 2, .best = NAN}};
    struct hm_trace_point last;
    enum hm_stop stop;

    if (run->iteration != floor(run->iteration) || !(run->iteration < 0x1p40))
        abort();
    if (hm__train(run, &plan, totals, &last, &stop, NULL) || stop == HM_STOP_NOT)
        abort();
}

static void load(const struct hm_algorithm *algorithm, bool adopt)
{
    double values[] = {1, 0.5, -2, 1, 0.25, 3}, labels[] = {1, -1, 1};
    struct hm_objective o = {
        .rows = {.count = ROWS, .features = 2, .values = values, .labels = labels},
        .total_rows = ROWS,
        .lambda = 0.1,
        .arena = hm__arena_new()};
    struct hm_train_totals totals = {0};
    struct hm_comm comm;
    struct hm_run run = {.algorithm = algorithm,
                         .comm = &comm,
                         .objective = &o,
                         .settings = {.seed = 1, .memory = 2},
                         .arena = o.arena};

    hm__comm_alone(&comm);
    hm__linear_init(&o, &hm__loss_logistic);
    struct hm_err err = {0};
    if (hm__run_begin(&run, &err) == 0 &&
        (adopt ? hm__checkpoint_adopt(contents_name, &run, "fuzz", &totals, &err)
               : hm__checkpoint_load(contents_name, &run, "fuzz", &totals, &err)) == 0)
        go_on(&run, &totals);
    hm__arena_free(o.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t sum = checksum(data, size);

    if (size > MOST)
        return 0;
    memcpy(contents, data, size);
    memcpy(contents + size, &sum, sizeof(sum));
    contents_size = size + sizeof(sum);
    load(algorithm_in(data, size), false);
    load(hm__algorithm_find("cocoa"), true);
    load(hm__algorithm_find("lbfgs"), true);
    return 0;
}
