/*
 * Computes the time of a training step, which consists of the forward pass, the backward pass and
 * the update. The device runs the operations of the layers one after another; the host launches
 * them. The host and the device work at the same time, so a step takes as long as the slower of the
 * two. Gradients are collected in buckets in the order of the backward pass; the all-reduce of a
 * bucket starts when it is full and the previous one has ended (PyTorch's DistributedDataParallel,
 * Li et al. 2020).
 *
 * Times are computed for batches of 2^k and 3*2^k samples and interpolated linearly between them.
 */
#include "step_time.h"

#include <math.h>

#include "allreduce.h"
#include "err.h"
#include "layer_ops.h"
#include "memory.h"

enum { NODES_MAX = 128, STEP_LOOK_BACK = 64 };

static const double WORKSPACE_BYTES = 75e6;
/* Size in bytes of the first bucket, which is smaller than the others in PyTorch. */
static const double FIRST_BUCKET = 1 << 20;

/* A kind of layer: equal layers share one kind, whose times are computed once for each batch. */
struct step_kind {
    const struct hm_count *layer;
    struct hm_layer_place place;
};

struct hm_step_table {
    struct hm_counts *counts; /* Counts of the layers of the network; owned. */
    const struct hm_job *job;
    struct hm_device device;
    struct step_kind *kinds; /* Kinds of layers, kind_count elements; owned. */
    size_t kind_count;
    size_t *kind_of; /* Kind of each layer; owned. */
    int *bucket_of;  /* Bucket of each layer's gradient; owned. */
    size_t bucket_count;
    double bucket_bytes[HM_BUCKETS_MAX];
    double tensors;
    struct hm_layer_step *steps; /* Times of the kinds of layers for one batch; owned. */
    /*
     * Components of the step for each tabulated batch, owned; an entry is NULL until it is first
     * needed.
     */
    struct hm_step_parts *nodes[NODES_MAX];
    struct hm_step_parts between; /* Components of the step for the last interpolated batch. */
    /*
     * Batch of the last evaluation (0 before the first one), and the components of its step, which
     * are in `nodes` or in `between`.
     */
    double last_batch;
    const struct hm_step_parts *last;
    /*
     * Different sizes of buckets, and the index of the size of each bucket. Buckets of equal size
     * take equal times, and most layers of a network have the same size as another layer.
     */
    double sizes[HM_BUCKETS_MAX];
    size_t size_count, size_of[HM_BUCKETS_MAX];
};

static bool place_equal(const struct step_kind *a, const struct hm_count *l,
                        const struct hm_layer_place *p)
{
    const struct hm_shape *x = &a->layer->in, *y = &l->in;
    bool kept = (a->place.next == NULL) == (p->next == NULL) &&
                (!p->next || a->place.next->name == p->next->name);

    return a->layer->layer == l->layer && x->height == y->height && x->width == y->width &&
           x->channels == y->channels && a->place.first == p->first && a->place.last == p->last &&
           kept;
}

/* Finds equal layers; the repetitions of a block refer to the same layer of the network. */
static void table_find_kinds(struct hm_step_table *t)
{
    const struct hm_counts *c = t->counts;
    bool first = true;

    for (size_t i = 0; i < c->layer_count; i++) {
        const struct hm_count *l = &c->layers[i];
        struct hm_layer_place place = {.first = first && l->parameters > 0,
                                       .last = i + 1 == c->layer_count,
                                       .next = i + 1 < c->layer_count ? l + 1 : NULL};
        first = first && l->parameters == 0;
        size_t k = t->kind_count > STEP_LOOK_BACK ? t->kind_count - STEP_LOOK_BACK : 0;
        while (k < t->kind_count && !place_equal(&t->kinds[k], l, &place))
            k++;
        if (k == t->kind_count)
            t->kinds[t->kind_count++] = (struct step_kind){l, place};
        t->kind_of[i] = k;
        t->tensors += hm__layer_tensors(l);
    }
}

/* Assigns the gradients of layers to buckets, from the last layer to the first. */
static void table_fill_buckets(struct hm_step_table *t, double limit)
{
    double weight = t->job->precision / 8;
    double room = limit > 0 ? fmin(limit, FIRST_BUCKET) : 0;

    /* The limit on bytes is raised if there would be more than HM_BUCKETS_MAX buckets. */
    limit = fmax(limit, t->counts->parameters * weight / (HM_BUCKETS_MAX / 2));
    for (size_t i = t->counts->layer_count; i-- > 0;) {
        double bytes = t->counts->layers[i].parameters * weight;
        size_t now = t->bucket_count > 0 ? t->bucket_count - 1 : 0;
        if (t->bucket_count == 0 ||
            (bytes > 0 && t->bucket_bytes[now] > 0 && t->bucket_bytes[now] >= room &&
             t->bucket_count < HM_BUCKETS_MAX)) {
            room = t->bucket_count == 0 ? room : limit;
            now = t->bucket_count++;
        }
        t->bucket_bytes[now] += bytes;
        t->bucket_of[i] = (int)now;
    }
}

