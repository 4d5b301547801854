/*
 * Implements the communicator for builds without MPI, which replaces mpi_comm.c. It has one rank.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi_comm.h"
#include "process.h"

int hm_mpi_begin(struct hm_comm *comm)
{
    static struct hm_comm_ops ops;

    hm__comm_alone(comm);
    ops = *comm->ops;
    ops.usage = process_usage;
    comm->ops = &ops;
    return 0;
}

void hm_mpi_part(struct hm_comm *comm, int count, struct hm_comm *ret_part)
{
    (void)count;
    *ret_part = *comm;
}

void hm_mpi_part_end(struct hm_comm *part)
{
    *part = (struct hm_comm){0};
}

void hm_mpi_end(struct hm_comm *comm)
{
    *comm = (struct hm_comm){0};
}

void hm_mpi_abort(int code)
{
    _Exit(code);
}

int hm_mpi_node(struct hm_comm *comm)
{
    return comm->rank;
}

bool hm_mpi_is_simulated(void)
{
    return false;
}

void hm_mpi_version(char *text, size_t room)
{
    snprintf(text, room, "none");
}
