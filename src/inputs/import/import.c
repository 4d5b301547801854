/*
 * Recognises the format of a file written by another tool and reads it; also provides helper
 * functions for the readers of all formats. See import.h.
 */
#include "import.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "text.h"

enum { HEAD_BYTES = 64 * 1024 };

const struct hm_importer *hm__importer_find(const char *name)
{
    for (size_t i = 0; hm__importers[i]; i++)
        if (strcmp(hm__importers[i]->name, name) == 0)
            return hm__importers[i];
    return NULL;
}

const char *hm__importer_name(const void *context, size_t i)
{
    (void)context;
    return hm__importers[i] ? hm__importers[i]->name : NULL;
}

/* ---- messages of readers -------------------------------------------------------------------- */

static void add_item(struct hm_imported *im, enum hm_import_fate fate, double count,
                     const char *format, va_list arguments)
{
    char text[512];

    if (im->item_count == HM_IMPORT_ITEMS)
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    const char *copy = hm__arena_strdup(im->arena, text);
    if (!copy) {
        im->failed = true;
        return;
    }
    im->items[im->item_count++] = (struct hm_import_item){copy, count, fate};
}

void hm__import_took(struct hm_imported *im, double count, const char *format, ...)
{
    va_list arguments;

    if (count == 0)
        return;
    va_start(arguments, format);
    add_item(im, HM_IMPORT_TAKEN, count, format, arguments);
    va_end(arguments);
}

void hm__import_left(struct hm_imported *im, double count, const char *format, ...)
{
    va_list arguments;

    if (count == 0)
        return;
    va_start(arguments, format);
    add_item(im, HM_IMPORT_LEFT, count, format, arguments);
    va_end(arguments);
}

void hm__import_note(struct hm_imported *im, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add_item(im, HM_IMPORT_NOTED, NAN, format, arguments);
    va_end(arguments);
}

void hm__import_assume(struct hm_imported *im, const char *key, const char *format, ...)
{
    char text[64];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    const char *value = hm__arena_strdup(im->arena, text);
    if (!value)
        im->failed = true;
    else if (im->usual_count < HM_IMPORT_USUAL)
        im->usual[im->usual_count++] = (struct hm_import_usual){key, value};
}

void hm__import_cut(struct hm_imported *im)
{
    if (!im->partial)
        hm__import_note(im, "the file is cut short or damaged: the complete part is used");
    im->partial = true;
}

void hm__import_last_line(struct hm_imported *im, const struct hm_line *line)
{
    if (!line->whole)
        hm__import_note(im, "the last line has no line break: if the file is cut short, the last "
                            "number of this line may be cut too");
}

const char *hm__import_given_text(const struct hm_imported *im, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = im->set_count; i-- > 0;)
        if (strncmp(im->set[i], name, length) == 0 && im->set[i][length] == '=')
            return im->set[i] + length + 1;
    return NULL;
}

double hm__import_given(const struct hm_imported *im, const char *name)
{
    const char *text = hm__import_given_text(im, name);
    double value;
    size_t used = text ? hm__number_read(text, &value) : 0;

    return used > 0 && text[used] == '\0' ? value : NAN;
}

static bool is_count(double n)
{
    return n >= 1 && n <= HM_COUNT_MOST && n == floor(n);
}

/* Checks the form of the properties that are given with a file, and the number of workers. */
static int check_given(const struct hm_imported *im, struct hm_err *err)
{
    const char *text = hm__import_given_text(im, "n");
    double n = hm__import_given(im, "n");
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < im->set_count; i++)
        if (strcspn(im->set[i], "=") == 0 || !strchr(im->set[i], '='))
            rc = hm__fail(err, HM_E_SYNTAX, "'%.60s' is not NAME=VALUE", im->set[i]);
    if (rc == 0 && text && !is_count(n))
        rc = hm__fail(err, HM_E_RANGE, "n: '%.60s' is not a whole number of at least 1", text);
    if (rc)
        hm__err_at(err, "set", 0);
    return rc;
}

