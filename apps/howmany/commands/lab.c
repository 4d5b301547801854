/*
 * Implements the command howmany lab, which emulates a cluster on one machine. Such a cluster is
 * called a laboratory (lab). Its nodes are network namespaces, connected by a network with real
 * delays, so that mpirun or any framework can run across them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "lab_actions.h"
#include "text.h"

enum lab_verb { UP, RUN, STATUS, DOWN, AGENT, VERBS };

static const char *const verbs[VERBS + 1] = {"up", "run", "status", "down", "agent"};

enum lab_option { NAME, N, LATENCY, BANDWIDTH, LOSS, WAY, ON, DRY_RUN, JSON };

/* For each option, the subcommands (verbs) that accept it, as a set of bits (one bit per verb). */
static const unsigned verbs_of_option[] = {
    [NAME] = ~0U,           [N] = 1U << UP | 1U << RUN, [LATENCY] = 1U << UP,
    [BANDWIDTH] = 1U << UP, [LOSS] = 1U << UP,          [WAY] = 1U << UP,
    [ON] = 1U << RUN,       [DRY_RUN] = 1U << UP,       [JSON] = 1U << UP | 1U << STATUS,
};

static const struct cli_option options[] = {
    [NAME] = {"name", 0, "NAME", "name of the lab; several can exist (default howmany)", NULL},
    [N] = {"n", 'n', "N", "up: number of nodes, 1 to 64; run: use the first N (default all)", NULL},
    [LATENCY] = {"latency", 0, "TIME",
                 "up: one-way latency between nodes, such as 20ms (default 0)", NULL},
    [BANDWIDTH] = {"bandwidth", 0, "RATE",
                   "up: bandwidth of each node in each direction, such as 1Gbit/s (default: "
                   "unlimited)",
                   NULL},
    [LOSS] = {"loss", 0, "P", "up: share of packets that are lost, such as 0.1% (default 0)", NULL},
    [WAY] = {"way", 0, "WAY",
             "up: netem or vde for latency and loss (default: netem if the kernel has it)",
             "netem vde plain"},
    [ON] = {"on", 0, "NODE", "run: the node, by number, name or address (default 1)", NULL},
    [DRY_RUN] = {"dry-run", 0, NULL, "up: print the commands without running them", NULL},
    [JSON] = {"json", 'j', NULL, "up, status: as JSON", NULL},
};

struct lab_state {
    /* The subcommand (verb) on the command line; VERBS if none has been read yet. */
    enum lab_verb verb;
    unsigned given; /* Options that were given, as a set of bits (one bit per option). */
    struct lab_request request;
};

static void *lab_begin(void)
{
    struct lab_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->verb = VERBS;
        snprintf(s->request.spec.name, sizeof(s->request.spec.name), "howmany");
    }
    return s;
}

static void lab_end(void *state)
{
    struct lab_state *s = state;

    launch_command_release(&s->request.command);
    free(s);
}

/* ---- options -------------------------------------------------------------------------------- */

static const char *verb_name(const void *unused, size_t i)
{
    (void)unused;
    return verbs[i];
}

static int accept_verb(struct lab_state *s, const char *word)
{
    for (s->verb = UP; s->verb < VERBS && strcmp(word, verbs[s->verb]) != 0;)
        s->verb++;
    if (s->verb < VERBS)
        return 0;
    const char *near = hm__suggest(word, verb_name, NULL);
    if (near)
        return cli_complain("lab: there is no action '%s'; did you mean %s?", word, near);
    return cli_complain("lab: there is no action '%s': use up, run, status or down", word);
}

static int accept_word(struct lab_state *s, const char *word)
{
    struct hm_err err = {0};

    if (s->verb == VERBS)
        return accept_verb(s, word);
    if (s->verb != RUN && s->verb != AGENT)
        return cli_complain("lab %s: unexpected operand '%s'", verbs[s->verb], word);
    return launch_command_add(&s->request.command, word, &err) ? cli_report(&err) : 0;
}

static int accept_way(struct lab_state *s, const char *value)
{
    for (s->request.spec.way = LAB_PLAIN; s->request.spec.way <= LAB_VDE; s->request.spec.way++)
        if (strcmp(value, lab_way_name(s->request.spec.way)) == 0) {
            s->request.way_given = true;
            return 0;
        }
    return cli_complain("--way: '%s' is not netem, vde or plain", value);
}

