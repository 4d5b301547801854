/*
 * Tests graphs: readers, recipes and splits are compared with plain counting and published figures.
 */
#include "testing.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "budget.h"

#include "degree_count.h"

static void write_file(char *path, const char *ending, const char *text, size_t length)
{
    snprintf(path, 80, "/tmp/hm-graph-XXXXXX%s", ending);
    int file = mkstemps(path, (int)strlen(ending));
    assert_true(file >= 0);
    assert_int_equal(write(file, text, length), length);
    close(file);
}

static struct hm_graph *load(const char *ending, const char *text, bool degrees_only)
{
    char path[80];
    struct hm_graph *g = NULL;
    struct hm_err err = {0};

    write_file(path, ending, text, strlen(text));
    if (hm_graph_load(path, HM_GRAPH_AUTO, degrees_only, &g, &err))
        fail_msg("%s:%d: %s", err.source, err.line, err.message);
    unlink(path);
    return g;
}

static struct hm_graph *make(enum hm_recipe_kind kind, double vertices, double edges, double most)
{
    struct hm_recipe recipe = {kind, vertices, edges, most, 7};
    struct hm_graph *g = NULL;
    struct hm_err err = {0};

    if (hm_graph_make(&recipe, &g, &err))
        fail_msg("%s", err.message);
    return g;
}

static double count_of(const struct hm_graph *g, double degree)
{
    for (size_t i = 0; i < g->degree_count; i++)
        if (g->degrees[i].degree == degree)
            return g->degrees[i].count;
    return 0;
}

static void edge_lists_are_read(void **state)
{
    /* A file with sparse unordered ids, comments, a self-loop, and an edge that is repeated in both
     * directions. */
    const char *text = "# comment\n9000000000 5\n5 7\r\n\n7 5\n5\t7\n3 3\n7 9000000000";
    struct hm_graph *g = load(".txt", text, false);

    (void)state;
    assert_near(g->lines, 6, 0);
    assert_near(g->vertices, 4, 0);
    assert_near(g->edges, 3, 0);
    assert_near(g->self_loops, 1, 0);
    assert_near(g->repeated, 2, 0);
    /* Vertices 5, 7 and 9e9 form a triangle, so three vertices have degree 2. */
    assert_near(count_of(g, 2), 3, 0);
    assert_near(count_of(g, 0), 1, 0); /* Vertex 3 has no neighbour. */
    assert_non_null(g->ends);
    assert_true(g->may_be_cut); /* There is no line break after the last line. */
    hm_graph_free(g);
    g = load(".txt", "1 2\n2 3\n3 3\n", true);
    assert_null(g->ends);
    assert_near(g->edges, 2, 0);
    assert_near(g->self_loops, 1, 0);
    assert_true(isnan(g->repeated));
    assert_false(g->may_be_cut);
    hm_graph_free(g);
    g = load(".txt", "1 2\n2 3\n# comment", true);
    assert_false(g->may_be_cut); /* A comment may be cut. */
    hm_graph_free(g);
}

/* Degrees must be counted correctly for dense and sparse ids, in less than 16 bytes for each id. */
static void degrees_are_counted_in_little_memory(void **state)
{
    enum { IDS = 2200000 };
    static const uint64_t strides[] = {1, 3, 1000, 1234567, 9000000000001};

    (void)state;
    for (size_t s = 0; s < 5; s++) {
        struct hm_degree_count *counts = hm__degree_count_new();
        struct hm_degree *degrees;
        size_t length;
        for (int round = 0; round < 3; round++) {
            for (uint64_t i = 0; i < IDS; i++) {
                uint64_t id = i * 7919 % IDS; /* The ids are not ordered. */
                if (id % 4 >=
                    (uint64_t)round) /* Id 0 occurs once, id 1 twice, ids 2 and 3 three times. */
                    assert_int_equal(hm__degree_count_add(counts, id * strides[s], NULL), 0);
            }
            if (hm__degree_count_bytes(counts) > 16 * IDS)
                fail_msg("stride %llu: %zu bytes", (unsigned long long)strides[s],
                         hm__degree_count_bytes(counts) / IDS);
        }
        assert_int_equal(hm__degree_count_take(counts, &degrees, &length, NULL), 0);
        assert_int_equal(length, 3);
        assert_near(degrees[0].count, IDS / 4, 0);
        assert_near(degrees[1].count, IDS / 4, 0);
        assert_near(degrees[2].count, IDS / 2, 0);
        free(degrees);
        hm__degree_count_free(counts);
    }
}

