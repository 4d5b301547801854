/* Counts wrong tokens in a table of fixed size. */
#include "token_limit.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "hash.h"

enum { ENTRIES = 4096 };

struct token_limit {
    pthread_mutex_t lock;
    struct hm_hash_key key;
    struct token_count {
        uint64_t address; /* Hash of the address; an entry has the counts of one address. */
        double since_s;   /* Time in seconds at which the first token counted in `wrong` arrived. */
        unsigned wrong;
    } entries[ENTRIES];
};

struct token_limit *token_limit_new(void)
{
    struct token_limit *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    pthread_mutex_init(&l->lock, NULL);
    hm__hash_begin(&l->key);
    return l;
}

void token_limit_free(struct token_limit *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* Returns the place of an address in the table, and the hash of the address. */
static struct token_count *find_count(struct token_limit *l, const char *address,
                                      uint64_t *ret_hash)
{
    *ret_hash = hm__hash_text(&l->key, address);
    return &l->entries[*ret_hash % ENTRIES];
}

/* Returns whether an entry has the counts of an address, and has not expired. */
static bool count_is_current(const struct token_count *e, uint64_t address, double now_s)
{
    return e->address == address && now_s - e->since_s < TOKEN_LIMIT_S;
}

bool token_limit_is_over(struct token_limit *l, const char *address, double now_s)
{
    uint64_t hash;

    pthread_mutex_lock(&l->lock);
    const struct token_count *e = find_count(l, address, &hash);
    bool over = count_is_current(e, hash, now_s) && e->wrong >= TOKEN_LIMIT_WRONG;
    pthread_mutex_unlock(&l->lock);
    return over;
}

void token_limit_count(struct token_limit *l, const char *address, double now_s)
{
    uint64_t hash;

    pthread_mutex_lock(&l->lock);
    struct token_count *e = find_count(l, address, &hash);
    if (!count_is_current(e, hash, now_s))
        *e = (struct token_count){.address = hash, .since_s = now_s};
    e->wrong++;
    pthread_mutex_unlock(&l->lock);
}
