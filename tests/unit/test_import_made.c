/* Tests the readers of files of other tools on small files that the test makes: damage,
 * decompression bombs, missing facts, codecs, and the readers of JSON and protocol buffers that
 * they use. */
#include <time.h>
#include <unistd.h>

#include "budget.h"
#include "import_samples.h"
#include "unpack.h"
#include "unpack_raw.h"
#include "wire.h"

/* Imports a text; the result is freed by the caller. */
static int import_text(const char *name, const void *text, size_t length, const char *set,
                       struct hm_imported **ret_import, struct hm_err *err)
{
    const char *pairs[] = {set};
    struct hm_import_from from = {
        .name = name, .data = text, .length = length, .set = pairs, .set_count = set ? 1 : 0};

    *ret_import = NULL;
    return hm__import_new(&from, ret_import, err);
}

static double seconds_now(void)
{
    /* Processor time of this process, which does not depend on other processes. */
    return (double)clock() / CLOCKS_PER_SEC;
}

/* ---- the JSON reader --------------------------------------------------------------------------
 */

static struct hm_source *memory(const char *text, size_t length)
{
    struct hm_source *source = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm__source_open_memory(text, length, "text", &source, &err), 0);
    return source;
}

/* Checks the kinds of the tokens of a text; each kind is one letter. */
static void assert_tokens(const char *text, const char *wanted)
{
    static const char letters[] = "{}[]ktntf0.<!";
    struct hm_stream stream;
    struct hm_pull pull;
    struct hm_err err = {0};
    char found[64];
    size_t count = 0;

    assert_int_equal(hm__stream_init(&stream, memory(text, strlen(text)), &err), 0);
    assert_int_equal(hm__pull_init(&pull, &stream, &err), 0);
    for (enum hm_pull_token token = HM_PULL_NULL; token < HM_PULL_END && count < 60;) {
        token = hm__pull_next(&pull);
        found[count++] = token == HM_PULL_NUMBER ? '1'
                         : token == HM_PULL_TRUE ? 'y'
                                                 : letters[token];
    }
    found[count] = '\0';
    assert_string_equal(found, wanted);
    hm__pull_release(&pull);
    hm__stream_release(&stream);
}

static void json_is_read_in_tokens(void **state)
{
    (void)state;
    assert_tokens("{\"a\": [1, \"x\", true, false, null]}", "{k[1tyf0]}.");
    assert_tokens("[NaN, -Infinity, 1e5]", "[111].");
    assert_tokens("1 2", "11.");
    assert_tokens("", ".");
    assert_tokens("[1", "[<");
    assert_tokens("{\"a", "{<");
    assert_tokens("{\"a\" 1}", "{!");
    assert_tokens("[1 2]", "[1!");
    assert_tokens("[1}", "[1!");
    assert_tokens("[tru]", "[!");
    assert_tokens("[\"\\q\"]", "[!");
    assert_tokens("[\"\\u12", "[<");
}

static void json_texts_are_decoded(void **state)
{
    static const char text[] = "\"a\\n\\u00e9\\ud83d\\ude00\\u0000\"";
    struct hm_stream stream;
    struct hm_pull pull;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm__stream_init(&stream, memory(text, strlen(text)), &err), 0);
    assert_int_equal(hm__pull_init(&pull, &stream, &err), 0);
    assert_int_equal(hm__pull_next(&pull), HM_PULL_TEXT);
    assert_string_equal(pull.text, "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
    hm__pull_release(&pull);
    hm__stream_release(&stream);
}

/* A skipped value must end at its closing bracket, also if it contains quotes and backslashes, and
 * also if it crosses the end of the buffer. */
static void json_values_are_skipped(void **state)
{
    size_t length = 3 * HM_STREAM_ROOM;
    char *text = malloc(length + 100);
    struct hm_stream stream;
    struct hm_pull pull;
    struct hm_err err = {0};

    (void)state;
    size_t at =
        (size_t)snprintf(text, 100, "%s", "{\"skip\": {\"a\": [\"}\\\"]\", {}], \"long\": \"");
    while (at < length)
        text[at++] = '\\';
    snprintf(text + at, 100, "%s", "\\\"\"}, \"b\": 7}");
    assert_int_equal(hm__stream_init(&stream, memory(text, strlen(text)), &err), 0);
    assert_int_equal(hm__pull_init(&pull, &stream, &err), 0);
    assert_true(hm__pull_enter(&pull, HM_PULL_OBJECT));
    assert_true(hm__pull_key(&pull));
    bool skipped = hm__pull_skip(&pull);
    /* An odd number of backslashes escapes the first quote, an even number does not. */
    if (skipped && hm__pull_key(&pull))
        assert_true(hm__pull_number(&pull) == 7);
    hm__pull_release(&pull);
    hm__stream_release(&stream);
    free(text);
}

