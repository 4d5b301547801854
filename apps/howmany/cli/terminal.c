/* Writes messages, detects the properties of the terminal, and runs gnuplot as a child process. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "err.h"
#include "fold.h"
#include "plot_style.h"
#include "readers.h"

extern char **environ;

/* Prints a field such as "max_n" as the option "--max-n". */
static void print_terminal_option(const char *field)
{
    fputs("--", stderr);
    for (; *field; field++)
        fputc(*field == '_' ? '-' : *field, stderr);
    fputs(": ", stderr);
}

/*
 * Copies a message and replaces a field in it, such as "the field `max_n`", with the option
 * "--max-n".
 */
static void spell_options(const char *text, char *out, size_t room)
{
    static const char field[] = "the field `";
    size_t length = 0;

    while (*text && length + 3 < room) {
        const char *name = text + strlen(field);
        const char *end = strncmp(text, field, strlen(field)) == 0 ? strchr(name, '`') : NULL;
        if (!end) {
            out[length++] = *text++;
            continue;
        }
        out[length++] = '-';
        out[length++] = '-';
        for (; name < end && length + 1 < room; name++)
            out[length++] = *name == '_' ? '-' : *name;
        text = end + 1;
    }
    out[length] = '\0';
}

/* Returns whether the source of an error is the value of an option: an assignment from --set or a
 * machine from --on. */
static bool is_option_source(const char *source)
{
    return strcmp(source, "set") == 0 || strcmp(source, "on") == 0;
}

/*
 * Replaces control characters by '?', because names in tables and stores come from other people,
 * and escape sequences in them would control the terminal. Line ends, tabs and sequences that set
 * colours stay.
 */
static void mask_controls(char *text)
{
    char *to = text;

    while (*text) {
        const unsigned char byte = (unsigned char)*text, next = (unsigned char)text[1];
        size_t colour = byte == '\033' && next == '[' ? 2 + strspn(text + 2, "0123456789;") : 0;
        size_t length = colour > 0 && text[colour] == 'm' ? colour + 1 : 1;
        bool control = length == 1 && ((byte < 32 && byte != '\n' && byte != '\t') || byte == 127);
        /* The control characters U+0080 to U+009F are two bytes in UTF-8. */
        bool long_control = byte == 0xc2 && next >= 0x80 && next < 0xa0;
        if (control || long_control)
            *to++ = '?';
        else
            memmove(to, text, length);
        to += control || long_control ? 0 : length;
        text += long_control ? 2 : length;
    }
    *to = '\0';
}

int cli_report(const struct hm_err *err)
{
    bool request = strcmp(err->source, "request") == 0;
    char text[sizeof(err->message) + sizeof(err->hint)];

    fputs("howmany: ", stderr);
    if (is_option_source(err->source))
        print_terminal_option(err->source);
    else if (err->source[0] && !request && err->line > 0)
        fprintf(stderr, "%s:%d: ", err->source, err->line);
    else if (err->source[0] && !request)
        fprintf(stderr, "%s: ", err->source);
    if (request && err->field[0])
        print_terminal_option(err->field);
    else if (err->field[0])
        fprintf(stderr, "%s: ", err->field);
    spell_options(err->message[0] ? err->message : hm_strerror(err->code), text, sizeof(text));
    mask_controls(text);
    fprintf(stderr, "%s\n", text);
    if (err->hint[0]) {
        spell_options(err->hint, text, sizeof(text));
        mask_controls(text);
        fputs("  ", stderr);
        cli_put_guides(stderr, text);
        fputc('\n', stderr);
    }
    return EXIT_USAGE;
}

int cli_complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("howmany: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return EXIT_USAGE;
}

bool cli_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

static size_t terminal_width(void)
{
    struct winsize size;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;

    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    return width > 0 && width < 1000 ? (size_t)width : 80;
}

/* Returns whether the environment names a locale with UTF-8. The locale itself is not loaded,
 * because loading takes a twentieth of the time of a plan. */
static bool speaks_unicode(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    const char *locale = NULL;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !(locale && *locale); i++)
        locale = getenv(names[i]);
    const char *codeset = locale ? strchr(locale, '.') : NULL;
    return codeset &&
           (strncasecmp(codeset, ".UTF-8", 6) == 0 || strncasecmp(codeset, ".utf8", 5) == 0);
}

