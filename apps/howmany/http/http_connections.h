/*
 * Limits connections: the number of all connections, the number from one address, and the time that
 * each phase of a request may take.
 */
#ifndef HM_HTTP_CONNECTIONS_H
#define HM_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum http_phase {
    HTTP_PHASE_HEAD,   /* The head of a request is being received. */
    HTTP_PHASE_BODY,   /* The body of a request is being received. */
    HTTP_PHASE_WORK,   /* The server is working on the request. */
    HTTP_PHASE_SEND,   /* The response is being sent. */
    HTTP_PHASE_IDLE,   /* The connection is idle between two requests. */
    HTTP_PHASE_LINGER, /* The last response has been sent; bytes that the client still sends are
                          discarded. */
    HTTP_PHASES
};

/* Maximum time in seconds that a connection may spend in each phase. */
struct http_timeouts {
    double header_s, body_s, send_s, idle_s;
    /* Lowest allowed rate of an arriving body, in bytes/s; checked after HTTP_RATE_AFTER_S. */
    double body_rate;
};

enum {
    HTTP_RATE_AFTER_S = 3,
    HTTP_LINGER_S = 2,
    /* If the connection limit is reached, connections from addresses with more than this number of
     * connections are closed first. */
    HTTP_FEW = 8,
};

/* Returns whether a connection that has been in a phase for `seconds` exceeds the timeout of the
 * phase. `body` is the number of bytes of the body received so far. */
bool http_connection_is_late(const struct http_timeouts *timeouts, enum http_phase phase,
                             double seconds, size_t body);

/*
 * Counts of the open connections, in total and for each address. Any thread may call the functions.
 */
struct http_connections;

struct http_connections *http_connections_new(size_t connections, size_t address_connections);
void http_connections_free(struct http_connections *connections);
/*
 * Counts one more connection. Returns false, without counting it, if there are too many connections
 * from this address, or in total. The total may exceed the limit by an eighth and 8 connections, so
 * that their requests can be answered with 503, or answered while another connection is closed.
 */
bool http_connections_add(struct http_connections *connections, const char *address);
void http_connections_remove(struct http_connections *connections, const char *address);
/* Returns the number of connections from an address. */
size_t http_connections_from(struct http_connections *connections, const char *address);
size_t http_connections_count(struct http_connections *connections);
/* Returns whether the number of connections has reached the limit, so that one must be closed
 * before the next one is accepted. */
bool http_connections_is_at_limit(struct http_connections *connections);
/*
 * Returns whether the number of connections exceeds the limit, so that requests are answered with
 * 503.
 */
bool http_connections_is_full(struct http_connections *connections);

double http_now(void); /* Returns the monotonic time in seconds. */

#endif
