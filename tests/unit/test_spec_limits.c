/*
 * Tests the limits of specifications: for each range the last value that is allowed and the first
 * that is not, and the field and line that an error names.
 */
#include "testing.h"

#include "readers.h"
#include "study.h"
#include "value.h"

/* Keys that a valid job needs besides the one under test. */
#define FORMULAS "compute: 8/n\ncommunicate: none\n"
#define NETWORK "network: 784-10\nbatch: 8\ncluster: {flops: 1 Gflop/s}\n"
#define CLUSTER(keys) FORMULAS "cluster: {" keys "}\n"
#define STRAGGLERS(keys) CLUSTER("flops: 1 Gflop/s, stragglers: {" keys "}")
#define LAYER(layer) "batch: 8\nnetwork: {input: [8, 8, 3], layers: [" layer "]}\n"

struct limit {
    const char *text;
    int code; /* Expected error code; 0: the job is valid. */
    const char *field;
    int line;
};

static int try_job(const char *text, struct hm_err *err)
{
    struct hm_job *job = NULL;
    int rc = hm_job_parse(text, strlen(text), "j.yaml", NULL, 0, &job, err);

    assert_true((rc == 0) == (job != NULL));
    hm_job_free(job);
    return rc;
}

static void check_limits(const struct limit *limits, size_t count,
                         int (*parse)(const char *, struct hm_err *))
{
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        struct hm_err err = {0};
        int rc = parse(limits[i].text, &err);
        if (rc != limits[i].code || strcmp(err.field, limits[i].field) != 0 ||
            err.line != limits[i].line) {
            print_message("case %zu:\n%s\n%d, field '%s', line %d: %s\n", i, limits[i].text, rc,
                          err.field, err.line, err.message);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

#define CHECK(limits, parse) check_limits(limits, sizeof(limits) / sizeof(limits[0]), parse)

static void keys_of_a_job_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {FORMULAS "batch: 1\n", 0, "", 0},
        {FORMULAS "batch: 0\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: 1e15\n", 0, "", 0},
        {FORMULAS "batch: 1.1e15\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: 1.5\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: .nan\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: .inf\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: -.inf\n", HM_E_RANGE, "batch", 3},
        {FORMULAS "batch: '8'\n", 0, "", 0},
        {FORMULAS "batch: [8]\n", HM_E_TYPE, "batch", 3},
        {FORMULAS "scaling: Weak\n", HM_E_RANGE, "scaling", 3},
        {FORMULAS "name: {a: 1}\n", HM_E_TYPE, "name", 3},
        {FORMULAS "bach: 8\n", HM_E_KEY, "bach", 3},
        {FORMULAS "reference: 1\n", 0, "", 0},
        {FORMULAS "reference: 0\n", HM_E_RANGE, "reference", 3},
        {FORMULAS "reference: 1e6\n", 0, "", 0},
        {FORMULAS "reference: 1000001\n", HM_E_RANGE, "reference", 3},
        {FORMULAS "iterations: 1\n", 0, "", 0},
        {FORMULAS "iterations: 0\n", HM_E_RANGE, "iterations", 3},
        {FORMULAS "dataset: 10\nbatch: 1\nepochs: 0.5\n", 0, "", 0},
        {FORMULAS "dataset: 10\nbatch: 1\nepochs: 0\n", HM_E_RANGE, "epochs", 5},
        {FORMULAS "dataset: 10\nbatch: 1\nepochs: 1e9\n", 0, "", 0},
        {FORMULAS "dataset: 10\nbatch: 1\nepochs: 1.1e9\n", HM_E_RANGE, "epochs", 5},
        {FORMULAS "epochs: 1\nbatch: 1\n", HM_E_MISSING, "dataset", 1},
        {FORMULAS "epochs: 1\ndataset: 10\n", HM_E_MISSING, "batch", 1},
        {FORMULAS "precision: 16\n", 0, "", 0},
        {FORMULAS "precision: 15\n", HM_E_RANGE, "precision", 3},
        {FORMULAS "precision: 24\n", HM_E_RANGE, "precision", 3},
        {FORMULAS "precision: 64\n", 0, "", 0},
        {FORMULAS "precision: 65\n", HM_E_RANGE, "precision", 3},
        {FORMULAS "overlap: {norm: 1}\n", 0, "", 0},
        {FORMULAS "overlap: {norm: 0.99}\n", HM_E_RANGE, "overlap.norm", 3},
        {FORMULAS "overlap: {norm: 1e6}\n", 0, "", 0},
        {FORMULAS "overlap: {norm: 1.1e6}\n", HM_E_RANGE, "overlap.norm", 3},
        {FORMULAS "overlap: norm\n", HM_E_MISSING, "overlap", 3},
        {FORMULAS "overlap: {}\n", HM_E_MISSING, "overlap", 3},
        {FORMULAS "measured: {speedup: {2: 1.5}}\n", 0, "", 0},
        {FORMULAS "measured: {speedup: {0: 1.5}}\n", HM_E_RANGE, "measured.speedup.0", 3},
        {FORMULAS "expect: [{what: time, value: 0, digits: 15}]\n", 0, "", 0},
        {FORMULAS "expect: [{what: time, value: 0, digits: 16}]\n", HM_E_RANGE, "expect.0.digits",
         3},
        {FORMULAS "expect: [{what: time, value: 0, digits: 0}]\n", HM_E_RANGE, "expect.0.digits",
         3},
        {FORMULAS "expect: [{what: time, value: 0, within: 0}]\n", HM_E_RANGE, "expect.0.within",
         3},
        {"compute: 8/n\ncommunicate: {what: gradients, scheme: ring}\n", HM_E_MISSING, "network",
         1},
        {"compute: 8/n\ncommunicate: {bytes: 1 MB, time: 1 s}\n", HM_E_CONFLICT, "communicate", 2},
        {"compute: 8/n\ncommunicate: [{time: 1 s}, {bytes: 1 MB}]\n", HM_E_MISSING, "communicate.1",
         2},
        {"compute: 8/n\ncommunicate: {bytes: 1 MB, scheme: ring, times: 0}\n", HM_E_RANGE,
         "communicate.times", 2},
        {"compute: 8/n\ncommunicate: {bytes: 1 MB, scheme: ring, times: 1e9, servers: 1e6}\n", 0,
         "", 0},
        {"compute: 8/n\ncommunicate: {bytes: 1 MB, scheme: ring, servers: 1000001}\n", HM_E_RANGE,
         "communicate.servers", 2},
        {NETWORK, 0, "", 0},
        {NETWORK "overlap: layers\n", 0, "", 0},
        {NETWORK "overlap: layers\ncompute: 8/n\n", HM_E_CONFLICT, "overlap", 4},
        {FORMULAS "where: {n: 3}\n", HM_E_NAME, "where.n", 3},
        {FORMULAS "graph: {generate: grid, vertices: 16}\n", HM_E_CONFLICT, "graph", 3},
    };

    (void)state;
    CHECK(limits, try_job);
}

