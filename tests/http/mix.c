/*
 * Runs a mix of hostile clients against a server, and healthy clients whose times are measured.
 *
 *   mix PORT PID SECONDS [CONNECTIONS, default 10000]
 *
 * These clients run at the same time: CONNECTIONS connections from 100 addresses, of which a third
 * sends nothing, a third sends a head and a third sends a body one byte at a time, and which
 * connect again when they are closed; 100 clients that read large responses slowly; 4 clients that
 * send requests that take as long as they are allowed to; 1,000 malformed requests per second. PID
 * is the server's process: its memory and open files are sampled. A probe measures by how much the
 * machine delays a process that sleeps, because a healthy request cannot be quicker than that. The
 * exit status is 0 if no healthy request failed and all files were closed again.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

enum { SAMPLES_MAX = 1000000, ADDRESSES = 100, READERS = 100, GARBAGE_PER_S = 1000, KINDS = 7 };

struct samples {
    size_t count;
    unsigned failed;
    double seconds[SAMPLES_MAX];
};

static int server_port, server;
static double ends;

static bool is_over(void)
{
    return client_now() >= ends;
}

static void pause_for(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};

    nanosleep(&t, NULL);
}

/*
 * Starts to connect from one of the loopback addresses, without waiting. Returns the socket, or -1.
 */
