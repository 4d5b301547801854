/*
 * Builds the command lines of a steered training. Each piece of a training run is one child
 * process. `howmany train` receives the options of the study's file, and resumes with --adopt, so
 * that the checkpoint may come from another algorithm. In a user's command, these placeholders are
 * replaced:
 *
 *     {n} {algorithm} {checkpoint} {iterations} {seconds} {seed}   values
 *     {resume}      nothing if the run starts from scratch, else the text of --resume-with
 *
 * {iterations} and {seconds} are limits for this child process. A command with neither placeholder
 * is ended by SIGTERM at the end of the frame.
 */
#include "steer_command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "err.h"
#include "json.h"

static const char *const own_restarts = "--restarts=3";

bool steer_source_is_train(const struct steer_source *source)
{
    return source->study != NULL;
}

/* ---- howmany train --------------------------------------------------------------------------- */

static int add_number(struct launch_command *command, const char *name, double value,
                      const char *unit)
{
    struct hm_text text = {0};
    struct hm_err err = {0};

    hm__text_addf(&text, "--%s=", name);
    hm__json_number(&text, value);
    hm__text_add(&text, unit);
    int rc = text.failed ? hm__fail_nomem(&err) : launch_command_add(command, text.data, &err);
    hm__text_release(&text);
    return rc ? cli_report(&err) : 0;
}

static int add_text(struct launch_command *command, const char *name, const char *value)
{
    struct hm_text text = {0};
    struct hm_err err = {0};

    hm__text_addf(&text, "--%s=%s", name, value);
    int rc = text.failed ? hm__fail_nomem(&err) : launch_command_add(command, text.data, &err);
    hm__text_release(&text);
    return rc ? cli_report(&err) : 0;
}

static int add_word(struct launch_command *command, const char *word)
{
    struct hm_err err = {0};

    return launch_command_add(command, word, &err) ? cli_report(&err) : 0;
}

/*
 * Adds the option for the loss at which the run ends, relative to the lowest possible loss P* if P*
 * is known.
 */
static int add_target(const struct steer_task *task, struct launch_command *command)
{
    double best = isnan(task->best) ? 0 : task->best;
    int rc = add_number(command, "best", best, "");

    return rc ? rc : add_number(command, "suboptimality", task->target - best, "");
}

static int make_train_command(const struct steer_source *source, const struct steer_task *task,
                              const struct steer_piece *piece, struct launch_command *command)
{
    const struct steer_line *line = piece->line;
    const struct study_run run = {.algorithm = line->algorithm, .m = line->m, .seed = source->seed};
    int rc = study_commands_start(source->study, &run, command);

    rc = rc ? rc : add_number(command, "iterations", piece->iterations, "");
    if (rc == 0 && isfinite(piece->within_s))
        rc = add_number(command, "within", piece->within_s, "s");
    rc = rc ? rc : add_target(task, command);
    rc = rc ? rc : add_text(command, "checkpoint", piece->checkpoint);
    /* Simulated ranks do not die, so a checkpoint is written only at the end. */
    rc = rc ? rc : add_word(command, task->virtual_time ? "--every=1000000000" : own_restarts);
    if (rc == 0 && piece->resume)
        rc = add_word(command, "--resume");
    if (rc == 0 && piece->resume)
        rc = add_word(command, "--adopt");
    return rc ? rc : add_word(command, "--json");
}

/* ---- a command of the user ------------------------------------------------------------------- */

/*
 * Copies the user's command. {resume} is replaced by the arguments in source->resume if `resume` is
 * true, and removed otherwise.
 */
static int expand_resume(const struct steer_source *source, bool resume,
                         struct launch_command *ret_command, struct hm_err *err)
{
    struct launch_command words = {0};
    int rc = resume ? launch_command_split(&words, source->resume, err) : 0;

    for (size_t i = 0; rc == 0 && i < source->program.count; i++) {
        const char *word = source->program.argv[i];
        if (strcmp(word, "{resume}") != 0)
            rc = launch_command_add(ret_command, word, err);
        for (size_t k = 0; rc == 0 && strcmp(word, "{resume}") == 0 && k < words.count; k++)
            rc = launch_command_add(ret_command, words.argv[k], err);
    }
    launch_command_release(&words);
    return rc;
}

static int make_program_command(const struct steer_source *source, const struct steer_task *task,
                                const struct steer_piece *piece, struct launch_command *command)
{
    char n[32], iterations[32], seconds[32], seed[32];
    const struct launch_placeholder places[] = {
        {"n", n},
        {"algorithm", task->algorithms[piece->line->algorithm]},
        {"checkpoint", piece->checkpoint},
        {"iterations", iterations},
        {"seconds", seconds},
        {"seed", seed},
        {"resume", ""},
    };
    struct launch_command expanded = {0};
    struct hm_err err = {0};

    snprintf(n, sizeof(n), "%.0f", task->m[piece->line->m]);
    snprintf(iterations, sizeof(iterations), "%.0f", fmin(piece->more, 1e9));
    snprintf(seconds, sizeof(seconds), "%.3f", fmin(piece->within_s, 1e9));
    snprintf(seed, sizeof(seed), "%.0f", source->seed);
    int rc = expand_resume(source, piece->resume, &expanded, &err);
    rc = rc ? rc
            : launch_command_fill(&expanded, places, sizeof(places) / sizeof(places[0]), command,
                                  &err);
    launch_command_release(&expanded);
    return rc ? cli_report(&err) : 0;
}

int steer_source_check(const struct steer_source *source, const struct steer_task *task)
{
    if (steer_source_is_train(source))
        return 0;
    if (!launch_command_uses(&source->program, "n"))
        return cli_complain("--command: it has no {n}, the number of workers");
    if (!launch_command_uses(&source->program, "checkpoint"))
        return cli_complain("--command: it has no {checkpoint}, the file that keeps its state");
    if (!launch_command_uses(&source->program, "resume"))
        return cli_complain("--command: it has no {resume}, which becomes the option that makes it "
                            "continue from the checkpoint");
    if (task->algorithm_count > 1 && !launch_command_uses(&source->program, "algorithm"))
        return cli_complain("--command: it has no {algorithm}, but --algorithms names several");
    /* The command is built only to detect unknown placeholders before anything runs. */
    const struct steer_line line = {0};
    const struct steer_piece piece = {.line = &line, .checkpoint = "", .resume = true};
    struct launch_command command = {0};
    int rc = make_program_command(source, task, &piece, &command);
    launch_command_release(&command);
    return rc;
}

int steer_command_make(const struct steer_source *source, const struct steer_task *task,
                       const struct steer_piece *piece, struct launch_command *ret_command)
{
    struct launch_command command = {0};
    int rc = steer_source_is_train(source) ? make_train_command(source, task, piece, &command)
                                           : make_program_command(source, task, piece, &command);

    if (rc)
        launch_command_release(&command);
    else
        *ret_command = command;
    return rc;
}