/* Ids that occur again before they are sorted are counted once: here the smallest, a middle and the
 * largest id of each buffer. Ids from 2^32 on are sorted. */
static void ids_that_occur_again_are_counted_once(void **state)
{
    static const uint64_t high = 1ULL << 32;
    static const struct {
        uint64_t ids[6];
        double once, twice, thrice;
    } rows[] = {{{5, 5, 6, 7, 8, 9}, 4, 1, 0}, {{5, 6, 7, 7, 8, 9}, 4, 1, 0},
                {{5, 6, 7, 8, 9, 9}, 4, 1, 0}, {{9, 9, 7, 7, 5, 5}, 0, 3, 0},
                {{6, 6, 6, 3, 3, 9}, 1, 1, 1}, {{7, 7, 7, 1, 1, 1}, 0, 0, 2}};

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        struct hm_degree_count *counts = hm__degree_count_new();
        struct hm_degree *degrees;
        double found[4] = {0};
        size_t length;
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(hm__degree_count_add(counts, high + rows[r].ids[i], NULL), 0);
        assert_int_equal(hm__degree_count_take(counts, &degrees, &length, NULL), 0);
        for (size_t i = 0; i < length; i++) {
            assert_in_range((uint64_t)degrees[i].degree, 1, 3);
            found[(size_t)degrees[i].degree] = degrees[i].count;
        }
        if (found[1] != rows[r].once || found[2] != rows[r].twice || found[3] != rows[r].thrice)
            fail_msg("row %zu: %g, %g and %g", r, found[1], found[2], found[3]);
        free(degrees);
        hm__degree_count_free(counts);
    }
}

static void degree_files_are_read(void **state)
{
    struct hm_graph *g = load(".degree_dist", "3 2\n1 4\n1 2\n", false);

    (void)state;
    assert_near(g->vertices, 8, 0);
    assert_near(g->edges, 6, 0);
    assert_near(g->max_degree, 3, 0);
    assert_int_equal(g->degree_count, 2);
    assert_near(count_of(g, 1), 6, 0);
    hm_graph_free(g);
}

static void metis_files_are_read(void **state)
{
    /* The graph of the METIS manual, with 7 vertices and 11 edges; then with all weights. */
    struct hm_graph *g = load(".graph",
                              "% comment\n7 11\n5 3 2\n1 3 4\n5 4 2 1\n2 3 6 7\n1 3 6\n"
                              "5 4 7\n6 4\n",
                              false);

    (void)state;
    assert_near(g->vertices, 7, 0);
    assert_near(g->edges, 11, 0);
    assert_near(g->repeated, 0, 0);
    assert_near(count_of(g, 4), 2, 0);
    hm_graph_free(g);
    g = load(".graph", "3 2 011\n4 2 1\n2 1 1 3 5\n5 2 5\n", false);
    assert_near(g->edges, 2, 0);
    hm_graph_free(g);
    g = load(".graph", "3 1\n2\n1\n\n", false); /* An empty line is a vertex without neighbours. */
    assert_near(g->vertices, 3, 0);
    hm_graph_free(g);
}

