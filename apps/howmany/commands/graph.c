/* howmany graph: what a graph is like, how it splits, and what that does to the speedup. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "format.h"
#include "render.h"
#include "text.h"

enum { SPLITS_MAX = 16 };

struct graph_state {
    const char *file, *plot;
    struct cli_range parts;
    enum hm_split splits[SPLITS_MAX];
    size_t split_count;
    int format, generate;
    struct hm_recipe recipe;
    double trials;
    bool degrees_only, json, all; /* all: splits that cannot be made here are left out */
};

enum option {
    PARTS,
    SPLIT,
    TRIALS,
    SEED,
    FORMAT,
    DEGREES_ONLY,
    GENERATE,
    VERTICES,
    EDGES,
    MAX_DEGREE,
    PLOT,
    JSON
};

static const struct cli_option options[] = {
    [PARTS] = {"parts", 'n', "LIST", "numbers of workers, such as 2..32 or 2,4,8 (default 2..32)",
               NULL},
    [SPLIT] =
        {"split", 's', "NAME[,…]",
         "how to split: dealt (default), random, greedy, hash, metis, edge-random, hdrf; 'all'",
         "dealt random greedy hash metis edge-random hdrf all"},
    [TRIALS] = {"trials", 0, "N", "random splits to try for each number of workers (default 20)",
                NULL},
    [SEED] = {"seed", 0, "N", "seed of random splits and graphs (default 1)", NULL},
    [FORMAT] = {"format", 0, "NAME", "degrees, edges or metis (default: by the file's name)",
                "degrees edges metis"},
    [DEGREES_ONLY] = {"degrees-only", 0, NULL,
                      "do not keep the edges: little memory, but cuts are not known", NULL},
    [GENERATE] = {"generate", 0, "KIND",
                  "make a graph instead of reading one: power-law, random or grid",
                  "power-law random grid"},
    [VERTICES] = {"vertices", 0, "N", "of the graph to make", NULL},
    [EDGES] = {"edges", 0, "N", "of the graph to make", NULL},
    [MAX_DEGREE] = {"max-degree", 0, "N", "of the power law to make", NULL},
    [PLOT] = {"plot", 'p', "FILE",
              "edges of the fullest worker and speedup as a picture: .svg, .png or .pdf", "@file"},
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
};

static void *begin(void)
{
    struct graph_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->generate = -1;
        s->trials = 20;
        s->recipe.seed = 1;
    }
    return s;
}

static void end(void *state)
{
    struct graph_state *s = state;
    cli_range_release(&s->parts);
    free(s);
}

static int read_whole(const char *name, const char *text, double *value)
{
    int rc = cli_quantity(name, text, HM_DIM_NONE, value);

    if (rc)
        return rc;
    if (!(*value >= 0 && *value <= 1e15) || *value != floor(*value))
        return cli_complain("--%s: '%s' is not a whole number", name, text);
    return 0;
}

static int read_word(const char *name, const char *text, const char *const *words, int *index)
{
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *index = i;
            return 0;
        }
    }
    return cli_complain("--%s: there is no '%s'; see 'howmany help graph'", name, text);
}

static const char *split_name(const void *unused, size_t i)
{
    (void)unused;
    return i < HM_SPLIT_COUNT ? hm_split_name((enum hm_split)i) : NULL;
}

/* Each once, however often it is named. */
static void add_split(struct graph_state *s, enum hm_split split)
{
    for (size_t i = 0; i < s->split_count; i++)
        if (s->splits[i] == split)
            return;
    s->splits[s->split_count++] = split;
}

