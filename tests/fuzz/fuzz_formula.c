/* Fuzzes the formula compiler and both evaluators. Lines after the first are definitions of the
 * form name=text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formula.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEFINITIONS = 16 };

static size_t split(char *text, struct hm_definition *definitions)
{
    size_t count = 0;
    char *line = strchr(text, '\n');

    while (line && count < DEFINITIONS) {
        *line++ = '\0';
        char *next = line + strcspn(line, "\n");
        char *equals = memchr(line, '=', (size_t)(next - line));
        if (*next == '\0')
            next = NULL;
        if (equals) {
            *equals = '\0';
            definitions[count] = (struct hm_definition){line, equals + 1, (int)count + 2};
            count++;
        }
        line = next;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct hm_symbol symbols[] = {{"n", {0, 0, 0, 0}}, {"rate", {-1, 1, 0, 0}}};
    struct hm_definition definitions[DEFINITIONS];
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    struct hm_scope scope = {"fuzz", symbols, 2, definitions, split(text, definitions)};
    struct hm_formula *f = NULL;
    struct hm_err err = {0};
    hm__scope_check(&scope, &err);
    err = (struct hm_err){0};
    if (hm__formula_new(text, &scope, HM_DIM_TIME, &f, &err) == 0) {
        double n[3] = {1, 7, 1000}, values[3], symbol[2] = {0, 1e9}, value, slope;
        hm__formula_eval(f, symbol, NULL, n, 3, values, &err);
        hm__formula_derive(f, symbol, 3, "n", true, &value, &slope, &err);
        hm__formula_free(f);
    }
    free(text);
    return 0;
}
