/*
 * Imports a price list of SkyPilot (vms.csv, https://github.com/skypilot-org/skypilot-catalog) and
 * writes a catalog file. The columns InstanceType, AcceleratorName, AcceleratorCount, vCPUs,
 * MemoryGiB, Price, SpotPrice and Region are found by name, in any order; other columns are
 * ignored.
 *
 * A price list contains prices, but no speeds. A machine that is in the catalog keeps its hardware
 * data and is given the new price. Any other machine is given the data of its accelerator, if the
 * accelerator is in the catalog; with an unknown accelerator, its speed is unknown, and plans with
 * it report this. A machine without accelerators is given the typical speed of its cores, which is
 * marked as assumed. An empty price is unknown, not $0.
 *
 * At most 10000 machines are read.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "csv.h"
#include "err.h"
#include "hash.h"
#include "readers.h"
#include "text.h"

/* NAME_LONGEST is the largest number of characters of the name of a machine. */
enum { NAME_LONGEST = 128, SLOTS = 4 * HM_VALUE_ENTRIES };

struct machine {
    /*
     * Name of the machine and name of its accelerator, in the arena; the second is NULL if the
     * machine has no accelerator.
     */
    const char *name, *accelerator;
    const char *region; /* Region to which the price applies; in the arena. */
    /* Number of accelerators, number of vCPUs, and memory in GiB; -1 if not given. */
    double accelerators, vcpus, memory_gib;
    double price; /* Price of the machine in dollars per hour; negative if unknown. */
};

struct importer {
    struct hm_csv *csv;
    /* Indices of the columns in the table; -1 if the table has no such column. */
    int instance, accelerator, accelerator_count, vcpus, memory, price, region;
    struct hm_arena *arena;
    struct machine *machines;
    size_t count, room, last; /* `last` is the index of the machine in the previous row. */
    /*
     * Hash table that finds machines by name, an array of SLOTS elements in the arena: 1 + the
     * index of a machine, or 0 if the slot is free.
     */
    unsigned *slots;
    struct hm_hash_key key;
    const char *wanted_region, *price_name;
    struct hm_err *err;
};

static int find_columns(struct importer *im, bool spot)
{
    int rc = hm__csv_need(im->csv, "InstanceType", &im->instance, im->err);

    im->price_name = spot ? "SpotPrice" : "Price";
    if (rc == 0)
        rc = hm__csv_need(im->csv, im->price_name, &im->price, im->err);
    if (rc == 0)
        rc = hm__csv_need(im->csv, "Region", &im->region, im->err);
    im->accelerator = hm__csv_column(im->csv, "AcceleratorName");
    im->accelerator_count = hm__csv_column(im->csv, "AcceleratorCount");
    im->vcpus = hm__csv_column(im->csv, "vCPUs");
    im->memory = hm__csv_column(im->csv, "MemoryGiB");
    return rc;
}

/* Reads the number in a cell. An empty cell or "nan" is read as -1; any other text is an error. */
static int read_number(struct importer *im, char **fields, int column, const char *name,
                       double *ret_value)
{
    *ret_value = NAN;
    if (column < 0 || fields[column][0] == '\0' || strcmp(fields[column], "nan") == 0)
        return 0;
    size_t used = hm__number_read(fields[column], ret_value);
    if (used > 0 && fields[column][used] == '\0' && isfinite(*ret_value))
        return 0;
    hm__fail(im->err, HM_E_TYPE, "'%.60s' is not a number", fields[column]);
    hm__err_field(im->err, name);
    hm__err_at(im->err, hm__csv_source(im->csv), hm__csv_line(im->csv));
    return HM_E_TYPE;
}

/*
 * Refuses a missing name, one that would not be written as it is, because two could become the
 * same, and a long one, because keys of YAML have at most 1024 characters.
 */
