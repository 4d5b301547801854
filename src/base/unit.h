/* Units: what a person writes ("1 Gbit/s", "20 ms", "$3.06/h") to SI and back to a dimension. */
#ifndef HM_UNIT_H
#define HM_UNIT_H

#include "howmany.h"

/* Exponents of the base units: seconds, bytes, flop, money. All zero: a plain number. */
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
/* "s", "byte/s", "flop*s^2": into text[HM_DIM_TEXT], which is returned. */
const char *hm__dim_name(struct hm_dim dim, char *text);
/* How a value of that dimension is written, for hints: "a rate such as 1 Gbit/s". */
const char *hm__dim_example(struct hm_dim dim);

/* Factor to SI and dimension of the unit named by the first length characters; false if none. */
bool hm__unit_find(const char *name, size_t length, double *ret_factor, struct hm_dim *ret_dim);
/* The i-th known unit name, NULL after the last: for suggestions. */
const char *hm__unit_name(const void *unused, size_t i);

/*
 * Read a whole quantity of the wanted dimension: "[$]number [unit[/unit]]", "%" and "x" for plain
 * numbers. A bare number is taken only where a plain number is wanted, or when it is 0.
 */
int hm__quantity_parse(const char *text, struct hm_dim wanted, double *ret_value,
                       struct hm_err *err);
/* Read a whole quantity of any dimension; *has_unit: whether a unit or a $ was written. */
int hm__quantity_read(const char *text, double *value, struct hm_dim *dim, bool *has_unit,
                      struct hm_err *err);

#endif
