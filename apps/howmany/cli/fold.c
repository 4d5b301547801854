/* Wraps lines at spaces. */
#include "fold.h"

#include <stdbool.h>
#include <string.h>

enum {
    FOLD_INDENT = 4, /* Number of columns by which continuation lines are indented further than the
                        first line. */
    FOLD_ROOM = 32, /* Continuation lines begin below the last column of a table only if this column
                       is at least this wide. */
};

/*
 * Returns the number of bytes in the escape sequence at the start of a string; 0 if there is none.
 */
static size_t escape_length(const char *text)
{
    if (text[0] != '\033' || text[1] != '[')
        return 0;
    size_t length = 2 + strspn(text + 2, "0123456789;");
    return text[length] ? length + 1 : length;
}

/* Returns the number of bytes in the next character, and adds its width to *columns; an escape
 * sequence has no width. */
static size_t character_length(const char *text, size_t *columns)
{
    size_t length = escape_length(text);

    if (length > 0)
        return length;
    ++*columns;
    length = hm__utf8_length(text, 4);
    return length > 0 ? length : 1;
}

static size_t line_columns(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length;)
        i += character_length(line + i, &columns);
    return columns;
}

/*
 * Returns the column at which continuation lines begin. This is the start of the last column of a
 * table (after two spaces) if the text there is long and the column is wide enough.
 */
static size_t rest_column(const char *line, size_t length, size_t width)
{
    size_t columns = 0, spaces = 0, indent = 0, last = 0, last_byte = 0;
    bool begun = false;

    for (size_t i = 0; i < length;) {
        if (line[i] != ' ') {
            if (!begun)
                indent = columns;
            else if (spaces >= 2) {
                last = columns;
                last_byte = i;
            }
            begun = true;
            spaces = 0;
        } else
            spaces++;
        i += character_length(line + i, &columns);
    }
    bool wraps = last > 0 && last + FOLD_ROOM <= width && columns - last > FOLD_ROOM &&
                 memchr(line + last_byte, ' ', length - last_byte) != NULL;
    return wraps ? last : indent + FOLD_INDENT;
}

static void add_spaces(struct hm_text *out, size_t count)
{
    while (count-- > 0)
        hm__text_add(out, " ");
}

/* Adds one line, which is broken into several if it is too long. */
static void fold_line(struct hm_text *out, const char *line, size_t length, size_t width)
{
    size_t rest = rest_column(line, length, width), room = width;

    while (line_columns(line, length) > room) {
        size_t columns = 0, cut = 0, at = 0;
        bool begun = false;
        while (at < length && (columns <= room || cut == 0)) {
            if (line[at] == ' ' && begun)
                cut = at;
            begun = begun || line[at] != ' ';
            at += character_length(line + at, &columns);
        }
        if (cut == 0)
            break;
        size_t kept = cut;
        while (kept > 0 && line[kept - 1] == ' ')
            kept--;
        hm__text_add_n(out, line, kept);
        hm__text_add(out, "\n");
        add_spaces(out, rest);
        while (cut < length && line[cut] == ' ')
            cut++;
        line += cut;
        length -= cut;
        room = width - rest;
    }
    hm__text_add_n(out, line, length);
}

void cli_fold(struct hm_text *out, const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        fold_line(out, text, length, width);
        text += length;
        if (*text == '\n') {
            hm__text_add(out, "\n");
            text++;
        }
    }
}
