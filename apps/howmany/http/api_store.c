/* The store behind the server: lending connections, and writing for all. */
#include "api_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "err.h"

enum { TOGETHER = 256, LENT_MAX = 64 };

/* A batch that waits to be written; on the stack of the thread that waits for it. */
struct waiting {
    struct hm_store_batch *batch;
    struct hm_err *err;
    int rc;
    bool done;
    struct waiting *next;
};

struct api_store {
    struct cli_guest_store access;
    char *where;
    pthread_mutex_t lock;
    /* Connections that read. */
    pthread_cond_t returned;
    struct hm_store *idle[LENT_MAX];
    size_t idle_count, lent, most;
    /* The writer. */
    pthread_cond_t more, written;
    pthread_t writer;
    bool writes, ending;
    struct waiting *first, **last;
    struct hm_store *own; /* the writer's connection; NULL: to be opened */
    atomic_ullong commits, runs, failures;
    atomic_bool well;
};

/* ---- reading --------------------------------------------------------------------------------- */

/* Something is wrong with it; the writer finds out when it no longer is. */
static void fell_ill(struct api_store *s)
{
    pthread_mutex_lock(&s->lock);
    atomic_store(&s->well, false);
    pthread_cond_signal(&s->more);
    pthread_mutex_unlock(&s->lock);
}

static int lend(void *context, struct hm_store **ret_store, struct hm_err *err)
{
    struct api_store *s = context;
    struct hm_store *store = NULL;
    int rc = 0;

    pthread_mutex_lock(&s->lock);
    while (s->lent == s->most)
        pthread_cond_wait(&s->returned, &s->lock);
    s->lent++;
    if (s->idle_count > 0)
        store = s->idle[--s->idle_count];
    pthread_mutex_unlock(&s->lock);
    if (!store)
        rc = hm_store_open(s->where, &store, err);
    if (rc) {
        fell_ill(s);
        pthread_mutex_lock(&s->lock);
        s->lent--;
        pthread_cond_signal(&s->returned);
        pthread_mutex_unlock(&s->lock);
        return rc;
    }
    *ret_store = store;
    return 0;
}

static void take_back(void *context, struct hm_store *store, bool broken)
{
    struct api_store *s = context;

    if (broken) {
        hm_store_close(store);
        fell_ill(s);
    }
    pthread_mutex_lock(&s->lock);
    if (!broken)
        s->idle[s->idle_count++] = store;
    s->lent--;
    pthread_cond_signal(&s->returned);
    pthread_mutex_unlock(&s->lock);
}

/* ---- writing --------------------------------------------------------------------------------- */

/*
 * A connection that broke is opened again, once. Whether its last transaction was kept is not known
 * then; every run has a key, so adding it again does no harm.
 */
static int add(struct api_store *s, struct hm_store_batch *batches, size_t count,
               struct hm_err *err)
{
    int rc = HM_E_IO;

    for (int attempt = 0; rc == HM_E_IO && attempt < 2; attempt++) {
        *err = (struct hm_err){0};
        rc = s->own ? 0 : hm_store_open(s->where, &s->own, err);
        if (rc == 0)
            rc = hm_store_add_batches(s->own, batches, count, err);
        if (rc == HM_E_IO) {
            hm_store_close(s->own);
            s->own = NULL;
        }
    }
    atomic_store(&s->well, rc != HM_E_IO);
    if (rc == 0)
        atomic_fetch_add(&s->commits, 1);
    else
        atomic_fetch_add(&s->failures, 1);
    return rc;
}

static void add_one(struct api_store *s, struct waiting *w)
{
    struct hm_err err;

    w->rc = add(s, w->batch, 1, &err);
    if (w->rc)
        *w->err = err;
    else
        atomic_fetch_add(&s->runs, w->batch->added);
}

