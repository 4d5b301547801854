/*
 * Tests boundaries of recommend, converge, advise, graph and catalog: each field of a request must
 * reach the question. The job takes 100/n + n seconds a step and has 10 steps, on machines of $1/h,
 * so every figure can be computed by hand.
 */
#include "request_testing.h"

#include <unistd.h>

static const char runs_text[] = "n,seconds,batch,latency,cost\n"
                                "1,10,64,0.01,1\n2,6,64,0.01,1\n4,4,64,0.01,2\n"
                                "1,20,128,0.01,1\n2,11,128,0.01,1\n4,7,128,0.01,2\n";
static const char traces_text[] =
    "algorithm,m,iteration,seconds,loss\n"
    "gd,1,1,1,1\ngd,1,2,1,0.5\ngd,1,3,1,0.25\ngd,1,4,1,0.125\ngd,1,5,1,0.0625\n"
    "gd,1,6,1,0.03125\ngd,1,7,1,0.015625\ngd,1,8,1,0.0078125\n"
    "gd,2,1,0.6,1\ngd,2,2,0.6,0.55\ngd,2,3,0.6,0.3025\ngd,2,4,0.6,0.166375\ngd,2,5,0.6,0.0915063\n"
    "gd,2,6,0.6,0.0503284\ngd,2,7,0.6,0.0276806\ngd,2,8,0.6,0.0152244\n"
    "gd,4,1,0.4,1\ngd,4,2,0.4,0.6\ngd,4,3,0.4,0.36\ngd,4,4,0.4,0.216\ngd,4,5,0.4,0.1296\n"
    "gd,4,6,0.4,0.07776\ngd,4,7,0.4,0.046656\ngd,4,8,0.4,0.0279936\n";

/* ---- recommend ---------------------------------------------------------------------------------
 */

static struct hm_request *recommend_with(const char *field, const char *value)
{
    struct hm_request *request = with_document("recommend", "runs", runs_text);

    set(request, "batch", "64");
    set(request, "certainty", "50%"); /* With a required probability of 50 %, limits are compared
                                         with the expected times. */
    if (field)
        set(request, field, value);
    return request;
}

static void recommendations_answer_their_question(void **state)
{
    (void)state;
    gives(recommend_with(NULL, NULL), NULL, {"best.n", 4, NULL}, {"best.cost", 2, NULL},
          {"goal", .text = "time"}, {"candidates", 3, NULL}, {"level", 0.9, NULL});
    gives(recommend_with("at", "latency=10ms"), NULL, {"best.time_s", 4, NULL});
    gives(recommend_with("latency", "10ms"), NULL, {"best.time_s", 4, NULL});
    gives(recommend_with("n", "1,2"), NULL, {"best.n", 2, NULL});
    gives(recommend_with("budget", "$1"), NULL, {"best.n", 2, NULL});
    gives(recommend_with("deadline", "6s"), NULL, {"best.n", 2, NULL});
    gives(recommend_with("deadline", "6s"), NULL, {"goal", .text = "cost"});
    gives(recommend_with("alpha", "1"), NULL, {"goal", .text = "balance"});
    gives(recommend_with("beta", "1"), NULL, {"goal", .text = "balance"});
    gives(recommend_with("level", "0.5"), NULL, {"level", 0.5, NULL});
    /* Latencies of a few microseconds are different values, although their difference is small. */
    struct hm_request *request =
        with_document("recommend", "runs",
                      "n,seconds,latency\n1,10,0.00002\n2,6,0.00002\n1,9,0.00003\n2,12,0.00003\n");
    set(request, "latency", "30us");
    gives(request, NULL, {"best.n", 1, NULL}, {"best.time_s", 9, NULL}, {"candidates", 2, NULL},
          {"rows", 2, NULL});
    request = recommend_with("goal", "cost");
    set(request, "price", "$1/h");
    gives(request, NULL, {"best.n", 1, NULL}, {"best.cost", 10. / 3600, NULL});
    struct hm_reply *reply = run(recommend_with("deadline", "3s"), NULL);
    assert_false(reply->answered);
    hm_reply_free(reply);
    reply = run(recommend_with("deadline", "5s"), NULL);
    assert_true(reply->answered);
    hm_reply_free(reply);
}

