/*
 * Reads and creates tokens. A token consists of 32 random bytes in hexadecimal; the token file
 * contains the SHA-256 hash of the token.
 */
#include "tokens.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "err.h"
#include "sha256.h"

enum { TOKENS_MAX = 1000 };

struct tokens {
    size_t count;
    struct {
        uint8_t hash[SHA256_BYTES];
        unsigned scopes;
    } list[TOKENS_MAX];
};

unsigned tokens_scope_find(const char *text, size_t length)
{
    static const struct {
        const char *name;
        unsigned scopes;
    } known[] = {
        {"read", TOKEN_READ}, {"write", TOKEN_WRITE}, {"read,write", TOKEN_READ | TOKEN_WRITE}};

    for (size_t i = 0; i < 3; i++)
        if (strlen(known[i].name) == length && strncmp(known[i].name, text, length) == 0)
            return known[i].scopes;
    return 0;
}

static bool read_hash(const char *text, size_t length, uint8_t hash[SHA256_BYTES])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; length == 2 * SHA256_BYTES && i < length; i++) {
        const char *at = text[i] ? strchr(digits, text[i]) : NULL;
        if (!at)
            return false;
        hash[i / 2] = (uint8_t)(hash[i / 2] << 4 | (at - digits));
    }
    return length == 2 * SHA256_BYTES;
}

/* Parses one line of a token file, which is empty, a comment, or a hash and its scopes. */
static int read_line(struct tokens *t, const char *line, size_t length, struct hm_err *err)
{
    static const char blanks[] = " \t\r";

    while (length > 0 && strchr(blanks, line[length - 1]))
        length--;
    if (length == 0 || line[0] == '#')
        return 0;
    size_t word = 0, gap = 0;
    while (word < length && !strchr(blanks, line[word]))
        word++;
    while (word + gap < length && strchr(blanks, line[word + gap]))
        gap++;
    if (t->count == TOKENS_MAX)
        return hm__fail(err, HM_E_LIMIT, "more than %d tokens", TOKENS_MAX);
    memset(t->list[t->count].hash, 0, SHA256_BYTES);
    unsigned scopes = tokens_scope_find(line + word + gap, length - word - gap);
    if (!read_hash(line, word, t->list[t->count].hash) || scopes == 0) {
        hm__fail(err, HM_E_SYNTAX, "the line is not a SHA-256 in hexadecimal and a scope");
        hm__err_hint(err, "`howmany serve --make-token read` prints such a line");
        return HM_E_SYNTAX;
    }
    t->list[t->count++].scopes = scopes;
    return 0;
}

int tokens_parse(const char *text, size_t length, const char *source, struct tokens **ret_tokens,
                 struct hm_err *err)
{
    struct tokens *t = calloc(1, sizeof(*t));
    int rc = t ? 0 : hm__fail_nomem(err), line = 0;

    for (size_t at = 0; rc == 0 && at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t used = end ? (size_t)(end - text) - at : length - at;
        line++;
        rc = read_line(t, text + at, used, err);
        at += used + 1;
    }
    if (rc == 0 && t->count == 0)
        rc = hm__fail(err, HM_E_MISSING, "the file contains no token");
    if (rc) {
        hm__err_at(err, source, line);
        free(t);
        return rc;
    }
    *ret_tokens = t;
    return 0;
}

void tokens_free(struct tokens *t)
{
    free(t);
}

/* Returns the scopes of a token. The token is compared with all hashes, so that the time does not
 * reveal which hash matches. */
unsigned tokens_scopes(const struct tokens *t, const char *authorization)
{
    uint8_t hash[SHA256_BYTES];
    unsigned scopes = 0;

    if (strncasecmp(authorization, "Bearer ", 7) != 0)
        return 0;
    const char *token = authorization + 7 + strspn(authorization + 7, " ");
    sha256(token, strlen(token), hash);
    for (size_t i = 0; i < t->count; i++)
        scopes |= sha256_equal(hash, t->list[i].hash) ? t->list[i].scopes : 0;
    return scopes;
}

int tokens_make(char *token, char *ret_hash, struct hm_err *err)
{
    uint8_t random[SHA256_BYTES], hash[SHA256_BYTES];

    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return hm__fail(err, HM_E_IO, "cannot read random bytes");
    sha256_hex(random, token);
    sha256(token, strlen(token), hash);
    sha256_hex(hash, ret_hash);
    return 0;
}
