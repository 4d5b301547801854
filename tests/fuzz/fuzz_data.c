/* Fuzzes training data. The first byte selects LIBSVM, CSV, IDX images (with matching labels), IDX
 * labels (of two images), or the name of data; the rest of the input is the file or the name. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "data.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t two_images[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 9};

/* Makes a file in memory. Returns its descriptor, and writes a path by which it can be opened. */
static int make_file(const uint8_t *bytes, size_t length, char path[HM_DATA_PATH])
{
    int file = memfd_create("fuzz", 0);

    if (file >= 0 && write(file, bytes, length) < 0) {
        close(file);
        return -1;
    }
    snprintf(path, HM_DATA_PATH, "/proc/self/fd/%d", file);
    return file;
}

/* Makes as many labels as the header says that there are images, if the number is small. */
static int make_labels(const uint8_t *images, size_t length, char path[HM_DATA_PATH])
{
    uint8_t labels[8 + 255] = {0, 0, 8, 1};

    if (length >= 8)
        memcpy(labels + 4, images + 4, 4);
    return make_file(labels, 8 + (size_t)labels[7], path);
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
    int file, labels = -1;

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
    file = kind == 3 ? make_file(two_images, sizeof(two_images), spec.path)
                     : make_file(rest, length, spec.path);
    if (kind == 2)
        labels = make_labels(rest, length, spec.labels);
    else if (kind == 3)
        labels = make_file(rest, length, spec.labels);
    read_all(&spec, data[0] & 64, 1 + data[0] / 16);
    if (file >= 0)
        close(file);
    if (labels >= 0)
        close(labels);
    return 0;
}
