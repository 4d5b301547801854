/*
 * Reads IDX files, the format of MNIST (http://yann.lecun.com/exdb/mnist): the magic number 00 00
 * 08 D, D sizes as big-endian 32-bit numbers, then unsigned bytes. Images have D >= 2; the first
 * size is their number, and the product of the others is the number of features. Labels have D = 1
 * and are read completely when the images are opened.
 *
 * Limits: there are at most 16 sizes, and at most 2^24 values in one image.
 */
#include <string.h>

#include "data_reader.h"
#include "err.h"
#include "memory.h"
#include "source.h"

enum {
    SIZES_MAX = 16,
    UBYTE = 0x08, /* Type code of unsigned bytes, the only supported type. */
    /* Largest number of values in one image, so that a wrong header cannot allocate too much. */
    VALUES_MAX = 1 << 24,
};

struct idx {
    struct hm_source *source; /* File of the images; owned. */
    unsigned char *bytes;     /* Bytes of one image; owned. */
    double *values;           /* Values of one image as doubles; owned. */
    char *labels;             /* Labels, one byte for each image; owned. */
    size_t count;             /* Number of images. */
};

static size_t read_big_endian(const void *bytes)
{
    const unsigned char *b = bytes;

    return (size_t)b[0] << 24 | (size_t)b[1] << 16 | (size_t)b[2] << 8 | b[3];
}

/* Reports an error in the label file. */
static int fail_labels(const struct hm_data *data, struct hm_err *err, int code, const char *hint,
                       const char *message)
{
    hm__fail(err, code, "%s", message);
    hm__err_hint(err, "%s", hint);
    hm__err_at(err, data->spec.labels, 0);
    return code;
}

static int check_magic(struct hm_data *data, const unsigned char magic[4], size_t length,
                       struct hm_err *err)
{
    const char *hint = "images of unsigned bytes begin with 00 00 08 and the number of sizes";

    if (length < 4 || magic[0] != 0 || magic[1] != 0)
        return hm__data_fail(data, err, HM_E_SYNTAX, hint, "not an IDX file");
    if (magic[2] != UBYTE)
        return hm__data_fail(data, err, HM_E_TYPE, hint,
                             "IDX values of type 0x%02x, which are not unsigned bytes", magic[2]);
    if (magic[3] == 1)
        return hm__data_fail(
            data, err, HM_E_TYPE,
            "name the file of the images; the file of the labels is found by its name",
            "an IDX file of labels, but images are expected");
    if (magic[3] < 2 || magic[3] > SIZES_MAX)
        return hm__data_fail(data, err, HM_E_RANGE,
                             "2 to 16 are allowed; MNIST has 3: images, rows, columns",
                             "an IDX file of %d sizes", magic[3]);
    return 0;
}

/* Reads the header of the image file: the number and the size of the images. */
static int read_header(struct hm_data *data, struct idx *idx, struct hm_err *err)
{
    unsigned char magic[4] = {0}, sizes[4 * SIZES_MAX];
    size_t length, room;
    int rc = hm__source_fill(idx->source, (char *)magic, sizeof(magic), &length, err);

    if (rc == 0)
        rc = check_magic(data, magic, length, err);
    if (rc)
        return rc;
    room = 4 * (size_t)magic[3];
    if ((rc = hm__source_fill(idx->source, (char *)sizes, room, &length, err)))
        return rc;
    if (length < room)
        return hm__data_fail(data, err, HM_E_SYNTAX, "is the file complete?",
                             "the file ends inside its header");
    idx->count = read_big_endian(sizes);
    data->features = 1;
    for (size_t i = 4; i < room; i += 4) {
        size_t size = read_big_endian(sizes + i);
        if (size == 0)
            return hm__data_fail(data, err, HM_E_RANGE, "MNIST has 28 rows and 28 columns",
                                 "an image has the size 0");
        if (size > VALUES_MAX / data->features)
            return hm__data_fail(data, err, HM_E_LIMIT, "at most 16777216 are allowed",
                                 "images of more than 16777216 values");
        data->features *= size;
    }
    return 0;
}

/* Reads all labels; fails unless there is exactly one label for each image. */
static int read_labels(struct hm_data *data, struct idx *idx, struct hm_err *err)
{
    enum { HEADER = 8 };
    static const unsigned char magic[4] = {0, 0, UBYTE, 1};
    size_t length = 0;
    int rc = hm__source_read_all(data->spec.labels, &idx->labels, &length, err);

    if (rc)
        return rc;
    if (length < HEADER || memcmp(idx->labels, magic, sizeof(magic)) != 0)
        return fail_labels(data, err, HM_E_SYNTAX,
                           "labels of unsigned bytes begin with 00 00 08 01",
                           "not an IDX file of labels");
    size_t count = read_big_endian(idx->labels + 4);
    if (count != idx->count)
        return hm__data_fail(
            data, err, HM_E_CONFLICT, "both files must have the same number of entries",
            "%zu images, but %zu labels in %.120s", idx->count, count, data->spec.labels);
    if (length < HEADER + count)
        return fail_labels(data, err, HM_E_SYNTAX, "is the file complete?",
                           "the file ends before its last label");
    if (length > HEADER + count)
        return fail_labels(data, err, HM_E_SYNTAX, "is the file damaged?",
                           "the file continues after its last label");
    memmove(idx->labels, idx->labels + HEADER, count);
    return 0;
}

static int open_idx(struct hm_data *data, struct hm_err *err)
{
    struct idx *idx = data->state = hm__calloc(1, sizeof(*idx));

    if (!idx)
        return hm__fail_nomem(err);
    int rc = hm__source_open(data->spec.path, &idx->source, err);
    if (rc == 0)
        rc = read_header(data, idx, err);
    if (rc == 0)
        rc = read_labels(data, idx, err);
    if (rc)
        return rc;
    idx->bytes = hm__calloc(data->features, 1);
    idx->values = hm__calloc(data->features, sizeof(*idx->values));
    return idx->bytes && idx->values ? 0 : hm__fail_nomem(err);
}

/* Fails if the file continues after the last image. */
static int check_end(struct hm_data *data, struct idx *idx, struct hm_err *err)
{
    size_t length;
    int rc = hm__source_fill(idx->source, (char *)idx->bytes, 1, &length, err);

    if (rc == 0 && length > 0)
        rc = hm__data_fail(data, err, HM_E_SYNTAX, "is the file damaged?",
                           "the file continues after the last of its %zu images", idx->count);
    return rc;
}

static int next_idx(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct idx *idx = data->state;
    size_t at = (size_t)data->row, length;

    if (at == idx->count)
        return check_end(data, idx, err);
    data->line = (int)(at < INT32_MAX ? at + 1 : INT32_MAX);
    int rc = hm__source_fill(idx->source, (char *)idx->bytes, data->features, &length, err);
    if (rc)
        return rc;
    if (length < data->features)
        return hm__data_fail(data, err, HM_E_SYNTAX, "is the file complete?",
                             "the file ends inside image %zu of %zu", at + 1, idx->count);
    for (size_t j = 0; j < data->features; j++)
        idx->values[j] = idx->bytes[j];
    double label = (unsigned char)idx->labels[at];
    if ((rc = hm__data_put_dense(data, block, label, idx->values, err)))
        return rc;
    data->row++;
    return 1;
}

static void close_idx(struct hm_data *data)
{
    struct idx *idx = data->state;

    hm__source_close(idx->source);
    hm__free(idx->bytes);
    hm__free(idx->values);
    hm__free(idx->labels);
    hm__free(idx);
}

const struct hm_data_reader hm__data_idx = {"IDX", false, open_idx, next_idx, close_idx};
