/*
 * Converts strings such as "1 Gbit/s", "20 ms" and "$3.06/h" to SI units, and describes dimensions.
 */
#ifndef HM_UNIT_H
#define HM_UNIT_H

#include "howmany.h"

/*
 * Exponents of the base units: seconds, bytes, flop, money. If all are zero, the quantity is a
 * plain number.
 */
struct hm_dim {
    signed char time, bytes, flop, money;
};

#define HM_DIM_NONE ((struct hm_dim){0, 0, 0, 0})
#define HM_DIM_TIME ((struct hm_dim){1, 0, 0, 0})
#define HM_DIM_BYTES ((struct hm_dim){0, 1, 0, 0})
#define HM_DIM_BYTE_RATE ((struct hm_dim){-1, 1, 0, 0})
#define HM_DIM_FLOP ((struct hm_dim){0, 0, 1, 0})
#define HM_DIM_FLOP_RATE ((struct hm_dim){-1, 0, 1, 0})
#define HM_DIM_MONEY ((struct hm_dim){0, 0, 0, 1})
#define HM_DIM_PRICE ((struct hm_dim){-1, 0, 0, 1})

enum { HM_DIM_TEXT = 48 };

bool hm__dim_equal(struct hm_dim a, struct hm_dim b);
bool hm__dim_plain(struct hm_dim dim);
/* Writes a dimension ("s", "byte/s", "flop*s^2") into text[HM_DIM_TEXT]; returns `text`. */
const char *hm__dim_name(struct hm_dim dim, char *text);
/* Returns an example of a value with the dimension, for use in hints: "a rate such as 1 Gbit/s". */
const char *hm__dim_example(struct hm_dim dim);

/*
 * Finds a unit by the first `length` characters of `name`; returns its factor to SI units and its
 * dimension.
 */
bool hm__unit_find(const char *name, size_t length, double *ret_factor, struct hm_dim *ret_dim);

/*
 * Reads a quantity of the required dimension from a string: "[$]number [unit[/unit]]". A plain
 * number may be followed by "%" or "x". A number without a unit is accepted only if it is 0 or if a
 * plain number is required.
 */
int hm__quantity_parse(const char *text, struct hm_dim wanted, double *ret_value,
                       struct hm_err *err);
/*
 * Reads a quantity of any dimension from a string. *has_unit is true if the string contains a unit
 * or a $.
 */
int hm__quantity_read(const char *text, double *value, struct hm_dim *dim, bool *has_unit,
                      struct hm_err *err);

#endif
