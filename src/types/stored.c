/* Defines the table that describes the columns of a stored run, and searches it. */
#include "stored.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define TEXT(field, describes)                                                                     \
    {                                                                                              \
        .name = #field, .kind = HM_STORE_TEXT, .offset = offsetof(struct hm_stored, field),        \
        .label = describes                                                                         \
    }
#define NUMBER(field, unit, least, more_than)                                                      \
    {                                                                                              \
        .name = #field, .kind = HM_STORE_NUMBER, .offset = offsetof(struct hm_stored, field),      \
        .dim = unit, .min = least, .above = more_than, .label = true                               \
    }

#define NONE                                                                                       \
    {                                                                                              \
        0                                                                                          \
    }
#define TIME                                                                                       \
    {                                                                                              \
        1, 0, 0, 0                                                                                 \
    }
#define RATE                                                                                       \
    {                                                                                              \
        -1, 1, 0, 0                                                                                \
    }
#define MONEY                                                                                      \
    {                                                                                              \
        0, 0, 0, 1                                                                                 \
    }

const struct hm_store_column hm__store_columns[HM_STORE_COLUMNS] = {
    {.name = "id", .kind = HM_STORE_ID, .offset = offsetof(struct hm_stored, id)},
    TEXT(key, false),
    TEXT(made_at, false),
    TEXT(status, true),
    TEXT(algorithm, true),
    TEXT(problem, true),
    TEXT(data, true),
    TEXT(job, true),
    TEXT(machine, true),
    TEXT(scheme, true),
    TEXT(host, true),
    TEXT(version, true),
    {.name = "n",
     .kind = HM_STORE_NUMBER,
     .offset = offsetof(struct hm_stored, n),
     .min = 1,
     .whole = true,
     .label = true},
    NUMBER(batch, NONE, 0, true),
    NUMBER(latency, TIME, 0, false),
    NUMBER(bandwidth, RATE, 0, true),
    NUMBER(size, NONE, 0, true),
    NUMBER(seconds, TIME, 0, true),
    NUMBER(total, TIME, 0, true),
    NUMBER(iterations, NONE, 0, true),
    NUMBER(loss, NONE, -INFINITY, true),
    NUMBER(best, NONE, -INFINITY, true),
    NUMBER(cost, MONEY, 0, false),
    NUMBER(seed, NONE, -INFINITY, true),
    TEXT(more, false),
};

const struct hm_store_column *hm__store_column_find(const char *name)
{
    for (size_t i = 0; i < HM_STORE_COLUMNS - 1; i++)
        if (strcmp(hm__store_columns[i].name, name) == 0)
            return &hm__store_columns[i];
    return NULL;
}

const char *hm__store_column_name(const void *unused, size_t i)
{
    (void)unused;
    return i < HM_STORE_COLUMNS - 1 ? hm__store_columns[i].name : NULL;
}

bool hm__stored_is_ok(const char *status)
{
    static const char *const good[] = {"ok", "done", "success", "completed"};

    if (!status || !*status)
        return true;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        if (strcasecmp(status, good[i]) == 0)
            return true;
    return false;
}
