/* Finds the servers in the catalog that have several accelerators of a kind. They are suggested if
 * the accelerator was named without a fabric. */
#include "servers.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "readers.h"

/* Returns whether two figures are equal, or both unknown. */
static bool same_figure(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/*
 * Returns whether two machines have the same accelerator, based on its rates and memory. PCIe cards
 * and modules with the same peak reach different fractions of it, so this fraction is also
 * compared.
 */
static bool same_accelerator(const struct hm_node *a, const struct hm_node *b)
{
    return same_figure(a->flops_16, b->flops_16) && same_figure(a->flops_bf16, b->flops_bf16) &&
           same_figure(a->memory_bytes, b->memory_bytes) &&
           same_figure(a->matrix_efficiency, b->matrix_efficiency) &&
           same_figure(a->memory_bandwidth_bytes_per_s, b->memory_bandwidth_bytes_per_s);
}

bool hm__cluster_is_alone(const struct hm_cluster *c)
{
    return c->max_nodes == 1 && !(c->fabric.bandwidth_bytes_per_s > 0) && !c->fabric_name;
}

void hm__catalog_servers(const struct hm_catalog *catalog, const char *accelerator,
                         struct hm_servers *ret_servers)
{
    double owned_most = 0, rented_most = 0;
    struct hm_cluster *card = NULL;

    *ret_servers = (struct hm_servers){0};
    if (hm__catalog_find(catalog, HM_CATALOG_MACHINE, accelerator) ||
        hm_catalog_machine(catalog, accelerator, &card, NULL))
        return;
    for (size_t i = 0; i < hm_catalog_count(catalog, HM_CATALOG_MACHINE); i++) {
        const char *name = hm_catalog_name(catalog, HM_CATALOG_MACHINE, i);
        struct hm_cluster *c = NULL;
        if (!hm__catalog_may_hold_several(catalog, i, accelerator) ||
            hm_catalog_machine(catalog, name, &c, NULL))
            continue;
        const bool rented = c->node.price_per_s >= 0;
        double *most = rented ? &rented_most : &owned_most;
        if (c->node.accelerators > 1 && same_accelerator(&c->node, &card->node) &&
            c->fabric.bandwidth_bytes_per_s > *most) {
            *most = c->fabric.bandwidth_bytes_per_s;
            if (rented)
                ret_servers->rented = name;
            else
                ret_servers->owned = name;
        }
        hm_cluster_free(c);
    }
    hm_cluster_free(card);
}

void hm__catalog_device_name(const char *name, char *text, size_t room)
{
    static const char *const prefixes[] = {"NVIDIA ", "Tesla ", "GeForce "};
    size_t length = 0;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            name += strlen(prefixes[i]);
    for (; name[length] && length + 1 < room; length++)
        text[length] = name[length] == ' ' ? '-' : (char)tolower((unsigned char)name[length]);
    text[length] = '\0';
}
