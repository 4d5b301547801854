/* Tests the reading of tables of runs, and errors that name row and column. */
#include "howmany_store.h"
#include "testing.h"

#include <unistd.h>

static struct hm_runs *parse(const char *text)
{
    struct hm_err err = {0};
    struct hm_runs *runs = NULL;

    if (hm_runs_parse(text, strlen(text), "runs.csv", &runs, &err))
        fail_msg("line %d, %s: %s", err.line, err.field, err.message);
    return runs;
}

static double at(const struct hm_runs *runs, const char *name, size_t row)
{
    const struct hm_column *column = hm_runs_column(runs, name);

    if (!column || !column->values)
        fail_msg("no numbers in %s", name);
    return column->values[row];
}

static void test_named_columns(void **state)
{
    struct hm_runs *runs = parse("n,size,seconds,machine,queue\n"
                                 "1,0.5,2.5,m5,fast\n\n# a comment\n4,1,\"1.25\",m5,slow\n");

    (void)state;
    assert_int_equal(runs->count, 2);
    assert_near(at(runs, "n", 1), 4, 0);
    assert_near(at(runs, "seconds", 1), 1.25, 0);
    assert_string_equal(hm_runs_column(runs, "machine")->labels[0], "m5");
    assert_string_equal(hm_runs_column(runs, "queue")->labels[1], "slow");
    assert_int_equal(runs->lines[1], 5);
    assert_null(hm_runs_column(runs, "nothing"));
    hm_runs_free(runs);
}

static void test_ernest(void **state)
{
    struct hm_runs *runs =
        parse("#Cores,Input Fraction, Time (s)\n32,0.125,7.945\n4,0.0156,4.72\n");

    (void)state;
    assert_near(at(runs, "n", 0), 32, 0);
    assert_near(at(runs, "size", 1), 0.0156, 0);
    assert_near(at(runs, "seconds", 1), 4.72, 0);
    hm_runs_free(runs);
    runs = parse("# made on Monday\nworkers,time\n2,3\n"); /* A comment that names no column is not
                                                              a header. */
    assert_near(at(runs, "seconds", 0), 3, 0);
    hm_runs_free(runs);
}

/* Names of the number of workers as logs and scripts write them. */
static void test_names_of_n(void **state)
{
    static const char *const names[] = {"num_gpus",  "n_gpus",  "ngpus",     "Number of GPUs",
                                        "GPU count", "devices", "num ranks", "world_size",
                                        "# GPUs",    "nproc",   "chips",     "num_nodes",
                                        "nnodes",    "nodes",   "gpu_count"};
    static const char *const others[] = {"num_workers", "gpu",      "device",     "rank",
                                         "gpu type",    "num_gpus", "total_cores"};
    char text[100];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(text, sizeof(text), "%s,seconds\n4,2\n8,1\n", names[i]);
        struct hm_runs *runs = parse(text);
        assert_near(at(runs, "n", 1), 8, 0);
        hm_runs_free(runs);
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(text, sizeof(text), "%s,n,seconds\n4,2,1\n", others[i]);
        struct hm_runs *runs = parse(text);
        assert_near(at(runs, "n", 0), 2, 0);
        assert_near(at(runs, others[i], 0), 4, 0);
        hm_runs_free(runs);
    }
    struct hm_runs *runs = parse("num_nodes,gpus_per_node,seconds\n1,8,4\n2,4,3\n");
    assert_near(at(runs, "n", 0), 8, 0);
    assert_near(at(runs, "n", 1), 8, 0);
    assert_near(at(runs, "nodes", 1), 2, 0);
    hm_runs_free(runs);
    struct hm_err err = {0};
    assert_int_equal(hm_runs_parse("num_gpus,seconds\n0.5,2\n", 22, "t.csv", &runs, &err),
                     HM_E_RANGE);
    assert_string_equal(err.field, "n");
}

static void test_units(void **state)
{
    struct hm_runs *runs = parse("n,latency,bandwidth,time (ms),batch\n"
                                 "1,20 ms,1 Gbit/s,250,64\n2,0.1 s,10 Gbit/s,125,64\n");

    (void)state;
    assert_near(at(runs, "latency", 0), 0.02, 1e-15);
    assert_near(at(runs, "latency", 1), 0.1, 1e-15);
    assert_near(at(runs, "bandwidth", 1), 1.25e9, 1e-15);
    assert_near(at(runs, "seconds", 0), 0.25, 1e-15);
    hm_runs_free(runs);
    runs = parse("n,latency_ms,seconds\n1,20,3\n2,30,4\n");
    assert_near(at(runs, "latency", 0), 0.02, 1e-15);
    hm_runs_free(runs);
}

