/* Frees the structs that describe the training of transformers. */
#include "large_job.h"

#include "large_rows.h"
#include "memory.h"

void hm__large_answer_free(struct hm_large_answer *answer)
{
    if (answer)
        hm__free(answer->points);
    hm__free(answer);
}

void hm__large_rows_free(struct hm_large_rows *rows)
{
    if (rows)
        hm__arena_free(rows->memory);
}