static int read_splits(struct graph_state *s, const char *list)
{
    while (*list) {
        char word[40];
        size_t length = strcspn(list, ",");
        snprintf(word, sizeof(word), "%.*s", (int)(length < 39 ? length : 39), list);
        int split = hm_split_find(word);
        const char *near = hm__suggest(word, split_name, NULL);
        bool all = strcmp(word, "all") == 0;
        s->all = s->all || all;
        if (split < 0 && !all)
            return near ? cli_complain("--split: there is no '%s'; did you mean %s?", word, near)
                        : cli_complain("--split: there is no '%s'", word);
        for (int i = all ? 0 : split; i < (all ? (int)HM_SPLIT_COUNT : split + 1); i++)
            add_split(s, (enum hm_split)i);
        list += length + (list[length] == ',');
    }
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    static const char *const formats[] = {"auto", "degrees", "edges", "metis", NULL};
    static const char *const kinds[] = {"power-law", "random", "grid", NULL};
    struct graph_state *s = state;

    switch (option) {
    case -1:
        if (s->file)
            return cli_complain("graph: one file at a time ('%s' and '%s')", s->file, value);
        s->file = value;
        return 0;
    case PARTS:
        return cli_range_parse(&s->parts, value);
    case SPLIT:
        return read_splits(s, value);
    case TRIALS:
        return read_whole("trials", value, &s->trials);
    case SEED:
        return read_whole("seed", value, &s->recipe.seed);
    case FORMAT:
        return read_word("format", value, formats, &s->format);
    case DEGREES_ONLY:
        s->degrees_only = true;
        return 0;
    case GENERATE:
        return read_word("generate", value, kinds, &s->generate);
    case VERTICES:
        return read_whole("vertices", value, &s->recipe.vertices);
    case EDGES:
        return read_whole("edges", value, &s->recipe.edges);
    case MAX_DEGREE:
        return read_whole("max-degree", value, &s->recipe.max_degree);
    case PLOT:
        return cli_check_plot(s->plot = value);
    default:
        s->json = true;
        return 0;
    }
}

static int get_graph(struct graph_state *s, struct hm_graph **graph)
{
    struct hm_err err = {0};
    int rc;

    if ((s->file != NULL) == (s->generate >= 0))
        return cli_complain("graph: which graph? Give a file, or --generate KIND");
    if (s->file && (s->recipe.vertices > 0 || s->recipe.edges > 0 || s->recipe.max_degree > 0))
        return cli_complain("graph: --vertices, --edges and --max-degree go with --generate");
    bool grid = s->generate == HM_RECIPE_GRID;
    if (!s->file && (s->recipe.vertices == 0 || (!grid && s->recipe.edges == 0)))
        return cli_complain("graph: --generate needs --vertices%s", grid ? "" : " and --edges");
    if (s->generate == HM_RECIPE_POWER_LAW && s->recipe.max_degree == 0)
        return cli_complain("graph: a power law needs --max-degree");
    if (s->file) {
        rc = hm_graph_load(s->file, (enum hm_graph_format)s->format, s->degrees_only, graph, &err);
    } else {
        s->recipe.kind = (enum hm_recipe_kind)s->generate;
        rc = hm_graph_make(&s->recipe, graph, &err);
    }
    return rc ? cli_report(&err) : 0;
}

/* One split over all numbers of workers. */
struct table {
    enum hm_split split;
    struct hm_parts *parts;
};

static void text_graph(struct hm_text *out, const struct hm_graph *g)
{
    hm__text_addf(out, "%s: %.0f vertices, %.0f edges, mean degree %.2f, largest %.0f\n", g->name,
                  g->vertices, g->edges, 2 * g->edges / g->vertices, g->max_degree);
    if (g->lines > 0) {
        hm__text_addf(out, "  %.0f edges named, %.0f of them self-loops", g->lines, g->self_loops);
        if (g->repeated >= 0)
            hm__text_addf(out, ", %.0f repeated (in either direction)", g->repeated);
        hm__text_add(out, "\n");
    }
    if (!g->ends)
        hm__text_add(out, "  only degrees are known: edges inside a part are estimated\n");
}

