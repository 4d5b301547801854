/*
 * Renders the entries in the catalog: as lines of a table, as text with every value, and as JSON.
 */
#ifndef HM_CATALOG_RENDER_H
#define HM_CATALOG_RENDER_H

#include "howmany_layouts.h"
#include "json.h"

/* Returns the heading above a list of entries of one kind. */
const char *hm__catalog_heading(enum hm_catalog_kind kind);

/* The functions below render a machine or an accelerator. */
void hm__render_machine_line(struct hm_text *out, const char *name,
                             const struct hm_cluster *cluster, const char *title);
void hm__render_machine(struct hm_text *out, const struct hm_cluster *cluster);
void hm__render_machine_json(struct hm_json *json, const struct hm_cluster *cluster);

/* The functions below render a fabric, which connects machines. */
void hm__render_fabric_line(struct hm_text *out, const char *name, const struct hm_link *link,
                            const char *title);
void hm__render_fabric_json(struct hm_json *json, const struct hm_link *link);

/*
 * The functions below render a neural network. `counts` is NULL if the catalog does not specify the
 * shape of the input, in which case a job must specify it.
 */
void hm__render_network_line(struct hm_text *out, const char *name, const struct hm_counts *counts,
                             const char *title);
void hm__render_network_json(struct hm_json *json, const struct hm_counts *counts);

/* Sizes of a transformer in the catalog. */
struct hm_transformer_size {
    const struct hm_transformer *network;
    double parameters,
        active; /* Total number of parameters, and number of parameters that each token uses. */
};

/* The functions below render a transformer. */
void hm__render_transformer_line(struct hm_text *out, const char *name,
                                 const struct hm_transformer_size *size, const char *title);
void hm__render_transformer(struct hm_text *out, const struct hm_transformer_size *size);
void hm__render_transformer_json(struct hm_json *json, const struct hm_transformer_size *size);

#endif
