/*
 * The time of adding runs to a store and of reading pages. bench_store WHERE FOLDER [RUNS] fills an
 * empty store with a million runs, or RUNS; FOLDER is on the disk whose fsync is timed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "howmany_store.h"
#include "random.h"

enum { BATCH = 1000, PAGE = 100, TIMES = 7 };

/* Time that the server gives the search for a page of 100 runs. */
static const double SEARCH_S = 0.035;

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_with_error(const struct hm_err *err)
{
    fprintf(stderr, "%s: %s\n", err->source, err->message);
    exit(1);
}

/* Returns the calls of fsync per second on a file that grows by a page each time. */
static double syncs_per_s(const char *folder)
{
    char path[1024], page[4096] = {0};
    const int times = 300;

    snprintf(path, sizeof(path), "%s/sync", folder);
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    double start = now_s();
    for (int i = 0; i < times; i++)
        if (file < 0 || write(file, page, sizeof(page)) != sizeof(page) || fsync(file))
            exit(1);
    double rate = times / (now_s() - start);
    close(file);
    unlink(path);
    return rate;
}

static struct hm_stored make_run(struct hm_random *random, size_t i, char key[40])
{
    static const char *const machines[] = {"m5.large", "m5.xlarge", "c5.large", "p4d.24xlarge"};
    static const char *const algorithms[] = {"gd", "sgd", "cocoa", "cocoa+"};
    struct hm_stored run = HM_STORED_INIT;

    snprintf(key, 40, "%08x-%08x", hm__random_u32(random), hm__random_u32(random));
    run.key = key;
    run.n = 1 << hm__random_below(random, 8);
    run.machine = i % 10007 == 0 ? "rare" : machines[hm__random_below(random, 4)];
    run.algorithm = algorithms[hm__random_below(random, 4)];
    run.job = "mnist";
    run.host = "node17";
    run.seconds = hm__random_uniform(random) * 100;
    run.total = run.seconds * 100;
    run.iterations = 100;
    run.loss = i % 3 ? hm__random_uniform(random) : run.loss;
    run.batch = 1 << hm__random_below(random, 12);
    run.latency = 1e-3 * (1 + hm__random_below(random, 100));
    run.status = hm__random_below(random, 50) ? "ok" : "timeout";
    run.more = i % 2 ? "{\"rate\": 0.1, \"gpu\": \"a100\"}" : "{\"rate\": 0.9}";
    return run;
}

