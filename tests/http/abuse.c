/*
 * Sends requests that no correct client sends: each must get a 4xx status or a closed connection,
 * never a 5xx status, and a well-behaved client must be served at the same time. Requests are
 * generated from a seed.
 *
 *     abuse PORT malformed [COUNT [SEED]]
 *     abuse PORT drip [CLIENTS]
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client.h"

/* ---- making requests ------------------------------------------------------------------------- */

static uint64_t dice;

/* Returns a random number below `sides`, from the generator xorshift64*. */
static unsigned roll(unsigned sides)
{
    dice ^= dice >> 12;
    dice ^= dice << 25;
    dice ^= dice >> 27;
    return (unsigned)((dice * 0x2545f4914f6cdd1du) >> 33) % sides;
}

enum { REQUEST_MAX = 1 << 19, SENDERS = 8 };

struct request {
    char data[REQUEST_MAX];
    size_t length;
    bool ended; /* True if the request is complete; the client then closes its sending direction to
                   end the connection. */
};

static void add_n(struct request *r, const char *piece, size_t length)
{
    if (r->length + length <= REQUEST_MAX) {
        memcpy(r->data + r->length, piece, length);
        r->length += length;
    }
}

static void add(struct request *r, const char *piece)
{
    add_n(r, piece, strlen(piece));
}

static void add_times(struct request *r, const char *piece, unsigned times)
{
    while (times-- > 0)
        add(r, piece);
}

static const char *pick(const char *const *list, size_t count)
{
    return list[roll((unsigned)count)];
}