static void text_table(struct hm_text *out, const struct hm_graph *g, const struct table *t,
                       size_t count)
{
    bool random = hm_split_is_random(t->split);

    hm__text_addf(out, "\nsplit: %s\n%6s %14s %14s %9s", hm_split_name(t->split), "n",
                  "edges, most", "edges, mean", "imbalance");
    hm__text_addf(out, " %8s %14s %7s%s", "speedup", "cut edges", "copies",
                  random ? "   most of 90 % of trials, and worst" : "");
    hm__text_end_line(out);
    for (size_t i = 0; i < count; i++) {
        const struct hm_parts *p = &t->parts[i];
        hm__text_addf(out, "%6.0f %14.0f %14.0f %9.3f %8.2f", p->n, p->edges_max, p->edges_mean,
                      p->imbalance, g->edges / p->edges_max);
        if (p->cut >= 0)
            hm__text_addf(out, " %14.0f", p->cut);
        else
            hm__text_addf(out, " %14s", "");
        hm__text_addf(out, " %7.2f", p->replicas);
        if (random)
            hm__text_addf(out, "   %.0f to %.0f, %.0f", p->low, p->high, p->worst);
        hm__text_end_line(out);
    }
}

static void json_fields(struct hm_text *out, const char *const *names, const double *values,
                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hm__text_addf(out, "%s\"%s\":", i ? "," : "", names[i]);
        hm__json_known(out, values[i]);
    }
}

static void json_table(struct hm_text *out, const struct hm_graph *g, const struct table *t,
                       size_t count)
{
    static const char *const names[] = {"n",    "edges_max", "edges_mean", "imbalance", "low",
                                        "high", "worst",     "cut",        "replicas",  "speedup"};

    hm__text_addf(out, "{\"split\":\"%s\",\"parts\":[", hm_split_name(t->split));
    for (size_t i = 0; i < count; i++) {
        const struct hm_parts *p = &t->parts[i];
        const double values[] = {
            p->n,    p->edges_max, p->edges_mean, p->imbalance, p->low,
            p->high, p->worst,     p->cut,        p->replicas,  g->edges / p->edges_max};
        hm__text_add(out, i ? ",\n  {" : "\n  {");
        json_fields(out, names, values, 10);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]}");
}

static void json_graph(struct hm_text *out, const struct hm_graph *g, const struct table *tables,
                       size_t table_count, size_t count)
{
    static const char *const names[] = {"vertices", "edges",      "max_degree",
                                        "lines",    "self_loops", "repeated"};
    const double values[] = {g->vertices, g->edges,      g->max_degree,
                             g->lines,    g->self_loops, g->repeated};

    hm__text_add(out, "{\"graph\":");
    hm__json_text(out, g->name);
    hm__text_add(out, ",");
    json_fields(out, names, values, 6);
    hm__text_addf(out, ",\"edges_known\":%s,\n\"splits\":[", g->ends ? "true" : "false");
    for (size_t i = 0; i < table_count; i++) {
        hm__text_add(out, i ? ",\n" : "");
        json_table(out, g, &tables[i], count);
    }
    hm__text_add(out, "]}\n");
}

static int plot(const struct graph_state *s, const struct hm_graph *g, const struct table *tables)
{
    struct hm_text out = {0};
    struct hm_err err = {0};

    if (hm__gnuplot_output(&out, s->plot, 1000, 440, &err))
        return cli_report(&err);
    for (size_t k = 0; k < s->split_count; k++) {
        hm__text_addf(&out, "$split%zu << EOD\n", k);
        for (size_t i = 0; i < s->parts.count; i++) {
            const struct hm_parts *p = &tables[k].parts[i];
            hm__text_addf(&out, "%.17g %.17g %.17g %.17g %.17g\n", p->n, p->edges_max,
                          g->edges / p->edges_max, p->low, p->high);
        }
        hm__text_add(&out, "EOD\n");
    }
    hm__text_add(&out, "set border 3\nset tics nomirror out\nset grid lc rgb '#dddddd' lt 1\n"
                       "set xlabel 'workers'\nset yrange [0:*]\nset multiplot layout 1,2 title ");
    hm__gnuplot_quote(&out, g->name);
    for (int panel = 0; panel < 2; panel++) {
        hm__text_addf(&out, "%s\nset ylabel '%s'\nset key %s\nplot ", panel ? "" : " noenhanced",
                      panel ? "speedup" : "edges of the fullest worker",
                      panel ? "left top" : "right top");
        for (size_t k = 0; k < s->split_count; k++)
            hm__text_addf(&out,
                          "%s$split%zu using 1:%d with linespoints pt 7 ps 0.5 lw 2 title '%s'",
                          k ? ", " : "", k, panel ? 3 : 2, hm_split_name(tables[k].split));
    }
    hm__text_add(&out, "\nunset multiplot\nunset output\n");
    int rc = out.failed ? cli_complain("out of memory") : cli_gnuplot(out.data, s->plot);
    hm__text_release(&out);
    return rc;
}