/* Runs with a batch of 64 take 10 s, 6 s and 4 s on 1, 2 and 4 workers, and cost 1, 1 and 2
 * dollars. */
static void recommendations_weigh_time_and_cost(void **state)
{
    struct hm_request *request = recommend_with("deadline", "4s");

    (void)state;
    gives(recommend_with("deadline", "4s"), NULL, {"best.n", 4, NULL}, {"missed", NAN, NULL});
    gives(recommend_with("budget", "$2"), NULL, {"best.n", 4, NULL});
    gives(recommend_with("deadline", "3s"), NULL, {"missed", .text = "deadline"});
    gives(recommend_with("budget", "$0.5"), NULL, {"missed", .text = "budget"});
    set(request, "budget", "$1");
    gives(request, NULL, {"missed", .text = "deadline and budget"});
    /* Without weights, the value is seconds / 4 + dollars / 1. */
    gives(recommend_with("goal", "balance"), NULL, {"best.n", 2, NULL}, {"best.value", 2.5, NULL},
          {"candidates.1.value", 3, NULL}, {"candidates.2.value", 3.5, NULL});
    gives(recommend_with("alpha", "1"), NULL, {"best.n", 4, NULL}, {"best.value", 6, NULL});
    gives(recommend_with("beta", "10"), NULL, {"best.n", 2, NULL}, {"best.value", 11.5, NULL});
    request = with_document("recommend", "runs", "n,seconds\n1,10\n2,6\n4,4\n");
    set(request, "budget", "$1");
    run_fails(request, NULL, HM_E_MISSING, "budget", "needs a price");
    request = with_document("recommend", "runs", "n,seconds\n1,10\n2,6\n4,4\n");
    set(request, "goal", "cost"); /* The costs are 10, 12 and 16 worker-seconds. */
    gives(request, NULL, {"best.n", 1, NULL}, {"best.value", 10, NULL});
}

static void recommendations_check_their_place(void **state)
{
    char name[80];
    struct hm_request *request = recommend_with("at", "batch=64");

    (void)state;
    run_fails(request, NULL, HM_E_CONFLICT, "at", "batch is given twice");
    run_fails(recommend_with("at", "=3"), NULL, HM_E_SYNTAX, "at", "not NAME=VALUE");
    run_fails(recommend_with("at", "latency=3 MB"), NULL, HM_E_UNIT, "at", "");
    run_fails(recommend_with("at", "bandwidth=3 s"), NULL, HM_E_UNIT, "at", "");
    run_fails(recommend_with("at", "size=3 s"), NULL, HM_E_UNIT, "at", "");
    run_fails(recommend_with("n", "0"), NULL, HM_E_RANGE, "n", "at least 1, not 0");
    memset(name, 'a', 64);
    snprintf(name + 64, sizeof(name) - 64, "=1");
    run_fails(recommend_with("at", name), NULL, HM_E_SYNTAX, "at", "not NAME=VALUE");
    request = recommend_with(NULL, NULL); /* The batch is one more quantity of the runs. */
    for (int i = 0; i < 32; i++) {
        snprintf(name, sizeof(name), "q%d=1", i);
        set(request, "at", name);
    }
    run_fails(request, NULL, HM_E_LIMIT, "at", "more than 32 quantities");
    request = with_document("recommend", "job", small_job);
    set(request, "where", "n=1");
    run_fails(request, NULL, HM_E_CONFLICT, "where", "this needs runs");
    request = with_document("recommend", "job", small_job);
    gives(request, NULL, {"best.n", 10, NULL}, {"provenance", .text = "model"});
}

/* The seconds are batch / 16 / n + 1; for a batch between those of the runs, a fit answers. */
static void recommendations_far_from_runs_are_noted(void **state)
{
    static const char runs[] =
        "n,batch,seconds\n1,64,5\n2,64,3\n4,64,2\n1,128,9\n2,128,5\n4,128,3\n"
        "1,256,17\n2,256,9\n4,256,5\n";

    (void)state;
    for (int far = 0; far < 2; far++) {
        struct hm_request *request = with_document("recommend", "runs", runs);
        set(request, "batch", "96");
        set(request, "n", far ? "1,2,4,8" : "1,2,4");
        struct hm_reply *reply = run(request, NULL);
        const char *note = strstr(reply->text, "times as many as in any run");
        if ((note != NULL) != (far == 1))
            fail_msg("%s", reply->text);
        if (far)
            assert_non_null(strstr(reply->text, "8 workers are 2 times"));
        hm_reply_free(reply);
    }
}

