/* Implements layouts of large networks: names, checks, and a description as text; see layout.h. */
#include "layout.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "err.h"

const char *const hm__recompute_names[] = {
    "none", "selective", "selective-op", "selective-layer", "norm+act", "full", NULL};
const char *const hm__offload_names[] = {"none", "optimizer", "all", NULL};
const char *const hm__attention_names[] = {"unfused", "flash-triton", "flash2", "flash3", NULL};
const char *const hm__number_format_names[] = {"bf16", "fp16", "fp8", "mxfp8", "nvfp4", NULL};

double hm__layout_workers(const struct hm_layout *x)
{
    return x->tensor * x->pipeline * x->context * x->data;
}

double hm__layout_micro_batches(const struct hm_layout *x, double batch)
{
    return ceil(batch / (x->data * x->micro_batch));
}

/*
 * Fails with an error that says that a degree of parallelism is not possible for the network or the
 * batch.
 */
static int layout_fail(const char *field, double value, struct hm_err *err, const char *reason,
                       double other, const char *hint)
{
    hm__fail(err, HM_E_CONFLICT, "%.10g %s %.10g", value, reason, other);
    hm__err_hint(err, "%s", hint);
    hm__err_field(err, field);
    return HM_E_CONFLICT;
}

static int check_degrees(const struct hm_layout *x, struct hm_err *err)
{
    const struct {
        const char *name;
        double value, min, max;
    } degrees[] = {
        {"tensor", x->tensor, 1, 1e5},           {"pipeline", x->pipeline, 1, 1e5},
        {"interleave", x->interleave, 1, 1e4},   {"context", x->context, 1, 1e5},
        {"expert", x->expert, 1, 1e5},           {"data", x->data, 1, 1e7},
        {"micro_batch", x->micro_batch, 1, 1e9}, {"zero", x->zero, 0, 3},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(degrees) / sizeof(degrees[0]); i++)
        rc =
            hm__check_whole(degrees[i].name, degrees[i].value, degrees[i].min, degrees[i].max, err);
    return rc;
}

/* Returns the largest number that divides `whole` and is at most `most`. */
static double divisor_at_most(double whole, double most)
{
    double value = fmin(most, 1e4);

    while (value > 1 && fmod(whole, value) != 0)
        value--;
    return value;
}

/* Checks that the copies of the model share the sequences of a batch evenly. */
static int check_batch(const struct hm_layout *x, double batch, struct hm_err *err)
{
    if (x->data * x->micro_batch > batch)
        return layout_fail("data", x->data, err,
                           "times micro_batch is more than the sequences of a batch, which is",
                           batch, "use fewer workers, a smaller micro_batch or a larger batch");
    if (fmod(batch, x->data) != 0) {
        layout_fail("data", x->data, err, "does not divide the sequences of a batch, which is",
                    batch, "");
        hm__err_hint(err, "use data %.10g, or a batch of %.10g or %.10g",
                     divisor_at_most(batch, x->data), x->data * floor(batch / x->data),
                     x->data * ceil(batch / x->data));
        return HM_E_CONFLICT;
    }
    if (fmod(batch / x->data, x->micro_batch) != 0) {
        layout_fail("micro_batch", x->micro_batch, err,
                    x->data > 1 ? "does not divide the sequences of one copy of the model, which is"
                                : "does not divide the sequences of a batch, which is",
                    batch / x->data, "");
        hm__err_hint(err, "use micro_batch %.10g, or a batch that is a multiple of %.10g",
                     divisor_at_most(batch / x->data, x->micro_batch), x->data * x->micro_batch);
        return HM_E_CONFLICT;
    }
    return 0;
}

double hm__layout_missing(double layers, double chunks)
{
    return ceil(layers / chunks) * chunks - layers;
}