/* All in one transaction; where one of them spoils it, each by itself. */
static void add_together(struct api_store *s, struct waiting *first, size_t count)
{
    struct hm_store_batch batches[TOGETHER];
    struct waiting *w = first;
    struct hm_err err;

    for (size_t i = 0; i < count; i++, w = w->next)
        batches[i] = *w->batch;
    int rc = add(s, batches, count, &err);
    w = first;
    for (size_t i = 0; i < count; i++, w = w->next) {
        if (rc && rc != HM_E_IO && count > 1) {
            add_one(s, w);
            continue;
        }
        w->rc = rc;
        if (rc)
            *w->err = err;
        else
            *w->batch = batches[i];
        atomic_fetch_add(&s->runs, rc ? 0 : batches[i].added);
    }
}

/* While the store cannot be had, look every second whether it can again: who takes no requests
 * because of it would else never find out. */
static void look_again(struct api_store *s)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (pthread_cond_timedwait(&s->more, &s->lock, &until) == 0)
        return;
    pthread_mutex_unlock(&s->lock);
    hm_store_close(s->own);
    s->own = NULL;
    atomic_store(&s->well, hm_store_open(s->where, &s->own, NULL) == 0);
    pthread_mutex_lock(&s->lock);
}

static void *write_all(void *context)
{
    struct api_store *s = context;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->first && !s->ending) {
            if (atomic_load(&s->well))
                pthread_cond_wait(&s->more, &s->lock);
            else
                look_again(s);
        }
        if (!s->first)
            break;
        struct waiting *first = s->first, *end = first;
        size_t count = 0;
        while (end && count < TOGETHER) {
            end = end->next;
            count++;
        }
        s->first = end;
        if (!end)
            s->last = &s->first;
        pthread_mutex_unlock(&s->lock);
        add_together(s, first, count);
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < count; i++) {
            struct waiting *next = first->next;
            first->done = true; /* from now on it may be gone */
            first = next;
        }
        pthread_cond_broadcast(&s->written);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static int keep(void *context, struct hm_store_batch *batch, struct hm_err *err)
{
    struct api_store *s = context;
    struct hm_err own = {0};
    struct waiting w = {.batch = batch, .err = err ? err : &own};

    pthread_mutex_lock(&s->lock);
    *s->last = &w;
    s->last = &w.next;
    pthread_cond_signal(&s->more);
    while (!w.done)
        pthread_cond_wait(&s->written, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return w.rc;
}

/* ---- opening and closing --------------------------------------------------------------------- */

int api_store_new(const char *where, size_t lent, struct api_store **ret_store, struct hm_err *err)
{
    struct api_store *s = calloc(1, sizeof(*s));

    if (!s)
        return hm__fail_nomem(err);
    s->access = (struct cli_guest_store){s, lend, take_back, keep};
    s->most = lent < LENT_MAX ? lent : LENT_MAX;
    s->last = &s->first;
    atomic_store(&s->well, true);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->returned, NULL);
    pthread_cond_init(&s->more, NULL);
    pthread_cond_init(&s->written, NULL);
    int rc = (s->where = strdup(where)) ? 0 : hm__fail_nomem(err);
    if (rc == 0)
        rc = hm_store_open(where, &s->own, err);
    if (rc == 0 && pthread_create(&s->writer, NULL, write_all, s) != 0)
        rc = hm__fail(err, HM_E_IO, "cannot start a thread");
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
        pthread_cond_signal(&s->more);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->writer, NULL);
    }
    for (size_t i = 0; i < s->idle_count; i++)
        hm_store_close(s->idle[i]);
    hm_store_close(s->own);
    pthread_cond_destroy(&s->returned);
    pthread_cond_destroy(&s->more);
    pthread_cond_destroy(&s->written);
    pthread_mutex_destroy(&s->lock);
    free(s->where);
    free(s);
}

const struct cli_guest_store *api_store_access(struct api_store *s)
{
    return &s->access;
}

void api_store_count(struct api_store *s, struct api_store_counts *counts)
{
    *counts = (struct api_store_counts){atomic_load(&s->commits), atomic_load(&s->runs),
                                        atomic_load(&s->failures), atomic_load(&s->well)};
}
