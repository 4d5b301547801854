/* A command as a list of arguments: split from text without a shell, with {name} placeholders. */
#ifndef HM_COMMAND_LINE_H
#define HM_COMMAND_LINE_H

#include "howmany.h"

struct hm_text;

/* The arguments of a command in the form that execvp takes. Zero-initialise. */
struct launch_command {
    char **argv; /* Owned, as is each argument; argv[count] is NULL; NULL while count is 0. */
    size_t count;
};

/* The value that replaces {name}. Both texts are borrowed. */
struct launch_placeholder {
    const char *name; /* A letter or _, followed by letters, digits, _ and -. */
    const char *value;
};

/*
 * Split text as a shell would: blanks separate arguments; '…', "…" and \ quote. Pipes, redirection,
 * variables and patterns, which need a shell, are errors.
 */
int launch_command_split(struct launch_command *command, const char *text, struct hm_err *err);

/*
 * Replace each {name} by its value. A value is neither split nor searched for further names.
 * {{name}} becomes the literal text {name}; braces around anything but a name are left unchanged.
 */
int launch_command_fill(const struct launch_command *command,
                        const struct launch_placeholder *placeholders, size_t count,
                        struct launch_command *ret_filled, struct hm_err *err);

/* Add a copy of one argument at the end; it is neither split nor filled in. */
int launch_command_add(struct launch_command *command, const char *argument, struct hm_err *err);

/* Whether any argument contains the placeholder {name}. */
bool launch_command_uses(const struct launch_command *command, const char *name);

/* Add the command to `out`, quoted so that a shell splits it into the same arguments. Returns 0 or
 * HM_E_NOMEM. */
int launch_command_quote(struct hm_text *out, const struct launch_command *command);

void launch_command_release(struct launch_command *command);

#endif