/* ---- codecs -----------------------------------------------------------------------------------
 */

static void blocks_are_decoded(void **state)
{
    /* Each block has a literal of 4 bytes, and a copy of 8 bytes from 4 bytes before, in one of the
     * formats. */
    static const unsigned char lz4[] = {0x44, 'a', 'b', 'c', 'd', 4, 0, 0x00};
    static const unsigned char snappy[] = {12, 0x0c, 'a', 'b', 'c', 'd', 0x11, 4};
    static const unsigned char lzf[] = {3, 'a', 'b', 'c', 'd', 0xc0, 3};
    unsigned char out[12];

    (void)state;
    assert_true(hm__lz4_decode(lz4, sizeof(lz4), out, 12));
    assert_memory_equal(out, "abcdabcdabcd", 12);
    memset(out, 0, sizeof(out));
    assert_true(hm__snappy_decode(snappy, sizeof(snappy), out, 12));
    assert_memory_equal(out, "abcdabcdabcd", 12);
    memset(out, 0, sizeof(out));
    assert_true(hm__lzf_decode(lzf, sizeof(lzf), out, 12));
    assert_memory_equal(out, "abcdabcdabcd", 12);
    for (size_t cut = 0; cut < sizeof(lz4) - 1; cut++)
        assert_false(hm__lz4_decode(lz4, cut, out, 12));
    for (size_t cut = 0; cut < sizeof(snappy); cut++)
        assert_false(hm__snappy_decode(snappy, cut, out, 12));
    for (size_t cut = 0; cut < sizeof(lzf); cut++)
        assert_false(hm__lzf_decode(lzf, cut, out, 12));
    assert_false(hm__lz4_decode(lz4, sizeof(lz4), out, 11));
    assert_false(hm__snappy_decode(snappy, sizeof(snappy), out, 11));
}

/* An empty block that is stored as it is comes first in the stream, before there is a buffer. */
static void empty_blocks_are_read(void **state)
{
    static const unsigned char stream[] = {'Z', 'V', 0, 0, 0, 'Z', 'V', 0, 0, 2, 'o', 'k'};
    unsigned char out[4] = {0};
    struct hm_unpack_step step = {
        .in = stream, .in_left = sizeof(stream), .out = out, .out_left = sizeof(out)};
    void *codec = hm__codec_lzf.open();

    (void)state;
    assert_non_null(codec);
    while (step.in_left > 0)
        assert_int_equal(hm__codec_lzf.step(codec, &step, NULL), 0);
    hm__codec_lzf.close(codec);
    assert_int_equal(step.out_left, 2);
    assert_string_equal((const char *)out, "ok");
}

/* Checksums must equal the published values of xxHash32 and CRC-32. */
static void checksums_are_those_published(void **state)
{
    (void)state;
    assert_int_equal(hm__xxhash32((const unsigned char *)"", 0, 0), 0x02cc5d05);
    assert_int_equal(hm__xxhash32((const unsigned char *)"abc", 3, 0), 0x32d153ff);
    assert_int_equal(
        hm__xxhash32((const unsigned char *)"Nobody inspects the spammish repetition", 39, 0),
        0xe2293b2f);
    assert_int_equal(hm__checksum_zip(0, "", 0), 0);
    assert_int_equal(hm__checksum_zip(hm__checksum_zip(0, "1234", 4), "56789", 5), 0xcbf43926);
}

/* A snappy stream as Java writes it has a header, one block, another header and one block. */
static void snappy_streams_are_read(void **state)
{
    static const unsigned char block[] = {0, 0, 0, 8, 12, 0x0c, 'a', 'b', 'c', 'd', 0x11, 4};
    static const unsigned char head[] = "\x82SNAPPY\0\0\0\0\1\0\0\0\1";
    unsigned char stream[2 * (16 + sizeof(block))];
    struct hm_source *source;
    char out[64];
    size_t got = 0;
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        memcpy(stream + (size_t)i * (16 + sizeof(block)), head, 16);
        memcpy(stream + (size_t)i * (16 + sizeof(block)) + 16, block, sizeof(block));
    }
    source = memory((char *)stream, sizeof(stream));
    assert_int_equal(hm__source_fill(source, out, sizeof(out), &got, &err), 0);
    assert_int_equal(got, 24);
    assert_memory_equal(out, "abcdabcdabcdabcdabcdabcd", 24);
    assert_string_equal(hm__source_codec(source), "snappy");
    hm__source_close(source);
    source = memory((char *)stream, sizeof(stream) - 3);
    assert_int_equal(hm__source_fill(source, out, sizeof(out), &got, &err), HM_E_IO);
    assert_string_equal(err.message, "the compressed file is cut short");
    hm__source_close(source);
}

