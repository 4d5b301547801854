/*
 * Compares answers that are stored in a file, tests/data/answers/NAME.txt, with the answers of the
 * current version, so that no figure, note or message of the library changes unnoticed. Figures are
 * compared with a relative tolerance, since compilers round differently. A file consists of blocks:
 *
 *     document NAME      lines of a file that requests refer to as @NAME, up to "end"
 *     document NAME of BASE WORD    the document BASE with WORD instead of TYPE
 *     document NAME from BASE    lines "NUMBER TEXT" up to "end": BASE with other texts of these
 *                        lines; without a text, the line is left out
 *     request VERB       lines "FIELD VALUE"; then "answer", and lines of the answer up to "end"
 *     store              the following requests use a store of runs, which is empty at first
 *     short              items of long lists and objects in the following answers are left out
 *
 * @examples/NAME is a file of the examples. The field `body` is a JSON
 * object with fields, as in a request to the server. HM_RECORD=1 writes the current answers into
 * the file. The first argument of this program is the name of the file. With a second argument K,
 * every K-th request is made without memory instead: the N-th allocation fails, alone or with all
 * later ones, for many N (with HM_TORTURE=1 for most of them), and the request must fail with the
 * error of missing memory or give its whole answer. With the second argument threads:K, every K-th
 * request is made alone and in 16 threads at the same time; all must give the same bytes. With the
 * second argument text, all requests ask for text instead of JSON; it must not contain "nan" or
 * "inf" in place of a number. HM_DUMP=FILE appends all answers to a file, byte for byte.
 */
#include "request_testing.h"

#include <pthread.h>
#include <strings.h>

#include "store_access.h"

/* Lists with more than SHOWN items are shortened. */
enum { SHOWN = 4, DOCUMENTS = 1024, FIELDS = 16, LINE = 1 << 16, TEXT = 1 << 20 };

static const char *file_name;
static size_t memory_every;  /* Second argument if it is a number K; 0: answers are compared. */
static size_t threads_every; /* Value of K if the second argument is threads:K; 0: one thread. */
static bool as_text;         /* True if the second argument is text. */
static bool is_short;        /* True after a line "short" of the file. */

struct document {
    char name[80];
    char *text;
};

struct kept {
    struct document documents[DOCUMENTS];
    size_t document_count;
    FILE *in, *out; /* File that is written; NULL if nothing is recorded. */
    char line[LINE];
    int number;
    size_t requests, wrong;
    size_t failures; /* Number of allocations that were made to fail. */
    /* The lines "FIELD VALUE" of the request. */
    char fields[FIELDS][LINE / 16];
    size_t field_count;
};

/* ---- answers as lines ------------------------------------------------------------------------ */

