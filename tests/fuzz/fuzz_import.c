/* Readers of files of other tools. The first byte chooses the reader; 0 lets the file be
 * recognised. The results are converted to runs and traces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Facts must be complete JSON objects. */
static void check_facts(const struct hm_imported *im)
{
    const char *text = im->facts_text.data;
    size_t length = im->facts_text.length;

    if (length < 2 || text[0] != '{' || text[length - 1] != '}')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const set[] = {"n=4", "columns=JobID,Elapsed,NNodes,State,MaxRSS"};
    struct hm_imported *im = NULL;
    struct hm_runs *runs = NULL;
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};
    size_t formats = 0;

    while (hm__importers[formats])
        formats++;
    if (size < 2)
        return 0;
    struct hm_import_from from = {.name = "fuzz",
                                  .data = (const char *)data + 1,
                                  .length = size - 1,
                                  .as = data[0] ? hm__importers[(data[0] - 1u) % formats] : NULL,
                                  .set = set,
                                  .set_count = 2};
    if (hm__import_new(&from, &im, &err) == 0) {
        check_facts(im);
        if (hm__import_runs(&im, 1, &runs, NULL) == 0 && hm_runs_check(runs, NULL))
            abort();
        (void)hm__import_traces(&im, 1, NULL, &traces, NULL);
    }
    hm_runs_free(runs);
    hm_traces_free(traces);
    hm__import_free(im);
    return 0;
}
