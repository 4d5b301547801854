/*
 * Tests that imports say what they cannot use: damaged or cut files, values that cannot be read,
 * and data beyond a limit.
 */
#include "archive_made.h"
#include "import_samples.h"

/* ---- imports ----------------------------------------------------------------------------------
 */

static int import_bytes(const char *format, const char *data, size_t length,
                        struct hm_imported **ret_im, struct hm_err *err)
{
    const struct hm_import_from from = {.name = "file",
                                        .data = data,
                                        .length = length,
                                        .as = format ? hm__importer_find(format) : NULL};

    *err = (struct hm_err){0};
    *ret_im = NULL;
    return hm__import_new(&from, ret_im, err);
}

/* Imports bytes, and checks whether the result is partial. */
static void assert_partial(const char *what, const char *format, const struct hm_text *bytes,
                           bool partial)
{
    struct hm_imported *im;
    struct hm_err err;

    assert_false(bytes->failed);
    if (import_bytes(format, bytes->data, bytes->length, &im, &err))
        fail_msg("%s: %s", what, err.message);
    if (im->partial != partial)
        fail_msg("%s: %s", what, partial ? "not partial" : "partial");
    hm__import_free(im);
}

/* ---- ONNX -------------------------------------------------------------------------------------
 */

static void add_varint(struct hm_text *out, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        hm__text_add_n(out, (const char[]){(char)(value | 0x80)}, 1);
    hm__text_add_n(out, (const char[]){(char)value}, 1);
}

/* Adds a field with the bytes of a message, which is released. */
static void add_message(struct hm_text *out, unsigned number, struct hm_text *message)
{
    add_varint(out, number << 3 | 2);
    add_varint(out, message->length);
    hm__text_add_n(out, message->data, message->length);
    hm__text_release(message);
}

/* Makes a model whose innermost message is reached by the fields `path`, which end with 0. */
static struct hm_text nested_model(const unsigned *path, const char *innermost)
{
    struct hm_text inner = {0}, outer = {0};
    size_t depth = 0;

    hm__text_add(&inner, innermost);
    while (path[depth])
        depth++;
    while (depth-- > 0) {
        if (depth == 0) /* The version of the format and an operator set. */
            hm__text_add_n(&outer, "\x08\x08\x42\x02\x10\x0d", 6);
        add_message(&outer, path[depth], &inner);
        inner = outer;
        outer = (struct hm_text){0};
    }
    return inner;
}

