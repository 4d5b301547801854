/*
 * A small HTTP server for HTTP/1.1 and HTTP/1.0, without TLS. Requests, which the guard
 * (http_guard.h) has validated, and responses are plain structs.
 *
 * Threads that read and write sockets call `quick`, which must not block. Requests that `quick`
 * does not answer go to one of two bounded thread pools, which call `work`. When a pool and its
 * queue are full, the response is 503.
 */
#ifndef HM_HTTP_H
#define HM_HTTP_H

#include "howmany.h"
#include "http_guard.h"

enum { HTTP_ID = 24, HTTP_ADDRESS = 48, HTTP_EXTRA_MAX = 4, HTTP_EXTRA = 128 };

/* A request as it is passed to handlers. All pointers are borrowed and valid during the call. */
struct http_request {
    const char *method; /* GET, HEAD or POST; the guard refuses other methods. */
    const char *path;   /* Path of the request target after percent-decoding. */
    const char *query;  /* Query of the request target (the text after the "?"), not decoded; may be
                           empty. */
    const char *type, *accept; /* Values of the headers Content-Type and Accept; empty if
                                  missing. */
    const char *authorization; /* Value of the header Authorization; empty if missing. */
    const char *host;          /* Value of the header Host, with the port; empty if missing. */
    const char *origin;        /* Value of the header Origin; empty if missing. */
    const char *if_none_match; /* Value of the header If-None-Match; empty if missing. */
    const char *key;           /* Value of the header Idempotency-Key; empty if missing. */
    const char *body;          /* Body of the request, with a NUL at its end; empty if missing. */
    size_t length;             /* Number of bytes in the body. */
    double since;     /* Time at which the whole request had arrived, in seconds on the clock of
                         http_now; 0 if it is not known. */
    char id[HTTP_ID]; /* Identifier of the request in the log. */
    char address[HTTP_ADDRESS]; /* Address of the client. */
    /* Function that returns true if work on the request should stop, because the client has closed
     * the connection or too many long requests are running; may be NULL. */
    bool (*is_over)(void *data);
    void *is_over_data;
    /* Number that the handler may use for its own purposes, initially 0; NULL if there is none. */
    size_t *note;
};

/* A request whose strings are all empty. */
#define HTTP_REQUEST_INIT                                                                          \
    {                                                                                              \
        .method = "", .path = "", .query = "", .type = "", .accept = "", .authorization = "",      \
        .host = "", .origin = "", .if_none_match = "", .key = "", .body = ""                       \
    }

/* A response. The caller zero-initialises it, and the handler fills it in. */
struct http_response {
    int status;
    const char *type; /* Content-Type of the response; a static string. */
    const char *body;
    size_t length;
    /* Function that frees the body after it has been sent; NULL if the body is static. */
    void (*release)(void *owner);
    void *owner;
    struct {
        const char *name; /* Name of an additional header; a static string. */
        char value[HTTP_EXTRA];
    } extra[HTTP_EXTRA_MAX];
    size_t extra_count;
    enum http_refusal refusal; /* Reason why the request was refused, for /metrics. */
};

/* The thread pool that processes a request after `quick` has been called. */
enum http_next {
    HTTP_ANSWERED,
    HTTP_WORK, /* The request needs computation; its pool has one thread per processor. */
    /* The request mostly waits for a disk or another machine; its pool has more threads. */
    HTTP_WAIT,
    /* The request is answered together with others by one thread; see `work_group`. */
    HTTP_GROUP,
};

struct http_handler {
    void *context;
    enum http_next (*quick)(void *context, const struct http_request *request,
                            struct http_response *response);
    /* Called before the body of a request is read. It returns true to accept the request, or fills
     * in the response and returns false, in which case the body is not read. It must not block. */
    bool (*admit)(void *context, const struct http_request *request,
                  struct http_response *response);
    /* Called to answer a request that `quick` did not answer. */
    void (*work)(void *context, const struct http_request *request, struct http_response *response);
    /* Called to answer all requests of kind HTTP_GROUP that have arrived since the last call. */
    void (*work_group)(void *context, const struct http_request *const *requests,
                       struct http_response *const *responses, size_t count);
    /* Called after the responses of `work_group` have been handed over for sending; may be NULL. */
    void (*after_group)(void *context);
    /* Called to fill in the response to a request that the guard refused, or that exceeds a limit
     * of the server. */
    void (*refuse)(void *context, const struct http_request *request,
                   const struct http_verdict *verdict, struct http_response *response);
    /* Called for the log and the metrics after the response has been sent or could not be sent. */
    void (*done)(void *context, const struct http_request *request,
                 const struct http_response *response, double seconds, size_t received);
    /* Called after the server refused or closed a connection without a response. */
    void (*closed)(void *context, const char *address, enum http_refusal refusal);
};

struct http_settings {
    const char *host; /* Address to listen on, such as "127.0.0.1", "::1" or "0.0.0.0". */
    int port;         /* Port to listen on; 0 means any free port. */
    int threads;      /* Number of threads that read and write sockets. */
    int workers;      /* Number of requests of kind HTTP_WORK that are computed at the same time. */
    /* Number of requests of kind HTTP_WORK that may run in addition once they have taken longer
     * than 0.1 s. */
    int slow;
    int waiters;  /* Number of threads for requests of kind HTTP_WAIT. */
    size_t queue; /* Largest number of requests that wait for a thread, in each pool. */
    size_t body_limit;
    size_t held_bytes;          /* Largest number of bytes in all bodies and responses together. */
    size_t connections;         /* Largest number of open connections. */
    size_t address_connections; /* Largest number of open connections from one address. */
    double header_s;            /* Timeout for the head of a request, in seconds. */
    double body_s;              /* Timeout for the body of a request, in seconds. */
    /* Lowest allowed rate of an arriving body, in bytes/s; checked after three seconds. */
    double body_rate;
    double idle_s; /* Longest time between two requests on a connection, in seconds. */
};

struct http_server;

struct http_counts {
    size_t connections; /* Number of open connections. */
    size_t working;     /* Number of requests that are in the pools or in their queues. */
};

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **ret_server, struct hm_err *err);
int http_port(const struct http_server *server);
void http_count(const struct http_server *server, struct http_counts *ret_counts);
/*
 * Stops accepting connections and waits up to `seconds` for running requests. Returns true if all
 * of them have ended.
 */
bool http_drain(struct http_server *server, double seconds);
/* Stops and frees the server. Call http_drain first. */
void http_stop(struct http_server *server);

/* Returns whether an address is a loopback address. */
bool http_is_loopback(const char *host);

#endif
