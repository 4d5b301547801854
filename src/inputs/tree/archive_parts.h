/*
 * Describes an archive and its members, and declares the functions that archive.c and archive_tar.c
 * share.
 */
#ifndef HM_ARCHIVE_PARTS_H
#define HM_ARCHIVE_PARTS_H

#include <stdio.h>

#include "source.h"

struct hm_archive_member {
    const char *name;
    uint64_t header; /* Position of the member's own header or, for tar, of its data. */
    uint64_t packed; /* Size of the member's data in the archive, in bytes, compressed or not. */
    unsigned method; /* Method of compression: 0 for stored, 8 for deflated. */
    bool encrypted;
    /* True if `checksum` and `size` are known, as for members of a complete zip archive. */
    bool verified;
    uint32_t checksum; /* CRC-32 of the bytes after decompression. */
    uint64_t size;     /* Their number; UINT32_MAX if it has more than 32 bits. */
};

struct hm_archive {
    char path[256];     /* Name of the archive file. */
    bool tar;           /* True for a tar archive; false for a zip archive. */
    FILE *spool;        /* Temporary file of an archive from a pipe, or NULL; owned. */
    int file;           /* Open file; -1 for bytes in memory. */
    const char *memory; /* Bytes of the archive, borrowed; NULL if they are in the file. */
    uint64_t length;
    /* Members that are files, in the arena; folders are omitted. */
    struct hm_archive_member *members;
    size_t count;
    bool cut; /* True if the archive is truncated. */
    /* The following fields are used for tar archives. */
    struct hm_source *base; /* The archive as a stream; NULL until a member is opened; owned. */
    bool packed;            /* True if the archive is compressed. */
    /* Number of bytes in the archive after decompression, and bytes that were decompressed again
     * because a member comes before one that was opened earlier. */
    uint64_t unpacked, repeated;
    struct hm_arena *arena; /* Arena that holds the list of members; owned. */
};

/* Returns whether bytes are the beginning of a tar archive that is not compressed. */
bool hm__tar_magic(const char *head, size_t length);
/* Lists the members of a tar archive. */
int hm__tar_list(struct hm_archive *archive, struct hm_err *err);
/*
 * Opens a member of a tar archive; messages refer to it as `name`. It is an error if members of a
 * compressed archive are opened in such an order that the archive is decompressed very often.
 */
int hm__tar_source(struct hm_archive *archive, const struct hm_archive_member *member,
                   const char *name, struct hm_source **ret_source, struct hm_err *err);
/* Opens the archive as a stream of decompressed bytes. */
int hm__archive_base(const struct hm_archive *archive, struct hm_source **ret_source,
                     struct hm_err *err);

#endif
