/*
 * Reads platforms of SimGrid (XML): hosts with their speeds, links, routes and clusters. The hosts
 * become one cluster of identical machines:
 *
 *   <cluster radical="0-255" speed="1Gf" bw="125MBps" lat="50us" bb_bw=… bb_lat=…/>
 *       A message passes the links of two hosts and the backbone: latency 2 lat + bb_lat.
 *   <host speed="1Gf"/>, <link bandwidth=… latency=…/>, <route><link_ctn id=…/></route>
 *       A route has the sum of the latencies and the smallest bandwidth of its links; the slowest
 *       route is used. Without routes, the slowest link is used.
 *
 * All machines are given the speed of the slowest host, because workers wait for each other. The
 * file is read as a stream of tags, so that large platforms need little memory.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "hash.h"
#include "importers.h"
#include "text.h"

/* At most three quarters of the slots are used, so that each search soon ends at an empty slot. */
enum {
    LINK_SLOTS = HM_BUFFER_SIZE(1 << 17, 1 << 4),
    LINKS_MOST = LINK_SLOTS / 4 * 3,
    TAG_ROOM = 4096
};

/* A link of the platform. The table of links is indexed by the hash of the link's name. */
struct simgrid_link {
    uint64_t hash; /* Hash of the name of the link; 0 if the slot of the table is empty. */
    double bandwidth, latency;
};

struct platform {
    struct hm_imported *im;
    struct simgrid_link *links; /* Hash table with LINK_SLOTS slots; owned. */
    size_t links_used;          /* Number of slots that hold a link. */
    struct hm_hash_key key;     /* Key of the hash table. */
    double hosts, clusters, link_count, routes, unknown;
    /* Speeds of the slowest and the fastest host with all their cores, in flop/s. */
    double slowest, fastest;
    /*
     * Smallest bandwidth and largest latency of all routes and clusters; NaN if there has been none
     * yet.
     */
    double bandwidth, latency;
    double link_bandwidth, link_latency; /* Smallest bandwidth and largest latency of all links. */
    bool in_route;
    double route_bandwidth, route_latency;
};

/* ---- values with units ----------------------------------------------------------------------- */

/* A unit and its conversion factor to SI units; the name "" is used for numbers without a unit. */
struct simgrid_unit {
    const char *name;
    double factor;
};

static const struct simgrid_unit bandwidths[] = {
    {"", 1},         {"Bps", 1},     {"kBps", 1e3},   {"KBps", 1e3},      {"MBps", 1e6},
    {"GBps", 1e9},   {"TBps", 1e12}, {"KiBps", 1024}, {"MiBps", 1048576}, {"GiBps", 1073741824},
    {"bps", .125},   {"kbps", 125},  {"Kbps", 125},   {"Mbps", 125e3},    {"Gbps", 125e6},
    {"Tbps", 125e9}, {NULL, 0}};
static const struct simgrid_unit times[] = {{"", 1},      {"s", 1},      {"ms", 1e-3}, {"us", 1e-6},
                                            {"ns", 1e-9}, {"ps", 1e-12}, {"m", 60},    {NULL, 0}};
static const struct simgrid_unit speeds[] = {
    {"", 1},         {"f", 1},        {"kf", 1e3},      {"Mf", 1e6},  {"Gf", 1e9},
    {"Tf", 1e12},    {"Pf", 1e15},    {"Ef", 1e18},     {"flops", 1}, {"kflops", 1e3},
    {"Mflops", 1e6}, {"Gflops", 1e9}, {"Tflops", 1e12}, {NULL, 0}};

/* Reads a number with a unit; returns NaN if the text is NULL or has an unknown unit. */
static double read_value(const char *text, const struct simgrid_unit *units)
{
    double value;
    size_t used = text ? hm__number_read(text, &value) : 0;

    if (used == 0)
        return NAN;
    size_t blanks = strspn(text + used, " \t");
    used += isalpha((unsigned char)text[used + blanks]) ? blanks : 0;
    /*
     * A host with several power states has a list of speeds; the first of them is used, because it
     * is the fastest.
     */
    size_t length = strcspn(text + used, ",; ");
    for (; units->name; units++)
        if (strlen(units->name) == length && memcmp(text + used, units->name, length) == 0)
            return value * units->factor;
    return NAN;
}

