/*
 * Implements the driver and its workers. They send each other commands. A command consists of a
 * header followed by the weights w; all commands have the same length.
 */
#include "driver.h"

#include <math.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "schemes.h"

enum driver_command_kind {
    COMMAND_SHUTDOWN,
    COMMAND_START,
    COMMAND_ITERATE,
    COMMAND_GRADIENT,
    COMMAND_DONE
};

struct driver_command {
    double kind;
    /*
     * In GRADIENT commands: current iteration. In START and DONE commands: number of iterations
     * finished. In ITERATE commands: number of iterations to perform.
     */
    double iteration;
    /*
     * In DONE commands: 1 if the algorithm has converged. In ITERATE commands: 1 if the driver must
     * return its state.
     */
    double settled;
    double samples; /* In START and DONE commands: number of rows processed so far. */
    /* In DONE commands: what the driver measured during these iterations. */
    double seconds, compute_s, bytes, flop;
    double values[]; /* In GRADIENT and DONE commands: the weights w. */
};

/* Settings that worker 0 sends to the driver at the start. */
struct driver_start {
    double unknowns, total_rows, lambda, curvature, step;
    double iteration, samples;
};

struct driver_state {
    struct hm_comm *world;
    struct driver_command *command;
    size_t command_bytes;
    bool save;
};

static int driver_new_command(struct driver_state *d, struct hm_run *run, struct hm_err *err)
{
    d->command_bytes = sizeof(struct driver_command) + run->objective->unknowns * sizeof(double);
    d->command = hm__arena_alloc(run->arena, 1, d->command_bytes);
    return d->command ? 0 : hm__fail_nomem(err);
}

static int driver_rank(const struct hm_comm *world)
{
    return world->size - 1;
}

/*
 * Sends or receives the weights w and the whole state of the algorithm, between worker 0 and the
 * driver.
 */
