/*
 * The commands that make a laboratory, as data: they are printed by --dry-run as they are run.
 *
 *     NAME-1: lab0 ---- lab1 :NAME-net                  a wire, a veth pair
 *
 *     plain   lab1, lab2, … are ports of one bridge
 *     netem   the same; netem stands where a packet leaves for its node, on lab1, lab2, …
 *     vde     lab1 and tap1 are ports of a bridge, join1; tap1 is plugged into a vde_switch, which
 *             a wirefilter joins to another one, the hub of all
 *
 * The whole latency stands on the way to the node, none on the way from it. So it is counted once
 * from any node to any other, and wirefilter, which counts whole milliseconds, can be exact.
 *
 * Bandwidth is a token bucket (tbf) at both ends of a wire, so that it holds each way: what leaves
 * the node, and what comes to it from all others together. A bucket holds what passes in a
 * millisecond; what does not pass at once waits in line, and is dropped when 50 ms are waiting.
 */
#include "lab_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "format.h"
#include "value.h"

enum { PACKET = 1514 }; /* bytes of a whole one, with its Ethernet header */

static const double LATENCY_MAX_S = 10;
static const double BANDWIDTH_MIN = 1250, BANDWIDTH_MAX = 125e9; /* 10 kbit/s to 1 Tbit/s */
static const double BURST_S = 1e-3, QUEUE_S = 50e-3;
static const double QUEUE_MIN = 256 * 1024; /* bytes */

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

const char *lab_place(const char *name, const char *file, char *text)
{
    snprintf(text, LAB_TEXT, LAB_PLACES "/%.32s%s%.40s", name, file ? "/" : "", file ? file : "");
    return text;
}

const char *lab_hostfile(const char *name, size_t n, char *text)
{
    snprintf(text, LAB_TEXT, LAB_PLACES "/%s/hostfile-%zu", name, n);
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

/* A whole number from 1 to LAB_NODES_MAX and nothing else; 0 if it is none. */
static size_t read_node(const char *text)
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
    size_t node = read_node(space + length + 1);
    return node ? (int)node : -1;
}

size_t lab_find_node(const char *name, size_t n, const char *text)
{
    size_t node = read_node(text);
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
    hm__err_hint(err, "up to %d small letters, digits and -, first a letter, such as slow-net",
                 LAB_NAME_MAX);
    return HM_E_RANGE;
}

static int out_of_range(struct hm_err *err, const char *field, const char *range)
{
    hm__fail(err, HM_E_RANGE, "it is not %s", range);
    hm__err_field(err, field);
    return HM_E_RANGE;
}

/* wirefilter counts whole milliseconds: 2.5 ms would become 2. */
static int check_vde(const struct lab_spec *s, struct hm_err *err)
{
    double ms = s->latency_s * 1e3, whole = floor(ms + 1e-9);

    if (s->way != LAB_VDE || fabs(ms - round(ms)) < 1e-6)
        return 0;
    hm__fail(err, HM_E_RANGE, "%g ms is not a whole number of milliseconds", ms);
    hm__err_field(err, "--latency");
    hm__err_hint(err, "the vde way counts them (netem would not, but is not used): %g ms or %g ms",
                 whole, whole + 1);
    return HM_E_RANGE;
}

