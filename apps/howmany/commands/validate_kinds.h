/* Estimates the intervals of plans without runs, for howmany validate --steps. */
#ifndef HM_VALIDATE_KINDS_H
#define HM_VALIDATE_KINDS_H

#include "cli.h"
#include "json.h"
#include "read_measured.h"
#include "read_platforms.h"
#include "sheet_spread.h"
#include "text.h"

/* Measured steps, grouped by kind; each row holds the error of a prediction whose constants were
 * fitted without the source of the row. */
struct step_kinds {
    struct hm_sheet_row *rows[HM_SHEET_KIND_COUNT];
    size_t counts[HM_SHEET_KIND_COUNT];
    char (*sources)[64]; /* Names of the examples; the rows point to these names. */
};

/* Returns whether two rows are measurements of the same job, possibly on different numbers of
 * workers. */
bool step_same_job(const struct hm_measured_step *a, const struct hm_measured_step *b);
/* Collects the rows that have a prediction whose constants were fitted without their source, and
 * the published speedups of the examples. */
int step_kinds_init(struct step_kinds *kinds, const struct hm_measured_steps *steps,
                    const struct hm_platform_rows *platforms, const struct hm_catalog *catalog,
                    struct hm_err *err);
void step_kinds_release(struct step_kinds *kinds);
/*
 * Writes the interval of each kind and, for each source, the share of the rows whose measured time
 * is inside the interval.
 */
void step_kinds_put_text(struct hm_text *out, const struct step_kinds *kinds);
/*
 * Writes the intervals as the member "intervals", and the shares of the rows whose measured time is
 * inside them as the member "held_out".
 */
void step_kinds_put_json(struct hm_json *json, const struct step_kinds *kinds);

#endif