/* Finds a number of workers in a file name such as "run_n8.log", "64gpu.out" or "np=16/x". */
static double n_of_name(const char *name)
{
    static const char *const before[] = {"n=", "n", "np", "np=", "world", "gpus", "workers"};
    static const char *const after[] = {"gpu", "ranks", "workers", "xa100", "xh100", "xv100"};

    for (const char *p = name; *p; p++) {
        double value = NAN;
        bool starts = p == name || !isalnum((unsigned char)p[-1]);
        size_t used = starts ? strspn(p, "0123456789") : 0;
        if (used > 0)
            hm__number_read(p, &value);
        for (size_t i = 0; used > 0 && i < sizeof(after) / sizeof(after[0]); i++) {
            size_t gap = p[used] == '_' || p[used] == '-' ? 1 : 0;
            if (strncmp(p + used + gap, after[i], strlen(after[i])) == 0 && is_count(value))
                return value;
        }
        for (size_t i = 0; starts && i < sizeof(before) / sizeof(before[0]); i++) {
            size_t length = strlen(before[i]);
            if (strncmp(p, before[i], length) != 0)
                continue;
            used = strspn(p + length, "0123456789");
            if (used > 0)
                hm__number_read(p + length, &value);
            char end = p[length + used];
            if (used > 0 && !isalpha((unsigned char)end) && is_count(value))
                return value;
        }
    }
    return NAN;
}

double hm__import_n(struct hm_imported *im, double found)
{
    double n = hm__import_given(im, "n");

    if (!isnan(n))
        return n;
    if (!isnan(found))
        return found;
    n = n_of_name(im->name);
    if (!isnan(n))
        hm__import_note(im, "n = %.0f comes from the file name", n);
    else
        im->needs_n = true;
    return n;
}

void hm__fact_count(struct hm_imported *im, const char *key, int64_t value)
{
    char text[32];

    if (value < 0) {
        hm__json_put_null(&im->facts, key);
        return;
    }
    snprintf(text, sizeof(text), "%lld", (long long)value);
    hm__json_put_raw(&im->facts, key, text);
}

void hm__fact_whole(struct hm_imported *im, const char *key, double value)
{
    hm__fact_count(im, key, value >= 0 && value < 0x1p63 ? (int64_t)value : -1);
}

/* ---- text ----------------------------------------------------------------------------------- */

const char *hm__find(const char *text, size_t length, const char *piece)
{
    size_t size = strlen(piece);

    if (size == 0)
        return text;
    for (const char *p = text; length >= size;) {
        const char *at = memchr(p, piece[0], length - size + 1);
        if (!at)
            return NULL;
        if (memcmp(at, piece, size) == 0)
            return at;
        length -= (size_t)(at + 1 - p);
        p = at + 1;
    }
    return NULL;
}

double hm__number_after(const char *text, size_t length, const char *label)
{
    const char *at = hm__find(text, length, label);
    char digits[64];
    double value;

    if (!at)
        return NAN;
    at += strlen(label);
    size_t left = length - (size_t)(at - text), take = 0;
    while (left > 0 && (*at == ' ' || *at == '\t')) {
        at++;
        left--;
    }
    while (take < sizeof(digits) - 1 && take < left && at[take] != ' ' && at[take] != '|') {
        digits[take] = at[take];
        take++;
    }
    digits[take] = '\0';
    return hm__signed_read(digits, &value) > 0 ? value : NAN;
}

/* ---- reading -------------------------------------------------------------------------------- */

/*
 * Returns a list of formats for a file that no reader recognises: the formats whose files begin in
 * a similar way, for example with '{'.
 */
