/*
 * Writes the layout of a plan as command-line flags or configuration files of other software, or
 * explains it rank by rank.
 */
#ifndef HM_LARGE_EMIT_H
#define HM_LARGE_EMIT_H

#include "large_job.h"

enum hm_large_emit {
    HM_EMIT_MEGATRON,
    HM_EMIT_DEEPSPEED,
    HM_EMIT_TORCHTITAN,
    HM_EMIT_ACCELERATE,
    HM_EMIT_TORCHRUN,
    HM_EMIT_SBATCH,
    HM_EMITS
};

/*
 * Writes the flags or the configuration file that other software needs to run the recommended
 * layout; free *ret_text with hm_text_free. It is an error if the format cannot express the layout.
 */
int hm__large_emit(const struct hm_large_answer *answer, enum hm_large_emit what, char **ret_text,
                   struct hm_err *err);
/* Writes which ranks of the recommended layout form groups, and which node each rank is on. */
int hm__large_explain(const struct hm_large_answer *answer, char **ret_text, struct hm_err *err);

#endif
