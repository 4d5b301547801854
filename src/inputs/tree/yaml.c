/*
 * Parses YAML 1.1 into the value tree, with the events of libyaml.
 *
 * A specification may come from an untrusted source, so everything beyond plain data is refused:
 * aliases (a few lines of them can expand to gigabytes), tags, many directives that declare tags,
 * more than one document, keys that are not scalars, and a key that appears twice. The text may
 * have at most 4 MiB.
 */
#include <string.h>
#include <yaml.h>

#include "err.h"
#include "value.h"

struct yaml_reader {
    yaml_parser_t parser;
    struct hm_arena *arena;
    const char *source, *text;
    size_t length;
    struct hm_err *err;
};

static int yaml_fail(struct yaml_reader *r, int code, int line, const char *what)
{
    hm__fail(r->err, code, "%s", what);
    hm__err_at(r->err, r->source, line);
    return code;
}

/* Reports a feature of YAML that is not plain data. */
static int refuse_feature(struct yaml_reader *r, int line, const char *what)
{
    yaml_fail(r, HM_E_SYNTAX, line, what);
    hm__err_hint(r->err, "write the value out where it is needed");
    return HM_E_SYNTAX;
}

static int event_line(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

static size_t count_lines(const struct yaml_reader *r, size_t offset)
{
    size_t lines = 0;

    for (size_t i = 0; i < offset && i < r->length; i++)
        lines += r->text[i] == '\n';
    return lines;
}

/*
 * Largest number of directives %TAG. libyaml compares each with all others inside one call, so that
 * a file of 1 MB could take ten seconds, and tags are refused anyway.
 */
enum { TAGS_MOST = 8 };

/*
 * Refuses text with many directives %TAG. They are counted everywhere in the text, because a line
 * can end in five ways; NUL bytes are skipped, because the text may be UTF-16.
 */
static int check_directives(struct yaml_reader *r)
{
    static const char directive[] = "%TAG";
    size_t matched = 0, count = 0;

    for (size_t i = 0; i < r->length; i++) {
        if (r->text[i] == '\0')
            continue;
        matched = r->text[i] == directive[matched] ? matched + 1 : r->text[i] == directive[0];
        if (directive[matched])
            continue;
        matched = 0;
        if (++count > TAGS_MOST)
            return refuse_feature(r, (int)count_lines(r, i) + 1, "tags are not supported");
    }
    return 0;
}

static int next_event(struct yaml_reader *r, yaml_event_t *event)
{
    char what[200];

    if (yaml_parser_parse(&r->parser, event))
        return 0;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return hm__fail_nomem(r->err);
    const char *problem = r->parser.problem ? r->parser.problem : "not YAML";
    const char *context = r->parser.context ? r->parser.context : "";
    snprintf(what, sizeof(what), "not YAML: %s%s%s", problem, *context ? " " : "", context);
    size_t line = r->parser.problem_mark.line ? r->parser.problem_mark.line : r->parser.mark.line;
    /* An error from libyaml's reader has a byte offset instead of a line. */
    if (r->parser.error == YAML_READER_ERROR)
        line = count_lines(r, r->parser.problem_offset);
    yaml_fail(r, HM_E_SYNTAX, (int)line + 1, what);
    if (strstr(problem, "mapping values"))
        hm__err_hint(r->err, "a text with ': ' in it, such as a formula with ?:, needs quotes");
    return HM_E_SYNTAX;
}

static int read_node(struct yaml_reader *r, const yaml_event_t *event, int depth,
                     struct hm_value *value);

/* Copies the text of a scalar. A NUL inside is refused, because it would end the text early. */
static int read_text(struct yaml_reader *r, const yaml_event_t *event, const char **ret_text)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;

    if (event->data.scalar.tag)
        return refuse_feature(r, event_line(event), "tags are not supported");

    if (memchr(text, '\0', length))
        return yaml_fail(r, HM_E_SYNTAX, event_line(event), "a NUL character inside a value");
    *ret_text = hm__arena_strndup(r->arena, text, length);
    return *ret_text ? 0 : hm__fail_nomem(r->err);
}

static int read_scalar(struct yaml_reader *r, const yaml_event_t *event, struct hm_value *value)
{
    const yaml_scalar_style_t style = event->data.scalar.style;

    value->quoted = style != YAML_PLAIN_SCALAR_STYLE;
    int rc = read_text(r, event, &value->text);
    if (rc)
        return rc;
    bool empty = !value->quoted && (value->text[0] == '\0' || strcmp(value->text, "~") == 0 ||
                                    strcmp(value->text, "null") == 0);
    value->kind = empty ? HM_VALUE_NULL : HM_VALUE_SCALAR;
    return 0;
}

