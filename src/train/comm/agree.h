/*
 * Handles errors collectively: if one rank fails, all ranks must return an error instead of waiting
 * for that rank.
 */
#ifndef HM_AGREE_H
#define HM_AGREE_H

#include "comm.h"

/*
 * All ranks must call this function; each passes its own `rc`. Returns 0 if all ranks passed 0.
 * Otherwise all ranks return the code of the first failed rank, with its error in `err`.
 */
int hm__agree(struct hm_comm *comm, int rc, struct hm_err *err);

#endif