static void keys_of_a_cluster_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {CLUSTER("flops: 1 Gflop/s, efficiency: 1"), 0, "", 0},
        {CLUSTER("flops: 1 Gflop/s, efficiency: 1.01"), HM_E_RANGE, "cluster.efficiency", 3},
        {CLUSTER("flops: 1 Gflop/s, efficiency: 0"), HM_E_RANGE, "cluster.efficiency", 3},
        {CLUSTER("flops: 0 flop/s"), HM_E_RANGE, "cluster.flops", 3},
        {CLUSTER("flops: {64: 0 flop/s}"), HM_E_RANGE, "cluster.flops.64", 3},
        {CLUSTER("flops: 1 Gflop/s, accelerators: 1024"), 0, "", 0},
        {CLUSTER("flops: 1 Gflop/s, accelerators: 1025"), HM_E_RANGE, "cluster.accelerators", 3},
        {CLUSTER("flops: 1 Gflop/s, accelerators: 0"), HM_E_RANGE, "cluster.accelerators", 3},
        {CLUSTER("flops: 1 Gflop/s, max_nodes: 1e6"), 0, "", 0},
        {CLUSTER("flops: 1 Gflop/s, max_nodes: 1000001"), HM_E_RANGE, "cluster.max_nodes", 3},
        {CLUSTER("flops: 1 Gflop/s, price: $0/h"), 0, "", 0},
        {CLUSTER("flops: 1 Gflop/s, kernel_overhead: 0 s"), 0, "", 0},
        {CLUSTER("flops: 1 Gflop/s, memory: 0 B"), HM_E_RANGE, "cluster.memory", 3},
        {CLUSTER("flops: 1 Gflop/s, memory_bandwidth: 0 B/s"), HM_E_RANGE,
         "cluster.memory_bandwidth", 3},
        {CLUSTER("flops: 1 Gflop/s, link: {latency: 1 us}"), HM_E_MISSING, "cluster.link", 3},
        {CLUSTER("flops: 1 Gflop/s, link: {bandwidth: 1 B/s, latency: 0 s}"), 0, "", 0},
        {CLUSTER("machine: p4d.24xlarge, machine: p3.2xlarge"), HM_E_SYNTAX, "", 3},
        {STRAGGLERS("spread: 3"), 0, "", 0},
        {STRAGGLERS("spread: 3.01"), HM_E_RANGE, "cluster.stragglers.spread", 3},
        {STRAGGLERS("chance: 1, factor: 1000"), 0, "", 0},
        {STRAGGLERS("chance: 1, factor: 1000.1"), HM_E_RANGE, "cluster.stragglers.factor", 3},
        {STRAGGLERS("chance: 0, factor: 1.001"), 0, "", 0},
        {STRAGGLERS("chance: 0, factor: 1"), HM_E_RANGE, "cluster.stragglers.factor", 3},
        {STRAGGLERS("chance: 1, pause: 1e6 s"), 0, "", 0},
        {STRAGGLERS("chance: 1, pause: 1000001 s"), HM_E_RANGE, "cluster.stragglers.pause", 3},
        {STRAGGLERS("slow: 1, slow_factor: 1"), HM_E_RANGE, "cluster.stragglers.slow_factor", 3},
        {STRAGGLERS("slow: 1e6, slow_factor: 2"), 0, "", 0},
        {STRAGGLERS("slow: 0.5, slow_factor: 2"), HM_E_RANGE, "cluster.stragglers.slow", 3},
        {STRAGGLERS("speeds: [0.001, 1000]"), 0, "", 0},
        {STRAGGLERS("speeds: [1, 0.0009]"), HM_E_RANGE, "cluster.stragglers.speeds.1", 3},
        {STRAGGLERS("speeds: [1000.1]"), HM_E_RANGE, "cluster.stragglers.speeds.0", 3},
        {STRAGGLERS("speeds: []"), 0, "", 0},
    };

    (void)state;
    CHECK(limits, try_job);
}

