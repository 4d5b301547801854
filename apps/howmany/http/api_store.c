/*
 * Implements the store of runs that the server uses: a pool of connections for reading, and one
 * thread that writes.
 */
#include "api_store.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "budget.h"
#include "err.h"
#include "http_connections.h"
#include "store.h"

enum { COMMIT_BATCHES = 256, POOL_MAX = 64, POOL_WAIT_S = 1 };

/* Time in seconds before the end of its time limit at which a request no longer waits for a lock,
 * so that there is time for its answer. */
static const double ANSWER_S = 0.05;
/* Time in seconds after which placing runs in the indexes of a database server, which may wait for
 * locks of other programs, is given up until later. */
static const double PLACE_S = 30;

/* A batch of runs in the queue of the writing thread. It is stored on the stack of the thread that
 * waits until the batch is written. */
struct queued_batch {
    struct hm_store_batch *batch;
    struct hm_err *err;
    int rc;
    double end_s; /* Time at which the request must not wait any longer; 0 if there is no limit. */
    sem_t done;   /* Posted when the batch has been committed or has failed. */
    atomic_bool ended; /* Set before that: the results can be read. */
    struct queued_batch *next;
};

struct api_store {
    struct hm_store_access access;
    char *where;
    pthread_mutex_t lock;
    /* The following members describe the connections for reading. */
    pthread_cond_t returned;
    struct hm_store *idle[POOL_MAX];
    size_t idle_count, in_use, most;
    /* The following members describe the thread that writes. */
    pthread_cond_t wake;
    pthread_t writer;
    bool writes, ending;
    struct queued_batch *first, **last;
    pthread_cond_t written; /* Signalled when `writing` becomes false. */
    /* True while a thread uses the following two members, which no other thread may do then. */
    bool writing;
    struct hm_store *own;  /* Connection for writing; NULL if it is not open. */
    size_t unplaced;       /* Number of runs that were added since the last call of
                              api_store_settle. */
    _Atomic double stop_s; /* Time at which all waits for locks end; 0 while the server runs. */
    atomic_ullong commits, runs, failures;
    atomic_bool healthy;
};

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * Marks the store as unhealthy after a failed read; the writing thread then checks every second
 * whether the store works again.
 */
static void mark_unhealthy(struct api_store *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->healthy, false);
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

/* Converts a time in seconds on the clock of the conditions. */
static struct timespec time_at(double seconds)
{
    double whole = floor(seconds);

    return (struct timespec){(time_t)whole, (long)(1e9 * (seconds - whole))};
}

/*
 * Sets the error for requests that need the store while it is unhealthy. Such a request fails
 * immediately, so that it does not block a thread.
 */
static int fail_unhealthy(struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "the store does not answer");
    hm__err_field(err, "store");
    return HM_E_IO;
}

/* Returns an idle connection, or NULL if there is none. Connections that the database has ended are
 * closed. */
static struct hm_store *take_idle(struct api_store *s)
{
    struct hm_store *store;

    for (;;) {
        pthread_mutex_lock(&s->lock);
        store = s->idle_count > 0 ? s->idle[--s->idle_count] : NULL;
        pthread_mutex_unlock(&s->lock);
        if (!store || hm__store_is_usable(store))
            return store;
        hm_store_close(store);
    }
}

static int pool_open(void *context, const char *where, struct hm_store **ret_store,
                     struct hm_err *err)
{
    struct api_store *s = context;
    struct hm_store *store;
    int rc = 0;

