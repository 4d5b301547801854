/* Checks bearer tokens and their scopes. Only the hashes of tokens are stored. */
#ifndef HM_TOKENS_H
#define HM_TOKENS_H

#include "howmany.h"

enum token_scope { TOKEN_READ = 1, TOKEN_WRITE = 2 };

struct tokens;

/*
 * Parses a token file. Each line contains the SHA-256 hash of a token in hexadecimal and the scopes
 * of the token (read, write or read,write); # begins a comment.
 */
int tokens_parse(const char *text, size_t length, const char *source, struct tokens **ret_tokens,
                 struct hm_err *err);
void tokens_free(struct tokens *tokens);
/* Returns the scopes of the token in the header "Authorization: Bearer …"; 0 if the token is
 * unknown. */
unsigned tokens_scopes(const struct tokens *tokens, const char *authorization);
/* Returns the set of scopes for the text "read", "write" or "read,write"; 0 for any other text. */
unsigned tokens_scope_find(const char *text, size_t length);

enum { TOKEN_TEXT = 65 };
/* Creates a random token and its hash; each is written as hexadecimal text[TOKEN_TEXT]. */
int tokens_make(char *ret_token, char *ret_hash, struct hm_err *err);

#endif
