/* Fuzzes the readers of files of other tools. The first byte chooses the reader; if it is 0, the
 * format of the file is recognised. If the environment variable FUZZ_FORMAT has the name of a
 * reader, as in tools/run-fuzz, that reader is used instead. The results are converted to runs and
 * traces. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checks that the facts of an import are complete JSON objects. */
static void check_facts(const struct hm_imported *im)
{
    const char *text = im->facts_text.data;
    size_t length = im->facts_text.length;

    if (length < 2 || text[0] != '{' || text[length - 1] != '}')
        abort();
}

/* Returns the reader for the first byte of an input; NULL: the format of the file is recognised. */
static const struct hm_importer *choose_reader(uint8_t first)
{
    static const struct hm_importer *forced;
    static size_t formats;

    if (formats == 0) {
        const char *name = getenv("FUZZ_FORMAT");
        while (hm__importers[formats])
            formats++;
        forced = name ? hm__importer_find(name) : NULL;
        if (name && !forced)
            abort();
    }
    return forced ? forced : first ? hm__importers[(first - 1u) % formats] : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const set[] = {"n=4", "columns=JobID,Elapsed,NNodes,State,MaxRSS"};
    struct hm_imported *im = NULL;
    struct hm_runs *runs = NULL;
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    if (size < 2)
        return 0;
    struct hm_import_from from = {.name = "fuzz",
                                  .data = (const char *)data + 1,
                                  .length = size - 1,
                                  .as = choose_reader(data[0]),
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
