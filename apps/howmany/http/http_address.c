/* Parses the address to listen on, which is numeric or localhost. Other names are not resolved,
 * because the result would depend on the machine's configuration. */
#include "http_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"

bool http_is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;

    if (inet_pton(AF_INET, host, &four) == 1)
        return (ntohl(four.s_addr) >> 24) == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

static int fail_address(const char *text, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "'%.80s' is not an address and a port", text);
    hm__err_hint(err, "write 127.0.0.1:8080, [::1]:8080 or 0.0.0.0:8080");
    return HM_E_RANGE;
}

int http_address_read(const char *text, char *host, int *ret_port, struct hm_err *err)
{
    const char *colon = strrchr(text, ':');
    bool bracket = text[0] == '[';
    struct in6_addr any;
    long port = 0;

    if (!colon || strlen(colon + 1) == 0 || strlen(colon + 1) > 5 ||
        strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return fail_address(text, err);
    port = strtol(colon + 1, NULL, 10);
    size_t length = (size_t)(colon - text);
    if (bracket && (length < 3 || text[length - 1] != ']'))
        return fail_address(text, err);
    text += bracket;
    length -= bracket ? 2 : 0;
    if (port > 65535 || length == 0 || length >= HTTP_ADDRESS)
        return fail_address(text, err);
    snprintf(host, HTTP_ADDRESS, "%.*s", (int)length, text);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, HTTP_ADDRESS, "127.0.0.1");
    if (inet_pton(bracket ? AF_INET6 : AF_INET, host, &any) != 1)
        return fail_address(text, err);
    *ret_port = (int)port;
    return 0;
}

static socklen_t fill_address(const char *host, int port, struct sockaddr_storage *address)
{
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof(*address));
    if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return sizeof(*four);
    }
    inet_pton(AF_INET6, host, &six->sin6_addr);
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    return sizeof(*six);
}

static int fail_listen(const char *host, int port, int code, struct hm_err *err)
{
    hm__fail(err, HM_E_IO, "cannot listen on %s port %d: %s", host, port, strerror(code));
    if (code == EADDRINUSE)
        hm__err_hint(err,
                     "another program uses that port; give another one, or 0 for any free port");
    else if (code == EACCES)
        hm__err_hint(err, "ports below 1024 need root");
    else if (code == EADDRNOTAVAIL)
        hm__err_hint(err, "this machine does not have that address");
    return HM_E_IO;
}

int http_address_listen(const char *host, int port, int *ret_socket, int *ret_port,
                        struct hm_err *err)
{
    struct sockaddr_storage address;
    socklen_t size = fill_address(host, port, &address);
    int yes = 1, s = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (s < 0)
        return fail_listen(host, port, errno, err);
    setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    /* Accepted connections inherit this option. With it, a response is sent immediately, without
     * waiting for the acknowledgement of the previous response. */
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (bind(s, (struct sockaddr *)&address, size) != 0 || listen(s, 1024) != 0 ||
        getsockname(s, (struct sockaddr *)&address, &size) != 0) {
        int code = errno;
        close(s);
        return fail_listen(host, port, code, err);
    }
    *ret_port = ntohs(address.ss_family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
                                                   : ((struct sockaddr_in6 *)&address)->sin6_port);
    *ret_socket = s;
    return 0;
}

void http_address_text(const struct sockaddr *peer, char *text)
{
    const struct in6_addr *six = &((const struct sockaddr_in6 *)peer)->sin6_addr;
    bool mapped = peer->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(six);
    const void *at = mapped ? (const void *)&six->s6_addr[12]
                     : peer->sa_family == AF_INET
                         ? (const void *)&((const struct sockaddr_in *)peer)->sin_addr
                         : (const void *)six;

    if (!inet_ntop(mapped ? AF_INET : peer->sa_family, at, text, HTTP_ADDRESS))
        snprintf(text, HTTP_ADDRESS, "?");
}
