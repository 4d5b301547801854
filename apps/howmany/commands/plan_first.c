/* Asks for the job of `howmany plan` if the command is started on a terminal without a job. */
#include <stdio.h>

#include "first_job.h"
#include "plan_first.h"

/* Sets a field of the request, and prints the option that sets this field. */
static int set_field(struct cli_verb_call *c, const char *field, const char *value)
{
    struct hm_err err = {0};

    fprintf(stderr, " --%s %s", field, value);
    return hm_request_set(c->request, field, value, &err) ? cli_report(&err) : 0;
}

static int ask_plan(struct cli_verb_call *c, const struct hm_catalog *catalog)
{
    struct first_job job = {0};
    struct hm_err err = {0};
    bool machine = cli_verb_value(c, "on");
    bool work = cli_verb_value(c, "tokens") || cli_verb_value(c, "epochs") ||
                cli_verb_value(c, "iterations");

    /* Values that the user has given are set to the placeholder "given", so that they are not asked
     * for. */
    if (machine)
        snprintf(job.machine, sizeof(job.machine), "given");
    if (work)
        snprintf(job.amount, sizeof(job.amount), "given");
    int rc = first_job_ask(catalog, &job);
    if (rc)
        return rc;
    const char *batch = first_job_batch(catalog, job.model);
    if (hm_request_set(c->request, "job", job.model, &err))
        return cli_report(&err);
    fprintf(stderr, "\nhowmany plan %s", job.model);
    if (batch && !cli_verb_value(c, "batch"))
        rc = set_field(c, "batch", batch);
    if (rc == 0 && !machine)
        rc = set_field(c, "on", job.machine);
    if (rc == 0 && !work)
        rc = set_field(c, job.unit, job.amount);
    fputs("\n\n", stderr);
    return rc;
}

int plan_first_prepare(struct cli_verb_call *c)
{
    if (cli_verb_value(c, "job") || cli_verb_value(c, "runs") || cli_verb_value(c, "record") ||
        !first_job_can_ask())
        return 0;
    struct hm_catalog *catalog = cli_catalog_load();
    int rc = catalog ? ask_plan(c, catalog) : EXIT_USAGE;
    hm_catalog_free(catalog);
    return rc;
}
