/*
 * The log of the server: one line of JSON for each request. A thread of its own writes the lines,
 * so that a reader of the log that is slow or has stopped does not delay requests. Lines that do
 * not fit into its buffer are dropped and counted.
 */
#ifndef HM_HTTP_LOG_H
#define HM_HTTP_LOG_H

#include "json.h"

struct http_log;

/* Starts the thread, which writes to the descriptor `file`. Returns NULL if this fails. */
struct http_log *http_log_new(int file);
/*
 * Waits until all lines are written, at most for `seconds`. Returns false if some are not, because
 * no program reads them.
 */
bool http_log_flush(struct http_log *log, double seconds);
/* Ends the thread after at most a second; lines that are not written by then are lost. */
void http_log_free(struct http_log *log);

/* Begins a line with the current time; the caller adds members. `json->out` is an empty text. */
void http_log_begin(struct hm_json *json);
/* Ends a line, passes it to the thread, and frees its text. Never waits for the reader. */
void http_log_end(struct http_log *log, struct hm_json *json);

/* Returns the number of lines that were dropped or could not be written. */
unsigned long long http_log_dropped(const struct http_log *log);

#endif