static int connect_from(unsigned number)
{
    struct sockaddr_in from = {.sin_family = AF_INET},
                       to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)server_port)};
    int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;

    from.sin_addr.s_addr = htonl(0x7f000100 + number % ADDRESSES);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(s, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
    if (s >= 0 && bind(s, (struct sockaddr *)&from, sizeof(from)) == 0 &&
        (connect(s, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS))
        return s;
    if (s >= 0)
        close(s);
    return -1;
}

/* ---- hostile clients ------------------------------------------------------------------------- */

static const char post_head[] = "POST /v1/plan HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                "application/json\r\nContent-Length: 100000\r\n\r\n";

/* Keeps connections open that send nothing, or one byte each half second. */
static void hold(unsigned connections)
{
    int *sockets = malloc(connections * sizeof(int));
    unsigned *sent = calloc(connections, sizeof(unsigned)), opened = 0;

    if (!sockets || !sent)
        _exit(1);
    memset(sockets, -1, connections * sizeof(int));
    while (!is_over()) {
        double next = client_now() + 0.5;
        for (unsigned i = 0; i < connections && !is_over(); i++) {
            char c;
            if (sockets[i] >= 0 && recv(sockets[i], &c, 1, MSG_DONTWAIT) >= 0) {
                close(sockets[i]);
                sockets[i] = -1;
            }
            if (sockets[i] < 0) {
                sockets[i] = connect_from(i);
                sent[i] = 0;
                opened += sockets[i] >= 0;
                if (i % 64 == 0)
                    pause_for(0.002);
            } else if (i % 3 > 0) {
                const char *piece = i % 3 == 1 ? "a" : sent[i] == 0 ? post_head : " ";
                sent[i]++;
                send(sockets[i], piece, strlen(piece), MSG_NOSIGNAL | MSG_DONTWAIT);
            }
        }
        if (client_now() < next)
            pause_for(next - client_now());
    }
    printf("# %u connections, opened %u times\n", connections, opened);
}

/* Reads large responses with a small buffer, 100 bytes at a time. */
static void read_slowly(void)
{
    static const char request[] = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int sockets[READERS], small = 2048;
    char piece[100];

    memset(sockets, -1, sizeof(sockets));
    while (!is_over()) {
        for (unsigned i = 0; i < READERS; i++) {
            ssize_t got =
                sockets[i] >= 0 ? recv(sockets[i], piece, sizeof(piece), MSG_DONTWAIT) : 0;
            if (got == 0) {
                if (sockets[i] >= 0)
                    close(sockets[i]);
                sockets[i] = connect_from(i);
                if (sockets[i] < 0)
                    continue;
                setsockopt(sockets[i], SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
                for (int k = 0; k < 8; k++)
                    send(sockets[i], request, sizeof(request) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
            }
        }
        pause_for(0.1);
    }
}

/* Sends requests that take as long as the server allows. */
static void ask_long(void)
{
    unsigned asked = 0, refused = 0;

    while (!is_over()) {
        char body[256], text[512];
        bool keep;
        int s = client_connect(server_port, 20);
        int length = snprintf(body, sizeof(body),
                              "{\"n\": \"1..100\", \"size\": \"0.01..1:100\", \"budget\": %u, "
                              "\"terms\": \"1,size/n,ln(n),n,size,size*n,sqrt(n),1/n\"}",
                              1000 + asked);
        length = snprintf(text, sizeof(text),
                          "POST /v1/design HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                          "application/json\r\nContent-Length: %d\r\n\r\n%s",
                          length, body);
        if (s < 0)
            continue;
        client_send(s, text, (size_t)length);
        refused += client_status(s, &keep) == 503;
        asked++;
        close(s);
    }
    printf("# a client with long requests: %u, of which %u got 503\n", asked, refused);
}

static void send_garbage(void)
{
    static const char *const garbage[] = {"GET / HTTP/9.9\r\n\r\n",
                                          "\x16\x03\x01\x02",
                                          "GET /\n\n",
                                          "POST / HTTP/1.1\r\nX\r\n\r\n",
                                          "\r\n\r\n\r\n",
                                          "GET /%00 HTTP/1.1\r\n\r\n",
                                          "aaaa\0",
                                          "PUT a b c\r\n\r\n"};
    double from = client_now();
    unsigned sent = 0;

    while (!is_over()) {
        int s = connect_from(sent);
        if (s >= 0) {
            struct pollfd ready = {.fd = s, .events = POLLOUT};
            const char *text = garbage[sent % (sizeof(garbage) / sizeof(garbage[0]))];
            poll(&ready, 1, 1000);
            send(s, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT);
            close(s);
        }
        sent++;
        double due = from + (double)sent / GARBAGE_PER_S, now = client_now();
        if (due > now)
            pause_for(due - now);
    }
    printf("# %.0f malformed requests/s\n", (double)sent / (client_now() - from));
}

/* ---- healthy clients ------------------------------------------------------------------------- */

static void take_sample(struct samples *a, double seconds)
{
    if (seconds < 0)
        a->failed++;
    else if (a->count < SAMPLES_MAX)
        a->seconds[a->count++] = seconds;
}

/* Asks for a plan on a new connection. Returns the seconds until the response, or -1. */
static double ask_plan(unsigned number)
{
    char body[128], text[512];
    double from = client_now();
    bool keep;
    int s = client_connect(server_port, 10);

    if (s < 0)
        return -1;
    snprintf(body, sizeof(body), "{\"compute\": \"%u s / n\", \"communicate\": \"0.1 s * n\"}",
             10 + number % 1000);
    int length = snprintf(text, sizeof(text),
                          "POST /v1/plan?max_n=16 HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                          "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                          strlen(body), body);
    bool good = client_send(s, text, (size_t)length) && client_status(s, &keep) == 200;
    close(s);
    return good ? client_now() - from : -1;
}

static void be_healthy(struct samples *gets, struct samples *plans)
{
    for (unsigned i = 0; !is_over(); i++) {
        take_sample(i % 2 ? gets : plans, i % 2 ? client_healthy(server_port) : ask_plan(i));
        pause_for(0.01);
    }
}

/* Measures how much longer than 10 ms a sleep of 10 ms takes. */
static void probe(struct samples *a)
{
    while (!is_over()) {
        double from = client_now();
        pause_for(0.01);
        take_sample(a, client_now() - from - 0.01);
    }
}

/* ---- the server's process -------------------------------------------------------------------- */

static unsigned open_files(void)
{
    char path[64];
    unsigned count = 0;

    snprintf(path, sizeof(path), "/proc/%d/fd", server);
    DIR *folder = opendir(path);
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Returns the value of one line of /proc/PID/status of the server, in MB. */
static double memory_of(const char *line)
{
    char path[64], text[256];
    double kilobytes = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", server);
    FILE *file = fopen(path, "r");
    while (file && fgets(text, sizeof(text), file))
        if (strncmp(text, line, strlen(line)) == 0)
            kilobytes = strtod(text + strlen(line), NULL);
    if (file)
        fclose(file);
    return kilobytes * 1024e-6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void show(const char *name, struct samples *a)
{
    qsort(a->seconds, a->count, sizeof(a->seconds[0]), by_size);
    if (a->count == 0)
        printf("# %s: none succeeded, %u failed\n", name, a->failed);
    else
        printf("# %s: %zu, p50 %.2f ms, p99 %.2f ms, worst %.1f ms, %u failed\n", name, a->count,
               1e3 * a->seconds[a->count / 2], 1e3 * a->seconds[a->count * 99 / 100],
               1e3 * a->seconds[a->count - 1], a->failed);
}

static void start(int kind, unsigned connections, struct samples *all)
{
    switch (kind) {
    case 0:
        hold(connections);
        break;
    case 1:
        read_slowly();
        break;
    case 2:
        send_garbage();
        break;
    case 3:
        be_healthy(&all[0], &all[1]);
        break;
    case 4:
        probe(&all[2]);
        break;
    default:
        ask_long();
    }
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    struct samples *all =
        mmap(NULL, 3 * sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct rlimit files = {0};
    double seconds = argc > 3 ? strtod(argv[3], NULL) : 0;
    unsigned connections = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 10000;

    if (argc < 4 || all == MAP_FAILED) {
        fprintf(stderr, "usage: mix PORT PID SECONDS [CONNECTIONS]\n");
        return 2;
    }
    server_port = (int)strtol(argv[1], NULL, 10);
    server = (int)strtol(argv[2], NULL, 10);
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    unsigned before = open_files();
    ends = client_now() + seconds;
    for (int kind = 0; kind < KINDS + 2; kind++)
        if (fork() == 0)
            start(kind, connections, all);
    while (wait(NULL) > 0)
        ;
    show("healthy GETs", &all[0]);
    show("healthy plans", &all[1]);
    show("delays of sleeps on this machine", &all[2]);
    printf("# memory of the server: at most %.0f MB\n", memory_of("VmHWM:"));
    for (int i = 0; i < 300 && open_files() > before; i++)
        pause_for(0.1);
    unsigned after = open_files();
    printf("# open files before and after: %u, %u; memory after: %.0f MB\n", before, after,
           memory_of("VmRSS:"));
    return after > before || all[0].failed + all[1].failed > 0;
}