/* ---- converge and advise -----------------------------------------------------------------------
 */

static struct hm_request *traces_with(const char *verb, const char *field, const char *value)
{
    struct hm_request *request = with_document(verb, "traces", traces_text);

    if (strcmp(verb, "advise") == 0)
        set(request, "loss", "0.2");
    set(request, field, value);
    return request;
}

static void convergence_is_checked(void **state)
{
    static const char *const wrong[] = {"0", "2.5", "1000000001", "two", "2x"};
    const struct hm_context context = {.files = hm_local_files()};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        run_fails(traces_with("converge", "leave_out", wrong[i]), NULL, HM_E_RANGE, "leave_out",
                  "neither a whole number from 1 nor each");
    run_fails(traces_with("converge", "leave_rows", "1000000000000001"), NULL, HM_E_RANGE,
              "leave_rows", "neither a whole number from 1 nor each");
    run_fails(traces_with("converge", "leave_out", "1e9"), NULL, HM_E_MISSING, "leave_out",
              "on 1e+09 workers");
    run_fails(traces_with("converge", "leave_out", "3"), NULL, HM_E_MISSING, "leave_out",
              "on 3 workers");
    gives(traces_with("converge", "leave_out", "4"), NULL,
          {"holdout.algorithms.0.left_out", 1, NULL},
          {"holdout.algorithms.0.left_out.0.n", 4, NULL}, {"holdout.ahead", 0, NULL});
    struct hm_request *request = traces_with("converge", "ahead", "2");
    set(request, "window", "5");
    gives(request, NULL, {"holdout.ahead", 2, NULL}, {"holdout.ahead_s", 0, NULL},
          {"holdout.window", 5, NULL}, {"holdout.algorithms.0.left_out", 0, NULL});
    gives(traces_with("converge", "ahead", "2s"), NULL, {"holdout.ahead", 0, NULL},
          {"holdout.ahead_s", 2, NULL}, {"holdout.window", 50, NULL});
    run_fails(traces_with("converge", "ahead", "2 MB"), NULL, HM_E_UNIT, "ahead", "neither");
    request = traces_with("converge", "ahead", "2");
    set(request, "csv", "true");
    run_fails(request, NULL, HM_E_CONFLICT, "csv", "ahead is shown");
    gives(traces_with("converge", "best", "0"), NULL, {"best_loss", 0, NULL},
          {"best_loss_estimated", .text = "false"});
    gives(traces_with("converge", "level", "0.5"), NULL, {"level", 0.5, NULL});
    run_fails(traces_with("converge", "where", "n=1"), NULL, HM_E_CONFLICT, "where",
              "runs of a store");
    run_fails(traces_with("converge", "save", "fit.txt"), &context, HM_E_NAME, "save",
              "does not end in .json");
}

static void algorithms_are_kept(void **state)
{
    char text[1200];

    (void)state;
    snprintf(text, sizeof(text),
             "%ssgd,1,1,1,1\nsgd,1,2,1,0.9\nsgd,1,3,1,0.8\nsgd,1,4,1,0.75\n"
             "sgd,1,5,1,0.7\nsgd,2,1,1,1\nsgd,2,2,1,0.9\nsgd,2,3,1,0.8\nsgd,2,4,1,0.75\n",
             traces_text);
    struct hm_request *request = with_document("converge", "traces", text);
    set(request, "best", "-0.01");
    gives(request, NULL, {"algorithms", 2, NULL});
    request = with_document("converge", "traces", text);
    set(request, "best", "-0.01");
    set(request, "algorithms", "sgd");
    gives(request, NULL, {"algorithms", 1, NULL}, {"algorithms.0.algorithm", .text = "sgd"},
          {"algorithms.0.traces", 2, NULL});
    request = with_document("converge", "traces", text);
    set(request, "best", "-0.01");
    set(request, "algorithms", "gd,sgd");
    gives(request, NULL, {"algorithms", 2, NULL});
    request = with_document("converge", "traces", text);
    set(request, "algorithms", "gd,sdg");
    run_fails(request, NULL, HM_E_NAME, "algorithms", "no traces of 'sdg'");
}

