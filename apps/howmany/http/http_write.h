/* Writes the heads of responses. */
#ifndef HM_HTTP_WRITE_H
#define HM_HTTP_WRITE_H

#include "http.h"

/* Room for the longest head: the fixed lines, and the further headers of a response. */
enum { HTTP_WRITE_ROOM = 512 + HTTP_EXTRA_MAX * (HTTP_EXTRA + 64) };

/* Write the head of a response into text[HTTP_WRITE_ROOM]. `close` announces the end of the
 * connection. Returns the number of bytes. */
size_t http_write_head(char *text, const struct http_response *response, const char *id,
                       bool close);

#endif
