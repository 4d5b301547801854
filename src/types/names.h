/*
 * Declares the names of the public enumerations for which no public function returns a name. Each
 * enumeration has one table of names; commands, readers and renderers all use it.
 *
 * Functions whose names end in _name return "?" for a value outside the enumeration.
 */
#ifndef HM_NAMES_H
#define HM_NAMES_H

#include "howmany.h"
#include "howmany_advise.h"
#include "howmany_fit.h"

const char *hm__status_name(
    enum hm_status status); /* Returns "ok", "no-speedup" or "unreached" for a status. */
const char *
hm__goal_name(enum hm_goal goal); /* Returns "auto", "time", "cost" or "balance" for a goal. */
const char *
hm__scaling_name(enum hm_scaling scaling); /* Returns "strong" or "weak" for a kind of scaling. */
const char *hm__errors_name(
    enum hm_errors errors); /* Returns "auto", "equal" or "relative" for a model of errors. */
const char *
hm__recommend_way_name(enum hm_recommend_way way); /* Returns "rows", "fit", "model" or "none" for
                                                      the source of a recommendation. */
const char *
hm__advise_why_name(enum hm_advise_why why); /* Returns a name such as "best" or "iterations" for
                                                the reason why a candidate is worse. */

/* Returns the name of a platform, or of its strategy if it has one. */
const char *hm__way_name(const struct hm_way *way);
/* Returns the platform that implements a strategy. */
enum hm_platform hm__strategy_platform(enum hm_strategy strategy);
/* Whether a strategy runs in one machine only. */
bool hm__strategy_inside(enum hm_strategy strategy);

/* Names of enum hm_scaling, in the order of the enumeration; ends with NULL. */
extern const char *const hm__scaling_names[];
/* Names of enum hm_software, in the order of the enumeration; ends with NULL. */
extern const char *const hm__software_names[];
/* Names of enum hm_framework and enum hm_input, in the order of the enumerations; they end with
 * NULL. */
extern const char *const hm__framework_names[];
extern const char *const hm__input_names[];
/* Names of enum hm_recipe_kind, in the order of the enumeration; ends with NULL. */
extern const char *const hm__recipe_names[];
/*
 * Names of enum hm_payload, in the order of the enumeration, without HM_PAYLOAD_BYTES; ends with
 * NULL.
 */
extern const char *const hm__payload_names[];

/* Returns the name of a payload; HM_PAYLOAD_BYTES has the name "bytes". */
const char *hm__payload_name(enum hm_payload payload);

#endif