    /* The address `where` is ignored, because an HTTP request cannot choose the store. */
    (void)where;
    if (!atomic_load(&s->healthy))
        return fail_unhealthy(err);
    const struct timespec until = time_at(http_now() + POOL_WAIT_S);
    pthread_mutex_lock(&s->lock);
    while (s->in_use == s->most && rc == 0)
        rc = pthread_cond_timedwait(&s->returned, &s->lock, &until);
    if (s->in_use == s->most) {
        pthread_mutex_unlock(&s->lock);
        return hm__fail(err, HM_E_IO, "all connections to the store are in use");
    }
    rc = 0;
    s->in_use++;
    pthread_mutex_unlock(&s->lock);
    if (!(store = take_idle(s)))
        rc = hm_store_open(s->where, &store, err);
    if (rc) {
        /* Other errors, such as a lack of memory, affect only one request. */
        if (rc == HM_E_IO)
            mark_unhealthy(s);
        pthread_mutex_lock(&s->lock);
        s->in_use--;
        pthread_cond_signal(&s->returned);
        pthread_mutex_unlock(&s->lock);
        return rc;
    }
    *ret_store = store;
    return 0;
}

/*
 * Takes a connection back. If it failed, the idle ones would fail too, for example because the
 * database was restarted, so they are closed with it.
 */
static void pool_close(void *context, struct hm_store *store, bool failed)
{
    struct api_store *s = context;
    struct hm_store *closed[POOL_MAX + 1];
    size_t count = 0;

    if (failed)
        mark_unhealthy(s);
    pthread_mutex_lock(&s->lock);
    if (failed || !hm__store_is_usable(store))
        closed[count++] = store;
    else
        s->idle[s->idle_count++] = store;
    while (failed && s->idle_count > 0)
        closed[count++] = s->idle[--s->idle_count];
    s->in_use--;
    pthread_cond_signal(&s->returned);
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < count; i++)
        hm_store_close(closed[i]);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* The error of a write that had to wait for too long. */
static int fail_busy(struct hm_err *err)
{
    if (err)
        *err = (struct hm_err){0};
    hm__fail(err, HM_E_IO, "the store was busy until the time limit of the request");
    hm__err_field(err, HM_STORE_LOCK);
    return HM_E_IO;
}

/* Returns whether threads must not wait for locks any longer, because the server shuts down. */
static bool is_stopping(void *data)
{
    const struct api_store *s = data;
    double stop_s = atomic_load(&s->stop_s);

    return stop_s > 0 && http_now() >= stop_s;
}

/* Waits until no other thread writes, at most until `end_s` (0: no limit). */
static int begin_writing(struct api_store *s, double end_s, struct hm_err *err)
{
    pthread_mutex_lock(&s->lock);
    for (int late = 0; s->writing && !late;) {
        double stop_s = atomic_load(&s->stop_s),
               limit = end_s > 0 && stop_s > 0 ? fmin(end_s, stop_s) : end_s + stop_s;
        const struct timespec until = time_at(limit);
        if (limit > 0)
            late = pthread_cond_timedwait(&s->written, &s->lock, &until);
        else
            pthread_cond_wait(&s->written, &s->lock);
    }
    bool begun = !s->writing;
    s->writing = true;
    pthread_mutex_unlock(&s->lock);
    return begun ? 0 : fail_busy(err);
}

static void end_writing(struct api_store *s)
{
    pthread_mutex_lock(&s->lock);
    s->writing = false;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->written);
}

/* Returns the limits of a wait for a lock: until `end_s` (0: no limit), or the end of the server.
 */
static struct hm_budget lock_budget(struct api_store *s, double end_s)
{
    const double least_s = 0.01;

    return (struct hm_budget){.seconds = end_s > 0 ? fmax(end_s - http_now(), least_s) : 0,
                              .cancelled = is_stopping,
                              .data = s};
}

/*
 * Begins a transaction. While another program holds the lock of writers, this function waits at
 * most until `end_s` (0: no limit); the lock is requested once even if that time is over.
 */
static int begin_transaction(struct api_store *s, struct hm_store_group *t, double end_s,
                             struct hm_err *err)
{
    struct hm_budget budget = lock_budget(s, end_s);

    hm__budget_enter(&budget);
    int rc = hm__store_group_begin(t, s->own, err);
    hm__budget_leave(&budget);
    return rc == HM_E_BUDGET || rc == HM_E_CANCELLED ? fail_busy(err) : rc;
}

