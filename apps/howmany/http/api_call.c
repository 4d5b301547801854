/* From a body to the options of a command, and from there to its answer. */
#include "api_call.h"

#include <stdio.h>
#include <string.h>

#include "api_values.h"
#include "err.h"
#include "guest.h"
#include "value.h"

struct call {
    const struct api_command *how;
    struct hm_arena *arena;
    struct cli_guest guest;
    void *state;
    bool csv;
    struct hm_err *err;
};

int api_option_find(const struct cli_command *command, const char *name)
{
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

bool api_is_document(const struct api_command *how, const char *name)
{
    return listed(how->documents, 4, name);
}

bool api_is_refused(const struct api_command *how, const struct cli_option *o)
{
    return listed(how->refused, 4, o->name) || (how->only[0] && !listed(how->only, 8, o->name)) ||
           (o->values && strcmp(o->values, "@file") == 0 && !api_is_document(how, o->name));
}

enum api_body api_body_kind(const char *content_type)
{
    static const struct {
        const char *type;
        enum api_body kind;
    } known[] = {{"application/json", API_BODY_JSON},   {"application/yaml", API_BODY_YAML},
                 {"application/x-yaml", API_BODY_YAML}, {"text/yaml", API_BODY_YAML},
                 {"text/csv", API_BODY_TABLE},          {"application/x-ndjson", API_BODY_TABLE},
                 {"application/jsonl", API_BODY_TABLE}};
    char type[64];

    if (content_type[0] == '\0')
        return API_BODY_NONE;
    for (size_t i = 0;
         http_guard_type(content_type, type, sizeof(type)) && i < sizeof(known) / sizeof(known[0]);
         i++)
        if (strcmp(known[i].type, type) == 0)
            return known[i].kind;
    return API_BODY_OTHER;
}

static int fail_at(struct call *c, const char *field, int line, int code, const char *message)
{
    hm__fail(c->err, code, "%s", message);
    hm__err_field(c->err, field);
    if (c->err && line > 0)
        c->err->line = line;
    return code;
}

/* Hand an option on; what the command complains of stays with the guest. */
static int give(struct call *c, int option, const char *value)
{
    if (!value)
        return hm__fail_nomem(c->err);
    return c->how->command->accept(c->state, option, value) ? HM_E_RANGE : 0;
}

/* ---- documents ------------------------------------------------------------------------------- */

static int add_document(struct call *c, const char *name, const char *text, size_t length)
{
    struct cli_guest *g = &c->guest;

    if (!name || !text)
        return hm__fail_nomem(c->err);
    if (g->document_count == CLI_DOCUMENTS_MAX)
        return fail_at(c, name, 0, HM_E_LIMIT, "there are too many documents");
    g->documents[g->document_count++] = (struct cli_document){name, text, length};
    return 0;
}

/* A document that stands in the body: a text as it is, a map as JSON, a list as JSON lines. Its
 * name says what it is, and is what messages call it. */
static int take_document(struct call *c, const char *key, const struct hm_value *value,
                         const char **ret_name)
{
    size_t number = c->guest.document_count;
    const char *ending = value->kind == HM_VALUE_MAP ? ".json" : "";
    const char *name = number == 0 || strcmp(key, c->how->operand) == 0
                           ? hm__arena_printf(c->arena, "%s%s", key, ending)
                           : hm__arena_printf(c->arena, "%s-%zu%s", key, number, ending);
    char *text = NULL;

    if (value->kind == HM_VALUE_NULL)
        return fail_at(c, key, value->line, HM_E_MISSING, "nothing stands here");
    text = value->kind == HM_VALUE_SCALAR ? hm__arena_strdup(c->arena, value->text)
           : value->kind == HM_VALUE_LIST ? api_value_lines(c->arena, value)
                                          : api_value_json(c->arena, value);
    *ret_name = name;
    return add_document(c, name, text, text ? strlen(text) : 0);
}

/* {"algorithm": "cocoa", "document": …} where an option is [ALGORITHM=]FILE. */
static int give_document(struct call *c, int option, const char *key, const struct hm_value *value)
{
    const struct hm_value *of = hm__value_get(value, "algorithm");
    const struct hm_value *inside = hm__value_get(value, "document");
    const char *name = NULL;
    bool named = of && inside && of->kind == HM_VALUE_SCALAR && value->count == 2;
    int rc = take_document(c, key, named ? inside : value, &name);

    if (rc)
        return rc;
    return give(c, option, named ? hm__arena_printf(c->arena, "%s=%s", of->text, name) : name);
}

/* ---- options --------------------------------------------------------------------------------- */

static bool is_true(const struct hm_value *v)
{
    return v->kind == HM_VALUE_SCALAR && strcmp(v->text, "true") == 0;
}

static int give_switch(struct call *c, int option, const struct hm_value *v)
{
    const char *name = c->how->command->options[option].name;
    bool off = v->kind == HM_VALUE_SCALAR && strcmp(v->text, "false") == 0;

    if (!is_true(v) && !off)
        return fail_at(c, name, v->line, HM_E_TYPE, "it is true or false");
    if (off || strcmp(name, "json") == 0) /* the answer is JSON anyway */
        return 0;
    c->csv = c->csv || strcmp(name, "csv") == 0;
    return give(c, option, "");
}

/* A cluster may be described in place: {"price": …}, as in a cluster file. */
static const char *text_of(struct call *c, const char *key, const struct hm_value *v)
{
    const char *name = NULL;

    if (v->kind == HM_VALUE_SCALAR)
        return v->text;
    if (v->kind == HM_VALUE_MAP && strcmp(key, "on") == 0)
        return take_document(c, key, v, &name) == 0 ? name : NULL;
    fail_at(c, key, v->line, HM_E_TYPE, "a text or a number is needed");
    return NULL;
}

/* {"n": 64, "size": 1} is n=64,size=1; {"batch": 256} of --set is batch=256. */
static int give_pairs(struct call *c, int option, const struct hm_value *map, bool joined)
{
    const char *key = c->how->command->options[option].name, *all = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < map->count; i++) {
        const struct hm_value *item = &map->items[i];
        const char *text = item->kind == HM_VALUE_LIST ? api_value_joined(c->arena, item)
                                                       : text_of(c, map->keys[i], item);
        if (!text)
            return c->err->code ? c->err->code : hm__fail_nomem(c->err);
        const char *pair = hm__arena_printf(c->arena, "%s=%s", map->keys[i], text);
        if (joined)
            all = all ? hm__arena_printf(c->arena, "%s,%s", all, pair) : pair;
        else
            rc = give(c, option, pair);
    }
    if (rc == 0 && map->count == 0)
        rc = fail_at(c, key, map->line, HM_E_MISSING, "nothing stands here");
    return rc || !joined ? rc : give(c, option, all);
}