/* Each message of a model may be damaged: the model is then partial. */
static void nested_messages_of_onnx_may_be_damaged(void **state)
{
    static const char beyond[] = "\x0a\x7f", unfinished[] = "\x80";
    static const struct {
        const char *what, *damage;
        unsigned path[8];
    } cases[] = {
        {"graph", beyond, {7}},
        {"node", beyond, {7, 1}},
        {"attribute", beyond, {7, 1, 5}},
        {"integers of an attribute", unfinished, {7, 1, 5, 8}},
        {"constant", beyond, {7, 1, 5, 5}},
        {"sizes of a constant", unfinished, {7, 1, 5, 5, 1}},
        {"graph of a branch", beyond, {7, 1, 5, 6}},
        {"weight", beyond, {7, 5}},
        {"sizes of a weight", unfinished, {7, 5, 1}},
        {"input", beyond, {7, 11}},
        {"type of an input", beyond, {7, 11, 2}},
        {"tensor of an input", beyond, {7, 11, 2, 1}},
        {"shape of an input", beyond, {7, 11, 2, 1, 2}},
        {"size of an input", beyond, {7, 11, 2, 1, 2, 1}},
        {"output", beyond, {7, 12}},
        {"tensor", beyond, {7, 13}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_text whole = nested_model(cases[i].path, ""),
                       damaged = nested_model(cases[i].path, cases[i].damage);
        assert_partial(cases[i].what, "onnx", &whole, false);
        assert_partial(cases[i].what, "onnx", &damaged, true);
        hm__text_release(&whole);
        hm__text_release(&damaged);
    }
}

/* A model with more constants without a name than the table of names has places is read. */
static void constants_without_a_name_are_not_looked_up(void **state)
{
    struct hm_text graph = {0}, model = {0}, name = {0}, input = {0};

    (void)state;
    for (int i = 0; i < 1100; i++) /* A node with an attribute that is an empty tensor. */
        hm__text_add_n(&graph, "\x0a\x04\x2a\x02\x2a\0", 6);
    hm__text_add(&name, "x");
    add_message(&input, 1, &name);
    add_message(&graph, 11, &input);
    hm__text_add_n(&model, "\x08\x08\x42\x02\x10\x0d", 6);
    add_message(&model, 7, &graph);
    assert_partial("many constants", "onnx", &model, false);
    hm__text_release(&model);
}

/* Adds a constant with the name `name` and whole sizes and elements below 128. */
static void add_constant(struct hm_text *graph, const char *name, const char *sizes,
                         const char *elements)
{
    struct hm_text tensor = {0}, text = {0};

    for (const char *p = sizes; *p; p++)
        hm__text_add_n(&tensor, (const char[]){1 << 3, *p}, 2);
    hm__text_add_n(&tensor, (const char[]){2 << 3, 7}, 2);
    for (const char *p = elements; *p; p++)
        hm__text_add_n(&tensor, (const char[]){7 << 3, *p}, 2);
    hm__text_add(&text, name);
    add_message(&tensor, 8, &text);
    add_message(graph, 5, &tensor);
}

/* Adds a node with one or two inputs and one output, whose names have one character each. */
static void add_node(struct hm_text *graph, const char *op, const char *inputs, char output)
{
    struct hm_text node = {0}, text = {0};

    for (const char *p = inputs; *p; p++)
        hm__text_add_n(&node, (const char[]){1 << 3 | 2, 1, *p}, 3);
    hm__text_add_n(&node, (const char[]){2 << 3 | 2, 1, output}, 3);
    hm__text_add(&text, op);
    add_message(&node, 4, &text);
    add_message(graph, 1, &node);
}

/* One element in the shape [?, 2] has the sizes 1/2 and 2; a transposition cannot copy it. */
static void elements_that_do_not_fit_a_shape_are_not_copied(void **state)
{
    static const char minus_one[] = "\x38\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    struct hm_text graph = {0}, model = {0}, shape = {0};

    (void)state;
    add_constant(&graph, "x", "\1", "\7");
    hm__text_add_n(&shape, "\x08\x02\x10\x07", 4);
    hm__text_add_n(&shape, minus_one, sizeof(minus_one) - 1);
    hm__text_add_n(&shape, "\x38\x02\x42\x01s", 5);
    add_message(&graph, 5, &shape);
    add_node(&graph, "Reshape", "xs", 'r');
    add_node(&graph, "Transpose", "r", 't');
    hm__text_add_n(&model, "\x08\x08\x42\x02\x10\x0d", 6);
    add_message(&model, 7, &graph);
    assert_partial("half a row", "onnx", &model, false);
    hm__text_release(&model);
}

/* ---- archives and compressed files -------------------------------------------------------------
 */

static const char log_text[] = "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\n"
                               "iter 10: loss 9.5, time 200.00ms, mfu 30.00%\n";

/* Replaces a number in bytes that contain the text of the log. */
static void damage_log(struct hm_text *bytes)
{
    for (size_t i = 0; i + 5 < bytes->length; i++)
        if (memcmp(bytes->data + i, " 10.5", 5) == 0)
            memcpy(bytes->data + i, " 10.6", 5);
}

/* Members of zip archives have a checksum, whether they are compressed or not. */
static void checksums_of_zip_members_are_compared(void **state)
{
    (void)state;
    for (int deflated = 0; deflated <= (int)can_inflate(); deflated++) {
        struct hm_text zip = {0}, directory = {0}, data = {0};
        const size_t length = strlen(log_text);
        if (deflated)
            put_deflated(&data, log_text, length);
        else
            hm__text_add(&data, log_text);
        put_entry(&zip, &directory, "run_n4.log", &data, deflated ? 8 : 0,
                  hm__checksum_zip(0, log_text, length), length);
        put_directory(&zip, &directory, 1);
        assert_partial("zip", NULL, &zip, false);
        damage_log(&zip);
        assert_partial("zip", NULL, &zip, true);
        hm__text_release(&zip);
        hm__text_release(&data);
    }
}

/* Zeros may follow gzip data, and other gzip data; other bytes are damage. */
static void bytes_after_gzip_data_are_damage(void **state)
{
    static const char zeros[600];
    const size_t half = strlen(log_text) / 2;

    (void)state;
    if (!can_inflate())
        skip();
    for (int i = 0; i < 4; i++) {
        struct hm_text bytes = {0};
        put_gzip(&bytes, log_text, half);
        size_t second = bytes.length;
        put_gzip(&bytes, log_text + half, strlen(log_text) - half);
        if (i == 1 || i == 2)
            hm__text_add_n(&bytes, zeros, sizeof(zeros));
        if (i == 2)
            hm__text_add(&bytes, "x");
        if (i == 3)
            bytes.data[second] ^= 1;
        assert_partial("gzip", "nanogpt", &bytes, i >= 2);
        hm__text_release(&bytes);
    }
}

/* ---- tables and logs --------------------------------------------------------------------------
 */

/* A text, and messages of its import: "12 what" for data, or a note. */
struct text_case {
    const char *what, *format, *text, *wanted, *unwanted;
};

/* Writes the messages of an import, each between two bars. */
static void list_messages(const struct hm_imported *im, struct hm_text *out)
{
    for (size_t i = 0; i < im->item_count; i++) {
        const struct hm_import_item *item = &im->items[i];
        hm__text_add(out, "|");
        if (item->fate != HM_IMPORT_NOTED)
            hm__text_addf(out, "%s %.0f ", item->fate == HM_IMPORT_TAKEN ? "took" : "left",
                          item->count);
        hm__text_addf(out, "%s|", item->what);
    }
}

static void check_text(const struct text_case *c)
{
    struct hm_imported *im;
    struct hm_text messages = {0};
    struct hm_err err;

    if (import_bytes(NULL, c->text, strlen(c->text), &im, &err))
        fail_msg("%s: %s", c->what, err.message);
    assert_string_equal(im->importer->name, c->format);
    assert_false(im->partial);
    list_messages(im, &messages);
    if (c->wanted && !(messages.data && strstr(messages.data, c->wanted)))
        fail_msg("%s: no '%s' in '%s'", c->what, c->wanted, messages.data);
    if (c->unwanted && messages.data && strstr(messages.data, c->unwanted))
        fail_msg("%s: '%s' in '%s'", c->what, c->unwanted, messages.data);
    hm__text_release(&messages);
    hm__import_free(im);
}

static void check_texts(const struct text_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_text(&cases[i]);
}

#define CHECK_TEXTS(...)                                                                           \
    check_texts((const struct text_case[]){__VA_ARGS__},                                           \
                sizeof((const struct text_case[]){__VA_ARGS__}) / sizeof(struct text_case))

static const char no_break[] = "the last line has no line break";

/* The last number of a file that was cut may be cut too. */
static void last_lines_without_a_break_are_noted(void **state)
{
    (void)state;
    CHECK_TEXTS(
        {"Lightning", "lightning", "step,train_loss\n0,1.5\n1,1.25", no_break, NULL},
        {"Lightning with an end", "lightning", "step,train_loss\n0,1.5\n1,1.25\n", NULL, no_break},
        {"Keras", "keras-csv", "epoch,loss\n0,1.5\n1,1.2", no_break, NULL},
        {"a last cell in quotes", "wandb", "\"Step\",\"a - loss\"\n\"1\",\"2.5\"", NULL, no_break},
        {"Slurm", "slurm", "JobID|Elapsed|NNodes|State|CPUTimeRAW\n1|00:10:00|2|COMPLETED|12",
         no_break, NULL},
        {"nanoGPT", "nanogpt",
         "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\niter 10: loss 9.5, time 20", no_break,
         NULL},
        {"nanoGPT with an end", "nanogpt",
         "iter 0: loss 10.5, time 3000.00ms, mfu -100.00%\niter 10: loss 9.5, time 20.00ms\n", NULL,
         no_break});
}

/* Data of a table that is not used is counted. */
static void left_out_cells_are_counted(void **state)
{
    (void)state;
    CHECK_TEXTS(
        {"losses in words", "lightning",
         "step,train_loss\n0,\"1,000\"\n1,900\n\"1,002\",800\n3,\n4,nan\n",
         "|left 3 losses that are not a number or have no step|", NULL},
        {"epochs in words", "keras-csv", "epoch,loss\n0,x\n1,2\n",
         "|left 1 losses that are not a number or have no step|", NULL},
        {"charts", "wandb", "Step,a - loss,b - loss\n0,3,\n1,x,2\n,1,\n2,1,1\n",
         "|left 2 losses that are not a number or have no step||left 1 losses before step 1|",
         NULL},
        {"usual cells", "wandb", "Step,a - loss,b - loss\n1,3,\n2,,2\n", NULL, "|left"},
        {"repeated names", "lightning", "step,train_loss,lr,train_loss,lr\n0,1,2,3,4\n",
         "|left 2 columns with the name of a column before, such as 'train_loss'|", NULL});
}

/* Columns after those that a table can have are counted. */
static void columns_beyond_the_limit_are_counted(void **state)
{
    struct hm_text text = {0};

    (void)state;
    hm__text_add(&text, "step,train_loss");
    for (int i = 0; i < 1100; i++)
        hm__text_addf(&text, ",c%d", i);
    hm__text_add(&text, "\n0,1.5");
    for (int i = 0; i < 1100; i++)
        hm__text_add(&text, ",1");
    hm__text_add(&text, "\n");
    CHECK_TEXTS({"a wide table", "lightning", text.data, "|left 78 columns after the first 1024|",
                 "another number of cells"});
    hm__text_release(&text);
}

/* A byte order mark is not a part of the first column. */
static void byte_order_marks_are_skipped(void **state)
{
    (void)state;
    CHECK_TEXTS({"Lightning", "lightning", "\xef\xbb\xbfstep,train_loss\n0,1.5\n1,1.25\n",
                 "|took 2 losses as traces|", NULL},
                {"Keras", "keras-csv",
                 "\xef\xbb\xbf"
                 "epoch,loss\n0,1.5\n1,1.2\n",
                 "|took 2 losses as traces|", NULL},
                {"Slurm", "slurm",
                 "\xef\xbb\xbfJobID|Elapsed|NNodes|State\n1|00:10:00|2|COMPLETED\n",
                 "|took 1 jobs|", NULL});
}

/* Jobs after those that can be stored are counted. */
static void jobs_beyond_the_limit_are_counted(void **state)
{
    struct hm_text text = {0};

    (void)state;
    hm__text_add(&text, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"3.3.0\"}\n");
    for (int i = 0; i < 50010; i++)
        hm__text_addf(&text, "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d}\n", i);
    CHECK_TEXTS({"a long log", "spark", text.data, "|left 10 jobs after the first 50000|", NULL});
    hm__text_release(&text);
}

/* ---- configurations and platforms -------------------------------------------------------------
 */

/* Imports a configuration with further keys; returns its number of layers, or -1 after an error. */
static double config_layers(const char *keys, const char *after, struct hm_err *err)
{
    struct hm_imported *im;
    char text[400];

    snprintf(text, sizeof(text),
             "{\"model_type\": \"llama\", \"hidden_size\": 8, \"intermediate_size\": 16, "
             "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"vocab_size\": 10%s}%s",
             keys, after);
    if (import_bytes("hf-config", text, strlen(text), &im, err))
        return -1;
    assert_false(im->partial);
    struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
    double layers = hm__value_number(facts, "layers");
    hm__import_free(im);
    return layers;
}

/* A key that is given must be a number of its range; null is the same as no key. */
static void wrong_keys_of_configurations_are_named(void **state)
{
    static const struct {
        const char *keys, *after, *message;
        double layers;
    } cases[] = {
        {"", "\n", "", 2},
        {", \"num_key_value_heads\": null", "", "", 2},
        {", \"num_hidden_layers\": 3", "", "", 3},
        {", \"num_key_value_heads\": \"1\"", "",
         "num_key_value_heads must be a whole number from 0 to 1e+09", -1},
        {", \"num_key_value_heads\": -1", "",
         "num_key_value_heads must be a whole number from 0 to 1e+09", -1},
        {", \"num_hidden_layers\": 2.5", "",
         "num_hidden_layers must be a whole number from 0 to 1e+09", -1},
        {"", " {}", "has more text after the JSON object", -1},
        {"", "x", "has more text after the JSON object", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_err err;
        double layers = config_layers(cases[i].keys, cases[i].after, &err);
        assert_string_equal(err.message, cases[i].message);
        assert_near(layers, cases[i].layers, 0);
    }
}

/* A token cannot use more experts than a layer has. */
static void experts_of_a_token_are_limited(void **state)
{
    (void)state;
    for (int each = 4; each <= 5; each++) {
        struct hm_imported *im = NULL;
        struct hm_err err = {0};
        char text[400];
        snprintf(text, sizeof(text),
                 "{\"model_type\": \"mixtral\", \"hidden_size\": 8, \"intermediate_size\": 16, "
                 "\"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"vocab_size\": 10, "
                 "\"num_local_experts\": 4, \"num_experts_per_tok\": %d}",
                 each);
        int rc = import_bytes("hf-config", text, strlen(text), &im, &err);
        assert_int_equal(rc, each > 4 ? HM_E_CONFLICT : 0);
        assert_string_equal(err.message,
                            each > 4 ? "a token uses 5 experts, but a layer has 4" : "");
        hm__import_free(im);
    }
}

/* Blanks may precede a unit; a latency that cannot be read is not 0. */
static void units_of_platforms_are_read(void **state)
{
    static const struct {
        const char *speed, *bandwidth, *latency, *wanted, *left;
    } cases[] = {
        {"1 Gf", "125 MBps", "50 us",
         "bandwidth: 125000000 byte/s, latency: 4.9999999999999996e-05 s", NULL},
        {"1Gf, 2Gf", "125MBps", "50us",
         "bandwidth: 125000000 byte/s, latency: 4.9999999999999996e-05 s", NULL},
        {"1Gf", "125MBps", "50xs", NULL, "hosts, links or clusters without a readable value"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_text text = {0};
        struct hm_imported *im;
        struct hm_err err;
        hm__text_addf(&text,
                      "<platform version=\"4.1\"><host id=\"a\" speed=\"%s\"/><link id=\"l\" "
                      "bandwidth=\"%s\" latency=\"%s\"/></platform>",
                      cases[i].speed, cases[i].bandwidth, cases[i].latency);
        if (import_bytes("simgrid", text.data, text.length, &im, &err))
            fail_msg("%s", err.message);
        assert_non_null(strstr(im->document.data, "flops: 1000000000 flop/s"));
        const char *fabric = strstr(im->document.data, "bandwidth:");
        if (cases[i].wanted ? !fabric || strncmp(fabric, cases[i].wanted, strlen(cases[i].wanted))
                            : fabric != NULL)
            fail_msg("case %zu: %s", i, im->document.data);
        bool left = false;
        for (size_t k = 0; k < im->item_count; k++)
            left |= cases[i].left && strcmp(im->items[k].what, cases[i].left) == 0;
        assert_int_equal(left, cases[i].left != NULL);
        hm__import_free(im);
        hm__text_release(&text);
    }
}

/* The end of an event is computed from its start and its duration: times that are so large that
 * this overflows are not read, and the times of all kernels together may be larger. */
static void times_of_profiler_traces_do_not_overflow(void **state)
{
    static const char trace[] =
        "{\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"ts\":1,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":2,\"dur\":3e15},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":2,\"dur\":3e15},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":2,\"dur\":3e15},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":2,\"dur\":3e15},"
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\","
        "\"ts\":8000000000000000,\"dur\":8000000000000000}]}";
    struct hm_imported *im;
    struct hm_err err;

    (void)state;
    if (import_bytes("torch-trace", trace, sizeof(trace) - 1, &im, &err))
        fail_msg("%s", err.message);
    assert_non_null(strstr(im->facts.out->data, "\"compute_sum_us\":1.2e+16,"));
    assert_non_null(strstr(im->facts.out->data, "\"steps\":0,"));
    hm__import_free(im);
}

/* Totals of an index that no integer can hold are unknown. */
static void totals_of_an_index_are_limited(void **state)
{
    static const char index[] = "{\"metadata\": {\"total_size\": -1e300, \"total_parameters\": "
                                "-1e300}, \"weight_map\": {\"a\": \"b\"}}";
    struct hm_imported *im;
    struct hm_err err;

    (void)state;
    if (import_bytes("weight-index", index, sizeof(index) - 1, &im, &err))
        fail_msg("%s", err.message);
    assert_non_null(strstr(im->facts.out->data, "\"bytes_total\":null,"));
    assert_non_null(strstr(im->facts.out->data, "\"total_parameters_field\":null,"));
    hm__import_free(im);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals_of_an_index_are_limited),
        cmocka_unit_test(times_of_profiler_traces_do_not_overflow),
        cmocka_unit_test(jobs_beyond_the_limit_are_counted),
        cmocka_unit_test(wrong_keys_of_configurations_are_named),
        cmocka_unit_test(experts_of_a_token_are_limited),
        cmocka_unit_test(units_of_platforms_are_read),
        cmocka_unit_test(checksums_of_zip_members_are_compared),
        cmocka_unit_test(bytes_after_gzip_data_are_damage),
        cmocka_unit_test(last_lines_without_a_break_are_noted),
        cmocka_unit_test(left_out_cells_are_counted),
        cmocka_unit_test(columns_beyond_the_limit_are_counted),
        cmocka_unit_test(byte_order_marks_are_skipped),
        cmocka_unit_test(elements_that_do_not_fit_a_shape_are_not_copied),
        cmocka_unit_test(nested_messages_of_onnx_may_be_damaged),
        cmocka_unit_test(constants_without_a_name_are_not_looked_up),
    };

    return cmocka_run_group_tests_name("import_damage", tests, NULL, NULL);
}
