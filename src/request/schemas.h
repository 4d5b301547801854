/* Writes the JSON Schema of requests and answers from their tables. */
#ifndef HM_SCHEMAS_H
#define HM_SCHEMAS_H

#include "json.h"
#include "request.h"

/* ---- answers -----------------------------------------------------------------------------------
 */

enum hm_member_kind {
    HM_MEMBER_NUMBER,
    HM_MEMBER_TEXT,
    HM_MEMBER_BOOL,
    HM_MEMBER_OBJECT,  /* The member is an object with the schema named in `of`. */
    HM_MEMBER_LIST,    /* The member is a list of objects with the schema named in `of`. */
    HM_MEMBER_NUMBERS, /* The member is a list of numbers. */
    HM_MEMBER_TEXTS,   /* The member is a list of strings. */
    HM_MEMBER_ANY,     /* The member may be a number, a string or an object with any members. */
};

/* Description of one member of a JSON object. */
struct hm_member {
    const char *name;
    enum hm_member_kind kind;
    const char *of;
    bool nullable; /* True if the value of the member may be null. */
    bool optional; /* True if the member may be missing in an answer. */
    const char *help;
};

struct hm_answer_schema {
    const char *name;
    const struct hm_member *members;
    size_t count;
    bool open; /* True if objects of this schema may have members that are not listed. */
};

/* The schemas of all answers. The last entry has the name NULL. */
extern const struct hm_answer_schema hm__answer_schemas[];
const struct hm_answer_schema *hm__answer_schema(const char *name);

/* Writes all schemas of answers as members of the JSON object that is being written. */
void hm__answer_schemas_json(struct hm_json *json);

/* ---- requests ----------------------------------------------------------------------------------
 */

/* Writes the schema of a field as members of the JSON object that is being written. */
void hm__field_schema_json(struct hm_json *json, const struct hm_request_field *field);

/*
 * Checks a JSON value against the schema of an answer; an error names the member that does not
 * match.
 */
int hm__schema_check(const struct hm_value *value, const char *schema, struct hm_err *err);

#endif
