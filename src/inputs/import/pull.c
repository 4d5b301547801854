/* Implements the incremental JSON reader; see pull.h. */
#include "pull.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "text.h"

int hm__pull_init(struct hm_pull *p, struct hm_stream *in, struct hm_err *err)
{
    /*
     * Setting the first byte of the buffer to 0 is enough: `text` is an empty string before the
     * first token.
     */
    *p = (struct hm_pull){.in = in, .text = hm__realloc(NULL, HM_PULL_TEXT_ROOM + 8, 1)};
    if (!p->text)
        return hm__fail_nomem(err);
    p->text[0] = '\0';
    return 0;
}

void hm__pull_release(struct hm_pull *p)
{
    hm__free(p->text);
    *p = (struct hm_pull){0};
}

void hm__pull_restart(struct hm_pull *p)
{
    p->depth = 0;
    p->filled = p->keyed = p->failed = false;
}

static enum hm_pull_token pull_fail(struct hm_pull *p, enum hm_pull_token token)
{
    p->failed = true;
    return token;
}

/* Returns the next byte that is not white space, without consuming it; -1 at the end of the
 * stream. */
static int see_token(struct hm_pull *p)
{
    struct hm_stream *in = p->in;

    for (;;) {
        while (in->at < in->length) {
            unsigned char c = (unsigned char)in->buffer[in->at];
            if (c > ' ' || (c != ' ' && c != '\n' && c != '\t' && c != '\r'))
                return c;
            in->at++;
        }
        if (!hm__stream_refill(in))
            return -1;
    }
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void keep_bytes(struct hm_pull *p, const char *bytes, size_t count)
{
    size_t room = HM_PULL_TEXT_ROOM - p->length, take = count < room ? count : room;

    memcpy(p->text + p->length, bytes, take);
    p->length += take;
    p->clipped |= take < count;
}

static void keep_code_point(struct hm_pull *p, unsigned code)
{
    char bytes[4];
    size_t count = 0;

    if (code < 0x80) {
        bytes[count++] = (char)code;
    } else if (code < 0x800) {
        bytes[count++] = (char)(0xc0 | code >> 6);
        bytes[count++] = (char)(0x80 | (code & 63));
    } else if (code < 0x10000) {
        bytes[count++] = (char)(0xe0 | code >> 12);
        bytes[count++] = (char)(0x80 | ((code >> 6) & 63));
        bytes[count++] = (char)(0x80 | (code & 63));
    } else {
        bytes[count++] = (char)(0xf0 | code >> 18);
        bytes[count++] = (char)(0x80 | ((code >> 12) & 63));
        bytes[count++] = (char)(0x80 | ((code >> 6) & 63));
        bytes[count++] = (char)(0x80 | (code & 63));
    }
    keep_bytes(p, bytes, count);
}

/* Reads four hexadecimal digits; returns -1 at the end of the stream, and -2 if there are other
 * characters. */
static int read_hex4(struct hm_pull *p)
{
    int code = 0;

    for (int i = 0; i < 4; i++) {
        int c = hm__stream_see(p->in);
        if (c < 0)
            return -1;
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -2;
        p->in->at++;
        code = code * 16 + digit;
    }
    return code;
}

/*
 * Reads an escape sequence whose backslash has already been read; returns 0, -1 at the end of the
 * stream, or -2 if the sequence is not valid.
 */
static int read_escape(struct hm_pull *p)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int c = hm__stream_see(p->in);

    if (c < 0)
        return -1;
    p->in->at++;
    const char *name = c ? strchr(names, c) : NULL;
    if (name) {
        keep_bytes(p, &values[name - names], 1);
        return 0;
    }
    if (c != 'u')
        return -2;
    int code = read_hex4(p);
    if (code < 0)
        return code;
    if (code >= 0xd800 && code < 0xdc00 && hm__stream_peek(p->in, 6) >= 6 &&
        memcmp(p->in->buffer + p->in->at, "\\u", 2) == 0) {
        p->in->at += 2;
        int low = read_hex4(p);
        if (low < 0)
            return low;
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
                                             : 0xfffd;
    }
    keep_code_point(p, code == 0 || (code >= 0xd800 && code < 0xe000) ? 0xfffd : (unsigned)code);
    return 0;
}

