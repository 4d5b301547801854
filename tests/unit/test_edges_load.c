/*
 * Tests boundaries of what requests load: keys of the job's cluster that are used for another
 * machine, overrides, networks named instead of a job, files and folders, and the names in
 * messages.
 */
#include "request_testing.h"

#include <unistd.h>

#include "files.h"
#include "load.h"

/* A job whose cluster gives every key that may also be used for a machine of `on`. A ring of n
 * workers sends 2 (n - 1) / n times 4 MB at 10 MB/s. */
static const char full_job[] =
    "compute: 100 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\niterations: 10\n"
    "cluster: {max_nodes: 4, price: $3600/h, flops: 1 Tflop/s, efficiency: 50%,\n"
    "  stragglers: {slow: 1, slow_factor: 2}, fabric: {bandwidth: 10 MB/s, latency: 0 s}}\n";

static struct hm_request *plan_on(const char *job, const char *machine)
{
    struct hm_request *request = with_document("plan", "job", job);

    set_document(request, "on", machine);
    set(request, "slack", "0");
    return request;
}

static void machines_keep_keys_of_the_job(void **state)
{
    static const struct {
        const char *machine, *note;
        double n, wait_s, bandwidth_s, price;
    } cases[] = {
        {"{flops: 1 Tflop/s}",
         "kept from the job: max_nodes, price, fabric, efficiency and stragglers", 4, 25, 0.6, 1},
        {"{flops: 1 Tflop/s, max_nodes: 2}",
         "kept from the job: price, fabric, efficiency and stragglers; replaced by the machine's "
         "own: max_nodes",
         2, 50, 0.4, 1},
        {"{flops: 1 Tflop/s, price: $7200/h}",
         "kept from the job: max_nodes, fabric, efficiency and stragglers; replaced by the "
         "machine's own: price",
         4, 25, 0.6, 2},
        {"{flops: 1 Tflop/s, fabric: {bandwidth: 20 MB/s, latency: 0 s}}",
         "kept from the job: max_nodes, price, efficiency and stragglers; replaced by the "
         "machine's own: fabric",
         4, 25, 0.3, 1},
        {"{flops: 1 Tflop/s, efficiency: 25%}",
         "kept from the job: max_nodes, price, fabric and stragglers; replaced by the machine's "
         "own: efficiency",
         4, 25, 0.6, 1},
        /* In this cluster, every iteration is slow and takes 3 times as long. */
        {"{flops: 1 Tflop/s, stragglers: {chance: 100%, factor: 3}}",
         "kept from the job: max_nodes, price, fabric and efficiency; replaced by the machine's "
         "own: stragglers",
         4, 50, 0.6, 1},
        {"{flops: 1 Tflop/s, stragglers: {slow: 2, slow_factor: 5}}",
         "kept from the job: max_nodes, price, fabric and efficiency; replaced by the machine's "
         "own: stragglers",
         4, 100, 0.6, 1},
        {"{flops: 1 Tflop/s, stragglers: {speeds: [0.5, 1]}}",
         "kept from the job: max_nodes, price, fabric and efficiency; replaced by the machine's "
         "own: stragglers",
         4, 25, 0.6, 1},
        {"{flops: 1 Tflop/s, max_nodes: 2, price: $1/h, efficiency: 10%, stragglers: {slow: 1, "
         "slow_factor: 3}, fabric: {bandwidth: 20 MB/s, latency: 0 s}}",
         "replaced by the machine's own: max_nodes, price, fabric, efficiency and stragglers", 2,
         100, 0.2, 1. / 3600},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        gives(plan_on(full_job, cases[i].machine), NULL, {"best.n", cases[i].n, NULL},
              {"notes.0", .text = cases[i].note}, {"best.wait_s", cases[i].wait_s, NULL},
              {"best.bandwidth_s", cases[i].bandwidth_s, NULL},
              {"best.cost",
               cases[i].price * 10 * cases[i].n *
                   (100 / cases[i].n + cases[i].wait_s + cases[i].bandwidth_s),
               NULL});
}

/* A job without any of these keys must leave the machine unchanged, without a note. */
static void jobs_without_keys_leave_no_note(void **state)
{
    static const char job[] = "compute: 100 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n"
                              "cluster: {flops: 1 Tflop/s}\n";

    (void)state;
    gives(plan_on(job, "{max_nodes: 2, flops: 1 Tflop/s, fabric: {bandwidth: 10 MB/s, "
                       "latency: 0 s}}"),
          NULL, {"best.n", 2, NULL}, {"notes", 0, NULL}, {"best.bandwidth_s", 0.4, NULL});
}

/* If only an accelerator of the catalog is named, it gets the fabric and the number of nodes of the
 * job, but only if the job has a fabric. */
static void lone_accelerators_join_the_fabric(void **state)
{
    static const char alone[] = "compute: 100 s / n\ncommunicate: 0 s\ncluster: {max_nodes: 4}\n";
    static const char nodes_of_two[] = "compute: 100 s / n\ncommunicate: 0 s\n"
                                       "cluster: {accelerators: 2, max_nodes: 3}\n";

    (void)state;
    struct hm_request *request = with_document("plan", "job", full_job);
    set(request, "on", "v100");
    gives(request, NULL, {"best.n", 4, NULL}, {"best.bandwidth_s", 0.6, NULL},
          {"notes.0",
           .text = "kept from the job: max_nodes, price, fabric and stragglers; replaced by the "
                   "machine's own: efficiency"});
    request = with_document("plan", "job", alone);
    set(request, "on", "v100");
    gives(request, NULL, {"best.n", 32, NULL},
          {"notes.0", .text = "v100 is an accelerator: nodes of 8 are assumed, as in "
                              "dgx-1-v100-16gb (with a price: gpu_8x_v100); kept from the job: "
                              "max_nodes"});
    request = with_document("plan", "job", "compute: 100 s / n\ncommunicate: 0 s\n");
    set(request, "on", "v100");
    gives(request, NULL, {"machine", .text = "dgx-1-v100-16gb"},
          {"notes.0", .text = "v100 is an accelerator: nodes of 8 are assumed, as in "
                              "dgx-1-v100-16gb (with a price: gpu_8x_v100)"});
    request = with_document("plan", "job", nodes_of_two);
    set(request, "on", "v100");
    gives(request, NULL, {"best.n", 6, NULL}, {"machine", .text = "v100"},
          {"notes.0", .text = "v100 is an accelerator: nodes of 2 are assumed, as in the job, with "
                              "the links of dgx-1-v100-16gb; kept from the job: max_nodes"});
    request = with_document("plan", "job", "compute: 100 s / n\ncommunicate: 0 s\n");
    set(request, "on", "rtx-4090");
    gives(request, NULL, {"best.n", 1, NULL},
          {"notes.0", .text = "nothing connects several of these: fabric names a connection, such "
                              "as 100gbe"});
    request = with_document("plan", "job", "compute: 100 s / n\ncommunicate: 0 s\n");
    set(request, "on", "v100");
    set(request, "fabric", "10gbe");
    gives(request, NULL, {"fabric", .text = "10gbe"}, {"notes", 0, NULL});
}

/* If the job's fabric is used, its name must be used too. */
static void names_of_fabrics_are_kept(void **state)
{
    static const char job[] = "compute: 100 s / n\ncommunicate: {bytes: 4 MB, scheme: ring}\n"
                              "cluster: {max_nodes: 4, flops: 1 Tflop/s, fabric: 10gbe}\n";

    (void)state;
    gives(plan_on(job, "{flops: 1 Tflop/s}"), NULL, {"fabric", .text = "10gbe"});
    gives(plan_on(job, "{flops: 1 Tflop/s, fabric: 25gbe}"), NULL, {"fabric", .text = "25gbe"});
}

/*
 * Assignments to keys of the cluster change the machines of `on`; other assignments change the job.
 */
static void assignments_reach_the_machine(void **state)
{
    struct hm_request *request = with_document("plan", "job", full_job);

    (void)state;
    set(request, "on", "p3.2xlarge");
    set(request, "set", "cluster.price=$7200/h");
    set(request, "set", "cluster.max_nodes=2");
    set(request, "set", "cluster.fabric=10gbe");
    set(request, "set", "iterations=20");
    gives(request, NULL, {"best.n", 2, NULL}, {"iterations", 20, NULL}, {"fabric", .text = "10gbe"},
          {"best.bandwidth_s", 4e6 / 1.25e9, NULL}, {"best.wait_s", 50, NULL});
    request = with_document("plan", "job", full_job);
    set(request, "iterations", "30");
    set(request, "set", "cluster.max_nodes=3");
    set(request, "fabric", "10gbe");
    gives(request, NULL, {"best.n", 3, NULL}, {"iterations", 30, NULL}, {"fabric", .text = "10gbe"},
          {"best.bandwidth_s", 4. / 3 * 4e6 / 1.25e9, NULL});
}

/* Each short field sets its key of the job. */
static void short_fields_set_keys(void **state)
{
    static const char network[] = "network: {input: 10, layers: [{dense: 1}]}\n"
                                  "batch: 64\ndataset: 6400\n"
                                  "cluster: {max_nodes: 4, flops: 1 Tflop/s, fabric: 10gbe}\n";
    struct hm_request *request = with_document("plan", "job", network);

    (void)state;
    set(request, "batch", "128");
    set(request, "epochs", "3");
    gives(request, NULL, {"iterations", 3 * 6400 / 128, NULL});
    request = with_document("plan", "job", network);
    set(request, "set", "batch=32");
    set(request, "epochs", "2");
    gives(request, NULL, {"iterations", 2 * 6400 / 32, NULL});
    request = with_document("plan", "job", network);
    set(request, "iterations", "7");
    gives(request, NULL, {"iterations", 7, NULL});
}

static void fields_of_a_job_need_one(void **state)
{
    static const char *const fields[][2] = {
        {"on", "p3.2xlarge"}, {"fabric", "10gbe"}, {"set", "batch=1"}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct hm_request *request = with_document("fit", "runs", "n,seconds\n1,10\n2,6\n4,4\n");
        set(request, fields[i][0], fields[i][1]);
        run_fails(request, NULL, HM_E_CONFLICT, fields[i][0], "this needs a job");
    }
    struct hm_request *request = with_document("design", "job", full_job);
    set(request, "n", "1..4");
    set(request, "on", "p3.2xlarge,p3.8xlarge");
    run_fails(request, NULL, HM_E_CONFLICT, "on", "only one machine can be named here");
    request = with_document("design", "job", full_job);
    set(request, "n", "1..4");
    set(request, "on", "p3.2xlarge");
    hm_reply_free(run(request, NULL));
    request = with_document("design", "job", full_job);
    set(request, "n", "1..4");
    set(request, "target", "8");
    set(request, "criterion", "A");
    run_fails(request, NULL, HM_E_CONFLICT, "target", "this applies only to criterion I");
}

/* A request may name at most 64 machines. */
static void machines_are_limited(void **state)
{
    for (size_t count = 64; count <= 65; count++) {
        struct hm_request *request = with_document("plan", "job", full_job);
        char list[65 * 12] = "";
        for (size_t i = 0, used = 0; i < count; i++)
            used +=
                (size_t)snprintf(list + used, sizeof(list) - used, "%sp3.2xlarge", i ? "," : "");
        set(request, "on", list);
        if (count == 64)
            gives(request, NULL, {"best.n", 4, NULL});
        else
            run_fails(request, NULL, HM_E_LIMIT, "on", "more than 64 machines");
    }
    (void)state;
}

/* ---- networks -------------------------------------------------------------------------------- */

/* Fields that the request itself gives must not be replaced by usual values. */
static void networks_have_usual_jobs(void **state)
{
    static const struct {
        const char *set, *note;
    } cases[] = {{"cluster.max_nodes=2", "assumed as usual for lenet-5: batch 256, dataset 60000"},
                 {"batch=64", "assumed as usual for lenet-5: dataset 60000"},
                 {"dataset=100", "assumed as usual for lenet-5: batch 256"},
                 {"epochs=2", "assumed as usual for lenet-5: batch 256, dataset 60000"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hm_request *request = new_request("plan");
        set(request, "job", "lenet-5");
        set(request, "on", "p3.2xlarge");
        set(request, "set", cases[i].set);
        struct hm_reply *reply = run(request, NULL);
        if (!strstr(reply->text, "assumed as usual for lenet-5: "))
            fail_msg("%s", reply->text);
        hm_reply_free(reply);
        request = with_document("plan", "job", "lenet-5");
        set(request, "on", "p3.2xlarge");
        set(request, "set", cases[i].set);
        set(request, "json", "true");
        reply = run(request, NULL);
        char quoted[120];
        snprintf(quoted, sizeof(quoted), "\"%s\"", cases[i].note);
        if (!strstr(reply->text, quoted))
            fail_msg("no %s in %s", quoted, reply->text);
        hm_reply_free(reply);
    }
    struct hm_request *request = new_request("plan");
    set(request, "job", "lenet-5");
    set(request, "on", "p3.2xlarge");
    set(request, "set", "batch=64");
    set(request, "set", "dataset=100");
    struct hm_reply *reply = run(request, NULL);
    assert_null(strstr(reply->text, "assumed as usual"));
    hm_reply_free(reply);
}

/* Checks that the request fails with this code, message and hint. */
static void fails_with(struct hm_request *request, const struct hm_context *context, int code,
                       const char *source, const char *message, const char *hint)
{
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_run(request, context, &reply, &err);

    if (rc != code || strcmp(err.source, source) != 0 || !strstr(err.message, message) ||
        strcmp(err.hint, hint) != 0)
        fail_msg("%d, %s: '%s' (%s)", rc, err.source, err.message, err.hint);
    hm_request_free(request);
}

static void wrong_names_have_hints(void **state)
{
    const struct hm_context files = {.files = hm_local_files()};
    struct hm_request *request = new_request("plan");

    (void)state;
    set(request, "job", "lenet-6");
    fails_with(request, &files, HM_E_IO, "lenet-6", "cannot open",
               "no network 'lenet-6' in the catalog; did you mean lenet-5?");
    request = new_request("plan");
    set(request, "job", "lenet-6.yaml");
    fails_with(request, &files, HM_E_IO, "lenet-6.yaml", "cannot open", "");
    request = new_request("plan");
    set(request, "job", "./lenet-6");
    fails_with(request, &files, HM_E_IO, "./lenet-6", "cannot open", "");
    request = with_document("plan", "job", full_job);
    set(request, "on", "p3.3xlarge");
    fails_with(request, NULL, HM_E_NAME, "on", "p3.3xlarge", "did you mean p3.2xlarge?");
    fails_with(plan_on(full_job, "{flops: much}"), NULL, HM_E_TYPE, "on", "'much' is not a number",
               "write a speed such as 105.6 Gflop/s");
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A cluster in a file must be shown with the name of the file, also if it has its own name. */
static void clusters_have_names_of_files(void **state)
{
    static const struct {
        const char *name;
        bool is_file;
    } names[] = {{"a.yaml", true}, {"a.yml", true},       {"a.json", true},      {"a/b", true},
                 {"a", false},     {"p3.2xlarge", false}, {"a.yaml.txt", false}, {"yaml", false}};
    const struct hm_context files = {.files = hm_local_files()};
    char path[] = "/tmp/hm-load-XXXXXX.yaml";
    static const char text[] = "machine: p3.2xlarge\n";
    struct hm_request *request = with_document("plan", "job", full_job);

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_int_equal(hm__is_cluster_file(names[i].name), names[i].is_file);
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    set(request, "on", path);
    gives(request, &files, {"machine", .text = path}, {"best.n", 4, NULL});
    unlink(path);
    assert_true(hm__is_store("postgresql://a") && hm__is_store("postgres://a"));
    assert_true(hm__is_store("a.db") && hm__is_store("a.sqlite") && hm__is_store("a.sqlite3"));
    assert_false(hm__is_store("a.csv") || hm__is_store("postgresql:/a") ||
                 hm__is_store("postgres:/a") || hm__is_store("db") || hm__is_store("a.db.csv"));
}

/* If a request without access to files names a file, the error names the field. */
static void requests_without_files_name_the_field(void **state)
{
    static const char *const fields[][3] = {{"plan", "job", "a.yaml"},
                                            {"fit", "runs", "a.csv"},
                                            {"converge", "traces", "a.csv"},
                                            {"advise", "traces", "a.csv"}};

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct hm_request *request = new_request(fields[i][0]);
        struct hm_reply *reply = NULL;
        struct hm_err err = {0};
        char message[80];
        set(request, fields[i][1], fields[i][2]);
        if (strcmp(fields[i][0], "advise") == 0)
            set(request, "loss", "0.1");
        snprintf(message, sizeof(message), "'%s': a request cannot name a file", fields[i][2]);
        assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_NAME);
        assert_string_equal(err.message, message);
        assert_string_equal(err.field, fields[i][1]);
        assert_string_equal(err.source, "request");
        assert_string_equal(err.hint, "send its contents instead");
        hm_request_free(request);
    }
}

/* ---- traces ---------------------------------------------------------------------------------- */

static const char traces[] = "algorithm,m,iteration,seconds,loss\n"
                             "gd,1,1,1,1\ngd,1,2,1,0.5\ngd,1,4,1,0.25\ngd,1,8,1,0.125\n"
                             "gd,2,1,1,1\ngd,2,2,1,0.5\ngd,2,4,1,0.25\ngd,2,8,1,0.125\n"
                             "sgd,1,1,1,2\nsgd,1,2,1,1\nsgd,1,4,1,0.5\nsgd,1,8,1,0.25\n";

/* Makes a request to fit the traces, with a least loss of 0. */
static struct hm_request *converge_traces(void)
{
    struct hm_request *request = with_document("converge", "traces", traces);

    set(request, "best", "0");
    return request;
}

static void algorithms_are_chosen(void **state)
{
    struct hm_request *request = converge_traces();
    const struct hm_context files = {.files = hm_local_files()};

    (void)state;
    set(request, "algorithms", "sgd");
    gives(request, NULL, {"algorithms", 1, NULL}, {"algorithms.0.algorithm", .text = "sgd"});
    request = converge_traces();
    gives(request, NULL, {"algorithms", 2, NULL});
    request = converge_traces();
    set(request, "algorithms", "gd,sgdd");
    fails_with(request, NULL, HM_E_NAME, "request", "there are no traces of 'sgdd'",
               "did you mean sgd?");
    request = converge_traces();
    set(request, "algorithms", "completely-different");
    fails_with(request, NULL, HM_E_NAME, "request", "there are no traces of", "");
    request = converge_traces();
    set_document(request, "traces", traces);
    run_fails(request, NULL, HM_E_LIMIT, "traces", "more than one document of traces");
    request = converge_traces();
    set(request, "record", "a.db");
    run_fails(request, &files, HM_E_CONFLICT, "record", "not from both");
    request = converge_traces();
    set(request, "where", "m=1");
    run_fails(request, NULL, HM_E_CONFLICT, "where", "this selects runs of a store");
}

/* Rows as JSON are traces, and an object with algorithms is a stored fit. */
static void bodies_hold_traces_or_fits(void **state)
{
    static const char rows[] =
        "{\"traces\": [{\"algorithm\":\"gd\",\"m\":1,\"iteration\":1,\"seconds\":1,\"loss\":1},"
        "{\"algorithm\":\"gd\",\"m\":1,\"iteration\":2,\"seconds\":1,\"loss\":0.5},"
        "{\"algorithm\":\"gd\",\"m\":1,\"iteration\":4,\"seconds\":1,\"loss\":0.25}]}";
    struct hm_request *request = new_request("converge");
    struct hm_err err = {0};

    (void)state;
    if (hm_request_read(request, rows, strlen(rows), "body.json", &err))
        fail_msg("%s", err.message);
    set(request, "best", "0");
    gives(request, NULL, {"algorithms", 1, NULL});
    const struct hm_context files = {.files = hm_local_files()};
    request = converge_traces();
    set(request, "save", "fit.json");
    struct hm_reply *fit = run(request, &files);
    struct hm_text body = {0};
    hm__text_addf(&body, "{\"traces\": %s}", fit->files[0].text);
    request = new_request("converge");
    if (hm_request_read(request, body.data, body.length, "body.json", &err))
        fail_msg("%s", err.message);
    gives(request, NULL, {"algorithms", 2, NULL});
    request = new_request("converge");
    if (hm_request_read(request, body.data, body.length, "body.json", &err))
        fail_msg("%s", err.message);
    set(request, "best", "0");
    run_fails(request, NULL, HM_E_CONFLICT, "best", "is a stored fit");
    hm_reply_free(fit);
    hm__text_release(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machines_keep_keys_of_the_job),
        cmocka_unit_test(jobs_without_keys_leave_no_note),
        cmocka_unit_test(lone_accelerators_join_the_fabric),
        cmocka_unit_test(names_of_fabrics_are_kept),
        cmocka_unit_test(assignments_reach_the_machine),
        cmocka_unit_test(short_fields_set_keys),
        cmocka_unit_test(fields_of_a_job_need_one),
        cmocka_unit_test(machines_are_limited),
        cmocka_unit_test(networks_have_usual_jobs),
        cmocka_unit_test(wrong_names_have_hints),
        cmocka_unit_test(clusters_have_names_of_files),
        cmocka_unit_test(requests_without_files_name_the_field),
        cmocka_unit_test(algorithms_are_chosen),
        cmocka_unit_test(bodies_hold_traces_or_fits),
    };

    return cmocka_run_group_tests_name("edges_load", tests, NULL, NULL);
}
