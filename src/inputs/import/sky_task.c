/*
 * Reads task files of SkyPilot, which are YAML. The file of a pipeline contains several YAML
 * documents; the first of them may contain only the name of the pipeline. Accelerators are written
 * as a string "A100:8", a map {A100: 8}, or a set or list of alternatives. The number of workers n
 * is the number of nodes times the number of accelerators per node.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "whole.h"

/* Writes an accelerator "NAME:COUNT" as the JSON member NAME: "COUNT"; returns the count. */
static double put_accelerator(struct hm_json *j, const char *text, const char *count)
{
    char name[64];
    const char *colon = strchr(text, ':');
    double value = 1;

    snprintf(name, sizeof(name), "%.*s", (int)(colon ? colon - text : 63), text);
    count = count ? count : colon ? colon + 1 : "1";
    hm__json_put_text(j, name, count);
    size_t used = hm__number_read(count, &value);
    return used > 0 && count[used] == '\0' ? value : NAN;
}

/*
 * Writes the accelerators of a task as JSON; returns the number of accelerators per node, or NaN if
 * there are none or if there are alternatives.
 */
static double put_accelerators(struct hm_imported *im, const struct hm_value *value)
{
    struct hm_json *j = &im->facts;
    const char *text = hm__value_text(value);
    bool set = value && value->kind == HM_VALUE_MAP && value->count > 0;
    double count = NAN;

    for (size_t i = 0; set && i < value->count; i++)
        set = value->items[i].kind == HM_VALUE_NULL;
    if (!text && (!value || value->kind == HM_VALUE_NULL || value->count == 0)) {
        hm__json_put_null(j, "accelerators");
        return NAN;
    }
    hm__json_open(j, "accelerators", HM_JSON_OBJECT);
    if (text) {
        count = put_accelerator(j, text, NULL);
    } else if (value->kind == HM_VALUE_MAP && !set) {
        count = put_accelerator(j, value->keys[0], hm__value_text(&value->items[0]));
    } else {
        hm__json_open(j, "any", HM_JSON_LIST);
        for (size_t i = 0; i < value->count; i++)
            hm__json_put_text(j, NULL, set ? value->keys[i] : hm__value_text(&value->items[i]));
        hm__json_close(j);
    }
    hm__json_close(j);
    return count;
}

/* Writes the accelerators of all alternatives that a task allows for its resources. */
static void put_alternatives(struct hm_imported *im, const struct hm_value *resources)
{
    const struct hm_value *list = hm__value_get(resources, "any_of");

    if (!list)
        list = hm__value_get(resources, "ordered");
    bool given = list && list->kind == HM_VALUE_LIST;
    hm__json_put_number(&im->facts, "alternatives", given ? (double)list->count : 0);
    hm__json_open(&im->facts, "alternative_accelerators", HM_JSON_LIST);
    for (size_t i = 0; given && i < list->count; i++) {
        const char *text = hm__value_text(hm__value_get(&list->items[i], "accelerators"));
        if (text)
            hm__json_put_text(&im->facts, NULL, text);
    }
    hm__json_close(&im->facts);
}

static void put_text(struct hm_imported *im, const char *key, const struct hm_value *value)
{
    hm__json_put_text(&im->facts, key, hm__value_text(value));
}

/*
 * Writes the name of the cloud, which newer files give as the first component of `infra`, as in
 * aws/us-east-1.
 */
static void put_cloud(struct hm_imported *im, const struct hm_value *resources)
{
    const char *infra = hm__value_text(hm__value_get(resources, "infra"));
    char cloud[64];

    if (!infra) {
        put_text(im, "cloud", hm__value_get(resources, "cloud"));
        return;
    }
    snprintf(cloud, sizeof(cloud), "%.*s", (int)strcspn(infra, "/"), infra);
    hm__json_put_text(&im->facts, "cloud", cloud);
}

/*
 * Writes the cluster of the first task whose resources name exactly one kind of accelerator, such
 * as A100:8.
 */
static void put_cluster(struct hm_imported *im, const struct hm_value *accelerators, double nodes,
                        double count)
{
    const char *name = hm__value_text(accelerators);

    if (!name && accelerators && accelerators->kind == HM_VALUE_MAP && accelerators->count == 1)
        name = accelerators->keys[0];
    size_t length = name ? strcspn(name, ":") : 0;
    bool whole = count >= 1 && count <= 1000 && count == floor(count) && nodes >= 1 &&
                 nodes <= 1e6 && nodes == floor(nodes);
    if (!whole || length == 0 || im->document.length > 0)
        return;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '-' && name[i] != '_')
            return;
    im->document_kind = "cluster";
    hm__text_addf(&im->document, "accelerator: \"%.*s\"\naccelerators: %.0f\nmax_nodes: %.0f\n",
                  (int)length, name, count, nodes);
}

