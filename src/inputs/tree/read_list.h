/*
 * Lists of the value tree to arrays. The map must have the key: hm__read_map has seen to that.
 * After a failure the reader's path is where it happened.
 */
#ifndef HM_READ_LIST_H
#define HM_READ_LIST_H

#include "schema.h"

/* What the numbers of a list must be. */
enum hm_list_kind {
    HM_LIST_ANY,
    HM_LIST_UNKNOWN, /* any, or null, which is NaN */
    HM_LIST_NOT_BELOW_0,
    HM_LIST_ABOVE_0,
    HM_LIST_RISING, /* above 0, each above the one before */
    HM_LIST_SPEEDS, /* from 0.001 to 1000 */
    HM_LIST_WORKERS /* whole numbers from 1 to HM_M_MOST that rise */
};

/* A list must have `wanted` entries; HM_NONE: any number of them. */
int hm__check_length(struct hm_reader *r, const struct hm_value *list, size_t wanted);
/* ret_count may be NULL. */
int hm__read_numbers(struct hm_reader *r, const struct hm_value *map, const char *key,
                     enum hm_list_kind kind, size_t wanted, double **ret_numbers,
                     size_t *ret_count);
/* A list of lists, all as long: row after row; *ret_count rows. */
int hm__read_rectangle(struct hm_reader *r, const struct hm_value *map, const char *key,
                       size_t columns, double **ret_numbers, size_t *ret_count);
int hm__read_texts(struct hm_reader *r, const struct hm_value *map, const char *key,
                   const char ***ret_texts, size_t *ret_count);

/* Reads what a table of fields cannot say. */
typedef int (*hm_read_rest)(struct hm_reader *r, const struct hm_value *map, void *object);

/* One object of `size` bytes for each map of a list, of at most `most`; rest may be NULL. */
int hm__read_objects(struct hm_reader *r, const struct hm_value *map, const char *key,
                     const struct hm_field *fields, size_t field_count, hm_read_rest rest,
                     size_t size, size_t most, char **ret_objects, size_t *ret_count);

#endif