/* A file of zeros that decompresses to 128 MiB must be refused before that size is reached. */
static void bombs_are_refused(void **state)
{
    char path[] = "/tmp/hm-import-XXXXXX", command[200];
    struct hm_import_from from = {.name = path};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    const char *zlib = getenv("HM_ZLIB");

    (void)state;
    if (zlib && strcmp(zlib, "0") == 0)
        skip();
    close(mkstemp(path));
    snprintf(command, sizeof(command), "head -c 134217728 /dev/zero | tr '\\0' '[' | gzip -1 >%s",
             path);
    assert_int_equal(system(command), 0);
    double start = seconds_now();
    from.as = hm__importer_find("spark");
    assert_int_not_equal(hm__import_new(&from, &im, &err), 0);
    assert_true(seconds_now() - start < (SANITIZED ? 10 : 1));
    unlink(path);
}

/* Adds bits to a deflate stream: the lowest bit first, or the highest bit first for codes. */
struct bits {
    unsigned char data[4096];
    size_t count;
};

static void add_bits(struct bits *b, unsigned value, unsigned count, bool code)
{
    for (unsigned i = 0; i < count; i++, b->count++) {
        unsigned bit = value >> (code ? count - 1 - i : i) & 1;
        assert_true(b->count / 8 < sizeof(b->data));
        b->data[b->count / 8] |= (unsigned char)(bit << b->count % 8);
    }
}

/*
 * Makes a deflate stream of 1.2 kB of a gzip file with 5677 parts, each of which is 41 bytes and
 * decodes to 6000 zeros: no level decodes to 200 times its size, but both together do.
 */
static void make_nested(struct bits *b)
{
    static const unsigned char part[41] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xed, 0xc1, 0x31, 0x01,
        0x00, 0x00, 0x00, 0xc2, 0xa0, 0xf5, 0x4f, 0x6d, 0x08, 0x5f, 0xa0, 0x00, 0x00, 0x00,
        0x00, 0x00, 0x80, 0xd7, 0x00, 0xc4, 0x0d, 0xdc, 0xfc, 0x70, 0x17, 0x00, 0x00};

    *b = (struct bits){.count = 0};
    add_bits(b, 3, 3, false); /* The last block, with fixed codes. */
    for (size_t i = 0; i < sizeof(part); i++)
        add_bits(b, part[i] + (part[i] < 144 ? 0x30u : 0x190u - 144), part[i] < 144 ? 8 : 9, true);
    for (int i = 0; i < 902; i++) { /* Copies of 258 bytes from 41 bytes before. */
        add_bits(b, 0xc5, 8, true);
        add_bits(b, 10, 5, true);
        add_bits(b, 41 - 33, 4, false);
    }
    add_bits(b, 0, 7, true);
}

/* Reads a source to its end; returns the number of bytes. */
static uint64_t read_source(struct hm_source *source, int *ret_rc, struct hm_err *err)
{
    static char out[64 * 1024];
    uint64_t total = 0;
    size_t got = 1;

    *ret_rc = 0;
    while (*ret_rc == 0 && got > 0) {
        *ret_rc = hm__source_read(source, out, sizeof(out), &got, err);
        total += *ret_rc ? 0 : got;
    }
    return total;
}

/* The limits apply to all levels of compression together, and to the time of the request. */
static void nested_bombs_are_refused(void **state)
{
    static struct bits b;
    struct hm_source *source = NULL;
    struct hm_err err = {0};
    int rc;

    (void)state;
    if (hm__codec_gzip.needs)
        skip();
    make_nested(&b);
    const struct hm_source_part part = {
        .memory = (char *)b.data, .length = (b.count + 7) / 8, .deflated = true};
    assert_int_equal(hm__source_open_part(&part, "nested", &source, &err), 0);
    uint64_t total = read_source(source, &rc, &err);
    hm__source_close(source);
    assert_int_equal(rc, HM_E_LIMIT);
    assert_true(total > 6000 && total <= (32 << 20) + (64 << 10));

    struct hm_budget budget = {.checks = 20};
    err = (struct hm_err){0};
    assert_int_equal(hm__source_open_part(&part, "nested", &source, &err), 0);
    hm__budget_enter(&budget);
    total = read_source(source, &rc, &err);
    hm__budget_leave(&budget);
    hm__source_close(source);
    assert_int_equal(rc, HM_E_CANCELLED);
    assert_true(total < 20 * (64 << 10));
}

