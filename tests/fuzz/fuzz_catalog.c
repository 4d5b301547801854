/*
 * Fuzzes catalogs and clusters. The first byte selects the reader: a catalog file, from which every
 * machine and fabric is then read; a cluster; overrides of a job, one in each line; or a SkyPilot
 * price list, whose import must be a valid catalog file.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "howmany.h"
#include "kept_catalog.h"
#include "kept_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OVERRIDES = 16, OVERRIDE_BYTES = 256 };

static void read_entries(const struct hm_catalog *catalog)
{
    const char *name;
    struct hm_err err = {0};

    for (size_t i = 0; i < 64 && (name = hm_catalog_name(catalog, HM_CATALOG_MACHINE, i)); i++) {
        struct hm_cluster *cluster = NULL;
        if (hm_catalog_machine(catalog, name, &cluster, &err) == 0)
            hm_cluster_free(cluster);
    }
    for (size_t i = 0; i < 64 && (name = hm_catalog_name(catalog, HM_CATALOG_FABRIC, i)); i++) {
        struct hm_link link;
        hm_catalog_fabric(catalog, name, &link, &err);
    }
}

/* Sets keys of a small job; each line of the text is one assignment. */
static void override_job(const char *text, size_t length)
{
    static const char job[] =
        "network: 784-10\nbatch: 8\ncluster: {flops: 1 Gflop/s}\nwhere: {a: 1}";
    struct hm_override overrides[OVERRIDES];
    char lines[OVERRIDES][OVERRIDE_BYTES];
    struct hm_job *parsed = NULL;
    struct hm_err err = {0};
    size_t count = 0, at = 0;

    while (at < length && count < OVERRIDES) {
        size_t end = at;
        while (end < length && text[end] != '\n')
            end++;
        snprintf(lines[count], OVERRIDE_BYTES, "%.*s", (int)(end - at), text + at);
        overrides[count] = (struct hm_override){.text = lines[count]};
        count++;
        at = end + 1;
    }
    if (hm_job_parse_with(fuzz_catalog(), job, sizeof(job) - 1, "fuzz.yaml", overrides, count,
                          &parsed, &err) == 0)
        hm_job_free(parsed);
}

/* Ends the program if a text is no valid catalog file. */
static void must_be_catalog(const char *text)
{
    struct hm_catalog *catalog = NULL;
    struct hm_err err = {0};

    if (hm_catalog_new(&catalog, NULL) == 0 &&
        hm_catalog_add(catalog, text, strlen(text), "import.yaml", &err))
        abort();
    hm_catalog_free(catalog);
}

/* The result of an import must be a valid catalog file. */
static void import_prices(const uint8_t *bytes, size_t length, bool spot)
{
    struct hm_import report = {0};
    struct hm_err err = {0};
    const char *path = fuzz_file_write(0, bytes, length);

    if (path && hm_catalog_import(fuzz_catalog(), path, NULL, spot, &report, &err) == 0) {
        if (report.machines < 400)
            must_be_catalog(report.text);
        hm_text_free(report.text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_catalog *catalog = NULL;
    struct hm_cluster *cluster = NULL;
    struct hm_err err = {0};

    if (size < 1)
        return 0;
    const char *text = (const char *)data + 1;
    size_t length = size - 1;
    switch (data[0] % 4) {
    case 0:
        if (hm_catalog_new(&catalog, NULL) == 0 &&
            hm_catalog_add(catalog, text, length, "fuzz.yaml", &err) == 0)
            read_entries(catalog);
        break;
    case 1:
        if (hm_cluster_parse(fuzz_catalog(), text, length, "fuzz.yaml", NULL, 0, &cluster, &err) ==
            0)
            hm_cluster_free(cluster);
        break;
    case 2:
        override_job(text, length);
        break;
    default:
        import_prices(data + 1, length, data[0] & 64);
        break;
    }
    hm_catalog_free(catalog);
    return 0;
}
