/*
 * Decompresses streams. Each codec is one row of the table hm__codecs; the first bytes of a file
 * determine its codec. A codec consumes input and produces output in steps of any size.
 */
#ifndef HM_UNPACK_H
#define HM_UNPACK_H

#include "howmany.h"

/* Input and output of one step. The codec advances `in` and `out` and decreases the two sizes. */
struct hm_unpack_step {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
    bool between; /* Set by the codec: true if the input so far ends at the end of a frame. */
    bool ended; /* Set by the codec: true if the data has ended; the rest of the file is ignored. */
};

struct hm_codec {
    const char *name; /* Name used in messages: "gzip", "zstd", "lz4", "snappy", "lzf". */
    const unsigned char
        *magic; /* Bytes at the beginning of every file in the format of the codec. */
    size_t magic_length;
    /* Library that this build does not include; NULL if the codec is available. */
    const char *needs;
    /* Creates the state of a stream; returns NULL if memory runs out. */
    void *(*open)(void);
    /*
     * Decodes until the input is consumed or the output is full. Returns HM_E_IO if the data are
     * damaged.
     */
    int (*step)(void *state, struct hm_unpack_step *step, struct hm_err *err);
    void (*close)(void *state);
};

/* Number of bytes in the longest magic number of any codec. */
enum { HM_CODEC_MAGIC = 8 };

/* All codecs; the last entry is NULL. */
extern const struct hm_codec *const hm__codecs[];
extern const struct hm_codec hm__codec_gzip, hm__codec_zstd, hm__codec_lz4, hm__codec_snappy,
    hm__codec_lzf;
/* A deflate stream without a header, as in zip archives. It has no magic number and is not in the
 * table. */
extern const struct hm_codec hm__codec_deflate;

/*
 * Continues the CRC-32 of zip archives (ISO 3309) over more bytes; the checksum of no bytes is 0.
 */
uint32_t hm__checksum_zip(uint32_t sum, const void *data, size_t length);

/*
 * Returns the codec of a file that begins with these bytes, or NULL if the file is not compressed.
 */
const struct hm_codec *hm__codec_find(const unsigned char *head, size_t length);

#endif