enum { LITTLE_ENDIAN_WORDS = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

/*
 * Copies bytes up to the first quote or backslash, eight at a time; returns false if neither occurs
 * before the end of the stream's buffer, or if `text` is full. The lowest bit that is set in `(x -
 * ones) & ~x & tops` belongs to the first byte of `x` that is 0.
 */
static bool copy_plain(struct hm_pull *p)
{
    const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    struct hm_stream *in = p->in;

    while (LITTLE_ENDIAN_WORDS && in->length - in->at >= 8 && p->length < HM_PULL_TEXT_ROOM - 8) {
        uint64_t bytes;
        memcpy(&bytes, in->buffer + in->at, 8);
        memcpy(p->text + p->length, &bytes, 8);
        uint64_t quote = bytes ^ ones * '"', slash = bytes ^ ones * '\\';
        uint64_t found = (((quote - ones) & ~quote) | ((slash - ones) & ~slash)) & tops;
        size_t count = found ? (size_t)__builtin_ctzll(found) / 8 : 8;
        p->length += count;
        in->at += count;
        if (found)
            return true;
    }
    return false;
}

/* Reads a string whose opening quote has already been read. */
static enum hm_pull_token read_text(struct hm_pull *p, enum hm_pull_token token)
{
    struct hm_stream *in = p->in;

    p->length = 0;
    p->clipped = false;
    for (;;) {
        if (in->at == in->length && !hm__stream_refill(in))
            return pull_fail(p, HM_PULL_CUT);
        if (!copy_plain(p)) {
            size_t start = in->at;
            while (in->at < in->length && in->buffer[in->at] != '"' && in->buffer[in->at] != '\\')
                in->at++;
            keep_bytes(p, in->buffer + start, in->at - start);
        }
        if (in->at == in->length)
            continue;
        if (in->buffer[in->at++] == '"')
            break;
        int rc = read_escape(p);
        if (rc)
            return pull_fail(p, rc == -1 ? HM_PULL_CUT : HM_PULL_BAD);
    }
    p->text[p->length] = '\0';
    return token;
}

/* ---- other values --------------------------------------------------------------------------- */

/* Returns whether a byte may be part of a number, or of a literal such as `true`. */
static inline bool is_word_byte(int c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || c == '+';
}

/* Returns a pointer to the first character that is not a digit. */
static inline const char *after_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* Returns whether a string is a number in the syntax of JSON. */
static bool is_number(const char *text)
{
    const char *start = text + (*text == '-'), *p = after_digits(start);
    bool digits = p > start;

    if (*p == '.') {
        const char *end = after_digits(p + 1);
        digits |= end > p + 1;
        p = end;
    }
    if (digits && (*p == 'e' || *p == 'E')) {
        p += 1 + (p[1] == '-' || p[1] == '+');
        const char *end = after_digits(p);
        digits = end > p;
        p = end;
    }
    return digits && *p == '\0';
}

/* Reads a number, or one of the literals true, false, null, NaN and Infinity. */
static enum hm_pull_token read_word(struct hm_pull *p)
{
    struct hm_stream *in = p->in;
    int c;