/* Counts the hosts of a list such as "0-15" or "1-29,58,60". */
static double count_radical(const char *text)
{
    double count = 0;

    while (text && *text) {
        double first, last;
        size_t used = hm__number_read(text, &first);
        if (used == 0)
            return NAN;
        text += used;
        last = first;
        if (*text == '-') {
            used = hm__number_read(text + 1, &last);
            if (used == 0 || last < first)
                return NAN;
            text += used + 1;
        }
        count += last - first + 1;
        text += strspn(text, ", ");
    }
    return count > 0 && count < 1e9 ? count : NAN;
}

/* ---- tags -------------------------------------------------------------------------------------
 */

/*
 * Finds an attribute of a tag and copies its value; returns NULL if the tag has no such attribute.
 */
static const char *get_attribute(const char *tag, const char *name, char *value, size_t room)
{
    size_t length = strlen(name);

    for (const char *p = tag; (p = strstr(p, name)); p += length) {
        const char *q = p + length;
        if (!isspace((unsigned char)p[-1]))
            continue;
        q += strspn(q, " \t\r\n");
        if (*q != '=')
            continue;
        q++;
        q += strspn(q, " \t\r\n");
        if (*q != '"' && *q != '\'')
            continue;
        const char *end = strchr(q + 1, *q);
        if (!end || (size_t)(end - q) > room)
            return NULL;
        snprintf(value, room, "%.*s", (int)(end - q - 1), q + 1);
        return value;
    }
    return NULL;
}

static double get_value(const char *tag, const char *name, const struct simgrid_unit *units)
{
    char value[128];

    return read_value(get_attribute(tag, name, value, sizeof(value)), units);
}

/* Returns whether a tag has an attribute whose value cannot be read. */
static bool is_unreadable(const char *tag, const char *name, const struct simgrid_unit *units)
{
    char value[128];
    const char *text = get_attribute(tag, name, value, sizeof(value));

    return text && isnan(read_value(text, units));
}

static void add_hosts(struct platform *p, const char *tag, double count)
{
    double speed = get_value(tag, "speed", speeds), cores = get_value(tag, "core", times);

    /* Versions 2 and 3 of the format use the name `power` for the attribute `speed`. */
    if (isnan(speed))
        speed = get_value(tag, "power", speeds);
    speed *= cores >= 1 ? cores : 1;
    p->hosts += count;
    p->unknown += isnan(speed);
    p->slowest = fmin(p->slowest, speed);
    p->fastest = fmax(p->fastest, speed);
}

/* Keeps the smaller of two bandwidths, and the larger of two latencies. */
static void keep_slowest(double *bandwidth, double *latency, double new_bandwidth,
                         double new_latency)
{
    *bandwidth = fmin(*bandwidth, new_bandwidth);
    *latency = fmax(*latency, new_latency);
}

static void add_cluster(struct platform *p, const char *tag)
{
    char radical[2048];
    double count = count_radical(get_attribute(tag, "radical", radical, sizeof(radical)));
    double bandwidth = get_value(tag, "bw", bandwidths), latency = get_value(tag, "lat", times);
    double backbone = get_value(tag, "bb_lat", times);

    p->clusters++;
    if (isnan(count)) {
        p->unknown++;
        return;
    }
    add_hosts(p, tag, count);
    bool damaged = is_unreadable(tag, "bb_lat", times);
    p->unknown +=
        damaged || is_unreadable(tag, "bw", bandwidths) || is_unreadable(tag, "lat", times);
    backbone = isnan(backbone) && !damaged ? 0 : backbone;
    keep_slowest(&p->bandwidth, &p->latency, bandwidth, 2 * latency + backbone);
}

