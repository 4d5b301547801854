/*
 * Represents a command as a list of arguments, split from a string without a shell, with {name}
 * placeholders.
 */
#ifndef HM_COMMAND_LINE_H
#define HM_COMMAND_LINE_H

#include "howmany.h"

struct hm_text;

/* The arguments of a command in the form that execvp needs. Zero-initialise the struct. */
struct launch_command {
    /* Array of arguments; the array and each argument are owned. argv[count] is NULL; `argv` is
     * NULL if `count` is 0. */
    char **argv;
    size_t count;
};

/* A value that replaces the placeholder {name}. Both strings are borrowed. */
struct launch_placeholder {
    /* Name of the placeholder: a letter or _, followed by letters, digits, _ and -. */
    const char *name;
    const char *value;
};

/*
 * Splits a string as a shell would: white space separates arguments; '…', "…" and \ quote
 * characters. Pipes, redirection, variables and patterns, which need a shell, are errors.
 */
int launch_command_split(struct launch_command *command, const char *text, struct hm_err *err);

/*
 * Replaces each {name} with its value. A value is not split and not searched for other names.
 * {{name}} becomes the literal text {name}; braces around anything other than a name are left
 * unchanged.
 */
int launch_command_fill(const struct launch_command *command,
                        const struct launch_placeholder *placeholders, size_t count,
                        struct launch_command *ret_filled, struct hm_err *err);

/*
 * Adds a copy of one argument at the end of a command; the argument is not split, and its
 * placeholders are not replaced.
 */
int launch_command_add(struct launch_command *command, const char *argument, struct hm_err *err);

/* Returns whether any argument contains the placeholder {name}. */
bool launch_command_uses(const struct launch_command *command, const char *name);

/*
 * Adds the command to `out`, quoted so that a shell splits it into the same arguments. Returns 0 or
 * HM_E_NOMEM.
 */
int launch_command_quote(struct hm_text *out, const struct launch_command *command);

void launch_command_release(struct launch_command *command);

#endif
