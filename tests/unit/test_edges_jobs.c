/*
 * Tests models of whole jobs: notes, names and times of the parts of a step, formulas over every
 * quantity, slopes, and messages about what is missing. The figures are computed by hand or by
 * finite differences.
 */
#include "testing.h"

#include "model.h"

static struct hm_model *make(const struct hm_job *job, const struct hm_variant *variant)
{
    static const double ns[] = {1, 2, 3, 4};
    static struct hm_parts parts[4];
    struct hm_variant v = HM_VARIANT_INIT;
    struct hm_model *model = NULL;
    struct hm_err err = {0};

    v = variant ? *variant : v;
    if (job->graph) {
        assert_int_equal(hm_graph_split(job->graph, HM_SPLIT_RANDOM, 2, 1, ns, 4, parts, &err), 0);
        v.parts = parts;
        v.part_count = 4;
    }
    if (hm__model_new(job, job->has_cluster ? &job->cluster : NULL, &v, &model, &err))
        fail_msg("%s: %s", err.field, err.message);
    return model;
}

static struct hm_point at(const struct hm_model *model, double n)
{
    struct hm_point p = {.n = n};
    struct hm_err err = {0};

    if (hm__model_eval(model, &p, 1, &err))
        fail_msg("%s", err.message);
    return p;
}

/* Returns the time of the job on n workers, and checks whether a note has this text. */
static double time_of(const char *text, double n, const char *note, bool noted)
{
    struct hm_job *job = parse_job(text);
    struct hm_model *model = make(job, NULL);
    double time_s = at(model, n).time_s;
    bool found = false;

    for (size_t i = 0; hm__model_note(model, i); i++)
        found = found || strstr(hm__model_note(model, i), note);
    assert_int_equal(found, noted);
    hm__model_free(model);
    hm_job_free(job);
    return time_s;
}

/* Checks that the job is refused with this field, message and hint. */
static void refused(const char *text, const char *field, const char *message, const char *hint)
{
    const struct hm_variant plain = HM_VARIANT_INIT;
    struct hm_job *job = parse_job(text);
    struct hm_model *model = NULL;
    struct hm_err err = {0};
    int rc = hm__model_new(job, job->has_cluster ? &job->cluster : NULL, &plain, &model, &err);

    if (rc != HM_E_MISSING || strcmp(err.field, field) != 0 || strcmp(err.message, message) != 0 ||
        strcmp(err.hint, hint) != 0)
        fail_msg("%d, %s: '%s' (%s)", rc, err.field, err.message, err.hint);
    assert_string_equal(err.source, "test.yaml");
    hm_job_free(job);
}

/* A step has 6 * 50 * 64 flop in the precision of the job; a machine without 16-bit rates uses 32
 * bits. */
static void precisions_have_their_flops(void **state)
{
    static const char head[] = "batch: 64\nnetwork: {input: 10, layers: [dense: {units: 5, "
                               "bias: false}]}\ncommunicate: none\n";
    static const char fallback[] = "no 16-bit flops";
    const double flop = 6 * 50 * 64;
    char text[500];

    (void)state;
    for (int bits = 16; bits <= 64; bits *= 2) {
        snprintf(text, sizeof(text),
                 "%sprecision: %d\ncluster: {flops: {16: 4 Gflop/s, 32: 2 Gflop/s, 64: 1 "
                 "Gflop/s}, efficiency: 1}\n",
                 head, bits);
        assert_near(time_of(text, 1, fallback, false), flop / (64e9 / bits), 1e-12);
    }
    snprintf(text, sizeof(text),
             "%sprecision: 16\ncluster: {flops: {32: 2 Gflop/s}, efficiency: 0.5}\n", head);
    assert_near(time_of(text, 1, fallback, true), flop / 1e9, 1e-12);
    snprintf(text, sizeof(text), "%sprecision: 32\ncluster: {flops: {32: 2 Gflop/s}}\n", head);
    assert_near(time_of(text, 1, "no efficiency is given", true), flop / 2e9, 1e-12);
    snprintf(text, sizeof(text), "%sprecision: 64\ncluster: {flops: {32: 2 Gflop/s}}\n", head);
    refused(text, "cluster.flops", "the machine has no flops for 64 bit",
            "give flops: a speed such as 105.6 Gflop/s");
    snprintf(text, sizeof(text), "%sprecision: 32\ncluster: {flops: {64: 2 Gflop/s}}\n", head);
    refused(text, "cluster.flops", "the machine has no flops for 32 bit",
            "give flops: a speed such as 105.6 Gflop/s");
}