/*
 * A match that is longer than the rest of a buffer is completed after that, even if all bytes of
 * the stream have been read: the last byte of these streams has the end of the last match and the
 * mark of the end. The lengths are around that of the buffer of a source.
 */
static void matches_after_the_last_byte_are_read(void **state)
{
    static struct bits b;
    struct hm_source *source = NULL;
    int rc;

    (void)state;
    if (hm__codec_gzip.needs)
        skip();
    for (unsigned matches = 1000; matches < 1030; matches++) {
        unsigned letters = 0;
        b = (struct bits){.count = 0};
        add_bits(&b, 3, 3, false); /* The last block, with fixed codes. */
        for (; letters == 0 || (b.count + 13 * matches) % 8 != 1; letters++)
            add_bits(&b, 0x190, 9, true);
        for (unsigned i = 0; i < matches; i++) { /* Copies of 258 bytes from 1 byte before. */
            add_bits(&b, 0xc5, 8, true);
            add_bits(&b, 0, 5, true);
        }
        add_bits(&b, 0, 7, true);
        const struct hm_source_part part = {
            .memory = (char *)b.data, .length = b.count / 8, .deflated = true};
        assert_int_equal(hm__source_open_part(&part, "long", &source, NULL), 0);
        assert_int_equal(read_source(source, &rc, NULL), letters + 258 * matches);
        assert_int_equal(rc, 0);
        hm__source_close(source);
    }
}

/* ---- protocol buffers -------------------------------------------------------------------------
 */

static void wire_fields_are_read(void **state)
{
    /* The fields are 1: varint 300; 2: bytes "hi"; 3: fixed32; 4: fixed64; 5: a varint of 11 bytes,
     * which is damaged. */
    static const char bytes[] =
        "\x08\xac\x02\x12\x02hi\x1d\x00\x00\x80\x3f\x21\x00\x00\x00\x00\x00\x00"
        "\xf0\x3f\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    struct hm_stream stream;
    struct hm_wire w;
    struct hm_wire_field f;
    struct hm_err err = {0};
    char text[8];

    (void)state;
    assert_int_equal(hm__stream_init(&stream, memory(bytes, sizeof(bytes) - 1), &err), 0);
    hm__wire_begin(&w, &stream, sizeof(bytes) - 1);
    assert_true(hm__wire_next(&w, &f));
    assert_true(f.number == 1 && f.value == 300);
    assert_true(hm__wire_next(&w, &f));
    hm__wire_text(&w, &f, text, sizeof(text));
    assert_string_equal(text, "hi");
    assert_true(hm__wire_next(&w, &f));
    assert_true(hm__wire_float(f.value) == 1);
    assert_true(hm__wire_next(&w, &f));
    assert_true(hm__wire_double(f.value) == 1);
    assert_false(hm__wire_next(&w, &f));
    assert_true(w.bad);
    hm__stream_release(&stream);
}

/* ---- inputs that are made to exhaust a reader --------------------------------------------------
 */

static void huge_sizes_are_refused(void **state)
{
    char header[64] = {0, 0, 0, 0, 0, 0, 0, (char)0x80, '{', '}'};
    size_t depth = 4 << 20;
    char *deep = malloc(depth);
    struct hm_imported *im;
    struct hm_err err = {0};
    double start = seconds_now();

    (void)state;
    const struct hm_importer *formats[] = {hm__importer_find("safetensors"),
                                           hm__importer_find("tensorboard")};
    for (int i = 0; i < 2; i++) {
        struct hm_import_from from = {
            .name = "x", .data = header, .length = sizeof(header), .as = formats[i]};
        im = NULL;
        int rc = hm__import_new(&from, &im, &err);
        assert_true(rc != 0 || im->partial);
        hm__import_free(im);
    }
    memset(deep, '[', depth);
    for (size_t i = 0; hm__importers[i]; i++) {
        struct hm_import_from from = {
            .name = "x", .data = deep, .length = depth, .as = hm__importers[i]};
        im = NULL;
        (void)hm__import_new(&from, &im, &err);
        hm__import_free(im);
    }
    static const char big[] =
        "{\"model_type\": \"llama\", \"hidden_size\": 999999999, \"num_hidden_layers\": 999999999, "
        "\"num_attention_heads\": 1, \"intermediate_size\": 999999999, \"vocab_size\": 999999999}";
    assert_int_equal(import_text("config.json", big, strlen(big), NULL, &im, &err), HM_E_RANGE);
    assert_true(seconds_now() - start < (SANITIZED ? 20 : 2));
    free(deep);
}