#define PICK(...)                                                                                  \
    pick((const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static void post(struct request *r, const char *headers)
{
    add(r, "POST ");
    add(r, PICK("/v1/plan", "/v1/fit", "/v1/design", "/v1/advise"));
    add(r, " HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n");
    add(r, headers);
}

static void with_body(struct request *r, const char *type, const char *body, size_t length)
{
    char head[200];

    snprintf(head, sizeof(head),
             "POST %s HTTP/1.1\r\nHost: a\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
             PICK("/v1/plan", "/v1/fit", "/v1/design", "/v1/advise"), type, length);
    add(r, head);
    add_n(r, body, length);
}

/* Makes a request with two values of Content-Length, with both Content-Length and chunks, or with
 * invalid transfer codings. */
static void make_framing(struct request *r)
{
    post(r, PICK("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
                 "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n",
                 "Content-Length: 2\r\nContent-Length: 2\r\n",
                 "Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: 2, 2\r\n",
                 "Content-Length: +2\r\n", "Content-Length: -2\r\n", "Content-Length: 0x2\r\n",
                 "Content-Length: 2 \t2\r\n", "Content-Length: 184467440737095516162\r\n",
                 "Content-Length:\r\n", "Transfer-Encoding: gzip\r\n",
                 "Transfer-Encoding: chunked, chunked\r\n", "Transfer-Encoding: xchunked\r\n",
                 "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
                 "Transfer-Encoding:\x0b"
                 "chunked\r\n",
                 "Transfer-Encoding : chunked\r\n", "Content-Length : 2\r\n",
                 "Transfer-Encoding: identity\r\nContent-Length: 2\r\n",
                 "Content-Length: 2\r\n Content-Length: 3\r\n", "X: y\r\n"));
    add(r, "\r\n");
    add(r, PICK("{}", "0\r\n\r\n", "2\r\n{}\r\n0\r\n\r\n", "{}GET /healthz HTTP/1.1\r\n\r\n", ""));
}

/* Makes a request with invalid chunks. */
static void make_chunks(struct request *r)
{
    post(r, "Transfer-Encoding: chunked\r\n\r\n");
    add(r, PICK("g\r\n", "-1\r\n", "ffffffffffffffffff\r\n{}", "2\r\n{}}\r\n0\r\n\r\n",
                "2;\x01\r\n{}\r\n0\r\n\r\n", "0x2\r\n{}\r\n0\r\n\r\n", "2\n{}\n0\n\n", "\r\n",
                "2\r\n{}\r\n0\r\nContent-Length: 5\r\n\r\n", "fffffff\r\n{}\r\n",
                " 2\r\n{}\r\n0\r\n\r\n"));
    r->ended = true;
}

static void make_hosts(struct request *r)
{
    add(r, "GET /healthz HTTP/1.1\r\n");
    add(r, PICK("", "Host: a\r\nHost: b\r\n", "Host: a\r\nHost: a\r\n", "Host:\r\n",
                "Host: a b\r\n", "Host: a/b\r\n", "Host: user@a\r\n", "Host: [::1\r\n",
                "Host: a:99999999\r\n", "Host: \x01\r\n", "Host: a,b\r\n", "Host : a\r\n"));
    add(r, "\r\n");
}

static void make_target(struct request *r)
{
    add(r, "GET ");
    add(r, PICK("/%00", "/%", "/%zz", "/%c0%af", "/%ff%fe", "/%ed%a0%80", "/\x01", "/a\x7f",
                "http://b/healthz", "*", "/v1/catalog/%2e%2e%2f%00", "/\xff\xfe", "/healthz?%00",
                "/a|b", "/{a}", "/..%c0%af..", "/healthz#a", "//%", "/%f4%90%80%80", "/v1\\plan"));
    add(r, " HTTP/1.1\r\nHost: a\r\n\r\n");
}

static void make_first_line(struct request *r)
{
    add(r,
        PICK("GET /healthz HTTP/1.1 extra\r\n", "GET  /healthz\r\n", "GET\r\n", "\r\n\r\nX\r\n",
             "get /healthz HTTP/1.1\r\n", "G\x01T /healthz HTTP/1.1\r\n", "DELETE / HTTP/1.1\r\n",
             "TRACE / HTTP/1.1\r\n", "CONNECT a:80 HTTP/1.1\r\n", "OPTIONS * HTTP/1.1\r\n",
             "PRI * HTTP/2.0\r\n\r\nSM\r\n", "GET /healthz HTTP/1.x\r\n", "GET / FTP/1.1\r\n",
             "\x16\x03\x01\x02\x01\x01\r\n", "GET /nothing HTTP/1.1\r\n",
             "PUT /healthz HTTP/1.1\r\n", "PATCH /v1/plan HTTP/1.1\r\n", " GET / HTTP/1.1\r\n"));
    add(r, "Host: a\r\n\r\n");
    r->ended = true;
}

static void make_headers(struct request *r)
{
    add(r, "GET /healthz HTTP/1.1\r\nHost: a\r\n");
    switch (roll(8)) {
    case 0:
        add(r, "X: a\x01"
               "b\r\n\r\n");
        break;
    case 1:
        add(r, "no colon\r\n\r\n");
        break;
    case 2:
        add(r, "X y: a\r\n\r\n");
        break;
    case 3:
        add(r, ": a\r\n\r\n");
        break;
    case 4:
        add_times(r, "X: y\r\n", 70 + roll(100));
        add(r, "\r\n");
        break;
    case 5:
        add(r, "X: ");
        add_times(r, "0123456789", 900 + roll(5000));
        add(r, "\r\n\r\n");
        break;
    case 6:
        add(r, PICK("Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                    "Expect: 200-ok\r\n\r\n", "Expect: 100-continue\r\nExpect: x\r\n\r\n"));
        break;
    default:
        add_n(r, "X: a\0b\r\n\r\n", 10);
        break;
    }
    r->ended = true;
}

static void make_large(struct request *r)
{
    switch (roll(4)) {
    case 0:
        add(r, "GET /");
        add_times(r, "aaaaaaaaaa", 410 + roll(6000));
        add(r, " HTTP/1.1\r\nHost: a\r\n\r\n");
        break;
    case 1:
        post(r, "Content-Length: 99999999\r\n\r\n{");
        break;
    case 2:
        add(r, "GET /nothing?");
        add_times(r, "a&", roll(2000));
        add(r, " HTTP/1.1\r\nHost: a\r\n\r\n");
        break;
    default:
        post(r, "Transfer-Encoding: chunked\r\n\r\n");
        for (unsigned i = 0; i < 30; i++) {
            add(r, "2000\r\n");
            add_times(r, "[[[[[[[[", 1024);
            add(r, "\r\n");
        }
        add(r, "0\r\n\r\n");
        break;
    }
    r->ended = true;
}

static const char sample[] =
    "{\"job\":{\"compute\":\"10 s / n\",\"communicate\":\"0.1 s * ln(n)\",\"iterations\":100},"
    "\"deadline\":\"6h\",\"max-n\":64,\"on\":[\"m4.xlarge\"],\"set\":{\"batch\":3}}";

static void make_json(struct request *r)
{
    char body[sizeof(sample) + 8];
    size_t length = sizeof(sample) - 1;

    memcpy(body, sample, length);
    if (roll(2)) { /* Truncate the body, and declare it as JSON. */
        length = roll((unsigned)length);
    } else { /* Change a few bytes of the request. */
        for (unsigned i = 0, times = 1 + roll(4); i < times; i++)
            body[roll((unsigned)length)] = (char)roll(256);
        body[0] = PICK("[", "\"", "x", "\x01")[0];
    }
    with_body(r, "application/json", body, length);
}

static void make_deep(struct request *r)
{
    static char body[20000];
    size_t depth = 65 + roll(9000);

    memset(body, roll(2) ? '[' : '{', depth);
    if (body[0] == '[' && roll(2)) {
        memset(body + depth, ']', depth);
        depth *= 2;
    } else if (body[0] == '{') {
        for (size_t i = 0; i + 5 <= depth; i += 5)
            memcpy(body + i, "{\"a\":", 5);
    }
    with_body(r, PICK("application/json", "application/yaml"), body, depth);
}

static void make_wrong(struct request *r)
{
    static const char *const bodies[] = {
        "{\"job\":{\"graph\":{\"file\":\"/etc/passwd\"}}}",
        "{\"job\":\"graph: {file: /etc/passwd}\"}",
        "{\"job\":{\"graph\":{\"split\":\"dealt\"}},\"set\":[\"graph.file=/etc/passwd\"]}",
        "{\"job\":{},\"on\":\"/etc/passwd\"}",
        "{\"job\":{},\"plot\":\"/tmp/x.svg\"}",
        "{\"runs\":\"n,seconds\\n1,x\\n\"}",
        "{\"runs\":null}",
        "[]",
        "null",
        "3",
        "\"a\"",
        "{}",
        "{\"traces\":\"/etc/passwd\",\"loss\":1}",
        "{\"n\":\"1..99999999\"}",
        "{\"job\":{\"compute\":\"1/0\"}}",
        "{\"jab\":1}",
        "{\"job\":{\"compute\":\"n^n^n^n s\",\"communicate\":\"none\"},\"max-n\":1e300}",
        "{\"job\":{\"graph\":{\"generate\":\"random\",\"vertices\":1e15,\"edges\":1e15}}}",
        "{\"times\":\"-\",\"traces\":\"-\",\"loss\":1}",
        "{\"have\":\"/etc/passwd\",\"n\":\"1..4\"}"};
    const char *body = pick(bodies, sizeof(bodies) / sizeof(bodies[0]));

    if (roll(4) == 0)
        with_body(r, PICK("text/html", "application/xml", "multipart/form-data; boundary=a", "x"),
                  body, strlen(body));
    else
        with_body(r, PICK("application/json", "application/json", "text/csv"), body, strlen(body));
}

static void make(struct request *r)
{
    static void (*const kinds[])(struct request *) = {
        make_framing, make_chunks, make_hosts, make_target, make_first_line,
        make_headers, make_json,   make_deep,  make_wrong,  make_wrong};

    r->length = 0;
    r->ended = false;
    if (roll(50) == 0)
        make_large(r);
    else
        kinds[roll(sizeof(kinds) / sizeof(kinds[0]))](r);
}

/* ---- sending them ---------------------------------------------------------------------------- */

struct tally {
    unsigned by_class[6], closed, kept, wrong;
    double worst_s;
};

static void show(const struct request *r, int status, unsigned number)
{
    printf("# request %u got %d: ", number, status);
    for (size_t i = 0; i < r->length && i < 300; i++)
        printf(r->data[i] >= ' ' && r->data[i] < 127 ? "%c" : "\\x%02x", (unsigned char)r->data[i]);
    printf("\n");
}

/* Sends one request, on the connection of the previous request if that is still open. */
static void send_one(int port, int *s, const struct request *r, unsigned number, struct tally *t)
{
    bool keep = false;

    if (*s < 0)
        *s = client_connect(port, 20);
    double from = client_now();
    client_send(*s, r->data, r->length); /* The result is ignored, because the server may close the
                                            connection during the request. */
    shutdown(*s, SHUT_WR);
    int status = client_status(*s, &keep);
    double took = client_now() - from;
    t->worst_s = took > t->worst_s ? took : t->worst_s;
    if (status == 0)
        t->closed++;
    else if (status >= 100 && status < 600)
        t->by_class[status / 100]++;
    if (status != 0 && (status < 400 || status > 499)) {
        t->wrong++;
        if (t->wrong <= 20)
            show(r, status, number);
    }
    close(*s);
    *s = -1;
}

/* Sends many requests. Several processes call this function at the same time; the result is the
 * exit code of the process and reports errors. */
static int send_many(int port, unsigned count, uint64_t seed, struct tally *t)
{
    static struct request r;
    int s = -1;

    dice = seed * 2654435761u + 88172645463325252u;
    for (unsigned i = 1; i <= count; i++) {
        make(&r);
        send_one(port, &s, &r, i, t);
        if (i % (1000 / SENDERS) == 0 && client_healthy(port) < 0) {
            printf("# no healthy answer after %u\n", i);
            t->wrong++;
        }
    }
    return t->wrong > 0;
}

static int malformed(int port, unsigned count, uint64_t seed)
{
    struct tally *tallies = mmap(NULL, SENDERS * sizeof(*tallies), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct tally all = {.wrong = 0};
    double from = client_now();
    int status, failed = 0;

    for (unsigned k = 0; k < SENDERS; k++)
        if (fork() == 0) {
            int rc = send_many(port, count / SENDERS, seed * SENDERS + k, &tallies[k]);
            fflush(stdout);
            _exit(rc);
        }
    while (wait(&status) > 0)
        failed += status != 0;
    for (unsigned k = 0; k < SENDERS; k++) {
        all.by_class[4] += tallies[k].by_class[4];
        all.closed += tallies[k].closed;
        all.wrong += tallies[k].wrong;
        all.worst_s = tallies[k].worst_s > all.worst_s ? tallies[k].worst_s : all.worst_s;
    }
    printf("# %u malformed requests, seed %llu: %u got 4xx, %u were closed, %u others, in %.0f s; "
           "the slowest took %.0f ms\n",
           count, (unsigned long long)seed, all.by_class[4], all.closed, all.wrong,
           client_now() - from, 1e3 * all.worst_s);
    return failed > 0;
}

/* ---- slow clients ---------------------------------------------------------------------------- */

enum { DRIP_MAX = 4000, SAMPLES_MAX = 100000, CUT_WITHIN_S = 15 };

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* A third of the clients send a head slowly, a third send a body slowly, and a third send the head
 * of a second request slowly. */
static const char head_text[] =
    "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n\r\n";

static bool start(int port, int *s, unsigned i)
{
    static const char post_text[] = "POST /v1/plan HTTP/1.1\r\nHost: a\r\nContent-Type: "
                                    "application/json\r\nContent-Length: 1000\r\n\r\n";
    bool keep;

    if ((*s = client_connect(port, 10)) < 0)
        return false;
    if (i % 3 == 1)
        return client_send(*s, post_text, sizeof(post_text) - 1);
    if (i % 3 == 2)
        return client_send(*s, head_text, sizeof(head_text) - 1) &&
               client_status(*s, &keep) == 200 && keep;
    return true;
}

/* Returns whether the server has closed the connection. */
static bool is_cut(int s)
{
    struct pollfd p = {.fd = s, .events = POLLIN};
    char c;

    if (poll(&p, 1, 0) <= 0)
        return false;
    return (p.revents & (POLLHUP | POLLERR)) || recv(s, &c, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static unsigned drip_once(int *sockets, unsigned clients, size_t at)
{
    unsigned left = 0;

    for (unsigned i = 0; i < clients; i++) {
        if (sockets[i] < 0)
            continue;
        if (is_cut(sockets[i]) ||
            send(sockets[i], i % 3 == 1 ? " " : head_text + at % (sizeof(head_text) - 6), 1,
                 MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
            close(sockets[i]);
            sockets[i] = -1;
        } else {
            left++;
        }
    }
    return left;
}

static int drip(int port, unsigned clients)
{
    static int sockets[DRIP_MAX];
    static double samples[SAMPLES_MAX];
    size_t count = 0, at = 0;
    unsigned left = clients, unhealthy = 0;
    struct rlimit files = {0};

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    for (unsigned i = 0; i < clients; i++)
        if (!start(port, &sockets[i], i)) {
            printf("# client %u cannot connect\n", i);
            return 1;
        }
    double from = client_now(), next = from, took = 0;
    while (left > 0 && (took = client_now() - from) < CUT_WITHIN_S + 5) {
        if (client_now() >= next) { /* Send a byte every half second. */
            left = drip_once(sockets, clients, at++);
            next += 0.5;
        }
        double healthy = client_healthy(port);
        unhealthy += healthy < 0;
        if (healthy >= 0 && count < SAMPLES_MAX)
            samples[count++] = healthy;
        usleep(5000);
    }
    qsort(samples, count, sizeof(samples[0]), by_size);
    printf("# %u clients that drip: %u left after %.1f s; meanwhile %zu healthy requests, p50 %.2f "
           "ms, p99 %.2f ms, worst %.1f ms, %u failed\n",
           clients, left, took, count, 1e3 * samples[count / 2], 1e3 * samples[count * 99 / 100],
           1e3 * samples[count - 1], unhealthy);
    return left > 0 || took > CUT_WITHIN_S || unhealthy > 0 || count == 0;
}

int main(int argc, char **argv)
{
    int port = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
    unsigned count = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;

    if (port > 0 && strcmp(argv[2], "malformed") == 0)
        return malformed(port, count ? count : 20000, argc > 4 ? strtoull(argv[4], NULL, 10) : 1);
    if (port > 0 && strcmp(argv[2], "drip") == 0)
        return drip(port, count && count < DRIP_MAX ? count : 200);
    fprintf(stderr, "usage: abuse PORT malformed [COUNT [SEED]] | drip [CLIENTS]\n");
    return 2;
}
