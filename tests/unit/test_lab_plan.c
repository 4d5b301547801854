/* Tests the commands that create a laboratory (an emulated cluster), for each mechanism of delays,
 * and its numbers, names, checks and texts. */
#include "testing.h"

#include "json.h"
#include "lab_plan.h"
#include "text.h"

/* Returns all commands, one per line; background commands end in " & FILE". */
static char *plan_text(const struct lab_spec *spec)
{
    struct lab_plan plan = {0};
    struct hm_text out = {0};
    struct hm_err err = {0};

    if (lab_plan_make(spec, &plan, &err))
        fail_msg("%s", err.message);
    for (size_t i = 0; i < plan.count; i++) {
        assert_int_equal(launch_command_quote(&out, &plan.steps[i].command), 0);
        hm__text_addf(&out, "%s%s\n", plan.steps[i].background ? " & " : "", plan.steps[i].ready);
    }
    lab_plan_release(&plan);
    assert_false(out.failed);
    return out.data;
}

static void assert_has(const char *text, const char *line)
{
    if (!text || !strstr(text, line))
        fail_msg("no '%s' in\n%s", line, text ? text : "nothing");
}

static const struct lab_spec two = {.name = "t", .n = 2};

/* One node has a veth pair, an address and a port of the bridge. */
static void plain_labs_have_a_bridge(void **state)
{
    struct lab_spec spec = two;
    char *text;

    (void)state;
    spec.n = 1;
    text = plan_text(&spec);
    assert_string_equal(text, "ip netns add t-net\n"
                              "ip netns add t-1\n"
                              "ip link add lab0 netns t-1 type veth peer name lab1 netns t-net\n"
                              "ip -n t-1 addr add 10.87.0.1/24 dev lab0\n"
                              "ip -n t-1 link set lo up\n"
                              "ip -n t-1 link set lab0 up\n"
                              "ip -n t-net link set lab1 up\n"
                              "ip -n t-net link add lab0 type bridge forward_delay 0\n"
                              "ip -n t-net link set lab0 up\n"
                              "ip -n t-net link set lab1 master lab0\n");
    free(text);
    text = plan_text(&two);
    assert_has(text, "\nip -n t-2 addr add 10.87.0.2/24 dev lab0\n");
    assert_has(text, "\nip -n t-net link set lab2 master lab0\n");
    assert_null(strstr(text, "tc "));
    free(text);
}

/* There is a token bucket at both ends of a veth pair. It contains the bytes of one millisecond, at
 * least ten packets, and its queue contains those of 50 ms. */
static void bandwidth_uses_tbf(void **state)
{
    struct lab_spec spec = two;

    (void)state;
    spec.bandwidth = 125e6;
    char *text = plan_text(&spec);
    assert_has(text, "\ntc -n t-1 qdisc add dev lab0 root tbf rate 1000000000bit burst 125000 "
                     "limit 6250000\n");
    assert_has(text, "\ntc -n t-net qdisc add dev lab2 root tbf rate 1000000000bit burst 125000 "
                     "limit 6250000\n");
    free(text);
    spec.bandwidth = 1250;
    text = plan_text(&spec);
    assert_has(text, "tbf rate 10000bit burst 15140 limit 262144\n");
    free(text);
}

/* The whole delay is applied to packets that go to a node; the limit is twice the number of packets
 * in flight. */
