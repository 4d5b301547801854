/* Compares the counts of networks with tests/data/networks.csv, which tools/oracle/networks.py
 * made. */
#include "testing.h"

static void count(const char *text, double *parameters, double *multiply_adds)
{
    struct hm_job *job = parse_job(text);
    struct hm_counts *counts;
    struct hm_err err = {0};

    if (hm_counts_new(job->network, "t", &counts, &err))
        fail_msg("%s", err.message);
    *parameters = counts->parameters;
    *multiply_adds = counts->multiply_adds;
    hm_counts_free(counts);
    hm_job_free(job);
}

/* Writes the text of a job with the network in a row of the table. */
static void job_text(const char *name, char *text, size_t room)
{
    char cell[8];

    if (strncmp(name, "mlp-", 4) == 0)
        snprintf(text, room, "{network: %s, batch: 1}", name + 4);
    else if (sscanf(name, "%4[a-z]-10-20-7", cell) == 1 &&
             (strcmp(cell, "lstm") == 0 || strcmp(cell, "gru") == 0))
        snprintf(text, room,
                 "{batch: 1, network: {input: {sequence: 7, width: 10}, layers: [recurrent: "
                 "{cell: %s, width: 20}]}}",
                 cell);
    else
        snprintf(text, room, "{network: %s, batch: 1}", name);
}

static void counts_equal_the_oracle(void **state)
{
    FILE *file = open_source("tests/data/networks.csv");
    char line[200], text[300];
    int rows = 0;

    (void)state;
    next_line(file, line, sizeof(line));
    while (next_line(file, line, sizeof(line))) {
        char *rest = line, *name = strsep(&rest, ",");
        double parameters, multiply_adds;
        double wanted = atof(strsep(&rest, ",")), products = atof(rest);
        job_text(name, text, sizeof(text));
        count(text, &parameters, &multiply_adds);
        hm_assert_near(parameters, wanted, 0, name, rows);
        hm_assert_near(multiply_adds, products, 0, name, rows);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 18);
}

/* The published 832M is a sum of millions per layer, each truncated to a whole number. */
static void alexnet_is_near_the_papers(void **state)
{
    double parameters, multiply_adds;

    (void)state;
    count("{network: alexnet, batch: 1}", &parameters, &multiply_adds);
    assert_near(parameters, 60e6, 0.03);
    assert_near(multiply_adds, 832e6, 0.006);
}

static void first_layer_of_lecun_1989(void **state)
{
    double parameters, multiply_adds;

    (void)state;
    count(
        "{batch: 1, network: {input: [16, 16, 1], layers: [conv: {filters: 12, kernel: 5, stride: "
        "2, border: 3, bias: position}]}}",
        &parameters, &multiply_adds);
    assert_near(parameters, 1068, 0);
    assert_near(multiply_adds, 12 * 25 * 64, 0);
}

static void groups_divide_the_work(void **state)
{
    double whole, halves, a, b;

    (void)state;
    count("{batch: 1, network: {input: [8, 8, 4], layers: [conv: {filters: 6, kernel: 3, bias: "
          "false}]}}",
          &a, &whole);
    count(
        "{batch: 1, network: {input: [8, 8, 4], layers: [conv: {filters: 6, kernel: 3, groups: 2, "
        "bias: false}]}}",
        &b, &halves);
    assert_near(halves, whole / 2, 0);
    assert_near(b, a / 2, 0);
}

