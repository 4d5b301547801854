/*
 * Tests small files of other tools, which are written here, with the figures that a person reads in
 * them: what is imported, what is left out, and the sums, medians and fits that the facts contain.
 */
#include "request_testing.h"

/* Imports the text and compares the answer; the paths of expected values are relative to
 * files.0. */
static void reads(const char *text, const struct wanted *wanted, size_t count)
{
    struct hm_request *request = with_document("import", "files", text);
    struct wanted below[40];
    char paths[40][120];

    assert_true(count <= 40);
    for (size_t i = 0; i < count; i++) {
        snprintf(paths[i], sizeof(paths[i]), "files.0.%s", wanted[i].path);
        below[i] = wanted[i];
        below[i].path = paths[i];
    }
    gives_many(request, NULL, below, count);
}

#define READS(text, ...)                                                                           \
    reads(text, (const struct wanted[]){__VA_ARGS__},                                              \
          sizeof((const struct wanted[]){__VA_ARGS__}) / sizeof(struct wanted))

static void trainer_states(void **state)
{
    (void)state;
    READS("{\"epoch\":1.5,\"global_step\":30,\"log_history\":[{\"step\":10,\"loss\":2.5,\"epoch\":"
          "0.5},{\"step\":10,\"eval_loss\":2.4,\"eval_runtime\":1.5},{\"step\":20,\"loss\":NaN},"
          "{\"step\":30,\"loss\":1.25},{\"step\":30,\"train_runtime\":15.0,"
          "\"train_steps_per_second\":2.0}],\"max_steps\":40}",
          {"format", .text = "trainer-state"}, {"needs_n", .text = "true"}, {"taken", 2, NULL},
          {"taken.0.count", 2, NULL}, {"taken.1.count", 1, NULL}, {"left_out", 2, NULL},
          {"left_out.0.count", 1, NULL}, {"left_out.1.count", 1, NULL},
          {"facts.global_step", 30, NULL}, {"facts.max_steps", 40, NULL},
          {"facts.epoch", 1.5, NULL}, {"facts.log_entries", 5, NULL},
          {"facts.train_points", 3, NULL}, {"facts.first_train.0", 10, NULL},
          {"facts.first_train.1", 2.5, NULL}, {"facts.last_train.0", 30, NULL},
          {"facts.last_train.1", 1.25, NULL}, {"facts.min_train_loss", 1.25, NULL},
          {"facts.eval_points", 1, NULL}, {"facts.train_runtime_s", 15, NULL},
          {"facts.seconds_per_step", 0.5, NULL}, {"runs", 1, NULL}, {"runs.0.seconds", 0.5, NULL},
          {"runs.0.steps", 30, NULL}, {"traces", 2, NULL}, {"traces.0.iteration", 10, NULL},
          {"traces.1.iteration", 30, NULL}, {"traces.1.loss", 1.25, NULL});
}

static void tables_of_metrics(void **state)
{
    (void)state;
    READS("\"Step\",\"a - train/loss\",\"a - train/loss__MIN\",\"a - train/loss__MAX\"\n"
          "\"1\",\"2.5\",\"2.5\",\"2.5\"\n\"2\",\"\",\"\",\"\"\n\"3\",\"1.5\",\"1.4\",\"1.6\"\n",
          {"format", .text = "wandb"}, {"taken.0.count", 2, NULL}, {"notes", 1, NULL},
          {"facts.columns", 4, NULL}, {"facts.rows", 3, NULL}, {"facts.min_max_columns", 2, NULL},
          {"facts.series.Step.filled", 3, NULL}, {"facts.series.Step.last", 3, NULL},
          {"facts.series.a - train/loss.filled", 2, NULL},
          {"facts.series.a - train/loss.first", 2.5, NULL},
          {"facts.series.a - train/loss.min", 1.5, NULL},
          {"facts.series.a - train/loss.max", 2.5, NULL}, {"traces", 2, NULL},
          {"traces.1.iteration", 3, NULL}, {"traces.1.loss", 1.5, NULL},
          {"traces.1.elapsed_s", NAN, NULL});
    READS("_step,_runtime,_timestamp,train/loss\n1,2.5,1700000000,3.5\n2,4.5,1700000002,3.0\n"
          "3,9,1700000007,\n",
          {"format", .text = "wandb"}, {"notes", 0, NULL}, {"facts.rows", 3, NULL},
          {"facts.min_max_columns", 0, NULL}, {"facts.series.train/loss.filled", 2, NULL},
          {"facts.series._runtime.max", 9, NULL}, {"traces", 2, NULL},
          {"traces.0.iteration", 1, NULL}, {"traces.0.elapsed_s", 2.5, NULL},
          {"traces.1.elapsed_s", 4.5, NULL});
    READS("step,epoch,train_loss,created_at\n0,0,2.5,2024-01-01 10:00:00.5\n"
          "10,0,,2024-01-01 10:00:10.5\n20,1,1.5,2024-01-01 10:00:20.5\n"
          "30,1,1.75,2024-01-01 10:00:30.5\n",
          {"format", .text = "lightning"}, {"taken.0.count", 3, NULL}, {"facts.rows", 4, NULL},
          {"facts.loss_series.train_loss.points", 3, NULL},
          {"facts.loss_series.train_loss.first.2", 2.5, NULL},
          {"facts.loss_series.train_loss.last.0", 1, NULL},
          {"facts.loss_series.train_loss.last.1", 30, NULL},
          {"facts.loss_series.train_loss.last.2", 1.75, NULL},
          {"facts.loss_series.train_loss.min", 1.5, NULL}, {"facts.has_time", .text = "true"},
          {"facts.created_at.seconds", 30, NULL}, {"facts.created_at.seconds_per_row", 10, NULL},
          {"traces", 3, NULL}, {"traces.1.iteration", 21, NULL}, {"traces.2.loss", 1.75, NULL});
}