static int give_list(struct call *c, int option, const struct hm_value *list)
{
    const struct cli_option *o = &c->how->command->options[option];
    bool joined = strstr(o->argument, "LIST") || strstr(o->argument, "[,");
    const char *all = NULL;
    int rc = 0;

    if (strchr(o->argument, '=')) /* NAME=LIST is repeated, not joined */
        joined = false;
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        const char *text = text_of(c, o->name, &list->items[i]);
        if (!text)
            return c->err->code ? c->err->code : hm__fail_nomem(c->err);
        if (joined)
            all = all ? hm__arena_printf(c->arena, "%s,%s", all, text) : text;
        else
            rc = give(c, option, text);
    }
    return rc || !all ? rc : give(c, option, all);
}

static int give_option(struct call *c, int option, const struct hm_value *v)
{
    const struct cli_option *o = &c->how->command->options[option];
    int rc = 0;

    if (!o->argument)
        return give_switch(c, option, v);
    if (v->kind == HM_VALUE_NULL)
        return 0;
    if (api_is_document(c->how, o->name)) {
        bool several = v->kind == HM_VALUE_LIST && o->argument[0] == '[';
        for (size_t i = 0; several && rc == 0 && i < v->count; i++)
            rc = give_document(c, option, o->name, &v->items[i]);
        return several ? rc : give_document(c, option, o->name, v);
    }
    if (v->kind == HM_VALUE_LIST)
        return give_list(c, option, v);
    if (v->kind == HM_VALUE_MAP && strstr(o->argument, "FIT")) /* a value, or a stored fit */
        return give_document(c, option, o->name, v);
    if (v->kind == HM_VALUE_MAP && strcmp(o->name, "on") != 0)
        return strchr(o->argument, '=') || strcmp(o->argument, "PLACE") == 0
                   ? give_pairs(c, option, v, strcmp(o->argument, "PLACE") == 0)
                   : fail_at(c, o->name, v->line, HM_E_TYPE, "a text or a number is needed");
    const char *text = text_of(c, o->name, v);
    return text ? give(c, option, text) : c->err->code;
}