static void netem_has_delay_and_loss(void **state)
{
    struct lab_spec spec = {.name = "t", .n = 2, .latency_s = 0.0205, .way = LAB_NETEM};

    (void)state;
    char *text = plan_text(&spec);
    assert_has(text,
               "\ntc -n t-net qdisc add dev lab1 root handle 1: netem limit 100000 delay 20.5ms\n");
    assert_has(text,
               "\ntc -n t-net qdisc add dev lab2 root handle 1: netem limit 100000 delay 20.5ms\n");
    assert_null(strstr(text, "tbf"));
    assert_null(strstr(text, "vde"));
    free(text);
    spec.bandwidth = 125e6; /* 2 * 125e6 * 0.0205 / 1514 = 3385.07… */
    spec.loss = 0.001;
    text = plan_text(&spec);
    assert_has(text, "\ntc -n t-1 qdisc add dev lab0 root tbf rate 1000000000bit burst 125000 "
                     "limit 6250000\n"
                     "tc -n t-net qdisc add dev lab1 root handle 1: netem limit 3386 delay 20.5ms "
                     "loss 0.1%\n"
                     "tc -n t-net qdisc add dev lab1 parent 1:1 handle 10: tbf rate 1000000000bit "
                     "burst 125000 limit 6250000\n");
    free(text);
}

/* Switches must start before the wires that connect them; only packets from the hub to a node are
 * delayed. */
