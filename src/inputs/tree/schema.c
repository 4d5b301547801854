/* Reads maps according to a table of fields. Errors name the file, line, field and value, and say
 * what is allowed. */
#include "schema.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "text.h"

size_t hm__reader_enter(struct hm_reader *reader, const char *key)
{
    size_t mark = strlen(reader->path), end = mark, length = strlen(key);

    /* A job has hundreds of values, so the path is not built with snprintf, which takes much
     * longer. A path that is too long is truncated. */
    if (mark > 0 && end + 1 < HM_PATH_MAX)
        reader->path[end++] = '.';
    if (length > HM_PATH_MAX - 1 - end)
        length = HM_PATH_MAX - 1 - end;
    memcpy(reader->path + end, key, length);
    reader->path[end + length] = '\0';
    return mark;
}

size_t hm__reader_enter_index(struct hm_reader *reader, size_t index)
{
    char key[24], *digit = key + sizeof(key) - 1;

    *digit = '\0';
    do
        *--digit = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    return hm__reader_enter(reader, digit);
}

void hm__reader_leave(struct hm_reader *reader, size_t mark)
{
    reader->path[mark] = '\0';
}

int hm__reader_place(struct hm_reader *reader, const struct hm_value *at, int code)
{
    hm__err_field(reader->err, reader->path);
    hm__err_at(reader->err, at->source, at->line);
    return code;
}

int hm__reader_fail(struct hm_reader *reader, const struct hm_value *at, int code,
                    const char *format, ...)
{
    char message[384];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    hm__fail(reader->err, code, "%s", message);
    return hm__reader_place(reader, at, code);
}

int hm__expect_kind(struct hm_reader *reader, const struct hm_value *value, enum hm_value_kind kind,
                    const char *name)
{
    if (value->kind == kind)
        return 0;
    hm__reader_fail(reader, value, HM_E_TYPE, "%s is not allowed here", hm__value_kind_name(value));
    hm__err_hint(reader->err, "write %s", name);
    return HM_E_TYPE;
}

static int fail_range(struct hm_reader *reader, const struct hm_value *value,
                      const struct hm_field *f)
{
    hm__reader_fail(reader, value, HM_E_RANGE, "'%.80s' is out of range", value->text);
    if (f->max > 0)
        hm__err_hint(reader->err, "it must be %s %g and at most %g",
                     f->above ? "more than" : "at least", f->min, f->max);
    else
        hm__err_hint(reader->err, "it must be %s %g", f->above ? "more than" : "at least", f->min);
    return HM_E_RANGE;
}

static int fail_not_finite(struct hm_reader *reader, const struct hm_value *value,
                           const struct hm_field *f)
{
    hm__reader_fail(reader, value, HM_E_RANGE, "'%s' is not a finite number", value->text);
    hm__err_hint(reader->err, "write %s", hm__dim_example(f->dim));
    return HM_E_RANGE;
}

static int read_quantity(struct hm_reader *reader, const struct hm_value *value,
                         const struct hm_field *f, double *out)
{
    double x;
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, hm__dim_example(f->dim));

    if (rc)
        return rc;
    if (strcmp(value->text, ".nan") == 0 || strcmp(value->text, ".inf") == 0 ||
        strcmp(value->text, "-.inf") == 0)
        return fail_not_finite(reader, value, f);
    if ((rc = hm__quantity_parse(value->text, f->dim, &x, reader->err)))
        return hm__reader_place(reader, value, rc);
    if (!isfinite(x) || x < f->min || (f->above && x == f->min) || (f->max > 0 && x > f->max))
        return fail_range(reader, value, f);
    if (f->whole && x != floor(x))
        return hm__reader_fail(reader, value, HM_E_RANGE, "'%.80s' is not a whole number",
                               value->text);
    *out = x;
    return 0;
}

int hm__read_real(struct hm_reader *reader, const struct hm_value *value, bool unknown, double *out)
{
    double x;

    if (unknown && value->kind == HM_VALUE_NULL) {
        *out = NAN;
        return 0;
    }
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a number");
    if (rc)
        return rc;
    size_t used = value->quoted ? 0 : hm__signed_read(value->text, &x);
    if (used == 0 || value->text[used] != '\0')
        return hm__reader_fail(reader, value, HM_E_TYPE, "'%.80s' is not a number", value->text);
    if (!isfinite(x))
        return hm__reader_fail(reader, value, HM_E_RANGE, "'%.80s' is too large", value->text);
    *out = x;
    return 0;
}

static const char *choice_name(const void *context, size_t i)
{
    return ((const char *const *)context)[i];
}

