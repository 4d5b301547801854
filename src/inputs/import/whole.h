/* Reading a whole small file as a tree, and writing values of trees as facts. */
#ifndef HM_WHOLE_H
#define HM_WHOLE_H

#include "import.h"
#include "value.h"

/* Read all that is left of the stream, at most HM_VALUE_BYTES; the text is in the arena. */
int hm__whole_text(struct hm_imported *im, char **ret_text, size_t *ret_length, struct hm_err *err);
/* Read JSON or YAML as a tree; NULL if the file is cut short, which is then marked. */
int hm__whole_json(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err);
int hm__whole_yaml(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err);
/* Write a value as a fact with its own type: text, number, true, false or null. */
void hm__fact_value(struct hm_imported *im, const char *key, const struct hm_value *value);
/* Follow keys separated by '.'; NULL if there is no such value. */
const struct hm_value *hm__value_path(const struct hm_value *root, const char *path);
/* The text of a scalar; NULL if the value is none. */
const char *hm__value_text(const struct hm_value *value);

#endif
