/*
 * Tests boundaries of requests that read files of other tools: what the verb import writes as text,
 * JSON, tables and documents, what it refuses, and logs that are given instead of runs, traces and
 * jobs.
 */
#include "request_testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

static const char nanogpt[] = "iter 0: loss 10.5, time 900.00ms, mfu 1%\n"
                              "iter 10: loss 9.5, time 80.00ms, mfu 1%\n"
                              "iter 20: loss 9.25, time 120.00ms, mfu 1%\n";
static const char megatron[] =
    "using world size: 8, data-parallel-size: 2, tensor-model-parallel size: 2, "
    "pipeline-model-parallel size: 2\n"
    "  num_layers ........ 4\n  hidden_size ....... 64\n  num_attention_heads ... 4\n"
    "  padded_vocab_size ... 100\n"
    " iteration 1/ 10 | consumed samples: 8 | elapsed time per iteration (ms): 900.0 | global "
    "batch "
    "size: 8 | lm loss: 1.1E+01 | number of skipped iterations: 0 |\n"
    " iteration 2/ 10 | consumed samples: 16 | elapsed time per iteration (ms): 100.0 | global "
    "batch size: 8 | lm loss: 1.0E+01 | number of skipped iterations: 0 |\n";
static const char accelerate[] = "distributed_type: DEEPSPEED\n"
                                 "num_machines: 2\n"
                                 "num_processes: 16\n"
                                 "deepspeed_config:\n"
                                 "  zero_stage: 2\n";

static char work_folder[] = "/tmp/hm-imports-XXXXXX";

static struct hm_request *import_of(const char *text, const char *field, const char *value)
{
    struct hm_request *request = with_document("import", "files", text);

    if (field)
        set(request, field, value);
    return request;
}

/* Checks that the answer has exactly this text; frees the request. */
static void text_is(struct hm_request *request, const struct hm_context *context, const char *text)
{
    struct hm_reply *reply = run(request, context);

    assert_string_equal(reply->text, text);
    hm_reply_free(reply);
}

/* The two steps after the first are runs. Every step has a loss, except the first, which is part of
 * the start-up. */
static void imports_are_shown_as_text(void **state)
{
    (void)state;
    text_is(import_of(nanogpt, NULL, NULL), NULL,
            "files: nanoGPT log (nanogpt)\n"
            "  taken      2 losses as traces\n"
            "  taken      2 steps as runs\n"
            "  missing    n, the number of workers, is not in the file: set n=8\n"
            "  makes      2 rows of runs (CSV)\n"
            "  makes      2 rows of traces (CSV)\n");
    text_is(import_of(nanogpt, "set", "n=4"), NULL,
            "files: nanoGPT log (nanogpt)\n"
            "  taken      2 losses as traces\n"
            "  taken      2 steps as runs\n"
            "  makes      2 rows of runs (CSV)\n"
            "  makes      2 rows of traces (CSV)\n");
    text_is(import_of(megatron, NULL, NULL), NULL,
            "files: Megatron-LM log (megatron)\n"
            "  taken      1 iterations as runs\n"
            "  taken      2 losses as traces\n"
            "  left out   1 first iterations, which include setting up\n"
            "  left out   5 other lines\n"
            "  makes      a network (YAML)\n"
            "  makes      1 rows of runs (CSV)\n"
            "  makes      2 rows of traces (CSV)\n");
}

/* The number of workers is missing only if there are rows that need it: the first step is part of
 * the start-up, so a log of one step has none. */
static void logs_without_rows_miss_nothing(void **state)
{
    (void)state;
    text_is(import_of("iter 0: loss 10.5, time 900.00ms, mfu 1%\n", NULL, NULL), NULL,
            "files: nanoGPT log (nanogpt)\n");
}

