/*
 * Implements event loops with epoll. Sockets are registered once, edge-triggered: an event sets the
 * flag `readable`, which stays set until all bytes of the socket have been read. In each iteration
 * of the loop, a connection is read at most once, so that a connection that always has bytes does
 * not delay the other connections.
 */
#include "http_loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "http_address.h"

enum {
    EVENTS = 64,    /* Largest number of events that one iteration of the loop handles. */
    ACCEPTS = 64,   /* Largest number of connections that are accepted in one iteration. */
    READ = 32768,   /* Largest number of bytes that are read from a socket in one iteration. */
    CHECK_MS = 200, /* Milliseconds between two checks of timeouts. */
    /* The same while a thread works on a request of the loop, which may take too long. */
    CHECK_WORK_MS = 50,
    KEPT_FIRST = 512, /* Initial size in bytes of the buffer for an incomplete head. */
};

/* When the connection limit is reached, a connection that has waited this number of seconds for its
 * client may be closed. */
static const double EVICT_AFTER_S = 0.1;
/* If the client is sending a body or reading a response, the time is this many times as long. */
enum { LONG_PHASE = 5 };

struct peer_list {
    struct http_peer *first, *last;
};

struct http_loop {
    struct http_loop_shared *shared;
    pthread_t thread;
    bool started;    /* True if the thread of the loop has been started. */
    int epoll, wake; /* Descriptor of the epoll set, and descriptor of an eventfd that other threads
                        write to in order to wake the loop up. */
    atomic_bool ending;
    atomic_bool evict;     /* Set to true by another loop to make this loop close a connection. */
    atomic_size_t waiting; /* Number of connections of this loop that wait for their clients. */
    double now, checked;   /* Times of the current iteration and of the last check, in seconds. */
    struct peer_list phases[HTTP_PHASES];
    /* List of connections that must be read again in the next iteration. */
    struct http_peer *ready;
    struct http_peer *dead;
    pthread_mutex_t lock;    /* Protects the inbox. */
    struct http_peer *inbox; /* List of connections that other threads have passed to this loop. */
    char buffer[READ];
};

double http_loop_now(const struct http_loop *loop)
{
    return loop->now;
}

/* Adds bytes to the memory in use, if the limit is not exceeded. */
static bool loop_hold(struct http_loop_shared *s, size_t bytes)
{
    if (atomic_fetch_add(&s->held, bytes) + bytes <= s->held_max)
        return true;
    atomic_fetch_sub(&s->held, bytes);
    return false;
}

