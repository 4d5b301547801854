/*
 * Creates jobs that train transformers in memory: the sizes come from the caller or from the
 * catalog, and the defaults are the same as for jobs that are read from files.
 */
#include <math.h>
#include <string.h>

#include "checks.h"
#include "err.h"
#include "howmany_layouts.h"
#include "read_large_job.h"
#include "read_large_keys.h"

int hm_catalog_transformer(const struct hm_catalog *catalog, const char *name,
                           struct hm_transformer *ret_network, struct hm_err *err)
{
    int rc =
        hm__check_pointers(err, "catalog", catalog, "name", name, "ret_network", ret_network, NULL);

    if (rc)
        return rc;
    const struct hm_value *entry = hm__catalog_find(catalog, HM_CATALOG_NETWORK, name);
    if (!entry)
        return hm__catalog_unknown(catalog, HM_CATALOG_NETWORK, name, err);
    const struct hm_value *kind = hm__value_get(entry, "kind");
    if (!kind || kind->kind != HM_VALUE_SCALAR || strcmp(kind->text, "transformer") != 0) {
        hm__fail(err, HM_E_CONFLICT, "'%.80s' is not a transformer", name);
        hm__err_hint(err, "hm_job_set_network takes other networks");
        hm__err_field(err, "name");
        return HM_E_CONFLICT;
    }
    struct hm_reader reader = {.catalog = catalog, .err = err, .arena = hm__arena_new()};
    struct hm_transformer network;
    rc = reader.arena ? 0 : hm__fail_nomem(err);
    if (rc == 0) {
        hm_transformer_init(&network);
        hm__reader_enter(&reader, "network");
        rc = hm__read_transformer(&reader, entry, &network);
    }
    hm__reader_release(&reader);
    hm__arena_free(reader.arena);
    for (size_t i = 0; rc == 0 && i < hm_catalog_count(catalog, HM_CATALOG_NETWORK); i++) {
        const char *known = hm_catalog_name(catalog, HM_CATALOG_NETWORK, i);
        if (strcmp(known, name) == 0)
            network.name = known;
    }
    if (rc == 0)
        *ret_network = network;
    return rc;
}

/* Returns a degree of parallelism; NaN if it is 0 or NaN, that is, not given. */
static double given_degree(double degree)
{
    return degree > 0 || degree < 0 ? degree : NAN;
}

static void set_layout(struct hm_large_keys *keys, const struct hm_layout *given)
{
    struct hm_layout *l = &keys->job.layout;

    l->tensor = given_degree(given->tensor);
    l->pipeline = given_degree(given->pipeline);
    l->interleave = given_degree(given->interleave);
    l->context = given_degree(given->context);
    l->expert = given_degree(given->expert);
    l->data = given_degree(given->data);
    l->micro_batch = given_degree(given->micro_batch);
    l->zero = given->zero;
    l->recompute = given->recompute;
    l->offload = given->offload;
    l->sequence_parallel = given->sequence_parallel;
    l->shard_in_node = given->shard_in_node;
    keys->job.sequence_parallel_given = true;
    keys->job.shard_given = true;
}

static int check_work(const struct hm_transformer_work *w, struct hm_err *err)
{
    int rc = hm__check_whole("sequence", w->sequence, 1, 1e9, err);

    if (rc == 0)
        rc = hm__check_whole("batch", w->batch, 1, 1e9, err);
    if (rc == 0 && hm__is_given(w->tokens))
        rc = hm__check_range("tokens", w->tokens, 1, 1e18, err);
    if (rc == 0 && hm__is_given(w->trained))
        rc = hm__check_above("trained", w->trained, 0, 1, err);
    if (rc == 0)
        rc = hm__check_enum("precision", (int)w->precision, HM_NUMBER_FORMATS, err);
    if (rc == 0)
        rc = hm__check_enum("software", (int)w->software, HM_SOFTWARE_COUNT, err);
    if (rc == 0 && w->layout)
        rc = hm__check_enum("recompute", (int)w->layout->recompute, HM_RECOMPUTES, err);
    if (rc == 0 && w->layout)
        rc = hm__check_enum("offload", (int)w->layout->offload, HM_OFFLOADS, err);
    return rc;
}

/* Fails if a job that trains a transformer also describes other computation. */
static int check_alone(const struct hm_job *job, struct hm_err *err)
{
    if (!job->compute && !job->network && !job->graph && job->communicate_count == 0)
        return 0;
    hm__fail(err, HM_E_CONFLICT, "the job already has a network, a graph, or formulas");
    hm__err_hint(err, "set the transformer of a new job");
    hm__err_field(err, "job");
    return HM_E_CONFLICT;
}

int hm_job_set_transformer(struct hm_job *job, const struct hm_transformer *network,
                           const struct hm_transformer_work *work, struct hm_err *err)
{
    struct hm_large_keys keys;
    int rc = hm__check_pointers(err, "job", job, "job->memory", job ? job->memory : NULL, "network",
                                network, "work", work, NULL);

    if (rc == 0)
        rc = check_alone(job, err);
    if (rc == 0)
        rc = check_work(work, err);
    if (rc)
        return rc;
    hm__large_keys_init(&keys);
    keys.job.network = *network;
    hm__transformer_complete(&keys.job.network);
    rc = hm__transformer_check(&keys.job.network, err);
    if (rc)
        return rc;
    keys.precision = (int)work->precision;
    keys.software = (int)work->software;
    keys.job.work.sequence = work->sequence;
    keys.job.work.batch = work->batch;
    keys.job.work.trained = hm__is_given(work->trained) ? work->trained : 1;
    keys.job.tokens = hm__is_given(work->tokens) ? work->tokens : NAN;
    hm__large_keys_finish(&keys);
    if (work->layout)
        set_layout(&keys, work->layout);
    struct hm_large_job *large = hm__arena_alloc(job->memory, 1, sizeof(*large));
    const char *name = network->name ? hm__arena_strdup(job->memory, network->name) : NULL;
    if (!large || (network->name && !name))
        return hm__fail_nomem(err);
    *large = keys.job;
    large->network.name = name;
    large->work.network = &large->network;
    job->large = large;
    return 0;
}
