/*
 * Asks the questions for a first job. Each answer is immediately checked against the catalog, so
 * that a typing error is reported directly below its question.
 */
#include "first_job.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "readers.h"
#include "text.h"

static const char first_model[] = "resnet-50", first_machine[] = "p5.48xlarge";

/* ---- what the catalog says about a model -----------------------------------------------------
 */

static const struct hm_value *model_entry(const struct hm_catalog *catalog, const char *model)
{
    return hm__catalog_find(catalog, HM_CATALOG_NETWORK, model);
}

const char *first_job_usual(const struct hm_catalog *catalog, const char *model, const char *key)
{
    const struct hm_value *usual = hm__value_get(model_entry(catalog, model), "usual");
    const struct hm_value *value = hm__value_get(usual, key);

    return value ? value->text : NULL;
}

const char *first_job_batch(const struct hm_catalog *catalog, const char *model)
{
    return first_job_usual(catalog, model, "batch") ? NULL : "256";
}

bool first_job_has_layouts(const struct hm_catalog *catalog, const char *model)
{
    const struct hm_value *kind = hm__value_get(model_entry(catalog, model), "kind");

    return kind && kind->text && strcmp(kind->text, "transformer") == 0;
}

/* Returns whether the amount of training of a model can be given in tokens. */
static bool has_tokens(const struct hm_catalog *catalog, const char *model)
{
    const struct hm_value *input = hm__value_get(model_entry(catalog, model), "input");

    return first_job_has_layouts(catalog, model) ||
           (hm__value_get(input, "sequence") && !first_job_usual(catalog, model, "dataset"));
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Sets the unit and the amount of training that are suggested for a model. */
static void suggest_work(const struct hm_catalog *catalog, struct first_job *job)
{
    const char *unit = "iterations", *amount = "10000";

    if (has_tokens(catalog, job->model)) {
        unit = "tokens";
        amount = "100B";
    } else if (first_job_usual(catalog, job->model, "dataset")) {
        unit = "epochs";
        amount = "90";
    }
    snprintf(job->unit, sizeof(job->unit), "%s", unit);
    snprintf(job->amount, sizeof(job->amount), "%s", amount);
}

void first_job_suggest(const struct hm_catalog *catalog, struct first_job *job)
{
    if (!job->model[0])
        snprintf(job->model, sizeof(job->model), "%s", first_model);
    if (!job->machine[0])
        snprintf(job->machine, sizeof(job->machine), "%s", first_machine);
    if (!job->amount[0])
        suggest_work(catalog, job);
}

static int check_model(const struct hm_catalog *catalog, const char *name, struct hm_err *err)
{
    return model_entry(catalog, name) ? 0
                                      : hm__catalog_unknown(catalog, HM_CATALOG_NETWORK, name, err);
}

static int check_machine(const struct hm_catalog *catalog, const char *name, struct hm_err *err)
{
    struct hm_cluster *cluster = NULL;
    int rc = hm_catalog_machine(catalog, name, &cluster, err);

    hm_cluster_free(cluster);
    return rc;
}

/*
 * Splits a string such as "300B tokens" into the amount and the unit; if the string has no unit,
 * the unit of the job does not change. Fails if the amount is not above 0 or if this unit cannot be
 * used for the model.
 */
static int parse_work(const struct hm_catalog *catalog, const char *text, struct first_job *job,
                      struct hm_err *err)
{
    static const char *const units[] = {"tokens", "epochs", "iterations"};
    double value = 0;
    size_t digits = hm__number_read(text, &value);
    bool suffix = text[digits] && strchr("kMBT", text[digits]);
    digits += suffix ? 1 : 0;
    const char *word = text + digits + strspn(text + digits, " ");
    const char *unit = *word ? NULL : job->unit;

    for (size_t i = 0; *word && i < sizeof(units) / sizeof(units[0]); i++)
        if (strncmp(units[i], word, strlen(word)) == 0)
            unit = units[i];
    if (!(value > 0 && value < 1e300) || digits >= sizeof(job->amount) || !unit)
        return hm__fail(err, HM_E_RANGE,
                        "'%.60s' is not an amount of work; write 300B tokens, 90 epochs or 10000 "
                        "iterations",
                        text);
    bool tokens = strcmp(unit, "tokens") == 0, counted = has_tokens(catalog, job->model);
    if (tokens && !counted)
        return hm__fail(err, HM_E_RANGE,
                        "the samples of %.60s are not tokens; write epochs or iterations",
                        job->model);
    if (strcmp(unit, "epochs") == 0 && !first_job_usual(catalog, job->model, "dataset"))
        return hm__fail(err, HM_E_RANGE, "the catalog has no data set for %.60s; write %s",
                        job->model, counted ? "tokens or iterations" : "iterations");
    if (!tokens && suffix)
        return hm__fail(err, HM_E_RANGE,
                        "'%.60s': k, M, B and T count tokens; write %s as a plain number", text,
                        unit);
    if (unit != job->unit)
        snprintf(job->unit, sizeof(job->unit), "%s", unit);
    snprintf(job->amount, sizeof(job->amount), "%.*s", (int)digits, text);
    return 0;
}

int first_job_check(const struct hm_catalog *catalog, const struct first_job *job)
{
    struct first_job parsed = *job;
    struct hm_err err = {0};
    int rc = check_model(catalog, job->model, &err);

    if (rc == 0)
        rc = check_machine(catalog, job->machine, &err);
    if (rc == 0 && (rc = parse_work(catalog, job->amount, &parsed, &err))) {
        snprintf(err.field, sizeof(err.field), "%s", job->unit);
        snprintf(err.source, sizeof(err.source), "request");
    }
    return rc ? cli_report(&err) : 0;
}

/* ---- questions --------------------------------------------------------------------------------
 */

bool first_job_can_ask(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/*
 * Prints a question and reads the answer, which is one line without leading and trailing spaces; an
 * empty line selects the suggestion. Returns false at the end of the input.
 */
static bool ask_line(const char *question, const char *suggestion, char answer[FIRST_TEXT_MAX])
{
    char line[FIRST_TEXT_MAX];

    fprintf(stderr, "%s [%s]: ", question, suggestion);
    fflush(stderr);
    if (!fgets(line, sizeof(line), stdin)) {
        fputc('\n', stderr);
        return false;
    }
    if (!strchr(line, '\n'))
        for (int c; (c = getchar()) != EOF && c != '\n';)
            ;
    char *start = line + strspn(line, " \t");
    size_t length = strlen(start);
    while (length > 0 && isspace((unsigned char)start[length - 1]))
        length--;
    snprintf(answer, FIRST_TEXT_MAX, "%.*s", (int)length, start);
    if (length == 0)
        snprintf(answer, FIRST_TEXT_MAX, "%s", suggestion);
    return true;
}

/* Asks for a name until the user enters a name that the catalog contains. */
static bool ask_name(const struct hm_catalog *catalog, const char *question, const char *suggestion,
                     int (*check)(const struct hm_catalog *, const char *, struct hm_err *),
                     char name[FIRST_TEXT_MAX])
{
    char answer[FIRST_TEXT_MAX];

    while (ask_line(question, suggestion, answer)) {
        struct hm_err err = {0};
        if (check(catalog, answer, &err) == 0) {
            snprintf(name, FIRST_TEXT_MAX, "%s", answer);
            return true;
        }
        fprintf(stderr, "  %s%s%s\n", err.message, err.hint[0] ? "; " : "", err.hint);
    }
    return false;
}

static bool ask_work(const struct hm_catalog *catalog, struct first_job *job)
{
    char suggestion[FIRST_TEXT_MAX + 20], answer[FIRST_TEXT_MAX];

    suggest_work(catalog, job);
    snprintf(suggestion, sizeof(suggestion), "%s %s", job->amount, job->unit);
    while (ask_line("How much work? tokens, epochs or iterations", suggestion, answer)) {
        struct hm_err err = {0};
        if (parse_work(catalog, answer, job, &err) == 0)
            return true;
        fprintf(stderr, "  %s\n", err.message);
    }
    return false;
}

int first_job_ask(const struct hm_catalog *catalog, struct first_job *job)
{
    bool answered = true;

    if (!job->model[0])
        answered =
            ask_name(catalog, "Which model? a name, such as resnet-50, bert-large, llama-3-8b",
                     first_model, check_model, job->model);
    if (answered && !job->machine[0])
        answered = ask_name(catalog, "Which machine? such as p5.48xlarge, g5.12xlarge, h100",
                            first_machine, check_machine, job->machine);
    if (answered && !job->amount[0])
        answered = ask_work(catalog, job);
    return answered ? 0 : cli_complain("no job is given; name a file or a model from the catalog");
}