struct hm_style cli_style(void)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    bool terminal = cli_is_terminal();
    bool dumb = !term || strcmp(term, "dumb") == 0;

    return (struct hm_style){
        .colour = terminal && !dumb && !(no_colour && *no_colour),
        .unicode = speaks_unicode(),
        .chart = terminal,
        .width = terminal ? terminal_width() : 100,
    };
}

bool cli_put(const char *text)
{
    size_t length = strlen(text);

    if (fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0)
        return true;
    if (errno == EINTR) /* The user has ended a wait for the reader of a full pipe. */
        __fpurge(stdout);
    else if (errno != EPIPE)
        cli_complain("cannot write: %s", strerror(errno));
    return false;
}

bool cli_put_wrapped(const char *text)
{
    struct hm_text lines = {0};
    char *safe = strdup(text);

    if (!safe)
        return cli_complain("out of memory") == 0;
    mask_controls(safe);
    bool fold = cli_is_terminal() && safe[0] != '{' && safe[0] != '[';
    if (fold)
        cli_fold(&lines, safe, (size_t)terminal_width());
    bool done = cli_put(!fold || lines.failed || !lines.data ? safe : lines.data);
    hm__text_release(&lines);
    free(safe);
    return done;
}

int cli_put_text(struct hm_text *text)
{
    int rc = 0;

    if (text->failed)
        rc = cli_complain("out of memory");
    else if (!cli_put_wrapped(text->data ? text->data : ""))
        rc = EXIT_USAGE;
    hm__text_release(text);
    return rc;
}

static bool write_all(int to, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t done = write(to, text, left);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        text += done;
        left -= (size_t)done;
    }
    return true;
}

int cli_check_plot(const char *file)
{
    struct hm_text unused = {0};
    struct hm_err err = {0};
    int rc = hm__gnuplot_output(&unused, file, 1, 1, &err);

    hm__text_release(&unused);
    snprintf(err.field, sizeof(err.field), "plot");
    snprintf(err.source, sizeof(err.source), "request");
    if (rc)
        return cli_report(&err);
    char folder[PATH_MAX];
    snprintf(folder, sizeof(folder), "%s", file);
    if (access(dirname(folder), W_OK | X_OK) != 0)
        return cli_complain("--plot: %s cannot be written: %s", file, strerror(errno));
    return 0;
}

char *cli_read(const char *path, size_t *length, struct hm_err *err)
{
    char *text = NULL;

    hm__read_file(path, &text, length, err);
    return text;
}

/* Returns whether the last bytes of a picture mark the end of a complete file; gnuplot does not
 * report failed writes. */
static bool picture_is_complete(const char *path)
{
    static const char *const ends[][2] = {{".svg", "</svg>"}, {".png", "IEND"}, {".pdf", "%%EOF"}};
    char last[64] = "";
    FILE *file = fopen(path, "re");

    if (!file)
        return false;
    /* A file that is shorter than the array `last` is read from its beginning. */
    if (fseek(file, -(long)sizeof(last), SEEK_END) != 0)
        rewind(file);
    size_t length = fread(last, 1, sizeof(last), file);
    fclose(file);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (hm__text_ends(path, ends[i][0]))
            return memmem(last, length, ends[i][1], strlen(ends[i][1])) != NULL;
    return length > 0;
}

int cli_gnuplot(const char *script, const char *file)
{
    char *const arguments[] = {(char[]){"gnuplot"}, (char[]){"-"}, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t ignored_here;
    int ends[2], status = 0;
    pid_t child;

    if (pipe(ends) != 0)
        return cli_complain("cannot create a pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    /* This process ignores these signals; gnuplot gets their default actions. */
    sigemptyset(&ignored_here);
    sigaddset(&ignored_here, SIGPIPE);
    sigaddset(&ignored_here, SIGXFSZ);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &ignored_here);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    int rc = posix_spawnp(&child, "gnuplot", &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (rc != 0) {
        close(ends[1]);
        return cli_complain("cannot run gnuplot: %s (plots need it: apt install gnuplot-nox)",
                            strerror(rc));
    }
    bool written = write_all(ends[1], script);
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!written || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return cli_complain("gnuplot could not create %s", file);
    if (!picture_is_complete(file))
        return cli_complain("%s is missing or incomplete: gnuplot could not write it; is there "
                            "space on the disk?",
                            file);
    return 0;
}