/* Lists the different sizes of the buckets that hold gradients. */
static void table_find_sizes(struct hm_step_table *t)
{
    for (size_t k = 0; k < t->bucket_count; k++) {
        size_t i = 0;
        while (i < t->size_count && t->sizes[i] != t->bucket_bytes[k])
            i++;
        if (i == t->size_count)
            t->sizes[t->size_count++] = t->bucket_bytes[k];
        t->size_of[k] = i;
    }
}

int hm__step_table_new(const struct hm_job *job, const struct hm_device *device,
                       double bucket_bytes, struct hm_step_table **ret_table, struct hm_err *err)
{
    struct hm_step_table *t = hm__calloc(1, sizeof(*t));

    if (!t)
        return hm__fail_nomem(err);
    t->job = job;
    t->device = *device;
    int rc = hm_counts_new(job->network, job->source, &t->counts, err);
    if (rc) {
        hm__free(t);
        return rc;
    }
    const struct hm_counts *counts = t->counts;
    t->kinds = hm__calloc(counts->layer_count, sizeof(*t->kinds));
    t->kind_of = hm__calloc(counts->layer_count, sizeof(*t->kind_of));
    t->bucket_of = hm__calloc(counts->layer_count, sizeof(*t->bucket_of));
    t->steps = hm__calloc(counts->layer_count, sizeof(*t->steps));
    if (!t->kinds || !t->kind_of || !t->bucket_of || !t->steps) {
        hm__step_table_free(t);
        return hm__fail_nomem(err);
    }
    table_find_kinds(t);
    table_fill_buckets(t, bucket_bytes);
    table_find_sizes(t);
    *ret_table = t;
    return 0;
}

void hm__step_table_free(struct hm_step_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < NODES_MAX; i++)
        hm__free(t->nodes[i]);
    hm__free(t->kinds);
    hm__free(t->kind_of);
    hm__free(t->bucket_of);
    hm__free(t->steps);
    hm_counts_free(t->counts);
    hm__free(t);
}

const struct hm_device *hm__step_table_device(const struct hm_step_table *t)
{
    return &t->device;
}

const struct hm_counts *hm__step_table_counts(const struct hm_step_table *t)
{
    return t->counts;
}

/* Returns the peak memory for b samples: weights, the optimizer's state, workspaces of libraries,
 * the input, converted weights, and values that operations keep. Gradients of the last layers exist
 * before the values of the first layers are freed, so part of the gradients is included. */
static double table_memory(const struct hm_step_table *t, double b, double kept)
{
    const struct hm_shape *in = &t->job->network->input;
    double weight = t->job->precision / 8, p = t->counts->parameters;
    double states = t->job->optimizer == HM_OPTIMIZER_ADAM       ? 2
                    : t->job->optimizer == HM_OPTIMIZER_MOMENTUM ? 1
                                                                 : 0;
    double narrow = t->device.value_bytes < weight ? t->device.value_bytes : 0;
    double input = b * fmax(in->height, 1) * fmax(in->width, 1) * in->channels * (4 + narrow);
    double held = input + kept;

    return p * weight * (1 + states) + WORKSPACE_BYTES + narrow * p +
           fmax(weight * p, held + 0.6 * weight * p);
}

/* Computes the components of a step for b samples. */
static void table_compute(struct hm_step_table *t, double b, struct hm_step_parts *parts)
{
    struct hm_layer_step sum = {0};
    size_t count = t->counts->layer_count;

    for (size_t k = 0; k < t->kind_count; k++)
        t->steps[k] = hm__layer_ops(&t->device, t->kinds[k].layer, &t->kinds[k].place, b);
    for (size_t i = 0; i < count; i++) {
        const struct hm_layer_step *s = &t->steps[t->kind_of[i]];
        sum.forward_s += s->forward_s;
        sum.backward_s += s->backward_s;
        sum.forward_host_s += s->forward_host_s;
        sum.backward_host_s += s->backward_host_s;
        sum.kept_bytes += s->kept_bytes;
    }
    double update = hm__update_time(&t->device, t->job->optimizer, t->counts->parameters);
    double update_host = hm__update_host_time(&t->device, t->job->optimizer, t->tensors);
    parts->device_s = sum.forward_s + sum.backward_s + update;
    parts->host_s = sum.forward_host_s + sum.backward_host_s + update_host;
    if (t->device.cpu.k) {
        /* The cores run the framework and the operations in turn, so both times add up. */
        for (size_t k = 0; k < t->kind_count; k++)
            t->steps[k].backward_s += t->steps[k].backward_host_s;
        sum.forward_s += sum.forward_host_s;
        sum.backward_s += sum.backward_host_s;
        update += update_host;
        parts->device_s = sum.forward_s + sum.backward_s + update;
        parts->host_s = 0;
    }
    bool hosted = parts->host_s > parts->device_s;
    parts->forward_s = hosted ? sum.forward_host_s : sum.forward_s;
    parts->backward_s = hosted ? sum.backward_host_s : sum.backward_s;
    parts->update_s = hosted ? update_host : update;
    parts->memory_bytes = table_memory(t, b, sum.kept_bytes);
    double now = parts->forward_s;
    for (size_t i = count; i-- > 0;) {
        const struct hm_layer_step *s = &t->steps[t->kind_of[i]];
        now += hosted ? s->backward_host_s : s->backward_s;
        parts->ready_s[t->bucket_of[i]] = now;
    }
}