double hm__layout_chunk_layers(const struct hm_layout *layout, double layers, double index)
{
    const double chunks = layout->pipeline * layout->interleave, most = ceil(layers / chunks);
    const double missing = hm__layout_missing(layers, chunks);
    const bool weighed = missing == 2 || (missing <= HM_LAYERS_WEIGHED && layout->interleave > 1);

    if (!weighed)
        return fmax(0, fmin(most, layers - index * most));
    const double short_at_end = missing > 1 ? missing - 1 : missing;
    return most - (index >= chunks - short_at_end || (index == 0 && missing > 1) ? 1 : 0);
}

int hm__layout_check(const struct hm_layout *x, const struct hm_large_work *work,
                     struct hm_err *err)
{
    const struct hm_transformer *net = work->network;
    int rc = check_degrees(x, err);

    if (rc)
        return rc;
    if (x->tensor > net->heads)
        return layout_fail("tensor", x->tensor, err, "is more than heads, which is", net->heads,
                           "tensor parallelism splits heads: use a divisor of heads");
    if (fmod(net->heads, x->tensor) != 0)
        return layout_fail("tensor", x->tensor, err, "does not divide heads, which is", net->heads,
                           "use a divisor of heads");
    if (x->pipeline > net->layers)
        return layout_fail("pipeline", x->pipeline, err, "is more than layers, which is",
                           net->layers, "a stage needs at least one layer");
    if (x->interleave > 1 && x->pipeline == 1)
        return layout_fail("interleave", x->interleave, err,
                           "needs a pipeline of several stages, but pipeline is", x->pipeline,
                           "give pipeline more than 1, or leave interleave out");
    if (x->interleave > 1 && x->pipeline * x->interleave > net->layers + 2)
        return layout_fail("interleave", x->interleave, err,
                           "times pipeline is more than layers, which is", net->layers,
                           "a chunk needs at least one layer");
    if (x->interleave > 1 && !work->weigh_head &&
        hm__layout_missing(net->layers, x->pipeline * x->interleave) > HM_LAYERS_WEIGHED)
        return layout_fail("interleave", x->interleave, err,
                           "times pipeline does not divide layers, which is", net->layers,
                           "use chunks of equal size, or details: {weigh_head: true}");
    if (fmod(work->sequence, x->context) != 0)
        return layout_fail("context", x->context, err, "does not divide sequence, which is",
                           work->sequence, "use a divisor of sequence");
    if (x->expert > 1 && net->experts == 0)
        return layout_fail("expert", x->expert, err, "needs experts, but the network has",
                           net->experts, "leave expert out for a dense network");
    if (x->expert > 1 && fmod(net->experts, x->expert) != 0)
        return layout_fail("expert", x->expert, err, "does not divide experts, which is",
                           net->experts, "use a divisor of experts");
    return check_batch(x, work->batch, err);
}

void hm_layout_text(const struct hm_layout *x, char *text, size_t room)
{
    const struct {
        const char *name;
        double value;
        bool always;
    } parts[] = {{"tp", x->tensor, false},      {"pp", x->pipeline, false},
                 {"vpp", x->interleave, false}, {"cp", x->context, false},
                 {"ep", x->expert, false},      {"dp", x->data, true},
                 {"mb", x->micro_batch, true},  {"zero", x->zero + 1e-9, x->zero > 0}};
    size_t used = 0;

    if (room > 0)
        text[0] = '\0';
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && used < room; i++)
        if (parts[i].always || parts[i].value > 1.5)
            used += (size_t)snprintf(text + used, room - used, "%s%s %.0f", used ? " " : "",
                                     parts[i].name, parts[i].value);
    if (x->shard_in_node && used < room)
        used += (size_t)snprintf(text + used, room - used, " in-node");
    if (x->recompute != HM_RECOMPUTE_NONE && used < room)
        used += (size_t)snprintf(text + used, room - used, " recompute %s",
                                 hm__recompute_names[x->recompute]);
    if (x->offload != HM_OFFLOAD_NONE && used < room)
        snprintf(text + used, room - used, " offload %s", hm__offload_names[x->offload]);
}
