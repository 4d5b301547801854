/* Loads one machine with the loader of requests, and applies the assignments of --set. */
#include "machine.h"

#include <string.h>

#include "checks.h"
#include "load.h"
#include "text.h"

int cli_machine_set(struct cli_machine *m, const char *assignment)
{
    static const struct hm_request_field field = {
        .name = "set", .kind = HM_REQUEST_PAIRS, .offset = offsetof(struct cli_machine, sets)};
    bool whole = strncmp(assignment, "cluster.", 8) == 0;
    struct hm_err err = {0};

    if (!m->arena && !(m->arena = hm__arena_new()))
        return cli_complain("out of memory");
    const char *text = whole ? assignment : hm__arena_printf(m->arena, "cluster.%s", assignment);
    if (!text)
        return cli_complain("out of memory");
    return hm__field_set(m->arena, &field, m, text, &err) ? cli_report(&err) : 0;
}

int cli_machine_load(struct cli_machine *m, const char *name, struct hm_cluster **ret_cluster)
{
    const struct hm_job_fields fields = {.set = m->sets};
    const struct hm_document document = {.name = name};
    struct hm_err err = {0};

    if (!m->catalog && !(m->catalog = cli_catalog_load()))
        return EXIT_USAGE;
    const struct hm_context context = {.files = hm_local_files(), .catalog = m->catalog};
    struct hm_call call = {.context = &context, .arena = hm__arena_new()};
    int rc = call.arena ? hm__load_machine(&call, &fields, &document, ret_cluster, &err)
                        : cli_complain("out of memory");
    hm__arena_free(call.arena);
    if (rc == 0 && hm__cluster_one_kind(*ret_cluster, &err))
        hm_cluster_free(*ret_cluster);
    return err.code ? cli_report(&err) : rc;
}

void cli_machine_release(struct cli_machine *m)
{
    hm__arena_free(m->arena);
    hm_catalog_free(m->catalog);
    *m = (struct cli_machine){0};
}
