/*
 * Lists the commands that create a laboratory (a cluster of network namespaces on one machine) as
 * data, so that --dry-run prints exactly what would run.
 *
 *     A veth pair connects lab0 in NAME-1 with lab1 in NAME-net, and so on for each node.
 *
 *     plain   lab1, lab2, … are ports of one bridge
 *     netem   like plain, with a netem queue on lab1, lab2, … for packets to the node
 *     vde     lab1 and tap1 are ports of a bridge, join1; tap1 belongs to a vde_switch, which a
 *             wirefilter connects to another vde_switch, the hub
 *
 * The whole latency is applied to packets that go to a node, and none to packets that come from it.
 * Therefore, it is applied once between any two nodes, and wirefilter, which accepts only whole
 * milliseconds, can produce it exactly.
 *
 * Bandwidth is limited by a token bucket (tbf) at both ends of a veth pair: for the packets that
 * leave the node, and for the packets that arrive from all other nodes together. A bucket holds the
 * bytes that can be sent in one millisecond; further packets wait in a queue, and are dropped when
 * the queue holds the bytes of 50 ms.
 */
#include "lab_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "json.h"
#include "value.h"

enum { PACKET = 1514 }; /* Size of a full packet in bytes, including its Ethernet header. */

static const double LATENCY_MAX_S = 10;
/* Range of the bandwidth in bytes/s: 10 kbit/s to 1 Tbit/s. */
static const double BANDWIDTH_MIN = 1250, BANDWIDTH_MAX = 125e9;
static const double BURST_S = 1e-3, QUEUE_S = 50e-3;
static const double QUEUE_MIN =
    256 * 1024; /* Smallest size of the queue of a token bucket in bytes. */

static const char *const way_names[] = {
    [LAB_PLAIN] = "plain", [LAB_NETEM] = "netem", [LAB_VDE] = "vde"};

/* ---- names ---------------------------------------------------------------------------------- */

const char *lab_node(const char *name, size_t node, char *text)
{
    snprintf(text, LAB_TEXT, "%s-%zu", name, node);
    return text;
}

const char *lab_net(const char *name, char *text)
{
    snprintf(text, LAB_TEXT, "%s-net", name);
    return text;
}

const char *lab_address(size_t node, char *text)
{
    snprintf(text, LAB_TEXT, "10.87.0.%zu", node);
    return text;
}

const char *lab_path(const char *name, const char *file, char *text)
{
    snprintf(text, LAB_TEXT, LAB_FOLDER "/%.32s%s%.40s", name, file ? "/" : "", file ? file : "");
    return text;
}

const char *lab_hostfile(const char *name, size_t n, char *text)
{
    snprintf(text, LAB_TEXT, LAB_FOLDER "/%s/hostfile-%zu", name, n);
    return text;
}

const char *lab_namespace(const char *space, char *text)
{
    snprintf(text, LAB_TEXT, LAB_NAMESPACES "/%s", space);
    return text;
}

const char *lab_way_name(enum lab_way way)
{
    return way_names[way];
}

/* Returns the value of a string that contains a whole number from 1 to LAB_NODES_MAX; 0 for any
 * other string. */
static size_t read_node_number(const char *text)
{
    double number;
    size_t used = hm__number_read(text, &number);

    if (used == 0 || text[used] || strspn(text, "0123456789") != used || text[0] == '0')
        return 0;
    return number >= 1 && number <= LAB_NODES_MAX ? (size_t)number : 0;
}

int lab_node_of(const char *name, const char *space)
{
    size_t length = strlen(name);

    if (strncmp(space, name, length) != 0 || space[length] != '-')
        return -1;
    if (strcmp(space + length + 1, "net") == 0)
        return 0;
    size_t node = read_node_number(space + length + 1);
    return node ? (int)node : -1;
}

size_t lab_find_node(const char *name, size_t n, const char *text)
{
    size_t node = read_node_number(text);
    char address[LAB_TEXT];

    if (node == 0 && lab_node_of(name, text) > 0)
        node = (size_t)lab_node_of(name, text);
    for (size_t i = 1; node == 0 && i <= n; i++)
        if (strcmp(text, lab_address(i, address)) == 0)
            node = i;
    return node <= n ? node : 0;
}

/* ---- checks --------------------------------------------------------------------------------- */

