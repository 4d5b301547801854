/* Writes JSON: members of open objects and lists, strings with escapes, and numbers. */
#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shortest.h"

/* Returns the number of ASCII characters at the start of `text` that need no escape. */
static size_t json_plain_length(const char *text)
{
    size_t length = 0;

    while (text[length] >= 0x20 && text[length] < 0x7f && text[length] != '"' &&
           text[length] != '\\')
        length++;
    return length;
}

/* File names may contain any bytes, but JSON must be UTF-8, so invalid bytes are replaced. */
void hm__json_text(struct hm_text *out, const char *text)
{
    if (!text) {
        hm__text_add(out, "null");
        return;
    }
    hm__text_add(out, "\"");
    while (*text) {
        size_t plain = json_plain_length(text), length = hm__utf8_length(text + plain, 4);
        unsigned char c = (unsigned char)text[plain];
        hm__text_add_n(out, text, plain);
        text += plain;
        if (!c)
            break;
        if (c == '"' || c == '\\')
            hm__text_addf(out, "\\%c", c);
        else if (c < 0x20)
            hm__text_addf(out, "\\u%04x", c);
        else if (length == 0)
            hm__text_add(out, "\\ufffd");
        else
            hm__text_add_n(out, text, length);
        text += length ? length : 1;
    }
    hm__text_add(out, "\"");
}

/* Reads the four hexadecimal digits of an escape; returns 0 if they are not complete. */
static unsigned read_code(const char *digits, size_t length)
{
    char text[5] = "";

    if (length < 4)
        return 0;
    memcpy(text, digits, 4);
    return (unsigned)strtoul(text, NULL, 16);
}

/* Appends the character of the escape at the start of a string. Returns the number of bytes that
 * were used. */
static size_t unescape_one(struct hm_text *out, const char *string, size_t length)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *found = length > 1 ? memchr(from, string[1], sizeof(from) - 1) : NULL;

    if (found) {
        hm__text_add_n(out, &to[found - from], 1);
        return 2;
    }
    if (length < 6)
        return length;
    unsigned code = read_code(string + 2, length - 2);
    bool pair = code >= 0xd800 && code < 0xdc00 && length >= 12;
    if (pair)
        code = 0x10000 + ((code - 0xd800) << 10) + (read_code(string + 8, length - 8) - 0xdc00);
    hm__utf8_add(out, code);
    return pair ? 12 : 6;
}

void hm__json_unescape(struct hm_text *out, const char *string, size_t length)
{
    while (length > 0) {
        const char *slash = memchr(string, '\\', length);
        size_t used = slash ? (size_t)(slash - string) : length;
        hm__text_add_n(out, string, used);
        used += slash ? unescape_one(out, slash, length - used) : 0;
        string += used;
        length -= used;
    }
}

void hm__json_number(struct hm_text *out, double value)
{
    char text[40];
    double ours;

    if (!isfinite(value)) {
        hm__text_add(out, "null");
        return;
    }
    if (value == floor(value) && fabs(value) < 1e15 && (value != 0 || !signbit(value))) {
        /* Whole numbers are common and are written faster this way; %.15g would print the same
         * text. */
        text[0] = '-';
        size_t length = hm__digits_write(text + 1, (unsigned long long)fabs(value));
        hm__text_add_n(out, value < 0 ? text : text + 1, value < 0 ? length + 1 : length);
        return;
    }
    if (hm__shortest(value, text) && hm__signed_read(text, &ours) && ours == value) {
        hm__text_add(out, text);
        return;
    }
    /* hm__signed_read may be off by one unit in the last place, so up to 19 digits are tried. */
    for (int digits = 15; digits <= 19; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, value);
        if (strtod(text, NULL) == value && hm__signed_read(text, &ours) && ours == value)
            break;
    }
    hm__text_add(out, text);
}

/* Writes the separator before the next member, and the key of that member. */
static void json_begin_member(struct hm_json *json, const char *key)
{
    if (json->depth > 0) {
        size_t inner = json->depth - 1;
        bool lines = json->layouts[inner] & HM_JSON_LINES;
        hm__text_add(json->out, json->filled[inner] ? "," : "");
        if (lines && (json->filled[inner] || json->depth > 1))
            hm__text_add(json->out, "\n");
        if (lines && json->depth > 1)
            hm__text_add(json->out, "  ");
        json->filled[inner] = true;
    }
    if (!key)
        return;
    hm__json_text(json->out, key);
    hm__text_add(json->out, ":");
}

void hm__json_open(struct hm_json *json, const char *key, unsigned layout)
{
    assert(json->depth < HM_JSON_DEPTH);
    json_begin_member(json, key);
    hm__text_add(json->out, layout & HM_JSON_LIST ? "[" : "{");
    json->layouts[json->depth] = (unsigned char)layout;
    json->filled[json->depth++] = false;
}

void hm__json_close(struct hm_json *json)
{
    assert(json->depth > 0);
    hm__text_add(json->out, json->layouts[--json->depth] & HM_JSON_LIST ? "]" : "}");
}

void hm__json_put_text(struct hm_json *json, const char *key, const char *text)
{
    json_begin_member(json, key);
    hm__json_text(json->out, text);
}

void hm__json_put_number(struct hm_json *json, const char *key, double value)
{
    json_begin_member(json, key);
    hm__json_number(json->out, value);
}

void hm__json_put_bool(struct hm_json *json, const char *key, bool value)
{
    hm__json_put_raw(json, key, value ? "true" : "false");
}

void hm__json_put_null(struct hm_json *json, const char *key)
{
    hm__json_put_raw(json, key, "null");
}

void hm__json_put_raw(struct hm_json *json, const char *key, const char *text)
{
    json_begin_member(json, key);
    hm__text_add(json->out, text);
}

void hm__json_put_texts(struct hm_json *json, const char *key, const char *const *texts,
                        size_t count)
{
    hm__json_open(json, key, HM_JSON_LIST | HM_JSON_LINES);
    for (size_t i = 0; i < count; i++)
        hm__json_put_text(json, NULL, texts[i]);
    hm__json_close(json);
}

void hm__json_put_numbers(struct hm_json *json, const char *key, const double *values, size_t count)
{
    hm__json_open(json, key, HM_JSON_LIST);
    for (size_t i = 0; i < count; i++)
        hm__json_put_number(json, NULL, values[i]);
    hm__json_close(json);
}