/*
 * Opens the connection for writing. While another program holds a lock of the store, this function
 * waits at most until `end_s` (0: no limit).
 */
static int open_own(struct api_store *s, double end_s, struct hm_err *err)
{
    struct hm_budget budget = lock_budget(s, end_s);

    hm__budget_enter(&budget);
    int rc = hm_store_open(s->where, &s->own, err);
    hm__budget_leave(&budget);
    return rc == HM_E_BUDGET || rc == HM_E_CANCELLED ? fail_busy(err) : rc;
}

/* Adds batches of runs in one transaction. */
static int add_batches(struct api_store *s, struct hm_store_batch *batches, size_t count,
                       double end_s, struct hm_err *err)
{
    struct hm_store_group t;
    bool more = true;
    int rc = begin_transaction(s, &t, end_s, err);

    if (rc)
        return rc;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = hm__store_group_add(&t, &batches[i], err);
        more = more && batches[i].more;
    }
    rc = hm__store_group_end(&t, rc, err);
    if (rc == 0 && more) /* The clients send further runs, which are placed together with these. */
        s->own->waiting = -1;
    else if (rc == 0)
        s->unplaced += t.runs;
    return rc;
}

/* Returns whether the time until `end_s` is over; 0: there is no limit. */
static bool is_over(double end_s)
{
    return end_s > 0 && http_now() >= end_s;
}

/*
 * Commits batches of runs. After an I/O error, the connection is reopened once, if there is time
 * left, and the batches are added again. The failed transaction may have been committed, but every
 * run has a key, so adding it a second time changes nothing. If the store only refuses to be
 * written, for example because the disk is full, it stays healthy, so that it can be read.
 */
static int commit_batches(struct api_store *s, struct hm_store_batch *batches, size_t count,
                          double end_s, struct hm_err *err)
{
    bool refused = false;
    int rc = HM_E_IO;

    for (int attempt = 0; rc == HM_E_IO && !refused && attempt < 2 - is_over(end_s); attempt++) {
        *err = (struct hm_err){0};
        rc = s->own ? 0 : open_own(s, end_s, err);
        if (rc == 0)
            rc = add_batches(s, batches, count, end_s, err);
        refused = rc && (s->own ? hm__store_refuses_writes(err)
                                : rc == HM_E_IO && strcmp(err->field, HM_STORE_LOCK) == 0);
        if (rc == HM_E_IO && !refused) {
            hm_store_close(s->own);
            s->own = NULL;
        }
    }
    if (!refused)
        atomic_store(&s->healthy, rc != HM_E_IO);
    if (rc == 0)
        atomic_fetch_add(&s->commits, 1);
    else
        atomic_fetch_add(&s->failures, 1);
    return rc;
}

static void commit_one(struct api_store *s, struct queued_batch *w)
{
    struct hm_err err;

    w->rc = commit_batches(s, w->batch, 1, w->end_s, &err);
    if (w->rc)
        *w->err = err;
    else
        atomic_fetch_add(&s->runs, w->batch->added);
}

/*
 * Commits all queued batches in one transaction, which waits for locks at most until the first time
 * limit ends. If one of the batches is invalid, commits each in its own transaction.
 */
static void commit_queue(struct api_store *s, struct queued_batch *first, size_t count)
{
    struct hm_store_batch batches[COMMIT_BATCHES];
    struct queued_batch *w = first;
    struct hm_err err = {0};
    double end_s = 0;

    for (size_t i = 0; i < count; i++, w = w->next) {
        batches[i] = *w->batch;
        end_s = w->end_s > 0 && (end_s == 0 || w->end_s < end_s) ? w->end_s : end_s;
    }
    int rc = begin_writing(s, end_s, &err);
    bool begun = rc == 0;
    if (begun)
        rc = commit_batches(s, batches, count, end_s, &err);
    w = first;
    for (size_t i = 0; i < count; i++, w = w->next) {
        if (rc && rc != HM_E_IO && count > 1) {
            commit_one(s, w);
            continue;
        }
        w->rc = rc;
        if (rc)
            *w->err = err;
        else
            *w->batch = batches[i];
        atomic_fetch_add(&s->runs, rc ? 0 : batches[i].added);
    }
    if (begun)
        end_writing(s);
}