static void layers_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {LAYER("dense: 1"), 0, "", 0},
        {LAYER("dense: 0"), HM_E_RANGE, "network.layers.0.dense", 2},
        {LAYER("dense: 1e12"), 0, "", 0},
        {LAYER("dense: 1.1e12"), HM_E_RANGE, "network.layers.0.dense", 2},
        {LAYER("relu, conv: {filters: 2}"), HM_E_MISSING, "network.layers.1.conv", 2},
        {LAYER("conv: {filters: 2, kernel: 0}"), HM_E_RANGE, "network.layers.0.conv.kernel", 2},
        {LAYER("conv: {filters: 2, kernel: 3, padding: 0}"), 0, "", 0},
        {LAYER("conv: {filters: 2, kernel: [3, 5], border: [2, 0]}"), 0, "", 0},
        {LAYER("conv: {filters: 2, kernel: [3, 5, 7]}"), HM_E_TYPE, "network.layers.0.conv.kernel",
         2},
        {LAYER("conv: {filters: 2, kernel: 3, padding: 1, border: 2}"), HM_E_CONFLICT,
         "network.layers.0.conv", 2},
        {LAYER("pool: {stride: 2}"), HM_E_MISSING, "network.layers.0.pool", 2},
        {LAYER("pool: {global: true}"), 0, "", 0},
        {LAYER("concat: []"), HM_E_MISSING, "network.layers.0.concat", 2},
        {LAYER("repeat: {times: 1000, layers: [relu]}"), 0, "", 0},
        {LAYER("repeat: {times: 1001, layers: [relu]}"), HM_E_RANGE,
         "network.layers.0.repeat.times", 2},
        {LAYER("repeat: {times: 0, layers: [relu]}"), HM_E_RANGE, "network.layers.0.repeat.times",
         2},
        {LAYER("relu: 1"), HM_E_TYPE, "network.layers.0", 2},
        {LAYER("dense"), HM_E_TYPE, "network.layers.0", 2},
        {"batch: 8\nnetwork: {input: {sequence: 4, width: 2}, layers: [recurrent: {cell: lstm, "
         "width: 1, biases: 2}]}\n",
         0, "", 0},
        {"batch: 8\nnetwork: {input: {sequence: 4, width: 2}, layers: [recurrent: {cell: lstm, "
         "width: 1, biases: 3}]}\n",
         HM_E_RANGE, "network.layers.0.recurrent.biases", 2},
        {"batch: 8\nnetwork: {layers: [dense: 1]}\n", HM_E_MISSING, "network", 2},
        {"batch: 8\nnetwork: {input: 3, layers: []}\n", HM_E_MISSING, "network", 2},
        {"batch: 8\nnetwork: {input: [1, 2], layers: [dense: 1]}\n", HM_E_TYPE, "network.input", 2},
        {"batch: 8\nnetwork: 1-1\n", 0, "", 0},
        {"batch: 8\nnetwork: 0-1\n", HM_E_RANGE, "network", 2},
        {"batch: 8\nnetwork: 1-1000000000\n", 0, "", 0},
        {"batch: 8\nnetwork: 1-1000000001\n", HM_E_RANGE, "network", 2},
        {"batch: 8\nnetwork: 1--1\n", HM_E_NAME, "network", 2},
        {"batch: 8\nnetwork: 1-1-\n", HM_E_NAME, "network", 2},
        {"batch: 8\nnetwork: {parameters: 0, forward: 1 flop}\n", HM_E_RANGE, "network.parameters",
         2},
        {"batch: 8\nnetwork: {parameters: 1}\n", HM_E_MISSING, "network.forward", 1},
        {"network: {parameters: 1, forward: 1 flop}\n", HM_E_MISSING, "batch", 1},
    };

    (void)state;
    CHECK(limits, try_job);
}