static void broken_files_are_named(void **state)
{
    static const struct {
        const char *ending, *text, *message;
        int line;
    } rows[] = {
        {".txt", "1 2\n3\n", "one id where two are expected", 2},
        {".txt", "1 2\n3 4 5\n", "too many numbers in a line", 2},
        {".txt", "1 2\n9223372036854775808 4\n", "a number of 2^63 or more", 2},
        {".txt", "1 2\n3", "one id where two are expected", 2},
        {".txt",
         "1 2\n11111111111111111111111111111111111111111111111111111111111111111111 4\n5 6\n7 8\n",
         "a number of 2^63 or more", 2},
        {".txt", "1 x\n", "a character that is not part of a number", 1},
        {".txt", "-1 2\n", "a character that is not part of a number", 1},
        {".txt", "# nothing\n", "the graph has no edge", 0},
        {".txt", "", "the graph has no edge", 0},
        {".txt", "4 4\n", "the graph has no edge", 0},
        {".degrees", "1 3\n", "the degrees add up to an odd number", 0},
        {".degrees", "1 2\n2\n", "one number where two are expected", 2},
        {".degrees", "0 5\n", "the graph has no edge", 0},
        {".degrees", "5 2\n", "a degree is not below the number of vertices", 0},
        {".degrees", "0 9007199254740993000\n1 2\n", "more than 2^52 vertices or edges", 0},
        {".degrees", "0 9007199254740992\n1 2\n", "more than 2^52 vertices or edges", 0},
        {".degrees", "2 4503599627370496\n", "more than 2^52 vertices or edges", 0},
        {".graph", "", "no METIS header", 1},
        {".graph", "2 1\n2\n", "the file ends before its last vertex", 3},
        {".graph", "2 1\n3\n1\n", "a neighbour is not a vertex", 2},
        {".graph", "2 1\n2\n1\n1\n", "more lines than vertices", 4},
        {".graph", "3 2\n2 3\n\n\n", "the number of edges differs from the first line", 5},
        {".graph", "2 1 7\n2\n1\n", "an unknown METIS format", 1},
        {".graph", "2 1 1\n2\n1\n", "weights are missing", 2},
        {".graph", "3 1\n2\n1\n% end", "the file ends before its last vertex", 4},
        {".graph", "2 5\n2\n1\n", "the number of edges differs from the first line", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[80];
        struct hm_graph *g = NULL;
        struct hm_err err = {0};
        write_file(path, rows[i].ending, rows[i].text, strlen(rows[i].text));
        assert_true(hm_graph_load(path, HM_GRAPH_AUTO, false, &g, &err) < 0);
        assert_null(g);
        if (strcmp(err.message, rows[i].message) != 0 || err.line != rows[i].line)
            fail_msg("'%s': line %d: %s", rows[i].text, err.line, err.message);
        assert_string_equal(err.source, path);
        unlink(path);
    }
}

/* A METIS file in which nearly all vertices have no neighbour is refused. */
static void isolated_vertices_are_few(void **state)
{
    enum { FREE = 1000000, EACH = 100 };

    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        const int vertices = FREE + EACH + extra;
        char path[80], *text = calloc((size_t)vertices + 40, 1);
        struct hm_graph *g = NULL;
        struct hm_err err = {0};
        assert_non_null(text);
        int used = snprintf(text, 40, "%d 1\n2\n1\n", vertices);
        memset(text + used, '\n', (size_t)vertices - 2);
        write_file(path, ".graph", text, strlen(text));
        int rc = hm_graph_load(path, HM_GRAPH_AUTO, false, &g, &err);
        assert_int_equal(rc, extra ? HM_E_LIMIT : 0);
        assert_string_equal(err.message, extra ? "nearly all vertices have no neighbour" : "");
        hm_graph_free(g);
        unlink(path);
        free(text);
    }
}

static void recipes_give_what_they_say(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_GRID, 12, 0, 0), *again;

    (void)state;
    assert_near(g->edges, 17, 0); /* A grid of 3 x 4 vertices has 9 + 8 edges. */
    assert_near(count_of(g, 2), 4, 0);
    assert_near(count_of(g, 4), 2, 0);
    hm_graph_free(g);
    g = make(HM_RECIPE_RANDOM, 1000, 5000, 0);
    assert_near(g->vertices, 1000, 0);
    assert_near(g->edges, 5000, 0);
    hm_graph_free(g);
    /* With 1770 edges, 60 vertices form a complete graph. */
    g = make(HM_RECIPE_RANDOM, 60, 1770, 0);
    assert_near(g->edges, 1770, 0);
    assert_near(count_of(g, 59), 60, 0);
    hm_graph_free(g);
    /* With 15 edges, 10 vertices of degree at most 3 form a regular graph. */
    g = make(HM_RECIPE_POWER_LAW, 10, 15, 3);
    assert_near(g->max_degree, 3, 0);
    hm_graph_free(g);
    g = make(HM_RECIPE_POWER_LAW, 1000, 3000, 150);
    assert_near(g->edges, 3000, 0);
    assert_near(g->max_degree, 150, 0);
    hm_graph_free(g);
    g = make(HM_RECIPE_POWER_LAW, 10000, 40000, 900);
    assert_near(g->vertices, 10000, 0);
    assert_near(g->edges, 40000,
                0); /* The number of edges is exact: repeated edges and self-loops are replaced. */
    assert_near(g->max_degree, 900, 0);
    assert_near(g->repeated + g->self_loops, 0, 0);
    assert_true(count_of(g, 1) > count_of(g, 2) && count_of(g, 2) > count_of(g, 4));
    again = make(HM_RECIPE_POWER_LAW, 10000, 40000, 900);
    assert_memory_equal(g->ends, again->ends, (size_t)g->edges * 2 * sizeof(*g->ends));
    hm_graph_free(again);
    hm_graph_free(g);
}

