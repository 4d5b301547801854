/*
 * The table of open connections: their number, the addresses of their clients, and which
 * connections exceed a timeout. The timeout of libmicrohttpd restarts with every byte received; the
 * timeouts here count from the start of a phase.
 */
#ifndef HM_HTTP_CONNECTIONS_H
#define HM_HTTP_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "http_guard.h"

enum http_phase {
    HTTP_PHASE_HEAD, /* The head of a request is being received. */
    HTTP_PHASE_BODY, /* The body of a request is being received. */
    HTTP_PHASE_WORK, /* A thread of a pool is working on the request. */
    HTTP_PHASE_SEND, /* The response is being sent. */
    HTTP_PHASE_IDLE, /* The connection is idle between two requests. */
};

/* Seconds that a connection may spend in each phase. */
struct http_timeouts {
    double header_s, body_s, send_s, idle_s;
    /* Least rate at which a body must arrive, in bytes/s; checked after HTTP_RATE_AFTER_S. */
    double body_rate;
};

enum { HTTP_RATE_AFTER_S = 3, HTTP_EVICT_AFTER_S = 2 };

/* Whether a connection that has been in a phase for `seconds` exceeds the timeout of the phase.
 * `body` is the number of bytes of the body received so far. */
bool http_connection_is_late(const struct http_timeouts *timeouts, enum http_phase phase,
                             double seconds, size_t body);

struct http_connections;
struct http_connection;

struct http_connections *http_connections_new(const struct http_timeouts *timeouts,
                                              size_t connections, size_t address_connections);
void http_connections_free(struct http_connections *connections);

/* Whether one more connection from this address may be accepted. */
bool http_connections_admits(struct http_connections *connections, const char *address);
/* Add a connection to the table; NULL when memory runs out. */
struct http_connection *http_connections_add(struct http_connections *connections, int socket,
                                             const char *address);
void http_connections_remove(struct http_connections *connections,
                             struct http_connection *connection);
size_t http_connections_count(struct http_connections *connections);
/* If there are as many connections as the limit allows, close the one that has been waiting longest
 * for a request or for the rest of a request, if it has waited for more than HTTP_EVICT_AFTER_S. */
void http_connections_make_room(struct http_connections *connections);
/* Whether there are more connections than the limit allows; requests on the connections beyond the
 * limit get 503. */
bool http_connections_is_full(struct http_connections *connections);

void http_connection_enter(struct http_connection *connection, enum http_phase phase);
/* Called when an idle connection begins to receive the head of its next request. */
void http_connection_begin(struct http_connection *connection);
void http_connection_received(struct http_connection *connection, size_t bytes);
/* Whether the client has closed the connection, or its side of it. */
bool http_connection_is_gone(const struct http_connection *connection);
const char *http_connection_address(const struct http_connection *connection);

/* Close the connections that exceed a timeout, and those whose client has closed its side. `late`
 * is called for each connection that exceeds a timeout during a request. Returns the number of
 * connections that were closed. */
size_t http_connections_close_late(struct http_connections *connections,
                                   void (*late)(void *context, const char *address), void *context);

double http_now(void); /* Returns the monotonic time in seconds. */

#endif
