/*
 * Renders a neural network as a table of its layers. All quantities in the table are for one
 * sample.
 */
#include <stdio.h>

#include "format.h"
#include "render.h"

static const char *layer_show_shape(const struct hm_shape *s, char *text)
{
    if (s->kind == HM_SHAPE_IMAGE)
        snprintf(text, HM_SHOWN, "%gx%gx%g", s->height, s->width, s->channels);
    else if (s->kind == HM_SHAPE_SEQUENCE)
        snprintf(text, HM_SHOWN, "%gx%g", s->height, s->channels);
    else
        snprintf(text, HM_SHOWN, "%g", s->channels);
    return text;
}

static void layer_add_row(struct hm_text *out, const char *name, const char *shape,
                          double parameters, double flop, double bytes)
{
    hm__text_addf(out, "%-12s %14s %14.0f %16.0f %16.0f %14.0f\n", name, shape, parameters, flop,
                  HM_TRAINING_PASSES * flop, bytes);
}

void hm__render_layers(struct hm_text *out, const struct hm_counts *counts, double weight_bytes)
{
    char shape[HM_SHOWN];
    double bytes = 0;

    hm__text_addf(out, "%-12s %14s %14s %16s %16s %14s\n", "layer", "output", "parameters",
                  "forward flop", "training flop", "bytes moved");
    for (size_t i = 0; i < counts->layer_count; i++) {
        const struct hm_count *l = &counts->layers[i];
        double moved = (l->inputs + l->outputs + l->parameters) * weight_bytes;
        bytes += moved;
        layer_add_row(out, l->name, layer_show_shape(&l->out, shape), l->parameters,
                      2 * l->multiply_adds, moved);
    }
    layer_add_row(out, "total", "", counts->parameters, counts->forward_flop, bytes);
}
