/*
 * Splitting a command line into words without a shell, and filling in {names}.
 *
 * No shell, because it would stand between us and what is measured: it takes its own time, gets the
 * signals, and gives a value with a blank in it another meaning. So that nobody is surprised, a
 * text that is accepted here means to sh what it means to us, and anything else is refused by name.
 * (The exception is a pattern in square brackets, which programs use more often than shells.)
 *
 * Names are filled in after the split, so that a value stays within its word whatever is in it.
 */
#include "words.h"

#include <string.h>

#include "err.h"
#include "memory.h"
#include "text.h"

enum { NAME_SHOWN = 48 }; /* of a name in a message */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* strchr also finds the NUL at the end, which is never what is meant here. */
static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

/* ---- lists of words ------------------------------------------------------------------------- */

/* Take the text of word and add it at the end. Room doubles whenever count + 1 is a power of two.
 */
static int push(struct cli_words *words, struct hm_text *word, struct hm_err *err)
{
    size_t slots = words->count + 1;

    if ((slots & (slots - 1)) == 0) {
        char **grown = hm__realloc(words->words, 2 * slots, sizeof(*grown));
        if (!grown)
            return hm__fail_nomem(err);
        grown[words->count] = NULL;
        words->words = grown;
    }
    int rc = hm__text_take(word, &words->words[words->count], err);
    if (rc == 0)
        words->words[++words->count] = NULL;
    return rc;
}

int cli_words_add(struct cli_words *words, const char *word, struct hm_err *err)
{
    struct hm_text text = {0};

    hm__text_add(&text, word);
    int rc = push(words, &text, err);
    hm__text_release(&text);
    return rc;
}

void cli_words_release(struct cli_words *words)
{
    for (size_t i = 0; i < words->count; i++)
        hm__free(words->words[i]);
    hm__free(words->words);
    *words = (struct cli_words){0};
}

/* ---- splitting ------------------------------------------------------------------------------ */

struct splitter {
    const char *text, *at; /* all of it, and where we are; borrowed */
    struct hm_text word;   /* as far as it is read */
    struct hm_err *err;
};

/* The place of a character for a person: from 1, and a letter of several bytes counts once. */
static size_t place(const struct splitter *s, const char *at)
{
    size_t characters = 1;

    for (const char *p = s->text; p < at; p++)
        characters += ((unsigned char)*p & 0xc0) != 0x80;
    return characters;
}

static int refuse(struct splitter *s)
{
    int rc = hm__fail(s->err, HM_E_SYNTAX, "'%c' (character %zu) means something only to a shell",
                      *s->at, place(s, s->at));

    hm__err_hint(s->err, "--shell runs it through sh; in single quotes it is passed on as it is");
    return rc;
}

static int not_closed(struct splitter *s, const char *open)
{
    int rc = hm__fail(s->err, HM_E_SYNTAX, "the quote %c that opens at character %zu is not closed",
                      *open, place(s, open));

    hm__err_hint(s->err, "close it, or put \\ before it if it is part of a word");
    return rc;
}

static int read_single(struct splitter *s)
{
    const char *open = s->at, *close = strchr(open + 1, '\'');

    if (!close)
        return not_closed(s, open);
    hm__text_add_n(&s->word, open + 1, (size_t)(close - open - 1));
    s->at = close + 1;
    return 0;
}

/* Whether a shell would put something else in the place of this $ within double quotes. */
static bool expands(const char *dollar)
{
    return starts_name(dollar[1]) || is_digit(dollar[1]) || is_one_of(dollar[1], "({?#@*!$-");
}

static int read_double(struct splitter *s)
{
    const char *open = s->at++;

    for (; *s->at != '"'; s->at++) {
        if (*s->at == '\0')
            return not_closed(s, open);
        if (*s->at == '`' || (*s->at == '$' && expands(s->at)))
            return refuse(s);
        if (s->at[0] == '\\' && s->at[1] == '\n') { /* joins the line to the next */
            s->at++;
            continue;
        }
        if (*s->at == '\\' && is_one_of(s->at[1], "\"\\$`"))
            s->at++;
        hm__text_add_n(&s->word, s->at, 1);
    }
    s->at++;
    return 0;
}

static int read_escaped(struct splitter *s)
{
    if (s->at[1] == '\0') {
        int rc = hm__fail(s->err, HM_E_SYNTAX, "a \\ at the end has nothing to quote");
        hm__err_hint(s->err, "\\\\ stands for a single \\");
        return rc;
    }
    if (s->at[1] != '\n')
        hm__text_add_n(&s->word, s->at + 1, 1);
    s->at += 2;
    return 0;
}

static int read_plain(struct splitter *s, bool first)
{
    if (is_one_of(*s->at, "|&;<>()`$*?") || (first && is_one_of(*s->at, "~#")))
        return refuse(s);
    hm__text_add_n(&s->word, s->at++, 1);
    return 0;
}

static int read_word(struct splitter *s)
{
    const char *start = s->at;
    int rc = 0;

    while (rc == 0 && *s->at && !is_blank(*s->at)) {
        if (*s->at == '\'')
            rc = read_single(s);
        else if (*s->at == '"')
            rc = read_double(s);
        else if (*s->at == '\\')
            rc = read_escaped(s);
        else
            rc = read_plain(s, s->at == start);
    }
    return rc;
}

/* Over blanks, and over a line's end that a backslash takes away. */
static void skip_blanks(struct splitter *s)
{
    while (is_blank(*s->at) || (s->at[0] == '\\' && s->at[1] == '\n'))
        s->at += *s->at == '\\' ? 2 : 1;
}

