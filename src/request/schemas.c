/* Writes JSON Schema from the tables that describe request fields and answers. */
#include "schemas.h"

#include <math.h>
#include <string.h>

#include "err.h"

/* ---- requests ----------------------------------------------------------------------------------
 */

static void put_types(struct hm_json *json, const char *const *types, size_t count)
{
    if (count == 1) {
        hm__json_put_text(json, "type", types[0]);
        return;
    }
    hm__json_open(json, "type", HM_JSON_LIST);
    for (size_t i = 0; i < count; i++)
        hm__json_put_text(json, NULL, types[i]);
    hm__json_close(json);
}

static void put_choices(struct hm_json *json, const char *choices)
{
    char name[64];

    hm__json_open(json, "enum", HM_JSON_LIST);
    for (size_t i = 0; hm__choice_name(choices, i, name, sizeof(name)); i++)
        hm__json_put_text(json, NULL, name);
    hm__json_close(json);
}

static void put_ref(struct hm_json *json, const char *name)
{
    char path[96] = "#/components/schemas/";

    strncat(path, name, sizeof(path) - strlen(path) - 1);
    hm__json_put_text(json, "$ref", path);
}

/*
 * Writes the schema of a field that contains a document. A job has its own schema; any other
 * document is a string or a list of rows.
 */
static void put_document(struct hm_json *json, const struct hm_request_field *f)
{
    bool job = strcmp(f->name, "job") == 0;

    hm__json_open(json, "anyOf", HM_JSON_LIST);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "string");
    hm__json_put_text(json, "description", job ? "a job as YAML" : "CSV or JSON lines");
    hm__json_close(json);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    if (job)
        put_ref(json, "job");
    else
        hm__json_put_text(json, "type", "object");
    hm__json_close(json);
    if (!job || f->kind == HM_REQUEST_DOCUMENTS) {
        hm__json_open(json, NULL, HM_JSON_OBJECT);
        hm__json_put_text(json, "type", "array");
        hm__json_open(json, "items", HM_JSON_OBJECT);
        hm__json_put_text(json, "type", "object");
        hm__json_close(json);
        hm__json_close(json);
    }
    hm__json_close(json);
}

/*
 * Writes the allowed range of a field. Only plain numbers have a range, because a quantity such as
 * "6h" is a string.
 */
static void put_range(struct hm_json *json, const struct hm_request_field *f)
{
    if (!hm__dim_plain(f->dim) || !isfinite(f->least))
        return;
    hm__json_put_number(json, f->flags & HM_REQUEST_ABOVE ? "exclusiveMinimum" : "minimum",
                        f->least);
    if (f->most > 0)
        hm__json_put_number(json, f->flags & HM_REQUEST_BELOW ? "exclusiveMaximum" : "maximum",
                            f->most);
    if (f->kind == HM_REQUEST_WHOLE)
        hm__json_put_number(json, "multipleOf", 1);
}

static void put_kind(struct hm_json *json, const struct hm_request_field *f)
{
    static const char *const types[] = {"string", "number", "array", "object"};

    switch (f->kind) {
    case HM_REQUEST_FLAG:
        hm__json_put_text(json, "type", "boolean");
        break;
    case HM_REQUEST_NUMBER:
    case HM_REQUEST_WHOLE:
        put_types(json, types, 2);
        put_range(json, f);
        break;
    case HM_REQUEST_QUANTITY:
        put_types(json, types, 2);
        break;
    case HM_REQUEST_CHOICE:
        hm__json_put_text(json, "type", "string");
        put_choices(json, f->choices);
        break;
    case HM_REQUEST_CHOICES:
    case HM_REQUEST_TEXTS:
    case HM_REQUEST_TERMS:
    case HM_REQUEST_NUMBERS:
        put_types(json, types, 3);
        break;
    case HM_REQUEST_PAIRS:
    case HM_REQUEST_PLACE:
    case HM_REQUEST_MACHINES:
    case HM_REQUEST_FACTOR:
        put_types(json, types, 4);
        break;
    case HM_REQUEST_DOCUMENT:
    case HM_REQUEST_DOCUMENTS:
        put_document(json, f);
        break;
    case HM_REQUEST_TEXT:
    case HM_REQUEST_OUTPUT:
        hm__json_put_text(json, "type", "string");
        break;
    }
}

void hm__field_schema_json(struct hm_json *json, const struct hm_request_field *f)
{
    put_kind(json, f);
    hm__json_put_text(json, "description", f->help);
    if (f->fallback)
        hm__json_put_text(json, "x-default", f->fallback);
    if (!hm__dim_plain(f->dim))
        hm__json_put_text(json, "x-example", hm__dim_example(f->dim));
}

/* ---- answers -----------------------------------------------------------------------------------
 */

const struct hm_answer_schema *hm__answer_schema(const char *name)
{
    for (size_t i = 0; hm__answer_schemas[i].name; i++)
        if (strcmp(hm__answer_schemas[i].name, name) == 0)
            return &hm__answer_schemas[i];
    return NULL;
}

static void put_plain_type(struct hm_json *json, const char *type, bool nullable)
{
    const char *const types[] = {type, "null"};

    put_types(json, types, nullable ? 2 : 1);
}

