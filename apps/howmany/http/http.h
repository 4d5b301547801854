/*
 * A small HTTP server. Requests that pass the guard and responses are plain structs. http_mhd.c is
 * the only file that uses libmicrohttpd; http_none.c replaces it where the library is missing.
 *
 * Threads that read and write sockets call `quick`, which must not block. Requests
 * that `quick` does not answer go to one of two bounded thread pools, which call `work`. When a
 * pool and its queue are full, the response is 503.
 */
#ifndef HM_HTTP_H
#define HM_HTTP_H

#include "howmany.h"
#include "http_guard.h"

enum { HTTP_ID = 24, HTTP_ADDRESS = 48, HTTP_EXTRA_MAX = 4, HTTP_EXTRA = 128 };

/* All pointers are borrowed and valid during the call. */
struct http_request {
    const char *method;         /* GET, HEAD or POST; the guard refuses others. */
    const char *path;           /* Decoded path. */
    const char *query;          /* Text after the ?, not decoded; may be empty. */
    const char *type, *accept;  /* Content-Type and Accept; empty if missing. */
    const char *authorization;  /* Empty if missing. */
    const char *host;           /* Host, with the port; empty if missing. */
    const char *if_none_match;  /* Empty if missing. */
    const char *key;            /* Idempotency-Key; empty if missing. */
    const char *body;           /* Ends with a NUL; empty if missing. */
    size_t length;              /* Bytes of the body. */
    char id[HTTP_ID];           /* Identifies the request in the log. */
    char address[HTTP_ADDRESS]; /* Address of the client. */
};

/* Zero-initialise; the handler fills it in. */
struct http_response {
    int status;
    const char *type; /* Content-Type; a static text. */
    const char *body;
    size_t length;
    void (*release)(void *owner); /* Frees the body after it was sent; NULL: static. */
    void *owner;
    struct {
        const char *name; /* A static text. */
        char value[HTTP_EXTRA];
    } extra[HTTP_EXTRA_MAX];
    size_t extra_count;
    enum http_refusal refusal; /* Reason of a refusal, for /metrics. */
};

/* The next step for a request that `quick` has seen. */
enum http_next {
    HTTP_ANSWERED,
    HTTP_WORK, /* The request computes; its pool has one thread per processor. */
    HTTP_WAIT, /* The request mostly waits for a disk or another machine; its pool has more threads.
                */
};

struct http_handler {
    void *context;
    enum http_next (*quick)(void *context, const struct http_request *request,
                            struct http_response *response);
    /* Answer a request that `quick` did not answer. */
    void (*work)(void *context, const struct http_request *request, struct http_response *response);
    /* The response to a request that the guard refused, or that exceeds a limit of the server. */
    void (*refuse)(void *context, const struct http_request *request,
                   const struct http_verdict *verdict, struct http_response *response);
    /* Called after the response was sent or failed to be sent, for the log and the metrics. */
    void (*done)(void *context, const struct http_request *request,
                 const struct http_response *response, double seconds, size_t received);
    /* A connection was refused or closed by the server without a response. */
    void (*closed)(void *context, const char *address, enum http_refusal refusal);
};

struct http_settings {
    const char *host; /* "127.0.0.1", "::1", "0.0.0.0" */
    int port;         /* 0: any free port. */
    int threads;      /* Threads that read and write sockets. */
    int workers;      /* Threads for HTTP_WORK. */
    int waiters;      /* Threads for HTTP_WAIT. */
    size_t queue;     /* Requests that may wait for a thread of a pool. */
    size_t body_limit;
    size_t connections;         /* Largest number of open connections. */
    size_t address_connections; /* The same for one client address. */
    double header_s;            /* Seconds for the head of a request. */
    double body_s;              /* Seconds for its body. */
    double body_rate;           /* Least bytes per second of a body after three seconds. */
    double idle_s;              /* Seconds between two requests of a connection. */
};

struct http_server;

struct http_counts {
    size_t connections; /* Open connections. */
    size_t working;     /* Requests in the pools and their queues. */
};

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **ret_server, struct hm_err *err);
int http_port(const struct http_server *server);
void http_count(const struct http_server *server, struct http_counts *ret_counts);
/*
 * Accept no more connections and wait up to `seconds` for running requests. Returns whether all
 * have ended.
 */
bool http_drain(struct http_server *server, double seconds);
/* Stop and free the server, after http_drain. */
void http_stop(struct http_server *server);

/* Whether an address is a loopback address. */
bool http_is_loopback(const char *host);

#endif
