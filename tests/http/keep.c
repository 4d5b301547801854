/*
 * Checks that a server loses no run that it acknowledged. Writers add runs over HTTP, each with a
 * key; the server is killed (SIGKILL) at random moments and started again; a writer that got no
 * response sends its request again. In the end the store must contain every acknowledged run once,
 * with the values that were sent, and no other run.
 *
 *     keep PROGRAM STORE KILLS [SERVERS [SEED]]
 *
 * Several servers share the store, and each kill ends one of them. STORE must be empty at the
 * start. The counts are printed; the exit code is 0 if no run is missing, duplicated or wrong.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child_server.h"
#include "client.h"
#include "howmany_store.h"

#ifdef HM_SQLITE3
#include <sqlite3.h>
#endif

enum { WRITERS = 8, ROWS = 5, SERVERS_MAX = 4, PATIENCE_S = 60 };

static const char *program, *store;

struct server {
    pid_t pid;
    atomic_int port; /* Port of the server; 0 if the server does not run. */
};

static struct server servers[SERVERS_MAX];
static int server_count = 1;
static atomic_bool ending;

/* A writer, which has sent the requests 0..sent-1; all but the last have been acknowledged. */
struct writer {
    pthread_t thread;
    int number;
    long acknowledged;
    long again; /* Number of requests that were sent more than once. */
    unsigned seed;
    bool lost; /* True if the writer has stopped after a timeout. */
};

/* ---- servers --------------------------------------------------------------------------------- */

/* Start a server and wait until it is ready. Returns the seconds that this took. */
static double start(struct server *s)
{
    double from = client_now();
    int port = child_server_start(program, store, NULL, &s->pid);

    atomic_store(&s->port, port);
    return client_now() - from;
}

static void stop(struct server *s, int signal)
{
    atomic_store(&s->port, 0);
    child_server_stop(s->pid, signal);
}

/* ---- writers --------------------------------------------------------------------------------- */

/* Returns the number of rows of a request. The number of rows and their values depend only on the
 * number of the request. */
static int rows_of(int writer, long number)
{
    return (int)((number + writer) % ROWS) + 1;
}

static double seconds_of(int writer, long number, int row)
{
    return 1 + writer + (double)number / 4 + row / 8.0;
}

static size_t write_request(const struct writer *w, long number, char *text, size_t room)
{
    char body[1024];
    size_t length = 0;
    int rows = rows_of(w->number, number);

    for (int i = 0; i < rows; i++)
        length +=
            (size_t)snprintf(body + length, sizeof(body) - length, "%s{\"n\":%d,\"seconds\":%.17g}",
                             i ? "," : "[", w->number + 1, seconds_of(w->number, number, i));
    length += (size_t)snprintf(body + length, sizeof(body) - length, "]");
    return (size_t)snprintf(text, room,
                            "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                            "application/json\r\nContent-Length: %zu\r\nIdempotency-Key: "
                            "w%d-%ld\r\n\r\n%s",
                            length, w->number, number, body);
}

/* Send a request once, to a server that the writer chooses. Returns whether it was acknowledged. */
static bool attempt(struct writer *w, int *socket, const char *text, size_t length)
{
    int port = atomic_load(&servers[rand_r(&w->seed) % server_count].port);
    bool keep = false;
    int status = -1;

    if (*socket < 0 && port > 0)
        *socket = client_connect(port, 20);
    if (*socket >= 0 && client_send(*socket, text, length))
        status = client_status(*socket, &keep);
    if (!keep && *socket >= 0) {
        close(*socket);
        *socket = -1;
    }
    return status == 200;
}

static void *write_runs(void *context)
{
    struct writer *w = context;
    char text[2048];
    int socket = -1;

    while (!atomic_load(&ending) && !w->lost) {
        size_t length = write_request(w, w->acknowledged, text, sizeof(text));
        double from = client_now();
        bool first = true;
        while (!attempt(w, &socket, text, length)) {
            if (client_now() - from > PATIENCE_S) {
                w->lost = true;
                break;
            }
            first = false;
            usleep(2000);
        }
        w->again += !first;
        w->acknowledged += !w->lost;
    }
    if (socket >= 0)
        close(socket);
    return NULL;
}

/* ---- checking the store ---------------------------------------------------------------------- */

