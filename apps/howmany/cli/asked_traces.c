/* Traces as commands ask for them: their files, which algorithms, what the loss is, P*. */
#include "asked_traces.h"

#include "asked_store.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "guest.h"
#include "text.h"

int cli_traces_file(struct cli_traces *t, const char *command, const char *file)
{
    if (t->file_count == CLI_LIST_MAX)
        return cli_complain("%s: more than %d files", command, CLI_LIST_MAX);
    t->files[t->file_count++] = file;
    return 0;
}

static int take_algorithm(void *context, const char *piece)
{
    struct cli_traces *t = context;

    if (t->algorithm_count == CLI_LIST_MAX)
        return cli_complain("--algorithms: more than %d", CLI_LIST_MAX);
    char *name = strdup(piece);
    if (!name)
        return cli_complain("out of memory");
    t->algorithms[t->algorithm_count] = t->names[t->algorithm_count] = name;
    t->algorithm_count++;
    return 0;
}

int cli_traces_algorithms(struct cli_traces *t, const char *list)
{
    return cli_each(list, take_algorithm, t);
}

int cli_traces_best(struct cli_traces *t, const char *value)
{
    double best;
    size_t used = hm__signed_read(value, &best);

    if (used == 0 || value[used] != '\0')
        return cli_complain("--best: '%s' is not a number", value);
    t->converge.best_given = true;
    t->converge.best = best;
    return 0;
}

static const char *trace_algorithm(const void *context, size_t i)
{
    const struct hm_traces *traces = context;

    return i < traces->count ? traces->traces[i].algorithm : NULL;
}

static bool is_asked(const struct cli_traces *t, const char *algorithm)
{
    for (size_t k = 0; k < t->algorithm_count; k++)
        if (strcmp(t->algorithms[k], algorithm) == 0)
            return true;
    return t->algorithm_count == 0;
}

/* Every name must be that of a trace. */
static int check_names(const struct cli_traces *t)
{
    for (size_t k = 0; k < t->algorithm_count; k++) {
        size_t i = 0;
        while (i < t->traces->count &&
               strcmp(t->traces->traces[i].algorithm, t->algorithms[k]) != 0)
            i++;
        if (i < t->traces->count)
            continue;
        const char *near = hm__suggest(t->algorithms[k], trace_algorithm, t->traces);
        return cli_complain("--algorithms: there are no traces of '%s'%s%s%s", t->algorithms[k],
                            near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    return 0;
}

static int load_from_store(struct cli_traces *t)
{
    struct hm_store_filter filter = {
        .where = t->where, .where_count = t->where_count, .sort = "id"}; /* oldest first */
    struct hm_store *store;
    struct hm_err err = {0};

    if (t->settings.measure || t->settings.epochs)
        return cli_complain("--measure and --epochs: a store keeps one loss for each iteration");
    int rc = cli_store_open(t->file_count ? t->files[0] : NULL, &store);
    if (rc)
        return rc;
    if (hm_store_traces(store, &filter, &t->traces, &err)) {
        if (err.code == HM_E_MISSING)
            hm__err_hint(&err, "`howmany train --record` keeps traces; or name a file of them");
        rc = cli_report(&err);
    }
    cli_store_close(store);
    return rc;
}

int cli_traces_load(struct cli_traces *t, const char *command)
{
    struct hm_err err = {0};
    size_t kept = 0;

    bool stored = t->file_count == 0 || (t->file_count == 1 && cli_is_store(t->files[0]));
    if (t->where_count && !stored)
        return cli_complain("%s: --where is of a store", command);
    if (stored && load_from_store(t))
        return EXIT_USAGE;
    if (!stored && cli_open_traces(t->files, t->file_count, &t->settings, &t->traces, &err))
        return cli_report(&err);
    int rc = check_names(t);
    for (size_t k = 0; k < t->traces->count; k++)
        if (is_asked(t, t->traces->traces[k].algorithm))
            t->traces->traces[kept++] = t->traces->traces[k];
    t->traces->count = kept;
    return rc;
}

/* What decides about a fit when it is made cannot be changed any more. */
static int load_stored(struct cli_traces *t, const char *command)
{
    struct hm_err err = {0};

    if (t->converge.best_given || t->settings.measure || t->settings.epochs || t->terms.count)
        return cli_complain("%s: %s is a stored fit: --best, --measure, --epochs and --terms are "
                            "of the traces it came from",
                            command, t->files[0]);
    return cli_open_convergence(t->files[0], &t->convergence, &err) ? cli_report(&err) : 0;
}

int cli_convergence_load(struct cli_traces *t, const char *command)
{
    struct hm_err err = {0};

    if (t->file_count == 1 && hm__text_ends(t->files[0], ".json"))
        return load_stored(t, command);
    int rc = cli_traces_load(t, command);
    if (rc)
        return rc;
    t->converge.terms = t->terms.terms;
    t->converge.term_count = t->terms.count;
    return hm_convergence_new(t->traces, &t->converge, &t->convergence, &err) ? cli_report(&err)
                                                                              : 0;
}

void cli_traces_release(struct cli_traces *t)
{
    hm_convergence_free(t->convergence);
    hm_traces_free(t->traces);
    cli_terms_release(&t->terms);
    for (size_t k = 0; k < t->algorithm_count; k++)
        free(t->names[k]);
}
