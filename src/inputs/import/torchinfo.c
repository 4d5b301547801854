/*
 * Reads summaries of networks. torchinfo and torchsummary print a table with one row for each layer
 * and totals below it:
 *
 *     ├─Conv2d: 1-1          [1, 64, 112, 112]    9,408
 *     Total params: 25,557,032
 *     Trainable params: 25,557,032
 *     Total mult-adds (G): 4.09
 *
 * The multiply-adds are those of the batch in the shapes; if the table has a column Mult-Adds, its
 * exact values are added up. `summary()` of Keras prints the totals of parameters in the same way.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "importers.h"
#include "text.h"

enum { KINDS = 64 };

struct summary {
    struct hm_imported *im;
    double total, trainable, macs, batch, layers, exact_macs;
    bool exact; /* The table has a column of multiply-adds. */
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

/* Reads the number after a label such as "Total params:"; NaN if the line has another label. */
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

/* Reads "Total mult-adds (G): 4.09"; the unit is K, M, G, T or a name such as Units.GIGABYTES. */
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

/* Copies the class of a row such as "│    └─Conv2d: 2-1" or "Conv2d-1"; false if the line is not a
 * row of a layer. */
static bool read_class(const char *line, char *name, size_t room)
{
    size_t length = 0;

    while (*line && !isalpha((unsigned char)*line) && *line != '\n')
        line++; /* Skip the characters that draw the tree of layers. */
    while (isalnum((unsigned char)line[length]) || line[length] == '_')
        length++;
    const char *end = line + length;
    if (*end == ' ' && end[1] == '(') { /* In "Conv2d (conv1): 1-1", a variable follows. */
        end = strchr(end, ')');
        if (!end)
            return false;
        end++;
    }
    bool info = *end == ':' && end[1] == ' ' && isdigit((unsigned char)end[2]);
    bool old = *end == '-' && isdigit((unsigned char)end[1]);
    if (length == 0 || length >= room || !(info || old))
        return false;
    snprintf(name, room, "%.*s", (int)length, line);
    return true;
}

/* Adds a row of a layer: its parameters are the first number after the last shape. */
static void add_row(struct summary *s, const char *line, const char *name)
{
    const char *bracket = strrchr(line, ']'), *p = bracket ? bracket + 1 : NULL;
    double parameters = NAN, macs = NAN;
    size_t i = 0;

    s->layers++;
    if (p) {
        p += strspn(p, " \t");
        size_t used = read_grouped(p, &parameters);
        p += used > 0 ? used : strspn(p, "-");
        p += strspn(p, " \t");
        if (s->exact && read_grouped(p, &macs) > 0)
            s->exact_macs += macs;
    }
    if (bracket && isnan(s->batch)) {
        const char *open = strchr(line, '[');
        double batch;
        if (open && hm__number_read(open + 1, &batch) > 0 && batch >= 1)
            s->batch = batch;
    }
    while (i < s->kind_count && strcmp(s->kinds[i].name, name) != 0)
        i++;
    if (i == KINDS)
        return;
    snprintf(s->kinds[i].name, sizeof(s->kinds[i].name), "%s", name);
    s->kinds[i].count++;
    s->kinds[i].parameters += isnan(parameters) ? 0 : parameters;
    s->kind_count += i == s->kind_count;
}

static void take_line(struct summary *s, const char *line)
{
    char name[40];
    double number;

    if (strstr(line, "Mult-Adds"))
        s->exact = true;
    if (!isnan(number = after_label(line, "Non-trainable params:")))
        return;
    if (!isnan(number = after_label(line, "Trainable params:")))
        s->trainable = number;
    else if (!isnan(number = after_label(line, "Total params:")))
        s->total = number;
    else if (!isnan(number = read_macs(line)))
        s->macs = number;
    else if (read_class(line, name, sizeof(name)))
        add_row(s, line, name);
}

static void put_summary(struct summary *s)
{
    struct hm_imported *im = s->im;
    struct hm_json *j = &im->facts;
    double batch = isnan(s->batch) ? 1 : s->batch;
    double macs = s->exact && s->exact_macs > 0 ? s->exact_macs : s->macs;

    hm__json_put_number(j, "layers", s->layers);
    hm__json_put_number(j, "parameters", s->total);
    hm__json_put_number(j, "trainable_parameters", s->trainable);
    hm__json_put_number(j, "batch", s->batch);
    hm__json_put_number(j, "forward_macs", macs);
    hm__json_open(j, "layers_by_class", HM_JSON_OBJECT | HM_JSON_LINES);
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
    if (isnan(macs))
        hm__import_note(im,
                        "the summary has no multiply-adds: torchinfo prints them if it is given "
                        "the size of an input");
    else
        hm__import_took(im, macs / batch, "multiply-adds of one sample");
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
        /* A number in a line without a line break may lack digits. */
        if (line.whole)
            take_line(&s, text);
    }
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
