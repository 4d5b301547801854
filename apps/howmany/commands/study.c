/*
 * howmany study: the whole loop. Runs are chosen, made and recorded; f and g are fitted; which
 * algorithm on how many workers is answered; and the answer is put to the test by running it and
 * the runner-up once more, with a seed that no fit has seen.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "child.h"
#include "memory.h"
#include "readers.h"
#include "study_tell.h"

struct study_asked {
    const char *file, *folder, *report;
    struct hm_override sets[CLI_LIST_MAX];
    size_t set_count;
    bool json, dry_run;
    struct cli_words command; /* that repeats it */
    struct hm_arena *arena;   /* owns texts */
    struct hm_study_spec *spec;
    struct study_words words;
    struct study_folder dir;
    struct study_result result;
};

enum option { FOLDER, REPORT, SET, BUDGET, LOSS, JSON, DRY_RUN, OPTIONS };

static const struct cli_option options[OPTIONS] = {
    [FOLDER] = {"folder", 0, "DIR", "where the runs are kept (default: FILE with .study)", "@file"},
    [REPORT] = {"report", 0, "FILE", "the report (default: report.html in the folder)", "@file"},
    [SET] = {"set", 0, "KEY=VALUE", "change a key of the file, such as train.lambda=1e-3", NULL},
    [BUDGET] = {"budget", 0, "TIME", "of all runs together, such as 60s", NULL},
    [LOSS] = {"loss", 0, "X", "how near to the least objective, such as 1e-3", NULL},
    [JSON] = {"json", 'j', NULL, "one document of JSON", NULL},
    [DRY_RUN] = {"dry-run", 0, NULL, "print the runs it would make first, and make none", NULL},
};

static void *begin(void)
{
    struct study_asked *s = calloc(1, sizeof(*s));

    if (s && !(s->arena = hm__arena_new())) {
        free(s);
        return NULL;
    }
    return s;
}

static void end(void *state)
{
    struct study_asked *s = state;

    study_result_release(&s->result);
    study_folder_close(&s->dir);
    study_words_release(&s->words);
    hm__study_spec_free(s->spec);
    cli_words_release(&s->command);
    hm__arena_free(s->arena);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

/* What a person must say again to get the same. */
static int remember(struct study_asked *s, int option, const char *value)
{
    struct hm_err err = {0};
    const char *word =
        option < 0 ? value : hm__arena_printf(s->arena, "--%s=%s", options[option].name, value);

    if (!word || cli_words_add(&s->command, word, &err))
        return cli_complain("out of memory");
    return 0;
}

static int take_set(struct study_asked *s, const char *key, const char *value)
{
    const char *text = key ? hm__arena_printf(s->arena, "%s=%s", key, value) : value;

    if (!text)
        return cli_complain("out of memory");
    if (s->set_count == CLI_LIST_MAX)
        return cli_complain("--set: more than %d", CLI_LIST_MAX);
    s->sets[s->set_count++].text = text;
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    struct study_asked *s = state;
    int rc = option == JSON || option == DRY_RUN ? 0 : remember(s, option, value);

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
        return take_set(s, NULL, value);
    case BUDGET:
        return take_set(s, "budget", value);
    case LOSS:
        return take_set(s, "loss", value);
    case JSON:
        s->json = true;
        return 0;
    case DRY_RUN:
        s->dry_run = true;
        return 0;
    default:
        if (s->file)
            return cli_complain("study: one file, not also '%s'", value);
        s->file = value;
        return 0;
    }
}

/* FILE without its ending, and .study. */
static const char *default_folder(struct study_asked *s)
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

