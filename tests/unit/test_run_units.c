/* Tests units of the times of runs: the meaning of `batch`, rates in place of seconds, and runs of
 * weak scaling. The same curve must give the same prediction in every notation. */
#include "howmany_fit.h"
#include "random.h"
#include "testing.h"

static const char weak_job[] = "network: resnet-50\nbatch: 64\nscaling: weak\n"
                               "cluster: {machine: p3.2xlarge, fabric: 25gbe}\n";

static struct hm_runs *parse_runs(const char *text)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    if (hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err))
        fail_msg("%s: %s", text, err.message);
    return runs;
}

/* Predicts the time on n workers from a table, with or without a job. */
static struct hm_prediction predict(const char *text, const struct hm_job *job, double n)
{
    const struct hm_fit_settings settings = {.job = job};
    struct hm_runs *runs = parse_runs(text);
    struct hm_fit *fit = NULL;
    struct hm_prediction p = {0};
    struct hm_err err = {0};

    if (hm_fit_new(runs, &settings, &fit, &err) || hm_fit_predict(fit, NULL, 0, &n, 1, &p, &err))
        fail_msg("%s: %s", text, err.message);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return p;
}

/* Tests runs in which each worker has 64 samples, with and without the batch and the job. */
static void weak_runs_have_one_answer(void **state)
{
    static const char *const tables[] = {
        "n,batch,seconds\n1,64,.16\n2,128,.164\n4,256,.171\n",
        "n,seconds\n1,.16\n2,.164\n4,.171\n",
        "n,batch_per_worker,seconds\n1,64,.16\n2,64,.164\n4,64,.171\n",
        "n,scaling,seconds\n1,weak,.16\n2,weak,.164\n4,weak,.171\n",
    };
    struct hm_job *job = parse_job(weak_job);
    struct hm_prediction p[8];

    (void)state;
    for (size_t i = 0; i < 8; i++)
        p[i] = predict(tables[i % 4], i < 4 ? NULL : job, 16);
    for (size_t i = 0; i < 8; i++) {
        assert_true(p[i].time_s > 0.17 && p[i].time_s < 0.2);
        for (size_t k = 0; k < 8; k++)
            assert_true(p[i].low_s <= p[k].time_s && p[k].time_s <= p[i].high_s);
    }
    hm_job_free(job);
}

/* If the batch of the runs differs from that of the job, the work of each worker changes, but not
 * the scaling. */
static void batch_counts_all_workers(void **state)
{
    struct hm_job *job = parse_job("network: resnet-50\nbatch: 32\nscaling: weak\n"
                                   "cluster: {machine: p3.2xlarge, fabric: 25gbe}\n");
    double n = 4, times[2];

    (void)state;
    /* Every worker has twice the batch of the job, so computing takes twice the time that the
     * specification sheet predicts. */
    times[0] = predict("n,batch,seconds\n1,64,.2\n2,128,.2\n4,256,.2\n", job, n).time_s;
    times[1] = predict("n,batch,seconds\n1,32,.1\n2,64,.1\n4,128,.1\n", job, n).time_s;
    assert_near(times[0], times[1], 0.2);
    hm_job_free(job);
}

/* The curve of one job is given in five notations; the predictions must agree after conversion. */
static void notations_agree(void **state)
{
    static const double n[] = {1, 2, 4, 8, 16}, seconds[] = {.1, .104, .111, .125, .131};
    static const char *const heads[] = {
        "n,batch,seconds",
        "n,batch_per_worker,samples_per_s",
        "n,batch,images/s",
        "n,batch_per_worker,images/s/gpu",
        "n,batch,seconds_per_sample",
        "n,batch,throughput (samples/sec)",
        "n,batch_per_worker,it/s",
        "n,batch_per_worker,sequence,tokens_per_s",
        "n,batch,ms/step",
    };
    double first = NAN;

    (void)state;
    for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++) {
        char text[2048];
        size_t used = (size_t)snprintf(text, sizeof(text), "%s\n", heads[h]);
        for (size_t i = 0; i < 5; i++) {
            double all = 32 * n[i], rate = all / seconds[i];
            const char *each = strstr(heads[h], "batch_per_worker");
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%g,%g,%s%.17g\n", n[i],
                                     each ? 32 : all, h == 7 ? "512," : "",
                                     h == 0   ? seconds[i]
                                     : h == 3 ? rate / n[i]
                                     : h == 4 ? 1 / rate
                                     : h == 6 ? 1 / seconds[i]
                                     : h == 7 ? 512 * rate
                                     : h == 8 ? 1e3 * seconds[i]
                                              : rate);
        }
        struct hm_prediction p = predict(text, NULL, 128);
        if (h == 0)
            first = p.time_s;
        assert_near(p.time_s, first, 1e-9);
    }
    assert_true(first > 0.13 && first < 0.2);
}

