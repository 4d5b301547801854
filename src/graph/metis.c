/*
 * Partitions a graph with METIS (k-way, Karypis and Kumar 1998), with vertices weighted by degree,
 * so that the parts have about equal numbers of edge ends and there are few edges between them.
 * This is the only file that uses METIS. Limits: 32-bit indices, and at least ten vertices for each
 * part on average.
 */
#include "split.h"

#include "err.h"

#ifdef HM_HAVE_METIS
#include <math.h>
#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "admit.h"
#include "memory.h"

/*
 * The largest ratio of parts to vertices. With smaller parts, METIS tries to bisect empty graphs
 * and prints messages about them on standard output.
 */
#define HM__METIS_VERTICES 0.1

/*
 * Memory that METIS allocates at most, in bytes per vertex and edge. 38 to 53 were measured for
 * grids of a million vertices and edges, and 63 to 112 for random graphs, power laws and stars,
 * split among 2 to 8192 workers.
 */
#define HM__METIS_BYTES 112.0

/*
 * A call of METIS. METIS cannot be ended early, so it runs in a thread of its own, while the thread
 * of the request waits and checks its limits. If a limit is reached, the request ends, and METIS
 * continues with the lowest priority until it returns; the call is freed then.
 */
struct metis_call {
    idx_t vertices, parts, seed;
    idx_t *starts, *rows, *weights;
    idx_t *costs;  /* The weights of the edges in `rows`; NULL if they are all equal. */
    idx_t *owners; /* The result: the part of each vertex. */
    int code;      /* The result code of METIS. */
    pid_t thread;  /* Kernel's number of the thread that runs METIS; 0 before the thread starts. */
    bool ended;    /* METIS has returned. */
    bool unwanted; /* The request has ended, so the thread of METIS frees the call. */
};

/*
 * METIS draws from rand(), whose state belongs to the whole process: if two threads run METIS at
 * the same time, the results differ from those of one thread. So one call runs at a time. These
 * variables are global, because that state is global. The mutex also protects the last three fields
 * of the calls.
 */
static pthread_mutex_t metis_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t metis_changed = PTHREAD_COND_INITIALIZER;
static bool metis_busy;

static void metis_free(struct metis_call *call)
{
    if (!call)
        return;
    hm__free(call->starts);
    hm__free(call->rows);
    hm__free(call->weights);
    hm__free(call->costs);
    hm__free(call->owners);
    hm__free(call);
}

/* Allocates a call for a graph; `ends` is twice the number of edges. */
static struct metis_call *metis_new(size_t vertices, size_t ends, uint32_t n, bool has_costs,
                                    struct hm_err *err)
{
    struct metis_call *call = hm__calloc(1, sizeof(*call));

    if (call) {
        call->vertices = (idx_t)vertices;
        call->parts = (idx_t)n;
        call->starts = hm__calloc(vertices + 2, sizeof(idx_t));
        call->rows = hm__calloc(ends, sizeof(idx_t));
        call->weights = hm__calloc(vertices, sizeof(idx_t));
        call->costs = has_costs ? hm__calloc(ends, sizeof(idx_t)) : NULL;
        call->owners = hm__calloc(vertices, sizeof(idx_t));
    }
    if (call && call->starts && call->rows && call->weights && call->owners &&
        (call->costs || !has_costs))
        return call;
    metis_free(call);
    hm__fail_nomem(err);
    return NULL;
}

/*
 * Waits for a change of the global variables or of a call, but not longer than the limits of the
 * request should be checked again. The caller holds the mutex.
 */
static void metis_wait(void)
{
    enum { WAIT_NS = 10000000, SECOND_NS = 1000000000 };
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    pthread_cond_clockwait(&metis_changed, &metis_mutex, CLOCK_MONOTONIC, &until);
}

