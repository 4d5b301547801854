/*
 * Checks runs before they are stored. Every run that passes can be read back as a row of a table of
 * runs and as a trace. Without these checks, one invalid run would make all other runs in the store
 * unreadable.
 */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checks.h"
#include "err.h"
#include "memory.h"
#include "run_names.h"
#include "run_text.h"
#include "stored.h"
#include "text.h"
#include "value.h"

enum { TEXT_MOST = 4095, KEY_MOST = 200, SAMPLES_MOST = 1000000 };

static int fail_field(struct hm_err *err, const char *field, int code)
{
    hm__err_field(err, field);
    return code;
}

/* ---- texts ---------------------------------------------------------------------------------- */

int hm__store_check_text(const char *field, const char *text, size_t most, struct hm_err *err)
{
    size_t length = strlen(text), step;

    if (length > most) {
        hm__fail(err, HM_E_LIMIT, "'%.40s…' has %zu bytes; at most %zu are allowed", text, length,
                 most);
        return fail_field(err, field, HM_E_LIMIT);
    }
    for (size_t i = 0; i < length; i += step)
        if ((step = hm__utf8_length(text + i, length - i)) == 0) {
            hm__fail(err, HM_E_RANGE, "is not UTF-8 at byte %zu", i + 1);
            return fail_field(err, field, HM_E_RANGE);
        }
    return 0;
}

/*
 * Returns whether a string has the given form, in which 0 matches any digit and every other
 * character matches itself.
 */
static bool matches_form(const char *text, const char *form)
{
    for (; *form; form++, text++)
        if (*form == '0' ? *text < '0' || *text > '9' : *text != *form)
            return false;
    return *text == '\0';
}

static int two_digits(const char *digits)
{
    return 10 * (digits[0] - '0') + digits[1] - '0';
}

/*
 * Returns whether the date and the time in a string exist (February 30 does not); the form of the
 * string must already have been checked.
 */
static bool is_valid_time(const char *t)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 100 * two_digits(t) + two_digits(t + 2), month = two_digits(t + 5),
        day = two_digits(t + 8);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (leap && month == 2) &&
           two_digits(t + 11) < 24 && two_digits(t + 14) < 60 && two_digits(t + 17) <= 60;
}

int hm__store_check_time(const char *field, const char *text, const char *day,
                         char ret_time[HM_STORE_TIME], struct hm_err *err)
{
    char whole[HM_STORE_TIME];
    bool date = day && matches_form(text, "0000-00-00");

    snprintf(whole, sizeof(whole), "%.20s%s", text, date ? day : "");
    if ((date || matches_form(text, "0000-00-00T00:00:00Z")) && is_valid_time(whole)) {
        memcpy(ret_time, whole, sizeof(whole));
        return 0;
    }
    hm__fail(err, HM_E_RANGE, "'%.60s' is not a time", text);
    hm__err_hint(err, "write it as 2026-11-15T10:13:48Z%s", day ? ", or only the date" : "");
    return fail_field(err, field, HM_E_RANGE);
}