/* Each name has its value: 55 parameters, 100 flop forward, 300 flop of training. */
static void formulas_know_every_quantity(void **state)
{
    static const struct {
        const char *formula;
        double value;
    } rows[] = {{"batch * 1 s", 64},
                {"parameters * 1 s", 55},
                {"forward / 1 flop * 1 s", 100},
                {"training / 1 flop * 1 s", 300},
                {"weight / 1 B * 1 s", 4},
                {"1 Gflop / flops", 0.5},
                {"1 MB / bandwidth", 0.001},
                {"latency", 0.002},
                {"1 GB / memory_bandwidth", 0.25}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[500];
        snprintf(text, sizeof(text),
                 "batch: 64\nprecision: 32\nnetwork: {input: 10, layers: [dense: {units: 5}]}\n"
                 "compute: %s\ncommunicate: none\n"
                 "cluster: {flops: 2 Gflop/s, efficiency: 1, memory_bandwidth: 4 GB/s, "
                 "fabric: {bandwidth: 1 GB/s, latency: 2 ms}}\n",
                 rows[i].formula);
        assert_near(time_of(text, 1, "none of these", false), rows[i].value, 1e-12);
    }
}

static void missing_quantities_are_named(void **state)
{
    (void)state;
    refused("compute: batch * 1 s\ncommunicate: none\n", "compute",
            "the formula uses 'batch', which has no value here",
            "give it in where:, or give the batch that defines it");
    refused("compute: 1 s\ncommunicate: parameters * 1 s\n", "communicate",
            "the formula uses 'parameters', which has no value here",
            "give it in where:, or give the network that defines it");
    refused("compute: 1 s\ncommunicate: [1 s, training / 1 flop * 1 s]\n", "communicate",
            "the formula uses 'training', which has no value here",
            "give it in where:, or give the network that defines it");
    refused("compute: 1 s\ncommunicate: {bytes: 1 MB * parameters, scheme: ring}\n"
            "cluster: {fabric: 10gbe}\n",
            "communicate", "the formula uses 'parameters', which has no value here",
            "give it in where:, or give the network that defines it");
    refused("compute: latency\ncommunicate: none\n", "compute",
            "the formula uses 'latency', which has no value here",
            "give it in where:, or give the cluster that defines it");
    refused("compute: 1 s\ncommunicate: none\nmemory: 1 B * batch\n", "memory",
            "the formula uses 'batch', which has no value here",
            "give it in where:, or give the batch that defines it");
}

static void missing_networks_are_named(void **state)
{
    static const char step[] = "compute: 1 s\ncommunicate: {bytes: 1 MB, scheme: ring}\n";
    char text[300];

    (void)state;
    refused(step, "cluster.fabric", "the cluster has no fabric", "give cluster.fabric, e.g. 10gbe");
    snprintf(text, sizeof(text), "%scluster: {flops: 1 Gflop/s}\n", step);
    refused(text, "cluster.fabric", "the cluster has no fabric", "give cluster.fabric, e.g. 10gbe");
    snprintf(text, sizeof(text), "%scluster: {accelerators: 4, fabric: 10gbe}\n", step);
    refused(text, "cluster.link", "several accelerators need a link between them",
            "give link: {bandwidth: 300 GB/s, latency: 3 us}");
    snprintf(text, sizeof(text),
             "%scluster: {accelerators: 4, max_nodes: 2, link: {bandwidth: 1 GB/s}}\n", step);
    refused(text, "cluster.fabric", "the cluster has no fabric", "give cluster.fabric, e.g. 10gbe");
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void parts_have_names_and_times(void **state)
{
    static const struct {
        const char *text;
        const char *names[3];
        double seconds[3]; /* The parts are computed for 4 workers. */
    } rows[] = {
        {"compute: 8 s / n\ncommunicate: 0.5 s * n\n", {"compute", "communicate"}, {2, 2}},
        {"compute: 8 s / n\ncommunicate: [0.5 s * n, 3 s]\n",
         {"compute", "communicate 1", "communicate 2"},
         {2, 2, 3}},
        {"compute: 8 s / n\ncommunicate: [3 s, {bytes: 4 MB, scheme: ring}]\n"
         "cluster: {fabric: {bandwidth: 1 MB/s}}\n",
         {"compute", "communicate 1", "bytes by ring"},
         {2, 3, 6}},
        {"compute: 8 s / n\ncommunicate: [0.25 s * n, 0.5 s]\noverlap: {norm: 2}\n",
         {"compute", "communication"},
         {2, 0.5}},
    };
    const double n[] = {1, 4};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_job *job = parse_job(rows[i].text);
        struct hm_model *model = make(job, NULL);
        double parts[6], sum = 0;
        size_t count = rows[i].names[2] ? 3 : 2;
        assert_int_equal(hm__model_part_count(model), count);
        assert_int_equal(hm__model_parts(model, n, 2, parts, NULL), 0);
        for (size_t k = 0; k < count; k++) {
            char name[80];
            hm__model_part_name(model, k, name, sizeof(name));
            assert_string_equal(name, rows[i].names[k]);
            assert_near(parts[k * 2 + 1], rows[i].seconds[k], 1e-12);
            sum += parts[k * 2 + 1];
        }
        assert_near(at(model, 4).time_s, sum, 1e-12);
        assert_near(parts[0], 8, 1e-12);
        hm__model_free(model);
        hm_job_free(job);
    }
}