static int show(const struct graph_state *s, const struct hm_graph *g, const struct table *tables)
{
    struct hm_text out = {0};

    if (s->json) {
        json_graph(&out, g, tables, s->split_count, s->parts.count);
    } else {
        text_graph(&out, g);
        for (size_t k = 0; k < s->split_count; k++)
            text_table(&out, g, &tables[k], s->parts.count);
    }
    int rc = cli_put_text(&out);
    return rc == 0 && s->plot ? plot(s, g, tables) : rc;
}

/* One way to split, a number of workers at a time, so that progress can be shown. */
static int split_one(const struct graph_state *s, const struct hm_graph *g, enum hm_split split,
                     struct hm_parts *parts, struct hm_err *err)
{
    struct cli_progress progress = cli_progress_start(hm_split_name(split), s->parts.count);
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->parts.count; i++) {
        rc = hm_graph_split(g, split, s->trials, s->recipe.seed, &s->parts.values[i], 1, &parts[i],
                            err);
        cli_progress_step(&progress, i + 1);
    }
    cli_progress_end(&progress);
    return rc;
}

/* The splits asked for; of 'all', those that cannot be made here are left out. */
static int split_all(struct graph_state *s, const struct hm_graph *g, struct table *tables)
{
    size_t used = 0;

    for (size_t k = 0; k < s->split_count; k++) {
        struct hm_err err = {0};
        tables[used].split = s->splits[k];
        int rc = split_one(s, g, s->splits[k], tables[used].parts, &err);
        if (rc == 0)
            used++;
        else if (!s->all || (rc != HM_E_MISSING && rc != HM_E_UNSUPPORTED && rc != HM_E_LIMIT))
            return cli_report(&err);
    }
    s->split_count = used;
    return 0;
}

static int run(void *state)
{
    struct graph_state *s = state;
    struct table tables[SPLITS_MAX] = {0};
    struct hm_graph *g = NULL;
    int rc = get_graph(s, &g);

    if (rc == 0 && s->parts.count == 0) {
        rc = cli_range_parse(&s->parts, "2..32");
        while (s->parts.count > 1 && s->parts.values[s->parts.count - 1] > g->vertices)
            s->parts.count--;
    }
    if (s->split_count == 0)
        s->splits[s->split_count++] = HM_SPLIT_DEALT;
    size_t methods = s->split_count;
    for (size_t k = 0; rc == 0 && k < methods; k++)
        if (!(tables[k].parts = calloc(s->parts.count, sizeof(struct hm_parts))))
            rc = cli_complain("out of memory");
    if (rc == 0)
        rc = split_all(s, g, tables);
    if (rc == 0)
        rc = show(s, g, tables);
    for (size_t k = 0; k < methods; k++)
        free(tables[k].parts);
    hm_graph_free(g);
    return rc;
}

const struct cli_command cli_graph = {
    .name = "graph",
    .arguments = "FILE",
    .summary = "how a graph splits over workers, and what that does to the speedup",
    .description =
        "Reads a degree distribution, an edge list (SNAP) or a METIS graph, plain or gzip, or "
        "makes "
        "one, and splits it among workers in one or several ways. For each number of workers it "
        "shows the edges of the fullest worker and of the mean, the edges between workers, the "
        "copies of a vertex, and the speedup if every edge costs the same.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "@file",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