struct lines {
    char *text;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void lines_add(struct lines *l, const char *format,
                                                            ...)
{
    va_list arguments;

    va_start(arguments, format);
    l->used += (size_t)vsnprintf(l->text + l->used, TEXT - l->used, format, arguments);
    va_end(arguments);
    if (l->used >= TEXT)
        fail_msg("an answer of %s is too long", file_name);
}

static bool is_number(const char *text, double *ret_value)
{
    char *end;

    *ret_value = strtod(text, &end);
    return end != text && !*end;
}

/* Returns a number from 1 to 2 that depends on each character of a text. */
static double text_sum(const char *text)
{
    uint32_t hash = 2166136261u;

    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return 1 + hash / 4294967296.0;
}

static size_t line_count(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* Returns a sum over the characters of a text and over ln(1 + 1e6 |x|) of its numbers x, with
 * weights that depend on the place. */
static double rounded_sum(const char *text)
{
    double sum = 0;

    for (size_t i = 0; *text; i++) {
        char *end;
        double number = strchr("-0123456789", *text) ? strtod(text, &end) : NAN;
        bool read = isfinite(number) && end > text;
        sum += (1 + (double)(i % 7) / 8) *
               (read ? copysign(log1p(1e6 * fabs(number)), number) : (unsigned char)*text / 16.0);
        text = read ? end : text + 1;
    }
    return sum;
}

/* Returns the sum of ln(1 + 1e6 |x|), with the sign of x, over all numbers x of a value, and of
 * numbers that depend on its texts. Each item has a weight, so that the order counts. */
static double value_sum(const struct hm_value *value)
{
    double number = 0, sum = 0;

    if (value->kind == HM_VALUE_SCALAR && is_number(value->text, &number) && isfinite(number))
        return copysign(log1p(1e6 * fabs(number)), number);
    if (value->kind == HM_VALUE_SCALAR)
        return text_sum(value->text);
    for (size_t i = 0; i < value->count; i++)
        sum += (1 + (double)(i % 7) / 8) * value_sum(&value->items[i]);
    return sum;
}

static void lines_add_value(struct lines *l, const struct hm_value *value, int depth);

/* Writes the number of items of a long list, and a sum of all items; if they are maps, one sum for
 * each key of the first. */
static void lines_add_sums(struct lines *l, const struct hm_value *value)
{
    const struct hm_value *first = &value->items[0];

    lines_add(l, ", %zu items, sum %.8g", value->count, value_sum(value));
    for (size_t k = 0; first->kind == HM_VALUE_MAP && k < first->count; k++) {
        double sum = 0;
        for (size_t i = 0; i < value->count; i++) {
            const struct hm_value *item = hm__value_get(&value->items[i], first->keys[k]);
            sum += item ? (1 + (double)(i % 7) / 8) * value_sum(item) : 0;
        }
        lines_add(l, ", %s %.8g", first->keys[k], sum);
    }
}

/* Writes the items of a list; for a long list, writes the first and the last items, unless answers
 * are short, and sums. */
static void lines_add_list(struct lines *l, const struct hm_value *value, int depth)
{
    bool maps = depth == 1 && value->count > 0 && value->items[0].kind == HM_VALUE_MAP;

    lines_add(l, "[");
    for (size_t i = 0; i < value->count; i++) {
        if (value->count > SHOWN && (is_short || (i >= SHOWN / 2 && i + 2 < value->count)))
            continue;
        lines_add(l, maps ? "\n  " : i ? ", " : "");
        lines_add_value(l, &value->items[i], depth + 1);
    }
    if (value->count > SHOWN)
        lines_add_sums(l, value);
    lines_add(l, "]");
}

/* Writes a value in one line, or each item of a list of maps in its own line. */
static void lines_add_value(struct lines *l, const struct hm_value *value, int depth)
{
    double number;
    size_t shown = 0;

    if (value->kind == HM_VALUE_SCALAR && is_number(value->text, &number)) {
        lines_add(l, "%.8g", number);
    } else if (value->kind == HM_VALUE_SCALAR) {
        for (const char *c = value->text; *c; c++)
            lines_add(l, "%c", *c == '\n' ? '|' : *c);
    } else if (value->kind == HM_VALUE_LIST) {
        lines_add_list(l, value, depth);
    } else if (value->kind == HM_VALUE_MAP && is_short && depth > 0 && value->count > SHOWN) {
        lines_add(l, "{%zu keys, sum %.8g}", value->count, value_sum(value));
    } else if (value->kind == HM_VALUE_MAP) {
        lines_add(l, depth ? "{" : "");
        for (size_t i = 0; i < value->count; i++) {
            const struct hm_value *item = &value->items[i];
            bool absent = item->kind == HM_VALUE_NULL;
            if (absent || strcmp(value->keys[i], "howmany") == 0)
                continue; /* Unknown values are left out, and so is the version, which changes with
                             every release. */
            lines_add(l, "%s%s: ", depth && shown++ ? ", " : "", value->keys[i]);
            lines_add_value(l, item, depth + 1);
            lines_add(l, depth ? "" : "\n");
        }
        lines_add(l, depth ? "}" : "");
    } else {
        lines_add(l, "null");
    }
}

/* Replaces the times at which runs were stored, such as 2026-11-16T10:13:48Z; times of 2020 are
 * those of the documents. */
static void hide_times(char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:ddZ";

    for (; *text; text++) {
        size_t i = 0;
        while (form[i] && (form[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == form[i]))
            i++;
        if (!form[i] && strncmp(text, "2020-", 5) != 0)
            memset(text, '0', 4);
        for (size_t k = 4; !form[i] && strncmp(text, "0000-", 5) == 0 && form[k]; k++)
            text[k] = form[k] == 'd' ? '0' : form[k];
    }
}

static void lines_add_reply(struct lines *l, const struct hm_reply *reply)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    struct hm_err err = {0};

    if (folder[0])
        hide_times(reply->text);
    if (strcmp(reply->type, "application/json") != 0 && is_short && reply->length > 1000) {
        lines_add(l, "%zu lines, sum %.8g\n", line_count(reply->text), rounded_sum(reply->text));
    } else if (strcmp(reply->type, "application/json") != 0) {
        lines_add(l, "%s", reply->text);
    } else {
        if (hm__json_parse(arena, reply->text, reply->length, "answer.json", &root, &err))
            fail_msg("%s", err.message);
        lines_add_value(l, root, 0);
    }
    /* Files are pictures and saved fits; their numbers are too many to be shown. */
    for (size_t i = 0; i < reply->file_count; i++)
        lines_add(l, "file %s: %zu lines, sum %.8g\n", reply->files[i].path,
                  line_count(reply->files[i].text), rounded_sum(reply->files[i].text));
    lines_add(l, "answered: %s\n", reply->answered ? "yes" : "no");
    hm__arena_free(arena);
}

static void lines_add_error(struct lines *l, const struct hm_err *err)
{
    lines_add(l, "error: %s\ncode: %d\nfield: %s\nhint: %s\nplace: %s:%d\n", err->message,
              err->code, err->field, err->hint, err->source, err->line);
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Returns whether two texts agree; numbers may differ by 5 units of the sixth digit. */
static bool texts_agree(const char *a, const char *b)
{
    while (*a && *b) {
        bool digit = strchr("-0123456789", *a) && strchr("-0123456789", *b);
        char *end_a, *end_b;
        double x = digit ? strtod(a, &end_a) : 0, y = digit ? strtod(b, &end_b) : 0;
        if (digit && end_a > a && end_b > b) {
            if (fabs(x - y) > 5e-6 * fmax(fabs(x), fabs(y)) + 1e-11)
                return false;
            a = end_a;
            b = end_b;
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return !*a && !*b;
}

/* Prints the lines that differ. */
static void print_difference(const char *wanted, const char *got)
{
    while (*wanted || *got) {
        size_t a = strcspn(wanted, "\n"), b = strcspn(got, "\n");
        char x[4000], y[4000];
        snprintf(x, sizeof(x), "%.*s", (int)a, wanted);
        snprintf(y, sizeof(y), "%.*s", (int)b, got);
        if (!texts_agree(x, y))
            fprintf(stderr, "- %s\n+ %s\n", x, y);
        wanted += a + (wanted[a] == '\n');
        got += b + (got[b] == '\n');
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads a line without its end, and copies it to the recorded file if `copy` is true. */
static bool kept_read(struct kept *k, bool copy)
{
    if (!fgets(k->line, LINE, k->in))
        return false;
    k->number++;
    if (copy && k->out)
        fputs(k->line, k->out);
    k->line[strcspn(k->line, "\n")] = '\0';
    return true;
}

/* Reads lines up to "end". */
static char *kept_read_block(struct kept *k, bool copy)
{
    struct lines l = {.text = malloc(TEXT)};

    assert_non_null(l.text);
    l.text[0] = '\0';
    while (kept_read(k, copy) && strcmp(k->line, "end") != 0)
        lines_add(&l, "%s\n", k->line);
    return l.text;
}

/* Reads an example file as a document with this name. */
static const struct document *kept_load(struct kept *k, const char *name)
{
    struct document *d = &k->documents[k->document_count++];
    FILE *file = open_source(name);

    assert_true(k->document_count <= DOCUMENTS);
    assert_non_null(d->text = calloc(1, TEXT));
    snprintf(d->name, sizeof(d->name), "%s", name);
    assert_true(fread(d->text, 1, TEXT - 1, file) > 0);
    fclose(file);
    return d;
}

static const struct document *kept_find(struct kept *k, const char *name)
{
    for (size_t i = 0; i < k->document_count; i++)
        if (strcmp(k->documents[i].name, name) == 0)
            return &k->documents[i];
    if (strchr(name, '/'))
        return kept_load(k, name);
    fail_msg("%s:%d: no document %s", file_name, k->number, name);
    return NULL;
}

/* Sets a field from a line "FIELD VALUE"; *err gets the error. */
static int request_set_line(struct kept *k, struct hm_request *request, const char *line,
                            struct hm_err *err)
{
    const char *value = strchr(line, ' ');
    char field[80];

    if (!value)
        fail_msg("%s:%d: '%s' is not FIELD VALUE", file_name, k->number, line);
    snprintf(field, sizeof(field), "%.*s", (int)(value - line), line);
    if (strcmp(field, "body") == 0)
        return hm_request_read(request, value + 1, strlen(value + 1), "body.json", err);
    if (value[1] != '@')
        return hm_request_set(request, field, value + 1, err);
    const struct document *d = kept_find(k, value + 2);
    return hm_request_set_document(request, field, d->name, d->text, strlen(d->text), err);
}

/* Runs the request with the current version of the library. */
static int kept_run(struct kept *k, const char *verb, struct hm_reply **ret_reply,
                    struct hm_err *err)
{
    const struct hm_context writing = {.files = hm_local_files()},
                            storing = {.store = &store_access};
    struct hm_request *request = NULL;
    int rc = hm_request_new(verb, &request, err);
    bool writes = false;

    for (size_t i = 0; i < k->field_count; i++)
        writes = writes || strncmp(k->fields[i], "plot ", 5) == 0 ||
                 strncmp(k->fields[i], "save ", 5) == 0;
    for (size_t i = 0; rc == 0 && i < k->field_count; i++)
        if (!as_text || strcmp(k->fields[i], "json true") != 0)
            rc = request_set_line(k, request, k->fields[i], err);
    if (rc == 0)
        rc = hm_request_run(request,
                            writes      ? &writing
                            : folder[0] ? &storing
                                        : NULL,
                            ret_reply, err);
    hm_request_free(request);
    return rc;
}

/* Makes the request while an allocation, after `after` successful ones, fails, alone or with all
 * later ones. Returns false if the request gave the same answer as `whole`, or the same error. */
static bool kept_fails(struct kept *k, const char *verb, long after, bool once,
                       const struct hm_reply *whole, int whole_rc)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    if (once)
        hm__alloc_fail_once(after);
    else
        hm__alloc_fail_after(after);
    int rc = kept_run(k, verb, &reply, &err);
    hm__alloc_fail_after(-1);
    if (rc == HM_E_NOMEM && reply)
        fail_msg("%s:%d: a reply after %ld allocations", file_name, k->number, after);
    if (rc == 0 && strcmp(reply->text, whole->text) != 0)
        fail_msg("%s:%d: another answer after %ld allocations", file_name, k->number, after);
    if (rc != HM_E_NOMEM && rc != whole_rc)
        fail_msg("%s:%d: %d after %ld allocations: %s", file_name, k->number, rc, after,
                 err.message);
    hm_reply_free(reply);
    return rc == HM_E_NOMEM;
}

/* Repeats the request with one failing allocation: each of the first ones, then later ones in
 * growing steps. */
static void kept_run_without_memory(struct kept *k, const char *verb)
{
    struct hm_reply *whole = NULL;
    struct hm_err err = {0};
    int whole_rc = kept_run(k, verb, &whole, &err);
    long share = is_torture() ? 4000 : 16, after = 0;

    for (; kept_fails(k, verb, after, false, whole, whole_rc); after += 1 + after / share) {
        kept_fails(k, verb, after, true, whole, whole_rc);
        k->failures += 2;
    }
    hm_reply_free(whole);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 16 };

/* One request that is made in one thread. */
struct thread_run {
    pthread_t thread;
    struct kept *kept;
    const char *verb;
    struct hm_reply *reply;
    struct hm_err err;
};

static void *thread_start(void *argument)
{
    struct thread_run *r = argument;

    r->err.code = kept_run(r->kept, r->verb, &r->reply, &r->err);
    return NULL;
}

static bool runs_agree(const struct thread_run *a, const struct thread_run *b)
{
    if (a->err.code != b->err.code)
        return false;
    return a->err.code ? strcmp(a->err.message, b->err.message) == 0
                       : strcmp(a->reply->text, b->reply->text) == 0;
}

/* Returns the text of the first run, starting a little before its first difference from another
 * run. */
static const char *difference_of(const struct thread_run *run, const struct thread_run *other)
{
    const char *a = run->err.code ? run->err.message : run->reply->text;
    const char *b = other->err.code ? other->err.message : other->reply->text;
    size_t at = 0;

    while (a[at] && a[at] == b[at])
        at++;
    return a + (at > 20 ? at - 20 : 0);
}

static void kept_run_in_threads(struct kept *k, const char *verb)
{
    static struct thread_run runs[THREADS + 1];

    /* The first run is made alone; it also reads the examples, which the other runs share. */
    runs[0] = (struct thread_run){.kept = k, .verb = verb};
    thread_start(&runs[0]);
    for (int i = 1; i <= THREADS; i++) {
        runs[i] = (struct thread_run){.kept = k, .verb = verb};
        assert_int_equal(pthread_create(&runs[i].thread, NULL, thread_start, &runs[i]), 0);
    }
    for (int i = 1; i <= THREADS; i++)
        assert_int_equal(pthread_join(runs[i].thread, NULL), 0);
    for (int i = 1; i <= THREADS; i++)
        if (!runs_agree(&runs[0], &runs[i]))
            fail_msg("%s:%d: the answer of a thread differs: %.60s, %.60s", file_name, k->number,
                     difference_of(&runs[0], &runs[i]), difference_of(&runs[i], &runs[0]));
    for (int i = 0; i <= THREADS; i++)
        hm_reply_free(runs[i].reply);
}

/* ---- text ------------------------------------------------------------------------------------ */

/*
 * Returns whether a text has "nan" or "inf" as a word, because a number was printed that is not
 * finite.
 */
static bool has_no_number(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

    for (const char *at = text; *at;) {
        size_t length = strspn(at, letters);
        const char *word = at + (*at == '-');
        size_t rest = length - (size_t)(word - at);
        if (rest == 3 && (strncasecmp(word, "nan", 3) == 0 || strncasecmp(word, "inf", 3) == 0))
            return true;
        at += length + (at[length] != '\0');
    }
    return false;
}

static void kept_check_text(struct kept *k, const char *verb)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    if (kept_run(k, verb, &reply, &err) == 0 && has_no_number(reply->text)) {
        fprintf(stderr, "%s:%d: %s\n%s\n", file_name, k->number, verb, reply->text);
        k->wrong++;
    }
    hm_reply_free(reply);
}

/* Appends an answer to the file of HM_DUMP. */
static void dump_answer(const char *verb, const struct hm_reply *reply, const struct hm_err *err)
{
    const char *dump = getenv("HM_DUMP");
    FILE *file = dump ? fopen(dump, "a") : NULL;

    if (!file)
        return;
    fprintf(file, "%s %s\n%s\n", file_name, verb, reply ? reply->text : err->message);
    fclose(file);
}

static void kept_compare(struct kept *k, const char *verb, const char *got, int at)
{
    char *wanted = kept_read_block(k, false);

    if (k->out)
        fprintf(k->out, "%send\n", got);
    else if (!texts_agree(wanted, got)) {
        fprintf(stderr, "%s:%d: %s\n", file_name, at, verb);
        print_difference(wanted, got);
        k->wrong++;
    }
    k->requests++;
    free(wanted);
}

static void kept_request(struct kept *k, const char *verb)
{
    struct lines l = {.text = malloc(TEXT)};
    struct hm_err err = {0};
    struct hm_reply *reply = NULL;
    int at = k->number;

    assert_non_null(l.text);
    l.text[0] = '\0';
    for (k->field_count = 0; kept_read(k, true) && strcmp(k->line, "answer") != 0;) {
        assert_true(k->field_count < FIELDS);
        snprintf(k->fields[k->field_count++], sizeof(k->fields[0]), "%.4000s", k->line);
    }
    if (as_text && memory_every == 0) {
        free(kept_read_block(k, false));
        kept_check_text(k, verb);
        k->requests++;
    } else if (threads_every > 0) {
        free(kept_read_block(k, false));
        if (k->requests++ % threads_every == 0)
            kept_run_in_threads(k, verb);
    } else if (memory_every == 0) {
        if (kept_run(k, verb, &reply, &err))
            lines_add_error(&l, &err);
        else
            lines_add_reply(&l, reply);
        dump_answer(verb, reply, &err);
        kept_compare(k, verb, l.text, at);
    } else {
        free(kept_read_block(k, false));
        if (k->requests++ % memory_every == 0)
            kept_run_without_memory(k, verb);
    }
    hm_reply_free(reply);
    free(l.text);
}

/* Copies the text of a document, with a word instead of each TYPE. */
static char *replace_type(const char *text, const char *word)
{
    struct lines l = {.text = malloc(TEXT)};

    assert_non_null(l.text);
    for (const char *at; (at = strstr(text, "TYPE")); text = at + 4)
        lines_add(&l, "%.*s%s", (int)(at - text), text, word);
    lines_add(&l, "%s", text);
    return l.text;
}

/* Reads lines "NUMBER TEXT" up to "end", in the order of the numbers. Returns a copy of `text` in
 * which each line with such a number has the text instead. */
static char *kept_read_lines(struct kept *k, const char *text)
{
    struct lines l = {.text = malloc(TEXT)};
    long at = 1;

    assert_non_null(l.text);
    l.text[0] = '\0';
    while (kept_read(k, true) && strcmp(k->line, "end") != 0) {
        char *other;
        for (long number = strtol(k->line, &other, 10); at < number && *text; at++) {
            size_t length = strcspn(text, "\n");
            lines_add(&l, "%.*s\n", (int)length, text);
            text += length + (text[length] == '\n');
        }
        if (*other)
            lines_add(&l, "%s\n", other + 1);
        text += strcspn(text, "\n");
        text += *text == '\n';
        at++;
    }
    lines_add(&l, "%s", text);
    return l.text;
}

/* Makes an empty store, which the following requests use. */
static void kept_make_store(void)
{
    snprintf(folder, sizeof(folder), "/tmp/hm-kept-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/runs.db", folder);
}

/* Reads a document; `line` is the text after the word "document". */
static void kept_document(struct kept *k, const char *line)
{
    struct document *d = &k->documents[k->document_count++];
    char base[80], word[80];

    assert_true(k->document_count <= DOCUMENTS);
    if (sscanf(line, "%79s of %79s %79s", d->name, base, word) == 3)
        d->text = replace_type(kept_find(k, base)->text, word);
    else if (sscanf(line, "%79s from %79s", d->name, base) == 2)
        d->text = kept_read_lines(k, kept_find(k, base)->text);
    else
        d->text = kept_read_block(k, true);
    d->text = realloc(d->text, strlen(d->text) + 1);
    assert_non_null(d->text);
}

static void answers_are_kept(void **state)
{
    static struct kept k;
    char kept_path[1024], name[80];
    const char *root = getenv("HM_SOURCE"), *record = getenv("HM_RECORD");

    (void)state;
    snprintf(kept_path, sizeof(kept_path), "%s/tests/data/answers/%s.txt", root ? root : ".",
             file_name);
    if (!(k.in = fopen(kept_path, "r")))
        fail_msg("cannot open %s", kept_path);
    if (record && strcmp(record, "1") == 0 && memory_every + threads_every + as_text == 0)
        assert_non_null(k.out = tmpfile());
    while (kept_read(&k, true)) {
        if (strncmp(k.line, "document ", 9) == 0)
            kept_document(&k, k.line + 9);
        else if (sscanf(k.line, "request %79[^\n]", name) == 1)
            kept_request(&k, name);
        else if (strcmp(k.line, "short") == 0)
            is_short = true;
        else if (strcmp(k.line, "store") == 0)
            kept_make_store();
        else if (k.line[0] && k.line[0] != '#')
            fail_msg("%s:%d: '%s' begins no block", file_name, k.number, k.line);
    }
    fclose(k.in);
    if (folder[0]) {
        remove_files(path);
        rmdir(folder);
    }
    for (size_t i = 0; i < k.document_count; i++)
        free(k.documents[i].text);
    if (k.out) {
        FILE *file = fopen(kept_path, "w");
        rewind(k.out);
        assert_non_null(file);
        for (int c; (c = fgetc(k.out)) != EOF;)
            fputc(c, file);
        fclose(file);
        fclose(k.out);
    }
    assert_true(k.requests > 0);
    if (memory_every > 0)
        print_message("# %zu allocations failed\n", k.failures);
    if (k.wrong > 0)
        fail_msg("%zu of %zu answers %s", k.wrong, k.requests,
                 as_text ? "have a number that is not finite"
                         : "changed; HM_RECORD=1 keeps those of today");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(answers_are_kept)};

    if (argc < 2 || argc > 4)
        return 2;
    file_name = argv[1];
    if (argc > 2 && strncmp(argv[2], "threads:", 8) == 0)
        threads_every = strtoul(argv[2] + 8, NULL, 10);
    else if (argc > 2 && strcmp(argv[2], "text") == 0)
        as_text = true;
    else if (argc > 2)
        memory_every = strtoul(argv[2], NULL, 10);
    as_text = as_text || argc > 3;
    return cmocka_run_group_tests_name("kept_answers", tests, NULL, NULL);
}
