/*
 * Implements the command howmany study, which executes training runs, finds the best algorithm and
 * number of workers, checks this answer with more runs, and writes a report.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "lists.h"
#include "machine.h"
#include "memory.h"
#include "readers.h"
#include "study_session.h"

struct study_state {
    const char *file, *folder, *report;
    struct hm_override sets[CLI_LIST_MAX];
    size_t set_count;
    bool json, dry_run;
    struct launch_command command; /* Command line that repeats this study. */
    struct hm_arena *arena;        /* Owns the strings in this struct. */
    struct study_session session;
};

enum study_option { FOLDER, REPORT, SET, BUDGET, LOSS, JSON, DRY_RUN, OPTIONS };

static const struct cli_option options[OPTIONS] = {
    [FOLDER] = {"folder", 0, "DIR", "where the runs are kept (default: FILE with .study)", "@file"},
    [REPORT] = {"report", 0, "FILE", "the report (default: report.html in the folder)", "@file"},
    [SET] = {"set", 0, "KEY=VALUE", "change a key of the file, such as train.lambda=1e-3", NULL},
    [BUDGET] = {"budget", 0, "TIME", "time of all runs together, such as 60s", NULL},
    [LOSS] = {"loss", 0, "X", "target distance to the lowest objective, such as 1e-3", NULL},
    [JSON] = {"json", 'j', NULL, "the answer as one JSON document", NULL},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the first runs without executing them", NULL},
};

static void *study_begin(void)
{
    struct study_state *s = calloc(1, sizeof(*s));

    if (s && !(s->arena = hm__arena_new())) {
        free(s);
        return NULL;
    }
    return s;
}

static void study_end(void *state)
{
    struct study_state *s = state;

    study_session_release(&s->session);
    launch_command_release(&s->command);
    hm__arena_free(s->arena);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

/* Stores an argument for the command line that repeats this study. */
static int remember_argument(struct study_state *s, int option, const char *value)
{
    struct hm_err err = {0};
    const char *word =
        option < 0 ? value : hm__arena_printf(s->arena, "--%s=%s", options[option].name, value);

    if (!word || launch_command_add(&s->command, word, &err))
        return cli_complain("out of memory");
    return 0;
}

static int add_override(struct study_state *s, const char *key, const char *value)
{
    const char *text = key ? hm__arena_printf(s->arena, "%s=%s", key, value) : value;

    if (!text)
        return cli_complain("out of memory");
    if (s->set_count == CLI_LIST_MAX)
        return cli_complain("--set: more than %d", CLI_LIST_MAX);
    s->sets[s->set_count++].text = text;
    return 0;
}

static int study_accept(void *state, int option, const char *value)
{
    struct study_state *s = state;
    int rc = option == JSON || option == DRY_RUN ? 0 : remember_argument(s, option, value);

    if (rc)
        return rc;
    switch (option) {
    case FOLDER:
        s->folder = value;
        return 0;
    case REPORT:
        s->report = value;
        return 0;
    case SET:
        return add_override(s, NULL, value);
    case BUDGET:
        return add_override(s, "budget", value);
    case LOSS:
        return add_override(s, "loss", value);
    case JSON:
        s->json = true;
        return 0;
    case DRY_RUN:
        s->dry_run = true;
        return 0;
    default:
        if (s->file)
            return cli_complain("study: give one file only; '%s' is another", value);
        s->file = value;
        return 0;
    }
}

/* Returns the default folder of a study: the name of its file with .study in place of the
 * extension. */
static const char *default_folder(struct study_state *s)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t length = strlen(s->file);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (hm__text_ends(s->file, endings[i])) {
            length -= strlen(endings[i]);
            break;
        }
    return hm__arena_printf(s->arena, "%.*s.study", (int)length, s->file);
}

