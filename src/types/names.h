/* Names of enums as they appear in files and messages; each table is the only one. */
#ifndef HM_NAMES_H
#define HM_NAMES_H

#include "howmany.h"

/* Names of enum hm_recipe_kind in its order; ends with NULL. */
extern const char *const hm__recipe_names[];
/* Names of enum hm_payload in its order, without HM_PAYLOAD_BYTES; ends with NULL. */
extern const char *const hm__payload_names[];

/* The name of a payload, including "bytes". */
const char *hm__payload_name(enum hm_payload payload);

#endif
