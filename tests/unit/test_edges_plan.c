/*
 * Tests boundaries of plan, fit and design: each field of a request must reach the question. The
 * job takes 100/n + n seconds a step and has 10 steps, on machines of $1/h, so every figure can be
 * computed by hand.
 */
#include "request_testing.h"

#include "plan.h"

static const char ring_text[] = "compute: 100 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n"
                                "iterations: 10\n"
                                "cluster: {max_nodes: 16, price: $1/h, flops: 1 Tflop/s, "
                                "fabric: {bandwidth: 1 Gbit/s, latency: 1 ms}}\n";
static const char runs_text[] = "n,seconds,batch,latency,cost\n"
                                "1,10,64,0.01,1\n2,6,64,0.01,1\n4,4,64,0.01,2\n"
                                "1,20,128,0.01,1\n2,11,128,0.01,1\n4,7,128,0.01,2\n";

/* Returns a request of plan for the job, with up to two fields. */
static struct hm_request *plan_with(const char *field, const char *value, const char *second,
                                    const char *second_value)
{
    struct hm_request *request = with_document("plan", "job", small_job);

    if (field)
        set(request, field, value);
    if (second)
        set(request, second, second_value);
    return request;
}

/* ---- plan --------------------------------------------------------------------------------------
 */

/*
 * The micro-batch that a plan chooses must fit: one worker of 24 GB trains these networks with any
 * batch. Gradients need more memory than the activations of the first samples of some of them, so
 * the memory of two samples does not show that of many.
 */
static void chosen_micro_batches_fit(void **state)
{
    static const char *const networks[] = {"vit-b-16", "vit-l-16",  "vgg-16",
                                           "vgg-19",   "resnet-50", "stable-diffusion-1.5"};

    (void)state;
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        char text[200];
        snprintf(text, sizeof(text), "network: %s\nbatch: 4096\ncluster: {machine: g5.xlarge}\n",
                 networks[i]);
        struct hm_request *request = with_document("plan", "job", text);
        set(request, "n", "1");
        gives(request, NULL, {"status", .text = "ok"});
    }
}

static void plans_answer_their_question(void **state)
{
    (void)state;
    gives(plan_with(NULL, NULL, NULL, NULL), NULL, {"best.n", 10, NULL}, {"best.time_s", 20, NULL},
          {"goal", .text = "time"}, {"curve", 16, NULL}, {"reference", 1, NULL},
          {"in_deadline", NAN, NULL}, {"scaling", .text = "strong"}, {"status", .text = "ok"});
    gives(plan_with("goal", "cost", NULL, NULL), NULL, {"goal", .text = "cost"},
          {"best.n", 1, NULL});
    gives(plan_with("max_n", "4", "reference", "2"), NULL, {"best.n", 4, NULL},
          {"reference", 2, NULL}, {"best.speedup", 52. / 29, NULL}, {"curve", 4, NULL});
    /* The job takes 250 s on 5 workers and 290 s on 4; 4 workers are cheaper. */
    gives(plan_with("deadline", "290s", "certainty", "50%"), NULL, {"best.n", 4, NULL},
          {"best.total_s", 290, NULL});
    gives(plan_with("deadline", "289s", "certainty", "50%"), NULL, {"best.n", 5, NULL});
    /* 205 s on 8 workers cost 205 * 8 / 3600 = 0.4556. */
    gives(plan_with("budget", "0.456", "certainty", "50%"), NULL, {"best.n", 8, NULL});
    gives(plan_with("budget", "0.455", "certainty", "50%"), NULL, {"best.n", 7, NULL});
    gives(plan_with("faster", "3x", NULL, NULL), NULL, {"faster.n", 4, NULL});
    gives(plan_with("faster", "2x", "reference", "2"), NULL, {"faster.n", 5, NULL});
    gives(plan_with("weak", "true", NULL, NULL), NULL, {"scaling", .text = "weak"});
    /* The goal is alpha * T + beta * cost = 10 (100/n + n)(1 + n/10): it is 361.9 for n = 7, 362.7
     * for n = 6 and 369 for n = 8. */
    struct hm_request *balance = plan_with("goal", "balance", "alpha", "1");
    set(balance, "beta", "360");
    gives(balance, NULL, {"best.n", 7, NULL}, {"alpha", 1, NULL}, {"beta", 360, NULL});
}

/* Above the largest n of the question the formula has no value; this must not affect the answer for
 * smaller n. */