/* The jobs have 1 day and 10 s on 4 GPUs of 2 nodes; one job was cancelled; steps belong to their
 * job. */
static void accounts_of_jobs(void **state)
{
    (void)state;
    /* The default columns of sacct have no times. */
    READS("JobID|JobName|Partition|Account|AllocCPUS|State|ExitCode\n1|a|gpu|x|32|COMPLETED|0:0\n",
          {"format", .text = "slurm"}, {"runs", 0, NULL},
          {"notes.0", .text = "no job has a time and a size, so there are no runs: sacct -P -o "
                              "JobID,Elapsed,NNodes,AllocTRES,State prints them"});
    READS("JobID|Partition|AllocCPUS|State|ExitCode|Elapsed|NNodes|AllocTRES|MaxRSS\n"
          "1|gpu|8|COMPLETED|0:0|1-00:00:10|2|cpu=8,gres/gpu=4,gres/gpu:a100=4|\n"
          "1.batch||8|COMPLETED|0:0|00:10|1||2500K\n1.0||8|COMPLETED|0:0|00:10|1||3M\n"
          "2_[1-3]|gpu|8|CANCELLED by 5|0:0|00:10|1||\n3|cpu|16|COMPLETED|0:0|01:02:03|1||\n",
          {"format", .text = "slurm"}, {"needs_n", .text = "false"}, {"taken.0.count", 3, NULL},
          {"taken.1.count", 2, NULL}, {"left_out.0.count", 1, NULL}, {"facts.jobs", 3, NULL},
          {"facts.jobs.0.id", .text = "1"}, {"facts.jobs.0.elapsed_s", 86410, NULL},
          {"facts.jobs.0.nodes", 2, NULL}, {"facts.jobs.0.cpus", 8, NULL},
          {"facts.jobs.0.gpus", 4, NULL}, {"facts.jobs.0.max_rss_bytes", 3 * 1048576., NULL},
          {"facts.jobs.1.state", .text = "CANCELLED"}, {"facts.jobs.1.gpus", NAN, NULL},
          {"facts.jobs.1.elapsed_s", 10, NULL}, {"facts.jobs.2.elapsed_s", 3723, NULL},
          {"facts.header", .text = "true"}, {"facts.rows", 5, NULL}, {"facts.steps", 2, NULL},
          {"facts.states.COMPLETED", 2, NULL}, {"facts.states.CANCELLED", 1, NULL},
          {"runs", 2, NULL}, {"runs.0.n", 4, NULL}, {"runs.0.seconds", 86410, NULL},
          {"runs.1.n", 1, NULL}, {"runs.1.cpus", 16, NULL});
}

/*
 * Times are in microseconds: two steps of 50 and 70, products from 101 to 111.5 and 160 to 180,
 * messages from 105 to 115 and 175 to 195. Products and messages overlap for 6.5 and 5.
 */
