/* The functions for tar archives that archive.c calls, and those that they call. */
#ifndef HM_ARCHIVE_PARTS_H
#define HM_ARCHIVE_PARTS_H

#include "archive.h"

/* Whether bytes are the beginning of a tar archive that is not compressed. */
bool hm__tar_magic(const char *head, size_t length);
/* List the members of a tar archive. */
int hm__tar_list(struct hm_archive *archive, struct hm_err *err);
/* Open a member of a tar archive; `name` is its name for messages. */
int hm__tar_source(const struct hm_archive *archive, const struct hm_archive_member *member,
                   const char *name, struct hm_source **ret_source, struct hm_err *err);
/* Open the bytes of the archive, decompressed. */
int hm__archive_base(const struct hm_archive *archive, struct hm_source **ret_source,
                     struct hm_err *err);

#endif
