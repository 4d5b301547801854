/*
 * Parses JSON (RFC 8259) into the value tree.
 *
 * No library is used, because every value must keep its line number: an error in a JSON job names
 * the file, line and field, just as an error in a YAML job does. Numbers remain text and are
 * converted by the same code as numbers in YAML. The text must be UTF-8 without NUL, at most 4 MiB
 * long; a byte order mark is skipped, and a key that appears twice in an object is an error.
 */
#include <string.h>

#include "err.h"
#include "text.h"
#include "value.h"

struct json_reader {
    const char *at, *end;
    int line;
    struct hm_arena *arena;
    const char *source;
    struct hm_err *err;
};

static int json_fail(struct json_reader *r, const char *what)
{
    hm__fail(r->err, HM_E_SYNTAX, "not JSON: %s", what);
    hm__err_at(r->err, r->source, r->line);
    return HM_E_SYNTAX;
}

static void skip_blanks(struct json_reader *r)
{
    for (; r->at < r->end; r->at++) {
        char c = *r->at;
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n')
            return;
        r->line += c == '\n';
    }
}

static bool accept_char(struct json_reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static int read_hex4(struct json_reader *r, unsigned *ret_code)
{
    unsigned code = 0;

    if (r->end - r->at < 4)
        return json_fail(r, "\\u needs four hexadecimal digits");
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return json_fail(r, "\\u needs four hexadecimal digits");
        code = code * 16 + digit;
    }
    *ret_code = code;
    return 0;
}

static int read_unicode(struct json_reader *r, struct hm_text *out)
{
    unsigned code, low;
    int rc = read_hex4(r, &code);

    if (rc)
        return rc;
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
            return json_fail(r, "half of a surrogate pair");
        r->at += 2;
        if ((rc = read_hex4(r, &low)))
            return rc;
        if (low < 0xdc00 || low > 0xdfff)
            return json_fail(r, "half of a surrogate pair");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return json_fail(r, "half of a surrogate pair");
    }
    if (code == 0)
        return json_fail(r, "a NUL character inside a value");
    hm__utf8_add(out, code);
    return 0;
}

static int read_escape(struct json_reader *r, struct hm_text *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

    if (r->at == r->end)
        return json_fail(r, "the text ends inside a string");
    char c = *r->at++;
    if (c == 'u')
        return read_unicode(r, out);
    const char *found = c ? strchr(from, c) : NULL;
    if (!found)
        return json_fail(r, "unknown escape in a string");
    hm__text_add_n(out, &to[found - from], 1);
    return 0;
}

/* Returns the number of ASCII characters, starting here, that need neither unescaping nor UTF-8
 * checks. Most keys and names contain no other characters. */