static int check_name(struct importer *im, const char *name)
{
    const char *at = name;

    while (*at >= 0x20 && *at < 0x7f)
        at++;
    if (at > name && *at == '\0' && at - name <= NAME_LONGEST)
        return 0;
    int code = *name == '\0' ? HM_E_MISSING : *at ? HM_E_TYPE : HM_E_LIMIT;
    if (code == HM_E_LIMIT)
        hm__fail(im->err, code, "the name is longer than %d characters", NAME_LONGEST);
    else
        hm__fail(im->err, code,
                 *name ? "the name has a character that is not printable ASCII"
                       : "the row has no InstanceType");
    if (*name)
        hm__err_field(im->err, "InstanceType");
    hm__err_at(im->err, hm__csv_source(im->csv), hm__csv_line(im->csv));
    return code;
}

/*
 * Returns the machine `name`, and adds it if it is new; NULL after an error. Rows of one machine
 * are mostly consecutive, so the machine of the previous row is compared first.
 */
static struct machine *find_machine(struct importer *im, const char *name)
{
    if (im->count && strcmp(im->machines[im->last].name, name) == 0)
        return &im->machines[im->last];
    size_t at = (size_t)hm__hash_text(&im->key, name) % SLOTS;
    for (; im->slots[at]; at = (at + 1) % SLOTS) {
        im->last = im->slots[at] - 1;
        if (strcmp(im->machines[im->last].name, name) == 0)
            return &im->machines[im->last];
    }
    if (im->count == HM_VALUE_ENTRIES) {
        hm__fail(im->err, HM_E_LIMIT, "more than %d machines", HM_VALUE_ENTRIES);
        hm__err_hint(im->err, "set `region` to import the machines of one region only");
        hm__err_at(im->err, hm__csv_source(im->csv), hm__csv_line(im->csv));
        return NULL;
    }
    struct machine *machines = hm__grow(im->machines, im->count, &im->room, sizeof(*machines));
    if (!machines)
        return NULL;
    im->machines = machines;
    im->last = im->count;
    im->slots[at] = (unsigned)++im->count;
    struct machine *m = &im->machines[im->last];
    *m = (struct machine){.name = hm__arena_strdup(im->arena, name), .price = NAN};
    return m->name ? m : NULL;
}

static int read_row(struct importer *im, char **fields)
{
    double count, vcpus, memory, price;
    int rc = read_number(im, fields, im->accelerator_count, "AcceleratorCount", &count);

    if (rc == 0)
        rc = read_number(im, fields, im->vcpus, "vCPUs", &vcpus);
    if (rc == 0)
        rc = read_number(im, fields, im->memory, "MemoryGiB", &memory);
    if (rc == 0)
        rc = read_number(im, fields, im->price, im->price_name, &price);
    if (rc == 0)
        rc = check_name(im, fields[im->instance]);
    if (rc)
        return rc;
    struct machine *m = find_machine(im, fields[im->instance]);
    if (!m)
        return im->err && im->err->code ? im->err->code : hm__fail_nomem(im->err);
    m->accelerators = count;
    m->vcpus = vcpus;
    m->memory_gib = memory;
    if (im->accelerator >= 0 && fields[im->accelerator][0] && !m->accelerator)
        m->accelerator = hm__arena_strdup(im->arena, fields[im->accelerator]);
    if (price >= 0 && (isnan(m->price) || price < m->price)) {
        m->price = price;
        m->region = hm__arena_strdup(im->arena, fields[im->region]);
    }
    return 0;
}

static int read_rows(struct importer *im, size_t *ret_rows)
{
    char **fields;
    int rc;

    while ((rc = hm__csv_next(im->csv, &fields, im->err)) == 1) {
        ++*ret_rows;
        if (im->wanted_region && strcmp(fields[im->region], im->wanted_region) != 0)
            continue;
        if ((rc = read_row(im, fields)))
            return rc;
    }
    if (rc == 0 && im->count == 0) {
        hm__fail(im->err, HM_E_MISSING,
                 im->wanted_region ? "no machine in region '%.60s'" : "no machine in the file",
                 im->wanted_region);
        hm__err_at(im->err, hm__csv_source(im->csv), 0);
        return HM_E_MISSING;
    }
    return rc;
}

/*
 * Writes a string in double quotes for YAML. Non-ASCII characters are replaced with '?', and
 * control characters are removed.
 */