static void test_json_lines(void **state)
{
    struct hm_runs *runs = parse("{\"n\":1,\"seconds\":2,\"machine\":\"a\"}\n\n"
                                 "{\"seconds\":1.5,\"n\":2,\"machine\":\"b\",\"size\":0.5}\n");

    (void)state;
    assert_int_equal(runs->count, 2);
    assert_near(at(runs, "n", 1), 2, 0);
    assert_true(isnan(at(runs, "size", 0)));
    assert_near(at(runs, "size", 1), 0.5, 0);
    assert_string_equal(hm_runs_column(runs, "machine")->labels[1], "b");
    assert_int_equal(runs->lines[1], 3);
    hm_runs_free(runs);
}

/* Objects may have samples, which other rows lack; conditions keep the samples of their rows. */
static void test_samples(void **state)
{
    struct hm_runs *runs =
        parse("{\"n\":1,\"seconds\":2}\n"
              "{\"n\":2,\"seconds\":3,\"samples\":[{\"iteration\":1,\"seconds\":2.5,"
              "\"loss\":-1},{\"iteration\":2,\"elapsed_s\":6,\"loss\":null}]}\n"
              "{\"n\":4,\"seconds\":1,\"samples\":[]}\n");

    (void)state;
    assert_int_equal(runs->column_count, 2);
    assert_int_equal(runs->samples[0].count, 0);
    assert_int_equal(runs->samples[2].count, 0);
    assert_int_equal(hm_runs_where(runs, "n=2", NULL), 0);
    assert_int_equal(runs->samples[0].count, 2);
    const struct hm_stored_sample *samples = runs->samples[0].samples;
    assert_near(samples[0].iteration, 1, 0);
    assert_near(samples[0].seconds, 2.5, 0);
    assert_near(samples[0].loss, -1, 0);
    assert_true(isnan(samples[0].elapsed_s));
    assert_near(samples[1].elapsed_s, 6, 0);
    assert_true(isnan(samples[1].loss) && isnan(samples[1].seconds));
    hm_runs_free(runs);
    runs = parse("{\"n\":1,\"seconds\":2}\n");
    assert_null(runs->samples);
    hm_runs_free(runs);
}

