/* Counts wrong tokens in a table of fixed size. */
#include "token_limit.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { ENTRIES = 4096 };

struct token_limit {
    pthread_mutex_t lock;
    struct token_count {
        double since_s; /* Time in seconds at which the first token counted in `wrong` arrived. */
        unsigned wrong;
    } entries[ENTRIES];
};

struct token_limit *token_limit_new(void)
{
    struct token_limit *l = calloc(1, sizeof(*l));

    if (l)
        pthread_mutex_init(&l->lock, NULL);
    return l;
}

void token_limit_free(struct token_limit *l)
{
    if (!l)
        return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* Returns the entry of an address; an entry that has expired is reset first. */
static struct token_count *token_entry(struct token_limit *l, const char *address, double now_s)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *address; address++)
        hash = (hash ^ (unsigned char)*address) * 0x100000001b3u;
    struct token_count *e = &l->entries[(hash ^ (hash >> 40)) % ENTRIES];
    if (now_s - e->since_s >= TOKEN_LIMIT_S)
        *e = (struct token_count){.since_s = now_s};
    return e;
}

bool token_limit_is_over(struct token_limit *l, const char *address, double now_s)
{
    pthread_mutex_lock(&l->lock);
    bool over = token_entry(l, address, now_s)->wrong >= TOKEN_LIMIT_WRONG;
    pthread_mutex_unlock(&l->lock);
    return over;
}

void token_limit_count(struct token_limit *l, const char *address, double now_s)
{
    pthread_mutex_lock(&l->lock);
    token_entry(l, address, now_s)->wrong++;
    pthread_mutex_unlock(&l->lock);
}