static void traces_of_the_profiler(void **state)
{
    (void)state;
    READS(
        "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],"
        "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":0,\"world_size\":2},\"traceEvents\":["
        "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\",\"ts\":100,\"dur\":"
        "50},{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#2\",\"ts\":150,"
        "\"dur\":70},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":101,\"dur\":10.5},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce\",\"ts\":105,\"dur\":10,"
        "\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Float\",\"In msg nelems\":10,"
        "\"Group size\":2}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"ts\":160,"
        "\"dur\":20},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce\",\"ts\":175,"
        "\"dur\":20,\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"Float\",\"In msg "
        "nelems\":30,\"Group size\":2}},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\","
        "\"ts\":100,\"dur\":1},{\"ph\":\"M\",\"name\":\"x\"}]}",
        {"format", .text = "torch-trace"}, {"needs_n", .text = "false"}, {"taken.0.count", 2, NULL},
        {"taken.1.count", 4, NULL}, {"left_out.0.count", 2, NULL}, {"facts.events", 8, NULL},
        {"facts.complete_events", 7, NULL}, {"facts.schema", 1, NULL}, {"facts.rank", 0, NULL},
        {"facts.world_size", 2, NULL}, {"facts.device", .text = "GPU"}, {"facts.devices", 1, NULL},
        {"facts.cpu_ops", 1, NULL}, {"facts.steps", 2, NULL}, {"facts.median_step_us", 60, NULL},
        {"facts.gpu.kernels", 4, NULL}, {"facts.gpu.compute_kernels", 2, NULL},
        {"facts.gpu.comm_kernels", 2, NULL}, {"facts.gpu.compute_busy_us", 30.5, NULL},
        {"facts.gpu.comm_busy_us", 30, NULL}, {"facts.gpu.overlap_us", 11.5, NULL},
        {"facts.gpu.exposed_comm_us", 18.5, NULL}, {"facts.gpu.busy_us", 49, NULL},
        {"facts.gpu.span_us", 94, NULL}, {"facts.per_step", 2, NULL},
        {"facts.per_step.1.us", 70, NULL}, {"facts.per_step.1.kernels", 2, NULL},
        {"facts.per_step.1.compute_busy_us", 20, NULL}, {"facts.per_step.1.overlap_us", 5, NULL},
        {"facts.per_step.1.busy_us", 35, NULL}, {"facts.collectives", 1, NULL},
        {"facts.collectives.0.kernels", 2, NULL}, {"facts.collectives.0.us", 30, NULL},
        {"facts.collectives.0.in_elements", 40, NULL}, {"facts.collectives.0.in_bytes", 160, NULL},
        {"runs", 2, NULL}, {"runs.0.n", 2, NULL}, {"runs.1.seconds", 70e-6, NULL});
}

static void results_of_mlperf(void **state)
{
    (void)state;
    READS(
        ":::MLLOG {\"time_ms\": 500, \"key\": \"init_start\", \"value\": null, \"metadata\": {}}\n"
        ":::MLLOG {\"time_ms\": 600, \"key\": \"submission_benchmark\", \"value\": \"resnet\", "
        "\"metadata\": {}}\n"
        ":::MLLOG {\"time_ms\": 1000, \"key\": \"run_start\", \"value\": null, \"metadata\": {}}\n"
        ":::MLLOG {\"time_ms\": 2000, \"key\": \"eval_accuracy\", \"value\": 0.5, \"metadata\": "
        "{\"epoch_num\": 1}}\n:::MLLOG broken\n"
        ":::MLLOG {\"time_ms\": 4000, \"key\": \"eval_accuracy\", \"value\": 0.75, \"metadata\": "
        "{\"epoch_num\": 2}}\n"
        ":::MLLOG {\"time_ms\": 1, \"key\": \"global_batch_size\", \"value\": 8, \"metadata\": "
        "{}}\n"
        ":::MLLOG {\"time_ms\": 5000, \"key\": \"run_stop\", \"value\": null, \"metadata\": "
        "{\"status\": \"success\"}}\n",
        {"format", .text = "mllog"}, {"taken.0.count", 1, NULL}, {"taken.1.count", 2, NULL},
        {"notes", 2, NULL}, {"facts.lines_bad", 1, NULL}, {"facts.benchmark", .text = "resnet"},
        {"facts.global_batch_size", 8, NULL}, {"facts.init_start_ms", 500, NULL},
        {"facts.run_start_ms", 1000, NULL}, {"facts.run_stop_ms", 5000, NULL},
        {"facts.time_to_train_s", 4, NULL}, {"facts.status", .text = "success"},
        {"facts.eval", 2, NULL}, {"facts.eval.1.2", 0.75, NULL}, {"runs.0.seconds", 4, NULL},
        {"runs.0.batch", 8, NULL}, {"traces", 2, NULL}, {"traces.1.iteration", 2, NULL},
        {"traces.1.loss", 0.25, NULL}, {"traces.1.elapsed_s", 3, NULL});
}

