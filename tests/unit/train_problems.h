/*
 * Small problems to train on, made by the formula of tools/oracle/train.py, and what that program
 * found about them (tests/data/train.tsv).
 */
#ifndef HM_TRAIN_PROBLEMS_H
#define HM_TRAIN_PROBLEMS_H

#include "testing.h"

#include "linear_problem.h"
#include "shard.h"

/* In threads, where cmocka cannot fail. */
#define CHECK(condition) (condition) ? (void)0 : give_up(#condition, __FILE__, __LINE__)

static inline void give_up(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    abort();
}

struct problem {
    const char *name;
    uint64_t seed;
    size_t rows, features;
    double keep; /* fraction of the entries that are there */
    size_t classes;
    double lambda;
};

enum { PROBLEMS = 4, LOSSES = 4, SOFTMAX = 3 };

static const struct problem problems[PROBLEMS] = {
    {"dense", 11, 61, 7, 1, 4, 0.01},
    {"sparse", 22, 53, 40, 0.15, 3, 0.02},
    {"single", 33, 9, 1, 1, 2, 0.1},
    {"wide", 44, 12, 30, 1, 5, 0.05},
};

static const char *const loss_names[LOSSES] = {"svm", "logistic", "squares", "softmax"};
static const struct hm_loss *const losses[LOSSES] = {&hm__loss_hinge, &hm__loss_logistic,
                                                     &hm__loss_squares, NULL};

static inline const struct problem *problem_named(const char *name)
{
    for (size_t i = 0; i < PROBLEMS; i++)
        if (strcmp(problems[i].name, name) == 0)
            return &problems[i];
    fail_msg("no problem %s", name);
    return NULL;
}

static inline size_t loss_named(const char *name)
{
    for (size_t i = 0; i < LOSSES; i++)
        if (strcmp(loss_names[i], name) == 0)
            return i;
    fail_msg("no loss %s", name);
    return 0;
}

/* Uniform in [-1, 1), a multiple of 2^-52. */
static inline double made_value(uint64_t seed, uint64_t i, uint64_t j)
{
    uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + i * UINT64_C(0xBF58476D1CE4E5B9) +
                 j * UINT64_C(0x94D049BB133111EB);

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static inline bool entry_is_there(const struct problem *p, size_t i, size_t j)
{
    return p->keep >= 1 || (i % 17 != 5 && (made_value(p->seed + 1, i, j) + 1) / 2 < p->keep);
}

static inline double made_label(const struct problem *p, size_t loss, size_t i)
{
    double planted = 0;

    if (loss == SOFTMAX) {
        double class = floor((made_value(p->seed + 4, i, 0) + 1) / 2 * (double)p->classes);
        return p->keep < 1 && class == 1 ? 0 : class; /* a class that no row has */
    }
    for (size_t j = 0; j < p->features; j++)
        if (entry_is_there(p, i, j))
            planted += made_value(p->seed, i, j) * made_value(p->seed + 2, 0, j);
    planted += 0.3 * made_value(p->seed + 3, i, 0);
    return losses[loss]->classes ? (planted >= 0 ? 1 : -1) : 2 * planted + 0.5;
}

/* Row i of a problem at the end of the rows. */
static inline bool add_row(const struct problem *p, size_t loss, size_t i, struct hm_rows *rows)
{
    size_t entries = 0, at = 0;
    uint32_t *columns = NULL;

    for (size_t j = 0; j < p->features; j++)
        entries += entry_is_there(p, i, j);
    double *values = hm__rows_add(rows, made_label(p, loss, i), entries, &columns);
    for (size_t j = 0; values && j < p->features; j++) {
        if (!entry_is_there(p, i, j))
            continue;
        values[rows->sparse ? at : j] = made_value(p->seed, i, j);
        if (rows->sparse)
            columns[at++] = (uint32_t)j;
    }
    return values != NULL;
}

/* The rows of one rank, in their order. */
static inline struct hm_rows problem_rows(const struct problem *p, size_t loss, bool sparse,
                                          int rank, int size)
{
    struct hm_shard block = hm__shard_of((double)p->rows, rank, size);
    struct hm_rows rows = {.sparse = sparse, .features = p->features};

    CHECK(hm__rows_reserve(&rows, 0, 0));
    for (size_t i = 0; i < (size_t)block.count; i++)
        CHECK(add_row(p, loss, (size_t)block.first + i, &rows));
    return rows;
}

/* The objective of one rank; release its rows, and free its arena. */
static inline void problem_init(struct hm_objective *o, const struct problem *p, size_t loss,
                                bool sparse, int rank, int size)
{
    *o = (struct hm_objective){.rows = problem_rows(p, loss, sparse, rank, size),
                               .total_rows = (double)p->rows,
                               .lambda = p->lambda,
                               .outputs = loss == SOFTMAX ? p->classes : 1,
                               .arena = hm__arena_new()};
    CHECK(o->arena);
    if (loss == SOFTMAX)
        CHECK(hm__softmax_init(o, NULL) == 0);
    else
        hm__linear_init(o, losses[loss]);
}

static inline void problem_release(struct hm_objective *o)
{
    hm__rows_release(&o->rows);
    hm__arena_free(o->arena);
}

/* What the oracle has of "kind a b": up to `count` numbers after it. */
static inline void look_up(const char *kind, const char *a, const char *b, double *numbers,
                           size_t count)
{
    FILE *table = open_source("tests/data/train.tsv");
    char line[512], wanted[96];

    snprintf(wanted, sizeof(wanted), "%s %s%s%s ", kind, a, b ? " " : "", b ? b : "");
    while (next_line(table, line, sizeof(line))) {
        if (strncmp(line, wanted, strlen(wanted)) != 0)
            continue;
        char *at = line + strlen(wanted);
        for (size_t i = 0; i < count; i++)
            numbers[i] = strtod(at, &at);
        fclose(table);
        return;
    }
    fail_msg("nothing about %s", wanted);
}

#endif
