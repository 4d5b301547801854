/*
 * Reads the header of a .safetensors file, or the index of a model that is stored in several files
 * (model.safetensors.index.json, pytorch_model.bin.index.json). Weights are never read.
 *
 * An index states only the total number of bytes in all tensors. It is divided by the size of one
 * parameter, which follows from the data type in config.json in the same folder. The resulting
 * number of parameters may include buffers, and tied weights that are stored twice.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "hash.h"
#include "import.h"
#include "importers.h"
#include "pull.h"
#include "whole.h"

/* ---- the header of a file -------------------------------------------------------------------- */

enum { DTYPES = 24 };

struct header_state {
    struct { /* Number of elements of each data type, in order of first occurrence. */
        char name[16];
        double elements;
    } types[DTYPES];
    size_t type_count;
    double tensors, elements, data_end, largest;
    /* Name of the tensor with the most elements, in the arena; NULL before the first tensor. */
    char *largest_name;
    double wrong; /* Number of tensors whose shape does not agree with their number of bytes. */
    struct hm_text metadata;
};

static double type_bytes(const char *type)
{
    static const struct {
        const char *name;
        double bytes;
    } widths[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2},    {"I64", 8},
                  {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U8", 1},      {"BOOL", 1},
                  {"U16", 2}, {"U32", 4}, {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};

    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++)
        if (strcmp(widths[i].name, type) == 0)
            return widths[i].bytes;
    return NAN;
}

static void count_type(struct header_state *s, const char *type, double elements)
{
    size_t i = 0;

    while (i < s->type_count && strcmp(s->types[i].name, type) != 0)
        i++;
    if (i == DTYPES)
        return;
    if (i == s->type_count)
        snprintf(s->types[s->type_count++].name, sizeof(s->types[0].name), "%.15s", type);
    s->types[i].elements += elements;
}

/* Reads the description of one tensor: {"dtype": …, "shape": […], "data_offsets": [a, b]}. */
static void read_tensor(struct hm_pull *p, struct header_state *s, struct hm_imported *im,
                        const char *name)
{
    double elements = 1, begin = NAN, end = NAN;
    char type[16] = "";

    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "dtype")) {
            if (hm__pull_next(p) == HM_PULL_TEXT)
                snprintf(type, sizeof(type), "%.15s", p->text);
        } else if (hm__pull_is(p, "shape") && hm__pull_enter(p, HM_PULL_LIST)) {
            double value;
            while (hm__pull_next(p) == HM_PULL_NUMBER)
                elements *= hm__number_read(p->text, &value) > 0 ? value : NAN;
        } else if (hm__pull_is(p, "data_offsets") && hm__pull_enter(p, HM_PULL_LIST)) {
            begin = hm__pull_number(p);
            end = hm__pull_number(p);
            hm__pull_next(p);
        } else {
            hm__pull_skip(p);
        }
    }
    if (p->failed)
        return;
    double width = type_bytes(type);
    s->tensors++;
    s->elements += elements;
    count_type(s, type, elements);
    if (end > s->data_end)
        s->data_end = end;
    s->wrong += !isnan(width) && !(elements * width == end - begin);
    if (elements > s->largest || !s->largest_name) {
        s->largest = elements;
        s->largest_name = hm__arena_strdup(im->arena, name);
    }
}

/* Reads the member __metadata__ of the header, a map of strings, which may be null. */
static void read_metadata(struct hm_pull *p, struct header_state *s, struct hm_arena *arena)
{
    struct hm_json json = {.out = &s->metadata};

    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    while (hm__pull_key(p)) {
        char key[128];
        snprintf(key, sizeof(key), "%.127s", p->text);
        hm__json_put_text(&json, key, hm__pull_text(p, arena));
    }
    hm__json_close(&json);
}

static void header_facts(struct hm_imported *im, const struct header_state *s, double header,
                         double file)
{
    struct hm_json *j = &im->facts;

    hm__fact_count(im, "header_bytes", (int64_t)header);
    hm__fact_count(im, "file_bytes", (int64_t)file);
    hm__fact_whole(im, "data_bytes", s->data_end);
    hm__json_put_bool(j, "covers_file", 8 + header + s->data_end == file);
    hm__fact_count(im, "tensors", (int64_t)s->tensors);
    hm__fact_whole(im, "elements", s->elements);
    hm__json_open(j, "elements_by_dtype", HM_JSON_OBJECT);
    for (size_t i = 0; i < s->type_count; i++)
        hm__fact_whole(im, s->types[i].name, s->types[i].elements);
    hm__json_close(j);
    if (s->metadata.length)
        hm__json_put_raw(j, "metadata", s->metadata.data);
    else
        hm__json_put_null(j, "metadata");
    hm__json_put_text(j, "largest", s->largest_name);
}

