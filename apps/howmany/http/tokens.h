/* Who may ask: tokens, of which only the hashes are kept, and what each may do. */
#ifndef HM_TOKENS_H
#define HM_TOKENS_H

#include "howmany.h"

enum token_scope { TOKEN_READ = 1, TOKEN_WRITE = 2 };

struct tokens;

/* Lines "sha256hex scope", scope read, write or read,write; # begins a comment. */
int tokens_parse(const char *text, size_t length, const char *source, struct tokens **ret_tokens,
                 struct hm_err *err);
void tokens_free(struct tokens *tokens);
/* The scopes of an "Authorization: Bearer …"; 0: nobody we know. */
unsigned tokens_scopes(const struct tokens *tokens, const char *authorization);
/* "read", "write" or "read,write"; 0 for anything else. */
unsigned tokens_scope_find(const char *text, size_t length);

enum { TOKEN_TEXT = 65 };
/* A new one, and the hash to keep. Both are hex[TOKEN_TEXT]. */
int tokens_make(char *ret_token, char *ret_hash, struct hm_err *err);

#endif
