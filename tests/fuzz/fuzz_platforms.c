/* Fuzzes tables of iterations that were measured with frameworks; the rows of valid tables are
 * predicted. */
#include <stdint.h>

#include "kept_catalog.h"
#include "predict_platform.h"
#include "read_platforms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_platform_rows all;
    struct hm_err err = {0};

    if (hm__platform_rows_read(fuzz_catalog(), (const char *)data, size, "fuzz.csv", &all, &err))
        return 0;
    for (size_t i = 0; i < all.count; i++) {
        struct hm_point p;
        (void)hm__predict_platform(all.rows[i].job, &all.rows[i].way, all.rows[i].n, NULL, &p,
                                   &err);
    }
    hm__platform_rows_release(&all);
    return 0;
}