static void plans_end_at_their_ceiling(void **state)
{
    struct hm_request *request = with_document("plan", "job",
                                               "compute: 100 s * ln(20 - n)\ncommunicate: 0 s * n\n"
                                               "cluster: {max_nodes: 16, flops: 1 Tflop/s}\n");

    (void)state;
    gives(request, NULL, {"best.n", 16, NULL}, {"best.time_s", 100 * log(4), NULL},
          {"beyond.n", NAN, NULL});
    request = with_document("plan", "job",
                            "compute: 100 s / n\ncommunicate: 0.01 s * n\n"
                            "cluster: {max_nodes: 16, flops: 1 Tflop/s}\n");
    gives(request, NULL, {"best.n", 16, NULL}, {"beyond.n", 64, NULL},
          {"beyond.speedup", 100.01 / (100. / 64 + 0.64), NULL});
}

static void plans_say_when_they_cannot(void **state)
{
    struct hm_reply *reply = run(plan_with("deadline", "199s", "certainty", "50%"), NULL);

    (void)state;
    assert_false(reply->answered);
    hm_reply_free(reply);
    reply = run(plan_with("deadline", "201s", "certainty", "50%"), NULL);
    assert_true(reply->answered);
    assert_false(reply->from_store);
    hm_reply_free(reply);
    run_fails(plan_with("layers", "true", "json", "true"), NULL, HM_E_CONFLICT, "layers",
              "leave out json and csv");
    run_fails(plan_with("layers", "true", "csv", "true"), NULL, HM_E_CONFLICT, "layers",
              "leave out json and csv");
    run_fails(plan_with("layers", "true", NULL, NULL), NULL, HM_E_MISSING, "layers",
              "no network with layers");
    run_fails(plan_with("terms", "auto", NULL, NULL), NULL, HM_E_CONFLICT, "terms", "needs runs");
    struct hm_request *request = plan_with("on", "p4d.24xlarge,p3.2xlarge", NULL, NULL);
    set_document(request, "runs", runs_text);
    run_fails(request, NULL, HM_E_CONFLICT, "on", "one machine");
    request = with_document("plan", "runs", "n,speedup\n1,1\n2,1.8\n4,3\n");
    run_fails(request, NULL, HM_E_MISSING, "runs", "speedups only");
}

/* A body of plan that has runs but no job is not itself a job. */
static void bodies_of_runs_are_no_jobs(void **state)
{
    static const char body[] = "{\"runs\": \"n,seconds\\n1,101\\n2,52\\n4,29\\n8,20.5\\n\", "
                               "\"terms\": [\"1/n\", \"n\"], \"max_n\": 16}";
    struct hm_request *request = new_request("plan");
    struct hm_err err = {0};

    (void)state;
    if (hm_request_read(request, body, strlen(body), "body.json", &err))
        fail_msg("%s: %s", err.field, err.message);
    gives(request, NULL, {"best.n", 10, NULL}, {"provenance", .text = "fit"});
}

/* Runs on one machine must correct the model for that machine. */
static void plans_take_runs(void **state)
{
    static const char exact[] = "n,seconds\n1,101\n2,52\n4,29\n8,20.5\n";
    struct hm_request *request = plan_with("on", "p3.2xlarge", "max_n", "16");

    (void)state;
    set_document(request, "runs", exact);
    gives(request, NULL, {"best.n", 10, NULL});
    request = plan_with("max_n", "16", NULL, NULL);
    set_document(request, "runs", exact);
    gives(request, NULL, {"best.n", 10, NULL});
    request = with_document("plan", "runs", exact);
    set(request, "terms", "1/n,n");
    set(request, "max_n", "16");
    set(request, "level", "0.5");
    gives(request, NULL, {"best.n", 10, NULL}, {"best.time_s", 20, NULL}, {"level", 0.5, NULL},
          {"curve", 16, NULL});
    request = with_document("plan", "job", ring_text);
    set(request, "on", "p3.2xlarge");
    set(request, "scheme", "ring,best");
    set_document(request, "runs", exact);
    struct hm_err err = {0};
    struct hm_reply *reply = NULL;
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_CONFLICT);
    hm_request_free(request);
}

static void layers_are_shown(void **state)
{
    struct hm_request *request =
        with_document("plan", "job",
                      "network: {input: 100, layers: [{dense: 10}]}\nbatch: 8\n"
                      "cluster: {max_nodes: 2, flops: 1 Tflop/s, fabric: {bandwidth: 1 Gbit/s}}\n");

    (void)state;
    set(request, "layers", "true");
    /* The layer has 100 * 10 weights and 10 biases. */
    says(request, NULL, "10           1010             2000");
}

