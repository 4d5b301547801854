/* Implements growing strings, spelling suggestions, and functions that read decimal numbers. */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "memory.h"

static bool text_reserve(struct hm_text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->length + more + 1 <= text->room)
        return true;
    size_t room = text->room ? text->room * 2 : 256;
    while (room < text->length + more + 1)
        room *= 2;
    char *data = hm__realloc(text->data, room, 1);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room = room;
    return true;
}

void hm__text_add_n(struct hm_text *text, const char *piece, size_t length)
{
    if (!text_reserve(text, length))
        return;
    memcpy(text->data + text->length, piece, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void hm__text_add(struct hm_text *text, const char *piece)
{
    hm__text_add_n(text, piece, strlen(piece));
}

void hm__text_addf(struct hm_text *text, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0 && text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

void hm__text_repeat(struct hm_text *text, const char *piece, size_t times)
{
    while (times-- > 0)
        hm__text_add(text, piece);
}

size_t hm__text_cut(struct hm_text *text, const char *piece, size_t columns)
{
    size_t used = 0, length = 0;

    for (; piece[length]; length++) {
        bool starts = ((unsigned char)piece[length] & 0xc0) != 0x80;
        if (starts && used == columns)
            break;
        used += starts;
    }
    hm__text_add_n(text, piece, length);
    return used;
}

const char *hm__number_words(double value, char text[HM_DIGITS])
{
    if (!isfinite(value))
        return isnan(value) ? "no number" : value > 0 ? "infinity" : "minus infinity";
    snprintf(text, HM_DIGITS, "%g", value);
    return text;
}

void hm__text_end_line(struct hm_text *text)
{
    while (text->length && text->data[text->length - 1] == ' ')
        text->data[--text->length] = '\0';
    hm__text_add(text, "\n");
}

void hm__text_release(struct hm_text *text)
{
    hm__free(text->data);
    *text = (struct hm_text){0};
}

int hm__text_take(struct hm_text *text, char **ret_text, struct hm_err *err)
{
    hm__text_add(text, "");
    if (text->failed) {
        hm__text_release(text);
        return hm__fail_nomem(err);
    }
    *ret_text = text->data;
    *text = (struct hm_text){0};
    return 0;
}

void hm_text_free(char *text)
{
    hm__free(text);
}

size_t hm__digits_write(char text[HM_DIGITS], unsigned long long value)
{
    char digits[HM_DIGITS];
    size_t count = 0, length = 0;

    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count > 0)
        text[length++] = digits[--count];
    text[length] = '\0';
    return length;
}

size_t hm__text_mark(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool hm__text_ends(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);

    return a > b && strcmp(text + a - b, end) == 0;
}

size_t hm__text_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

enum { SUGGEST_MAX = 48 };

static char fold_case(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' || c == ' ' ? '-' : c;
}

/*
 * Returns the edit distance with transpositions (optimal string alignment). It ignores case and the
 * difference between - and _.
 */
static size_t edit_distance(const char *a, size_t la, const char *b, size_t lb)
{
    size_t rows[3][SUGGEST_MAX + 1];

    for (size_t j = 0; j <= lb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            bool same = fold_case(a[i - 1]) == fold_case(b[j - 1]);
            size_t best = up[j - 1] + !same;
            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && fold_case(a[i - 1]) == fold_case(b[j - 2]) &&
                fold_case(a[i - 2]) == fold_case(b[j - 1]) && up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            now[j] = best;
        }
    }
    return rows[la % 3][lb];
}

/* Returns the set of the characters of a word, each as one of 64 classes. */
static uint64_t letter_set(const char *word, size_t length)
{
    uint64_t set = 0;

    for (size_t i = 0; i < length; i++)
        set |= UINT64_C(1) << (fold_case(word[i]) & 63);
    return set;
}

/*
 * Returns a number that the edit distance is not below: every edit changes the length by at most
 * one, and adds and removes at most one letter.
 */
static size_t least_distance(size_t la, uint64_t a, size_t lb, uint64_t b)
{
    size_t longer = la > lb ? la - lb : lb - la, only_a = (size_t)__builtin_popcountll(a & ~b),
           only_b = (size_t)__builtin_popcountll(b & ~a);
    size_t least = only_a > only_b ? only_a : only_b;

    return longer > least ? longer : least;
}

const char *hm__suggest(const char *word, const char *(*next)(const void *context, size_t i),
                        const void *context)
{
    const char *best = NULL, *candidate;
    size_t length = strlen(word), best_distance = 0;

    if (length == 0 || length > SUGGEST_MAX)
        return NULL;
    const uint64_t set = letter_set(word, length);
    for (size_t i = 0; (candidate = next(context, i)); i++) {
        size_t lc = strlen(candidate);
        if (lc > SUGGEST_MAX)
            continue;
        size_t allowed = (length < lc ? length : lc) / 3;
        bool prefix = length >= 3 && lc > length && strncmp(word, candidate, length) == 0;
        size_t d =
            prefix ? lc - length : least_distance(length, set, lc, letter_set(candidate, lc));
        if (prefix && d > allowed)
            d = allowed;
        if (!prefix && d <= allowed && (!best || d < best_distance))
            d = edit_distance(word, length, candidate, lc);
        if (d <= allowed && (!best || d < best_distance)) {
            best = candidate;
            best_distance = d;
        }
    }
    return best;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Small powers come from a table for speed, because tables of runs may have millions of numbers. */
static long double long_power_of_ten(int exponent)
{
    static const long double small[] = {1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,  1e7L,
                                        1e8L,  1e9L,  1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L,
                                        1e16L, 1e17L, 1e18L, 1e19L, 1e20L, 1e21L};
    return exponent < (int)(sizeof(small) / sizeof(small[0])) ? small[exponent]
                                                              : powl(10.0L, exponent);
}

/*
 * Returns mantissa * 10^exponent. A mantissa up to 2^53 and a power of ten up to 10^22 are exact
 * doubles, so the result is correctly rounded. Otherwise, a long double keeps the error below one
 * ulp.
 */
static double scale_by_ten(uint64_t mantissa, int exponent)
{
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const int most = (int)(sizeof(exact) / sizeof(exact[0])) - 1;

    if (mantissa == 0)
        return 0;
    if (mantissa <= (uint64_t)1 << 53 && exponent >= -most && exponent <= most)
        return exponent < 0 ? (double)mantissa / exact[-exponent]
                            : (double)mantissa * exact[exponent];
    long double value = (long double)mantissa, scale = long_power_of_ten(abs(exponent));
    return (double)(exponent < 0 ? value / scale : value * scale);
}

/*
 * strtod is not used, because it depends on the locale and accepts "inf", "nan" and hexadecimal
 * numbers; a job file must mean the same everywhere. Digits after the 19th only shift the decimal
 * point.
 */
size_t hm__number_read(const char *text, double *ret_value)
{
    const uint64_t full = 1000000000000000000u; /* A mantissa below this limit has room for one more
                                                   digit. */
    const char *p = text;
    uint64_t mantissa = 0;
    int point = 0, digits = 0, exponent = 0;
    bool seen_point = false;

    for (;; p++) {
        if (is_digit(*p)) {
            if (mantissa < full)
                mantissa = mantissa * 10 + (uint64_t)(*p - '0');
            else
                point++;
            digits++;
            point -= seen_point;
        } else if (*p == '.' && !seen_point)
            seen_point = true;
        else if (*p != '_' || !digits || !is_digit(p[1]))
            break;
    }
    if (digits == 0)
        return 0;
    if ((*p == 'e' || *p == 'E') &&
        (is_digit(p[1]) || ((p[1] == '+' || p[1] == '-') && is_digit(p[2])))) {
        bool minus = p[1] == '-';
        p += is_digit(p[1]) ? 1 : 2;
        for (; is_digit(*p); p++)
            if (exponent < 10000)
                exponent = exponent * 10 + (*p - '0');
        exponent = minus ? -exponent : exponent;
    }
    *ret_value = scale_by_ten(mantissa, exponent + point);
    return (size_t)(p - text);
}

size_t hm__signed_read(const char *text, double *ret_value)
{
    bool sign = *text == '-' || *text == '+';
    size_t used = hm__number_read(text + sign, ret_value);

    if (used > 0 && *text == '-')
        *ret_value = -*ret_value;
    return used > 0 ? used + sign : 0;
}

size_t hm__utf8_length(const char *text, size_t left)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t length = left == 0     ? 0
                    : p[0] < 0x80 ? 1
                    : p[0] < 0xc2 ? 0
                    : p[0] < 0xe0 ? 2
                    : p[0] < 0xf0 ? 3
                    : p[0] < 0xf5 ? 4
                                  : 0;

    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if (length > 1 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
                       (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f)))
        return 0;
    return length;
}

void hm__utf8_add(struct hm_text *out, unsigned code)
{
    char bytes[4];
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

    for (size_t i = length; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[length] | code);
    hm__text_add_n(out, bytes, length);
}
