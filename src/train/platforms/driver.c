/* The driver and its workers. An order is a head and w; all orders have the same length. */
#include "driver.h"

#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "schemes.h"

enum order_kind { ORDER_BYE, ORDER_START, ORDER_STRETCH, ORDER_SUM, ORDER_DONE };

struct order {
    double kind;
    double iteration; /* SUM: that it is for; START, DONE: finished ones; STRETCH: how many more */
    double settled;   /* DONE */
    double samples;   /* START, DONE */
    double seconds, compute_s, bytes, flop; /* DONE: of the driver in this stretch */
    double values[];                        /* SUM, DONE: w */
};

/* What the driver is told at the start. */
struct start {
    double unknowns, total_rows, lambda, curvature, step;
    double iteration, samples;
};

struct driving {
    struct hm_comm *world;
    struct order *order;
    size_t order_bytes;
    bool save;
};

static int make_order(struct driving *d, struct hm_run *run, struct hm_err *err)
{
    d->order_bytes = sizeof(struct order) + run->objective->unknowns * sizeof(double);
    d->order = hm__arena_alloc(run->arena, 1, d->order_bytes);
    return d->order ? 0 : hm__fail_nomem(err);
}

static int driver_of(const struct hm_comm *world)
{
    return world->size - 1;
}

/* All of w and the state, from worker 0 to the driver or back. */
static void exchange_state(struct hm_run *run, struct hm_comm *world, bool send)
{
    struct hm_part parts[HM_PARTS + 1];
    int peer = world->rank == 0 ? driver_of(world) : 0;
    size_t count = 1;

    parts[0] = (struct hm_part){"w", run->w, run->objective->unknowns, false};
    if (run->algorithm->parts)
        count += run->algorithm->parts(run, parts + 1);
    for (size_t i = 0; i < count; i++) {
        size_t bytes = parts[i].count * sizeof(double);
        if (send)
            hm__comm_send(world, peer, parts[i].values, bytes);
        else
            hm__comm_receive(world, peer, parts[i].values, bytes);
    }
}

/* ---- the driver ----------------------------------------------------------------------------- */

static void sum_over_workers(struct hm_run *run, const double *w)
{
    struct driving *d = run->place;
    size_t unknowns = run->objective->unknowns;
    double began = run->comm->ops->now(run->comm);
    double talking = d->world->talking_s, flop = d->world->flop;

    *d->order = (struct order){.kind = ORDER_SUM, .iteration = run->iteration};
    memcpy(d->order->values, w, unknowns * sizeof(double));
    hm__tree_broadcast(d->world, driver_of(d->world), d->order, d->order_bytes);
    hm__two_waves_to(d->world, driver_of(d->world), run->gradient, unknowns + 1, run->scratch);
    /* Adding up is work, and not talking: the world has counted it. */
    run->comm->flop += d->world->flop - flop;
    run->comm->talking_s +=
        run->comm->ops->now(run->comm) - began + (d->world->talking_s - talking);
}

static const struct hm_division at_driver = {.name = "driver", .sum = sum_over_workers};

static void drive_stretch(struct hm_run *run, double iterations)
{
    struct driving *d = run->place;
    struct hm_comm *comm = run->comm;

    hm__comm_align(d->world);
    double began = comm->ops->now(comm), talking = comm->talking_s, flop = comm->flop;
    double bytes = d->world->bytes;
    hm__meter_start(&run->meter, d->world);
    for (double done = 0; done < iterations && !run->settled; done++) {
        run->algorithm->step(run);
        run->iteration++;
    }
    double seconds = comm->ops->now(comm) - began;
    *d->order = (struct order){.kind = ORDER_DONE,
                               .iteration = run->iteration,
                               .settled = run->settled,
                               .samples = run->samples,
                               .seconds = seconds,
                               .compute_s = seconds - (comm->talking_s - talking),
                               .bytes = d->world->bytes - bytes,
                               .flop = comm->flop - flop};
    hm__meter_stop(&run->meter, d->world, d->order->compute_s);
    memcpy(d->order->values, run->w, run->objective->unknowns * sizeof(double));
    hm__tree_broadcast(d->world, driver_of(d->world), d->order, d->order_bytes);
    struct hm_usage usage = hm__usage_now(run, d->world);
    hm__comm_send(d->world, 0, &usage, sizeof(usage));
    if (d->save)
        exchange_state(run, d->world, true);
}

static int make_driver(struct hm_run *run, struct hm_objective *o, const struct start *start,
                       const struct hm_loss *loss, struct hm_err *err)
{
    struct driving *d = run->place;

    *o = (struct hm_objective){.unknowns = (size_t)start->unknowns,
                               .total_rows = start->total_rows,
                               .lambda = start->lambda,
                               .curvature = start->curvature,
                               .loss = loss,
                               .arena = run->arena};
    run->settings.step = start->step;
    int rc = hm__run_begin(run, err);
    run->iteration = start->iteration;
    run->samples = start->samples;
    return rc ? rc : make_order(d, run, err);
}

static int drive(struct hm_run *run, struct hm_err *err)
{
    struct driving *d = run->place;
    struct order word = {0};
    int rc = 0;

    exchange_state(run, d->world, false);
    if (run->iteration > 0 && run->algorithm->resumed)
        rc = run->algorithm->resumed(run, err);
    rc = hm__agree(d->world, rc, err);
    if (rc)
        return rc;
    for (;;) {
        hm__comm_receive(d->world, 0, &word, sizeof(word));
        if (word.kind == ORDER_BYE)
            return 0;
        d->save = word.settled > 0;
        drive_stretch(run, word.iteration);
    }
}