/* Returns a graph that has the degrees of another graph, but not its edges. */
static struct hm_graph degrees_of(const struct hm_graph *g)
{
    struct hm_graph only = *g;
    only.ends = NULL;
    return only;
}

static struct hm_parts split(const struct hm_graph *g, enum hm_split method, double trials,
                             double n)
{
    struct hm_parts parts = {0};
    struct hm_err err = {0};

    if (hm_graph_split(g, method, trials, 1, &n, 1, &parts, &err))
        fail_msg("%s at %g: %s", hm_split_name(method), n, err.message);
    return parts;
}

static double twice(const struct hm_graph *g, double n)
{
    double v = g->vertices;
    return 0.5 * (v / n - 1) * (v / n) * g->edges / (v * (v - 1) / 2);
}

/* Assigns vertices one by one, from the largest degree down: round robin, or to the least loaded
 * worker. */
static double plain_max(const struct hm_graph *g, bool greedy, uint32_t n)
{
    double loads[64] = {0}, most = 0;
    uint32_t turn = 0;

    for (size_t i = 0; i < g->degree_count; i++) {
        const struct hm_degree *d = &g->degrees[greedy ? g->degree_count - 1 - i : i];
        for (double k = 0; k < d->count; k++) {
            uint32_t to = turn++ % n;
            for (uint32_t w = 0; greedy && w < n; w++)
                to = loads[w] < loads[to] ? w : to;
            loads[to] += d->degree;
        }
    }
    for (uint32_t w = 0; w < n; w++)
        most = fmax(most, loads[w]);
    return most;
}

static void degrees_are_dealt_as_one_by_one(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_POWER_LAW, 3000, 9000, 700);
    struct hm_graph only = degrees_of(g);

    (void)state;
    for (uint32_t n = 2; n <= 64; n++) {
        struct hm_parts dealt = split(&only, HM_SPLIT_DEALT, 1, n);
        struct hm_parts greedy = split(&only, HM_SPLIT_GREEDY, 1, n);
        assert_near(dealt.edges_max, plain_max(&only, false, n) - twice(&only, n), 1e-13);
        assert_near(greedy.edges_max, plain_max(&only, true, n) - twice(&only, n), 1e-13);
        assert_true(greedy.edges_max <= dealt.edges_max + 1e-9);
    }
    hm_graph_free(g);
}

/* The random split by degrees must have the same means and spreads as assigning vertices one by
 * one. */
static void random_splits_have_the_right_distribution(void **state)
{
    struct hm_degree rows[] = {{1, 400}, {3, 150}, {10, 30}, {60, 3}, {150, 1}};
    enum { TRIALS = 4000, N = 5 };
    struct hm_graph g = {
        .vertices = 584, .edges = 765, .degrees = rows, .degree_count = 5, .max_degree = 150};
    struct hm_parts parts = split(&g, HM_SPLIT_RANDOM, TRIALS, N);
    double sum = 0, squares = 0;

    (void)state;
    srandom(3);
    for (int t = 0; t < TRIALS; t++) {
        double loads[N] = {0}, most = 0;
        for (size_t k = 0; k < 5; k++)
            for (double v = 0; v < rows[k].count; v++)
                loads[random() % N] += rows[k].degree;
        for (int w = 0; w < N; w++)
            most = fmax(most, loads[w]);
        sum += most;
        squares += most * most;
    }
    double mean = sum / TRIALS, error = sqrt((squares / TRIALS - mean * mean) / TRIALS);
    if (fabs(parts.edges_max + twice(&g, N) - mean) > 5 * error)
        fail_msg("mean %g, one by one %g +- %g", parts.edges_max + twice(&g, N), mean, error);
    assert_true(parts.low < parts.edges_max && parts.edges_max < parts.high);
    assert_true(parts.worst >= parts.high);
}

/* The exact figures of a split of a small graph must agree with a count of every edge for every
 * worker. */