static int read_choice(struct hm_reader *reader, const struct hm_value *value,
                       const struct hm_field *f, int *out)
{
    struct hm_text all = {0};
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a single word");

    if (rc)
        return rc;
    for (int i = 0; f->choices[i]; i++) {
        if (strcmp(value->text, f->choices[i]) == 0) {
            *out = i;
            return 0;
        }
    }
    for (int i = 0; f->choices[i]; i++)
        hm__text_addf(&all, "%s%s", i ? ", " : "", f->choices[i]);
    hm__reader_fail(reader, value, HM_E_RANGE, "'%.80s' is not one of %s", value->text,
                    all.failed ? "the choices" : all.data);
    const char *near = hm__suggest(value->text, choice_name, f->choices);
    if (near)
        hm__err_hint(reader->err, "did you mean %s?", near);
    hm__text_release(&all);
    return HM_E_RANGE;
}

static int read_bool(struct hm_reader *reader, const struct hm_value *value, bool *out)
{
    int rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "true or false");

    if (rc)
        return rc;
    bool yes = strcmp(value->text, "true") == 0 || strcmp(value->text, "yes") == 0;
    bool no = strcmp(value->text, "false") == 0 || strcmp(value->text, "no") == 0;
    if (value->quoted || (!yes && !no))
        return hm__reader_fail(reader, value, HM_E_TYPE, "'%.80s' is not true or false",
                               value->text);
    *out = yes;
    return 0;
}

int hm__read_field(struct hm_reader *reader, const struct hm_value *value,
                   const struct hm_field *field, void *object)
{
    char *member = object ? (char *)object + field->offset : NULL;
    int rc;

    switch (field->kind) {
    case HM_FIELD_QUANTITY:
        return read_quantity(reader, value, field, (double *)(void *)member);
    case HM_FIELD_REAL:
        return hm__read_real(reader, value, field->unknown, (double *)(void *)member);
    case HM_FIELD_CHOICE:
        return read_choice(reader, value, field, (int *)(void *)member);
    case HM_FIELD_BOOL:
        return read_bool(reader, value, (bool *)member);
    case HM_FIELD_TEXT:
        if ((rc = hm__expect_kind(reader, value, HM_VALUE_SCALAR, "a text")))
            return rc;
        const char *copy = hm__arena_strdup(reader->arena, value->text);
        if (!copy)
            return hm__fail_nomem(reader->err);
        memcpy(member, &copy, sizeof(copy));
        return 0;
    case HM_FIELD_OTHER:
        break;
    }
    return 0;
}

struct field_list {
    const struct hm_field *fields;
    size_t count;
};

static const char *field_name(const void *context, size_t i)
{
    const struct field_list *list = context;
    return i < list->count ? list->fields[i].name : NULL;
}

enum { KEYS_SHOWN = 230 }; /* Size of a list of keys, which must fit into a hint. */

static int fail_unknown_key(struct hm_reader *reader, const struct hm_value *map, size_t at,
                            const struct field_list *list)
{
    size_t mark = hm__reader_enter(reader, map->keys[at]);

    hm__reader_fail(reader, &map->items[at], HM_E_KEY, "unknown key '%.80s'", map->keys[at]);
    const char *near = hm__suggest(map->keys[at], field_name, list);
    if (near) {
        hm__err_hint(reader->err, "did you mean %s?", near);
    } else {
        char all[KEYS_SHOWN] = "";
        size_t length = 0;
        for (size_t i = 0; i < list->count && length < sizeof(all); i++) {
            size_t more = strlen(list->fields[i].name) + 2;
            bool fits = length + more + sizeof(", and others") < sizeof(all);
            length += (size_t)snprintf(all + length, sizeof(all) - length, "%s%s", i ? ", " : "",
                                       fits ? list->fields[i].name : "and others");
            if (!fits)
                break;
        }
        hm__err_hint(reader->err, "known keys: %s", all);
    }
    hm__reader_leave(reader, mark);
    return HM_E_KEY;
}

static int read_entry(struct hm_reader *reader, const struct hm_value *map, size_t at,
                      const struct field_list *list, void *object)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(map->keys[at], list->fields[i].name) != 0)
            continue;
        size_t mark = hm__reader_enter(reader, map->keys[at]);
        int rc = hm__read_field(reader, &map->items[at], &list->fields[i], object);
        hm__reader_leave(reader, mark);
        return rc;
    }
    return fail_unknown_key(reader, map, at, list);
}

int hm__read_map(struct hm_reader *reader, const struct hm_value *map,
                 const struct hm_field *fields, size_t count, void *object)
{
    const struct field_list list = {fields, count};
    int rc = hm__expect_kind(reader, map, HM_VALUE_MAP, "keys and values");

    for (size_t i = 0; rc == 0 && i < map->count; i++)
        rc = read_entry(reader, map, i, &list, object);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (!fields[i].required || hm__value_get(map, fields[i].name))
            continue;
        rc = hm__reader_fail(reader, map, HM_E_MISSING, "'%s' is missing", fields[i].name);
        hm__err_hint(reader->err, "%s: %s", fields[i].name, fields[i].doc);
    }
    return rc;
}