void http_loop_unhold(struct http_loop_shared *s, size_t bytes)
{
    atomic_fetch_sub(&s->held, bytes);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* Returns whether a connection in this phase waits for its client, which sends bytes or reads a
 * response; in the other phase, the server works on a request. */
static bool is_waiting(enum http_phase phase)
{
    return phase != HTTP_PHASE_WORK;
}

static void list_remove(struct peer_list *list, struct http_peer *p)
{
    if (is_waiting(p->phase))
        atomic_fetch_sub_explicit(&p->loop->waiting, 1, memory_order_relaxed);
    *(p->previous ? &p->previous->next : &list->first) = p->next;
    *(p->next ? &p->next->previous : &list->last) = p->previous;
    p->next = p->previous = NULL;
}

static void list_append(struct peer_list *list, struct http_peer *p)
{
    if (is_waiting(p->phase))
        atomic_fetch_add_explicit(&p->loop->waiting, 1, memory_order_relaxed);
    p->previous = list->last;
    *(list->last ? &list->last->next : &list->first) = p;
    list->last = p;
}

void http_peer_enter(struct http_peer *p, enum http_phase phase)
{
    list_remove(&p->loop->phases[p->phase], p);
    p->phase = phase;
    p->since = p->loop->now;
    p->body = 0;
    list_append(&p->loop->phases[phase], p);
}

void http_peer_close(struct http_peer *p)
{
    struct http_loop *l = p->loop;

    if (p->dead)
        return;
    p->dead = true;
    l->shared->user.closed(l->shared->user.context, p);
    list_remove(&l->phases[p->phase], p);
    http_connections_remove(l->shared->connections, p->address);
    close(p->socket);
    /* A connection in the ready list is not freed here, but when the loop removes it from that
     * list. */
    if (!p->ready) {
        p->queued = l->dead;
        l->dead = p;
    }
}

static void peer_free(struct http_peer *p)
{
    http_loop_unhold(p->loop->shared, p->kept_room);
    free(p->kept);
    free(p);
}

static void free_dead(struct http_loop *l)
{
    while (l->dead) {
        struct http_peer *p = l->dead;
        l->dead = p->queued;
        peer_free(p);
    }
}

/* ---- sending --------------------------------------------------------------------------------- */

/* Sends the rest of the response. Returns true if everything has been sent. */
static bool peer_flush(struct http_peer *p)
{
    while (p->out[0].iov_len + p->out[1].iov_len > 0) {
        struct msghdr message = {.msg_iov = p->out, .msg_iovlen = 2};
        ssize_t sent = sendmsg(p->socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN)
            http_peer_close(p);
        if (sent < 0)
            return false;
        for (size_t i = 0, left = (size_t)sent; i < 2; i++) {
            size_t part = left < p->out[i].iov_len ? left : p->out[i].iov_len;
            p->out[i].iov_base = (char *)p->out[i].iov_base + part;
            p->out[i].iov_len -= part;
            left -= part;
        }
    }
    return true;
}

bool http_peer_send(struct http_peer *p, char *head, size_t head_length, const char *body,
                    size_t length)
{
    p->out[0] = (struct iovec){head, head_length};
    p->out[1] = (struct iovec){(void *)(uintptr_t)body, length};
    if (peer_flush(p))
        return true;
    if (!p->dead)
        http_peer_enter(p, HTTP_PHASE_SEND);
    return false;
}

void http_peer_end(struct http_peer *p, bool sending)
{
    if (!sending && !p->readable && p->kept_length == 0) {
        http_peer_close(p);
        return;
    }
    shutdown(p->socket, SHUT_WR);
    http_peer_enter(p, HTTP_PHASE_LINGER);
}

/* ---- receiving ------------------------------------------------------------------------------- */

/*
 * Enlarges the buffer of a connection by at least `more` bytes. Returns false, and closes the
 * connection, if memory runs out.
 */
static bool peer_make_room(struct http_peer *p, size_t more)
{
    struct http_loop_shared *s = p->loop->shared;
    size_t room = p->kept_room ? p->kept_room : KEPT_FIRST;

    while (room < p->kept_length + more)
        room *= 2;
    if (room == p->kept_room)
        return true;
    bool held = http_loop_claim(p->loop, room - p->kept_room);
    char *larger = held ? realloc(p->kept, room) : NULL;
    if (!larger) {
        http_loop_unhold(s, held ? room - p->kept_room : 0);
        s->user.refused(s->user.context, p->address, HTTP_REFUSAL_MEMORY);
        http_peer_close(p);
        return false;
    }
    p->kept = larger;
    p->kept_room = room;
    return true;
}

/*
 * Passes the bytes in the loop's buffer to the function `received`, and stores the bytes that it
 * did not use.
 */
static void peer_offer_buffer(struct http_peer *p, size_t length)
{
    struct http_loop_user *u = &p->loop->shared->user;
    const char *data = p->loop->buffer;
    size_t used = u->received(u->context, p, data, length);

    if (p->dead || used == length || p->phase == HTTP_PHASE_LINGER ||
        !peer_make_room(p, length - used))
        return;
    memcpy(p->kept, data + used, length - used);
    p->kept_length = length - used;
}

static void peer_offer_kept(struct http_peer *p)
{
    struct http_loop_user *u = &p->loop->shared->user;
    size_t used = u->received(u->context, p, p->kept, p->kept_length);

    p->offer = false;
    if (p->dead)
        return;
    p->kept_length -= used;
    if (p->kept_length > 0) {
        memmove(p->kept, p->kept + used, p->kept_length);
        return;
    }
    http_loop_unhold(p->loop->shared, p->kept_room);
    free(p->kept);
    p->kept = NULL;
    p->kept_room = 0;
}

static bool peer_is_blocked(const struct http_peer *p)
{
    return p->dead || p->phase == HTTP_PHASE_WORK || p->phase == HTTP_PHASE_SEND;
}

/* Reads once from the socket of a connection. */
static void peer_receive(struct http_peer *p)
{
    bool keeps = p->kept_length > 0 && p->phase != HTTP_PHASE_LINGER;
    char *data = p->loop->buffer;
    size_t room = READ;

    if (keeps) {
        size_t more = p->kept_length < KEPT_FIRST ? KEPT_FIRST : p->kept_length;
        if (!peer_make_room(p, more))
            return;
        data = p->kept + p->kept_length;
        room = p->kept_room - p->kept_length;
    }
    ssize_t got = recv(p->socket, data, room, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        http_peer_close(p);
        return;
    }
    if (got < 0) {
        p->readable = errno == EINTR;
        return;
    }
    /* A read that returns fewer bytes than requested has emptied the socket. The socket is read
     * again only if the client has closed the connection, to find the end of the data. */
    p->readable = (size_t)got == room || atomic_load_explicit(&p->gone, memory_order_relaxed);
    if (p->phase == HTTP_PHASE_LINGER)
        return;
    if (keeps) {
        p->kept_length += (size_t)got;
        peer_offer_kept(p);
    } else {
        peer_offer_buffer(p, (size_t)got);
    }
}

/*
 * Reads from a connection, processes the bytes and writes the response, as far as this is possible
 * without waiting.
 */
static void peer_turn(struct http_peer *p)
{
    struct http_loop_user *u = &p->loop->shared->user;

    if (!p->dead && p->phase == HTTP_PHASE_SEND && peer_flush(p)) {
        p->offer = true;
        u->sent(u->context, p);
    }
    if (!peer_is_blocked(p) && p->offer && p->kept_length > 0 && p->phase != HTTP_PHASE_LINGER)
        peer_offer_kept(p);
    if (!peer_is_blocked(p) && p->readable)
        peer_receive(p);
    if (!peer_is_blocked(p) && p->readable && !p->ready) {
        p->ready = true;
        p->queued = p->loop->ready;
        p->loop->ready = p;
    }
}

static void run_ready(struct http_loop *l)
{
    struct http_peer *p = l->ready;

    l->ready = NULL;
    while (p) {
        struct http_peer *next = p->queued;
        p->ready = false;
        if (p->dead) {
            p->queued = l->dead;
            l->dead = p;
        } else {
            peer_turn(p);
        }
        p = next;
    }
}

/* ---- connections that come and go ------------------------------------------------------------ */

/*
 * Finds the connection that has been in a phase for the longest time. If `crowded` is true, only
 * the first LOOK connections of the phase are considered, and among them only connections from
 * addresses that have more than HTTP_FEW connections.
 */
static struct http_peer *find_slowest(struct http_loop *l, enum http_phase phase, bool crowded)
{
    enum { LOOK = 32 }; /* Largest number of connections that this search compares. */
    struct http_peer *p = l->phases[phase].first;

    for (int i = 0; crowded && p && i < LOOK; i++, p = p->next)
        if (http_connections_from(l->shared->connections, p->address) > HTTP_FEW)
            return p;
    return crowded ? NULL : p;
}

/*
 * Closes the connection that has waited longest for its client, if it has waited for more than
 * `seconds`, or for five times as long if the client is sending a body or reading a response.
 * Connections from addresses with many connections are closed first, because a healthy client on a
 * slow network has few connections.
 */
static bool evict_one(struct http_loop *l, double seconds)
{
    static const enum http_phase waiting[] = {HTTP_PHASE_LINGER, HTTP_PHASE_HEAD, HTTP_PHASE_IDLE,
                                              HTTP_PHASE_BODY, HTTP_PHASE_SEND};
    struct http_peer *slowest = NULL;

    bool found = false;

    for (int crowded = 1; crowded >= 0 && !found; crowded--)
        for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++) {
            struct http_peer *p = find_slowest(l, waiting[i], crowded);
            bool long_phase = waiting[i] == HTTP_PHASE_BODY || waiting[i] == HTTP_PHASE_SEND;
            double least = long_phase ? LONG_PHASE * seconds : seconds;
            found = found || p;
            if (p && l->now - p->since > least && (!slowest || p->since < slowest->since))
                slowest = p;
        }
    if (slowest)
        http_peer_close(slowest);
    return slowest != NULL;
}