int lab_name_check(const char *name, struct hm_err *err)
{
    size_t length = strlen(name);
    bool letter = name[0] >= 'a' && name[0] <= 'z';

    if (letter && length <= LAB_NAME_MAX && name[length - 1] != '-' &&
        strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length)
        return 0;
    hm__fail(err, HM_E_RANGE, "'%.40s' cannot be the name of a lab", name);
    hm__err_field(err, "--name");
    hm__err_hint(err,
                 "use up to %d lower-case letters, digits and -, beginning with a letter, such as "
                 "slow-net",
                 LAB_NAME_MAX);
    return HM_E_RANGE;
}

static int fail_range(struct hm_err *err, const char *field, const char *range)
{
    hm__fail(err, HM_E_RANGE, "must be %s", range);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

/*
 * Checks that the latency is a whole number of milliseconds, because wirefilter would round it: 2.5
 * ms would become 2 ms.
 */
static int check_vde_latency(const struct lab_spec *s, struct hm_err *err)
{
    double ms = s->latency_s * 1e3, whole = floor(ms + 1e-9);

    if (s->way != LAB_VDE || fabs(ms - round(ms)) < 1e-6)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g ms is not a whole number of milliseconds", ms);
    hm__err_field(err, "--latency");
    hm__err_hint(err, "vde takes whole milliseconds: %g ms or %g ms; netem would take any latency",
                 whole, whole + 1);
    return HM_E_RANGE;
}

/*
 * Checks the ranges of all values, and checks whether the mechanism can produce the latency and the
 * loss of the lab.
 */
static int check_spec(const struct lab_spec *s, struct hm_err *err)
{
    int rc = lab_name_check(s->name, err);

    if (rc)
        return rc;
    if (s->n < 1 || s->n > LAB_NODES_MAX)
        return fail_range(err, "--n", "a whole number from 1 to 64");
    if (!(s->latency_s >= 0 && s->latency_s <= LATENCY_MAX_S))
        return fail_range(err, "--latency", "from 0 to 10 s");
    if (s->bandwidth != 0 && !(s->bandwidth >= BANDWIDTH_MIN && s->bandwidth <= BANDWIDTH_MAX))
        return fail_range(err, "--bandwidth", "from 10 kbit/s to 1 Tbit/s");
    if (!(s->loss >= 0 && s->loss < 1))
        return fail_range(err, "--loss", "from 0 to below 100 %, such as 0.1%");
    if (s->way == LAB_PLAIN && (s->latency_s > 0 || s->loss > 0)) {
        hm__fail(err, HM_E_RANGE, "'plain' has neither latency nor loss");
        hm__err_field(err, "--way");
        hm__err_hint(err, "use netem or vde");
        return HM_E_RANGE;
    }
    return check_vde_latency(s, err);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* A list of commands (plan) under construction. After an error, which is stored in `rc`, further
 * calls do nothing. */
struct plan_maker {
    const struct lab_spec *spec;
    struct lab_plan plan;
    char net[LAB_TEXT];
    struct hm_err *err;
    int rc;
};

static struct lab_step *plan_new_step(struct plan_maker *m)
{
    struct lab_plan *p = &m->plan;

    struct lab_step *grown = hm__grow(p->steps, p->count, &p->room, sizeof(*grown));
    if (!grown) {
        m->rc = hm__fail_nomem(m->err);
        return NULL;
    }
    p->steps = grown;
    p->steps[p->count] = (struct lab_step){0};
    return &p->steps[p->count++];
}

/* Adds a command. Names in the command must not contain spaces or characters that need quoting. */
HM_PRINTF(2, 3) static void plan_step(struct plan_maker *m, const char *format, ...)
{
    char line[512];
    va_list args;
    struct lab_step *s = m->rc ? NULL : plan_new_step(m);

    if (!s)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    m->rc = launch_command_split(&s->command, line, m->err);
}

/*
 * Marks the last command of the plan as one that keeps running in the background; the command is
 * ready when `file` exists.
 */
static void plan_keep_running(struct plan_maker *m, const char *file)
{
    if (m->rc)
        return;
    struct lab_step *s = &m->plan.steps[m->plan.count - 1];
    s->background = true;
    lab_path(m->spec->name, file, s->ready);
}

static void add_namespaces(struct plan_maker *m)
{
    char node[LAB_TEXT];

    plan_step(m, "ip netns add %s", m->net);
    for (size_t i = 1; i <= m->spec->n; i++)
        plan_step(m, "ip netns add %s", lab_node(m->spec->name, i, node));
}

static void add_veth_pair(struct plan_maker *m, size_t i)
{
    char node[LAB_TEXT], address[LAB_TEXT];

    lab_node(m->spec->name, i, node);
    plan_step(m, "ip link add lab0 netns %s type veth peer name lab%zu netns %s", node, i, m->net);
    plan_step(m, "ip -n %s addr add %s/24 dev lab0", node, lab_address(i, address));
    plan_step(m, "ip -n %s link set lo up", node);
    plan_step(m, "ip -n %s link set lab0 up", node);
    plan_step(m, "ip -n %s link set lab%zu up", m->net, i);
}

static void add_token_bucket(struct plan_maker *m, const char *space, const char *device,
                             const char *where)
{
    double rate = m->spec->bandwidth;

    if (rate > 0)
        plan_step(m, "tc -n %s qdisc add dev %s %s tbf rate %.0fbit burst %.0f limit %.0f", space,
                  device, where, 8 * rate, fmax(10 * PACKET, rate * BURST_S),
                  fmax(QUEUE_MIN, rate * QUEUE_S));
}

static void add_netem(struct plan_maker *m, const char *device)
{
    const struct lab_spec *s = m->spec;
    /* The queue is long enough for the packets in flight at full bandwidth, and for as many packets
     * again in bursts. */
    double packets = s->bandwidth > 0 ? ceil(2 * s->bandwidth * s->latency_s / PACKET) : 100e3;
    char loss[40] = "";

    if (s->loss > 0)
        snprintf(loss, sizeof(loss), " loss %.10g%%", 100 * s->loss);
    plan_step(m, "tc -n %s qdisc add dev %s root handle 1: netem limit %.0f delay %.10gms%s",
              m->net, device, fmax(1000, packets), 1e3 * s->latency_s, loss);
}

/* Limits the bandwidth of node i and, if netem is used, adds latency and loss. */
static void add_traffic_control(struct plan_maker *m, size_t i)
{
    char node[LAB_TEXT], outer[LAB_TEXT];
    bool netem = m->spec->way == LAB_NETEM;

    snprintf(outer, sizeof(outer), "lab%zu", i);
    add_token_bucket(m, lab_node(m->spec->name, i, node), "lab0", "root");
    if (netem)
        add_netem(m, outer);
    add_token_bucket(m, m->net, outer, netem ? "parent 1:1 handle 10:" : "root");
}

/*
 * Adds a bridge without the spanning tree protocol, so that its ports forward packets immediately.
 */
static void add_bridge(struct plan_maker *m, const char *bridge)
{
    plan_step(m, "ip -n %s link add %s type bridge forward_delay 0", m->net, bridge);
    plan_step(m, "ip -n %s link set %s up", m->net, bridge);
}

static void connect_by_bridge(struct plan_maker *m)
{
    add_bridge(m, "lab0");
    for (size_t i = 1; i <= m->spec->n; i++)
        plan_step(m, "ip -n %s link set lab%zu master lab0", m->net, i);
}

/*
 * Adds a vde_switch whose sockets are in the folder `file` of the lab; it reads no configuration
 * file.
 */
static void add_vde_switch(struct plan_maker *m, const char *file, const char *options)
{
    char place[LAB_TEXT], ready[LAB_TEXT];

    plan_step(m, "ip netns exec %s vde_switch --rcfile /dev/null --mode 0600 --sock %s %s", m->net,
              lab_path(m->spec->name, file, place), options);
    snprintf(ready, sizeof(ready), "%.60s/ctl", file);
    plan_keep_running(m, ready);
}

static void connect_by_vde(struct plan_maker *m)
{
    const struct lab_spec *s = m->spec;
    char bridge[24], file[24], options[24], near[LAB_TEXT], far[LAB_TEXT], control[LAB_TEXT];

    snprintf(options, sizeof(options), "--numports %zu", s->n + 1);
    add_vde_switch(m, "hub", options);
    for (size_t i = 1; i <= s->n; i++) {
        snprintf(bridge, sizeof(bridge), "join%zu", i);
        snprintf(file, sizeof(file), "switch%zu", i);
        snprintf(options, sizeof(options), "--tap tap%zu", i);
        add_vde_switch(m, file, options);
        add_bridge(m, bridge);
        plan_step(m, "ip -n %s link set lab%zu master %s", m->net, i, bridge);
        plan_step(m, "ip -n %s link set tap%zu master %s", m->net, i, bridge);
        plan_step(m, "ip -n %s link set tap%zu up", m->net, i);
        lab_path(s->name, file, near);
        snprintf(file, sizeof(file), "wire%zu", i);
        plan_step(m,
                  "ip netns exec %s wirefilter --vde-plug %s:%s --mgmt %s --mgmtmode 0600 --delay "
                  "RL%.0f --loss RL%.10g",
                  m->net, near, lab_path(s->name, "hub", far), lab_path(s->name, file, control),
                  1e3 * s->latency_s, 100 * s->loss);
        plan_keep_running(m, file);
    }
}

int lab_plan_make(const struct lab_spec *spec, struct lab_plan *ret_plan, struct hm_err *err)
{
    struct plan_maker m = {.spec = spec, .err = err, .rc = check_spec(spec, err)};

    if (m.rc)
        return m.rc;
    lab_net(spec->name, m.net);
    add_namespaces(&m);
    for (size_t i = 1; i <= spec->n; i++) {
        add_veth_pair(&m, i);
        add_traffic_control(&m, i);
    }
    if (spec->way == LAB_VDE)
        connect_by_vde(&m);
    else
        connect_by_bridge(&m);
    if (m.rc)
        lab_plan_release(&m.plan);
    else
        *ret_plan = m.plan;
    return m.rc;
}

void lab_plan_release(struct lab_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        launch_command_release(&plan->steps[i].command);
    hm__free(plan->steps);
    *plan = (struct lab_plan){0};
}

/* ---- texts ---------------------------------------------------------------------------------- */

void lab_hosts_text(const struct lab_spec *spec, struct hm_text *out)
{
    char node[LAB_TEXT], address[LAB_TEXT];

    hm__text_add(out, "127.0.0.1 localhost\n");
    for (size_t i = 1; i <= spec->n; i++)
        hm__text_addf(out, "%s %s\n", lab_address(i, address), lab_node(spec->name, i, node));
}

void lab_hostfile_text(const struct lab_spec *spec, size_t n, struct hm_text *out)
{
    char node[LAB_TEXT];

    for (size_t i = 1; i <= n; i++)
        hm__text_addf(out, "%s slots=1\n", lab_node(spec->name, i, node));
}

void lab_spec_put(const struct lab_spec *spec, struct hm_json *json)
{
    hm__json_put_text(json, "lab", spec->name);
    hm__json_put_number(json, "n", (double)spec->n);
    hm__json_put_number(json, "latency_s", spec->latency_s);
    hm__json_put_number(json, "bandwidth", spec->bandwidth > 0 ? spec->bandwidth : (double)NAN);
    hm__json_put_number(json, "loss", spec->loss);
    hm__json_put_text(json, "way", lab_way_name(spec->way));
}

int lab_spec_read(const char *text, size_t length, const char *source, struct lab_spec *ret_spec,
                  struct hm_err *err)
{
    struct lab_spec s = {0};
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;
    int rc = arena ? hm__json_parse(arena, text, length, source, &root, err) : hm__fail_nomem(err);

    if (rc == 0) {
        const struct hm_value *name = hm__value_get(root, "lab"), *way = hm__value_get(root, "way");
        double n = hm__value_number(root, "n"), bandwidth = hm__value_number(root, "bandwidth");
        snprintf(s.name, sizeof(s.name), "%s", name && name->text ? name->text : "");
        s.n = n >= 1 && n <= LAB_NODES_MAX ? (size_t)n : 0;
        s.latency_s = hm__value_number(root, "latency_s");
        s.bandwidth = isnan(bandwidth) ? 0 : bandwidth;
        s.loss = hm__value_number(root, "loss");
        while (s.way < LAB_VDE && (!way || !way->text || strcmp(way->text, way_names[s.way]) != 0))
            s.way++;
        rc = check_spec(&s, err);
    }
    hm__arena_free(arena);
    if (rc == 0)
        *ret_spec = s;
    return rc;
}

void lab_spec_describe(const struct lab_spec *spec, struct hm_text *out)
{
    char shown[HM_SHOWN];

    hm__text_addf(out, "%zu %s, ", spec->n, spec->n == 1 ? "node" : "nodes");
    if (spec->latency_s > 0)
        hm__text_addf(out, "%s one way", hm__show_time(spec->latency_s, shown));
    else
        hm__text_add(out, "no latency");
    if (spec->bandwidth > 0)
        hm__text_addf(out, ", %s", hm__show_rate(spec->bandwidth, shown));
    if (spec->loss > 0)
        hm__text_addf(out, ", %.3g %% lost", 100 * spec->loss);
    if (spec->way != LAB_PLAIN)
        hm__text_addf(out, ", by %s", lab_way_name(spec->way));
}