    p->length = 0;
    p->clipped = false;
    while ((c = hm__stream_see(in)) >= 0 && is_word_byte(c)) {
        size_t start = in->at;
        while (in->at < in->length && is_word_byte((unsigned char)in->buffer[in->at]))
            in->at++;
        keep_bytes(p, in->buffer + start, in->at - start);
    }
    p->text[p->length] = '\0';
    /*
     * A number that ends with the stream inside a container may have been truncated, so it is not
     * used.
     */
    if (c < 0 && p->depth > 0)
        return pull_fail(p, HM_PULL_CUT);
    char first = p->text[0];
    if ((first == '-' || first == '.' || (first >= '0' && first <= '9')) && is_number(p->text))
        return HM_PULL_NUMBER;
    if (strcmp(p->text, "true") == 0)
        return HM_PULL_TRUE;
    if (strcmp(p->text, "false") == 0)
        return HM_PULL_FALSE;
    if (strcmp(p->text, "null") == 0)
        return HM_PULL_NULL;
    if (strcmp(p->text, "NaN") == 0 || strcmp(p->text, "Infinity") == 0 ||
        strcmp(p->text, "-Infinity") == 0)
        return HM_PULL_NUMBER;
    return pull_fail(p, HM_PULL_BAD);
}

static enum hm_pull_token pull_open(struct hm_pull *p, bool list)
{
    p->in->at++;
    if (p->depth == HM_PULL_DEPTH)
        return pull_fail(p, HM_PULL_BAD);
    p->lists[p->depth++] = list;
    p->filled = false;
    return list ? HM_PULL_LIST : HM_PULL_OBJECT;
}

static enum hm_pull_token pull_close(struct hm_pull *p, bool list)
{
    if (p->depth == 0 || p->lists[p->depth - 1] != list)
        return pull_fail(p, HM_PULL_BAD);
    p->in->at++;
    p->depth--;
    p->filled = true;
    return list ? HM_PULL_LIST_END : HM_PULL_OBJECT_END;
}

/* Reads a key and the colon after it. */
static enum hm_pull_token read_key(struct hm_pull *p)
{
    p->in->at++;
    enum hm_pull_token token = read_text(p, HM_PULL_KEY);
    if (token != HM_PULL_KEY)
        return token;
    int c = see_token(p);
    if (c != ':')
        return pull_fail(p, c < 0 ? HM_PULL_CUT : HM_PULL_BAD);
    p->in->at++;
    p->keyed = true;
    return HM_PULL_KEY;
}

enum hm_pull_token hm__pull_next(struct hm_pull *p)
{
    if (p->failed)
        return HM_PULL_BAD;
    int c = see_token(p);
    bool inside = p->depth > 0 && !p->keyed;
    if (c < 0)
        return p->depth > 0 ? pull_fail(p, HM_PULL_CUT) : HM_PULL_END;
    if (inside && (c == '}' || c == ']'))
        return pull_close(p, c == ']');
    if (inside && p->filled) {
        if (c != ',')
            return pull_fail(p, HM_PULL_BAD);
        p->in->at++;
        c = see_token(p);
        if (c < 0)
            return pull_fail(p, HM_PULL_CUT);
    }
    if (inside && !p->lists[p->depth - 1])
        return c == '"' ? read_key(p) : pull_fail(p, HM_PULL_BAD);
    p->keyed = false;
    if (c == '{' || c == '[')
        return pull_open(p, c == '[');
    p->filled = true;
    if (c == '"') {
        p->in->at++;
        return read_text(p, HM_PULL_TEXT);
    }
    return read_word(p);
}

/* ---- skipping ------------------------------------------------------------------------------- */

/* Skips the rest of a string whose opening quote has already been read. */
static bool skip_text(struct hm_stream *in)
{
    for (;;) {
        char *quote = memchr(in->buffer + in->at, '"', in->length - in->at);
        if (!quote) {
            /*
             * If the buffer ends with backslashes, the last of them may escape a quote at the start
             * of the next block, so they must be counted.
             */
            size_t end = in->length, slashes = 0;
            while (end - slashes > in->at && in->buffer[end - slashes - 1] == '\\')
                slashes++;
            in->at = in->length;
            if (!hm__stream_refill(in))
                return false;
            if (slashes % 2)
                in->at++;
            continue;
        }
        size_t end = (size_t)(quote - in->buffer), slashes = 0;
        while (end - slashes > in->at && in->buffer[end - slashes - 1] == '\\')
            slashes++;
        in->at = end + 1;
        if (slashes % 2 == 0)
            return true;
    }
}

/*
 * Kinds of bytes that matter while a container is skipped: 1 is a quote, 2 is an opening bracket,
 * and 3 is a closing bracket.
 */
static const unsigned char skip_kinds[256] = {
    ['"'] = 1, ['{'] = 2, ['['] = 2, ['}'] = 3, [']'] = 3};

bool hm__pull_leave(struct hm_pull *p)
{
    struct hm_stream *in = p->in;
    size_t open = 1;

    if (p->failed || p->depth == 0)
        return false;
    while (open > 0) {
        while (in->at < in->length && !skip_kinds[(unsigned char)in->buffer[in->at]])
            in->at++;
        if (in->at == in->length) {
            if (hm__stream_refill(in))
                continue;
            p->failed = true;
            return false;
        }
        unsigned char kind = skip_kinds[(unsigned char)in->buffer[in->at++]];
        if (kind == 1 && !skip_text(in))
            kind = 4;
        open += kind == 2;
        open -= kind == 3;
        if (kind == 4 || open + p->depth > HM_PULL_DEPTH) {
            p->failed = true;
            return false;
        }
    }
    p->depth--;
    p->filled = true;
    p->keyed = false;
    return true;
}

/* Skips a number or a literal after a key, without decoding it. */
static bool skip_word(struct hm_pull *p)
{
    struct hm_stream *in = p->in;
    int c;

    while ((c = hm__stream_see(in)) >= 0 && is_word_byte(c))
        while (in->at < in->length && is_word_byte((unsigned char)in->buffer[in->at]))
            in->at++;
    p->keyed = false;
    p->filled = true;
    p->failed = c < 0;
    return !p->failed;
}

bool hm__pull_skip(struct hm_pull *p)
{
    int c = p->keyed && !p->failed ? see_token(p) : -1;

    if (c == '"') {
        p->in->at++;
        p->keyed = false;
        p->filled = true;
        p->failed = !skip_text(p->in);
        return !p->failed;
    }
    if (c >= 0 && is_word_byte(c))
        return skip_word(p);
    enum hm_pull_token token = hm__pull_next(p);
    if (token == HM_PULL_OBJECT || token == HM_PULL_LIST)
        return hm__pull_leave(p);
    return !p->failed && token != HM_PULL_END;
}

/* ---- reading members ------------------------------------------------------------------------ */

bool hm__pull_enter(struct hm_pull *p, enum hm_pull_token container)
{
    enum hm_pull_token token = hm__pull_next(p);

    if (token == container)
        return true;
    if (token == HM_PULL_OBJECT || token == HM_PULL_LIST)
        hm__pull_leave(p);
    return false;
}

bool hm__pull_key(struct hm_pull *p)
{
    return hm__pull_next(p) == HM_PULL_KEY;
}

double hm__pull_number(struct hm_pull *p)
{
    enum hm_pull_token token = hm__pull_next(p);
    double number = NAN;

    if (token == HM_PULL_OBJECT || token == HM_PULL_LIST)
        hm__pull_leave(p);
    if (token != HM_PULL_NUMBER && token != HM_PULL_TEXT)
        return NAN;
    if (token == HM_PULL_NUMBER && strstr(p->text, "Infinity"))
        return p->text[0] == '-' ? -INFINITY : INFINITY;
    size_t used = hm__signed_read(p->text, &number);
    return used > 0 && p->text[used] == '\0' ? number : NAN;
}

const char *hm__pull_text(struct hm_pull *p, struct hm_arena *arena)
{
    enum hm_pull_token token = hm__pull_next(p);

    if (token == HM_PULL_OBJECT || token == HM_PULL_LIST)
        hm__pull_leave(p);
    return token == HM_PULL_TEXT ? hm__arena_strdup(arena, p->text) : NULL;
}

/* ---- trees ---------------------------------------------------------------------------------- */

enum { TREE_MOST = 200000, TREE_DEPTH = 64 };

struct tree_builder {
    struct hm_pull *pull;
    struct hm_arena *arena;
    const char *source;
    size_t count;
    struct hm_err *err;
};

static int build_value(struct tree_builder *b, enum hm_pull_token token, struct hm_value *value);

struct tree_key {
    const char *key;
    size_t index;
};

static int compare_keys(const void *a, const void *b)
{
    const struct tree_key *x = a, *y = b;
    int order = strcmp(x->key, y->key);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

/*
 * Keeps the last of several members with the same key, as other readers of JSON do; returns false
 * if memory runs out.
 */
static bool drop_repeated(struct hm_value *items, const char **keys, size_t *count)
{
    struct tree_key *sorted = hm__calloc(*count + 1, sizeof(*sorted));
    size_t kept = 0;

    if (!sorted)
        return false;
    for (size_t i = 0; i < *count; i++)
        sorted[i] = (struct tree_key){keys[i], i};
    qsort(sorted, *count, sizeof(*sorted), compare_keys);
    for (size_t i = 0; i + 1 < *count; i++)
        if (strcmp(sorted[i].key, sorted[i + 1].key) == 0)
            keys[sorted[i].index] = NULL;
    for (size_t i = 0; i < *count; i++) {
        if (!keys[i])
            continue;
        items[kept] = items[i];
        keys[kept++] = keys[i];
    }
    *count = kept;
    hm__free(sorted);
    return true;
}

/* Reads the members of a container until the container or the stream ends. */
static int build_members(struct tree_builder *b, struct hm_value *value)
{
    struct hm_value *items = NULL;
    const char **keys = NULL;
    size_t count = 0, room = 0;
    int rc = 0;

    while (rc == 0 && !b->pull->failed) {
        enum hm_pull_token token = hm__pull_next(b->pull);
        const char *key = NULL;
        if (token == HM_PULL_OBJECT_END || token == HM_PULL_LIST_END)
            break;
        if (token == HM_PULL_KEY) {
            if (!(key = hm__arena_strdup(b->arena, b->pull->text)))
                return hm__fail_nomem(b->err);
            token = hm__pull_next(b->pull);
        }
        if (b->pull->failed)
            break;
        if (count == room) {
            size_t larger = room ? 2 * room : 8;
            struct hm_value *more = hm__arena_alloc(b->arena, larger, sizeof(*more));
            const char **names = hm__arena_alloc(b->arena, larger, sizeof(*names));
            if (!more || !names)
                return hm__fail_nomem(b->err);
            if (room > 0) {
                memcpy(more, items, room * sizeof(*more));
                memcpy(names, keys, room * sizeof(*names));
            }
            items = more;
            keys = names;
            room = larger;
        }
        struct hm_value item = {.source = b->source};
        rc = build_value(b, token, &item);
        items[count] = item;
        keys[count++] = key;
    }
    if (rc == 0 && value->kind == HM_VALUE_MAP && count > 1 && !drop_repeated(items, keys, &count))
        return hm__fail_nomem(b->err);
    value->count = count;
    value->items = items;
    value->keys = keys;
    return rc;
}

static int build_value(struct tree_builder *b, enum hm_pull_token token, struct hm_value *value)
{
    if (++b->count > TREE_MOST || b->pull->depth > TREE_DEPTH)
        return hm__fail(b->err, HM_E_LIMIT, "more than %d values or %d levels", TREE_MOST,
                        TREE_DEPTH);
    if (token == HM_PULL_OBJECT || token == HM_PULL_LIST) {
        value->kind = token == HM_PULL_LIST ? HM_VALUE_LIST : HM_VALUE_MAP;
        return build_members(b, value);
    }
    if (token == HM_PULL_NULL || token >= HM_PULL_END) {
        value->kind = HM_VALUE_NULL;
        return 0;
    }
    value->kind = HM_VALUE_SCALAR;
    value->quoted = token == HM_PULL_TEXT;
    value->text = hm__arena_strdup(b->arena, b->pull->text);
    return value->text ? 0 : hm__fail_nomem(b->err);
}

int hm__pull_tree(struct hm_pull *p, struct hm_arena *arena, const char *source,
                  struct hm_value **ret_tree, bool *ret_whole, struct hm_err *err)
{
    struct tree_builder b = {.pull = p, .arena = arena, .source = source, .err = err};
    struct hm_value *root = hm__arena_alloc(arena, 1, sizeof(*root));

    if (!root)
        return hm__fail_nomem(err);
    root->source = source;
    int rc = build_value(&b, hm__pull_next(p), root);
    *ret_tree = root;
    *ret_whole = !p->failed;
    return rc;
}
