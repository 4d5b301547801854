/*
 * Reads summaries of networks. torchinfo and torchsummary print a table with one row for each
 * module and totals below it:
 *
 *     Layer (type:depth-idx)        Output Shape         Param #
 *     ├─Conv2d: 1-1                 [1, 64, 112, 112]    9,408
 *     Total params: 25,557,032
 *     Trainable params: 25,557,032
 *     Total mult-adds (G): 4.09
 *
 * The header names the columns; each row has one cell for each column. A row is a layer if the row
 * after it is not deeper in the tree of modules.
 *
 * For a linear layer that is applied to every position of a sequence, torchinfo counts the
 * multiply-adds of one position only, and it does not count attention. Therefore, multiply-adds are
 * computed here from the parameters and shapes of the rows. The printed total is used only if the
 * table does not show all layers and the layers process images, for which torchinfo counts
 * correctly. `summary()` of Keras prints the totals of parameters in the same way.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "importers.h"
#include "text.h"

enum { KINDS = 64, RANK = 6 };

/* Kinds of columns in the printed table. */
enum column { COLUMN_INPUT, COLUMN_OUTPUT, COLUMN_PARAMETERS, COLUMN_OTHER };
enum { COLUMNS = 10 };

/* One row of the printed table. */
struct row {
    char name[40]; /* Class of the module that this row describes. */
    double depth;  /* Depth of the module in the tree of modules; 0 if the table has no depths. */
    double parameters; /* Number of parameters in the module; NaN if the cell has no number. */
    double dims[RANK]; /* Output shape of the module; an unknown size counts as 1. */
    int rank;          /* Number of dimensions of the output shape; 0 if the row has no shape. */
    /* Size of the last dimension of the input shape; NaN if the table has no input shapes. */
    double width;
};

struct summary {
    struct hm_imported *im;
    double total, trainable, macs, batch, layers, own_macs;
    /* Kinds of the columns after the name of the layer, in the order of the header. */
    enum column columns[COLUMNS];
    size_t column_count;
    /* The previous row, which is counted as a layer only if the next row is not deeper. */
    struct row last;
    bool has_last;
    struct row attention; /* The innermost attention module that contains the last row. */
    bool has_attention;
    /*
     * Number of rows with parameters whose inner layers the table does not show, and number of
     * these rows that process sequences.
     */
    double hidden, hidden_sequences;
    struct {
        char name[40];
        double count, parameters;
    } kinds[KINDS];
    size_t kind_count;
};

/* Reads a number with commas between digits; returns the number of bytes that were read. */
static size_t read_grouped(const char *text, double *ret_number)
{
    char digits[40];
    size_t used = 0, length = 0;

    while (length < sizeof(digits) - 1 &&
           (isdigit((unsigned char)text[used]) || text[used] == '.' ||
            (text[used] == ',' && isdigit((unsigned char)text[used + 1]) && length > 0))) {
        if (text[used] != ',')
            digits[length++] = text[used];
        used++;
    }
    digits[length] = '\0';
    return length > 0 && hm__number_read(digits, ret_number) == length ? used : 0;
}

/*
 * Reads the number after a label such as "Total params:"; returns NaN if the line has another
 * label.
 */
static double after_label(const char *line, const char *label)
{
    const char *at = strstr(line, label);
    double number;

    if (!at)
        return NAN;
    at += strlen(label);
    at += strspn(at, " \t");
    return read_grouped(at, &number) > 0 ? number : NAN;
}

/*
 * Reads a total such as "Total mult-adds (G): 4.09"; the unit is K, M, G, T or a name such as
 * Units.GIGABYTES.
 */
