/*
 * A server rank: a piece of w, and letters from workers until all have said goodbye. One thread:
 * it waits for whichever letter comes next, with a receive open to each worker, and its answers go
 * out while it reads on.
 */
#include "server.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "agree.h"
#include "err.h"
#include "messages.h"
#include "schemes.h"

/* A letter in our hands; its room is used again. */
struct paper {
    struct paper *next;
    int from;
    struct hm_letter letter; /* its values follow */
};

struct worker {
    double clock;          /* clocks it has finished */
    bool waits;            /* for w */
    bool told;             /* to look, since we stood still */
    bool sent_back;        /* its letter, since we stood still: it came too late */
    bool late;             /* and told so: its step was made without it */
    struct paper *ink;     /* the letter that a receive is open for */
    struct paper *out;     /* the one that is on its way to it */
    struct paper *due;     /* its gradient for the step that is being made */
    struct hm_letter word; /* to look, late, or goodbye */
};

struct server {
    struct hm_comm *world;
    const struct hm_serving *serving;
    struct hm_objective objective; /* no rows; as many unknowns as our piece has */
    struct hm_comm own;            /* alone, with the world's clock */
    struct hm_run run;
    struct hm_arena *arena;
    struct worker *workers;
    void **requests;                /* [3 workers]: letters from them, w to them, word to look */
    struct paper *blank;            /* free ones */
    struct paper *late, **late_end; /* gradients that nobody waits for, while we stand still */
    double rows;                    /* of an iteration */
    double here;                    /* workers whose gradient for this step is here */
    double parts;                   /* of steps: gradients that were used one by one */
    double target;                  /* iteration to stand still after */
    bool still;
    int gone;
    double began_s, stood_s, idle_s; /* idle: stood still so far */
    struct {
        double bytes, flop, through, talking_s; /* when we last went on */
    } mark;
    double went_s;
    double through; /* bytes both ways */
    struct hm_serving_shown sums;
};

static bool staged(const struct server *s)
{
    return hm__serving_staged(s->serving);
}

static size_t letter_bytes(const struct server *s)
{
    return HM_LETTER_HEAD + s->objective.unknowns * sizeof(double);
}

static struct paper *new_paper(struct server *s)
{
    struct paper *paper = s->blank;

    if (paper) {
        s->blank = paper->next;
        return paper;
    }
    paper = hm__arena_alloc(s->arena, 1, offsetof(struct paper, letter) + letter_bytes(s));
    if (!paper)
        s->world->ops->fail(s->world, "a server is out of memory");
    return paper;
}

static void put_back(struct server *s, struct paper *paper)
{
    paper->next = s->blank;
    s->blank = paper;
}

/* ---- letters -------------------------------------------------------------------------------- */

static void open_receive(struct server *s, int from)
{
    struct worker *w = &s->workers[from];

    w->ink = new_paper(s);
    w->ink->from = from;
    hm__comm_start_receive(s->world, from, &w->ink->letter, letter_bytes(s), &s->requests[from]);
}

static double slowest(const struct server *s)
{
    double least = INFINITY;

    for (int i = 0; i < s->serving->workers; i++)
        least = fmin(least, s->workers[i].clock);
    return least;
}

/* w as it is now, on a paper of its own: w may change while it is on its way. */
static void send_w(struct server *s, int to)
{
    struct worker *w = &s->workers[to];
    size_t place = (size_t)(s->serving->workers + to);

    if (s->requests[place]) /* it has arrived, else there would be no new letter */
        hm__comm_wait_all(s->world, &s->requests[place], 1);
    if (w->out)
        put_back(s, w->out);
    w->out = new_paper(s);
    w->out->letter =
        (struct hm_letter){.kind = HM_LETTER_W, .clock = staged(s) ? s->run.iteration : slowest(s)};
    memcpy(w->out->letter.values, s->run.w, s->objective.unknowns * sizeof(double));
    w->waits = w->late = false;
    if (!staged(s))
        s->sums.lead = fmax(s->sums.lead, w->clock - slowest(s));
    s->through += (double)letter_bytes(s);
    hm__comm_start_send(s->world, to, &w->out->letter, letter_bytes(s), &s->requests[place]);
}

