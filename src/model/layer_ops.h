/*
 * Lists the operations that frameworks run for one layer of a network, and computes their times on
 * a device.
 */
#ifndef HM_LAYER_OPS_H
#define HM_LAYER_OPS_H

#include "device.h"

/* Times of one layer for b samples, on the device and on the host, which launches kernels. */
struct hm_layer_step {
    double forward_s, backward_s; /* Time in seconds for which the device computes in each pass. */
    double forward_host_s, backward_host_s;
    double kept_bytes; /* Number of bytes that the layer keeps for the backward pass. */
};

/* Properties of a layer's position in the network that change its operations. */
struct hm_layer_place {
    bool first; /* True if the layer is the first; the gradient of its input is not needed. */
    bool last;  /* True if the layer is the last; the loss is computed from its outputs. */
    const struct hm_count *next; /* The next layer; NULL if there is none. */
};

struct hm_layer_step hm__layer_ops(const struct hm_device *device, const struct hm_count *layer,
                                   const struct hm_layer_place *place, double b);
/*
 * Returns the time in seconds that the device (hm__update_time) and the host need to update the
 * parameters.
 */
double hm__update_time(const struct hm_device *device, enum hm_optimizer optimizer,
                       double parameters);
double hm__update_host_time(const struct hm_device *device, enum hm_optimizer optimizer,
                            double tensors);
/* Returns the number of parameter tensors in a layer. */
double hm__layer_tensors(const struct hm_count *layer);

#endif