/* ---- links and routes -------------------------------------------------------------------------
 */

/* Hashes are compared instead of names; 0 marks an empty place. */
static uint64_t hash_name(const struct platform *p, const char *name)
{
    uint64_t hash = hm__hash_text(&p->key, name);

    return hash ? hash : 1;
}

/* Returns the slot of the hash table that holds the link, or the empty slot for it. */
static struct simgrid_link *find_link(struct platform *p, uint64_t hash)
{
    size_t at = (size_t)(hash % LINK_SLOTS);

    while (p->links[at].hash != hash && p->links[at].hash != 0)
        at = (at + 1) % LINK_SLOTS;
    return &p->links[at];
}

static void add_link(struct platform *p, const char *tag)
{
    char name[512];
    double bandwidth = get_value(tag, "bandwidth", bandwidths);
    double latency = get_value(tag, "latency", times);
    struct simgrid_link *link =
        get_attribute(tag, "id", name, sizeof(name)) ? find_link(p, hash_name(p, name)) : NULL;

    p->link_count++;
    if (!link || isnan(bandwidth) || (link->hash == 0 && p->links_used == LINKS_MOST)) {
        p->unknown++;
        return;
    }
    p->links_used += link->hash == 0;
    if (is_unreadable(tag, "latency", times))
        p->unknown++;
    else if (isnan(latency))
        latency = 0;
    *link = (struct simgrid_link){hash_name(p, name), bandwidth, latency};
    keep_slowest(&p->link_bandwidth, &p->link_latency, bandwidth, latency);
}

static void add_hop(struct platform *p, const char *tag)
{
    char name[512];
    struct simgrid_link *link =
        get_attribute(tag, "id", name, sizeof(name)) ? find_link(p, hash_name(p, name)) : NULL;

    if (!p->in_route || !link || link->hash == 0)
        return;
    p->route_bandwidth = fmin(p->route_bandwidth, link->bandwidth);
    p->route_latency += link->latency;
}

static void end_route(struct platform *p)
{
    if (p->in_route && isfinite(p->route_bandwidth)) {
        p->routes++;
        keep_slowest(&p->bandwidth, &p->latency, p->route_bandwidth, p->route_latency);
    }
    p->in_route = false;
}

static bool is_tag(const char *tag, const char *name)
{
    size_t length = strlen(name);

    return strncmp(tag, name, length) == 0 &&
           (isspace((unsigned char)tag[length]) || tag[length] == '/' || tag[length] == '\0');
}

static void take_tag(struct platform *p, const char *tag)
{
    if (is_tag(tag, "host"))
        add_hosts(p, tag, 1);
    else if (is_tag(tag, "cluster"))
        add_cluster(p, tag);
    else if (is_tag(tag, "link"))
        add_link(p, tag);
    else if (is_tag(tag, "link_ctn") || is_tag(tag, "link:ctn"))
        add_hop(p, tag);
    else if (is_tag(tag, "/route"))
        end_route(p);
    else if (is_tag(tag, "route")) {
        p->in_route = true;
        p->route_bandwidth = INFINITY;
        p->route_latency = 0;
    }
}

/* ---- the stream -------------------------------------------------------------------------------
 */

/*
 * Skips a comment whose "<!--" has already been read; returns false if the file ends inside the
 * comment.
 */
static bool skip_comment(struct hm_stream *in)
{
    int dashes = 0, c;

    while ((c = hm__stream_see(in)) >= 0) {
        in->at++;
        if (c == '>' && dashes >= 2)
            return true;
        dashes = c == '-' ? dashes + 1 : 0;
    }
    return false;
}

/*
 * Reads a tag whose '<' has already been read, up to its '>'. Returns the length of the tag, or -1
 * if the file ends inside it. A tag that is too long is truncated.
 */