/* The scheme "all" does not include "best", because "best" is one of the other schemes. */
static void plans_rank_schemes(void **state)
{
    struct hm_request *request = with_document("plan", "job", ring_text);

    (void)state;
    set(request, "scheme", "all");
    gives(request, NULL, {"ranking", 5, NULL});
    request = with_document("plan", "job", ring_text);
    set(request, "scheme", "ring,parameter-server");
    gives(request, NULL, {"ranking", 2, NULL}, {"ranking.0.scheme", .text = "ring"},
          {"ranking.1.scheme", .text = "parameter-server"});
    request = plan_with("on", "p4d.24xlarge,p3.2xlarge", "max_n", "8");
    gives(request, NULL, {"ranking", 2, NULL}, {"best.n", 8, NULL});
    request = with_document("plan", "job", ring_text);
    set(request, "platform", "all");
    set(request, "backups", "1");
    gives(request, NULL, {"ranking", 6, NULL});
}

#define RING(seconds, latency)                                                                     \
    "compute: " seconds " / n\ncommunicate: {bytes: 1 MB, scheme: ring}\n"                         \
    "cluster: {max_nodes: 8, flops: 1 Tflop/s, fabric: {bandwidth: 8 Mbit/s, latency: " latency    \
    "}}\n"

/* Returns a plan that recommends the best n itself, without slack. */
static struct hm_request *exact_plan(const char *job)
{
    struct hm_request *request = with_document("plan", "job", job);

    assert_int_equal(hm_request_set(request, "slack", "0", NULL), 0);
    return request;
}

/* The larger part of the step is its limit; if both parts are equal, the limit is computing. */
static void limits_are_the_larger_part(void **state)
{
    (void)state;
    gives(exact_plan(small_job), NULL, {"limit.kind", .text = "compute"},
          {"limit.share", 0.5, NULL});
    /* The least time is 95/10 + 10 = 19.5 s. */
    gives(exact_plan("compute: 95 s / n\ncommunicate: 1 s * n\n"), NULL, {"best.n", 10, NULL},
          {"limit.kind", .text = "communication"}, {"limit.share", 10 / 19.5, NULL},
          {"limit.why", .text = "communication by the job's formula"});
    /* On 8 workers a ring takes 14 latencies and sends 7/4 of the megabyte at 1 MB/s: 1.75 s. */
    gives(exact_plan(RING("8 s", "1 ms")), NULL, {"best.n", 8, NULL},
          {"best.latency_s", 0.014, NULL}, {"best.bandwidth_s", 1.75, NULL},
          {"limit.kind", .text = "bandwidth"}, {"limit.share", 1.764 / 2.764, NULL});
    gives(exact_plan(RING("40 s", "200 ms")), NULL, {"best.n", 8, NULL},
          {"best.latency_s", 2.8, NULL}, {"limit.kind", .text = "compute"});
    gives(exact_plan(RING("32 s", "200 ms")), NULL, {"best.n", 8, NULL},
          {"limit.kind", .text = "latency"}, {"limit.share", 4.55 / 8.55, NULL});
}

static const char free_text[] = "compute: 100 s / n\ncommunicate: 1 s * n\n"
                                "cluster: {max_nodes: 16, flops: 1 Tflop/s}\n";
static const char totals_text[] = "network: {parameters: 1000, forward: 1 Mflop}\nbatch: 64\n"
                                  "cluster: {max_nodes: 16, flops: 1 Tflop/s, "
                                  "fabric: {bandwidth: 1 Gbit/s}}\n";

