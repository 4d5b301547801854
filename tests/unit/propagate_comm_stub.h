/* A stand-in for fake_comm.h, to be dropped for it: ranks as threads of one process. */
#ifndef HM_PROPAGATE_COMM_STUB_H
#define HM_PROPAGATE_COMM_STUB_H

#include "comm.h"

/* Run body(comm, context) on `size` ranks at once and wait for all. */
void fake_comm_run(int size, void (*body)(struct hm_comm *comm, void *context), void *context);

#endif
