/* Tests the readers of jobs, clusters and the catalog. */
#include "testing.h"

#include "embedded.h"
#include "readers.h"

static void a_job_is_read_whole(void **state)
{
    struct hm_job *job =
        parse_job("name: all keys\n"
                  "batch: 256\nscaling: weak\nreference: 2\nepochs: 3\n"
                  "dataset: 1e6\nprecision: 16\noptimizer: adam\n"
                  "overlap: {norm: 2.5}\n"
                  "network: {parameters: 1e6, forward: 2 Gflop}\n"
                  "communicate:\n"
                  "  - {what: gradients, scheme: parameter-server, servers: 4}\n"
                  "  - {bytes: 4 MB * n, scheme: shuffle, times: 2}\n"
                  "  - {time: 1 ms}\n"
                  "cluster: {flops: {16: 2 Tflop/s, 32: 1 Tflop/s}, efficiency: 0.5,\n"
                  "  memory: 16 GiB, accelerators: 4, memory_bandwidth: 900 GB/s,\n"
                  "  kernel_overhead: 5 us, link: {bandwidth: 50 GB/s, latency: 2 us},\n"
                  "  fabric: {bandwidth: 10 Gbit/s, latency: 30 us}, price: $3.6/h,\n"
                  "  max_nodes: 8, roofline: false,\n"
                  "  stragglers: {spread: 0.2, chance: 5 %, factor: 4, pause: 100 ms,\n"
                  "    slow: 1, slow_factor: 3, speeds: [1, 2, 0.5]}}\n");

    (void)state;
    assert_string_equal(job->name, "all keys");
    assert_near(job->batch, 256, 0);
    assert_int_equal(job->scaling, HM_SCALING_WEAK);
    assert_near(job->reference, 2, 0);
    assert_near(job->epochs, 3, 0);
    assert_near(job->dataset, 1e6, 0);
    assert_near(job->precision, 16, 0);
    assert_int_equal(job->optimizer, HM_OPTIMIZER_ADAM);
    assert_int_equal(job->overlap, HM_OVERLAP_NORM);
    assert_near(job->overlap_p, 2.5, 0);
    assert_near(job->network->forward_flop, 2e9, 0);
    assert_int_equal(job->communicate_count, 3);
    assert_int_equal(job->communicate[0].scheme, HM_SCHEME_PARAMETER_SERVER);
    assert_near(job->communicate[0].servers, 4, 0);
    assert_int_equal(job->communicate[1].what, HM_PAYLOAD_BYTES);
    assert_near(job->communicate[1].times, 2, 0);
    assert_non_null(job->communicate[2].time);
    assert_near(job->cluster.node.flops_16, 2e12, 0);
    assert_true(isnan(job->cluster.node.flops_64));
    assert_near(job->cluster.node.link.bandwidth_bytes_per_s, 50e9, 0);
    assert_near(job->cluster.fabric.bandwidth_bytes_per_s, 1.25e9, 0);
    assert_near(job->cluster.node.price_per_s, 0.001, 1e-15);
    assert_near(job->cluster.max_nodes, 8, 0);
    assert_false(job->cluster.roofline);
    assert_near(job->cluster.slowness.spread, 0.2, 0);
    assert_near(job->cluster.slowness.chance, 0.05, 1e-16);
    assert_near(job->cluster.slowness.factor, 4, 0);
    assert_near(job->cluster.slowness.pause_s, 0.1, 1e-16);
    assert_near(job->cluster.slowness.slow_nodes, 1, 0);
    assert_near(job->cluster.slowness.slow_factor, 3, 0);
    assert_int_equal(job->cluster.slowness.speed_count, 3);
    assert_near(job->cluster.slowness.speeds[2], 0.5, 0);
    assert_near(job->cluster.slowness.per_node, 4, 0);
    hm_job_free(job);
}

static void json_jobs_are_the_same(void **state)
{
    const char *text =
        "{\"compute\": \"10/n\", \"communicate\": \"0.5*log2(n)\", \"iterations\": 7}";
    struct hm_job *job;

    (void)state;
    assert_int_equal(hm_job_parse(text, strlen(text), "j.json", NULL, 0, &job, NULL), 0);
    assert_non_null(job->compute);
    assert_near(job->iterations, 7, 0);
    hm_job_free(job);
}

