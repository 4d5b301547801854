/*
 * howmany: version, unknown values and errors. The other headers of libhowmany include this one;
 * a program includes howmany.h, where the conventions are described.
 */
#ifndef HOWMANY_BASE_H
#define HOWMANY_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HM_API __attribute__((visibility("default")))
#define HM_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define HM_API
#define HM_PRINTF(fmt, args)
#endif

/* ---- version ------------------------------------------------------------------------------- */

/* The version of these headers. The build and the programs read it from these three lines. */
#define HM_VERSION_MAJOR 0
#define HM_VERSION_MINOR 2
#define HM_VERSION_PATCH 0

/* The version as one number that increases with each release: 0x000200 is 0.2.0. */
#define HM_VERSION_HEX ((HM_VERSION_MAJOR << 16) | (HM_VERSION_MINOR << 8) | HM_VERSION_PATCH)

#define HM_VERSION_QUOTE(x) #x
#define HM_VERSION_TEXT(x) HM_VERSION_QUOTE(x)
/* The version as text: the three numbers with dots between them. */
#define HM_VERSION                                                                                 \
    HM_VERSION_TEXT(HM_VERSION_MAJOR)                                                              \
    "." HM_VERSION_TEXT(HM_VERSION_MINOR) "." HM_VERSION_TEXT(HM_VERSION_PATCH)

/* Returns the version of the linked library, which may differ from that of the headers. */
HM_API const char *hm_version(void);
HM_API int hm_version_hex(void);

/* ---- unknown values -------------------------------------------------------------------------- */

/* An unknown quantity is NaN. Test for it with isnan(), never with ==. */
#define HM_UNKNOWN ((double)NAN)

/* An index with this value means that there is no such element. */
#define HM_NONE ((size_t)-1)

/* ---- errors ---------------------------------------------------------------------------------- */

/* Each error has a name, a number, and a fixed phrase that hm_strerror returns. */
#define HM_ERR_MAP(X)                                                                              \
    X(NOMEM, -1, "out of memory")                                                                  \
    X(IO, -2, "cannot read or write")                                                              \
    X(SYNTAX, -3, "not well-formed")                                                               \
    X(KEY, -4, "unknown key")                                                                      \
    X(MISSING, -5, "something is missing")                                                         \
    X(TYPE, -6, "wrong kind of value")                                                             \
    X(UNIT, -7, "wrong unit")                                                                      \
    X(RANGE, -8, "out of range")                                                                   \
    X(FORMULA, -9, "formula cannot be used")                                                       \
    X(NAME, -10, "unknown name")                                                                   \
    X(LIMIT, -11, "too large")                                                                     \
    X(CONFLICT, -12, "contradiction")                                                              \
    X(UNSUPPORTED, -13, "not available in this build")                                             \
    X(BUDGET, -14, "over the limit of time or memory")                                             \
    X(CANCELLED, -15, "cancelled")

/*
 * Every function that can fail returns HM_OK or one of the codes below. The name of a code is HM_E_
 * followed by a name in HM_ERR_MAP.
 */
enum hm_code {
    HM_OK = 0,
#define HM_ERR_ENUM(name, value, text) HM_E_##name = value,
    HM_ERR_MAP(HM_ERR_ENUM)
#undef HM_ERR_ENUM
};

/*
 * The details of an error: what is wrong, where, and what would be correct. The caller owns the
 * struct and sets it to zero before the first call. A call that fails fills it in. While `code` is
 * not 0, later calls leave the struct unchanged, so that the first error is kept.
 */
struct hm_err {
    int code;          /* One of enum hm_code; 0 if there is no error. */
    int line;          /* Line in `source`, counted from 1; 0 if the error has no line. */
    char source[256];  /* Name of the file, or another name of the input; empty if unknown. */
    char field[128];   /* Path of the field, such as cluster.fabric.bandwidth; may be empty. */
    char message[384]; /* One sentence without a full stop. It names the wrong value. */
    char hint[256];    /* A correct value or a way to fix the error; may be empty. */
};

/*
 * Returns the fixed phrase of an error code, such as "out of memory"; "unknown error" for any other
 * number.
 */
HM_API const char *hm_strerror(int code);

/* Frees a string that a function of this library returned through a char ** parameter. */
HM_API void hm_text_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