static void imports_are_shown_as_json(void **state)
{
    (void)state;
    gives(import_of(nanogpt, "set", "n=4"), NULL, {"files", 1, NULL},
          {"files.0.file", .text = "files"}, {"files.0.format", .text = "nanogpt"},
          {"files.0.partial", .text = "false"}, {"files.0.needs_n", .text = "false"},
          {"files.0.taken", 2, NULL}, {"files.0.taken.0.what", .text = "losses as traces"},
          {"files.0.taken.0.count", 2, NULL}, {"files.0.left_out", 0, NULL},
          {"files.0.notes", 0, NULL}, {"files.0.runs", 2, NULL}, {"files.0.runs.0.n", 4, NULL},
          {"files.0.runs.0.seconds", 0.08, NULL}, {"files.0.runs.1.seconds", 0.12, NULL},
          {"files.0.traces", 2, NULL}, {"files.0.traces.0.iteration", 10, NULL},
          {"files.0.traces.1.iteration", 20, NULL}, {"files.0.traces.1.loss", 9.25, NULL},
          {"files.0.document", NAN, NULL}, {"files.0.document_kind", NAN, NULL});
    gives(import_of(nanogpt, NULL, NULL), NULL, {"files.0.needs_n", .text = "true"},
          {"files.0.runs.0.n", NAN, NULL});
    gives(import_of(megatron, NULL, NULL), NULL, {"files.0.document_kind", .text = "network"},
          {"files.0.left_out", 2, NULL}, {"files.0.left_out.1.what", .text = "other lines"},
          {"files.0.left_out.1.count", 5, NULL}, {"files.0.traces.1.iteration", 2, NULL},
          {"files.0.traces.1.loss", 10, NULL}, {"files.0.traces.1.seconds", 0.1, NULL},
          {"files.0.runs", 1, NULL}, {"files.0.runs.0.batch", 8, NULL});
}

