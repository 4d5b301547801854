/* Reads tables of measured training steps of large networks; see read_large.h. */
#include "read_large.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "csv.h"
#include "embedded.h"
#include "err.h"
#include "memory.h"
#include "names.h"
#include "text.h"

/* Largest number of rows in a table of measured steps. */
enum { ROWS_MOST = 4096 };

/* Kinds of columns: the allowed values, and how they are stored. */
enum large_column_kind {
    COLUMN_TEXT,
    COLUMN_NUMBER,    /* The cells hold a number >= 0. */
    COLUMN_UNKNOWN,   /* The cells hold a number > 0, or are empty if the number is unknown. */
    COLUMN_GBIT,      /* Like COLUMN_UNKNOWN, but in Gbit/s. */
    COLUMN_GIB,       /* Like COLUMN_UNKNOWN, but in GiB. */
    COLUMN_FLAG,      /* The cells hold 0 or 1. */
    COLUMN_CHOICE,    /* The cells hold one of the words in `choices`. */
    COLUMN_RECOMPUTE, /* The cells hold one of the words in `choices`, or are empty if the word is
                         unknown. */
    COLUMN_FLAGS,     /* The cells hold words of `choices`, joined by +. */
    COLUMN_SLASHES,   /* The cells hold numbers joined by slashes, which are stored in consecutive
                         members. */
    COLUMN_AXES,      /* The cells hold lengths joined by x, or are empty. */
};

struct column {
    const char *name;
    enum large_column_kind kind;
    size_t offset;
    const char *const *choices;
    /*
     * Number of numbers in a cell for COLUMN_SLASHES, and largest number of them for COLUMN_AXES.
     */
    int count;
};

static const char *const outcomes[] = {"ran", "oom", "failed", "timed", NULL};

#define AT(member) offsetof(struct hm_large_row, member)

