/* howmany catalog: list what is known, show one entry, import a price list. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "format.h"
#include "render.h"
#include "text.h"

struct catalog_state {
    const char *words[3];
    size_t word_count;
    const char *region, *output;
    bool json, names, spot;
};

enum option { JSON, NAMES, REGION, SPOT, OUTPUT };

static const struct cli_option options[] = {
    [JSON] = {"json", 'j', NULL, "as JSON", NULL},
    [NAMES] = {"names", 0, NULL, "list: names only, one a line", NULL},
    [REGION] = {"region", 0, "NAME", "import: prices of that region (default: the cheapest)", NULL},
    [SPOT] = {"spot", 0, NULL, "import: spot prices instead of on-demand", NULL},
    [OUTPUT] = {"output", 'o', "FILE",
                "import: write there instead of into your own catalog; - is standard output",
                "@file"},
};

static const char *const kinds[] = {"machines", "fabrics", "networks", "accelerators"};

static void *begin(void)
{
    return calloc(1, sizeof(struct catalog_state));
}

static int accept(void *state, int option, const char *value)
{
    struct catalog_state *s = state;

    switch (option) {
    case -1:
        if (s->word_count == 2)
            return cli_complain("catalog: too many words at '%s'", value);
        s->words[s->word_count++] = value;
        break;
    case JSON:
        s->json = true;
        break;
    case NAMES:
        s->names = true;
        break;
    case REGION:
        s->region = value;
        break;
    case SPOT:
        s->spot = true;
        break;
    case OUTPUT:
        s->output = value;
        break;
    default:
        break;
    }
    return 0;
}

static double any_flops(const struct hm_node *n)
{
    return n->flops_32 > 0 ? n->flops_32 : n->flops_64 > 0 ? n->flops_64 : n->flops_16;
}

static void text_machine(struct hm_text *out, const char *name, const struct hm_cluster *c,
                         const char *title)
{
    char flops[HM_SHOWN] = "?", memory[HM_SHOWN] = "?", rate[HM_SHOWN] = "?", price[HM_SHOWN] = "?";

    if (any_flops(&c->node) > 0)
        hm__show_flops(any_flops(&c->node), flops);
    if (c->node.memory_bytes > 0)
        hm__show_bytes(c->node.memory_bytes, memory);
    if (c->network.bandwidth_bytes_per_s > 0)
        hm__show_rate(c->network.bandwidth_bytes_per_s, rate);
    if (c->node.price_per_s >= 0)
        hm__show_money(c->node.price_per_s * 3600, price);
    hm__text_addf(out, "%-26s %3g x %-13s %-9s %-12s %-8s %s\n", name, c->node.accelerators, flops,
                  memory, rate, price, title ? title : "");
}

static void json_field(struct hm_text *out, const char *key, double value)
{
    hm__text_addf(out, ",\"%s\":", key);
    if (value > 0)
        hm__json_number(out, value);
    else
        hm__text_add(out, "null");
}

static void json_texts(struct hm_text *out, const struct hm_catalog *catalog,
                       enum hm_catalog_kind kind, const char *name)
{
    static const char *const keys[] = {"title", "source", "date"};

    for (size_t i = 0; i < 3; i++) {
        hm__text_addf(out, ",\"%s\":", keys[i]);
        hm__json_text(out, hm_catalog_text(catalog, kind, name, keys[i]));
    }
}

static void json_machine(struct hm_text *out, const struct hm_cluster *c)
{
    const struct hm_node *n = &c->node;

    json_field(out, "flops_16", n->flops_16);
    json_field(out, "flops_32", n->flops_32);
    json_field(out, "flops_64", n->flops_64);
    json_field(out, "efficiency", n->efficiency);
    json_field(out, "memory_bandwidth_bytes_per_s", n->memory_bandwidth_bytes_per_s);
    json_field(out, "kernel_overhead_s", n->kernel_overhead_s);
    json_field(out, "memory_bytes", n->memory_bytes);
    json_field(out, "accelerators", n->accelerators);
    json_field(out, "link_bandwidth_bytes_per_s", n->link.bandwidth_bytes_per_s);
    json_field(out, "link_latency_s", n->link.latency_s);
    json_field(out, "bandwidth_bytes_per_s", c->network.bandwidth_bytes_per_s);
    json_field(out, "latency_s", c->network.latency_s);
    hm__text_add(out, ",\"price_per_h\":");
    hm__json_known(out, n->price_per_s >= 0 ? n->price_per_s * 3600 : -1);
}

/* A network of the catalog as a job, which is how networks are read. */
static int load_network(const struct hm_catalog *catalog, const char *name, struct hm_job **job,
                        struct hm_counts **counts, struct hm_err *err)
{
    char text[200];