/* Writes a file of a folder. */
static void write_in(const char *name, const char *text, char *ret_path, size_t room)
{
    snprintf(ret_path, room, "%s/%s", work_folder, name);
    FILE *file = fopen(ret_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The file `hostfile` beside a configuration of DeepSpeed gives the machines and their slots, which
 * must be equal whole numbers. */
static void hostfiles_are_clusters(void **state)
{
    static const struct {
        const char *text;
        double machines, slots;
    } rows[] = {
        {"a slots=8\nb slots=8\n", 2, 8},
        {"# two\n\n a slots=4\nb\tslots=4", 2, 4},
        {"a slots=8\n", 1, 8},
        {"a slots=8\nb slots=4\n", 0, 0},
        {"a slots=0\n", 0, 0},
        {"a slots=2.5\nb slots=2.5\n", 0, 0},
        {"a slots=x\n", 0, 0},
        {"a\n", 0, 0},
    };
    const struct hm_context files = {.files = hm_local_files()};
    char config[200], hosts[200];

    (void)state;
    assert_non_null(mkdtemp(work_folder));
    write_in("ds.json",
             "{\"train_batch_size\": 64, \"zero_optimization\": {\"stage\": 2}, "
             "\"bf16\": {\"enabled\": true}}",
             config, sizeof(config));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[200];
        write_in("hostfile", rows[i].text, hosts, sizeof(hosts));
        struct hm_request *request = new_request("import");
        set(request, "files", config);
        struct hm_reply *reply = run(request, &files);
        snprintf(text, sizeof(text),
                 "the cluster is that of the hostfile in the same folder: %.0f x %.0f\n",
                 rows[i].machines, rows[i].slots);
        bool known = strstr(reply->text, "the cluster is that of the hostfile") != NULL;
        if (known != (rows[i].machines > 0) || (known && !strstr(reply->text, text)))
            fail_msg("'%s': %s", rows[i].text, reply->text);
        assert_int_equal(strstr(reply->text, "its machines are not all of one kind") != NULL,
                         !known);
        hm_reply_free(reply);
    }
    unlink(config);
    unlink(hosts);
    rmdir(work_folder);
}

/* Strings in cells must stay strings. */
static void tables_have_texts(void **state)
{
    static const char nccl[] =
        "# nThread 1 nGpus 4\n"
        "#  Rank  0 Pid 1 on h1 device  0 [0x00] GPU\n#  Rank  1 Pid 1 on h1 device  1 [0x00] GPU\n"
        "#  Rank  2 Pid 1 on h1 device  2 [0x00] GPU\n#  Rank  3 Pid 1 on h1 device  3 [0x00] GPU\n"
        "#       size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
        " 1000000 250000 float sum -1 90.0 11.1 16.6 0 90.0 11.1 16.6 0\n"
        " 2000000 500000 float sum -1 120.0 16.7 25.0 0 120.0 16.7 25.0 0\n"
        " 4000000 1000000 float sum -1 180.0 22.2 33.3 0 180.0 22.2 33.3 0\n"
        "# Avg bus bandwidth    : 25\n";

    (void)state;
    /* On a ring of 4 ranks, messages take 60 us + 30 us/MB: 2 * 3 latencies, and 2 * 3/4 times the
     * bytes. */
    gives(import_of(nccl, NULL, NULL), NULL, {"files.0.runs", 3, NULL},
          {"files.0.runs.0.collective", .text = "all_reduce"}, {"files.0.runs.0.n", 4, NULL},
          {"files.0.runs.2.bytes", 4e6, NULL}, {"files.0.runs.2.seconds", 180e-6, NULL},
          {"files.0.facts.sections.0.fit_out_of_place.a_s", 60e-6, NULL},
          {"files.0.facts.sections.0.fit_out_of_place.b_s_per_byte", 30e-12, NULL},
          {"files.0.facts.sections.0.ring_alpha_s", 10e-6, NULL},
          {"files.0.facts.sections.0.ring_beta_s_per_byte", 20e-12, NULL});
}

static void wrong_imports_are_refused(void **state)
{
    struct hm_request *request = new_request("import");
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_MISSING);
    assert_string_equal(err.message, "no file is given");
    assert_string_equal(err.hint, "give a log, a trace, a configuration or a model file");
    hm_request_free(request);
    err = (struct hm_err){0};
    request = import_of(nanogpt, "as", "nanogtp");
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_NAME);
    assert_string_equal(err.message, "there is no format 'nanogtp'");
    assert_string_equal(err.hint, "did you mean nanogpt?");
    assert_string_equal(err.field, "as");
    hm_request_free(request);
    request = new_request("import");
    set(request, "files", "a.log");
    err = (struct hm_err){0};
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_NAME);
    assert_string_equal(err.message, "'a.log': a request cannot name a file");
    assert_string_equal(err.hint, "send its contents instead");
    assert_string_equal(err.field, "files");
    hm_request_free(request);
    request = new_request("import");
    assert_int_equal(hm_request_read(request, "{\"files\": [{\"a\": 1}]}", 21, "body.json", &err),
                     0);
    run_fails(request, NULL, HM_E_TYPE, "files", "send the contents of a file as they are");
    run_fails(import_of("neither a log nor a trace\n", NULL, NULL), NULL, HM_E_TYPE, "",
              "has no format that can be imported");
    gives(import_of(nanogpt, "as", "nanogpt"), NULL, {"files.0.runs", 2, NULL});
}

/* ---- files and folders ----------------------------------------------------------------------- */

