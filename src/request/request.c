/*
 * Implements the public functions of requests: they set fields, read a body, check limits, run the
 * verb, and create the reply.
 */
#include "request.h"

#include <stdio.h>
#include <string.h>

#include "budget.h"
#include "err.h"
#include "files.h"

enum { FIELDS_MAX = 64 }; /* Largest number of fields that a verb may have. */

struct hm_request {
    const struct hm_verb *verb;
    struct hm_arena *arena;
    void *values;
    bool given[FIELDS_MAX];
};

/* ---- verbs and fields --------------------------------------------------------------------------
 */

const struct hm_verb *hm__verb_find(const char *name)
{
    for (size_t i = 0; hm__verbs[i]; i++)
        if (strcmp(hm__verbs[i]->name, name) == 0)
            return hm__verbs[i];
    return NULL;
}

/*
 * Compares the name of a field with the name that the user wrote. A dash counts as an underscore,
 * because the command line uses --max-n for max_n.
 */
static bool is_name(const char *name, const char *written)
{
    while (*name && (*name == *written || (*name == '_' && *written == '-'))) {
        name++;
        written++;
    }
    return *name == *written;
}

const struct hm_request_field *hm__verb_field(const struct hm_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->field_count; i++)
        if (is_name(verb->fields[i].name, name) ||
            (verb->fields[i].old && is_name(verb->fields[i].old, name)))
            return &verb->fields[i];
    return NULL;
}

static const char *verb_name(const void *unused, size_t i)
{
    (void)unused;
    return hm__verbs[i] ? hm__verbs[i]->name : NULL;
}

static const char *field_name(const void *context, size_t i)
{
    const struct hm_verb *verb = context;

    return i < verb->field_count ? verb->fields[i].name : NULL;
}

/*
 * Finds the field `name`. If there is none, returns NULL with an error that suggests a similar
 * name.
 */
static const struct hm_request_field *find_field(struct hm_request *r, const char *name,
                                                 struct hm_err *err)
{
    const struct hm_request_field *field = hm__verb_field(r->verb, name);

    if (field) {
        r->given[field - r->verb->fields] = true;
        return field;
    }
    const char *near = hm__suggest(name, field_name, r->verb);
    hm__request_fail(err, name, HM_E_KEY, "%s has no field of this name", r->verb->name);
    if (near)
        hm__err_hint(err, "did you mean %s?", near);
    return NULL;
}

/* ---- building ----------------------------------------------------------------------------------
 */

int hm_request_new(const char *verb, struct hm_request **ret_request, struct hm_err *err)
{
    const struct hm_verb *v = verb ? hm__verb_find(verb) : NULL;

    if (!v || !ret_request) {
        const char *near = verb ? hm__suggest(verb, verb_name, NULL) : NULL;
        hm__fail(err, HM_E_NAME, "there is no verb '%.60s'", verb ? verb : "");
        if (near)
            hm__err_hint(err, "did you mean %s?", near);
        return HM_E_NAME;
    }
    struct hm_arena *arena = hm__arena_new();
    struct hm_request *r = arena ? hm__arena_alloc(arena, 1, sizeof(*r)) : NULL;
    if (r) {
        *r = (struct hm_request){.verb = v, .arena = arena};
        r->values = hm__arena_alloc(arena, 1, v->size);
    }
    int rc = r && r->values ? hm__fields_init(arena, v, r->values, err) : hm__fail_nomem(err);
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    *ret_request = r;
    return 0;
}

void hm_request_free(struct hm_request *request)
{
    if (request)
        hm__arena_free(request->arena);
}

int hm_request_set(struct hm_request *r, const char *field, const char *text, struct hm_err *err)
{
    if (!r || !field || !text)
        return hm__fail(err, HM_E_MISSING, "a request, a field and a text are needed");
    const struct hm_request_field *f = find_field(r, field, err);
    return f ? hm__field_set(r->arena, f, r->values, text, err) : HM_E_KEY;
}

