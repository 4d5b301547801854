/* Reads graphs from memory; hm_graph_load reads them from files. */
#ifndef HM_GRAPH_READ_H
#define HM_GRAPH_READ_H

#include "howmany.h"

/* Reads a graph as hm_graph_load does. `name` is used in error messages; with HM_GRAPH_AUTO, its
 * suffix determines the format. */
int hm__graph_parse(const char *text, size_t length, const char *name, enum hm_graph_format format,
                    bool degrees_only, struct hm_graph **ret_graph, struct hm_err *err);

#endif
