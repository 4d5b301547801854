/*
 * Implements the command howmany init, which writes a commented job file that `howmany plan`
 * accepts without changes. The values are the usual ones for the model, as stated in the catalog.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "first_job.h"
#include "servers.h"
#include "text.h"

enum init_option { ON, TOKENS, EPOCHS, ITERATIONS, OUTPUT, OPTIONS };

static const struct cli_option options[OPTIONS] = {
    [ON] = {"on", 0, "MACHINE", "machine from the catalog to run on (default p5.48xlarge)",
            "@machine"},
    [TOKENS] = {"tokens", 0, "TOKENS", "tokens in the whole job, such as 300B", NULL},
    [EPOCHS] = {"epochs", 0, "EPOCHS", "passes over the data set", NULL},
    [ITERATIONS] = {"iterations", 'i', "K", "iterations of the whole job", NULL},
    [OUTPUT] = {"output", 'o', "FILE", "write this file instead of standard output", "@file"},
};

struct init_state {
    struct first_job job;
    const char *output;
    bool given; /* True if the user has described the job with an operand or an option. */
};

static void *init_begin(void)
{
    return calloc(1, sizeof(struct init_state));
}

static int copy_text(const char *what, const char *value, char text[FIRST_TEXT_MAX])
{
    if (!*value || strlen(value) >= FIRST_TEXT_MAX || strpbrk(value, "\n\r#:"))
        return cli_complain("init: %s: '%.60s' cannot be written to a job file", what, value);
    snprintf(text, FIRST_TEXT_MAX, "%s", value);
    return 0;
}

static int init_accept(void *state, int option, const char *value)
{
    struct init_state *s = state;

    if (option == OUTPUT) {
        s->output = value;
        return 0;
    }
    s->given = true;
    if (option == ON)
        return copy_text("--on", value, s->job.machine);
    if (option < 0 && s->job.model[0])
        return cli_complain("init: give one model only; '%s' is another", value);
    if (option < 0)
        return copy_text("the model", value, s->job.model);
    if (s->job.amount[0])
        return cli_complain("init: give only one of --tokens, --epochs and --iterations");
    snprintf(s->job.unit, sizeof(s->job.unit), "%s", options[option].name);
    return copy_text(options[option].name, value, s->job.amount);
}

/* ---- the file ---------------------------------------------------------------------------------
 */

/* Adds a line "key: value   # comment" to the job file; all comments begin in the same column. */
static void add_key(struct hm_text *out, const char *key, const char *value, const char *comment)
{
    char line[2 * FIRST_TEXT_MAX];

    snprintf(line, sizeof(line), "%s: %s", key, value);
    hm__text_addf(out, "%-28s # %s\n", line, comment);
}

static void add_work(struct hm_text *out, const struct first_job *job)
{
    if (strcmp(job->unit, "tokens") == 0)
        add_key(out, "tokens", job->amount, "of the whole job; or iterations: 100000");
    else if (strcmp(job->unit, "epochs") == 0)
        add_key(out, "epochs", job->amount, "passes over the data set; or iterations: 100000");
    else
        add_key(out, "iterations", job->amount, "of the whole job");
}

/* Adds the machine to the job file. An accelerator without a network is replaced by a server with
 * several such accelerators. */
static void add_machine(const struct hm_catalog *catalog, const char *name, struct hm_text *out)
{
    struct hm_servers servers;
    char comment[2 * FIRST_TEXT_MAX];

    hm__catalog_servers(catalog, name, &servers);
    const char *server = servers.owned ? servers.owned : servers.rented;
    snprintf(comment, sizeof(comment), "nodes of several %s", name);
    add_key(out, "  machine", server ? server : name,
            server ? comment : "see 'howmany catalog list machines'");
}

