/* The list of algorithms. A new one is a file of its own, and a line in each place here. */
#include <string.h>

#include "run.h"

extern const struct hm_algorithm hm_algorithm_gd, hm_algorithm_lbfgs, hm_algorithm_sgd,
    hm_algorithm_momentum, hm_algorithm_adam, hm_algorithm_local_sgd, hm_algorithm_splash,
    hm_algorithm_cocoa, hm_algorithm_cocoa_plus, hm_algorithm_mini_sdca;

const struct hm_algorithm *const hm_algorithms[] = {&hm_algorithm_gd,
                                                    &hm_algorithm_lbfgs,
                                                    &hm_algorithm_sgd,
                                                    &hm_algorithm_momentum,
                                                    &hm_algorithm_adam,
                                                    &hm_algorithm_local_sgd,
                                                    &hm_algorithm_splash,
                                                    &hm_algorithm_cocoa,
                                                    &hm_algorithm_cocoa_plus,
                                                    &hm_algorithm_mini_sdca,
                                                    NULL};

const struct hm_algorithm *hm_algorithm_find(const char *name)
{
    for (size_t i = 0; hm_algorithms[i]; i++)
        if (strcmp(hm_algorithms[i]->name, name) == 0)
            return hm_algorithms[i];
    return NULL;
}
