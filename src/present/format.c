/* Formats quantities for people and for programs. */
#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "howmany.h"

const char *hm__show_number(double value, char *text)
{
    double size = fabs(value);
    int digits = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.995 ? 2 : 3;

    if (size >= 1e9 || (size > 0 && size < 1e-3))
        snprintf(text, HM_SHOWN, "%.3g", value);
    else
        snprintf(text, HM_SHOWN, "%.*f", digits, value);
    return text;
}

const char *hm__show_count(double value, char *text)
{
    snprintf(text, HM_SHOWN, value >= 99.5 && value < 1e15 ? "%.0f" : "%.3g", value);
    return text;
}

/*
 * Formats a loss with three digits; an exponent has no plus sign and no leading zeros, as in
 * 3.1e-4.
 */
const char *hm__show_loss(double value, char *text)
{
    double size = fabs(value);

    snprintf(text, HM_SHOWN, "%.3g", value);
    if (!isfinite(value) || value == 0 || (size >= 0.01 && size < 1000))
        return text;
    int power = (int)floor(log10(size));
    double digits = round(100 * value / pow(10, power)) / 100;
    if (fabs(digits) >= 10) {
        digits /= 10;
        power++;
    }
    snprintf(text, HM_SHOWN, "%.3ge%d", digits, power);
    return text;
}

const char *hm__show_range(const char *(*show)(double value, char *text), double low, double high,
                           char *text)
{
    char from[HM_SHOWN], to[HM_SHOWN];

    text[0] = '\0';
    if (isfinite(low) && isfinite(high))
        snprintf(text, HM_SHOWN_RANGE, "%s to %s", show(low, from), show(high, to));
    return text;
}

const char *hm__show_interval(double low, double high, int digits, char *text)
{
    char from[HM_SHOWN] = "", to[HM_SHOWN] = "";

    text[0] = '\0';
    if (!isfinite(low) || !isfinite(high))
        return text;
    do {
        snprintf(from, sizeof(from), "%.*g", digits, low);
        snprintf(to, sizeof(to), "%.*g", digits, high);
    } while (low < high && strcmp(from, to) == 0 && digits++ < 17);
    snprintf(text, HM_SHOWN_RANGE, "%s to %s", from, to);
    return text;
}

/*
 * A unit in which a quantity is shown: its size in the base unit, its name, and `from`, the
 * smallest value for which it is used.
 */
struct scale {
    double from, unit;
    const char *name;
};

/*
 * Writes a value in a unit from the list `scales`: the first unit whose `from` is not larger than
 * the value.
 */
static const char *show_scaled(double value, const struct scale *scales, char *text)
{
    char number[HM_SHOWN];

    while (scales->from > value && scales[1].name)
        scales++;
    hm__show_number(value / scales->unit, number);
    snprintf(text, HM_SHOWN, "%.20s %s", number, scales->name);
    return text;
}