/* Reads the JSON text of the header, which has at most `length` bytes. */
static int read_header(struct hm_imported *im, struct header_state *s, uint64_t length,
                       struct hm_err *err)
{
    struct hm_pull pull;
    int rc = hm__pull_init(&pull, &im->in, err);
    uint64_t end = 8 + length;

    if (rc)
        return rc;
    if (hm__pull_enter(&pull, HM_PULL_OBJECT)) {
        while (hm__pull_key(&pull)) {
            if (hm__pull_is(&pull, "__metadata__")) {
                read_metadata(&pull, s, im->arena);
                continue;
            }
            const char *name = hm__arena_strdup(im->arena, pull.text);
            if (!name)
                im->failed = true;
            read_tensor(&pull, s, im, name ? name : "");
        }
    }
    if (pull.failed || hm__stream_offset(&im->in) > end)
        hm__import_cut(im);
    hm__pull_release(&pull);
    return 0;
}

static uint64_t read_length(const char *text)
{
    uint64_t length = 0;

    for (size_t i = 8; i-- > 0;)
        length = length << 8 | (unsigned char)text[i];
    return length;
}

/* Largest number of bytes in a header that the safetensors library accepts. */
enum { HEADER_MOST = 100000000 };

static int safetensors_read(struct hm_imported *im, struct hm_err *err)
{
    struct header_state s = {0};
    struct hm_stream *in = &im->in;

    hm__json_put_text(&im->facts, "format", "safetensors");
    if (hm__stream_peek(in, 9) < 9) {
        hm__import_cut(im);
        return 0;
    }
    uint64_t length = read_length(in->buffer + in->at);
    if (length > HEADER_MOST || in->buffer[in->at + 8] != '{')
        return hm__fail(err, HM_E_RANGE, "a header of %" PRIu64 " bytes is more than %d", length,
                        HEADER_MOST);
    in->at += 8;
    int rc = read_header(im, &s, length, err);
    if (rc == 0) {
        double at = (double)hm__stream_offset(in);
        double rest = (double)hm__stream_skip(in, (uint64_t)1 << 60);
        if (!im->partial && at + rest < 8 + (double)length + s.data_end)
            hm__import_cut(im);
        header_facts(im, &s, (double)length, at + rest);
        hm__import_took(im, s.elements, "elements of %.0f tensors", s.tensors);
        hm__import_left(im, s.data_end, "bytes of weights, which are not read");
        if (s.wrong > 0)
            hm__import_note(im, "%.0f tensors have bytes that do not agree with their shape",
                            s.wrong);
    }
    im->failed |= s.metadata.failed;
    hm__text_release(&s.metadata);
    return rc;
}

static int safetensors_recognise(const struct hm_import_head *head)
{
    if (head->length < 10 || head->text[8] != '{' || head->text[7] || head->text[6])
        return 0;
    return hm__find(head->text + 8, head->length - 8, "\"data_offsets\"") ||
                   hm__find(head->text + 8, head->length - 8, "__metadata__")
               ? 95
               : 55;
}

const struct hm_importer hm__importer_safetensors = {
    .name = "safetensors",
    .title = "safetensors file",
    .becomes = "the number of parameters",
    .recognise = safetensors_recognise,
    .read = safetensors_read,
};

/* ---- the index of several files -------------------------------------------------------------- */

enum { SHARDS = 4096, SHARD_SLOTS = 4 * SHARDS, BUFFERS_SHOWN = 3 };