/* Windows and borders are tested by the shape of the output for an image of 8 x 8. */
static void windows_have_two_directions(void **state)
{
    static const struct {
        const char *text;
        double height, width;
    } cases[] = {
        {LAYER("conv: {filters: 2, kernel: 3}"), 6, 6},
        {LAYER("conv: {filters: 2, kernel: [3, 5]}"), 6, 4},
        {LAYER("conv: {filters: 2, kernel: [3, 5], padding: same}"), 8, 8},
        {LAYER("conv: {filters: 2, kernel: 3, padding: 1}"), 8, 8},
        {LAYER("conv: {filters: 2, kernel: 3, padding: [1, 0]}"), 8, 6},
        {LAYER("conv: {filters: 2, kernel: 3, border: 1}"), 7, 7},
        {LAYER("conv: {filters: 2, kernel: 3, border: [0, 2], stride: 2}"), 3, 4},
        {LAYER("pool: {kernel: 2}"), 4, 4},
        {LAYER("pool: {kernel: 3, stride: 2}"), 3, 3},
        {LAYER("pool: {kernel: 3, stride: 2, ceil: true}"), 4, 4},
    };
    struct hm_err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_job *job = parse_job(cases[i].text);
        const struct hm_layer *l = &job->network->layers[0];
        double down = (8 - l->kernel_h + l->border_h) / l->stride;
        double across = (8 - l->kernel_w + l->border_w) / l->stride;
        double height = (l->ceil_mode ? ceil(down) : floor(down)) + 1;
        double width = (l->ceil_mode ? ceil(across) : floor(across)) + 1;
        if (height != cases[i].height || width != cases[i].width)
            fail_msg("%s: %g x %g", cases[i].text, height, width);
        hm_job_free(job);
    }
    assert_true(try_job(LAYER("conv: {filters: 2, kernel: [1, 2, 3]}"), &err) == HM_E_TYPE);
    assert_string_equal(err.hint, "write a number or [vertical, horizontal]");
    err = (struct hm_err){0};
    assert_int_equal(try_job(LAYER("conv: {filters: 2, kernel: 3, padding: 1, border: 1}"), &err),
                     HM_E_CONFLICT);
}