/* A message takes 3 us + 0.1 us for each byte. */
static void benchmarks_of_messages(void **state)
{
    (void)state;
    READS("# OSU MPI-CUDA Allreduce Latency Test v5.8\n# Size       Avg Latency(us)\n"
          "10                       4.00\n20                       5.00\n40      7.00\n",
          {"format", .text = "collectives"}, {"needs_n", .text = "true"},
          {"taken.0.count", 3, NULL}, {"left_out.0.count", 2, NULL}, {"facts.sections", 1, NULL},
          {"facts.sections.0.kind", .text = "osu"},
          {"facts.sections.0.transport", .text = "MPI-CUDA"},
          {"facts.sections.0.test", .text = "Allreduce Latency"},
          {"facts.sections.0.version", .text = "5.8"}, {"facts.sections.0.rows", 3, NULL},
          {"facts.sections.0.rows.2.1", 7, NULL}, {"facts.sections.0.fit.a_s", 3e-6, NULL},
          {"facts.sections.0.fit.b_s_per_byte", 0.1e-6, NULL},
          {"facts.sections.0.smallest_us", 4, NULL}, {"runs", 3, NULL}, {"runs.2.bytes", 40, NULL},
          {"runs.2.seconds", 7e-6, NULL});
    /* Messages between two processes describe a fabric. */
    READS("# OSU MPI Latency Test v5.8\n# Size          Latency (us)\n10     4.00\n20     5.00\n"
          "40      7.00\n",
          {"needs_n", .text = "false"}, {"runs", 3, NULL}, {"runs.0.n", 2, NULL},
          {"document_kind", .text = "cluster"});
    READS("#    Intel(R) MPI Benchmarks 2019 Update 3, MPI-1 part\n# Benchmarking PingPong \n"
          "# #processes = 2 \n# ( 6 additional processes waiting in MPI_Barrier)\n"
          "       #bytes #repetitions      t[usec]   Mbytes/sec\n"
          "            0         1000         1.12         0.00\n"
          "           10         1000         4.00         2.50\n"
          "           20         1000         5.00         4.00\n",
          {"format", .text = "collectives"}, {"taken.0.count", 3, NULL},
          {"facts.sections.0.kind", .text = "imb"},
          {"facts.sections.0.version", .text = "2019 Update 3"},
          {"facts.sections.0.benchmark", .text = "PingPong"},
          {"facts.sections.0.processes", 2, NULL}, {"facts.sections.0.waiting", 6, NULL},
          {"facts.sections.0.rows", 3, NULL}, {"facts.sections.0.fit.a_s", 3e-6, NULL},
          {"facts.sections.0.fit.b_s_per_byte", 0.1e-6, NULL},
          {"facts.sections.0.max_MBps", 4, NULL}, {"runs", 2, NULL}, {"runs.0.n", 2, NULL},
          {"runs.1.bytes", 20, NULL}, {"runs.1.seconds", 5e-6, NULL});
}

/* A log whose last line has no newline was cut; a table may be separated by other characters, and
 * its time may be in the first column. */
static void unusual_files(void **state)
{
    (void)state;
    READS(
        "using world size: 8, data-parallel-size: 8, tensor-model-parallel size: 1, "
        "pipeline-model-parallel size: 1\n"
        " iteration 1/ 10 | consumed samples: 8 | elapsed time per iteration (ms): 900.0 | global "
        "batch size: 8 | lm loss: 1.1E+01 | number of skipped iterations: 0 |\n"
        " iteration 2/ 10 | consumed samples: 16 | elapsed time per iteration (ms): 100.0 | "
        "global batch size: 8 | lm loss: 1.0E+01 | number of skipped iter",
        {"format", .text = "megatron"}, {"partial", .text = "true"}, {"runs", 1, NULL});
    READS("created_at;step;train_loss\n2024-01-01 10:00:00;0;2.5\n2024-01-01 10:00:10;10;1.5\n",
          {"format", .text = "lightning"}, {"facts.columns", 3, NULL},
          {"facts.has_time", .text = "true"}, {"facts.created_at.seconds", 10, NULL},
          {"traces", 2, NULL}, {"traces.1.loss", 1.5, NULL});
}

/* Batches of 64 in micro-batches of 4 that are accumulated twice need 8 workers. */
static void configurations_of_jobs(void **state)
{
    (void)state;
    READS("{\"train_batch_size\":64,\"train_micro_batch_size_per_gpu\":4,"
          "\"gradient_accumulation_steps\":2,\"zero_optimization\":{\"stage\":3,"
          "\"offload_optimizer\":{\"device\":\"cpu\"},\"overlap_comm\":true},\"bf16\":{\"enabled\":"
          "true},\"fp16\":{\"enabled\":false},\"optimizer\":{\"type\":\"AdamW\"},"
          "\"gradient_clipping\":\"auto\"}",
          {"format", .text = "deepspeed"}, {"facts.train_batch_size", 64, NULL},
          {"facts.train_micro_batch_size_per_gpu", 4, NULL},
          {"facts.gradient_accumulation_steps", 2, NULL}, {"facts.zero_stage", 3, NULL},
          {"facts.offload_optimizer", .text = "cpu"}, {"facts.offload_param", NAN, NULL},
          {"facts.overlap_comm", .text = "true"}, {"facts.precision_sections_on", 1, NULL},
          {"facts.precision_sections_on.0", .text = "bf16"}, {"facts.optimizer", .text = "AdamW"},
          {"facts.auto_values", 1, NULL}, {"facts.n", 8, NULL}, {"needs_network", .text = "true"},
          {"document", .text = "batch: 64\nprecision: bf16\noptimizer: adam\nparallel: {tensor: 1, "
                               "pipeline: 1, zero: 3, micro_batch: 4, offload: optimizer}\n"});
    READS("{\"train_batch_size\":32,\"zero_optimization\":{\"stage\":1},\"optimizer\":{\"type\":"
          "\"SGD\"}}",
          {"format", .text = "deepspeed"}, {"facts.zero_stage", 1, NULL}, {"facts.n", NAN, NULL},
          {"facts.precision_sections_on", 0, NULL},
          {"document", .text = "batch: 32\noptimizer: sgd\nparallel: {tensor: 1, pipeline: 1, "
                               "zero: 1}\n"});
    READS("name: p\n---\nname: t\nnum_nodes: 2\nresources:\n  infra: aws/us\n"
          "  accelerators: {A100: 8}\n  any_of:\n    - accelerators: H100:8\nrun: echo\n"
          "---\nresources:\n  accelerators: {'A:1', 'B:2'}\n",
          {"format", .text = "skypilot"}, {"taken.0.count", 16, NULL}, {"taken.1.count", 2, NULL},
          {"facts.pipeline", .text = "p"}, {"facts.tasks", 2, NULL},
          {"facts.tasks.0.name", .text = "t"}, {"facts.tasks.0.num_nodes", 2, NULL},
          {"facts.tasks.0.accelerators.A100", .text = "8"}, {"facts.tasks.0.alternatives", 1, NULL},
          {"facts.tasks.0.alternative_accelerators.0", .text = "H100:8"},
          {"facts.tasks.0.cloud", .text = "aws"}, {"facts.tasks.0.has_run", .text = "true"},
          {"facts.tasks.0.n", 16, NULL}, {"facts.tasks.1.num_nodes", 1, NULL},
          {"facts.tasks.1.accelerators.any", 2, NULL}, {"facts.tasks.1.has_run", .text = "false"},
          {"facts.tasks.1.n", NAN, NULL});
}

