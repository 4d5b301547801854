/*
 * Makes allocations of a running server fail. The server is started with the library fail_alloc
 * (tests/faults), requests of all routes are sent, and while the server works on one, its K-th
 * allocation fails, alone or with all later ones. Then the answer must be complete and as without
 * the failure, or be 503 with a problem document that names the missing memory, or the connection
 * must be closed without an answer. The server must keep running; afterwards the same request gets
 * its answer; runs of a refused request are stored completely or not at all; and at its end the
 * server has freed as many allocations as a server without failures.
 *
 *     starve PROGRAM LIBRARY FOLDER [TRIALS [SEED]]
 *
 * FOLDER is for the store and must be empty. Without TRIALS, there is one round, in which every
 * allocation of nearly every request fails in both ways. The exit code is 0 if all promises are
 * kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child_server.h"
#include "client.h"
#include "fail_alloc.h"
#include "howmany_store.h"

enum {
    ANSWER_MAX = 1 << 21,
    REQUEST_MAX = 1 << 14,
    AGAIN_EVERY = 16,
    ROWS = 3,
    SHOWN = 20,
    SWEEP_MAX = 1000
};

/* How the answers of a request are compared. */
enum {
    ANSWER_SAME, /* All bytes are the same each time. */
    ANSWER_VARIES,
    ANSWER_STORES, /* The request adds runs to the store; answers have their numbers. */
};

struct question {
    const char *target, *type, *body; /* Body NULL: a GET. */
    int kind;
};

#define RUNS "n,seconds\\n1,8\\n2,4.5\\n4,2.75\\n8,2\\n"
#define JOB "{\"compute\": \"10 s / n\", \"communicate\": \"0.1 s * log2(n)\", \"iterations\": 100}"

#define TRACE(n)                                                                                   \
    "gd," n ",1,1,1\\ngd," n ",2,0.5,2\\ngd," n ",3,0.3,3\\ngd," n ",4,0.2,4\\ngd," n ",5,0.1,"    \
    "5\\n"

/* Requests of all routes, as the page and other clients make them; invalid ones too. */
static const struct question questions[] = {
    {"/healthz", NULL, NULL, ANSWER_SAME},
    {"/readyz", NULL, NULL, ANSWER_SAME},
    {"/metrics", NULL, NULL, ANSWER_VARIES},
    {"/openapi.json", NULL, NULL, ANSWER_SAME},
    {"/", NULL, NULL, ANSWER_SAME},
    {"/nothing", NULL, NULL, ANSWER_SAME},
    {"/v1/progress", NULL, NULL, ANSWER_VARIES},
    {"/v1/catalog", NULL, NULL, ANSWER_SAME},
    {"/v1/catalog/machines/p4d.24xlarge", NULL, NULL, ANSWER_SAME},
    {"/v1/catalog/machines/none", NULL, NULL, ANSWER_SAME},
    {"/v1/runs?where=n=1&limit=2", NULL, NULL, ANSWER_SAME},
    {"/v1/runs?where=n%3E=1&where=seconds%3C1e6&where=rate!=7&sort=-loss&limit=2", NULL, NULL,
     ANSWER_SAME},
    {"/v1/runs/1", NULL, NULL, ANSWER_SAME},
    {"/v1/traces?where=n=1", NULL, NULL, ANSWER_SAME},
    {"/v1/recommend?where=batch=64", NULL, NULL, ANSWER_SAME},
    {"/v1/plan", "application/json", "{\"job\": " JOB ", \"max_n\": SIZE, \"deadline\": \"1h\"}",
     ANSWER_SAME},
    {"/v1/plan", "application/json", "{\"job\": " JOB ", \"on\": [\"m4.xlarge\"], \"max_n\": SIZE}",
     ANSWER_SAME},
    {"/v1/plan", "application/json", "{\"job\": {\"compute\": \"10 apples\"}}", ANSWER_SAME},
    {"/v1/plan", "application/json", "{\"job\": [", ANSWER_SAME},
    {"/v1/fit", "application/json", "{\"runs\": \"" RUNS "\", \"target\": SIZE}", ANSWER_SAME},
    {"/v1/design", "application/json", "{\"n\": \"1..SIZE\", \"size\": \"0.5,1\", \"budget\": 10}",
     ANSWER_SAME},
    {"/v1/recommend", "application/json", "{\"runs\": \"" RUNS "\"}", ANSWER_SAME},
    {"/v1/recommend", "application/json",
     "{\"runs\": \"" RUNS "\", \"job\": " JOB ", \"on\": [\"m4.xlarge\"]}", ANSWER_SAME},
    {"/v1/plan?csv", "application/json", "{\"job\": " JOB ", \"max_n\": SIZE}", ANSWER_SAME},
    {"/v1/plan", "application/yaml",
     "network: resnet-50\nbatch: 64\nscaling: weak\noptimizer: momentum\noverlap: layers\n"
     "epochs: 90\ndataset: 1281167\ncluster: {machine: p3.2xlarge, max_nodes: SIZE}\n#",
     ANSWER_SAME},
    {"/v1/plan", "application/json",
     "{\"job\": {\"graph\": {\"generate\": \"random\", \"vertices\": 200, \"edges\": 800}, "
     "\"communicate\": \"none\", \"cluster\": {\"machine\": \"dl980-core\"}}, \"max_n\": SIZE}",
     ANSWER_SAME},
    {"/v1/advise", "application/json",
     "{\"traces\": \"algorithm,n,iteration,objective,seconds\\n" TRACE("1")
         TRACE("2") "\", \"loss\": 0.05, \"best\": 0}",
     ANSWER_SAME},
    {"/v1/import", "application/octet-stream",
     "# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor)\n"
     "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
     "        1024           256     float     sum      -1    21.00    0.05    0.09      0\n"
     "     1048576        262144     float     sum      -1    45.00   23.30   40.80      0\n",
     ANSWER_SAME},
    {"/v1/plan", "application/json",
     "{\"job\": \"llama-3-8b\", \"tokens\": \"1T\", \"on\": [\"p5.48xlarge\"], \"max_n\": SIZE}",
     ANSWER_SAME},
    {"/v1/runs", "application/json", NULL, ANSWER_STORES},
};