/*
 * Without a target, the target is the largest of the smallest losses of the traces: 0.3 of the
 * trace on 2 workers, which is its first row; the other trace reaches 0.0078125.
 */
static void aims_are_chosen(void **state)
{
    char text[1200];
    static const char *const losses[] = {"0.3", "0.9", "0.8", "0.7", "0.6", "0.5", "0.4", "0.35"};
    size_t used = (size_t)snprintf(text, sizeof(text), "%.*s",
                                   (int)(strstr(traces_text, "gd,2,1") - traces_text), traces_text);

    (void)state;
    for (size_t i = 0; i < 8; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "gd,2,%zu,0.6,%s\n", i + 1,
                                 losses[i]);
    gives(with_document("advise", "traces", text), NULL,
          {"notes.0",
           .text = "no target was given: 0.3 is the smallest loss that every trace reaches"});
    gives(with_document("advise", "traces", traces_text), NULL,
          {"notes.0",
           .text = "no target was given: 0.0279936 is the smallest loss that every trace reaches"});
}

/* A saved fit must answer without its traces, and must refuse fields that belong to traces. */
static void fits_are_saved(void **state)
{
    const struct hm_context context = {.files = hm_local_files()};
    struct hm_request *request = traces_with("converge", "save", "fit.json");
    static const char *const refused[][2] = {
        {"best", "0"}, {"measure", "loss"}, {"epochs", "true"}, {"terms", "ln(i)"}};

    (void)state;
    set(request, "plot", "fit.svg");
    struct hm_reply *reply = run(request, &context);
    assert_int_equal(reply->file_count, 2);
    assert_string_equal(reply->files[0].path, "fit.json");
    assert_null(reply->files[0].program);
    assert_string_equal(reply->files[1].program, "gnuplot");
    assert_non_null(strstr(reply->files[1].text, "\n1 ")); /* Curves begin at iteration 1. */
    /* The curves end at the last iteration of the traces. */
    assert_non_null(strstr(reply->files[1].text, "\n8 "));
    assert_null(strstr(reply->files[1].text, "\n0 "));
    /* A fit without traces has no loss that could be the aim. */
    request = new_request("advise");
    assert_int_equal(hm_request_set_document(request, "traces", "fit.json", reply->files[0].text,
                                             strlen(reply->files[0].text), NULL),
                     0);
    run_fails(request, NULL, HM_E_MISSING, "loss", "no target is given");
    for (size_t i = 0; i < 4; i++) {
        request = new_request("converge");
        assert_int_equal(hm_request_set_document(request, "traces", "fit.json",
                                                 reply->files[0].text, strlen(reply->files[0].text),
                                                 NULL),
                         0);
        set(request, refused[i][0], refused[i][1]);
        run_fails(request, NULL, HM_E_CONFLICT, refused[i][0], "a stored fit");
    }
    request = new_request("converge");
    hm_request_set_document(request, "traces", "fit.json", reply->files[0].text,
                            strlen(reply->files[0].text), NULL);
    set(request, "ahead", "2");
    run_fails(request, NULL, HM_E_CONFLICT, "ahead", "this needs traces");
    request = new_request("advise");
    hm_request_set_document(request, "traces", "fit.json", reply->files[0].text,
                            strlen(reply->files[0].text), NULL);
    set(request, "loss", "0.2");
    set_document(request, "times", "n,seconds\n1,1\n2,0.6\n4,0.4\n");
    gives(request, NULL, {"best.n", 4, NULL});
    hm_reply_free(reply);
}

