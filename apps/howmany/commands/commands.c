/* Lists the commands, and the groups in which the help shows them. */
#include <stdio.h>

#include "cli.h"

const struct cli_command *const cli_commands[] = {
    &cli_plan,       &cli_bench, &cli_design,   &cli_advise,    &cli_runs,     &cli_import,
    &cli_serve,      &cli_fit,   &cli_converge, &cli_recommend, &cli_graph,    &cli_catalog,
    &cli_train,      &cli_study, &cli_compare,  &cli_lab,       &cli_validate, &cli_calibrate,
    &cli_completion, &cli_man,   &cli_init,     &cli_steer,     NULL};

const struct cli_group cli_groups[] = {
    {"how many, how long, how much",
     {&cli_plan, &cli_bench, &cli_design, &cli_advise, &cli_runs, &cli_import, &cli_serve}},
    {"look closer", {&cli_fit, &cli_converge, &cli_recommend, &cli_graph, &cli_catalog}},
    {"experiments",
     {&cli_train, &cli_study, &cli_steer, &cli_compare, &cli_lab, &cli_validate, &cli_calibrate}},
    {"setup", {&cli_init, &cli_completion, &cli_man}},
    {NULL, {NULL}},
};

void cli_help(void)
{
    printf("howmany: how many machines, how long, how much, and why\n\n");
    printf("usage: howmany COMMAND …\n");
    for (const struct cli_group *group = cli_groups; group->title; group++) {
        printf("\n%s:\n", group->title);
        for (size_t i = 0; group->commands[i]; i++)
            cli_help_entry(group->commands[i]->name, 12, cli_summary(group->commands[i]));
    }
    cli_help_entry("help", 12, "this page, or 'howmany help COMMAND' for one command");
    cli_help_entry("version", 12, "the version; also --version, -V");
    printf("\nA first answer:  howmany plan resnet-50 --epochs 90 --on p4d.24xlarge\n"
           "Options and examples of a command:  howmany plan --help\n");
}
