/* Fuzzes command lines: a command that was split, filled in and quoted must be split into the same
 * arguments again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"
#include "text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void read_back(const struct launch_command *words)
{
    struct launch_command again = {0};
    struct hm_text line = {0};

    require(launch_command_quote(&line, words) == 0);
    require(launch_command_split(&again, line.data, NULL) == 0);
    require(again.count == words->count);
    for (size_t i = 0; i < words->count; i++)
        require(strcmp(words->argv[i], again.argv[i]) == 0);
    launch_command_release(&again);
    hm__text_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct launch_placeholder placeholders[] = {
        {"n", "4"}, {"nodes", "a {n} 'b'"}, {"seed", ""}};
    struct launch_command words = {0}, filled = {0};
    struct hm_err err = {0};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (launch_command_split(&words, text, &err) == 0) {
        read_back(&words);
        if (launch_command_fill(&words, placeholders, 3, &filled, &err) == 0)
            read_back(&filled);
        launch_command_uses(&words, "nodes");
    }
    launch_command_release(&words);
    launch_command_release(&filled);
    free(text);
    return 0;
}
