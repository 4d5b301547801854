/* Tests generated training data: balance, density, separability, and that rows depend only on the
 * seed and their number. */
#include "data_files.h"

#include "data_reader.h"
#include "random.h"

static const char *const recipes[] = {"dense:300x7", "sparse:300x50:0.1", "digits:60"};

static void recipes_are_understood(void **state)
{
    static const struct {
        const char *text;
        enum hm_data_format format;
        double rows, features, density, noise;
    } rows[] = {
        {"dense", HM_DATA_DENSE, 1000, 20, 0, 0.05},
        {"dense:7x3", HM_DATA_DENSE, 7, 3, 0, 0.05},
        {"dense:1e6x100", HM_DATA_DENSE, 1e6, 100, 0, 0.05},
        {"sparse", HM_DATA_SPARSE, 10000, 1000, 0.01, 0.05},
        {"sparse:5x6", HM_DATA_SPARSE, 5, 6, 0.01, 0.05},
        {"sparse:5x6:0.5", HM_DATA_SPARSE, 5, 6, 0.5, 0.05},
        {"digits", HM_DATA_DIGITS, 10000, 784, 0, 0},
        {"digits:12", HM_DATA_DIGITS, 12, 784, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_data_spec spec = parse_data(rows[i].text, false);
        assert_int_equal(spec.format, rows[i].format);
        assert_true(hm__data_is_made(&spec));
        assert_near(spec.rows, rows[i].rows, 0);
        assert_near(spec.features, rows[i].features, 0);
        assert_near(spec.density, rows[i].density, 0);
        assert_near(spec.noise, rows[i].noise, 0);
        assert_string_equal(spec.path, "");
    }
}

/*
 * The same rows must be generated in order, in blocks, after a seek, and as dense or sparse rows.
 */
static void any_row_at_any_time(void **state)
{
    (void)state;
    for (size_t r = 0; r < 3; r++) {
        struct hm_data_spec spec = parse_data(recipes[r], false);
        size_t features = (size_t)spec.features;
        struct hm_rows whole = read_rows(&spec, false, 0, SIZE_MAX);
        struct hm_rows odd = read_rows(&spec, true, features, 7);
        struct hm_rows jump = {.sparse = true, .features = features};
        struct hm_data *data = NULL;

        assert_int_equal(whole.count, (size_t)spec.rows);
        assert_int_equal(whole.features, features);
        assert_same_rows(&whole, &odd, features);
        assert_int_equal(hm__data_open(&spec, &data, NULL), 0);
        for (size_t row = whole.count; row-- > 0;) { /* Read the rows in reverse order. */
            hm__rows_clear(&jump);
            hm__data_seek(data, (double)row);
            assert_int_equal(hm__data_next(data, 1, &jump, NULL), 1);
            assert_int_equal(data->line, row + 1);
            assert_near(jump.labels[0], whole.labels[row], 0);
            for (size_t j = 0; j < features; j++)
                assert_near(value_at(&jump, 0, j), value_at(&whole, row, j), 0);
        }
        hm__data_seek(data, spec.rows);
        assert_int_equal(hm__data_next(data, 1, &jump, NULL), 0);
        hm__data_close(data);
        hm__rows_release(&whole);
        hm__rows_release(&odd);
        hm__rows_release(&jump);
    }
}

/* A longer recipe must begin with the rows of a shorter one; the rows of another seed and the test
 * rows must differ. */
static void rows_depend_on_seed_and_number(void **state)
{
    struct hm_data_spec few = parse_data("dense:10x4", false), many = parse_data("dense:20x4", 0);
    struct hm_data_spec test = parse_data("dense:10x4", true), other = few;
    struct hm_rows rows[4];

    (void)state;
    other.seed++;
    rows[0] = read_rows(&few, false, 4, 3);
    rows[1] = read_rows(&many, false, 4, 10);
    rows[2] = read_rows(&test, false, 4, 3);
    rows[3] = read_rows(&other, false, 4, 3);
    rows[1].count = 10;
    assert_same_rows(&rows[0], &rows[1], 4);
    assert_true(rows[0].values[0] != rows[2].values[0]);
    assert_true(rows[0].values[0] != rows[3].values[0]);
    for (size_t i = 0; i < 4; i++)
        hm__rows_release(&rows[i]);
}

/* ---- properties of generated data ----------------------------------------------------------- */

static double score(const struct hm_rows *rows, size_t row, const double *w)
{
    double sum = w[rows->features]; /* The last weight is the constant term of the score. */

    for (size_t k = rows->starts[row]; k < rows->starts[row + 1]; k++)
        sum += rows->values[k] * w[rows->columns[k]];
    return sum;
}

static void step(const struct hm_rows *rows, size_t row, double by, double *w)
{
    w[rows->features] += by;
    for (size_t k = rows->starts[row]; k < rows->starts[row + 1]; k++)
        w[rows->columns[k]] += by * rows->values[k];
}

/* Returns the class with the largest score; `w` has features + 1 weights for each class. */
static size_t guess(const struct hm_rows *rows, size_t row, const double *w, size_t classes)
{
    size_t best = 0;

    for (size_t c = 1; c < classes; c++)
        if (score(rows, row, w + c * (rows->features + 1)) >
            score(rows, row, w + best * (rows->features + 1)))
            best = c;
    return best;
}

/* Trains a perceptron with averaged weights (Freund and Schapire 1999) on the training rows;
 * returns the fraction of the test rows that it classifies correctly. Labels are class * scale +
 * first. */
static double learn(const char *recipe, const char *test, size_t classes, double first,
                    double scale, int epochs)
{
    struct hm_data_spec specs[2] = {parse_data(recipe, false), parse_data(test, true)};
    struct hm_rows train = read_rows(&specs[0], true, (size_t)specs[0].features, 100);
    struct hm_rows held = read_rows(&specs[1], true, (size_t)specs[1].features, 100);
    size_t length = classes * (train.features + 1), right = 0, seen = 0;
    /* `late` is the sum of the steps, each multiplied by its number; with it, the mean of all
     * iterates is computed at the end. */
    double *w = calloc(2 * length, sizeof(*w)), *late = w + length;

    for (int epoch = 0; epoch < epochs; epoch++)
        for (size_t i = 0; i < train.count; i++, seen++) {
            size_t class = (size_t)((train.labels[i] - first) / scale);
            size_t said = guess(&train, i, w, classes);
            if (said != class) {
                step(&train, i, 1, w + class * (train.features + 1));
                step(&train, i, -1, w + said * (train.features + 1));
                step(&train, i, (double)seen, late + class * (train.features + 1));
                step(&train, i, -(double)seen, late + said * (train.features + 1));
            }
        }
    for (size_t j = 0; j < length; j++)
        w[j] -= late[j] / (double)seen;
    for (size_t i = 0; i < held.count; i++)
        right += first + scale * (double)guess(&held, i, w, classes) == held.labels[i];
    double fraction = (double)right / (double)held.count;
    free(w);
    hm__rows_release(&train);
    hm__rows_release(&held);
    return fraction;
}

static double count_label(const struct hm_rows *rows, double label)
{
    double count = 0;

    for (size_t i = 0; i < rows->count; i++)
        count += rows->labels[i] == label;
    return count;
}

static void dense_rows_are_normal_and_separable(void **state)
{
    struct hm_data_spec spec = parse_data("dense:20000x10", false);
    struct hm_rows rows = read_rows(&spec, false, 0, 512);
    double n = 200000, sum = 0, square = 0, fourth = 0;

    (void)state;
    for (size_t k = 0; k < hm__rows_entries(&rows); k++) {
        double v = rows.values[k];
        sum += v;
        square += v * v;
        fourth += v * v * v * v;
    }
    assert_true(fabs(sum / n) < 5 / sqrt(n));
    assert_true(fabs(square / n - 1) < 5 * sqrt(2 / n));
    assert_true(fabs(fourth / n - 3) < 5 * sqrt(96 / n));
    assert_true(fabs(count_label(&rows, 1) - 10000) < 5 * sqrt(5000));
    assert_near(count_label(&rows, 1) + count_label(&rows, -1), 20000, 0);
    hm__rows_release(&rows);
    double right = learn("dense:5000x10", "dense:5000x10", 2, -1, 2, 5);
    assert_true(right > 0.92 && right < 0.97); /* One label in twenty is wrong. */
}

static void sparse_rows_are_like_texts(void **state)
{
    struct hm_data_spec spec = parse_data("sparse", false);
    struct hm_rows rows = read_rows(&spec, true, 1000, 512);
    double often[1000] = {0}, entries = (double)hm__rows_entries(&rows);

    (void)state;
    for (size_t k = 0; k < hm__rows_entries(&rows); k++) {
        assert_near(rows.values[k], 1, 0);
        often[rows.columns[k]]++;
    }
    for (size_t i = 0; i < rows.count; i++) {
        assert_true(rows.starts[i] < rows.starts[i + 1]);
        for (size_t k = rows.starts[i] + 1; k < rows.starts[i + 1]; k++)
            assert_true(rows.columns[k - 1] < rows.columns[k]);
    }
    assert_true(fabs(entries - 1e5) < 5 * sqrt(1e5));
    /* A draw gives column 0 with the probability ln(1 + 1/q) / ln(1 + 1000/q), with q = 5. */
    double once = log(1 + 1 / 5.0) / log(1 + 1000 / 5.0),
           rows_with = 1 - pow(1 - 0.01 * once, 1000);
    assert_true(fabs(often[0] - 10000 * rows_with) < 5 * sqrt(10000 * rows_with * (1 - rows_with)));
    /* The distribution of the columns has a long tail. */
    assert_true(often[99] > 100 && often[99] < often[9]);
    /* The frequency of column k is proportional to about 1 / (k + 5). */
    assert_true(often[900] > 5 && often[900] < often[99]);
    assert_true(count_label(&rows, 1) > 2500 && count_label(&rows, 1) < 7500);
    hm__rows_release(&rows);
    assert_true(learn("sparse", "sparse:3000x1000", 2, -1, 2, 5) > 0.85);
    /* Tests densities at which rows have entries in all columns, and in almost none. */
    spec = parse_data("sparse:3x4:1", false);
    rows = read_rows(&spec, true, 0, 1);
    assert_int_equal(hm__rows_entries(&rows), 12);
    assert_int_equal(rows.columns[11], 3);
    hm__rows_release(&rows);
    spec = parse_data("sparse:50x4:1e-6", false);
    rows = read_rows(&spec, true, 0, 9);
    assert_int_equal(hm__rows_entries(&rows), 50);
    hm__rows_release(&rows);
}

static void digits_are_like_mnist(void **state)
{
    struct hm_data_spec spec = parse_data("digits:3000", false);
    struct hm_rows rows = read_rows(&spec, true, 0, 512);
    double zeros, largest = 0;

    (void)state;
    for (size_t k = 0; k < hm__rows_entries(&rows); k++) {
        double v = rows.values[k];
        assert_true(v >= 1 && v <= 255 && v == floor(v));
        largest = fmax(largest, v);
    }
    zeros = 1 - (double)hm__rows_entries(&rows) / (3000.0 * 784);
    assert_true(zeros > 0.76 && zeros < 0.86); /* In MNIST, 81 % of the pixels are zero. */
    assert_near(largest, 255, 0);
    for (int class = 0; class < 10; class ++)
        assert_true(fabs(count_label(&rows, class) - 300) < 5 * sqrt(300 * 0.9));
    hm__rows_release(&rows);
    double right = learn("digits:4000", "digits:1000", 10, 0, 1, 4);
    printf("# digits: a linear classifier gets %.3f right\n", right);
    assert_true(right > 0.85 && right < 0.96);
}

/* The share of wrong labels must be the requested one, and a wrong label must be another class. */
static void noise_turns_labels(void **state)
{
    (void)state;
    for (size_t r = 0; r < 3; r++) {
        struct hm_data_spec spec = parse_data(recipes[r], false);
        spec.rows = 2000;
        spec.noise = 0;
        struct hm_rows clean = read_rows(&spec, true, 0, 100);
        spec.noise = 0.25;
        struct hm_rows noisy = read_rows(&spec, true, 0, 100);
        double turned = 0;
        for (size_t i = 0; i < clean.count; i++)
            turned += clean.labels[i] != noisy.labels[i];
        assert_true(fabs(turned - 500) < 5 * sqrt(375));
        hm__rows_release(&clean);
        hm__rows_release(&noisy);
    }
}

static void made_data_is_scanned_like_files(void **state)
{
    static struct hm_data_shape shape;
    struct hm_data_spec spec = parse_data("digits:500", false);

    (void)state;
    assert_int_equal(hm__data_scan(&spec, &shape, NULL), 0);
    assert_near(shape.rows, 500, 0);
    assert_near(shape.features, 784, 0);
    assert_int_equal(shape.classes, 10);
    assert_false(shape.sparse);
    spec = parse_data("sparse:500x40", false);
    assert_int_equal(hm__data_scan(&spec, &shape, NULL), 0);
    assert_near(shape.features, 40, 0);
    assert_int_equal(shape.classes, 2);
    assert_near(shape.labels[0], -1, 0);
    assert_true(shape.sparse);
    assert_true(shape.lines[0] == 1 || shape.lines[1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_are_understood),
        cmocka_unit_test(any_row_at_any_time),
        cmocka_unit_test(rows_depend_on_seed_and_number),
        cmocka_unit_test(dense_rows_are_normal_and_separable),
        cmocka_unit_test(sparse_rows_are_like_texts),
        cmocka_unit_test(digits_are_like_mnist),
        cmocka_unit_test(noise_turns_labels),
        cmocka_unit_test(made_data_is_scanned_like_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
