/* Fuzzes the graph readers. The first byte selects the format; small graphs are then split. */
#include <stdint.h>

#include "graph_read.h"
#include "howmany.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void split(const struct hm_graph *graph)
{
    const double n[] = {1, 2, 3};
    struct hm_parts parts[3];
    struct hm_err err = {0};

    for (int split = 0; split < HM_SPLIT_COUNT && graph->vertices < 1000; split++)
        /* METIS is left out, because this fuzzer does not test the METIS library. */
        if ((enum hm_split)split != HM_SPLIT_METIS)
            hm_graph_split(graph, (enum hm_split)split, 2, 1, n, 3, parts, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_graph *graph = NULL;
    struct hm_err err = {0};

    if (size < 2)
        return 0;
    enum hm_graph_format format = (enum hm_graph_format)(1 + data[0] % 3);
    if (hm__graph_parse((const char *)data + 1, size - 1, "fuzz", format, data[0] & 64, &graph,
                        &err) == 0)
        split(graph);
    hm_graph_free(graph);
    return 0;
}
