/* Parses addresses and opens the listening socket. */
#ifndef HM_HTTP_ADDRESS_H
#define HM_HTTP_ADDRESS_H

#include <sys/socket.h>

#include "http.h"

/*
 * Parses "127.0.0.1:8080", "[::1]:8080" or "localhost:8080". The address is written into
 * host[HTTP_ADDRESS].
 */
int http_address_read(const char *text, char *host, int *ret_port, struct hm_err *err);
/*
 * Opens a listening socket. If `port` is 0, any free port is used. *ret_port is the port of the
 * socket.
 */
int http_address_listen(const char *host, int port, int *ret_socket, int *ret_port,
                        struct hm_err *err);
/*
 * Writes the address of a client into text[HTTP_ADDRESS]. A server that listens on an IPv6 address
 * sees IPv4 clients with mapped addresses (::ffff:192.0.2.1), which are written as IPv4 addresses.
 */
void http_address_text(const struct sockaddr *peer, char *text);

#endif
