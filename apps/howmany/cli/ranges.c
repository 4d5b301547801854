/* Numbers as people list them: "2..32", "4..64:4", "1,2,4,8..16", "4/256..32/256:20". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "guest.h"
#include "text.h"

enum { RANGE_MAX = 100000 };

static int add(struct cli_range *range, double value, const char *text)
{
    size_t most = cli_guest() ? CLI_GUEST_PLACES : RANGE_MAX;

    if (range->count == most)
        return cli_complain("'%s' is more than %zu numbers", text, most);
    if (range->count == range->room) {
        size_t room = range->room ? range->room * 2 : 64;
        double *values = realloc(range->values, room * sizeof(*values));
        if (!values)
            return cli_complain("out of memory");
        range->values = values;
        range->room = room;
    }
    range->values[range->count++] = value;
    return 0;
}

/* A number or a fraction "4/256"; the characters used, 0 if there is none. */
static size_t read_fraction(const char *text, double *value)
{
    double below;
    size_t used = hm__number_read(text, value), more;

    /* "2..32" begins like the number "2."; the second point belongs to the range */
    if (used > 1 && text[used - 1] == '.' && text[used] == '.')
        used--;
    if (used == 0 || text[used] != '/' || (more = hm__number_read(text + used + 1, &below)) == 0)
        return used;
    if (more > 1 && text[used + more] == '.' && text[used + 1 + more] == '.')
        more--;
    *value /= below;
    return used + 1 + more;
}

/* from..to with the step, or with that many values evenly in between. */
static int add_range(struct cli_range *range, double from, double to, double step, bool evenly,
                     const char *text)
{
    double count = evenly ? step : floor((to * (1 + 1e-12) - from) / step) + 1;
    int rc = 0;

    if (!(count >= 1) || (evenly && (count != floor(count) || (count == 1 && to > from))))
        return cli_complain("'%s' is not a range such as 2..32 or 4..64:4", text);
    for (double i = 0; rc == 0 && i < count; i++)
        rc = add(range, evenly ? from + (to - from) * i / fmax(count - 1, 1) : from + i * step,
                 text);
    return rc;
}

/* One piece: a number, or from..to, or from..to:step (or :count). */
static int add_piece(struct cli_range *range, const char **at, const char *text, bool evenly)
{
    double from, to, step = 1;
    size_t used = read_fraction(*at, &from);

    if (used == 0)
        return cli_complain("'%s' is not a list of numbers such as 2..32 or 1,2,4", text);
    *at += used;
    if (strncmp(*at, "..", 2) != 0)
        return add(range, from, text);
    *at += 2;
    used = read_fraction(*at, &to);
    *at += used;
    bool given = used > 0 && **at == ':';
    if (given) {
        used = hm__number_read(++*at, &step);
        *at += used;
    }
    if (used == 0 || !(step > 0) || to < from || !isfinite(to) || !isfinite(from))
        return cli_complain("'%s' is not a range such as 2..32 or 4..64:4", text);
    return add_range(range, from, to, step, evenly && given, text);
}

static int parse(struct cli_range *range, const char *text, bool evenly)
{
    const char *at = text;
    int rc;

    range->count = 0;
    do {
        if ((rc = add_piece(range, &at, text, evenly)))
            return rc;
    } while (*at == ',' && *++at);
    return *at ? cli_complain("'%s' is not a list of numbers such as 2..32 or 1,2,4", text) : 0;
}

int cli_range_parse(struct cli_range *range, const char *text)
{
    return parse(range, text, false);
}

int cli_range_parse_evenly(struct cli_range *range, const char *text)
{
    return parse(range, text, true);
}

void cli_range_release(struct cli_range *range)
{
    free(range->values);
    *range = (struct cli_range){0};
}

int cli_each(const char *list, int (*take)(void *context, const char *piece), void *context)
{
    int rc = 0;

    while (rc == 0) {
        size_t length = strcspn(list, ",");
        char *piece = strndup(list, length);
        if (!piece)
            return cli_complain("out of memory");
        rc = *piece ? take(context, piece) : cli_complain("an empty name in '%s'", list);
        free(piece);
        if (list[length] == '\0')
            break;
        list += length + 1;
    }
    return rc;
}