static void put_text(struct hm_text *out, const char *text)
{
    hm__text_add(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            hm__text_add(out, "\\");
        if ((unsigned char)*text >= 0x80 || *text == 0x7f)
            hm__text_add(out, "?");
        else if ((unsigned char)*text >= 0x20)
            hm__text_add_n(out, text, 1);
    }
    hm__text_add(out, "\"");
}

static void put_value(struct hm_text *out, const struct hm_value *value)
{
    bool map = value->kind == HM_VALUE_MAP;

    if (value->kind == HM_VALUE_SCALAR && !value->quoted &&
        (strcmp(value->text, "true") == 0 || strcmp(value->text, "false") == 0)) {
        /* true and false are written without quotes, because quotes would make them strings. */
        hm__text_add(out, value->text);
        return;
    }
    if (value->kind != HM_VALUE_MAP && value->kind != HM_VALUE_LIST) {
        put_text(out, value->kind == HM_VALUE_SCALAR ? value->text : "");
        return;
    }
    hm__text_add(out, map ? "{" : "[");
    for (size_t i = 0; i < value->count; i++) {
        hm__text_add(out, i ? ", " : "");
        if (map)
            hm__text_addf(out, "%s: ", value->keys[i]);
        put_value(out, &value->items[i]);
    }
    hm__text_add(out, map ? "}" : "]");
}

static bool in_list(const char *key, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(*list, key) == 0)
            return true;
    return false;
}

/* Writes the keys and values of a catalog entry, except the keys in the list `without`. */
static void put_entry(struct hm_text *out, const struct hm_value *entry, const char *const *without)
{
    for (size_t i = 0; i < entry->count; i++) {
        if (in_list(entry->keys[i], without))
            continue;
        hm__text_addf(out, "    %s: ", entry->keys[i]);
        put_value(out, &entry->items[i]);
        hm__text_add(out, "\n");
    }
}

/*
 * Returns the number of cores in a machine. Two vCPUs are one core, except on the Arm processors of
 * AWS, which are recognised by the letter g after the generation in the family name (m7g, c6gn).
 */
static double core_count(const struct machine *m)
{
    const char *digit = strpbrk(m->name, "0123456789"), *dot = strchr(m->name, '.');
    const char *arm = digit ? strchr(digit, 'g') : NULL;

    return arm && dot && digit < dot && arm < dot ? m->vcpus : fmax(1, floor(m->vcpus / 2));
}

/*
 * Writes figures for a machine without accelerators. The list contains only the number of vCPUs;
 * each core is assumed to have the lowest speed and memory bandwidth, in round figures, of the
 * cores of similar machines in the catalog (m5, c7i, c7a, c7g).
 */
static void put_cores(struct hm_text *out, const struct machine *m)
{
    static const double CORE_GFLOPS = 80, CORE_GBYTES_PER_S = 5;
    const double cores = core_count(m);

    hm__text_addf(out,
                  "    flops: {32: %g Gflop/s, 64: %g Gflop/s}\n"
                  "    efficiency: 0.6\n"
                  "    cores: %g\n"
                  "    memory_bandwidth: %g GB/s\n"
                  "    fabric: {bandwidth: 10 Gbit/s, latency: 50 us}\n"
                  "    assumed: flops, cores, memory_bandwidth, fabric\n",
                  CORE_GFLOPS * cores, CORE_GFLOPS / 2 * cores, cores, CORE_GBYTES_PER_S * cores);
}

/*
 * Writes a machine that is not in the catalog; `accelerator` is the catalog entry of its
 * accelerator, or NULL.
 */
