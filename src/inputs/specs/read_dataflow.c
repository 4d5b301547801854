/*
 * Reads `dataflow` of a job: the partitions and tasks of a platform with a driver, such as Spark,
 * and its failures. docs/reference/platforms.md describes the keys.
 */
#include <math.h>
#include <stddef.h>

#include "checks.h"
#include "err.h"
#include "readers.h"

#define AT(member) offsetof(struct hm_dataflow, member)

/* Names for enum hm_recovery, and for the place where the model is stored, as written in a
 * specification. */
static const char *const recoveries[] = {"auto", "lineage", "checkpoint", NULL};
static const char *const places[] = {"driver", "distributed", NULL};

static const struct hm_field dataflow_fields[] = {
    {.name = "partitions",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(partitions),
     .min = 1,
     .max = 1e7,
     .whole = true,
     .doc = "partitions of the data set, each of which is a task"},
    {.name = "slots",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(slots),
     .min = 1,
     .max = 1e4,
     .whole = true,
     .doc = "tasks that a worker runs at once, by default its threads"},
    {.name = "task",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(task_s),
     .above = true,
     .max = 1e6,
     .dim = {1, 0, 0, 0},
     .doc = "time of the driver to start one task"},
    {.name = "skew",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(skew),
     .min = 1,
     .max = 1e6,
     .doc = "largest partition relative to the mean"},
    {.name = "speculation",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(speculation),
     .min = 1,
     .max = 100,
     .doc = "a copy of a task starts after this many times the usual time"},
    {.name = "model", .kind = HM_FIELD_OTHER, .doc = "place of the model: driver or distributed"},
    {.name = "mtbf",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(mtbf_s),
     .above = true,
     .dim = {1, 0, 0, 0},
     .doc = "mean time between two failures of one worker"},
    {.name = "restart",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(restart_s),
     .dim = {1, 0, 0, 0},
     .doc = "time to replace a lost worker"},
    {.name = "lineage",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(lineage),
     .above = true,
     .max = 1e9,
     .doc = "iterations to repeat for a lost partition"},
    {.name = "checkpoint",
     .kind = HM_FIELD_QUANTITY,
     .offset = AT(checkpoint_s),
     .above = true,
     .dim = {1, 0, 0, 0},
     .doc = "time to write one checkpoint"},
    {.name = "recovery",
     .kind = HM_FIELD_CHOICE,
     .offset = AT(recovery),
     .choices = recoveries,
     .doc = "what replaces lost partitions: lineage, checkpoint or the cheaper one"},
};

/* Fails if the key `mtbf` is missing and a key that needs it is given. */
static int check_failures(struct hm_reader *reader, const struct hm_value *map)
{
    static const char *const keys[] = {"restart", "lineage", "checkpoint", "recovery"};

    for (size_t i = 0; !hm__value_get(map, "mtbf") && i < 4; i++) {
        const struct hm_value *value = hm__value_get(map, keys[i]);
        if (!value)
            continue;
        hm__reader_fail(reader, value, HM_E_MISSING, "%s needs mtbf", keys[i]);
        hm__err_hint(reader->err,
                     "mtbf: mean time between failures of one worker, such as 90 days");
        return HM_E_MISSING;
    }
    return 0;
}

int hm__read_dataflow(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job)
{
    static const struct hm_field place = {.kind = HM_FIELD_CHOICE, .choices = places};
    struct hm_dataflow *dataflow = hm__arena_alloc(reader->arena, 1, sizeof(*dataflow));
    const struct hm_value *model = hm__value_get(value, "model");
    int where = 0;

    if (!dataflow)
        return hm__fail_nomem(reader->err);
    int rc = hm__read_map(reader, value, dataflow_fields,
                          sizeof(dataflow_fields) / sizeof(dataflow_fields[0]), dataflow);
    if (rc == 0 && model) {
        size_t mark = hm__reader_enter(reader, "model");
        rc = hm__read_field(reader, model, &place, &where);
        hm__reader_leave(reader, mark);
    }
    if (rc == 0)
        rc = check_failures(reader, value);
    const struct hm_value *recovery = hm__value_get(value, "recovery");
    if (rc == 0 && dataflow->recovery == HM_RECOVERY_CHECKPOINT && !(dataflow->checkpoint_s > 0))
        rc = hm__reader_fail(reader, recovery, HM_E_MISSING,
                             "recovery by checkpoints needs checkpoint, the time to write one");
    dataflow->distributed = where == 1;
    job->dataflow = dataflow;
    return rc;
}
