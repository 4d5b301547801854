/* Numbers as people list them: "2..32", "4..64:4", "1,2,4,8..16". */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"

enum { RANGE_MAX = 100000 };

static int add(struct cli_range *range, double value, const char *text)
{
    if (range->count == RANGE_MAX)
        return cli_complain("'%s' is more than %d numbers", text, RANGE_MAX);
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

/* One piece: a number, or from..to, or from..to:step. */
static int add_piece(struct cli_range *range, const char **at, const char *text)
{
    double from, to, step = 1;
    size_t used = hm_number_read(*at, &from);

    /* "2..32" begins like the number "2."; the second point belongs to the range */
    if (used > 1 && (*at)[used - 1] == '.' && (*at)[used] == '.')
        used--;
    if (used == 0)
        return cli_complain("'%s' is not a list of numbers such as 2..32 or 1,2,4", text);
    *at += used;
    if (strncmp(*at, "..", 2) != 0)
        return add(range, from, text);
    *at += 2;
    used = hm_number_read(*at, &to);
    *at += used;
    if (used > 0 && **at == ':') {
        size_t more = hm_number_read(++*at, &step);
        used = more;
        *at += more;
    }
    if (used == 0 || !(step > 0) || to < from || !isfinite(to))
        return cli_complain("'%s' is not a range such as 2..32 or 4..64:4", text);
    int rc = 0;
    for (double i = 0; rc == 0 && from + i * step <= to * (1 + 1e-12); i++)
        rc = add(range, from + i * step, text);
    return rc;
}

int cli_range_parse(struct cli_range *range, const char *text)
{
    const char *at = text;
    int rc;

    range->count = 0;
    do {
        if ((rc = add_piece(range, &at, text)))
            return rc;
    } while (*at == ',' && *++at);
    return *at ? cli_complain("'%s' is not a list of numbers such as 2..32 or 1,2,4", text) : 0;
}

void cli_range_release(struct cli_range *range)
{
    free(range->values);
    *range = (struct cli_range){0};
}
