/* Writes the heads of responses. */
#ifndef HM_HTTP_WRITE_H
#define HM_HTTP_WRITE_H

#include "http.h"

/*
 * Number of bytes in the longest head: the fixed lines, and the headers that the handler may add.
 */
enum { HTTP_WRITE_ROOM = 512 + HTTP_EXTRA_MAX * (HTTP_EXTRA + 64) };

/*
 * Writes the head of a response into text[HTTP_WRITE_ROOM]. If `close` is true, the head announces
 * that the connection will be closed. Returns the number of bytes.
 */
size_t http_write_head(char *text, const struct http_response *response, const char *id,
                       bool close);

#endif
