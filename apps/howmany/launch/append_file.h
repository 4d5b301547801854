/* Appends whole lines to a file that may already exist. Error messages name the option --record. */
#ifndef HM_APPEND_FILE_H
#define HM_APPEND_FILE_H

#include "text.h"

/* Returns the format that a file's name implies: 0 for CSV, 1 for JSON lines, -1 with a message for
 * any other name. */
int launch_append_format(const char *path);
/* Returns whether the first line of an existing file equals `header`, which ends in a newline. */
bool launch_append_continues(const char *path, const char *header);
/*
 * Opens a file for appending. If `header` is not NULL, it becomes the first line of a new file, and
 * the first line of an existing file must be equal to it. Returns 0 and the descriptor, or
 * EXIT_USAGE with a message.
 */
int launch_append_open(const char *path, const char *header, int *ret_file);
/* Appends a string; if `sync` is true, the string is on disk when this function returns. */
int launch_append(int file, const char *text, size_t length, bool sync);

#endif