static char folder[64], logs[3][80];

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Makes a folder with two logs of nanoGPT and a file that is not a log. */
static int make_folder(void **state)
{
    static const char *const names[] = {"a.n2.log", "b.n4.log", "notes.txt"};

    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/hm-imports-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    for (size_t i = 0; i < 3; i++) {
        snprintf(logs[i], sizeof(logs[i]), "%s/%s", folder, names[i]);
        write_text(logs[i], i < 2 ? nanogpt : "Remember the milk.\n");
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        unlink(logs[i]);
    return rmdir(folder);
}

static const struct hm_context *local(void)
{
    static struct hm_context context;

    context.files = hm_local_files();
    return &context;
}

/* Runs the request; the file that it makes must have this text. */
static void writes(struct hm_request *request, const char *path, const char *text,
                   const char *answer)
{
    struct hm_reply *reply = run(request, local());

    assert_int_equal(reply->file_count, 1);
    assert_string_equal(reply->files[0].path, path);
    assert_string_equal(reply->files[0].text, text);
    if (answer)
        assert_string_equal(reply->text, answer);
    hm_reply_free(reply);
}

/* Logs without a network do not make a job. */
static void folders_without_a_job_are_refused(void **state)
{
    struct hm_request *request = new_request("plan");
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    set(request, "job", folder);
    assert_int_equal(hm_request_run(request, local(), &reply, &err), HM_E_TYPE);
    assert_string_equal(err.message, "no file of the folder gives a network or a job");
    assert_string_equal(err.source, folder);
    hm_request_free(request);
}

static struct hm_request *import_files(const char *first, const char *second, const char *to,
                                       const char *output)
{
    struct hm_request *request = new_request("import");

    set(request, "files", first);
    if (second)
        set(request, "files", second);
    set(request, "set", "n=4");
    if (to)
        set(request, "to", to);
    if (output)
        set(request, "output", output);
    return request;
}

/* An output contains the runs first, then the traces; a name that ends in .yaml or .yml selects a
 * document. */
static void outputs_are_what_is_asked_for(void **state)
{
    static const char network[] = "network:\n  kind: transformer\n  layers: 4\n  hidden: 64\n"
                                  "  ffn: 256\n  heads: 4\n  vocabulary: 100\n";
    struct hm_request *request;

    (void)state;
    writes(import_files(logs[0], NULL, NULL, "-"), "-", "n,seconds\n4,0.08\n4,0.12\n", "");
    writes(import_files(logs[0], NULL, "runs", "runs.csv"), "runs.csv",
           "n,seconds\n4,0.08\n4,0.12\n", NULL);
    writes(import_files(logs[0], logs[1], NULL, "-"), "-",
           "n,seconds\n4,0.08\n4,0.12\n4,0.08\n4,0.12\n", "");
    writes(import_files(logs[0], NULL, "traces", "-"), "-",
           "n,iteration,loss,seconds\n4,10,9.5,0.08\n4,20,9.25,0.12\n", "");
    run_fails(import_files(logs[0], NULL, "document", "-"), local(), HM_E_MISSING, "to",
              "gives no document");
    run_fails(import_files(logs[0], logs[1], "document", "-"), local(), HM_E_CONFLICT, "files",
              "one document is written at a time");
    run_fails(import_files(logs[0], NULL, NULL, "a.yaml"), local(), HM_E_MISSING, "to",
              "gives no document");
    request = import_of(megatron, "output", "a.yml");
    writes(request, "a.yml", network, NULL);
    request = import_of(megatron, "output", "a.yaml");
    writes(request, "a.yaml", network, NULL);
    request = import_of(megatron, "output", "-");
    writes(request, "-", "n,seconds,batch\n8,0.1,8\n", "");
    /* Numbers of torchtitan have commas: 1,024 and 2,048 tokens per second of each device. */
    request = import_of("[titan] - step:  1  loss: 12.2  memory: 40GiB  tps: 999  mfu: 1%\n"
                        "[titan] - step: 10  loss:  9.2  memory: 40GiB  tps: 1,024  mfu: 30%\n"
                        "[titan] - step: 20  loss:  8.2  memory: 40GiB  tps: 2,048  mfu: 30%\n",
                        "to", "runs");
    set(request, "output", "-");
    set(request, "set", "n=4");
    set(request, "set", "tokens=2048");
    writes(request, "-", "n,seconds\n4,2\n4,1\n", "");
    request = import_of(accelerate, "to", "runs");
    set(request, "output", "-");
    run_fails(request, local(), HM_E_MISSING, "to", "gives no runs");
    request = import_of(accelerate, "to", "traces");
    set(request, "output", "-");
    run_fails(request, local(), HM_E_MISSING, "to", "gives no traces");
    request = import_of(megatron, NULL, NULL);
    set_document(request, "files", nanogpt);
    set(request, "set", "n=4");
    set(request, "output", "-");
    run_fails(request, local(), HM_E_CONFLICT, "files", "different columns");
    run_fails(import_of(nanogpt, "output", "-"), local(), HM_E_MISSING, "", "n");
}

/* Files in a folder that no reader recognises must be counted, also if there are no other files. */
static void folders_are_walked(void **state)
{
    struct hm_request *request = import_files(folder, NULL, NULL, NULL);
    struct hm_reply *reply = run(request, local());
    char empty[100], file[120];

    (void)state;
    assert_non_null(strstr(reply->text, "a.n2.log: nanoGPT log"));
    assert_non_null(strstr(reply->text, "b.n4.log: nanoGPT log"));
    assert_non_null(strstr(reply->text, "\n1 other files of the folder are not recognised\n"));
    hm_reply_free(reply);
    request = import_files(folder, NULL, NULL, NULL);
    gives(request, local(), {"files", 2, NULL});
    request = import_files(folder, NULL, NULL, "-");
    writes(request, "-", "n,seconds\n4,0.08\n4,0.12\n4,0.08\n4,0.12\n", "");
    /* A question about the runs of a folder leaves out the files that are not logs. */
    request = new_request("recommend");
    set(request, "runs", folder);
    gives(request, local(), {"candidates", 2, NULL}, {"candidates.0.n", 2, NULL},
          {"candidates.1.n", 4, NULL}, {"rows", 4, NULL});
    run_fails(import_files(logs[2], NULL, NULL, NULL), local(), HM_E_TYPE, "", "");
    snprintf(empty, sizeof(empty), "%s/none", folder);
    snprintf(file, sizeof(file), "%s/notes.txt", empty);
    assert_int_equal(mkdir(empty, 0700), 0);
    write_text(file, "Nothing.\n");
    run_fails(import_files(empty, NULL, NULL, NULL), local(), HM_E_TYPE, "files",
              "none of 1 files has a format that can be imported");
    unlink(file);
    rmdir(empty);
}

/* There are more files than the initial capacity of the list, which is 8. */
static void many_files_are_kept(void **state)
{
    struct hm_request *request = new_request("import");
    struct hm_request *traces = new_request("converge");
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    for (int i = 0; i < 17; i++) {
        set(request, "files", logs[i % 2]);
        set(traces, "traces", logs[i % 2]);
    }
    gives(request, local(), {"files", 17, NULL}, {"files.16.format", .text = "nanogpt"});
    /* Traces of two points are too short for a fit, but all of them are read. */
    assert_true(hm_request_run(traces, local(), &reply, &err) < 0 || reply != NULL);
    assert_null(strstr(err.message, "file"));
    hm_reply_free(reply);
    hm_request_free(traces);
}

/* ---- in place of runs and jobs --------------------------------------------------------------- */

/* The mean of 0.08 s and 0.12 s is 0.1 s; the number of workers n is part of the file name. */
static void logs_are_runs(void **state)
{
    struct hm_request *request = new_request("recommend");

    (void)state;
    set(request, "runs", logs[0]);
    gives(request, local(), {"best.n", 2, NULL}, {"best.time_s", 0.1, NULL},
          {"provenance", .text = "rows"});
    request = with_document("recommend", "runs", megatron);
    gives(request, NULL, {"best.n", 8, NULL}, {"best.time_s", 0.1, NULL});
}

/* A log with a network is a job; a log without one is not. */
static void logs_are_jobs(void **state)
{
    struct hm_request *request = with_document("plan", "job", nanogpt);
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_TYPE);
    assert_string_equal(err.message, "nanoGPT log gives no network and no job");
    assert_string_equal(err.source, "job");
    assert_true(strncmp(err.hint, "it becomes ", 11) == 0);
    hm_request_free(request);
    request = with_document("plan", "job", megatron);
    set(request, "on", "p4d.24xlarge");
    set(request, "set", "batch=64");
    set(request, "sequence", "128");
    set(request, "json", "true");
    reply = run(request, NULL);
    assert_non_null(strstr(reply->text, "\"status\":\"ok\""));
    hm_reply_free(reply);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_are_shown_as_text),
        cmocka_unit_test(logs_without_rows_miss_nothing),
        cmocka_unit_test(folders_without_a_job_are_refused),
        cmocka_unit_test(hostfiles_are_clusters),
        cmocka_unit_test(imports_are_shown_as_json),
        cmocka_unit_test(tables_have_texts),
        cmocka_unit_test(wrong_imports_are_refused),
        cmocka_unit_test(outputs_are_what_is_asked_for),
        cmocka_unit_test(folders_are_walked),
        cmocka_unit_test(many_files_are_kept),
        cmocka_unit_test(logs_are_runs),
        cmocka_unit_test(logs_are_jobs),
    };

    return cmocka_run_group_tests_name("edges_imports", tests, make_folder, remove_folder);
}
