/*
 * Measures round-trip times between the nodes of a laboratory (a cluster of network namespaces on
 * one machine). No program is needed on the other node: its kernel refuses a TCP connection to a
 * closed port, and this answer takes one round trip. The first attempt also resolves the node's
 * Ethernet address, so the minimum over several attempts is used. If a packet is lost, TCP retries
 * after a second; the probe does not wait for that.
 */
#include "lab_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "lab_enter.h"

/*
 * PORT is the port of the discard service, which is normally closed. ROUNDS is the largest number
 * of connection attempts to each node.
 */
enum { PORT = 9, ROUNDS = 4 };

/* Timeout of a round of attempts in seconds, in addition to four times the latency. */
static const double ROUND_TIMEOUT_S = 0.5;
/* The third and the fourth round of attempts are skipped if this number of seconds has passed. */
static const double ROUNDS_LIMIT_S = 2;
/*
 * Time in seconds between the connection attempts of a round; without this gap, they would delay
 * each other.
 */
static const double SPACING_S = 0.5e-3;

struct probe {
    size_t n;
    double latency_s;
    /* Round-trip time from node 1 to each node in seconds, in memory that is shared with the parent
     * process. */
    double *seconds;
};

/* Starts a connection attempt to a node. Returns the socket, or -1. */
static int probe_connect(size_t node)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    char address[LAB_TEXT];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, lab_address(node, address), &to.sin_addr);
    if (fd >= 0)
        /* The call returns immediately; the result of the attempt is read later with SO_ERROR. */
        connect(fd, (struct sockaddr *)&to, sizeof(to));
    return fd;
}

/* Returns whether the node answered, by accepting or refusing the connection. */
static bool probe_was_answered(int fd)
{
    int code = 0;
    socklen_t size = sizeof(code);

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 &&
           (code == 0 || code == ECONNREFUSED);
}

/* State of one round of the measurement: one connection attempt to each node. */
struct probe_round {
    struct pollfd ends[LAB_NODES_MAX];
    double begun[LAB_NODES_MAX]; /* Time at which each attempt began, in seconds. */
    size_t count;                /* Number of attempts that have begun in this round. */
    size_t left;                 /* Number of attempts that have no answer yet. */
};

static void collect_answers(const struct probe *p, struct probe_round *r, double until)
{
    for (double now = cli_now_s(); r->left > 0 && now < until; now = cli_now_s()) {
        struct timespec wait = {.tv_sec = (time_t)(until - now)};
        wait.tv_nsec = (long)(1e9 * (until - now - (double)wait.tv_sec));
        int ready = ppoll(r->ends, (nfds_t)r->count, &wait, NULL);
        now = cli_now_s();
        for (size_t i = 0; ready > 0 && i < r->count; i++) {
            if (r->ends[i].fd < 0 || !r->ends[i].revents)
                continue;
            if (probe_was_answered(r->ends[i].fd))
                /* fmin ignores NAN, which is the value before the first answer. */
                p->seconds[i] = fmin(p->seconds[i], now - r->begun[i]);
            close(r->ends[i].fd);
            r->ends[i].fd = -1;
            r->left--;
        }
    }
}

static void probe_one_round(const struct probe *p)
{
    struct probe_round r = {0};

    while (r.count < p->n) {
        double now = r.begun[r.count] = cli_now_s();
        int fd = probe_connect(r.count + 1);
        r.ends[r.count++] = (struct pollfd){.fd = fd, .events = POLLOUT};
        r.left += fd >= 0;
        collect_answers(p, &r, now + SPACING_S);
    }
    collect_answers(p, &r, cli_now_s() + ROUND_TIMEOUT_S + 4 * p->latency_s);
    for (size_t i = 0; i < r.count; i++)
        if (r.ends[i].fd >= 0)
            close(r.ends[i].fd);
}

static int probe_all_rounds(void *context)
{
    double started = cli_now_s();

    for (int i = 0; i < ROUNDS && (i < 2 || cli_now_s() < started + ROUNDS_LIMIT_S); i++)
        probe_one_round(context);
    return 0;
}

int lab_probe(const struct lab_spec *spec, double *ret_seconds, struct hm_err *err)
{
    char node[LAB_TEXT];
    size_t n = spec->n;
    struct probe p = {.n = n, .latency_s = spec->latency_s};
    size_t bytes = LAB_NODES_MAX * sizeof(double);
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        return hm__fail_nomem(err);
    p.seconds = shared;
    for (size_t i = 0; i < n; i++)
        p.seconds[i] = NAN;
    int rc = 0;
    if (lab_call_inside(lab_node(spec->name, 1, node), probe_all_rounds, &p) != 0)
        rc = hm__fail(err, HM_E_IO, "cannot measure on node %s", node);
    else
        memcpy(ret_seconds, p.seconds, n * sizeof(double));
    munmap(shared, bytes);
    return rc;
}