static const char *similar_formats(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");
    size_t line = strcspn(p, "\n");

    if (memchr(head->text, '\0', head->length))
        return "onnx, safetensors, tensorboard, chakra";
    if (*p == '{' || *p == '[')
        return "hf-config, weight-index, trainer-state, torch-trace, spark, deepspeed, keras";
    if (*p == '<')
        return "simgrid";
    if (p[0] == '#' && p[1] == '!')
        return "sbatch, megatron-args";
    if (memchr(p, '|', line))
        return "slurm, megatron, nanotron";
    if (memchr(p, ',', line) && !memchr(p, ' ', line))
        return "lightning, keras-csv, wandb";
    if (memchr(p, ':', line) && !memchr(p, ',', line))
        return "accelerate, skypilot, megatron-yaml, seff";
    return "megatron, hf-log, nanogpt, torchtitan, collectives, torchinfo";
}

/*
 * Fails for a file that no reader recognises; the hint of the error lists the most similar formats.
 */
static int fail_unknown(const char *name, const struct hm_import_head *head, struct hm_err *err)
{
    struct hm_text names = {0};

    for (size_t i = 0; hm__importers[i]; i++)
        if (hm__importers[i]->recognise(head) > 0)
            hm__text_addf(&names, "%s%s", names.length ? ", " : "", hm__importers[i]->name);
    hm__fail(err, HM_E_TYPE, "has no format that can be imported");
    if (head->length == 0)
        hm__err_hint(err, "the file is empty");
    else if (hm__find(head->text, head->length < 64 ? head->length : 64, "version https://git-lfs"))
        hm__err_hint(err, "it is a Git LFS pointer: fetch the file itself with `git lfs pull`");
    else if (hm__archive_magic(head->text, head->length))
        hm__err_hint(err, "it is an archive inside a compressed file or an archive: unpack it");
    else
        hm__err_hint(err,
                     "the nearest formats are %s; name one with the field `as`, or see "
                     "docs/reference/formats.md",
                     names.length ? names.data : similar_formats(head));
    hm__err_at(err, name, 0);
    hm__text_release(&names);
    return HM_E_TYPE;
}

/* A format is chosen only if its reader's score is at least this high. */
enum { SCORE_LEAST = 50 };

static const struct hm_importer *choose_format(const struct hm_import_head *head)
{
    const struct hm_importer *best = NULL;
    int score = SCORE_LEAST - 1;

    for (size_t i = 0; hm__importers[i]; i++) {
        int mine = hm__importers[i]->recognise(head);
        if (mine > score) {
            score = mine;
            best = hm__importers[i];
        }
    }
    return best;
}

/*
 * Opens the contents that are imported. If a folder holds one log that is split into several files,
 * the first of them is opened.
 */
static int open_source(struct hm_imported *im, const struct hm_import_from *from,
                       struct hm_source **ret_source, struct hm_err *err)
{
    int rc = hm__import_archive(im, from, ret_source, err);
    if (*ret_source)
        return rc;
    if (rc == 0 && !im->archive && from->data)
        return hm__source_open_memory(from->data, from->length, from->name, ret_source, err);
    if (rc == 0 && !im->archive)
        rc = hm__import_parts(im, from->name, err);
    if (rc)
        return rc;
    return im->part_count ? hm__import_part(im, 0, ret_source, err)
                          : hm__source_open(from->name, ret_source, err);
}

int hm__import_next_part(struct hm_imported *im, struct hm_err *err)
{
    struct hm_source *source = NULL;
    bool cut = im->in.cut;

    if (im->in.rc)
        return im->in.rc;
    if (im->part_at + 1 >= im->part_count)
        return 0;
    int rc = hm__import_part(im, ++im->part_at, &source, err);
    if (rc)
        return rc;
    hm__stream_release(&im->in);
    rc = hm__stream_init(&im->in, source, err);
    im->in.cut = cut;
    return rc ? rc : 1;
}

/*
 * Skips a byte order mark, and copies the first bytes of the stream into `head` without consuming
 * them.
 */