enum { QUESTIONS = sizeof(questions) / sizeof(questions[0]) };

struct answer {
    int status; /* 0: the connection was closed; -1: no answer in time; -2: not a whole answer. */
    char *body;
    size_t length;
    bool problem; /* The type of the body is application/problem+json. */
};

static int port;
static struct fail_alloc *control;
static struct answer references[QUESTIONS];
static long allocations[QUESTIONS]; /* Allocations of each request without failures. */
static long trials, wrong, refused, closed, added;
static long serial; /* Number of requests so far. */
static int largest; /* Replaces SIZE in bodies; differs between rounds. */

/* Result of each request that adds runs; the index is the number of the request. */
static unsigned char *acknowledged;
static long stores;

/* ---- requests -------------------------------------------------------------------------------- */

/*
 * Writes a request. The number of the trial is written as white space after the body, so that the
 * answer is not in the server's cache.
 */
static size_t write_request(const struct question *q, long number, char *text)
{
    char body[REQUEST_MAX / 2];
    size_t length = 0;

    if (q->kind == ANSWER_STORES) {
        for (int i = 0; i < ROWS; i++)
            length += (size_t)snprintf(body + length, sizeof(body) - length,
                                       "%s{\"n\":%d,\"seconds\":%ld.5}", i ? "," : "[", i + 2,
                                       number + 1);
        body[length++] = ']';
    } else if (!q->body) {
        return (size_t)snprintf(text, REQUEST_MAX, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                                q->target);
    } else {
        const char *hole = strstr(q->body, "SIZE");
        length = strlen(q->body);
        memcpy(body, q->body, length + 1);
        if (hole)
            length = (size_t)snprintf(body, sizeof(body), "%.*s%d%s", (int)(hole - q->body),
                                      q->body, largest, hole + 4);
        for (long left = number; left > 0; left /= 2)
            body[length++] = " \t"[left % 2];
    }
    int head = snprintf(text, REQUEST_MAX,
                        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n"
                        "Content-Length: %zu\r\n",
                        q->target, q->type, length);
    if (q->kind == ANSWER_STORES)
        head +=
            snprintf(text + head, REQUEST_MAX - (size_t)head, "Idempotency-Key: s-%ld\r\n", number);
    head += snprintf(text + head, REQUEST_MAX - (size_t)head, "\r\n");
    memcpy(text + head, body, length);
    return (size_t)head + length;
}

/*
 * Reads an answer; *ret points into a buffer of this function. Returns whether the connection can
 * be used again.
 */
static bool read_answer(int s, struct answer *ret)
{
    static char text[ANSWER_MAX];
    size_t length = 0, whole = 0;

    *ret = (struct answer){.status = 0, .body = text};
    while (whole == 0 || length < whole) {
        ssize_t got = recv(s, text + length, sizeof(text) - 1 - length, 0);
        if (got <= 0) {
            bool late = got < 0 && errno != ECONNRESET && errno != EPIPE;
            ret->status = late ? -1 : length > 0 ? -2 : 0;
            return false;
        }
        length += (size_t)got;
        text[length] = '\0';
        char *end = whole ? NULL : strstr(text, "\r\n\r\n");
        if (!end)
            continue;
        const char *size = strcasestr(text, "\r\nContent-Length:");
        whole = (size_t)(end + 4 - text) + (size && size < end ? strtoul(size + 17, NULL, 10) : 0);
        ret->body = end + 4;
    }
    ret->length = length - (size_t)(ret->body - text);
    ret->status = length == whole ? (int)strtol(text + 9, NULL, 10) : -2;
    ret->body[-1] = '\0';
    ret->problem = strcasestr(text, "application/problem+json") != NULL;
    return length == whole && !strcasestr(text, "\r\nConnection: close");
}