static void impossible_layers_are_named(void **state)
{
    static const struct {
        const char *text, *message;
        int line;
    } rows[] = {
        {"batch: 1\nnetwork:\n  input: [4, 4, 1]\n  layers:\n    - conv: {filters: 1, kernel: 5}\n",
         "layer 'conv': a window of 5x5 is larger than the image of 4x4 with its border", 5},
        {"batch: 1\nnetwork:\n  input: [4, 4, 3]\n  layers:\n"
         "    - conv: {filters: 4, kernel: 1, groups: 2}\n",
         "layer 'conv': 2 groups do not divide the maps before (3) and after (4)", 5},
        {"batch: 1\nnetwork:\n  input: 10\n  layers:\n    - pool: {kernel: 2}\n",
         "layer 'pool': the input must be an image, [height, width, channels]", 5},
        {"batch: 1\nnetwork:\n  input: 10\n  layers:\n    - attention: {heads: 2}\n",
         "layer 'attention': the input must be a sequence or an image", 5},
        {"batch: 1\nnetwork:\n  input: 10\n  layers:\n    - residual: [dense: 3]\n",
         "layer 'residual': the two branches have different output shapes", 5},
        {"batch: 1\nnetwork:\n  input: 10\n  layers:\n    - repeat: {times: 1000, layers: [repeat: "
         "{times: 1000, layers: [relu]}]}\n",
         "layer 'relu': the network unrolls to more than 10000 layers", 5},
        {"batch: 1\nnetwork:\n  input: 5\n  layers:\n    - repeat: {times: 1000, layers: [repeat: "
         "{times: 1000, layers: [repeat: {times: 1000, layers: [repeat: {times: 1000, layers: "
         "[flatten]}]}]}]}\n",
         "layer 'flatten': nested repeats visit more than 1000000 layers", 5},
        {"batch: 1\nnetwork:\n  input: {sequence: 4, width: 10}\n  layers:\n"
         "    - attention: {heads: 3}\n",
         "layer 'attention': 3 heads do not divide the width of 10", 5},
        {"batch: 1\nnetwork:\n  input: {sequence: 4, width: 10}\n  layers:\n"
         "    - attention: {heads: 2, core: true, windows: 3}\n",
         "layer 'attention': 3 windows do not divide the length of 4", 5},
        {"batch: 1\nnetwork:\n  input: 5\n  layers:\n    - geglu\n",
         "layer 'geglu': a gate needs an even number of channels, not 5", 5},
        {"batch: 1\nnetwork:\n  input: 5\n  layers:\n    - upsample\n",
         "layer 'upsample': the input must be an image, [height, width, channels]", 5},
        {"batch: 1\nnetwork:\n  input: 5\n  layers:\n    - interact\n",
         "layer 'interact': the input must be a sequence", 5},
        {"batch: 1\nnetwork:\n  input: {sequence: 4, width: 10}\n  layers:\n    - interact\n",
         "layer 'interact': the side layers before it must give 10 values, not 0", 5},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_job *job = parse_job(rows[i].text);
        struct hm_counts *counts = NULL;
        struct hm_err err = {0};
        assert_true(hm_counts_new(job->network, job->source, &counts, &err) < 0);
        assert_string_equal(err.message, rows[i].message);
        assert_int_equal(err.line, rows[i].line);
        assert_null(counts);
        hm_job_free(job);
    }
}

/* The rows must have the values read and written, the parameters and the multiply-adds of the
 * formulas in docs/reference/job.md. */
