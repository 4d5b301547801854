/* Makes Markov random fields, and runs belief propagation on ranks of one process. */
#ifndef HM_PROPAGATE_RUNS_H
#define HM_PROPAGATE_RUNS_H

#include "testing.h"

#include "fake_comm.h"
#include "memory.h"
#include "propagate.h"
#include "random.h"

/* Assertion that works in ranks, in which those of cmocka do not. */
#define CHECK(condition) (condition) ? (void)0 : check_failed(#condition, __LINE__)

static inline void check_failed(const char *what, int line)
{
    fprintf(stderr, "line %d: %s\n", line, what);
    abort();
}

enum { VERTICES = 100, EDGES = 200, STATES = 4 };

/* A whole Markov random field with its arrays. */
struct model {
    struct hm_markov m;
    uint32_t states[VERTICES], ends[2 * EDGES];
    size_t unary_places[VERTICES + 1], table_places[EDGES + 1];
    double unary[VERTICES * STATES], tables[EDGES * STATES * STATES];
};

static inline void model_init(struct model *model)
{
    memset(model, 0, sizeof(*model));
    model->m = (struct hm_markov){.states = model->states,
                                  .ends = model->ends,
                                  .unary_places = model->unary_places,
                                  .table_places = model->table_places,
                                  .unary = model->unary,
                                  .tables = model->tables};
}

static inline void add_vertex(struct model *model, size_t states, const double *phi)
{
    size_t v = model->m.variables++, at = model->unary_places[v];

    assert_true(v < VERTICES && states <= STATES);
    model->states[v] = (uint32_t)states;
    model->unary_places[v + 1] = at + states;
    memcpy(model->unary + at, phi, states * sizeof(*phi));
}

/* Adds an edge; edges must be added in ascending order. */
static inline void add_edge(struct model *model, uint32_t a, uint32_t b, const double *psi)
{
    size_t e = model->m.edges++, at = model->table_places[e];
    size_t length = (size_t)model->states[a] * model->states[b];

    assert_true(e < EDGES && a < b);
    model->ends[2 * e] = a;
    model->ends[2 * e + 1] = b;
    model->table_places[e + 1] = at + length;
    memcpy(model->tables + at, psi, length * sizeof(*psi));
}

/* Input and output of a run on the whole Markov random field, which is given as a model, a recipe,
 * or a graph. */
struct propagate_run {
    const struct model *model;
    const struct hm_mrf_recipe *recipe;
    const struct hm_graph
        *graph; /* Graph of the Markov random field, whose potentials come from `recipe`. */
    struct hm_propagate_settings settings;
    size_t iterations;
    const double *start; /* Messages from which the run continues; NULL: none. */
    double *beliefs, *messages;
    uint32_t *states;
    size_t total; /* Number of values of all messages together. */
    double log_z, score, change;
    double bytes, flop; /* Bytes and floating-point operations of rank 0 in the whole run. */
    double reduce_bytes,
        reduce_flop; /* Bytes and floating-point operations of one call of hm__comm_max_few. */
    bool binary;
};

static inline struct hm_mrf *part_of(const struct propagate_run *run, int rank, int size)
{
    struct hm_err err = {0};
    struct hm_mrf *mrf = NULL;
    int rc = run->model   ? hm__mrf_from_markov(&run->model->m, rank, size, &mrf, &err)
             : run->graph ? hm__mrf_from_graph(run->graph, run->recipe, rank, size, &mrf, &err)
                          : hm__mrf_make(run->recipe, rank, size, &mrf, &err);

    CHECK(rc == 0);
    return mrf;
}

/* Finds the position of this rank's messages among those of the whole field, and the number of
 * values of all messages. */
static inline void locate_messages(const struct hm_propagate *p, struct hm_comm *comm,
                                   size_t *ret_first, size_t *ret_total)
{
    size_t size = (size_t)comm->size;
    double *counts = calloc(2 * size, sizeof(*counts));

    counts[comm->rank] = (double)hm__propagate_message_count(p);
    hm__comm_sum(comm, counts, size, counts + size);
    *ret_first = *ret_total = 0;
    for (int r = 0; r < comm->size; r++) {
        *ret_first += r < comm->rank ? (size_t)counts[r] : 0;
        *ret_total += (size_t)counts[r];
    }
    free(counts);
}

/*
 * Returns whether the run uses the kernel for two states, which stores one value per message; the
 * general kernel stores one value per state.
 */
static inline bool is_binary(const struct hm_mrf *mrf, size_t total)
{
    return total == 2 * mrf->edges;
}

static inline void body(struct hm_comm *comm, void *context)
{
    struct propagate_run *run = context;
    struct hm_mrf *mrf = part_of(run, comm->rank, comm->size);
    struct hm_propagate *p = NULL;
    double change = 0, log_z, score;

    CHECK(hm__propagate_new(mrf, &run->settings, comm, &p, NULL) == 0);
    size_t first, total;
    locate_messages(p, comm, &first, &total);
    size_t place = run->model ? run->model->unary_places[mrf->first]
                              : (size_t)run->recipe->states * mrf->first;
    if (run->start)
        CHECK(hm__propagate_put(p, run->start + first, comm, NULL) == 0);
    for (size_t i = 0; i < run->iterations; i++)
        change = hm__propagate_step(p, comm);
    hm__propagate_beliefs(p, run->beliefs + place);
    hm__propagate_decode(p, run->states + mrf->first);
    hm__propagate_get(p, run->messages + first);
    log_z = hm__propagate_log_z(p, comm);
    score = hm__propagate_score(p, run->states + mrf->first, comm);
    if (comm->rank == 0) {
        run->change = change;
        run->log_z = log_z;
        run->score = score;
        run->total = total;
        run->binary = is_binary(mrf, total);
        run->bytes = comm->bytes;
        run->flop = comm->flop;
    }
    hm__comm_max_few(comm, &change, 1);
    if (comm->rank == 0) {
        run->reduce_bytes = comm->bytes - run->bytes;
        run->reduce_flop = comm->flop - run->flop;
    }
    hm__propagate_free(p);
    hm__mrf_free(mrf);
}

/* Makes a run on `ranks` ranks, with arrays that are large enough for every test. */
static inline void run_on(struct propagate_run *run, int ranks)
{
    enum { ROOM = 1 << 16 };

    if (!run->beliefs) {
        run->beliefs = calloc(ROOM, sizeof(double));
        run->messages = calloc(ROOM, sizeof(double));
        run->states = calloc(ROOM, sizeof(uint32_t));
    }
    fake_comm_run(ranks, body, run);
}

static inline void run_release(struct propagate_run *run)
{
    free(run->beliefs);
    free(run->messages);
    free(run->states);
}

#endif
