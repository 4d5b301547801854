/*
 * Reads `measured` of a machine: rates and times that were measured on it, which the model uses
 * instead of the values of the data sheet. docs/reference/calibrate.md describes the keys.
 */
#include <stddef.h>

#include "err.h"
#include "readers.h"

#define AT(member) offsetof(struct hm_calibration, member)
#define RATE(precision)                                                                            \
    {                                                                                              \
        .name = #precision, .kind = HM_FIELD_QUANTITY,                                             \
        .offset = offsetof(struct hm_rates, precision), .dim = {-1, 0, 1, 0}, .above = true,       \
        .doc = "flop/s of matrix products in " #precision                                          \
    }
#define SPEED(precision)                                                                           \
    {                                                                                              \
        .name = #precision, .kind = HM_FIELD_QUANTITY,                                             \
        .offset = offsetof(struct hm_rates, precision), .above = true, .max = 100,                 \
        .doc = "relative speed of convolutions in " #precision                                     \
    }

static const struct hm_field calibration_fields[] = {
    {.name = "date", .kind = HM_FIELD_TEXT, .offset = AT(date), .doc = "day of the measurement"},
    {.name = "uncertainty",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(uncertainty),
     .max = 1,
     .doc = "relative uncertainty of the figures, such as 2%"},
    {.name = "flops",
     .kind = HM_FIELD_OTHER,
     .doc = "a map: what the largest matrix products reach, by precision"},
    {.name = "convolutions",
     .kind = HM_FIELD_OTHER,
     .doc = "a map: speed of convolutions relative to the model, by precision"},
    {.name = "memory_bandwidth",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(memory_bandwidth_bytes_per_s),
     .dim = {-1, 1, 0, 0},
     .above = true,
     .doc = "bytes per second that element-wise kernels move"},
    {.name = "core_bandwidth",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(core_bandwidth_bytes_per_s),
     .dim = {-1, 1, 0, 0},
     .above = true,
     .doc = "the same, one thread of a CPU"},
    {.name = "kernel",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(kernel_s),
     .dim = {1, 0, 0, 0},
     .above = true,
     .doc = "time of one small kernel"},
};
static const struct hm_field rate_fields[] = {RATE(fp64), RATE(fp32), RATE(tf32),
                                              RATE(bf16), RATE(fp16), RATE(fp8)};
static const struct hm_field speed_fields[] = {SPEED(fp64), SPEED(fp32), SPEED(tf32),
                                               SPEED(bf16), SPEED(fp16), SPEED(fp8)};

enum {
    CALIBRATION_FIELDS = sizeof(calibration_fields) / sizeof(calibration_fields[0]),
    FORMATS = sizeof(rate_fields) / sizeof(rate_fields[0])
};

/* Reads the rates by precision under a key of the map, if the key exists. */
static int read_rates(struct hm_reader *reader, const struct hm_value *map, const char *key,
                      const struct hm_field *fields, struct hm_rates *rates)
{
    const struct hm_value *value = hm__value_get(map, key);

    if (!value)
        return 0;
    size_t mark = hm__reader_enter(reader, key);
    int rc = hm__read_map(reader, value, fields, FORMATS, rates);
    hm__reader_leave(reader, mark);
    return rc;
}

int hm__read_calibration(struct hm_reader *reader, const struct hm_value *value,
                         struct hm_calibration *calibration)
{
    *calibration = (struct hm_calibration){0};
    int rc = hm__read_map(reader, value, calibration_fields, CALIBRATION_FIELDS, calibration);

    if (rc == 0)
        rc = read_rates(reader, value, "flops", rate_fields, &calibration->flops);
    if (rc == 0)
        rc = read_rates(reader, value, "convolutions", speed_fields, &calibration->convolutions);
    return rc;
}