struct index_state {
    /* Total number of bytes and number of parameters according to the index; NaN if not given. */
    double bytes, stated_parameters;
    bool bytes_float;
    double tensors, quantisation;
    /*
     * Hash table of the weight files that have been seen, at most SHARDS: the hash of a file's
     * name, or 0 if the slot is free. An array of SHARD_SLOTS elements in the arena.
     */
    uint64_t *shards;
    size_t shard_count;
    struct hm_hash_key key; /* Key of the hash table. */
    /* Number of layers, computed as 1 + the largest layer number in the names of tensors. */
    double layers;
    /* Names of tensors that are buffers instead of parameters, in the arena. */
    const char **buffers;
    size_t buffer_count, buffer_room;
};

static void count_shard(struct index_state *s, const char *name)
{
    uint64_t hash = hm__hash_text(&s->key, name);
    size_t at = (size_t)hash % SHARD_SLOTS;

    hash = hash ? hash : 1;
    while (s->shards[at] && s->shards[at] != hash)
        at = (at + 1) % SHARD_SLOTS;
    if (s->shards[at] || s->shard_count == SHARDS)
        return;
    s->shards[at] = hash;
    s->shard_count++;
}

/* Returns the layer number in a name such as "model.layers.12.mlp"; -1 if there is none. */
static double layer_of(const char *name)
{
    for (const char *p = name; (p = strchr(p, '.')); p++) {
        size_t digits = strspn(p + 1, "0123456789");
        double value;
        if (digits > 0 && digits < 7 && p[1 + digits] == '.' && hm__number_read(p + 1, &value))
            return value;
    }
    return -1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);

    return a >= b && strcmp(text + a - b, end) == 0;
}

/*
 * Returns whether the name of a tensor shows that it is a buffer, such as a mask, a table of rotary
 * frequencies or a list of position numbers.
 */
static bool is_buffer(const char *name)
{
    return ends_with(name, "inv_freq") || ends_with(name, "masked_bias") ||
           ends_with(name, ".attention.bias") || ends_with(name, ".attn.bias") ||
           ends_with(name, "attn.masked_bias") || ends_with(name, "position_ids") ||
           ends_with(name, "ln_attn.bias");
}

static bool is_quantisation(const char *name)
{
    return ends_with(name, ".scales") || ends_with(name, ".biases") ||
           ends_with(name, ".qweight") || ends_with(name, ".qzeros") || ends_with(name, ".g_idx") ||
           ends_with(name, "_scale_inv");
}

static void read_weight_map(struct hm_pull *p, struct index_state *s, struct hm_imported *im)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        double layer = layer_of(p->text);
        s->tensors++;
        s->quantisation += is_quantisation(p->text);
        if (layer >= s->layers)
            s->layers = layer + 1;
        if (is_buffer(p->text)) {
            const char **more = hm__arena_grow(im->arena, s->buffers, s->buffer_count,
                                               &s->buffer_room, sizeof(*more));
            if (!more) {
                im->failed = true;
                return;
            }
            s->buffers = more;
            s->buffers[s->buffer_count++] = hm__arena_strdup(im->arena, p->text);
        }
        if (hm__pull_next(p) == HM_PULL_TEXT)
            count_shard(s, p->text);
        else if (p->keyed)
            hm__pull_skip(p);
    }
}

static void read_totals(struct hm_pull *p, struct index_state *s)
{
    if (!hm__pull_enter(p, HM_PULL_OBJECT))
        return;
    while (hm__pull_key(p)) {
        if (hm__pull_is(p, "total_size")) {
            s->bytes = hm__pull_number(p);
            s->bytes_float = strpbrk(p->text, ".eE") != NULL;
        } else if (hm__pull_is(p, "total_parameters")) {
            s->stated_parameters = hm__pull_number(p);
        } else {
            hm__pull_skip(p);
        }
    }
}

/*
 * Returns the number of bytes in one parameter, from the data type in config.json in the same
 * folder; NaN if unknown.
 */
static double sibling_width(struct hm_imported *im)
{
    const char *text = hm__sibling_text(im, "config.json");
    const char *key = text ? strstr(text, "dtype\"") : NULL;

    if (!key)
        return NAN;
    size_t left = strnlen(key, 40);
    return hm__find(key, left, "float32")                                      ? 4
           : hm__find(key, left, "float16") || hm__find(key, left, "bfloat16") ? 2
                                                                               : NAN;
}

/*
 * Sorts the names of buffers so that the first BUFFERS_SHOWN names, which are printed, do not
 * depend on the order in the index.
 */