/* Sends a request, on the connection of the last one if that is open and `again` is true. */
static void exchange(const struct question *q, long number, bool again, struct answer *ret)
{
    static int s = -1;
    static char text[REQUEST_MAX];
    size_t length = write_request(q, number, text);

    if (s >= 0 && !again) {
        close(s);
        s = -1;
    }
    if (s < 0)
        s = client_connect(port, 20);
    client_send(s, text, length);
    if (!read_answer(s, ret)) {
        close(s);
        s = -1;
    }
}

static bool answers_equal(const struct question *q, const struct answer *a, const struct answer *b)
{
    return a->status == b->status &&
           (q->kind != ANSWER_SAME ||
            (a->length == b->length && memcmp(a->body, b->body, a->length) == 0));
}

/* ---- trials ---------------------------------------------------------------------------------- */

static void complain(const struct question *q, long k, bool all, const struct answer *a,
                     const char *what)
{
    if (++wrong <= SHOWN)
        printf("# %s %.60s: allocation %ld%s fails: %s: status %d, %zu bytes: %.160s\n",
               q->kind == ANSWER_STORES || q->body ? "POST" : "GET", q->target, k,
               all ? " and all later ones" : "", what, a->status, a->length,
               a->status > 0 ? a->body : "");
}

static bool is_out_of_memory(const struct answer *a)
{
    return a->status == 503 && a->problem && a->length > 2 && a->body[0] == '{' &&
           strcmp(a->body + a->length - 2, "}\n") == 0 &&
           (strstr(a->body, ":nomem\"") || strstr(a->body, ":memory\""));
}

/* The K-th allocation after this moment fails while the server answers a request. */
static void try_once(size_t which, long k, bool all)
{
    const struct question *q = &questions[which];
    bool is_store = q->kind == ANSWER_STORES;
    long number = is_store ? stores++ : ++serial, failed = atomic_load(&control->failed);
    struct answer a;

    trials++;
    atomic_store(&control->all, all);
    atomic_store(&control->after, k);
    exchange(q, number, trials % 2, &a);
    atomic_store(&control->after, -1);
    failed = atomic_load(&control->failed) - failed;
    if (is_store)
        acknowledged[number] = a.status == 200;
    refused += is_out_of_memory(&a);
    closed += a.status == 0;
    if (a.status < 0)
        complain(q, k, all, &a, a.status == -1 ? "no answer" : "part of an answer");
    else if (a.status == 0 ? failed == 0
                           : !is_out_of_memory(&a) && !answers_equal(q, &a, &references[which]))
        complain(q, k, all, &a, "another answer");
    if (waitpid(-1, NULL, WNOHANG) != 0) {
        complain(q, k, all, &a, "the server ended");
        printf("1 server ended\n");
        exit(1);
    }
    if (!is_store && trials % AGAIN_EVERY == 0) {
        exchange(q, number, true, &a);
        if (!answers_equal(q, &a, &references[which]))
            complain(q, k, all, &a, "another answer afterwards");
    }
}

/* Asks everything without failures, counts allocations, and keeps the answers. */
static void ask_all(void)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        const struct question *q = &questions[i];
        bool is_store = q->kind == ANSWER_STORES;
        struct answer a;
        long number = is_store ? stores++ : ++serial, before = atomic_load(&control->asked);
        exchange(q, number, false, &a);
        allocations[i] = atomic_load(&control->asked) - before;
        if (a.status < 200 || a.status > 499) {
            printf("# %s: status %d without a failure: %.200s\n", q->target, a.status, a.body);
            exit(1);
        }
        free(references[i].body);
        references[i] = a;
        if (!(references[i].body = malloc(a.length + 1)))
            child_give_up("malloc");
        memcpy(references[i].body, a.body, a.length + 1);
        if (is_store)
            acknowledged[number] = 1;
        if (getenv("STARVE_SHOW"))
            printf("# %s: %d, %ld allocations: %.100s\n", q->target, a.status, allocations[i],
                   a.body);
    }
}

/* ---- the store ------------------------------------------------------------------------------- */

