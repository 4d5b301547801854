/*
 * Splits a command line into arguments without a shell, and replaces {name} placeholders.
 *
 * A shell between this program and the measured command would add its own time, receive the signals
 * and split values that contain spaces. Every text that is accepted here has the same meaning in
 * sh; a character that has a meaning only in a shell is an error, and the message names it. (The
 * exception is a pattern in square brackets, which is passed on unchanged because programs use
 * brackets often.)
 *
 * Placeholders are replaced after the split, so that a value always stays within one argument.
 */
#include "command_line.h"

#include <string.h>

#include "err.h"
#include "memory.h"
#include "text.h"

enum { NAME_SHOWN = 48 }; /* Names in messages are truncated to this number of characters. */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Returns whether `c` is in a set of characters. A NUL is never in the set, unlike with strchr. */
static bool is_char_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* ---- lists of arguments --------------------------------------------------------------------- */

/*
 * Moves the text of `argument` to the end of the list of arguments. The capacity doubles whenever
 * count + 1 is a power of two.
 */
static int command_push(struct launch_command *command, struct hm_text *argument,
                        struct hm_err *err)
{
    size_t slots = command->count + 1;

    if ((slots & (slots - 1)) == 0) {
        char **grown = hm__realloc(command->argv, 2 * slots, sizeof(*grown));
        if (!grown)
            return hm__fail_nomem(err);
        grown[command->count] = NULL;
        command->argv = grown;
    }
    int rc = hm__text_take(argument, &command->argv[command->count], err);
    if (rc == 0)
        command->argv[++command->count] = NULL;
    return rc;
}

int launch_command_add(struct launch_command *command, const char *argument, struct hm_err *err)
{
    struct hm_text text = {0};

    hm__text_add(&text, argument);
    int rc = command_push(command, &text, err);
    hm__text_release(&text);
    return rc;
}

void launch_command_release(struct launch_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        hm__free(command->argv[i]);
    hm__free(command->argv);
    *command = (struct launch_command){0};
}

/* ---- splitting ------------------------------------------------------------------------------ */

struct splitter {
    const char *text, *at; /* The whole command line and the current position in it; borrowed. */
    struct hm_text word;   /* Text of the current argument read so far. */
    struct hm_err *err;
};

/* Returns the position of a character in the command line, counted from 1; a UTF-8 character of
 * several bytes counts once. */
static size_t character_position(const struct splitter *s, const char *at)
{
    size_t characters = 1;

    for (const char *p = s->text; p < at; p++)
        characters += ((unsigned char)*p & 0xc0) != 0x80;
    return characters;
}

static int refuse_character(struct splitter *s)
{
    int rc = hm__fail(s->err, HM_E_SYNTAX, "'%c' (character %zu) has a meaning only in a shell",
                      *s->at, character_position(s, s->at));

    hm__err_hint(s->err, "'howmany bench --shell' runs the command through sh; in single quotes "
                         "the character is passed on unchanged");
    return rc;
}

static int quote_not_closed(struct splitter *s, const char *open)
{
    int rc = hm__fail(s->err, HM_E_SYNTAX, "the quote %c that opens at character %zu is not closed",
                      *open, character_position(s, open));

    hm__err_hint(s->err, "close it, or put \\ before it if it is part of a word");
    return rc;
}

static int read_single_quoted(struct splitter *s)
{
    const char *open = s->at, *close = strchr(open + 1, '\'');

    if (!close)
        return quote_not_closed(s, open);
    hm__text_add_n(&s->word, open + 1, (size_t)(close - open - 1));
    s->at = close + 1;
    return 0;
}

/* Returns whether a shell would expand this $ in double quotes. */
static bool dollar_expands(const char *dollar)
{
    return is_name_start(dollar[1]) || is_digit(dollar[1]) || is_char_of(dollar[1], "({?#@*!$-");
}

static int read_double_quoted(struct splitter *s)
{
    const char *open = s->at++;

    for (; *s->at != '"'; s->at++) {
        if (*s->at == '\0')
            return quote_not_closed(s, open);
        if (*s->at == '`' || (*s->at == '$' && dollar_expands(s->at)))
            return refuse_character(s);
        /* A backslash at the end of a line joins the line to the next one. */
        if (s->at[0] == '\\' && s->at[1] == '\n') {
            s->at++;
            continue;
        }
        if (*s->at == '\\' && is_char_of(s->at[1], "\"\\$`"))
            s->at++;
        hm__text_add_n(&s->word, s->at, 1);
    }
    s->at++;
    return 0;
}