int hm__drive(struct hm_comm *world, const struct hm_algorithm *algorithm,
              const struct hm_train_settings *settings, const struct hm_loss *loss,
              struct hm_err *err)
{
    struct hm_comm own = {.ops = world->ops, .state = world->state, .size = 1};
    struct driving d = {.world = world};
    struct hm_objective o;
    struct hm_run run = {.algorithm = algorithm,
                         .comm = &own,
                         .objective = &o,
                         .settings = *settings,
                         .division = &at_driver,
                         .place = &d,
                         .arena = hm__arena_new()};
    struct order word;
    struct start start;
    int rc = run.arena ? 0 : hm__fail_nomem(err);

    hm__comm_receive(world, 0, &word, sizeof(word));
    if (word.kind == ORDER_START) {
        hm__comm_receive(world, 0, &start, sizeof(start));
        rc = rc ? rc : make_driver(&run, &o, &start, loss, err);
        rc = hm__agree(world, rc, err);
        rc = rc ? rc : drive(&run, err);
    }
    hm__arena_free(run.arena);
    return rc;
}

/* ---- its workers ---------------------------------------------------------------------------- */

static int stretch(struct hm_run *run, double iterations, struct hm_stretch *ret_stretch,
                   struct hm_err *err)
{
    struct driving *d = run->place;
    struct hm_comm *world = d->world;
    size_t unknowns = run->objective->unknowns;
    struct order word = {.kind = ORDER_STRETCH, .iteration = iterations, .settled = d->save};
    double before = run->iteration, samples = run->samples, compute_s = 0;

    (void)err;
    if (world->rank == 0)
        hm__comm_send(world, driver_of(world), &word, sizeof(word));
    hm__comm_align(world);
    double bytes = world->bytes, flop = world->flop + run->comm->flop;
    hm__meter_start(&run->meter, world);
    for (;;) {
        double sent = world->bytes, received = world->received;
        hm__tree_broadcast(world, driver_of(world), d->order, d->order_bytes);
        if (d->order->kind == ORDER_DONE) {
            world->bytes = sent;
            world->received = received;
            break;
        }
        hm__comm_iteration(run->comm, d->order->iteration);
        double began = world->ops->now(world);
        run->gradient[unknowns] =
            hm__run_part(run, d->order->values, NULL, run->objective->rows.count);
        compute_s += world->ops->now(world) - began;
        hm__two_waves_to(world, driver_of(world), run->gradient, unknowns + 1, run->scratch);
    }
    double sums[2] = {world->bytes - bytes, world->flop + run->comm->flop - flop};
    hm__meter_stop(&run->meter, world, compute_s);
    if (world->rank == 0)
        hm__comm_receive(world, driver_of(world), run->others, sizeof(*run->others));
    hm__comm_sum_few(run->comm, sums, 2);
    hm__comm_max_few(run->comm, &compute_s, 1);
    memcpy(run->w, d->order->values, unknowns * sizeof(double));
    if (d->save && world->rank == 0)
        exchange_state(run, world, false);
    run->iteration = d->order->iteration;
    run->samples = d->order->samples;
    run->settled = d->order->settled > 0;
    *ret_stretch = (struct hm_stretch){
        .iterations = run->iteration - before,
        .samples = run->samples - samples,
        .seconds = d->order->seconds,
        .compute_s = fmin(d->order->seconds, compute_s + d->order->compute_s),
        .bytes = sums[0] + d->order->bytes,
        .flop = sums[1] + d->order->flop,
    };
    return 0;
}

static const struct hm_division with_driver = {.name = "driver", .stretch = stretch};

int hm__driven_begin(struct hm_run *run, struct hm_comm *world, bool save, struct hm_err *err)
{
    struct driving *d = hm__arena_alloc(run->arena, 1, sizeof(*d));
    const struct hm_objective *o = run->objective;
    struct order word = {.kind = ORDER_START};
    struct start start = {.unknowns = (double)o->unknowns,
                          .total_rows = o->total_rows,
                          .lambda = o->lambda,
                          .curvature = o->curvature,
                          .step = run->step,
                          .iteration = run->iteration,
                          .samples = run->samples};
    int rc = d ? 0 : hm__fail_nomem(err);

    if (d) {
        *d = (struct driving){.world = world, .save = save};
        rc = make_order(d, run, err);
        run->others = hm__arena_alloc(run->arena, 1, sizeof(*run->others));
        run->other_count = 1;
        rc = rc || run->others ? rc : hm__fail_nomem(err);
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc) {
        hm__driven_cancel(world);
        return rc;
    }
    if (world->rank == 0) {
        hm__comm_send(world, driver_of(world), &word, sizeof(word));
        hm__comm_send(world, driver_of(world), &start, sizeof(start));
    }
    rc = hm__agree(world, 0, err);
    if (rc)
        return rc;
    if (world->rank == 0)
        exchange_state(run, world, true);
    run->place = d;
    run->division = &with_driver;
    return hm__agree(world, 0, err);
}

void hm__driven_cancel(struct hm_comm *world)
{
    struct order word = {.kind = ORDER_BYE};

    if (world->rank == 0)
        hm__comm_send(world, driver_of(world), &word, sizeof(word));
}

void hm__driven_end(struct hm_run *run)
{
    hm__driven_cancel(((struct driving *)run->place)->world);
}
