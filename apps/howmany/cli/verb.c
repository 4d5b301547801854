/* Converts the arguments of a command to a request, and prints the reply. */
#include "verb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"
#include "text.h"

/* ---- the table of options ----------------------------------------------------------------------
 */

/* Returns whether a field is one of the verb's operands. */
static bool is_operand(const struct hm_verb *verb, const char *field)
{
    char name[64];

    for (size_t i = 0; hm__choice_name(verb->operand, i, name, sizeof(name)); i++)
        if (strcmp(name, field) == 0)
            return true;
    return false;
}

static bool has_option(const struct cli_options *options, const char *name)
{
    for (size_t i = 0; i < options->count; i++)
        if (strcmp(options->items[i].name, name) == 0)
            return true;
    return false;
}

/* Adds an option for a field; the field "max_n" becomes the option "max-n". */
static void add_field(struct cli_options *options, const struct hm_verb *verb,
                      const struct hm_request_field *f)
{
    size_t k = options->count;

    if (k == CLI_OPTIONS_MAX)
        return;
    char *name = options->names[k];
    snprintf(name, sizeof(options->names[k]), "%s", f->name);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    if (has_option(options, name))
        return;
    options->items[k] =
        (struct cli_option){name, f->letter, f->argument, f->help, f->choices, f->old};
    options->groups[k] = f->group;
    options->operands[k] = is_operand(verb, f->name) && !f->letter;
    options->count++;
}

static const char time_limit[] = "time-limit";

/* Copies the options of a command that is not a request, with the headings above them. */
static void copy_options(const struct cli_command *command, struct cli_options *options)
{
    const char *group = NULL;

    for (size_t i = 0; i < command->option_count; i++) {
        for (const struct cli_heading *h = command->headings; h && h->title; h++)
            if (strcmp(h->option, command->options[i].name) == 0)
                group = h->title;
        options->items[i] = command->options[i];
        options->groups[i] = group;
        options->operands[i] = false;
    }
    options->count = command->option_count;
}

void cli_options_make(const struct cli_command *command, struct cli_options *options)
{
    options->count = 0;
    if (!command->verbs) {
        copy_options(command, options);
        return;
    }
    for (size_t v = 0; command->verbs[v]; v++)
        for (size_t i = 0; i < command->verbs[v]->field_count; i++)
            add_field(options, command->verbs[v], &command->verbs[v]->fields[i]);
    /* The time limit is an option but not a field of the request, because over HTTP the server sets
     * it. */
    if (options->count < CLI_OPTIONS_MAX) {
        options->items[options->count] = (struct cli_option){
            time_limit, 0, "TIME", "end with an error after this time", NULL, NULL};
        options->groups[options->count] = "limits";
        options->operands[options->count++] = false;
    }
}

/* ---- arguments ---------------------------------------------------------------------------------
 */

struct verb_word {
    int option; /* Index into the table of options; -1 if this argument is an operand. */
    const char *text;
};

struct verb_words {
    struct cli_options options;
    struct verb_word *words;
    size_t count;
};

static int accept_word(void *state, int option, const char *text)
{
    struct verb_words *w = state;

    w->words[w->count++] = (struct verb_word){option, text ? text : ""};
    return 0;
}

/* Finds the verb that the first operand selects, and removes this operand from the arguments. */
static int choose_verb(const struct cli_command *command, struct verb_words *w,
                       const struct hm_verb **ret_verb)
{
    *ret_verb = command->verbs[0];
    if (!command->verbs[1])
        return 0;
    for (size_t k = 0; k < w->count; k++) {
        if (w->words[k].option >= 0)
            continue;
        size_t length = strlen(command->name);
        struct hm_text names = {0};
        for (size_t v = 0; command->verbs[v]; v++) {
            const char *action = command->verbs[v]->name + length + 1;
            if (strcmp(action, w->words[k].text) == 0) {
                *ret_verb = command->verbs[v];
                memmove(&w->words[k], &w->words[k + 1], (--w->count - k) * sizeof(*w->words));
                hm__text_release(&names);
                return 0;
            }
            hm__text_addf(&names, "%s%s",
                          v == 0                  ? ""
                          : command->verbs[v + 1] ? ", "
                                                  : " or ",
                          action);
        }
        int rc = cli_complain("%s: '%s' is not %s", command->name, w->words[k].text,
                              names.data ? names.data : "an action");
        hm__text_release(&names);
        return rc;
    }
    return 0;
}

/*
 * Sets the field that belongs to operand `number`. If the last of these fields is a list, all
 * further operands are added to it.
 */
