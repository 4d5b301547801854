/*
 * Reads lists of numbers as people write them: "2..32", "4..64:4", "1,2,4,8..16",
 * "4/256..32/256:20".
 */
#include <math.h>
#include <string.h>

#include "err.h"
#include "request.h"

enum { NUMBERS_MAX = 100000 };

static int numbers_add(struct hm_arena *arena, struct hm_numbers *n, double value, const char *text,
                       struct hm_err *err)
{
    if (n->count == NUMBERS_MAX)
        return hm__fail(err, HM_E_LIMIT, "'%.60s' is more than %d numbers", text, NUMBERS_MAX);
    double *values = hm__arena_grow(arena, n->values, n->count, &n->room, sizeof(*values));
    if (!values)
        return hm__fail_nomem(err);
    n->values = values;
    n->values[n->count++] = value;
    return 0;
}

/*
 * Reads a number or a fraction such as "4/256". Returns the number of characters that were read, or
 * 0 if there is no number.
 */
static size_t fraction_read(const char *text, double *value)
{
    double below;
    size_t used = hm__number_read(text, value), more;

    /*
     * In "2..32", the first number is read as 2 instead of "2.", because the point belongs to the
     * range.
     */
    if (used > 1 && text[used - 1] == '.' && text[used] == '.')
        used--;
    if (used == 0 || text[used] != '/' || (more = hm__number_read(text + used + 1, &below)) == 0)
        return used;
    if (more > 1 && text[used + more] == '.' && text[used + 1 + more] == '.')
        more--;
    *value /= below;
    return used + 1 + more;
}

static int fail_range(const char *text, struct hm_err *err)
{
    return hm__fail(err, HM_E_SYNTAX, "'%.60s' is not a range such as 2..32 or 4..64:4", text);
}

/*
 * Adds the numbers `from`, `from` + `step`, … up to `to`. If `spread` is true, `step` is instead
 * the number of evenly spaced values.
 */
static int numbers_add_range(struct hm_arena *arena, struct hm_numbers *n, double from, double to,
                             double step, bool spread, const char *text, struct hm_err *err)
{
    double count = spread ? step : floor((to * (1 + 1e-12) - from) / step) + 1;
    int rc = 0;

    if (!(count >= 1) || (spread && (count != floor(count) || (count == 1 && to > from))))
        return fail_range(text, err);
    for (double i = 0; rc == 0 && i < count; i++)
        rc = numbers_add(arena, n,
                         spread ? from + (to - from) * i / fmax(count - 1, 1) : from + i * step,
                         text, err);
    return rc;
}

/*
 * Reads one element of a list: a number, from..to, or from..to:step. If `spread` is true, the last
 * form is from..to:count.
 */
static int numbers_add_piece(struct hm_arena *arena, struct hm_numbers *n, const char **at,
                             const char *text, bool spread, struct hm_err *err)
{
    double from, to, step = 1;
    size_t used = fraction_read(*at, &from);

    if (used == 0)
        return hm__fail(err, HM_E_SYNTAX, "'%.60s' is not a list of numbers such as 2..32 or 1,2,4",
                        text);
    *at += used;
    if (strncmp(*at, "..", 2) != 0)
        return numbers_add(arena, n, from, text, err);
    *at += 2;
    used = fraction_read(*at, &to);
    *at += used;
    bool given = used > 0 && **at == ':';
    if (given) {
        used = hm__number_read(++*at, &step);
        *at += used;
    }
    if (used == 0 || !(step > 0) || to < from || !isfinite(to) || !isfinite(from))
        return fail_range(text, err);
    return numbers_add_range(arena, n, from, to, step, spread && given, text, err);
}

int hm__numbers_parse(struct hm_arena *arena, struct hm_numbers *numbers, const char *text,
                      bool spread, struct hm_err *err)
{
    struct hm_numbers read = {0};
    const char *at = text;
    int rc;

    do {
        if ((rc = numbers_add_piece(arena, &read, &at, text, spread, err)))
            return rc;
    } while (*at == ',' && *++at);
    if (*at)
        return hm__fail(err, HM_E_SYNTAX, "'%.60s' is not a list of numbers such as 2..32 or 1,2,4",
                        text);
    *numbers = read;
    return 0;
}