static size_t plain_string_length(const struct json_reader *r)
{
    const char *p = r->at;

    while (p < r->end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return (size_t)(p - r->at);
}

static int read_string(struct json_reader *r, const char **ret_text)
{
    struct hm_text out = {0};
    size_t plain = plain_string_length(r);
    int rc = 0;

    if (r->at + plain < r->end && r->at[plain] == '"') {
        *ret_text = hm__arena_strndup(r->arena, r->at, plain);
        r->at += plain + 1;
        return *ret_text ? 0 : hm__fail_nomem(r->err);
    }
    while (rc == 0) {
        if (r->at == r->end) {
            rc = json_fail(r, "the text ends inside a string");
        } else if (*r->at == '"') {
            break;
        } else if (*r->at == '\\') {
            r->at++;
            rc = read_escape(r, &out);
        } else if ((unsigned char)*r->at < 0x20) {
            rc = json_fail(r, "a control character in a string");
        } else {
            size_t length = hm__utf8_length(r->at, (size_t)(r->end - r->at));
            if (length == 0) {
                rc = json_fail(r, "not UTF-8");
                break;
            }
            hm__text_add_n(&out, r->at, length);
            r->at += length;
        }
    }
    r->at += rc == 0;
    if (rc == 0) {
        *ret_text =
            out.failed ? NULL : hm__arena_strndup(r->arena, out.data ? out.data : "", out.length);
        rc = *ret_text ? 0 : hm__fail_nomem(r->err);
    }
    hm__text_release(&out);
    return rc;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* Returns whether a string matches the pattern -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *p)
{
    p += *p == '-';
    const char *end = skip_digits(p);
    if (end == p || (end > p + 1 && *p == '0'))
        return false;
    p = end;
    if (*p == '.') {
        end = skip_digits(++p);
        if (end == p)
            return false;
        p = end;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        end = skip_digits(p);
        if (end == p)
            return false;
        p = end;
    }
    return *p == '\0';
}

/* Returns whether a character ends a number or a word. */
static bool is_delimiter(char c)
{
    switch (c) {
    case '\0':
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ',':
    case ':':
    case '[':
    case ']':
    case '{':
    case '}':
    case '"':
        return true;
    default:
        return false;
    }
}

/* Reads a number, true, false or null, up to the next delimiter. */
static int read_word(struct json_reader *r, struct hm_value *value)
{
    const char *start = r->at;

    while (r->at < r->end && !is_delimiter(*r->at))
        r->at++;
    char *text = hm__arena_strndup(r->arena, start, (size_t)(r->at - start));
    if (!text)
        return hm__fail_nomem(r->err);
    value->text = text;
    value->kind = HM_VALUE_SCALAR;
    if (strcmp(text, "null") == 0)
        value->kind = HM_VALUE_NULL;
    else if (!is_number(text) && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return json_fail(r, r->at == r->end && !*text ? "the text ends too early"
                                                      : "a value was expected");
    return 0;
}

static int read_value(struct json_reader *r, int depth, struct hm_value *value);

static int read_entries(struct json_reader *r, bool map, int depth, struct hm_value_builder *b)
{
    const char close = map ? '}' : ']';
    int rc;

    if (accept_char(r, close))
        return 0;
    do {
        const char *key = NULL;
        struct hm_value item;
        if (map) {
            if (!accept_char(r, '"'))
                return json_fail(r, "a key in quotes was expected");
            if ((rc = read_string(r, &key)))
                return rc;
            if (!accept_char(r, ':'))
                return json_fail(r, "':' was expected after a key");
        }
        int line = r->line;
        if ((rc = read_value(r, depth + 1, &item)))
            return rc;
        if ((rc = hm__value_append(b, key, &item, r->err))) {
            hm__err_at(r->err, r->source, line);
            return rc;
        }
    } while (accept_char(r, ','));
    return accept_char(r, close)
               ? 0
               : json_fail(r, map ? "',' or '}' was expected" : "',' or ']' was expected");
}

static int read_value(struct json_reader *r, int depth, struct hm_value *value)
{
    struct hm_value_builder b = {0};

    skip_blanks(r);
    *value = (struct hm_value){.line = r->line, .source = r->source};
    if (depth > HM_VALUE_DEPTH) {
        hm__fail(r->err, HM_E_LIMIT, "nested too deeply");
        hm__err_at(r->err, r->source, r->line);
        return HM_E_LIMIT;
    }
    if (accept_char(r, '"')) {
        value->kind = HM_VALUE_SCALAR;
        value->quoted = true;
        return read_string(r, &value->text);
    }
    bool map = accept_char(r, '{');
    if (!map && !accept_char(r, '['))
        return read_word(r, value);
    value->kind = map ? HM_VALUE_MAP : HM_VALUE_LIST;
    int rc = read_entries(r, map, depth, &b);
    if (rc == 0)
        rc = hm__value_seal(&b, r->arena, value, r->err);
    hm__value_builder_release(&b);
    return rc;
}

int hm__json_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err)
{
    struct json_reader r = {.at = text,
                            .end = length > 0 ? text + length : text,
                            .line = 1,
                            .arena = arena,
                            .err = err};
    struct hm_value *root = hm__arena_alloc(arena, 1, sizeof(*root));

    r.source = source ? hm__arena_strdup(arena, source) : "";
    if (!root || !r.source)
        return hm__fail_nomem(err);
    if (length > HM_VALUE_BYTES) {
        hm__fail(err, HM_E_LIMIT, "larger than 4 MiB");
        hm__err_at(err, r.source, 0);
        return HM_E_LIMIT;
    }
    size_t mark = hm__text_mark(text, length);
    if (mark > 0) /* The text may be NULL if it is empty. */
        r.at += mark;
    int rc = read_value(&r, 1, root);
    skip_blanks(&r);
    if (rc == 0 && r.at < r.end)
        rc = json_fail(&r, "there is more text after the end of the value");
    if (rc == 0)
        *ret_value = root;
    return rc;
}
