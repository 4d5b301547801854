/*
 * Reads printed torch.fx graphs.
 *
 * torch.export prints the shape of each tensor, and the names of parameters and buffers begin with
 * p_ and b_:
 *
 *     def forward(self, p_fc_weight: "f32[10, 512]", p_fc_bias: "f32[10]", x: "f32[8, 512]"):
 *         linear: "f32[8, 10]" = torch.ops.aten.linear.default(x, p_fc_weight, p_fc_bias)
 *
 * Parameters and the multiply-adds of matrix products are counted from these shapes. A symbolic
 * size is assumed to be 1 unless the user gives it (s0=8).
 *
 * The outputs of graph.print_tabular(), print(graph) and print(graph_module) have one operation on
 * each line and no shapes of parameters, so operations are only counted.
 *
 *     call_module    conv1    conv1    (x,)    {}
 *     %conv1 : [num_users=1] = call_module[target=conv1](args = (%x,), kwargs = {})
 *     conv1 = self.conv1(x);  x = None
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "hash.h"
#include "importers.h"
#include "text.h"

enum { SLOTS = HM_BUFFER_SIZE(1 << 16, 1 << 6), RANK = 8, KINDS = 128, SYMBOLS = 8, ARGUMENTS = 4 };
/* Largest number of characters of a size in a shape. */
enum { SIZE_LONGEST = 256 };

struct shape {
    uint64_t hash; /* Hash of the name of the tensor; 0 if the slot is empty. */
    int rank;
    double dims[RANK];
};

struct program {
    struct hm_imported *im;
    struct shape *shapes; /* Hash table of SLOTS shapes, with the names of the tensors as keys. */
    size_t shape_count;
    struct hm_hash_key key; /* Key of the hash table. */
    double parameters, buffers, inputs, nodes, macs, unknown;
    /* Number of operations in a printed graph module, whose lines show no shapes. */
    double unshaped;
    /* First dimension of the first input, which is the batch; NaN if there is no input. */
    double batch;
    char symbols[SYMBOLS][24];
    size_t symbol_count;
    struct {
        char name[48];
        double count;
    } kinds[KINDS];
    size_t kind_count;
};

static void count_kind(struct program *p, const char *name, size_t length)
{
    size_t i = 0;

    if (length == 0 || length >= sizeof(p->kinds[0].name))
        return;
    while (i < p->kind_count &&
           (strlen(p->kinds[i].name) != length || memcmp(p->kinds[i].name, name, length) != 0))
        i++;
    if (i == KINDS)
        return;
    snprintf(p->kinds[i].name, sizeof(p->kinds[i].name), "%.*s", (int)length, name);
    p->kinds[i].count++;
    p->kind_count += i == p->kind_count;
}

/* ---- shapes -----------------------------------------------------------------------------------
 */

/* Hashes are compared instead of names; 0 marks an empty place. */
static uint64_t hash_name(const struct program *p, const char *name, size_t length)
{
    uint64_t hash = hm__hash_bytes(&p->key, name, length);

    return hash ? hash : 1;
}

static struct shape *find_shape(struct program *p, const char *name, size_t length)
{
    uint64_t hash = hash_name(p, name, length);
    size_t i = (size_t)(hash % SLOTS);

    while (p->shapes[i].hash != 0 && p->shapes[i].hash != hash)
        i = (i + 1) % SLOTS;
    return &p->shapes[i];
}

/*
 * Returns the size that is used for a symbol: the size that the user gives, or else 1, which a
 * message reports.
 */
static double symbol_size(struct program *p, const char *name, size_t length)
{
    char text[24];
    size_t i = 0;

    if (length == 0 || length >= sizeof(text))
        return NAN;
    snprintf(text, sizeof(text), "%.*s", (int)length, name);
    double given = hm__import_given(p->im, text);
    if (!isnan(given))
        return given;
    while (i < p->symbol_count && strcmp(p->symbols[i], text) != 0)
        i++;
    if (i == p->symbol_count && i < SYMBOLS) {
        memcpy(p->symbols[p->symbol_count++], text, sizeof(text));
        hm__import_note(p->im, "the size '%s' is assumed to be 1", text);
    }
    return 1;
}

/*
 * Reads a size, which is a number or a symbol, from `length` bytes that are not terminated by NUL.
 */
static double read_size(struct program *p, const char *text, size_t length)
{
    char digits[24];
    double size = NAN;

    if (length == 0 || !isdigit((unsigned char)*text))
        return symbol_size(p, text, length);
    snprintf(digits, sizeof(digits), "%.*s", (int)(length < 23 ? length : 23), text);
    return hm__number_read(digits, &size) > 0 ? size : NAN;
}

