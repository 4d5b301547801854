/*
 * Reads zip and tar archives: a list of members, and each member as a source. Tar archives may be
 * compressed (archive_tar.c). Members of zip archives are stored or deflated; other methods and
 * encrypted members are refused when they are opened. If a zip archive is truncated, so that the
 * directory at its end is missing, the members before that place are found by their own headers.
 */
#ifndef HM_ARCHIVE_H
#define HM_ARCHIVE_H

#include <stdio.h>

#include "source.h"

struct hm_archive_member {
    const char *name;
    uint64_t header; /* Position of the member's own header; for tar, of its data. */
    uint64_t packed; /* Number of (compressed) bytes in the archive. */
    unsigned method; /* Method of compression: 0 stored, 8 deflated. */
    bool encrypted;
};

struct hm_archive {
    char path[256];     /* Name of the file. */
    bool tar;           /* A tar archive; otherwise a zip archive. */
    FILE *spool;        /* Temporary file of an archive from a pipe, or NULL; owned. */
    int file;           /* Open file; -1 for bytes in memory. */
    const char *memory; /* Bytes of the archive; borrowed. NULL: they are in the file. */
    uint64_t length;
    struct hm_archive_member *members; /* Files, without folders; in the arena. */
    size_t count;
    bool cut;               /* The archive is truncated. */
    struct hm_arena *arena; /* Memory of the members; owned. */
};

/* Whether bytes are the beginning of an archive, and whether a file begins with such bytes. A pipe
 * is not looked at. */
bool hm__archive_magic(const char *head, size_t length);
bool hm__archive_is(const char *path);
/* Open standard input. If it is an archive, it is copied to a temporary file and opened as an
 * archive; otherwise it is a source. */
int hm__archive_stdin(struct hm_archive **ret_archive, struct hm_source **ret_source,
                      struct hm_err *err);
/* Open the file `path`, or, if `memory` is not NULL, the bytes in memory. */
int hm__archive_open(const char *path, const char *memory, size_t length,
                     struct hm_archive **ret_archive, struct hm_err *err);
void hm__archive_free(struct hm_archive *archive);
/* Open a member for reading; the archive must outlive the source. A member that is itself
 * compressed is decoded like a file. */
int hm__archive_source(const struct hm_archive *archive, const struct hm_archive_member *member,
                       struct hm_source **ret_source, struct hm_err *err);

#endif
