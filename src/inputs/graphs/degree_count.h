/* Counts how often each id occurs, with less than 16 bytes of memory for each id. */
#ifndef HM_DEGREE_COUNT_H
#define HM_DEGREE_COUNT_H

#include "howmany.h"

struct hm_degree_count;

struct hm_degree_count *hm__degree_count_new(void);
void hm__degree_count_free(struct hm_degree_count *count);
/* Counts one occurrence of an id. */
int hm__degree_count_add(struct hm_degree_count *count, uint64_t id, struct hm_err *err);
/* Returns how many ids have each count, in increasing order of the counts. The caller frees
 * *ret_degrees with hm__free. */
int hm__degree_count_take(struct hm_degree_count *count, struct hm_degree **ret_degrees,
                          size_t *ret_length, struct hm_err *err);
/* Returns the number of bytes that the counter currently uses. */
size_t hm__degree_count_bytes(const struct hm_degree_count *count);

#endif
