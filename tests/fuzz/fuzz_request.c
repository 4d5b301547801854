/*
 * Fuzzes HTTP requests without sockets: the guard checks the head, and the handler gets the body.
 * An input is a whole request with lines that end in LF. The handler has a store in a temporary
 * file if the build has SQLite. After some additions the store is made anew, so that it stays small
 * and an input gives nearly the same result whenever it runs. A budget ends the work of the engines
 * early: the target tests the path of a request, and the engines have tests of their own.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "budget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parsed {
    char *text; /* Copy of the input, in which each part is a string that ends with NUL; owned. */
    struct http_header headers[HTTP_HEADERS_MAX];
    struct http_head head;
    const char *body;
    size_t length;
};

/* Splits off the next part, up to one of the characters in `ends`, which is replaced by NUL. */
static char *split_piece(char **at, const char *ends)
{
    char *piece = *at;
    size_t length = strcspn(piece, ends);

    *at = piece + length + (piece[length] != '\0');
    piece[length] = '\0';
    return piece;
}

static void add_header(struct parsed *p, char *line)
{
    char *at = line, *name = split_piece(&at, ":");

    at += strspn(at, " ");
    if (p->head.header_count < HTTP_HEADERS_MAX)
        p->headers[p->head.header_count] = (struct http_header){name, at, strlen(name), strlen(at)};
    p->head.header_count++;
}

static void parse(struct parsed *p, const uint8_t *data, size_t size)
{
    char *at = p->text;

    memcpy(p->text, data, size);
    p->head.method = split_piece(&at, " \n");
    p->head.target = split_piece(&at, " \n");
    p->head.version = split_piece(&at, "\n");
    while (*at && *at != '\n')
        add_header(p, split_piece(&at, "\n"));
    at += *at == '\n';
    p->head.headers = p->headers;
    p->body = at;
    p->length = size - (size_t)(at - p->text) <= size ? size - (size_t)(at - p->text) : 0;
}

static const char *value_of(const struct parsed *p, const char *name)
{
    const struct http_header *h = http_guard_find(&p->head, name);

    return h ? h->value : "";
}

enum {
    ADDITIONS_MAX = 16, /* Number of requests that add runs, after which the store is made anew. */
    CHECKS_MAX = 300    /* Number of checks of the budget after which a request ends with 503. */
};

static struct hm_catalog *catalog;
static struct api *api;
static struct api_store *store;
static char folder[64];
static int additions; /* Number of requests that added runs to the present store. */

static void remove_api(void)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char path[96];

    api_free(api);
    api_store_free(store);
    api = NULL;
    store = NULL;
    additions = 0;
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/runs.db%s", folder, endings[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Opens a store with a few runs and a trace. */
static void open_store(void)
{
    static const struct hm_stored_sample samples[] = {{1, 1, 1, 3}, {2, 1, 2, 2}, {3, 1, 3, 1}};
    struct hm_stored runs[8];
    struct hm_store_batch batch = {.runs = runs, .count = 8};
    const struct hm_store_access *access;
    char path[96];

    snprintf(folder, sizeof(folder), "/tmp/howmany-fuzz-XXXXXX");
    if (!mkdtemp(folder))
        abort();
    snprintf(path, sizeof(path), "%s/runs.db", folder);
    if (api_store_new(path, 2, &store, NULL))
        return; /* The build has no SQLite, so there is no store. */
    for (int i = 0; i < 8; i++) {
        runs[i] = (struct hm_stored)HM_STORED_INIT;
        runs[i].n = i % 4 + 1;
        runs[i].batch = i < 4 ? 64 : 1280;
        runs[i].latency = 0.02;
        runs[i].seconds = 1 + 8.0 / runs[i].n;
    }
    runs[7].algorithm = "gd";
    runs[7].samples = samples;
    runs[7].sample_count = 3;
    access = api_store_access(store);
    if (access->add(access->data, NULL, &batch, NULL))
        abort();
}

static void open_api(void)
{
    struct hm_err err = {0};

    if (!catalog && hm_catalog_new(&catalog, &err))
        abort();
    if (!folder[0])
        atexit(remove_api);
    open_store();
    api = api_new(&(struct api_settings){.catalog = catalog,
                                         .store = store,
                                         /* Host name that the requests of the corpus use. */
                                         .hosts = "a",
                                         .cache_bytes = 1 << 16},
                  &err);
    if (!api)
        abort();
}

static void handle(const struct parsed *p)
{
    static char path[HTTP_TARGET_MAX + 1];
    const char *query = strchr(p->head.target, '?');
    size_t length = query ? (size_t)(query - p->head.target) : strlen(p->head.target);
    struct hm_budget budget = {.seconds = 5, .bytes = 256 << 20, .checks = CHECKS_MAX};
    struct http_response out = {0};
    struct http_request r = {.method = p->head.method,
                             .path = path,
                             .query = query ? query + 1 : "",
                             .type = value_of(p, "Content-Type"),
                             .accept = "",
                             .authorization = value_of(p, "Authorization"),
                             .host = value_of(p, "Host"),
                             .origin = value_of(p, "Origin"),
                             .if_none_match = value_of(p, "If-None-Match"),
                             .key = value_of(p, "Idempotency-Key"),
                             .body = p->body,
                             .length = p->length};

    if (!http_guard_decode(p->head.target, length, false, path, sizeof(path)))
        abort(); /* The guard has accepted the target, so parsing it cannot fail. */
    hm__budget_enter(&budget);
    if (api_quick(api, &r, &out) != HTTP_ANSWERED)
        api_work(api, &r, &out);
    hm__budget_leave(&budget);
    bool allowed = out.status < 500 || (out.status == 501 && !store) ||
                   (out.status == 503 && budget.cause != HM_BUDGET_LEFT);
    additions += out.status == 201;
    if (out.status < 200 || !allowed || !out.type || (!out.body && out.status != 304)) {
        fprintf(stderr, "status %u: %.*s\n", out.status, (int)out.length,
                out.body ? (const char *)out.body : "");
        abort();
    }
    api_done(api, &r, &out, 0);
    if (out.release)
        out.release(out.owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parsed p = {.text = NULL};
    struct http_framing framing;

    if (additions >= ADDITIONS_MAX)
        remove_api();
    if (!api)
        open_api();
    if (size > 65536 || !(p.text = calloc(size + 2, 1)))
        return 0;
    parse(&p, data, size);
    if (http_guard_check(&p.head, 65536, &framing).status == 0)
        handle(&p);
    free(p.text);
    return 0;
}
