/* Quantities as people write them, and pieces of JSON. */
#ifndef HM_FORMAT_H
#define HM_FORMAT_H

#include "json.h"
#include "text.h"

enum { HM_SHOWN = 48, HM_SHOWN_RANGE = 2 * HM_SHOWN + 8 };

/* Each writes into text[HM_SHOWN] and returns it. */
const char *hm__show_number(double value, char *text); /* three significant digits: 12.7, 1024 */
const char *hm__show_count(double value, char *text);  /* 9.4, 128: whole from 99.5 on */
const char *hm__show_loss(double value, char *text);   /* "0.12", "3.1e-4" */
const char *hm__show_time(double seconds, char *text); /* "12.7 s", "3.20 ms", "5.4 h" */
const char *hm__show_money(double amount, char *text); /* "$12.30", "$0.0042" */
const char *hm__show_bytes(double bytes, char *text);  /* "14.9 GiB" */
const char *hm__show_rate(double bytes_per_s, char *text);      /* of networks: "10.0 Gbit/s" */
const char *hm__show_byte_rate(double bytes_per_s, char *text); /* of memory: "900 GB/s" */
const char *hm__show_flops(double flops, char *text);
/* "21.0 ms to 29.0 ms", into text[HM_SHOWN_RANGE]; empty where an end is not known. */
const char *hm__show_range(const char *(*show)(double value, char *text), double low, double high,
                           char *text);

/* ,"key":value or ,"key":"text" — so that it never stands first in an object. */
void hm__json_field(struct hm_text *out, const char *key, double value);
void hm__json_named(struct hm_text *out, const char *key, const char *text);
void hm__json_flag(struct hm_text *out, const char *key, bool value);
/* ,\n"key":["…", …] */
void hm__json_texts(struct hm_text *out, const char *key, const char *const *texts, size_t count);
/* Unknown quantities are negative inside and null outside. */
void hm__json_known(struct hm_text *out, double value);

/* Text for XML and HTML, between tags or inside quotes; nothing for NULL. */
void hm__xml_text(struct hm_text *out, const char *text);

/* A field of CSV, in quotes where it needs them; empty for NULL. */
void hm__csv_text(struct hm_text *out, const char *text);
/* ,value — so that it never stands first; empty when it is not finite. */
void hm__csv_number(struct hm_text *out, double value);

#endif
