/* A thread pool whose queue is a ring buffer. */
#include "http_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct http_pool {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_t *threads;
    size_t thread_count;
    void **ring;
    size_t room, first, waiting;
    atomic_size_t taken; /* Number of tasks that are reserved, waiting or running. */
    bool ending;
    /*
     * Number of running tasks that are not declared as long, number of running tasks that are, and
     * the limits of both numbers.
     */
    int running, slow, running_max, slow_max;
    bool (*run)(void *task);
};

static void *worker_run(void *context)
{
    struct http_pool *w = context;

    pthread_mutex_lock(&w->lock);
    for (;;) {
        while ((w->waiting == 0 || w->running >= w->running_max) && !(w->ending && !w->waiting))
            pthread_cond_wait(&w->more, &w->lock);
        if (w->waiting == 0)
            break;
        void *task = w->ring[w->first];
        w->first = (w->first + 1) % w->room;
        w->waiting--;
        w->running++;
        pthread_mutex_unlock(&w->lock);
        bool slow = w->run(task);
        atomic_fetch_sub(&w->taken, 1);
        pthread_mutex_lock(&w->lock);
        *(slow ? &w->slow : &w->running) -= 1;
        pthread_cond_signal(&w->more);
    }
    /* Other threads may be waiting for the task of this thread to end. */
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct http_pool *http_pool_new(const struct http_pool_size *size, bool (*run)(void *task))
{
    struct http_pool *w = calloc(1, sizeof(*w));
    size_t threads = (size_t)(size->quick + size->slow);

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    w->run = run;
    w->running_max = size->quick;
    w->slow_max = size->slow;
    w->room = size->queue + threads;
    w->ring = calloc(w->room, sizeof(*w->ring));
    w->threads = calloc(threads, sizeof(*w->threads));
    while (w->ring && w->threads && w->thread_count < threads &&
           pthread_create(&w->threads[w->thread_count], NULL, worker_run, w) == 0)
        w->thread_count++;
    if (w->thread_count > 0)
        return w;
    http_pool_free(w);
    return NULL;
}

bool http_pool_slow(struct http_pool *w)
{
    pthread_mutex_lock(&w->lock);
    bool may = w->slow < w->slow_max;
    if (may) {
        w->slow++;
        w->running--;
        pthread_cond_signal(&w->more);
    }
    pthread_mutex_unlock(&w->lock);
    return may;
}

bool http_pool_reserve(struct http_pool *w)
{
    size_t taken = atomic_load(&w->taken);

    while (taken < w->room)
        if (atomic_compare_exchange_weak(&w->taken, &taken, taken + 1))
            return true;
    return false;
}

void http_pool_push(struct http_pool *w, void *task)
{
    pthread_mutex_lock(&w->lock);
    w->ring[(w->first + w->waiting) % w->room] = task;
    w->waiting++;
    pthread_cond_signal(&w->more);
    pthread_mutex_unlock(&w->lock);
}

size_t http_pool_count(struct http_pool *w)
{
    return atomic_load(&w->taken);
}

void http_pool_free(struct http_pool *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < w->thread_count; i++)
        pthread_join(w->threads[i], NULL);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w->threads);
    free(w->ring);
    free(w);
}
