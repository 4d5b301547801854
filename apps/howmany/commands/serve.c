/*
 * Implements the command howmany serve, which runs an HTTP server that gives the same answers as
 * the commands.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "cli.h"
#include "err.h"
#include "folders.h"
#include "http_address.h"
#include "http_confine.h"
#include "http_log.h"
#include "json.h"
#include "listing.h"
#include "own_store.h"
#include "readers.h"

enum { DRAIN_S = 10, CACHE_BYTES = 32 << 20, WAITERS = 128 };

struct serve_state {
    const char *listen, *token_file, *make_token, *record, *progress, *hosts;
    double body_limit, connections, per_address, workers, queue, time_limit, memory_limit,
        buffer_limit;
    bool quiet;
    /* True if the store is on another machine, so that the server must be allowed to connect to
     * it. */
    bool connects;
    char host[HTTP_ADDRESS];
    int port;
    /*
     * Paths of the store and of the list of running commands (board); empty strings if there are
     * none.
     */
    char store_path[CLI_STORE_ROOM], board_path[PATH_MAX];
    struct tokens *tokens;
    struct hm_catalog *catalog;
    struct api_store *store; /* Store of runs; NULL if there is none. */
    struct http_log *log;    /* Log of requests; NULL if there is none. */
    struct hm_board *board;  /* List of running commands; NULL if there is none. */
    struct api *api;
};

enum option {
    LISTEN,
    RECORD,
    PROGRESS,
    TOKEN_FILE,
    MAKE_TOKEN,
    HOST,
    BODY_LIMIT,
    CONNECTIONS,
    PER_ADDRESS,
    WORKERS,
    QUEUE,
    TIME_LIMIT,
    MEMORY_LIMIT,
    BUFFER_LIMIT,
    QUIET
};

static const struct cli_option options[] = {
    [LISTEN] = {"listen", 0, "ADDRESS:PORT",
                "address to listen on (default 127.0.0.1:8080); port 0 means any free port", NULL},
    [RECORD] = {"record", 'r', "STORE",
                "store of runs: a file (.db), postgresql://…, or none (default: HOWMANY_DB, "
                "else your own store)",
                "@file"},
    [PROGRESS] = {"progress", 0, "FILE",
                  "file in which running commands report their progress, or none (default: "
                  "HOWMANY_PROGRESS, else next to your own store)",
                  "@file"},
    [TOKEN_FILE] = {"token-file", 0, "FILE",
                    "accepted tokens: each line is a SHA-256 hash and a scope; needed unless the "
                    "address is loopback",
                    "@file"},
    [MAKE_TOKEN] = {"make-token", 0, "SCOPE",
                    "print a new token and its line for the file: read, write or read,write",
                    "read write read,write"},
    [HOST] = {"host", 0, "NAME[,…]",
              "names of this server that clients may use, besides those of this machine; needs "
              "--token-file",
              NULL},
    [BODY_LIMIT] = {"body-limit", 0, "SIZE",
                    "largest body of a request (default 1 MiB, at most 4 MiB)", NULL},
    [CONNECTIONS] = {"connections", 0, "N", "largest number of open connections (default 4096)",
                     NULL},
    [PER_ADDRESS] = {"per-address", 0, "N",
                     "largest number of open connections per client address (default 512)", NULL},
    [WORKERS] = {"workers", 0, "N",
                 "threads that compute answers (default: processors, at least 2)", NULL},
    [QUEUE] = {"queue", 0, "N",
               "requests that may wait for a thread (default 64); further ones get 503", NULL},
    [TIME_LIMIT] = {"time-limit", 0, "TIME",
                    "longest time of a request (default 5s); a longer one gets 503", NULL},
    [MEMORY_LIMIT] = {"memory-limit", 0, "SIZE",
                      "largest memory of a request (default 256 MB); a larger one gets 503", NULL},
    [BUFFER_LIMIT] = {"buffer-limit", 0, "SIZE",
                      "largest memory for the bodies and answers of all clients (default 128 MiB); "
                      "further ones get 503",
                      NULL},
    [QUIET] = {"quiet", 'q', NULL, "do not log requests on standard error", NULL},
};

