/* Fuzzes training data. The first byte selects LIBSVM, CSV, IDX images (with matching labels), IDX
 * labels (of two images), or the name of data; the rest of the input is the file or the name. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "data.h"
#include "kept_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t two_images[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 9};

/* Makes as many labels as the header says that there are images, if the number is small. */
static const char *make_labels(const uint8_t *images, size_t length)
{
    uint8_t labels[8 + 255] = {0, 0, 8, 1};

    if (length >= 8)
        memcpy(labels + 4, images + 4, 4);
    return fuzz_file_write(1, labels, 8 + (size_t)labels[7]);
}

static void read_all(const struct hm_data_spec *spec, bool sparse, size_t most)
{
    static struct hm_data_shape shape;
    struct hm_data *in = NULL;
    struct hm_err err = {0};
    struct hm_rows rows = {.sparse = sparse};

    if (hm__data_scan(spec, &shape, &err) || shape.features > 1e5)
        return;
    rows.features = sparse ? 0 : (size_t)shape.features;
    if (hm__data_open(spec, &in, &err) == 0)
        while (hm__data_next(in, most, &rows, &err) > 0)
            if (!sparse && hm__rows_entries(&rows) > 1000000)
                hm__rows_clear(&rows);
    hm__data_close(in);
    hm__rows_release(&rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum hm_data_format formats[] = {HM_DATA_LIBSVM, HM_DATA_CSV, HM_DATA_IDX,
                                                  HM_DATA_IDX};
    struct hm_data_spec spec = {0};
    struct hm_err err = {0};

    if (size < 1)
        return 0;
    unsigned kind = data[0] % 5;
    const uint8_t *rest = data + 1;
    size_t length = size - 1;
    if (kind == 4) {
        char text[64];
        snprintf(text, sizeof(text), "%.*s", (int)(length < 60 ? length : 60), (const char *)rest);
        if (!strchr(text, '/') && hm__data_parse(text, false, 1, &spec, &err) == 0 &&
            hm__data_is_made(&spec) && spec.rows < 100 && spec.features < 1000)
            read_all(&spec, data[0] & 64, 1 + data[0] / 16);
        return 0;
    }
    spec.format = formats[kind];
    const char *file = kind == 3 ? fuzz_file_write(0, two_images, sizeof(two_images))
                                 : fuzz_file_write(0, rest, length);
    const char *labels = kind == 2   ? make_labels(rest, length)
                         : kind == 3 ? fuzz_file_write(1, rest, length)
                                     : "";
    if (!file || !labels)
        return 0;
    snprintf(spec.path, sizeof(spec.path), "%s", file);
    snprintf(spec.labels, sizeof(spec.labels), "%s", labels);
    read_all(&spec, data[0] & 64, 1 + data[0] / 16);
    return 0;
}
