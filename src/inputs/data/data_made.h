/*
 * Provides random streams for generated data. A row depends only on the seed and the number of the
 * row.
 */
#ifndef HM_DATA_MADE_H
#define HM_DATA_MADE_H

#include "data_reader.h"
#include "random.h"

/* Starts the random stream that generates the properties of feature or class `number`. */
void hm__data_planted(const struct hm_data *data, uint64_t number, struct hm_random *ret_random);
/* Starts the random stream of the next row and counts the row as read; returns false after the last
 * row. */
bool hm__data_made_row(struct hm_data *data, struct hm_random *ret_random);

#endif
