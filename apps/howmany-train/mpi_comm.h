/*
 * Ranks that are processes of MPI, or of SimGrid's MPI on a cluster that nobody has: the same
 * source, compiled against either.
 */
#ifndef HM_MPI_COMM_H
#define HM_MPI_COMM_H

#include "comm.h"

/*
 * Start MPI and fill in comm, with HM_REDUCE_AUTO. 0, or -1 when MPI cannot be started. Unless time
 * is virtual, each rank has a clock of its own: compare moments of one rank only.
 */
int hm_mpi_begin(struct hm_comm *comm);
/*
 * A comm of the first `count` ranks, without the library's sum; all ranks call it, and those
 * beyond get one that they must not use. Closed by hm_mpi_part_end, before hm_mpi_end.
 */
void hm_mpi_part(struct hm_comm *comm, int count, struct hm_comm *ret_part);
void hm_mpi_part_end(struct hm_comm *part);
/* Wait for all ranks and end MPI. After it no rank can talk. */
void hm_mpi_end(struct hm_comm *comm);
/* A rank that cannot go on takes the whole job with it; `code` becomes the exit status. */
_Noreturn void hm_mpi_abort(int code);
/* What MPI it is, for the record: "Open MPI v4.1.4". */
void hm_mpi_version(char *text, size_t room);
/* Whether time is virtual. */
bool hm_mpi_is_simulated(void);

#endif
