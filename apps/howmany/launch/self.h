/* This program itself as a child, with other words. */
#ifndef HM_SELF_H
#define HM_SELF_H

#include "child.h"
#include "words.h"

/* As cli_child_run, of the words after `howmany`; argv is set meanwhile. */
int cli_self_run(const struct cli_words *words, struct cli_child *child, struct hm_err *err);

#endif
