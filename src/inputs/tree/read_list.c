/* Reads lists of numbers, strings and maps from the value tree into arrays of the reader's
 * arena. */
#include "read_list.h"

#include <math.h>

#include "err.h"
#include "howmany_advise.h"

static bool number_fits(enum hm_list_kind kind, const double *x, size_t i)
{
    switch (kind) {
    case HM_LIST_ANY:
    case HM_LIST_UNKNOWN:
        return true;
    case HM_LIST_NOT_BELOW_0:
        return x[i] >= 0;
    case HM_LIST_ABOVE_0:
        return x[i] > 0;
    case HM_LIST_RISING:
        return x[i] > (i ? x[i - 1] : 0);
    case HM_LIST_SPEEDS:
        return x[i] >= 0.001 && x[i] <= 1000;
    case HM_LIST_WORKERS:
        return x[i] >= 1 && x[i] <= HM_M_MOST && x[i] == floor(x[i]) && (i == 0 || x[i] > x[i - 1]);
    }
    return false;
}

static int fail_number(struct hm_reader *r, const struct hm_value *at, enum hm_list_kind kind)
{
    static const char *const wanted[] = {
        [HM_LIST_NOT_BELOW_0] = "it must be at least 0",
        [HM_LIST_ABOVE_0] = "it must be more than 0",
        [HM_LIST_RISING] = "the numbers must be above 0 and strictly increasing",
        [HM_LIST_SPEEDS] = "it must be at least 0.001 and at most 1000",
        [HM_LIST_WORKERS] = "the numbers must be whole, from 1 to 1e15, and strictly increasing",
    };

    hm__reader_fail(r, at, HM_E_RANGE, "'%.80s' is out of range", at->text);
    hm__err_hint(r->err, "%s", wanted[kind]);
    return HM_E_RANGE;
}

/* Reads all numbers in a list into out[]. The index is added to the path only after an error,
 * because building a path for every number is slow. */
static int read_items(struct hm_reader *r, const struct hm_value *list, enum hm_list_kind kind,
                      double *out)
{
    struct hm_err *err = r->err;

    for (size_t i = 0; i < list->count; i++) {
        r->err = NULL;
        int rc = hm__read_real(r, &list->items[i], kind == HM_LIST_UNKNOWN, &out[i]);
        r->err = err;
        if (rc == 0 && number_fits(kind, out, i))
            continue;
        hm__reader_enter_index(r, i);
        return rc ? hm__read_real(r, &list->items[i], kind == HM_LIST_UNKNOWN, &out[i])
                  : fail_number(r, &list->items[i], kind);
    }
    return 0;
}

/* Finds the list under a key and adds the key to the path; the caller removes the key by passing
 * *ret_mark to hm__reader_leave. */
static int enter_list(struct hm_reader *r, const struct hm_value *map, const char *key,
                      const struct hm_value **ret_list, size_t *ret_mark)
{
    *ret_list = hm__value_get(map, key);
    *ret_mark = hm__reader_enter(r, key);
    if (!*ret_list)
        return hm__reader_fail(r, map, HM_E_MISSING, "the list is missing");
    return hm__expect_kind(r, *ret_list, HM_VALUE_LIST, "a list");
}

int hm__check_length(struct hm_reader *r, const struct hm_value *list, size_t wanted)
{
    if (wanted == HM_NONE || list->count == wanted)
        return 0;
    return hm__reader_fail(r, list, HM_E_RANGE, "the list has %zu entries, not %zu", list->count,
                           wanted);
}

int hm__read_numbers(struct hm_reader *r, const struct hm_value *map, const char *key,
                     enum hm_list_kind kind, size_t wanted, double **ret_numbers, size_t *ret_count)
{
    const struct hm_value *list;
    size_t mark;
    int rc = enter_list(r, map, key, &list, &mark);

    if (rc == 0)
        rc = hm__check_length(r, list, wanted);
    if (rc)
        return rc;
    double *numbers = hm__arena_alloc(r->arena, list->count, sizeof(*numbers));
    if (!numbers)
        return hm__fail_nomem(r->err);
    if ((rc = read_items(r, list, kind, numbers)))
        return rc;
    *ret_numbers = numbers;
    if (ret_count)
        *ret_count = list->count;
    hm__reader_leave(r, mark);
    return 0;
}

int hm__read_rectangle(struct hm_reader *r, const struct hm_value *map, const char *key,
                       size_t columns, double **ret_numbers, size_t *ret_count)
{
    const struct hm_value *list;
    size_t mark;
    int rc = enter_list(r, map, key, &list, &mark);

    if (rc)
        return rc;
    double *rows = hm__arena_alloc(r->arena, list->count * columns, sizeof(*rows));
    if (!rows)
        return hm__fail_nomem(r->err);
    for (size_t d = 0; d < list->count; d++) {
        size_t inner = hm__reader_enter_index(r, d);
        rc = hm__expect_kind(r, &list->items[d], HM_VALUE_LIST, "a list");
        if (rc == 0)
            rc = hm__check_length(r, &list->items[d], columns);
        if (rc == 0)
            rc = read_items(r, &list->items[d], HM_LIST_ANY, rows + d * columns);
        if (rc)
            return rc;
        hm__reader_leave(r, inner);
    }
    *ret_numbers = rows;
    *ret_count = list->count;
    hm__reader_leave(r, mark);
    return 0;
}

/* ---- lists of texts and of maps ------------------------------------------------------------ */

int hm__read_texts(struct hm_reader *r, const struct hm_value *map, const char *key,
                   const char ***ret_texts, size_t *ret_count)
{
    static const struct hm_field text = {.kind = HM_FIELD_TEXT};
    const struct hm_value *list;
    size_t mark;
    int rc = enter_list(r, map, key, &list, &mark);

    if (rc)
        return rc;
    const char **texts = hm__arena_alloc(r->arena, list->count, sizeof(*texts));
    if (!texts)
        return hm__fail_nomem(r->err);
    for (size_t i = 0; i < list->count; i++) {
        size_t inner = hm__reader_enter_index(r, i);
        if ((rc = hm__read_field(r, &list->items[i], &text, &texts[i])))
            return rc;
        hm__reader_leave(r, inner);
    }
    *ret_texts = texts;
    *ret_count = list->count;
    hm__reader_leave(r, mark);
    return 0;
}

int hm__read_objects(struct hm_reader *r, const struct hm_value *map, const char *key,
                     const struct hm_field *fields, size_t field_count, hm_read_rest rest,
                     size_t size, size_t most, char **ret_objects, size_t *ret_count)
{
    const struct hm_value *list;
    size_t mark;
    int rc = enter_list(r, map, key, &list, &mark);

    if (rc)
        return rc;
    if (list->count > most)
        return hm__reader_fail(r, list, HM_E_LIMIT, "%zu entries; at most %zu are allowed",
                               list->count, most);
    char *objects = hm__arena_alloc(r->arena, list->count, size);
    if (!objects)
        return hm__fail_nomem(r->err);
    for (size_t i = 0; i < list->count; i++) {
        size_t inner = hm__reader_enter_index(r, i);
        rc = hm__read_map(r, &list->items[i], fields, field_count, objects + i * size);
        if (rc == 0 && rest)
            rc = rest(r, &list->items[i], objects + i * size);
        if (rc)
            return rc;
        hm__reader_leave(r, inner);
    }
    *ret_objects = objects;
    *ret_count = list->count;
    hm__reader_leave(r, mark);
    return 0;
}