/* Reads the entries of a list or map, up to its end event. */
static int read_entries(struct yaml_reader *r, bool map, int depth, struct hm_value_builder *b)
{
    yaml_event_t event;
    int rc = 0;

    while (rc == 0) {
        const char *key = NULL;
        struct hm_value item = {0};
        if ((rc = next_event(r, &event)))
            return rc;
        bool end = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        int line = event_line(&event);
        if (map && !end) {
            if (event.type != YAML_SCALAR_EVENT)
                rc = yaml_fail(r, HM_E_SYNTAX, line,
                               event.type == YAML_ALIAS_EVENT ? "aliases are not supported"
                                                              : "a key must be plain text");
            else
                rc = read_text(r, &event, &key);
            yaml_event_delete(&event);
            if (rc || (rc = next_event(r, &event)))
                return rc;
        }
        if (!end)
            rc = read_node(r, &event, depth + 1, &item);
        yaml_event_delete(&event);
        if (end)
            return 0;
        if (rc == 0 && (rc = hm__value_append(b, key, &item, r->err)))
            hm__err_at(r->err, r->source, line);
    }
    return rc;
}

static int read_node(struct yaml_reader *r, const yaml_event_t *event, int depth,
                     struct hm_value *value)
{
    struct hm_value_builder b = {0};

    *value = (struct hm_value){.line = event_line(event), .source = r->source};
    if (depth > HM_VALUE_DEPTH)
        return yaml_fail(r, HM_E_LIMIT, value->line, "nested too deeply");
    if (event->type == YAML_ALIAS_EVENT)
        return refuse_feature(r, value->line, "aliases are not supported");
    if (event->type == YAML_SCALAR_EVENT)
        return read_scalar(r, event, value);
    bool map = event->type == YAML_MAPPING_START_EVENT;
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    if ((map && event->data.mapping_start.tag) || (list && event->data.sequence_start.tag))
        return refuse_feature(r, value->line, "tags are not supported");
    if (!map && event->type != YAML_SEQUENCE_START_EVENT)
        return yaml_fail(r, HM_E_SYNTAX, value->line, "a value is missing");
    value->kind = map ? HM_VALUE_MAP : HM_VALUE_LIST;
    int rc = read_entries(r, map, depth, &b);
    if (rc == 0)
        rc = hm__value_seal(&b, r->arena, value, r->err);
    hm__value_builder_release(&b);
    return rc;
}

/* Reads the events STREAM-START, DOCUMENT-START, the root, DOCUMENT-END and STREAM-END; a second
 * document is an error, and an empty stream leaves the root null. */
static int read_document(struct yaml_reader *r, struct hm_value *root)
{
    yaml_event_t event;
    int rc;

    for (int skip = 0; skip < 2; skip++) {
        if ((rc = next_event(r, &event)))
            return rc;
        bool empty = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (empty)
            return 0;
    }
    if ((rc = next_event(r, &event)))
        return rc;
    rc = read_node(r, &event, 1, root);
    yaml_event_delete(&event);
    for (int skip = 0; rc == 0 && skip < 2; skip++) {
        if ((rc = next_event(r, &event)))
            return rc;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            rc = yaml_fail(r, HM_E_SYNTAX, event_line(&event), "a second document in the file");
        yaml_event_delete(&event);
    }
    return rc;
}

int hm__yaml_parse(struct hm_arena *arena, const char *text, size_t length, const char *source,
                   struct hm_value **ret_value, struct hm_err *err)
{
    struct yaml_reader r = {.arena = arena, .text = text, .length = length, .err = err};
    struct hm_value *root = hm__arena_alloc(arena, 1, sizeof(*root));

    r.source = source ? hm__arena_strdup(arena, source) : "";
    if (!root || !r.source)
        return hm__fail_nomem(err);
    if (length > HM_VALUE_BYTES)
        return yaml_fail(&r, HM_E_LIMIT, 0, "larger than 4 MiB");
    root->source = r.source;
    int rc = check_directives(&r);
    if (rc)
        return rc;
    if (!yaml_parser_initialize(&r.parser))
        return hm__fail_nomem(err);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, length);
    rc = read_document(&r, root);
    yaml_parser_delete(&r.parser);
    if (rc == 0)
        *ret_value = root;
    return rc;
}