static void edges_are_counted_exactly(void **state)
{
    static const enum hm_split methods[] = {HM_SPLIT_DEALT, HM_SPLIT_RANDOM, HM_SPLIT_GREEDY,
                                            HM_SPLIT_HASH};
    struct hm_graph *g = make(HM_RECIPE_RANDOM, 500, 2000, 0);

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (double n = 2; n <= 100; n = n * 2 + 1) {
            struct hm_parts p = split(g, methods[i], 1, n);
            /* An inner edge counts once and a cut edge twice, so the sum over the workers is E +
             * cut. */
            assert_near(p.edges_mean * n, g->edges + p.cut, 1e-12);
            assert_true(p.edges_max >= p.edges_mean && p.imbalance >= 1);
            assert_true(p.replicas >= 1 && p.replicas <= n);
            assert_true(p.cut <= g->edges);
        }
    }
    hm_graph_free(g);
    /* The path 0-1-2-3, assigned round robin by degree: vertices 0, 3, 1, 2 go to workers 0, 1, 0,
     * 1. */
    g = load(".txt", "0 1\n1 2\n2 3\n", false);
    struct hm_parts p = split(g, HM_SPLIT_DEALT, 1, 2);
    assert_near(p.cut, 1, 0);
    assert_near(p.edges_max, 2, 0);
    assert_near(p.replicas, 6.0 / 4, 1e-15); /* Vertices 1 and 2 have two copies. */
    hm_graph_free(g);
}

static void vertex_cuts_replicate_less_with_hdrf(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_POWER_LAW, 5000, 25000, 800);

    (void)state;
    for (double n = 4; n <= 128; n *= 4) {
        struct hm_parts random = split(g, HM_SPLIT_EDGE_RANDOM, 1, n);
        struct hm_parts hdrf = split(g, HM_SPLIT_HDRF, 1, n);
        assert_near(random.edges_mean * n, g->edges, 1e-12);
        assert_near(hdrf.edges_mean * n, g->edges, 1e-12);
        assert_true(hdrf.replicas < 0.75 * random.replicas);
        assert_true(hdrf.imbalance < 1.1);
    }
    hm_graph_free(g);
}

/* If edges are assigned at random, the expected number of copies per vertex is the sum over all
 * vertices of n (1 - (1-1/n)^d) / V, with the degree d of the vertex. */
static void random_cuts_have_the_expected_copies(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_POWER_LAW, 20000, 100000, 900);
    double n = 16, expected = 0;

    (void)state;
    for (size_t i = 0; i < g->degree_count; i++)
        expected += g->degrees[i].count *
                    fmax(n * (1 - pow(1 - 1 / n, g->degrees[i].degree)), g->degrees[i].degree == 0);
    expected /= g->vertices;
    assert_near(split(g, HM_SPLIT_EDGE_RANDOM, 5, n).replicas, expected, 0.01);
    struct hm_graph only = degrees_of(g);
    assert_near(split(g, HM_SPLIT_RANDOM, 5, n).replicas,
                split(&only, HM_SPLIT_RANDOM, 1, n).replicas, 0.01);
    hm_graph_free(g);
}

static void metis_cuts_few_edges(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_GRID, 2500, 0, 0);
    struct hm_parts parts;
    struct hm_err err = {0};
    double n = 8;

    (void)state;
    int rc = hm_graph_split(g, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, &err);
    if (rc == HM_E_UNSUPPORTED) {
        assert_string_equal(err.message, "this build does not include METIS");
    } else {
        assert_int_equal(rc, 0);
        assert_true(parts.cut < 0.2 * split(g, HM_SPLIT_HASH, 1, n).cut);
        assert_true(parts.imbalance < 1.15);
    }
    struct hm_graph large = *g; /* A graph that is too large for the 32-bit indices of METIS. */
    large.edges = 1.5e9;        /* The graph is refused before its edges are read. */
    if (rc == 0) {
        err = (struct hm_err){0};
        assert_int_equal(hm_graph_split(&large, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, &err),
                         HM_E_LIMIT);
    }
    hm_graph_free(g);
}

/* Returns whether METIS is built in; g is any graph with edges. */
static bool has_metis(const struct hm_graph *g)
{
    struct hm_parts parts;
    const double n = 2;

    return hm_graph_split(g, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, NULL) == 0;
}

/* Splits a graph with METIS until it is no longer needed; each call takes much longer than a check
 * of the limits. */
struct busy_metis {
    struct hm_graph *graph;
    atomic_bool enough;
    atomic_int calls;
};