static void driver_transfer_state(struct hm_run *run, struct hm_comm *world, bool send)
{
    struct hm_part parts[HM_PARTS + 1];
    int peer = world->rank == 0 ? driver_rank(world) : 0;
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

/* ---- driver --------------------------------------------------------------------------------- */

static void driver_sum_gradients(struct hm_run *run, const double *w)
{
    struct driver_state *d = run->platform_state;
    size_t unknowns = run->objective->unknowns;
    double began = run->comm->ops->now(run->comm);
    double communicate = d->world->communicate_s, flop = d->world->flop;

    *d->command = (struct driver_command){.kind = COMMAND_GRADIENT, .iteration = run->iteration};
    memcpy(d->command->values, w, unknowns * sizeof(double));
    hm__tree_broadcast(d->world, driver_rank(d->world), d->command, d->command_bytes);
    hm__reduce_two_wave_to(d->world, driver_rank(d->world), run->gradient, unknowns + 1,
                           run->scratch);
    /*
     * The additions count as work instead of communication; `world` has already counted them as
     * work.
     */
    run->comm->flop += d->world->flop - flop;
    run->comm->communicate_s +=
        run->comm->ops->now(run->comm) - began + (d->world->communicate_s - communicate);
}

static const struct hm_platform_ops driver_ops = {.name = "driver", .sum = driver_sum_gradients};

static void driver_run_segment(struct hm_run *run, double iterations)
{
    struct driver_state *d = run->platform_state;
    struct hm_comm *comm = run->comm;

    hm__comm_barrier(d->world);
    double began = comm->ops->now(comm), communicate = comm->communicate_s, flop = comm->flop;
    double bytes = d->world->bytes;
    hm__meter_start(&run->meter, d->world);
    for (double done = 0; done < iterations && !run->settled; done++) {
        run->algorithm->step(run);
        run->iteration++;
    }
    double seconds = comm->ops->now(comm) - began;
    *d->command =
        (struct driver_command){.kind = COMMAND_DONE,
                                .iteration = run->iteration,
                                .settled = run->settled,
                                .samples = run->samples,
                                .seconds = seconds,
                                .compute_s = seconds - (comm->communicate_s - communicate),
                                .bytes = d->world->bytes - bytes,
                                .flop = comm->flop - flop};
    hm__meter_stop(&run->meter, d->world, d->command->compute_s);
    memcpy(d->command->values, run->w, run->objective->unknowns * sizeof(double));
    hm__tree_broadcast(d->world, driver_rank(d->world), d->command, d->command_bytes);
    struct hm_usage usage = hm__usage_now(run, d->world);
    hm__comm_send(d->world, 0, &usage, sizeof(usage));
    if (d->save)
        driver_transfer_state(run, d->world, true);
}

static int driver_init(struct hm_run *run, struct hm_objective *o, const struct driver_start *start,
                       const struct hm_loss *loss, struct hm_err *err)
{
    struct driver_state *d = run->platform_state;

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
    return rc ? rc : driver_new_command(d, run, err);
}

static int driver_loop(struct hm_run *run, struct hm_err *err)
{
    struct driver_state *d = run->platform_state;
    struct driver_command command = {0};
    int rc = 0;

    driver_transfer_state(run, d->world, false);
    if (run->iteration > 0 && run->algorithm->resumed)
        rc = run->algorithm->resumed(run, err);
    rc = hm__agree(d->world, rc, err);
    if (rc)
        return rc;
    for (;;) {
        hm__comm_receive(d->world, 0, &command, sizeof(command));
        if (command.kind == COMMAND_SHUTDOWN)
            return 0;
        d->save = command.settled > 0;
        driver_run_segment(run, command.iteration);
    }
}

int hm__driver_run(struct hm_comm *world, const struct hm_algorithm *algorithm,
                   const struct hm_train_settings *settings, const struct hm_loss *loss,
                   struct hm_err *err)
{
    struct hm_comm own = {.ops = world->ops, .state = world->state, .size = 1};
    struct driver_state d = {.world = world};
    struct hm_objective o;
    struct hm_run run = {.algorithm = algorithm,
                         .comm = &own,
                         .objective = &o,
                         .settings = *settings,
                         .platform = &driver_ops,
                         .platform_state = &d,
                         .arena = hm__arena_new()};
    struct driver_command command;
    struct driver_start start;
    int rc = run.arena ? 0 : hm__fail_nomem(err);

    hm__comm_receive(world, 0, &command, sizeof(command));
    if (command.kind == COMMAND_START) {
        hm__comm_receive(world, 0, &start, sizeof(start));
        rc = rc ? rc : driver_init(&run, &o, &start, loss, err);
        rc = hm__agree(world, rc, err);
        rc = rc ? rc : driver_loop(&run, err);
    }
    hm__arena_free(run.arena);
    return rc;
}

/* ---- workers -------------------------------------------------------------------------------- */

static int driver_worker_segment(struct hm_run *run, double iterations,
                                 struct hm_segment *ret_segment, struct hm_err *err)
{
    struct driver_state *d = run->platform_state;
    struct hm_comm *world = d->world;
    size_t unknowns = run->objective->unknowns;
    struct driver_command command = {
        .kind = COMMAND_ITERATE, .iteration = iterations, .settled = d->save};
    double before = run->iteration, samples = run->samples, compute_s = 0;

    (void)err;
    if (world->rank == 0)
        hm__comm_send(world, driver_rank(world), &command, sizeof(command));
    hm__comm_barrier(world);
    double bytes = world->bytes, flop = world->flop + run->comm->flop;
    hm__meter_start(&run->meter, world);
    for (;;) {
        double sent = world->bytes, received = world->received;
        hm__tree_broadcast(world, driver_rank(world), d->command, d->command_bytes);
        if (d->command->kind == COMMAND_DONE) {
            world->bytes = sent;
            world->received = received;
            break;
        }
        hm__comm_set_iteration(run->comm, d->command->iteration);
        double began = world->ops->now(world);
        run->gradient[unknowns] =
            hm__run_part(run, d->command->values, NULL, run->objective->rows.count);
        compute_s += world->ops->now(world) - began;
        hm__reduce_two_wave_to(world, driver_rank(world), run->gradient, unknowns + 1,
                               run->scratch);
    }
    double sums[2] = {world->bytes - bytes, world->flop + run->comm->flop - flop};
    hm__meter_stop(&run->meter, world, compute_s);
    if (world->rank == 0)
        hm__comm_receive(world, driver_rank(world), run->extra_usage, sizeof(*run->extra_usage));
    hm__comm_sum_few(run->comm, sums, 2);
    hm__comm_max_few(run->comm, &compute_s, 1);
    memcpy(run->w, d->command->values, unknowns * sizeof(double));
    if (d->save && world->rank == 0)
        driver_transfer_state(run, world, false);
    run->iteration = d->command->iteration;
    run->samples = d->command->samples;
    run->settled = d->command->settled > 0;
    *ret_segment = (struct hm_segment){
        .iterations = run->iteration - before,
        .samples = run->samples - samples,
        .seconds = d->command->seconds,
        .compute_s = fmin(d->command->seconds, compute_s + d->command->compute_s),
        .bytes = sums[0] + d->command->bytes,
        .flop = sums[1] + d->command->flop,
    };
    return 0;
}

static const struct hm_platform_ops driver_worker_ops = {.name = "driver",
                                                         .run_segment = driver_worker_segment};

int hm__driver_worker_begin(struct hm_run *run, struct hm_comm *world, bool save,
                            struct hm_err *err)
{
    struct driver_state *d = hm__arena_alloc(run->arena, 1, sizeof(*d));
    const struct hm_objective *o = run->objective;
    struct driver_command command = {.kind = COMMAND_START};
    struct driver_start start = {.unknowns = (double)o->unknowns,
                                 .total_rows = o->total_rows,
                                 .lambda = o->lambda,
                                 .curvature = o->curvature,
                                 .step = run->step,
                                 .iteration = run->iteration,
                                 .samples = run->samples};
    int rc = d ? 0 : hm__fail_nomem(err);

    if (d) {
        *d = (struct driver_state){.world = world, .save = save};
        rc = driver_new_command(d, run, err);
        run->extra_usage = hm__arena_alloc(run->arena, 1, sizeof(*run->extra_usage));
        run->extra_count = 1;
        rc = rc || run->extra_usage ? rc : hm__fail_nomem(err);
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc) {
        hm__driver_worker_cancel(world);
        return rc;
    }
    if (world->rank == 0) {
        hm__comm_send(world, driver_rank(world), &command, sizeof(command));
        hm__comm_send(world, driver_rank(world), &start, sizeof(start));
    }
    rc = hm__agree(world, 0, err);
    if (rc)
        return rc;
    if (world->rank == 0)
        driver_transfer_state(run, world, true);
    run->platform_state = d;
    run->platform = &driver_worker_ops;
    return hm__agree(world, 0, err);
}

void hm__driver_worker_cancel(struct hm_comm *world)
{
    struct driver_command command = {.kind = COMMAND_SHUTDOWN};

    if (world->rank == 0)
        hm__comm_send(world, driver_rank(world), &command, sizeof(command));
}

void hm__driver_worker_end(struct hm_run *run)
{
    hm__driver_worker_cancel(((struct driver_state *)run->platform_state)->world);
}
