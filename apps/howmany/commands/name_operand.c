/* Parses the only operand of `man` and `completion`. */
#include "name_operand.h"

#include <stdlib.h>

#include "cli.h"

void *name_operand_begin(void)
{
    return calloc(1, sizeof(struct name_operand));
}

int name_operand_accept(void *state, int option, const char *value)
{
    struct name_operand *operand = state;

    (void)option;
    if (operand->name)
        return cli_complain("'%s': give one name only", value);
    operand->name = value;
    return 0;
}