static void sort_first(const char **names, size_t count)
{
    for (size_t i = 0; i < count && i < BUFFERS_SHOWN; i++)
        for (size_t k = i + 1; k < count; k++)
            if (strcmp(names[k], names[i]) < 0) {
                const char *other = names[i];
                names[i] = names[k];
                names[k] = other;
            }
}

static void index_facts(struct hm_imported *im, struct index_state *s, bool text_after)
{
    struct hm_json *j = &im->facts;
    bool known = s->bytes >= 0 && s->bytes < 9e15;

    hm__fact_count(im, "bytes_total", known ? (int64_t)s->bytes : -1);
    hm__json_put_bool(j, "total_size_is_float", s->bytes_float);
    hm__fact_count(im, "total_parameters_field",
                   s->stated_parameters >= 0 && s->stated_parameters <= 9e15
                       ? (int64_t)s->stated_parameters
                       : -1);
    hm__fact_count(im, "parameters_if_2_bytes", known ? (int64_t)(s->bytes / 2) : -1);
    hm__fact_count(im, "parameters_if_4_bytes", known ? (int64_t)(s->bytes / 4) : -1);
    hm__fact_count(im, "tensors", (int64_t)s->tensors);
    hm__fact_count(im, "shards", (int64_t)s->shard_count);
    hm__fact_count(im, "layers_seen", (int64_t)s->layers);
    hm__json_put_bool(j, "text_after_json", text_after);
    sort_first(s->buffers, s->buffer_count);
    hm__json_put_texts(j, "buffers", s->buffers,
                       s->buffer_count < BUFFERS_SHOWN ? s->buffer_count : BUFFERS_SHOWN);
    hm__fact_count(im, "buffer_tensors", (int64_t)s->buffer_count);
    hm__fact_count(im, "quantisation_tensors", (int64_t)s->quantisation);
}

static void index_say(struct hm_imported *im, const struct index_state *s)
{
    double width = hm__import_given(im, "bytes");

    if (isnan(width))
        width = sibling_width(im);
    hm__import_took(im, s->tensors, "tensors in %zu files", s->shard_count);
    if (s->quantisation > 0)
        hm__import_note(im, "the weights are quantised, so that their bytes do not say how many "
                            "there are");
    else if (!isnan(s->bytes) && !isnan(width))
        hm__import_took(im, floor(s->bytes / width), "parameters, of %.0f bytes each", width);
    else if (!isnan(s->bytes))
        hm__import_note(im, "the bytes of a parameter are not in the file: set bytes=2, or put "
                            "config.json next to it");
    if (s->buffer_count > 0)
        hm__import_note(im, "%zu tensors are buffers, whose bytes are in the total",
                        s->buffer_count);
}

static int index_read(struct hm_imported *im, struct hm_err *err)
{
    struct index_state s = {.bytes = NAN, .stated_parameters = NAN};
    struct hm_pull pull;
    int rc = hm__pull_init(&pull, &im->in, err);

    hm__json_put_text(&im->facts, "format", "safetensors/bin index");
    hm__hash_begin(&s.key);
    s.shards = hm__arena_alloc(im->arena, SHARD_SLOTS, sizeof(*s.shards));
    if (rc == 0 && !s.shards) {
        hm__pull_release(&pull);
        rc = hm__fail_nomem(err);
    }
    if (rc)
        return rc;
    if (hm__pull_enter(&pull, HM_PULL_OBJECT)) {
        while (hm__pull_key(&pull)) {
            if (hm__pull_is(&pull, "metadata"))
                read_totals(&pull, &s);
            else if (hm__pull_is(&pull, "weight_map"))
                read_weight_map(&pull, &s, im);
            else
                hm__pull_skip(&pull);
        }
    }
    if (pull.failed)
        hm__import_cut(im);
    bool text_after = !pull.failed && hm__pull_next(&pull) != HM_PULL_END;
    hm__pull_release(&pull);
    if (!im->failed) {
        index_facts(im, &s, text_after);
        index_say(im, &s);
    }
    return 0;
}

static int index_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    return *p == '{' && hm__find(head->text, head->length, "\"weight_map\"") ? 95 : 0;
}

const struct hm_importer hm__importer_weight_index = {
    .name = "weight-index",
    .title = "index of weight files",
    .becomes = "the number of parameters",
    .recognise = index_recognise,
    .read = index_read,
};
