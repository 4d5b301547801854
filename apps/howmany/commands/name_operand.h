/* The state of commands whose only operand is one name: `man` and `completion`. */
#ifndef HM_NAME_OPERAND_H
#define HM_NAME_OPERAND_H

struct name_operand {
    const char *name; /* Borrowed from the command line; NULL: not given. */
};

/* Functions for struct cli_command; the state is released by free. */
void *name_operand_begin(void);
int name_operand_accept(void *state, int option, const char *value);

#endif