int hm_request_set_document(struct hm_request *r, const char *field, const char *name,
                            const char *text, size_t length, struct hm_err *err)
{
    if (!r || !field || !text)
        return hm__fail(err, HM_E_MISSING, "a request, a field and a text are needed");
    const struct hm_request_field *f = find_field(r, field, err);
    if (!f)
        return HM_E_KEY;
    struct hm_document document = {.name = hm__arena_strdup(r->arena, name ? name : field),
                                   .text = hm__arena_strndup(r->arena, text, length),
                                   .length = length};
    if (!document.name || !document.text)
        return hm__fail_nomem(err);
    return hm__field_document(r->arena, f, r->values, document, err);
}

bool hm__request_given(const struct hm_request *r, const char *field)
{
    const struct hm_request_field *f = hm__verb_field(r->verb, field);

    return f && r->given[f - r->verb->fields];
}

bool hm__request_flag(const struct hm_request *r, const char *field)
{
    const struct hm_request_field *f = hm__verb_field(r->verb, field);

    return f && f->kind == HM_REQUEST_FLAG &&
           *(const bool *)(const void *)((const char *)r->values + f->offset);
}

static int read_member(struct hm_request *r, const char *key, struct hm_value *value,
                       struct hm_err *err)
{
    const struct hm_request_field *f = find_field(r, key, err);

    return f ? hm__field_read(r->arena, f, r->values, value, err) : HM_E_KEY;
}

/*
 * Returns whether the body of a request is the main document itself instead of an object with
 * fields. If the main document was set before, the body must be an object with fields.
 */
static bool is_bare(const struct hm_request *r, const struct hm_value *root)
{
    const struct hm_verb *verb = r->verb;

    if (!verb->bare || hm__request_given(r, verb->operand) ||
        (verb->table && hm__request_given(r, verb->table)))
        return false;
    const struct hm_request_field *operand = hm__verb_field(verb, verb->operand);
    if (root->kind == HM_VALUE_LIST)
        return operand->flags & HM_REQUEST_ROWS;
    return root->kind == HM_VALUE_MAP && !hm__value_get(root, verb->operand) &&
           !(verb->table && hm__value_get(root, verb->table));
}

int hm_request_read(struct hm_request *r, const char *text, size_t length, const char *source,
                    struct hm_err *err)
{
    struct hm_value *root = NULL;
    int rc;

