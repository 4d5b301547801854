/*
 * Loads the Markov random field of belief propagation, which is given as a recipe, a UAI file or a
 * list of edges.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "err.h"
#include "text.h"
#include "train_options.h"
#include "uai.h"

/*
 * Reads two positive integers that are separated by the character `between`, or one integer if
 * `between` is 0.
 */
static bool recipe_read_sizes(const char *text, char between, double *first, double *second)
{
    size_t used = hm__number_read(text, first);

    if (used == 0 || !(*first >= 1) || *first != floor(*first))
        return false;
    if (!between)
        return text[used] == '\0';
    if (text[used] != between)
        return false;
    text += used + 1;
    used = hm__number_read(text, second);
    return used > 0 && text[used] == '\0' && *second >= 1 && *second == floor(*second);
}

static bool text_starts(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool recipe_read(const char *name, struct hm_mrf_recipe *recipe)
{
    double unused;

    if (text_starts(name, "grid:")) {
        recipe->shape = HM_MRF_GRID;
        return recipe_read_sizes(name + 5, 'x', &recipe->rows, &recipe->columns);
    }
    if (text_starts(name, "tree:")) {
        recipe->shape = HM_MRF_TREE;
        return recipe_read_sizes(name + 5, 0, &recipe->vertices, &unused);
    }
    recipe->shape = HM_MRF_RANDOM;
    return text_starts(name, "random:") &&
           recipe_read_sizes(name + 7, ',', &recipe->vertices, &recipe->edges);
}

int train_field_check(struct train_options *o)
{
    if (!o->data_name)
        o->data_name = "grid:30x30";
    o->recipe = (struct hm_mrf_recipe){
        .states = o->states, .coupling = o->coupling, .field = o->field, .seed = o->settings.seed};
    if (o->states > HM_MARKOV_STATES)
        return cli_complain("--states: at most %d", HM_MARKOV_STATES);
    if (o->coupling > 30 || o->field > 30)
        return cli_complain("--coupling and --field: at most 30");
    if (access(o->data_name, F_OK) == 0) {
        o->field_source =
            hm__text_ends(o->data_name, ".uai") || hm__text_ends(o->data_name, ".uai.gz")
                ? TRAIN_FIELD_UAI
                : TRAIN_FIELD_GRAPH;
        return 0;
    }
    o->field_source = TRAIN_FIELD_MADE;
    if (recipe_read(o->data_name, &o->recipe))
        return 0;
    return cli_complain("--data: '%s' is neither a file nor grid:ROWSxCOLUMNS, tree:VERTICES or "
                        "random:VERTICES,EDGES",
                        o->data_name);
}

int train_field_load(const struct train_options *o, int rank, int size, struct hm_mrf **ret_mrf,
                     bool *ret_cut, struct hm_err *err)
{
    struct hm_markov *markov = NULL;
    struct hm_graph *graph = NULL;
    int rc;

    *ret_cut = false;
    switch (o->field_source) {
    case TRAIN_FIELD_UAI:
        rc = hm__markov_load(o->data_name, &markov, err);
        rc = rc ? rc : hm__mrf_from_markov(markov, rank, size, ret_mrf, err);
        break;
    case TRAIN_FIELD_GRAPH:
        rc = hm_graph_load(o->data_name, HM_GRAPH_AUTO, false, &graph, err);
        rc = rc ? rc : hm__mrf_from_graph(graph, &o->recipe, rank, size, ret_mrf, err);
        *ret_cut = rc == 0 && graph->may_be_cut;
        break;
    default:
        rc = hm__mrf_make(&o->recipe, rank, size, ret_mrf, err);
        if (rc)
            hm__err_at(err, o->data_name, 0);
    }
    hm__markov_free(markov);
    hm_graph_free(graph);
    return rc;
}
