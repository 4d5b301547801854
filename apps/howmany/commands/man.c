/*
 * Implements the command howmany man, which prints man pages in the format of scdoc, from the
 * tables of the commands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "name_operand.h"
#include "text.h"

/* Prints a string with escapes for the characters that are markup in scdoc. */
static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (strchr("_*\\#~<>", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void man_examples(const struct cli_command *c)
{
    size_t count = sizeof(c->examples) / sizeof(c->examples[0]);

    if (!c->examples[0])
        return;
    printf("# EXAMPLES\n\n");
    for (size_t i = 0; i < count && c->examples[i]; i++) {
        printf("\t");
        put_escaped(c->examples[i]);
        printf("\n\n");
    }
}

static void man_command(const struct cli_command *c)
{
    struct cli_options options;
    char written[80];

    cli_options_make(c, &options);
    printf("howmany-%s(1)\n\n# NAME\n\nhowmany-%s - ", c->name, c->name);
    put_escaped(cli_summary(c));
    printf("\n\n# SYNOPSIS\n\n*howmany %s* [_OPTION_]… ", c->name);
    put_escaped(c->arguments);
    printf("\n\n# DESCRIPTION\n\n");
    put_escaped(cli_description(c));
    printf("\n\n# OPTIONS\n\n");
    for (size_t i = 0; i < options.count; i++) {
        if (options.operands[i])
            continue;
        cli_option_text(&options.items[i], written, sizeof(written));
        printf("*");
        put_escaped(written);
        printf("*\n\t");
        put_escaped(options.items[i].help);
        printf(".\n\n");
    }
    printf("*-h, --help*\n\tShow the options.\n\n");
    man_examples(c);
    printf("# SEE ALSO\n\n*howmany*(1)\n");
}

static void man_program(void)
{
    printf("howmany(1)\n\n# NAME\n\nhowmany - how many machines, how long, how much, and why\n\n"
           "# SYNOPSIS\n\n*howmany* _COMMAND_ …\n\n# DESCRIPTION\n\n"
           "Answers from a description of a training job and a cluster how many machines to use, "
           "how long it takes, what it costs, and why, before the cluster is rented.\n\n"
           "# COMMANDS\n\n");
    for (const struct cli_group *group = cli_groups; group->title; group++)
        for (size_t i = 0; group->commands[i]; i++) {
            printf("*howmany-%s*(1)\n\t", group->commands[i]->name);
            put_escaped(cli_summary(group->commands[i]));
            printf(".\n\n");
        }
    printf("# EXIT STATUS\n\n0 answered, 1 no feasible answer, 2 wrong usage or bad input.\n\n"
           "# FILES\n\n_$XDG\\_DATA\\_HOME/howmany/catalog/\\*.yaml_, by default below "
           "_~/.local/share_\n\tThe user's own machines, fabrics and networks.\n\n"
           "# ENVIRONMENT\n\n*NO\\_COLOR*\n\tNo colours on a terminal when it is set.\n\n"
           "*COLUMNS*\n\tWidth of the page.\n");
}

static int run_man(void *state)
{
    const char *name = ((struct name_operand *)state)->name;

    if (!name) {
        man_program();
        return EXIT_ANSWERED;
    }
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            man_command(cli_commands[i]);
            return EXIT_ANSWERED;
        }
    }
    return cli_complain("there is no command '%s'", name);
}

const struct cli_command cli_man = {
    .name = "man",
    .arguments = "[COMMAND]",
    .summary = "print a man page as scdoc source",
    .operands = "plan fit catalog",
    .accept = name_operand_accept,
    .run = run_man,
    .begin = name_operand_begin,
    .end = free,
};