/* Counts the stored rows of each request. Returns whether the store can be read. */
static bool count_rows(const char *store, unsigned char *rows)
{
    struct hm_store_filter filter = {.sort = "id", .limit = 5000};
    struct hm_store_page *page = NULL;
    struct hm_store *open;
    struct hm_err err = {0};

    if (hm_store_open(store, &open, &err))
        return fprintf(stderr, "%s\n", err.message), false;
    for (bool more = true; more; more = page->next) {
        char *after = page ? strdup(page->next) : NULL;
        long number;
        int row;
        hm_store_page_free(page);
        filter.after = after;
        if (hm_store_list(open, &filter, &page, &err))
            return fprintf(stderr, "%s\n", err.message), false;
        for (size_t i = 0; i < page->count; i++) {
            const struct hm_stored *run = &page->runs[i];
            bool known = run->key && sscanf(run->key, "s-%ld-%d", &number, &row) == 2 &&
                         number >= 0 && number < stores && run->n == row + 1 &&
                         run->seconds == (double)number + 1.5;
            if (known)
                rows[number]++;
            else if (run->key)
                wrong++;
        }
        added += (long)page->count;
        free(after);
    }
    hm_store_page_free(page);
    hm_store_close(open);
    return true;
}

static void check_store(const char *store)
{
    unsigned char *rows = calloc((size_t)stores + 1, 1);

    if (!rows)
        child_give_up("calloc");
    wrong += !count_rows(store, rows);
    for (long i = 0; i < stores; i++)
        if (rows[i] != ROWS && (rows[i] != 0 || acknowledged[i])) {
            printf("# request %ld has %d of %d rows and was %sacknowledged\n", i, rows[i], ROWS,
                   acknowledged[i] ? "" : "not ");
            wrong++;
        }
    free(rows);
}

/* ---- the whole run --------------------------------------------------------------------------- */

static pid_t start(const char *program, const char *store, const char *library, const char *file)
{
    static char preload[4200], path[4200];
    char *const environment[] = {preload, path, NULL};
    pid_t pid;

    snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
    snprintf(path, sizeof(path), "FAIL_ALLOC=%s", file);
    atomic_store(&control->after, -1);
    atomic_store(&control->live, 0);
    port = child_server_start(program, store, environment, &pid);
    if (atomic_load(&control->asked) == 0)
        child_give_up("the library is not loaded");
    return pid;
}

static void map_control(const char *file)
{
    int f = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (f < 0 || ftruncate(f, sizeof(*control)) != 0)
        child_give_up(file);
    control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    if (control == MAP_FAILED)
        child_give_up("mmap");
    close(f);
}

/*
 * Tries every allocation of every request in both ways, or one in `step`; of a request with very
 * many allocations a part in each round.
 */
static void sweep(long step, unsigned *seed)
{
    for (size_t i = 0; i < QUESTIONS; i++) {
        long own = step + 2 * allocations[i] / SWEEP_MAX;
        for (long k = rand_r(seed) % own; k < 2 * allocations[i]; k += own)
            try_once(i, k / 2, k % 2);
    }
}

int main(int argc, char **argv)
{
    char store[4096], file[4096];
    long whole = 0, wanted = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    unsigned seed = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 1;

    if (argc < 4)
        return fprintf(stderr, "starve PROGRAM LIBRARY FOLDER [TRIALS [SEED]]\n"), 2;
    snprintf(store, sizeof(store), "%s/runs.db", argv[3]);
    snprintf(file, sizeof(file), "%s/control", argv[3]);
    signal(SIGPIPE, SIG_IGN);
    if (!(acknowledged = calloc(1 << 22, 1)))
        child_give_up("calloc");
    largest = 16;
    map_control(file);
    pid_t pid = start(argv[1], store, argv[2], file);
    ask_all();
    child_server_stop(pid, SIGTERM);
    long before = atomic_load(&control->live);
    pid = start(argv[1], store, argv[2], file);
    ask_all();
    ask_all(); /* What the server reads once, such as the catalog, is not counted. */
    for (size_t i = 0; i < QUESTIONS; i++)
        whole += 2 * allocations[i];
    double from = client_now();
    do {
        sweep(wanted > 0 && wanted < whole ? whole / wanted : 1, &seed);
        largest = 4 + rand_r(&seed) % 60;
        ask_all();
    } while (wrong == 0 && trials < wanted);
    child_server_stop(pid, SIGTERM);
    long leaked = atomic_load(&control->live) - before;
    check_store(store);
    printf("# %ld trials of %d requests, %ld failed allocations: %ld refused, %ld closed, %ld "
           "wrong; %ld rows stored; %ld allocations are not freed, %ld without failures; %.0f s\n",
           trials, QUESTIONS, atomic_load(&control->failed), refused, closed, wrong, added,
           leaked + before, before, client_now() - from);
    unlink(file);
    /* The C library may keep a few more or fewer for itself. */
    return wrong > 0 || leaked > 8;
}
