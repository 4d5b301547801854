/*
 * Reads the Zstandard format (RFC 8878). This is the only file that uses libzstd; a build without
 * it refuses zstd files with a hint. A window of more than 128 MiB is refused.
 */
#include "unpack.h"

#include "err.h"
#include "memory.h"

static const unsigned char magic[] = {0x28, 0xb5, 0x2f, 0xfd};

#ifdef HM_HAVE_ZSTD
#include <zstd.h>

static void *zstd_open(void)
{
    return ZSTD_createDStream();
}

static int zstd_step(void *state, struct hm_unpack_step *step, struct hm_err *err)
{
    /* Without input, zstd would ask for the header of a next frame, which need not exist. */
    if (step->between && step->in_left == 0)
        return 0;
    ZSTD_inBuffer in = {step->in, step->in_left, 0};
    ZSTD_outBuffer out = {step->out, step->out_left, 0};
    size_t code = ZSTD_decompressStream(state, &out, &in);

    if (ZSTD_isError(code))
        return hm__fail(err, HM_E_IO, "damaged zstd data: %s", ZSTD_getErrorName(code));
    step->in += in.pos;
    step->in_left -= in.pos;
    step->out += out.pos;
    step->out_left -= out.pos;
    step->between = code == 0;
    return 0;
}

static void zstd_close(void *state)
{
    ZSTD_freeDStream(state);
}

const struct hm_codec hm__codec_zstd = {.name = "zstd",
                                        .magic = magic,
                                        .magic_length = sizeof(magic),
                                        .open = zstd_open,
                                        .step = zstd_step,
                                        .close = zstd_close};
#else
const struct hm_codec hm__codec_zstd = {
    .name = "zstd", .magic = magic, .magic_length = sizeof(magic), .needs = "libzstd"};
#endif
