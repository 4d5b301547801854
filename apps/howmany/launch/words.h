/* A command line as words, split without a shell, with places for values to be filled in. */
#ifndef HM_WORDS_H
#define HM_WORDS_H

#include "howmany.h"

struct hm_text;

/* The words of a command, as execvp wants them. Zero-initialise. */
struct cli_words {
    char **words; /* owned, as is each word; words[count] == NULL; NULL while there are none */
    size_t count;
};

/* What {name} stands for. Both borrowed. */
struct cli_fill {
    const char *name; /* starts with a letter or _, goes on with those, digits and - */
    const char *value;
};

/*
 * Split text as a shell would: blanks separate; '…', "…" and \ quote. What only a shell can do
 * (pipes, redirection, variables, patterns) is refused rather than handed to the program as it
 * stands.
 */
int cli_words_split(struct cli_words *words, const char *text, struct hm_err *err);

/*
 * Replace each {name} by its value. A value is never split, nor searched for names again. {{name}}
 * stands for {name} itself; braces around anything but a name stay as they are.
 */
int cli_words_fill(const struct cli_words *words, const struct cli_fill *fills, size_t count,
                   struct cli_words *ret_filled, struct hm_err *err);

/* Add a copy of one word at the end, as it stands. */
int cli_words_add(struct cli_words *words, const char *word, struct hm_err *err);

/* Whether {name} is anywhere in the words, to be filled in. */
bool cli_words_uses(const struct cli_words *words, const char *name);

/* Add the words as a line that a shell would split into the same words; 0 or HM_E_NOMEM. */
int cli_words_quote(struct hm_text *out, const struct cli_words *words);

void cli_words_release(struct cli_words *words);

#endif
