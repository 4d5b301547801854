/* Values as JSON. Lines are kept, so that messages name those of the body. */
#include "api_values.h"

#include <string.h>

#include "format.h"
#include "text.h"

struct writer {
    struct hm_text out;
    int line; /* we are on; 0: lines do not matter */
};

/* Whether a text that was not quoted may stand so in JSON; YAML has more such texts. */
static bool is_plain(const char *text)
{
    double number;
    size_t used;

    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return true;
    size_t digits = strspn(text, "-");
    used = hm__signed_read(text, &number);
    return used > 0 && text[used] == '\0' && digits <= 1 && text[digits] >= '0' &&
           text[digits] <= '9' &&
           !(text[digits] == '0' && strspn(text + digits, "0123456789") > 1) &&
           text[used - 1] >= '0' && text[used - 1] <= '9';
}

static void write_value(struct writer *w, const struct hm_value *v)
{
    bool map = v->kind == HM_VALUE_MAP;

    while (w->line > 0 && w->line < v->line) {
        hm__text_add(&w->out, "\n");
        w->line++;
    }
    if (v->kind == HM_VALUE_NULL) {
        hm__text_add(&w->out, "null");
    } else if (v->kind == HM_VALUE_SCALAR) {
        if (!v->quoted && is_plain(v->text))
            hm__text_add(&w->out, v->text);
        else
            hm__json_text(&w->out, v->text);
    } else {
        hm__text_add(&w->out, map ? "{" : "[");
        for (size_t i = 0; i < v->count; i++) {
            hm__text_add(&w->out, i ? "," : "");
            if (map) {
                hm__json_text(&w->out, v->keys[i]);
                hm__text_add(&w->out, ":");
            }
            write_value(w, &v->items[i]);
        }
        hm__text_add(&w->out, map ? "}" : "]");
    }
}

static char *take(struct hm_arena *arena, struct writer *w)
{
    char *text = w->out.failed ? NULL : hm__arena_strdup(arena, w->out.data ? w->out.data : "");

    hm__text_release(&w->out);
    return text;
}

char *api_value_json(struct hm_arena *arena, const struct hm_value *value)
{
    struct writer w = {.line = 1};

    write_value(&w, value);
    return take(arena, &w);
}

char *api_value_lines(struct hm_arena *arena, const struct hm_value *list)
{
    struct writer w = {.line = 0};

    for (size_t i = 0; i < list->count; i++) {
        write_value(&w, &list->items[i]);
        hm__text_add(&w.out, "\n");
    }
    return take(arena, &w);
}

char *api_value_joined(struct hm_arena *arena, const struct hm_value *list)
{
    struct writer w = {.line = 0};

    for (size_t i = 0; i < list->count; i++) {
        hm__text_add(&w.out, i ? "," : "");
        hm__text_add(&w.out, list->items[i].kind == HM_VALUE_SCALAR ? list->items[i].text : "");
    }
    return take(arena, &w);
}
