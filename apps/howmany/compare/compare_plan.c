/*
 * Tasks, platforms, and the words of their runs.
 *
 * The survey says neither how many neurons the hidden layers have nor whether a batch is of one
 * worker; the programs were the examples of the platforms. Taken here are the layers of MXNet's
 * example for MNIST (128, and 64 after it) and batches of each worker, as those examples have
 * them: 500 images, and 100 of the 100 and 500 rows of the logistic regression.
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

/* examples/cluster-m4.yaml says where it comes from. */
const char compare_cluster[] = "m4.xlarge";
const char *const compare_cluster_sets[] = {"flops=5.7 Gflop/s", "efficiency=1", NULL};

/* ---- names ---------------------------------------------------------------------------------- */

static int take_task(void *context, const char *piece)
{
    struct compare_asked *asked = context;

    for (size_t i = 0; i < COMPARE_TASKS; i++)
        if (strcmp(compare_tasks[i].name, piece) == 0) {
            asked->tasks[i] = true;
            return 0;
        }
    return cli_complain("--tasks: there is no '%s'; there are logistic, softmax, one-layer and "
                        "two-layers",
                        piece);
}

static int take_platform(void *context, const char *piece)
{
    struct compare_asked *asked = context;
    bool found = false;

    for (size_t i = 0; i < COMPARE_WAYS; i++)
        if (strcmp(compare_ways[i].name, piece) == 0 ||
            strcmp(compare_ways[i].platform, piece) == 0)
            asked->ways[i] = found = true;
    return found ? 0
                 : cli_complain("--platforms: there is no '%s'; there are driver, server (bsp, ssp "
                                "and async, or one of them) and allreduce",
                                piece);
}

int compare_take_tasks(struct compare_asked *asked, const char *list)
{
    memset(asked->tasks, 0, sizeof(asked->tasks));
    return cli_each(list, take_task, asked);
}

int compare_take_platforms(struct compare_asked *asked, const char *list)
{
    memset(asked->ways, 0, sizeof(asked->ways));
    return cli_each(list, take_platform, asked);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

double compare_rows(const struct compare_asked *asked, const struct compare_task *task)
{
    if (task->images && asked->images)
        return -1;
    return asked->rows > 0 ? asked->rows : task->rows;
}

double compare_batch(const struct compare_asked *asked, const struct compare_task *task, double n)
{
    return n * (asked->batch > 0 ? asked->batch : task->batch);
}

/* One of full batches is many passes over the data, and all of them take the same time. */
double compare_iterations(const struct compare_asked *asked, const struct compare_way *way)
{
    return way->full ? ceil(asked->iterations / 10) : asked->iterations;
}

/*
 * Five looks, where they change nothing. Workers of ssp and async who are in step stay so in
 * virtual time; a look would put some of them out of step, and what comes after it would be faster.
 */
static double look_every(const struct compare_asked *asked, const struct compare_way *way)
{
    double iterations = compare_iterations(asked, way);
    bool apart = way->consistency && strcmp(way->consistency, "bsp") != 0;

    return apart && !asked->real ? iterations : fmax(1, ceil(iterations / 5));
}

int compare_check(const struct compare_asked *asked)
{
    double most = 0;

    for (size_t i = 0; i < asked->n.count; i++)
        most = fmax(most, asked->n.values[i]);
    for (size_t t = 0; t < COMPARE_TASKS; t++) {
        const struct compare_task *task = &compare_tasks[t];
        double rows = compare_rows(asked, task), batch = compare_batch(asked, task, most);
        if (asked->tasks[t] && rows >= 0 && rows < batch)
            return cli_complain("compare: %s has %.0f rows, and a mini-batch of %.0f workers has "
                                "%.0f x %.0f; give --rows %.0f or a smaller --batch",
                                task->name, rows, most, most, batch / most, batch);
    }
    return 0;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Words that are being gathered; `rc` sticks. */
struct gathering {
    struct cli_words words;
    int rc;
};

static void add(struct gathering *g, const char *format, ...) HM_PRINTF(2, 3);

static void add(struct gathering *g, const char *format, ...)
{
    struct hm_err err = {0};
    char word[1200];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(word, sizeof(word), format, args);
    va_end(args);
    if (g->rc == 0 && (length < 0 || (size_t)length >= sizeof(word)))
        g->rc = cli_complain("compare: '%.60s…' is too long", word);
    if (g->rc == 0 && cli_words_add(&g->words, word, &err))
        g->rc = cli_report(&err);
}

/* Rows beyond whole mini-batches would make each of them smaller. */
static double rows_made(const struct compare_asked *asked, const struct compare_task *task,
                        const struct compare_way *way, double n)
{
    double rows = compare_rows(asked, task), batch = compare_batch(asked, task, n);

    return way->full ? rows : batch * floor(rows / batch);
}

static void add_task(struct gathering *g, const struct compare_asked *asked,
                     const struct compare_task *task, double rows)
{
    add(g, "--problem=%s", task->problem);
    if (task->images && asked->images)
        add(g, "--data=%s", asked->images);
    else if (task->images)
        add(g, "--data=digits:%.0f", rows);
    else
        add(g, "--data=dense:%.0fx%.0f", rows, task->features);
    if (task->hidden)
        add(g, "--hidden=%s", task->hidden);
    if (task->images)
        add(g, "--scale=unit");
    if (task->images && !task->hidden)
        add(g, "--keep=dense");
}

static void add_way(struct gathering *g, const struct compare_asked *asked,
                    const struct compare_way *way, double batch)
{
    add(g, "--platform=%s", way->platform);
    if (way->consistency) {
        add(g, "--consistency=%s", way->consistency);
        add(g, "--servers=%.0f", asked->servers);
        if (strcmp(way->consistency, "ssp") == 0)
            add(g, "--staleness=%.0f", asked->staleness);
    }
    add(g, "--algorithm=%s", way->algorithm);
    if (!way->full)
        add(g, "--batch=%.0f", batch);
}

static void add_cluster(struct gathering *g, const struct compare_asked *asked)
{
    add(g, "--simulate=%s", asked->simulate ? asked->simulate : compare_cluster);
    for (size_t i = 0; !asked->simulate && compare_cluster_sets[i]; i++)
        add(g, "--set=%s", compare_cluster_sets[i]);
    for (size_t i = 0; i < asked->set_count; i++)
        add(g, "--set=%s", asked->sets[i]);
}

int compare_run_words(const struct compare_asked *asked, const struct compare_task *task,
                      const struct compare_way *way, double n, struct cli_words *ret_words)
{
    struct gathering g = {0};
    double iterations = compare_iterations(asked, way);

    add(&g, "train");
    add(&g, "-n%.0f", n);
    add_task(&g, asked, task, rows_made(asked, task, way, n));
    add_way(&g, asked, way, compare_batch(asked, task, n));
    add(&g, "--iterations=%.0f", iterations);
    add(&g, "--look-every=%.0f", look_every(asked, way));
    add(&g, "--seed=%.0f", asked->seed);
    add(&g, "--usage");
    if (!asked->real)
        add_cluster(&g, asked);
    if (asked->record)
        add(&g, "--record=%s", asked->record);
    add(&g, "--json");
    if (g.rc) {
        cli_words_release(&g.words);
        return g.rc;
    }
    *ret_words = g.words;
    return 0;
}
