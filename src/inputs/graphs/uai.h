/* Reading Markov random fields in the format of the UAI inference competitions. */
#ifndef HM_UAI_H
#define HM_UAI_H

#include "markov.h"

/* Read a file that begins with MARKOV, plain or gzip; factors of one or two variables only. */
int hm__markov_load(const char *path, struct hm_markov **ret_markov, struct hm_err *err);

#endif
