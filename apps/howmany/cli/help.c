/* Prints the help of a command from its table of options. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "request.h"
#include "text.h"

const char *cli_summary(const struct cli_command *c)
{
    return c->summary ? c->summary : c->verbs[0]->summary;
}

const char *cli_description(const struct cli_command *c)
{
    const char *description =
        c->verbs && !c->description ? c->verbs[0]->description : c->description;

    return description ? description : cli_summary(c);
}

void cli_option_text(const struct cli_option *o, char *text, size_t room)
{
    char letter[8] = "";

    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(text, room, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
}

static void print_option(const char *written, const char *help)
{
    size_t columns = hm__text_columns(written);

    printf("  %s%*s %s\n", written, (int)(columns < 24 ? 24 - columns : 0), "", help);
}

static bool is_same_group(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the group of option i was printed already, with an earlier entry that is an option and
 * not an operand. */
static bool is_group_printed(const struct cli_options *options, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!options->operands[k] && is_same_group(options->groups[k], options->groups[i]))
            return true;
    return false;
}

/* Print the options of one group under the name of the group. */
static void print_group(const struct cli_options *options, const char *group, bool first)
{
    char written[80];

    if (group)
        printf("%s%s:\n", first ? "" : "\n", group);
    for (size_t i = 0; i < options->count; i++) {
        if (options->operands[i] || !is_same_group(options->groups[i], group))
            continue;
        cli_option_text(&options->items[i], written, sizeof(written));
        print_option(written, options->items[i].help);
    }
}

void cli_command_help(const struct cli_command *c)
{
    struct cli_options options;
    bool first = true;

    cli_options_make(c, &options);
    printf("usage: howmany %s [OPTION]… %s\n\n%s\n\n", c->name, c->arguments, cli_summary(c));
    for (size_t i = 0; i < options.count; i++)
        if (!options.operands[i] && !is_group_printed(&options, i)) {
            print_group(&options, options.groups[i], first);
            first = false;
        }
    print_option("-h, --help", "this page");
}