static void rows_read_and_write(void **state)
{
    static const struct {
        const char *network;
        size_t row;
        double inputs, outputs, parameters, multiply_adds;
    } cases[] = {
        {"input: 10, layers: [dense: 4, relu]", 0, 10, 4, 44, 40},
        {"input: 10, layers: [dense: 4, relu]", 1, 4, 4, 0, 0},
        {"input: 10, layers: [residual: [dense: 10]]", 0, 10, 10, 110, 100},
        {"input: 10, layers: [residual: [dense: 10]]", 1, 20, 10, 0, 0},
        {"input: [4, 6, 3], layers: [pool: {kernel: 2}]", 0, 72, 18, 0, 0},
        {"input: [4, 6, 3], layers: [global-pool]", 0, 72, 3, 0, 0},
        {"input: {sequence: 5}, layers: [embedding: {vocabulary: 7, width: 4, positions: 5}]", 0, 5,
         20, 48, 0},
        {"input: {sequence: 5}, layers: [embedding: {vocabulary: 7, width: 4}, attention: {heads: "
         "2}]",
         1, 20, 4 * 20 + 2 * 25, 80, 4 * 5 * 16 + 2 * 25 * 4},
        {"input: {sequence: 5}, layers: [embedding: {vocabulary: 7, width: 4}, recurrent: {cell: "
         "gru, width: 3}]",
         1, 20, 5 * 3 * 4, 3 * (3 * 7 + 3), 5 * 3 * 3 * 7},
        {"input: {sequence: 5}, layers: [embedding: {vocabulary: 7, width: 4}, dense: 6]", 1, 20,
         30, 30, 120},
        {"input: [2, 3, 4], layers: [attention: {heads: 2, bias: output}]", 0, 24, 4 * 24 + 2 * 36,
         4 * 16 + 4, 4 * 6 * 16 + 2 * 36 * 4},
        {"input: [2, 3, 4], layers: [attention: {heads: 2, context: 7, context_width: 5, bias: "
         "false}]",
         0, 24, 2 * 24 + 2 * 28 + 2 * 42, 2 * 16 + 2 * 20,
         2 * 6 * 16 + 2 * 7 * 5 * 4 + 2 * 6 * 7 * 4},
        {"input: [2, 3, 4], layers: [condition: {width: 5}]", 0, 24, 24, 24, 20},
        {"input: {sequence: 6, width: 4}, layers: [attention: {heads: 2, core: true, windows: 3}]",
         0, 24, 24 + 2 * 6 * 2, 0, 2 * 6 * 2 * 4},
        {"input: {sequence: 6, width: 4}, layers: [attention: {heads: 2, core: true, context: 9}]",
         0, 24, 24 + 2 * 6 * 9, 0, 2 * 6 * 9 * 4},
        {"input: [2, 3, 4], layers: [add]", 0, 48, 24, 0, 0},
        {"input: [2, 3, 4], layers: [multiply: {parameters: 4}]", 0, 28, 24, 4, 0},
        {"input: [2, 3, 4], layers: [copy]", 0, 24, 24, 0, 0},
        {"input: [2, 3, 4], layers: [elementwise]", 0, 24, 24, 0, 0},
        {"input: 7, layers: [view: [2, 3, 4], relu]", 0, 24, 24, 0, 0},
        {"input: 7, layers: [view: {sequence: 5, width: 2}, dense: 3]", 0, 10, 15, 9, 30},
        {"input: 7, layers: [product: {count: 2, rows: 3, depth: 4, columns: 5}]", 0,
         2 * 4 * (3 + 5), 30, 0, 120},
        {"input: [2, 3, 4], layers: [scale: [view: 4]]", 0, 28, 24, 0, 0},
        {"input: [2, 3, 4], layers: [upsample]", 0, 24, 96, 0, 0},
        {"input: [2, 3, 4], layers: [geglu]", 0, 24, 12, 0, 0},
        {"input: {sequence: 3, width: 2}, layers: [side: {input: 5, layers: [dense: 2]}, interact, "
         "dense: 1]",
         0, 5, 2, 12, 10},
        {"input: {sequence: 3, width: 2}, layers: [side: {input: 5, layers: [dense: 2]}, interact, "
         "dense: 1]",
         1, 8, 2 + 6, 0, 32},
        {"input: {sequence: 3, width: 2}, layers: [side: {input: 5, layers: [dense: 2]}, interact, "
         "dense: 1]",
         2, 8, 1, 9, 8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[300];
        struct hm_counts *counts;
        struct hm_err err = {0};
        snprintf(text, sizeof(text), "{batch: 1, network: {%s}}", cases[i].network);
        struct hm_job *job = parse_job(text);
        if (hm_counts_new(job->network, "t", &counts, &err))
            fail_msg("%s: %s", cases[i].network, err.message);
        assert_true(cases[i].row < counts->layer_count);
        const struct hm_count *row = &counts->layers[cases[i].row];
        if (row->inputs != cases[i].inputs || row->outputs != cases[i].outputs ||
            row->parameters != cases[i].parameters || row->multiply_adds != cases[i].multiply_adds)
            fail_msg("%s: %g, %g, %g, %g", cases[i].network, row->inputs, row->outputs,
                     row->parameters, row->multiply_adds);
        hm_counts_free(counts);
        hm_job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_equal_the_oracle),   cmocka_unit_test(alexnet_is_near_the_papers),
        cmocka_unit_test(first_layer_of_lecun_1989), cmocka_unit_test(rows_read_and_write),
        cmocka_unit_test(groups_divide_the_work),    cmocka_unit_test(impossible_layers_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