static int prepare(struct study_asked *s)
{
    struct hm_err err = {0};
    size_t length = 0;

    if (!s->file)
        return cli_complain("study: which file? See 'howmany help study'");
    if (strcmp(s->file, "-") == 0 && !s->folder)
        return cli_complain("study: --folder must say where the runs of standard input go");
    char *text = cli_read(s->file, &length, &err);
    int rc =
        text ? hm__study_spec_parse(text, length, s->file, s->sets, s->set_count, &s->spec, &err)
             : err.code;
    hm_text_free(text);
    if (rc)
        return cli_report(&err);
    if (!s->folder && !(s->folder = default_folder(s)))
        return cli_complain("out of memory");
    if (!s->report && !(s->report = hm__arena_printf(s->arena, "%s/report.html", s->folder)))
        return cli_complain("out of memory");
    rc = study_words_prepare(&s->words, s->spec);
    s->dir.path = s->folder;
    s->dir.words = &s->words;
    return rc ? rc : study_folder_open(&s->dir, !s->dry_run);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static struct hm_converge_settings converge_settings(const struct study_result *r)
{
    return (struct hm_converge_settings){.best_given = !isnan(r->best),
                                         .best = isnan(r->best) ? 0 : r->best};
}

/* Of all algorithms that have traces: one whose runs all failed has none. */
static int advise(const struct study_asked *s, struct study_result *r, struct hm_err *err)
{
    const struct hm_study_spec *spec = s->spec;
    struct hm_advise_question question = HM_ADVISE_QUESTION_INIT;

    question.loss = spec->loss;
    question.goal = spec->goal;
    question.m = spec->m;
    question.m_count = spec->m_count;
    question.price_per_s = spec->price_per_s;
    return hm_advise(r->convergence, NULL, 0, &question, &r->advice, err);
}

/*
 * Fit all there is. 0; EXIT_USAGE with a message when traces cannot be read; -1 with the error when
 * they cannot be fitted.
 */
static int fit(struct study_asked *s, struct study_result *r, struct hm_err *err)
{
    study_result_release(r);
    r->best = NAN;
    if (study_folder_load(&s->dir, &r->traces))
        return EXIT_USAGE;
    r->best = study_words_best_of_all(&s->words, s->dir.best, r->traces);
    struct hm_converge_settings settings = converge_settings(r);
    if (hm_convergence_new(r->traces, &settings, &r->convergence, err) || advise(s, r, err))
        return -1;
    return 0;
}

/* The run to make after the first look. */
static int decide(struct study_asked *s, enum study_verdict *verdict, struct study_run *run)
{
    struct hm_err err = {0};

    *verdict = STUDY_ALL;
    if (study_table_count(&s->dir.table) == 0) /* whatever was tried has failed */
        return 0;
    cli_progress_say(&s->dir.progress, "fitting");
    int rc = fit(s, &s->result, &err);
    if (rc > 0)
        return rc;
    *verdict = rc == 0 ? study_plan_more(&s->dir.table, s->result.advice, run)
                       : study_plan_any(&s->dir.table, run);
    return 0;
}

static int make_runs(struct study_asked *s, enum study_verdict *ret_verdict)
{
    enum study_verdict verdict = STUDY_GO;
    int rc = study_folder_reference(&s->dir);

    while (rc == 0 && verdict == STUDY_GO) {
        struct study_run run;
        verdict = study_plan_first(&s->dir.table, &run);
        if (verdict == STUDY_FITS)
            rc = decide(s, &verdict, &run);
        if (rc == 0 && verdict == STUDY_GO)
            rc = study_folder_make(&s->dir, &run);
    }
    *ret_verdict = verdict;
    return rc;
}

/* ---- the answer and its check --------------------------------------------------------------- */

static int answer(struct study_asked *s, enum study_verdict verdict)
{
    struct study_result *r = &s->result;
    struct hm_err err = {0};

    if (study_table_count(&s->dir.table) == 0) {
        cli_complain("study: %s", verdict == STUDY_BUDGET
                                      ? "the budget was spent before any run was whole"
                                      : "no run was whole, so there is nothing to learn from");
        return EXIT_NO_ANSWER;
    }
    cli_progress_say(&s->dir.progress, "fitting");
    int rc = fit(s, r, &err);
    r->verdict = verdict;
    if (rc) {
        if (rc < 0)
            cli_report(&err);
        return rc < 0 ? EXIT_NO_ANSWER : rc;
    }
    struct hm_holdout_settings settings = {.converge = converge_settings(r)};
    if (hm_convergence_hold_out(r->traces, &settings, &r->holdout, &err))
        snprintf(r->holdout_note, sizeof(r->holdout_note), "%.150s", err.message);
    return 0;
}

/* Where the check's run got, beside what was predicted of it. */
static void compare(struct hm_study_check *check, const struct hm_trace *trace, double best,
                    double loss)
{
    /* Runs stop at P - P* <= loss; adding instead of taking away rounds otherwise. */
    size_t at = study_reached(trace, best + loss * (1 + 1e-9));

    check->loss = trace->loss[trace->count - 1] - best;
    if (at < trace->count) {
        check->achieved_s = trace->elapsed_s[at];
        check->achieved_iterations = trace->iteration[at];
    }
}

static int check_one(struct study_asked *s, const struct hm_candidate *candidate, const char *role)
{
    struct study_result *r = &s->result;
    struct hm_study_check *check = &r->checks[r->check_count];
    struct hm_traces *traces = NULL;
    struct study_run run;

    study_plan_find(s->spec, candidate->algorithm, candidate->m, &run);
    run.seed = s->spec->seeds + 1;
    int rc = study_folder_check(&s->dir, &run, &traces);
    if (rc)
        return rc;
    *check = (struct hm_study_check){.algorithm = candidate->algorithm,
                                     .m = candidate->m,
                                     .role = role,
                                     .predicted_s = candidate->time_s,
                                     .predicted_low_s = candidate->time_low_s,
                                     .predicted_high_s = candidate->time_high_s,
                                     .predicted_iterations = candidate->iterations,
                                     .achieved_s = NAN,
                                     .achieved_iterations = NAN,
                                     .loss = NAN};
    r->check_count++;
    if (traces)
        compare(check, &traces->traces[0], r->convergence->best, s->spec->loss);
    hm_traces_free(traces);
    return 0;
}

static int check(struct study_asked *s)
{
    static const char *const roles[STUDY_CHECKS] = {"chosen", "runner-up"};
    const struct hm_advice *advice = s->result.advice;
    int rc = 0;

    for (size_t i = 0; advice->feasible && rc == 0 && i < STUDY_CHECKS; i++) {
        const struct hm_candidate *candidate = study_plan_check(&s->dir.table, advice, i);
        if (candidate)
            rc = check_one(s, candidate, roles[i]);
    }
    return rc;
}

/* ---- telling -------------------------------------------------------------------------------- */

static int write_report(struct study_asked *s, const struct hm_study *study)
{
    struct hm_err err = {0};
    char *html = NULL;

    if (hm_study_render(study, &html, &err))
        return cli_report(&err);
    int rc = cli_write_file(s->report, html, strlen(html));
    hm_text_free(html);
    return rc;
}

static int put_text(struct study_asked *s, const struct hm_study *study)
{
    struct hm_style style = cli_style();
    struct hm_text out = {0};
    struct hm_err err = {0};
    char *advice = NULL;

    if (hm_advice_render(s->result.advice, s->json ? HM_FORMAT_JSON : HM_FORMAT_TEXT, &style,
                         &advice, &err))
        return cli_report(&err);
    if (s->json)
        study_tell_json(&s->dir, &s->result, study, advice, s->report, &out);
    else
        study_tell_text(&s->dir, &s->result, study, advice, s->report, &style, &out);
    int rc = cli_put_text(&out);
    hm_text_free(advice);
    return rc;
}

static int tell(struct study_asked *s)
{
    struct hm_text command = {0};
    struct hm_study study = {0};
    int rc = 0;

    hm__text_add(&command, "howmany study ");
    if (cli_words_quote(&command, &s->command) || command.failed)
        rc = cli_complain("out of memory");
    rc = rc ? rc : study_tell_fill(&s->dir, &s->result, command.data, s->arena, &study);
    rc = rc ? rc : write_report(s, &study);
    rc = rc ? rc : put_text(s, &study);
    hm__text_release(&command);
    return rc ? rc : s->result.advice->feasible ? EXIT_ANSWERED : EXIT_NO_ANSWER;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static int add_command(struct hm_text *out, int rc, struct cli_words *words)
{
    hm__text_add(out, "howmany ");
    if (rc == 0 && cli_words_quote(out, words))
        rc = cli_complain("out of memory");
    hm__text_add(out, "\n");
    cli_words_release(words);
    return rc;
}

/* The runs that do not depend on how others end, as commands. */
static int show_first(struct study_asked *s)
{
    enum study_reference how = s->words.reference;
    struct cli_words words = {0};
    struct hm_text out = {0};
    struct study_run run;
    int rc = 0;

    if ((how == STUDY_GAP || how == STUDY_LBFGS) && isnan(s->dir.best))
        rc = add_command(&out, study_words_reference(&s->words, &words), &words);
    for (size_t i = 0; rc == 0 && study_table_each(&s->dir.table, i, &run); i++)
        if (study_is_first(s->spec, &run) &&
            study_table_at(&s->dir.table, &run)->state == STUDY_MISSING)
            rc = add_command(&out, study_words_run(&s->words, &run, s->dir.best, &words), &words);
    rc = rc ? rc : cli_put_text(&out);
    hm__text_release(&out);
    return rc;
}

static int run_study(struct study_asked *s)
{
    enum study_verdict verdict = STUDY_ALL;
    int rc = make_runs(s, &verdict);

    rc = rc ? rc : answer(s, verdict);
    rc = rc ? rc : check(s);
    if (rc == 0 && cli_interrupted())
        rc = EXIT_INTERRUPTED;
    return rc;
}

static int run(void *state)
{
    struct study_asked *s = state;
    int rc = prepare(s);

    if (rc || s->dry_run)
        return rc ? rc : show_first(s);
    cli_interrupt_begin();
    rc = run_study(s);
    cli_interrupt_end();
    cli_progress_end(&s->dir.progress);
    if (rc == EXIT_INTERRUPTED)
        fprintf(stderr,
                "howmany: interrupted; %s keeps the runs that are whole, and the same "
                "command goes on from there\n",
                s->folder);
    return rc ? rc : tell(s);
}

const struct cli_command cli_study = {
    .name = "study",
    .arguments = "FILE",
    .summary = "which algorithm on how many workers: make runs, answer, and check the answer",
    .description =
        "Reads a study, a few lines of YAML: a training problem, algorithms, numbers of workers, "
        "the loss to reach and a budget of time. It makes training runs, real or simulated, first "
        "a few of each algorithm and then those that help most; fits how long an iteration takes "
        "and how the loss falls; and says which algorithm on how many workers is the fastest or "
        "cheapest. Then it runs that and the runner-up once more, with a seed that was not used, "
        "and tells what was predicted and what was achieved.\n\n"
        "The folder keeps the trace of every run, and nothing else is remembered. Started again, "
        "the same command goes on where it was interrupted, and makes no run twice. The report is "
        "one file of HTML.\n\n"
        "Exit status: 0 answered; 1 the loss is not reached, as far as can be told; 2 wrong usage "
        "or input; 130 interrupted.",
    .options = options,
    .option_count = OPTIONS,
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
