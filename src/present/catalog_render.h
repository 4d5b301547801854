/*
 * Renderers of the entries of the catalog: as lines of a table, as text with every figure, and as
 * JSON.
 */
#ifndef HM_CATALOG_RENDER_H
#define HM_CATALOG_RENDER_H

#include "json.h"

/* The heading of a list of entries of one kind. */
const char *hm__catalog_heading(enum hm_catalog_kind kind);

/* These functions render a machine or an accelerator. */
void hm__render_machine_line(struct hm_text *out, const char *name,
                             const struct hm_cluster *cluster, const char *title);
void hm__render_machine(struct hm_text *out, const struct hm_cluster *cluster);
void hm__render_machine_json(struct hm_json *json, const struct hm_cluster *cluster);

/* These functions render a fabric, which is a network between machines. */
void hm__render_fabric_line(struct hm_text *out, const char *name, const struct hm_link *link,
                            const char *title);
void hm__render_fabric_json(struct hm_json *json, const struct hm_link *link);

/*
 * These functions render a neural network; counts is NULL if the job must give the shape of its
 * input.
 */
void hm__render_network_line(struct hm_text *out, const char *name, const struct hm_counts *counts,
                             const char *title);
void hm__render_network_json(struct hm_json *json, const struct hm_counts *counts);

#endif
