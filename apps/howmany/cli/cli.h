/*
 * Declares the functions of the command line. One table describes a command: the fields of its
 * request (src/request) or, for commands that start programs, a table of options. Parsing, --help,
 * man pages and shell completion are derived from the table.
 */
#ifndef HM_CLI_H
#define HM_CLI_H

#include <limits.h>
#include <stdio.h>

#include "howmany.h"
#include "unit.h"

static const double CLI_SEED_MAX =
    9007199254740991; /* Largest seed, 2^53 - 1; larger whole numbers may not be exact doubles. */

enum { CLI_DASHES = -2 };

enum { EXIT_ANSWERED = 0, EXIT_NO_ANSWER = 1, EXIT_USAGE = 2, EXIT_INTERRUPTED = 130 };

struct cli_option {
    const char *name; /* Long name of the option without the dashes. */
    char letter;      /* Letter of the short option; 0 if there is none. */
    /* Name of the value in the help; NULL if the option is a flag without a value. */
    const char *argument;
    const char *help;
    /* Words that the shell offers to complete the value, or @file, @machine, @fabric; NULL if there
     * are none. */
    const char *values;
    const char *old; /* Earlier name of the option, still accepted; NULL if there is none. */
};

/* A heading in the help. It is printed above the option with the given name; the options that
 * follow in the table belong to it, up to the option of the next heading. A title may occur more
 * than once; all options under this title are shown together. */
struct cli_heading {
    const char *option, *title;
};

struct cli_verb_call; /* A request from the command line; see verb.h. */
struct hm_verb;

struct cli_command {
    const char *name;
    const char *arguments;   /* Operands as the usage line shows them, such as "JOB". */
    const char *summary;     /* One-line summary for the help. */
    const char *description; /* Paragraphs for the man page, in the format of scdoc; may be NULL. */
    /* Commands that the help and the man page show as examples; a test runs them in the source
     * folder. NULL if there are none. */
    const char *examples[3];
    const struct cli_option *options;
    size_t option_count;
    /*
     * Headings of the help; the list ends with a heading whose title is NULL. The list itself is
     * NULL if there are no headings.
     */
    const struct cli_heading *headings;
    /* Words that the shell offers to complete an operand, as in cli_option.values. */
    const char *operands;
    /* True if the operands are a command to run; `accept` is then also called for the -- before
     * them. */
    bool dashes;
    /* Called for each option and operand, in the order of the command line. `option` is an index
     * into `options`, -1 for an operand, or CLI_DASHES for -- if `dashes` is true. Returns 0 to
     * continue; any other value is the exit code. */
    int (*accept)(void *state, int option, const char *value);
    int (*run)(void *state);
    void *(*begin)(
        void); /* Allocates the state of the command, which is passed to the other functions. */
    void (*end)(void *state);
    /* Verbs of a command that is a request; the list ends with NULL. Such a command has no options
     * or functions of its own. If there are several verbs, the first operand selects one ("runs
     * list"); the first verb is the default. The list is NULL if the command is not a request. */
    const struct hm_verb *const *verbs;
    /* Called before the request runs; may be NULL. Returns 0, or EXIT_USAGE with a message. */
    int (*prepare)(struct cli_verb_call *call);
};

enum { CLI_OPTIONS_MAX = 80 };

/* The options of a command, derived from the fields of its request or copied from its table. */
struct cli_options {
    struct cli_option items[CLI_OPTIONS_MAX];
    /* Heading above each option in the help; NULL if there is none. */
    const char *groups[CLI_OPTIONS_MAX];
    bool operands[CLI_OPTIONS_MAX]; /* True if the entry is an operand, not an option. */
    char names[CLI_OPTIONS_MAX][24];
    size_t count;
};

void cli_options_make(const struct cli_command *command, struct cli_options *ret_options);

extern const struct cli_command cli_plan, cli_fit, cli_design, cli_bench, cli_train, cli_compare,
    cli_converge, cli_advise, cli_study, cli_runs, cli_recommend, cli_graph, cli_catalog,
    cli_validate, cli_lab, cli_serve, cli_init, cli_completion, cli_man, cli_import, cli_calibrate,
    cli_steer;
extern const struct cli_command *const cli_commands[]; /* All commands; the list ends with NULL. */

/*
 * Parses the arguments after the name of the command, and runs the command. Returns the exit code.
 */
int cli_run(const struct cli_command *command, int argc, char **argv);
/*
 * Calls `accept` for each option and operand, with the arguments that struct cli_command describes.
 * *ret_help is true if --help was given.
 */
int cli_parse(const struct cli_command *command, const struct cli_options *options, int argc,
              char **argv, int (*accept)(void *state, int option, const char *value), void *state,
              bool *ret_help);

/* Commands that answer the same kind of question, for the help and the man page of the program. */
struct cli_group {
    const char *title;
    const struct cli_command *commands[8]; /* Commands of the group; the list ends with NULL. */
};
/* All groups of commands; the list ends with a group whose title is NULL. */
extern const struct cli_group cli_groups[];

/* Prints the help of the program (cli_help), or of one command. */
void cli_help(void);
void cli_command_help(const struct cli_command *command);
/*
 * Prints one entry of a list: a name in a column of `width` characters, and a string that is
 * wrapped at the width of the terminal, or at 80 columns if the terminal is wider.
 */
void cli_help_entry(const char *name, size_t width, const char *text);
const char *cli_summary(const struct cli_command *command);
const char *cli_description(const struct cli_command *command);
/* Writes an option into text[room] as the help shows it: "-d, --deadline TIME". */
void cli_option_text(const struct cli_option *option, char *text, size_t room);

