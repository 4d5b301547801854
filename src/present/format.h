/*
 * Formats quantities as people write them, and writes parts of JSON, CSV and XML that renderers
 * share.
 */
#ifndef HM_FORMAT_H
#define HM_FORMAT_H

#include "json.h"
#include "text.h"

enum { HM_SHOWN = 48, HM_SHOWN_RANGE = 2 * HM_SHOWN + 8 };

/*
 * Each function hm__show_… formats a value into `text`, which has HM_SHOWN bytes unless the comment
 * on the function says otherwise, and returns `text`.
 */
/* Formats a number with three significant digits, such as 12.7 or 1024. */
const char *hm__show_number(double value, char *text);
/* Formats a count such as 9.4 or 128. A count of 99.5 or more is rounded to a whole number. */
const char *hm__show_count(double value, char *text);
/* Formats a loss, such as "0.12" or "3.1e-4". */
const char *hm__show_loss(double value, char *text);
/* Formats a time, such as "12.7 s", "3.20 ms" or "5.4 h". */
const char *hm__show_time(double seconds, char *text);
/* Formats a number of 1000 or more with commas between the thousands, such as "12,345". */
const char *hm__show_grouped(double value, char *text);
/* Formats an amount of money, such as "$12.30" or "$0.0042". */
const char *hm__show_money(double amount, char *text);
/* Formats a size of memory, such as "14.9 GiB". */
const char *hm__show_bytes(double bytes, char *text);
/* Formats the bandwidth of a network in bits per second, such as "10.0 Gbit/s". */
const char *hm__show_rate(double bytes_per_s, char *text);
/* Formats the bandwidth of a memory in bytes per second, such as "900 GB/s". */
const char *hm__show_byte_rate(double bytes_per_s, char *text);
/* Formats a computing rate, such as "312 Tflop/s". */
const char *hm__show_flops(double flops, char *text);
/*
 * Writes a range such as "21.0 ms to 29.0 ms" into text[HM_SHOWN_RANGE], or an empty string if an
 * end of the range is unknown (not finite).
 */
const char *hm__show_range(const char *(*show)(double value, char *text), double low, double high,
                           char *text);
/*
 * Writes an interval such as "0.9981 to 1.004" into text[HM_SHOWN_RANGE]. Numbers have `digits`
 * significant digits, or more if the two ends would otherwise look equal. The string is empty if an
 * end is unknown (not finite).
 */
const char *hm__show_interval(double low, double high, int digits, char *text);
/* Returns the plural ending of a counted noun: "" for one, "s" for any other number. */
const char *hm__plural(double count);

/*
 * Opens the JSON object of an answer, with one member on each line. The first member is "howmany",
 * the version.
 */
void hm__json_open_answer(struct hm_json *json);
/* Closes the JSON object of an answer and adds a line break. */
void hm__json_close_answer(struct hm_json *json);
/* Writes a quantity that cannot be negative as JSON, or null if it is unknown (NaN or negative). */
void hm__json_put_known(struct hm_json *json, const char *key, double value);

/*
 * Appends a string with the escapes of XML and HTML, for use between tags or inside quotes; appends
 * nothing for NULL.
 */
void hm__xml_text(struct hm_text *out, const char *text);

/* Appends a CSV field, in quotes if necessary; NULL gives an empty field. */
void hm__csv_text(struct hm_text *out, const char *text);
/* Appends a comma and a number to a CSV row; the field is empty if the number is not finite. */
void hm__csv_number(struct hm_text *out, double value);

#endif
