/* Reading bytes from a file that may be compressed. */
#ifndef HM_SOURCE_H
#define HM_SOURCE_H

#include "howmany.h"

struct hm_source;

/* Open a plain file or, when it begins like one, a gzip file ("-" is standard input). */
int hm__source_open(const char *path, struct hm_source **ret_source, struct hm_err *err);
/* Read up to room bytes; *ret_length 0 at the end. A compressed file cut short is an error. */
int hm__source_read(struct hm_source *source, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err);
/* As above, going on until the room is full or the file ends. */
int hm__source_fill(struct hm_source *source, char *buffer, size_t room, size_t *ret_length,
                    struct hm_err *err);
/* The whole of it, at most 2 GiB, freed with hm__free. */
int hm__source_read_all(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);
void hm__source_close(struct hm_source *source);

#endif
