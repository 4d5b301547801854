/* Entries of the catalog as lines of a table, as text with every figure, and as JSON. */
#ifndef HM_CATALOG_RENDER_H
#define HM_CATALOG_RENDER_H

#include "json.h"

/* The heading of a list of that kind. */
const char *hm__catalog_heading(enum hm_catalog_kind kind);

/* A machine or an accelerator. */
void hm__render_machine_line(struct hm_text *out, const char *name,
                             const struct hm_cluster *cluster, const char *title);
void hm__render_machine(struct hm_text *out, const struct hm_cluster *cluster);
void hm__render_machine_json(struct hm_json *json, const struct hm_cluster *cluster);

/* A network between machines. */
void hm__render_fabric_line(struct hm_text *out, const char *name, const struct hm_link *link,
                            const char *title);
void hm__render_fabric_json(struct hm_json *json, const struct hm_link *link);

/* A neural network; counts is NULL where the job must give its input. */
void hm__render_network_line(struct hm_text *out, const char *name, const struct hm_counts *counts,
                             const char *title);
void hm__render_network_json(struct hm_json *json, const struct hm_counts *counts);

#endif
