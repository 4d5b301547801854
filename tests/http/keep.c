/*
 * Checks that a server loses no run that it acknowledged. Writers add runs over HTTP, each with a
 * key; the server is killed (SIGKILL) and started again; a writer that got no response sends its
 * request again. A kill comes a random time after a random number of acknowledgements, or, one time
 * in eight, while the server starts and recovers what the last kill left. Then the store must
 * contain every acknowledged run once, with the values that were sent, and no other run.
 *
 *     keep PROGRAM STORE KILLS [SERVERS [SEED]]
 *
 * Several servers share the store, and each kill ends one of them. STORE must be empty at the
 * start. If it is a file, it is checked and removed after every ROUND kills, and sometimes after
 * four times as many, so that the time of a kill does not grow with their number; after every
 * second round it is checked as the last kill left it. The counts are printed; the exit code is 0
 * if no run is missing, duplicated or wrong.
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

enum { WRITERS = 8, ROWS = 5, SERVERS_MAX = 4, PATIENCE_S = 600, ROUND = 50 };
/* Largest number of acknowledgements before a kill, and largest times: between the last of them and
 * the kill, from the start of a process to a kill during the start, and of waiting for
 * acknowledgements. */
enum { ACKNOWLEDGED_MAX = 8, DELAY_US = 1000, STARTING_US = 6000, WAITING_MS = 500 };

static const char *program, *store;

struct server {
    pid_t pid;
    atomic_int port; /* Port of the server; 0 if the server does not run. */
};

static struct server servers[SERVERS_MAX];
static int server_count = 1;
static atomic_bool ending;
static atomic_int in_flight; /* Number of requests that wait for their response. */

/* Protects `acknowledgements`; the conditions are signalled when a server has started, and when the
 * number of acknowledgements has reached `wanted`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t started = PTHREAD_COND_INITIALIZER, reached = PTHREAD_COND_INITIALIZER;
static long acknowledgements, wanted = -1;

/* A writer, which has sent the requests 0..sent-1; all but the last have been acknowledged. */
struct writer {
    pthread_t thread;
    int number;
    long acknowledged;
    long again; /* Number of requests that were sent more than once. */
    unsigned seed;
    bool lost; /* True if the writer has stopped after a timeout. */
};

/* Returns the time in some milliseconds, for pthread_cond_timedwait. */
static struct timespec in_ms(long ms)
{
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000;
    at.tv_sec += at.tv_nsec / 1000000000;
    at.tv_nsec %= 1000000000;
    return at;
}

/* ---- servers --------------------------------------------------------------------------------- */

static void pause_us(long us)
{
    struct timespec time = {.tv_nsec = us * 1000};

    nanosleep(&time, NULL);
}

/* Starts a server and waits until it listens. Returns the seconds that this took. */
static double start(struct server *s)
{
    double from = client_now();
    int port = child_server_port(child_server_spawn(program, store, NULL, &s->pid));

    if (port == 0)
        child_give_up("the server does not start");
    pthread_mutex_lock(&lock);
    atomic_store(&s->port, port);
    pthread_cond_broadcast(&started);
    pthread_mutex_unlock(&lock);
    return client_now() - from;
}

/* Starts a server and kills it while it starts. */
static void start_and_kill(struct server *s, unsigned *seed)
{
    int output = child_server_spawn(program, store, NULL, &s->pid);

    pause_us(rand_r(seed) % STARTING_US);
    child_server_stop(s->pid, SIGKILL);
    close(output);
}

static void stop(struct server *s, int signal)
{
    atomic_store(&s->port, 0);
    child_server_stop(s->pid, signal);
}

/* Waits until the servers have acknowledged a random number of requests, and a random time. */
static void let_write(unsigned *seed)
{
    struct timespec until = in_ms(WAITING_MS);

    pthread_mutex_lock(&lock);
    wanted = acknowledgements + rand_r(seed) % ACKNOWLEDGED_MAX;
    while (acknowledgements < wanted && pthread_cond_timedwait(&reached, &lock, &until) == 0)
        ;
    wanted = -1;
    pthread_mutex_unlock(&lock);
    pause_us(rand_r(seed) % DELAY_US);
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

/*
 * Sends a request once, to a server that the writer chooses. Returns whether it was acknowledged.
 */
static bool attempt(struct writer *w, int *socket, const char *text, size_t length)
{
    int port = atomic_load(&servers[rand_r(&w->seed) % server_count].port);
    bool keep = false;
    int status = -1;

    if (*socket < 0 && port > 0)
        *socket = client_connect(port, 20);
    atomic_fetch_add(&in_flight, 1);
    if (*socket >= 0 && client_send(*socket, text, length))
        status = client_status(*socket, &keep);
    atomic_fetch_sub(&in_flight, 1);
    if (!keep && *socket >= 0) {
        close(*socket);
        *socket = -1;
    }
    return status == 200;
}

/* Counts an acknowledgement. */
static void note_acknowledged(void)
{
    pthread_mutex_lock(&lock);
    if (++acknowledgements == wanted)
        pthread_cond_signal(&reached);
    pthread_mutex_unlock(&lock);
}

/* Waits until a server runs, for at most a moment. */
static void wait_for_server(void)
{
    struct timespec until = in_ms(100);
    bool runs = false;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < server_count; i++)
        runs = runs || atomic_load(&servers[i].port) > 0;
    if (!runs)
        pthread_cond_timedwait(&started, &lock, &until);
    pthread_mutex_unlock(&lock);
    /* A server that was just killed still has a port; do not try it again and again. */
    if (runs)
        usleep(500);
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
            wait_for_server();
        }
        w->again += !first;
        w->acknowledged += !w->lost;
        note_acknowledged();
    }
    if (socket >= 0)
        close(socket);
    return NULL;
}

