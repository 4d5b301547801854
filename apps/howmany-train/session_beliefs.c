/*
 * Writes the beliefs of belief propagation as CSV in the order of the vertices: the other ranks
 * send their beliefs to rank 0, which writes the file.
 */
#include <stdio.h>

#include "agree.h"
#include "bp.h"
#include "cli.h"
#include "err.h"
#include "memory.h"
#include "session.h"

/* Beliefs that one rank has computed: for each vertex, the offset in `beliefs` at which the
 * probabilities of its states begin. */
struct belief_bundle {
    double vertices, numbers;
    size_t *places;
    double *beliefs;
};

static int bundle_init(const struct session *s, struct belief_bundle *own, struct hm_err *err)
{
    const struct hm_mrf *mrf = s->mrf;

    own->vertices = (double)mrf->count;
    own->numbers = (double)mrf->places[mrf->count];
    own->places = mrf->places;
    own->beliefs = hm__calloc(mrf->places[mrf->count] + 1, sizeof(double));
    if (!own->beliefs)
        return hm__fail_nomem(err);
    hm__propagate_beliefs(hm__bp_propagate(&s->run), own->beliefs);
    return 0;
}

static void bundle_write(FILE *file, const struct belief_bundle *bundle, size_t first)
{
    for (size_t v = 0; v < (size_t)bundle->vertices; v++)
        for (size_t e = bundle->places[v]; e < bundle->places[v + 1]; e++)
            fprintf(file, "%zu,%zu,%.9g\n", first + v, e - bundle->places[v], bundle->beliefs[e]);
}

/*
 * Receives, on rank 0, the beliefs of every other rank in turn, even if the file cannot be written.
 */
static int bundle_receive_all(const struct session *s, FILE *file, struct hm_err *err)
{
    int rc = 0;

    for (int from = 1; from < s->comm->size; from++) {
        struct belief_bundle bundle;
        double ready;
        hm__comm_receive(s->comm, from, &bundle.vertices, sizeof(double));
        hm__comm_receive(s->comm, from, &bundle.numbers, sizeof(double));
        bundle.places = hm__calloc((size_t)bundle.vertices + 1, sizeof(size_t));
        bundle.beliefs = hm__calloc((size_t)bundle.numbers + 1, sizeof(double));
        ready = bundle.places && bundle.beliefs && file;
        hm__comm_send(s->comm, from, &ready, sizeof(ready));
        if (ready > 0) {
            hm__comm_receive(s->comm, from, bundle.places,
                             ((size_t)bundle.vertices + 1) * sizeof(size_t));
            hm__comm_receive(s->comm, from, bundle.beliefs,
                             ((size_t)bundle.numbers + 1) * sizeof(double));
            bundle_write(file, &bundle, hm__mrf_block(s->mrf->vertices, from, s->comm->size));
        } else if (rc == 0 && file)
            rc = hm__fail_nomem(err);
        hm__free(bundle.places);
        hm__free(bundle.beliefs);
    }
    return rc;
}

static void bundle_send(const struct session *s, const struct belief_bundle *own)
{
    double ready;

    hm__comm_send(s->comm, 0, &own->vertices, sizeof(double));
    hm__comm_send(s->comm, 0, &own->numbers, sizeof(double));
    hm__comm_receive(s->comm, 0, &ready, sizeof(ready));
    if (ready > 0) {
        hm__comm_send(s->comm, 0, own->places, ((size_t)own->vertices + 1) * sizeof(size_t));
        hm__comm_send(s->comm, 0, own->beliefs, ((size_t)own->numbers + 1) * sizeof(double));
    }
}

/*
 * Writes the file on rank 0. An older file stays as it is until the new one is complete. Returns 0,
 * a negative error code, or EXIT_USAGE with a message.
 */
static int beliefs_write(const struct session *s, const struct belief_bundle *own,
                         struct hm_err *err)
{
    struct cli_draft draft;
    int rc = cli_draft_open(&draft, s->options->beliefs);

    if (draft.file) {
        fputs("vertex,state,belief\n", draft.file);
        bundle_write(draft.file, own, 0);
    }
    int got = bundle_receive_all(s, draft.file, err);
    if (draft.file && got == 0)
        rc = cli_draft_keep(&draft);
    else
        cli_draft_drop(&draft);
    return got ? got : rc;
}

int session_write_beliefs(const struct session *s, struct hm_err *err)
{
    struct belief_bundle own = {0};
    int rc = hm__agree(s->comm, bundle_init(s, &own, err), err);

    if (rc == 0 && s->comm->rank == 0)
        rc = beliefs_write(s, &own, err);
    else if (rc == 0)
        bundle_send(s, &own);
    hm__free(own.beliefs);
    return hm__agree(s->comm, rc, err);
}