/* Without the batch, the time of a sample is the time of an iteration divided by its samples. */
static void weak_samples_agree_with_iterations(void **state)
{
    double step =
        predict("n,scaling,seconds\n1,weak,.1\n2,weak,.104\n4,weak,.111\n8,weak,.125\n", NULL, 64)
            .time_s;
    struct hm_prediction sample =
        predict("n,scaling,seconds_per_sample\n1,weak,.1\n2,weak,.052\n4,weak,.02775\n"
                "8,weak,.015625\n",
                NULL, 64);
    struct hm_prediction epoch =
        predict("n,scaling,epoch time (min)\n1,weak,100\n2,weak,52\n4,weak,27.75\n"
                "8,weak,15.625\n",
                NULL, 64);
    struct hm_prediction speedup =
        predict("n,scaling,speedup\n1,weak,1\n2,weak,1.9230769230769231\n"
                "4,weak,3.6036036036036037\n8,weak,6.4\n",
                NULL, 64);

    (void)state;
    assert_near(sample.time_s * 64, step, 1e-9);
    assert_near(epoch.time_s * 64 / 60000, step, 1e-9);
    assert_near(speedup.time_s * 64 / 10, step, 1e-9);
    assert_near(sample.speedup, 64 * .1 / step, 0.02);
}

/* Checks that a curve given as seconds of a step, of a sample or of an epoch, as a rate and as a
 * speedup has the same prediction and the same interval, whether a batch or the column scaling says
 * how the work grows. */
static void assert_notations(const char *const *texts, const double *factors, size_t count)
{
    struct hm_prediction first = predict(texts[0], NULL, 64);

    for (size_t i = 1; i < count; i++) {
        struct hm_prediction p = predict(texts[i], NULL, 64);
        assert_near(p.time_s * factors[i], first.time_s, 1e-9);
        assert_near(p.low_s * factors[i], first.low_s, 1e-9);
        assert_near(p.high_s * factors[i], first.high_s, 1e-9);
    }
}

static void stated_scaling_is_enough(void **state)
{
    static const char *const weak[] = {
        "n,batch_per_worker,seconds\n1,64,.16\n2,64,.164\n4,64,.171\n8,64,.18\n16,64,.19\n",
        "n,scaling,seconds\n1,weak,.16\n2,weak,.164\n4,weak,.171\n8,weak,.18\n16,weak,.19\n",
        "n,scaling,seconds_per_sample\n1,weak,.0025\n2,weak,.00128125\n4,weak,.00066796875\n"
        "8,weak,.0003515625\n16,weak,.000185546875\n",
        "n,scaling,images/s/gpu\n1,weak,400\n2,weak,390.24390243902439\n4,weak,374.26900584795322\n"
        "8,weak,355.55555555555554\n16,weak,336.84210526315792\n",
        "n,scaling,epoch time\n1,weak,160\n2,weak,82\n4,weak,42.75\n8,weak,22.5\n16,weak,11.875\n",
    };
    static const char *const strong[] = {
        "n,batch,seconds\n1,640,1.6\n2,640,.82\n4,640,.43\n8,640,.24\n16,640,.15\n",
        "n,seconds\n1,1.6\n2,.82\n4,.43\n8,.24\n16,.15\n",
        "n,scaling,seconds_per_sample\n1,strong,.0025\n2,strong,.00128125\n4,strong,.000671875\n"
        "8,strong,.000375\n16,strong,.000234375\n",
        "n,scaling,samples_per_s\n1,strong,400\n2,strong,780.48780487804878\n"
        "4,strong,1488.3720930232558\n8,strong,2666.6666666666667\n16,strong,4266.6666666666667\n",
        "n,scaling,speedup\n1,strong,1\n2,strong,1.9512195121951219\n4,strong,3.7209302325581395\n"
        "8,strong,6.6666666666666667\n16,strong,10.666666666666667\n",
    };
    const double per_step[] = {1, 1, 64 * 64, 64 * 64, 64 * 64 / 64e3};
    const double of_batch[] = {1, 1, 640, 640, 1.6};
    struct hm_fit *fit = NULL;

    (void)state;
    assert_notations(weak, per_step, 5);
    assert_notations(strong, of_batch, 5);
    struct hm_runs *runs = parse_runs(strong[2]);
    assert_int_equal(hm_fit_new(runs, NULL, &fit, NULL), 0);
    for (size_t i = 0; i < fit->note_count; i++)
        assert_null(strstr(fit->notes[i], "batch_per_worker"));
    hm_fit_free(fit);
    hm_runs_free(runs);
}

