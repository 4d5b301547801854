/* Implements table_send.h, and the destination of runs that is a store. */
#include "table_send.h"

#include "err.h"
#include "memory.h"
#include "store.h"

enum { FEW_RUNS = 16 }; /* Number of ids in the small array of hm__table_send. */

static int store_sink_add(void *store, struct hm_store_batch *batch, struct hm_err *err)
{
    return hm_store_add_batches(store, batch, 1, err);
}

struct hm_run_sink hm__store_sink(struct hm_store *store)
{
    return (struct hm_run_sink){store, store_sink_add, store};
}

void hm__added_release(struct hm_added *added)
{
    hm__free(added->ids);
    *added = (struct hm_added){0};
}

int hm__added_append(struct hm_added *added, const int64_t *ids, size_t count, struct hm_err *err)
{
    if (added->id_count + count > added->room) {
        size_t room = 2 * (added->id_count + count);
        double *grown = hm__realloc(added->ids, room, sizeof(*grown));
        if (!grown)
            return hm__fail_nomem(err);
        added->ids = grown;
        added->room = room;
    }
    for (size_t k = 0; k < count; k++)
        added->ids[added->id_count++] = (double)ids[k];
    return 0;
}

/* Sends a batch of runs to the store, and appends the ids of these runs to `added`. `ids` is a
 * buffer of the caller with space for one id per run. */
static int send_with_ids(const struct hm_run_sink *sink, struct hm_store_batch batch, int64_t *ids,
                         struct hm_added *added, struct hm_err *err)
{
    batch.ids = ids;
    int rc = sink->add(sink->data, &batch, err);
    if (rc)
        return rc;
    added->count += batch.added;
    return hm__added_append(added, ids, batch.count, err);
}

static int send_many(const struct hm_run_sink *sink, struct hm_store_batch batch,
                     struct hm_added *added, struct hm_err *err)
{
    int64_t ids[HM_BATCH_RUNS];

    return send_with_ids(sink, batch, ids, added, err);
}

/* A small batch uses a small array, so that it does not touch the many pages of the large one. */
int hm__table_send(const struct hm_run_sink *sink, struct hm_store_batch batch,
                   struct hm_added *added, struct hm_err *err)
{
    int64_t ids[FEW_RUNS];

    if (batch.count == 0)
        return 0;
    return batch.count <= FEW_RUNS ? send_with_ids(sink, batch, ids, added, err)
                                   : send_many(sink, batch, added, err);
}

static int begun_sink_add(void *store, struct hm_store_batch *batch, struct hm_err *err)
{
    return hm__store_add_begun(store, batch, 1, err);
}

int hm__whole_begin(struct hm_whole_sink *w, const struct hm_run_sink *sink, size_t rows,
                    const struct hm_added *added, struct hm_err *err)
{
    *w = (struct hm_whole_sink){.sink = *sink, .count = added->count, .id_count = added->id_count};
    if (!sink->store || rows <= HM_BATCH_RUNS)
        return 0;
    w->begun = sink->store;
    w->sink = (struct hm_run_sink){.data = w->begun, .add = begun_sink_add};
    return hm__store_exec(w->begun, w->begun->sql->begin_write, err);
}

int hm__whole_end(struct hm_whole_sink *w, int rc, struct hm_added *added, struct hm_err *err)
{
    if (!w->begun)
        return rc;
    rc = hm__store_end(w->begun, rc, err);
    if (rc == 0)
        hm__store_place(w->begun, added->id_count - w->id_count);
    else {
        added->count = w->count;
        added->id_count = w->id_count;
    }
    return rc;
}
