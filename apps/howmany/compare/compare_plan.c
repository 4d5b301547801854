/*
 * Lists the tasks and the platforms, and builds the commands of their runs.
 *
 * The survey does not say how many neurons the hidden layers have, nor whether a batch belongs to
 * one worker; it used the example programs of the platforms. This file uses the layers of MXNet's
 * example for MNIST (128, then 64) and batches per worker, as those examples do: 500 images, and,
 * for logistic regression, 100 rows, which is the smaller of the survey's batches of 100 and 500.
 *
 * Source: Zhang, Alqahtani, Demirbas: A comparison of distributed machine learning platforms. ICCCN
 * 2017, Tables 1 and 3.
 */
#include "compare_plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

const char compare_source[] =
    "Zhang, Alqahtani, Demirbas: A comparison of distributed machine learning platforms. ICCCN "
    "2017, Tables 1 and 3";

const struct compare_task compare_tasks[COMPARE_TASKS] = {
    {"logistic", "Logistic regression", "logistic", NULL, false, 10000, 10000, 100},
    {"softmax", "MNIST, softmax", "softmax", NULL, true, 60000, 784, 500},
    {"one-layer", "MNIST, one hidden layer", "perceptron", "128", true, 60000, 784, 500},
    {"two-layers", "MNIST, two hidden layers", "perceptron", "128,64", true, 60000, 784, 500},
};

const struct compare_way compare_ways[COMPARE_WAYS] = {
    {"driver", "driver", NULL, "gd", true},         {"bsp", "server", "bsp", "sgd", false},
    {"ssp", "server", "ssp", "sgd", false},         {"async", "server", "async", "sgd", false},
    {"allreduce", "allreduce", NULL, "sgd", false},
};

const struct compare_published compare_published[] = {
    {"logistic", "driver", "Spark", 0, 5883},
    {"logistic", "bsp", "TensorFlow", 100, 403},
    {"logistic", "bsp", "TensorFlow", 500, 443},
    {"logistic", "bsp", "MXNet", 100, 19277},
    {"logistic", "bsp", "MXNet", 500, 19283},
    {"logistic", "ssp", "PMLS", 1, 21132},
    {"softmax", "driver", "Spark", 0, 424600},
    {"softmax", "bsp", "TensorFlow", 500, 113787},
    {"softmax", "bsp", "MXNet", 500, 221853},
    {"softmax", "async", "TensorFlow", 500, 149759},
    {"softmax", "async", "MXNet", 500, 259076},
    {"one-layer", "driver", "Spark", 0, 24303},
    {"one-layer", "bsp", "TensorFlow", 500, 23485},
    {"one-layer", "bsp", "MXNet", 500, 24383},
    {"one-layer", "async", "TensorFlow", 500, 27099},
    {"one-layer", "async", "MXNet", 500, 25644},
    {"two-layers", "driver", "Spark", 0, 9133},
    {"two-layers", "bsp", "TensorFlow", 500, 15283},
    {"two-layers", "bsp", "MXNet", 500, 16122},
    {"two-layers", "async", "TensorFlow", 500, 22206},
    {"two-layers", "async", "MXNet", 500, 18511},
    {0},
};

/* The sources of these values are named in examples/cluster-m4.yaml. */
const char compare_cluster[] = "m4.xlarge";
const char *const compare_cluster_sets[] = {"flops=5.7 Gflop/s", "efficiency=1", NULL};

/* ---- names ---------------------------------------------------------------------------------- */

static int select_task(void *context, const char *piece)
{
    struct compare_request *request = context;

    for (size_t i = 0; i < COMPARE_TASKS; i++)
        if (strcmp(compare_tasks[i].name, piece) == 0) {
            request->tasks[i] = true;
            return 0;
        }
    return cli_complain("--tasks: there is no task '%s'; use logistic, softmax, one-layer or "
                        "two-layers",
                        piece);
}

static int select_platform(void *context, const char *piece)
{
    struct compare_request *request = context;
    bool found = false;

    for (size_t i = 0; i < COMPARE_WAYS; i++)
        if (strcmp(compare_ways[i].name, piece) == 0 ||
            strcmp(compare_ways[i].platform, piece) == 0)
            request->ways[i] = found = true;
    return found ? 0
                 : cli_complain("--platforms: there is no platform '%s'; use driver, server (bsp, "
                                "ssp and async), bsp, ssp, async or allreduce",
                                piece);
}

int compare_select_tasks(struct compare_request *request, const char *list)
{
    memset(request->tasks, 0, sizeof(request->tasks));
    return cli_each(list, select_task, request);
}