/* Returns the batch of entry i of the table: 1, 1.5, 2, 3, 4, 6, 8, ... */
static double node_batch(size_t i)
{
    return ldexp(i % 2 ? 1.5 : 1, (int)(i / 2));
}

static size_t node_below(double b)
{
    int exponent;
    /* b = fraction * 2^exponent, where the fraction is in [0.5, 1). */
    double fraction = frexp(b, &exponent);

    size_t i = 2 * (size_t)(exponent - 1) + (fraction >= 0.75 ? 1 : 0);
    return i < NODES_MAX - 2 ? i : NODES_MAX - 2;
}

static const struct hm_step_parts *table_node(struct hm_step_table *t, size_t i)
{
    if (!t->nodes[i]) {
        t->nodes[i] = hm__calloc(1, sizeof(*t->nodes[i]));
        if (t->nodes[i])
            table_compute(t, node_batch(i), t->nodes[i]);
    }
    return t->nodes[i];
}

/*
 * Interpolates the components of a step between the entries p and q of the table, at the fraction x
 * of the distance to q.
 */
static void table_interpolate(struct hm_step_table *t, const struct hm_step_parts *p,
                              const struct hm_step_parts *q, double x)
{
    struct hm_step_parts *ret = &t->between;

    ret->forward_s = p->forward_s + x * (q->forward_s - p->forward_s);
    ret->backward_s = p->backward_s + x * (q->backward_s - p->backward_s);
    ret->update_s = p->update_s + x * (q->update_s - p->update_s);
    ret->host_s = p->host_s + x * (q->host_s - p->host_s);
    ret->device_s = p->device_s + x * (q->device_s - p->device_s);
    ret->memory_bytes = p->memory_bytes + x * (q->memory_bytes - p->memory_bytes);
    for (size_t k = 0; k < t->bucket_count; k++)
        ret->ready_s[k] = p->ready_s[k] + x * (q->ready_s[k] - p->ready_s[k]);
}

int hm__step_table_eval(struct hm_step_table *t, double b, const struct hm_step_parts **ret_parts,
                        struct hm_err *err)
{
    double at = fmax(b, 1);

    if (at != t->last_batch) {
        size_t i = node_below(at);
        double low = node_batch(i), x = (at - low) / (node_batch(i + 1) - low);
        const struct hm_step_parts *p = table_node(t, i), *q = x > 0 ? table_node(t, i + 1) : p;
        if (!p || !q)
            return hm__fail_nomem(err);
        if (x > 0)
            table_interpolate(t, p, q, x);
        t->last = x > 0 ? &t->between : p;
        t->last_batch = at;
    }
    *ret_parts = t->last;
    return 0;
}

/*
 * Prepares an all-reduce. CPUs use MPI or similar libraries, which have no pipeline of large chunks
 * between nodes and no second protocol inside a node.
 */
static struct hm_allreduce table_allreduce(const struct hm_step_table *t, enum hm_scheme scheme,
                                           double n, const struct hm_wires *wires)
{
    if (!t->device.cpu.k)
        return hm__allreduce_init(scheme, n, wires, t->device.k);
    struct hm_constants plain = *t->device.k;
    plain.coll_chunk = plain.coll_net = plain.coll_simple = 0;
    return hm__allreduce_init(scheme, n, wires, &plain);
}

struct hm_step_sent hm__step_table_send(const struct hm_step_table *t,
                                        const struct hm_step_parts *parts, double n, double speed,
                                        double factor, enum hm_scheme scheme,
                                        const struct hm_wires *wires)
{
    const struct hm_allreduce allreduce = table_allreduce(t, scheme, n, wires);
    struct hm_step_sent sent = {.scheme = allreduce.scheme};
    double latency[HM_BUCKETS_MAX], bandwidth[HM_BUCKETS_MAX], both[HM_BUCKETS_MAX];

    for (size_t i = 0; i < t->size_count; i++) {
        struct hm_wire_time time = hm__allreduce_time(&allreduce, t->sizes[i]);
        latency[i] = factor * time.latency_s;
        bandwidth[i] = factor * time.bandwidth_s;
        both[i] = factor * (time.latency_s + time.bandwidth_s);
    }
    for (size_t k = 0; k < t->bucket_count; k++) {
        if (t->bucket_bytes[k] == 0)
            continue;
        const size_t size = t->size_of[k];
        const double ready = parts->ready_s[k] / speed;
        sent.latency_s += latency[size];
        sent.bandwidth_s += bandwidth[size];
        sent.end_s = (ready > sent.end_s ? ready : sent.end_s) + both[size];
    }
    return sent;
}