/* Every reader must handle texts of every other kind without a crash. */
static void readers_survive_other_files(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "{",
                                        "{}",
                                        "[]",
                                        "null",
                                        "n,seconds\n1,2\n",
                                        "a|b|c\n1|2|3\n",
                                        "{\"Event\":1}\n",
                                        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":null}\n",
                                        ":::MLLOG {}\n",
                                        ":::MLL 1 a: {}\n",
                                        "iteration 1/ 2 | elapsed time per iteration (ms): |",
                                        "# nThread \n1 2 float 3\n",
                                        ("{\"traceEvents\": [1, {\"ph\": 2}, {\"ph\": \"X\", "
                                         "\"cat\": \"kernel\", \"ts\": -1, \"dur\": 9e99}]}"),
                                        "{\"weight_map\": {\"a\": 1, \"b\": {}}, \"metadata\": []}",
                                        "resources:\n  accelerators: []\n",
                                        "{\"log_history\": [{\"step\": \"x\", \"loss\": NaN}, 3]}"};

    (void)state;
    for (size_t i = 0; hm__importers[i]; i++)
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            struct hm_import_from from = {
                .name = "x", .data = texts[k], .length = strlen(texts[k]), .as = hm__importers[i]};
            struct hm_imported *im = NULL;
            struct hm_err err = {0};
            int rc = hm__import_new(&from, &im, &err);
            if (rc == 0)
                parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
            else
                assert_true(err.message[0] != '\0');
            hm__import_free(im);
        }
}

/* ---- tables -----------------------------------------------------------------------------------
 */

static const char steps[] = "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\n"
                            "iter 10: loss 9.5, time 200.00ms, mfu 30.00%\n"
                            "iter 20: loss 8.5, time 100.00ms, mfu 30.00%\n";

static void workers_come_from_the_caller_or_the_name(void **state)
{
    struct hm_imported *im;
    struct hm_runs *runs = NULL;
    struct hm_traces *traces = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(import_text("train.log", steps, strlen(steps), NULL, &im, &err), 0);
    assert_true(im->needs_n);
    assert_int_equal(hm__import_runs(&im, 1, &runs, &err), HM_E_MISSING);
    assert_non_null(strstr(err.message, "n, the number of workers"));
    hm__import_free(im);
    assert_int_equal(import_text("run_n4.log", steps, strlen(steps), NULL, &im, &err), 0);
    assert_false(im->needs_n);
    hm__import_free(im);
    err = (struct hm_err){0};
    assert_int_equal(import_text("run_n4.log", steps, strlen(steps), "n=8", &im, &err), 0);
    assert_int_equal(hm__import_runs(&im, 1, &runs, &err), 0);
    assert_int_equal(runs->count, 2);
    assert_near(hm_runs_column(runs, "n")->values[0], 8, 0);
    assert_near(hm_runs_column(runs, "seconds")->values[1], 0.1, 1e-12);
    assert_int_equal(hm__import_traces(&im, 1, NULL, &traces, &err), 0);
    assert_int_equal(traces->count, 1);
    assert_int_equal(traces->traces[0].count, 2);
    assert_near(traces->traces[0].m, 8, 0);
    hm_runs_free(runs);
    hm_traces_free(traces);
    hm__import_free(im);
}

/* Tables with the columns of howmany must not be recognised as files of other tools. */
static void own_tables_are_not_foreign(void **state)
{
    static const char *const own[] = {"n,seconds\n1,10\n", "n,iteration,loss\n1,1,2\n",
                                      "algorithm,m,iteration,seconds,loss\ngd,1,1,1,1\n",
                                      "workers,epoch,loss\n1,1,2\n",
                                      "name: x\ncompute: 1 s / n\ncommunicate: none\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        struct hm_import_from from = {.name = "x", .data = own[i], .length = strlen(own[i])};
        if (hm__import_recognise(&from))
            fail_msg("taken for %s: %s", hm__import_recognise(&from)->name, own[i]);
    }
}

