/* This program itself as a child: the very file that runs, wherever it is and whatever its name. */
#include "self.h"

int cli_self_run(const struct cli_words *words, struct cli_child *child, struct hm_err *err)
{
    struct cli_words all = {0};
    int rc = cli_words_add(&all, "/proc/self/exe", err);

    for (size_t i = 0; rc == 0 && i < words->count; i++)
        rc = cli_words_add(&all, words->words[i], err);
    child->argv = all.words;
    rc = rc ? rc : cli_child_run(child, err);
    child->argv = NULL;
    cli_words_release(&all);
    return rc;
}
