/*
 * Limits how often clients at one address may send wrong tokens. After TOKEN_LIMIT_WRONG wrong
 * tokens within TOKEN_LIMIT_S seconds, no token from this address is checked until these seconds
 * have passed. The counts are in a table of fixed size, indexed by a hash of the address with a
 * random key, so the memory is bounded. If two addresses have the same place in the table, the one
 * that has sent a wrong token last takes it, so that no address is refused because of another one.
 * Any thread may call these functions.
 */
#ifndef HM_TOKEN_LIMIT_H
#define HM_TOKEN_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

enum { TOKEN_LIMIT_WRONG = 100, TOKEN_LIMIT_S = 10 };

struct token_limit;

/* Creates an empty table of counts. Returns NULL if memory runs out. */
struct token_limit *token_limit_new(void);
void token_limit_free(struct token_limit *limit);
/* Returns whether this address has sent too many wrong tokens, so that its tokens must not be
 * checked; now_s is the current time in seconds. */
bool token_limit_is_over(struct token_limit *limit, const char *address, double now_s);
/* Counts a wrong token from an address. */
void token_limit_count(struct token_limit *limit, const char *address, double now_s);

#endif
