/*
 * The connections that are open: how many there are, whose they are, and which are too slow. The
 * library's own time-out begins anew with every byte; this table knows when a request began.
 */
#ifndef HM_HTTP_WATCH_H
#define HM_HTTP_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "http_guard.h"

enum http_phase {
    HTTP_PHASE_HEAD, /* the head of a request is on its way */
    HTTP_PHASE_BODY, /* its body is */
    HTTP_PHASE_WORK, /* we are at it */
    HTTP_PHASE_SEND, /* the answer is on its way */
    HTTP_PHASE_IDLE, /* kept open, between requests */
};

struct http_patience {
    double header_s, body_s, send_s, idle_s;
    double body_rate; /* bytes a second, looked at after HTTP_RATE_AFTER_S */
};

enum { HTTP_RATE_AFTER_S = 3 };

/* Whether a connection has been in a phase for too long; body: bytes of it so far. Pure. */
bool http_watch_is_late(const struct http_patience *patience, enum http_phase phase, double seconds,
                        size_t body);

struct http_watch;
struct http_place; /* of one connection */

struct http_watch *http_watch_new(const struct http_patience *patience, size_t connections,
                                  size_t of_one_address);
void http_watch_free(struct http_watch *watch);

/* Whether one more connection of that address may come in. */
bool http_watch_admits(struct http_watch *watch, const char *address);
/* NULL when out of memory. */
struct http_place *http_watch_add(struct http_watch *watch, int socket, const char *address);
void http_watch_remove(struct http_watch *watch, struct http_place *place);
size_t http_watch_count(struct http_watch *watch);
/* More connections than are served: those beyond are told to come back. */
bool http_watch_is_full(struct http_watch *watch);

void http_place_enter(struct http_place *place, enum http_phase phase);
/* The head of a further request has begun, where the connection was idle. */
void http_place_begin(struct http_place *place);
void http_place_received(struct http_place *place, size_t bytes);
const char *http_place_address(const struct http_place *place);

/* Cut those that are late, each of which is told of, or have given up. Returns how many. */
size_t http_watch_reap(struct http_watch *watch, void (*told)(void *context, const char *address),
                       void *context);

double http_now(void); /* seconds, monotonic */

#endif
