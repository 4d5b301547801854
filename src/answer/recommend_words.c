/*
 * Writes quantities and values as text for reasons and notes, such as "batch 64000, latency 20 ms".
 * Limit: the text has at most HM_PLACE_TEXT bytes.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "recommend.h"

/* Writes one quantity with its usual unit, such as "latency 20 ms". */
static size_t quantity_text(const struct hm_at *at, char *text, size_t room)
{
    double value = at->value;
    const char *unit = "";

    if (strcmp(at->name, "latency") == 0) {
        unit = value > 0 && value < 1e-3 ? " us" : value < 1 ? " ms" : " s";
        value *= value > 0 && value < 1e-3 ? 1e6 : value < 1 ? 1e3 : 1;
    } else if (strcmp(at->name, "bandwidth") == 0) {
        unit = " Mbit/s";
        value *= 8e-6;
    }
    int used = snprintf(text, room, "%.40s %.6g%s", at->name, value, unit);
    return used < 0 ? 0 : (size_t)used < room ? (size_t)used : room - 1;
}

const char *hm__recommend_place_text(const struct hm_at *at, size_t count, char *text)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && used + 4 < HM_PLACE_TEXT; i++) {
        if (i > 0) {
            memcpy(text + used, ", ", 3);
            used += 2;
        }
        used += quantity_text(&at[i], text + used, HM_PLACE_TEXT - used);
    }
    return text;
}

const char *hm__recommend_workers(double n, char *text)
{
    snprintf(text, 40, "%g worker%s", n, n == 1 ? "" : "s");
    return text;
}
