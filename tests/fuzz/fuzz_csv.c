/* Fuzzes the CSV reader. */
#include <stdint.h>

#include "csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_csv *csv = NULL;
    struct hm_err err = {0};
    char **fields;

    if (hm__csv_parse((const char *)data, size, "fuzz.csv", 0, &csv, &err) == 0)
        while (hm__csv_next(csv, &fields, &err) == 1)
            ;
    hm__csv_close(csv);
    return 0;
}
