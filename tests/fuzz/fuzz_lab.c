/* Fuzzes the settings of a laboratory (an emulated cluster): any bytes must give an error, or a lab
 * whose commands can be listed. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lab_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_spec spec = {0};
    struct lab_plan plan = {0};
    struct hm_err err = {0};

    if (lab_spec_read((const char *)data, size, "fuzz", &spec, &err))
        return 0;
    if (lab_plan_make(&spec, &plan, &err))
        abort();
    lab_plan_release(&plan);
    return 0;
}