static void render_job(const struct hm_catalog *catalog, const struct first_job *job,
                       const char *file, struct hm_text *out)
{
    const char *usual = first_job_usual(catalog, job->model, "batch");
    const char *sequence = first_job_usual(catalog, job->model, "sequence");
    const char *dataset = first_job_usual(catalog, job->model, "dataset");
    bool layouts = first_job_has_layouts(catalog, job->model);

    hm__text_addf(out,
                  "# A job for howmany. Change what differs from yours, then ask:\n"
                  "#   howmany plan %s\n"
                  "#   howmany plan %s --deadline 12h\n"
                  "#   howmany plan %s --on p4d.24xlarge,g5.48xlarge\n\n",
                  file, file, file);
    add_key(out, "network", job->model, "see 'howmany catalog list networks'; or layers");
    if (sequence)
        add_key(out, "sequence", sequence, "tokens in a sequence");
    add_key(out, "batch", usual ? usual : first_job_batch(catalog, job->model),
            layouts ? "of one iteration of the whole job; or 512 sequences"
                    : "samples in one iteration of the whole job");
    if (dataset)
        add_key(out, "dataset", dataset, "samples of the data set");
    add_work(out, job);
    hm__text_addf(out, "\n# Remove the # in front of a key to set it.\n");
    add_key(out, "# precision", "bf16",
            layouts ? "bf16, fp16 or fp8" : "fp32, tf32, bf16, fp16 or fp8");
    add_key(out, "# optimizer", layouts ? "adamw" : "momentum",
            layouts ? "sgd, momentum or adamw" : "sgd, momentum or adam");
    add_key(out, "# software", "compiled", "eager, compiled (torch.compile) or tuned");
    if (layouts)
        add_key(out, "# parallel", "{tensor: 8, zero: 1}", "what is left out is chosen");
    else
        add_key(out, "# scaling", "weak", "batch is then of one worker, not of all");
    hm__text_addf(out, "\ncluster:\n");
    add_machine(catalog, job->machine, out);
    add_key(out, "  max_nodes", "16", "most machines that you could rent");
    add_key(out, "  # price", "$20/h", "of one machine, instead of the price in the catalog");
}

static int write_job(const char *path, const struct hm_text *text)
{
    FILE *file = fopen(path, "wxe");

    if (!file && errno == EEXIST)
        return cli_complain("init: %s exists already; name another file", path);
    if (!file)
        return cli_complain("init: %s cannot be written: %s", path, strerror(errno));
    bool written = fwrite(text->data, 1, text->length, file) == text->length;
    if (fclose(file) != 0 || !written) {
        int rc = cli_complain("init: %s cannot be written: %s", path, strerror(errno));
        unlink(path);
        return rc;
    }
    fprintf(stderr, "%s is written; now: howmany plan %s\n", path, path);
    return 0;
}

static int init_run(void *state)
{
    struct init_state *s = state;
    struct hm_text text = {0};
    struct hm_catalog *catalog = cli_catalog_load();

    if (!catalog)
        return EXIT_USAGE;
    int rc = s->given || !first_job_can_ask() ? 0 : first_job_ask(catalog, &s->job);
    if (rc == 0) {
        first_job_suggest(catalog, &s->job);
        rc = first_job_check(catalog, &s->job);
    }
    if (rc == 0) {
        render_job(catalog, &s->job,
                   s->output && strcmp(s->output, "-") != 0 ? s->output : "job.yaml", &text);
        if (text.failed)
            rc = cli_complain("out of memory");
        else if (s->output && strcmp(s->output, "-") != 0)
            rc = write_job(s->output, &text);
        else
            rc = cli_put(text.data) ? 0 : EXIT_USAGE;
    }
    hm__text_release(&text);
    hm_catalog_free(catalog);
    return rc;
}

static const struct cli_heading headings[] = {{"on", "job"}, {"output", "output"}, {NULL, NULL}};

const struct cli_command cli_init = {
    .name = "init",
    .examples = {"howmany init", "howmany init llama-3-8b --tokens 1T --on p5.48xlarge",
                 "howmany init resnet-50 --epochs 90 -o job.yaml"},
    .arguments = "[MODEL]",
    .summary = "write a commented job file for plan",
    .description =
        "Writes a job file that *howmany plan* answers as it is: a network from the catalog with "
        "its "
        "usual batch, data set and sequence, a machine, and the amount of work, with a comment at "
        "each key. On a terminal, without a model, it asks for the three; otherwise it asks "
        "nothing. A file that exists is not overwritten.",
    .options = options,
    .option_count = OPTIONS,
    .headings = headings,
    .accept = init_accept,
    .run = init_run,
    .begin = init_begin,
    .end = free,
};