static void a_network_alone_communicates_by_the_best_allreduce(void **state)
{
    struct hm_job *job = parse_job("network: 784-100-10\nbatch: 64\n");

    (void)state;
    assert_true(job->communicate_assumed);
    assert_int_equal(job->communicate_count, 1);
    assert_int_equal(job->communicate[0].scheme, HM_SCHEME_BEST);
    hm_job_free(job);
    job = parse_job("network: 784-100-10\nbatch: 64\ncommunicate: none\n");
    assert_int_equal(job->communicate_count, 0);
    assert_false(job->communicate_assumed);
    hm_job_free(job);
}

static void catalog_machines_can_be_changed(void **state)
{
    struct hm_job *job =
        parse_job("compute: 1/n\ncommunicate: none\n"
                  "cluster: {machine: m5.4xlarge, fabric: 100gbe, max_nodes: 4}\n");

    (void)state;
    assert_string_equal(job->cluster.name, "m5.4xlarge");
    assert_string_equal(job->cluster.fabric_name, "100gbe");
    assert_near(job->cluster.fabric.bandwidth_bytes_per_s, 12.5e9, 0);
    assert_true(job->cluster.node.flops_32 > 0);
    assert_near(job->cluster.max_nodes, 4, 0);
    hm_job_free(job);
}

static void part_of_a_fabric_can_be_changed(void **state)
{
    struct hm_job *job =
        parse_job("compute: 1/n\ncommunicate: none\n"
                  "cluster: {machine: m5.4xlarge, fabric: {bandwidth: 7 Gbit/s}}\n");
    struct hm_override sets[] = {{"cluster.fabric.latency=5 us"}};
    const char *text = "compute: 1/n\ncommunicate: none\ncluster: {fabric: 10gbe}\n";
    struct hm_job *other;

    (void)state;
    assert_near(job->cluster.fabric.bandwidth_bytes_per_s, 7e9 / 8, 0);
    /* The latency of the machine's fabric is used. */
    assert_true(job->cluster.fabric.latency_s > 0);
    hm_job_free(job);
    assert_int_equal(hm_job_parse(text, strlen(text), "t", sets, 1, &other, NULL), 0);
    assert_near(other->cluster.fabric.bandwidth_bytes_per_s, 1.25e9, 0);
    assert_near(other->cluster.fabric.latency_s, 5e-6, 1e-15);
    hm_job_free(other);
}

/* Earlier versions called the fabric `network`; such files and overrides must still work. */
static void the_earlier_key_of_the_fabric_is_read(void **state)
{
    static const char *const texts[] = {
        "compute: 1/n\ncommunicate: none\ncluster: {network: {bandwidth: 1 GB/s, latency: 3 us}}\n",
        "compute: 1/n\ncommunicate: none\ncluster: {fabric: {bandwidth: 1 GB/s, latency: 3 us}}\n"};
    struct hm_override sets[] = {{"cluster.network.latency=5 us"}, {"cluster.fabric.latency=5 us"}};
    struct hm_job *job;
    struct hm_cluster *cluster;
    struct hm_override own = {"network.latency=5 us"};

    (void)state;
    for (size_t t = 0; t < 2; t++)
        for (size_t k = 0; k < 2; k++) {
            assert_int_equal(hm_job_parse(texts[t], strlen(texts[t]), "t", &sets[k], 1, &job, NULL),
                             0);
            assert_near(job->cluster.fabric.bandwidth_bytes_per_s, 1e9, 0);
            assert_near(job->cluster.fabric.latency_s, 5e-6, 1e-15);
            assert_int_equal(job->cluster.note != NULL, t == 0 || k == 0);
            hm_job_free(job);
        }
    assert_int_equal(hm_cluster_parse(NULL, "machine: m5.4xlarge\nfabric: 10gbe\n", 34, "t", &own,
                                      1, &cluster, NULL),
                     0);
    assert_near(cluster->fabric.latency_s, 5e-6, 1e-15);
    assert_non_null(cluster->note);
    hm_cluster_free(cluster);
    /* `network` as a key of the job is the neural network and is not renamed. */
    assert_int_equal(hm_job_parse("network: alexnet\nbatch: 8\ncluster: p4d.24xlarge\n", 48, "t",
                                  NULL, 0, &job, NULL),
                     0);
    assert_null(job->cluster.note);
    hm_job_free(job);
}

