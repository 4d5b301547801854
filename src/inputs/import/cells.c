/* Implements cells.h: splits delimited text into cells and reads their values. */
#include "cells.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool hm__cells_split(struct hm_cells *c, const struct hm_line *line, char delimiter)
{
    if (c->room < line->length + 2) {
        char *larger = hm__realloc(c->text, line->length + 2, 1);
        if (!larger)
            return false;
        c->text = larger;
        c->room = line->length + 2;
    }
    char *out = c->text;
    const char *p = line->text, *end = p + line->length;
    c->count = c->left = 0;
    while (p <= end) {
        if (c->count < HM_CELLS)
            c->cell[c->count++] = out;
        else
            c->left++;
        bool quoted = p < end && *p == '"';
        p += quoted;
        while (p < end && (quoted || *p != delimiter)) {
            if (quoted && *p == '"') {
                if (p + 1 == end || p[1] != '"') {
                    quoted = false;
                    p++;
                    continue;
                }
                p++;
            }
            *out++ = *p ? *p : ' ';
            p++;
        }
        *out++ = '\0';
        p++;
    }
    return true;
}

void hm__cells_release(struct hm_cells *c)
{
    hm__free(c->text);
    c->text = NULL;
    c->room = c->count = 0;
}

double hm__cell_number(const char *cell)
{
    double value;
    size_t used = hm__signed_read(cell, &value);

    return used > 0 && cell[used] == '\0' ? value : NAN;
}

double hm__cell_time(const char *cell)
{
    int year, month, day, hour, minute, used = 0;
    double second = 0;

    if (strlen(cell) < 19 || sscanf(cell, "%4d-%2d-%2d%*1[ T]%2d:%2d:%n", &year, &month, &day,
                                    &hour, &minute, &used) != 5)
        return NAN;
    if (used == 0 || hm__number_read(cell + used, &second) == 0)
        return NAN;
    /*
     * The number of days since 1970-01-01 follows from the Gregorian calendar. Years are counted
     * from March, so that a leap day is the last day of its year.
     */
    int y = year - (month <= 2), m = (month + 9) % 12;
    double days = 365.0 * y + floor(y / 4.0) - floor(y / 100.0) + floor(y / 400.0) +
                  floor((153.0 * m + 2) / 5) + day - 719469;
    return days * 86400 + hour * 3600.0 + minute * 60.0 + second;
}

double hm__cell_duration(const char *text)
{
    double days = 0, total = 0, part;
    const char *dash = text ? strchr(text, '-') : NULL;
    int missing = dash ? 3 : 0; /* Parts of hours, minutes and seconds that follow days. */

    if (!text)
        return NAN;
    if (dash) {
        if (hm__number_read(text, &days) != (size_t)(dash - text))
            return NAN;
        text = dash + 1;
    }
    for (;;) {
        size_t used = hm__number_read(text, &part);
        if (used == 0)
            return NAN;
        total = total * 60 + part;
        missing--;
        text += used;
        if (*text == '\0')
            return days * 86400 + total * (missing == 2 ? 3600 : missing == 1 ? 60 : 1);
        if (*text++ != ':')
            return NAN;
    }
}

double hm__cell_memory(const char *text)
{
    static const char suffixes[] = "KMGTP";
    double value;
    size_t used = text ? hm__number_read(text, &value) : 0;

    if (used == 0)
        return NAN;
    const char *suffix = text[used] ? strchr(suffixes, toupper((unsigned char)text[used])) : NULL;
    return suffix ? value * pow(1024, (double)(suffix - suffixes + 1)) : value;
}

void hm__series_add(struct hm_series *s, const char *cell)
{
    double value = hm__cell_number(cell);

    s->filled += cell[0] != '\0';
    if (isnan(value))
        return;
    if (s->numbers++ == 0)
        s->first = s->least = s->most = value;
    s->last = value;
    s->least = fmin(s->least, value);
    s->most = fmax(s->most, value);
}

void hm__series_put(struct hm_json *j, const char *key, const struct hm_series *s)
{
    bool any = s->numbers > 0;

    hm__json_open(j, key, HM_JSON_OBJECT);
    hm__json_put_number(j, "filled", s->filled);
    hm__json_put_number(j, "numeric", s->numbers);
    hm__json_put_number(j, "first", any ? s->first : NAN);
    hm__json_put_number(j, "last", any ? s->last : NAN);
    hm__json_put_number(j, "min", any ? s->least : NAN);
    hm__json_put_number(j, "max", any ? s->most : NAN);
    hm__json_close(j);
}