static int set_operand(struct cli_verb_call *c, size_t number, const char *text, struct hm_err *err)
{
    char name[64] = "", last[64];
    size_t fields = 0;

    while (c->verb->operand && hm__choice_name(c->verb->operand, fields, last, sizeof(last)))
        fields++;
    if (fields == 0)
        return cli_complain("%s: unexpected operand '%s'", c->verb->name, text);
    size_t at = number < fields ? number : fields - 1;
    hm__choice_name(c->verb->operand, at, name, sizeof(name));
    const struct hm_request_field *f = hm__verb_field(c->verb, name);
    bool list = f->kind == HM_REQUEST_DOCUMENTS || f->kind == HM_REQUEST_PAIRS ||
                f->kind == HM_REQUEST_TEXTS;
    if (number >= fields && !list && f->kind != HM_REQUEST_NUMBERS)
        return cli_complain("%s: only one %s can be given, but '%s' is another", c->verb->name,
                            f->argument, text);
    return hm_request_set(c->request, name, text, err);
}

const char *cli_verb_value(const struct cli_verb_call *c, const char *field)
{
    const struct verb_words *w = c->words;
    size_t operand = 0, seen = 0;
    char name[64];

    while (c->verb->operand && hm__choice_name(c->verb->operand, operand, name, sizeof(name)) &&
           strcmp(name, field) != 0)
        operand++;
    bool positional =
        c->verb->operand && hm__choice_name(c->verb->operand, operand, name, sizeof(name));
    for (size_t k = 0; k < w->count; k++) {
        const struct verb_word *word = &w->words[k];
        if (word->option >= 0 && strcmp(w->options.items[word->option].name, field) == 0)
            return word->text;
        if (word->option < 0 && positional && seen++ == operand)
            return word->text;
    }
    return NULL;
}

bool cli_verb_reads(const struct cli_verb_call *c, const char *path)
{
    bool same = false;

    for (size_t k = 0; k < c->words->count; k++)
        same =
            same || (c->words->words[k].option < 0 && strcmp(c->words->words[k].text, "-") != 0 &&
                     hm__store_is_same(c->words->words[k].text, path));
    return same;
}

/* Joins the operands (ids) into one list of numbers separated by commas. */
static int join_numbers(struct verb_words *w, struct hm_text *joined)
{
    for (size_t k = 0; k < w->count; k++)
        if (w->words[k].option < 0)
            hm__text_addf(joined, "%s%s", joined->length ? "," : "", w->words[k].text);
    return joined->failed ? cli_complain("out of memory") : 0;
}

static int set_fields(struct cli_verb_call *c, struct verb_words *w, struct hm_err *err)
{
    const struct hm_request_field *operand =
        c->verb->operand ? hm__verb_field(c->verb, c->verb->operand) : NULL;
    bool numbers = operand && operand->kind == HM_REQUEST_NUMBERS;
    struct hm_text joined = {0};
    size_t operands = 0;
    int rc = 0;

    for (size_t k = 0; rc == 0 && k < w->count; k++) {
        const struct verb_word *word = &w->words[k];
        const char *name = word->option >= 0 ? w->options.items[word->option].name : NULL;
        if (!name && !numbers)
            rc = set_operand(c, operands++, word->text, err);
        else if (name && strcmp(name, time_limit) == 0)
            rc = cli_positive(name, word->text, HM_DIM_TIME, &c->time_limit);
        else if (name && !hm__verb_field(c->verb, name))
            rc = cli_complain("%s: there is no option '--%s'", c->verb->name, name);
        else if (name)
            rc = hm_request_set(c->request, name, word->text, err);
        if (rc == 0 && name && strcmp(name, "plot") == 0)
            rc = cli_check_plot(word->text);
    }
    if (rc == 0 && numbers)
        rc = join_numbers(w, &joined);
    if (rc == 0 && joined.length > 0)
        rc = hm_request_set(c->request, c->verb->operand, joined.data, err);
    hm__text_release(&joined);
    return rc;
}

/* ---- the reply ---------------------------------------------------------------------------------
 */

static void show_progress(void *data, const char *what, size_t done, size_t total)
{
    struct cli_verb_call *c = data;

    if (!c->progress.what || strcmp(c->progress.what, what) != 0) {
        if (c->progress.what)
            cli_progress_end(&c->progress);
        c->progress = cli_progress_start(what, total);
    }
    cli_progress_step(&c->progress, done);
}

