/* Streams of random numbers for made data: a row depends on seed and number alone. */
#ifndef HM_DATA_MADE_H
#define HM_DATA_MADE_H

#include "data_reader.h"
#include "random.h"

/* What is planted has streams of its own: one for each feature or class. */
void hm__data_planted(const struct hm_data *data, uint64_t number, struct hm_random *ret_random);
/* The numbers of the next row, which is then counted as read; false after the last row. */
bool hm__data_made_row(struct hm_data *data, struct hm_random *ret_random);

#endif
