/* Tests clusters as SimGrid platforms: the files, the command, and the errors. */
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "simgrid_platform.h"

static const char office[] = "flops: {32: 200 Gflop/s, 64: 100 Gflop/s}\n"
                             "efficiency: 0.5\n"
                             "fabric: {bandwidth: 1 Gbit/s, latency: 100 us}\n"
                             "max_nodes: 64\n";
static const char accelerated[] = "flops: 1 Tflop/s\n"
                                  "accelerators: 4\n"
                                  "link: {bandwidth: 100 GB/s, latency: 2 us}\n"
                                  "fabric: {bandwidth: 10 Gbit/s, latency: 20 us}\n";

struct made {
    char folder[64];
    struct hm_cluster *cluster;
    struct simgrid_platform platform;
    struct hm_err err;
    int rc;
};

static struct made make(const char *yaml, double n, int precision)
{
    struct made m = {.folder = "/tmp/hm-platform-XXXXXX"};

    if (hm_cluster_parse(NULL, yaml, strlen(yaml), "test.yaml", NULL, 0, &m.cluster, &m.err))
        fail_msg("%s: %s", m.err.field, m.err.message);
    assert_non_null(mkdtemp(m.folder));
    m.rc = simgrid_platform_write(m.folder, m.cluster, &(struct launch_ranks){.workers = n},
                                  precision, &m.platform, &m.err);
    return m;
}

static void done(struct made *m)
{
    if (m->platform.file) {
        unlink(m->platform.file);
        unlink(m->platform.hosts);
    }
    rmdir(m->folder);
    simgrid_platform_release(&m->platform);
    hm_cluster_free(m->cluster);
}

/* Returns the content of a file, in static memory that the next call overwrites. */
static const char *content(const char *path)
{
    static char text[4096];
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not there", part);
}

static double number_after(const char *text, const char *part)
{
    assert_has(text, part);
    return atof(strstr(text, part) + strlen(part));
}

static void test_one_worker_a_node(void **state)
{
    struct made m = make(office, 3, 64);

    (void)state;
    assert_int_equal(m.rc, 0);
    assert_near(m.platform.flops, 50e9, 1e-15);
    assert_near(m.platform.nodes, 3, 0);
    const char *xml = content(m.platform.file);
    assert_has(xml, "version=\"4.1\"");
    assert_has(xml, "radical=\"0-2\"");
    assert_has(xml, "speed=\"50000000000f\" core=\"1\"");
    assert_has(xml, "bw=\"125000000Bps\"");
    /* Each port has half of the latency, because a message crosses two ports. */
    assert_near(number_after(xml, " lat=\""), 50e-6, 1e-12);
    assert_null(strstr(xml, "loopback"));
    assert_string_equal(content(m.platform.hosts), "node-0\nnode-1\nnode-2\n");
    done(&m);
}

static void test_speed_of_the_precision(void **state)
{
    struct made single = make(office, 1, 32), half = make(office, 1, 16);

    (void)state;
    assert_near(single.platform.flops, 100e9, 1e-15);
    /* The speed is the one at 32 bits, as in a plan. */
    assert_near(half.platform.flops, 100e9, 1e-15);
    done(&single);
    done(&half);
}

static void test_several_workers_in_a_node(void **state)
{
    struct made m = make(accelerated, 6, 32);

    (void)state;
    assert_int_equal(m.rc, 0);
    assert_near(m.platform.nodes, 2, 0);
    const char *xml = content(m.platform.file);
    assert_has(xml, "core=\"4\"");
    assert_has(xml, "loopback_bw=\"100000000000Bps\"");
    assert_near(number_after(xml, "loopback_lat=\""), 2e-6, 1e-12);
    assert_string_equal(content(m.platform.hosts),
                        "node-0\nnode-0\nnode-0\nnode-0\nnode-1\nnode-1\n");
    done(&m);
}

static void test_one_worker_needs_no_network(void **state)
{
    struct made m = make("flops: 1 Gflop/s\n", 1, 64);

    (void)state;
    assert_int_equal(m.rc, 0);
    done(&m);
}

static void assert_refused(const char *yaml, double n, int precision, int code, const char *field)
{
    struct made m = make(yaml, n, precision);

    assert_int_equal(m.rc, code);
    assert_int_equal(m.err.code, code);
    assert_string_equal(m.err.field, field);
    assert_true(m.err.message[0]);
    assert_null(m.platform.file);
    if (code == HM_E_MISSING)
        assert_true(m.err.hint[0]);
    done(&m);
}

static void test_what_is_missing(void **state)
{
    (void)state;
    assert_refused("flops: 1 Gflop/s\n", 2, 64, HM_E_MISSING, "cluster.fabric");
    assert_refused("fabric: {bandwidth: 1 Gbit/s}\n", 2, 64, HM_E_MISSING, "cluster.flops");
    assert_refused("flops: {16: 1 Tflop/s}\n", 1, 64, HM_E_MISSING, "cluster.flops");
    assert_refused("{flops: 1 Gflop/s, accelerators: 4}\n", 2, 64, HM_E_MISSING, "cluster.link");
    assert_refused(office, 65, 64, HM_E_RANGE, "cluster.max_nodes");
    assert_refused(office, 0, 64, HM_E_RANGE, "");
    assert_refused(office, 1.5, 64, HM_E_RANGE, "");
    assert_refused(office, NAN, 64, HM_E_RANGE, "");
    assert_refused(office, 1, 8, HM_E_RANGE, "");
}

static void test_folders(void **state)
{
    struct made m = make(office, 1, 64);
    struct simgrid_platform platform = {0};
    struct hm_err blank = {0}, nowhere = {0};

    (void)state;
    assert_int_equal(simgrid_platform_write("/tmp/a b", m.cluster,
                                            &(struct launch_ranks){.workers = 1}, 64, &platform,
                                            &blank),
                     HM_E_IO);
    assert_true(blank.hint[0]);
    assert_int_equal(simgrid_platform_write("/tmp/not/there", m.cluster,
                                            &(struct launch_ranks){.workers = 1}, 64, &platform,
                                            &nowhere),
                     HM_E_IO);
    assert_null(platform.file);
    done(&m);
}

static bool has_word(const struct launch_command *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->argv[i], word) == 0)
            return true;
    return false;
}

static void test_command(void **state)
{
    char *arguments[] = {"--name", "two words", ""};
    struct made m = make(office, 3, 64);
    struct launch_command words = {0};

    (void)state;
    assert_int_equal(simgrid_platform_command(&m.platform, "/x/smpimain", "/y/train.so", arguments,
                                              3, &words, &m.err),
                     0);
    assert_string_equal(words.argv[0], "/x/smpimain");
    assert_string_equal(words.argv[1], "/y/train.so");
    assert_true(has_word(&words, "--cfg=smpi/np:3"));
    assert_true(has_word(&words, "--cfg=smpi/host-speed:50000000000f"));
    assert_true(has_word(&words, "--cfg=smpi/coll-selector:ompi"));
    assert_true(has_word(&words, "--cfg=network/model:CM02"));
    assert_string_equal(words.argv[words.count - 4], m.platform.file);
    assert_string_equal(words.argv[words.count - 2], "two words");
    assert_string_equal(words.argv[words.count - 1], "");
    assert_null(words.argv[words.count]);
    launch_command_release(&words);
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_worker_a_node),
        cmocka_unit_test(test_speed_of_the_precision),
        cmocka_unit_test(test_several_workers_in_a_node),
        cmocka_unit_test(test_one_worker_needs_no_network),
        cmocka_unit_test(test_what_is_missing),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
