/*
 * Tests that imports of damaged or cut files say so: each file is read twice, once as a program
 * writes it and once with the damage.
 */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_messages_of_onnx_may_be_damaged),
        cmocka_unit_test(constants_without_a_name_are_not_looked_up),
    };

    return cmocka_run_group_tests_name("import_damage", tests, NULL, NULL);
}
