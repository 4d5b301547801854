/*
 * The commands that are requests. Each command lists its verbs; its options and help come from the
 * fields of the verbs.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "verb.h"
#include "verbs.h"

/* ---- the user's catalog ------------------------------------------------------------------------
 */

/* Create the parent folders of a file. `path` is modified during the call, but restored. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* Make the default output path of an import: a file in the user's catalog folder, with the name of
 * the input file. */
static int import_path(const char *file, char *path, size_t room)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    int length = (int)strcspn(base, ".");

    /* All price lists are called vms.csv, so the name of their folder is used instead. */
    if (slash && length == 3 && strncmp(base, "vms", 3) == 0) {
        const char *folder = slash;
        while (folder > file && folder[-1] != '/')
            folder--;
        if (folder < slash && folder[0] != '.') {
            base = folder;
            length = (int)(slash - folder);
        }
    }
    if (length == 0) {
        base = "import";
        length = 6;
    }
    if (!cli_catalog_folder(path, room))
        return cli_complain("there is no home folder; give --output FILE");
    size_t used = strlen(path);
    snprintf(path + used, room - used, "/%.*s.yaml", length, base);
    if (!make_folders(path))
        return cli_complain("the folder of %s cannot be created: %s", path, strerror(errno));
    return 0;
}

static int prepare_catalog(struct cli_verb_call *c)
{
    const char *file = cli_verb_value(c, "file");
    struct hm_err err = {0};
    char path[1024];

    if (!file || cli_verb_value(c, "output"))
        return 0;
    int rc = import_path(file, path, sizeof(path));
    return rc == 0 && hm_request_set(c->request, "output", path, &err) ? cli_report(&err) : rc;
}

/* Open the output file of an export before the export runs, because a long export is written in
 * parts. */
static int prepare_runs(struct cli_verb_call *c)
{
    const char *path = c->verb == &hm__verb_runs_export ? cli_verb_value(c, "output") : NULL;

    if (!path)
        return 0;
    c->output_path = path;
    if (!(c->output = fopen(path, "we")))
        return cli_complain("%s cannot be written: %s", path, strerror(errno));
    return 0;
}

/* ---- the commands ------------------------------------------------------------------------------
 */

#define VERBS(...)                                                                                 \
    (const struct hm_verb *const[])                                                                \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

const struct cli_command cli_plan = {
    .name = "plan", .arguments = "[JOB]", .operands = "@file", .verbs = VERBS(&hm__verb_plan)};

const struct cli_command cli_fit = {
    .name = "fit", .arguments = "[RUNS]", .operands = "@file", .verbs = VERBS(&hm__verb_fit)};

const struct cli_command cli_design = {
    .name = "design", .arguments = "[JOB]", .operands = "@file", .verbs = VERBS(&hm__verb_design)};

const struct cli_command cli_recommend = {.name = "recommend",
                                          .arguments = "[RUNS]",
                                          .operands = "@file",
                                          .verbs = VERBS(&hm__verb_recommend)};

const struct cli_command cli_converge = {.name = "converge",
                                         .arguments = "[TRACES]…",
                                         .operands = "@file",
                                         .verbs = VERBS(&hm__verb_converge)};

const struct cli_command cli_advise = {.name = "advise",
                                       .arguments = "[TRACES]…",
                                       .operands = "@file",
                                       .verbs = VERBS(&hm__verb_advise)};

const struct cli_command cli_graph = {
    .name = "graph", .arguments = "FILE", .operands = "@file", .verbs = VERBS(&hm__verb_graph)};

const struct cli_command cli_catalog = {
    .name = "catalog",
    .arguments = "[list [KIND] | show NAME | import FILE]",
    .summary = "machines, fabrics and neural networks by name",
    .description =
        "list shows all entries, or those of a kind (machines, fabrics, networks, accelerators). "
        "show shows one of them with its source and date, a network layer by layer. import reads a "
        "SkyPilot vms.csv, plain or gzip, and adds its machines and prices to your own catalog, "
        "whose entries hide built-in ones of the same name.",
    .operands = "list show import machines fabrics networks accelerators",
    .verbs = VERBS(&hm__verb_catalog_list, &hm__verb_catalog_show, &hm__verb_catalog_import),
    .prepare = prepare_catalog,
};

const struct cli_command cli_runs = {
    .name = "runs",
    .arguments = "[list|show|add|import|export|delete|check|recover|put|get|documents] [ARGUMENT]…",
    .summary = "runs and documents of the store",
    .description =
        "The store has runs and the samples of traces: in your own file "
        "(~/.local/share/howmany/howmany.db), in the one that HOWMANY_DB or --record names, or on "
        "a PostgreSQL server for a team.\n\n"
        "*list* shows a page of runs, *show* ID one with its samples, *add* NAME=VALUE… adds one, "
        "*import* FILE… adds tables of runs or traces, *export* [FILE] writes them again, *delete* "
        "ID… removes them. A table that is imported twice is in the store once. *check* looks for "
        "damage, and *recover* NEW copies the runs of a damaged store that can be read.\n\n"
        "*put* KIND NAME FILE stores a text under a kind (such as fit, cluster, job or prices) and "
        "a name, *get* KIND NAME prints it, *documents* [KIND] lists them; a later text replaces "
        "an earlier one.\n\n"
        "Exit status: 0 done; 1 nothing to delete; 2 wrong usage or input.",
    .operands = "list show add import export delete check recover put get documents",
    .verbs = VERBS(&hm__verb_runs_list, &hm__verb_runs_show, &hm__verb_runs_add,
                   &hm__verb_runs_import, &hm__verb_runs_export, &hm__verb_runs_delete,
                   &hm__verb_runs_check, &hm__verb_runs_recover, &hm__verb_documents_put,
                   &hm__verb_documents_get, &hm__verb_documents_list),
    .prepare = prepare_runs,
};
