/* Quantities as people write them, and members of JSON, CSV and XML that renderers share. */
#ifndef HM_FORMAT_H
#define HM_FORMAT_H

#include "json.h"
#include "text.h"

enum { HM_SHOWN = 48, HM_SHOWN_RANGE = 2 * HM_SHOWN + 8 };

/* Each function writes into text[HM_SHOWN] and returns it. */
const char *hm__show_number(double value, char *text); /* Three significant digits: 12.7, 1024. */
const char *hm__show_count(double value, char *text);  /* 9.4, 128: a whole number from 99.5 on. */
const char *hm__show_loss(double value, char *text);   /* "0.12", "3.1e-4" */
const char *hm__show_time(double seconds, char *text); /* "12.7 s", "3.20 ms", "5.4 h" */
const char *hm__show_money(double amount, char *text); /* "$12.30", "$0.0042" */
const char *hm__show_bytes(double bytes, char *text);  /* "14.9 GiB" */
/* The rate of a network in bits: "10.0 Gbit/s". */
const char *hm__show_rate(double bytes_per_s, char *text);
/* The rate of a memory in bytes: "900 GB/s". */
const char *hm__show_byte_rate(double bytes_per_s, char *text);
const char *hm__show_flops(double flops, char *text); /* "312 Tflop/s" */
/* "21.0 ms to 29.0 ms", into text[HM_SHOWN_RANGE]; empty when an end is unknown (not finite). */
const char *hm__show_range(const char *(*show)(double value, char *text), double low, double high,
                           char *text);
/* The ending of a noun that is counted: "" for one, "s" for any other number. */
const char *hm__plural(double count);

/* Open the object of an answer: one member on each line, and "howmany" (the version) first. */
void hm__json_open_answer(struct hm_json *json);
/* Close the object of an answer and end its line. */
void hm__json_close_answer(struct hm_json *json);
/* A member for a quantity that cannot be negative: null when it is unknown (NaN or negative). */
void hm__json_put_known(struct hm_json *json, const char *key, double value);

/* Text for XML and HTML, between tags or inside quotes; nothing for NULL. */
void hm__xml_text(struct hm_text *out, const char *text);

/* A field of CSV, in quotes where it needs them; empty for NULL. */
void hm__csv_text(struct hm_text *out, const char *text);
/* A comma and the number; the field is empty when the number is not finite. */
void hm__csv_number(struct hm_text *out, double value);

#endif