/* Whether a row was sent by its writer and is found for the first time; marks the row as found. */
static bool tick(unsigned char *const *seen, const struct writer *writers,
                 const struct hm_stored *run)
{
    int writer, row;
    long number;

    if (!run->key || sscanf(run->key, "w%d-%ld-%d", &writer, &number, &row) != 3 || writer < 0 ||
        writer >= WRITERS || number < 0 || number > writers[writer].acknowledged || row < 1 ||
        row > rows_of(writer, number))
        return false;
    if (run->n != writer + 1 || run->seconds != seconds_of(writer, number, row - 1))
        return false;
    unsigned char *place = &seen[writer][number * ROWS + row - 1];
    return ++*place == 1;
}

/* Returns the number of rows that are missing, duplicated or unknown. */
static long look(const struct writer *writers, long *ret_rows)
{
    struct hm_store_filter filter = {.sort = "id", .limit = 5000};
    struct hm_store_page *page = NULL;
    struct hm_store *open;
    struct hm_err err = {0};
    unsigned char *seen[WRITERS];
    long wrong = 0;

    for (int w = 0; w < WRITERS; w++)
        if (!(seen[w] = calloc((size_t)(writers[w].acknowledged + 1) * ROWS, 1)))
            child_give_up("calloc");
    if (hm_store_open(store, &open, &err))
        return fprintf(stderr, "%s\n", err.message), 1;
    for (bool more = true; more; more = page->next) {
        char *after = page ? strdup(page->next) : NULL;
        hm_store_page_free(page);
        filter.after = after;
        if (hm_store_list(open, &filter, &page, &err))
            return fprintf(stderr, "%s\n", err.message), 1;
        for (size_t i = 0; i < page->count; i++)
            wrong += !tick(seen, writers, &page->runs[i]);
        *ret_rows += (long)page->count;
        free(after);
    }
    hm_store_page_free(page);
    hm_store_close(open);
    for (int w = 0; w < WRITERS; w++) {
        for (long k = 0; k < writers[w].acknowledged; k++)
            for (int row = 0; row < rows_of(w, k); row++)
                wrong += seen[w][k * ROWS + row] != 1;
        free(seen[w]);
    }
    return wrong;
}

/* Whether the integrity check of SQLite succeeds. */
static bool is_sound(void)
{
    bool sound = true;
#ifdef HM_SQLITE3
    sqlite3 *db = NULL;
    sqlite3_stmt *check = NULL;

    if (strstr(store, "://"))
        return true;
    sound = sqlite3_open(store, &db) == SQLITE_OK &&
            sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL) == SQLITE_OK &&
            sqlite3_step(check) == SQLITE_ROW &&
            strcmp((const char *)sqlite3_column_text(check, 0), "ok") == 0;
    sqlite3_finalize(check);
    sqlite3_close(db);
#endif
    return sound;
}

int main(int argc, char **argv)
{
    static struct writer writers[WRITERS];
    long kills = argc > 3 ? strtol(argv[3], NULL, 10) : 0, requests = 0, again = 0, rows = 0;
    double worst = 0, sum = 0;
    bool lost = false;

    if (argc < 4)
        return fprintf(stderr, "keep PROGRAM STORE KILLS [SERVERS [SEED]]\n"), 2;
    program = argv[1];
    store = argv[2];
    server_count = argc > 4 ? atoi(argv[4]) : 1;
    unsigned seed = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 1;
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < server_count; i++)
        start(&servers[i]);
    for (int w = 0; w < WRITERS; w++) {
        writers[w].number = w;
        writers[w].seed = seed * 100 + (unsigned)w;
        pthread_create(&writers[w].thread, NULL, write_runs, &writers[w]);
    }
    for (long k = 0; k < kills; k++) {
        struct server *s = &servers[rand_r(&seed) % server_count];
        usleep((useconds_t)(rand_r(&seed) % 40000));
        stop(s, SIGKILL);
        double seconds = start(s);
        worst = seconds > worst ? seconds : worst;
        sum += seconds;
    }
    atomic_store(&ending, true);
    for (int w = 0; w < WRITERS; w++) {
        pthread_join(writers[w].thread, NULL);
        requests += writers[w].acknowledged;
        again += writers[w].again;
        lost = lost || writers[w].lost;
    }
    for (int i = 0; i < server_count; i++)
        stop(&servers[i], SIGTERM);
    long wrong = look(writers, &rows);
    bool sound = is_sound();
    printf("# %ld kills, %ld requests acknowledged (%ld sent again), %ld runs, %ld wrong; ready "
           "after %.0f ms, at most %.0f ms; the store is %s\n",
           kills, requests, again, rows, wrong, kills ? 1000 * sum / (double)kills : 0,
           1000 * worst, sound ? "sound" : "damaged");
    return wrong > 0 || !sound || lost || requests == 0;
}