static double read_macs(const char *line)
{
    const char *at = strstr(line, "Total mult-adds"), *colon = at ? strchr(at, ':') : NULL;
    double number, factor = 1;

    if (!colon)
        return NAN;
    const char *unit = strchr(at, '(');
    if (unit && unit < colon) {
        const char *dot = strchr(unit, '.');
        char letter = dot && dot < colon ? dot[1] : unit[1];
        factor = letter == 'K'                    ? 1e3
                 : letter == 'M'                  ? 1e6
                 : letter == 'G' || letter == 'B' ? 1e9
                 : letter == 'T'                  ? 1e12
                 : letter == ')' || letter == 'N' ? 1
                                                  : NAN;
    }
    colon += 1 + strspn(colon + 1, " \t");
    return read_grouped(colon, &number) > 0 ? number * factor : NAN;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Reads the names of the columns from the header of the table. */
static void read_header(struct summary *s, const char *line)
{
    static const struct {
        const char *name;
        enum column column;
    } names[] = {{"Input Shape", COLUMN_INPUT},  {"Output Shape", COLUMN_OUTPUT},
                 {"Param #", COLUMN_PARAMETERS}, {"Param %", COLUMN_OTHER},
                 {"Kernel Shape", COLUMN_OTHER}, {"Groups", COLUMN_OTHER},
                 {"Mult-Adds", COLUMN_OTHER},    {"Trainable", COLUMN_OTHER}};

    s->column_count = 0;
    for (const char *at = line; *at && s->column_count < COLUMNS; at++)
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            if (strncmp(at, names[i].name, strlen(names[i].name)) == 0)
                s->columns[s->column_count++] = names[i].column;
}

/*
 * Reads the class and the depth of a row such as "│    └─Conv2d (conv1): 2-1" or "Conv2d-1".
 * Returns a pointer to the text after them, or NULL if the line does not describe a module.
 */
static const char *read_class(const char *line, struct row *row)
{
    size_t length = 0;

    while (*line && !isalpha((unsigned char)*line) && *line != '\n')
        line++; /* Skip the characters that draw the tree of layers. */
    while (isalnum((unsigned char)line[length]) || line[length] == '_')
        length++;
    const char *end = line + length;
    /*
     * A class may be followed by the name of a variable in brackets, as in "Conv2d (conv1): 1-1".
     */
    if (*end == ' ' && end[1] == '(') {
        end = strchr(end, ')');
        if (!end)
            return NULL;
        end++;
    }
    bool info = *end == ':' && end[1] == ' ' && isdigit((unsigned char)end[2]);
    bool old = *end == '-' && isdigit((unsigned char)end[1]);
    if (length == 0 || length >= sizeof(row->name) || !(info || old))
        return NULL;
    snprintf(row->name, sizeof(row->name), "%.*s", (int)length, line);
    end += info ? 2 : 1;
    if (info)
        hm__number_read(end, &row->depth);
    return end + strcspn(end, " \t");
}

/*
 * Reads a shape such as "[1, 64, 112, 112]", in which -1 is an unknown size. Returns the number of
 * dimensions, or 0 if there is no shape.
 */
static int read_shape(const char *text, size_t length, double dims[RANK])
{
    const char *end = text + length;
    int rank = 0;

    for (const char *at = text + 1; at < end && rank < RANK; at++) {
        double size = 1;
        at += strspn(at, " ");
        bool unknown = at + 1 < end && at[0] == '-' && at[1] == '1';
        if (!unknown && hm__number_read(at, &size) == 0)
            break; /* The text is a list of shapes or a name instead of one shape. */
        dims[rank++] = size;
        at += strcspn(at, ",]");
        if (at >= end || *at == ']')
            return rank;
    }
    return 0;
}

/* Returns the length of a cell, which is a list in brackets or a word without spaces. */
static size_t cell_length(const char *text)
{
    size_t depth = 0, length = 0;

    for (; text[length] && (depth > 0 || (text[length] != ' ' && text[length] != '\t')); length++) {
        depth += text[length] == '[';
        depth -= text[length] == ']' && depth > 0;
    }
    return length;
}

static void read_cells(const struct summary *s, const char *text, struct row *row)
{
    for (size_t i = 0; i < s->column_count; i++) {
        text += strspn(text, " \t");
        size_t length = cell_length(text);
        if (s->columns[i] == COLUMN_OUTPUT && *text == '[')
            row->rank = read_shape(text, length, row->dims);
        if (s->columns[i] == COLUMN_INPUT && *text == '[') {
            double dims[RANK];
            int rank = read_shape(text, length, dims);
            row->width = rank > 0 ? dims[rank - 1] : NAN;
        }
        if (s->columns[i] == COLUMN_PARAMETERS)
            (void)read_grouped(text, &row->parameters);
        text += length;
    }
}

/* ---- multiply-adds --------------------------------------------------------------------------- */

static bool has_class(const struct row *row, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(row->name, *names) == 0)
            return true;
    return false;
}

