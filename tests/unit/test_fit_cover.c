/* Tests the coverage of intervals by simulation: the share of many generated sets of runs whose 90
 * % interval contains the known truth. */
#include "fit_testing.h"
#include "random.h"
#include "testing.h"

struct fit_truth {
    const char *terms; /* Terms of the fit; NULL: the fit selects them. */
    double theta[4];   /* True coefficients of the terms 1, size/n, ln(n) and n. */
    double noise;      /* Standard deviation of the noise, relative or in seconds. */
    bool relative, repeats;
    double n_target;
    size_t runs; /* Number of runs at one size; 0: sixteen runs at two sizes. */
};

static double true_seconds(const struct fit_truth *t, double n, double size)
{
    return t->theta[0] + t->theta[1] * size / n + t->theta[2] * log(n) + t->theta[3] * n;
}

static struct hm_runs *make_runs(const struct fit_truth *t, struct hm_random *random)
{
    static const double n[] = {1, 2, 3, 4, 6, 8, 12, 16}, size[] = {0.25, 1};
    char text[16384] = "n,size,seconds\n";

    size_t count = t->runs ? t->runs : 16 * (t->repeats ? 3u : 1u);
    for (size_t i = 0; i < count; i++) {
        /* If there are only a few runs, they are spread over the range from 1 to 16 workers. */
        double at_n = t->runs && t->runs < 8 ? n[i * 7 / (t->runs - 1)] : n[i % 8];
        double at_size = t->runs ? 1 : size[i / 8 % 2], seconds = true_seconds(t, at_n, at_size);
        double off = t->noise * hm__random_normal(random) * (t->relative ? seconds : 1);
        size_t used = strlen(text);
        snprintf(text + used, sizeof(text) - used, "%g,%g,%.17g\n", at_n, at_size,
                 fmax(seconds + off, 1e-6));
    }
    return parse_runs(text);
}

struct coverage {
    int mean, run;
};

static struct coverage cover(const struct fit_truth *t, int sets)
{
    struct coverage hit = {0, 0};
    struct hm_random random;

    hm__random_init(&random, 20161, 7);
    for (int i = 0; i < sets; i++) {
        char list[64];
        const char *terms[HM_TERMS_MAX];
        struct hm_fit_settings settings = {.seed = i};
        struct hm_prediction p;
        snprintf(list, sizeof(list), "%s", t->terms ? t->terms : "");
        settings.term_count = split_terms(list, terms);
        settings.terms = terms;
        settings.errors = t->repeats    ? HM_ERRORS_AUTO
                          : t->relative ? HM_ERRORS_RELATIVE
                          : t->terms    ? HM_ERRORS_EQUAL
                                        : HM_ERRORS_AUTO;
        struct hm_runs *runs = make_runs(t, &random);
        struct hm_fit *fit = fit_runs(runs, &settings);
        assert_int_equal(hm_fit_predict(fit, NULL, 0, &t->n_target, 1, &p, NULL), 0);
        double seconds = true_seconds(t, t->n_target, 1);
        double once = seconds + t->noise * hm__random_normal(&random) * (t->relative ? seconds : 1);
        hit.mean += p.mean_low <= seconds && seconds <= p.mean_high;
        hit.run += p.low_s <= once && once <= p.high_s;
        hm_fit_free(fit);
        hm_runs_free(runs);
    }
    return hit;
}

static void check_cover(const struct fit_truth *t, int least, int most)
{
    /* Three standard deviations of the count, scaled to 1000 sets, are 90 with 100 sets. */
    int sets = is_torture() ? 1000 : 100, slack = is_torture() ? 0 : 100;
    struct coverage hit = cover(t, sets);

    print_message("# %s, to n = %g: %d of %d means, %d of %d runs\n", t->terms ? t->terms : "auto",
                  t->n_target, hit.mean, sets, hit.run, sets);
    hit.mean *= 1000 / sets;
    hit.run *= 1000 / sets;
    if (hit.mean < least - slack || hit.mean > most + slack || hit.run < least - slack ||
        hit.run > most + slack)
        fail_msg("a 90 %% interval covers %d means and %d runs of 1000", hit.mean, hit.run);
}

/* If the right terms are given, 87 % to 93 % of a thousand sets are covered. */
static void test_coverage_given(void **state)
{
    const struct fit_truth inside = {"1,size/n,ln(n)", {2, 100, 1.5, 0}, 0.3, false, false, 10};
    const struct fit_truth beyond = {"1,size/n,ln(n)", {2, 100, 1.5, 0}, 0.3, false, false, 64};
    const struct fit_truth relative = {"1,size/n,ln(n)", {5, 100, 3, 0}, 0.05, true, false, 64};
    const struct fit_truth repeats = {"1,size/n,ln(n)", {5, 100, 3, 0}, 0.05, true, true, 64};
    const struct fit_truth four = {"1,size/n,ln(n),n", {5, 100, 3, 0.5}, 0.02, true, true, 64};

    (void)state;
    check_cover(&inside, 870, 930);
    check_cover(&beyond, 870, 930);
    check_cover(&relative, 870, 930);
    check_cover(&repeats, 870, 930);
    check_cover(&four, 870, 930);
}