static int accept_name(struct lab_state *s, const char *value)
{
    struct hm_err err = {0};

    if (lab_name_check(value, &err))
        return cli_report(&err);
    snprintf(s->request.spec.name, sizeof(s->request.spec.name), "%s", value);
    return 0;
}

static int lab_accept(void *state, int option, const char *value)
{
    struct lab_state *s = state;

    if (option >= 0)
        s->given |= 1U << option;
    switch (option) {
    case CLI_DASHES:
        s->request.dashes = true;
        return 0;
    case -1:
        return accept_word(s, value);
    case NAME:
        return accept_name(s, value);
    case N:
        return cli_whole("n", value, 1, LAB_NODES_MAX, &s->request.n);
    case LATENCY:
        return cli_quantity("latency", value, HM_DIM_TIME, &s->request.spec.latency_s);
    case BANDWIDTH:
        return cli_positive("bandwidth", value, HM_DIM_BYTE_RATE, &s->request.spec.bandwidth);
    case LOSS:
        return cli_quantity("loss", value, HM_DIM_NONE, &s->request.spec.loss);
    case WAY:
        return accept_way(s, value);
    case ON:
        s->request.node = value;
        return 0;
    default:
        *(option == JSON ? &s->request.json : &s->request.dry_run) = true;
        return 0;
    }
}

static int check_options(const struct lab_state *s)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if ((s->given & 1U << i) && !(verbs_of_option[i] & 1U << s->verb))
            return cli_complain("lab %s: --%s does not apply", verbs[s->verb], options[i].name);
    return 0;
}

static int lab_run(void *state)
{
    struct lab_state *s = state;
    struct lab_request *request = &s->request;

    if (s->verb == VERBS)
        return cli_complain("lab: name an action, up, run, status or down: howmany lab up -n 4 "
                            "--latency 20ms");
    int rc = check_options(s);
    if (rc)
        return rc;
    request->verb = verbs[s->verb];
    switch (s->verb) {
    case UP:
        return lab_action_up(request);
    case RUN:
        return lab_action_run(request);
    case STATUS:
        return lab_action_status(request);
    case DOWN:
        return lab_action_down(request);
    default:
        return lab_action_agent(request);
    }
}

static const struct cli_heading headings[] = {
    {"name", "lab"}, {"latency", "network"}, {"on", "run"}, {"dry-run", "output"}, {NULL, NULL}};

const struct cli_command cli_lab = {
    .name = "lab",
    .examples = {"howmany lab up -n 4 --latency 20ms --dry-run",
                 "howmany lab up -n 2 --bandwidth 1Gbit/s --dry-run", "howmany lab status"},
    .arguments = "up|run|status|down [-- COMMAND]",
    .summary = "a laboratory on one machine: nodes connected by a network with real delays",
    .description =
        "lab up makes nodes, which are network namespaces, connected by a network with the given "
        "latency, bandwidth and loss of packets. lab run runs COMMAND on the first node and "
        "configures Open MPI for the others: mpirun -n {n} PROGRAM starts a rank on each. {n}, "
        "{hosts}, {hostfile}, {agent}, {first} and {name} are replaced by the number of nodes, "
        "their names, a file with the names, the launch agent that replaces ssh, the address of "
        "the first node, and the name of the lab. lab status measures round trips. lab down ends "
        "all processes on the nodes and removes everything, also the rest of a lab that is "
        "incomplete or damaged.\n\n"
        "lab agent NODE COMMAND runs a line of shell on a node, as ssh does.\n\n"
        "It needs root. Latency and loss come from netem where the kernel has it, otherwise from "
        "vde_switch and wirefilter (Debian's vde2), which take whole milliseconds.\n\n"
        "Exit status: that of COMMAND; else 0 done; 1 there is no such lab, or it is incomplete; 2 "
        "wrong usage, or it could not be made; 130 interrupted.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .headings = headings,
    .operands = "up run status down",
    .dashes = true,
    .accept = lab_accept,
    .run = lab_run,
    .begin = lab_begin,
    .end = lab_end,
};
