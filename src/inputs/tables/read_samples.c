/*
 * Reads the samples of a run, in the form in which a server shows them (GET /v1/runs/{id}):
 *
 *     [{"iteration": 1, "seconds": 0.25, "elapsed_s": 0.25, "loss": 2.3}, ...]
 *
 * Values that are absent or null are unknown.
 */
#include "read_samples.h"

#include "err.h"
#include "howmany_store.h"
#include "schema.h"

#define T struct hm_stored_sample

static const struct hm_field sample_fields[] = {
    {.name = "iteration",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(T, iteration),
     .doc = "number of the iteration, from 1",
     .required = true},
    {.name = "seconds",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(T, seconds),
     .doc = "seconds of the iteration",
     .unknown = true},
    {.name = "elapsed_s",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(T, elapsed_s),
     .doc = "seconds from the start of the run to the end of the iteration",
     .unknown = true},
    {.name = "loss",
     .kind = HM_FIELD_REAL,
     .offset = offsetof(T, loss),
     .doc = "loss after the iteration",
     .unknown = true},
};

#undef T

int hm__samples_read(struct hm_arena *arena, const struct hm_value *list,
                     struct hm_run_samples *ret_samples, struct hm_err *err)
{
    struct hm_stored_sample *samples = hm__arena_alloc(arena, list->count + 1, sizeof(*samples));
    struct hm_reader reader = {.arena = arena, .err = err};
    int rc = samples ? 0 : hm__fail_nomem(err);

    hm__reader_enter(&reader, "samples");
    for (size_t i = 0; rc == 0 && i < list->count; i++) {
        size_t mark = hm__reader_enter_index(&reader, i);
        samples[i] = (struct hm_stored_sample){HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN, HM_UNKNOWN};
        rc = hm__expect_kind(&reader, &list->items[i], HM_VALUE_MAP, "iteration, seconds and loss");
        if (rc == 0)
            rc = hm__read_map(&reader, &list->items[i], sample_fields,
                              sizeof(sample_fields) / sizeof(sample_fields[0]), &samples[i]);
        hm__reader_leave(&reader, mark);
    }
    if (rc == 0)
        *ret_samples = (struct hm_run_samples){samples, list->count};
    return rc;
}