/* While the store is unhealthy, try to open it every second, so that /readyz reports its recovery
 * even if there are no requests. */
static void check_health(struct api_store *s)
{
    const struct timespec until = time_at(http_now() + 1);
    struct hm_err err = {0};

    if (pthread_cond_timedwait(&s->wake, &s->lock, &until) == 0)
        return;
    pthread_mutex_unlock(&s->lock);
    if (begin_writing(s, 0, &err) == 0) {
        hm_store_close(s->own);
        s->own = NULL;
        atomic_store(&s->healthy, open_own(s, 0, &err) == 0);
        end_writing(s);
    }
    pthread_mutex_lock(&s->lock);
}

static void *writer_run(void *context)
{
    struct api_store *s = context;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->ending) {
            if (atomic_load(&s->healthy))
                pthread_cond_wait(&s->wake, &s->lock);
            else
                check_health(s);
        }
        if (!s->first)
            break;
        struct queued_batch *first = s->first, *end = first;
        size_t count = 0;
        while (end && count < COMMIT_BATCHES) {
            end = end->next;
            count++;
        }
        s->first = end;
        if (!end)
            s->last = &s->first;
        pthread_mutex_unlock(&s->lock);
        commit_queue(s, first, count);
        for (size_t i = 0; i < count; i++) {
            struct queued_batch *next = first->next;
            /* After this call, the waiting thread may return, and the batch, which is on its stack,
             * must no longer be used. */
            atomic_store(&first->ended, true);
            sem_post(&first->done);
            first = next;
        }
        api_store_settle(s);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Removes a batch from the queue. Returns false if the writing thread has taken it already. */
static bool withdraw_batch(struct api_store *s, struct queued_batch *w)
{
    bool found = false;

    pthread_mutex_lock(&s->lock);
    for (struct queued_batch **at = &s->first; *at && !found;) {
        found = *at == w;
        if (!found)
            at = &(*at)->next;
        else if (!(*at = w->next))
            s->last = at;
    }
    pthread_mutex_unlock(&s->lock);
    return found;
}

/*
 * Waits until a batch has been committed or has failed. Returns false if the time limit ends while
 * it is in the queue: it is then withdrawn, so that a transaction that waits for the database does
 * not delay the answers of other requests.
 */
static bool wait_batch(struct api_store *s, struct queued_batch *w)
{
    const struct timespec until = time_at(w->end_s);
    bool limited = w->end_s > 0;

    while ((limited ? sem_clockwait(&w->done, CLOCK_MONOTONIC, &until) : sem_wait(&w->done)) != 0) {
        if (errno != ETIMEDOUT)
            continue; /* A signal ended the wait. */
        if (withdraw_batch(s, w))
            return false;
        limited = false;
    }
    return atomic_load(&w->ended);
}

/* Adds a batch and waits until it is committed; `end_s` is that of the request. */
static int queue_batch(struct api_store *s, struct hm_store_batch *batch, double end_s,
                       struct hm_err *err)
{
    struct hm_err own = {0};
    struct queued_batch w = {.batch = batch, .err = err ? err : &own, .end_s = end_s};

    if (!atomic_load(&s->healthy))
        return fail_unhealthy(err);
    sem_init(&w.done, 0, 0);
    pthread_mutex_lock(&s->lock);
    *s->last = &w;
    s->last = &w.next;
    pthread_mutex_unlock(&s->lock);
    pthread_cond_signal(&s->wake);
    bool ended = wait_batch(s, &w);
    sem_destroy(&w.done);
    return ended ? w.rc : fail_busy(err);
}

