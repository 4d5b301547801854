/* Addresses to listen on: reading them, and the socket itself. */
#ifndef HM_HTTP_ADDRESS_H
#define HM_HTTP_ADDRESS_H

#include <sys/socket.h>

#include "http.h"

/* "127.0.0.1:8080", "[::1]:8080", "localhost:8080": host into host[HTTP_ADDRESS]. */
int http_address_read(const char *text, char *host, int *ret_port, struct hm_err *err);
/* A socket that listens there, and the port it has. */
int http_address_listen(const char *host, int port, int *ret_socket, int *ret_port,
                        struct hm_err *err);
/* The address of a peer as text, into text[HTTP_ADDRESS]. */
void http_address_text(const struct sockaddr *peer, char *text);

#endif