/* ---- checking the store ---------------------------------------------------------------------- */

/*
 * Returns whether a row was sent by its writer and is found for the first time; marks the row as
 * found.
 */
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

/* Returns whether the integrity check of SQLite succeeds. */
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

/* Figures of all rounds. */
struct counts {
    long kills, starting, busy; /* Kills; those during a start, and with requests in flight. */
    long requests, again, rows, wrong;
    long ready; /* Number of starts that were waited for. */
    double ready_s, ready_max_s;
    bool lost;    /* True if a writer got no answer. */
    bool damaged; /* True if a check of the store failed. */
};

static bool is_failed(const struct counts *c)
{
    return c->wrong > 0 || c->lost || c->damaged;
}

/* Kills a server once, or several times if kills come while it starts, and leaves it running. */
static long kill_one(struct counts *c, long most, unsigned *seed)
{
    struct server *s = &servers[rand_r(seed) % server_count];
    long kills = 1;

    let_write(seed);
    c->busy += atomic_load(&in_flight) > 0;
    stop(s, SIGKILL);
    for (; kills < most && rand_r(seed) % 8 == 0; kills++, c->starting++)
        start_and_kill(s, seed);
    double seconds = start(s);
    c->ready++;
    c->ready_s += seconds;
    c->ready_max_s = seconds > c->ready_max_s ? seconds : c->ready_max_s;
    c->kills += kills;
    return kills;
}

/*
 * Writes into an empty store and kills its servers; then ends these by a signal and checks the
 * store.
 */
static void run_round(struct counts *c, long kills, int last_signal, unsigned *seed)
{
    struct writer writers[WRITERS] = {0};

    /* The first kills come while the schema is made. */
    for (int i = 0; i < 2 && kills > 2; i++, kills--, c->kills++, c->starting++)
        start_and_kill(&servers[0], seed);
    for (int i = 0; i < server_count; i++)
        start(&servers[i]);
    atomic_store(&ending, false);
    for (int w = 0; w < WRITERS; w++) {
        writers[w].number = w;
        writers[w].seed = *seed * 100 + (unsigned)w;
        pthread_create(&writers[w].thread, NULL, write_runs, &writers[w]);
    }
    while (kills > 0)
        kills -= kill_one(c, kills, seed);
    let_write(seed);
    atomic_store(&ending, true);
    for (int w = 0; w < WRITERS; w++) {
        pthread_join(writers[w].thread, NULL);
        c->requests += writers[w].acknowledged;
        c->again += writers[w].again;
        c->lost = c->lost || writers[w].lost;
    }
    for (int i = 0; i < server_count; i++)
        stop(&servers[i], last_signal);
    c->wrong += look(writers, &c->rows);
    c->damaged = c->damaged || !is_sound();
}

/* Removes the store, if it is a file. */
static void remove_store(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[4096];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(path, sizeof(path), "%s%s", store, ends[i]);
        unlink(path);
    }
}

int main(int argc, char **argv)
{
    struct counts c = {0};

    if (argc < 4)
        return fprintf(stderr, "keep PROGRAM STORE KILLS [SERVERS [SEED]]\n"), 2;
    program = argv[1];
    store = argv[2];
    long kills = strtol(argv[3], NULL, 10);
    server_count = argc > 4 ? atoi(argv[4]) : 1;
    unsigned seed = argc > 5 ? (unsigned)strtoul(argv[5], NULL, 10) : 1;
    signal(SIGPIPE, SIG_IGN);
    bool file = !strstr(store, "://");
    for (long round = 0; c.kills < kills && !is_failed(&c); round++) {
        long left = kills - c.kills, most = rand_r(&seed) % 8 ? ROUND : 4 * ROUND;
        run_round(&c, file && left > most ? most : left, round % 2 ? SIGKILL : SIGTERM, &seed);
        if (file && !is_failed(&c) && c.kills < kills)
            remove_store();
    }
    printf("# %ld kills (%ld with requests in flight, %ld during a start), %ld requests "
           "acknowledged (%ld sent again), %ld runs, %ld wrong; ready after %.0f ms, at most %.0f "
           "ms; the store is %s%s\n",
           c.kills, c.busy, c.starting, c.requests, c.again, c.rows, c.wrong,
           c.ready ? 1000 * c.ready_s / (double)c.ready : 0, 1000 * c.ready_max_s,
           c.damaged ? "damaged" : "sound", c.lost ? "; a writer got no answer" : "");
    return is_failed(&c) || c.requests == 0;
}