static double row_product(const struct row *row, int from, int to)
{
    double product = 1;

    for (int i = from; i < to; i++)
        product *= row->dims[i];
    return product;
}

/* Returns the number of parameters in a layer, without biases. */
static double row_weights(const struct row *row)
{
    double out = row->dims[row->rank - 1];
    /* Number of weights of an attention module in which all projections have the same width. */
    double heads = 4 * out * out;

    if (strcmp(row->name, "MultiheadAttention") == 0)
        return row->parameters == heads + 4 * out ? heads : row->parameters;
    if (strstr(row->name, "Linear") && row->width >= 1)
        return row->width * out;
    if (strstr(row->name, "Linear") && row->parameters >= 2 * out)
        return row->parameters - out;
    return row->parameters;
}

/*
 * Returns the number of multiply-adds of a layer; NaN if its class is not known. Each weight is
 * used once for each position of the output: each point of an image, or each element of a sequence.
 */
static double layer_macs(const struct row *row)
{
    static const char *const images[] = {"Conv1d", "Conv2d", "Conv3d", NULL};
    static const char *const rows[] = {
        "Linear", "NonDynamicallyQuantizableLinear", "Conv1D", "LSTM", "GRU", "RNN", NULL};

    if (!(row->parameters > 0) || strstr(row->name, "Norm") || strstr(row->name, "Embedding") ||
        strcmp(row->name, "PReLU") == 0)
        return 0;
    if (has_class(row, images) && row->rank >= 3)
        return row->parameters * row->dims[0] * row_product(row, 2, row->rank);
    if ((has_class(row, rows) || strcmp(row->name, "MultiheadAttention") == 0) && row->rank >= 1)
        return row_weights(row) * row_product(row, 0, row->rank - 1);
    return NAN;
}

/*
 * Adds the multiply-adds of an attention module (queries with keys, and scores with values) whose
 * output has the shape [batch, length, width] or [length, batch, width].
 */
static void end_attention(struct summary *s)
{
    const struct row *row = &s->attention;

    if (s->has_attention && row->rank == 3) {
        double length =
            row->dims[0] == s->batch || row->dims[1] != s->batch ? row->dims[1] : row->dims[0];
        s->own_macs += 2 * row_product(row, 0, 3) * length;
    }
    s->has_attention = false;
}

