/*
 * Tests what a recommendation says: reasons, notes, hints, weights and the next run. The tables are
 * small enough that every figure can be computed by hand.
 */
#include "runs_testing.h"

static struct hm_recommendation *recommend(const char *table, const struct hm_recommend_question *q)
{
    struct hm_runs *runs = parse_runs(table);
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    if (hm_recommend(runs, q, &r, &err))
        fail_msg("%s (%s)", err.message, err.hint);
    hm_runs_free(runs);
    return r;
}

static const char *find_note(const struct hm_recommendation *r, const char *text)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i], text))
            return r->notes[i];
    return NULL;
}

static void has_text(const char *text, const char *piece)
{
    if (!text || !strstr(text, piece))
        fail_msg("'%s' is not in '%s'", piece, text ? text : "");
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The time is 10/n + 100 latency, with latencies from 1 to 20 ms. */
static const char latencies[] = "n,latency,seconds\n1,1 ms,10.1\n1,10 ms,11\n1,20 ms,12\n"
                                "2,1 ms,5.1\n2,10 ms,6\n2,20 ms,7\n"
                                "4,1 ms,2.6\n4,10 ms,3.5\n4,20 ms,4.5\n";

static void places_are_written_with_units(void **state)
{
    static const struct {
        double latency;
        const char *text;
        bool outside;
    } rows[] = {{0.005, "no run has latency 5 ms: a fit of 9 runs", false},
                {0.0005, "no run has latency 500 us: a fit of 9 runs", true},
                {0.03, "no run has latency 30 ms: a fit of 9 runs", true},
                {1, "no run has latency 1 s: a fit of 9 runs", true},
                {2, "no run has latency 2 s: a fit of 9 runs", true}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct hm_at at = {"latency", rows[i].latency};
        const struct hm_recommend_question q = {.at = &at, .at_count = 1};
        struct hm_recommendation *r = recommend(latencies, &q);
        assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
        has_text(r->reason, rows[i].text);
        assert_int_equal(find_note(r, "is outside the runs") != NULL, rows[i].outside);
        if (rows[i].outside)
            assert_non_null(find_note(r, rows[i].latency < 0.01
                                             ? "latency 500 us is outside the runs, which end at "
                                               "latency 1 ms"
                                             : "is outside the runs, which end at latency 20 ms"));
        assert_near(r->candidates[0].n, 4, 0);
        assert_near(r->candidates[0].time_s, 2.5 + 100 * rows[i].latency, 1e-6);
        assert_int_equal(r->row_count, 9);
        hm_recommendation_free(r);
    }
}

static void bandwidths_are_written_in_mbit(void **state)
{
    static const char table[] = "n,bandwidth,seconds\n1,1 MB/s,10\n1,2 MB/s,9\n1,4 MB/s,8.5\n"
                                "2,1 MB/s,7\n2,2 MB/s,6\n2,4 MB/s,5.5\n";
    const struct hm_at at = {"bandwidth", 1.25e6};
    const struct hm_recommend_question q = {.at = &at, .at_count = 1};
    struct hm_recommendation *r = recommend(table, &q);

    (void)state;
    has_text(r->reason, "no run has bandwidth 10 Mbit/s: a fit of 6 runs");
    /* The time is 5 + 2 / bandwidth, with the bandwidth in MB/s. */
    assert_near(r->candidates[0].time_s, 5 + 2 / 1.25, 1e-6);
    hm_recommendation_free(r);
}

/* A quantity that varies in the runs must be given; the hint shows its largest value. */
static void hints_show_how_to_ask(void **state)
{
    static const struct {
        const char *table, *hint;
    } rows[] = {
        {latencies, "give it, as in latency 20ms"},
        {"n,batch,seconds\n1,64,9\n2,128,9\n", "give it, as in batch 128"},
        {"n,bandwidth,seconds\n1,1 MB/s,9\n2,2 MB/s,9\n", "give it, as in at bandwidth=16Mbit/s"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct hm_recommend_question q = {0};
        struct hm_runs *runs = parse_runs(rows[i].table);
        struct hm_recommendation *r = NULL;
        struct hm_err err = {0};
        assert_int_equal(hm_recommend(runs, &q, &r, &err), HM_E_MISSING);
        assert_string_equal(err.hint, rows[i].hint);
        assert_string_equal(err.source, "runs.csv");
        hm_runs_free(runs);
    }
}

/* A row that differs in another column must not be used; here the row with x = 1 took a hundred
 * times as long. */
static void other_quantities_must_agree(void **state)
{
    static const char table[] = "n,x,batch,seconds\n1,1,64,999\n1,2,64,10\n2,2,64,5\n4,2,64,2.5\n"
                                "1,2,128,20\n2,2,128,10\n4,2,128,5\n";
    const struct hm_at at[] = {{"x", 2}, {"batch", 256}};
    const struct hm_recommend_question q = {.at = at, .at_count = 2};
    struct hm_recommendation *r = recommend(table, &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
    for (size_t i = 0; i < r->candidate_count; i++)
        assert_near(r->candidates[i].time_s, 40 / r->candidates[i].n, 1e-6);
    hm_recommendation_free(r);
}

/* ---- weights --------------------------------------------------------------------------------- */

static const char priced[] = "n,seconds,cost\n1,10,1\n2,6,2\n4,4,3\n";

static void weights_are_noted(void **state)
{
    static const struct {
        double alpha, beta;
        const char *text;
        bool chosen;
    } rows[] = {{0, 0, "balance: 0.25 a second, 1 a dollar", true},
                {0.5, 0, "balance: 0.5 a second, 1 a dollar", false},
                {0, 0.5, "balance: 0.25 a second, 0.5 a dollar", false},
                {3, 2, "balance: 3 a second, 2 a dollar", false}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const struct hm_recommend_question q = {
            .goal = HM_GOAL_BALANCE, .alpha = rows[i].alpha, .beta = rows[i].beta};
        struct hm_recommendation *r = recommend(priced, &q);
        const char *note = find_note(r, rows[i].text);
        assert_non_null(note);
        assert_int_equal(strstr(note, "equal weight") != NULL, rows[i].chosen);
        assert_null(find_note(r, "no price is known"));
        hm_recommendation_free(r);
    }
    const struct hm_recommend_question q = {.goal = HM_GOAL_BALANCE};
    struct hm_recommendation *r = recommend("n,seconds\n1,10\n2,6\n4,4\n", &q);
    assert_non_null(find_note(r, "balance: 0.25 a second, 0.1 a worker-second, so that"));
    assert_non_null(find_note(r, "no price is known"));
    hm_recommendation_free(r);
}

/* If one candidate has a cost, the price of a worker is known. */
static void one_cost_is_a_price(void **state)
{
    const struct hm_recommend_question q = {.goal = HM_GOAL_BALANCE};
    struct hm_recommendation *r = recommend("n,seconds,cost\n2,4,5\n", &q);

    (void)state;
    assert_non_null(find_note(r, "balance: 0.25 a second, 0.2 a dollar"));
    assert_near(r->candidates[0].value, 2, 1e-12);
    hm_recommendation_free(r);
}

static void limits_that_are_missed_are_named(void **state)
{
    static const struct {
        double deadline, budget;
        const char *missed;
    } rows[] = {{4, 3, NULL},       {3.9, 0, "deadline"}, {3.9, 5, "deadline"},
                {0, 0.9, "budget"}, {9, 0.9, "budget"},   {5, 2, "deadline and budget"},
                {6, 2, NULL}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct hm_recommend_question q = {
            .deadline_s = rows[i].deadline, .budget = rows[i].budget, .certainty = 0.5};
        struct hm_recommendation *r = recommend(priced, &q);
        assert_int_equal(r->best, rows[i].missed ? HM_NONE : 0);
        if (rows[i].missed)
            assert_string_equal(r->missed, rows[i].missed);
        else
            assert_null(r->missed);
        hm_recommendation_free(r);
    }
}

/* ---- the next run ---------------------------------------------------------------------------- */

/* n = 4 has no run with a batch of 64. In the table `partly`, its other runs correspond to 3.5 s
 * for 64 samples, which is the best; in `scattered`, they correspond to 6.25 to 7 s with a mean
 * of 6.6 s, compared with 6 s on 2 workers. */
static const char partly[] = "n,batch,seconds\n1,64,10\n2,64,6\n1,128,20\n2,128,12\n4,128,7\n"
                             "1,32,5\n2,32,3\n4,32,1.75\n4,256,14\n4,512,28\n";
static const char scattered[] = "n,batch,seconds\n1,64,10\n2,64,6\n1,128,20\n2,128,12\n4,128,14\n"
                                "1,32,5\n2,32,3\n4,32,3.2\n4,256,25\n4,512,54\n";

static void the_next_run_may_be_better(void **state)
{
    const struct hm_at at = {"batch", 64};
    struct hm_recommend_question q = {.at = &at, .at_count = 1};
    struct hm_recommendation *r = recommend(scattered, &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_ROWS);
    assert_near(r->candidates[0].n, 2, 0);
    assert_near(r->candidates[0].time_s, 6, 0);
    assert_near(r->candidates[1].n, 4, 0);
    assert_near(r->candidates[1].time_s, 6.6, 0.1);
    assert_true(r->candidates[1].low_s < 6);
    assert_int_equal(r->next_count, 2);
    assert_string_equal(r->next[0].name, "n");
    assert_near(r->next[0].value, 4, 0);
    assert_string_equal(r->next[1].name, "batch");
    assert_near(r->next[1].value, 64, 0);
    has_text(r->next_why, "a fit of the runs gives it 6.");
    hm_recommendation_free(r);
    /* A fit without errors is certain, and no run would help. */
    r = recommend(partly, &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_FIT);
    assert_near(r->candidates[0].n, 4, 0);
    assert_near(r->candidates[0].time_s, 3.5, 1e-3);
    assert_int_equal(r->next_count, 0);
    hm_recommendation_free(r);
    /* A worker costs 1 per second, so 1, 2 and 4 workers cost 10, 12 and 14. */
    q.goal = HM_GOAL_COST;
    q.price_per_s = 1;
    r = recommend(partly, &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_ROWS);
    assert_near(r->candidates[0].n, 1, 0);
    assert_int_equal(r->next_count, 0);
    hm_recommendation_free(r);
}

static void the_next_run_shows_how_time_depends_on_n(void **state)
{
    const struct hm_at at = {"batch", 100};
    struct hm_recommend_question q = {.at = &at, .at_count = 1};
    struct hm_recommendation *r = recommend("n,batch,seconds\n3,64,10\n3,64,10.1\n", &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_NONE);
    assert_near(r->next[0].value, 6, 0);
    assert_string_equal(r->next_why, "no run shows yet how the time depends on n");
    has_text(r->reason, "no run has batch 100, and the others are not sufficient");
    hm_recommendation_free(r);
    r = recommend("n,batch,seconds\n1,64,10\n2,64,7\n4,64,8\n", &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_NONE);
    assert_near(r->next[0].value, 2, 0);
    assert_string_equal(r->next_why, "it was the fastest so far");
    hm_recommendation_free(r);
}

/* The model predicts 8 s / n, and a run is proposed to check it. */
static void the_model_is_checked_next(void **state)
{
    struct hm_job *job = parse_job("batch: 64\ncompute: 8 s / n\ncommunicate: none\n"
                                   "cluster: {max_nodes: 4, price: $3600/h}\n");
    const struct hm_at at = {"batch", 64};
    const struct hm_recommend_question q = {.at = &at, .at_count = 1, .job = job};
    struct hm_recommendation *r = recommend("n,batch,seconds\n3,128,10\n", &q);

    (void)state;
    assert_int_equal(r->provenance, HM_RECOMMEND_MODEL);
    assert_near(r->candidates[0].n, 4, 0);
    assert_near(r->candidates[0].time_s, 2, 1e-12);
    assert_near(r->candidates[0].cost, 8, 1e-12);
    assert_near(r->next[0].value, 4, 0);
    assert_string_equal(r->next_why, "it would check the model");
    hm_recommendation_free(r);
    hm_job_free(job);
}

/* With 1 or 2 workers, the model needs more than 400 MB for each. A candidate that does not fit is
 * marked as failed; the model is also used if there is a single candidate. */
static void candidates_that_do_not_fit_are_marked(void **state)
{
    struct hm_job *job = parse_job("compute: 8 s / n\ncommunicate: none\nmemory: 1 GB / n\n"
                                   "cluster: {max_nodes: 4, memory: 400 MB}\n");
    static const double all[] = {1, 2, 3, 4};
    struct hm_recommend_question q = {.job = job, .n = all, .n_count = 4};
    struct hm_recommendation *r = NULL;
    struct hm_err err = {0};

    (void)state;
    if (hm_recommend(NULL, &q, &r, &err))
        fail_msg("%s", err.message);
    assert_int_equal(r->candidate_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct hm_recommended *c = &r->candidates[i];
        assert_int_equal(c->failed, c->n <= 2);
        assert_int_equal(isnan(c->time_s), c->n <= 2);
        assert_int_equal(c->why != NULL, c->n <= 2);
    }
    hm_recommendation_free(r);
    const double largest[] = {4};
    q.n = largest;
    q.n_count = 1;
    assert_int_equal(hm_recommend(NULL, &q, &r, &err), 0);
    assert_int_equal(r->candidate_count, 1);
    assert_int_equal(r->provenance, HM_RECOMMEND_MODEL);
    has_text(r->reason, "without a run");
    hm_recommendation_free(r);
    hm_job_free(job);
}

/* If a model is used instead of runs, at other values of its quantities, it must equal the model of
 * a job with these values. */
static void models_take_their_place(void **state)
{
    static const char text[] = "batch: %d\ncompute: 8 s / n * %g\n"
                               "communicate: {bytes: 4 MB, scheme: ring}\ncluster: {max_nodes: 3, "
                               "fabric: {bandwidth: %g MB/s, latency: %g ms}}\n";
    static const struct {
        struct hm_at at;
        int batch;
        double size, bandwidth, latency;
    } rows[] = {{{"size", 3}, 64, 3, 10, 2},
                {{"latency", 0.005}, 64, 1, 10, 5},
                {{"bandwidth", 4e6}, 64, 1, 4, 2},
                {{"batch", 128}, 128, 2, 10, 2}};
    char table[100];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char own[400], changed[400];
        snprintf(own, sizeof(own), text, 64, 1., 10., 2.);
        snprintf(changed, sizeof(changed), text, rows[i].batch, rows[i].size, rows[i].bandwidth,
                 rows[i].latency);
        snprintf(table, sizeof(table), "n,%s,seconds\n2,77,10\n", rows[i].at.name);
        struct hm_job *job = parse_job(own), *other = parse_job(changed);
        const struct hm_recommend_question q = {.at = &rows[i].at, .at_count = 1, .job = job};
        const struct hm_question plain = HM_QUESTION_INIT;
        struct hm_recommendation *r = recommend(table, &q);
        struct hm_answer *answer = ask(other, &plain);
        assert_int_equal(r->provenance, HM_RECOMMEND_MODEL);
        assert_int_equal(r->candidate_count, 3);
        for (size_t k = 0; k < 3; k++) {
            const struct hm_recommended *c = &r->candidates[k];
            assert_near(c->time_s, answer->points[(size_t)c->n - 1].time_s, 1e-9);
        }
        assert_null(find_note(r, "is ignored"));
        hm_answer_free(answer);
        hm_recommendation_free(r);
        hm_job_free(job);
        hm_job_free(other);
    }
    struct hm_job *job =
        parse_job("compute: 8 s / n\ncommunicate: none\ncluster: {max_nodes: 3}\n");
    const struct hm_at at = {"bandwidth", 1e6};
    const struct hm_recommend_question q = {.at = &at, .at_count = 1, .job = job};
    struct hm_recommendation *r = recommend("n,bandwidth,seconds\n2,77,10\n", &q);
    assert_non_null(
        find_note(r, "the job's model has no bandwidth: bandwidth 8 Mbit/s is ignored"));
    hm_recommendation_free(r);
    hm_job_free(job);
}

/* The first row alone has the smallest latency: values above it are inside the runs. */
static void the_first_row_counts_for_the_range(void **state)
{
    static const struct {
        double latency;
        bool outside;
    } rows[] = {{0.002, false}, {0.0005, true}, {0.015, false}, {0.03, true}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct hm_at at = {"latency", rows[i].latency};
        const struct hm_recommend_question q = {.at = &at, .at_count = 1};
        struct hm_recommendation *r =
            recommend("n,latency,seconds\n1,1 ms,10.1\n1,10 ms,11\n1,20 ms,12\n2,5 ms,5.5\n"
                      "2,10 ms,6\n2,20 ms,7\n4,5 ms,3\n4,10 ms,3.5\n4,20 ms,4.5\n",
                      &q);
        assert_int_equal(find_note(r, "is outside the runs") != NULL, rows[i].outside);
        hm_recommendation_free(r);
    }
}

/* Values that differ only by rounding count as one value also where the answer gives the reason. */
static void values_that_differ_by_rounding_are_one(void **state)
{
    const struct hm_at at = {"size", 2};
    const struct hm_recommend_question q = {.at = &at, .at_count = 1};

    (void)state;
    struct hm_recommendation *r =
        recommend("n,size,seconds\n1,1,10\n1,1.0000000003,11\n2,1,5\n2,1.0000000003,6\n", &q);
    assert_int_equal(r->provenance, HM_RECOMMEND_NONE);
    assert_string_equal(r->reason,
                        "no run has size 2, and the others are not sufficient: all runs have "
                        "size 1 only");
    hm_recommendation_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_differ_by_rounding_are_one),
        cmocka_unit_test(places_are_written_with_units),
        cmocka_unit_test(bandwidths_are_written_in_mbit),
        cmocka_unit_test(hints_show_how_to_ask),
        cmocka_unit_test(other_quantities_must_agree),
        cmocka_unit_test(weights_are_noted),
        cmocka_unit_test(one_cost_is_a_price),
        cmocka_unit_test(limits_that_are_missed_are_named),
        cmocka_unit_test(the_next_run_may_be_better),
        cmocka_unit_test(the_next_run_shows_how_time_depends_on_n),
        cmocka_unit_test(the_model_is_checked_next),
        cmocka_unit_test(the_first_row_counts_for_the_range),
        cmocka_unit_test(candidates_that_do_not_fit_are_marked),
        cmocka_unit_test(models_take_their_place),
    };
    return cmocka_run_group_tests_name("edges_recommend", tests, NULL, NULL);
}
