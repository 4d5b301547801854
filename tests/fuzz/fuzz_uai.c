/* Fuzzes the reader of UAI files; small Markov random fields are then solved by belief propagation
 * on one rank. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "kept_file.h"
#include "propagate.h"
#include "uai.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void propagate(const struct hm_markov *m, bool max_product)
{
    struct hm_propagate_settings settings = {.max_product = max_product};
    struct hm_propagate *p = NULL;
    struct hm_mrf *mrf = NULL;
    struct hm_comm comm;

    hm__comm_alone(&comm);
    if (hm__mrf_from_markov(m, 0, 1, &mrf, NULL) == 0 &&
        hm__propagate_new(mrf, &settings, &comm, &p, NULL) == 0) {
        double *beliefs = calloc(mrf->places[mrf->count] + 1, sizeof(*beliefs));
        for (int i = 0; i < 3; i++)
            if (isnan(hm__propagate_step(p, &comm)))
                abort();
        hm__propagate_beliefs(p, beliefs);
        for (size_t i = 0; i < mrf->places[mrf->count]; i++)
            if (!(beliefs[i] >= 0 && beliefs[i] <= 1))
                abort();
        hm__propagate_log_z(p, &comm);
        free(beliefs);
    }
    hm__propagate_free(p);
    hm__mrf_free(mrf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_markov *m = NULL;
    struct hm_err err = {0};
    const char *path = fuzz_file_write(0, data, size);

    if (path && hm__markov_load(path, &m, &err) == 0 && m->table_places[m->edges] < 100000) {
        propagate(m, false);
        propagate(m, true);
    }
    hm__markov_free(m);
    return 0;
}
