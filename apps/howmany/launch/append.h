/* A file that whole lines are added to. */
#ifndef HM_APPEND_H
#define HM_APPEND_H

#include "text.h"

/* Whether its name says JSON lines; 0 CSV, 1 JSON lines, -1 with a message: neither. */
int cli_append_form(const char *path);
/* Whether the first line of a file is this header. */
bool cli_append_continues(const char *path, const char *header);
/*
 * Open for --record. A new file begins with `header` (may be NULL); one that is there must, up to
 * its first line's end. 0 and the descriptor, or EXIT_USAGE.
 */
int cli_append_open(const char *path, const char *header, int *ret_file);
/* With `sync` it is on the disk when this returns. */
int cli_append(int file, const char *text, size_t length, bool sync);

#endif
