/*
 * Tests boundaries of requests about transformers: notes about machines and assumed values, the
 * machine that is written as a platform, and measured runs with a layout.
 */
#include "request_testing.h"

static struct hm_request *plan_of(const char *network, const char *machines)
{
    struct hm_request *request = new_request("plan");

    set(request, "job", network);
    set(request, "on", machines);
    return request;
}

/* Checks that the text of the answer does not contain `text`; frees the request. */
static void does_not_say(struct hm_request *request, const char *text)
{
    struct hm_reply *reply = run(request, NULL);

    if (strstr(reply->text, text))
        fail_msg("'%s' is in: %s", text, reply->text);
    hm_reply_free(reply);
}

/* Only the first machine's note is shown, and only if the machine is an accelerator. */
static void notes_name_assumed_nodes(void **state)
{
    static const char assumed[] = "h100-sxm is an accelerator: nodes of 8 are assumed, as in "
                                  "dgx-h100 (with a price: p5.48xlarge)";
    struct hm_request *request = plan_of("llama-3-8b", "h100-sxm");

    (void)state;
    set(request, "n", "8");
    gives(request, NULL, {"notes", 2, NULL},
          {"notes.0",
           .text = "assumed as usual for llama-3-8b: sequence 8192, batch 4M tokens; h100-sxm "
                   "is an accelerator: nodes of 8 are assumed, as in dgx-h100 (with a "
                   "price: p5.48xlarge)"});
    request = plan_of("llama-3-8b", "dgx-h100");
    set(request, "n", "8");
    does_not_say(request, "is an accelerator");
    request = plan_of("llama-3-8b", "dgx-h100,h100-sxm");
    set(request, "n", "8");
    does_not_say(request, assumed);
}

/* A value is assumed unless its own key is set; other keys of the same length do not count. */
static void other_keys_leave_assumptions(void **state)
{
    static const struct {
        const char *set, *note;
    } rows[] = {
        {"software=eager", "assumed as usual for llama-3-8b: sequence 8192, batch 4M tokens"},
        {"sequence=4096", "assumed as usual for llama-3-8b: batch 4M tokens"},
        {"batch=64", "assumed as usual for llama-3-8b: sequence 8192"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_request *request = plan_of("llama-3-8b", "dgx-h100");
        set(request, "n", "8");
        set(request, "set", rows[i].set);
        gives(request, NULL, {"notes.0", .text = rows[i].note});
    }
}

/* The platform is that of the recommended machine, whatever its place in the list. */
static void the_best_machine_becomes_a_platform(void **state)
{
    static const char *const machines[] = {"dgx-h100,dgx-a100", "dgx-a100,dgx-h100"};
    struct hm_request *request = plan_of("llama-3-8b", "dgx-h100");

    (void)state;
    set(request, "n", "8");
    set(request, "emit", "simgrid");
    struct hm_reply *alone = run(request, NULL);
    request = plan_of("llama-3-8b", "dgx-a100");
    set(request, "n", "8");
    set(request, "emit", "simgrid");
    struct hm_reply *other = run(request, NULL);
    assert_string_not_equal(alone->text, other->text);
    for (size_t i = 0; i < 2; i++) {
        request = plan_of("llama-3-8b", machines[i]);
        set(request, "n", "8");
        set(request, "emit", "simgrid");
        struct hm_reply *reply = run(request, NULL);
        assert_string_equal(reply->text, alone->text);
        hm_reply_free(reply);
    }
    hm_reply_free(alone);
    hm_reply_free(other);
}

/* ---- measured runs --------------------------------------------------------------------------- */

/* Returns a plan on 8 workers that is corrected by a run. */
static struct hm_request *corrected_plan(const char *runs)
{
    struct hm_request *request = plan_of("llama-3-8b", "dgx-h100");

    set(request, "n", "8");
    set_document(request, "runs", runs);
    return request;
}

/* Returns the predicted seconds of a step. */
static double step_seconds(struct hm_request *request)
{
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;

    set(request, "json", "true");
    struct hm_reply *reply = run(request, NULL);
    assert_int_equal(hm__json_parse(arena, reply->text, reply->length, "a.json", &root, NULL), 0);
    const struct hm_value *value = value_at(root, "best.time_s");
    if (!value)
        fail_msg("no best.time_s in %.2000s", reply->text);
    double seconds = strtod(value->text, NULL);
    hm__arena_free(arena);
    hm_reply_free(reply);
    return seconds;
}

/* A run that recomputes activations takes longer for a reason, so that the same seconds without
 * recomputing mean a slower device. */
static void runs_say_what_they_recompute(void **state)
{
    static const char table[] = "n,seconds,tensor,micro_batch,recompute\n8,60,2,1,";
    char text[200];
    double seconds[3];
    static const char *const kinds[] = {"none", "selective", "full"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof(text), "%s%s\n", table, kinds[i]);
        seconds[i] = step_seconds(corrected_plan(text));
    }
    assert_true(seconds[2] < seconds[0] * 0.99);
    assert_true(seconds[1] <= seconds[0] && seconds[2] < seconds[1]);
    snprintf(text, sizeof(text), "%ssome\n", table);
    run_fails(corrected_plan(text), NULL, HM_E_NAME, "runs",
              "row 1: recompute 'some' is not known");
    /* A column of numbers names no kind. */
    snprintf(text, sizeof(text), "%s1\n", table);
    step_seconds(corrected_plan(text));
    /* A table without the column leaves the kind open. */
    step_seconds(corrected_plan("n,seconds,tensor,micro_batch\n8,60,2,1\n"));
}