static void vde_has_switches_and_wires(void **state)
{
    struct lab_spec spec = {.name = "t", .n = 2, .latency_s = 0.02, .loss = 0.005, .way = LAB_VDE};

    (void)state;
    char *text = plan_text(&spec);
    const char *hub = strstr(text, "ip netns exec t-net vde_switch --rcfile /dev/null --mode 0600 "
                                   "--sock /run/howmany/t/hub --numports 3 & "
                                   "/run/howmany/t/hub/ctl\n");
    const char *near = strstr(text, "ip netns exec t-net vde_switch --rcfile /dev/null --mode 0600 "
                                    "--sock /run/howmany/t/switch2 --tap tap2 & "
                                    "/run/howmany/t/switch2/ctl\n");
    const char *join = strstr(text, "ip -n t-net link set lab2 master join2\n"
                                    "ip -n t-net link set tap2 master join2\n"
                                    "ip -n t-net link set tap2 up\n");
    const char *wire =
        strstr(text, "ip netns exec t-net wirefilter --vde-plug "
                     "/run/howmany/t/switch2:/run/howmany/t/hub --mgmt "
                     "/run/howmany/t/wire2 --mgmtmode 0600 --delay RL20 --loss RL0.5 & "
                     "/run/howmany/t/wire2\n");
    assert_true(hub && near && join && wire);
    assert_true(hub < near && near < join && join < wire);
    assert_null(strstr(text, "netem"));
    free(text);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void names_are_checked(void **state)
{
    char text[LAB_TEXT];

    (void)state;
    assert_string_equal(lab_node("a-b", 12, text), "a-b-12");
    assert_string_equal(lab_net("a-b", text), "a-b-net");
    assert_string_equal(lab_path("a", NULL, text), "/run/howmany/a");
    assert_string_equal(lab_hostfile("a", 3, text), "/run/howmany/a/hostfile-3");
    assert_string_equal(lab_namespace("a-1", text), "/run/netns/a-1");
}

/* A lab must not claim the namespaces of another lab. */
static void names_of_namespaces(void **state)
{
    static const struct {
        const char *name, *space;
        int node;
    } cases[] = {
        {"a", "a-1", 1},    {"a", "a-64", 64},    {"a", "a-net", 0},  {"a", "a-65", -1},
        {"a", "a-0", -1},   {"a", "a-01", -1},    {"a", "a-1-1", -1}, {"a-1", "a-1-1", 1},
        {"a-1", "a-1", -1}, {"a", "a-net-1", -1}, {"a", "a", -1},     {"a", "a-", -1},
        {"a", "ab-1", -1},  {"a", "a-1x", -1},    {"a", "a-1e1", -1}, {"a", "a-1.0", -1},
        {"a", "b-1", -1},   {"a", "", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (lab_node_of(cases[i].name, cases[i].space) != cases[i].node)
            fail_msg("lab_node_of(%s, %s) is %d", cases[i].name, cases[i].space,
                     lab_node_of(cases[i].name, cases[i].space));
}

static void nodes_by_any_name(void **state)
{
    (void)state;
    assert_int_equal(lab_find_node("a", 4, "3"), 3);
    assert_int_equal(lab_find_node("a", 4, "a-4"), 4);
    assert_int_equal(lab_find_node("a", 4, "10.87.0.2"), 2);
    assert_int_equal(lab_find_node("a", 4, "5"), 0);
    assert_int_equal(lab_find_node("a", 4, "a-5"), 0);
    assert_int_equal(lab_find_node("a", 4, "10.87.0.5"), 0);
    assert_int_equal(lab_find_node("a", 4, "a-net"), 0);
    assert_int_equal(lab_find_node("a", 4, "b-1"), 0);
    assert_int_equal(lab_find_node("a", 4, ""), 0);
}

/* ---- checks --------------------------------------------------------------------------------- */

static void refused_names(void **state)
{
    static const char *const good[] = {"a", "howmany", "slow-net2",
                                       "abcdefghijklmnopqrstuvwxyz012345"};
    static const char *const bad[] = {
        "",    "1a", "-a",  "a-",  "A",        "a b",
        "a/b", "..", "a.b", "a_b", "\xc3\xb6", "abcdefghijklmnopqrstuvwxyz0123456"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_int_equal(lab_name_check(good[i], NULL), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hm_err err = {0};
        assert_int_equal(lab_name_check(bad[i], &err), HM_E_RANGE);
        assert_string_equal(err.field, "--name");
    }
}

static void refused_specs(void **state)
{
    static const struct {
        struct lab_spec spec;
        const char *field;
    } cases[] = {
        {{.name = "t", .n = 0}, "--n"},
        {{.name = "t", .n = 65}, "--n"},
        {{.name = "t", .n = 2, .latency_s = -1, .way = LAB_NETEM}, "--latency"},
        {{.name = "t", .n = 2, .latency_s = 11, .way = LAB_NETEM}, "--latency"},
        {{.name = "t", .n = 2, .latency_s = NAN, .way = LAB_NETEM}, "--latency"},
        {{.name = "t", .n = 2, .latency_s = 0.0025, .way = LAB_VDE}, "--latency"},
        {{.name = "t", .n = 2, .bandwidth = -1}, "--bandwidth"},
        {{.name = "t", .n = 2, .bandwidth = 1000}, "--bandwidth"},
        {{.name = "t", .n = 2, .bandwidth = 1e12}, "--bandwidth"},
        {{.name = "t", .n = 2, .bandwidth = NAN}, "--bandwidth"},
        {{.name = "t", .n = 2, .loss = 1, .way = LAB_NETEM}, "--loss"},
        {{.name = "t", .n = 2, .loss = -0.1, .way = LAB_NETEM}, "--loss"},
        {{.name = "t", .n = 2, .loss = NAN, .way = LAB_NETEM}, "--loss"},
        {{.name = "t", .n = 2, .latency_s = 0.01}, "--way"},
        {{.name = "t", .n = 2, .loss = 0.01}, "--way"},
        {{.name = "T", .n = 2}, "--name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_err err = {0};
        struct lab_plan plan = {0};
        assert_int_equal(lab_plan_make(&cases[i].spec, &plan, &err), HM_E_RANGE);
        assert_string_equal(err.field, cases[i].field);
        assert_null(plan.steps);
    }
}

/* 0.029 * 1000 is not exactly 29 in binary and must be accepted. */
static void whole_milliseconds(void **state)
{
    struct lab_spec spec = {.name = "t", .n = 1, .way = LAB_VDE};

    (void)state;
    for (int ms = 0; ms <= 1000; ms++) {
        char wanted[40];
        spec.latency_s = ms * 1e-3;
        char *text = plan_text(&spec);
        snprintf(wanted, sizeof(wanted), "--delay RL%d --loss", ms);
        assert_has(text, wanted);
        free(text);
    }
}

/* ---- texts ---------------------------------------------------------------------------------- */

static void host_files_have_all_nodes(void **state)
{
    struct hm_text hosts = {0}, hostfile = {0};

    (void)state;
    lab_hosts_text(&two, &hosts);
    assert_string_equal(hosts.data, "127.0.0.1 localhost\n10.87.0.1 t-1\n10.87.0.2 t-2\n");
    lab_hostfile_text(&two, 1, &hostfile);
    assert_string_equal(hostfile.data, "t-1 slots=1\n");
    hm__text_release(&hosts);
    hm__text_release(&hostfile);
}

static void settings_are_read_back(void **state)
{
    struct lab_spec spec = {.name = "t-2",
                            .n = 64,
                            .latency_s = 0.02,
                            .bandwidth = 125e6,
                            .loss = 0.001,
                            .way = LAB_NETEM};

    (void)state;
    for (int way = LAB_PLAIN; way <= LAB_VDE; way++) {
        struct hm_text text = {0};
        struct hm_err err = {0};
        struct lab_spec read = {0};
        spec.way = (enum lab_way)way;
        if (way == LAB_PLAIN)
            spec.latency_s = spec.loss = 0;
        else
            spec.latency_s = 0.02;
        struct hm_json json = {.out = &text};
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        lab_spec_put(&spec, &json);
        hm__json_close(&json);
        assert_int_equal(lab_spec_read(text.data, text.length, "x", &read, &err), 0);
        assert_string_equal(read.name, "t-2");
        assert_int_equal(read.n, 64);
        assert_true(read.latency_s == spec.latency_s && read.bandwidth == 125e6);
        assert_true(read.loss == spec.loss && read.way == spec.way);
        hm__text_release(&text);
    }
}

/* Any content of the file must give a valid lab or an error. */
static void damaged_settings(void **state)
{
    static const char *const texts[] = {
        "",
        "{",
        "[]",
        "3",
        "{}",
        "{\"lab\":\"t\",\"n\":1e300,\"latency_s\":0,\"loss\":0,\"way\":\"plain\"}",
        "{\"lab\":\"t\",\"n\":2,\"loss\":0,\"way\":\"plain\"}",
        "{\"lab\":\"t\",\"n\":2,\"latency_s\":0.5,\"loss\":0,\"way\":\"plain\"}",
        "{\"lab\":[],\"n\":2,\"latency_s\":0,\"loss\":0,\"way\":\"plain\"}",
        "{\"lab\":\"../../etc\",\"n\":2,\"latency_s\":0,\"loss\":0,\"way\":\"plain\"}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct hm_err err = {0};
        struct lab_spec read = {.n = 77};
        if (lab_spec_read(texts[i], strlen(texts[i]), "x", &read, &err) == 0)
            fail_msg("%s was read", texts[i]);
        assert_int_equal(read.n, 77);
        assert_int_not_equal(err.code, 0);
    }
}

static void labs_are_described(void **state)
{
    struct lab_spec spec = {
        .name = "t", .n = 4, .latency_s = 0.02, .bandwidth = 125e6, .loss = 0.001, .way = LAB_VDE};
    struct hm_text text = {0};

    (void)state;
    lab_spec_describe(&spec, &text);
    assert_string_equal(text.data, "4 nodes, 20.0 ms one way, 1.00 Gbit/s, 0.1 % lost, by vde");
    hm__text_release(&text);
    spec = (struct lab_spec){.name = "t", .n = 1};
    lab_spec_describe(&spec, &text);
    assert_string_equal(text.data, "1 node, no latency");
    hm__text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_labs_have_a_bridge),
        cmocka_unit_test(bandwidth_uses_tbf),
        cmocka_unit_test(netem_has_delay_and_loss),
        cmocka_unit_test(vde_has_switches_and_wires),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(names_of_namespaces),
        cmocka_unit_test(nodes_by_any_name),
        cmocka_unit_test(refused_names),
        cmocka_unit_test(refused_specs),
        cmocka_unit_test(whole_milliseconds),
        cmocka_unit_test(host_files_have_all_nodes),
        cmocka_unit_test(settings_are_read_back),
        cmocka_unit_test(damaged_settings),
        cmocka_unit_test(labs_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
