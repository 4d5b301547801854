/* Reads `stragglers` of a cluster: how the speeds of workers differ and vary. docs/reference/job.md
 * describes the keys. */
#include <stddef.h>

#include "err.h"
#include "read_list.h"
#include "readers.h"

#define AT(member) offsetof(struct hm_slowness, member)

static const struct hm_field straggler_fields[] = {
    {.name = "spread",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(spread),
     .max = 3,
     .doc = "log-normal: an iteration takes exp(spread * N(0,1)) times as long"},
    {.name = "chance",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(chance),
     .max = 1,
     .doc = "probability that an iteration of a worker is slow"},
    {.name = "factor",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(factor),
     .min = 1,
     .above = true,
     .max = 1000,
     .doc = "how many times as long a slow iteration takes"},
    {.name = "pause",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(pause_s),
     .dim = {1, 0, 0, 0},
     .max = 1e6,
     .doc = "how much longer a slow iteration takes"},
    {.name = "slow",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(slow_nodes),
     .max = 1e6,
     .whole = true,
     .doc = "how many nodes, the last ones of those used, are slower for good"},
    {.name = "slow_factor",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(slow_factor),
     .min = 1,
     .above = true,
     .max = 1000,
     .doc = "how many times as long every iteration takes on a slow node"},
    {.name = "speeds",
     .kind = HM_FIELD_OTHER,
     .doc = "speeds of the first nodes, relative to what the cluster says"},
};

enum { STRAGGLER_FIELDS = sizeof(straggler_fields) / sizeof(straggler_fields[0]) };

const struct hm_field *hm__straggler_fields(size_t *count)
{
    *count = STRAGGLER_FIELDS;
    return straggler_fields;
}

/* Fails if the map has the key `key`, but neither `needs` nor `other`; other may be NULL. */
static int check_together(struct hm_reader *reader, const struct hm_value *map, const char *key,
                          const char *needs, const char *other, const char *hint)
{
    const struct hm_value *value = hm__value_get(map, key);

    if (!value || hm__value_get(map, needs) || (other && hm__value_get(map, other)))
        return 0;
    hm__reader_fail(reader, value, HM_E_MISSING, "'%s' is given without '%s'%s%s%s", key, needs,
                    other ? " or '" : "", other ? other : "", other ? "'" : "");
    hm__err_hint(reader->err, "%s", hint);
    return HM_E_MISSING;
}

static int read_speeds(struct hm_reader *reader, const struct hm_value *map,
                       struct hm_slowness *slowness)
{
    double *speeds;

    if (!hm__value_get(map, "speeds"))
        return 0;
    int rc = hm__read_numbers(reader, map, "speeds", HM_LIST_SPEEDS, HM_NONE, &speeds,
                              &slowness->speed_count);
    if (rc == 0)
        slowness->speeds = speeds;
    return rc;
}

int hm__read_stragglers(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_slowness *slowness)
{
    *slowness = (struct hm_slowness){0};
    int rc = hm__read_map(reader, value, straggler_fields, STRAGGLER_FIELDS, slowness);
    if (rc == 0)
        rc = check_together(reader, value, "chance", "factor", "pause",
                            "give the length of a slow iteration: factor: 4, or pause: 100 ms");
    if (rc == 0)
        rc = check_together(reader, value, "factor", "chance", NULL,
                            "give the probability of a slow iteration: chance: 5%");
    if (rc == 0)
        rc = check_together(reader, value, "pause", "chance", NULL,
                            "give the probability of a slow iteration: chance: 5%");
    if (rc == 0)
        rc = check_together(reader, value, "slow", "slow_factor", NULL,
                            "give the slowdown of these nodes: slow_factor: 4");
    if (rc == 0)
        rc = check_together(reader, value, "slow_factor", "slow", NULL,
                            "give the number of slow nodes: slow: 1");
    return rc ? rc : read_speeds(reader, value, slowness);
}
