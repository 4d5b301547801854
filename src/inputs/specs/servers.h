/*
 * Finds servers in the catalog for accelerators that were named without a fabric, and converts
 * names of devices.
 */
#ifndef HM_SERVERS_H
#define HM_SERVERS_H

#include <stdbool.h>

#include "howmany.h"

/* Names of machines in the catalog, owned by the catalog; NULL if there is none. */
struct hm_servers {
    const char *owned;  /* Name of a machine without a price, such as the reference system of a
                           vendor. */
    const char *rented; /* Name of a machine with a price, which can be rented. */
};

/* Returns whether a cluster is limited to one node because it has no fabric. */
bool hm__cluster_is_alone(const struct hm_cluster *cluster);

/*
 * Finds machines in the catalog with several accelerators of the given name: the machine with the
 * fastest fabric among those with a price, and the one with the fastest fabric among those without
 * a price. Finds none if the name is the name of a machine.
 */
void hm__catalog_servers(const struct hm_catalog *catalog, const char *accelerator,
                         struct hm_servers *ret_servers);

/*
 * Converts the name of a device, as its driver reports it, to the form of names in the catalog:
 * "NVIDIA A100-SXM4-80GB" becomes a100-sxm4-80gb, "NVIDIA GeForce RTX 4090" becomes rtx-4090.
 */
void hm__catalog_device_name(const char *driver, char *text, size_t room);

#endif