/* The list of entries that is made when the program is built agrees with the files: each entry that
 * the reader of YAML finds in a whole file is found by its name and by its aliases. */
static void built_in_entries_are_listed(void **state)
{
    static const char *const sections[] = {"machines", "fabrics", "networks", "accelerators"};
    size_t counts[HM_CATALOG_KINDS] = {0}, alias_count = 0;
    struct hm_catalog *catalog;

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    for (const struct hm_embedded *file = hm__catalog_files; file->name; file++) {
        struct hm_arena *arena = hm__arena_new();
        struct hm_value *root;
        assert_int_equal(hm__value_parse(arena, file->text, file->length, file->name, &root, NULL),
                         0);
        assert_int_equal(root->count, 1);
        enum hm_catalog_kind kind = 0;
        while (strcmp(root->keys[0], sections[kind]) != 0)
            kind++;
        const struct hm_value *section = &root->items[0];
        counts[kind] += section->count;
        for (size_t i = 0; i < section->count; i++) {
            const struct hm_value *aliases = hm__value_get(&section->items[i], "aliases");
            const struct hm_value *found = hm__catalog_find(catalog, kind, section->keys[i]);
            assert_non_null(found);
            assert_int_equal(found->count, section->items[i].count);
            for (size_t k = 0; aliases && k < aliases->count; k++, alias_count++)
                assert_non_null(hm__catalog_find(catalog, kind, aliases->items[k].text));
        }
        hm__arena_free(arena);
    }
    for (int kind = 0; kind < HM_CATALOG_KINDS; kind++)
        assert_int_equal(hm_catalog_count(catalog, (enum hm_catalog_kind)kind), counts[kind]);
    assert_true(alias_count > 100);
    hm_catalog_free(catalog);
}

/* Each entry of the catalog must be usable: it must have speed, memory, fabric, a source and a
 * date. */
static void the_whole_catalog_is_sound(void **state)
{
    struct hm_catalog *catalog;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    size_t machines = hm_catalog_count(catalog, HM_CATALOG_MACHINE);
    assert_true(machines >= 40);
    for (size_t i = 0; i < machines; i++) {
        const char *name = hm_catalog_name(catalog, HM_CATALOG_MACHINE, i);
        struct hm_cluster *c;
        if (hm_catalog_machine(catalog, name, &c, &err))
            fail_msg("%s: %s: %s", name, err.field, err.message);
        double most = fmax(fmax(c->node.flops_16, c->node.flops_bf16),
                           fmax(c->node.flops_32, c->node.flops_64));
        if (!(most > 1e9 && most < 1e16) || !(c->node.efficiency > 0.05) ||
            !(c->node.memory_bytes > 1e8) || !(c->fabric.bandwidth_bytes_per_s > 1e6) ||
            !(c->fabric.latency_s > 0) || !c->title || !c->source || !c->date)
            fail_msg("%s is not complete", name);
        if (c->node.accelerators > 1 && !(c->node.link.bandwidth_bytes_per_s > 0))
            fail_msg("%s has accelerators without a link", name);
        hm_cluster_free(c);
    }
    for (size_t i = 0; i < hm_catalog_count(catalog, HM_CATALOG_FABRIC); i++) {
        const char *name = hm_catalog_name(catalog, HM_CATALOG_FABRIC, i);
        struct hm_link link;
        assert_int_equal(hm_catalog_fabric(catalog, name, &link, &err), 0);
        assert_non_null(hm_catalog_text(catalog, HM_CATALOG_FABRIC, name, "source"));
        assert_non_null(hm_catalog_text(catalog, HM_CATALOG_FABRIC, name, "date"));
    }
    assert_true(hm_catalog_count(catalog, HM_CATALOG_FABRIC) >= 10);
    hm_catalog_free(catalog);
}