static void advice_has_a_price(void **state)
{
    struct hm_request *request = traces_with("advise", "price", "$3.6/h");

    (void)state;
    set(request, "goal", "cost");
    /* The answer needs four iterations of one second on one worker. */
    gives(request, NULL, {"best.n", 1, NULL}, {"best.time_s", 4, NULL}, {"best.cost", 0.004, NULL});
    gives(traces_with("advise", "m", "1,2"), NULL, {"best.n", 2, NULL}, {"best.cost", NAN, NULL},
          {"candidates", 2, NULL});
    run_fails(traces_with("advise", "goal", "cost"), NULL, HM_E_MISSING, "price", "not known");
    request = traces_with("advise", "goal", "cost");
    /* The machine costs $21.9576426 an hour and has 8 accelerators. */
    set(request, "on", "p4d.24xlarge");
    gives(request, NULL, {"best.n", 1, NULL});
    request = traces_with("advise", "on", "p4d.24xlarge,p3.2xlarge");
    run_fails(request, NULL, HM_E_CONFLICT, "on", "only one machine");
    run_fails(traces_with("advise", "fabric", "10gbe"), NULL, HM_E_CONFLICT, "fabric",
              "needs a job");
    run_fails(traces_with("advise", "set", "batch=1"), NULL, HM_E_CONFLICT, "set", "needs a job");
    run_fails(traces_with("advise", "switch_cost", "1s"), NULL, HM_E_CONFLICT, "switch_cost",
              "needs adaptive");
    hm_reply_free(run(traces_with("advise", "switch_cost", "0s"), NULL));
    gives(traces_with("advise", "within", "3s"), NULL, {"within_s", 3, NULL}, {"best.n", 4, NULL});
    request = new_request("advise");
    set_document(request, "traces", traces_text);
    /* Every trace reaches 0.0279936, on four workers after eight iterations of 0.4 s at best. */
    gives(request, NULL, {"best.n", 4, NULL}, {"best.low_s", 3.2, NULL});
}

/* The loss is 1/i, measured at powers of 2; between these points it is interpolated in ln i, which
 * is exact here. */
static void losses_between_points_are_interpolated(void **state)
{
    static const struct {
        const char *loss;
        double iterations;
    } cases[] = {{"0.26", 4}, {"0.334", 3}, {"0.11", 10}, {"0.5", 2}};
    struct hm_text text = {0};

    (void)state;
    hm__text_add(&text, "algorithm,m,iteration,seconds,loss\n");
    for (int m = 1; m <= 4; m *= 2)
        for (int i = 1; i <= 256; i *= 2)
            hm__text_addf(&text, "gd,%d,%d,%g,%.17g\n", m, i, 1. / m, 1. / i);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct hm_request *request = with_document("advise", "traces", text.data);
        set(request, "best", "0");
        set(request, "m", "1");
        set(request, "loss", cases[k].loss);
        gives(request, NULL, {"best.iterations", cases[k].iterations, NULL},
              {"best.time_s", cases[k].iterations, NULL});
    }
    hm__text_release(&text);
}

/*
 * Tests iterations that take twice as long: times from a file or a job replace those of the traces.
 */
static void advice_takes_times(void **state)
{
    struct hm_request *request = traces_with("advise", "m", "1,2,4");

    (void)state;
    set_document(request, "times",
                 "algorithm,m,iteration,seconds\ngd,1,1,2\ngd,1,2,2\ngd,2,1,1.2\n"
                 "gd,2,2,1.2\ngd,4,1,0.8\ngd,4,2,0.8\n");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.time_s", 4, NULL});
    request = traces_with("advise", "m", "1,2,4");
    set_document(request, "times", "algorithm,m,iteration,seconds\nsgd,1,1,2\nsgd,2,1,1\n");
    run_fails(request, NULL, HM_E_NAME, "times", "has times of 'sgd'");
    /*
     * With ALGORITHM=FILE, the times belong to this algorithm, whatever name the file has for it.
     */
    char path[] = "/tmp/hm-times-XXXXXX.csv", named[64];
    static const char times[] = "algorithm,m,iteration,seconds\nsgd,1,1,2\nsgd,2,1,1.2\n"
                                "sgd,4,1,0.8\n";
    const struct hm_context files = {.files = hm_local_files()};
    int file = mkstemps(path, 4);
    assert_true(file >= 0 && write(file, times, strlen(times)) == (ssize_t)strlen(times));
    close(file);
    snprintf(named, sizeof(named), "gd=%s", path);
    request = traces_with("advise", "m", "1,2,4");
    set(request, "times", named);
    gives(request, &files, {"best.n", 4, NULL}, {"best.time_s", 5 * 0.8, NULL});
    unlink(path);
    request = traces_with("advise", "goal", "cost");
    set(request, "m", "1");
    /* Steps take 101 s on one worker, which costs $1 per hour. */
    set_document(request, "job", small_job);
    gives(request, NULL, {"best.iteration_s", 101, NULL}, {"best.time_s", 404, NULL},
          {"best.cost", 404. / 3600, NULL});
    for (int more = 0; more < 2; more++) {
        request = traces_with("advise", "m", "1,2,4");
        for (int i = 0; i < 64 + more; i++)
            set_document(request, "times", "n,seconds\n1,1\n2,0.6\n4,0.4\n");
        if (more)
            run_fails(request, NULL, HM_E_LIMIT, "times", "more than 64 sources");
        else
            gives(request, NULL, {"best.n", 4, NULL});
    }
}