/* If all runs are inside one node, a note must say so, and the interval beyond the node must be
 * wider than without the column. */
static void crossing_nodes_widens_the_interval(void **state)
{
    struct hm_prediction inside =
        predict("n,workers_per_node,batch_per_worker,seconds\n1,8,64,.16\n"
                "2,8,64,.164\n4,8,64,.171\n8,8,64,.18\n",
                NULL, 64);
    struct hm_prediction unknown =
        predict("n,batch_per_worker,seconds\n1,64,.16\n2,64,.164\n4,64,.171\n8,64,.18\n", NULL, 64);

    (void)state;
    assert_near(inside.time_s, unknown.time_s, 1e-9);
    assert_true(inside.high_s / inside.low_s > 1.2 * unknown.high_s / unknown.low_s);
}

/* Without batch and scaling, a note asks for them. */
static void unknown_scaling_is_asked_for(void **state)
{
    struct hm_runs *runs = parse_runs("n,images/s/gpu\n1,400\n2,390\n4,374\n8,370\n");
    struct hm_fit *fit = NULL;
    bool asked = false;

    (void)state;
    assert_string_equal(runs->unit, "sample");
    assert_near(hm_runs_column(runs, "seconds")->values[2], 1.0 / (4 * 374), 1e-12);
    assert_int_equal(hm_fit_new(runs, NULL, &fit, NULL), 0);
    assert_string_equal(fit->unit, "sample");
    for (size_t i = 0; i < fit->note_count; i++)
        asked = asked || strstr(fit->notes[i], "batch_per_worker");
    assert_true(asked);
    hm_fit_free(fit);
    hm_runs_free(runs);
}

/*
 * With a job, the rate of samples is converted with the job's batch. The prediction is a mean of
 * draws, which depend on rounding if two parts of the model are proportional.
 */
static void rates_meet_a_job(void **state)
{
    struct hm_job *job = parse_job(weak_job);
    double rate =
        predict("n,images/s\n1,400\n2,780.48780487804876\n4,1497.076023391813\n", job, 16).time_s;
    double seconds = predict("n,seconds\n1,.16\n2,.164\n4,.171\n", job, 16).time_s;

    (void)state;
    assert_near(rate, seconds, 1e-3);
    hm_job_free(job);
}

static void expect_refusal(const char *text, int code, const char *says, const char *field)
{
    struct hm_runs *runs = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err), code);
    if (!strstr(err.message, says) || strcmp(err.field, field) != 0)
        fail_msg("%s: %s (%s)", text, err.message, err.field);
}

static void contradictions_are_refused(void **state)
{
    (void)state;
    expect_refusal("n,batch,batch_per_worker,seconds\n2,64,64,1\n", HM_E_CONFLICT,
                   "not n times the batch_per_worker", "batch");
    expect_refusal("n,scaling,seconds\n1,weak,1\n2,strong,1\n", HM_E_CONFLICT,
                   "1 of 2 runs have weak scaling", "scaling");
    expect_refusal("n,scaling,seconds\n1,medium,1\n", HM_E_NAME, "weak", "scaling");
    expect_refusal("n,seconds,images/s\n1,1,\n2,,50\n", HM_E_MISSING, "that of an iteration",
                   "batch");
    expect_refusal("n,images/s\n1,-4\n", HM_E_RANGE, "more than 0", "samples_per_s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weak_runs_have_one_answer),
        cmocka_unit_test(batch_counts_all_workers),
        cmocka_unit_test(notations_agree),
        cmocka_unit_test(weak_samples_agree_with_iterations),
        cmocka_unit_test(stated_scaling_is_enough),
        cmocka_unit_test(crossing_nodes_widens_the_interval),
        cmocka_unit_test(unknown_scaling_is_asked_for),
        cmocka_unit_test(rates_meet_a_job),
        cmocka_unit_test(contradictions_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
