/* Creates tables of step times that models of one job on one cluster can share. */
#ifndef HM_MODEL_STEP_H
#define HM_MODEL_STEP_H

#include "step_time.h"

/* Creates the table of step times that models of this job on this cluster can share; the result is
 * NULL if steps are not modelled operation by operation. The job is borrowed and must outlive the
 * table. */
int hm__model_table_new(const struct hm_job *job, const struct hm_cluster *cluster,
                        const struct hm_constants *constants, struct hm_step_table **ret_table,
                        struct hm_err *err);
/* Does the same for a cluster whose processors compute `factor` times as fast; memory, fabric and
 * host stay the same. */
int hm__model_table_faster(const struct hm_job *job, const struct hm_cluster *cluster,
                           double factor, struct hm_step_table **ret_table, struct hm_err *err);

/* Returns whether steps of the job on the cluster, which may be NULL, are modelled operation by
 * operation. */
bool hm__model_by_operations(const struct hm_job *job, const struct hm_cluster *cluster);

/* Returns whether only the totals of the job's network are known, and the cluster, which may be
 * NULL, has accelerators that would otherwise be modelled operation by operation. */
bool hm__model_by_totals(const struct hm_job *job, const struct hm_cluster *cluster);

#endif