/* ---- messages and output -------------------------------------------------------------------- */

/*
 * Writes an error such as "howmany: file:3: field: message", and its hint, to standard error. A
 * field of a request is written as an option, such as "--max-n". Returns EXIT_USAGE.
 */
int cli_report(const struct hm_err *err);
/*
 * Writes a string to `to`. If the string names guides or examples that are not in the current
 * folder, the names are replaced with the paths of the installed files.
 */
void cli_put_guides(FILE *to, const char *text);
/* Reports a usage error. Returns EXIT_USAGE. */
int cli_complain(const char *format, ...) HM_PRINTF(1, 2);
/* Returns the properties of standard output: whether it shows colour and Unicode, and its width. */
struct hm_style cli_style(void);
bool cli_is_terminal(void);
/* Writes a string to standard output. Returns false and prints a message if writing fails. */
bool cli_put(const char *text);
struct hm_text;
/*
 * Writes a string to standard output and releases it. On a terminal, long lines are wrapped, unless
 * the string is JSON. Returns 0, or EXIT_USAGE with a message.
 */
int cli_put_text(struct hm_text *text);
/* Same as cli_put_text, but for a string that the caller keeps. Returns false and prints a message
 * if writing fails. */
bool cli_put_wrapped(const char *text);
/* Progress on standard error, such as "metis: 12 of 31, 40 s left", shown only on a terminal.
 * Counts are shown after one second, strings immediately. */
struct cli_progress {
    const char *what; /* Name of the activity that is shown; borrowed. */
    size_t total;
    /*
     * Times of the start and of the last output, in seconds; shown_s is 0 before the first output.
     */
    double started_s, shown_s;
    /* Entry in the list of running commands; NULL if there is none. Owned. */
    struct cli_listing *listing;
};

struct cli_progress cli_progress_start(const char *what, size_t total);
void cli_progress_step(struct cli_progress *progress, size_t done);
/* Shows a string instead of counts, at most five times per second. */
void cli_progress_say(struct cli_progress *progress, const char *text);
void cli_progress_end(struct cli_progress *progress); /* Clears the line that shows progress. */
/*
 * Also shows the progress on the server's web page, under the name of the command. `title` says
 * what runs. cli_progress_close removes it; this call is not needed when the program exits.
 */
void cli_progress_list(struct cli_progress *progress, const char *title);
void cli_progress_close(struct cli_progress *progress);

/* Checks that a plot can be written to a file. Returns 0, or EXIT_USAGE with a message. */
int cli_check_plot(const char *file);
/* Runs gnuplot with a script that writes `file`. Returns 0, or EXIT_USAGE with a message. */
int cli_gnuplot(const char *script, const char *file);
/*
 * Reads a whole file, or standard input if `path` is "-". Free the result with hm_text_free.
 * Returns NULL with an error on failure.
 */
char *cli_read(const char *path, size_t *length, struct hm_err *err);

/*
 * A file that is written in parts and replaces the target only when it is complete. A device, a
 * pipe, and a file that is also standard output or error are written directly. A draft must not
 * move while it is open.
 */
struct cli_draft {
    FILE *file;       /* Stream for the contents; NULL if the draft is not open. */
    const char *path; /* Path of the target as the user gave it; borrowed. */
    /* Path of the target without symbolic links, empty if it is written directly; and of the
     * temporary file in the same folder, empty while it has no name. */
    char real[PATH_MAX], beside[PATH_MAX + 32];
    struct cli_draft *next; /* Next open draft. */
};

/*
 * Opens a draft. The temporary file is removed if a signal ends the program. Returns 0, or
 * EXIT_USAGE with a message.
 */
int cli_draft_open(struct cli_draft *draft, const char *path);
/*
 * Closes a draft and replaces the target, which keeps its permissions. If this fails, the target is
 * not changed. Returns 0, or EXIT_USAGE with a message.
 */
int cli_draft_keep(struct cli_draft *draft);
/* Closes a draft without changing the target. Does nothing if the draft is not open. */
void cli_draft_drop(struct cli_draft *draft);
/* Removes all temporary files of drafts, just before the program exits in a signal handler. */
void cli_drafts_abandon(void);
/*
 * Replaces the contents of a file. If this fails, the old contents are not changed. Returns 0, or
 * EXIT_USAGE with a message.
 */
int cli_write_file(const char *path, const char *text, size_t length);

/*
 * Reads the value of the option --name, a number with a unit of the dimension `dim`, and converts
 * it to SI units. Returns 0, or EXIT_USAGE with a message.
 */
int cli_quantity(const char *name, const char *text, struct hm_dim dim, double *value);
/* Same as cli_quantity, but reads a whole number from `least` to `most`. */
int cli_whole(const char *name, const char *text, double least, double most, double *value);
/* Same as cli_quantity, but the value must be above 0. */
int cli_positive(const char *name, const char *text, struct hm_dim dim, double *value);

/*
 * Loads the built-in catalog and the files in the user's own catalog folder. Returns NULL with a
 * message on failure.
 */
struct hm_catalog *cli_catalog_load(void);
/*
 * Writes the path of the user's own catalog folder into path[room]. Returns false if the variable
 * HOME is not set.
 */
bool cli_catalog_folder(char *path, size_t room);
/*
 * Returns whether the user's own catalog folder exists. If not, the built-in catalog is sufficient.
 */
bool cli_has_own_catalog(void);

#endif
