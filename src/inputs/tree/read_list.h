/*
 * Reads lists of the value tree into arrays of the reader's arena. The key must exist in the map;
 * call hm__read_map with a required field first. After a failure, the reader's path names the
 * invalid entry.
 */
#ifndef HM_READ_LIST_H
#define HM_READ_LIST_H

#include "schema.h"

/* The range that each number in a list must be in. */
enum hm_list_kind {
    HM_LIST_ANY,
    HM_LIST_UNKNOWN, /* Any number; null is also allowed and is read as NaN. */
    HM_LIST_NOT_BELOW_0,
    HM_LIST_ABOVE_0,
    HM_LIST_RISING, /* Numbers above 0, strictly increasing. */
    HM_LIST_SPEEDS, /* Numbers from 0.001 to 1000, inclusive. */
    HM_LIST_WORKERS /* Whole numbers from 1 to HM_M_MOST, strictly increasing. */
};

/* Fails unless the list has `wanted` entries; HM_NONE accepts any length. */
int hm__check_length(struct hm_reader *r, const struct hm_value *list, size_t wanted);
/* Reads the list of numbers under a key; ret_count may be NULL. */
int hm__read_numbers(struct hm_reader *r, const struct hm_value *map, const char *key,
                     enum hm_list_kind kind, size_t wanted, double **ret_numbers,
                     size_t *ret_count);
/* Reads a list of lists of `columns` numbers each, stored row by row; *ret_count is the number of
 * rows. */
int hm__read_rectangle(struct hm_reader *r, const struct hm_value *map, const char *key,
                       size_t columns, double **ret_numbers, size_t *ret_count);
/* Reads a list of strings, copied into the arena. */
int hm__read_texts(struct hm_reader *r, const struct hm_value *map, const char *key,
                   const char ***ret_texts, size_t *ret_count);

/* A function that reads the members of an object that a table of fields cannot describe. */
typedef int (*hm_read_rest)(struct hm_reader *r, const struct hm_value *map, void *object);

/* Reads a list of maps into an array of objects of `size` bytes. A list of more than `most` entries
 * is an error. `rest` reads the members of an entry that `fields` does not describe; it may be
 * NULL. */
int hm__read_objects(struct hm_reader *r, const struct hm_value *map, const char *key,
                     const struct hm_field *fields, size_t field_count, hm_read_rest rest,
                     size_t size, size_t most, char **ret_objects, size_t *ret_count);

#endif
