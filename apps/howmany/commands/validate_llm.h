/* Declares howmany validate --llm, which predicts measured training steps of large networks. */
#ifndef HM_VALIDATE_LLM_H
#define HM_VALIDATE_LLM_H

#include <stdbool.h>

/* Predicts every built-in row and prints predictions and errors. Returns an exit code. */
int validate_llm(bool json);

#endif
