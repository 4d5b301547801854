/*
 * Lists all algorithms. To add an algorithm, write its source file, declare it below and add it to
 * the list.
 */
#include <string.h>

#include "run.h"

extern const struct hm_algorithm hm__algorithm_gd, hm__algorithm_lbfgs, hm__algorithm_sgd,
    hm__algorithm_momentum, hm__algorithm_adam, hm__algorithm_local_sgd, hm__algorithm_splash,
    hm__algorithm_cocoa, hm__algorithm_cocoa_plus, hm__algorithm_mini_sdca,
    hm__algorithm_gossip_ring, hm__algorithm_gossip_exp, hm__algorithm_fedavg;

const struct hm_algorithm *const hm__algorithms[] = {
    &hm__algorithm_gd,          &hm__algorithm_lbfgs,
    &hm__algorithm_sgd,         &hm__algorithm_momentum,
    &hm__algorithm_adam,        &hm__algorithm_local_sgd,
    &hm__algorithm_splash,      &hm__algorithm_cocoa,
    &hm__algorithm_cocoa_plus,  &hm__algorithm_mini_sdca,
    &hm__algorithm_gossip_ring, &hm__algorithm_gossip_exp,
    &hm__algorithm_fedavg,      NULL};

const struct hm_algorithm *hm__algorithm_find(const char *name)
{
    for (size_t i = 0; hm__algorithms[i]; i++)
        if (strcmp(hm__algorithms[i]->name, name) == 0)
            return hm__algorithms[i];
    return NULL;
}
