/* Compares the processes and threads that a plan chooses with plans in which each choice is written
 * out. */
#include "testing.h"

#define NETWORK "network: lenet-5\nbatch: 4096\n"

static struct hm_answer *plan(const char *text)
{
    struct hm_job *job = parse_job(text);
    const struct hm_question q = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    if (hm_plan(job, NULL, 0, NULL, 0, &q, &answer, &err))
        fail_msg("%s: %s", err.field, err.message);
    hm_job_free(job);
    return answer;
}

/* Writes a machine of 12 cores, 120 GB/s and 48 GB that is divided among p processes. */
static void cluster_text(char *text, size_t room, double p)
{
    snprintf(text, room,
             NETWORK "cluster: {flops: %.17g Gflop/s, cores: %g, threads: %g, accelerators: %g, "
                     "memory_bandwidth: %.17g GB/s, memory: %.17g GB, cache: %.17g MB, price: "
                     "$1/h, max_nodes: 5, link: {bandwidth: %.17g GB/s, latency: 1 us}, fabric: "
                     "{bandwidth: 10 Gbit/s, latency: 20 us}}\n",
             600 / p, 12 / p, 12 / p, p, 120 / p, 48 / p, 30 / p, 60 / p);
}

static void test_choices(void **state)
{
    static const double choices[] = {1, 2, 3, 4, 6, 12};
    char text[1024];
    double best = INFINITY, processes = 0;

    (void)state;
    struct hm_answer *chosen = plan(
        NETWORK "cluster: {flops: 600 Gflop/s, cores: 12, threads: auto, memory_bandwidth: 120 "
                "GB/s, memory: 48 GB, cache: 30 MB, price: $1/h, max_nodes: 5, fabric: "
                "{bandwidth: 10 Gbit/s, latency: 20 us}}\n");
    assert_int_equal(chosen->rank_count, 6);
    for (size_t i = 0; i < 6; i++) {
        cluster_text(text, sizeof(text), choices[i]);
        struct hm_answer *written = plan(text);
        double total_s = written->points[written->best].total_s;
        bool found = false;
        char words[64];
        snprintf(words, sizeof(words), ", %g x %g threads", choices[i], 12 / choices[i]);
        for (size_t k = 0; k < chosen->rank_count; k++) {
            if (!strstr(chosen->ranking[k].machine, words))
                continue;
            assert_near(chosen->ranking[k].total_s, written->points[written->recommended].total_s,
                        1e-12);
            found = true;
        }
        assert_true(found);
        if (total_s < best) {
            best = total_s;
            processes = choices[i];
        }
        hm_answer_free(written);
    }
    assert_near(chosen->processes, processes, 0);
    assert_near(chosen->threads, 12 / processes, 0);
    assert_near(chosen->points[chosen->best].total_s, best, 1e-12);
    assert_false(chosen->gpus);
    bool noted = false;
    for (size_t i = 0; i < chosen->note_count; i++)
        noted = noted || strstr(chosen->notes[i], " on a machine");
    assert_true(noted);
    hm_answer_free(chosen);
}

/* If the number of cores has no effect, `auto` changes nothing and a note says so. */
static void test_formulas(void **state)
{
    struct hm_answer *answer =
        plan("compute: 10/n\ncommunicate: 0.1*n\ncluster: {cores: 8, threads: auto}\n");
    bool noted = false;

    (void)state;
    assert_true(isnan(answer->processes));
    assert_near(answer->points[9].compute_s, 1, 0);
    for (size_t i = 0; i < answer->note_count; i++)
        noted = noted || strstr(answer->notes[i], "threads: auto applies to");
    assert_true(noted);
    hm_answer_free(answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices),
                                       cmocka_unit_test(test_formulas)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