/* Waits until no other call runs, and then excludes other calls. */
static int metis_claim(struct hm_err *err)
{
    for (;;) {
        int rc = hm__budget_check("split", err);
        if (rc)
            return rc;
        pthread_mutex_lock(&metis_mutex);
        if (metis_busy)
            metis_wait();
        bool claimed = !metis_busy;
        metis_busy = true;
        pthread_mutex_unlock(&metis_mutex);
        if (claimed)
            return 0;
    }
}

static void metis_release(void)
{
    pthread_mutex_lock(&metis_mutex);
    metis_busy = false;
    pthread_cond_broadcast(&metis_changed);
    pthread_mutex_unlock(&metis_mutex);
}

/* The signals by which METIS leaves its functions when memory runs out; it raises and catches them
 * in its thread. */
static void metis_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGABRT);
    sigaddset(set, SIGTERM);
}

/* Runs METIS. If its signals were blocked, METIS would continue without memory. */
static void metis_run(struct metis_call *call)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, cut;
    sigset_t raised, before;

    metis_signals(&raised);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = call->seed;
    pthread_sigmask(SIG_UNBLOCK, &raised, &before);
    call->code = METIS_PartGraphKway(&call->vertices, &constraints, call->starts, call->rows,
                                     call->weights, NULL, call->costs, &call->parts, NULL, NULL,
                                     options, &cut, call->owners);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void *metis_thread(void *data)
{
    struct metis_call *call = data;

    pthread_mutex_lock(&metis_mutex);
    call->thread = gettid();
    pthread_mutex_unlock(&metis_mutex);
    metis_run(call);
    pthread_mutex_lock(&metis_mutex);
    call->ended = true;
    metis_busy = false;
    bool unwanted = call->unwanted;
    pthread_cond_broadcast(&metis_changed);
    pthread_mutex_unlock(&metis_mutex);
    if (unwanted)
        metis_free(call);
    return NULL;
}

/*
 * Starts the thread of a call with all signals blocked, so that it receives none of the process.
 * Blocks the signals of METIS in this thread as long as METIS catches them for the whole process;
 * `before` receives the mask of this thread.
 */
static bool metis_start(struct metis_call *call, sigset_t *before)
{
    sigset_t all, raised;
    pthread_t thread;

    sigfillset(&all);
    metis_signals(&raised);
    pthread_sigmask(SIG_BLOCK, &all, before);
    bool made = pthread_create(&thread, NULL, metis_thread, call) == 0;
    pthread_sigmask(SIG_SETMASK, before, NULL);
    if (made) {
        pthread_detach(thread);
        pthread_sigmask(SIG_BLOCK, &raised, NULL);
    }
    return made;
}

/*
 * Waits until METIS has returned, or a limit is reached; *call is NULL then. The thread of METIS
 * gets the priority of the thread that waits for it, which may be lowered meanwhile. On Linux, a
 * priority belongs to a thread, and PRIO_PROCESS selects a thread.
 */
static int metis_finish(struct metis_call **call, struct hm_err *err)
{
    enum { LOWEST_PRIORITY = 19 };
    struct metis_call *c = *call;
    int rc = 0;

    pthread_mutex_lock(&metis_mutex);
    while (rc == 0 && !c->ended) {
        metis_wait();
        pthread_mutex_unlock(&metis_mutex);
        rc = hm__budget_check("split", err);
        pthread_mutex_lock(&metis_mutex);
        if (c->thread > 0 && !c->ended)
            setpriority(PRIO_PROCESS, (id_t)c->thread,
                        rc ? LOWEST_PRIORITY : getpriority(PRIO_PROCESS, 0));
    }
    if (rc && !c->ended) {
        c->unwanted = true;
        *call = NULL;
    }
    pthread_mutex_unlock(&metis_mutex);
    return rc;
}

/* Returns 0, or the error that describes a code of METIS. */
static int metis_result(int code, struct hm_err *err)
{
    if (code == METIS_OK)
        return 0;
    if (code == METIS_ERROR_MEMORY)
        return hm__fail_nomem(err);
    if (code == METIS_ERROR)
        hm__fail(err, HM_E_LIMIT, "METIS was ended by SIGTERM, or because memory ran out");
    else
        hm__fail(err, HM_E_LIMIT, "METIS could not split the graph (its error %d)", code);
    hm__err_hint(err, "use hash, greedy or hdrf");
    return HM_E_LIMIT;
}