/* A letter without w. The last one has arrived: its reader waits for it, or listens all the time.
 */
static void send_word(struct server *s, int to, enum hm_letter_kind kind)
{
    struct worker *w = &s->workers[to];
    size_t place = (size_t)(2 * s->serving->workers + to);

    if (s->requests[place])
        hm__comm_wait_all(s->world, &s->requests[place], 1);
    w->word = (struct hm_letter){.kind = kind, .wants = w->sent_back};
    hm__comm_start_send(s->world, to, &w->word, HM_LETTER_HEAD, &s->requests[place]);
}

static void tell_to_look(struct server *s, int to)
{
    if (!s->workers[to].told)
        send_word(s, to, HM_LETTER_LOOK);
    s->workers[to].told = true;
}

static bool may_go_on(const struct server *s, const struct worker *w)
{
    if (staged(s))
        return true;
    if (s->serving->together && w->clock >= s->target)
        return false;
    return s->serving->consistency == HM_CONSISTENCY_ASYNC ||
           w->clock - slowest(s) <= s->serving->staleness;
}

static void answer(struct server *s)
{
    for (int i = 0; i < s->serving->workers; i++)
        if (s->workers[i].waits && may_go_on(s, &s->workers[i]))
            send_w(s, i);
}

static void stand_still(struct server *s)
{
    s->still = true;
    s->stood_s = s->world->ops->now(s->world);
    s->sums.bytes += s->world->bytes - s->mark.bytes;
    s->sums.flop += s->own.flop - s->mark.flop;
    s->sums.through_bytes += s->through - s->mark.through;
    hm__meter_stop(&s->run.meter, s->world,
                   s->stood_s - s->went_s - (s->world->talking_s - s->mark.talking_s));
    for (int i = 0; i < s->serving->workers; i++)
        if (s->workers[i].waits)
            tell_to_look(s, i);
}

/* ---- gradients ------------------------------------------------------------------------------ */

/* The fastest worker is never more than s clocks ahead of the slowest: else we are at fault. */
static void check_lead(struct server *s, const struct paper *paper, double finished, double most)
{
    double lead = paper->letter.clock - finished;
    char why[160];

    s->sums.lead = fmax(s->sums.lead, lead);
    if (lead <= most)
        return;
    snprintf(why, sizeof(why),
             "worker %d is at clock %.0f, %.0f ahead of the slowest, and %.0f are allowed",
             paper->from, paper->letter.clock, lead, most);
    s->world->ops->fail(s->world, why);
}

/* All that are here, in the order of the workers, are a step. */
static void make_step(struct server *s)
{
    size_t count = s->objective.unknowns;
    double rows = 0;
    bool first = true;

    for (int i = 0; i < s->serving->workers; i++) {
        struct paper *due = s->workers[i].due;
        if (!due)
            continue;
        if (first)
            memcpy(s->run.gradient, due->letter.values, count * sizeof(double));
        else
            hm__comm_add(&s->own, s->run.gradient, due->letter.values, count);
        first = false;
        rows += due->letter.rows;
        s->workers[i].waits = true;
        s->workers[i].due = NULL;
        s->sums.used++;
        put_back(s, due);
    }
    hm__run_mean(&s->run, rows);
    s->run.algorithm->update(&s->run, 1, s->run.iteration);
    s->run.iteration++;
    s->run.samples += rows;
    s->here = 0;
    for (int i = 0; i < s->serving->workers; i++) {
        struct worker *w = &s->workers[i];
        if (!w->waits && !w->late) /* it works on what nobody needs any more */
            send_word(s, i, HM_LETTER_LATE);
        w->late = !w->waits;
    }
}

