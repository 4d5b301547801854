/*
 * Writes a cluster as a SimGrid platform. A message of M bytes from one node to another takes a +
 * M/B seconds, as in the models of `plan`, with the latency a and bandwidth B of the cluster's
 * network. It crosses the port of the sender and the port of the receiver, so each port has half
 * the latency. Ports are full duplex; messages in the same direction share the bandwidth. Within a
 * node, every pair of workers has the full bandwidth of the link.
 *
 * Limits: there is no switch, no protocol and no contention outside the ports, as in the models of
 * `plan`.
 */
#include "simgrid_platform.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "memory.h"
#include "text.h"

/*
 * SimGrid settings that make the times depend only on the platform file. The defaults describe one
 * TCP network of 2013, and measure the computation on this machine.
 */
static const char *const settings[] = {
    /* With these settings, messages share the bandwidth evenly, and no other effect of a network is
       simulated. */
    "network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
    "network/TCP-gamma:1e18", /* With this setting, the TCP window does not limit messages. */
    "network/crosstraffic:0", /* With this setting, acknowledgements use no bandwidth. */
    "network/weight-S:0",
    /* With these settings, only the floating-point operations that a rank declares take time. */
    "smpi/simulate-computation:no", "smpi/wtime:0", "smpi/init:0",
    "smpi/test:0", /* With this setting, MPI_Test takes no time. */
    /* With these settings, a message of any size starts only when both sides are ready. */
    "smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0",
    /* Use the collective algorithms of Open MPI, because SimGrid's defaults are much slower. */
    "smpi/coll-selector:ompi",
    /* The ranks run in one process and share its global variables, which never change; each rank
       has its own stack. */
    "smpi/privatization:no", "contexts/stack-size:1024", /* Size of a stack in KiB; only pages that
                                                            are used occupy memory. */
};

/* Show only errors in SimGrid's log, because its warnings about failed ranks would hide the error
 * messages of the ranks themselves. */
static const char quiet_log[] = "--log=root.thres:error";

/* ---- checks --------------------------------------------------------------------------------- */

