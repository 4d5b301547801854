/* Describes the graph of an ONNX model as layers of a job. */
#ifndef HM_ONNX_LAYERS_H
#define HM_ONNX_LAYERS_H

#include "onnx.h"

/*
 * Writes the network as layers to the document of the import. Returns false if layers cannot
 * describe it; a note then says why. `parameters` is the number of trained parameters.
 */
bool hm__onnx_layers(struct onnx *o, double parameters, bool in_order);

#endif