static int read_escaped(struct splitter *s)
{
    if (s->at[1] == '\0') {
        int rc = hm__fail(s->err, HM_E_SYNTAX, "no character follows the \\ at the end");
        hm__err_hint(s->err, "write \\\\ for a single \\");
        return rc;
    }
    if (s->at[1] != '\n')
        hm__text_add_n(&s->word, s->at + 1, 1);
    s->at += 2;
    return 0;
}

static int read_unquoted(struct splitter *s, bool first)
{
    if (is_char_of(*s->at, "|&;<>()`$*?") || (first && is_char_of(*s->at, "~#")))
        return refuse_character(s);
    hm__text_add_n(&s->word, s->at++, 1);
    return 0;
}

static int read_argument(struct splitter *s)
{
    const char *start = s->at;
    int rc = 0;

    while (rc == 0 && *s->at && !is_blank(*s->at)) {
        if (*s->at == '\'')
            rc = read_single_quoted(s);
        else if (*s->at == '"')
            rc = read_double_quoted(s);
        else if (*s->at == '\\')
            rc = read_escaped(s);
        else
            rc = read_unquoted(s, s->at == start);
    }
    return rc;
}

/* Skips white space, and each backslash that is followed by a newline. */
static void skip_blanks(struct splitter *s)
{
    while (is_blank(*s->at) || (s->at[0] == '\\' && s->at[1] == '\n'))
        s->at += *s->at == '\\' ? 2 : 1;
}

int launch_command_split(struct launch_command *command, const char *text, struct hm_err *err)
{
    struct splitter s = {.text = text, .at = text, .err = err};
    struct launch_command found = {0};
    int rc = 0;

    for (skip_blanks(&s); rc == 0 && *s.at; skip_blanks(&s)) {
        rc = read_argument(&s);
        if (rc == 0)
            rc = command_push(&found, &s.word, err);
    }
    if (rc == 0 && found.count == 0) {
        rc = hm__fail(err, HM_E_SYNTAX, "the command is empty");
        hm__err_hint(err, "give a program and its arguments, such as ./train --workers {n}");
    }
    hm__text_release(&s.word);
    if (rc)
        launch_command_release(&found);
    else
        *command = found;
    return rc;
}

/* ---- filling in ----------------------------------------------------------------------------- */

struct piece {
    /* A part of an argument: plain text, or the name of a placeholder without its braces; borrowed
     * from the argument. */
    const char *text;
    size_t length;
    bool is_name;
};

static size_t name_length(const char *at)
{
    size_t length = 0;

    if (!is_name_start(*at))
        return 0;
    while (is_name_start(at[length]) || is_digit(at[length]) || at[length] == '-')
        length++;
    return length;
}

/*
 * Reads the plain text or the placeholder that starts at `at`, which must not be the end of the
 * argument. Returns the start of the next one. }} means } only after a {{ in the same argument,
 * because nested JSON ends in }} and must not change.
 */
static const char *next_piece(const char *at, size_t *doubled, struct piece *ret_piece)
{
    size_t name = *at == '{' ? name_length(at + 1) : 0;

    *ret_piece = (struct piece){at, 1, false};
    if (at[0] == '{' && at[1] == '{') {
        ++*doubled;
        return at + 2;
    }
    if (at[0] == '}' && at[1] == '}' && *doubled > 0) {
        --*doubled;
        return at + 2;
    }
    if (name > 0 && at[name + 1] == '}') {
        *ret_piece = (struct piece){at + 1, name, true};
        return at + name + 2;
    }
    ret_piece->length += strcspn(at + 1, "{}");
    return at + ret_piece->length;
}

static bool piece_is_name(const struct piece *piece, const char *name)
{
    return strlen(name) == piece->length && memcmp(name, piece->text, piece->length) == 0;
}

struct placeholders {
    const struct launch_placeholder *placeholders; /* Placeholders that have a value; borrowed. */
    size_t count;
};

static const char *nth_name(const void *context, size_t i)
{
    const struct placeholders *f = context;
    return i < f->count ? f->placeholders[i].name : NULL;
}

