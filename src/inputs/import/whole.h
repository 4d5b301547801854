/*
 * Reads a whole small file into a tree, and writes values of such trees as JSON members (facts) of
 * an import.
 */
#ifndef HM_WHOLE_H
#define HM_WHOLE_H

#include "import.h"
#include "value.h"

/* Reads the rest of the stream, at most HM_VALUE_BYTES bytes, into a string in the arena. */
int hm__whole_text(struct hm_imported *im, char **ret_text, size_t *ret_length, struct hm_err *err);
/*
 * Reads the rest of the stream as JSON or YAML. If the file is truncated, the result is NULL, and
 * the import is marked as partial.
 */
int hm__whole_json(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err);
int hm__whole_yaml(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err);
/*
 * Reads another file that belongs to the imported one, such as a configuration next to it. A path
 * without a leading slash is relative to the folder of the imported file. The result is a string in
 * the arena. Returns NULL if the file cannot be read, is larger than 64 KiB, or may not be opened
 * because the imported contents did not come from a file.
 */
const char *hm__sibling_text(struct hm_imported *im, const char *path);
/*
 * Reads another file that belongs to the imported one as JSON. Returns NULL in the same cases as
 * hm__sibling_text, or if the file is not JSON.
 */
const struct hm_value *hm__sibling_json(struct hm_imported *im, const char *path);
/*
 * Writes a value as a JSON member of the facts with its own type: string, number, true, false or
 * null.
 */
void hm__fact_value(struct hm_imported *im, const char *key, const struct hm_value *value);
/* Finds a value by a path of keys separated by '.'; returns NULL if there is no such value. */
const struct hm_value *hm__value_path(const struct hm_value *root, const char *path);
/*
 * Returns the whole number from `least` to `most` at a key of a configuration; it may be quoted,
 * because launchers convert texts. Returns NaN if there is none, or if the launcher chooses it
 * (null or auto). Another value is reported as left out, and NaN is returned.
 */
double hm__whole_count(struct hm_imported *im, const struct hm_value *map, const char *key,
                       double least, double most);
/* Returns whether a configuration leaves a value open: it is absent, null or auto. */
bool hm__value_is_open(const struct hm_value *value);
/* Returns the text of a scalar; NULL if the value is not a scalar. */
const char *hm__value_text(const struct hm_value *value);

#endif