/* Closes the connection whose client has been reading a response for the longest time. Returns
 * false if there is none. */
static bool drop_reader(struct http_loop *l)
{
    struct http_peer *p = find_slowest(l, HTTP_PHASE_SEND, true);

    p = p ? p : find_slowest(l, HTTP_PHASE_SEND, false);
    if (!p || l->now - p->since <= LONG_PHASE * EVICT_AFTER_S)
        return false;
    l->shared->user.refused(l->shared->user.context, p->address, HTTP_REFUSAL_SLOW);
    http_peer_close(p);
    return true;
}

bool http_loop_claim(struct http_loop *l, size_t bytes)
{
    while (!loop_hold(l->shared, bytes))
        if (bytes > l->shared->held_max || !drop_reader(l))
            return false;
    return true;
}

static void peer_adopt(struct http_peer *p)
{
    struct http_loop *l = p->loop;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = p};

    p->adopted = true;
    p->since = l->now;
    list_append(&l->phases[HTTP_PHASE_HEAD], p);
    if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, p->socket, &event) != 0)
        http_peer_close(p);
}

struct http_loop *http_peer_hand_over(struct http_peer *p)
{
    struct http_loop *l = p->loop;

    pthread_mutex_lock(&l->lock);
    bool wake = l->inbox == NULL;
    p->queued = l->inbox;
    l->inbox = p;
    pthread_mutex_unlock(&l->lock);
    return wake ? l : NULL;
}

