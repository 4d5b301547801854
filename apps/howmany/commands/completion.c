/*
 * Implements the command howmany completion, which generates completion scripts for bash, zsh and
 * fish from the tables of the commands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "name_operand.h"
#include "text.h"

/* Returns the words that complete an argument, or a shell command that prints these words. */
static const char *completion_words(const char *values)
{
    if (!values)
        return "";
    if (strcmp(values, "@machine") == 0)
        return "$(howmany catalog list machines --names 2>/dev/null)";
    if (strcmp(values, "@fabric") == 0)
        return "$(howmany catalog list fabrics --names 2>/dev/null)";
    return values;
}

static void bash_command(const struct cli_command *c)
{
    struct cli_options options;

    cli_options_make(c, &options);
    printf("    %s)\n        case \"$prev\" in\n", c->name);
    for (size_t i = 0; i < options.count; i++) {
        const struct cli_option *o = &options.items[i];
        if (!o->argument)
            continue;
        if (o->values && strcmp(o->values, "@file") == 0)
            printf("        --%s) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n", o->name);
        else
            printf("        --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
                   o->name, completion_words(o->values));
    }
    printf("        esac\n        COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; i < options.count; i++)
        printf("--%s ", options.items[i].name);
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

/* Prints a string with the escapes that zsh needs for single quotes, brackets and colons. */
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
    struct cli_options options;

    cli_options_make(c, &options);
    printf("    %s)\n      _arguments \\\n", c->name);
    for (size_t i = 0; i < options.count; i++) {
        const struct cli_option *o = &options.items[i];
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
        put_zsh(cli_summary(cli_commands[i]));
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
        struct cli_options options;
        cli_options_make(c, &options);
        printf("complete -c howmany -n __fish_use_subcommand -a %s -d '", c->name);
        put_fish(cli_summary(c));
        printf("'\n");
        for (size_t k = 0; k < options.count; k++) {
            const struct cli_option *o = &options.items[k];
            bool file = o->values && strcmp(o->values, "@file") == 0;
            printf("complete -c howmany -n '__fish_seen_subcommand_from %s' -l %s%s", c->name,
                   o->name,
                   !o->argument ? ""
                   : file       ? " -r -F"
                                : " -x");
            if (o->values && !file) {
                const char *words = completion_words(o->values);
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
    const char *shell = ((struct name_operand *)state)->name;

    if (shell && strcmp(shell, "bash") == 0)
        completion_bash();
    else if (shell && strcmp(shell, "zsh") == 0)
        completion_zsh();
    else if (shell && strcmp(shell, "fish") == 0)
        completion_fish();
    else
        return cli_complain("completion: name a shell: bash, zsh or fish");
    return EXIT_ANSWERED;
}

const struct cli_command cli_completion = {
    .name = "completion",
    .arguments = "bash|zsh|fish",
    .summary = "print the completion script for a shell",
    .operands = "bash zsh fish",
    .accept = name_operand_accept,
    .run = run_completion,
    .begin = name_operand_begin,
    .end = free,
};