/* ---- graph and catalog -------------------------------------------------------------------------
 */

static struct hm_request *graph_with(const char *kind, const char *field, const char *value)
{
    struct hm_request *request = new_request("graph");

    set(request, "generate", kind);
    set(request, field, value);
    return request;
}

static void graphs_are_made(void **state)
{
    struct hm_request *request = graph_with("grid", "vertices", "4");

    (void)state;
    /* Without `parts`, the numbers of parts are 2 to 32, but at most the number of vertices. */
    gives(request, NULL, {"splits", 1, NULL}, {"splits.0.split", .text = "dealt"},
          {"splits.0.parts", 3, NULL}, {"splits.0.parts.2.n", 4, NULL}, {"edges", 4, NULL});
    gives(graph_with("grid", "vertices", "2"), NULL, {"splits.0.parts", 1, NULL});
    gives(graph_with("grid", "vertices", "100"), NULL, {"splits.0.parts", 31, NULL});
    request = graph_with("grid", "vertices", "4");
    set(request, "parts", "2,4");
    set(request, "split", "random,hash");
    gives(request, NULL, {"splits", 2, NULL}, {"splits.1.split", .text = "hash"},
          {"splits.1.parts", 2, NULL});
    run_fails(graph_with("grid", "vertices", "0"), NULL, HM_E_MISSING, "vertices", "vertices");
    run_fails(graph_with("random", "vertices", "5"), NULL, HM_E_MISSING, "edges", "needs edges");
    request = graph_with("random", "vertices", "5");
    set(request, "edges", "0");
    run_fails(request, NULL, HM_E_MISSING, "edges", "needs edges");
    request = graph_with("random", "vertices", "5");
    set(request, "edges", "1");
    set(request, "parts", "2");
    gives(request, NULL, {"edges", 1, NULL});
    request = graph_with("power-law", "vertices", "5");
    set(request, "edges", "4");
    run_fails(request, NULL, HM_E_MISSING, "max_degree", "needs max_degree");
    request = graph_with("grid", "vertices", "4");
    set(request, "graph", "x");
    run_fails(request, NULL, HM_E_MISSING, "graph", "either a graph or a kind");
    request = new_request("graph");
    set(request, "graph", "x");
    run_fails(request, NULL, HM_E_UNSUPPORTED, "graph", "cannot name a file");
    request = new_request("graph");
    set(request, "graph", "x");
    set(request, "max_degree", "1");
    run_fails(request, NULL, HM_E_CONFLICT, "max_degree", "this needs generate");
}

/* Returns the entry of a list that has this name; NULL if there is none. */
static const struct hm_value *entry_named(const struct hm_value *list, const char *name)
{
    for (size_t i = 0; list && i < list->count; i++)
        if (strcmp(value_at(&list->items[i], "name")->text, name) == 0)
            return &list->items[i];
    return NULL;
}

