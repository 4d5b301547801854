/* Fuzzes tables of measured steps and of measured all-reduces; the rows of valid tables are
 * predicted. */
#include <stdint.h>

#include "kept_catalog.h"
#include "predict.h"
#include "read_measured.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_steps(const char *text, size_t size)
{
    struct hm_measured_steps steps;
    struct hm_err err = {0};

    if (hm__measured_steps_read(fuzz_catalog(), text, size, "fuzz.csv", &steps, &err))
        return;
    for (size_t i = 0; i < steps.count; i++) {
        const struct hm_measured_step *s = &steps.rows[i];
        struct hm_point p;
        (void)hm__predict_step(s->job, &s->way, s->n, NULL, &p, &err);
    }
    hm__measured_steps_release(&steps);
}

static void fuzz_collectives(const char *text, size_t size)
{
    struct hm_measured_collectives rows;
    struct hm_err err = {0};

    if (hm__measured_collectives_read(fuzz_catalog(), text, size, "fuzz.csv", &rows, &err))
        return;
    for (size_t i = 0; i < rows.count; i++)
        (void)hm__predict_allreduce(rows.rows[i].cluster, rows.rows[i].n, rows.rows[i].bytes, NULL);
    hm__measured_collectives_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_steps((const char *)data, size);
    fuzz_collectives((const char *)data, size);
    return 0;
}
