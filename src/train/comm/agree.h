/*
 * Handles errors collectively: if one rank fails, all ranks must return an error instead of waiting
 * for that rank.
 */
#ifndef HM_AGREE_H
#define HM_AGREE_H

#include "comm.h"

/*
 * All ranks must call this function, each with its own `rc`. Returns 0 if all ranks pass 0.
 * Otherwise, it returns the code of the first failed rank on all ranks, with its error in `err`.
 */
int hm__agree(struct hm_comm *comm, int rc, struct hm_err *err);

#endif