static void *metis_is_busy(void *data)
{
    struct busy_metis *busy = data;
    struct hm_parts parts;
    const double n = 1000;

    while (!busy->enough &&
           hm_graph_split(busy->graph, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, NULL) == 0)
        busy->calls++;
    return NULL;
}

/* Splits a small graph with METIS, with a budget that is spent at the check with this number.
 * Returns whether the request ended while it waited, and the number of checks. */
static bool split_ends(const struct hm_graph *g, long checks, long *ret_checks)
{
    struct hm_budget budget = {.checks = checks};
    struct hm_parts parts;
    const double n = 2;

    hm__budget_enter(&budget);
    int rc = hm_graph_split(g, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, NULL);
    hm__budget_leave(&budget);
    *ret_checks = checks - budget.checks;
    return rc == HM_E_CANCELLED && strcmp(budget.field, "split") == 0;
}

/* A thread that waits for METIS in another thread checks its limits, and ends when they are
 * reached. */
static void waiting_for_metis_ends(void **state)
{
    struct hm_graph *small = make(HM_RECIPE_GRID, 100, 0, 0);
    struct busy_metis busy = {.graph = make(HM_RECIPE_RANDOM, 20000, 200000, 0)};
    pthread_t thread;
    long most, checks;

    (void)state;
    if (has_metis(small)) {
        bool ended = split_ends(small, 1 << 30, &most);
        assert_false(ended);
        assert_int_equal(pthread_create(&thread, NULL, metis_is_busy, &busy), 0);
        while (!ended && busy.calls < 20)
            ended = split_ends(small, most + 1, &checks);
        busy.enough = true;
        pthread_join(thread, NULL);
        assert_true(ended);
    }
    hm_graph_free(small);
    hm_graph_free(busy.graph);
}

/* Returns the number of threads of this process. */
static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = 0;

    assert_non_null(tasks);
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks))
        count += e->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* Number of threads of this program before the tests. */
static int own_threads;

/* Returns true once a thread more than the given number was seen twice. */
static bool thread_is_busy(void *data)
{
    int *counts = data; /* The number of threads, and how often there were more. */

    return threads() > counts[0] && ++counts[1] == 2;
}

/*
 * A request ends at its limit while METIS, which needs about a second for the graph, is still
 * busy with it. The next split waits until METIS has returned, and has the usual result.
 */
static void requests_end_before_metis(void **state)
{
    struct hm_graph *small = make(HM_RECIPE_GRID, 100, 0, 0);
    struct hm_graph *large = make(HM_RECIPE_RANDOM, 100000, 400000, 0);
    struct hm_parts usual = {0}, parts = {0};
    int counts[2] = {own_threads, 0};
    const double two = 2, many = 64;
    struct hm_budget budget = {.cancelled = thread_is_busy, .data = counts};

    (void)state;
    if (hm_graph_split(small, HM_SPLIT_METIS, 1, 1, &two, 1, &usual, NULL) == 0) {
        /* Threads of earlier splits may end after their results were used. */
        while (threads() > own_threads)
            usleep(1000);
        hm__budget_enter(&budget);
        int rc = hm_graph_split(large, HM_SPLIT_METIS, 1, 1, &many, 1, &parts, NULL);
        hm__budget_leave(&budget);
        assert_int_equal(rc, HM_E_CANCELLED);
        assert_string_equal(budget.field, "split");
        assert_int_equal(threads(), counts[0] + 1);
        assert_int_equal(hm_graph_split(small, HM_SPLIT_METIS, 1, 1, &two, 1, &parts, NULL), 0);
        assert_memory_equal(&parts, &usual, sizeof(parts));
        while (threads() > counts[0])
            usleep(1000);
    }
    hm_graph_free(small);
    hm_graph_free(large);
}

/* A graph is refused if METIS may need more memory than is left for the request. */
static void metis_needs_memory(void **state)
{
    struct hm_graph *g = make(HM_RECIPE_RANDOM, 20000, 80000, 0);
    struct hm_parts parts;
    struct hm_err err = {0};
    const double n = 2;

    (void)state;
    for (int enough = 0; enough < 2; enough++) {
        struct hm_budget budget = {.bytes = enough ? 20000000 : 10000000};
        hm__budget_enter(&budget);
        int rc = hm_graph_split(g, HM_SPLIT_METIS, 1, 1, &n, 1, &parts, &err);
        hm__budget_leave(&budget);
        if (rc == HM_E_UNSUPPORTED)
            break;
        assert_int_equal(rc, enough ? 0 : HM_E_LIMIT);
        if (!enough)
            assert_non_null(strstr(err.message, "METIS may need 11.2 MB of memory"));
    }
    hm_graph_free(g);
}

