/* A stored convergence; what is let through is written, and must then read back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "howmany_advise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hm_style style = {.table = true, .width = 80};
    struct hm_convergence *first = NULL, *second = NULL;
    struct hm_err err = {0};
    char *text = NULL;

    if (hm_convergence_parse((const char *)data, size, "fuzz.json", &first, &err))
        return 0;
    if (hm_convergence_render(first, NULL, HM_FORMAT_JSON, &style, &text, &err) ||
        hm_convergence_parse(text, strlen(text), "again.json", &second, &err))
        abort();
    hm_text_free(text);
    hm_convergence_free(second);
    hm_convergence_free(first);
    return 0;
}
