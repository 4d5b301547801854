/* A raw client on loopback, for tests that send what no proper client would. */
#ifndef HM_TEST_CLIENT_H
#define HM_TEST_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

/* A connected socket with a time-out of so many seconds, or -1. */
int client_connect(int port, int timeout_s);
bool client_send(int socket, const char *data, size_t length);
/* Read one answer: its status; 0: closed without one; -1: time-out; -2: not HTTP. *keep: whether
 * the connection may be used again. */
int client_status(int socket, bool *keep);
/* A healthy GET of its own connection: seconds it took, or -1. */
double client_healthy(int port);
double client_now(void);

#endif
