/*
 * The command line. A command is described by one table: the fields of its request (src/request),
 * or, for commands that start programs, a table of options. Parsing, --help, man pages and shell
 * completion come from the table.
 */
#ifndef HM_CLI_H
#define HM_CLI_H

#include "howmany.h"
#include "unit.h"

static const double CLI_SEED_MAX = 9007199254740991; /* whole numbers that a double has */

enum { CLI_DASHES = -2 };

enum { EXIT_ANSWERED = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

struct cli_option {
    const char *name;     /* long name, without the dashes */
    char letter;          /* short name, or 0 */
    const char *argument; /* what it takes, for the help; NULL: a switch */
    const char *help;
    const char *values; /* for completion: words, or @file @machine @fabric @scheme; may be NULL */
};

struct cli_verb_call; /* A request of the command line, see verb.h. */
struct hm_verb;

struct cli_command {
    const char *name;
    const char *arguments;   /* "JOB" */
    const char *summary;     /* one line */
    const char *description; /* paragraphs for the man page, in scdoc; may be NULL */
    const struct cli_option *options;
    size_t option_count;
    const char *operands; /* for completion, as in cli_option */
    bool dashes;          /* operands may be a command, and it matters that -- stands before it */
    /* Called for each option and operand in turn; option -1: an operand; CLI_DASHES: what follows
     * stands behind --, only where dashes is set. 0 to go on. */
    int (*accept)(void *state, int option, const char *value);
    int (*run)(void *state);
    void *(*begin)(void); /* allocate the state */
    void (*end)(void *state);
    /* A command that is a request has verbs instead of options and functions. With several, the
     * first word chooses one: "runs list"; the first verb is the default. */
    const struct hm_verb *const *verbs; /* NULL after the last; NULL: not a request */
    /* Called before the request runs; may be NULL. 0, or EXIT_USAGE with a message. */
    int (*prepare)(struct cli_verb_call *call);
};

enum { CLI_OPTIONS_MAX = 80 };

/* The options of a command, made from its fields or copied from its table. */
struct cli_options {
    struct cli_option items[CLI_OPTIONS_MAX];
    const char *groups[CLI_OPTIONS_MAX]; /* heading in the help; NULL: none */
    bool operands[CLI_OPTIONS_MAX];      /* shown as an argument, not as an option */
    char names[CLI_OPTIONS_MAX][24];
    size_t count;
};

void cli_options_make(const struct cli_command *command, struct cli_options *ret_options);

extern const struct cli_command cli_plan, cli_fit, cli_design, cli_bench, cli_train, cli_compare,
    cli_converge, cli_advise, cli_study, cli_runs, cli_recommend, cli_graph, cli_catalog,
    cli_validate, cli_lab, cli_serve, cli_completion, cli_man;
extern const struct cli_command *const cli_commands[]; /* NULL at the end */

/* Parse the words after the command's name and run it; the exit code. */
int cli_run(const struct cli_command *command, int argc, char **argv);
/* Hand all options and operands to accept, as struct cli_command describes; *ret_help is set when
 * help is asked for. */
int cli_parse(const struct cli_command *command, const struct cli_options *options, int argc,
              char **argv, int (*accept)(void *state, int option, const char *value), void *state,
              bool *ret_help);

void cli_help(void);                                      /* the program */
void cli_command_help(const struct cli_command *command); /* one command */
const char *cli_summary(const struct cli_command *command);
const char *cli_description(const struct cli_command *command);
/* "-d, --deadline TIME" */
void cli_option_text(const struct cli_option *option, char *text, size_t room);

/* ---- talking to a person -------------------------------------------------------------------- */

/* "howmany: file:3: field: message" and the hint, on standard error; fields of the request are
 * written as options: "--max-n". Returns EXIT_USAGE. */
int cli_report(const struct hm_err *err);
/* A usage error. Returns EXIT_USAGE. */
int cli_complain(const char *format, ...) HM_PRINTF(1, 2);
/* How standard output wants to be written to: colour, Unicode, width. */
struct hm_style cli_style(void);
bool cli_is_terminal(void);
/* Write a whole text to standard output; false (with a message) when it cannot be. */
bool cli_put(const char *text);
/* A text that was made, which is released; 0, or EXIT_USAGE with a message. */
struct hm_text;
int cli_put_text(struct hm_text *text);
/* Progress on standard error, on a terminal and after a second: "metis: 12 of 31, 40 s left". */
struct cli_progress {
    const char *what; /* borrowed */
    size_t total;
    double started_s, shown_s; /* shown_s 0: nothing shown yet */
};

struct cli_progress cli_progress_start(const char *what, size_t total);
void cli_progress_step(struct cli_progress *progress, size_t done);
/* Any text in its place, at once, but not more than five times a second. */
void cli_progress_say(struct cli_progress *progress, const char *text);
void cli_progress_end(struct cli_progress *progress); /* clears the line */

/* Whether a plot can be written under that name; 0 or EXIT_USAGE with a message. */
int cli_check_plot(const char *file);
/* Feed a script that makes `file` to gnuplot and wait for it; 0 or EXIT_USAGE with a message. */
int cli_gnuplot(const char *script, const char *file);
/* The whole of a file, - for standard input; NULL and an error; freed with hm_text_free. */
char *cli_read(const char *path, size_t *length, struct hm_err *err);

/* Write a whole file, or leave what was there; 0, or EXIT_USAGE with a message. */
int cli_write_file(const char *path, const char *text, size_t length);

/* The value of option --name in SI units of dim; 0, or EXIT_USAGE with a message. */
int cli_quantity(const char *name, const char *text, struct hm_dim dim, double *value);
/* As above, a whole number of that range. */
int cli_whole(const char *name, const char *text, double least, double most, double *value);
/* As cli_quantity, and more than 0. */
int cli_positive(const char *name, const char *text, struct hm_dim dim, double *value);
/* Money, 0 or more; a plain number counts as so many dollars. */
int cli_money(const char *name, const char *text, double *value);

/* The built-in catalog and the person's own files; NULL with a message on failure. */
struct hm_catalog *cli_catalog_load(void);
/* Folder of the person's own catalog files, into path; false if there is no home. */
bool cli_catalog_folder(char *path, size_t room);
/* Whether that folder exists: only then do job files need more than what is built in. */
bool cli_has_own_catalog(void);

#endif