/* A note must be part of the answer if and only if its condition holds. */
static void notes_follow_the_question(void **state)
{
    static const struct {
        const char *job, *field, *value, *second, *second_value, *note;
        bool present;
    } cases[] = {
        {ring_text, "platform", "driver", NULL, NULL, "the driver is an additional node", true},
        {ring_text, "platform", "server", "servers", "1",
         "1 additional node for servers is included", true},
        {ring_text, "platform", "server", "servers", "2",
         "2 additional nodes for servers are included", true},
        {ring_text, "platform", "server", "colocated", "true", "additional node", false},
        {ring_text, "platform", "allreduce", NULL, NULL, "additional node", false},
        {ring_text, "platform", "server", "consistency", "async", "stale gradients are assumed",
         true},
        {ring_text, "platform", "server", "consistency", "bsp", "stale gradients are assumed",
         false},
        {ring_text, "platform", "server", "backups", "1", "a late worker drops its gradient", true},
        {ring_text, "platform", "server", "backups", "0", "a late worker drops", false},
        {ring_text, "platform", "federated", NULL, NULL, "the server is an additional node", true},
        {ring_text, "platform", "gossip-exp", NULL, NULL, "additional node", false},
        {ring_text, "platform", "gossip-exp", NULL, NULL, "workers with different models", true},
        {ring_text, "platform", "allreduce", "local_steps", "2", "workers with different models",
         true},
        {ring_text, "platform", "allreduce", "local_steps", "1", "workers with different models",
         false},
        {free_text, "deadline", "30s", NULL, NULL, "deadline and budget are for one iteration",
         true},
        {small_job, "deadline", "300s", NULL, NULL, "deadline and budget are for", false},
        {free_text, "deadline", "300s", "weak", "true", "of one iteration at the reference", true},
        {free_text, "deadline", "30s", NULL, NULL, "no price is known", true},
        {free_text, "goal", "cost", NULL, NULL, "no price is known", true},
        {free_text, "goal", "time", NULL, NULL, "no price is known", false},
        {small_job, "goal", "cost", NULL, NULL, "no price is known", false},
        {small_job, "weak", "true", NULL, NULL, "weak scaling uses the compute formula", true},
        {small_job, "weak", "false", NULL, NULL, "weak scaling uses", false},
        {small_job, "goal", "balance", NULL, NULL, "least cost have equal weight", true},
        {small_job, "goal", "balance", NULL, NULL, "a dollar", true},
        {free_text, "goal", "balance", NULL, NULL, "a node-second", true},
        {small_job, "goal", "balance", "alpha", "1", "equal weight", false},
        {small_job, "goal", "time", NULL, NULL, "balance:", false},
        {totals_text, "set", "cluster.memory=1 GB", NULL, NULL, "only totals of the network", true},
        {totals_text, "max_n", "4", NULL, NULL, "only totals of the network", false},
        {totals_text, "max_n", "4", NULL, NULL, "the fastest all-reduce of the gradients", true},
        {totals_text, "scheme", "ring", NULL, NULL, "the fastest all-reduce", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_request *request = with_document("plan", "job", cases[i].job);
        set(request, cases[i].field, cases[i].value);
        if (cases[i].second)
            set(request, cases[i].second, cases[i].second_value);
        set(request, "json", "true");
        struct hm_reply *reply = run(request, NULL);
        const char *notes = strstr(reply->text, "\"notes\":");
        assert_non_null(notes);
        if ((strstr(notes, cases[i].note) != NULL) != cases[i].present)
            fail_msg("case %zu, '%s': %.600s", i, cases[i].note, notes);
        hm_reply_free(reply);
    }
}

/* ---- platforms ---------------------------------------------------------------------------------
 */

static struct hm_platform_fields no_platforms(void)
{
    return (struct hm_platform_fields){.staleness = NAN,
                                       .servers = NAN,
                                       .backups = NAN,
                                       .local_steps = NAN,
                                       .stale_cost = {.value = NAN}};
}

static struct hm_plan_ways ways_of(struct hm_platform_fields f)
{
    static const struct hm_context nothing;
    struct hm_call call = {.context = &nothing, .arena = hm__arena_new()};
    struct hm_plan_ways ways;
    struct hm_err err = {0};

    if (hm__plan_ways(&call, &f, &ways, &err))
        fail_msg("%s: %s", err.field, err.message);
    hm__arena_free(call.arena);
    return ways;
}

static void ways_fail(struct hm_platform_fields f, const char *field, const char *message)
{
    static const struct hm_context nothing;
    struct hm_call call = {.context = &nothing};
    struct hm_plan_ways ways;
    struct hm_err err = {0};

    assert_int_equal(hm__plan_ways(&call, &f, &ways, &err), HM_E_CONFLICT);
    assert_string_equal(err.field, field);
    assert_non_null(strstr(err.message, message));
}

/* On platforms whose workers have their own models, the question must get the number of steps
 * between two averages. */
static void local_steps_follow_the_fields(void **state)
{
    struct hm_platform_fields f = no_platforms();

    (void)state;
    f.platform = (struct hm_choices){{0, 1, 3, 4, 5}, 5, false};
    f.local_steps = 7;
    struct hm_plan_ways w = ways_of(f);
    assert_int_equal(w.count, 5);
    assert_true(w.ways[0].platform == HM_PLATFORM_ALLREDUCE && w.ways[0].local_steps == 7);
    assert_true(w.ways[1].platform == HM_PLATFORM_DRIVER && w.ways[1].local_steps == 0);
    assert_true(w.ways[2].platform == HM_PLATFORM_GOSSIP_RING && w.ways[2].local_steps == 7);
    assert_true(w.ways[3].platform == HM_PLATFORM_GOSSIP_EXP && w.ways[3].local_steps == 7);
    assert_true(w.ways[4].platform == HM_PLATFORM_FEDERATED && w.ways[4].local_steps == 7);
    f.platform = (struct hm_choices){{0, 1, 2, 3, 4, 5}, 6, true};
    w = ways_of(f);
    /* The platforms of "all" are allreduce, driver, and servers in three ways. */
    assert_int_equal(w.count, 5);
    assert_true(w.ways[4].platform == HM_PLATFORM_SERVER);
    f.local_steps = NAN;
    f.platform = (struct hm_choices){{7, 8, 9, 10, 11}, 5, false};
    w = ways_of(
        f); /* The platforms are the strategies of TensorFlow, whose servers are asynchronous. */
    assert_int_equal(w.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(w.ways[i].strategy, HM_STRATEGY_MIRRORED + (int)i);
    assert_true(w.ways[1].servers == 1 && w.ways[1].colocated);
    assert_int_equal(w.ways[4].consistency, HM_CONSISTENCY_ASYNC);
    f.platform = (struct hm_choices){{2, 11}, 2, false};
    w = ways_of(f);
    assert_int_equal(w.count, 2);
    assert_int_equal(w.ways[0].consistency, HM_CONSISTENCY_BSP);
    assert_int_equal(w.ways[1].consistency, HM_CONSISTENCY_ASYNC);
    f.local_steps = 7;
    f.platform = (struct hm_choices){{1, 2}, 2, false};
    ways_fail(f, "local_steps", "only to platform allreduce");
    f.platform.count = 0;
    ways_fail(f, "local_steps", "only to platform allreduce");
    f = no_platforms();
    f.platform = (struct hm_choices){{3}, 1, false};
    assert_true(ways_of(f).ways[0].local_steps == 0);
    f.servers = 2;
    ways_fail(f, "servers", "only to platform server or all");
}

static void ways_follow_the_fields(void **state)
{
    struct hm_platform_fields f = no_platforms();

    (void)state;
    assert_int_equal(ways_of(f).count, 0);
    /* If platforms are named one by one, only bsp is compared for each of them. */
    f.platform = (struct hm_choices){{0, 1, 2}, 3, false};
    struct hm_plan_ways w = ways_of(f);
    assert_int_equal(w.count, 3);
    assert_true(w.ways[0].platform == HM_PLATFORM_ALLREDUCE &&
                w.ways[1].platform == HM_PLATFORM_DRIVER);
    assert_true(w.ways[2].platform == HM_PLATFORM_SERVER &&
                w.ways[2].consistency == HM_CONSISTENCY_BSP && w.ways[2].servers == 0);
    f.platform.all = true; /* With "all", every consistency is compared. */
    f.servers = 3;
    f.colocated = true;
    f.stale_cost.value = 1.5;
    w = ways_of(f);
    assert_int_equal(w.count, 5);
    assert_true(w.ways[2].servers == 3 && w.ways[2].colocated && w.ways[2].stale_cost == 0);
    assert_true(w.ways[3].consistency == HM_CONSISTENCY_SSP && w.ways[3].staleness == 3);
    assert_true(w.ways[3].stale_cost == 1.5 && w.ways[4].stale_cost == 1.5);
    assert_true(w.ways[4].consistency == HM_CONSISTENCY_ASYNC && w.ways[4].staleness == 0);
    f.backups = 2; /* bsp is compared with and without backups. */
    w = ways_of(f);
    assert_int_equal(w.count, 6);
    assert_true(w.ways[2].backups == 0 && w.ways[3].backups == 2);
    f.backups = 0;
    assert_int_equal(ways_of(f).count, 5);
}

static void servers_have_their_consistency(void **state)
{
    struct hm_platform_fields f = no_platforms();

    (void)state;
    f.platform = (struct hm_choices){{2}, 1, false};
    f.staleness = 0; /* A staleness implies ssp. */
    struct hm_plan_ways w = ways_of(f);
    assert_true(w.count == 1 && w.ways[0].consistency == HM_CONSISTENCY_SSP &&
                w.ways[0].staleness == 0);
    f.staleness = NAN;
    f.backups = 1;
    w = ways_of(f);
    assert_true(w.count == 1 && w.ways[0].backups == 1);
    f.backups = NAN;
    f.consistency = (struct hm_choices){{0, 2}, 2, false};
    w = ways_of(f);
    assert_true(w.count == 2 && w.ways[1].consistency == HM_CONSISTENCY_ASYNC);
    f.staleness = 2;
    ways_fail(f, "staleness", "consistency ssp");
    f.staleness = NAN;
    f.consistency = (struct hm_choices){{1}, 1, false};
    f.backups = 0;
    assert_int_equal(ways_of(f).count, 1); /* A value of 0 does not contradict the other fields. */
    f.backups = 1;
    ways_fail(f, "backups", "consistency bsp");
    f.backups = NAN;
    f.stale_cost.value = 2;
    assert_true(ways_of(f).ways[0].stale_cost == 2);
    f.consistency = (struct hm_choices){{0}, 1, false};
    ways_fail(f, "stale_cost", "ssp or async");
}

static void server_fields_need_servers(void **state)
{
    static const char *const names[] = {"consistency", "staleness", "servers",
                                        "colocated",   "backups",   "stale_cost"};

    (void)state;
    for (int i = 0; i < 6; i++) {
        struct hm_platform_fields f = no_platforms();
        f.platform = (struct hm_choices){{0, 1}, 2, false};
        f.consistency.count = i == 0;
        f.staleness = i == 1 ? 0 : NAN;
        f.servers = i == 2 ? 1 : NAN;
        f.colocated = i == 3;
        f.backups = i == 4 ? 0 : NAN;
        f.stale_cost.value = i == 5 ? 1 : NAN;
        ways_fail(f, names[i], "only to platform server or all");
    }
}

/* ---- fit ---------------------------------------------------------------------------------------
 */

static struct hm_request *fit_of(const char *runs)
{
    return with_document("fit", "runs", runs);
}

static const char line_text[] = "n,seconds\n1,11\n2,6\n4,3.5\n8,2.25\n"; /* 1 + 10/n */

static void fits_predict_where_they_are_asked(void **state)
{
    (void)state;
    gives(fit_of(line_text), NULL, {"predictions", 6, NULL}, {"predictions.0.n", 1, NULL},
          {"predictions.5.n", 32, NULL});
    gives(fit_of("n,seconds\n1,11\n2,6\n"), NULL, {"predictions", 5, NULL},
          {"predictions.4.n", 16, NULL});
    struct hm_request *request = fit_of(line_text);
    set(request, "target", "20");
    set(request, "terms", "1,1/n");
    set(request, "level", "0.5");
    set(request, "errors", "relative");
    gives(request, NULL, {"predictions", 1, NULL}, {"predictions.0.n", 20, NULL},
          {"predictions.0.time_s", 1.5, NULL}, {"level", 0.5, NULL}, {"errors", .text = "relative"},
          {"terms", 2, NULL});
    request = fit_of(line_text);
    set(request, "predict", "5,10");
    set(request, "terms", "1,1/n");
    set(request, "errors", "equal");
    gives(request, NULL, {"predictions", 2, NULL}, {"predictions.1.time_s", 2, NULL},
          {"errors", .text = "equal"});
    request = fit_of(line_text);
    set(request, "predict", "5");
    set(request, "target", "7");
    run_fails(request, NULL, HM_E_CONFLICT, "target", "leave n out of target");
    request = fit_of("n,size,seconds\n1,1,11\n2,1,6\n4,1,3.5\n1,2,21\n2,2,11\n4,2,6\n");
    set(request, "terms", "1,size/n");
    set(request, "target", "n=10,size=3");
    gives(request, NULL, {"predictions.0.time_s", 4, NULL}); /* 1 + 10 * 3 / 10 */
    request = fit_of("n,size,seconds\n1,1,11\n2,1,6\n4,1,3.5\n1,2,21\n2,2,11\n4,2,6\n");
    set(request, "where", "size=2");
    gives(request, NULL, {"run_count", 3, NULL});
}

/* Checks that a fit of these runs fails with this field and message; `terms` may be NULL. */
static void fit_fails(const char *runs, const char *terms, const char *field, const char *message)
{
    struct hm_request *request = fit_of(runs);

    if (terms)
        set(request, "terms", terms);
    run_fails(request, NULL, HM_E_MISSING, field, message);
}

static void fits_need_enough_runs(void **state)
{
    static const char gap[] = "n,size,seconds\n1,1,11\n2,,6\n4,1,3.5\n8,1,2\n";
    static const char other_gap[] = "n,x,seconds\n1,1,11\n2,,6\n4,1,3.5\n8,1,2\n";
    struct hm_request *request = fit_of(gap);

    (void)state;
    fit_fails(gap, "1,size/n", "size", "no value of size");
    fit_fails(gap, NULL, "size", "no value of size");
    fit_fails(other_gap, "1,x/n", "x", "no value of x");
    set(request, "terms", "1,1/n"); /* These terms do not need the size. */
    gives(request, NULL, {"run_count", 4, NULL});
    gives(fit_of(other_gap), NULL, {"run_count", 4, NULL});
    fit_fails("n,seconds\n1,11\n", NULL, "", "one run cannot show");
    fit_fails("n,seconds\n1,11\n1,12\n", NULL, "", "runs of one configuration cannot show");
    fit_fails("n,size,seconds\n2,1,11\n2,2,12\n", NULL, "", "every run has n = 2");
    fit_fails("n,seconds\n1,11\n2,6\n", "1,1/n,n", "", "3 terms need as many different runs");
    request = fit_of("n,seconds\n1,11\n2,6\n");
    set(request, "terms", "1,1/n");
    gives(request, NULL, {"terms", 2, NULL});
    gives(fit_of("n,size,seconds\n1,1,10\n2,2,11\n4,4,12\n"), NULL, {"weak", .text = "true"});
    gives(fit_of("n,batch,seconds\n1,3,10\n2,6,11\n4,12,12\n"), NULL, {"weak", .text = "true"});
    gives(fit_of("n,size,seconds\n1,1,10\n2,2,11\n4,4.1,12\n"), NULL, {"weak", .text = "false"});
}

static void fits_with_a_job(void **state)
{
    struct hm_request *request = with_document("fit", "job", small_job);

    (void)state;
    gives(request, NULL, {"run_count", 0, NULL});
    request = with_document("fit", "job", small_job);
    set(request, "where", "n=1");
    run_fails(request, NULL, HM_E_CONFLICT, "where", "this needs runs");
    request = with_document("fit", "job", small_job);
    set(request, "on", "p4d.24xlarge,p3.2xlarge");
    run_fails(request, NULL, HM_E_CONFLICT, "on", "only one machine");
    request = fit_of(line_text);
    set(request, "set", "batch=2");
    run_fails(request, NULL, HM_E_CONFLICT, "set", "needs a job");
}

static void pictures_are_scripts(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = fit_of(line_text);

    (void)state;
    set(request, "plot", "fit.svg");
    set(request, "predict", "64");
    struct hm_reply *reply = run(request, &context);
    assert_int_equal(reply->file_count, 1);
    assert_string_equal(reply->files[0].path, "fit.svg");
    assert_string_equal(reply->files[0].program, "gnuplot");
    /* The curve ends at the largest n that is predicted. */
    assert_non_null(strstr(reply->files[0].text, "\n64 "));
    hm_reply_free(reply);
}

/* ---- design ------------------------------------------------------------------------------------
 */

static void design_fails(const char *field, const char *value, int code, const char *blamed,
                         const char *message)
{
    struct hm_request *request = new_request("design");

    set(request, "n", "1..4");
    set(request, field, value);
    run_fails(request, NULL, code, blamed, message);
}

static void designs_have_candidates(void **state)
{
    const struct hm_context twelve = {.limits = {.values = 12}},
                            eleven = {.limits = {.values = 11}};
    struct hm_request *request;

    (void)state;
    design_fails("vary", "n=1", HM_E_CONFLICT, "vary", "n is given twice");
    design_fails("vary", "x", HM_E_SYNTAX, "vary", "'x' is not NAME=LIST");
    design_fails("vary", "=1", HM_E_SYNTAX, "vary", "'=1' is not NAME=LIST");
    design_fails("vary", "x=a", HM_E_SYNTAX, "vary", "'a' is not a list");
    design_fails("n", "0", HM_E_RANGE, "n", "at least 1, not 0");
    design_fails("n", "1.5", HM_E_RANGE, "n", "at least 1, not 1.5");
    design_fails("budget", "2h", HM_E_CONFLICT, "budget", "need a job");
    design_fails("budget", "$2", HM_E_CONFLICT, "budget", "need a job");
    design_fails("budget", "2 MB", HM_E_UNIT, "budget", "neither");
    char name[80]; /* A name has up to 63 characters. */
    memset(name, 'a', 64);
    snprintf(name + 64, sizeof(name) - 64, "=1");
    design_fails("vary", name, HM_E_SYNTAX, "vary", "not NAME=LIST");
    request = new_request("design");
    set(request, "n", "1..4");
    set(request, "vary", name + 1);
    gives(request, NULL, {"candidate_count", 4, NULL});
    for (int more = 0; more < 2; more++) { /* 16 quantities are allowed: n, size and 14 others. */
        request = new_request("design");
        set(request, "n", "1,2");
        set(request, "size", "1");
        set(request, "terms", "1,n");
        for (int i = 0; i < 14 + more; i++) {
            char text[16];
            snprintf(text, sizeof(text), "q%d=1", i);
            set(request, "vary", text);
        }
        if (more)
            run_fails(request, NULL, HM_E_LIMIT, "vary", "more than 16 quantities");
        else
            gives(request, NULL, {"candidate_count", 2, NULL});
    }
    for (int i = 0; i < 2; i++) {
        request = new_request("design");
        set(request, "n", "1..4");
        set(request, "vary", "size=1..3:3");
        if (i)
            run_fails(request, &eleven, HM_E_LIMIT, "n", "12 combinations; at most 11");
        else
            gives(request, &twelve, {"candidate_count", 12, NULL});
    }
}

static void designs_have_a_budget(void **state)
{
    struct hm_request *request = with_document("design", "job", small_job);

    (void)state;
    set(request, "n", "1..4");
    /* A run of one step costs n (100/n + n) = 101, 104, 109 and 116 machine seconds. */
    gives(request, NULL, {"cost", 430, NULL}, {"machine_s", 430, NULL},
          {"money", 430. / 3600, NULL});
    request = with_document("design", "job", small_job);
    set(request, "n", "1");
    set(request, "budget", "101s");
    gives(request, NULL, {"cost", 101, NULL});
    request = with_document("design", "job", small_job);
    set(request, "n", "1..4");
    set(request, "budget", "$0.05"); /* 180 machine seconds are enough for one run. */
    gives(request, NULL, {"machine_s", 116, NULL});
    request = with_document("design", "job", small_job);
    set(request, "n", "1..4");
    set(request, "budget", "180s");
    gives(request, NULL, {"machine_s", 116, NULL});
    request = with_document("design", "job", small_job);
    set(request, "n", "1..4");
    set(request, "budget", "1h");
    set(request, "cost", "n");
    run_fails(request, NULL, HM_E_CONFLICT, "budget", "need a job and no cost");
    request = with_document("design", "job", "compute: 100 s / n\ncommunicate: 1 s * n\n");
    set(request, "n", "1..4");
    set(request, "budget", "$1");
    run_fails(request, NULL, HM_E_MISSING, "budget", "a machine with a price");
}

/*
 * The criterion is the trace of the inverse of X'X, with each term divided by its mean over the
 * candidates: those of 1 and 1/n are 1 and 25/48. Runs on 1, 2 and 4 workers give
 * X'X = (3 1.75; 1.75 1.3125), whose determinant is 0.875.
 */
static void designs_use_measured_runs(void **state)
{
    for (int have = 0; have < 2; have++) {
        struct hm_request *request = new_request("design");
        set(request, "n", "1..4");
        set(request, "terms", "1,1/n");
        if (have)
            set_document(request, "have", "n,seconds\n1,101\n2,52\n4,29\n");
        gives(request, NULL,
              {"before", have ? (1.3125 + 3 * pow(25. / 48, 2)) / 0.875 : NAN, NULL});
    }
    (void)state;
}

/* A ring of 4 workers sends 6/4 of the 4 MB, at 10 Gbit/s instead of 1 Gbit/s. */
static void a_fabric_replaces_that_of_the_job(void **state)
{
    struct hm_request *request = with_document("plan", "job", ring_text);

    (void)state;
    set(request, "max_n", "4");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.bandwidth_s", 0.048, NULL});
    request = with_document("plan", "job", ring_text);
    set(request, "max_n", "4");
    set(request, "fabric", "10gbe");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.bandwidth_s", 0.0048, NULL},
          {"fabric", .text = "10gbe"});
    request = with_document("plan", "job", ring_text);
    set(request, "max_n", "4");
    set(request, "fabric", "10gbe");
    set(request, "on", "p3.2xlarge");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.bandwidth_s", 0.0048, NULL},
          {"fabric", .text = "10gbe"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_micro_batches_fit),
        cmocka_unit_test(plans_answer_their_question),
        cmocka_unit_test(designs_use_measured_runs),
        cmocka_unit_test(a_fabric_replaces_that_of_the_job),
        cmocka_unit_test(plans_end_at_their_ceiling),
        cmocka_unit_test(plans_say_when_they_cannot),
        cmocka_unit_test(bodies_of_runs_are_no_jobs),
        cmocka_unit_test(plans_take_runs),
        cmocka_unit_test(layers_are_shown),
        cmocka_unit_test(plans_rank_schemes),
        cmocka_unit_test(limits_are_the_larger_part),
        cmocka_unit_test(notes_follow_the_question),
        cmocka_unit_test(local_steps_follow_the_fields),
        cmocka_unit_test(ways_follow_the_fields),
        cmocka_unit_test(servers_have_their_consistency),
        cmocka_unit_test(server_fields_need_servers),
        cmocka_unit_test(fits_predict_where_they_are_asked),
        cmocka_unit_test(fits_need_enough_runs),
        cmocka_unit_test(fits_with_a_job),
        cmocka_unit_test(pictures_are_scripts),
        cmocka_unit_test(designs_have_candidates),
        cmocka_unit_test(designs_have_a_budget),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