static const char *key_name(const void *context, size_t i)
{
    const struct api_command *how = context;

    if (i == how->command->option_count && how->operand)
        return how->operand;
    return i < how->command->option_count ? how->command->options[i].name : NULL;
}

static int unknown_key(struct call *c, const char *key, int line)
{
    const char *near = hm__suggest(key, key_name, c->how);

    fail_at(c, key, line, HM_E_KEY, "there is no such key");
    hm__err_hint(c->err, near ? "did you mean %s?" : "see /openapi.json", near);
    return HM_E_KEY;
}

/* One key and its value, from the body or the query. */
static int give_key(struct call *c, const char *key, const struct hm_value *value)
{
    const char *name;
    int option = api_option_find(c->how->command, key);

    if (c->how->operand && strcmp(key, c->how->operand) == 0) {
        int rc = take_document(c, key, value, &name);
        return rc ? rc : give(c, -1, name);
    }
    if (option < 0)
        return unknown_key(c, key, value->line);
    if (api_is_refused(c->how, &c->how->command->options[option])) {
        fail_at(c, key, value->line, HM_E_UNSUPPORTED, "this is for the command line alone");
        hm__err_hint(c->err, "a request starts no program and touches no file");
        return HM_E_UNSUPPORTED;
    }
    return give_option(c, option, value);
}

/* ---- query and body -------------------------------------------------------------------------- */

/* a=b&c: each a text; a key alone is a switch. */
static int read_query(struct call *c, const char *query)
{
    int rc = 0;

    while (rc == 0 && *query) {
        size_t length = strcspn(query, "&"), equal = 0;
        char key[64], *text = hm__arena_alloc(c->arena, length + 8, 1);
        while (equal < length && query[equal] != '=')
            equal++;
        if (!text)
            return hm__fail_nomem(c->err);
        const char *value = equal < length ? query + equal + 1 : "true";
        size_t used = equal < length ? length - equal - 1 : 4;
        if (!http_guard_decode(query, equal, true, key, sizeof(key)) ||
            !http_guard_decode(value, used, true, text, length + 8))
            return fail_at(c, "query", 0, HM_E_SYNTAX, "the query cannot be read");
        struct hm_value v = {.kind = HM_VALUE_SCALAR, .text = text};
        if (length > 0)
            rc = give_key(c, key, &v);
        query += length + (query[length] == '&');
    }
    return rc;
}

/* The whole body is one document: a bare job, or a table. */
static int read_whole(struct call *c, const struct http_request *r, const char *key,
                      const char *name)
{
    int option = api_option_find(c->how->command, key);
    int rc = add_document(c, name, r->body, r->length);

    if (strcmp(key, c->how->operand) == 0)
        option = -1;
    return rc ? rc : give(c, option, name);
}

/* Whether the operand is a table, which may stand alone in a body of JSON: a list of rows, or one.
 */
static bool is_table(const struct api_command *how)
{
    return how->bare && how->table && strcmp(how->table, how->operand) == 0;
}

static int read_keys(struct call *c, const struct http_request *r, bool json)
{
    struct hm_value *root = NULL;
    const char *source = json ? "body.json" : "body.yaml";
    int rc = json ? hm__json_parse(c->arena, r->body, r->length, source, &root, c->err)
                  : hm__yaml_parse(c->arena, r->body, r->length, source, &root, c->err);

    if (rc)
        return rc;
    if (root->kind == HM_VALUE_LIST && is_table(c->how))
        return give_key(c, c->how->operand, root);
    if (root->kind != HM_VALUE_MAP)
        return fail_at(c, "", root->line, HM_E_TYPE, "the body is not an object");
    bool whole = c->how->bare && !hm__value_get(root, c->how->operand) &&
                 !(c->how->table && hm__value_get(root, c->how->table));
    if (whole && is_table(c->how)) /* one row of it */
        return give_key(c, c->how->operand,
                        &(struct hm_value){.kind = HM_VALUE_LIST, .items = root, .count = 1});
    if (whole)
        return read_whole(
            c, r, c->how->operand,
            hm__arena_printf(c->arena, "%s.%s", c->how->operand, json ? "json" : "yaml"));
    for (size_t i = 0; rc == 0 && i < root->count; i++)
        rc = give_key(c, root->keys[i], &root->items[i]);
    return rc;
}

