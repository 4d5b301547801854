/* Makes training runs on ranks of one process, and collects their results. */
#ifndef HM_TRAIN_RUNS_H
#define HM_TRAIN_RUNS_H

#include "train_problems.h"

#include "checkpoint.h"
#include "fake_comm.h"
#include "train.h"

enum { UNKNOWNS = 512, RANKS = 24, POINTS = 256, STATE = 1 << 14 };

struct training {
    /* The members up to `test` are inputs. */
    const struct problem *problem;
    size_t loss;
    bool sparse;
    const char *algorithm;
    struct hm_train_settings settings; /* A seed of 0 means 7, as in the oracle. */
    enum hm_reduce_scheme scheme;
    /* Plan of the run. If eval_every is 0, the objective is evaluated only at the end; limits.best
     * comes from the oracle. */
    struct hm_train_plan plan;
    const char *resume; /* Checkpoint to resume from; NULL: none. */
    bool test;          /* True to use the training rows as test rows. */
    /* The members from here on are outputs. */
    int rc[RANKS];
    struct hm_err err[RANKS];
    double w[RANKS][UNKNOWNS];
    size_t unknowns;
    /* Values of rank 0's arrays, followed by the values that belong to rows, in the order of the
     * ranks. */
    double state[STATE];
    size_t state_count;
    double iteration, samples;
    struct hm_trace_point points[POINTS], last;
    size_t point_count;
    struct hm_train_totals totals;
    enum hm_stop stop;
};

static inline void training_record(void *context, const struct hm_trace_point *point)
{
    struct training *t = context;

    if (t->point_count < POINTS)
        t->points[t->point_count++] = *point;
}

/* Collects the state of all ranks, one rank after another. */
static inline void keep_state(struct training *t, struct hm_run *run)
{
    struct hm_part parts[HM_PARTS];
    size_t count = run->algorithm->parts ? run->algorithm->parts(run, parts) : 0;

    for (int turn = 0; turn < run->comm->size; turn++) {
        for (size_t i = 0; turn == run->comm->rank && i < count; i++) {
            if (!parts[i].of_rows && turn > 0)
                continue;
            CHECK(t->state_count + parts[i].count <= STATE);
            memcpy(t->state + t->state_count, parts[i].values, parts[i].count * sizeof(double));
            t->state_count += parts[i].count;
        }
        hm__comm_barrier(run->comm);
    }
}

static inline void training_body(struct hm_comm *comm, void *context)
{
    struct training *t = context;
    struct hm_train_totals totals = {0};
    struct hm_trace_point last = {0};
    enum hm_stop stop = HM_STOP_NOT;
    struct hm_err *err = &t->err[comm->rank];
    struct hm_objective o;
    struct hm_train_plan plan = t->plan;
    struct hm_run run = {.algorithm = hm__algorithm_find(t->algorithm),
                         .comm = comm,
                         .objective = &o,
                         .settings = t->settings};

    comm->scheme = t->scheme;
    problem_init(&o, t->problem, t->loss, t->sparse, comm->rank, comm->size);
    run.arena = o.arena;
    run.settings.seed = run.settings.seed ? run.settings.seed : 7;
    run.settings.momentum = run.settings.momentum > 0 ? run.settings.momentum : -1;
    plan.report = training_record;
    plan.context = t;
    plan.eval_every = plan.eval_every > 0 ? plan.eval_every : INFINITY;
    plan.test = t->test ? &o.rows : NULL;
    plan.test_rows = o.total_rows;
    CHECK(run.algorithm && o.unknowns <= UNKNOWNS && comm->size <= RANKS);
    int rc = hm__run_begin(&run, err);
    if (rc == 0 && t->resume)
        rc = hm__checkpoint_load(t->resume, &run, plan.identity, &totals, err);
    if (rc == 0)
        rc = hm__train(&run, &plan, &totals, &last, &stop, err);
    t->rc[comm->rank] = rc;
    if (rc == 0) {
        memcpy(t->w[comm->rank], run.w, o.unknowns * sizeof(double));
        keep_state(t, &run);
    }
    if (comm->rank == 0) {
        t->unknowns = o.unknowns;
        t->iteration = run.iteration;
        t->samples = run.samples;
        t->last = last;
        t->stop = stop;
        t->totals = totals;
    }
    problem_release(&o);
}

/* Returns the minimum of the objective, from the oracle. */
static inline double optimum_of(const struct problem *p, size_t loss)
{
    double best = NAN;

    oracle_read("optimum", p->name, loss_names[loss], &best, 1);
    return best;
}

/* Runs the training; all ranks must return the same code and the same weights w. */
static inline void run_training(struct training *t, int ranks)
{
    t->point_count = t->state_count = 0;
    memset(t->err, 0, sizeof(t->err));
    fake_comm_run(ranks, training_body, t);
    for (int rank = 1; rank < ranks; rank++) {
        assert_int_equal(t->rc[rank], t->rc[0]);
        assert_string_equal(t->err[rank].message, t->err[0].message);
        if (t->rc[0] == 0)
            assert_memory_equal(t->w[rank], t->w[0], t->unknowns * sizeof(double));
    }
}

/* Runs the training, which must succeed. */
static inline void train_on(struct training *t, int ranks)
{
    run_training(t, ranks);
    if (t->rc[0])
        fail_msg("%s: %s", t->err[0].source, t->err[0].message);
}

/* Returns whether the algorithm supports this loss. */
static inline bool supports(const struct hm_algorithm *algorithm, size_t loss)
{
    return loss != SOFTMAX || !(algorithm->traits & (HM_TRAIT_DUAL | HM_TRAIT_LINEAR));
}

#endif
