/*
 * Connects to a PostgreSQL server within the budget of a request.
 *
 * libpq limits how long it waits for one address, in whole seconds, but neither how long it looks
 * up the name of a host nor how many addresses it tries; and its functions that do not wait cannot
 * go on to the next address of a list if one does not answer. Therefore, a request with a budget
 * connects in a thread of its own. If the budget is spent first, the thread is left to itself: it
 * closes the connection when libpq returns.
 */
#include "postgres_connect.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "budget.h"
#include "err.h"

#define CONNECT_S "5"
/*
 * If a server has not answered after this many seconds when the budget is spent, the server is to
 * blame; otherwise the request, which spent its time on other work.
 */
static const double SLOW_S = 0.5;

struct attempt {
    struct hm_libpq pq;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    PGconn *link;
    bool done;      /* True when libpq has returned. */
    bool abandoned; /* True if the request has given up; the thread then frees the attempt. */
    char where[];
};

static PGconn *connect_now(const struct hm_libpq *pq, const char *where)
{
    /*
     * Later parameters override earlier ones, so settings in the address, which comes last, take
     * precedence.
     */
    static const char *const keywords[] = {"connect_timeout", "tcp_user_timeout", "dbname", NULL};
    const char *const values[] = {CONNECT_S, "10000", where, NULL};

    return pq->PQconnectdbParams(keywords, values, 1);
}

static void attempt_free(struct attempt *a)
{
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static void *attempt_run(void *context)
{
    struct attempt *a = context;
    PGconn *link = connect_now(&a->pq, a->where);

    pthread_mutex_lock(&a->lock);
    a->link = link;
    a->done = true;
    bool abandoned = a->abandoned;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    if (abandoned) {
        a->pq.PQfinish(link);
        attempt_free(a);
    }
    return NULL;
}

/*
 * The attempt is not counted towards the budget, because another thread may free it, after the
 * request has ended.
 */
static struct attempt *attempt_new(const struct hm_libpq *pq, const char *where)
{
    size_t length = strlen(where);
    struct attempt *a = calloc(1, sizeof(*a) + length + 1);
    pthread_condattr_t clock;

    if (!a)
        return NULL;
    a->pq = *pq;
    memcpy(a->where, where, length);
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&a->changed, &clock);
    pthread_condattr_destroy(&clock);
    return a;
}

/* Starts a thread that receives no signals, which belong to the program. */
static bool attempt_start(struct attempt *a)
{
    pthread_t thread;
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = pthread_create(&thread, NULL, attempt_run, a) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

/* Waits until libpq has returned or the budget is spent; returns whether libpq has returned. */
static bool attempt_wait(struct attempt *a)
{
    pthread_mutex_lock(&a->lock);
    while (!a->done && !a->abandoned) {
        struct timespec until;

        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POSTGRES_SLICE_MS * 1000000L;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&a->changed, &a->lock, &until) == ETIMEDOUT && !a->done)
            a->abandoned = hm__budget_spent("runs");
    }
    bool done = a->done;
    pthread_mutex_unlock(&a->lock);
    return done;
}

static int fail_spent(double waited_s, struct hm_err *err)
{
    if (waited_s < SLOW_S || hm__budget_current()->cause != HM_BUDGET_TIME)
        return hm__budget_check("runs", err);
    return hm__fail(err, HM_E_IO, "cannot reach PostgreSQL: no answer in %.1f s", waited_s);
}

int hm__postgres_connect(const struct hm_libpq *pq, const char *where, PGconn **ret_link,
                         struct hm_err *err)
{
    double start_s = hm__budget_now();
    struct attempt *a = hm__budget_current() ? attempt_new(pq, where) : NULL;

    if (a && attempt_start(a)) {
        /* An abandoned attempt belongs to its thread. */
        if (!attempt_wait(a))
            return fail_spent(hm__budget_now() - start_s, err);
        *ret_link = a->link;
    } else
        *ret_link = connect_now(pq, where);
    if (a)
        attempt_free(a);
    return *ret_link ? 0 : hm__fail_nomem(err);
}