static int queue_add(void *context, const char *where, struct hm_store_batch *batch,
                     struct hm_err *err)
{
    const struct hm_budget *budget = hm__budget_current();
    bool limited = budget && budget->seconds > 0;

    (void)where;
    return queue_batch(context, batch,
                       limited ? budget->end_s - fmin(ANSWER_S, budget->seconds / 10) : 0, err);
}

/* ---- groups of requests ------------------------------------------------------------------------
 */

/* A transaction to which several requests add runs. */
struct group_transaction {
    struct hm_store_group group;
    bool failed;       /* True if a request could not add its runs. */
    struct hm_err why; /* Why it could not. */
};

/* A request of a group only adds runs; it must not wait for another connection meanwhile. */
static int group_open(void *context, const char *where, struct hm_store **ret_store,
                      struct hm_err *err)
{
    (void)context;
    (void)where;
    (void)ret_store;
    return hm__fail(err, HM_E_UNSUPPORTED, "a request that adds runs cannot read the store");
}

static int group_add(void *context, const char *where, struct hm_store_batch *batch,
                     struct hm_err *err)
{
    struct group_transaction *t = context;

    (void)where;
    int rc = t->failed ? HM_E_IO : hm__store_group_add(&t->group, batch, &t->why);
    t->failed = t->failed || rc != 0;
    if (rc && err)
        *err = t->why;
    return rc;
}

/* Marks the store as unhealthy if the database has not answered until the end of the time limit. */
static void note_hang(struct api_store *s, double end_s, const struct hm_err *err)
{
    if (err->code == HM_E_IO && !hm__store_refuses_writes(err) && is_over(end_s))
        mark_unhealthy(s);
}

/*
 * Answers all requests inside a transaction and commits it. If another program holds the lock of
 * writers for too long, the error says so.
 */
static int commit_group(struct api_store *s, const struct api_store_group *group,
                        struct hm_err *err)
{
    struct group_transaction t = {.failed = false};
    const struct hm_store_access access = {.data = &t, .open = group_open, .add = group_add};

    int rc = s->own ? begin_transaction(s, &t.group, group->end_s, err) : HM_E_IO;
    if (rc) {
        atomic_fetch_add(&s->failures, hm__store_refuses_writes(err));
        note_hang(s, group->end_s, err);
        return rc;
    }
    for (size_t i = 0; !t.failed && i < group->count; i++)
        group->answer(group->context, i, &access);
    if ((rc = hm__store_group_end(&t.group, t.failed ? HM_E_IO : 0, err))) {
        if (t.failed)
            *err = t.why;
        note_hang(s, group->end_s, err);
        return rc;
    }
    atomic_fetch_add(&s->commits, t.group.runs > 0);
    atomic_fetch_add(&s->runs, t.group.added);
    s->unplaced += t.group.runs;
    return 0;
}

/* The requests of a group after their common transaction has failed. */
struct group_rest {
    struct api_store *store;
    double end_s;
    struct hm_err err; /* Error of the transaction. */
};

static int rest_add(void *context, const char *where, struct hm_store_batch *batch,
                    struct hm_err *err)
{
    struct group_rest *rest = context;

    (void)where;
    if (strcmp(rest->err.field, HM_STORE_LOCK) != 0)
        return queue_batch(rest->store, batch, rest->end_s, err);
    /* The requests have waited for the lock; none of them waits again. */
    if (err)
        *err = rest->err;
    return rest->err.code;
}

void api_store_group(struct api_store *s, const struct api_store_group *group)
{
    struct group_rest rest = {.store = s, .end_s = group->end_s};
    const struct hm_store_access access = {.data = &rest, .open = group_open, .add = rest_add};
    bool committed = false;

    if (atomic_load(&s->healthy) && begin_writing(s, group->end_s, &rest.err) == 0) {
        committed = commit_group(s, group, &rest.err) == 0;
        end_writing(s);
    }
    for (size_t i = 0; !committed && i < group->count; i++) {
        group->withdraw(group->context, i);
        group->answer(group->context, i, &access);
    }
}

