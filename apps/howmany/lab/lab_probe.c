/*
 * Round trips between nodes of a laboratory, measured without a program on the other side: a
 * connection to a port that nobody listens on is refused by the other node's kernel, and that
 * answer takes one round trip. The first one also asks for the node's Ethernet address, so that the
 * least of a few counts. Where one is lost, TCP asks again after a second; that is not waited for.
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

enum { PORT = 9, ROUNDS = 4 }; /* the port of discard */

static const double PATIENCE_S = 0.5; /* for one round, beside four latencies */
static const double ENOUGH_S = 2;     /* no third round after so long */
static const double APART_S = 0.5e-3; /* knocks do not stand in each other's way */

struct probe {
    size_t n;
    double latency_s, *seconds; /* shared with whoever asked */
};

/* Begin to connect; the socket, or -1. */
static int knock(size_t node)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    char address[LAB_TEXT];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    inet_pton(AF_INET, lab_address(node, address), &to.sin_addr);
    if (fd >= 0)
        connect(fd, (struct sockaddr *)&to, sizeof(to)); /* how it went is asked later */
    return fd;
}

/* Whether the answer came from there: somebody listens, or nobody does. */
static bool is_answer(int fd)
{
    int code = 0;
    socklen_t size = sizeof(code);

    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &size) == 0 &&
           (code == 0 || code == ECONNREFUSED);
}

/* One knock at each node, and what has come back. */
struct round {
    struct pollfd ends[LAB_NODES_MAX];
    double begun[LAB_NODES_MAX];
    size_t count, left; /* knocks, and those without an answer yet */
};

static void take_answers(const struct probe *p, struct round *r, double until)
{
    for (double now = cli_now_s(); r->left > 0 && now < until; now = cli_now_s()) {
        struct timespec wait = {.tv_sec = (time_t)(until - now)};
        wait.tv_nsec = (long)(1e9 * (until - now - (double)wait.tv_sec));
        int ready = ppoll(r->ends, (nfds_t)r->count, &wait, NULL);
        now = cli_now_s();
        for (size_t i = 0; ready > 0 && i < r->count; i++) {
            if (r->ends[i].fd < 0 || !r->ends[i].revents)
                continue;
            if (is_answer(r->ends[i].fd))
                p->seconds[i] = fmin(p->seconds[i], now - r->begun[i]); /* a NAN gives way */
            close(r->ends[i].fd);
            r->ends[i].fd = -1;
            r->left--;
        }
    }
}

static void one_round(const struct probe *p)
{
    struct round r = {0};

    while (r.count < p->n) {
        double now = r.begun[r.count] = cli_now_s();
        int fd = knock(r.count + 1);
        r.ends[r.count++] = (struct pollfd){.fd = fd, .events = POLLOUT};
        r.left += fd >= 0;
        take_answers(p, &r, now + APART_S);
    }
    take_answers(p, &r, cli_now_s() + PATIENCE_S + 4 * p->latency_s);
    for (size_t i = 0; i < r.count; i++)
        if (r.ends[i].fd >= 0)
            close(r.ends[i].fd);
}

static int all_rounds(void *context)
{
    double started = cli_now_s();

    for (int i = 0; i < ROUNDS && (i < 2 || cli_now_s() < started + ENOUGH_S); i++)
        one_round(context);
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
    if (lab_inside(lab_node(spec->name, 1, node), all_rounds, &p) != 0)
        rc = hm__fail(err, HM_E_IO, "cannot measure on node %s", node);
    else
        memcpy(ret_seconds, p.seconds, n * sizeof(double));
    munmap(shared, bytes);
    return rc;
}