const char *hm__show_time(double seconds, char *text)
{
    static const struct scale scales[] = {
        {2 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"},   {120, 60, "min"}, {0.9995, 1, "s"},
        {0.9995e-3, 1e-3, "ms"},    {0.9995e-6, 1e-6, "us"}, {0, 1e-9, "ns"},  {0, 0, NULL}};

    if (seconds == 0)
        snprintf(text, HM_SHOWN, "0 s");
    else if (!isfinite(seconds))
        hm__show_number(isnan(seconds) ? NAN : seconds, text);
    else
        show_scaled(seconds, scales, text);
    return text;
}

const char *hm__show_bytes(double bytes, char *text)
{
    static const struct scale scales[] = {{0x1p40, 0x1p40, "TiB"},
                                          {0x1p30, 0x1p30, "GiB"},
                                          {0x1p20, 0x1p20, "MiB"},
                                          {0x1p10, 0x1p10, "KiB"},
                                          {0, 1, "B"},
                                          {0, 0, NULL}};
    return show_scaled(bytes, scales, text);
}

const char *hm__show_rate(double bytes_per_s, char *text)
{
    static const struct scale scales[] = {{1e12, 1e12, "Tbit/s"},
                                          {1e9, 1e9, "Gbit/s"},
                                          {1e6, 1e6, "Mbit/s"},
                                          {0, 1e3, "kbit/s"},
                                          {0, 0, NULL}};
    return show_scaled(bytes_per_s * 8, scales, text);
}

const char *hm__show_byte_rate(double bytes_per_s, char *text)
{
    static const struct scale scales[] = {
        {1e13, 1e12, "TB/s"}, {1e9, 1e9, "GB/s"}, {0, 1e6, "MB/s"}, {0, 0, NULL}};
    return show_scaled(bytes_per_s, scales, text);
}

const char *hm__show_flops(double flops, char *text)
{
    static const struct scale scales[] = {{1e15, 1e15, "Pflop/s"},
                                          {1e12, 1e12, "Tflop/s"},
                                          {1e9, 1e9, "Gflop/s"},
                                          {0, 1e6, "Mflop/s"},
                                          {0, 0, NULL}};
    return show_scaled(flops, scales, text);
}

const char *hm__show_grouped(double value, char *text)
{
    char digits[HM_SHOWN];

    if (!(value >= 999.5 && value < 1e15))
        return hm__show_number(value, text);
    size_t count = (size_t)snprintf(digits, sizeof(digits), "%.0f", value), used = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && (count - i) % 3 == 0)
            text[used++] = ',';
        text[used++] = digits[i];
    }
    text[used] = '\0';
    return text;
}

const char *hm__show_money(double amount, char *text)
{
    char grouped[HM_SHOWN];

    if (amount >= 1e12)
        snprintf(text, HM_SHOWN, "$%.3g", amount);
    else if (amount >= 999.995)
        snprintf(text, HM_SHOWN, "$%.40s", hm__show_grouped(amount, grouped));
    else if (amount >= 0.995 || amount == 0)
        snprintf(text, HM_SHOWN, "$%.2f", amount);
    else
        snprintf(text, HM_SHOWN, "$%.2g", amount);
    return text;
}

const char *hm__plural(double count)
{
    return count == 1 ? "" : "s";
}

void hm__json_open_answer(struct hm_json *json)
{
    hm__json_open(json, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    hm__json_put_text(json, "howmany", HM_VERSION);
}

void hm__json_close_answer(struct hm_json *json)
{
    hm__json_close(json);
    hm__text_add(json->out, "\n");
}

void hm__json_put_known(struct hm_json *json, const char *key, double value)
{
    hm__json_put_number(json, key, value >= 0 ? value : NAN);
}

/*
 * Escapes a string for XML. Control characters that XML forbids, and bytes that are not UTF-8, are
 * replaced with U+FFFD.
 */
void hm__xml_text(struct hm_text *out, const char *text)
{
    for (size_t length; text && *text; text += length ? length : 1) {
        unsigned char c = (unsigned char)*text;
        length = hm__utf8_length(text, 4);
        if (c == '&')
            hm__text_add(out, "&amp;");
        else if (c == '<')
            hm__text_add(out, "&lt;");
        else if (c == '>')
            hm__text_add(out, "&gt;");
        else if (c == '"')
            hm__text_add(out, "&quot;");
        else if (c == '\'')
            hm__text_add(out, "&#39;");
        else if (length == 0 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            hm__text_add(out, "\xef\xbf\xbd");
        else
            hm__text_add_n(out, text, length);
    }
}

void hm__csv_text(struct hm_text *out, const char *text)
{
    if (!text)
        return;
    if (!strpbrk(text, ",\"\r\n")) {
        hm__text_add(out, text);
        return;
    }
    hm__text_add(out, "\"");
    for (; *text; text++)
        hm__text_add_n(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    hm__text_add(out, "\"");
}

void hm__csv_number(struct hm_text *out, double value)
{
    hm__text_add(out, ",");
    if (isfinite(value))
        hm__json_number(out, value);
}
