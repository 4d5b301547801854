/* Implements the command howmany calibrate, which measures the machine that it runs on. */
#include <stdlib.h>
#include <string.h>

#include "calibrate_session.h"
#include "cli.h"

struct calibrate_state {
    struct calibrate_request request;
    struct calibrate_session session;
};

enum calibrate_option {
    CPU,
    GPU,
    FABRIC,
    DEVICE,
    N,
    HOSTS,
    LAUNCHER,
    FROM,
    ACCELERATOR,
    PLAIN,
    QUICK,
    OUTPUT,
    RECORD,
    PLOT,
    REPLAY,
    JSON
};

static const struct cli_option options[] = {
    [CPU] = {"cpu", 0, NULL, "measure the CPU: matrix products with OpenBLAS, memory, threads",
             NULL},
    [GPU] = {"gpu", 0, NULL, "measure a GPU: matrix products, convolutions, memory, launches",
             NULL},
    [FABRIC] = {"fabric", 0, NULL,
                "measure messages and all-reduces between MPI ranks: those of the mpirun that "
                "started this command, or -n ranks",
                NULL, "network"},
    [DEVICE] = {"device", 0, "K", "with --gpu: the number of the GPU (default 0)", NULL},
    [N] = {"n", 'n', "K",
           "with --fabric: ranks to start (default 2); with --from: ranks of the "
           "benchmark, if the file does not say",
           NULL},
    [HOSTS] = {"hosts", 0, "LIST", "with --fabric: start the ranks on these hosts", NULL},
    [LAUNCHER] = {"launcher", 0, "COMMAND",
                  "with --fabric: command that starts the ranks, such as 'srun -n {n}'", NULL},
    [FROM] = {"from", 0, "FILE",
              "take the fabric from the output of nccl-tests, OSU or IMB instead of measuring it",
              "@file"},
    [ACCELERATOR] = {"accelerator", 0, "NAME",
                     "entry in the catalog with the data sheet of the GPU (default: by its name)",
                     NULL},
    [PLAIN] = {"plain", 0, NULL, "with --cpu: built-in loops instead of OpenBLAS", NULL},
    [QUICK] = {"quick", 0, NULL,
               "measure fewer and smaller operations, which takes seconds and is less precise",
               NULL},
    [OUTPUT] = {"output", 'o', "FILE",
                "write the description of the machine to this file (default: standard output)",
                "@file"},
    [RECORD] = {"record", 'r', "FILE", "write the times of all operations to this file, .json",
                "@file"},
    [PLOT] = {"plot", 0, "FILE",
              "rates, and predicted over measured times, as a picture: .svg, .png or .pdf",
              "@file"},
    [REPLAY] = {"replay", 0, "FILE", "take the times from a file of --record, without measuring",
                "@file"},
    [JSON] = {"json", 'j', NULL, "all times and figures as JSON", NULL},
};

static void *calibrate_begin(void)
{
    return calloc(1, sizeof(struct calibrate_state));
}

static void calibrate_end(void *state)
{
    struct calibrate_state *s = state;

    calibrate_session_release(&s->session);
    free(s);
}

static int accept_switch(struct calibrate_request *r, int option)
{
    *(option == CPU      ? &r->cpu
      : option == GPU    ? &r->gpu
      : option == FABRIC ? &r->fabric
      : option == PLAIN  ? &r->plain
      : option == QUICK  ? &r->quick
                         : &r->json) = true;
    return 0;
}

static int calibrate_accept(void *state, int option, const char *value)
{
    struct calibrate_request *r = &((struct calibrate_state *)state)->request;

    switch (option) {
    case -1:
        return cli_complain("calibrate: unexpected operand '%s'; name the file with --output",
                            value);
    case DEVICE:
        return cli_whole("device", value, 0, 1023, &r->gpu_index);
    case N:
        return cli_whole("n", value, 2, 100000, &r->n);
    case HOSTS:
    case LAUNCHER:
    case FROM:
    case ACCELERATOR:
    case OUTPUT:
    case RECORD:
    case PLOT:
    case REPLAY:
        if (option == OUTPUT && strcmp(value, "-") == 0)
            return 0; /* "-" means standard output, which is also the default. */
        *(option == HOSTS         ? &r->hosts
          : option == LAUNCHER    ? &r->launcher
          : option == FROM        ? &r->from
          : option == ACCELERATOR ? &r->accelerator
          : option == OUTPUT      ? &r->output
          : option == RECORD      ? &r->record
          : option == PLOT        ? &r->plot
                                  : &r->replay) = value;
        return 0;
    default:
        return accept_switch(r, option);
    }
}

static int calibrate_run(void *state)
{
    struct calibrate_state *s = state;

    s->session.request = &s->request;
    return calibrate_session_run(&s->session);
}

static const struct cli_heading headings[] = {{"cpu", "what to measure"},
                                              {"n", "ranks"},
                                              {"from", "recorded measurements"},
                                              {"accelerator", "how to measure"},
                                              {"output", "output"},
                                              {"replay", "recorded measurements"},
                                              {"json", "output"},
                                              {NULL, NULL}};

const struct cli_command cli_calibrate = {
    .name = "calibrate",
    .examples = {"howmany calibrate --cpu --quick -o machine.yaml",
                 "howmany calibrate --replay examples/h200-timings.json",
                 "howmany calibrate --from examples/nccl-tests.txt -o node.yaml"},
    .arguments = "",
    .summary = "measure this machine and describe it, to plan with --on FILE",
    .description =
        "Measures a GPU or the CPU of this machine and the messages between MPI ranks, in less "
        "than two minutes, and writes a description of the machine with the date and the "
        "uncertainty. Use it wherever a machine is named: howmany plan JOB --on machine.yaml.\n\n"
        "Without --cpu, --gpu and --fabric it measures a GPU if there is one, otherwise the CPU. "
        "The NVIDIA driver, cuBLAS and cuDNN are loaded when they are needed; without cuDNN "
        "convolutions are not measured.\n\n"
        "With --fabric, ranks run the program howmany-links, under the mpirun that started this "
        "command (mpirun -n 4 howmany calibrate --fabric), or under one that it starts with -n, "
        "--hosts or --launcher. howmany lab run -- howmany calibrate --fabric -n 4 measures the "
        "network of a laboratory.\n\n"
        "Measure on a machine that does nothing else. Exit status: 0 measured; 2 wrong usage or "
        "input, or nothing to measure; 130 interrupted, and no file is written.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .headings = headings,
    .accept = calibrate_accept,
    .run = calibrate_run,
    .begin = calibrate_begin,
    .end = calibrate_end,
};