/* Seconds, samples per second and tokens per second of the same step give the same plan. */
static void rates_are_converted(void **state)
{
    /* The batch has 512 sequences of 8192 tokens. */
    double seconds = step_seconds(corrected_plan("n,seconds,tensor,micro_batch\n8,64,2,1\n"));

    (void)state;
    assert_near(step_seconds(corrected_plan("n,samples_per_s,tensor,micro_batch\n8,8,2,1\n")),
                seconds, 1e-9);
    assert_near(step_seconds(corrected_plan("n,tokens_per_s,tensor,micro_batch\n8,65536,2,1\n")),
                seconds, 1e-9);
}

/* Of several machines with the same number of workers within the slack, the best is recommended. */
static void the_best_of_equal_workers_is_recommended(void **state)
{
    static const char *const machines[] = {"dgx-h100,dgx-h200", "dgx-h200,dgx-h100"};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_request *request = plan_of("llama-3-8b", machines[i]);
        set(request, "n", "8");
        set(request, "slack", "0.5");
        gives(request, NULL, {"machine", .text = "dgx-h200"});
    }
}

/* One epoch processes the dataset once. */
static void epochs_give_tokens(void **state)
{
    for (int epochs = 1; epochs <= 2; epochs++) {
        char job[200];
        snprintf(job, sizeof(job),
                 "network: llama-3-8b\nsequence: 8192\nbatch: 512\nepochs: %d\ndataset: 4194304k "
                 "tokens\n",
                 epochs);
        struct hm_request *request = with_document("plan", "job", job);
        set(request, "on", "dgx-h100");
        set(request, "n", "8");
        gives(request, NULL, {"iterations", 1000. * epochs, NULL});
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(notes_name_assumed_nodes),
        cmocka_unit_test(other_keys_leave_assumptions),
        cmocka_unit_test(the_best_machine_becomes_a_platform),
        cmocka_unit_test(runs_say_what_they_recompute),
        cmocka_unit_test(rates_are_converted),
        cmocka_unit_test(the_best_of_equal_workers_is_recommended),
        cmocka_unit_test(epochs_give_tokens),
    };

    return cmocka_run_group_tests_name("edges_transformers", tests, NULL, NULL);
}
