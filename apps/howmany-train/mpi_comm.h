/*
 * Declares the communicator over MPI, or over SimGrid's MPI on a simulated cluster. The same source
 * is compiled for both.
 */
#ifndef HM_MPI_COMM_H
#define HM_MPI_COMM_H

#include "comm.h"

/*
 * Starts MPI and initialises `comm` with HM_REDUCE_AUTO. Returns 0, or -1 if MPI cannot be started.
 * Unless time is virtual, each rank has its own clock, so only times of the same rank can be
 * compared.
 */
int hm_mpi_begin(struct hm_comm *comm);
/*
 * Creates a communicator of the first `count` ranks; HM_REDUCE_LIBRARY must not be used with it.
 * The call is collective over all ranks; the ranks beyond `count` must not use the result. Close it
 * with hm_mpi_part_end before hm_mpi_end.
 */
void hm_mpi_part(struct hm_comm *comm, int count, struct hm_comm *ret_part);
void hm_mpi_part_end(struct hm_comm *part);
/* Waits for all ranks and shuts MPI down. */
void hm_mpi_end(struct hm_comm *comm);
/*
 * Initialises `comm` in a program that has called MPI_Init itself. Messages use a separate
 * communicator. The call is collective. Returns -1 before MPI_Init and after MPI_Finalize.
 * hm_mpi_leave releases `comm` but does not shut MPI down.
 */
int hm_mpi_join(struct hm_comm *comm);
void hm_mpi_leave(struct hm_comm *comm);
/* Ends all ranks of the job; `code` becomes the exit status. */
_Noreturn void hm_mpi_abort(int code);
/* Writes the name and the version of the MPI library for the trace, such as "Open MPI v4.1.4". */
void hm_mpi_version(char *text, size_t room);
/* Returns the lowest rank that can share memory with this rank. Ranks with the same number are on
 * the same node. The call is collective over all ranks. */
int hm_mpi_node(struct hm_comm *comm);
/* Returns whether the ranks are simulated, with virtual time. */
bool hm_mpi_is_simulated(void);

#endif