/* Checks the job of a configuration of accelerate for 8 processes on 2 machines. */
#define LAUNCHES(lines, parallel)                                                                  \
    READS("num_machines: 2\nnum_processes: 8\n" lines, {"format", .text = "accelerate"},           \
          {"document", .text = "parallel: {" parallel "}\n"                                        \
                               "cluster: {accelerators: 4, max_nodes: 2}\n"})

/* The kinds of sharding of accelerate are stages of ZeRO, and processes are those of all
 * machines. */
static void configurations_of_accelerate(void **state)
{
    (void)state;
    LAUNCHES("distributed_type: MULTI_GPU\n", "tensor: 1, pipeline: 1, zero: 0");
    LAUNCHES("distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3, "
             "offload_param_device: nvme, offload_optimizer_device: cpu}\n",
             "tensor: 1, pipeline: 1, zero: 3, offload: all");
    LAUNCHES("distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 2, "
             "offload_param_device: none, offload_optimizer_device: cpu}\n",
             "tensor: 1, pipeline: 1, zero: 2, offload: optimizer");
    LAUNCHES("distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: HYBRID_SHARD, "
             "fsdp_activation_checkpointing: true}\n",
             "tensor: 1, pipeline: 1, zero: 3, shard_within: node, recompute: full");
    LAUNCHES("distributed_type: FSDP\nfsdp_config: {fsdp_sharding_strategy: 2, "
             "fsdp_offload_params: true}\n",
             "tensor: 1, pipeline: 1, zero: 2, offload: all");
    LAUNCHES("distributed_type: FSDP\nfsdp_config: {fsdp_version: 2, "
             "fsdp_reshard_after_forward: false}\n",
             "tensor: 1, pipeline: 1, zero: 2");
    LAUNCHES("distributed_type: MEGATRON_LM\nmegatron_lm_config: {megatron_lm_tp_degree: 4, "
             "megatron_lm_pp_degree: 2, megatron_lm_use_distributed_optimizer: true, "
             "megatron_lm_recompute_activations: true}\n",
             "tensor: 4, pipeline: 2, zero: 1, recompute: selective");
    READS("distributed_type: MULTI_GPU\nmixed_precision: fp16\nnum_processes: 4\n",
          {"document", .text = "precision: fp16\nparallel: {tensor: 1, pipeline: 1, zero: 0}\n"
                               "cluster: {accelerators: 4, max_nodes: 1}\n"},
          {"notes.0", .text = "the file does not give num_machines: 1, the default of accelerate"});
    READS("distributed_type: DEEPSPEED\nnum_processes: 4\nnum_machines: 1\n"
          "deepspeed_config: {deepspeed_config_file: ds.json}\n",
          {"document", .text = "parallel: {tensor: 1, pipeline: 1}\n"
                               "cluster: {accelerators: 4, max_nodes: 1}\n"},
          {"notes.0", .text = "the settings of DeepSpeed are in another file, which was not "
                              "found: ds.json"});
    /* Seven processes cannot be divided evenly between two machines. */
    READS("distributed_type: MULTI_GPU\nmixed_precision: 'no'\nnum_processes: 7\nnum_machines: 2\n",
          {"document", .text = "parallel: {tensor: 1, pipeline: 1, zero: 0}\n"},
          {"notes.0", .text = "mixed_precision 'no' is left to the plan"});
}