    if (!r || (!text && length > 0))
        return hm__fail(err, HM_E_MISSING, "a request and a text are needed");
    if (source && hm__text_ends(source, ".yaml"))
        rc = hm__yaml_parse(r->arena, text, length, source, &root, err);
    else
        rc = hm__json_parse(r->arena, text, length, source ? source : "request.json", &root, err);
    if (rc)
        return rc;
    if (is_bare(r, root))
        return read_member(r, r->verb->operand, root, err);
    if (root->kind != HM_VALUE_MAP)
        return hm__request_fail(err, "", HM_E_TYPE, "the body is not an object");
    for (size_t i = 0; rc == 0 && i < root->count; i++)
        rc = read_member(r, root->keys[i], &root->items[i], err);
    return rc;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/* Returns the number of elements in a field that is a list, and 0 for any other kind of field. */
static size_t list_length(const struct hm_request_field *f, const void *values)
{
    const void *member = (const char *)values + f->offset;

    switch (f->kind) {
    case HM_REQUEST_TEXTS:
    case HM_REQUEST_TERMS:
    case HM_REQUEST_PAIRS:
        return ((const struct hm_texts *)member)->count;
    case HM_REQUEST_NUMBERS:
        return ((const struct hm_numbers *)member)->count;
    case HM_REQUEST_DOCUMENTS:
    case HM_REQUEST_MACHINES:
        return ((const struct hm_documents *)member)->count;
    default:
        return 0;
    }
}

/* Rejects fields that the context does not allow, and lists that are longer than it allows. */
static int check_context(const struct hm_request *r, const struct hm_context *c, struct hm_err *err)
{
    for (size_t i = 0; i < r->verb->field_count; i++) {
        const struct hm_request_field *f = &r->verb->fields[i];
        bool local = f->flags & HM_REQUEST_LOCAL || f->kind == HM_REQUEST_OUTPUT;
        if (local && r->given[i] && !c->files) {
            hm__request_fail(err, f->name, HM_E_UNSUPPORTED,
                             "a request from outside starts no program and names no file or store");
            return HM_E_UNSUPPORTED;
        }
        size_t length = list_length(f, r->values);
        if (c->limits.values > 0 && length > c->limits.values)
            return hm__request_fail(err, f->name, HM_E_LIMIT, "%zu values; at most %zu are allowed",
                                    length, c->limits.values);
    }
    return 0;
}

static void call_release(struct hm_call *call)
{
    hm__text_release(&call->out);
    hm_catalog_free(call->made);
    hm__arena_free(call->arena);
}

static void release_text(void *text)
{
    hm_text_free(text);
}

/* Moves the text of the answer from the call to a new reply. */
static int make_reply(struct hm_call *call, struct hm_reply **ret_reply, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_reply *reply = arena ? hm__arena_alloc(arena, 1, sizeof(*reply)) : NULL;
    size_t length = call->out.length;
    int rc = 0;

    if (reply && call->file_count > 0)
        reply->files = hm__arena_alloc(arena, call->file_count, sizeof(*reply->files));
    if (!reply || (call->file_count > 0 && !reply->files))
        rc = hm__fail_nomem(err);
    for (size_t i = 0; rc == 0 && i < call->file_count; i++) {
        const struct hm_reply_file *f = &call->files[i];
        reply->files[i] = (struct hm_reply_file){hm__arena_strdup(arena, f->path),
                                                 hm__arena_strdup(arena, f->text), f->program};
        if (!reply->files[i].path || !reply->files[i].text)
            rc = hm__fail_nomem(err);
    }
    char *text = NULL;
    if (rc == 0)
        rc = hm__text_take(&call->out, &text, err);
    if (rc == 0 && hm__arena_own(arena, text, release_text)) {
        hm_text_free(text);
        rc = hm__fail_nomem(err);
    }
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    reply->answered = !call->no_answer;
    reply->type = call->type ? call->type : "text/plain; charset=utf-8";
    reply->text = text;
    reply->length = length;
    reply->from_store = call->from_store;
    reply->file_count = call->file_count;
    reply->memory = arena;
    *ret_reply = reply;
    return 0;
}

bool hm__is_fact(const char *assignment)
{
    return strncmp(assignment, "n=", 2) == 0;
}

/*
 * Rejects properties of imported files in the field `set`, such as n=8, if no file from another
 * tool was read.
 */
static int check_facts(const struct hm_call *call, struct hm_err *err)
{
    for (size_t i = 0; call->facts && !call->imported && i < call->facts->count; i++)
        if (hm__is_fact(call->facts->items[i])) {
            hm__request_fail(err, "set", HM_E_CONFLICT, "'%.40s' has no effect",
                             call->facts->items[i]);
            hm__err_hint(err,
                         "n is a property of a file from another tool, and no such file is read");
            return HM_E_CONFLICT;
        }
    return 0;
}

static int request_answer(struct hm_request *r, const struct hm_context *context,
                          struct hm_reply **ret_reply, struct hm_err *err)
{
    struct hm_call call = {.context = context};
    int rc = check_context(r, call.context, err);

