/*
 * Reads configurations of torchtitan, which are TOML: sections with keys. Only scalar values are
 * used. The keys `name` and `flavor` in the section [model] determine the network, which must be in
 * the catalog. A shard degree of -1 means all workers that remain after the other kinds of
 * parallelism.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "importers.h"
#include "launch.h"

/*
 * Names and flavors of networks in torchtitan, with the names of the same networks in the catalog.
 */
static const struct {
    const char *name, *flavor, *network;
} networks[] = {
    {"llama2", "7B", "llama-2-7b"},         {"llama2", "13B", "llama-2-13b"},
    {"llama2", "70B", "llama-2-70b"},       {"llama3", "8B", "llama-3-8b"},
    {"llama3", "70B", "llama-3-70b"},       {"llama3", "405B", "llama-3.1-405b"},
    {"deepseek_v3", "671B", "deepseek-v3"},
};

struct titan {
    struct launch launch;
    char name[48], flavor[48];
    double keys, other;
};

/* Stores the value of one key in a section of the file. */
static void set_key(struct titan *t, const char *section, const char *key, const char *value)
{
    double before = t->launch.used;

    t->keys++;
    if (strcmp(section, "model") == 0 && strcmp(key, "name") == 0) {
        snprintf(t->name, sizeof(t->name), "%.47s", value);
    } else if (strcmp(section, "model") == 0 && strcmp(key, "flavor") == 0) {
        snprintf(t->flavor, sizeof(t->flavor), "%.47s", value);
    } else if (strcmp(section, "training") == 0 && strcmp(key, "steps") == 0) {
        hm__launch_set(&t->launch, "train_iters", value);
    } else if (strcmp(section, "training") == 0 && strcmp(key, "batch_size") == 0) {
        /* Old versions of torchtitan use the name batch_size for the key local_batch_size. */
        hm__launch_set(&t->launch, "local_batch_size", value);
    } else if (strcmp(section, "activation_checkpoint") == 0 && strcmp(key, "mode") == 0) {
        hm__launch_set(&t->launch, "recompute_granularity", value);
    } else if (strcmp(key, "selective_ac_option") == 0) {
        /* Every second product, or every n-th layer. */
        if (strcmp(t->launch.recompute, "selective") == 0)
            snprintf(t->launch.recompute, sizeof(t->launch.recompute), "%s",
                     strcmp(value, "op") == 0 ? "selective-op" : "selective-layer");
        t->launch.used++;
    } else if (strcmp(key, "mixed_precision_param") == 0 || strcmp(key, "dtype") == 0) {
        if (strcmp(value, "bfloat16") == 0)
            hm__launch_set(&t->launch, "bf16", NULL);
    } else {
        hm__launch_set(&t->launch, key, value);
        t->other += t->launch.used == before;
    }
}

/*
 * Copies the value of a key without quotes and without a comment; returns false if the value is not
 * a scalar.
 */
static bool copy_value(const char *p, const char *end, char *out, size_t room)
{
    size_t length = 0;
    char quote = p < end && (*p == '"' || *p == '\'') ? *p : '\0';

    if (p == end || *p == '[' || *p == '{')
        return false;
    for (p += quote != '\0'; p < end && (quote ? *p != quote : *p != '#'); p++)
        if (length < room - 1)
            out[length++] = *p;
    while (!quote && length > 0 && isspace((unsigned char)out[length - 1]))
        length--;
    out[length] = '\0';
    return length > 0;
}

static void read_line(struct titan *t, const struct hm_line *line, char *section, size_t room)
{
    const char *p = line->text, *end = p + line->length;
    char key[64], value[128];
    size_t length = 0;

    while (p < end && isspace((unsigned char)*p))
        p++;
    if (p < end && *p == '[') {
        while (p < end && *p == '[')
            p++;
        while (p < end && *p != ']' && length < room - 1)
            section[length++] = *p++;
        section[length] = '\0';
        return;
    }
    while (p < end && (isalnum((unsigned char)*p) || strchr("_-.", *p)) && length < sizeof(key) - 1)
        key[length++] = *p++;
    key[length] = '\0';
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (length == 0 || p == end || *p++ != '=')
        return;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (copy_value(p, end, value, sizeof(value)))
        set_key(t, section, key, value);
}

static int titan_read(struct hm_imported *im, struct hm_err *err)
{
    struct titan t = {.keys = 0};
    struct hm_line line;
    char section[64] = "";

    (void)err;
    hm__launch_init(&t.launch);
    hm__json_put_text(&im->facts, "format", "torchtitan config");
    while (hm__stream_line(&im->in, &line))
        read_line(&t, &line, section, sizeof(section));
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
        if (strcmp(networks[i].name, t.name) == 0 && strcmp(networks[i].flavor, t.flavor) == 0)
            t.launch.network = networks[i].network;
    hm__json_put_text(&im->facts, "model", t.name[0] ? t.name : NULL);
    hm__json_put_text(&im->facts, "flavor", t.flavor[0] ? t.flavor : NULL);
    t.launch.sharded = t.launch.numbers[LAUNCH_SHARD] != 1;
    t.launch.used += (t.name[0] != 0) + (t.flavor[0] != 0);
    if (!t.launch.network)
        hm__import_note(im, "the model '%.47s' of flavor '%.47s' is not in the catalog", t.name,
                        t.flavor);
    hm__import_left(im, t.other, "other settings");
    hm__launch_finish(im, &t.launch);
    return 0;
}

static int titan_recognise(const struct hm_import_head *head)
{
    static const char *const sections[] = {"[model]", "[training]", "[parallelism]",
                                           "[activation_checkpoint]", "[job]"};
    int found = 0;

    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        found += hm__find(head->text, head->length, sections[i]) != NULL;
    return found >= 3 && hm__find(head->text, head->length, "flavor") ? 85 : found >= 3 ? 40 : 0;
}

const struct hm_importer hm__importer_torchtitan_config = {
    .name = "torchtitan-config",
    .title = "configuration of torchtitan",
    .becomes = "a job",
    .recognise = titan_recognise,
    .read = titan_read,
};
