/*
 * Reads files of ASTRA-sim, the simulator of Chakra traces:
 *
 *   network (YAML or JSON)  topology: [Ring, Switch], npus_count: [8, 4], bandwidth: [50] (GB/s),
 *                           latency: [500] (ns), one value for each dimension
 *   system (JSON)           collectives, peak-perf (Tflop/s), local-mem-bw (GB/s)
 *
 * If a network has several dimensions, the first is inside a node (link) and the last is between
 * nodes (fabric). A network file does not contain the speeds of accelerators, and a system file
 * does not contain links, so each becomes a cluster without the values of the other file.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "importers.h"
#include "text.h"
#include "whole.h"

enum { DIMENSIONS = 8 };

/*
 * Reads a list of numbers, or a single number as a list of one element; returns the number of
 * elements.
 */
static size_t read_list(const struct hm_value *root, const char *key, double *numbers)
{
    const struct hm_value *list = hm__value_get(root, key);
    size_t count = 0;

    if (!list)
        return 0;
    const struct hm_value *items = list->kind == HM_VALUE_LIST ? list->items : list;
    size_t items_count = list->kind == HM_VALUE_LIST ? list->count : 1;
    for (; count < items_count && count < DIMENSIONS; count++) {
        const char *text = hm__value_text(&items[count]);
        double number;
        size_t used = text ? hm__number_read(text, &number) : 0;
        if (used == 0 || text[used] != '\0')
            return 0;
        numbers[count] = number;
    }
    return count;
}

static void put_texts(struct hm_imported *im, const struct hm_value *root, const char *key)
{
    const struct hm_value *list = hm__value_get(root, key);

    hm__json_open(&im->facts, key, HM_JSON_LIST);
    for (size_t i = 0; list && list->kind == HM_VALUE_LIST && i < list->count; i++)
        hm__json_put_text(&im->facts, NULL, hm__value_text(&list->items[i]));
    if (list && list->kind == HM_VALUE_SCALAR)
        hm__json_put_text(&im->facts, NULL, list->text);
    hm__json_close(&im->facts);
}

static void add_link(struct hm_text *out, const char *key, double gigabytes, double nanoseconds)
{
    hm__text_addf(out, "%s: {bandwidth: ", key);
    hm__json_number(out, gigabytes);
    hm__text_add(out, " GB/s, latency: ");
    hm__json_number(out, nanoseconds);
    hm__text_add(out, " ns}\n");
}

/* ---- the network ------------------------------------------------------------------------------
 */

static void network_facts(struct hm_imported *im, const struct hm_value *root)
{
    double npus[DIMENSIONS], bandwidth[DIMENSIONS], latency[DIMENSIONS], total = 1;
    size_t count = read_list(root, "npus_count", npus);
    struct hm_json *j = &im->facts;
    struct hm_text *out = &im->document;

    put_texts(im, root, "topology");
    if (count == 0 || read_list(root, "bandwidth", bandwidth) != count ||
        read_list(root, "latency", latency) != count) {
        hm__import_note(im, "npus_count, bandwidth and latency need one number for each dimension");
        return;
    }
    for (size_t i = 0; i < count; i++)
        total *= npus[i] >= 1 && npus[i] == floor(npus[i]) ? npus[i] : NAN;
    if (!(total <= HM_COUNT_MOST)) {
        hm__import_note(im, "npus_count needs whole numbers of at least 1");
        return;
    }
    hm__json_put_numbers(j, "npus_count", npus, count);
    hm__json_put_numbers(j, "bandwidth_gb_per_s", bandwidth, count);
    hm__json_put_numbers(j, "latency_ns", latency, count);
    hm__json_put_number(j, "n", total);
    hm__import_took(im, total, "accelerators in %zu dimensions", count);
    if (count > 2)
        hm__import_left(im, (double)count - 2, "dimensions between the first and the last");
    im->document_kind = "cluster";
    hm__text_addf(out, "# From a network of ASTRA-sim: %.0f accelerators.\n", total);
    hm__text_addf(out, "accelerators: %.0f\n", npus[0]);
    add_link(out, "link", bandwidth[0], latency[0]);
    if (count > 1)
        add_link(out, "fabric", bandwidth[count - 1], latency[count - 1]);
    hm__text_addf(out, "max_nodes: %.0f\n", total / npus[0]);
    hm__import_note(im, "the cluster has no accelerator: add flops or machine to the document");
}

static int network_read(struct hm_imported *im, struct hm_err *err)
{
    struct hm_value *root;
    int rc = hm__whole_yaml(im, &root, err);

    hm__json_put_text(&im->facts, "format", "astra-sim network");
    if (rc == 0 && root)
        network_facts(im, root);
    return rc;
}

static int network_recognise(const struct hm_import_head *head)
{
    return hm__find(head->text, head->length, "npus_count") &&
                   hm__find(head->text, head->length, "topology") &&
                   hm__find(head->text, head->length, "bandwidth")
               ? 90
               : 0;
}

const struct hm_importer hm__importer_astra_network = {
    .name = "astra-network",
    .title = "network of ASTRA-sim",
    .becomes = "a cluster",
    .recognise = network_recognise,
    .read = network_read,
};

/* ---- the system -------------------------------------------------------------------------------
 */

static int system_read(struct hm_imported *im, struct hm_err *err)
{
    static const char *const collectives[] = {
        "all-reduce-implementation", "all-gather-implementation", "reduce-scatter-implementation",
        "all-to-all-implementation"};
    struct hm_value *root;
    int rc = hm__whole_json(im, &root, err);

    hm__json_put_text(&im->facts, "format", "astra-sim system");
    if (rc || !root || root->kind != HM_VALUE_MAP)
        return rc;
    double peak = hm__value_number(root, "peak-perf");
    double memory = hm__value_number(root, "local-mem-bw");
    for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
        put_texts(im, root, collectives[i]);
    hm__fact_value(im, "scheduling-policy", hm__value_get(root, "scheduling-policy"));
    hm__json_put_number(&im->facts, "endpoint_delay_ns", hm__value_number(root, "endpoint-delay"));
    hm__json_put_number(&im->facts, "peak_tflops", peak);
    hm__json_put_number(&im->facts, "memory_gb_per_s", memory);
    hm__import_took(im, (double)root->count, "settings");
    if (!(peak > 0)) {
        hm__import_note(im, "the file has no peak-perf, so that there is no cluster");
        return 0;
    }
    im->document_kind = "cluster";
    hm__text_add(&im->document, "# From a system of ASTRA-sim.\nflops: ");
    hm__json_number(&im->document, peak);
    hm__text_add(&im->document, " Tflop/s\n");
    if (memory > 0) {
        hm__text_add(&im->document, "memory_bandwidth: ");
        hm__json_number(&im->document, memory);
        hm__text_add(&im->document, " GB/s\n");
    }
    return 0;
}

static int system_recognise(const struct hm_import_head *head)
{
    const char *p = head->text + strspn(head->text, " \t\r\n");

    return *p == '{' && (hm__find(head->text, head->length, "\"all-reduce-implementation\"") ||
                         hm__find(head->text, head->length, "\"preferred-dataset-splits\""))
               ? 90
               : 0;
}

const struct hm_importer hm__importer_astra_system = {
    .name = "astra-system",
    .title = "system of ASTRA-sim",
    .becomes = "a cluster",
    .recognise = system_recognise,
    .read = system_read,
};