int cli_words_split(struct cli_words *words, const char *text, struct hm_err *err)
{
    struct splitter s = {.text = text, .at = text, .err = err};
    struct cli_words found = {0};
    int rc = 0;

    for (skip_blanks(&s); rc == 0 && *s.at; skip_blanks(&s)) {
        rc = read_word(&s);
        if (rc == 0)
            rc = push(&found, &s.word, err);
    }
    if (rc == 0 && found.count == 0) {
        rc = hm__fail(err, HM_E_SYNTAX, "the command is empty");
        hm__err_hint(err, "give a program and its arguments, such as ./train --workers {n}");
    }
    hm__text_release(&s.word);
    if (rc)
        cli_words_release(&found);
    else
        *words = found;
    return rc;
}

/* ---- filling in ----------------------------------------------------------------------------- */

struct piece {
    const char *text; /* borrowed from the word; of a name, without its braces */
    size_t length;
    bool is_name;
};

static size_t name_length(const char *at)
{
    size_t length = 0;

    if (!starts_name(*at))
        return 0;
    while (starts_name(at[length]) || is_digit(at[length]) || at[length] == '-')
        length++;
    return length;
}

/*
 * Read the piece that starts at `at` (not at the end); returns where the next one starts. }} stands
 * for } only where {{ came before it in the word: nested JSON ends in }} and must stay as it is.
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

static bool is_called(const struct piece *piece, const char *name)
{
    return strlen(name) == piece->length && memcmp(name, piece->text, piece->length) == 0;
}

struct fills {
    const struct cli_fill *fills; /* borrowed */
    size_t count;
};

static const char *nth_name(const void *context, size_t i)
{
    const struct fills *f = context;
    return i < f->count ? f->fills[i].name : NULL;
}

static int unknown_name(const struct piece *piece, const struct fills *fills, struct hm_err *err)
{
    struct hm_text name = {0}, names = {0};
    int shown = (int)(piece->length < NAME_SHOWN ? piece->length : NAME_SHOWN);
    int rc = hm__fail(err, HM_E_NAME, "nothing is called {%.*s}", shown, piece->text);

    hm__text_add_n(&name, piece->text, piece->length);
    for (size_t i = 0; i < fills->count; i++)
        hm__text_addf(&names, "%s{%s}", i ? ", " : "", fills->fills[i].name);
    const char *near = name.failed ? NULL : hm__suggest(name.data, nth_name, fills);
    if (near)
        hm__err_hint(err, "did you mean {%s}? braces that are meant as such are written {{%.*s}}",
                     near, shown, piece->text);
    else
        hm__err_hint(err, "there is %s; braces that are meant as such are written {{%.*s}}",
                     names.length && !names.failed ? names.data : "nothing to fill in", shown,
                     piece->text);
    hm__text_release(&name);
    hm__text_release(&names);
    return rc;
}

static int add_piece(struct hm_text *out, const struct piece *piece, const struct fills *fills,
                     struct hm_err *err)
{
    if (!piece->is_name) {
        hm__text_add_n(out, piece->text, piece->length);
        return 0;
    }
    for (size_t i = 0; i < fills->count; i++) {
        if (is_called(piece, fills->fills[i].name)) {
            hm__text_add(out, fills->fills[i].value);
            return 0;
        }
    }
    return unknown_name(piece, fills, err);
}

static int fill_word(struct hm_text *out, const char *word, const struct fills *fills,
                     struct hm_err *err)
{
    struct piece piece;
    size_t doubled = 0;
    int rc = 0;

    while (rc == 0 && *word) {
        word = next_piece(word, &doubled, &piece);
        rc = add_piece(out, &piece, fills, err);
    }
    return rc;
}

int cli_words_fill(const struct cli_words *words, const struct cli_fill *fills, size_t count,
                   struct cli_words *ret_filled, struct hm_err *err)
{
    const struct fills known = {fills, count};
    struct cli_words filled = {0};
    struct hm_text word = {0};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < words->count; i++) {
        rc = fill_word(&word, words->words[i], &known, err);
        if (rc == 0)
            rc = push(&filled, &word, err);
    }
    hm__text_release(&word);
    if (rc)
        cli_words_release(&filled);
    else
        *ret_filled = filled;
    return rc;
}

bool cli_words_uses(const struct cli_words *words, const char *name)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *at = words->words[i];
        struct piece piece;
        size_t doubled = 0;
        while (*at) {
            at = next_piece(at, &doubled, &piece);
            if (piece.is_name && is_called(&piece, name))
                return true;
        }
    }
    return false;
}

/* ---- quoting -------------------------------------------------------------------------------- */

/* Whether a shell would take the word as it is. In a first word, = would make it an assignment. */
static bool is_bare(const char *word, bool first)
{
    for (const char *p = word; *p; p++)
        if (!starts_name(*p) && !is_digit(*p) && !is_one_of(*p, first ? "@%+:,./-" : "@%+=:,./-"))
            return false;
    return *word;
}

static void quote_word(struct hm_text *out, const char *word)
{
    hm__text_add(out, "'");
    while (*word) {
        size_t length = strcspn(word, "'");
        hm__text_add_n(out, word, length);
        word += length;
        if (*word) { /* nothing quotes a ' within single quotes */
            hm__text_add(out, "'\\''");
            word++;
        }
    }
    hm__text_add(out, "'");
}

int cli_words_quote(struct hm_text *out, const struct cli_words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        hm__text_add(out, i ? " " : "");
        if (is_bare(words->words[i], i == 0))
            hm__text_add(out, words->words[i]);
        else
            quote_word(out, words->words[i]);
    }
    return out->failed ? HM_E_NOMEM : 0;
}