    snprintf(text, sizeof(text), "{\"network\": \"%.100s\", \"batch\": 1}", name);
    int rc = hm_job_parse_with(catalog, text, strlen(text), "catalog", NULL, 0, job, err);
    if (rc)
        return rc;
    rc = hm_counts_new((*job)->network, "catalog", counts, err);
    if (rc)
        hm_job_free(*job);
    return rc;
}

static int put_network(struct hm_text *out, const struct hm_catalog *catalog, const char *name,
                       bool json, bool layers)
{
    struct hm_err err = {0};
    struct hm_job *job;
    struct hm_counts *counts;
    const char *title = hm_catalog_text(catalog, HM_CATALOG_NETWORK, name, "title");
    int rc = load_network(catalog, name, &job, &counts, &err);

    if (rc == HM_E_MISSING) { /* a network whose input the job must give */
        if (json)
            hm__text_add(out, ",\"parameters\":null,\"forward_flop\":null");
        else
            hm__text_addf(out, "%-22s %12s %12s  %s\n", name, "", "", title ? title : "");
        return 0;
    }
    if (rc)
        return cli_report(&err);
    if (json) {
        json_field(out, "parameters", counts->parameters);
        json_field(out, "forward_flop", counts->forward_flop);
    } else if (layers) {
        hm__render_layers(out, counts, 4);
    } else {
        hm__text_addf(out, "%-22s %12.4g %12.4g  %s\n", name, counts->parameters,
                      counts->forward_flop, title ? title : "");
    }
    hm_counts_free(counts);
    hm_job_free(job);
    return 0;
}

static int put_machine(struct hm_text *out, const struct hm_catalog *catalog,
                       enum hm_catalog_kind kind, const char *name, bool json)
{
    struct hm_err err = {0};
    struct hm_cluster *cluster;

    if (hm_catalog_machine(catalog, name, &cluster, &err))
        return cli_report(&err);
    if (json)
        json_machine(out, cluster);
    else
        text_machine(out, name, cluster, hm_catalog_text(catalog, kind, name, "title"));
    hm_cluster_free(cluster);
    return 0;
}

static int put_fabric(struct hm_text *out, const struct hm_catalog *catalog, const char *name,
                      bool json)
{
    struct hm_err err = {0};
    struct hm_link link;
    char rate[HM_SHOWN], time[HM_SHOWN];
    const char *title = hm_catalog_text(catalog, HM_CATALOG_FABRIC, name, "title");

    if (hm_catalog_fabric(catalog, name, &link, &err))
        return cli_report(&err);
    if (json) {
        json_field(out, "bandwidth_bytes_per_s", link.bandwidth_bytes_per_s);
        hm__text_add(out, ",\"latency_s\":");
        hm__json_number(out, link.latency_s);
    } else {
        hm__text_addf(out, "%-16s %12s %10s  %s\n", name,
                      hm__show_rate(link.bandwidth_bytes_per_s, rate),
                      hm__show_time(link.latency_s, time), title ? title : "");
    }
    return 0;
}

static int put_entry(struct hm_text *out, const struct hm_catalog *catalog,
                     enum hm_catalog_kind kind, const char *name, bool json, bool layers)
{
    int rc;

    if (json) {
        hm__text_add(out, "{\"name\":");
        hm__json_text(out, name);
        json_texts(out, catalog, kind, name);
    }
    if (kind == HM_CATALOG_FABRIC)
        rc = put_fabric(out, catalog, name, json);
    else if (kind == HM_CATALOG_NETWORK)
        rc = put_network(out, catalog, name, json, layers);
    else
        rc = put_machine(out, catalog, kind, name, json);
    if (json)
        hm__text_add(out, "}");
    return rc;
}

static int list_kind(struct hm_text *out, const struct catalog_state *s,
                     const struct hm_catalog *catalog, enum hm_catalog_kind kind)
{
    static const char *const heads[] = {
        "machine                    workers             memory    network      $/h\n",
        "fabric              bandwidth    latency\n",
        "network                  parameters forward flop\n",
        "accelerator                                    memory\n"};
    size_t count = hm_catalog_count(catalog, kind);
    int rc = 0;

    if (!s->json && !s->names)
        hm__text_add(out, heads[kind]);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        const char *name = hm_catalog_name(catalog, kind, i);
        if (s->names) {
            hm__text_addf(out, "%s\n", name);
            continue;
        }
        hm__text_add(out, s->json && i ? ",\n " : "");
        rc = put_entry(out, catalog, kind, name, s->json, false);
    }
    return rc;
}

