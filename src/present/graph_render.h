/* How graphs split, as text, JSON and pictures. */
#ifndef HM_GRAPH_RENDER_H
#define HM_GRAPH_RENDER_H

#include "text.h"

/* One way to split a graph, for each number of workers. */
struct hm_split_table {
    enum hm_split split;
    const struct hm_parts *parts;
    size_t count;
};

void hm__render_graph_text(struct hm_text *out, const struct hm_graph *graph,
                           const struct hm_split_table *tables, size_t count);
void hm__render_graph_json(struct hm_text *out, const struct hm_graph *graph,
                           const struct hm_split_table *tables, size_t count);
/* A gnuplot script that draws into file. */
int hm__render_graph_plot(struct hm_text *out, const struct hm_graph *graph,
                          const struct hm_split_table *tables, size_t count, const char *file,
                          struct hm_err *err);

#endif