static void take_for_step(struct server *s, struct paper *paper)
{
    struct worker *w = &s->workers[paper->from];

    check_lead(s, paper, s->run.iteration, 0);
    if (paper->letter.kind == HM_LETTER_ASK ||
        paper->letter.clock < s->run.iteration) { /* the step was made without it */
        s->sums.dropped++;
        w->waits = true;
        put_back(s, paper);
    } else {
        w->due = paper;
        s->here++;
        if (s->here == s->serving->workers - s->serving->backups)
            make_step(s);
    }
}

/* By itself, as a part of a step. */
static void take_alone(struct server *s, struct paper *paper)
{
    struct worker *w = &s->workers[paper->from];
    const struct hm_letter *letter = &paper->letter;
    bool bounded = s->serving->consistency == HM_CONSISTENCY_SSP;

    check_lead(s, paper, slowest(s), bounded ? s->serving->staleness : INFINITY);
    if (letter->rows > 0) {
        memcpy(s->run.gradient, letter->values, s->objective.unknowns * sizeof(double));
        hm__run_mean(&s->run, letter->rows);
        s->run.algorithm->update(&s->run, letter->rows / s->rows, s->parts);
    }
    s->parts++;
    s->run.iteration = floor(s->parts / s->serving->workers);
    s->run.samples += letter->rows;
    s->sums.used++;
    w->clock = letter->clock + 1;
    w->waits = letter->wants > 0;
    put_back(s, paper);
}

static void take_gradient(struct server *s, struct paper *paper)
{
    double before = s->run.iteration;

    if (staged(s))
        take_for_step(s, paper);
    else
        take_alone(s, paper);
    if (s->run.iteration > before && s->run.iteration >= s->target)
        stand_still(s);
    else
        answer(s);
}

/* While we stand still: back to who waits for an answer, and kept for later otherwise. */
static void turn_away(struct server *s, struct paper *paper)
{
    struct worker *w = &s->workers[paper->from];

    if (paper->letter.wants > 0) {
        w->sent_back = true;
        put_back(s, paper);
        tell_to_look(s, paper->from);
    } else {
        paper->next = NULL;
        *s->late_end = paper;
        s->late_end = &paper->next;
    }
}

/* ---- standing still ------------------------------------------------------------------------- */

static void show(struct server *s)
{
    if (!s->still)
        stand_still(s);
    struct hm_serving_shown shown = s->sums;
    shown.stood_s = s->stood_s;
    shown.elapsed_s = s->stood_s - s->began_s - s->idle_s;
    shown.iteration = s->run.iteration;
    shown.samples = s->run.samples;
    shown.usage = hm__usage_now(&s->run, s->world);
    hm__comm_send(s->world, 0, &shown, sizeof(shown));
    hm__pieces_send(&s->run, s->world, 0, 0, s->objective.unknowns, s->serving->together);
}

static void go_on(struct server *s, const struct hm_letter *letter)
{
    bool shared = s->world->one_clock && letter->stood_s >= 0;

    s->target = letter->target;
    hm__comm_align(s->world);
    if (shared && s->stood_s > letter->stood_s) /* as far behind the first as we were */
        s->world->ops->pause(s->world, s->stood_s - letter->stood_s);
    s->idle_s += s->world->ops->now(s->world) - s->stood_s;
    s->still = false;
    s->mark.bytes = s->world->bytes;
    s->mark.flop = s->own.flop;
    s->mark.through = s->through;
    s->mark.talking_s = s->world->talking_s;
    s->went_s = s->world->ops->now(s->world);
    hm__meter_start(&s->run.meter, s->world);
    for (int i = 0; i < s->serving->workers; i++) {
        struct worker *w = &s->workers[i];
        if (w->sent_back && letter->fresh > 0) {
            s->sums.dropped++;
            w->waits = true;
        }
        w->told = w->sent_back = false;
    }
    struct paper *late = s->late;
    s->late = NULL;
    s->late_end = &s->late;
    answer(s);
    while (late) {
        struct paper *next = late->next;
        if (s->still)
            turn_away(s, late);
        else
            take_gradient(s, late);
        late = next;
    }
}