static int run_list(const struct catalog_state *s, const struct hm_catalog *catalog,
                    struct hm_text *out)
{
    int rc = 0, wanted = -1;

    for (int k = 0; s->word_count > 1 && k < HM_CATALOG_KINDS; k++)
        if (strcmp(s->words[1], kinds[k]) == 0)
            wanted = k;
    if (s->word_count > 1 && wanted < 0)
        return cli_complain("catalog: '%s' is not machines, fabrics, networks or accelerators",
                            s->words[1]);
    hm__text_add(out, s->json ? "{" : "");
    for (int k = 0, first = 1; rc == 0 && k < HM_CATALOG_KINDS; k++) {
        if (wanted >= 0 && k != wanted)
            continue;
        if (s->json)
            hm__text_addf(out, "%s\"%s\":[", first ? "" : ",\n", kinds[k]);
        else if (!first && !s->names)
            hm__text_add(out, "\n");
        rc = list_kind(out, s, catalog, (enum hm_catalog_kind)k);
        hm__text_add(out, s->json ? "]" : "");
        first = 0;
    }
    hm__text_add(out, s->json ? "}\n" : "");
    return rc;
}

static void show_texts(struct hm_text *out, const struct hm_catalog *catalog,
                       enum hm_catalog_kind kind, const char *name)
{
    static const char *const keys[] = {"title", "source", "date"};

    for (size_t i = 0; i < 3; i++) {
        const char *text = hm_catalog_text(catalog, kind, name, keys[i]);
        if (text)
            hm__text_addf(out, "%-16s %s\n", keys[i], text);
    }
}

/* Every figure of a machine on a line of its own. */
static int show_machine(struct hm_text *out, const struct hm_catalog *catalog, const char *name)
{
    struct hm_err err = {0};
    struct hm_cluster *c;
    char shown[HM_SHOWN];

    if (hm_catalog_machine(catalog, name, &c, &err))
        return cli_report(&err);
    const struct {
        const char *key;
        double value;
        const char *(*show)(double, char *);
    } rows[] = {
        {"flops 16 bit", c->node.flops_16, hm__show_flops},
        {"flops 32 bit", c->node.flops_32, hm__show_flops},
        {"flops 64 bit", c->node.flops_64, hm__show_flops},
        {"efficiency", c->node.efficiency, hm__show_number},
        {"memory", c->node.memory_bytes, hm__show_bytes},
        {"its bandwidth", c->node.memory_bandwidth_bytes_per_s, hm__show_byte_rate},
        {"kernel overhead", c->node.kernel_overhead_s, hm__show_time},
        {"workers", c->node.accelerators, hm__show_number},
        {"link", c->node.link.bandwidth_bytes_per_s, hm__show_byte_rate},
        {"link latency", c->node.link.latency_s, hm__show_time},
        {"network", c->network.bandwidth_bytes_per_s, hm__show_rate},
        {"latency", c->network.latency_s, hm__show_time},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].value > 0)
            hm__text_addf(out, "%-16s %s\n", rows[i].key, rows[i].show(rows[i].value, shown));
    hm__text_addf(out, "%-16s %s\n", "price an hour",
                  c->node.price_per_s >= 0 ? hm__show_money(c->node.price_per_s * 3600, shown)
                                           : "not known");
    hm_cluster_free(c);
    return 0;
}

static bool has_entry(const struct hm_catalog *catalog, enum hm_catalog_kind kind, const char *name)
{
    size_t count = hm_catalog_count(catalog, kind);

    for (size_t i = 0; i < count; i++)
        if (strcmp(hm_catalog_name(catalog, kind, i), name) == 0)
            return true;
    return false;
}

static int run_show(const struct catalog_state *s, const struct hm_catalog *catalog,
                    struct hm_text *out)
{
    struct hm_err err = {0};
    const char *name = s->words[1];
    int kind = -1;

    if (s->word_count < 2)
        return cli_complain("catalog show: which entry? 'howmany catalog list' shows all");
    for (int k = 0; k < HM_CATALOG_KINDS && kind < 0; k++)
        if (has_entry(catalog, (enum hm_catalog_kind)k, name))
            kind = k;
    if (kind < 0) {
        struct hm_cluster *none;
        hm_catalog_machine(catalog, name, &none, &err);
        return cli_report(&err);
    }
    int rc = 0;
    if (!s->json)
        show_texts(out, catalog, (enum hm_catalog_kind)kind, name);
    if (!s->json && (kind == HM_CATALOG_MACHINE || kind == HM_CATALOG_ACCELERATOR))
        rc = show_machine(out, catalog, name);
    else
        rc = put_entry(out, catalog, (enum hm_catalog_kind)kind, name, s->json, true);
    hm__text_add(out, s->json ? "\n" : "");
    return rc;
}