static int try_closed_job(const char *text, struct hm_err *err)
{
    struct hm_job *job = NULL;
    const struct hm_spec spec = {
        .text = text, .length = strlen(text), .source = "j.yaml", .closed = true};
    int rc = hm__job_read(NULL, &spec, &job, err);

    hm_job_free(job);
    return rc;
}

#define GRAPH(keys) "graph: {" keys "}\ncommunicate: none\ncluster: {flops: 1 Gflop/s}\n"

static void graphs_of_requests_are_small(void **state)
{
    static const struct limit limits[] = {
        {GRAPH("generate: random, vertices: 2, edges: 1"), 0, "", 0},
        {GRAPH("generate: random, vertices: 1, edges: 1"), HM_E_RANGE, "graph.vertices", 1},
        {GRAPH("generate: random, vertices: 100000, edges: 100000, trials: 100"), 0, "", 0},
        {GRAPH("generate: random, vertices: 100001, edges: 9"), HM_E_LIMIT, "graph", 1},
        {GRAPH("generate: random, vertices: 99, edges: 100001"), HM_E_LIMIT, "graph", 1},
        {GRAPH("generate: random, vertices: 9, edges: 9, trials: 101"), HM_E_LIMIT, "graph", 1},
        {GRAPH("generate: random, vertices: 9, edges: 9, trials: 0"), HM_E_RANGE, "graph.trials",
         1},
        {GRAPH("generate: random, vertices: 9, edges: 9, states: 1"), HM_E_RANGE, "graph.states",
         1},
        {GRAPH("file: a.txt"), HM_E_NAME, "graph.file", 1},
        {GRAPH("split: random"), HM_E_CONFLICT, "graph", 1},
        {GRAPH("file: a.txt, generate: grid"), HM_E_CONFLICT, "graph", 1},
        {GRAPH("file: a.txt, edges: 3"), HM_E_CONFLICT, "graph", 1},
    };

    (void)state;
    CHECK(limits, try_closed_job);
}

static int try_study(const char *text, struct hm_err *err)
{
    struct hm_study_spec *spec = NULL;
    int rc = hm__study_spec_parse(text, strlen(text), "s.yaml", NULL, 0, &spec, err);

    hm__study_spec_free(spec);
    return rc;
}

#define STUDY(keys) "algorithms: [gd]\nloss: 1\nbudget: 1 s\n" keys "\n"

static void keys_of_a_study_have_ranges(void **state)
{
    static const struct limit limits[] = {
        {STUDY("m: 1"), 0, "", 0},
        {STUDY("m: 0"), HM_E_RANGE, "m", 4},
        {STUDY("m: 100000"), 0, "", 0},
        {STUDY("m: 100001"), HM_E_RANGE, "m", 4},
        {STUDY("m: 5..5"), 0, "", 0},
        {STUDY("m: 5..4"), HM_E_RANGE, "m", 4},
        {STUDY("m: [1, 2.5]"), HM_E_RANGE, "m.1", 4},
        {STUDY("m: 1\nseeds: 100"), 0, "", 0},
        {STUDY("m: 1\nseeds: 101"), HM_E_RANGE, "seeds", 5},
        {STUDY("m: 1\nseeds: 0"), HM_E_RANGE, "seeds", 5},
        {STUDY("m: 1\niterations: 1e9"), 0, "", 0},
        {STUDY("m: 1\niterations: 1000000001"), HM_E_RANGE, "iterations", 5},
        {STUDY("m: 1\nprice: $0/h"), HM_E_RANGE, "price", 5},
        {STUDY("m: 1\nbest: -1"), 0, "", 0},
        {"algorithms: [a1,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2,b3,b4,b5,b6,b7]\n"
         "loss: 1\nbudget: 1 s\nm: 1\n",
         0, "", 0},
        {"algorithms: [a1,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2,b3,b4,b5,b6,b7,b8]\n"
         "loss: 1\nbudget: 1 s\nm: 1\n",
         HM_E_LIMIT, "algorithms", 1},
    };

    (void)state;
    CHECK(limits, try_study);
}