static int see_head(struct hm_imported *im, struct hm_import_head *head, struct hm_err *err)
{
    size_t first = hm__stream_peek(&im->in, 3);

    im->in.at += hm__text_mark(im->in.buffer + im->in.at, first);
    size_t length = hm__stream_peek(&im->in, HEAD_BYTES);
    size_t shown = length < HEAD_BYTES ? length : HEAD_BYTES;

    if (im->in.rc)
        return im->in.rc;
    im->codec = hm__source_codec(im->in.source);
    char *text = hm__arena_alloc(im->arena, shown + 1, 1);
    if (!text)
        return hm__fail_nomem(err);
    memcpy(text, im->in.buffer + im->in.at, shown);
    *head = (struct hm_import_head){im->name, text, shown};
    return 0;
}

static int read_contents(struct hm_imported *im, const struct hm_importer *as, struct hm_err *err)
{
    struct hm_import_head head;
    int rc = see_head(im, &head, err);

    if (rc)
        return rc;
    im->importer = head.length == 0 ? NULL : as ? as : choose_format(&head);
    if (!im->importer)
        return fail_unknown(im->name, &head, err);
    im->facts.out = &im->facts_text;
    hm__json_open(&im->facts, NULL, HM_JSON_OBJECT | HM_JSON_LINES);
    rc = im->importer->read(im, err);
    /*
     * Damage to a compressed file or to a member of an archive is found only at its end, so the
     * rest of the file is also read.
     */
    while (rc == 0 && hm__source_finds_damage(im->in.source) && hm__stream_refill(&im->in))
        ;
    if (rc == 0 && im->in.rc)
        rc = im->in.rc;
    if (rc == 0 && (im->in.cut || (im->archive && im->archive->cut)))
        hm__import_cut(im);
    if (rc) {
        hm__err_at(err, im->name, 0);
        return rc;
    }
    hm__json_close(&im->facts);
    return im->failed || hm__arena_failed(im->arena) || im->facts_text.failed || im->document.failed
               ? hm__fail_nomem(err)
               : 0;
}

int hm__import_new(const struct hm_import_from *from, struct hm_imported **ret_import,
                   struct hm_err *err)
{
    struct hm_imported *im = hm__calloc(1, sizeof(*im));
    struct hm_source *source = NULL;

    if (!im || !(im->arena = hm__arena_new())) {
        hm__free(im);
        return hm__fail_nomem(err);
    }
    im->from_file = from->data == NULL;
    im->set = from->set;
    im->set_count = from->set_count;
    im->name = hm__arena_strdup(im->arena, from->name ? from->name : "the file");
    int rc = im->name ? open_source(im, from, &source, err) : hm__fail_nomem(err);
    if (rc == 0)
        rc = hm__stream_init(&im->in, source, err);
    if (rc == 0)
        rc = check_given(im, err);
    if (rc == 0)
        rc = read_contents(im, from->as, err);
    hm__stream_release(&im->in);
    if (rc == HM_E_IO && from->data) { /* Bytes in memory can be read, so they are damaged. */
        rc = HM_E_SYNTAX;
        if (err)
            err->code = rc;
    }
    if (rc)
        hm__import_free(im);
    else
        *ret_import = im;
    return rc;
}

void hm__import_free(struct hm_imported *im)
{
    if (!im)
        return;
    hm__stream_release(&im->in);
    hm__archive_free(im->archive);
    hm__free(im->runs.cells);
    hm__free(im->traces.cells);
    hm__text_release(&im->facts_text);
    hm__text_release(&im->document);
    hm__arena_free(im->arena);
    hm__free(im);
}

const struct hm_importer *hm__import_recognise(const struct hm_import_from *from)
{
    struct hm_imported im = {.name = from->name ? from->name : ""};
    struct hm_source *source = NULL;
    struct hm_import_head head;
    const struct hm_importer *found = NULL;

    if (!(im.arena = hm__arena_new()))
        return NULL;
    if (open_source(&im, from, &source, NULL) == 0 && hm__stream_init(&im.in, source, NULL) == 0 &&
        see_head(&im, &head, NULL) == 0)
        found = choose_format(&head);
    hm__stream_release(&im.in);
    hm__archive_free(im.archive);
    hm__arena_free(im.arena);
    return found;
}