/* mkdir -p, for a path of our own making. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

/* Where an import goes: --output, or a file of the same name in the person's catalog. */
static int import_path(const struct catalog_state *s, char *path, size_t room)
{
    const char *slash = strrchr(s->words[1], '/'), *base = slash ? slash + 1 : s->words[1];
    int length = (int)strcspn(base, ".");

    /* Price lists are all called vms.csv: the folder tells them apart. */
    if (slash && length == 3 && strncmp(base, "vms", 3) == 0) {
        const char *folder = slash;
        while (folder > s->words[1] && folder[-1] != '/')
            folder--;
        if (folder < slash && folder[0] != '.') {
            base = folder;
            length = (int)(slash - folder);
        }
    }
    if (length == 0) {
        base = "import";
        length = 6;
    }

    if (s->output) {
        snprintf(path, room, "%s", s->output);
        return 0;
    }
    if (!cli_catalog_folder(path, room))
        return cli_complain("there is no home folder; give --output FILE");
    size_t used = strlen(path);
    snprintf(path + used, room - used, "/%.*s.yaml", length, base);
    if (!make_folders(path))
        return cli_complain("cannot make the folder of %s: %s", path, strerror(errno));
    return 0;
}

static int save(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    if (!out)
        return cli_complain("cannot write %s: %s", path, strerror(errno));
    bool ok = fputs(text, out) >= 0;
    ok = fclose(out) == 0 && ok;
    return ok ? 0 : cli_complain("cannot write %s: %s", path, strerror(errno));
}

static int run_import(const struct catalog_state *s, struct hm_text *out)
{
    struct hm_catalog *built_in;
    struct hm_import report = {0};
    struct hm_err err = {0};
    char path[1024];

    if (s->word_count < 2)
        return cli_complain("catalog import: which file? Give a SkyPilot vms.csv");
    /* Hardware comes from what is built in, not from an earlier import. */
    if (hm_catalog_new(&built_in, &err))
        return cli_report(&err);
    int failed = hm_catalog_import(built_in, s->words[1], s->region, s->spot, &report, &err);
    if (failed == 0) /* what we write must be readable again */
        failed = hm_catalog_add(built_in, report.text, strlen(report.text), "import", &err);
    hm_catalog_free(built_in);
    if (failed) {
        hm_text_free(report.text);
        return cli_report(&err);
    }
    int rc = import_path(s, path, sizeof(path));
    bool replaced = rc == 0 && access(path, F_OK) == 0;
    if (rc == 0 && strcmp(path, "-") == 0)
        hm__text_add(out, report.text);
    else if (rc == 0 && (rc = save(path, report.text)) == 0)
        hm__text_addf(
            out,
            "%zu rows, %zu machines into %s%s: %zu with hardware from the catalog, %zu with "
            "a known accelerator, %zu without a price\n",
            report.rows, report.machines, path, replaced ? " (replaced)" : "", report.known,
            report.accelerated, report.unpriced);
    hm_text_free(report.text);
    return rc;
}

static int run(void *state)
{
    const struct catalog_state *s = state;
    const char *verb = s->word_count ? s->words[0] : "list";
    struct hm_text out = {0};
    int rc;

    if (s->json && s->names)
        return cli_complain("catalog: --json and --names do not go together");
    struct hm_catalog *catalog = NULL;
    bool import = strcmp(verb, "import") == 0; /* may be there to mend what cannot be loaded */
    if (!import && !(catalog = cli_catalog_load()))
        return EXIT_USAGE;
    if (import)
        rc = run_import(s, &out);
    else if (strcmp(verb, "list") == 0)
        rc = run_list(s, catalog, &out);
    else if (strcmp(verb, "show") == 0)
        rc = run_show(s, catalog, &out);
    else
        rc = cli_complain("catalog: '%s' is not list, show or import", verb);
    rc = rc ? rc : cli_put_text(&out);
    hm__text_release(&out);
    cli_catalog_free(catalog);
    return rc;
}

const struct cli_command cli_catalog = {
    .name = "catalog",
    .arguments = "[list [KIND] | show NAME | import FILE]",
    .summary = "machines, networks and neural networks that are known by name",
    .description =
        "list shows all entries, or those of a kind (machines, fabrics, networks, accelerators). "
        "show shows one of them with its source and date, a network layer by layer. import reads a "
        "SkyPilot vms.csv, plain or gzip, and adds its machines and prices to your own catalog, "
        "whose entries hide built-in ones of the same name.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "list show import machines fabrics networks accelerators",
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = free,
};
