/*
 * Sends messages between workers and parameter servers: determines the shard of each server, and
 * transfers the weights w and the algorithm's state.
 */
#include "messages.h"

bool hm__serving_is_synchronous(const struct hm_serving *serving)
{
    return serving->consistency == HM_CONSISTENCY_BSP ||
           (serving->consistency == HM_CONSISTENCY_SSP && serving->staleness == 0);
}

struct hm_shard hm__serving_shard(const struct hm_serving *serving, double unknowns, int k)
{
    return hm__shard_of(unknowns, k, serving->servers);
}

/*
 * Creates a list that contains w and, if `parts` is true, the arrays of the algorithm's state that
 * have the same length.
 */
static size_t parameters_list(struct hm_run *run, bool parts, struct hm_part arrays[HM_PARTS + 1])
{
    arrays[0] = (struct hm_part){"w", run->w, run->objective->unknowns, false};
    return 1 + (parts && run->algorithm->parts ? run->algorithm->parts(run, arrays + 1) : 0);
}

void hm__parameters_send(struct hm_run *run, struct hm_comm *world, int to, size_t first,
                         size_t count, bool parts)
{
    struct hm_part arrays[HM_PARTS + 1];
    size_t number = parameters_list(run, parts, arrays);

    for (size_t i = 0; i < number; i++)
        hm__comm_send(world, to, arrays[i].values + first, count * sizeof(double));
}

void hm__parameters_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                            size_t count, bool parts)
{
    struct hm_part arrays[HM_PARTS + 1];
    size_t number = parameters_list(run, parts, arrays);

    for (size_t i = 0; i < number; i++)
        hm__comm_receive(world, from, arrays[i].values + first, count * sizeof(double));
}