/* Launchers convert quoted numbers; other values must not be taken for defaults. */
static void wrong_numbers_in_configurations(void **state)
{
    (void)state;
    LAUNCHES("distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: '3'}\n",
             "tensor: 1, pipeline: 1, zero: 3");
    READS("distributed_type: MULTI_GPU\nnum_machines: '2'\nnum_processes: '8'\n",
          {"notes", 0, NULL},
          {"document", .text = "parallel: {tensor: 1, pipeline: 1, zero: 0}\n"
                               "cluster: {accelerators: 4, max_nodes: 2}\n"});
    READS(
        "distributed_type: FSDP\nnum_machines: 2x\nnum_processes: 8\n"
        "fsdp_config: {fsdp_sharding_strategy: SOME}\n",
        {"notes", 0, NULL},
        {"left_out.0.what", .text = "num_machines: '2x' is not a whole number from 1 to 999999999"},
        {"left_out.1.what", .text = "fsdp_sharding_strategy: 'SOME' is not known"},
        {"document", .text = "parallel: {tensor: 1, pipeline: 1}\n"});
    READS("{\"train_batch_size\":-8,\"train_micro_batch_size_per_gpu\":\"4\","
          "\"gradient_accumulation_steps\":\"auto\",\"zero_optimization\":{\"stage\":2.5}}",
          {"left_out", 2, NULL},
          {"left_out.0.what",
           .text = "train_batch_size: '-8' is not a whole number from 1 to 999999999"},
          {"left_out.1.what", .text = "stage: '2.5' is not a whole number from 0 to 3"},
          {"document", .text = "parallel: {tensor: 1, pipeline: 1, micro_batch: 4}\n"});
    READS("num_nodes: two\nresources:\n  accelerators: A100:8\nrun: echo\n",
          {"format", .text = "skypilot"}, {"facts.tasks.0.n", NAN, NULL},
          {"left_out.0.what", .text = "num_nodes: 'two' is not a whole number from 1 to 1000000"});
    READS("num_nodes: '2'\nresources:\n  accelerators: A100:8\nrun: echo\n",
          {"facts.tasks.0.n", 16, NULL});
    READS("num_layers: 2\nhidden_size: 64.5\ntensor_model_parallel_size: 2.5\n",
          {"format", .text = "megatron-yaml"}, {"left_out.0.count", 2, NULL},
          {"left_out.0.what", .text = "settings whose values are not whole numbers in the file"});
}

/* Lists of resources, quotes, units of memory and suffixes of numbers, as Slurm reads them. */
static void values_of_batch_scripts(void **state)
{
    (void)state;
    READS("#SBATCH --job-name=\"my job\" --nodes='2' --gres=gpu:a100:4,nvme:100\n#SBATCH "
          "--mem=64000\n",
          {"format", .text = "sbatch"}, {"facts.n", 8, NULL}, {"facts.job_name", .text = "my job"},
          {"facts.gpu_type", .text = "a100"}, {"facts.memory_bytes", 67108864000, NULL});
    READS("#SBATCH -N 2 --gres=nvme:1,gpu:a100 --mem=64g -t 2-0\n", {"facts.n", 2, NULL},
          {"facts.gpu_type", .text = "a100"}, {"facts.memory_bytes", 68719476736, NULL},
          {"facts.limit_s", 172800, NULL});
    READS("#SBATCH --nodes=1k --gpus-per-node=a100:4(S:0-1)\n", {"facts.n", 4096, NULL});
    READS("#SBATCH --gpus=a100:4,h100:2 --mem=0\n", {"facts.n", 6, NULL},
          {"facts.gpu_type", .text = "mixed"}, {"facts.memory_bytes", NAN, NULL},
          {"left_out", 0, NULL});
    READS("#SBATCH --nodes=2-4 --gres=gpu:0\n", {"facts.n", 2, NULL});
    /* An option without a name sets nothing. */
    READS("#SBATCH --nodes=2 --=9\n", {"facts.n", 2, NULL});
    READS("#SBATCH --nodes=two --gpus-per-node=8\n", {"facts.n", NAN, NULL},
          {"left_out.0.what", .text = "directives whose values are not understood"});
}

/* A network of three dimensions has one between the first, which is the node, and the last, which
 * is the fabric. */
static void networks_of_astra_sim(void **state)
{
    (void)state;
    READS("topology: [ Ring, Switch ]\nnpus_count: [ 8, 4 ]\nbandwidth: [ 400.0, 50 ]\n"
          "latency: [ 900, 500 ]\n",
          {"format", .text = "astra-network"}, {"facts.n", 32, NULL}, {"left_out", 0, NULL});
    READS("topology: [ Ring, FullyConnected, Switch ]\nnpus_count: [ 2, 8, 4 ]\n"
          "bandwidth: [ 250.0, 200.0, 50 ]\nlatency: [ 50, 500, 2000 ]\n",
          {"facts.n", 64, NULL}, {"taken.0.what", .text = "accelerators in 3 dimensions"},
          {"left_out", 1, NULL}, {"left_out.0.count", 1, NULL},
          {"left_out.0.what", .text = "dimensions between the first and the last"},
          {"document_kind", .text = "cluster"});
}