/*
 * Reads a type such as "f32[64, 3, 7, 7]" and stores its shape under the name of the tensor.
 * Returns the shape, or NULL if the text is not such a type or there are too many tensors.
 */
static const struct shape *read_type(struct program *p, const char *name, size_t length,
                                     const char *type, const char *end)
{
    const char *at = type;

    while (at < end && isalnum((unsigned char)*at))
        at++;
    if (at == type || at == end || *at != '[' || p->shape_count == SLOTS / 2)
        return NULL;
    struct shape *s = find_shape(p, name, length);
    p->shape_count += s->hash == 0;
    *s = (struct shape){.hash = hash_name(p, name, length)};
    for (at++; at < end && *at != ']' && s->rank < RANK;) {
        size_t size = 0;
        while (at + size < end && at[size] != ',' && at[size] != ']' && size < SIZE_LONGEST)
            size++;
        /* The rest of the line may have many types, which must not all be scanned to its end. */
        if (size == SIZE_LONGEST)
            break;
        double dim = read_size(p, at, size);
        s->dims[s->rank++] = dim;
        at += size;
        while (at < end && (*at == ',' || *at == ' '))
            at++;
    }
    return s;
}

static double shape_product(const struct shape *s, int from, int to)
{
    double result = 1;

    for (int i = from; i < to; i++)
        result *= s->dims[i];
    return result;
}

/* ---- the program ------------------------------------------------------------------------------
 */

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Reads the parameters of the function `forward`, each written as NAME: "TYPE". */
static void read_signature(struct program *p, const char *text, const char *end)
{
    while (text < end) {
        const char *colon = memchr(text, ':', (size_t)(end - text));
        if (!colon)
            return;
        const char *name = colon, *type = colon + 1;
        while (name > text && is_name(name[-1]))
            name--;
        while (type < end && (*type == ' ' || *type == '"'))
            type++;
        const struct shape *s = read_type(p, name, (size_t)(colon - name), type, end);
        double size = s ? shape_product(s, 0, s->rank) : 0;
        if (s && strncmp(name, "p_", 2) == 0) {
            p->parameters += size;
        } else if (s && strncmp(name, "b_", 2) == 0) {
            p->buffers += size;
        } else if (s && strncmp(name, "c_", 2) != 0) {
            p->inputs++;
            if (isnan(p->batch) && s->rank > 0)
                p->batch = s->dims[0];
        }
        text = colon + 1;
    }
}

/*
 * Finds the shapes of the first ARGUMENTS arguments of a call; an element is NULL if the shape of
 * the argument is not known.
 */
static void read_arguments(struct program *p, const char *text, const char *end,
                           const struct shape *arguments[ARGUMENTS])
{
    for (int i = 0; i < ARGUMENTS; i++)
        arguments[i] = NULL;
    for (int i = 0; i < ARGUMENTS && text < end && *text != ')'; i++) {
        size_t length = 0;
        while (text < end && *text == ' ')
            text++;
        while (text + length < end && is_name(text[length]))
            length++;
        if (text + length < end && (text[length] == ',' || text[length] == ')')) {
            const struct shape *s = find_shape(p, text, length);
            arguments[i] = s->hash != 0 ? s : NULL;
        }
        while (text < end && *text != ',' && *text != ')')
            text++;
        text += text < end && *text == ',';
    }
}

/*
 * Kinds of matrix products, which differ in how multiply-adds follow from the shapes of the
 * arguments. LATE_ROWS is like ROWS, but the matrices come after another argument, as in addmm.
 */
enum product_kind { CONVOLUTION, TRANSPOSED, ROWS, LATE_ROWS, ATTENTION, UNCOUNTED };

static const struct {
    const char *name;
    enum product_kind kind;
} products[] = {{"conv1d", CONVOLUTION},
                {"conv2d", CONVOLUTION},
                {"conv3d", CONVOLUTION},
                {"convolution", CONVOLUTION},
                {"conv_transpose1d", TRANSPOSED},
                {"conv_transpose2d", TRANSPOSED},
                {"conv_transpose3d", TRANSPOSED},
                {"linear", ROWS},
                {"mm", ROWS},
                {"bmm", ROWS},
                {"matmul", ROWS},
                {"addmm", LATE_ROWS},
                {"baddbmm", LATE_ROWS},
                {"scaled_dot_product_attention", ATTENTION},
                {"einsum", UNCOUNTED},
                {"lstm", UNCOUNTED},
                {"gru", UNCOUNTED},
                {"bilinear", UNCOUNTED}};

