/* Parses cells, comments and JSON lines for the readers of runs and of traces. */
#include "run_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "err.h"
#include "memory.h"
#include "run_names.h"
#include "source.h"
#include "text.h"

bool hm__run_bare_number(const char *text, double *ret_value)
{
    bool minus = *text == '-';
    size_t used = hm__number_read(text + minus, ret_value);

    if (used == 0)
        return false;
    *ret_value = minus ? -*ret_value : *ret_value;
    return text[minus + used] == '\0';
}

enum { DIGITS_MOST = 320 }; /* More than the digits of the largest whole double. */

/*
 * Copies the digits of a number, without zeros before the first other digit, and returns how many
 * there are. `ret_whole` is true if the number has neither a point nor an exponent. Returns 0 if
 * other text follows the number, or if there are too many digits.
 */
static size_t copy_digits(const char *text, char digits[DIGITS_MOST], bool *ret_whole)
{
    size_t count = 0;

    *ret_whole = true;
    for (; (*text >= '0' && *text <= '9') || *text == '_' || *text == '.'; text++) {
        if (*text == '.')
            *ret_whole = false;
        if (*text == '.' || *text == '_' || (*text == '0' && count == 0))
            continue;
        if (count == DIGITS_MOST - 1)
            return 0;
        digits[count++] = *text;
    }
    if (*text == 'e' || *text == 'E') {
        *ret_whole = false;
        text += 1 + strspn(text + 1, "+-0123456789");
    }
    digits[count] = '\0';
    return *text ? 0 : count;
}

bool hm__run_is_exact(const char *text, double value)
{
    char digits[DIGITS_MOST], printed[DIGITS_MOST + 16];
    bool whole;

    text += *text == '-' || *text == '+';
    const char first = text[strspn(text, "0._")];
    if (value == 0)
        return !(first >= '1' && first <= '9');
    if (fabs(value) < 0x1p53 || !isfinite(value))
        return true;
    size_t count = copy_digits(text, digits, &whole);
    if (whole && count > 0) {
        snprintf(printed, sizeof(printed), "%.0f", fabs(value));
        return strcmp(digits, printed) == 0;
    }
    /* The last digits of 1.50e20 are zeros, which the number has without them, too. */
    while (count > 1 && digits[count - 1] == '0')
        count--;
    if (count == 0)
        return text[strspn(text, "0123456789_.")] != '\0';
    snprintf(printed, sizeof(printed), "%.*e", (int)count - 1, fabs(value));
    return digits[0] == printed[0] &&
           (count == 1 || strncmp(digits + 1, printed + 2, count - 1) == 0);
}

bool hm__run_number(const char *text, double *ret_value, bool *ret_has_unit, struct hm_dim *ret_dim)
{
    struct hm_err ignored = {0};

    *ret_has_unit = false;
    *ret_dim = HM_DIM_NONE;
    return hm__run_bare_number(text, ret_value) ||
           hm__quantity_read(text, ret_value, ret_dim, ret_has_unit, &ignored) == 0;
}

