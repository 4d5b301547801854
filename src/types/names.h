/*
 * Declares the names of the public enumerations for which no public function returns a name. Each
 * enumeration has one table of names, which commands, readers and renderers share.
 *
 * Functions whose names end in _name return "?" for a value outside the enumeration.
 */
#ifndef HM_NAMES_H
#define HM_NAMES_H

#include "howmany.h"
#include "howmany_advise.h"
#include "howmany_fit.h"

const char *hm__status_name(
    enum hm_status status); /* Returns the name of a status: "ok", "no-speedup" or "unreached". */
/* Returns the name of a goal: "auto", "time", "cost" or "balance". */
const char *hm__goal_name(enum hm_goal goal);
/* Returns the name of a kind of scaling: "strong" or "weak". */
const char *hm__scaling_name(enum hm_scaling scaling);
/* Returns the name of an error model of a fit: "auto", "equal" or "relative". */
const char *hm__errors_name(enum hm_errors errors);
/*
 * Returns the name of the source of a recommended time: "rows" (measured runs), "fit", "model" or
 * "none".
 */
const char *hm__recommend_way_name(enum hm_recommend_way way);
/*
 * Returns the name of the reason why a candidate is worse than the best one, such as "iterations";
 * "best" for the best candidate itself.
 */
const char *hm__advise_why_name(enum hm_advise_why why);

/* Returns the name of a platform, or of its TensorFlow strategy if it has one. */
const char *hm__way_name(const struct hm_way *way);
/* Returns the platform on which a TensorFlow strategy is based. */
enum hm_platform hm__strategy_platform(enum hm_strategy strategy);
/* Returns whether a TensorFlow strategy works only inside one machine. */
bool hm__strategy_inside(enum hm_strategy strategy);

/* Names of the values of enum hm_scaling, in order; the last element is NULL. */
extern const char *const hm__scaling_names[];
/* Names of the values of enum hm_software, in order; the last element is NULL. */
extern const char *const hm__software_names[];
/*
 * Names of the values of enum hm_framework and enum hm_input, in order; the last elements are NULL.
 */
extern const char *const hm__framework_names[];
extern const char *const hm__input_names[];
/* Names of the values of enum hm_recipe_kind, in order; the last element is NULL. */
extern const char *const hm__recipe_names[];
/*
 * Names of the values of enum hm_payload, in their order, without HM_PAYLOAD_BYTES; the last
 * element is NULL.
 */
extern const char *const hm__payload_names[];

/*
 * Returns the name of a kind of data that a communication step sends (enum hm_payload);
 * HM_PAYLOAD_BYTES has the name "bytes".
 */
const char *hm__payload_name(enum hm_payload payload);

#endif
