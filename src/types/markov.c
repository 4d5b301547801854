/* Frees a Markov random field. The functions that read such fields are in src/inputs. */
#include "markov.h"

#include "memory.h"

void hm__markov_free(struct hm_markov *markov)
{
    if (markov)
        hm__arena_free(markov->memory);
}
