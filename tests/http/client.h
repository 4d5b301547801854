/* A TCP client on loopback, for tests that send invalid requests. */
#ifndef HM_TEST_CLIENT_H
#define HM_TEST_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* Opens a connection with a timeout in seconds. Returns the socket, or -1. */
int client_connect(int port, int timeout_s);
bool client_send(int socket, const char *data, size_t length);
/*
 * Reads one response and returns its status; 0: the connection was closed without a response; -1:
 * timeout; -2: the response is not HTTP. *keep is true if the connection may be used again.
 */
int client_status(int socket, bool *keep);
/* Sends a valid GET on a new connection. Returns the seconds until the response, or -1. */
double client_healthy(int port);
double client_now(void);

#endif
