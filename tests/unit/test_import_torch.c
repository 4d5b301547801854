/*
 * Tests the texts that torchinfo and torch.fx print for real networks (tests/data/torch). The
 * expected values come from PyTorch itself: tools/oracle/torch_texts.py counts the elements of the
 * parameters, the calls of modules, and the operations of a run.
 */
#include <math.h>
#include <stdlib.h>

#include "import_samples.h"

/* One row of expected.tsv. A value is NaN if the text does not contain it. */
struct expected {
    char file[64];
    double layers, parameters, macs;
};

enum { ROWS = 16 };

static char *read_text(const char *name, size_t *ret_length)
{
    char path[512];
    char *text = NULL;
    struct hm_err err = {0};

    snprintf(path, sizeof(path), "%s/tests/data/torch/%s",
             getenv("HM_SOURCE") ? getenv("HM_SOURCE") : ".", name);
    if (hm__source_read_all(path, &text, ret_length, &err))
        fail_msg("%s: %s", path, err.message);
    return text;
}

static double read_cell(const char **at)
{
    char *end;
    double value = strtod(*at, &end);
    bool empty = end == *at || **at == '\t' || **at == '\n';

    *at += strcspn(*at, "\t\n");
    *at += **at == '\t';
    return empty ? NAN : value;
}

static size_t read_expected(struct expected rows[ROWS])
{
    size_t length, count = 0;
    char *text = read_text("expected.tsv", &length), *end = text + length;

    for (char *line = memchr(text, '\n', length); line && ++line < end && count < ROWS;
         line = memchr(line, '\n', (size_t)(end - line))) {
        struct expected *row = &rows[count++];
        const char *at = line + strcspn(line, "\t");
        snprintf(row->file, sizeof(row->file), "%.*s", (int)(at - line), line);
        at++;
        row->layers = read_cell(&at);
        row->parameters = read_cell(&at);
        row->macs = read_cell(&at);
    }
    hm__free(text);
    return count;
}

static struct hm_imported *import_text(const char *text, size_t length)
{
    struct hm_import_from from = {.name = "network.txt", .data = text, .length = length};
    struct hm_imported *im = NULL;

    return hm__import_new(&from, &im, NULL) ? NULL : im;
}

static void assert_value(const char *file, const char *what, double found, double wanted,
                         double relative)
{
    if (isnan(wanted) ? !isnan(found) : !(fabs(found - wanted) <= relative * wanted))
        fail_msg("%s: %s is %.17g, not %.17g", file, what, found, wanted);
}

static void texts_give_the_counts_of_pytorch(void **state)
{
    struct expected rows[ROWS];
    size_t count = read_expected(rows);

    (void)state;
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++) {
        const char *file = rows[i].file;
        bool table =
            strstr(file, "-torchinfo") || strstr(file, "-columns") || strstr(file, "-hidden");
        size_t length;
        char *text = read_text(file, &length);
        struct hm_imported *im = import_text(text, length);

        if (!im)
            fail_msg("%s is not recognised", file);
        assert_string_equal(im->importer->name, table ? "torchinfo" : "torch-fx");
        assert_false(im->partial);
        struct hm_value *facts = parse_tree(im->arena, im->facts_text.data, im->facts_text.length);
        assert_value(file, "layers", hm__value_number(facts, table ? "layers" : "nodes"),
                     rows[i].layers, 0);
        assert_value(file, "parameters", hm__value_number(facts, "parameters"), rows[i].parameters,
                     0);
        /* A table does not say whether a convolution has a bias, so the counts may differ by the
         * multiply-adds of biases. */
        assert_value(file, "macs", hm__value_number(facts, "forward_macs"), rows[i].macs,
                     table ? 1e-4 : 0);
        /* Without multiply-adds there is no network that a plan could use. */
        assert_int_equal(im->document.length > 0, rows[i].macs > 0);
        hm__import_free(im);
        hm__free(text);
    }
}

static void truncated_texts_are_partial(void **state)
{
    static const char *const files[] = {"transformer-torchinfo.txt", "transformer-export.txt",
                                        "resnet18-graph.txt", "resnet18-module.txt"};

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        size_t length, recognised = 0;
        char *text = read_text(files[i], &length);
        /* The totals of a summary are in its last 560 bytes. */
        size_t end = i == 0 ? length - 560 : length - 120;

        for (size_t cut = 0; cut < end; cut += 61) {
            struct hm_imported *im = import_text(text, cut);
            recognised += im != NULL;
            if (im && !im->partial)
                fail_msg("%s: not partial after %zu of %zu bytes", files[i], cut, length);
            hm__import_free(im);
        }
        assert_true(recognised > 10);
        hm__free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_give_the_counts_of_pytorch),
        cmocka_unit_test(truncated_texts_are_partial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