/* 784-2500-2000-1500-1000-500-10, fully connected, with biases, has 11,972,510 parameters. */
static void networks_are_counted(void **state)
{
    const struct wanted parameters = {"parameters", 11972510, NULL};
    struct hm_request *request = new_request("catalog list");
    struct hm_arena *arena = hm__arena_new();
    struct hm_value *root = NULL;

    (void)state;
    set(request, "kind", "networks");
    set(request, "json", "true");
    struct hm_reply *reply = run(request, NULL);
    assert_int_equal(hm__json_parse(arena, reply->text, reply->length, "a.json", &root, NULL), 0);
    const struct hm_value *entry = entry_named(value_at(root, "networks"), "mnist-ann");
    assert_non_null(entry);
    check_wanted(entry, &parameters);
    hm_reply_free(reply);
    hm__arena_free(arena);
}

static void catalogs_are_listed(void **state)
{
    struct hm_request *request = new_request("catalog list");

    (void)state;
    set(request, "kind", "fabrics");
    set(request, "names", "true");
    struct hm_reply *reply = run(request, NULL);
    assert_non_null(strstr(reply->text, "10gbe\n"));
    assert_null(strstr(reply->text, "p4d.24xlarge"));
    hm_reply_free(reply);
    request = new_request("catalog list");
    reply = run(request, NULL);
    assert_true(reply->text[0] != '\n');
    /* There is a blank line between two kinds of entries. */
    assert_non_null(strstr(reply->text, "\n\n"));
    assert_non_null(strstr(reply->text, "p4d.24xlarge"));
    assert_non_null(strstr(reply->text, "resnet-50"));
    hm_reply_free(reply);
    request = new_request("catalog list");
    set(request, "names", "true");
    set(request, "json", "true");
    run_fails(request, NULL, HM_E_CONFLICT, "names", "exclude each other");
}

static void catalog_entries_are_shown(void **state)
{
    struct hm_request *request = new_request("catalog show");

    (void)state;
    run_fails(request, NULL, HM_E_MISSING, "name", "no entry is named");
    request = new_request("catalog show");
    set(request, "name", "10gbe");
    gives(request, NULL, {"name", .text = "10gbe"}, {"bandwidth_bytes_per_s", 1.25e9, NULL},
          {"title", .text = "10 Gigabit Ethernet"}, {"date", .text = "2026-11-15"});
    request = new_request("catalog show");
    set(request, "name", "10gbe");
    set(request, "kind", "fabrics");
    says(request, NULL, "title            10 Gigabit Ethernet\n");
    request = new_request("catalog show");
    set(request, "name", "10gbe");
    set(request, "kind", "machines");
    run_fails(request, NULL, HM_E_NAME, "name", "there is no '10gbe' among the machines");
    request = new_request("catalog show"); /* An accelerator can be planned on like a machine. */
    set(request, "name", "t4");
    set(request, "kind", "machines");
    run_fails(request, NULL, HM_E_NAME, "name", "there is no 't4' among the machines");
    request = new_request("catalog show");
    set(request, "name", "p4d.24xlarge");
    gives(request, NULL, {"accelerators", 8, NULL});
    request = new_request("catalog show");
    set(request, "name", "p4d.24xlarge");
    says(request, NULL, "workers          8.00\n");
    request = new_request("catalog show");
    set(request, "name", "lenet-5");
    says(request, NULL, "61706"); /* LeNet-5 with full connections has 61,706 parameters. */
    request = new_request("catalog show");
    set(request, "name", "nothing-like-it");
    struct hm_err err = {0};
    struct hm_reply *reply = NULL;
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_NAME);
    hm_request_free(request);
    run_fails(new_request("catalog import"), NULL, HM_E_MISSING, "file", "no file is named");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recommendations_answer_their_question),
        cmocka_unit_test(recommendations_weigh_time_and_cost),
        cmocka_unit_test(recommendations_check_their_place),
        cmocka_unit_test(convergence_is_checked),
        cmocka_unit_test(recommendations_far_from_runs_are_noted),
        cmocka_unit_test(algorithms_are_kept),
        cmocka_unit_test(aims_are_chosen),
        cmocka_unit_test(fits_are_saved),
        cmocka_unit_test(advice_has_a_price),
        cmocka_unit_test(losses_between_points_are_interpolated),
        cmocka_unit_test(advice_takes_times),
        cmocka_unit_test(graphs_are_made),
        cmocka_unit_test(catalogs_are_listed),
        cmocka_unit_test(networks_are_counted),
        cmocka_unit_test(catalog_entries_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