void hm__store_now(char ret_time[HM_STORE_TIME])
{
    time_t now = time(NULL);
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(ret_time, HM_STORE_TIME, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static int check_texts(const struct hm_stored *run, struct hm_err *err)
{
    char unused[HM_STORE_TIME];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < HM_STORE_COLUMNS; i++) {
        const struct hm_store_column *c = &hm__store_columns[i];
        const char *text = c->kind == HM_STORE_TEXT ? hm__stored_get_text(c, run) : NULL;
        if (text)
            rc = hm__store_check_text(c->name, text, text == run->key ? KEY_MOST : TEXT_MOST, err);
    }
    if (rc == 0 && run->key && !*run->key) {
        hm__fail(err, HM_E_RANGE, "is empty");
        rc = fail_field(err, "key", HM_E_RANGE);
    }
    if (rc == 0 && run->made_at)
        rc = hm__store_check_time("made_at", run->made_at, NULL, unused, err);
    return rc;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static int fail_number(const char *field, double value, double min, bool above, bool whole,
                       struct hm_err *err)
{
    if (isinf(min) || !(fabs(value) <= HM_RUN_MOST))
        hm__fail(err, HM_E_RANGE, "%g is not a number of at most %g", value, HM_RUN_MOST);
    else if (min == 1 && value > HM_COUNT_MOST)
        hm__fail(err, HM_E_RANGE, "%.16g is more than 2^53 - 1", value);
    else
        hm__fail(err, HM_E_RANGE, "%.15g must be %s%s %g", value, whole ? "a whole number, " : "",
                 above ? "more than" : "at least", min);
    return fail_field(err, field, HM_E_RANGE);
}

static int check_number(const struct hm_store_column *c, double value, bool ok, struct hm_err *err)
{
    bool above = c->above && (ok || c->offset != offsetof(struct hm_stored, seconds));

    if (isnan(value) && !c->whole)
        return 0;
    if (isnan(value)) {
        hm__fail(err, HM_E_MISSING, "the number of workers is missing");
        return fail_field(err, c->name, HM_E_MISSING);
    }
    if (fabs(value) <= (c->whole ? HM_COUNT_MOST : HM_RUN_MOST) &&
        (above ? value > c->min : value >= c->min) && (!c->whole || floor(value) == value))
        return 0;
    return fail_number(c->name, value, c->min, above, c->whole, err);
}

static int check_samples(const struct hm_stored *run, struct hm_err *err)
{
    if (run->sample_count > SAMPLES_MOST) {
        hm__fail(err, HM_E_LIMIT, "%zu samples; at most %d are allowed", run->sample_count,
                 SAMPLES_MOST);
        return fail_field(err, "samples", HM_E_LIMIT);
    }
    for (size_t i = 0; i < run->sample_count; i++) {
        const struct hm_stored_sample *s = &run->samples[i];
        const double values[] = {s->iteration, s->seconds, s->elapsed_s, s->loss};
        static const char *const names[] = {"iteration", "seconds", "elapsed_s", "loss"};
        for (size_t k = 0; k < 4; k++) {
            double min = k < 3 ? 0 : -INFINITY;
            char field[64];
            if (isnan(values[k]) || (fabs(values[k]) <= HM_RUN_MOST && values[k] >= min))
                continue;
            snprintf(field, sizeof(field), "samples.%zu.%s", i, names[k]);
            return fail_number(field, values[k], min, false, false, err);
        }
    }
    return 0;
}

/* ---- other columns -------------------------------------------------------------------------- */

static int fail_more(const char *key, int code, struct hm_err *err)
{
    char field[HM_RUN_NAME + 8];

    snprintf(field, sizeof(field), "more.%.100s", key);
    return fail_field(err, field, code);
}

int hm__store_check_more_name(const char *key, const struct hm_known_column **ret_known,
                              struct hm_err *err)
{
    struct hm_run_name name = hm__run_name_resolve(key);

    *ret_known = name.known;
    if (!*key) {
        hm__fail(err, HM_E_SYNTAX, "a column has no name");
        return fail_field(err, "more", HM_E_SYNTAX);
    }
    if (hm__store_column_find(name.name) || strcmp(name.name, "more") == 0 ||
        strcmp(name.name, "samples") == 0) {
        hm__fail(err, HM_E_CONFLICT, "'%.60s' is stored in the column %s", key, name.name);
        return fail_more(key, HM_E_CONFLICT, err);
    }
    if (strcmp(name.name, key) == 0)
        return 0;
    hm__fail(err, HM_E_RANGE, "'%.60s' cannot be the name of a column", key);
    hm__err_hint(err, "a table of runs would name it '%.60s'", name.name);
    return fail_more(key, HM_E_RANGE, err);
}

static int fail_more_kind(const char *key, const struct hm_known_column *known, const char *value,
                          struct hm_err *err)
{
    hm__fail(err, HM_E_TYPE, "%s where a %s is expected", value,
             !known         ? "number or a text"
             : known->label ? "text"
                            : "number");
    return fail_more(key, HM_E_TYPE, err);
}

int hm__store_check_more_number(const char *key, const struct hm_known_column *known, double number,
                                struct hm_err *err)
{
    if (known && known->label) {
        char value[40];
        snprintf(value, sizeof(value), "%.15g", number);
        return fail_more_kind(key, known, value, err);
    }
    if (fabs(number) <= (known && known->count ? HM_COUNT_MOST : HM_RUN_MOST) &&
        (!known || number > known->min || (!known->above && number == known->min)))
        return 0;
    fail_number("", number, known ? known->min : 0, known && known->above, false, err);
    return fail_more(key, HM_E_RANGE, err);
}

int hm__store_check_more_text(const char *key, const struct hm_known_column *known,
                              const char *text, struct hm_err *err)
{
    return known && !known->label ? fail_more_kind(key, known, text, err) : 0;
}

/*
 * Returns whether PostgreSQL refuses a number because of its many digits or its large exponent, as
 * in 0e-20000, although its value is exact.
 */
static bool is_written_too_long(const char *text)
{
    enum { MOST_DIGITS = 400 };
    size_t exponent = strcspn(text, "eE");

    return strlen(text) > MOST_DIGITS ||
           (text[exponent] && labs(strtol(text + exponent + 1, NULL, 10)) > MOST_DIGITS);
}

/*
 * Fails unless a value in the JSON object `more` of a run has the type and the range that the
 * column of this name requires. `known` is NULL if the key is not the name of a known column.
 */
static int check_more_value(const char *key, const struct hm_known_column *known,
                            const struct hm_value *item, struct hm_err *err)
{
    double number = NAN;

    if (item->kind != HM_VALUE_SCALAR)
        return fail_more_kind(key, known, hm__value_kind_name(item), err);
    if (item->quoted)
        return hm__store_check_more_text(key, known, item->text, err);
    if (!hm__run_bare_number(item->text, &number) || (known && known->label))
        return fail_more_kind(key, known, item->text, err);
    if (isfinite(number) &&
        (!hm__run_is_exact(item->text, number) || is_written_too_long(item->text))) {
        hm__fail(err, HM_E_RANGE, "'%.60s' cannot be stored as a number without loss", item->text);
        hm__err_hint(err, "write it as a text, in quotes");
        return fail_more(key, HM_E_RANGE, err);
    }
    return hm__store_check_more_number(key, known, number, err);
}

static int check_more(const char *more, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *object = NULL;
    int rc =
        arena ? hm__json_parse(arena, more, strlen(more), NULL, &object, err) : hm__fail_nomem(err);

    if (rc == 0 && object->kind != HM_VALUE_MAP) {
        rc = hm__fail(err, HM_E_TYPE, "'%.60s' is not a JSON object", more);
        hm__err_hint(err, "write a JSON object of numbers and texts");
    }
    if (rc)
        hm__err_field(err, "more");
    for (size_t i = 0; rc == 0 && i < object->count; i++) {
        const struct hm_known_column *known;
        rc = hm__store_check_more_name(object->keys[i], &known, err);
        if (rc == 0)
            rc = check_more_value(object->keys[i], known, &object->items[i], err);
    }
    hm__arena_free(arena);
    return rc;
}

int hm__stored_check_columns(const struct hm_stored *run, struct hm_err *err)
{
    int rc = check_texts(run, err);
    bool ok = hm__stored_is_ok(run->status);

    for (size_t i = 0; rc == 0 && i < HM_STORE_COLUMNS; i++)
        if (hm__store_columns[i].kind == HM_STORE_NUMBER)
            rc = check_number(&hm__store_columns[i],
                              hm__stored_get_number(&hm__store_columns[i], run), ok, err);
    if (rc == 0)
        rc = check_samples(run, err);
    return rc;
}

int hm_stored_check(const struct hm_stored *run, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "run", run, NULL);
    if (bad == 0)
        bad = hm__check_array(run->samples, run->sample_count, "samples", err);
    if (bad)
        return bad;
    int rc = hm__stored_check_columns(run, err);

    if (rc == 0 && run->more)
        rc = check_more(run->more, err);
    return rc;
}