static int read_tag(struct hm_stream *in, char *tag)
{
    int length = 0, c, quote = 0;

    while ((c = hm__stream_see(in)) >= 0) {
        in->at++;
        if (quote ? c == quote : c == '"' || c == '\'')
            quote = quote ? 0 : c;
        else if (!quote && c == '>') {
            tag[length] = '\0';
            return length;
        }
        if (length < TAG_ROOM - 1 && c)
            tag[length++] = (char)c;
        if (length == 3 && memcmp(tag, "!--", 3) == 0) {
            tag[0] = '\0';
            return skip_comment(in) ? 0 : -1;
        }
    }
    return -1;
}

/* Reads all tags; returns true if the closing tag </platform> was found. */
static bool read_tags(struct platform *p)
{
    char tag[TAG_ROOM];
    int c;

    while ((c = hm__stream_see(&p->im->in)) >= 0) {
        p->im->in.at++;
        if (c != '<')
            continue;
        if (read_tag(&p->im->in, tag) < 0)
            return false;
        if (is_tag(tag, "/platform"))
            return true;
        take_tag(p, tag);
    }
    return false;
}

static void put_cluster(struct platform *p)
{
    struct hm_text *out = &p->im->document;

    if (!(p->hosts >= 1) || !(p->slowest > 0))
        return;
    p->im->document_kind = "cluster";
    hm__text_add(out, "# From a platform of SimGrid.\nflops: ");
    hm__json_number(out, p->slowest);
    hm__text_add(out, " flop/s\nefficiency: 1\n");
    if (p->bandwidth > 0 && p->latency >= 0) {
        hm__text_add(out, "fabric: {bandwidth: ");
        hm__json_number(out, p->bandwidth);
        hm__text_add(out, " byte/s, latency: ");
        hm__json_number(out, p->latency);
        hm__text_add(out, " s}\n");
    }
    hm__text_addf(out, "max_nodes: %.0f\n", p->hosts);
}

static int simgrid_read(struct hm_imported *im, struct hm_err *err)
{
    struct platform p = {.im = im,
                         .slowest = NAN,
                         .fastest = NAN,
                         .bandwidth = NAN,
                         .latency = NAN,
                         .link_bandwidth = NAN,
                         .link_latency = NAN};
    struct hm_json *j = &im->facts;

    hm__json_put_text(j, "format", "simgrid platform");
    if (!(p.links = hm__calloc(LINK_SLOTS, sizeof(*p.links))))
        return hm__fail_nomem(err);
    hm__hash_begin(&p.key);
    if (!read_tags(&p))
        hm__import_cut(im);
    hm__free(p.links);
    /*
     * A platform without routes and clusters is given the bandwidth and the latency of its slowest
     * link.
     */
    if (isnan(p.bandwidth)) {
        p.bandwidth = p.link_bandwidth;
        p.latency = p.link_latency;
    }
    hm__json_put_number(j, "hosts", p.hosts);
    hm__json_put_number(j, "clusters", p.clusters);
    hm__json_put_number(j, "links", p.link_count);
    hm__json_put_number(j, "routes", p.routes);
    hm__json_put_number(j, "slowest_flops", p.slowest);
    hm__json_put_number(j, "fastest_flops", p.fastest);
    hm__json_put_number(j, "bandwidth_bytes_per_s", p.bandwidth);
    hm__json_put_number(j, "latency_s", p.latency);
    hm__import_took(im, p.hosts, "hosts");
    hm__import_took(im, p.link_count, "links");
    hm__import_left(im, p.unknown, "hosts, links or clusters without a readable value");
    if (p.fastest > p.slowest)
        hm__import_note(im, "the hosts differ in speed: the speed of the slowest is used");
    put_cluster(&p);
    return 0;
}

static int simgrid_recognise(const struct hm_import_head *head)
{
    if (!hm__find(head->text, head->length, "<platform"))
        return 0;
    return hm__find(head->text, head->length, "simgrid.dtd") ? 95 : 70;
}

const struct hm_importer hm__importer_simgrid = {
    .name = "simgrid",
    .title = "platform of SimGrid",
    .becomes = "a cluster",
    .recognise = simgrid_recognise,
    .read = simgrid_read,
};