static void time_adding(struct hm_store *store, struct hm_random *random, size_t from, size_t count,
                        size_t batch, const char *what, double sync)
{
    static struct hm_stored runs[BATCH];
    static char keys[BATCH][40];
    struct hm_err err = {0};
    double spent = 0;

    for (size_t i = 0; i < count; i += batch) {
        for (size_t k = 0; k < batch; k++)
            runs[k] = make_run(random, from + i + k, keys[k]);
        double start = now_s();
        if (hm_store_add(store, runs, batch, NULL, NULL, &err))
            stop_with_error(&err);
        spent += now_s() - start;
    }
    printf("%-60s %10.0f runs/s", what, (double)count / spent);
    if (sync > 0)
        printf("   %.2f of a bare sync (%.0f/s)", (double)count / spent / sync, sync);
    printf("\n");
    fflush(stdout);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median time of reading a page, in ms; *ret_count is the number of its runs. */
static double page_ms(struct hm_store *store, const struct hm_store_filter *filter,
                      size_t *ret_count)
{
    double times[TIMES];
    struct hm_err err = {0};

    for (int i = 0; i < TIMES; i++) {
        struct hm_store_page *page;
        double start = now_s();
        if (hm_store_list(store, filter, &page, &err))
            stop_with_error(&err);
        times[i] = 1e3 * (now_s() - start);
        *ret_count = page->count;
        hm_store_page_free(page);
    }
    qsort(times, TIMES, sizeof(times[0]), compare_doubles);
    return times[TIMES / 2];
}

/*
 * Returns the cursor (`after`) of the position 500 runs before the end, found by reading in the
 * opposite order; NULL when there are fewer runs.
 */
static char *cursor_near_end(struct hm_store *store, struct hm_store_filter filter)
{
    static char after[9000];
    char sort[40];
    struct hm_store_page *page;
    struct hm_err err = {0};
    const char *own = filter.sort ? filter.sort : "-id";

    snprintf(sort, sizeof(sort), "%s%s", *own == '-' ? "" : "-", own + (*own == '-'));
    filter.sort = sort;
    filter.seconds = 0;
    filter.limit = 500;
    if (hm_store_list(store, &filter, &page, &err))
        stop_with_error(&err);
    if (page->next)
        snprintf(after, sizeof(after), "%s%s", *own == '-' ? "-" : "",
                 page->next + (*page->next == '-'));
    bool there = page->next;
    hm_store_page_free(page);
    return there ? after : NULL;
}

static void time_page(struct hm_store *store, const char *first, const char *second,
                      const char *sort)
{
    const char *const where[] = {first, second};
    struct hm_store_filter filter = {.where = where,
                                     .where_count = second  ? 2
                                                    : first ? 1
                                                            : 0,
                                     .sort = sort,
                                     .limit = PAGE,
                                     .seconds = SEARCH_S};
    size_t count, last = 0;
    char what[100];

    snprintf(what, sizeof(what), "page: %s%s%s, by %s", first ? first : "all", second ? " " : "",
             second ? second : "", sort ? sort : "-id");
    double front = page_ms(store, &filter, &count), end = -1;
    filter.after = cursor_near_end(store, filter);
    if (filter.after)
        end = page_ms(store, &filter, &last);
    printf("%-60s %10.2f ms (%zu)", what, front, count);
    if (end >= 0)
        printf("   at the far end %.2f ms (%zu)", end, last);
    printf("\n");
    fflush(stdout);
}

static void time_count(struct hm_store *store, const char *where)
{
    struct hm_store_filter filter = {.where = &where, .where_count = where ? 1 : 0};
    struct hm_err err = {0};
    int64_t count;
    double start = now_s();

    if (hm_store_count(store, &filter, &count, &err))
        stop_with_error(&err);
    printf("count: %-53s %10.2f ms (%lld)\n", where ? where : "all", 1e3 * (now_s() - start),
           (long long)count);
}

static void time_all_pages(struct hm_store *store)
{
    static const char *const sorts[] = {NULL, "seconds", "-seconds", "-made_at", "loss",
                                        "n",  "machine", "key",      "-cost"};

    for (size_t i = 0; i < sizeof(sorts) / sizeof(sorts[0]); i++)
        time_page(store, NULL, NULL, sorts[i]);
    time_page(store, "machine=m5.large", NULL, NULL);
    time_page(store, "machine=m5.large", NULL, "seconds");
    time_page(store, "machine=rare", NULL, NULL);
    time_page(store, "machine=rare", NULL, "-seconds");
    time_page(store, "n=64", "algorithm=cocoa", "seconds");
    time_page(store, "n>=8", "latency<20ms", "-seconds");
    time_page(store, "machine=rare", "algorithm=sgd", "seconds");
    time_page(store, "status=timeout", "machine=m5.large", "loss");
    time_page(store, "batch<1000", "seconds<0.01", "loss");
    time_page(store, "batch<1000", NULL, NULL);
    time_page(store, "seconds<0.01", NULL, NULL);
    time_page(store, "seconds<0.01", NULL, "seconds");
    time_page(store, "status!=ok", NULL, "loss");
    time_page(store, "rate<0.5", NULL, NULL);
    time_count(store, NULL);
    time_count(store, "machine=m5.large");
    time_count(store, "latency<20ms");
    time_count(store, "rate<0.5");
}

int main(int argc, char **argv)
{
    struct hm_store *store;
    struct hm_random random;
    struct hm_err err = {0};
    size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : 1000000;

    if (argc < 3 || count < BATCH) {
        fprintf(stderr, "usage: bench_store WHERE FOLDER [RUNS]\n");
        return 2;
    }
    hm__random_init(&random, 1, 1);
    if (hm_store_open(argv[1], &store, &err))
        stop_with_error(&err);
    time_adding(store, &random, 0, 300, 1, "add one by one, to an empty store",
                syncs_per_s(argv[2]));
    time_adding(store, &random, 0, count, BATCH, "add in batches of 1000", 0);
    time_adding(store, &random, 0, 300, 1, "add one by one, to a full store", syncs_per_s(argv[2]));
    hm_store_close(store);
    if (hm_store_open(argv[1], &store, &err))
        stop_with_error(&err);
    time_all_pages(store);
    hm_store_close(store);
    return 0;
}
