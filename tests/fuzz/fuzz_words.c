/* Command lines: after splitting, filling in and quoting, the same words must result again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_back(const struct cli_words *words)
{
    struct cli_words again = {0};
    struct hm_text line = {0};

    require(cli_words_quote(&line, words) == 0);
    require(cli_words_split(&again, line.data, NULL) == 0);
    require(again.count == words->count);
    for (size_t i = 0; i < words->count; i++)
        require(strcmp(words->words[i], again.words[i]) == 0);
    cli_words_release(&again);
    hm__text_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cli_fill fills[] = {{"n", "4"}, {"nodes", "a {n} 'b'"}, {"seed", ""}};
    struct cli_words words = {0}, filled = {0};
    struct hm_err err = {0};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (cli_words_split(&words, text, &err) == 0) {
        read_back(&words);
        if (cli_words_fill(&words, fills, 3, &filled, &err) == 0)
            read_back(&filled);
        cli_words_uses(&words, "nodes");
    }
    cli_words_release(&words);
    cli_words_release(&filled);
    free(text);
    return 0;
}
