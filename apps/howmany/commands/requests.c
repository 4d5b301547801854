/*
 * Defines the commands that are requests. Each command lists its verbs; its options and its help
 * are derived from the fields of the verbs.
 */
#include <stdio.h>
#include <string.h>

#include "folders.h"
#include "plan_first.h"
#include "store.h"
#include "verb.h"
#include "verbs.h"

/* ---- the user's catalog ------------------------------------------------------------------------
 */

/* Builds the default output path of an import: a file in the user's catalog folder with the same
 * base name as the input file. */
static int import_path(const char *file, char *path, size_t room)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    int length = (int)strcspn(base, ".");
    struct hm_err err = {0};

    /* All price lists are called vms.csv, so the output is named after their folder instead. */
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
    return cli_folders_make(path, &err) ? cli_report(&err) : 0;
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

/* Refuses an import that would replace a file that it reads. */
static int prepare_import(struct cli_verb_call *c)
{
    const char *path = cli_verb_value(c, "output");

    if (path && strcmp(path, "-") != 0 && cli_verb_reads(c, path))
        return cli_complain("--output: %s is a file that is imported; give another name", path);
    return 0;
}

/* Returns whether a path leads to a file of the store from which runs are exported. */
static bool is_file_of_store(const char *path, const char *record)
{
    /* What SQLite appends to the name of a store for the files beside it. */
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    char room[CLI_STORE_ROOM], name[CLI_STORE_ROOM + 16];
    const char *store = cli_store_find(record, room, NULL);
    bool same = false;

    for (size_t i = 0; store && i < sizeof(endings) / sizeof(endings[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", store, endings[i]);
        same = same || hm__store_is_same(name, path);
    }
    return same;
}

/*
 * Opens the output file of an export before the export runs, because a long export is written in
 * parts.
 */
static int prepare_runs(struct cli_verb_call *c)
{
    const char *path = c->verb == &hm__verb_runs_export ? cli_verb_value(c, "output") : NULL;

    if (!path || strcmp(path, "-") == 0)
        return 0;
    if (is_file_of_store(path, cli_verb_value(c, "record")))
        return cli_complain("%s is a file of the store that is exported", path);
    return cli_draft_open(&c->output, path);
}

/* ---- the commands ------------------------------------------------------------------------------
 */

#define VERBS(...)                                                                                 \
    (const struct hm_verb *const[])                                                                \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

const struct cli_command cli_plan = {
    .name = "plan",
    .examples = {"howmany plan examples/resnet50.yaml --on p4d.24xlarge --deadline 1h",
                 "howmany plan llama-3-8b --tokens 1T --on p5.48xlarge --deadline 30d",
                 "howmany plan examples/fig2-spark-ann.yaml --runs examples/runs.csv"},
    .arguments = "[JOB]",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_plan),
    .prepare = plan_first_prepare};

const struct cli_command cli_fit = {
    .name = "fit",
    .examples = {"howmany fit examples/runs.csv --target 64",
                 "howmany fit examples/runs.csv --terms '1,size/n,ln(n)' --residuals",
                 "howmany fit examples/runs.jsonl --target 32 --json"},
    .arguments = "[RUNS]",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_fit)};

const struct cli_command cli_design = {
    .name = "design",
    .examples = {"howmany design examples/resnet50.yaml --n 1..16 --budget 10min",
                 "howmany design --n 1,2,4,8 --size 0.1,0.5,1 --budget 2",
                 "howmany design --n 1..32 --budget 4 --json"},
    .arguments = "[JOB]",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_design)};

const struct cli_command cli_recommend = {
    .name = "recommend",
    .examples = {"howmany recommend examples/anwar.csv --batch 192 --latency 20ms",
                 "howmany recommend examples/runs.csv --goal cost",
                 "howmany recommend examples/runs.csv --json"},
    .arguments = "[RUNS]",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_recommend)};

const struct cli_command cli_converge = {
    .name = "converge",
    .examples = {"howmany converge examples/mnist-traces.csv.gz --algorithms cocoa+",
                 "howmany converge examples/stale-traces.csv.gz",
                 "howmany converge examples/mnist-traces.csv.gz -a cocoa --json"},
    .arguments = "[TRACES]…",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_converge)};

const struct cli_command cli_advise = {
    .name = "advise",
    .examples = {"howmany advise examples/mnist-traces.csv.gz --loss 1e-4",
                 "howmany advise examples/mnist-traces.csv.gz --within 10s",
                 "howmany advise examples/mnist-traces.csv.gz --loss 1e-3 --json"},
    .arguments = "[TRACES]…",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_advise)};

const struct cli_command cli_graph = {
    .name = "graph",
    .examples = {"howmany graph --generate power-law --vertices 1000 --edges 4000 --max-degree 9",
                 "howmany graph --generate grid --vertices 10000 --parts 2,4,8 --split greedy",
                 "howmany graph --generate random --vertices 1000 --edges 5000 --json"},
    .arguments = "FILE",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_graph)};

const struct cli_command cli_import = {
    .name = "import",
    .examples = {"howmany import examples/config-llama-3-8b.json",
                 "howmany import examples/config-llama-3-8b.json -o llama.yaml",
                 "howmany import examples/config-llama-3-8b.json --json"},
    .arguments = "FILE…",
    .operands = "@file",
    .verbs = VERBS(&hm__verb_import),
    .prepare = prepare_import};

const struct cli_command cli_catalog = {
    .name = "catalog",
    .examples = {"howmany catalog", "howmany catalog show p4d.24xlarge",
                 "howmany catalog list networks"},
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
    .examples = {"howmany runs import examples/runs.csv", "howmany runs list",
                 "howmany runs add n=4 seconds=12.5"},
    .arguments = "[list | show | add | import | export | delete | check | recover | put | get | "
                 "documents] [ARGUMENT]…",
    .summary = "runs and documents in the store",
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