int lab_spec_check(const struct lab_spec *s, struct hm_err *err)
{
    int rc = lab_name_check(s->name, err);

    if (rc)
        return rc;
    if (s->n < 1 || s->n > LAB_NODES_MAX)
        return out_of_range(err, "--n", "a whole number from 1 to 64");
    if (!(s->latency_s >= 0 && s->latency_s <= LATENCY_MAX_S))
        return out_of_range(err, "--latency", "from 0 to 10 s");
    if (s->bandwidth != 0 && !(s->bandwidth >= BANDWIDTH_MIN && s->bandwidth <= BANDWIDTH_MAX))
        return out_of_range(err, "--bandwidth", "from 10 kbit/s to 1 Tbit/s");
    if (!(s->loss >= 0 && s->loss < 1))
        return out_of_range(err, "--loss", "from 0 to below 100 %, such as 0.1%");
    if (s->way == LAB_PLAIN && (s->latency_s > 0 || s->loss > 0)) {
        hm__fail(err, HM_E_RANGE, "plain wires have no latency and lose nothing");
        hm__err_field(err, "--way");
        hm__err_hint(err, "netem or vde");
        return HM_E_RANGE;
    }
    return check_vde(s, err);
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* A plan as it is made; an error sticks, so that only the end needs checking. */
struct maker {
    const struct lab_spec *spec;
    struct lab_plan plan;
    char net[LAB_TEXT];
    struct hm_err *err;
    int rc;
};

static struct lab_step *new_step(struct maker *m)
{
    struct lab_plan *p = &m->plan;

    if (p->count == p->room) {
        size_t room = p->room ? 2 * p->room : 32;
        struct lab_step *grown = hm__realloc(p->steps, room, sizeof(*grown));
        if (!grown) {
            m->rc = hm__fail_nomem(m->err);
            return NULL;
        }
        p->steps = grown;
        p->room = room;
    }
    p->steps[p->count] = (struct lab_step){0};
    return &p->steps[p->count++];
}

/* One more command; no name in it has a blank or a character that means something to a shell. */
HM_PRINTF(2, 3) static void step(struct maker *m, const char *format, ...)
{
    char line[512];
    va_list args;
    struct lab_step *s = m->rc ? NULL : new_step(m);

    if (!s)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    m->rc = cli_words_split(&s->words, line, m->err);
}

/* The command just added goes on running, and works once it has made a file. */
static void stays(struct maker *m, const char *file)
{
    if (m->rc)
        return;
    struct lab_step *s = &m->plan.steps[m->plan.count - 1];
    s->stays = true;
    lab_place(m->spec->name, file, s->ready);
}

static void add_namespaces(struct maker *m)
{
    char node[LAB_TEXT];

    step(m, "ip netns add %s", m->net);
    for (size_t i = 1; i <= m->spec->n; i++)
        step(m, "ip netns add %s", lab_node(m->spec->name, i, node));
}

static void add_wire(struct maker *m, size_t i)
{
    char node[LAB_TEXT], address[LAB_TEXT];

    lab_node(m->spec->name, i, node);
    step(m, "ip link add lab0 netns %s type veth peer name lab%zu netns %s", node, i, m->net);
    step(m, "ip -n %s addr add %s/24 dev lab0", node, lab_address(i, address));
    step(m, "ip -n %s link set lo up", node);
    step(m, "ip -n %s link set lab0 up", node);
    step(m, "ip -n %s link set lab%zu up", m->net, i);
}

static void add_bucket(struct maker *m, const char *space, const char *device, const char *where)
{
    double rate = m->spec->bandwidth;

    if (rate > 0)
        step(m, "tc -n %s qdisc add dev %s %s tbf rate %.0fbit burst %.0f limit %.0f", space,
             device, where, 8 * rate, fmax(10 * PACKET, rate * BURST_S),
             fmax(QUEUE_MIN, rate * QUEUE_S));
}

static void add_netem(struct maker *m, const char *device)
{
    const struct lab_spec *s = m->spec;
    /* Packets on their way, and as many again that come in bursts. */
    double packets = s->bandwidth > 0 ? ceil(2 * s->bandwidth * s->latency_s / PACKET) : 100e3;
    char loss[40] = "";

    if (s->loss > 0)
        snprintf(loss, sizeof(loss), " loss %.10g%%", 100 * s->loss);
    step(m, "tc -n %s qdisc add dev %s root handle 1: netem limit %.0f delay %.10gms%s", m->net,
         device, fmax(1000, packets), 1e3 * s->latency_s, loss);
}

/* Bandwidth, and with netem also latency and loss, of node i. */
static void add_shape(struct maker *m, size_t i)
{
    char node[LAB_TEXT], outer[LAB_TEXT];
    bool netem = m->spec->way == LAB_NETEM;

    snprintf(outer, sizeof(outer), "lab%zu", i);
    add_bucket(m, lab_node(m->spec->name, i, node), "lab0", "root");
    if (netem)
        add_netem(m, outer);
    add_bucket(m, m->net, outer, netem ? "parent 1:1 handle 10:" : "root");
}

/* Without STP nobody needs to wait until a port forwards. */
static void add_bridge(struct maker *m, const char *bridge)
{
    step(m, "ip -n %s link add %s type bridge forward_delay 0", m->net, bridge);
    step(m, "ip -n %s link set %s up", m->net, bridge);
}

static void join_by_bridge(struct maker *m)
{
    add_bridge(m, "lab0");
    for (size_t i = 1; i <= m->spec->n; i++)
        step(m, "ip -n %s link set lab%zu master lab0", m->net, i);
}

/* A switch that listens in the folder `file` of the lab; our settings, not those of a file. */
static void add_switch(struct maker *m, const char *file, const char *options)
{
    char place[LAB_TEXT], ready[LAB_TEXT];

    step(m, "ip netns exec %s vde_switch --rcfile /dev/null --mode 0600 --sock %s %s", m->net,
         lab_place(m->spec->name, file, place), options);
    snprintf(ready, sizeof(ready), "%.60s/ctl", file);
    stays(m, ready);
}

static void join_by_vde(struct maker *m)
{
    const struct lab_spec *s = m->spec;
    char bridge[24], file[24], options[24], near[LAB_TEXT], far[LAB_TEXT], control[LAB_TEXT];

    snprintf(options, sizeof(options), "--numports %zu", s->n + 1);
    add_switch(m, "hub", options);
    for (size_t i = 1; i <= s->n; i++) {
        snprintf(bridge, sizeof(bridge), "join%zu", i);
        snprintf(file, sizeof(file), "switch%zu", i);
        snprintf(options, sizeof(options), "--tap tap%zu", i);
        add_switch(m, file, options);
        add_bridge(m, bridge);
        step(m, "ip -n %s link set lab%zu master %s", m->net, i, bridge);
        step(m, "ip -n %s link set tap%zu master %s", m->net, i, bridge);
        step(m, "ip -n %s link set tap%zu up", m->net, i);
        lab_place(s->name, file, near);
        snprintf(file, sizeof(file), "wire%zu", i);
        step(m,
             "ip netns exec %s wirefilter --vde-plug %s:%s --mgmt %s --mgmtmode 0600 --delay "
             "RL%.0f --loss RL%.10g",
             m->net, near, lab_place(s->name, "hub", far), lab_place(s->name, file, control),
             1e3 * s->latency_s, 100 * s->loss);
        stays(m, file);
    }
}

int lab_plan_make(const struct lab_spec *spec, struct lab_plan *ret_plan, struct hm_err *err)
{
    struct maker m = {.spec = spec, .err = err, .rc = lab_spec_check(spec, err)};

    if (m.rc)
        return m.rc;
    lab_net(spec->name, m.net);
    add_namespaces(&m);
    for (size_t i = 1; i <= spec->n; i++) {
        add_wire(&m, i);
        add_shape(&m, i);
    }
    if (spec->way == LAB_VDE)
        join_by_vde(&m);
    else
        join_by_bridge(&m);
    if (m.rc)
        lab_plan_release(&m.plan);
    else
        *ret_plan = m.plan;
    return m.rc;
}

void lab_plan_release(struct lab_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        cli_words_release(&plan->steps[i].words);
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

void lab_spec_json(const struct lab_spec *spec, struct hm_text *out)
{
    hm__text_add(out, "{\"lab\":");
    hm__json_text(out, spec->name);
    hm__json_field(out, "n", (double)spec->n);
    hm__json_field(out, "latency_s", spec->latency_s);
    hm__json_field(out, "bandwidth", spec->bandwidth > 0 ? spec->bandwidth : NAN);
    hm__json_field(out, "loss", spec->loss);
    hm__json_named(out, "way", lab_way_name(spec->way));
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
        rc = lab_spec_check(&s, err);
    }
    hm__arena_free(arena);
    if (rc == 0)
        *ret_spec = s;
    return rc;
}

void lab_spec_tell(const struct lab_spec *spec, struct hm_text *out)
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