static int read_body(struct call *c, const struct http_request *r)
{
    if (strcmp(r->method, "POST") != 0)
        return 0;
    switch (api_body_kind(r->type)) {
    case API_BODY_TABLE:
        return read_whole(c, r, c->how->table, c->how->table);
    case API_BODY_YAML:
        return read_keys(c, r, false);
    default:
        return read_keys(c, r, true);
    }
}

/* ---- running --------------------------------------------------------------------------------- */

/* Whether the command has answered, and if not, why. */
static int conclude(struct cli_guest *g, int code, struct hm_text *out, struct hm_err *err)
{
    if (err->code == 0 && code > EXIT_NO_ANSWER) {
        *err = g->err;
        if (err->code == 0)
            hm__fail(err, HM_E_RANGE, "the command does not answer");
    }
    if (err->code == 0 && g->out.failed)
        hm__fail_nomem(err);
    if (err->code == 0) {
        *out = g->out;
        g->out = (struct hm_text){0};
    }
    return err->code;
}

/* What the route gives by itself: a word, switches, and the last piece of a path with {id}. */
static int read_path(struct call *c, const struct http_request *r, bool named)
{
    int rc = c->how->word ? give(c, -1, c->how->word) : 0;

    for (size_t i = 0; rc == 0 && i < 2 && c->how->given[i]; i++) {
        c->csv = c->csv || strcmp(c->how->given[i], "csv") == 0;
        rc = give(c, api_option_find(c->how->command, c->how->given[i]), "");
    }
    return rc || !named ? rc : give(c, -1, strrchr(r->path, '/') + 1);
}

/* A key that came with the request, where the command has an option for it. */
static int read_key(struct call *c, const struct http_request *r)
{
    int option = api_option_find(c->how->command, "key");

    if (r->key[0] == '\0' || option < 0 || strcmp(r->method, "POST") != 0)
        return 0;
    return give(c, option, r->key);
}

int api_call(const struct api_command *how, const struct api_host *host,
             const struct http_request *request, struct hm_text *out, struct api_called *ret_called,
             struct hm_err *err)
{
    struct call c = {.how = how, .arena = hm__arena_new(), .err = err};
    bool named = how->word && strcmp(how->word, "show") == 0;
    int rc = 0, json = api_option_find(how->command, "json"), code = EXIT_USAGE;

    c.guest.catalog = host->catalog;
    c.guest.store = host->store;
    cli_guest_enter(&c.guest);
    c.state = c.arena ? how->command->begin() : NULL;
    if (!c.state)
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = read_path(&c, request, named);
    if (rc == 0)
        rc = read_query(&c, request->query);
    if (rc == 0)
        rc = read_key(&c, request);
    if (rc == 0)
        rc = read_body(&c, request);
    if (rc == 0 && !c.csv)
        rc = give(&c, json, "");
    if (rc == 0)
        code = how->command->run(c.state);
    rc = conclude(&c.guest, code, out, err);
    if (c.state)
        how->command->end(c.state);
    cli_guest_enter(NULL);
    cli_guest_release(&c.guest);
    hm__arena_free(c.arena);
    *ret_called = (struct api_called){c.csv, c.guest.stored};
    return rc;
}

int api_call_words(const struct cli_command *command, const struct api_host *host,
                   const char *const *words, size_t count, struct hm_text *out, struct hm_err *err)
{
    struct cli_guest guest = {.catalog = host->catalog};
    int code = 0;

    cli_guest_enter(&guest);
    void *state = command->begin();
    if (!state)
        hm__fail_nomem(err);
    for (size_t i = 0; state && code == 0 && i < count; i++)
        code = command->accept(state, -1, words[i]);
    if (state && code == 0)
        code = command->accept(state, api_option_find(command, "json"), "");
    if (state && code == 0)
        code = command->run(state);
    int rc = conclude(&guest, code, out, err);
    if (state)
        command->end(state);
    cli_guest_enter(NULL);
    cli_guest_release(&guest);
    return rc;
}
