/*
 * Compares training on real data with optima found by other programs: logistic regression by
 * Newton's method (tools/oracle/train.py), and support vector machines by other solvers of the
 * dual, to 12 digits. lambda is always 1e-4. Needs the shared data (HOWMANY_DATA).
 */
#include "data_files.h"

#include "linear_problem.h"
#include "prepare.h"
#include "train.h"

struct known_optimum {
    const char *file;
    double features;
    const struct hm_loss *loss;
    double best;
};

static bool is_here(const char *file)
{
    const char *zlib = getenv("HM_ZLIB");

    if (access(example_source(file), R_OK) == 0 && !(zlib && strcmp(zlib, "0") == 0))
        return true;
    printf("# skipped %s: no such data (set HOWMANY_DATA), or no zlib\n", file);
    return false;
}

/* Returns the rows with labels -1 and 1; for digits, the label is 1 for the digit 5 and -1 for the
 * others. */
static struct hm_rows signed_rows(const struct known_optimum *known)
{
    struct hm_data_spec spec = parse_data(example_source(known->file), false);
    struct hm_rows rows = read_rows(&spec, true, (size_t)known->features, 1000);
    bool digits = spec.format == HM_DATA_IDX;
    struct hm_labels labels = {.kind = HM_LABEL_SIGN, .positive = digits ? 5 : 1};
    struct hm_scale scale = {.kind = HM_SCALE_DIVIDE, .divisor = 255};

    hm__labels_apply(&labels, &rows);
    if (digits)
        hm__scale_apply(&scale, &rows);
    return rows;
}

/* Trains on one rank, with one evaluation at the end. */
static struct hm_trace_point train_alone(const struct known_optimum *known,
                                         const struct hm_rows *rows, const char *algorithm,
                                         const struct hm_train_settings *settings,
                                         const struct hm_train_limits *limits, double eval_every)
{
    struct hm_objective o = {
        .rows = *rows, .total_rows = (double)rows->count, .lambda = 1e-4, .arena = hm__arena_new()};
    struct hm_comm comm;
    struct hm_run run = {.algorithm = hm__algorithm_find(algorithm),
                         .comm = &comm,
                         .objective = &o,
                         .settings = *settings,
                         .arena = o.arena};
    struct hm_train_plan plan = {.limits = *limits, .eval_every = eval_every};
    struct hm_train_totals totals = {0};
    struct hm_trace_point last;
    enum hm_stop stop;
    struct hm_err err = {0};

    hm__comm_alone(&comm);
    hm__linear_init(&o, known->loss);
    assert_int_equal(hm__run_begin(&run, &err), 0);
    assert_int_equal(hm__train(&run, &plan, &totals, &last, &stop, &err), 0);
    hm__arena_free(o.arena);
    return last;
}

static void lbfgs_finds_logistic_optima(void **state)
{
    static const struct known_optimum files[] = {{"libsvm/a9a.gz", 123, &hm__loss_logistic, 0},
                                                 {"libsvm/w8a.gz", 300, &hm__loss_logistic, 0}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char name[8] = {0}, line[256], wanted[32];
        struct hm_train_limits limits = {.iterations = 150, .best = NAN};
        struct hm_train_settings settings = {.seed = 1};
        if (!is_here(files[i].file))
            continue;
        snprintf(name, sizeof(name), "%.3s", files[i].file + 7);
        snprintf(wanted, sizeof(wanted), "file %s logistic 0.0001 ", name);
        FILE *table = open_source("tests/data/train.tsv");
        while (next_line(table, line, sizeof(line)))
            if (strncmp(line, wanted, strlen(wanted)) == 0)
                limits.best = strtod(line + strlen(wanted), NULL);
        fclose(table);
        limits.suboptimality = 1e-8 * limits.best;
        struct hm_rows rows = signed_rows(&files[i]);
        struct hm_trace_point last = train_alone(&files[i], &rows, "lbfgs", &settings, &limits, 10);
        if (!(last.suboptimality <= 1e-8 * limits.best && last.suboptimality > -1e-12))
            fail_msg("%s: %g more than %.12g after %g", name, last.suboptimality, limits.best,
                     last.iteration);
        hm__rows_release(&rows);
    }
}

/* Checks that the duality gap is small, and that the other programs agree. */
static void check_svm(const struct known_optimum *known, double rounds, double relative)
{
    struct hm_train_limits limits = {
        .iterations = rounds, .gap = relative * known->best, .best = known->best};
    struct hm_train_settings settings = {.passes = 10, .shrink = true, .seed = 1};

    if (!is_here(known->file))
        return;
    struct hm_rows rows = signed_rows(known);
    struct hm_trace_point last = train_alone(known, &rows, "cocoa+", &settings, &limits, 1);
    if (!(last.gap <= limits.gap && last.gap > -1e-12) ||
        !(last.suboptimality <= limits.gap && last.suboptimality >= -1e-6 * known->best))
        fail_msg("%s: %.13g, gap %g after %g", known->file, last.objective, last.gap,
                 last.iteration);
    hm__rows_release(&rows);
}

static void dual_ascent_finds_svm_optima(void **state)
{
    static const struct known_optimum files[] = {
        {"libsvm/a9a.gz", 123, &hm__loss_hinge, 0.351761800467},
        {"libsvm/w8a.gz", 300, &hm__loss_hinge, 0.144325891647}};

    (void)state;
    check_svm(&files[0], 1000, 1e-6);
    check_svm(&files[1], 1000, 1e-6);
}

static void dual_ascent_finds_the_optimum_of_mnist(void **state)
{
    static const struct known_optimum mnist = {"mnist", 784, &hm__loss_hinge, 0.0698803240532};

    (void)state;
    if (SANITIZED)
        printf("# skipped mnist: too slow with sanitizers\n");
    else
        check_svm(&mnist, 1000, 1e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lbfgs_finds_logistic_optima),
        cmocka_unit_test(dual_ascent_finds_svm_optima),
        cmocka_unit_test(dual_ascent_finds_the_optimum_of_mnist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