static void count_letter(struct server *s, const struct paper *paper)
{
    size_t bytes = paper->letter.kind == HM_LETTER_PUSH ? letter_bytes(s) : HM_LETTER_HEAD;

    s->through += (double)bytes;
    s->world->received += (double)bytes;
}

static void read_letter(struct server *s, struct paper *paper)
{
    switch ((enum hm_letter_kind)paper->letter.kind) {
    case HM_LETTER_PUSH:
    case HM_LETTER_ASK:
        count_letter(s, paper);
        if (s->still)
            turn_away(s, paper);
        else
            take_gradient(s, paper);
        return;
    case HM_LETTER_BYE:
        send_word(s, paper->from, HM_LETTER_BYE);
        s->gone++;
        break;
    case HM_LETTER_SHOW:
        show(s);
        break;
    case HM_LETTER_RESUME:
        go_on(s, &paper->letter);
        break;
    default:
        s->world->ops->fail(s->world, "a letter that no server reads");
    }
    put_back(s, paper);
}

static void serve(struct server *s)
{
    size_t n = (size_t)s->serving->workers;

    for (size_t i = 0; i < n; i++)
        open_receive(s, (int)i);
    while (s->gone < s->serving->workers) {
        size_t place = hm__comm_wait_any(s->world, s->requests, 3 * n, NULL);
        if (place >= n)
            continue;
        struct paper *paper = s->workers[place].ink;
        s->workers[place].ink = NULL;
        if (paper->letter.kind != HM_LETTER_BYE)
            open_receive(s, (int)place);
        read_letter(s, paper);
    }
    hm__comm_wait_all(s->world, s->requests, 3 * n);
}

/* ---- beginning ------------------------------------------------------------------------------ */

static int make_server(struct server *s, const struct hm_serving_start *start, struct hm_err *err)
{
    int index = s->world->rank - s->serving->workers;
    size_t n = (size_t)s->serving->workers;

    s->objective = (struct hm_objective){
        .unknowns = (size_t)hm__serving_piece(s->serving, start->unknowns, index).count,
        .lambda = start->lambda,
        .curvature = start->curvature,
        .arena = s->arena,
    };
    s->own = (struct hm_comm){.ops = s->world->ops, .state = s->world->state, .size = 1};
    s->run.objective = &s->objective;
    s->run.comm = &s->own;
    s->run.arena = s->arena;
    s->run.settings.step = start->step;
    s->rows = start->rows;
    s->late_end = &s->late;
    s->still = true;
    s->workers = hm__arena_alloc(s->arena, n, sizeof(*s->workers));
    s->requests = hm__arena_alloc(s->arena, 3 * n, sizeof(*s->requests));
    if (!s->workers || !s->requests)
        return hm__fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        s->workers[i] = (struct worker){.clock = start->iteration, .waits = true};
    int rc = hm__run_begin(&s->run, err);
    s->run.iteration = start->iteration;
    s->run.samples = start->samples;
    s->parts = start->iteration * s->serving->workers;
    return rc;
}

int hm__serve(struct hm_comm *world, const struct hm_serving *serving,
              const struct hm_algorithm *algorithm, const struct hm_train_settings *settings,
              struct hm_err *err)
{
    struct server s = {.world = world, .serving = serving, .arena = hm__arena_new()};
    struct hm_letter letter;
    struct hm_serving_start start;
    int rc = s.arena ? 0 : hm__fail_nomem(err);

    s.run = (struct hm_run){.algorithm = algorithm, .settings = *settings};
    hm__comm_receive(world, 0, &letter, HM_LETTER_HEAD);
    if (letter.kind == HM_LETTER_START) {
        hm__comm_receive(world, 0, &start, sizeof(start));
        rc = rc ? rc : make_server(&s, &start, err);
        rc = hm__agree(world, rc, err);
        if (rc == 0) {
            hm__pieces_receive(&s.run, world, 0, 0, s.objective.unknowns, true);
            s.began_s = s.stood_s = world->ops->now(world);
            s.own.flop = 0;
            serve(&s);
        }
    }
    hm__arena_free(s.arena);
    return rc;
}
