/*
 * Implements a thread pool whose queue is a ring buffer. The pool starts with one thread; others
 * are started when a task finds no idle thread, up to the limit, and then stay. If a task takes a
 * long time, http_pool_watch starts another thread as a replacement for its thread, which continues
 * with a lower priority and ends with the task. The thread is not used again, because a process
 * without privileges cannot raise a priority. A new thread has the priority of the thread that
 * starts it, so the tasks themselves start no threads.
 */
#include "http_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "http_connections.h"

enum {
    SLOW_NICE = 10, /* Number that is added to the nice value of a thread whose task takes a long
                       time. */
    /* On a busy machine, a short task can take long because its thread waits for a processor. It
     * must end only if it has computed for half of the long time, or takes this many times as long.
     */
    PATIENCE = 10
};

/* A thread of a pool. */
struct worker {
    struct worker *next;  /* Next thread of the pool. */
    pid_t thread;         /* Number of the thread in the system. */
    double since;         /* Time at which its tasks began, in seconds; 0 if it has none. */
    clockid_t clock;      /* Clock of the thread's processor time. */
    double worked;        /* Reading of this clock when its tasks began, in seconds. */
    bool slow;            /* True if its tasks take a long time and the thread was replaced. */
    atomic_bool unwanted; /* True if its tasks should end. */
};

struct http_pool {
    pthread_mutex_t lock;
    struct worker *workers; /* All threads of the pool. */
    /* Condition that is signalled when there is a task, when a thread may run, or when the pool
     * ends. */
    pthread_cond_t more;
    pthread_cond_t gone; /* Condition that is signalled when the last thread has ended. */
    size_t threads;      /* Number of threads of the pool. */
    size_t idle;         /* Number of threads that wait for a task. */
    size_t quick;        /* Limit of the number of threads without long-running tasks. */
    void **ring;
    size_t room, first, waiting;
    /* Number of tasks that have a reserved place in the queue, wait in it, or run. */
    atomic_size_t taken;
    bool ending;
    int slow, slow_max; /* Number of replaced threads, and the limit on this number. */
    double long_s;
    size_t group; /* Largest number of tasks that a thread takes from the queue at once. */
    http_pool_run *run;
};

/* Returns the processor time of a thread in seconds. */
static double worker_time(const struct worker *worker)
{
    struct timespec t;

    return clock_gettime(worker->clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

/* Returns whether the tasks of a worker, which take a long time, must end if there is no room for
 * them. */
static bool is_unwanted(const struct http_pool *w, const struct worker *worker, double now)
{
    return now - worker->since > PATIENCE * w->long_s ||
           worker_time(worker) - worker->worked > w->long_s / 2;
}

/* Takes tasks from the queue. The caller holds the lock. Returns their number. */
static size_t take_tasks(struct http_pool *w, void **tasks)
{
    size_t count = w->waiting < w->group ? w->waiting : w->group;

    for (size_t i = 0; i < count; i++)
        tasks[i] = w->ring[(w->first + i) % w->room];
    w->first = (w->first + count) % w->room;
    w->waiting -= count;
    return count;
}

static void remove_worker(struct http_pool *w, const struct worker *worker)
{
    struct worker **at = &w->workers;

    while (*at != worker)
        at = &(*at)->next;
    *at = worker->next;
    w->slow -= worker->slow;
    if (--w->threads == 0)
        pthread_cond_broadcast(&w->gone);
}

static void *worker_run(void *context)
{
    struct http_pool *w = context;
    struct worker worker = {.thread = gettid()};
    void *tasks[HTTP_GROUP_MAX];

    if (pthread_getcpuclockid(pthread_self(), &worker.clock) != 0)
        worker.clock = CLOCK_MONOTONIC; /* Then all time counts as processor time. */
    pthread_mutex_lock(&w->lock);
    worker.next = w->workers;
    w->workers = &worker;
    while (!worker.slow) {
        w->idle++;
        while (w->waiting == 0 && !w->ending)
            pthread_cond_wait(&w->more, &w->lock);
        w->idle--;
        if (w->waiting == 0)
            break;
        size_t count = take_tasks(w, tasks);
        worker.since = http_now();
        worker.worked = worker_time(&worker);
        atomic_store(&worker.unwanted, false);
        pthread_mutex_unlock(&w->lock);
        w->run(tasks, count, &worker.unwanted);
        atomic_fetch_sub(&w->taken, count);
        pthread_mutex_lock(&w->lock);
        worker.since = 0;
    }
    remove_worker(w, &worker);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/*
 * Starts one more thread. The caller must hold the lock, unless no other thread uses the pool yet.
 */
static bool add_thread(struct http_pool *w)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, worker_run, w) != 0)
        return false;
    pthread_detach(thread);
    w->threads++;
    return true;
}

struct http_pool *http_pool_new(const struct http_pool_size *size, http_pool_run *run)
{
    struct http_pool *w = calloc(1, sizeof(*w));

    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->gone, NULL);
    w->run = run;
    w->quick = (size_t)size->quick;
    w->slow_max = size->slow;
    w->long_s = size->long_s;
    w->group = size->group;
    w->room = size->queue + (size_t)(size->quick + size->slow);
    w->ring = calloc(w->room, sizeof(*w->ring));
    pthread_mutex_lock(&w->lock);
    bool started = w->ring && add_thread(w);
    pthread_mutex_unlock(&w->lock);
    if (started)
        return w;
    http_pool_free(w);
    return NULL;
}

void http_pool_watch(struct http_pool *w)
{
    double now = http_now();

    pthread_mutex_lock(&w->lock);
    for (struct worker *at = w->workers; at; at = at->next) {
        if (at->since == 0 || now - at->since <= w->long_s || at->slow)
            continue;
        if (w->slow < w->slow_max && add_thread(w)) {
            at->slow = true;
            w->slow++;
            /* On Linux, a priority belongs to a thread, and PRIO_PROCESS selects a thread. */
            setpriority(PRIO_PROCESS, (id_t)at->thread,
                        getpriority(PRIO_PROCESS, (id_t)at->thread) + SLOW_NICE);
        } else if (is_unwanted(w, at, now)) {
            atomic_store(&at->unwanted, true);
        }
    }
    pthread_mutex_unlock(&w->lock);
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
    /* If no thread can be started, the task waits for one of the others. */
    if (w->waiting > w->idle && w->threads - (size_t)w->slow < w->quick)
        add_thread(w);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_signal(&w->more);
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
    while (w->threads > 0)
        pthread_cond_wait(&w->gone, &w->lock);
    pthread_mutex_unlock(&w->lock);
    pthread_cond_destroy(&w->gone);
    pthread_cond_destroy(&w->more);
    pthread_mutex_destroy(&w->lock);
    free(w->ring);
    free(w);
}
