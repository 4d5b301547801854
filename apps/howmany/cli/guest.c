/* Commands run for somebody else: documents in place of files, and words kept. */
#include "guest.h"

#include <string.h>

#include "err.h"

/* Commands complain from deep inside; this is how they know to whom. Each thread has its own. */
static _Thread_local struct cli_guest *current;

struct cli_guest *cli_guest(void)
{
    return current;
}

void cli_guest_enter(struct cli_guest *guest)
{
    current = guest;
}

void cli_guest_release(struct cli_guest *guest)
{
    hm__text_release(&guest->out);
}

const struct cli_document *cli_guest_document(const char *name, struct hm_err *err)
{
    for (size_t i = 0; i < current->document_count; i++)
        if (strcmp(current->documents[i].name, name) == 0)
            return &current->documents[i];
    hm__fail(err, HM_E_NAME, "'%.100s': no file can be named in a request", name);
    hm__err_hint(err, "send its contents instead");
    return NULL;
}

int cli_open_runs(const char *path, struct hm_runs **runs, struct hm_err *err)
{
    if (!current)
        return hm_runs_load(path, runs, err);
    const struct cli_document *d = cli_guest_document(path, err);
    return d ? hm_runs_parse(d->text, d->length, d->name, runs, err) : HM_E_NAME;
}

int cli_open_traces(const char *const *paths, size_t count,
                    const struct hm_traces_settings *settings, struct hm_traces **traces,
                    struct hm_err *err)
{
    if (!current)
        return hm_traces_load(paths, count, settings, traces, err);
    if (count > 1)
        return hm__fail(err, HM_E_LIMIT, "more than one document of traces");
    const struct cli_document *d = cli_guest_document(paths[0], err);
    return d ? hm_traces_parse(d->text, d->length, d->name, settings, traces, err) : HM_E_NAME;
}

int cli_open_convergence(const char *path, struct hm_convergence **convergence, struct hm_err *err)
{
    if (!current)
        return hm_convergence_load(path, convergence, err);
    const struct cli_document *d = cli_guest_document(path, err);
    return d ? hm_convergence_parse(d->text, d->length, d->name, convergence, err) : HM_E_NAME;
}