static void put_list_of(struct hm_json *json, const struct hm_member *m)
{
    put_plain_type(json, "array", m->nullable);
    hm__json_open(json, "items", HM_JSON_OBJECT);
    if (m->kind == HM_MEMBER_LIST)
        put_ref(json, m->of);
    else if (m->kind == HM_MEMBER_NUMBERS)
        put_plain_type(json, "number", true);
    else
        put_plain_type(json, "string", false);
    hm__json_close(json);
}

static void put_object_of(struct hm_json *json, const struct hm_member *m)
{
    if (!m->nullable) {
        put_ref(json, m->of);
        return;
    }
    hm__json_open(json, "anyOf", HM_JSON_LIST);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    put_ref(json, m->of);
    hm__json_close(json);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "type", "null");
    hm__json_close(json);
    hm__json_close(json);
}

static void put_member(struct hm_json *json, const struct hm_member *m)
{
    hm__json_open(json, m->name, HM_JSON_OBJECT);
    if (m->kind == HM_MEMBER_OBJECT)
        put_object_of(json, m);
    else if (m->kind == HM_MEMBER_LIST || m->kind == HM_MEMBER_NUMBERS ||
             m->kind == HM_MEMBER_TEXTS)
        put_list_of(json, m);
    else if (m->kind != HM_MEMBER_ANY)
        put_plain_type(json,
                       m->kind == HM_MEMBER_NUMBER ? "number"
                       : m->kind == HM_MEMBER_BOOL ? "boolean"
                                                   : "string",
                       m->nullable);
    if (m->help)
        hm__json_put_text(json, "description", m->help);
    hm__json_close(json);
}

void hm__answer_schemas_json(struct hm_json *json)
{
    for (const struct hm_answer_schema *s = hm__answer_schemas; s->name; s++) {
        hm__json_open(json, s->name, HM_JSON_OBJECT);
        hm__json_put_text(json, "type", "object");
        hm__json_put_bool(json, "additionalProperties", s->open);
        hm__json_open(json, "properties", HM_JSON_OBJECT | HM_JSON_LINES);
        for (size_t i = 0; i < s->count; i++)
            put_member(json, &s->members[i]);
        hm__json_close(json);
        hm__json_open(json, "required", HM_JSON_LIST);
        for (size_t i = 0; i < s->count; i++)
            if (!s->members[i].optional)
                hm__json_put_text(json, NULL, s->members[i].name);
        hm__json_close(json);
        hm__json_close(json);
    }
}

/* ---- checking ----------------------------------------------------------------------------------
 */

static int fail_member(struct hm_err *err, const char *schema, const char *member,
                       const char *message)
{
    hm__fail(err, HM_E_TYPE, "%s.%s: %s", schema, member, message);
    return HM_E_TYPE;
}

static bool is_number(const struct hm_value *v)
{
    double number;
    size_t used = v->kind == HM_VALUE_SCALAR && !v->quoted ? hm__signed_read(v->text, &number) : 0;

    return used > 0 && v->text[used] == '\0';
}

static bool is_bool(const struct hm_value *v)
{
    return v->kind == HM_VALUE_SCALAR && !v->quoted &&
           (strcmp(v->text, "true") == 0 || strcmp(v->text, "false") == 0);
}

static int check_member(const struct hm_value *v, const struct hm_member *m, const char *schema,
                        struct hm_err *err)
{
    int rc = 0;

    if (v->kind == HM_VALUE_NULL)
        return m->nullable || m->kind == HM_MEMBER_ANY
                   ? 0
                   : fail_member(err, schema, m->name, "is null");
    switch (m->kind) {
    case HM_MEMBER_NUMBER:
        return is_number(v) ? 0 : fail_member(err, schema, m->name, "is not a number");
    case HM_MEMBER_BOOL:
        return is_bool(v) ? 0 : fail_member(err, schema, m->name, "is not true or false");
    case HM_MEMBER_TEXT:
        return v->kind == HM_VALUE_SCALAR && v->quoted
                   ? 0
                   : fail_member(err, schema, m->name, "is not a text");
    case HM_MEMBER_OBJECT:
        return hm__schema_check(v, m->of, err);
    case HM_MEMBER_ANY:
        return 0;
    default:
        if (v->kind != HM_VALUE_LIST)
            return fail_member(err, schema, m->name, "is not a list");
        for (size_t i = 0; rc == 0 && m->kind == HM_MEMBER_LIST && i < v->count; i++)
            rc = hm__schema_check(&v->items[i], m->of, err);
        return rc;
    }
}

int hm__schema_check(const struct hm_value *value, const char *name, struct hm_err *err)
{
    const struct hm_answer_schema *s = hm__answer_schema(name);
    int rc = 0;

    if (!s)
        return hm__fail(err, HM_E_NAME, "there is no schema '%s'", name);
    if (value->kind != HM_VALUE_MAP)
        return hm__fail(err, HM_E_TYPE, "%s is not an object", name);
    for (size_t i = 0; rc == 0 && i < s->count; i++) {
        const struct hm_value *member = hm__value_get(value, s->members[i].name);
        if (member)
            rc = check_member(member, &s->members[i], name, err);
        else if (!s->members[i].optional)
            rc = fail_member(err, name, s->members[i].name, "is missing");
    }
    for (size_t k = 0; rc == 0 && !s->open && k < value->count; k++) {
        size_t i = 0;
        while (i < s->count && strcmp(s->members[i].name, value->keys[k]) != 0)
            i++;
        if (i == s->count)
            rc = fail_member(err, name, value->keys[k], "is not in the schema");
    }
    return rc;
}