    const struct hm_request_field *set = hm__verb_field(r->verb, "set");
    if (set && set->kind == HM_REQUEST_PAIRS)
        call.facts = (const struct hm_texts *)((const char *)r->values + set->offset);
    if (rc == 0 && !(call.arena = hm__arena_new()))
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = r->verb->run(r->values, &call, err);
    if (rc == 0)
        rc = check_facts(&call, err);
    size_t most = call.context->limits.answer_bytes;
    if (rc == 0 && most > 0 && call.out.length > most)
        rc = hm__request_fail(err, "", HM_E_LIMIT,
                              "the answer has %zu bytes; at most %zu are allowed", call.out.length,
                              most);
    if (rc == 0)
        rc = make_reply(&call, ret_reply, err);
    call_release(&call);
    return rc;
}

int hm__request_budget(const struct hm_verb *verb, int rc, struct hm_err *err)
{
    rc = hm__budget_result(rc, err);
    /* An error about work, which budget.h or admit.h has found, may name a field of the request. */
    if ((rc == HM_E_BUDGET || rc == HM_E_LIMIT) && err && err->field[0] &&
        hm__verb_field(verb, err->field))
        hm__err_at(err, "request", 0);
    return rc;
}

/*
 * Returns the name of the first document that a request gives, or else of the first field; NULL if
 * it gives none. The error about a spent budget names this field, unless a check of the budget has
 * named another one.
 */
static const char *first_field(const struct hm_request *r)
{
    const char *first = NULL;

    for (size_t i = 0; i < r->verb->field_count; i++) {
        enum hm_request_kind kind = r->verb->fields[i].kind;
        if (!r->given[i])
            continue;
        if (kind == HM_REQUEST_DOCUMENT || kind == HM_REQUEST_DOCUMENTS)
            return r->verb->fields[i].name;
        first = first ? first : r->verb->fields[i].name;
    }
    return first;
}

int hm_request_run(struct hm_request *r, const struct hm_context *context,
                   struct hm_reply **ret_reply, struct hm_err *err)
{
    static const struct hm_context nothing;
    const struct hm_context *c = context ? context : &nothing;

    if (!r || !ret_reply)
        return hm__fail(err, HM_E_MISSING, "a request and a place for the reply are needed");
    struct hm_reply *reply = NULL;
    struct hm_budget budget = {.seconds = c->limits.seconds,
                               .bytes = c->limits.bytes,
                               .cancelled = c->cancelled,
                               .data = c->cancelled_data};
    /* A budget is used even if there are no limits, because it also records failed allocations. */
    hm__budget_enter(&budget);
    hm__budget_about(first_field(r));
    int rc = hm__request_budget(r->verb, request_answer(r, c, &reply, err), err);
    hm__budget_leave(&budget);
    if (rc)
        hm_reply_free(reply);
    else
        *ret_reply = reply;
    return rc;
}

void hm_reply_free(struct hm_reply *reply)
{
    if (reply)
        hm__arena_free(reply->memory);
}

/* ---- for verbs ---------------------------------------------------------------------------------
 */

int hm__call_catalog(struct hm_call *call, const struct hm_catalog **ret_catalog,
                     struct hm_err *err)
{
    int rc = 0;

    if (!call->context->catalog && !call->made)
        rc = hm_catalog_new(&call->made, err);
    if (rc == 0)
        *ret_catalog = call->context->catalog ? call->context->catalog : call->made;
    return rc;
}

int hm__call_answer(struct hm_call *call, enum hm_format format, char *text, struct hm_err *err)
{
    hm__text_add(&call->out, text);
    hm_text_free(text);
    call->type = format == HM_FORMAT_JSON  ? "application/json"
                 : format == HM_FORMAT_CSV ? "text/csv; charset=utf-8"
                                           : NULL;
    return call->out.failed ? hm__fail_nomem(err) : 0;
}

int hm__call_flush(struct hm_call *call, struct hm_err *err)
{
    const struct hm_context *c = call->context;

    if (call->out.failed)
        return hm__fail_nomem(err);
    if (!c->write || call->out.length == 0)
        return 0;
    int rc = c->write(c->write_data, call->out.data, call->out.length, err);
    hm__text_release(&call->out);
    return rc;
}

int hm__call_file(struct hm_call *call, const char *path, const char *program, const char *text,
                  struct hm_err *err)
{
    const size_t room = sizeof(call->files) / sizeof(call->files[0]);
    char *copy = hm__arena_strdup(call->arena, text);

    if (!copy || call->file_count == room)
        return hm__fail_nomem(err);
    call->files[call->file_count++] = (struct hm_reply_file){path, copy, program};
    return 0;
}

int hm__call_format(bool json, bool csv, enum hm_format *ret_format, struct hm_err *err)
{
    if (json && csv)
        return hm__request_fail(err, "json", HM_E_CONFLICT, "json and csv exclude each other");
    *ret_format = json ? HM_FORMAT_JSON : csv ? HM_FORMAT_CSV : HM_FORMAT_TEXT;
    return 0;
}