/* Reads a graph of a path whose vertices are numbered in steps, and splits it; returns how often
 * the limits were checked. */
static long path_checks(FILE *text, double step, const char *path)
{
    enum { EDGES = 100000 };
    struct hm_graph *g = NULL;
    struct hm_parts parts;
    struct hm_budget budget = {.checks = 1 << 30};
    const double n = 2;

    for (int i = 0; i < EDGES; i++)
        fprintf(text, "%.0f %.0f\n", i * step, (i + 1) * step);
    fclose(text);
    hm__budget_enter(&budget);
    assert_int_equal(hm_graph_load(path, HM_GRAPH_AUTO, false, &g, NULL), 0);
    assert_int_equal(hm_graph_split(g, HM_SPLIT_HASH, 1, 1, &n, 1, &parts, NULL), 0);
    hm__budget_leave(&budget);
    hm_graph_free(g);
    return (1 << 30) - budget.checks;
}

/* The limits are checked while sparse numbers of vertices are sorted and looked up. */
static void sparse_numbers_check_the_limits(void **state)
{
    char path[] = "/tmp/hm-graph-XXXXXX.txt";
    int file = mkstemps(path, 4);

    (void)state;
    assert_true(file >= 0);
    long dense = path_checks(fdopen(file, "w"), 1, path);
    long sparse = path_checks(fopen(path, "w"), 1e9, path);
    unlink(path);
    /* 200,000 numbers are sorted in runs of 4096, which are merged six times. */
    assert_in_range(sparse - dense, 6 * 48, 10 * 50);
}

static void impossible_splits_are_refused(void **state)
{
    struct hm_graph *g = load(".degrees", "1 4\n", false);
    static const struct {
        enum hm_split split;
        double trials, n;
        int code;
    } rows[] = {{HM_SPLIT_DEALT, 1, 5, HM_E_RANGE},         {HM_SPLIT_DEALT, 1, 0, HM_E_RANGE},
                {HM_SPLIT_DEALT, 1, 1.5, HM_E_RANGE},       {HM_SPLIT_RANDOM, 0, 2, HM_E_RANGE},
                {HM_SPLIT_RANDOM, INFINITY, 2, HM_E_RANGE}, {HM_SPLIT_RANDOM, 1e300, 2, HM_E_RANGE},
                {HM_SPLIT_RANDOM, NAN, 2, HM_E_RANGE},      {HM_SPLIT_HASH, 1, 2, HM_E_MISSING},
                {HM_SPLIT_HDRF, 1, 2, HM_E_MISSING}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_parts parts;
        struct hm_err err = {0};
        assert_int_equal(
            hm_graph_split(g, rows[i].split, rows[i].trials, 1, &rows[i].n, 1, &parts, &err),
            rows[i].code);
    }
    assert_near(split(g, HM_SPLIT_DEALT, 1, 1).edges_max, 2, 0);
    hm_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edge_lists_are_read),
        cmocka_unit_test(degrees_are_counted_in_little_memory),
        cmocka_unit_test(ids_that_occur_again_are_counted_once),
        cmocka_unit_test(degree_files_are_read),
        cmocka_unit_test(metis_files_are_read),
        cmocka_unit_test(broken_files_are_named),
        cmocka_unit_test(isolated_vertices_are_few),
        cmocka_unit_test(recipes_give_what_they_say),
        cmocka_unit_test(degrees_are_dealt_as_one_by_one),
        cmocka_unit_test(random_splits_have_the_right_distribution),
        cmocka_unit_test(edges_are_counted_exactly),
        cmocka_unit_test(vertex_cuts_replicate_less_with_hdrf),
        cmocka_unit_test(random_cuts_have_the_expected_copies),
        cmocka_unit_test(metis_cuts_few_edges),
        cmocka_unit_test(waiting_for_metis_ends),
        cmocka_unit_test(requests_end_before_metis),
        cmocka_unit_test(metis_needs_memory),
        cmocka_unit_test(sparse_numbers_check_the_limits),
        cmocka_unit_test(impossible_splits_are_refused),
    };
    own_threads = threads();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