/* Counts the last row if it is a layer; `next` is the depth of the row after it. */
static void end_row(struct summary *s, double next)
{
    const struct row *row = &s->last;
    bool leaf = next <= row->depth;

    if (!s->has_last)
        return;
    if (s->has_attention && row->depth <= s->attention.depth)
        end_attention(s);
    if (strstr(row->name, "Attention")) {
        s->attention = *row;
        s->has_attention = true;
    }
    if (!leaf)
        return;
    double macs = layer_macs(row);
    s->layers++;
    s->own_macs += isnan(macs) ? 0 : macs;
    s->hidden += isnan(macs);
    s->hidden_sequences += isnan(macs) && (row->rank == 3 || row->rank == 0);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void add_row(struct summary *s, const struct row *row)
{
    size_t i = 0;

    end_row(s, row->depth);
    s->last = *row;
    s->has_last = true;
    if (row->rank > 0 && isnan(s->batch))
        s->batch = row->dims[0];
    while (i < s->kind_count && strcmp(s->kinds[i].name, row->name) != 0)
        i++;
    if (i == KINDS)
        return;
    memcpy(s->kinds[i].name, row->name, sizeof(s->kinds[i].name));
    s->kinds[i].count++;
    s->kinds[i].parameters += isnan(row->parameters) ? 0 : row->parameters;
    s->kind_count += i == s->kind_count;
}

static void take_line(struct summary *s, const char *line)
{
    struct row row = {.parameters = NAN, .width = NAN};
    double number;

    if (strstr(line, "Layer (type") && strstr(line, "Param #")) {
        read_header(s, line);
        return;
    }
    if (!isnan(number = after_label(line, "Non-trainable params:")))
        return;
    if (!isnan(number = after_label(line, "Trainable params:"))) {
        s->trainable = number;
    } else if (!isnan(number = after_label(line, "Total params:"))) {
        s->total = number;
    } else if (!isnan(number = read_macs(line))) {
        s->macs = number;
    } else {
        const char *cells = read_class(line, &row);
        if (!cells)
            return;
        read_cells(s, cells, &row);
        add_row(s, &row);
    }
}

/*
 * Returns the number of multiply-adds for the batch in the printed shapes; NaN if the table hides
 * layers that are needed to compute it.
 */
static double choose_macs(struct summary *s)
{
    if (isnan(s->batch) || s->layers == 0)
        return s->macs;
    if (s->hidden == 0)
        return s->own_macs;
    if (s->hidden_sequences == 0)
        return s->macs;
    hm__import_left(s->im, s->hidden,
                    "rows whose layers are not shown: print the summary with depth=10, because "
                    "torchinfo's total leaves out attention and the length of sequences");
    return NAN;
}

static void put_summary(struct summary *s)
{
    struct hm_imported *im = s->im;
    struct hm_json *j = &im->facts;
    double batch = isnan(s->batch) ? 1 : s->batch, macs = choose_macs(s);

    hm__json_put_number(j, "layers", s->layers);
    hm__json_put_number(j, "parameters", s->total);
    hm__json_put_number(j, "trainable_parameters", s->trainable);
    hm__json_put_number(j, "batch", s->batch);
    hm__json_put_number(j, "forward_macs", macs);
    hm__json_put_number(j, "printed_macs", s->macs);
    hm__json_open(j, "rows_by_class", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < s->kind_count; i++) {
        hm__json_open(j, s->kinds[i].name, HM_JSON_OBJECT);
        hm__json_put_number(j, "count", s->kinds[i].count);
        hm__json_put_number(j, "parameters", s->kinds[i].parameters);
        hm__json_close(j);
    }
    hm__json_close(j);
    hm__import_took(im, s->layers, "layers");
    double parameters = isnan(s->trainable) ? s->total : s->trainable;
    if (!isnan(parameters))
        hm__import_took(im, parameters, "trainable parameters of the network");
    if (!isnan(macs))
        hm__import_took(im, macs / batch, "multiply-adds of one sample");
    else if (isnan(s->batch))
        hm__import_note(im,
                        "the summary has no multiply-adds: torchinfo prints shapes if it is given "
                        "the size of an input");
    if (!(parameters > 0) || !(macs > 0))
        return;
    im->document_kind = "network";
    hm__text_addf(&im->document, "network:\n  parameters: %.0f\n  forward: %.0f flop\n", parameters,
                  2 * macs / batch);
    hm__import_assume(im, "batch", "256");
}

/* Copies a line into `text`, terminated by NUL; a line that is too long is truncated. */
static void copy_line(const struct hm_line *line, char *text, size_t room)
{
    size_t length = line->length < room - 1 ? line->length : room - 1;

    memcpy(text, line->text, length);
    text[length] = '\0';
}

static int summary_read(struct hm_imported *im, struct hm_err *err)
{
    struct summary s = {.im = im, .total = NAN, .trainable = NAN, .macs = NAN, .batch = NAN};
    struct hm_line line;
    char text[2048];

    (void)err;
    hm__json_put_text(&im->facts, "format", "torchinfo");
    while (hm__stream_line(&im->in, &line)) {
        copy_line(&line, text, sizeof(text));
        /* The last line of a truncated file may end within a number, so it is not used. */
        if (line.whole)
            take_line(&s, text);
    }
    end_row(&s, 0);
    end_attention(&s);
    if (isnan(s.total))
        hm__import_cut(im);
    put_summary(&s);
    return 0;
}

static int summary_recognise(const struct hm_import_head *head)
{
    bool header = hm__find(head->text, head->length, "Layer (type") != NULL;

    if (header && hm__find(head->text, head->length, "Param #"))
        return hm__find(head->text, head->length, "depth-idx") ? 90 : 75;
    return 0;
}

const struct hm_importer hm__importer_torchinfo = {
    .name = "torchinfo",
    .title = "summary of layers (torchinfo, torchsummary)",
    .becomes = "a network",
    .recognise = summary_recognise,
    .read = summary_read,
};
