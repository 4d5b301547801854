/*
 * Declares the state of commands that take one name as their only operand: `man` and `completion`.
 */
#ifndef HM_NAME_OPERAND_H
#define HM_NAME_OPERAND_H

struct name_operand {
    const char *name; /* The name, borrowed from the command line; NULL if none was given. */
};

/* Functions for the members of struct cli_command. The state is released with free. */
void *name_operand_begin(void);
int name_operand_accept(void *state, int option, const char *value);

#endif
