/* Reads small files as trees; see whole.h. */
#include "whole.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "pull.h"
#include "text.h"

int hm__whole_text(struct hm_imported *im, char **ret_text, size_t *ret_length, struct hm_err *err)
{
    struct hm_text text = {0};

    while (hm__stream_peek(&im->in, 1) > 0 && text.length <= HM_VALUE_BYTES) {
        hm__text_add_n(&text, im->in.buffer + im->in.at, im->in.length - im->in.at);
        im->in.at = im->in.length;
    }
    int rc = text.length > HM_VALUE_BYTES ? hm__fail(err, HM_E_LIMIT, "larger than 4 MiB") : 0;
    char *copy = rc ? NULL : hm__arena_strndup(im->arena, text.data ? text.data : "", text.length);
    if (rc == 0 && (!copy || text.failed))
        rc = hm__fail_nomem(err);
    *ret_text = copy;
    *ret_length = text.length;
    hm__text_release(&text);
    return rc;
}

int hm__whole_json(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err)
{
    struct hm_pull pull;
    bool whole = false;
    int rc = hm__pull_init(&pull, &im->in, err);

    *ret_tree = NULL;
    if (rc == 0)
        rc = hm__pull_tree(&pull, im->arena, im->name, ret_tree, &whole, err);
    hm__pull_release(&pull);
    if (rc == 0 && !whole) {
        hm__import_cut(im);
        *ret_tree = NULL;
    }
    return rc;
}

int hm__whole_yaml(struct hm_imported *im, struct hm_value **ret_tree, struct hm_err *err)
{
    struct hm_err own = {0};
    char *text;
    size_t length;
    int rc = hm__whole_text(im, &text, &length, err);

    *ret_tree = NULL;
    if (rc)
        return rc;
    rc = hm__yaml_parse(im->arena, text, length, im->name, ret_tree, &own);
    if (rc == HM_E_NOMEM)
        return hm__fail_nomem(err);
    if (rc || (*ret_tree)->kind != HM_VALUE_MAP) {
        hm__import_cut(im);
        *ret_tree = NULL;
    }
    return 0;
}

const char *hm__sibling_text(struct hm_imported *im, const char *path)
{
    enum { LARGEST = 64 * 1024 };
    const char *slash = *path == '/' ? NULL : strrchr(im->name, '/');
    struct hm_source *source;
    size_t length = 0;

    if (!im->from_file)
        return NULL;
    const char *full = hm__arena_printf(im->arena, "%.*s%s",
                                        slash ? (int)(slash + 1 - im->name) : 0, im->name, path);
    char *text = hm__arena_alloc(im->arena, LARGEST + 1, 1);
    if (!full || !text || hm__source_open(full, &source, NULL))
        return NULL;
    int rc = hm__source_fill(source, text, LARGEST + 1, &length, NULL);
    hm__source_close(source);
    if (rc || length > LARGEST)
        return NULL;
    text[length] = '\0';
    return text;
}

const struct hm_value *hm__sibling_json(struct hm_imported *im, const char *path)
{
    const char *text = hm__sibling_text(im, path);
    struct hm_value *root = NULL;
    struct hm_err ignored = {0};

    return text && hm__json_parse(im->arena, text, strlen(text), path, &root, &ignored) == 0 ? root
                                                                                             : NULL;
}

void hm__fact_value(struct hm_imported *im, const char *key, const struct hm_value *value)
{
    const char *text = hm__value_text(value);
    double number;

    if (!text) {
        hm__json_put_null(&im->facts, key);
        return;
    }
    size_t used = value->quoted ? 0 : hm__signed_read(text, &number);
    if (used > 0 && text[used] == '\0')
        hm__json_put_number(&im->facts, key, number);
    else if (!value->quoted && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
        hm__json_put_bool(&im->facts, key, text[0] == 't');
    else if (!value->quoted && strcmp(text, "null") == 0)
        hm__json_put_null(&im->facts, key);
    else
        hm__json_put_text(&im->facts, key, text);
}

const struct hm_value *hm__value_path(const struct hm_value *root, const char *path)
{
    while (root && *path) {
        char key[64];
        size_t length = strcspn(path, ".");
        snprintf(key, sizeof(key), "%.*s", (int)(length < 63 ? length : 63), path);
        root = hm__value_get(root, key);
        path += length + (path[length] == '.');
    }
    return root;
}

const char *hm__value_text(const struct hm_value *value)
{
    return value && value->kind == HM_VALUE_SCALAR ? value->text : NULL;
}

bool hm__value_is_open(const struct hm_value *value)
{
    const char *text = hm__value_text(value);

    return !value || value->kind == HM_VALUE_NULL ||
           (text && (strcmp(text, "auto") == 0 || strcmp(text, "null") == 0));
}

double hm__whole_count(struct hm_imported *im, const struct hm_value *map, const char *key,
                       double least, double most)
{
    const struct hm_value *value = hm__value_get(map, key);
    const char *text = hm__value_text(value);
    double number = NAN;

    if (hm__value_is_open(value))
        return NAN;
    size_t used = text ? hm__signed_read(text, &number) : 0;
    if (used > 0 && text[used] == '\0' && number >= least && number <= most &&
        number == floor(number))
        return number;
    hm__import_left(im, NAN, "%s: '%.40s' is not a whole number from %.0f to %.0f", key,
                    text ? text : hm__value_kind_name(value), least, most);
    return NAN;
}