static void put_task(struct hm_imported *im, const struct hm_value *task)
{
    struct hm_json *j = &im->facts;
    const struct hm_value *resources = hm__value_get(task, "resources");
    double nodes = hm__value_is_open(hm__value_get(task, "num_nodes"))
                       ? 1
                       : hm__whole_count(im, task, "num_nodes", 1, 1e6);

    hm__json_open(j, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    put_text(im, "name", hm__value_get(task, "name"));
    hm__json_put_number(j, "num_nodes", nodes);
    double count = put_accelerators(im, hm__value_get(resources, "accelerators"));
    put_alternatives(im, resources);
    put_text(im, "instance_type", hm__value_get(resources, "instance_type"));
    put_cloud(im, resources);
    put_text(im, "cpus", hm__value_get(resources, "cpus"));
    put_text(im, "memory", hm__value_get(resources, "memory"));
    hm__fact_value(im, "use_spot", hm__value_get(resources, "use_spot"));
    hm__fact_value(im, "disk_size", hm__value_get(resources, "disk_size"));
    hm__json_put_bool(j, "has_run", hm__value_get(task, "run") != NULL);
    hm__json_put_bool(j, "has_service", hm__value_get(task, "service") != NULL);
    hm__json_put_number(j, "n", nodes * count);
    hm__json_close(j);
    if (!isnan(nodes * count))
        hm__import_took(im, nodes * count, "accelerators on %.0f nodes: this is n", nodes);
    put_cluster(im, hm__value_get(resources, "accelerators"), nodes, count);
}

/* Finds the end of a YAML document: a line "---", or the end of the file. */
static const char *document_end(const char *p, const char *end)
{
    for (; p < end; p++)
        if (end - p >= 3 && memcmp(p, "---", 3) == 0 && p[-1] == '\n' &&
            (end - p == 3 || strchr(" \r\n\t", p[3])))
            return p;
    return end;
}

/* Returns whether a YAML document contains only a name, which is then the name of the pipeline. */
static bool is_only_name(const struct hm_value *task)
{
    return task->count == 1 && hm__value_get(task, "name");
}

static int read_tasks(struct hm_imported *im, const char *text, size_t length, struct hm_err *err)
{
    const char *p = text, *end = text + length, *pipeline = NULL;
    double tasks = 0;
    bool first = true;

    hm__json_open(&im->facts, "tasks", HM_JSON_LIST | HM_JSON_LINES);
    while (p < end) {
        const char *stop = document_end(p + 1, end);
        struct hm_value *task = NULL;
        struct hm_err own = {0};
        int rc = hm__yaml_parse(im->arena, p, (size_t)(stop - p), im->name, &task, &own);
        if (rc == HM_E_NOMEM)
            return hm__fail_nomem(err);
        if (rc)
            hm__import_cut(im);
        else if (task->kind == HM_VALUE_MAP && first && stop < end && is_only_name(task))
            pipeline = hm__value_text(hm__value_get(task, "name"));
        else if (task->kind == HM_VALUE_MAP) {
            put_task(im, task);
            tasks++;
        }
        first = false;
        p = stop < end ? stop + 3 : end;
    }
    hm__json_close(&im->facts);
    hm__json_put_text(&im->facts, "pipeline", pipeline);
    hm__import_took(im, tasks, "tasks");
    return 0;
}

static int sky_read(struct hm_imported *im, struct hm_err *err)
{
    char *text;
    size_t length;

    hm__json_put_text(&im->facts, "format", "skypilot task");
    int rc = hm__whole_text(im, &text, &length, err);
    return rc ? rc : read_tasks(im, text, length, err);
}

/* Returns whether a line of the text begins with the given key. */
static bool has_key(const struct hm_import_head *head, const char *key)
{
    const char *p = head->text, *end = head->text + head->length;

    while ((p = hm__find(p, (size_t)(end - p), key))) {
        if (p == head->text || p[-1] == '\n')
            return true;
        p++;
    }
    return false;
}

static int sky_recognise(const struct hm_import_head *head)
{
    if (!has_key(head, "resources:"))
        return 0;
    return hm__find(head->text, head->length, "accelerators:") ||
                   hm__find(head->text, head->length, "instance_type:") || has_key(head, "run:")
               ? 80
               : 0;
}

const struct hm_importer hm__importer_sky_task = {
    .name = "skypilot",
    .title = "task of SkyPilot",
    .becomes = "a cluster",
    .recognise = sky_recognise,
    .read = sky_read,
};