static void *serve_begin(void)
{
    struct serve_state *s = calloc(1, sizeof(*s));
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    if (s) {
        s->listen = "127.0.0.1:8080";
        s->body_limit = 1 << 20;
        s->connections = 4096;
        s->per_address = 512;
        s->workers = processors > 2 ? (double)processors : 2;
        s->queue = 64;
        s->time_limit = 5;
        s->memory_limit = 256e6;
        s->buffer_limit = 128 << 20;
    }
    return s;
}

static void serve_end(void *state)
{
    struct serve_state *s = state;

    api_free(s->api);
    api_store_free(s->store);
    http_log_free(s->log);
    hm__board_close(s->board);
    tokens_free(s->tokens);
    hm_catalog_free(s->catalog);
    free(s);
}

static int read_bytes(const char *name, const char *value, double *ret_bytes)
{
    static const double MOST = 0x1p50; /* More than any machine has, and an exact size_t. */
    int rc = cli_positive(name, value, HM_DIM_BYTES, ret_bytes);

    if (rc == 0 && *ret_bytes > MOST)
        rc = cli_complain("--%s: '%s' is more than 1 PiB", name, value);
    return rc;
}

static int serve_accept(void *state, int option, const char *value)
{
    struct serve_state *s = state;
    int rc;

    switch (option) {
    case -1:
        return cli_complain("serve: '%s' is not an option; serve has no operands", value);
    case LISTEN:
        s->listen = value;
        return 0;
    case RECORD:
        s->record = value;
        return 0;
    case PROGRESS:
        s->progress = value;
        return 0;
    case TOKEN_FILE:
        s->token_file = value;
        return 0;
    case MAKE_TOKEN:
        s->make_token = value;
        return 0;
    case HOST:
        s->hosts = value;
        return 0;
    case BODY_LIMIT:
        rc = cli_positive("body-limit", value, HM_DIM_BYTES, &s->body_limit);
        if (rc == 0 && s->body_limit > HM_VALUE_BYTES)
            rc = cli_complain("--body-limit: '%s' is more than 4 MiB", value);
        return rc;
    case CONNECTIONS:
        return cli_whole("connections", value, 1, 100000, &s->connections);
    case PER_ADDRESS:
        return cli_whole("per-address", value, 1, 100000, &s->per_address);
    case WORKERS:
        return cli_whole("workers", value, 1, 256, &s->workers);
    case QUEUE:
        return cli_whole("queue", value, 0, 100000, &s->queue);
    case TIME_LIMIT:
        return cli_positive("time-limit", value, HM_DIM_TIME, &s->time_limit);
    case MEMORY_LIMIT:
        return read_bytes("memory-limit", value, &s->memory_limit);
    case BUFFER_LIMIT:
        return read_bytes("buffer-limit", value, &s->buffer_limit);
    default:
        s->quiet = true;
        return 0;
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

static void log_request(void *context, const struct http_request *r,
                        const struct http_response *response, double seconds, size_t received)
{
    struct serve_state *s = context;
    struct hm_text line = {0};
    struct hm_json json = {.out = &line};
    char text[32];

    api_done(s->api, r, response, seconds);
    if (!s->log)
        return;
    http_log_begin(&json);
    hm__json_put_text(&json, "id", r->id);
    hm__json_put_text(&json, "address", r->address);
    hm__json_put_text(&json, "method", r->method);
    hm__json_put_text(&json, "path", r->path);
    hm__json_put_number(&json, "status", response->status);
    snprintf(text, sizeof(text), "%.6f", seconds);
    hm__json_put_raw(&json, "seconds", text);
    hm__json_put_number(&json, "received", (double)received);
    hm__json_put_number(&json, "sent", (double)response->length);
    if (response->refusal != HTTP_REFUSAL_NONE)
        hm__json_put_text(&json, "refused", http_refusal_name(response->refusal));
    http_log_end(s->log, &json);
}

/* Logs that the server closed a connection before its request was complete. */
static void log_closed(void *context, const char *address, enum http_refusal refusal)
{
    struct serve_state *s = context;
    struct hm_text line = {0};
    struct hm_json json = {.out = &line};

    api_closed(s->api, refusal);
    if (!s->log)
        return;
    http_log_begin(&json);
    hm__json_put_text(&json, "address", address);
    hm__json_put_text(&json, "cut", http_refusal_name(refusal));
    http_log_end(s->log, &json);
}

static enum http_next handle_quick(void *context, const struct http_request *r,
                                   struct http_response *out)
{
    return api_quick(((struct serve_state *)context)->api, r, out);
}

static bool handle_admit(void *context, const struct http_request *r, struct http_response *out)
{
    return api_admit(((struct serve_state *)context)->api, r, out);
}

static void handle_work(void *context, const struct http_request *r, struct http_response *out)
{
    api_work(((struct serve_state *)context)->api, r, out);
}

static void handle_group(void *context, const struct http_request *const *requests,
                         struct http_response *const *responses, size_t count)
{
    api_work_group(((struct serve_state *)context)->api, requests, responses, count);
}

static void handle_after_group(void *context)
{
    api_after_group(((struct serve_state *)context)->api);
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static int make_token(const char *scope)
{
    char token[TOKEN_TEXT], hash[TOKEN_TEXT];
    struct hm_err err = {0};

    if (tokens_scope_find(scope, strlen(scope)) == 0)
        return cli_complain("--make-token: '%s' is not read, write or read,write", scope);
    if (tokens_make(token, hash, &err))
        return cli_report(&err);
    printf("%s\n%s %s\n", token, hash, scope);
    return EXIT_ANSWERED;
}

static int load_tokens(struct serve_state *s)
{
    struct hm_err err = {0};
    size_t length;

    if (!s->token_file && !http_is_loopback(s->host))
        return cli_complain("--listen: %s is reachable from other machines; give --token-file to "
                            "restrict access",
                            s->host);
    if (!s->token_file && s->hosts)
        return cli_complain("--host: other names are served only with --token-file");
    if (!s->token_file)
        return 0;
    char *text = cli_read(s->token_file, &length, &err);
    int rc = text ? tokens_parse(text, length, s->token_file, &s->tokens, &err) : err.code;
    hm_text_free(text);
    return rc ? cli_report(&err) : 0;
}

/* ---- the store and the board ----------------------------------------------------------------- */

/*
 * Replaces a path that is a symbolic link by its target, which need not exist yet. The files next
 * to a store or a board are made in the folder of the target, so that folder is the one that must
 * be writable. A path that is too long is kept.
 */
static void follow_links(char *path, size_t room)
{
    enum { LINKS = 40 }; /* Largest number of links that the kernel follows, too. */

    for (int i = 0; i < LINKS; i++) {
        char target[PATH_MAX], joined[2 * PATH_MAX];
        ssize_t length = readlink(path, target, sizeof(target) - 1);
        if (length <= 0)
            return;
        target[length] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
        int folder = slash ? (int)(slash - path) + 1 : 0;
        snprintf(joined, sizeof(joined), "%.*s%s", folder, path, target);
        if (strlen(joined) >= room)
            return;
        snprintf(path, room, "%s", joined);
    }
}

/*
 * Finds the store and the list of running commands (board), and creates the folders of their
 * default paths.
 */
static int find_files(struct serve_state *s)
{
    char path[CLI_STORE_ROOM];
    struct hm_err err = {0};

    if (!s->record || strcmp(s->record, "none") != 0) {
        const char *where = cli_store_find(s->record, path, &err);
        if (!where)
            return cli_report(&err);
        if (strlen(where) >= sizeof(s->store_path))
            return cli_complain("--record: the name of the store is too long");
        snprintf(s->store_path, sizeof(s->store_path), "%s", where);
        s->connects = strstr(where, "://") != NULL;
        if (!s->connects)
            follow_links(s->store_path, sizeof(s->store_path));
    }
    if (s->progress && strcmp(s->progress, "none") != 0)
        snprintf(s->board_path, sizeof(s->board_path), "%s", s->progress);
    else if (!s->progress && !cli_board_find(s->board_path))
        s->board_path[0] =
            '\0'; /* An empty path means that there is no list of running commands. */
    follow_links(s->board_path, sizeof(s->board_path));
    if (s->board_path[0] && cli_folders_make(s->board_path, &err) && s->progress) {
        hm__err_field(&err, "--progress");
        return cli_report(&err);
    }
    return 0;
}

/*
 * Restricts writing to the folders of the store and of the list of running commands. Threads
 * inherit the restriction, so it is set before the first thread starts. SQLite keeps its temporary
 * files in the folder of the store.
 */
static int confine_files(const struct serve_state *s)
{
    const char *files[] = {s->store_path[0] && !s->connects ? s->store_path : NULL,
                           s->board_path[0] ? s->board_path : NULL};
    const char *slash = files[0] ? strrchr(files[0], '/') : NULL;
    struct hm_err err = {0};

    if (slash) {
        char folder[CLI_STORE_ROOM];
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - files[0]) + 1, files[0]);
        setenv("SQLITE_TMPDIR", folder, 0);
    } else if (files[0]) {
        setenv("SQLITE_TMPDIR", ".", 0);
    }
    return http_confine_files(files, 2, &err) ? cli_report(&err) : 0;
}

/* Tells the user why startup takes long; it takes about one second per 400 MB. */
static void announce_check(const char *store)
{
    struct stat file;

    if (stat(store, &file) == 0 && file.st_size > 400000000)
        fprintf(stderr, "howmany: checking the store %s of %.1f GB for damage\n", store,
                (double)file.st_size / 1e9);
}

/*
 * Opens the store. It is an error if a store that the user named cannot be opened. If this build
 * does not support the default store, a message says that runs are not stored.
 */
static int open_store(struct serve_state *s)
{
    /* If the server has several worker threads, one of them stays free for requests that do not
     * need the store. */
    size_t readers = s->workers > 1 ? (size_t)s->workers - 1 : 1;
    struct hm_err err = {0};

    announce_check(s->store_path);
    if (!s->store_path[0] || api_store_new(s->store_path, readers, &s->store, &err) == 0)
        return 0;
    if (err.code != HM_E_UNSUPPORTED || s->record)
        return cli_report(&err);
    fprintf(stderr, "howmany: runs are not stored: %s\n", err.message);
    return 0;
}

/*
 * Opens the list of running commands (board). It is an error if a list that the user named cannot
 * be opened.
 */
static int open_board(struct serve_state *s)
{
    struct hm_err err = {0};

    if (!s->board_path[0] || hm__board_create(s->board_path, &s->board, &err) == 0)
        return 0;
    if (s->progress) {
        hm__err_field(&err, "--progress");
        return cli_report(&err);
    }
    fprintf(stderr, "howmany: running commands are not listed: %s\n", err.message);
    return 0;
}

/* ---- running --------------------------------------------------------------------------------- */

static struct http_settings settings_of(const struct serve_state *s)
{
    return (struct http_settings){
        .host = s->host,
        .port = s->port,
        .threads = 2,
        .workers = (int)s->workers,
        .slow = 2 * (int)s->workers,
        .waiters = WAITERS,
        .queue = (size_t)s->queue,
        .body_limit = (size_t)s->body_limit,
        .held_bytes = (size_t)s->buffer_limit,
        .connections = (size_t)s->connections,
        .address_connections = (size_t)s->per_address,
        .header_s = 10,
        .body_s = 14,
        .body_rate = 512,
        .idle_s = 30,
    };
}

/* Waits for a signal that ends the server; the signals must be blocked in every thread. */
static void wait_for_end(const sigset_t *signals)
{
    int which;

    while (sigwait(signals, &which) != 0)
        ;
}

/*
 * Waits for the running requests to end. If some do not end in time, exits without freeing the data
 * that they use.
 */
static int shut_down(struct serve_state *s, struct http_server *server)
{
    api_shut_down(s->api);
    if (!http_drain(server, DRAIN_S)) {
        http_log_flush(s->log, 1);
        _exit(EXIT_ANSWERED);
    }
    api_attach(s->api, NULL);
    http_stop(server);
    return EXIT_ANSWERED;
}

/* Prints the address on standard output. The server also runs if this fails. */
static void print_address(const char *host, int port)
{
    bool six = strchr(host, ':') != NULL;

    errno = 0;
    if (printf(six ? "http://[%s]:%d\n" : "http://%s:%d\n", host, port) < 0 || fflush(stdout) != 0)
        cli_complain("serve: the port is %d; the address cannot be printed: %s", port,
                     strerror(errno));
    clearerr(stdout);
}

static int run_server(struct serve_state *s)
{
    struct http_settings settings = settings_of(s);
    struct http_handler handler = {.context = s,
                                   .quick = handle_quick,
                                   .admit = handle_admit,
                                   .work = handle_work,
                                   .work_group = handle_group,
                                   .after_group = handle_after_group,
                                   .refuse = api_refuse,
                                   .done = log_request,
                                   .closed = log_closed};
    struct http_server *server;
    struct hm_err err = {0};
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (http_start(&settings, &handler, &server, &err))
        return cli_report(&err);
    /* The process is restricted after all threads have been started, because the restriction must
     * apply to all of them at once. Connections to other machines remain allowed only if the store
     * is on a PostgreSQL server. */
    if (http_confine(s->connects, &err))
        return cli_report(&err);
    api_attach(s->api, server);
    print_address(s->host, http_port(server));
    wait_for_end(&signals);
    return shut_down(s, server);
}

static int serve_run(void *state)
{
    struct serve_state *s = state;
    struct hm_err err = {0};

    if (s->make_token)
        return make_token(s->make_token);
    if (http_address_read(s->listen, s->host, &s->port, &err)) {
        hm__err_field(&err, "--listen");
        return cli_report(&err);
    }
    int rc = load_tokens(s);
    if (rc)
        return rc;
    if (!(s->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    if ((rc = find_files(s)) || (rc = confine_files(s)) || (rc = open_store(s)) ||
        (rc = open_board(s)))
        return rc;
    if (!s->quiet && !(s->log = http_log_new(STDERR_FILENO)))
        return cli_complain("serve: the log of requests cannot be started");
    struct api_settings settings = {.catalog = s->catalog,
                                    .log = s->log,
                                    .store = s->store,
                                    .board = s->board,
                                    .tokens = s->tokens,
                                    .hosts = s->hosts,
                                    .cache_bytes = CACHE_BYTES,
                                    .seconds = s->time_limit,
                                    .bytes = (size_t)s->memory_limit};
    if (!(s->api = api_new(&settings, &err)))
        return cli_report(&err);
    return run_server(s);
}

static const struct cli_heading headings[] = {{"listen", "address and store"},
                                              {"token-file", "access"},
                                              {"body-limit", "limits"},
                                              {"quiet", "output"},
                                              {NULL, NULL}};

const struct cli_command cli_serve = {
    .name = "serve",
    .examples = {"howmany serve", "howmany serve --listen 127.0.0.1:8081",
                 "howmany serve --record team.db --quiet"},
    .arguments = "",
    .summary = "answer the same requests over HTTP",
    .description =
        "Listens on an address and gives the answers of the commands plan, fit, design, advise, "
        "recommend, runs and catalog as JSON. Prints its address on standard output, and one line "
        "of JSON for each request on standard error. No request can start a program, or read or "
        "write a file. An address that other machines can reach needs tokens: --make-token prints "
        "a token and its line for --token-file. After SIGTERM or SIGINT, running requests have ten "
        "seconds to end.\n\n"
        "Exit status: 0 after a signal; 2 wrong usage, or an address that is not available.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .headings = headings,
    .operands = NULL,
    .accept = serve_accept,
    .run = serve_run,
    .begin = serve_begin,
    .end = serve_end,
};
