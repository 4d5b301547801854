/* A TCP client on loopback that can send arbitrary bytes. */
#include "client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

double client_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int client_connect(int port, int timeout_s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    struct timeval patience = {.tv_sec = timeout_s};
    int one = 1, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s < 0)
        return -1;
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(s, (struct sockaddr *)&address, sizeof(address)) == 0)
        return s;
    close(s);
    return -1;
}

bool client_send(int s, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(s, data, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        length -= (size_t)sent;
    }
    return true;
}

/*
 * Reads the head of a response up to the empty line, and nothing after it. Returns its length, 0 if
 * the connection was closed, -1 after a timeout.
 */
static long read_head(int s, char *head, size_t room)
{
    size_t length = 0;

    while (length + 1 < room) {
        /* The bytes are looked at first, and only those of the head are taken. */
        ssize_t got = recv(s, head + length, room - 1 - length, MSG_PEEK);
        if (got == 0 || (got < 0 && (errno == ECONNRESET || errno == EPIPE)))
            return 0;
        if (got < 0)
            return -1;
        head[length + (size_t)got] = '\0';
        const char *end = strstr(length < 3 ? head : head + length - 3, "\r\n\r\n");
        size_t taken = end ? (size_t)(end + 4 - head) - length : (size_t)got;
        if (recv(s, head + length, taken, 0) != (ssize_t)taken)
            return -1;
        length += taken;
        head[length] = '\0';
        if (end)
            return (long)length;
    }
    return 0;
}

static bool skip_body(int s, size_t length)
{
    char buffer[4096];

    while (length > 0) {
        ssize_t got = recv(s, buffer, length < sizeof(buffer) ? length : sizeof(buffer), 0);
        if (got <= 0)
            return false;
        length -= (size_t)got;
    }
    return true;
}

int client_status(int s, bool *keep)
{
    char head[8192];
    int status = 0;

    *keep = false;
    do {
        long length = read_head(s, head, sizeof(head));
        if (length <= 0)
            return (int)length;
        if (strncmp(head, "HTTP/1.", 7) != 0)
            return -2;
        status = (int)strtol(head + 9, NULL, 10);
    } while (status == 100);
    const char *size = strcasestr(head, "\r\nContent-Length:");
    size_t body = size ? strtoul(size + 17, NULL, 10) : 0;
    *keep = skip_body(s, body) && !strcasestr(head, "\r\nConnection: close");
    return status;
}

double client_healthy(int port)
{
    static const char get[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    double from = client_now();
    bool keep;
    int s = client_connect(port, 10), status = -1;

    if (s >= 0 && client_send(s, get, sizeof(get) - 1))
        status = client_status(s, &keep);
    if (s >= 0)
        close(s);
    return status == 200 ? client_now() - from : -1;
}