static void put_unknown(struct hm_text *out, const struct machine *m,
                        const struct hm_value *accelerator)
{
    bool whole = m->accelerators >= 1 && m->accelerators <= 1024 &&
                 m->accelerators == floor(m->accelerators);
    char title[200] = "", part[100];

    if (m->accelerator)
        snprintf(title, sizeof(title), "%g x %.80s", m->accelerators, m->accelerator);
    if (m->vcpus > 0 && m->memory_gib > 0) {
        snprintf(part, sizeof(part), "%s%g vCPU, %g GiB", *title ? ", " : "", m->vcpus,
                 m->memory_gib);
        strncat(title, part, sizeof(title) - strlen(title) - 1);
    }
    hm__text_add(out, "    title: ");
    put_text(out, title);
    hm__text_add(out, "\n");
    if (accelerator && whole) {
        hm__text_add(out, "    accelerator: ");
        put_text(out, m->accelerator);
        hm__text_add(out, "\n");
    } else if (!m->accelerator && m->memory_gib > 0)
        hm__text_addf(out, "    memory: %.17g GiB\n", m->memory_gib);
    if (!m->accelerator && m->vcpus > 0)
        put_cores(out, m);
    if (whole && m->accelerator)
        hm__text_addf(out, "    accelerators: %g\n", m->accelerators);
    if (m->accelerator && m->memory_gib > 0)
        hm__text_addf(out, "    host_memory: %.17g GiB\n", m->memory_gib);
    /*
     * The price list does not describe the network between machines, so a bandwidth and a latency
     * are assumed.
     */
    if (accelerator && whole)
        hm__text_add(out, "    fabric: {bandwidth: 10 Gbit/s, latency: 50 us}\n"
                          "    assumed: fabric\n");
}

static void put_machine(struct hm_text *out, const struct hm_catalog *catalog,
                        const struct machine *m, bool spot, struct hm_import *report)
{
    static const char *const without[] = {"source", "date", "price", NULL};
    const struct hm_value *known = hm__catalog_find(catalog, HM_CATALOG_MACHINE, m->name);
    const struct hm_value *card =
        m->accelerator ? hm__catalog_find(catalog, HM_CATALOG_ACCELERATOR, m->accelerator) : NULL;

    hm__text_add(out, "  ");
    put_text(out, m->name);
    hm__text_add(out, ":\n");
    if (known)
        put_entry(out, known, without);
    else
        put_unknown(out, m, card);
    char source[200] = "SkyPilot catalog, no price";
    if (m->price >= 0) {
        hm__text_addf(out, "    price: $%.10g/h\n", m->price);
        snprintf(source, sizeof(source), "%s price in %.80s, SkyPilot catalog",
                 spot ? "spot" : "on-demand", m->region ? m->region : "?");
    }
    hm__text_add(out, "    source: ");
    put_text(out, source);
    hm__text_add(out, "\n");
    report->machines++;
    report->known += known != NULL;
    report->accelerated += !known && card;
    report->cores += !known && !m->accelerator && m->vcpus > 0;
    report->unpriced += isnan(m->price) ? 1 : 0;
}

int hm_catalog_import(const struct hm_catalog *catalog, const char *path, const char *region,
                      bool spot, struct hm_import *ret_import, struct hm_err *err)
{
    int bad =
        hm__check_pointers(err, "catalog", catalog, "path", path, "ret_import", ret_import, NULL);
    if (bad)
        return bad;
    struct importer im = {.wanted_region = region, .err = err};
    struct hm_import report = {0};
    struct hm_text out = {0};
    int rc;

    if (!(im.arena = hm__arena_new()))
        return hm__fail_nomem(err);
    hm__hash_begin(&im.key);
    im.slots = hm__arena_alloc(im.arena, SLOTS, sizeof(*im.slots));
    rc = im.slots ? hm__csv_open(path, &im.csv, err) : hm__fail_nomem(err);
    if (rc == 0)
        rc = find_columns(&im, spot);
    if (rc == 0)
        rc = read_rows(&im, &report.rows);
    if (rc == 0) {
        hm__text_add(&out, "# Imported by howmany from a SkyPilot catalog.\nmachines:\n");
        for (size_t i = 0; i < im.count; i++)
            put_machine(&out, catalog, &im.machines[i], spot, &report);
        rc = hm__text_take(&out, &report.text, err);
    }
    if (rc == 0)
        *ret_import = report;
    hm__text_release(&out);
    hm__free(im.machines);
    hm__csv_close(im.csv);
    hm__arena_free(im.arena);
    return rc;
}