/* Bytes of the elements of each kind that PyTorch's profiler writes. */
static void elements_of_messages_have_bytes(void **state)
{
    static const struct {
        const char *type;
        double bytes;
    } rows[] = {{"Float", 4}, {"Double", 8}, {"Half", 2}, {"BFloat16", 2}, {"Long", 8}, {"Int", 4},
                {"Byte", 1},  {"Char", 1},   {"Bool", 1}, {"Short", 2},    {"Odd", NAN}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[600];
        snprintf(text, sizeof(text),
                 "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\"}],"
                 "\"distributedInfo\":{\"rank\":0,\"world_size\":2},\"traceEvents\":["
                 "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"ncclKernel_AllReduce\",\"ts\":105,"
                 "\"dur\":10,\"args\":{\"Collective name\":\"allreduce\",\"dtype\":\"%s\","
                 "\"In msg nelems\":10,\"Group size\":2}}]}",
                 rows[i].type);
        READS(text, {"format", .text = "torch-trace"},
              {"facts.collectives.0.in_bytes", 10 * rows[i].bytes, NULL});
    }
}

/* The second table has no line about ranks; it begins with the line about threads. */
static void tables_of_nccl_are_separate(void **state)
{
    static const char head[] = "# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n"
                               "#       size count type redop root time algbw busbw #wrong time "
                               "algbw busbw #wrong\n";
    static const char row[] = " 1000000 250000 float sum -1 %d.0 11.1 16.6 0 90.0 11.1 16.6 0\n";
    char text[2000];
    size_t used = (size_t)snprintf(text, sizeof(text), "%s", head);

    (void)state;
    used += (size_t)snprintf(text + used, sizeof(text) - used, row, 90);
    READS(text, {"format", .text = "collectives"}, {"facts.sections", 1, NULL},
          {"facts.sections.0.rows", 1, NULL});
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", head);
    used += (size_t)snprintf(text + used, sizeof(text) - used, row, 80);
    snprintf(text + used, sizeof(text) - used, row, 85);
    READS(text, {"facts.sections", 2, NULL}, {"facts.sections.0.rows", 1, NULL},
          {"facts.sections.1.rows", 2, NULL});
}

#define KERAS_INPUT                                                                                \
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": ["                 \
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_input_shape\": [null, 4, 5], "          \
    "\"name\": "                                                                                   \
    "\"in\"}, \"name\": \"in\", \"inbound_nodes\": []},"
#define KERAS_END "], \"input_layers\": [[\"in\", 0, 0]], \"output_layers\": [[\"d\", 0, 0]]}}"

/* Layers pass on the shape of their input: the weights of the dense layer follow from it. */
static void shapes_of_keras_layers(void **state)
{
    static const struct {
        const char *axis;
        double parameters; /* 0: the shape is not known. */
    } rows[] = {{"-1", 15 * 3 + 3}, {"2", 15 * 3 + 3}, {"1", 5 * 3 + 3}, {"-2", 5 * 3 + 3},
                {"0", 0},           {"-3", 0},         {"3", 0},         {"-9", 0}};

    (void)state;
    /* One slope for each of the 4 x 5 values, or for each of 5 if the first axis is shared. */
    READS(KERAS_INPUT "{\"class_name\": \"PReLU\", \"config\": {\"name\": \"p\"}, \"name\": \"p\", "
                      "\"inbound_nodes\": [[[\"in\", 0, 0, {}]]]},"
                      "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 3}, "
                      "\"name\": \"d\", \"inbound_nodes\": [[[\"p\", 0, 0, {}]]]}" KERAS_END,
          {"facts.parameters", 4 * 5 + 5 * 3 + 3, NULL}, {"facts.forward_macs", 4 * 5 * 3, NULL});
    READS(KERAS_INPUT "{\"class_name\": \"PReLU\", \"config\": {\"name\": \"p\", \"shared_axes\": "
                      "[1]}, \"name\": \"p\", \"inbound_nodes\": [[[\"in\", 0, 0, {}]]]},"
                      "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 3}, "
                      "\"name\": \"d\", \"inbound_nodes\": [[[\"p\", 0, 0, {}]]]}" KERAS_END,
          {"facts.parameters", 5 + 5 * 3 + 3, NULL});
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[1200];
        snprintf(text, sizeof(text),
                 KERAS_INPUT
                 "{\"class_name\": \"Concatenate\", \"config\": {\"name\": \"c\", "
                 "\"axis\": %s}, \"name\": \"c\", \"inbound_nodes\": [[[\"in\", 0, 0, {}], "
                 "[\"in\", 0, 0, {}], [\"in\", 0, 0, {}]]]},"
                 "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 3}, "
                 "\"name\": \"d\", \"inbound_nodes\": [[[\"c\", 0, 0, {}]]]}" KERAS_END,
                 rows[i].axis);
        READS(text, {"facts.parameters", rows[i].parameters > 0 ? rows[i].parameters : NAN, NULL});
    }
}