static void own_entries_hide_built_in_ones(void **state)
{
    const char *text = "machines:\n  m5.4xlarge: {flops: 7 Gflop/s}\n  mine: {flops: 8 Gflop/s}\n";
    struct hm_catalog *catalog;
    struct hm_cluster *c;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_catalog_new(&catalog, &err), 0);
    size_t before = hm_catalog_count(catalog, HM_CATALOG_MACHINE);
    assert_int_equal(hm_catalog_add(catalog, text, strlen(text), "own.yaml", &err), 0);
    assert_int_equal(hm_catalog_count(catalog, HM_CATALOG_MACHINE), before + 1);
    assert_int_equal(hm_catalog_machine(catalog, "m5.4xlarge", &c, &err), 0);
    assert_near(c->node.flops_32, 7e9, 0);
    assert_true(isnan(c->node.price_per_s));
    hm_cluster_free(c);
    assert_int_equal(hm_catalog_machine(catalog, "m5.4xlarg", &c, &err), HM_E_NAME);
    assert_non_null(strstr(err.hint, "m5.4xlarge"));
    err = (struct hm_err){0};
    assert_true(hm_catalog_add(catalog, "machine: {}\n", 12, "own.yaml", &err) < 0);
    assert_non_null(strstr(err.hint, "machines"));
    hm_catalog_free(catalog);
}

static void every_layer_is_read(void **state)
{
    struct hm_job *job =
        parse_job("batch: 1\nnetwork:\n  input: [32, 32, 3]\n  layers:\n"
                  "    - conv: {filters: 8, kernel: [3, 5], stride: 2, padding: [1, 2], groups: 1, "
                  "bias: false}\n"
                  "    - norm: {affine: false}\n    - relu\n"
                  "    - pool: {kernel: 2, ceil: true}\n"
                  "    - residual: [conv: {filters: 8, kernel: 3, padding: same}]\n"
                  "    - concat: [[conv: {filters: 2, kernel: 1}], [pool: {kernel: 1}]]\n"
                  "    - repeat: {times: 3, layers: [sigmoid]}\n"
                  "    - flatten\n    - dense: {units: 10, bias: false}\n    - softmax\n");
    const struct hm_network *n = job->network;

    (void)state;
    assert_int_equal(n->layer_count, 10);
    assert_near(n->layers[0].kernel_w, 5, 0);
    assert_near(n->layers[0].border_w, 4, 0);
    assert_int_equal(n->layers[0].bias, HM_BIAS_NONE);
    assert_false(n->layers[1].affine);
    assert_near(n->layers[3].stride, 2, 0);
    assert_true(n->layers[3].ceil_mode);
    assert_int_equal(n->layers[4].kind, HM_LAYER_RESIDUAL);
    assert_int_equal(n->layers[5].child_count, 2);
    assert_near(n->layers[6].times, 3, 0);
    hm_job_free(job);
    job = parse_job("batch: 1\nnetwork:\n  input: {sequence: 7, width: 10}\n  layers:\n"
                    "    - recurrent: {cell: gru, width: 20, biases: 2}\n");
    assert_int_equal(job->network->layers[0].cell, HM_CELL_GRU);
    hm_job_free(job);
}

static void the_examples_load(void **state)
{
    const char *name, *text;
    size_t length, i;

    (void)state;
    for (i = 0; hm_example(i, &name, &text, &length); i++) {
        struct hm_err err = {0};
        struct hm_job *job;
        int rc = hm_job_parse(text, length, example_source(name), NULL, 0, &job, &err);
        /* Skip an example whose data file is not in the repository; see HOWMANY_DATA. */
        if (rc == HM_E_IO) {
            print_message("# skipped %s: %s\n", name, err.source);
            continue;
        }
        if (rc)
            fail_msg("%s: %s", name, err.message);
        hm_job_free(job);
    }
    assert_true(i >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_read_whole),
        cmocka_unit_test(json_jobs_are_the_same),
        cmocka_unit_test(a_network_alone_communicates_by_the_best_allreduce),
        cmocka_unit_test(catalog_machines_can_be_changed),
        cmocka_unit_test(part_of_a_fabric_can_be_changed),
        cmocka_unit_test(the_earlier_key_of_the_fabric_is_read),
        cmocka_unit_test(built_in_entries_are_listed),
        cmocka_unit_test(the_whole_catalog_is_sound),
        cmocka_unit_test(own_entries_hide_built_in_ones),
        cmocka_unit_test(every_layer_is_read),
        cmocka_unit_test(the_examples_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