/* Samples in more rows than the table has room for at first. */
static void test_samples_of_many_rows(void **state)
{
    char *text = malloc(1000 * 80);
    size_t used = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        used += (size_t)snprintf(text + used, 80,
                                 "{\"n\":%d,\"seconds\":1,\"samples\":[{\"iteration\":%d}]}\n",
                                 i + 1, 2 * i);
    struct hm_runs *runs = parse(text);
    assert_int_equal(runs->count, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_near(runs->samples[i].samples[0].iteration, 2.0 * (double)i, 0);
    hm_runs_free(runs);
    free(text);
}

static void test_samples_refused(void **state)
{
    static const struct {
        const char *samples, *field, *message;
    } cases[] = {
        {"[1]", "samples.0", "single value"},
        {"[{\"iteration\":1},[]]", "samples.1", "list"},
        {"[{\"seconds\":1}]", "samples.0", "'iteration' is missing"},
        {"[{\"iteration\":null}]", "samples.0.iteration", ""},
        {"[{\"iteration\":1,\"los\":2}]", "samples.0.los", "key"},
        {"[{\"iteration\":1,\"loss\":\"x\"}]", "samples.0.loss", "'x'"},
        {"{\"iteration\":1}", "samples", "map"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_err err = {0};
        struct hm_runs *runs = NULL;
        char text[200];
        snprintf(text, sizeof(text),
                 "{\"n\":1,\"seconds\":2}\n{\"n\":2,\"seconds\":2,\"samples\":%s}\n",
                 cases[i].samples);
        assert_true(hm_runs_parse(text, strlen(text), "runs.jsonl", &runs, &err) < 0);
        assert_null(runs);
        assert_string_equal(err.field, cases[i].field);
        if (!strstr(err.message, cases[i].message))
            fail_msg("%s: %s", cases[i].samples, err.message);
        assert_int_equal(err.line, 2);
    }
}

static void test_other_times(void **state)
{
    struct hm_runs *runs = parse("n,total,iterations\n1,100,50\n2,60,\n");

    (void)state;
    assert_near(at(runs, "seconds", 0), 2, 0);
    assert_near(at(runs, "seconds", 1), 60, 0);
    assert_false(runs->relative);
    hm_runs_free(runs);
    runs = parse("n,speedup\n1,1\n2,1.6\n");
    assert_true(runs->relative);
    assert_near(at(runs, "seconds", 1), 1 / 1.6, 1e-15);
    hm_runs_free(runs);
    runs = parse("n,seconds,status\n1,3,ok\n2,,exit 1\n4,2,timeout\n8,1,\n");
    assert_int_equal(runs->failed, 2);
    assert_true(isnan(at(runs, "seconds", 2))); /* The time of a failed run is not used. */
    assert_near(at(runs, "seconds", 3), 1, 0);
    hm_runs_free(runs);
}

/* A column of numbers that contains a word becomes a column of labels, from its first row. */
static void test_numbers_become_labels(void **state)
{
    struct hm_runs *runs = parse("n,seconds,config\n1,1,7\n2,1,2.5\n4,1,x2\n");
    const struct hm_column *config = hm_runs_column(runs, "config");

    (void)state;
    assert_null(config->values);
    assert_string_equal(config->labels[0], "7");
    assert_string_equal(config->labels[1], "2.5");
    assert_string_equal(config->labels[2], "x2");
    hm_runs_free(runs);
}

/* A whole number that no double equals is an identifier, whose digits must all stay. */
static void test_long_identifiers(void **state)
{
    static const char *const wanted[] = {"9007199254740991", "9007199254740993",
                                         "-12345678901234567890", "1e-400", "1e60"};
    struct hm_runs *runs =
        parse("n,seconds,job,large\n1,1,9007199254740991,9007199254740992\n"
              "2,1,9007199254740993,18446744073709551616\n"
              "3,1,-12345678901234567890,1e22\n4,1,1e-400,0.0\n5,1,1e60,1e-300\n");
    const struct hm_column *job = hm_runs_column(runs, "job");

    (void)state;
    assert_non_null(job->labels);
    for (size_t i = 0; i < runs->count; i++)
        assert_string_equal(job->labels[i], wanted[i]);
    assert_near(at(runs, "large", 1), 18446744073709551616.0, 0);
    assert_near(at(runs, "large", 4), 1e-300, 0);
    hm_runs_free(runs);
}

/* Every spelling of a number that a double has with other digits is a label; a number that keeps
 * its digits is not, and neither is a quantity with a unit. */
static void test_spellings_of_long_numbers(void **state)
{
    static const char *const labels[] = {"9007199254740993.0", "9.007199254740993e15",
                                         "+9007199254740993", "9_007_199_254_740_993",
                                         "-90071992547409930e-1"};
    static const char *const numbers[] = {"9007199254740992.0",
                                          "1.2345678901234567e+20",
                                          "1.50e20",
                                          "1e23",
                                          "12345678901234567168.",
                                          "0.12345678901234567890",
                                          "12345678901234567890 s"};
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        snprintf(text, sizeof(text), "n,seconds,task\n1,1,%s\n", labels[i]);
        struct hm_runs *runs = parse(text);
        assert_non_null(hm_runs_column(runs, "task")->labels);
        assert_string_equal(hm_runs_column(runs, "task")->labels[0], labels[i]);
        hm_runs_free(runs);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        snprintf(text, sizeof(text), "n,seconds,task\n1,1,%s\n", numbers[i]);
        struct hm_runs *runs = parse(text);
        assert_near(at(runs, "task", 0), strtod(numbers[i], NULL), 0);
        hm_runs_free(runs);
    }
}

/* Numbers of workers and nodes are at most 2^53 - 1, because larger ones become equal. */
static void test_large_counts(void **state)
{
    static const char *const tables[] = {"n,seconds\n9007199254740993,1\n", "n,seconds\n9.1e15,1\n",
                                         "n,seconds,nodes\n1,1,9007199254740992\n",
                                         "nodes,workers_per_node,seconds\n9e8,9e8,1\n"};

    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct hm_runs *runs = NULL;
        struct hm_err err = {0};
        assert_int_equal(hm_runs_parse(tables[i], strlen(tables[i]), "t.csv", &runs, &err),
                         HM_E_RANGE);
        assert_string_equal(err.field, i == 2 ? "nodes" : "n");
        assert_int_equal(err.line, 2);
    }
    hm_runs_free(parse("n,seconds\n9007199254740991,1\n"));
}

