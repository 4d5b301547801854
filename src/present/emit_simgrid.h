/* Writes a cluster as a SimGrid platform (XML). */
#ifndef HM_EMIT_SIMGRID_H
#define HM_EMIT_SIMGRID_H

#include "howmany_inputs.h"

/*
 * Writes a platform with `nodes` machines of a cluster, in which each worker of a machine is a
 * core. A message between two nodes crosses two links, each with half of the latency, so that it
 * takes latency + bytes / bandwidth as in the models of `plan`. The speed of a core is the
 * efficiency times the peak rate for 32-bit numbers or, if that is unknown, for 16-bit or 64-bit
 * numbers. Free *ret_text with hm_text_free.
 */
int hm__emit_simgrid(const struct hm_cluster *cluster, double nodes, char **ret_text,
                     struct hm_err *err);

#endif