int compare_select_platforms(struct compare_request *request, const char *list)
{
    memset(request->ways, 0, sizeof(request->ways));
    return cli_each(list, select_platform, request);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

/* Returns the number of rows of data that a task uses; -1 means all rows of the files. */
static double task_rows(const struct compare_request *request, const struct compare_task *task)
{
    if (task->images && request->images)
        return -1;
    return request->rows > 0 ? request->rows : task->rows;
}

double compare_batch(const struct compare_request *request, const struct compare_task *task,
                     double n)
{
    return n * (request->batch > 0 ? request->batch : task->batch);
}

/* Returns the number of iterations of a run. For full batches, it is a tenth of the requested
 * number, because such iterations are slow and all take the same time. */
static double run_iterations(const struct compare_request *request, const struct compare_way *way)
{
    return way->full ? ceil(request->iterations / 10) : request->iterations;
}

/*
 * Returns the number of iterations between two evaluations of the objective. There are five
 * evaluations per run, except in simulated runs with ssp or async, which have one at the end. In
 * these runs, all workers start each iteration at the same virtual time and share the links. An
 * evaluation would delay some of the workers, so that they no longer share the links and later
 * iterations would be faster.
 */
static double evaluate_every(const struct compare_request *request, const struct compare_way *way)
{
    double iterations = run_iterations(request, way);
    bool apart = way->consistency && strcmp(way->consistency, "bsp") != 0;

    return apart && !request->real ? iterations : fmax(1, ceil(iterations / 5));
}

int compare_check(const struct compare_request *request)
{
    double most = 0;

    for (size_t i = 0; i < request->n.count; i++)
        most = fmax(most, request->n.values[i]);
    for (size_t t = 0; t < COMPARE_TASKS; t++) {
        const struct compare_task *task = &compare_tasks[t];
        double rows = task_rows(request, task), batch = compare_batch(request, task, most);
        if (request->tasks[t] && rows >= 0 && rows < batch)
            return cli_complain("compare: %s has %.0f rows, but a mini-batch of %.0f workers needs "
                                "%.0f x %.0f; give --rows %.0f or a smaller --batch",
                                task->name, rows, most, most, batch / most, batch);
    }
    return 0;
}

/* ---- commands ------------------------------------------------------------------------------- */

/*
 * A command under construction. After an error, which is stored in `rc`, further calls do nothing.
 */
struct command_builder {
    struct launch_command command;
    int rc;
};

static void builder_add(struct command_builder *b, const char *format, ...) HM_PRINTF(2, 3);

static void builder_add(struct command_builder *b, const char *format, ...)
{
    struct hm_err err = {0};
    char argument[1200];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(argument, sizeof(argument), format, args);
    va_end(args);
    if (b->rc == 0 && (length < 0 || (size_t)length >= sizeof(argument)))
        b->rc = cli_complain("compare: '%.60s…' is too long", argument);
    if (b->rc == 0 && launch_command_add(&b->command, argument, &err))
        b->rc = cli_report(&err);
}

/* Returns the number of rows to generate. For an algorithm with mini-batches, it is a multiple of
 * the mini-batch of all workers together; otherwise, mini-batches would become smaller. */
static double generated_rows(const struct compare_request *request, const struct compare_task *task,
                             const struct compare_way *way, double n)
{
    double rows = task_rows(request, task), batch = compare_batch(request, task, n);

    return way->full ? rows : batch * floor(rows / batch);
}

static void builder_add_task(struct command_builder *b, const struct compare_request *request,
                             const struct compare_task *task, double rows)
{
    builder_add(b, "--problem=%s", task->problem);
    if (task->images && request->images)
        builder_add(b, "--data=%s", request->images);
    else if (task->images)
        builder_add(b, "--data=digits:%.0f", rows);
    else
        builder_add(b, "--data=dense:%.0fx%.0f", rows, task->features);
    if (task->hidden)
        builder_add(b, "--hidden=%s", task->hidden);
    if (task->images)
        builder_add(b, "--scale=unit");
    if (task->images && !task->hidden)
        builder_add(b, "--keep=dense");
}

static void builder_add_way(struct command_builder *b, const struct compare_request *request,
                            const struct compare_way *way, double batch)
{
    builder_add(b, "--platform=%s", way->platform);
    if (way->consistency) {
        builder_add(b, "--consistency=%s", way->consistency);
        builder_add(b, "--servers=%.0f", request->servers);
        if (strcmp(way->consistency, "ssp") == 0)
            builder_add(b, "--staleness=%.0f", request->staleness);
    }
    builder_add(b, "--algorithm=%s", way->algorithm);
    if (!way->full)
        builder_add(b, "--batch=%.0f", batch);
}

static void builder_add_cluster(struct command_builder *b, const struct compare_request *request)
{
    builder_add(b, "--simulate=%s", request->simulate ? request->simulate : compare_cluster);
    for (size_t i = 0; !request->simulate && compare_cluster_sets[i]; i++)
        builder_add(b, "--set=%s", compare_cluster_sets[i]);
    for (size_t i = 0; i < request->set_count; i++)
        builder_add(b, "--set=%s", request->sets[i]);
}

int compare_run_command(const struct compare_request *request, const struct compare_task *task,
                        const struct compare_way *way, double n, struct launch_command *ret_command)
{
    struct command_builder b = {0};
    double iterations = run_iterations(request, way);

    builder_add(&b, "train");
    builder_add(&b, "-n%.0f", n);
    builder_add_task(&b, request, task, generated_rows(request, task, way, n));
    builder_add_way(&b, request, way, compare_batch(request, task, n));
    builder_add(&b, "--iterations=%.0f", iterations);
    builder_add(&b, "--look-every=%.0f", evaluate_every(request, way));
    builder_add(&b, "--seed=%.0f", request->seed);
    builder_add(&b, "--usage");
    if (!request->real)
        builder_add_cluster(&b, request);
    if (request->record)
        builder_add(&b, "--record=%s", request->record);
    builder_add(&b, "--json");
    if (b.rc) {
        launch_command_release(&b.command);
        return b.rc;
    }
    *ret_command = b.command;
    return 0;
}