static int study_prepare(struct study_state *s)
{
    struct hm_err err = {0};
    size_t length = 0;

    if (!s->file)
        return cli_complain("study: the file is missing; see 'howmany help study'");
    if (strcmp(s->file, "-") == 0 && !s->folder)
        return cli_complain("study: a study from standard input needs --folder");
    char *text = cli_read(s->file, &length, &err);
    int rc = text ? hm__study_spec_parse(text, length, s->file, s->sets, s->set_count,
                                         &s->session.spec, &err)
                  : err.code;
    hm_text_free(text);
    if (rc)
        return cli_report(&err);
    if (!s->folder && !(s->folder = default_folder(s)))
        return cli_complain("out of memory");
    if (!s->report && !(s->report = hm__arena_printf(s->arena, "%s/report.html", s->folder)))
        return cli_complain("out of memory");
    return study_session_open(&s->session, s->folder, !s->dry_run);
}

/* ---- the answer ----------------------------------------------------------------------------- */

static int write_report(struct study_state *s, const struct hm_study *study)
{
    struct hm_err err = {0};
    char *html = NULL;

    if (hm_study_render(study, &html, &err))
        return cli_report(&err);
    int rc = cli_write_file(s->report, html, strlen(html));
    hm_text_free(html);
    return rc;
}

static int print_answer(struct study_state *s, const struct hm_study *study)
{
    struct hm_style style = cli_style();
    struct hm_text out = {0};
    struct hm_err err = {0};
    char *advice = NULL;

    if (hm_advice_render(s->session.result.advice, s->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT,
                         &style, &advice, &err))
        return cli_report(&err);
    if (s->json)
        study_output_json(&s->session.folder, &s->session.result, study, advice, s->report, &out);
    else
        study_output_text(&s->session.folder, &s->session.result, study, advice, s->report, &style,
                          &out);
    int rc = cli_put_text(&out);
    hm_text_free(advice);
    return rc;
}

static int present_study(struct study_state *s)
{
    struct hm_text command = {0};
    struct hm_study study = {0};
    int rc = 0;

    hm__text_add(&command, "howmany study ");
    if (launch_command_quote(&command, &s->command) || command.failed)
        rc = cli_complain("out of memory");
    rc = rc ? rc
            : study_output_fill(&s->session.folder, &s->session.result, command.data, s->arena,
                                &study);
    rc = rc ? rc : write_report(s, &study);
    rc = rc ? rc : print_answer(s, &study);
    hm__text_release(&command);
    return rc ? rc : s->session.result.advice->feasible ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

static int study_run_command(void *state)
{
    struct study_state *s = state;
    int rc = study_prepare(s);

    if (rc || s->dry_run)
        return rc ? rc : study_session_print_commands(&s->session);
    launch_interrupt_begin();
    rc = study_session_run(&s->session);
    launch_interrupt_end();
    cli_progress_end(&s->session.folder.progress);
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr,
                "howmany: interrupted; %s keeps the complete runs, and the same command "
                "continues from there\n",
                s->folder);
    return rc ? rc : present_study(s);
}

static const struct cli_heading headings[] = {
    {"folder", "files"}, {"set", "question"}, {"json", "output"}, {NULL, NULL}};

const struct cli_command cli_study = {
    .name = "study",
    .examples = {"howmany study examples/study.yaml --dry-run",
                 "howmany study examples/study.yaml --set m=1..8 --dry-run",
                 "howmany study examples/study.yaml --loss 5e-3 --folder my.study --dry-run"},
    .arguments = "FILE",
    .summary = "find the best algorithm and number of workers by runs, and check the answer",
    .description =
        "Reads a study, a few lines of YAML: a training problem, algorithms, numbers of workers, "
        "the loss to reach and a budget of time. It makes training runs, real or simulated, first "
        "a few of each algorithm and then those that help most; fits the time of an iteration and "
        "how the loss falls; and says which algorithm on how many workers is the fastest or "
        "cheapest. Then it runs that and the runner-up once more, with a new seed, and shows the "
        "predicted and the achieved time.\n\n"
        "The folder keeps the trace of every run, and is the only state. Started again, the same "
        "command continues where it was interrupted, and makes no run twice. The report is one "
        "HTML file.\n\n"
        "Exit status: 0 answered; 1 no run is expected to reach the loss; 2 wrong usage or input; "
        "130 interrupted.",
    .options = options,
    .option_count = OPTIONS,
    .headings = headings,
    .operands = "@file",
    .accept = study_accept,
    .run = study_run_command,
    .begin = study_begin,
    .end = study_end,
};
