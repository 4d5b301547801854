/*
 * One run of an algorithm, as one rank sees it, and what an algorithm is: a table of functions in a
 * file of its own, listed in algorithms.c.
 *
 * All ranks hold the same w; each holds its own rows. An iteration begins and ends with all ranks
 * having the same w, so that it can be looked at, and saved, in between.
 */
#ifndef HM_RUN_H
#define HM_RUN_H

#include "comm.h"
#include "objective.h"
#include "random.h"
#include "usage.h"

/* What the algorithms can be told; 0 (momentum: below 0) means: the algorithm's own choice. */
struct hm_train_settings {
    double step;     /* size of the first step */
    double batch;    /* rows of all ranks together in a mini-batch; local SGD: of one rank */
    double passes;   /* over its own rows that a rank makes in an iteration */
    double momentum; /* [0, 1) */
    double memory;   /* pairs that L-BFGS keeps */
    bool shrink;     /* pass over rows whose dual variable has come to rest */
    uint64_t seed;
};

/* A piece of an algorithm's state, for checkpoints. */
struct hm_part {
    const char *name;
    double *values; /* borrowed */
    size_t count;
    bool of_rows; /* a number for each of the rank's rows; otherwise the same on all ranks */
};

enum { HM_PARTS = 8 };

struct hm_trace_point;

struct hm_run {
    const struct hm_algorithm *algorithm;
    struct hm_comm *comm;
    struct hm_objective *objective;
    struct hm_train_settings settings;
    double *w;        /* unknowns */
    double *gradient; /* unknowns + HM_RUN_EXTRA, for the algorithm to use */
    double *scratch;  /* as long, for sums over ranks */
    double iteration; /* finished ones */
    double samples;   /* rows of all ranks that went into them, with repetition */
    bool settled;     /* the algorithm finds nothing better: the same on all ranks */
    double step;      /* size of the first step, where `update` takes one */
    void *state;      /* the algorithm's */
    const struct hm_division *division; /* how ranks share the work; NULL: all are alike */
    void *place;                        /* the platform's */
    struct hm_meter meter;              /* of this rank */
    /* Rank 0, after each stretch: of the ranks that are no workers. */
    struct hm_usage *others;
    size_t other_count;
    struct hm_arena *arena;
};

enum { HM_RUN_EXTRA = 2 };

enum hm_trait {
    HM_TRAIT_DUAL = 1,    /* needs a loss with a dual */
    HM_TRAIT_BATCHES = 2, /* an iteration is a mini-batch, and an epoch many of them */
    HM_TRAIT_LINEAR = 4,  /* needs one linear output */
};

struct hm_algorithm {
    const char *name;
    const char *title;
    unsigned traits;
    struct hm_train_settings defaults;
    /* Make the state. w is at its start. A rank that fails is alone: no talking here
     * without agreeing first. */
    int (*begin)(struct hm_run *run, struct hm_err *err);
    /* What has to be found out together before the first iteration; NULL: nothing. */
    void (*prepare)(struct hm_run *run);
    /* One iteration, of all ranks together. */
    void (*step)(struct hm_run *run);
    /* This rank's sum of the rows' parts in the dual objective; NULL: there is none. */
    double (*dual)(const struct hm_run *run);
    /*
     * Of mini-batches, the second half of a step: w by the mean gradient in run->gradient, as one
     * of several parts of a step that weighs `weight`; 1: it is the whole. `done`: such updates
     * before it. Each unknown is by itself, so that pieces of w may be in several places. NULL: w
     * cannot be elsewhere than with the rows.
     */
    void (*update)(struct hm_run *run, double weight, double done);
    /* The state besides w; NULL: none. Returns how many parts. */
    size_t (*parts)(struct hm_run *run, struct hm_part parts[HM_PARTS]);
    /* After parts have been filled in from a checkpoint, on all ranks; may be NULL. */
    int (*resumed)(struct hm_run *run, struct hm_err *err);
    /* Objective and what else there is to tell, where it is not P(w); NULL: it is. */
    void (*look)(struct hm_run *run, struct hm_trace_point *point);
};

/* Iterations of all ranks together, as one rank saw them and as all did. */
struct hm_stretch {
    double iterations, samples;
    double seconds, compute_s; /* the largest of any rank */
    double bytes, flop;        /* of all ranks */
    /* With servers, otherwise 0. */
    double wait_s;      /* for w, of a worker in the mean */
    double reads, ages; /* of w, by all workers, and the sum of the clocks it was behind */
    double dropped;     /* gradients */
};

/*
 * How iterations are done where not every rank is a worker with a w of its own. `stretch` goes on
 * for so many iterations, and ends with all workers having the same w and rank 0 the algorithm's
 * state; called by all workers together, as `end` is, after which nobody serves them.
 */
struct hm_division {
    const char *name;
    int (*stretch)(struct hm_run *run, double iterations, struct hm_stretch *ret_stretch,
                   struct hm_err *err);
    /* In place of stretch, on a rank that has no rows: in run->gradient the sums over all rows, of
     * the gradients and then of the losses. */
    void (*sum)(struct hm_run *run, const double *w);
};

/* All algorithms for rows of data, NULL at the end. */
extern const struct hm_algorithm *const hm__algorithms[];
const struct hm_algorithm *hm__algorithm_find(const char *name);

/* ---- for algorithms ------------------------------------------------------------------------- */

/* Random numbers of this rank in this iteration; `use` (0..15) tells streams apart. */
struct hm_random hm__run_random(const struct hm_run *run, unsigned use);

/*
 * P and, in run->gradient, its gradient at w, over all rows of all ranks. Counts the work and the
 * rows.
 */
double hm__run_full(struct hm_run *run, const double *w);

/*
 * This rank's part of a gradient: the sum of the losses of rows list[0..count), NULL: 0..count, and
 * in run->gradient the sum of their gradients. Counts the work.
 */
double hm__run_part(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/* The same, added to what is in run->gradient. */
double hm__run_add(struct hm_run *run, const double *w, const uint32_t *list, size_t count);
/* From a sum over so many rows to the gradient: divided, and the regulariser's added. */
void hm__run_mean(struct hm_run *run, double rows);

/* |w|^2 */
double hm__run_norm2(const struct hm_run *run);

/* The next mini-batch's mean gradient, regulariser included, in run->gradient. */
struct hm_batches;
int hm__batches_new(struct hm_run *run, struct hm_batches **ret_batches, struct hm_err *err);
void hm__batches_gradient(struct hm_run *run, struct hm_batches *batches);
/* This rank's rows of the next mini-batch: an epoch deals each row once, in an order of its own. */
const uint32_t *hm__batches_next(struct hm_run *run, struct hm_batches *batches, size_t *ret_count);
/* Mini-batches in an epoch. */
double hm__batches_in_epoch(const struct hm_run *run);

/* Fill with 0..count-1; put what is there into a random order. */
void hm__count_up(uint32_t *order, size_t count);
void hm__shuffle(struct hm_random *random, uint32_t *order, size_t count);

/* A step size that suits the loss: 1 / (curvature x mean |x|^2); other objectives: `otherwise`. */
double hm__run_step_size(struct hm_run *run, double otherwise);

#endif
