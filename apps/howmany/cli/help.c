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

/* Returns the number of bytes in the first line that fits into `columns`. A word that is longer
 * than a line is not broken. */
static size_t line_length(const char *text, size_t columns)
{
    size_t end = 0, used = 0;

    while (text[end]) {
        size_t word = strspn(text + end, " ");
        word += strcspn(text + end + word, " ");
        char piece[256];
        snprintf(piece, sizeof(piece), "%.*s", (int)word, text + end);
        used += hm__text_columns(piece);
        if (used > columns && end > 0)
            break;
        end += word;
    }
    return end;
}

/*
 * Prints a string that begins at column `indent`; further lines are indented by the same number of
 * columns.
 */
static void print_wrapped(const char *text, size_t indent)
{
    size_t width = (size_t)cli_style().width, columns = width > 80 || width == 0 ? 80 : width;

    columns = columns > indent + 24 ? columns - indent : 24;
    while (*text) {
        size_t length = line_length(text, columns);
        printf("%.*s\n", (int)length, text);
        text += length;
        text += strspn(text, " ");
        if (*text)
            printf("%*s", (int)indent, "");
    }
}

void cli_help_entry(const char *name, size_t width, const char *text)
{
    size_t columns = hm__text_columns(name), indent = width + 3;

    if (columns > width)
        printf("  %s\n%*s", name, (int)indent, "");
    else
        printf("  %s%*s ", name, (int)(width - columns), "");
    print_wrapped(text, indent);
}

static void print_option(const char *written, const char *help)
{
    cli_help_entry(written, 24, help);
}

static bool is_same_group(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Returns whether the heading of the group of option i was already printed for an earlier option.
 * Operands have no heading. */
static bool is_group_printed(const struct cli_options *options, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!options->operands[k] && is_same_group(options->groups[k], options->groups[i]))
            return true;
    return false;
}

/* Prints the options of one group under the name of the group. */
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

static void print_examples(const struct cli_command *c)
{
    size_t count = sizeof(c->examples) / sizeof(c->examples[0]);

    if (c->examples[0])
        printf("\nexamples:\n");
    for (size_t i = 0; i < count && c->examples[i]; i++) {
        fputs("  ", stdout);
        cli_put_guides(stdout, c->examples[i]);
        putchar('\n');
    }
}

void cli_command_help(const struct cli_command *c)
{
    struct cli_options options;
    bool first = true;

    cli_options_make(c, &options);
    printf("usage: howmany %s [OPTION]…%s", c->name, *c->arguments ? " " : "\n\n");
    if (*c->arguments) {
        print_wrapped(c->arguments, strlen("usage: howmany  [OPTION]… ") - 2 + strlen(c->name));
        printf("\n");
    }
    print_wrapped(cli_summary(c), 0);
    printf("\n");
    for (size_t i = 0; i < options.count; i++)
        if (!options.operands[i] && !is_group_printed(&options, i)) {
            print_group(&options, options.groups[i], first);
            first = false;
        }
    print_option("-h, --help", "this page");
    print_examples(c);
}
