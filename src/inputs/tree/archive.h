/*
 * Reads zip and tar archives: a list of members, and each member as a source. Tar archives may be
 * compressed (archive_tar.c). Members of zip archives are stored or deflated; other methods and
 * encrypted members are refused when they are opened. If a zip archive is truncated, so that the
 * directory at its end is missing, the members before the truncation are found by their own
 * headers.
 */
#ifndef HM_ARCHIVE_H
#define HM_ARCHIVE_H

#include "archive_parts.h"

/*
 * hm__archive_magic returns whether bytes are the beginning of an archive. hm__archive_is returns
 * whether a file begins with such bytes; the bytes of a pipe are not read.
 */
bool hm__archive_magic(const char *head, size_t length);
bool hm__archive_is(const char *path);
/*
 * Opens standard input. If it is an archive, it is copied to a temporary file and opened as an
 * archive; otherwise it is opened as a source.
 */
int hm__archive_stdin(struct hm_archive **ret_archive, struct hm_source **ret_source,
                      struct hm_err *err);
/* Opens the file `path`, or, if `memory` is not NULL, the bytes in memory. */
int hm__archive_open(const char *path, const char *memory, size_t length,
                     struct hm_archive **ret_archive, struct hm_err *err);
void hm__archive_free(struct hm_archive *archive);
/*
 * Opens a member for reading; the archive must outlive the source. A source that was opened before
 * must not be read any more. A member that is itself
 * compressed is decoded like a file.
 */
int hm__archive_source(struct hm_archive *archive, const struct hm_archive_member *member,
                       struct hm_source **ret_source, struct hm_err *err);

#endif