void http_loop_wake(struct http_loop *l)
{
    if (l)
        eventfd_write(l->wake, 1);
}

void http_peer_resume(struct http_peer *p)
{
    http_loop_wake(http_peer_hand_over(p));
}

static void inbox_take(struct http_loop *l)
{
    eventfd_t unused;

    eventfd_read(l->wake, &unused);
    if (atomic_exchange(&l->evict, false))
        evict_one(l, EVICT_AFTER_S);
    pthread_mutex_lock(&l->lock);
    struct http_peer *p = l->inbox;
    l->inbox = NULL;
    pthread_mutex_unlock(&l->lock);
    while (p) {
        struct http_peer *next = p->queued;
        if (!p->adopted) {
            peer_adopt(p);
        } else {
            p->offer = true;
            l->shared->user.resumed(l->shared->user.context, p);
            peer_turn(p);
        }
        p = next;
    }
}

/*
 * Asks every other loop to close a connection that waits for its client. Returns false if the other
 * loops have no such connection.
 */
static bool ask_others(struct http_loop *l)
{
    struct http_loop_shared *s = l->shared;
    bool asked = false;

    for (size_t i = 0; i < s->loop_count; i++) {
        struct http_loop *other = s->loops[i];
        if (other == l || atomic_load_explicit(&other->waiting, memory_order_relaxed) == 0)
            continue;
        asked = true;
        if (!atomic_exchange(&other->evict, true))
            eventfd_write(other->wake, 1);
    }
    return asked;
}

bool http_peer_make_room(struct http_peer *p)
{
    return !http_connections_is_full(p->loop->shared->connections) ||
           evict_one(p->loop, EVICT_AFTER_S) || ask_others(p->loop);
}

/*
 * Adds an accepted connection to a loop. The loops take turns, except that this loop receives the
 * connection if it has just closed another one.
 */
static void add_socket(struct http_loop *l, int socket, const struct sockaddr *address)
{
    struct http_loop_shared *s = l->shared;
    char text[HTTP_ADDRESS];

    http_address_text(address, text);
    /* At the connection limit, this loop tries to close a connection; if it succeeds, it receives
     * the new one. */
    bool full = http_connections_is_at_limit(s->connections),
         stays = full && evict_one(l, EVICT_AFTER_S);
    if (full && !stays)
        ask_others(l);
    bool admitted = http_connections_add(s->connections, text);
    struct http_peer *p = admitted ? calloc(1, sizeof(*p)) : NULL;
    if (!p) {
        if (admitted)
            http_connections_remove(s->connections, text);
        close(socket);
        s->user.refused(s->user.context, text, HTTP_REFUSAL_CONNECTIONS);
        return;
    }
    p->socket = socket;
    memcpy(p->address, text, sizeof(text));
    p->loop = stays ? l : s->loops[atomic_fetch_add(&s->next, 1) % s->loop_count];
    if (p->loop == l)
        peer_adopt(p);
    else
        http_peer_resume(p);
}

