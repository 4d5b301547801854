/*
 * Reads `graph` of a job: a file (graphs/graph_read.c describes the formats) or a recipe for a
 * generated graph, and how the graph is split among the workers. docs/reference/graph.md describes
 * the keys.
 */
#include <stddef.h>
#include <string.h>

#include "err.h"
#include "names.h"
#include "readers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The values of the section `graph`, before the graph is read or generated. */
struct section {
    const char *file;
    int format, generate;
    bool degrees_only;
    struct hm_recipe recipe;
    double states, trials, seed;
    int split;
};

#define AT(member) offsetof(struct section, member)
#define WHOLE(key, member, from)                                                                   \
    {                                                                                              \
        .name = (key), .kind = HM_FIELD_QUANTITY, .offset = AT(member), .min = (from),             \
        .max = 1e15, .whole = true                                                                 \
    }

static const char *const formats[] = {"auto", "degrees", "edges", "metis", NULL};
static const char *const splits[] = {
#define HM_SPLIT_CHOICE(name, text, needs_edges, cuts_vertices, random) text,
    HM_SPLIT_MAP(HM_SPLIT_CHOICE)
#undef HM_SPLIT_CHOICE
        NULL};

static const struct hm_field fields[] = {
    {.name = "file", .kind = HM_FIELD_TEXT, .offset = AT(file), .doc = "path of the graph file"},
    {.name = "format", .kind = HM_FIELD_CHOICE, .offset = AT(format), .choices = formats},
    {.name = "degrees_only", .kind = HM_FIELD_BOOL, .offset = AT(degrees_only)},
    {.name = "generate",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(generate),
     .choices = hm__recipe_names},
    WHOLE("vertices", recipe.vertices, 2),
    WHOLE("edges", recipe.edges, 1),
    WHOLE("max_degree", recipe.max_degree, 1),
    {.name = "split", .kind = HM_FIELD_CHOICE, .offset = AT(split), .choices = splits},
    WHOLE("trials", trials, 1),
    WHOLE("seed", seed, 0),
    WHOLE("states", states, 2),
    {.name = "per_edge", .kind = HM_FIELD_OTHER, .doc = "flop of one edge, a formula"},
};

/* Returns the path of the graph file. A relative path is resolved from the folder of the job file
 * or, in an override, from the working directory. */
static const char *graph_path(struct hm_reader *reader, const struct hm_value *value,
                              const char *file)
{
    const char *source = hm__value_get(value, "file")->source, *slash = strrchr(source, '/');

    if (file[0] == '/' || !slash || strcmp(source, "set") == 0)
        return hm__arena_strdup(reader->arena, file);
    return hm__arena_printf(reader->arena, "%.*s/%s", (int)(slash - source), source, file);
}

static void release_graph(void *graph)
{
    hm_graph_free(graph);
}

static int load_or_make_graph(struct hm_reader *reader, const struct hm_value *value,
                              const struct section *s, struct hm_graph **graph)
{
    struct hm_recipe recipe = s->recipe;

    if (s->file) {
        const char *path = graph_path(reader, value, s->file);
        if (!path)
            return hm__fail_nomem(reader->err);
        return hm_graph_load(path, (enum hm_graph_format)s->format, s->degrees_only, graph,
                             reader->err);
    }
    recipe.kind = (enum hm_recipe_kind)s->generate;
    recipe.seed = s->seed;
    return hm_graph_make(&recipe, graph, reader->err);
}

/* Fails if a job from an untrusted source names a file or asks for a large graph. */
static int check_closed(struct hm_reader *reader, const struct hm_value *value,
                        const struct section *s)
{
    if (s->file) {
        hm__reader_enter(reader, "file");
        hm__reader_fail(reader, hm__value_get(value, "file"), HM_E_NAME,
                        "'%.80s': a request cannot name files", s->file);
        hm__err_hint(reader->err, "describe the graph by generate, vertices and edges");
        return HM_E_NAME;
    }
    if (s->recipe.vertices > HM_CLOSED_GRAPH || s->recipe.edges > HM_CLOSED_GRAPH ||
        s->trials > HM_CLOSED_TRIALS) {
        hm__reader_fail(reader, value, HM_E_LIMIT,
                        "more than %d vertices or edges, or %d trials, in a request",
                        HM_CLOSED_GRAPH, HM_CLOSED_TRIALS);
        hm__err_hint(reader->err, "larger graphs are allowed only in local files");
        return HM_E_LIMIT;
    }
    return 0;
}

int hm__read_graph(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job)
{
    struct section s = {.states = 2, .trials = 20, .seed = 1, .generate = -1};
    int rc = hm__read_map(reader, value, fields, COUNT(fields), &s);

    if (rc)
        return rc;
    if ((s.file != NULL) == (s.generate >= 0)) {
        hm__reader_fail(reader, value, HM_E_CONFLICT, "one of file and generate is needed");
        hm__err_hint(reader->err, "write file: edges.txt.gz, or generate: power-law");
        return HM_E_CONFLICT;
    }
    if (s.file && (s.recipe.vertices > 0 || s.recipe.edges > 0 || s.recipe.max_degree > 0)) {
        hm__reader_fail(reader, value, HM_E_CONFLICT,
                        "the size of a graph is given together with a file");
        hm__err_hint(reader->err, "vertices, edges and max_degree go with generate");
        return HM_E_CONFLICT;
    }
    rc = reader->closed ? check_closed(reader, value, &s) : 0;
    if (rc)
        return rc;
    rc = load_or_make_graph(reader, value, &s, &job->graph);
    if (rc == HM_E_IO && reader->err) { /* Report the line in the job that names the file. */
        struct hm_err inner = *reader->err;
        *reader->err = (struct hm_err){0};
        hm__reader_enter(reader, "file");
        return hm__reader_fail(reader, hm__value_get(value, "file"), rc, "%s: %s", inner.source,
                               inner.message);
    }
    if (rc)
        return hm__reader_place(reader, value, rc);
    rc = hm__arena_own(reader->arena, job->graph, release_graph);
    if (rc) {
        hm_graph_free(job->graph);
        return hm__fail_nomem(reader->err);
    }
    job->split = (enum hm_split)s.split;
    job->trials = s.trials;
    job->seed = s.seed;
    job->states = s.states;
    return 0;
}