/* Refuses a call if the limits of time and memory that are left do not suffice. */
static int metis_admit(const struct metis_call *call, struct hm_err *err)
{
    const struct hm_budget *b = hm__budget_current();
    double passes = hm__metis_passes((double)call->vertices, (double)call->parts);
    double size = (double)call->vertices + (double)call->starts[call->vertices] / 2;

    int rc = hm__admit_call(HM_STEP_METIS, passes * size, "split", err);
    if (rc || !b || b->bytes == 0 || (double)b->used + HM__METIS_BYTES * size <= (double)b->bytes)
        return rc;
    hm__fail(err, HM_E_LIMIT,
             "METIS may need %.3g MB of memory for this graph; of the memory limit of %.0f MB, "
             "%.3g MB are left",
             HM__METIS_BYTES * size / 1e6, (double)b->bytes / 1e6,
             fmax((double)b->bytes - (double)b->used, 0) / 1e6);
    hm__err_field(err, "split");
    hm__err_hint(err, "use hash, greedy or hdrf, or raise the memory limit");
    return HM_E_LIMIT;
}

/* Splits the graph of a call; *call is NULL afterwards if a limit was reached before METIS ended.
 */
static int metis_split(struct metis_call **call, struct hm_err *err)
{
    sigset_t before;
    int rc = metis_claim(err);

    if (rc)
        return rc;
    rc = metis_admit(*call, err);
    if (rc) {
        metis_release();
        return rc;
    }
    if (metis_start(*call, &before)) {
        rc = metis_finish(call, err);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    } else { /* No more threads can be created. */
        metis_run(*call);
        metis_release();
    }
    return rc ? rc : metis_result((*call)->code, err);
}

/*
 * Copies the adjacency rows into METIS's index type. The weight of a vertex is its degree, but at
 * most half of the mean weight of a part, because METIS prints a warning if a vertex is heavier
 * than a part.
 */
static void metis_fill_rows(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n,
                            idx_t *starts, idx_t *rows, idx_t *weights)
{
    size_t vertices = (size_t)g->vertices;
    idx_t most = (idx_t)fmax(1, floor(g->edges / n));

    for (size_t v = 0; v < vertices && !hm__budget_pass(v, "split"); v++) {
        idx_t degree = (idx_t)(r->starts[v + 1] - r->starts[v]);
        starts[v + 1] = (idx_t)r->starts[v + 1];
        weights[v] = degree < 1 ? 1 : degree < most ? degree : most;
    }
    for (size_t i = 0; i < 2 * (size_t)g->edges && !hm__budget_pass(i, "split"); i++)
        rows[i] = (idx_t)r->rows[i];
}

int hm__metis_check(const struct hm_graph *g, uint32_t n, struct hm_err *err)
{
    if (2 * g->edges > (double)INT32_MAX || g->vertices > (double)INT32_MAX) {
        hm__fail(err, HM_E_LIMIT, "%.0f edges are more than METIS's 32-bit numbers can hold",
                 g->edges);
        hm__err_hint(err, "use hash, greedy or hdrf for a graph of this size");
        return HM_E_LIMIT;
    }
    if (n > HM__METIS_VERTICES * g->vertices || n > g->edges) {
        hm__fail(err, HM_E_LIMIT, "%u parts of %.0f vertices are too small for METIS", n,
                 g->vertices);
        hm__err_hint(err, "it needs about ten vertices for each part; greedy has no such limit");
        return HM_E_LIMIT;
    }
    return 0;
}

