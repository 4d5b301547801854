/* Reads Markov random fields in the format of the UAI inference competitions. */
#ifndef HM_UAI_H
#define HM_UAI_H

#include "markov.h"

/* Reads a plain or gzip file that begins with MARKOV. Only factors of one or two variables are
 * supported. */
int hm__markov_load(const char *path, struct hm_markov **ret_markov, struct hm_err *err);

#endif