/* The longest communication is the second up to 3 workers, then the first. */
static void the_longest_step_dominates(void **state)
{
    struct hm_job *job = parse_job("compute: 1 s\ncommunicate: [1 s * (n - 1), 2.5 s * (n > 1)]\n");
    struct hm_model *model = make(job, NULL);
    enum hm_scheme scheme = HM_SCHEME_BEST;

    (void)state;
    assert_int_equal(hm__model_dominant(model, 1, &scheme), -1);
    assert_int_equal(hm__model_dominant(model, 3, &scheme), 1);
    assert_int_equal(hm__model_dominant(model, 4, &scheme), 0);
    hm__model_free(model);
    hm_job_free(job);
}

/*
 * With the norm 2, 0.3 s and 0.4 s overlap to 0.5 s; with a large norm, to the longer of the two.
 */
static void short_times_overlap_too(void **state)
{
    (void)state;
    assert_near(time_of("compute: 0.3 s\ncommunicate: 0.4 s\noverlap: {norm: 2}\n", 2, "x", false),
                0.5, 1e-12);
    assert_near(time_of("compute: 0.3 s\ncommunicate: 0.4 s\noverlap: {norm: 1}\n", 2, "x", false),
                0.7, 1e-12);
    assert_near(time_of("compute: 30 s\ncommunicate: 40 s\noverlap: {norm: 2}\n", 2, "x", false),
                50, 1e-12);
}

/* Branches may be joined only if they have the same height and the same width. */
static void branches_have_one_size(void **state)
{
    static const struct {
        const char *first, *second;
        bool fits;
    } rows[] = {{"[3, 3]", "[3, 3]", true},
                {"[3, 3]", "[2, 3]", false},
                {"[3, 3]", "[3, 2]", false},
                {"[2, 3]", "[3, 2]", false}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char text[400];
        struct hm_counts *counts = NULL;
        struct hm_err err = {0};
        snprintf(text, sizeof(text),
                 "batch: 1\nnetwork:\n  input: [8, 8, 1]\n  layers:\n"
                 "    - concat: [[conv: {filters: 2, kernel: %s}], [conv: {filters: 3, kernel: "
                 "%s}]]\n",
                 rows[i].first, rows[i].second);
        struct hm_job *job = parse_job(text);
        int rc = hm_counts_new(job->network, job->source, &counts, &err);
        assert_int_equal(rc == 0, rows[i].fits);
        if (rc)
            assert_string_equal(err.message, "layer 'concat': the branches have different sizes");
        else
            assert_near(counts->parameters, 5 * (9 + 1), 0);
        hm_counts_free(counts);
        hm_job_free(job);
    }
}

/* ---- slopes ---------------------------------------------------------------------------------- */

/* Returns the elasticity d ln t / d ln q, computed by a central difference. */
static double elasticity_by_difference(const struct hm_job *job, double n, const char *quantity)
{
    double times[2];

    for (int k = 0; k < 2; k++) {
        struct hm_variant v = HM_VARIANT_INIT;
        v.quantity = (struct hm_scaled){quantity, k ? 1 + 1e-5 : 1 - 1e-5};
        struct hm_model *model = make(job, &v);
        times[k] = at(model, n).time_s;
        hm__model_free(model);
    }
    return log(times[1] / times[0]) / log((1 + 1e-5) / (1 - 1e-5));
}

static void elasticities_are_differences(void **state)
{
    static const char *const texts[] = {
        "where: {a: 12, b: 4}\ncompute: a^2 * 1 s / n\ncommunicate: [a / b * n * 1 s, b * 1 s]\n",
        "where: {a: 12, b: 4}\ncompute: a * 1 s / n\ncommunicate: {time: b * 1 s, times: 3}\n",
        "where: {a: 12, b: 4}\ncompute: a * 1 s / n + b * 1 s\ncommunicate: b * 1 s\n"
        "cluster: {stragglers: {slow: 1, slow_factor: 3}}\n",
        "where: {a: 12, b: 4}\ngraph: {generate: power-law, vertices: 300, edges: 900, max_degree: "
        "60, "
        "per_edge: a * 1 Gflop}\ncommunicate: b * 1 s\ncluster: {flops: 1 Gflop/s}\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct hm_job *job = parse_job(texts[i]);
        struct hm_model *model = make(job, NULL);
        for (double n = 1; n <= 4; n += 3)
            for (int k = 0; k < 2; k++) {
                double e = NAN;
                assert_int_equal(hm__model_elasticity(model, n, k ? "b" : "a", &e, NULL), 0);
                assert_near(e, elasticity_by_difference(job, n, k ? "b" : "a"), 1e-6);
            }
        hm__model_free(model);
        hm_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precisions_have_their_flops),
        cmocka_unit_test(formulas_know_every_quantity),
        cmocka_unit_test(missing_quantities_are_named),
        cmocka_unit_test(missing_networks_are_named),
        cmocka_unit_test(parts_have_names_and_times),
        cmocka_unit_test(the_longest_step_dominates),
        cmocka_unit_test(short_times_overlap_too),
        cmocka_unit_test(branches_have_one_size),
        cmocka_unit_test(elasticities_are_differences),
    };
    return cmocka_run_group_tests_name("edges_jobs", tests, NULL, NULL);
}
