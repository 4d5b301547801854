/* Letters: which piece of w is where, and pieces with what belongs to them on their way. */
#include "messages.h"

bool hm__serving_staged(const struct hm_serving *serving)
{
    return serving->consistency == HM_CONSISTENCY_BSP ||
           (serving->consistency == HM_CONSISTENCY_SSP && serving->staleness == 0);
}

struct hm_shard hm__serving_piece(const struct hm_serving *serving, double unknowns, int k)
{
    return hm__shard_of(unknowns, k, serving->servers);
}

/* The run's own pieces: w, and the parts that are as long. */
static size_t pieces_of(struct hm_run *run, bool parts, struct hm_part pieces[HM_PARTS + 1])
{
    pieces[0] = (struct hm_part){"w", run->w, run->objective->unknowns, false};
    return 1 + (parts && run->algorithm->parts ? run->algorithm->parts(run, pieces + 1) : 0);
}

void hm__pieces_send(struct hm_run *run, struct hm_comm *world, int to, size_t first, size_t count,
                     bool parts)
{
    struct hm_part pieces[HM_PARTS + 1];
    size_t number = pieces_of(run, parts, pieces);

    for (size_t i = 0; i < number; i++)
        hm__comm_send(world, to, pieces[i].values + first, count * sizeof(double));
}

void hm__pieces_receive(struct hm_run *run, struct hm_comm *world, int from, size_t first,
                        size_t count, bool parts)
{
    struct hm_part pieces[HM_PARTS + 1];
    size_t number = pieces_of(run, parts, pieces);

    for (size_t i = 0; i < number; i++)
        hm__comm_receive(world, from, pieces[i].values + first, count * sizeof(double));
}
