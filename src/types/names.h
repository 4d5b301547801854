/*
 * Names of the public enumerations that have no public function of their own. Each enumeration has
 * one table of names; commands, readers and renderers all use it.
 *
 * hm__X_name returns "?" for a value outside the enumeration.
 */
#ifndef HM_NAMES_H
#define HM_NAMES_H

#include "howmany.h"
#include "howmany_advise.h"
#include "howmany_fit.h"

const char *hm__status_name(enum hm_status status);    /* "ok", "no-speedup", "unreached" */
const char *hm__goal_name(enum hm_goal goal);          /* "auto", "time", "cost", "balance" */
const char *hm__scaling_name(enum hm_scaling scaling); /* "strong", "weak" */
const char *hm__errors_name(enum hm_errors errors);    /* "auto", "equal", "relative" */
const char *hm__recommend_way_name(enum hm_recommend_way way); /* "rows", "fit", "model", "none" */
const char *hm__advise_why_name(enum hm_advise_why why);       /* "best", "iterations", … */

/* Names of enum hm_recipe_kind in its order; ends with NULL. */
extern const char *const hm__recipe_names[];
/* Names of enum hm_payload in its order, without HM_PAYLOAD_BYTES; ends with NULL. */
extern const char *const hm__payload_names[];

/* The name of a payload, including "bytes". */
const char *hm__payload_name(enum hm_payload payload);

#endif
