/* Renders graphs and their splits among workers, as text, JSON and plots. */
#ifndef HM_GRAPH_RENDER_H
#define HM_GRAPH_RENDER_H

#include "text.h"

/*
 * The results of one method of splitting a graph, for several numbers of workers. The arrays are
 * borrowed.
 */
struct hm_split_table {
    enum hm_split split;
    const struct hm_parts *parts;
    size_t count;
};

void hm__render_graph_text(struct hm_text *out, const struct hm_graph *graph,
                           const struct hm_split_table *tables, size_t count);
void hm__render_graph_json(struct hm_text *out, const struct hm_graph *graph,
                           const struct hm_split_table *tables, size_t count);
/* Writes a gnuplot script that draws the splits into `file`. */
int hm__render_graph_plot(struct hm_text *out, const struct hm_graph *graph,
                          const struct hm_split_table *tables, size_t count, const char *file,
                          struct hm_err *err);

#endif
