/* The list of all commands, in the order in which the help shows them. */
#include <stdio.h>

#include "cli.h"

const struct cli_command *const cli_commands[] = {
    &cli_plan,      &cli_fit,      &cli_design,     &cli_bench,   &cli_train,
    &cli_compare,   &cli_converge, &cli_advise,     &cli_study,   &cli_runs,
    &cli_recommend, &cli_import,   &cli_graph,      &cli_catalog, &cli_validate,
    &cli_lab,       &cli_serve,    &cli_completion, &cli_man,     NULL};

void cli_help(void)
{
    printf("howmany: how many machines, how long, how much, and why\n\n");
    printf("usage: howmany COMMAND …\n\n");
    for (size_t i = 0; cli_commands[i]; i++)
        printf("  %-12s %s\n", cli_commands[i]->name, cli_summary(cli_commands[i]));
    printf("  %-12s %s\n", "help", "this page, or 'howmany help COMMAND'");
    printf("  %-12s %s\n\n", "version", "the version");
    printf("A first answer: howmany plan examples/fig2-spark-ann.yaml\n");
}
