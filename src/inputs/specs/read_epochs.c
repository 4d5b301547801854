/*
 * Reads `epochs`: a number, or a map from batches to the measured epochs that they need to reach
 * the target, such as {3072: 35, 16384: 47}. The batches must increase.
 */
#include <math.h>

#include "err.h"
#include "memory.h"
#include "readers.h"

static const struct hm_field batch_field = {
    .kind = HM_FIELD_QUANTITY, .above = true, .max = 1e15, .whole = true};
static const struct hm_field epochs_field = {.kind = HM_FIELD_QUANTITY, .above = true, .max = 1e9};

/* Reads one entry of the map: a batch and its epochs. */
static int read_entry(struct hm_reader *reader, const struct hm_value *map, size_t i,
                      struct hm_epochs_at *entry)
{
    size_t mark = hm__reader_enter(reader, map->keys[i]);
    struct hm_value key = map->items[i];

    key.kind = HM_VALUE_SCALAR;
    key.text = map->keys[i];
    int rc = hm__read_field(reader, &key, &batch_field, &entry->batch);
    if (rc == 0)
        rc = hm__read_field(reader, &map->items[i], &epochs_field, &entry->epochs);
    if (rc == 0 && i > 0 && entry->batch <= entry[-1].batch)
        rc = hm__reader_fail(reader, &map->items[i], HM_E_RANGE,
                             "the batches must increase: %g after %g", entry->batch,
                             entry[-1].batch);
    hm__reader_leave(reader, mark);
    return rc;
}

int hm__read_epochs(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job)
{
    int rc = 0;

    if (value->kind != HM_VALUE_MAP)
        return hm__read_field(reader, value, &epochs_field, &job->epochs);
    if (value->count == 0)
        return hm__reader_fail(reader, value, HM_E_MISSING,
                               "no epochs; write BATCH: EPOCHS, such as 3072: 35");
    job->epochs_at = hm__arena_alloc(reader->arena, value->count, sizeof(*job->epochs_at));
    if (!job->epochs_at)
        return hm__fail_nomem(reader->err);
    for (size_t i = 0; rc == 0 && i < value->count; i++)
        rc = read_entry(reader, value, i, &job->epochs_at[i]);
    if (rc)
        return rc;
    job->epochs_at_count = value->count;
    job->epochs = job->epochs_at[0].epochs;
    return 0;
}
