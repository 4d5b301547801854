/* Fuzzes lines that frameworks print: a line that is recognised must give a positive, finite
 * time. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "framework_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Compiling the patterns takes much longer than a line does, so they are kept. */
    static struct launch_frameworks *frameworks;
    struct launch_framework_line found;
    char *line = malloc(size + 1);

    if (!frameworks)
        frameworks = launch_frameworks_new();
    if (line && frameworks) {
        memcpy(line, data, size);
        line[size] = '\0';
        if (launch_frameworks_read(frameworks, line, &found) &&
            (!(found.seconds > 0) || isinf(found.seconds) || !found.framework))
            abort();
    }
    free(line);
    return 0;
}