/* The numbers of a range double, and its end is included once. */
static void ranges_of_workers_double(void **state)
{
    static const double wanted[][5] = {{3, 6, 12, 20}, {4, 8, 16}, {1, 2, 3, 8}};
    static const size_t counts[] = {4, 3, 4};
    static const char *const texts[] = {STUDY("m: 3..20"), STUDY("m: 4..16"),
                                        STUDY("m: [8, 1, 3, 2, 8, 1]")};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_study_spec *spec = NULL;
        assert_int_equal(
            hm__study_spec_parse(texts[i], strlen(texts[i]), "s.yaml", NULL, 0, &spec, NULL), 0);
        assert_int_equal(spec->m_count, counts[i]);
        for (size_t k = 0; k < counts[i]; k++)
            assert_true(spec->m[k] == wanted[i][k]);
        hm__study_spec_free(spec);
    }
}

/* ---- the tree ------------------------------------------------------------------------------- */

static int try_json(const char *text, struct hm_err *err)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *value = NULL;
    int rc = hm__json_parse(arena, text, strlen(text), "v.json", &value, err);

    hm__arena_free(arena);
    return rc;
}

static void json_is_strict(void **state)
{
    static const struct limit limits[] = {
        {"0", 0, "", 0},
        {"-0.5e+3", 0, "", 0},
        {"01", HM_E_SYNTAX, "", 1},
        {"1.", HM_E_SYNTAX, "", 1},
        {"-", HM_E_SYNTAX, "", 1},
        {"1e", HM_E_SYNTAX, "", 1},
        {"+1", HM_E_SYNTAX, "", 1},
        {"\xef\xbb\xbf{}", 0, "", 0},
        {"\r\n{\"a\":\r\n1}\r\n", 0, "", 0},
        {"{\"a\":\r\n1,}\r\n", HM_E_SYNTAX, "", 2},
        {"{} {}", HM_E_SYNTAX, "", 1},
        {"\n\n{\"a\": 1 \"b\": 2}", HM_E_SYNTAX, "", 3},
        {"[1,\n2", HM_E_SYNTAX, "", 2},
        {"\"\\u00e9\\ud83d\\ude00\"", 0, "", 0},
        {"\"\\ud83d\"", HM_E_SYNTAX, "", 1},
        {"\"\\udc00\"", HM_E_SYNTAX, "", 1},
        {"\"\\ud83d\\ue000\"", HM_E_SYNTAX, "", 1},
        {"\"\\u0000\"", HM_E_SYNTAX, "", 1},
        {"\"\\u12\"", HM_E_SYNTAX, "", 1},
        {"\"\\u12g4\"", HM_E_SYNTAX, "", 1},
        {"\"\\x\"", HM_E_SYNTAX, "", 1},
        {"\"\x1f\"", HM_E_SYNTAX, "", 1},
        {"\"\x7f \"", 0, "", 0},
        {"\"\xff\"", HM_E_SYNTAX, "", 1},
        {"\"a", HM_E_SYNTAX, "", 1},
        {"\"a\\", HM_E_SYNTAX, "", 1},
        {"", HM_E_SYNTAX, "", 1},
        {"{\"a\":1,\n\"a\":2}", HM_E_SYNTAX, "", 2},
        {"{1:2}", HM_E_SYNTAX, "", 1},
    };

    (void)state;
    CHECK(limits, try_json);
}