/* Every node has at least one worker and at most workers_per_node. */
static void test_contradicting_nodes(void **state)
{
    static const char *const rows[] = {"1,2,8", "17,2,8", "3,4,1", "3,2,1", "3,1,2.5"};
    static const char *const messages[] = {
        "1 workers cannot be on 2 nodes with 8 workers_per_node",
        "17 workers cannot be on 2 nodes with 8 workers_per_node",
        "3 workers cannot be on 4 nodes with 1 workers_per_node",
        "3 workers cannot be on 2 nodes with 1 workers_per_node",
        "3 workers cannot be on 1 nodes with 2.5 workers_per_node"};
    char text[200];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_runs *runs = NULL;
        struct hm_err err = {0};
        snprintf(text, sizeof(text), "%s,nodes,workers_per_node,seconds\n8,1,8,1\n%s,2\n",
                 i % 2 ? "num_gpus" : "n", rows[i]);
        assert_int_equal(hm_runs_parse(text, strlen(text), "t.csv", &runs, &err), HM_E_CONFLICT);
        assert_string_equal(err.message, messages[i]);
        assert_string_equal(err.field, "n");
        assert_int_equal(err.line, 3);
    }
    hm_runs_free(parse("n,nodes,workers_per_node,seconds\n1,1,8,1\n16,2,8,1\n9,2,8,1\n"
                       "12,,8,1\n12,4,,1\n6,4,2,1\n"));
}

/* Zeros before a number stay in a column of another name, in whichever order the rows are. */
static void test_leading_zeros(void **state)
{
    static const char *const wanted[] = {"7", "007", "-01", "2.25", "0.12345678901234567", "10"};
    struct hm_runs *runs = parse("n,seconds,tag,delay (ms),num_gpus,zero\n01,1,7,007,01,0\n"
                                 "1,1,007,010,1,0.5\n1,1,-01,3,1,-0\n1,1,2.25,3,1,0e5\n"
                                 "1,1,0.12345678901234567,3,1,0\n1,1,10,3,1,0\n");
    const struct hm_column *tag = hm_runs_column(runs, "tag");

    (void)state;
    assert_non_null(tag->labels);
    for (size_t i = 0; i < runs->count; i++)
        assert_string_equal(tag->labels[i], wanted[i]);
    assert_near(at(runs, "delay", 0), 0.007, 1e-15);
    assert_near(at(runs, "num_gpus", 0), 1, 0);
    assert_near(at(runs, "zero", 1), 0.5, 0);
    hm_runs_free(runs);
}

