/*
 * Carries out one study from start to finish. Runs are chosen, executed and recorded; the time per
 * iteration and the convergence are fitted; the advice names the algorithm and the number of
 * workers. To check the answer, the chosen configuration and the runner-up are each run once more,
 * with a seed that was not fitted.
 */
#include "study_session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "child.h"
#include "readers.h"

int study_session_open(struct study_session *s, const char *folder, bool make)
{
    int rc = study_commands_prepare(&s->commands, s->spec);

    s->folder.path = folder;
    s->folder.commands = &s->commands;
    return rc ? rc : study_folder_open(&s->folder, make);
}

void study_session_release(struct study_session *s)
{
    study_result_release(&s->result);
    study_folder_close(&s->folder);
    study_commands_release(&s->commands);
    hm__study_spec_free(s->spec);
}

/* ---- runs ----------------------------------------------------------------------------------- */

static struct hm_converge_settings converge_settings(const struct study_result *r)
{
    return (struct hm_converge_settings){.best_given = !isnan(r->best),
                                         .best = isnan(r->best) ? 0 : r->best};
}

/*
 * Computes the advice. An algorithm whose runs have all failed has no traces and is not part of the
 * advice.
 */
static int session_advise(const struct study_session *s, struct study_result *r, struct hm_err *err)
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
 * Fits all traces. Returns 0, EXIT_USAGE with a message if traces cannot be read, or -1 with the
 * error set if they cannot be fitted.
 */
static int session_fit(struct study_session *s, struct study_result *r, struct hm_err *err)
{
    study_result_release(r);
    r->best = NAN;
    if (study_folder_load(&s->folder, &r->traces))
        return EXIT_USAGE;
    r->best = study_commands_best_of_all(&s->commands, s->folder.best, r->traces);
    struct hm_converge_settings settings = converge_settings(r);
    if (hm_convergence_new(r->traces, &settings, &r->convergence, err) || session_advise(s, r, err))
        return -1;
    return 0;
}

/* Chooses the next run after the initial ones. */
static int session_decide(struct study_session *s, enum study_verdict *verdict,
                          struct study_run *run)
{
    struct hm_err err = {0};

    *verdict = STUDY_ALL;
    /* If all runs so far have failed, there is nothing to fit. */
    if (study_table_count(&s->folder.table) == 0)
        return 0;
    cli_progress_say(&s->folder.progress, "fitting");
    int rc = session_fit(s, &s->result, &err);
    if (rc > 0)
        return rc;
    *verdict = rc == 0 ? study_plan_more(&s->folder.table, s->result.advice, run)
                       : study_plan_any(&s->folder.table, run);
    return 0;
}

static int session_make_runs(struct study_session *s, enum study_verdict *ret_verdict)
{
    enum study_verdict verdict = STUDY_GO;
    int rc = study_folder_reference(&s->folder);

    while (rc == 0 && verdict == STUDY_GO) {
        struct study_run run;
        verdict = study_plan_first(&s->folder.table, &run);
        if (verdict == STUDY_FITS)
            rc = session_decide(s, &verdict, &run);
        if (rc == 0 && verdict == STUDY_GO)
            rc = study_folder_make(&s->folder, &run);
    }
    *ret_verdict = verdict;
    return rc;
}

/* ---- the answer and its check --------------------------------------------------------------- */

static int session_answer(struct study_session *s, enum study_verdict verdict)
{
    struct study_result *r = &s->result;
    struct hm_err err = {0};

    if (study_table_count(&s->folder.table) == 0) {
        cli_complain("study: %s", verdict == STUDY_BUDGET
                                      ? "the budget was spent before any run was complete"
                                      : "no run was completed, so nothing can be fitted");
        return EXIT_NO_ANSWER;
    }
    cli_progress_say(&s->folder.progress, "fitting");
    int rc = session_fit(s, r, &err);
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

/*
 * If a run that checks the answer reached the target loss, sets the time and the number of
 * iterations at which it did so.
 */
static void check_compare(struct hm_study_check *check, const struct hm_trace *trace, double best,
                          double loss)
{
    /* Runs stop at P - P* <= loss, where P is the objective and P* is its lowest possible value;
     * the factor allows for the rounding of P* + loss. */
    size_t at = study_reached(trace, best + loss * (1 + 1e-9));

    check->loss = trace->loss[trace->count - 1] - best;
    if (at < trace->count) {
        check->achieved_s = trace->elapsed_s[at];
        check->achieved_iterations = trace->iteration[at];
    }
}

static int session_check_one(struct study_session *s, const struct hm_candidate *candidate,
                             const char *role)
{
    struct study_result *r = &s->result;
    struct hm_study_check *check = &r->checks[r->check_count];
    struct hm_traces *traces = NULL;
    struct study_run run;

    study_plan_find(s->spec, candidate->algorithm, candidate->m, &run);
    run.seed = s->spec->seeds + 1;
    int rc = study_folder_check(&s->folder, &run, &traces);
    if (rc)
        return rc;
    *check = (struct hm_study_check){.algorithm = candidate->algorithm,
                                     .m = candidate->m,
                                     .role = role,
                                     .predicted_s = candidate->time_s,
                                     .predicted_low_s = candidate->low_s,
                                     .predicted_high_s = candidate->high_s,
                                     .predicted_iterations = candidate->iterations,
                                     .achieved_s = NAN,
                                     .achieved_iterations = NAN,
                                     .loss = NAN};
    r->check_count++;
    if (traces)
        check_compare(check, &traces->traces[0], r->convergence->best, s->spec->loss);
    hm_traces_free(traces);
    return 0;
}

static int session_check(struct study_session *s)
{
    static const char *const roles[STUDY_CHECKS] = {"chosen", "runner-up"};
    const struct hm_advice *advice = s->result.advice;
    int rc = 0;

    for (size_t i = 0; advice->feasible && rc == 0 && i < STUDY_CHECKS; i++) {
        const struct hm_candidate *candidate = study_plan_check(&s->folder.table, advice, i);
        if (candidate)
            rc = session_check_one(s, candidate, roles[i]);
    }
    return rc;
}

/* ---- the session ---------------------------------------------------------------------------- */

static int add_command_line(struct hm_text *out, int rc, struct launch_command *command)
{
    hm__text_add(out, "howmany ");
    if (rc == 0 && launch_command_quote(out, command))
        rc = cli_complain("out of memory");
    hm__text_add(out, "\n");
    launch_command_release(command);
    return rc;
}

int study_session_print_commands(const struct study_session *s)
{
    enum study_reference source = s->commands.reference;
    struct launch_command command = {0};
    struct hm_text out = {0};
    struct study_run run;
    int rc = 0;

    if ((source == STUDY_GAP || source == STUDY_LBFGS) && isnan(s->folder.best))
        rc = add_command_line(&out, study_commands_reference(&s->commands, &command), &command);
    for (size_t i = 0; rc == 0 && study_table_each(&s->folder.table, i, &run); i++)
        if (study_is_initial(s->spec, &run) &&
            study_table_at(&s->folder.table, &run)->state == STUDY_MISSING)
            rc = add_command_line(
                &out, study_commands_run(&s->commands, &run, s->folder.best, &command), &command);
    rc = rc ? rc : cli_put_text(&out);
    hm__text_release(&out);
    return rc;
}

int study_session_run(struct study_session *s)
{
    enum study_verdict verdict = STUDY_ALL;
    int rc = session_make_runs(s, &verdict);

    rc = rc ? rc : session_answer(s, verdict);
    rc = rc ? rc : session_check(s);
    if (rc == 0 && launch_interrupted())
        rc = EXIT_INTERRUPTED;
    return rc;
}
