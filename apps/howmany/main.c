/* The program howmany: finds the command that the first argument names, and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "text.h"

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static const char *command_name(const void *unused, size_t i)
{
    (void)unused;
    return cli_commands[i] ? cli_commands[i]->name : NULL;
}

static int unknown_command(const char *name)
{
    const char *near = hm__suggest(name, command_name, NULL);

    if (near)
        return cli_complain("there is no command '%s'; did you mean %s?", name, near);
    return cli_complain("there is no command '%s'; 'howmany help' lists them", name);
}

static int print_help(int argc, char **argv)
{
    if (argc < 3 || strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0 ||
        strcmp(argv[2], "help") == 0 || strcmp(argv[2], "version") == 0) {
        cli_help();
        return EXIT_ANSWERED;
    }
    const struct cli_command *command = find_command(argv[2]);
    if (!command)
        return unknown_command(argv[2]);
    cli_command_help(command);
    return EXIT_ANSWERED;
}

static int dispatch_command(int argc, char **argv)
{
    if (argc < 2) {
        cli_help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0 ||
        strcmp(argv[1], "version") == 0) {
        printf("howmany %s\n", hm_version());
        return EXIT_ANSWERED;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_help(argc, argv);
    const struct cli_command *command = find_command(argv[1]);
    if (!command)
        return unknown_command(argv[1]);
    return cli_run(command, argc - 1, argv + 1);
}

/*
 * Opens /dev/null in place of standard streams that the caller has closed. Otherwise the next file
 * that is opened would become standard input, output or error of this program and of the programs
 * that it starts. Standard output is opened for reading, so that writing an answer fails and is
 * reported.
 */
static void open_standard_files(void)
{
    for (int file = 0; file <= 2; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", file == 2 ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_USAGE);
}

int main(int argc, char **argv)
{
    open_standard_files();
    /* After this call, a write to a pipe whose reader has exited (head, or q in less) fails with
     * EPIPE instead of ending the program with a signal. */
    signal(SIGPIPE, SIG_IGN);
    /* A write beyond the largest file size that is allowed (ulimit -f) fails with EFBIG. */
    signal(SIGXFSZ, SIG_IGN);
    int rc = dispatch_command(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && rc == EXIT_ANSWERED)
        rc = errno == EPIPE ? EXIT_USAGE : cli_complain("cannot write: %s", strerror(errno));
    return rc;
}