/* Returns the number of multiply-adds of an operation; NaN if a shape is not known. */
static double count_macs(enum product_kind kind, const struct shape *out,
                         const struct shape *const a[ARGUMENTS], bool transposed)
{
    if (kind == CONVOLUTION && transposed)
        kind = TRANSPOSED;
    if (kind == CONVOLUTION)
        return out && a[1] ? shape_product(out, 0, out->rank) * shape_product(a[1], 1, a[1]->rank)
                           : NAN;
    if (kind == TRANSPOSED)
        return a[0] && a[1]
                   ? shape_product(a[0], 0, a[0]->rank) * shape_product(a[1], 1, a[1]->rank)
                   : NAN;
    if (kind == ROWS || kind == LATE_ROWS) {
        const struct shape *rows = a[kind == LATE_ROWS];
        return out && rows && rows->rank > 0
                   ? shape_product(out, 0, out->rank) * rows->dims[rows->rank - 1]
                   : NAN;
    }
    if (kind == ATTENTION && a[0] && a[1] && a[2] && a[0]->rank >= 2 && a[1]->rank >= 2 &&
        a[2]->rank >= 2) {
        double queries = shape_product(a[0], 0, a[0]->rank - 1), keys = a[1]->dims[a[1]->rank - 2];
        return queries * keys * (a[0]->dims[a[0]->rank - 1] + a[2]->dims[a[2]->rank - 1]);
    }
    return NAN;
}

/* Reads a line of the form NAME: "TYPE" = torch.ops.aten.OPERATION(…). */
static void read_node(struct program *p, const char *text, size_t length)
{
    const char *end = text + length, *call = hm__find(text, length, "= torch.ops.");
    const char *colon = call ? memchr(text, ':', (size_t)(call - text)) : NULL;
    const struct shape *arguments[ARGUMENTS], *out = NULL;

    if (!call)
        return;
    if (colon) {
        const char *name = colon, *type = colon + 1;
        while (name > text && is_name(name[-1]))
            name--;
        while (type < call && (*type == ' ' || *type == '"'))
            type++;
        out = read_type(p, name, (size_t)(colon - name), type, call);
    }
    const char *operation = memchr(call + 12, '.', (size_t)(end - call - 12));
    if (!operation)
        return;
    size_t size = 0;
    for (operation++; operation + size < end && is_name(operation[size]);)
        size++;
    p->nodes++;
    count_kind(p, operation, size);
    const char *open = memchr(operation, '(', (size_t)(end - operation));
    if (!open)
        return;
    read_arguments(p, open + 1, end, arguments);
    bool transposed = hm__find(open, (size_t)(end - open), ", True, [") != NULL;
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        if (strlen(products[i].name) != size || memcmp(products[i].name, operation, size) != 0)
            continue;
        double macs = count_macs(products[i].kind, out, arguments,
                                 transposed && strcmp(products[i].name, "convolution") == 0);
        p->unknown += isnan(macs);
        p->macs += isnan(macs) ? 0 : macs;
    }
}

/* ---- tables of operations ---------------------------------------------------------------------
 */

static const char *const opcodes[] = {"placeholder", "get_attr",    "call_function",
                                      "call_module", "call_method", "output"};

/*
 * Counts an operation by its opcode, in a row "opcode  name  target  args  kwargs" or a line "%name
 * : … = opcode[target=…]". The last line of a graph, "return …", counts as its output.
 */
static void read_row(struct program *p, const char *text, size_t length)
{
    const char *end = text + length;
    char after = ' ';

    while (text < end && *text == ' ')
        text++;
    const char *equals =
        text < end && *text == '%' ? hm__find(text, (size_t)(end - text), " = ") : NULL;
    if (equals) {
        text = equals + 3;
        after = '[';
    } else if (end - text > 7 && memcmp(text, "return ", 7) == 0) {
        p->nodes++;
        count_kind(p, "output", 6);
        return;
    }
    for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
        size_t size = strlen(opcodes[i]);
        if ((size_t)(end - text) > size && memcmp(text, opcodes[i], size) == 0 &&
            text[size] == after) {
            p->nodes++;
            count_kind(p, opcodes[i], size);
        }
    }
}

/*
 * Counts a statement "name = call(…);" or "name: "TYPE" = call(…);" of a printed graph module as an
 * operation, unless it calls torch.ops.
 */
static void read_assignment(struct program *p, const char *text, size_t length)
{
    const char *end = text + length, *name = text;

    while (text < end && *text == ' ')
        name = ++text;
    while (text < end && is_name(*text))
        text++;
    const char *equals = hm__find(text, (size_t)(end - text), " = ");
    if (text == name || !equals || (*text != ':' && equals != text))
        return;
    const char *value = equals + 3;
    size_t left = (size_t)(end - value);
    if (left >= 10 && memcmp(value, "torch.ops.", 10) == 0)
        return;
    bool module = (left > 5 && memcmp(value, "self.", 5) == 0) ||
                  (left > 8 && memcmp(value, "getattr(", 8) == 0);
    const char *open = memchr(value, '(', left);
    p->nodes++;
    p->unshaped++;
    const char *kind = !module ? "call_function" : open ? "call_module" : "get_attr";
    count_kind(p, kind, strlen(kind));
}