/* The limits are 10000 entries in a list, 64 levels, and texts of 4 MiB; values at and next to
 * these limits are tried. */
static void trees_are_bounded(void **state)
{
    char *text = malloc(HM_VALUE_BYTES + 2);

    (void)state;
    for (size_t count = HM_VALUE_ENTRIES; count <= HM_VALUE_ENTRIES + 1; count++) {
        struct hm_err err = {0};
        size_t length = 0;
        text[length++] = '[';
        for (size_t i = 0; i < count; i++) {
            text[length++] = i ? ',' : ' ';
            text[length++] = '1';
        }
        memcpy(text + length, "]", 2);
        assert_int_equal(try_json(text, &err), count > HM_VALUE_ENTRIES ? HM_E_LIMIT : 0);
    }
    for (size_t depth = HM_VALUE_DEPTH; depth <= HM_VALUE_DEPTH + 1; depth++) {
        struct hm_err err = {0};
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        text[2 * depth] = '\0';
        assert_int_equal(try_json(text, &err), depth > HM_VALUE_DEPTH ? HM_E_LIMIT : 0);
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *value;
        assert_int_equal(hm__yaml_parse(arena, text, 2 * depth, "v.yaml", &value, &err),
                         depth > HM_VALUE_DEPTH ? HM_E_LIMIT : 0);
        hm__arena_free(arena);
    }
    memset(text, ' ', HM_VALUE_BYTES + 1);
    text[0] = '1';
    for (size_t extra = 0; extra < 2; extra++) {
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *value;
        assert_int_equal(
            hm__json_parse(arena, text, HM_VALUE_BYTES + extra, "v.json", &value, NULL),
            extra ? HM_E_LIMIT : 0);
        assert_int_equal(
            hm__yaml_parse(arena, text, HM_VALUE_BYTES + extra, "v.yaml", &value, NULL),
            extra ? HM_E_LIMIT : 0);
        hm__arena_free(arena);
    }
    free(text);
}

/* Overrides may name indices of lists, create maps, and replace names by maps. */
static void overrides_have_limits(void **state)
{
    static const struct {
        const char *assignment;
        int code;
    } rows[] = {
        {"list.0=5", 0},
        {"list.1=5", 0},
        {"list.2=5", HM_E_KEY},
        {"list.x=5", HM_E_KEY},
        {"list.1x=5", HM_E_KEY},
        {"a.b.c=5", 0},
        {"cluster.price=5", 0},
        {"=5", HM_E_SYNTAX},
        {"a", HM_E_SYNTAX},
        {"a.=5", HM_E_SYNTAX},
        {".a=5", HM_E_SYNTAX},
        {"a..b=5", HM_E_SYNTAX},
        {"a=", 0},
        {"a=[1", HM_E_SYNTAX},
    };
    static const char text[] = "list: [1, 2]\ncluster: box\n";

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *root;
        struct hm_err err = {0};
        assert_int_equal(hm__yaml_parse(arena, text, strlen(text), "v.yaml", &root, NULL), 0);
        int rc = hm__value_override(arena, root, rows[i].assignment, &err);
        if (rc != rows[i].code || (rc && strcmp(err.source, "set") != 0))
            fail_msg("%s: %d, %s: %s", rows[i].assignment, rc, err.source, err.message);
        if (strcmp(rows[i].assignment, "cluster.price=5") == 0) {
            const struct hm_value *cluster = hm__value_get(root, "cluster");
            assert_int_equal(cluster->count, 2);
            assert_string_equal(hm__value_get(cluster, "machine")->text, "box");
        }
        hm__arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_a_job_have_ranges),
        cmocka_unit_test(keys_of_a_cluster_have_ranges),
        cmocka_unit_test(layers_have_ranges),
        cmocka_unit_test(windows_have_two_directions),
        cmocka_unit_test(graphs_of_requests_are_small),
        cmocka_unit_test(keys_of_a_study_have_ranges),
        cmocka_unit_test(ranges_of_workers_double),
        cmocka_unit_test(json_is_strict),
        cmocka_unit_test(trees_are_bounded),
        cmocka_unit_test(overrides_have_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
