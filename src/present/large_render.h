/* Renders plans for transformers (large networks) as text, JSON or CSV. */
#ifndef HM_LARGE_RENDER_H
#define HM_LARGE_RENDER_H

#include "howmany.h"
#include "large_job.h"
#include "text.h"

/*
 * A component of the time of a step, such as data-parallel communication, and a change that would
 * make it smaller.
 */
struct hm_large_part {
    const char *name;
    double seconds;
    const char *help;
};

enum { HM_LARGE_PARTS = 11 };

/* Lists the components of a step, the longest first. */
void hm__large_list_parts(const struct hm_large_step *step,
                          struct hm_large_part parts[HM_LARGE_PARTS]);
/*
 * Returns a change that would make a component of the recommended step shorter. For matrix
 * products, this is a lower precision only if the devices support one.
 */
const char *hm__large_part_help(const struct hm_large_answer *answer,
                                const struct hm_large_part *part);

/* Writes the value to which a what-if changes a setting of the job, such as "1024" or "fp8". */
void hm__large_change_value(const struct hm_large_change *change, char *text, size_t room);
/*
 * Returns the name of the component that grew most at the number of workers at which scaling breaks
 * down; the answer must have such a number.
 */
const char *hm__large_breaks_part(const struct hm_large_answer *answer);

/*
 * Returns the point to which speedups are relative: the point with the fewest workers among the
 * points of the recommended machine that fit in memory. If none fits, returns the recommended
 * point.
 */
const struct hm_large_choice *hm__large_first_fitting(const struct hm_large_answer *answer);

/* Appends the answer as human-readable text; large_text.c implements this. */
void hm__large_render_text(struct hm_text *out, const struct hm_large_answer *answer,
                           const struct hm_style *style);

/* Largest number of machines in one plot. */
enum { HM_LARGE_PLOT_MACHINES = 64 };
/*
 * Writes a gnuplot script that draws the rate and the time against the number of workers into
 * `file`; the caller frees *ret_script with hm_text_free.
 */
int hm__large_plot(const struct hm_large_answer *answer, const char *file, char **ret_script,
                   struct hm_err *err);

/* Renders an answer as text, JSON or CSV; the caller frees *ret_text with hm_text_free. */
int hm__large_render(const struct hm_large_answer *answer, enum hm_format format,
                     const struct hm_style *style, char **ret_text, struct hm_err *err);

#endif
