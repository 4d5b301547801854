/*
 * Declares event loops that read and write sockets. Each loop is a thread with its own epoll set
 * and its own connections; no other thread uses these connections, so they need no lock. The user
 * of a loop (http_server.c) converts bytes to requests and decides what is sent.
 *
 * A connection is in one phase at a time. Each loop has a list for each phase, ordered by the time
 * at which the phase began, so that the connection that has waited longest comes first.
 */
#ifndef HM_HTTP_LOOP_H
#define HM_HTTP_LOOP_H

#include <stdatomic.h>
#include <sys/uio.h>

#include "http.h"
#include "http_connections.h"
#include "http_parse.h"

struct http_loop;

/* A connection to one client. */
struct http_peer {
    struct http_loop *loop;
    struct http_peer *next,
        *previous;            /* Neighbours in the list of connections in the same phase. */
    struct http_peer *queued; /* Next connection in the list that contains this connection: the
                                 inbox, the ready list or the dead list. */
    enum http_phase phase;
    double since; /* Time at which the current phase began, in seconds. */
    size_t body;  /* Number of bytes in the body received so far. */
    int socket;
    char address[HTTP_ADDRESS];
    char *kept; /* Bytes that have been received but not used yet; owned. */
    size_t kept_length, kept_room;
    struct http_scan scan; /* State of the search for the end of the head that is being received. */
    /* Part of the response that has not been sent yet; the user of the loop owns the bytes. */
    struct iovec out[2];
    void *exchange; /* The request that is being processed and its response (an exchange); NULL if
                       there is none. */
    /* True if the client has closed the connection, or its sending direction; a worker thread may
     * read this. */
    atomic_bool gone;
    bool readable; /* True if the socket may have bytes that have not been read yet. */
    bool offer;    /* True if the stored bytes may contain a whole request. */
    bool ready;    /* True if the connection is in the loop's list of connections that must be read
                      again. */
    bool adopted;  /* True if the connection has been added to the lists of its loop. */
    /* True if the connection is closed; its memory is freed at the end of the iteration. */
    bool dead;
};

/* Functions that a loop calls, always in its own thread. */
struct http_loop_user {
    void *context;
    /* Called with received bytes; returns how many of them were used. The other bytes are passed
     * again, together with later bytes. */
    size_t (*received)(void *context, struct http_peer *peer, const char *data, size_t length);
    void (*sent)(void *context,
                 struct http_peer *peer); /* Called after the whole response has been sent. */
    /* Called in the thread of the loop after another thread called http_peer_resume. */
    void (*resumed)(void *context, struct http_peer *peer);
    /* Called after the connection was closed. */
    void (*closed)(void *context, struct http_peer *peer);
    /* Called after a connection was refused, or closed before its request was complete. */
    void (*refused)(void *context, const char *address, enum http_refusal refusal);
    void (*checked)(void *context); /* Called every 50 ms during requests, else every 200 ms. */
};

/* State that is shared by all loops of a server. */
struct http_loop_shared {
    struct http_loop_user user;
    struct http_timeouts timeouts;
    struct http_connections *connections;
    int listening;
    atomic_size_t held; /* Number of bytes that all heads, bodies and responses occupy. */
    size_t held_max;
    struct http_loop **loops;
    size_t loop_count;
    atomic_size_t next; /* Number of accepted connections; it determines the loop that receives the
                           next connection. */
};

/* Creates a loop. Returns NULL if there is no memory or descriptor left. */
struct http_loop *http_loop_new(struct http_loop_shared *shared);
/* Starts the thread of a loop. Call this only after all loops have been created. */
bool http_loop_start(struct http_loop *loop);
/* Ends the thread of a loop, if it runs. */
void http_loop_stop(struct http_loop *loop);
/* Closes the connections of a loop whose thread has ended, and frees it. */
void http_loop_free(struct http_loop *loop);
double http_loop_now(const struct http_loop *loop); /* Returns the time at which the current
                                                       iteration of the loop began, in seconds. */

/*
 * Adds bytes to the memory in use (`held`). While the limit held_max would be exceeded, closes
 * connections of this loop whose clients have been reading a response for more than half a second,
 * which frees these responses. Returns false if that is not enough.
 */
bool http_loop_claim(struct http_loop *loop, size_t bytes);
void http_loop_unhold(struct http_loop_shared *shared, size_t bytes);

void http_peer_enter(struct http_peer *peer, enum http_phase phase);
/*
 * Sends a head and a body, which must stay valid until `sent` or `closed` is called. Returns true
 * if everything was sent immediately; `sent` is then not called. If the connection fails, it is
 * closed.
 */
bool http_peer_send(struct http_peer *peer, char *head, size_t head_length, const char *body,
                    size_t length);
/*
 * Closes a connection after its response has been sent. If the client may still be sending, the
 * connection is read for some time, because closing it immediately could prevent the client from
 * receiving the response.
 */
void http_peer_end(struct http_peer *peer, bool sending);
void http_peer_close(struct http_peer *peer);
/*
 * Closes a connection that waits for its client if there are more connections than the limit
 * allows, so that `peer`, which has sent a complete request, can stay open. Returns false if no
 * connection can be closed.
 */
bool http_peer_make_room(struct http_peer *peer);
/*
 * Makes the loop of a connection call `resumed`. Any thread may call this function, once for each
 * request.
 */
void http_peer_resume(struct http_peer *peer);
/*
 * These two functions are the two steps of http_peer_resume, so that several connections can be
 * handed over before their loops wake up. The first one returns the loop that must be woken, or
 * NULL if the loop will wake up anyway.
 */
struct http_loop *http_peer_hand_over(struct http_peer *peer);
void http_loop_wake(struct http_loop *loop);

#endif