void api_store_stop(struct api_store *s, double seconds)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->stop_s, http_now() + seconds);
    pthread_mutex_unlock(&s->lock);
    pthread_cond_broadcast(&s->written);
}

/*
 * Returns whether runs can be added to the indexes without waiting for a lock of another program,
 * during which no request could write. A database server itself does not wait long (begin_place).
 */
static bool can_place(struct api_store *s)
{
    struct hm_store_group t;
    struct hm_err err = {0};

    if (s->own->sql->remote ||
        (s->own->waiting >= 0 && s->own->waiting + (int64_t)s->unplaced < HM_STORE_WAITING))
        return true; /* If there are too few runs, they are only counted. */
    if (begin_transaction(s, &t, http_now(), &err))
        return false;
    hm__store_group_end(&t, HM_E_CANCELLED, NULL);
    return true;
}

void api_store_settle(struct api_store *s)
{
    struct hm_err err;

    /* A thread that is writing calls this function, too, so there is no need to wait for it. */
    if (begin_writing(s, http_now(), &err))
        return;
    if (s->own && s->unplaced > 0 && can_place(s)) {
        struct hm_budget budget = lock_budget(s, s->own->sql->remote ? http_now() + PLACE_S : 0);
        hm__budget_enter(&budget);
        hm__store_place(s->own, s->unplaced);
        hm__budget_leave(&budget);
        s->unplaced = 0;
    }
    end_writing(s);
}

/* ---- opening and closing --------------------------------------------------------------------- */

/*
 * Starts the writing thread with all signals blocked, because a signal that ends the server must
 * reach the thread that waits for it, even if the signal arrives before that thread waits.
 */
static int start_writer(struct api_store *s, struct hm_err *err)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started = pthread_create(&s->writer, NULL, writer_run, s) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started ? 0 : hm__fail(err, HM_E_IO, "cannot start a thread");
}

int api_store_new(const char *where, size_t most, struct api_store **ret_store, struct hm_err *err)
{
    struct api_store *s = calloc(1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    s->access = (struct hm_store_access){
        .data = s, .open = pool_open, .close = pool_close, .add = queue_add};
    s->most = most < POOL_MAX ? most : POOL_MAX;
    s->last = &s->first;
    atomic_store(&s->healthy, true);
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_t steady; /* A clock that is set must not change how long threads wait. */
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&s->returned, &steady);
    pthread_cond_init(&s->wake, &steady);
    pthread_cond_init(&s->written, &steady);
    pthread_condattr_destroy(&steady);
    int rc = (s->where = strdup(where)) ? 0 : hm__fail_nomem(err);
    hm__sqlite_configure();
    if (rc == 0)
        rc = hm_store_open(where, &s->own, err);
    if (rc == 0) /* A damaged store could produce wrong answers, so the server does not use it. */
        rc = hm__store_verify(s->own, true, NULL, err);
    if (rc == 0)
        rc = start_writer(s, err);
    s->writes = rc == 0;
    if (rc) {
        api_store_free(s);
        return rc;
    }
    *ret_store = s;
    return 0;
}

void api_store_free(struct api_store *s)
{
    if (!s)
        return;
    if (s->writes) {
        pthread_mutex_lock(&s->lock);
        s->ending = true;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->writer, NULL);
    }
    for (size_t i = 0; i < s->idle_count; i++)
        hm_store_close(s->idle[i]);
    hm_store_close(s->own);
    pthread_cond_destroy(&s->returned);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->written);
    pthread_mutex_destroy(&s->lock);
    free(s->where);
    free(s);
}

const struct hm_store_access *api_store_access(struct api_store *s)
{
    return &s->access;
}

void api_store_count(struct api_store *s, struct api_store_counts *counts)
{
    *counts = (struct api_store_counts){atomic_load(&s->commits), atomic_load(&s->runs),
                                        atomic_load(&s->failures), atomic_load(&s->healthy)};
}
