/*
 * A small HTTP server behind an interface of our own: requests that the guard has let in come as
 * plain structs, answers go out as plain structs. http_mhd.c is the only file that knows
 * libmicrohttpd; http_none.c stands in where it is missing.
 *
 * Threads that read and write sockets call `quick`, which must not take long; what it leaves open
 * goes to one of two bounded pools of threads, which call `work`. More than a pool and its queue
 * can hold is answered 503 at once.
 */
#ifndef HM_HTTP_H
#define HM_HTTP_H

#include "howmany.h"
#include "http_guard.h"

enum { HTTP_ID = 24, HTTP_ADDRESS = 48, HTTP_EXTRA_MAX = 4, HTTP_EXTRA = 128 };

/* Everything is borrowed for the time of the call. */
struct http_request {
    const char *method;         /* GET, HEAD, POST; others are never seen */
    const char *path;           /* decoded */
    const char *query;          /* as it came, after the ?; may be empty */
    const char *type, *accept;  /* Content-Type, Accept; empty if there is none */
    const char *authorization;  /* empty if there is none */
    const char *if_none_match;  /* likewise */
    const char *key;            /* Idempotency-Key; likewise */
    const char *body;           /* NUL after it; empty if there is none */
    size_t length;              /* of the body */
    char id[HTTP_ID];           /* of this request, for logs */
    char address[HTTP_ADDRESS]; /* of the client */
};

/* Zero-initialise; the handler fills it in. */
struct http_response {
    int status;
    const char *type; /* static */
    const char *body;
    size_t length;
    void (*release)(void *owner); /* of the body, called once it is sent; NULL: static */
    void *owner;
    struct {
        const char *name; /* static */
        char value[HTTP_EXTRA];
    } extra[HTTP_EXTRA_MAX];
    size_t extra_count;
    enum http_refusal refusal; /* why it was refused, for /metrics */
};

/* What becomes of a request that was looked at. */
enum http_next {
    HTTP_ANSWERED,
    HTTP_WORK, /* it computes: by as many threads as there are processors */
    HTTP_WAIT, /* it mostly waits, for a disk or another machine: by more threads */
};

struct http_handler {
    void *context;
    enum http_next (*quick)(void *context, const struct http_request *request,
                            struct http_response *response);
    /* What quick left open. */
    void (*work)(void *context, const struct http_request *request, struct http_response *response);
    /* An answer for what never reached the two above: the guard, overload. */
    void (*refuse)(void *context, const struct http_request *request,
                   const struct http_verdict *verdict, struct http_response *response);
    /* After the answer is on its way: logs and counts. */
    void (*done)(void *context, const struct http_request *request,
                 const struct http_response *response, double seconds, size_t received);
    /* A connection was refused or cut, without an answer. */
    void (*cut)(void *context, const char *address, enum http_refusal refusal);
};

struct http_settings {
    const char *host; /* "127.0.0.1", "::1", "0.0.0.0" */
    int port;         /* 0: any that is free */
    int threads;      /* that read and write */
    int workers;      /* that compute answers */
    int waiters;      /* that wait for them */
    size_t queue;     /* requests that may wait for a worker */
    size_t body_limit;
    size_t connections;         /* at once */
    size_t address_connections; /* of one address */
    double header_s;            /* time to send the head of a request */
    double body_s;              /* and its body */
    double body_rate;           /* bytes a second, after three seconds */
    double idle_s;              /* between requests */
};

struct http_server;

struct http_counts {
    size_t connections; /* open now */
    size_t working;     /* requests with a worker, or waiting for one */
};

int http_start(const struct http_settings *settings, const struct http_handler *handler,
               struct http_server **ret_server, struct hm_err *err);
int http_port(const struct http_server *server);
void http_count(const struct http_server *server, struct http_counts *ret_counts);
/* Take no more connections, and wait so long for running requests; whether all ended. */
bool http_drain(struct http_server *server, double seconds);
/* After draining. */
void http_stop(struct http_server *server);

/* Whether an address is of this machine alone. */
bool http_is_loopback(const char *host);

#endif