/* Intervals must have their coverage even for coefficients that the runs hardly determine. */
static void test_coverage_weak_terms(void **state)
{
    const struct fit_truth many = {"1,1/n,ln(n)", {5, 100, 3, 0}, 0.05, true, false, 64, 30};
    const struct fit_truth few = {"1,1/n,ln(n)", {5, 100, 3, 0}, 0.05, true, false, 64, 6};

    (void)state;
    check_cover(&many, 870, 930);
    check_cover(&few, 870, 930);
}

static void test_coverage_auto(void **state)
{
    const struct fit_truth inside = {NULL, {2, 100, 1.5, 0}, 0.05, true, false, 10};
    const struct fit_truth beyond = {NULL, {2, 100, 1.5, 0}, 0.05, true, false, 64};
    const struct fit_truth steep = {NULL, {2, 100, 0, 0.5}, 0.05, true, false, 32};
    const struct fit_truth equal = {NULL, {2, 100, 1.5, 0}, 0.3, false, false, 32};

    (void)state;
    check_cover(&inside, 800, 1000);
    check_cover(&beyond, 800, 1000);
    check_cover(&steep, 800, 1000);
    check_cover(&equal, 800, 1000);
}

/* The selection of terms is hardest with few runs and a true time that grows steeply. */
static void test_coverage_auto_few(void **state)
{
    const struct fit_truth eight = {NULL, {20, 100, 0, 0.5}, 0.05, true, false, 32, 8};
    const struct fit_truth five = {NULL, {0, 100, 3, 0}, 0.05, true, false, 32, 5};

    (void)state;
    check_cover(&eight, 800, 1000);
    check_cover(&five, 800, 1000);
}

/* Tests a model with wrong factors, with and without its expected overheads. */
static void test_coverage_sheet(void **state)
{
    struct hm_job *job = parse_job("compute: 10 s/n\ncommunicate: 0.5 s * log2(n)\n");
    const double n[] = {1, 2, 4, 8, 12, 16}, overheads[] = {0, 0.01};
    struct hm_random random;

    (void)state;
    hm__random_init(&random, 5, 5);
    for (size_t k = 0; k < 2; k++) {
        int hit = 0;
        for (int i = 0; i < 300; i++) {
            double a = 0.7 + 0.8 * hm__random_uniform(&random);
            double b = 0.7 + 0.8 * hm__random_uniform(&random), target = 64;
            struct hm_fit_settings settings = {.job = job, .seed = i};
            struct hm_prediction p;
            char text[1024] = "n,seconds\n";
            for (size_t j = 0; j < 6; j++) {
                double mean = 10 * a / n[j] + 0.5 * b * log2(n[j]) + 10 * overheads[k] * log(n[j]);
                size_t used = strlen(text);
                snprintf(text + used, sizeof(text) - used, "%g,%.17g\n", n[j],
                         mean * (1 + 0.05 * hm__random_normal(&random)));
            }
            struct hm_runs *runs = parse_runs(text);
            struct hm_fit *fit = fit_runs(runs, &settings);
            assert_int_equal(hm_fit_predict(fit, NULL, 0, &target, 1, &p, NULL), 0);
            double truth = 10 * a / 64 + 0.5 * b * 6 + 10 * overheads[k] * log(64);
            hit += p.mean_low <= truth && truth <= p.mean_high;
            hm_fit_free(fit);
            hm_runs_free(runs);
        }
        print_message("# sheet with overhead %g: %d of 300 means\n", overheads[k], hit);
        assert_true(hit >= 240);
    }
    hm_job_free(job);
}

/* If a given term has no effect, the interval must not lie above the truth. */
static void test_coverage_idle_term(void **state)
{
    const struct fit_truth idle = {"1,size/n,ln(n),n", {5, 100, 3, 0}, 0.05, true, false, 32};

    (void)state;
    check_cover(&idle, 800, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coverage_given),     cmocka_unit_test(test_coverage_auto),
        cmocka_unit_test(test_coverage_idle_term), cmocka_unit_test(test_coverage_weak_terms),
        cmocka_unit_test(test_coverage_auto_few),  cmocka_unit_test(test_coverage_sheet),
    };
    return cmocka_run_group_tests_name("fit_cover", tests, NULL, NULL);
}