/* Seeds that become the same double would merge two traces into one. */
static void test_long_seeds(void **state)
{
    static const struct {
        const char *text, *field, *message;
    } cases[] = {
        {"m,iteration,loss,seed\n1,1,2,9007199254740993\n", "seed",
         "'9007199254740993' is too large for a seed: the largest is 2^53 - 1"},
        {"m,iteration,loss,seconds\n1,1,2,1e51\n", "seconds", "'1e51' is too large"},
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct hm_traces *traces = NULL;
        struct hm_err err = {0};
        assert_int_equal(
            hm_traces_parse(cases[i].text, strlen(cases[i].text), "t.csv", NULL, &traces, &err),
            HM_E_RANGE);
        assert_string_equal(err.field, cases[i].field);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_many_rows(void **state)
{
    const size_t rows = 3000;
    char *text = malloc(rows * 40);
    size_t used = (size_t)snprintf(text, 40, "n,seconds,note\n");

    (void)state;
    for (size_t i = 0; i < rows; i++)
        used += (size_t)snprintf(text + used, 40, "%zu,%g,row%zu\n", i + 1, 1.0 / (double)(i + 1),
                                 i % 3);
    struct hm_runs *runs = parse(text);
    assert_int_equal(runs->count, rows);
    assert_near(at(runs, "n", rows - 1), (double)rows, 0);
    assert_string_equal(hm_runs_column(runs, "note")->labels[rows - 1], "row2");
    hm_runs_free(runs);
    free(text);
}

static void test_where(void **state)
{
    const char text[] = "n,seconds,machine\n1,3,a\n2,2,b\n4,1,a\n";
    struct hm_runs *runs = parse(text);
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_runs_where(runs, "machine=a", NULL), 0);
    assert_int_equal(runs->count, 2);
    assert_near(at(runs, "n", 1), 4, 0);
    assert_int_equal(hm_runs_where(runs, "n=4", NULL), 0);
    assert_int_equal(runs->count, 1);
    assert_int_equal(runs->lines[0], 4);
    assert_int_equal(hm_runs_where(runs, "n=5", NULL), HM_E_MISSING);
    assert_int_equal(hm_runs_where(runs, "n=x", NULL), HM_E_TYPE);
    assert_int_equal(hm_runs_where(runs, "machine", NULL), HM_E_SYNTAX);
    assert_int_equal(hm_runs_where(runs, "machin=a", &err), HM_E_NAME);
    assert_string_equal(err.hint, "did you mean machine?");
    hm_runs_free(runs);
}

static void test_cross(void **state)
{
    const double n[] = {1, 2}, size[] = {0.1, 0.2, 0.3};
    const struct hm_axis axes[] = {{"n", n, 2}, {"size", size, 3}};
    const struct hm_axis none = {"n", n, 0};
    struct hm_runs *runs = NULL;

    (void)state;
    assert_int_equal(hm_runs_cross(axes, 2, &runs, NULL), 0);
    assert_int_equal(runs->count, 6);
    assert_near(at(runs, "n", 3), 2, 0);
    assert_near(at(runs, "size", 4), 0.2, 0);
    hm_runs_free(runs);
    assert_int_equal(hm_runs_cross(&none, 1, &runs, NULL), HM_E_LIMIT);
}

struct refusal {
    const char *text;
    int code, line;
    const char *field, *message;
};

static const struct refusal refusals[] = {
    {"", HM_E_SYNTAX, 1, "", "no header line"},
    {"n,seconds\n", HM_E_MISSING, 0, "", "no runs"},
    {"1,2\n3,4\n", HM_E_MISSING, 1, "", "numbers instead of the names of columns"},
    {"size,seconds\n1,2\n", HM_E_MISSING, 2, "", "no column 'n'"},
    {"n,size\n1,2\n", HM_E_MISSING, 2, "", "no column 'seconds'"},
    {"n,seconds\n1,2\n2,nan\n", HM_E_TYPE, 3, "seconds", "'nan' is not a number"},
    {"n,seconds\n1,2\n2,inf\n", HM_E_TYPE, 3, "seconds", "'inf' is not a number"},
    {"n,seconds\n1,2\n2,-1\n", HM_E_RANGE, 3, "seconds", "'-1' must be more than 0"},
    {"n,seconds\n1,2\n2,0\n", HM_E_RANGE, 3, "seconds", "'0' must be more than 0"},
    {"n,seconds\n1,2\n2,1e999\n", HM_E_RANGE, 3, "seconds", "too large"},
    {"n,seconds\n0,2\n", HM_E_RANGE, 2, "n", "'0' must be at least 1"},
    {"n,seconds\n,2\n", HM_E_MISSING, 2, "n", "the run has no n"},
    {"n,seconds\n1,2\n2,\n", HM_E_MISSING, 3, "seconds", "no time, and no status"},
    {"n,seconds,n\n1,2,3\n", HM_E_CONFLICT, 1, "", "column 'n' appears twice"},
    {"n,seconds,cores\n1,2,3\n", HM_E_CONFLICT, 1, "n", "column 'cores' appears twice"},
    {"n,seconds\n1,2\n2,3,4\n", HM_E_SYNTAX, 3, "", "3 fields where the header has 2"},
    {"n,seconds\n1,20 ms\n2,3\n", HM_E_UNIT, 3, "seconds", "'3' has no unit, but line 2 has one"},
    {"n,seconds\n1,3\n2,20 ms\n", HM_E_UNIT, 3, "seconds", "has a unit, but line 2 has none"},
    {"n,seconds\n1,20 MB\n", HM_E_UNIT, 2, "seconds", "'20 MB' is in byte"},
    {"n,seconds,x\n1,1,2 ms\n2,1,2 MB\n", HM_E_UNIT, 3, "x", "is in byte, but line 2 is in s"},
    {"n,time (ms)\n1,2 s\n", HM_E_UNIT, 2, "seconds",
     "has a unit, but the name of the column has one too"},
    {"n,latency (MB),seconds\n1,2,3\n", HM_E_UNIT, 1, "latency", "does not fit the column"},
    {"n,seconds,\n1,2,3\n", HM_E_SYNTAX, 1, "", "column 3 has no name"},
    {"{\"n\":1,\"seconds\":2}\n{\"n\":2,\n", HM_E_SYNTAX, 2, "", "not JSON"},
    {"{\"n\":1,\"seconds\":2}\n[3]\n", HM_E_TYPE, 2, "", "must be an object, not a list"},
    {"{\"n\":1,\"seconds\":[2]}\n", HM_E_TYPE, 1, "seconds",
     "a list where a number or a text is expected"},
    {"{\"n\":1,\"cores\":2,\"seconds\":2}\n", HM_E_CONFLICT, 1, "n", "n appears twice"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const struct refusal *r = &refusals[i];
        struct hm_runs *runs = NULL;
        struct hm_err err = {0};
        int rc = hm_runs_parse(r->text, strlen(r->text), "runs.csv", &runs, &err);
        if (rc != r->code || err.line != r->line || strcmp(err.field, r->field) != 0 ||
            !strstr(err.message, r->message))
            fail_msg("case %zu: code %d, line %d, field '%s': %s", i, rc, err.line, err.field,
                     err.message);
        hm_runs_free(rc == 0 ? runs : NULL);
    }
}

/* Whatever the byte is after which a file is cut, the reader must refuse it, mark it as cut, or
 * have read only whole lines. */
static void test_cut_files(void **state)
{
    static const char text[] = "n,size,seconds,status\n1,0.5,2.125,ok\n2,1.5,1.25,ok\n"
                               "4,1.5 ,0.625,\n8,2,,timeout\n16,2,0.28125,ok\n";
    char path[] = "/tmp/howmany-cut-XXXXXX";
    size_t marked = 0, whole = 0;
    int file = mkstemp(path);

    (void)state;
    assert_true(file >= 0);
    close(file);
    for (size_t length = 0; length < sizeof(text); length++) {
        struct hm_runs *runs = NULL;
        FILE *out = fopen(path, "w");
        assert_non_null(out);
        assert_int_equal(fwrite(text, 1, length, out), length);
        assert_int_equal(fclose(out), 0);
        if (hm_runs_load(path, &runs, NULL))
            continue;
        bool ends = text[length - 1] == '\n';
        assert_int_equal(runs->cut, !ends);
        marked += !ends;
        whole += ends;
        hm_runs_free(runs);
    }
    assert_int_equal(whole, 5);
    assert_true(marked >= 10);
    unlink(path);
}

static void test_cut_files_are_noted(void **state)
{
    struct hm_runs *runs = parse("n,seconds\n1,8\n2,4.5\n4,2.75\n8,2");
    struct hm_err err = {0};
    struct hm_fit *fit = NULL;

    (void)state;
    assert_false(runs->cut); /* A text in memory is complete. */
    for (int cut = 0; cut < 2; cut++) {
        bool noted = false;
        runs->cut = cut;
        assert_int_equal(hm_fit_new(runs, NULL, &fit, &err), 0);
        for (size_t i = 0; i < fit->note_count; i++)
            noted = noted || strstr(fit->notes[i], "runs.csv does not end in a newline");
        assert_int_equal(noted, cut);
        hm_fit_free(fit);
    }
    hm_runs_free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named_columns),
        cmocka_unit_test(test_ernest),
        cmocka_unit_test(test_names_of_n),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_json_lines),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_samples_of_many_rows),
        cmocka_unit_test(test_samples_refused),
        cmocka_unit_test(test_other_times),
        cmocka_unit_test(test_numbers_become_labels),
        cmocka_unit_test(test_long_seeds),
        cmocka_unit_test(test_long_identifiers),
        cmocka_unit_test(test_spellings_of_long_numbers),
        cmocka_unit_test(test_large_counts),
        cmocka_unit_test(test_contradicting_nodes),
        cmocka_unit_test(test_leading_zeros),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_cross),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_cut_files_are_noted),
    };
    return cmocka_run_group_tests_name("runs", tests, NULL, NULL);
}
