/*
 * Fills in struct hm_err. The caller owns it and its strings have a fixed size, so reporting an
 * error never allocates memory.
 */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *hm_version(void)
{
    return HM_VERSION;
}

int hm_version_hex(void)
{
    return HM_VERSION_HEX;
}

const char *hm_strerror(int code)
{
    switch (code) {
    case HM_OK:
        return "no error";
#define HM_ERR_TEXT(name, value, text)                                                             \
    case value:                                                                                    \
        return text;
        HM_ERR_MAP(HM_ERR_TEXT)
#undef HM_ERR_TEXT
    default:
        return "unknown error";
    }
}

/*
 * Replaces control characters, because text from a file must not send escape sequences to a
 * terminal.
 */
static void clean_text(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

int hm__fail(struct hm_err *err, int code, const char *format, ...)
{
    va_list args;

    if (!err || err->code)
        return code;
    err->code = code;
    va_start(args, format);
    vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    clean_text(err->message);
    return code;
}

void hm__err_hint(struct hm_err *err, const char *format, ...)
{
    va_list args;

    if (!err || err->hint[0])
        return;
    va_start(args, format);
    vsnprintf(err->hint, sizeof(err->hint), format, args);
    va_end(args);
    clean_text(err->hint);
}

void hm__err_field(struct hm_err *err, const char *field)
{
    if (!err || err->field[0] || !field)
        return;
    snprintf(err->field, sizeof(err->field), "%s", field);
    clean_text(err->field);
}

void hm__err_at(struct hm_err *err, const char *source, int line)
{
    if (!err)
        return;
    if (!err->source[0] && source) {
        snprintf(err->source, sizeof(err->source), "%s", source);
        clean_text(err->source);
        if (!err->line)
            err->line = line;
    }
}