static void unknown_files_name_the_nearest(void **state)
{
    static const char pointer[] = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n";
    struct hm_imported *im;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(import_text("x", pointer, strlen(pointer), NULL, &im, &err), HM_E_TYPE);
    assert_non_null(strstr(err.hint, "Git LFS"));
    err = (struct hm_err){0};
    assert_int_equal(import_text("x", "hello", 5, NULL, &im, &err), HM_E_TYPE);
    assert_non_null(strstr(err.hint, "formats"));
    static const char other[] = "{\"model_type\": \"unheard_of\", \"hidden_size\": 3}";
    err = (struct hm_err){0};
    assert_int_equal(import_text("x", other, strlen(other), NULL, &im, &err), HM_E_NAME);
    assert_non_null(strstr(err.message, "unheard_of"));
    assert_non_null(strstr(err.hint, "llama"));
}

/* Appends an operation of the host with its two inputs of `rows` x 4096 numbers. */
static void add_operation(struct hm_text *text, const char *name, int id, int rows)
{
    hm__text_addf(text,
                  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"%s\",\"ts\":1,\"dur\":1,\"args\":{"
                  "\"External id\":%d,\"Input type\":[\"float\",\"float\"],\"Input "
                  "Dims\":[[%d,4096],[%d,4096]]}},",
                  name, id, rows, rows);
}

static void add_kernel(struct hm_text *text, int id, double microseconds)
{
    hm__text_addf(text,
                  "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":2,\"dur\":%g,\"args\":{"
                  "\"External id\":%d}},",
                  microseconds, id);
}

/* Reads a trace with more operations than are collected, in which an id comes twice. */
static void operations_of_a_trace_are_collected(void **state)
{
    (void)state;
    struct hm_text text = {0};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    const int most = 32768;

    hm__text_add(&text, "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],"
                        "\"traceEvents\":[");
    for (int id = 1; id <= most - 1; id++)
        add_operation(&text, id % 2 && id < 9 ? "aten::mm" : "aten::add", id, id < 9 ? 4096 : 2048);
    add_operation(&text, "aten::mm", 7, 8192);  /* Its inputs do not fit together: no operation. */
    add_operation(&text, "aten::add", 8, 1024); /* Replaces the operation 8. */
    add_operation(&text, "aten::add", most, 4096);
    add_operation(&text, "aten::add", 90001, 512); /* One more than are collected. */
    add_kernel(&text, 1, 10);
    add_kernel(&text, 3, 30);
    add_kernel(&text, 5, 15);
    add_kernel(&text, 5, 5); /* 20 us together */
    add_kernel(&text, 8, 6);
    add_kernel(&text, most, 7);
    add_kernel(&text, 90001, 9);
    hm__text_add(&text, "{\"ph\":\"M\",\"name\":\"x\"}]}");
    assert_int_equal(import_text("trace.json", text.data, text.length, NULL, &im, &err), 0);
    assert_int_equal(im->timings.count, 3);
    const struct hm_timing *rows = im->timings.rows;
    assert_int_equal(rows[0].what, HM_TIMED_GEMM);
    assert_near(rows[0].shape[0], 4096, 0);
    assert_near(rows[0].seconds, 20e-6, 1e-12);
    assert_near(rows[0].spread, 0.5, 1e-12);
    assert_near(rows[1].shape[0], 3 * 1024 * 4096 * 4., 0);
    assert_near(rows[1].seconds, 6e-6, 1e-12);
    assert_near(rows[2].shape[0], 3 * 4096 * 4096 * 4., 0);
    assert_near(rows[2].seconds, 7e-6, 1e-12);
    hm__import_free(im);
    hm__text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_is_read_in_tokens),
        cmocka_unit_test(json_texts_are_decoded),
        cmocka_unit_test(json_values_are_skipped),
        cmocka_unit_test(blocks_are_decoded),
        cmocka_unit_test(empty_blocks_are_read),
        cmocka_unit_test(checksums_are_those_published),
        cmocka_unit_test(snappy_streams_are_read),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(nested_bombs_are_refused),
        cmocka_unit_test(matches_after_the_last_byte_are_read),
        cmocka_unit_test(wire_fields_are_read),
        cmocka_unit_test(huge_sizes_are_refused),
        cmocka_unit_test(readers_survive_other_files),
        cmocka_unit_test(workers_come_from_the_caller_or_the_name),
        cmocka_unit_test(own_tables_are_not_foreign),
        cmocka_unit_test(unknown_files_name_the_nearest),
        cmocka_unit_test(operations_of_a_trace_are_collected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
