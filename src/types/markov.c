/* A Markov random field as a file states it: its end. The readers are in inputs. */
#include "markov.h"

#include "memory.h"

void hm__markov_free(struct hm_markov *markov)
{
    if (markov)
        hm__arena_free(markov->memory);
}