static int fail_missing(struct hm_err *err, const char *field, const char *message,
                        const char *hint)
{
    hm__fail(err, HM_E_MISSING, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_field(err, field);
    return HM_E_MISSING;
}

static int worker_flops(const struct hm_cluster *cluster, int precision, double *ret_flops,
                        struct hm_err *err)
{
    const struct hm_node *node = &cluster->node;
    double peak = precision == 64   ? node->flops_64
                  : precision == 32 ? node->flops_32
                                    : node->flops_16;
    char message[256];

    if (precision != 16 && precision != 32 && precision != 64) {
        hm__fail(err, HM_E_RANGE, "the precision is %d bits", precision);
        hm__err_hint(err, "it must be 16, 32 or 64");
        return HM_E_RANGE;
    }
    if (!(peak > 0) && precision == 16)
        /* If the speed for 16 bits is not given, the speed for 32 bits is used, as in `plan`. */
        peak = node->flops_32;
    if (!(peak > 0)) {
        snprintf(message, sizeof(message), "the machine%s%.64s has no flops for %d bit",
                 cluster->name ? " " : "", cluster->name ? cluster->name : "", precision);
        return fail_missing(err, "cluster.flops", message,
                            "give flops: a speed such as 105.6 Gflop/s");
    }
    *ret_flops = peak * (node->efficiency > 0 ? node->efficiency : 1);
    return 0;
}

static int check_size(const struct hm_cluster *cluster, double n, double nodes, struct hm_err *err)
{
    if (!(n >= 1 && n <= 1e6) || n != floor(n)) {
        hm__fail(err, HM_E_RANGE, "%g ranks cannot be simulated", n);
        hm__err_hint(err, "the number of ranks must be a whole number from 1 to 1e6");
        return HM_E_RANGE;
    }
    if (cluster->max_nodes > 0 && nodes > cluster->max_nodes) {
        hm__fail(err, HM_E_RANGE, "%g ranks need %g nodes, and there are %g", n, nodes,
                 cluster->max_nodes);
        hm__err_field(err, "cluster.max_nodes");
        return HM_E_RANGE;
    }
    return 0;
}

/*
 * Checks that the cluster specifies the bandwidths that a run needs: the bandwidth of the network
 * if there are several nodes, and the bandwidth of the link within a node if n workers share
 * `filled` nodes.
 */
static int check_links(const struct hm_cluster *cluster, double n, double filled, double nodes,
                       struct hm_err *err)
{
    if (nodes > 1 && !(cluster->fabric.bandwidth_bytes_per_s > 0))
        return fail_missing(err, "cluster.fabric", "the cluster has no fabric",
                            "name one with --fabric 10gbe, or give cluster.fabric");
    if (n > filled && !(cluster->node.link.bandwidth_bytes_per_s > 0))
        return fail_missing(err, "cluster.link", "several accelerators need a link between them",
                            "give link: {bandwidth: 300 GB/s, latency: 3 us}");
    return 0;
}

/*
 * Checks that the path of a folder contains no characters at which SimGrid would split an argument.
 */
static int check_folder(const char *folder, struct hm_err *err)
{
    if (!strpbrk(folder, " \t\n,"))
        return 0;
    hm__fail(err, HM_E_IO, "SimGrid cannot read files in '%.200s'", folder);
    hm__err_hint(err, "set TMPDIR to a folder without blanks and commas in its name");
    return HM_E_IO;
}

/* ---- files ---------------------------------------------------------------------------------- */

static void add_cluster(struct hm_text *out, const struct hm_cluster *cluster,
                        const struct simgrid_platform *platform)
{
    const struct hm_node *node = &cluster->node;
    struct hm_link port = cluster->fabric;

    /* A single node needs no network, but the platform file must contain one, so an arbitrary
     * bandwidth and latency are written. */
    if (!(port.bandwidth_bytes_per_s > 0))
        port = (struct hm_link){1e9, 0};
    hm__text_add(out, "<?xml version='1.0'?>\n"
                      "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                      "<platform version=\"4.1\">\n");
    hm__text_addf(out, "  <cluster id=\"cluster\" prefix=\"node-\" suffix=\"\" radical=\"0-%.0f\"",
                  platform->nodes - 1);
    hm__text_addf(out, "\n    speed=\"%.17gf\" core=\"%.0f\"", platform->flops, node->accelerators);
    hm__text_addf(out, "\n    bw=\"%.17gBps\" lat=\"%.17gs\" sharing_policy=\"SPLITDUPLEX\"",
                  port.bandwidth_bytes_per_s, port.latency_s / 2);
    struct hm_link within = node->link;
    /* If the node has no link, its ranks communicate through memory. */
    if (!(within.bandwidth_bytes_per_s > 0))
        within = (struct hm_link){10e9, 0};
    if (platform->ranks > platform->nodes)
        hm__text_addf(out, "\n    loopback_bw=\"%.17gBps\" loopback_lat=\"%.17gs\"",
                      within.bandwidth_bytes_per_s, within.latency_s);
    hm__text_add(out, "/>\n</platform>\n");
}

static void add_hosts(struct hm_text *out, const struct launch_ranks *ranks, double per_node)
{
    double filled = ceil(ranks->workers / per_node);

    for (double rank = 0; rank < ranks->workers; rank++)
        hm__text_addf(out, "node-%.0f\n", floor(rank / per_node));
    for (double k = 0; k < ranks->others; k++)
        hm__text_addf(out, "node-%.0f\n", ranks->beside ? fmod(k, filled) : filled + k);
}

static int write_text_file(const char *path, const struct hm_text *text, struct hm_err *err)
{
    FILE *file = text->failed ? NULL : fopen(path, "w");

    if (text->failed)
        return hm__fail_nomem(err);
    bool written = file && fwrite(text->data, 1, text->length, file) == text->length;
    if (file && fclose(file) != 0)
        written = false;
    return written ? 0 : hm__fail(err, HM_E_IO, "cannot write %.200s: %s", path, strerror(errno));
}

static char *path_in_folder(const char *folder, const char *name)
{
    struct hm_text path = {0};
    char *taken = NULL;

    hm__text_addf(&path, "%s/%s", folder, name);
    hm__text_take(&path, &taken, NULL);
    hm__text_release(&path);
    return taken;
}

static int write_platform_files(const char *folder, const struct hm_cluster *cluster,
                                const struct launch_ranks *ranks, struct simgrid_platform *platform,
                                struct hm_err *err)
{
    struct hm_text xml = {0}, hosts = {0};
    int rc = 0;

    platform->file = path_in_folder(folder, "platform.xml");
    platform->hosts = path_in_folder(folder, "hosts.txt");
    add_cluster(&xml, cluster, platform);
    add_hosts(&hosts, ranks, cluster->node.accelerators);
    if (!platform->file || !platform->hosts)
        rc = hm__fail_nomem(err);
    if (rc == 0)
        rc = write_text_file(platform->file, &xml, err);
    if (rc == 0)
        rc = write_text_file(platform->hosts, &hosts, err);
    hm__text_release(&xml);
    hm__text_release(&hosts);
    return rc;
}

int simgrid_platform_write(const char *folder, const struct hm_cluster *cluster,
                           const struct launch_ranks *ranks, int precision,
                           struct simgrid_platform *ret_platform, struct hm_err *err)
{
    double filled = ceil(ranks->workers / cluster->node.accelerators);
    struct simgrid_platform platform = {.ranks = ranks->workers + ranks->others,
                                        .nodes = filled + (ranks->beside ? 0 : ranks->others)};
    int rc = check_size(cluster, platform.ranks, platform.nodes, err);

    if (rc == 0)
        rc = worker_flops(cluster, precision, &platform.flops, err);
    if (rc == 0)
        rc = check_links(cluster, ranks->workers, filled, platform.nodes, err);
    if (rc == 0)
        rc = check_folder(folder, err);
    if (rc == 0)
        rc = write_platform_files(folder, cluster, ranks, &platform, err);
    if (rc)
        simgrid_platform_release(&platform);
    else
        *ret_platform = platform;
    return rc;
}

void simgrid_platform_release(struct simgrid_platform *platform)
{
    hm_text_free(platform->file);
    hm_text_free(platform->hosts);
    *platform = (struct simgrid_platform){0};
}

/* ---- the command ---------------------------------------------------------------------------- */

static int add_setting(struct launch_command *command, struct hm_err *err, const char *format, ...)
    HM_PRINTF(3, 4);

static int add_setting(struct launch_command *command, struct hm_err *err, const char *format, ...)
{
    char setting[4096] = "--cfg=";
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(setting + 6, sizeof(setting) - 6, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(setting) - 6)
        return hm__fail(err, HM_E_LIMIT, "a file name is too long: %.200s", setting);
    return launch_command_add(command, setting, err);
}

static int add_settings(struct launch_command *command, const struct simgrid_platform *platform,
                        struct hm_err *err)
{
    int rc = add_setting(command, err, "smpi/np:%.0f", platform->ranks);

    if (rc == 0)
        rc = add_setting(command, err, "smpi/hostfile:%s", platform->hosts);
    if (rc == 0)
        rc = add_setting(command, err, "smpi/host-speed:%.17gf", platform->flops);
    for (size_t i = 0; rc == 0 && i < sizeof(settings) / sizeof(settings[0]); i++)
        rc = add_setting(command, err, "%s", settings[i]);
    return rc ? rc : launch_command_add(command, quiet_log, err);
}

int simgrid_platform_command(const struct simgrid_platform *platform, const char *smpimain,
                             const char *program, char *const *arguments, size_t count,
                             struct launch_command *ret_command, struct hm_err *err)
{
    struct launch_command command = {0};
    int rc = launch_command_add(&command, smpimain, err);

    if (rc == 0)
        rc = launch_command_add(&command, program, err);
    if (rc == 0)
        rc = add_settings(&command, platform, err);
    if (rc == 0)
        rc = launch_command_add(&command, platform->file, err);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = launch_command_add(&command, arguments[i], err);
    if (rc)
        launch_command_release(&command);
    else
        *ret_command = command;
    return rc;
}
