/* --help, man pages (as scdoc) and completions, all from the table of commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "text.h"

void cli_help(void)
{
    printf("howmany: how many machines, how long, how much, and why\n\n");
    printf("usage: howmany COMMAND …\n\n");
    for (size_t i = 0; cli_commands[i]; i++)
        printf("  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    printf("  %-12s %s\n", "help", "this page, or 'howmany help COMMAND'");
    printf("  %-12s %s\n\n", "version", "the version");
    printf("A first answer: howmany plan examples/fig2-spark-ann.yaml\n");
}

/* "-d, --deadline TIME" */
static void option_words(const struct cli_option *o, char *text, size_t room)
{
    char letter[8] = "";

    if (o->letter)
        snprintf(letter, sizeof(letter), "-%c, ", o->letter);
    snprintf(text, room, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
}

void cli_command_help(const struct cli_command *c)
{
    char words[80];

    printf("usage: howmany %s [OPTION]… %s\n\n%s\n\n", c->name, c->arguments, c->summary);
    for (size_t i = 0; i < c->option_count; i++) {
        option_words(&c->options[i], words, sizeof(words));
        printf("  %s%*s %s\n", words,
               (int)(hm__text_columns(words) < 24 ? 24 - hm__text_columns(words) : 0), "",
               c->options[i].help);
    }
    printf("  %-24s %s\n", "-h, --help", "this page");
}

/* ---- man pages ------------------------------------------------------------------------------ */

/* scdoc gives meaning to some characters; inside options they mean themselves. */
static void put_escaped(const char *text)
{
    for (; *text; text++) {
        if (strchr("_*\\#~<>", *text))
            putchar('\\');
        putchar(*text);
    }
}

static void man_command(const struct cli_command *c)
{
    char words[80];

    printf("howmany-%s(1)\n\n# NAME\n\nhowmany-%s - ", c->name, c->name);
    put_escaped(c->summary);
    printf("\n\n# SYNOPSIS\n\n*howmany %s* [_OPTION_]… ", c->name);
    put_escaped(c->arguments);
    printf("\n\n# DESCRIPTION\n\n");
    put_escaped(c->description ? c->description : c->summary);
    printf("\n\n# OPTIONS\n\n");
    for (size_t i = 0; i < c->option_count; i++) {
        option_words(&c->options[i], words, sizeof(words));
        printf("*");
        put_escaped(words);
        printf("*\n\t");
        put_escaped(c->options[i].help);
        printf(".\n\n");
    }
    printf("*-h, --help*\n\tShow the options.\n\n# SEE ALSO\n\n*howmany*(1)\n");
}

static void man_program(void)
{
    printf("howmany(1)\n\n# NAME\n\nhowmany - how many machines, how long, how much, and why\n\n"
           "# SYNOPSIS\n\n*howmany* _COMMAND_ …\n\n# DESCRIPTION\n\n"
           "Answers from a description of a training job and a cluster how many machines to use, "
           "how long it takes, what it costs, and why, before the cluster is rented.\n\n"
           "# COMMANDS\n\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("*howmany-%s*(1)\n\t", cli_commands[i]->name);
        put_escaped(cli_commands[i]->summary);
        printf(".\n\n");
    }
    printf("# EXIT STATUS\n\n0 answered, 1 no feasible answer, 2 wrong usage or bad input.\n\n"
           "# FILES\n\n_$XDG\\_DATA\\_HOME/howmany/catalog/\\*.yaml_, by default below "
           "_~/.local/share_\n\tThe person's own machines, fabrics and networks.\n\n"
           "# ENVIRONMENT\n\n*NO\\_COLOR*\n\tNo colours on a terminal when it is set.\n\n"
           "*COLUMNS*\n\tWidth of the page.\n");
}

struct word_state {
    const char *word;
};

static void *begin(void)
{
    return calloc(1, sizeof(struct word_state));
}

static int accept(void *state, int option, const char *value)
{
    struct word_state *s = state;

    (void)option;
    if (s->word)
        return cli_complain("one name at a time");
    s->word = value;
    return 0;
}

static int run_man(void *state)
{
    const char *name = ((struct word_state *)state)->word;

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

/* ---- completion ----------------------------------------------------------------------------- */

/* Words for an argument: fixed, or asked of the program itself. */
static const char *words_for(const char *values)
{
    if (!values)
        return "";
    if (strcmp(values, "@machine") == 0)
        return "$(howmany catalog list machines --names 2>/dev/null)";
    if (strcmp(values, "@fabric") == 0)
        return "$(howmany catalog list fabrics --names 2>/dev/null)";
    if (strcmp(values, "@scheme") == 0)
        return "ring rabenseifner recursive-doubling hierarchical parameter-server best all";
    return values;
}

static void bash_command(const struct cli_command *c)
{
    printf("    %s)\n        case \"$prev\" in\n", c->name);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct cli_option *o = &c->options[i];
        if (!o->argument)
            continue;
        if (o->values && strcmp(o->values, "@file") == 0)
            printf("        --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", o->name);
        else
            printf("        --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
                   o->name, words_for(o->values));
    }
    printf("        esac\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < c->option_count; i++)
        printf("--%s ", c->options[i].name);
    printf("--help");
    if (c->operands && strcmp(c->operands, "@file") != 0)
        printf(" %s", c->operands);
    printf("\" -- \"$cur\"))\n");
    if (c->operands && strcmp(c->operands, "@file") == 0)
        printf("        [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n");
    printf("        ;;\n");
}

static void completion_bash(void)
{
    printf("# bash completion for howmany\n_howmany() {\n    local cur prev\n"
           "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
           "    if [[ $COMP_CWORD -eq 1 ]]; then\n        COMPREPLY=($(compgen -W \"help version");
    for (size_t i = 0; cli_commands[i]; i++)
        printf(" %s", cli_commands[i]->name);
    printf("\" -- \"$cur\"))\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cli_commands[i]; i++)
        bash_command(cli_commands[i]);
    printf("    esac\n}\ncomplete -F _howmany howmany\n");
}

/* Text inside single quotes and brackets of zsh. */
static void put_zsh(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else if (*text == '[' || *text == ']' || *text == ':')
            printf("\\%c", *text);
        else
            putchar(*text);
    }
}

static void zsh_command(const struct cli_command *c)
{
    printf("    %s)\n      _arguments \\\n", c->name);
    for (size_t i = 0; i < c->option_count; i++) {
        const struct cli_option *o = &c->options[i];
        printf("        '--%s[", o->name);
        put_zsh(o->help);
        printf("]");
        if (o->argument && o->values && strcmp(o->values, "@file") == 0)
            printf(":file:_files");
        else if (o->argument && o->values)
            printf(":value:(%s)", o->values[0] == '@' ? "" : o->values);
        else if (o->argument)
            printf(":value: ");
        printf("' \\\n");
    }
    printf("        '--help[show the options]' \\\n        '*:operand:%s'\n      ;;\n",
           c->operands && strcmp(c->operands, "@file") == 0 ? "_files" : "( )");
}

static void completion_zsh(void)
{
    printf("#compdef howmany\n_howmany() {\n  local -a commands\n  commands=(\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        printf("    '%s:", cli_commands[i]->name);
        put_zsh(cli_commands[i]->summary);
        printf("'\n");
    }
    printf(
        "  )\n  if (( CURRENT == 2 )); then\n    _describe 'command' commands\n    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
    for (size_t i = 0; cli_commands[i]; i++)
        zsh_command(cli_commands[i]);
    printf("  esac\n}\n_howmany \"$@\"\n");
}

static void put_fish(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            putchar('\\');
        putchar(*text);
    }
}

static void completion_fish(void)
{
    printf("# fish completion for howmany\ncomplete -c howmany -f\n");
    for (size_t i = 0; cli_commands[i]; i++) {
        const struct cli_command *c = cli_commands[i];
        printf("complete -c howmany -n __fish_use_subcommand -a %s -d '", c->name);
        put_fish(c->summary);
        printf("'\n");
        for (size_t k = 0; k < c->option_count; k++) {
            const struct cli_option *o = &c->options[k];
            bool file = o->values && strcmp(o->values, "@file") == 0;
            printf("complete -c howmany -n '__fish_seen_subcommand_from %s' -l %s%s", c->name,
                   o->name,
                   !o->argument ? ""
                   : file       ? " -r -F"
                                : " -x");
            if (o->values && !file) {
                const char *words = words_for(o->values);
                printf(" -a \"%s\"", words[0] == '$' ? words + 1 : words);
            }
            printf(" -d '");
            put_fish(o->help);
            printf("'\n");
        }
        if (c->operands && strcmp(c->operands, "@file") == 0)
            printf("complete -c howmany -n '__fish_seen_subcommand_from %s' -F\n", c->name);
    }
}

static int run_completion(void *state)
{
    const char *shell = ((struct word_state *)state)->word;

    if (shell && strcmp(shell, "bash") == 0)
        completion_bash();
    else if (shell && strcmp(shell, "zsh") == 0)
        completion_zsh();
    else if (shell && strcmp(shell, "fish") == 0)
        completion_fish();
    else
        return cli_complain("completion: which shell? bash, zsh or fish");
    return EXIT_ANSWERED;
}

const struct cli_command cli_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print the completion script for a shell",
    .operands = "bash zsh fish",
    .accept = accept,
    .run = run_completion,
    .begin = begin,
    .end = free,
};

const struct cli_command cli_man = {
    .name = "man",
    .arguments = "[COMMAND]",
    .summary = "print a man page as scdoc source",
    .operands = "plan catalog validate",
    .accept = accept,
    .run = run_man,
    .begin = begin,
    .end = free,
};
