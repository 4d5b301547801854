/*
 * Explains a layout rank by rank: how ranks are numbered, which ranks form groups, and which ranks
 * and pipeline stages are on each node. Ranks are numbered as in Megatron: tensor parallelism is
 * innermost, followed by context and data parallelism, and pipeline parallelism is outermost.
 */
#include <math.h>
#include <stdio.h>

#include "err.h"
#include "format.h"
#include "large_emit.h"

/* Largest number of nodes in an explanation, and largest number of ranks listed for a group. */
enum { NODES_SHOWN = 16, RANKS_SHOWN = 8 };

/*
 * Appends one line about groups of `count` ranks; the line lists the ranks of the first group, such
 * as "0 8 16 24".
 */
static void add_group(struct hm_text *out, const char *name, double count, double stride, double n)
{
    if (count <= 1)
        return;
    hm__text_addf(out, "  %-9s %5.0f groups of %.0f, the first:", name, n / count, count);
    for (double i = 0; i < fmin(count, RANKS_SHOWN); i++)
        hm__text_addf(out, " %.0f", i * stride);
    hm__text_addf(out, "%s\n", count > RANKS_SHOWN ? " …" : "");
}

/* Appends a range of numbers, such as "0-7" or "3", in a column of 12 characters. */
static void add_range(struct hm_text *out, double first, double last)
{
    char text[48];

    if (first == last)
        snprintf(text, sizeof(text), "%.0f", first);
    else
        snprintf(text, sizeof(text), "%.0f-%.0f", first, last);
    hm__text_addf(out, "  %-12s", text);
}

/*
 * Appends the first and the last layer of each chunk of a pipeline stage. The chunks are assigned
 * to the stages in turn: a stage that has chunk c also has chunks c + pipeline, c + 2 pipeline, …
 */
static void add_layers(struct hm_text *out, const struct hm_layout *l, double layers, double stage)
{
    const char *before = "";
    double first = 0;

    for (double chunk = 0; chunk < l->pipeline * l->interleave; chunk++) {
        double count = hm__layout_chunk_layers(l, layers, chunk);
        if (fmod(chunk, l->pipeline) == stage && count > 0) {
            hm__text_addf(out, "%s%.0f", before, first);
            if (count > 1)
                hm__text_addf(out, "-%.0f", first + count - 1);
            before = " ";
        }
        first += count;
    }
}

/*
 * Appends the rows of one node to the table: one row for each pipeline stage that has ranks on the
 * node.
 */
static void add_node(struct hm_text *out, const struct hm_large_choice *c, double layers,
                     double node)
{
    const struct hm_layout *l = &c->layout;
    double inner = l->tensor * l->context, stage_ranks = inner * l->data;
    double per_node = ceil(c->n / c->nodes), end = fmin(c->n, (node + 1) * per_node);

    for (double first = node * per_node; first < end;) {
        double stage = floor(first / stage_ranks);
        double next = fmin(end, (stage + 1) * stage_ranks);
        hm__text_addf(out, "%4.0f", node);
        add_range(out, first, next - 1);
        hm__text_addf(out, "  %5.0f", stage);
        add_range(out, floor((first - stage * stage_ranks) / inner),
                  floor((next - 1 - stage * stage_ranks) / inner));
        hm__text_add(out, "  ");
        add_layers(out, l, layers, stage);
        hm__text_end_line(out);
        first = next;
    }
}

int hm__large_explain(const struct hm_large_answer *answer, char **ret_text, struct hm_err *err)
{
    const struct hm_large_choice *c = &answer->points[answer->recommended];
    const struct hm_layout *l = &c->layout;
    double inner = l->tensor * l->context;
    struct hm_text out = {0};
    char text[160];

    hm_layout_text(l, text, sizeof(text));
    hm__text_addf(&out, "%.0f ranks on %.0f node%s: %s\n", c->n, c->nodes, hm__plural(c->nodes),
                  text);
    hm__text_addf(&out,
                  "rank = tensor + %.0f x (context + %.0f x (copy + %.0f x stage))\n\ngroups\n",
                  l->tensor, l->context, l->data);
    add_group(&out, "tensor", l->tensor, 1, c->n);
    add_group(&out, "context", l->context, l->tensor, c->n);
    add_group(&out, "expert", l->expert, 1, c->n);
    add_group(&out, "data", l->data, inner, c->n);
    add_group(&out, "pipeline", l->pipeline, inner * l->data, c->n);
    hm__text_addf(&out, "\n%4s  %-12s  %5s  %-12s  %s\n", "node", "ranks", "stage", "copies",
                  "layers");
    for (double node = 0; node < fmin(c->nodes, NODES_SHOWN); node++)
        add_node(&out, c, answer->planned.network.layers, node);
    if (c->nodes > NODES_SHOWN)
        hm__text_addf(&out, "   …  and %.0f more nodes\n", c->nodes - NODES_SHOWN);
    if (out.failed) {
        hm__text_release(&out);
        return hm__fail_nomem(err);
    }
    *ret_text = out.data;
    return 0;
}