/* With channels_first, the first axis of an image has its channels. */
static void channels_of_keras_images(void **state)
{
    static const struct {
        const char *format;
        double parameters;
    } rows[] = {{"channels_first", 3 * 3 * 3 * 8 + 8}, {"channels_last", 3 * 3 * 5 * 8 + 8}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[900];
        snprintf(text, sizeof(text),
                 "{\"class_name\": \"Functional\", \"config\": {\"name\": \"m\", \"layers\": ["
                 "{\"class_name\": \"InputLayer\", \"config\": {\"batch_input_shape\": "
                 "[null, 3, 9, 5], \"name\": \"in\"}, \"name\": \"in\", \"inbound_nodes\": []},"
                 "{\"class_name\": \"Conv2D\", \"config\": {\"name\": \"d\", \"filters\": 8, "
                 "\"kernel_size\": [3, 3], \"data_format\": \"%s\", \"padding\": \"same\"}, "
                 "\"name\": \"d\", \"inbound_nodes\": [[[\"in\", 0, 0, {}]]]}" KERAS_END,
                 rows[i].format);
        READS(text, {"facts.parameters", rows[i].parameters, NULL});
    }
}

/* Python writes infinite numbers into JSON; a loss that is not finite is left out. */
static void numbers_of_python(void **state)
{
    static const char *const losses[] = {"NaN", "Infinity", "-Infinity"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char text[300];
        snprintf(text, sizeof(text),
                 "{\"global_step\":30,\"log_history\":[{\"step\":10,\"loss\":2.5},"
                 "{\"step\":20,\"loss\":%s},{\"step\":30,\"loss\":1.25}]}",
                 losses[i]);
        READS(text, {"format", .text = "trainer-state"}, {"partial", .text = "false"},
              {"facts.log_entries", 3, NULL}, {"traces", 2, NULL}, {"traces.1.loss", 1.25, NULL});
    }
}

/* Names of variables may have one letter. */
static void expressions_have_short_names(void **state)
{
    (void)state;
    READS("#!/bin/bash\nT=2\nP=$(( T * 2 ))\nB=$(( P * 8 + T ))\n"
          "torchrun --nnodes=1 --nproc_per_node 8 pretrain_gpt.py --num-layers 8 --hidden-size 64 "
          "--num-attention-heads 4 --seq-length 128 --tensor-model-parallel-size $T "
          "--pipeline-model-parallel-size $P --global-batch-size $B\n",
          {"format", .text = "megatron-args"}, {"facts.tensor", 2, NULL},
          {"facts.pipeline", 4, NULL}, {"facts.batch", 34, NULL});
}

/* The key of a task is recognised at the beginning of a line, also after other places. */
static void keys_begin_lines(void **state)
{
    (void)state;
    READS("# resources: below\nname: t # resources:\nnum_nodes: 2\nresources:\n"
          "  accelerators: {A100: 8}\nrun: echo\n",
          {"format", .text = "skypilot"});
}

/* Only the first words of a line are read. */
static void lines_may_have_many_words(void **state)
{
    (void)state;
    READS("# nThread 1 nGpus 2 minBytes 8 maxBytes 8\n"
          "#       size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
          " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26\n"
          " 1000000 250000 float sum -1 90.0 11.1 16.6 0 90.0 11.1 16.6 0\n",
          {"format", .text = "collectives"}, {"facts.sections", 1, NULL},
          {"facts.sections.0.rows", 1, NULL});
}

/* A call without a name is counted as a node, but not as an operation. */
static void calls_without_a_name(void **state)
{
    static const char text[] = "class GraphModule(torch.nn.Module):\n"
                               "    def forward(self, x: \"f32[2, 3]\"):\n"
                               "      y: \"f32[2, 3]\" = torch.ops.aten.(x);  x = None\n"
                               "      z: \"f32[2, 3]\" = torch.ops.aten.relu.default(y);\n"
                               "      return (z,)\n";

    (void)state;
    READS(text, {"format", .text = "torch-fx"}, {"facts.nodes", 2, NULL});
    struct hm_request *request = with_document("import", "files", text);
    set(request, "json", "true");
    says(request, NULL, "\"operations\":{\n  \"relu\":1}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_of_astra_sim),
        cmocka_unit_test(elements_of_messages_have_bytes),
        cmocka_unit_test(tables_of_nccl_are_separate),
        cmocka_unit_test(shapes_of_keras_layers),
        cmocka_unit_test(channels_of_keras_images),
        cmocka_unit_test(calls_without_a_name),
        cmocka_unit_test(numbers_of_python),
        cmocka_unit_test(expressions_have_short_names),
        cmocka_unit_test(keys_begin_lines),
        cmocka_unit_test(lines_may_have_many_words),
        cmocka_unit_test(trainer_states),
        cmocka_unit_test(tables_of_metrics),
        cmocka_unit_test(accounts_of_jobs),
        cmocka_unit_test(traces_of_the_profiler),
        cmocka_unit_test(results_of_mlperf),
        cmocka_unit_test(benchmarks_of_messages),
        cmocka_unit_test(configurations_of_jobs),
        cmocka_unit_test(configurations_of_accelerate),
        cmocka_unit_test(wrong_numbers_in_configurations),
        cmocka_unit_test(values_of_batch_scripts),
        cmocka_unit_test(unusual_files),
    };

    return cmocka_run_group_tests_name("import_readers", tests, NULL, NULL);
}
