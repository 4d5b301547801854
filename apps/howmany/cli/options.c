/*
 * Parses the arguments of a command with getopt_long, according to the command's table, and reads
 * single values.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"
#include "verb.h"

enum { FIRST_ID = 256, HELP_ID = 255 };

struct getopt_tables {
    /* Two rows for each option (because it may have an old name), one for --help, and one for the
     * end of the table. */
    struct option longs[2 * CLI_OPTIONS_MAX + 2];
    char shorts[2 * CLI_OPTIONS_MAX + 4];
};

static void make_tables(const struct cli_options *options, struct getopt_tables *t)
{
    struct option *at = t->longs;
    char *s = t->shorts;

    /* The leading ':' makes getopt distinguish a missing value from an unknown option. */
    *s++ = ':';
    for (size_t i = 0; i < options->count; i++) {
        const struct cli_option *o = &options->items[i];
        int argument = o->argument ? required_argument : no_argument;
        *at++ = (struct option){o->name, argument, NULL, FIRST_ID + (int)i};
        if (o->old)
            *at++ = (struct option){o->old, argument, NULL, FIRST_ID + (int)i};
        if (o->letter) {
            *s++ = o->letter;
            if (o->argument)
                *s++ = ':';
        }
    }
    *at = (struct option){"help", no_argument, NULL, HELP_ID};
    *s++ = 'h';
    *s = '\0';
}

static const char *option_name(const void *context, size_t i)
{
    const struct cli_options *options = context;
    return i < options->count ? options->items[i].name : NULL;
}

static int unknown_option(const struct cli_command *command, const struct cli_options *options,
                          const char *word)
{
    const char *name = word + strspn(word, "-");
    char bare[64];

    snprintf(bare, sizeof(bare), "%.*s", (int)strcspn(name, "="), name);
    const char *near = hm__suggest(bare, option_name, options);
    if (near)
        return cli_complain("%s: there is no option '%s'; did you mean --%s?", command->name, word,
                            near);
    return cli_complain("%s: there is no option '%s'; see 'howmany help %s'", command->name, word,
                        command->name);
}

static int option_index(const struct cli_options *options, int id)
{
    if (id >= FIRST_ID)
        return id - FIRST_ID;
    for (size_t i = 0; i < options->count; i++)
        if (options->items[i].letter == id)
            return (int)i;
    return -1;
}

int cli_parse(const struct cli_command *command, const struct cli_options *options, int argc,
              char **argv, int (*accept)(void *state, int option, const char *value), void *state,
              bool *ret_help)
{
    struct getopt_tables tables = {0};
    bool dry_run = false, json = false;
    int id, rc = 0;

    make_tables(options, &tables);
    opterr = 0;
    optind = 1;
    while (rc == 0 && (id = getopt_long(argc, argv, tables.shorts, tables.longs, NULL)) != -1) {
        if (id == HELP_ID || id == 'h') {
            *ret_help = true;
            return 0;
        }
        if (id == ':')
            return cli_complain("%s: %s needs a value", command->name, argv[optind - 1]);
        int index = id == '?' ? -1 : option_index(options, id);
        char letter[] = {'-', (char)optopt, '\0'};
        if (index < 0)
            return unknown_option(command, options,
                                  optopt > 0 && optopt < 128 ? letter : argv[optind - 1]);
        dry_run |= strcmp(options->items[index].name, "dry-run") == 0;
        json |= strcmp(options->items[index].name, "json") == 0;
        rc = accept(state, index, optarg);
    }
    if (rc == 0 && dry_run && json)
        rc = cli_complain("%s: --dry-run prints commands, not JSON", command->name);
    if (rc == 0 && command->dashes && strcmp(argv[optind - 1], "--") == 0)
        rc = accept(state, CLI_DASHES, NULL);
    for (; rc == 0 && optind < argc; optind++)
        rc = accept(state, -1, argv[optind]);
    return rc;
}

int cli_quantity(const char *name, const char *text, struct hm_dim dim, double *value)
{
    struct hm_err err = {0};

    if (hm__quantity_parse(text, dim, value, &err) == 0)
        return 0;
    snprintf(err.field, sizeof(err.field), "%s", name);
    snprintf(err.source, sizeof(err.source), "request");
    return cli_report(&err);
}

int cli_whole(const char *name, const char *text, double least, double most, double *value)
{
    int rc = cli_quantity(name, text, HM_DIM_NONE, value);

    if (rc || (*value >= least && *value <= most && *value == floor(*value)))
        return rc;
    if (*value > most)
        return cli_complain("--%s: '%s' is more than %g", name, text, most);
    if (most >= 1e6)
        return cli_complain("--%s: '%s' is not a whole number from %g on", name, text, least);
    return cli_complain("--%s: '%s' is not a whole number from %g to %g", name, text, least, most);
}

int cli_run(const struct cli_command *command, int argc, char **argv)
{
    struct cli_options options;
    bool help = false;

    if (command->verbs)
        return cli_verb_run(command, argc, argv);
    void *state = command->begin();
    if (!state)
        return cli_complain("out of memory");
    cli_options_make(command, &options);
    int rc = cli_parse(command, &options, argc, argv, command->accept, state, &help);
    if (rc == 0 && help)
        cli_command_help(command);
    else if (rc == 0)
        rc = command->run(state);
    command->end(state);
    return rc;
}

int cli_positive(const char *name, const char *text, struct hm_dim dim, double *value)
{
    int rc = cli_quantity(name, text, dim, value);
    if (rc == 0 && !(*value > 0))
        rc = cli_complain("--%s: '%s' is not more than 0", name, text);
    return rc;
}
