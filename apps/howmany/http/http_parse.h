/*
 * The parser of requests. It consists of pure functions over buffers, which use no sockets and
 * allocate no memory. It accepts only what RFC 9112 requires a sender to write: every line ends
 * with CR LF, the parts of the request line are separated by one space, no line is folded, and
 * there is no NUL. The guard (http_guard.h) then checks what the parts mean.
 */
#ifndef HM_HTTP_PARSE_H
#define HM_HTTP_PARSE_H

#include "http_guard.h"

enum {
    /*
     * Largest number of bytes in a request line, including 64 bytes for the method and the version.
     */
    HTTP_LINE_MAX = HTTP_TARGET_MAX + 64,
    /* Largest number of bytes in a whole head. The last term accounts for the ": " and CR LF of
     * each header. */
    HTTP_HEAD_MAX = HTTP_LINE_MAX + HTTP_HEADERS_SIZE + 8 * HTTP_HEADERS_MAX,
    /* Largest number of bytes in the extensions of one chunk, and largest number of bytes in all
     * trailer fields. */
    HTTP_EXTENSION_MAX = 256,
    HTTP_TRAILER_MAX = 4096,
};

enum http_scan_result {
    HTTP_SCAN_MORE, /* The head is not complete yet. */
    HTTP_SCAN_DONE, /* The head is complete; the member `at` of struct http_scan is its length. */
    HTTP_SCAN_BAD,  /* The head contains a NUL, a CR without LF, or an LF without CR. */
    HTTP_SCAN_LONG_LINE,
    HTTP_SCAN_LONG_HEAD,
};

/* State of the search for the end of a head; zero-initialise it for each request. */
struct http_scan {
    size_t at;     /* Number of bytes that were examined so far. */
    size_t begin;  /* Position of the request line; an empty line may come before it. */
    size_t length; /* Number of bytes in the current line so far, without its CR. */
    size_t lines;  /* Number of complete lines, beginning with the request line. */
    bool after_cr;
};

/*
 * Examines data[length], which contains the bytes of earlier calls and new bytes. Each byte is
 * examined once, so the work does not depend on how the bytes were divided into packets.
 */
enum http_scan_result http_scan_head(struct http_scan *scan, const char *data, size_t length);

/* The parts of a request head, each as a string. */
struct http_parsed {
    struct http_head head; /* Parts of the head; the strings are in the buffer that was parsed. */
    struct http_header headers[HTTP_HEADERS_MAX];
    bool close; /* True if the header Connection contains "close". */
};

/*
 * Parses the complete head text[length], which begins with the request line and ends where
 * http_scan_head has found the end. NUL characters are written into `text` after each part. An
 * absolute target (http://host/path) is replaced by its path.
 */
struct http_verdict http_parse_head(char *text, size_t length, struct http_parsed *ret_parsed);

enum http_chunk_state {
    HTTP_CHUNK_SIZE,
    HTTP_CHUNK_EXTENSION,
    HTTP_CHUNK_SIZE_END, /* The CR at the end of the size line has been read; LF must follow. */
    HTTP_CHUNK_DATA,
    HTTP_CHUNK_DATA_CR,
    HTTP_CHUNK_DATA_LF,
    HTTP_CHUNK_TRAILER_START,
    HTTP_CHUNK_TRAILER_NAME,
    HTTP_CHUNK_TRAILER_VALUE,
    HTTP_CHUNK_TRAILER_LF,
    HTTP_CHUNK_LAST_LF,
    HTTP_CHUNK_DONE,
    HTTP_CHUNK_BAD,
};

/* State of a chunked body; zero-initialise it for each body. */
struct http_chunks {
    enum http_chunk_state state;
    size_t left; /* Size of the chunk according to the digits read so far, or number of bytes in the
                    chunk that are still missing. */
    size_t digits; /* Number of hexadecimal digits of the chunk size so far. */
    size_t extra;  /* Number of bytes so far in the extensions of this chunk, or in all trailer
                      fields. */
};

/*
 * Decodes data[length]. Returns the number of bytes that were used. The function returns after one
 * piece of the body (*ret_piece with *ret_size bytes), at the end of the body (state
 * HTTP_CHUNK_DONE), at an error (HTTP_CHUNK_BAD), or at the end of the data. If there is no piece,
 * *ret_size is 0. Chunk extensions and trailer fields are checked and ignored.
 */
size_t http_chunks_decode(struct http_chunks *chunks, const char *data, size_t length,
                          const char **ret_piece, size_t *ret_size);

#endif