static void accept_some(struct http_loop *l)
{
    for (int i = 0; i < ACCEPTS; i++) {
        struct sockaddr_storage address;
        socklen_t size = sizeof(address);
        int socket = accept4(l->shared->listening, (struct sockaddr *)&address, &size,
                             SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket >= 0) {
            add_socket(l, socket, (struct sockaddr *)&address);
            continue;
        }
        if (errno == EINVAL) { /* accept fails with EINVAL after http_drain has shut the listening
                                  socket down; the loop then stops using this socket. */
            epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->shared->listening, NULL);
            return;
        }
        /* If there is no free descriptor, close a connection to get one. */
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED && !evict_one(l, 0))
            nanosleep(&(struct timespec){0, 10000000}, NULL);
        return;
    }
}

/* Returns the time between two checks in milliseconds. */
static int check_interval(const struct http_loop *l)
{
    return l->phases[HTTP_PHASE_WORK].first ? CHECK_WORK_MS : CHECK_MS;
}

static void close_late(struct http_loop *l)
{
    struct http_loop_shared *s = l->shared;

    if (l->now < l->checked + 1e-3 * check_interval(l))
        return;
    l->checked = l->now;
    s->user.checked(s->user.context);
    for (int phase = 0; phase < HTTP_PHASES; phase++)
        for (struct http_peer *p = l->phases[phase].first, *next; p; p = next) {
            next = p->next;
            if (!http_connection_is_late(&s->timeouts, p->phase, l->now - p->since, p->body)) {
                /* The list is ordered by time, so the later connections have not exceeded the
                 * timeout. Connections that are receiving a body must all be checked, because their
                 * rate may be too low. */
                if (phase != HTTP_PHASE_BODY)
                    break;
                continue;
            }
            if (phase != HTTP_PHASE_IDLE && phase != HTTP_PHASE_LINGER)
                s->user.refused(s->user.context, p->address, HTTP_REFUSAL_SLOW);
            http_peer_close(p);
        }
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void handle_event(struct http_loop *l, const struct epoll_event *event)
{
    struct http_peer *p = event->data.ptr;

    if (event->data.ptr == &l->wake) {
        inbox_take(l);
    } else if (event->data.ptr == l) {
        accept_some(l);
    } else if (!p->dead) {
        if (event->events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            atomic_store_explicit(&p->gone, true, memory_order_relaxed);
        if (event->events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            p->readable = true;
        if (!p->ready) /* A connection in the ready list is processed when the loop processes that
                          list. */
            peer_turn(p);
    }
}

static void *loop_run(void *context)
{
    struct http_loop *l = context;
    struct epoll_event events[EVENTS];

    while (!atomic_load(&l->ending)) {
        int count = epoll_wait(l->epoll, events, EVENTS, l->ready ? 0 : check_interval(l));
        l->now = http_now();
        for (int i = 0; i < count; i++)
            handle_event(l, &events[i]);
        run_ready(l);
        close_late(l);
        free_dead(l);
    }
    return NULL;
}

static bool loop_open(struct http_loop *l)
{
    struct epoll_event wake = {.events = EPOLLIN, .data.ptr = &l->wake},
                       listening = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.ptr = l};

    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return l->epoll >= 0 && l->wake >= 0 &&
           epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->wake, &wake) == 0 &&
           epoll_ctl(l->epoll, EPOLL_CTL_ADD, l->shared->listening, &listening) == 0;
}

struct http_loop *http_loop_new(struct http_loop_shared *shared)
{
    struct http_loop *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->shared = shared;
    l->now = http_now();
    pthread_mutex_init(&l->lock, NULL);
    if (loop_open(l))
        return l;
    http_loop_free(l);
    return NULL;
}

bool http_loop_start(struct http_loop *l)
{
    l->started = pthread_create(&l->thread, NULL, loop_run, l) == 0;
    return l->started;
}

void http_loop_stop(struct http_loop *l)
{
    atomic_store(&l->ending, true);
    eventfd_write(l->wake, 1);
    if (l->started)
        pthread_join(l->thread, NULL);
    l->started = false;
}

void http_loop_free(struct http_loop *l)
{
    if (!l)
        return;
    inbox_take(l);
    for (int phase = 0; phase < HTTP_PHASES; phase++)
        while (l->phases[phase].first)
            http_peer_close(l->phases[phase].first);
    run_ready(l);
    free_dead(l);
    close(l->epoll);
    close(l->wake);
    pthread_mutex_destroy(&l->lock);
    free(l);
}