/* ---- results ----------------------------------------------------------------------------------
 */

static void put_program(struct program *p, bool shapes)
{
    struct hm_imported *im = p->im;
    struct hm_json *j = &im->facts;
    double batch = p->batch >= 1 ? p->batch : 1, macs = p->unknown > 0 ? NAN : p->macs;

    hm__json_put_number(j, "nodes", p->nodes);
    hm__json_put_number(j, "parameters", shapes && p->parameters > 0 ? p->parameters : NAN);
    hm__json_put_number(j, "buffers", shapes ? p->buffers : NAN);
    hm__json_put_number(j, "batch", p->batch);
    hm__json_put_number(j, "forward_macs", shapes ? macs : NAN);
    hm__json_put_number(j, "unknown_products", shapes ? p->unknown : NAN);
    hm__json_open(j, "operations", HM_JSON_OBJECT | HM_JSON_LINES);
    for (size_t i = 0; i < p->kind_count; i++)
        hm__json_put_number(j, p->kinds[i].name, p->kinds[i].count);
    hm__json_close(j);
    hm__import_took(im, p->nodes, "operations");
    if (!shapes) {
        hm__import_note(im,
                        "the graph has no shapes of parameters: print a program of torch.export "
                        "instead");
        return;
    }
    hm__import_took(im, p->parameters, "parameters of the network");
    hm__import_left(im, p->unknown, "products whose multiply-adds are not known");
    if (!(p->parameters > 0))
        hm__import_note(im, "no argument is marked as a parameter (p_NAME)");
    if (!isnan(macs))
        hm__import_took(im, macs / batch, "multiply-adds of one sample");
    if (!(p->parameters > 0) || !(macs > 0) || p->parameters > 9e15 || macs > 9e17)
        return;
    im->document_kind = "network";
    hm__text_addf(&im->document, "network:\n  parameters: %.0f\n  forward: %.0f flop\n",
                  p->parameters, 2 * macs / batch);
    hm__import_assume(im, "batch", "256");
}

/* Returns whether a line begins with the given word, ignoring leading white space. */
static bool begins_with(const struct hm_line *line, const char *word)
{
    size_t blanks = 0, length = strlen(word);

    while (blanks < line->length && line->text[blanks] == ' ')
        blanks++;
    return line->length - blanks >= length && memcmp(line->text + blanks, word, length) == 0;
}

static int fx_read(struct hm_imported *im, struct hm_err *err)
{
    struct program p = {.im = im, .batch = NAN};
    struct hm_line line;
    bool shapes = false, ended = false;

    hm__json_put_text(&im->facts, "format", "torch.fx");
    if (!(p.shapes = hm__calloc(SLOTS, sizeof(*p.shapes))))
        return hm__fail_nomem(err);
    hm__hash_begin(&p.key);
    while (hm__stream_line(&im->in, &line)) {
        const char *forward = hm__find(line.text, line.length, "def forward(self");
        if (forward) {
            shapes = true;
            read_signature(&p, forward + 16, line.text + line.length);
        } else if (shapes) {
            read_node(&p, line.text, line.length);
            if (!(p.parameters > 0))
                read_assignment(&p, line.text, line.length);
        } else {
            read_row(&p, line.text, line.length);
        }
        ended |= begins_with(&line, "return ") || (!shapes && begins_with(&line, "output "));
    }
    hm__free(p.shapes);
    if (!ended)
        hm__import_cut(im);
    put_program(&p, shapes && p.unshaped == 0);
    return 0;
}

static int fx_recognise(const struct hm_import_head *head)
{
    if (hm__find(head->text, head->length, "def forward(self") &&
        hm__find(head->text, head->length, "torch.ops."))
        return 85;
    if (hm__find(head->text, head->length, "def forward(self") &&
        (hm__find(head->text, head->length, ";  ") ||
         hm__find(head->text, head->length, " = self.")))
        return 70;
    if (hm__find(head->text, head->length, "graph():") &&
        hm__find(head->text, head->length, "= placeholder["))
        return 85;
    return hm__find(head->text, head->length, "opcode") &&
                   hm__find(head->text, head->length, "placeholder") &&
                   hm__find(head->text, head->length, "target")
               ? 75
               : 0;
}

const struct hm_importer hm__importer_torch_fx = {
    .name = "torch-fx",
    .title = "graph of torch.fx",
    .becomes = "a network",
    .recognise = fx_recognise,
    .read = fx_read,
};
