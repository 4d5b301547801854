/* Pieces of a body written out again, for the readers that take texts. */
#ifndef HM_API_VALUES_H
#define HM_API_VALUES_H

#include "value.h"

/* As JSON, each value on the line it had; NULL when out of memory. */
char *api_value_json(struct hm_arena *arena, const struct hm_value *value);
/* A list as JSON lines, one for each item. */
char *api_value_lines(struct hm_arena *arena, const struct hm_value *list);
/* A list of single values as "1,2,4". */
char *api_value_joined(struct hm_arena *arena, const struct hm_value *list);

#endif