static int write_piece(void *data, const char *text, size_t length, struct hm_err *err)
{
    struct cli_verb_call *c = data;
    FILE *to = c->output.file ? c->output.file : stdout;

    if (fwrite(text, 1, length, to) == length && (c->output.file || fflush(to) == 0))
        return 0;
    if (err) {
        *err = (struct hm_err){.code = HM_E_IO};
        snprintf(err->message, sizeof(err->message), "%s cannot be written: %s",
                 c->output.file ? c->output.path : "standard output", strerror(errno));
    }
    return HM_E_IO;
}

static int write_files(const struct hm_reply *reply)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < reply->file_count; i++) {
        const struct hm_reply_file *f = &reply->files[i];
        if (f->program)
            rc = cli_gnuplot(f->text, f->path);
        else if (strcmp(f->path, "-") == 0)
            rc = cli_put(f->text) ? 0 : EXIT_USAGE;
        else
            rc = cli_write_file(f->path, f->text, strlen(f->text));
    }
    return rc;
}

static int show_reply(struct cli_verb_call *c, const struct hm_reply *reply)
{
    /* Documents meant for other programs are printed without line wrapping. */
    bool document = strncmp(reply->type, "text/plain", 10) != 0 || cli_verb_value(c, "emit");
    struct hm_err err = {0};
    int rc = 0;

    if (reply->length > 0 && c->output.file)
        rc = write_piece(c, reply->text, reply->length, &err) ? cli_report(&err) : 0;
    else if (reply->length > 0)
        rc = (document ? cli_put(reply->text) : cli_put_wrapped(reply->text)) ? 0 : EXIT_USAGE;
    /* Files are written even if the text cannot be printed. */
    int files = write_files(reply);
    rc = rc ? rc : files;
    return rc ? rc : reply->answered ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

/* ---- running -----------------------------------------------------------------------------------
 */

/*
 * Reports an error. If an operand is invalid, the message names the command instead of an option.
 */
static int report_error(const struct cli_verb_call *c, struct hm_err *err)
{
    if (err->code == HM_E_CANCELLED) {
        fputs("howmany: interrupted\n", stderr);
        return EXIT_INTERRUPTED;
    }
    if (strcmp(err->source, "request") == 0 && c->verb->operand &&
        is_operand(c->verb, err->field)) {
        snprintf(err->source, sizeof(err->source), "%s", c->verb->name);
        err->field[0] = '\0';
        err->line = 0;
    }
    return cli_report(err);
}

static int run_request(const struct cli_command *command, struct cli_verb_call *c)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    struct cli_interrupt before;

    if (cli_has_own_catalog() && !(c->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    cli_store_access_init(&c->store);
    c->context = (struct hm_context){.files = hm_local_files(),
                                     .store = &c->store.access,
                                     .catalog = c->catalog,
                                     .style = cli_style(),
                                     .write = write_piece,
                                     .write_data = c,
                                     .progress = show_progress,
                                     .progress_data = c,
                                     .limits = {.seconds = c->time_limit},
                                     .cancelled = cli_interrupted};
    int rc = command->prepare ? command->prepare(c) : 0;
    cli_interrupt_watch(&before);
    if (rc == 0 && hm_request_run(c->request, &c->context, &reply, &err))
        rc = report_error(c, &err);
    cli_interrupt_restore(&before);
    if (c->progress.what)
        cli_progress_end(&c->progress);
    if (reply)
        rc = show_reply(c, reply);
    if (c->output.file && rc == EXIT_ANSWERED)
        rc = cli_draft_keep(&c->output);
    cli_draft_drop(&c->output);
    hm_reply_free(reply);
    cli_store_access_release(&c->store);
    return rc;
}

int cli_verb_run(const struct cli_command *command, int argc, char **argv)
{
    struct verb_words w = {.words = calloc((size_t)argc + 1, sizeof(*w.words))};
    struct cli_verb_call c = {.words = &w};
    struct hm_err err = {0};
    bool help = false;

    if (!w.words)
        return cli_complain("out of memory");
    cli_options_make(command, &w.options);
    int rc = cli_parse(command, &w.options, argc, argv, accept_word, &w, &help);
    if (rc == 0 && help) {
        cli_command_help(command);
    } else if (rc == 0) {
        rc = choose_verb(command, &w, &c.verb);
        if (rc == 0 && hm_request_new(c.verb->name, &c.request, &err))
            rc = cli_report(&err);
        if (rc == 0)
            rc = set_fields(&c, &w, &err);
        if (err.code)
            rc = report_error(&c, &err);
        if (rc == 0)
            rc = run_request(command, &c);
    }
    hm_request_free(c.request);
    hm_catalog_free(c.catalog);
    free(w.words);
    return rc;
}
