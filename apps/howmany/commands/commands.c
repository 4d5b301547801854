/* The commands of the program, in the order of the help. */
#include "cli.h"

const struct cli_command *const cli_commands[] = {
    &cli_plan,      &cli_fit,        &cli_design,  &cli_bench,    &cli_train,
    &cli_compare,   &cli_converge,   &cli_advise,  &cli_study,    &cli_runs,
    &cli_recommend, &cli_graph,      &cli_catalog, &cli_validate, &cli_lab,
    &cli_serve,     &cli_completion, &cli_man,     NULL};