void hm__run_print(double value, char text[HM_RUN_DIGITS])
{
    double again = NAN;

    if (fabs(value) <= 0x1p53 && value == floor(value)) {
        snprintf(text, HM_RUN_DIGITS, "%.0f", value);
        return;
    }
    for (int digits = 15; digits <= 17 && again != value; digits++) {
        snprintf(text, HM_RUN_DIGITS, "%.*g", digits, value);
        hm__run_bare_number(text, &again);
    }
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

char *hm__run_trim(char *text)
{
    size_t length;

    for (; is_blank(*text); text++)
        ;
    for (length = strlen(text); length > 0 && is_blank(text[length - 1]); length--)
        text[length - 1] = '\0';
    return text;
}

enum hm_run_word hm__run_word(const char *text)
{
    static const char *const away[] = {"nan",  "-nan",     "inf",      "-inf",
                                       "+inf", "infinity", "-infinity"};

    for (size_t i = 0; i < sizeof(away) / sizeof(away[0]); i++)
        if (strcasecmp(text, away[i]) == 0)
            return HM_RUN_WORD_DIVERGED;
    return strcasecmp(text, "na") == 0 || strcasecmp(text, "none") == 0 ? HM_RUN_WORD_MISSING
                                                                        : HM_RUN_WORD_NO;
}

size_t hm__run_skip_comments(const char *text, size_t length, int *ret_lines)
{
    size_t at = hm__text_mark(text, length);

    *ret_lines = 0;
    while (at < length && text[at] == '#') {
        const char *end = memchr(text + at, '\n', length - at);
        size_t next = end ? (size_t)(end - text) + 1 : length;
        for (size_t start = at; start < next;) {
            size_t stop = start;
            char written[HM_RUN_NAME];
            while (stop < next && text[stop] != ',' && text[stop] != '\n')
                stop++;
            snprintf(written, sizeof(written), "%.*s", (int)(stop - start), text + start);
            struct hm_run_name name = hm__run_name_resolve(written);
            if (strcmp(name.name, "n") == 0)
                return at;
            start = stop + 1;
        }
        at = next;
        ++*ret_lines;
    }
    return at;
}

int hm__table_load(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    enum { TABLE_MOST = 64000000, TABLE_RATIO = 100 };
    struct stat status;
    int rc = hm__source_read_all(path, ret_text, ret_length, err);

    if (rc || *ret_length <= TABLE_MOST || stat(path, &status) != 0 || !S_ISREG(status.st_mode) ||
        (double)*ret_length <= TABLE_RATIO * (double)status.st_size)
        return rc;
    hm__free(*ret_text);
    *ret_text = NULL;
    hm__fail(err, HM_E_LIMIT,
             "the table decodes to more than %d MB and more than %d times its size",
             TABLE_MOST / 1000000, TABLE_RATIO);
    hm__err_hint(err, "decompress it first, if it is a table of so many rows");
    hm__err_at(err, path, 0);
    return HM_E_LIMIT;
}

bool hm__run_text_is_cut(const char *text, size_t length)
{
    size_t at = hm__text_mark(text, length);

    while (at < length && text[at] && strchr(" \t\r\n", text[at]))
        at++;
    return at < length && text[at] != '{' && text[at] != '[' && text[length - 1] != '\n';
}

int hm__run_check_header(const struct hm_csv *csv, const char *example, struct hm_err *err)
{
    const char *name;
    double value;

    for (size_t i = 0; (name = hm__csv_name(csv, i)); i++)
        if (!hm__run_bare_number(name, &value))
            return 0;
    hm__fail(err, HM_E_MISSING, "the first line has numbers instead of the names of columns");
    hm__err_hint(err, "begin the file with a header such as %s", example);
    hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    return HM_E_MISSING;
}

/* ---- JSON lines ----------------------------------------------------------------------------- */

struct json_lines {
    const char *source;
    hm_run_take *take;
    void *context;
    struct hm_err *err;
};

static int read_line(const struct json_lines *l, const char *text, size_t length, int line)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_err own = {0};
    struct hm_value *object;

    if (!arena)
        return hm__fail_nomem(l->err);
    int rc = hm__json_parse(arena, text, length, l->source, &object, &own);
    if (rc && l->err && l->err->code == 0) {
        *l->err = own;
        l->err->line = line;
    }
    if (rc == 0 && object->kind != HM_VALUE_MAP) {
        rc = hm__fail(l->err, HM_E_TYPE, "each line must be an object, not %s",
                      hm__value_kind_name(object));
        hm__err_at(l->err, l->source, line);
    }
    if (rc == 0)
        rc = l->take(l->context, arena, object, line);
    hm__arena_free(arena);
    return rc;
}

int hm__run_json_lines(const char *text, size_t length, const char *source, hm_run_take *take,
                       void *context, struct hm_err *err)
{
    const struct json_lines l = {source, take, context, err};
    int line = 1, rc = 0;

    for (size_t at = 0; rc == 0 && at < length; line++) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t size = end ? (size_t)(end - (text + at)) : length - at;
        size_t blanks = 0;
        while (blanks < size && strchr(" \t\r", text[at + blanks]) && text[at + blanks])
            blanks++;
        if (blanks < size)
            rc = read_line(&l, text + at, size, line);
        at += size + 1;
    }
    return rc;
}

int hm__run_objects(const struct hm_value *value, hm_run_take *take, void *context,
                    struct hm_err *err)
{
    size_t count = value->kind == HM_VALUE_LIST ? value->count : 1;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct hm_value *object = value->kind == HM_VALUE_LIST ? &value->items[i] : value;
        struct hm_arena *arena = hm__arena_new();
        if (!arena)
            return hm__fail_nomem(err);
        if (object->kind != HM_VALUE_MAP) {
            rc = hm__fail(err, HM_E_TYPE, "each row must be an object, not %s",
                          hm__value_kind_name(object));
            hm__err_at(err, object->source, object->line);
        } else {
            rc = take(context, arena, object, object->line);
        }
        hm__arena_free(arena);
    }
    return rc;
}