static int unknown_placeholder(const struct piece *piece, const struct placeholders *known,
                               struct hm_err *err)
{
    struct hm_text name = {0}, names = {0};
    int shown = (int)(piece->length < NAME_SHOWN ? piece->length : NAME_SHOWN);
    int rc = hm__fail(err, HM_E_NAME, "there is no value for {%.*s}", shown, piece->text);

    hm__text_add_n(&name, piece->text, piece->length);
    for (size_t i = 0; i < known->count; i++)
        hm__text_addf(&names, "%s{%s}", i ? ", " : "", known->placeholders[i].name);
    const char *near = name.failed ? NULL : hm__suggest(name.data, nth_name, known);
    if (near)
        hm__err_hint(err, "did you mean {%s}? Write {{%.*s}} for literal braces", near, shown,
                     piece->text);
    else if (names.length && !names.failed)
        hm__err_hint(err, "known names: %s; write {{%.*s}} for literal braces", names.data, shown,
                     piece->text);
    else
        hm__err_hint(err, "this command takes no placeholders; write {{%.*s}} for literal braces",
                     shown, piece->text);
    hm__text_release(&name);
    hm__text_release(&names);
    return rc;
}

static int add_piece(struct hm_text *out, const struct piece *piece,
                     const struct placeholders *known, struct hm_err *err)
{
    if (!piece->is_name) {
        hm__text_add_n(out, piece->text, piece->length);
        return 0;
    }
    for (size_t i = 0; i < known->count; i++) {
        if (piece_is_name(piece, known->placeholders[i].name)) {
            hm__text_add(out, known->placeholders[i].value);
            return 0;
        }
    }
    return unknown_placeholder(piece, known, err);
}

static int fill_argument(struct hm_text *out, const char *word, const struct placeholders *known,
                         struct hm_err *err)
{
    struct piece piece;
    size_t doubled = 0;
    int rc = 0;

    while (rc == 0 && *word) {
        word = next_piece(word, &doubled, &piece);
        rc = add_piece(out, &piece, known, err);
    }
    return rc;
}

int launch_command_fill(const struct launch_command *command,
                        const struct launch_placeholder *placeholders, size_t count,
                        struct launch_command *ret_filled, struct hm_err *err)
{
    const struct placeholders known = {placeholders, count};
    struct launch_command filled = {0};
    struct hm_text word = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < command->count; i++) {
        rc = fill_argument(&word, command->argv[i], &known, err);
        if (rc == 0)
            rc = command_push(&filled, &word, err);
    }
    hm__text_release(&word);
    if (rc)
        launch_command_release(&filled);
    else
        *ret_filled = filled;
    return rc;
}

bool launch_command_uses(const struct launch_command *command, const char *name)
{
    for (size_t i = 0; i < command->count; i++) {
        const char *at = command->argv[i];
        struct piece piece;
        size_t doubled = 0;
        while (*at) {
            at = next_piece(at, &doubled, &piece);
            if (piece.is_name && piece_is_name(&piece, name))
                return true;
        }
    }
    return false;
}

/* ---- quoting -------------------------------------------------------------------------------- */

/*
 * Returns whether a shell would not change the argument. In the first argument, = would mean an
 * assignment.
 */
static bool needs_no_quotes(const char *word, bool first)
{
    for (const char *p = word; *p; p++)
        if (!is_name_start(*p) && !is_digit(*p) &&
            !is_char_of(*p, first ? "@%+:,./-" : "@%+=:,./-"))
            return false;
    return *word;
}

static void quote_argument(struct hm_text *out, const char *word)
{
    hm__text_add(out, "'");
    while (*word) {
        size_t length = strcspn(word, "'");
        hm__text_add_n(out, word, length);
        word += length;
        if (*word) { /* A single quote cannot be escaped within single quotes, so the quotes are
                        closed before it and opened again after it. */
            hm__text_add(out, "'\\''");
            word++;
        }
    }
    hm__text_add(out, "'");
}

int launch_command_quote(struct hm_text *out, const struct launch_command *command)
{
    for (size_t i = 0; i < command->count; i++) {
        hm__text_add(out, i ? " " : "");
        if (needs_no_quotes(command->argv[i], i == 0))
            hm__text_add(out, command->argv[i]);
        else
            quote_argument(out, command->argv[i]);
    }
    return out->failed ? HM_E_NOMEM : 0;
}