int hm__metis(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n, double seed,
              uint32_t *owner, struct hm_err *err)
{
    size_t vertices = (size_t)g->vertices;
    struct metis_call *call = metis_new(vertices, 2 * (size_t)g->edges, n, false, err);

    if (!call)
        return HM_E_NOMEM;
    metis_fill_rows(g, r, n, call->starts, call->rows, call->weights);
    call->seed = (idx_t)((uint64_t)seed & 0x7fffffff);
    int rc = metis_split(&call, err);
    for (size_t v = 0; rc == 0 && v < vertices; v++)
        owner[v] = (uint32_t)call->owners[v];
    metis_free(call);
    return rc;
}

/* Scales a weight to an integer between 1 and 10000; `most` is the largest weight. */
static idx_t metis_weight(double weight, double most)
{
    return (idx_t)fmax(1, most > 0 ? round(1e4 * weight / most) : 1);
}

/* Fills the rows of a symmetric adjacency matrix with the edges in both directions. */
static void metis_fill_edges(size_t count, const struct hm_weighted_edge *edges, size_t edge_count,
                             idx_t *starts, idx_t *rows, idx_t *weights)
{
    double most = 0;

    for (size_t i = 0; i < edge_count; i++) {
        starts[edges[i].from + 1]++;
        starts[edges[i].to + 1]++;
        most = fmax(most, edges[i].weight);
    }
    for (size_t v = 0; v < count; v++)
        starts[v + 1] += starts[v];
    for (size_t i = 0; i < edge_count; i++) {
        const uint32_t ends[2] = {edges[i].from, edges[i].to};
        for (int k = 0; k < 2; k++) {
            idx_t at = starts[ends[k]]++;
            rows[at] = (idx_t)ends[1 - k];
            weights[at] = metis_weight(edges[i].weight, most);
        }
    }
    /* Filling the rows has moved each start to the start of the next row, so the starts are shifted
     * back by one vertex. */
    for (size_t v = count; v > 0; v--)
        starts[v] = starts[v - 1];
    starts[0] = 0;
}

int hm__metis_weighted(size_t count, const double *weights, const struct hm_weighted_edge *edges,
                       size_t edge_count, uint32_t n, uint32_t *owner, struct hm_err *err)
{
    const struct hm_graph graph = {.vertices = (double)count, .edges = (double)edge_count};
    int rc = hm__metis_check(&graph, n, err);

    if (rc)
        return rc;
    struct metis_call *call = metis_new(count, 2 * edge_count, n, true, err);
    if (!call)
        return HM_E_NOMEM;
    double most = 0, total = 0;
    for (size_t v = 0; v < count; v++)
        total += weights[v];
    /* Weights are limited, because METIS prints a warning if a vertex is heavier than a part. */
    for (size_t v = 0; v < count; v++)
        most = fmax(most, fmin(weights[v], total / n / 2));
    for (size_t v = 0; v < count; v++)
        call->weights[v] = metis_weight(fmin(weights[v], most), most);
    metis_fill_edges(count, edges, edge_count, call->starts, call->rows, call->costs);
    call->seed = 1;
    rc = metis_split(&call, err);
    for (size_t v = 0; rc == 0 && v < count; v++)
        owner[v] = (uint32_t)call->owners[v];
    metis_free(call);
    return rc;
}
#else
int hm__metis_weighted(size_t count, const double *weights, const struct hm_weighted_edge *edges,
                       size_t edge_count, uint32_t n, uint32_t *owner, struct hm_err *err)
{
    (void)count, (void)weights, (void)edges, (void)edge_count, (void)owner;
    return hm__metis_check(NULL, n, err);
}

int hm__metis_check(const struct hm_graph *g, uint32_t n, struct hm_err *err)
{
    (void)g, (void)n;
    hm__fail(err, HM_E_UNSUPPORTED, "this build does not include METIS");
    hm__err_hint(err, "use hash, greedy or hdrf, or build with libmetis-dev");
    return HM_E_UNSUPPORTED;
}

int hm__metis(const struct hm_graph *g, const struct hm_adjacency *r, uint32_t n, double seed,
              uint32_t *owner, struct hm_err *err)
{
    (void)r, (void)seed, (void)owner;
    return hm__metis_check(g, n, err);
}
#endif