static const struct column columns[] = {
    {"source", COLUMN_TEXT, AT(source), NULL, 0},
    {"model", COLUMN_TEXT, AT(model), NULL, 0},
    {"device", COLUMN_TEXT, AT(device), NULL, 0},
    {"layers", COLUMN_NUMBER, AT(network.layers), NULL, 0},
    {"hidden", COLUMN_NUMBER, AT(network.hidden), NULL, 0},
    {"ffn", COLUMN_NUMBER, AT(network.ffn), NULL, 0},
    {"heads", COLUMN_NUMBER, AT(network.heads), NULL, 0},
    {"kv_heads", COLUMN_NUMBER, AT(network.kv_heads), NULL, 0},
    {"head_dim", COLUMN_NUMBER, AT(network.head_dim), NULL, 0},
    {"vocabulary", COLUMN_NUMBER, AT(network.vocabulary), NULL, 0},
    {"gated", COLUMN_FLAG, AT(network.gated), NULL, 0},
    {"tied", COLUMN_FLAG, AT(network.tied), NULL, 0},
    {"experts", COLUMN_NUMBER, AT(network.experts), NULL, 0},
    {"experts_per_token", COLUMN_NUMBER, AT(network.experts_per_token), NULL, 0},
    {"expert_ffn", COLUMN_NUMBER, AT(network.expert_ffn), NULL, 0},
    {"shared_ffn", COLUMN_NUMBER, AT(network.shared_ffn), NULL, 0},
    {"dense_layers", COLUMN_NUMBER, AT(network.dense_layers), NULL, 0},
    {"latent", COLUMN_SLASHES, AT(network.latent), NULL, 5},
    {"sequence", COLUMN_NUMBER, AT(work.sequence), NULL, 0},
    {"per_node", COLUMN_NUMBER, AT(per_node), NULL, 0},
    {"torus", COLUMN_AXES, AT(torus), NULL, HM_TORUS_AXES},
    {"network_gbit", COLUMN_GBIT, AT(network_bytes_per_s), NULL, 0},
    {"tensor", COLUMN_NUMBER, AT(layout.tensor), NULL, 0},
    {"pipeline", COLUMN_NUMBER, AT(layout.pipeline), NULL, 0},
    {"interleave", COLUMN_NUMBER, AT(layout.interleave), NULL, 0},
    {"context", COLUMN_NUMBER, AT(layout.context), NULL, 0},
    {"expert", COLUMN_NUMBER, AT(layout.expert), NULL, 0},
    {"data", COLUMN_NUMBER, AT(layout.data), NULL, 0},
    {"micro_batch", COLUMN_NUMBER, AT(layout.micro_batch), NULL, 0},
    {"batch", COLUMN_NUMBER, AT(work.batch), NULL, 0},
    {"zero", COLUMN_NUMBER, AT(layout.zero), NULL, 0},
    {"shard_in_node", COLUMN_FLAG, AT(layout.shard_in_node), NULL, 0},
    {"sequence_parallel", COLUMN_FLAG, AT(layout.sequence_parallel), NULL, 0},
    {"recompute", COLUMN_RECOMPUTE, AT(layout.recompute), hm__recompute_names, 0},
    {"precision", COLUMN_CHOICE, AT(work.precision), hm__number_format_names, 0},
    {"attention", COLUMN_CHOICE, AT(work.attention), hm__attention_names, 0},
    {"software", COLUMN_CHOICE, AT(work.software), hm__software_names, 0},
    {"overlap", COLUMN_FLAGS, 0, NULL, 0},
    {"send_bytes", COLUMN_NUMBER, AT(work.send_bytes), NULL, 0},
    {"state_bytes", COLUMN_SLASHES, AT(work.weight_bytes), NULL, 3},
    {"time_s", COLUMN_UNKNOWN, AT(time_s), NULL, 0},
    {"memory_gib", COLUMN_GIB, AT(memory_bytes), NULL, 0},
    {"outcome", COLUMN_CHOICE, AT(outcome), outcomes, 0},
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const struct {
    const char *name;
    size_t offset;
} flags[] = {
    {"loss", AT(work.fused_loss)},           {"data", AT(work.overlap_data)},
    {"gather", AT(work.overlap_gather)},     {"tensor", AT(work.overlap_tensor)},
    {"pipeline", AT(work.overlap_pipeline)}, {"split", AT(work.split_messages)},
    {"head", AT(work.weigh_head)},           {"graphs", AT(work.graphs)},
    {"dropout", AT(work.dropout)},           {"broadcast", AT(work.broadcast)},
    {"sum", AT(work.separate_sum)},          {"gate", AT(work.fused_gate)},
    {"shard", AT(work.shard_gradients)},     {"expert", AT(work.overlap_expert)},
};

static int column_fail(const struct hm_csv *csv, const struct column *column, const char *text,
                       const char *wanted, struct hm_err *err)
{
    hm__fail(err, HM_E_RANGE, "'%.40s' is not %s", text, wanted);
    hm__err_field(err, column->name);
    hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    return HM_E_RANGE;
}

/* Reads a number >= 0 up to `end`; returns NaN if the text is something else. */
static double read_number(const char *text, char end, const char **ret_rest)
{
    double value = 0;
    size_t used = hm__number_read(text, &value);

    *ret_rest = text + used;
    return used == 0 || (text[used] != end && text[used] != '\0') || !isfinite(value) ? (double)NAN
                                                                                      : value;
}

static bool read_slashes(const char *text, double *values, int count)
{
    for (int i = 0; *text && i < count; i++) {
        values[i] = read_number(text, '/', &text);
        if (isnan(values[i]) || (*text == '/') != (i + 1 < count))
            return false;
        text += *text == '/';
    }
    return *text == '\0';
}

/* Reads the axes of a torus, such as 16x16 or 8x8x4. */
static bool read_axes(const char *text, double *values, int count)
{
    for (int i = 0; *text && i < count; i++) {
        values[i] = read_number(text, 'x', &text);
        if (!(values[i] >= 1) || (*text == 'x' && (text[1] == '\0' || i + 1 == count)))
            return false;
        text += *text == 'x';
    }
    return *text == '\0';
}

/* Reads words joined by +; the word `all` means everything that overlaps. */
static bool read_flags(const char *text, char *row)
{
    static const char all[] = "all";

    while (*text) {
        size_t length = strcspn(text, "+"), i = 0;
        if (length == sizeof(all) - 1 && strncmp(text, all, length) == 0) {
            read_flags("data+gather+tensor+pipeline+split", row);
            text += length + (text[length] == '+');
            continue;
        }
        while (i < sizeof(flags) / sizeof(flags[0]) &&
               (strlen(flags[i].name) != length || strncmp(flags[i].name, text, length) != 0))
            i++;
        if (i == sizeof(flags) / sizeof(flags[0]))
            return false;
        memcpy(row + flags[i].offset, &(bool){true}, sizeof(bool));
        text += length + (text[length] == '+');
    }
    return true;
}

static int find_word(const char *const *words, const char *text)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static int read_cell(const struct hm_csv *csv, const struct column *column, const char *text,
                     struct hm_arena *arena, struct hm_large_row *row, struct hm_err *err)
{
    char *base = (char *)row;
    double *number = (void *)(base + column->offset);
    const char *rest;
    int word;

    switch (column->kind) {
    case COLUMN_TEXT:
        if (!(*(const char **)(void *)(base + column->offset) = hm__arena_strdup(arena, text)))
            return hm__fail_nomem(err);
        return 0;
    case COLUMN_FLAGS:
        return read_flags(text, base) ? 0 : column_fail(csv, column, text, "known words", err);
    case COLUMN_SLASHES:
        return read_slashes(text, number, column->count)
                   ? 0
                   : column_fail(csv, column, text, "numbers joined by slashes", err);
    case COLUMN_AXES:
        return read_axes(text, number, column->count)
                   ? 0
                   : column_fail(csv, column, text, "up to three lengths joined by x", err);
    case COLUMN_RECOMPUTE:
        row->recompute_unknown = *text == '\0';
        text = *text ? text : column->choices[0];
        /* fall through */
    case COLUMN_CHOICE:
        if ((word = find_word(column->choices, text)) < 0)
            return column_fail(csv, column, text, "a known word", err);
        memcpy(base + column->offset, &word, sizeof(word));
        return 0;
    default:
        break;
    }
    bool unknown = *text == '\0' && column->kind >= COLUMN_UNKNOWN && column->kind <= COLUMN_GIB;
    double value = unknown ? (double)NAN : read_number(text, '\0', &rest);
    if (!unknown && isnan(value))
        return column_fail(csv, column, text, "a number of at least 0", err);
    if (column->kind == COLUMN_FLAG)
        *(bool *)(base + column->offset) = value > 0;
    else
        *number = value * (column->kind == COLUMN_GBIT  ? 1e9 / 8
                           : column->kind == COLUMN_GIB ? 1073741824.0
                                                        : 1);
    return 0;
}

/* Finds the accelerator of a row in the built-in catalog. If the previous row has the same
 * accelerator, its result is reused. */
static int find_device(const struct hm_catalog *catalog, struct hm_large_row *row,
                       const struct hm_large_row *before, struct hm_err *err)
{
    struct hm_cluster *cluster;

    if (before && strcmp(before->device, row->device) == 0) {
        row->node = before->node;
        return 0;
    }
    int rc = hm_catalog_machine(catalog, row->device, &cluster, err);
    if (rc) {
        hm__err_field(err, "device");
        return rc;
    }
    row->node = cluster->node;
    hm_cluster_free(cluster);
    return 0;
}

static int read_row(const struct hm_csv *csv, char **fields, const int *indices,
                    struct hm_arena *arena, struct hm_large_row *row, struct hm_err *err)
{
    int rc = 0;

    hm_transformer_init(&row->network);
    row->work.trained = 1;
    for (int i = 0; rc == 0 && i < COLUMNS; i++)
        rc = read_cell(csv, &columns[i], fields[indices[i]], arena, row, err);
    row->work.network = &row->network;
    if (rc == 0 && (rc = hm__transformer_check(&row->network, err)))
        hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
    return rc;
}

static int read_rows(struct hm_csv *csv, const struct hm_catalog *catalog, struct hm_arena *arena,
                     struct hm_large_rows *rows, struct hm_err *err)
{
    int indices[COLUMNS], rc = 0;
    char **fields;

    for (int i = 0; rc == 0 && i < COLUMNS; i++)
        rc = hm__csv_need(csv, columns[i].name, &indices[i], err);
    if (rc)
        return rc;
    rows->rows = hm__arena_alloc(arena, ROWS_MOST, sizeof(*rows->rows));
    if (!rows->rows)
        return hm__fail_nomem(err);
    while ((rc = hm__csv_next(csv, &fields, err)) > 0) {
        if (rows->count == ROWS_MOST)
            return hm__fail(err, HM_E_LIMIT, "more than %d rows", ROWS_MOST);
        struct hm_large_row *row = &rows->rows[rows->count];
        if ((rc = read_row(csv, fields, indices, arena, row, err)))
            return rc;
        if ((rc = find_device(catalog, row, rows->count > 0 ? row - 1 : NULL, err))) {
            hm__err_at(err, hm__csv_source(csv), hm__csv_line(csv));
            return rc;
        }
        rows->count++;
    }
    return rc;
}

int hm__large_rows_parse(const char *text, size_t length, const char *source,
                         struct hm_large_rows **ret_rows, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_large_rows *rows = arena ? hm__arena_alloc(arena, 1, sizeof(*rows)) : NULL;
    struct hm_catalog *catalog = NULL;
    struct hm_csv *csv = NULL;
    int rc = rows ? hm__csv_parse(text, length, source, 0, &csv, err) : hm__fail_nomem(err);

    if (rc == 0)
        rc = hm_catalog_new(&catalog, err);
    if (rc == 0)
        rc = read_rows(csv, catalog, arena, rows, err);
    hm_catalog_free(catalog);
    hm__csv_close(csv);
    if (rc) {
        hm__arena_free(arena);
        return rc;
    }
    rows->memory = arena;
    *ret_rows = rows;
    return 0;
}

int hm__large_rows_built_in(struct hm_large_rows **ret_rows, struct hm_err *err)
{
    const struct hm_embedded *file = hm__data_file("large.csv");

    return hm__large_rows_parse(file->text, file->length, file->name, ret_rows, err);
}
