/*
 * howmany lab: a laboratory on one machine. Nodes are network namespaces, joined by a network with
 * real delays, so that mpirun or any framework runs across it.
 *
 * `lab run` and `lab agent` enter a node and become the command: there is nobody in between who
 * would have to pass signals, streams and exit codes on, or to clean up.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "cli.h"
#include "err.h"
#include "format.h"
#include "lab_enter.h"
#include "lab_find.h"
#include "lab_probe.h"
#include "lab_up.h"

enum verb { UP, RUN, STATUS, DOWN, AGENT, VERBS };

static const char *const verbs[VERBS + 1] = {"up", "run", "status", "down", "agent"};

enum option { NAME, N, LATENCY, BANDWIDTH, LOSS, WAY, ON, DRY_RUN, JSON };

/* Which of the verbs each option goes with. */
static const unsigned goes_with[] = {
    [NAME] = ~0U,           [N] = 1U << UP | 1U << RUN, [LATENCY] = 1U << UP,
    [BANDWIDTH] = 1U << UP, [LOSS] = 1U << UP,          [WAY] = 1U << UP,
    [ON] = 1U << RUN,       [DRY_RUN] = 1U << UP,       [JSON] = 1U << UP | 1U << STATUS,
};

static const struct cli_option options[] = {
    [NAME] = {"name", 0, "NAME", "of the lab, as there may be several (default howmany)", NULL},
    [N] = {"n", 'n', "N", "up: nodes, 1 to 64; run: use the first so many (default all)", NULL},
    [LATENCY] = {"latency", 'l', "TIME",
                 "up: from a node to any other, one way, such as 20ms (default 0)", NULL},
    [BANDWIDTH] = {"bandwidth", 'b', "RATE",
                   "up: of each node, each way, such as 1Gbit/s (default: as fast as it goes)",
                   NULL},
    [LOSS] = {"loss", 0, "P", "up: share of packets that are lost, such as 0.1% (default 0)", NULL},
    [WAY] = {"way", 0, "WAY",
             "up: netem or vde for latency and loss (default: netem if the kernel has it)",
             "netem vde plain"},
    [ON] = {"on", 0, "NODE", "run: on this node, by number, name or address (default 1)", NULL},
    [DRY_RUN] = {"dry-run", 0, NULL, "up: print the commands, and run none", NULL},
    [JSON] = {"json", 'j', NULL, "up, status: as JSON", NULL},
};

struct lab_state {
    enum verb verb; /* VERBS: none yet */
    struct lab_spec spec;
    double n; /* 0: not given */
    const char *on;
    bool has_way, dry_run, json;
    unsigned given; /* options, a bit each */
    bool dashes;    /* -- stood before the words */
    struct cli_words words;
};

static void *begin(void)
{
    struct lab_state *s = calloc(1, sizeof(*s));

    if (s) {
        s->verb = VERBS;
        snprintf(s->spec.name, sizeof(s->spec.name), "howmany");
    }
    return s;
}

static void end(void *state)
{
    struct lab_state *s = state;

    cli_words_release(&s->words);
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
        return cli_complain("lab: there is no '%s'; did you mean %s?", word, near);
    return cli_complain("lab: there is no '%s': up, run, status or down", word);
}

static int accept_word(struct lab_state *s, const char *word)
{
    struct hm_err err = {0};

    if (s->verb == VERBS)
        return accept_verb(s, word);
    if (s->verb != RUN && s->verb != AGENT)
        return cli_complain("lab %s: what is '%s'?", verbs[s->verb], word);
    return cli_words_add(&s->words, word, &err) ? cli_report(&err) : 0;
}

static int accept_way(struct lab_state *s, const char *value)
{
    for (s->spec.way = LAB_PLAIN; s->spec.way <= LAB_VDE; s->spec.way++)
        if (strcmp(value, lab_way_name(s->spec.way)) == 0) {
            s->has_way = true;
            return 0;
        }
    return cli_complain("--way: '%s' is not netem, vde or plain", value);
}

static int accept_name(struct lab_state *s, const char *value)
{
    struct hm_err err = {0};

    if (lab_name_check(value, &err))
        return cli_report(&err);
    snprintf(s->spec.name, sizeof(s->spec.name), "%s", value);
    return 0;
}

static int accept(void *state, int option, const char *value)
{
    struct lab_state *s = state;

    if (option >= 0)
        s->given |= 1U << option;
    switch (option) {
    case CLI_DASHES:
        s->dashes = true;
        return 0;
    case -1:
        return accept_word(s, value);
    case NAME:
        return accept_name(s, value);
    case N:
        return cli_whole("n", value, 1, LAB_NODES_MAX, &s->n);
    case LATENCY:
        return cli_quantity("latency", value, HM_DIM_TIME, &s->spec.latency_s);
    case BANDWIDTH:
        return cli_positive("bandwidth", value, HM_DIM_BYTE_RATE, &s->spec.bandwidth);
    case LOSS:
        return cli_quantity("loss", value, HM_DIM_NONE, &s->spec.loss);
    case WAY:
        return accept_way(s, value);
    case ON:
        s->on = value;
        return 0;
    default:
        *(option == JSON ? &s->json : &s->dry_run) = true;
        return 0;
    }
}

static int check_options(const struct lab_state *s)
{
    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if ((s->given & 1U << i) && !(goes_with[i] & 1U << s->verb))
            return cli_complain("lab %s: --%s does not go with it", verbs[s->verb],
                                options[i].name);
    return 0;
}

static int need_root(const struct lab_state *s)
{
    if (geteuid() == 0)
        return 0;
    return cli_complain("lab %s: it needs root, since it %s: sudo howmany lab %s …", verbs[s->verb],
                        s->verb == UP     ? "makes network namespaces"
                        : s->verb == DOWN ? "removes network namespaces"
                                          : "enters network namespaces",
                        verbs[s->verb]);
}

/* ---- what there is -------------------------------------------------------------------------- */

static void add_name(void *context, const char *name)
{
    struct hm_text *list = context;
    hm__text_addf(list, "%s%s", list->length ? ", " : "", name);
}

static int no_such_lab(const struct lab_state *s)
{
    struct hm_text others = {0};

    lab_each(add_name, &others);
    cli_complain("lab %s: there is no lab '%s'%s%s", verbs[s->verb], s->spec.name,
                 others.length ? "; there is " : ": howmany lab up -n 4 --latency 20ms",
                 others.length ? others.data : "");
    hm__text_release(&others);
    return EXIT_NO_ANSWER;
}

/* What is missing of a lab, into text; false if it is whole. */
static bool is_broken(const struct lab_found *f, struct hm_text *why)
{
    char node[LAB_TEXT];
    size_t due = f->spec.way == LAB_VDE ? 2 * f->spec.n + 1 : 0;

    if (!f->known) {
        hm__text_add(why, "'lab up' did not finish");
        return true;
    }
    if (!f->spaces[0])
        hm__text_addf(why, "network namespace %s is gone", lab_net(f->spec.name, node));
    for (size_t i = 1; i <= f->spec.n && !why->length; i++)
        if (!f->spaces[i])
            hm__text_addf(why, "network namespace %s is gone", lab_node(f->spec.name, i, node));
    if (!why->length && f->processes[0] < due)
        hm__text_addf(why, "%zu of the %zu processes of its network have ended",
                      due - f->processes[0], due);
    return why->length > 0;
}

/* The lab that was named, whole; 0, or an exit code with a message. */
static int find_whole(const struct lab_state *s, struct lab_found *found)
{
    struct hm_err err = {0};
    struct hm_text why = {0};

    if (lab_find(s->spec.name, found, &err))
        return cli_report(&err);
    if (!lab_found_any(found) || (!found->place && found->strange >= 0))
        return no_such_lab(s);
    int rc = 0;
    if (is_broken(found, &why)) {
        cli_complain("lab %s: lab '%s' is not whole: %s; 'howmany lab down --name %s' removes "
                     "what is left",
                     verbs[s->verb], s->spec.name, why.data ? why.data : "", s->spec.name);
        rc = EXIT_NO_ANSWER;
    }
    hm__text_release(&why);
    return rc;
}

/* ---- status --------------------------------------------------------------------------------- */

static void add_status_json(const struct lab_found *f, const double *trips, struct hm_text *out)
{
    char text[LAB_TEXT];

    lab_spec_json(&f->spec, out);
    hm__text_add(out, ",\"nodes\":[");
    for (size_t i = 1; i <= f->spec.n; i++) {
        hm__text_addf(out, "%s{\"node\":%zu", i > 1 ? "," : "", i);
        hm__json_named(out, "name", lab_node(f->spec.name, i, text));
        hm__json_named(out, "address", lab_address(i, text));
        hm__json_field(out, "processes", (double)f->processes[i]);
        hm__json_field(out, "round_trip_s", trips[i - 1]);
        hm__text_add(out, "}");
    }
    hm__text_add(out, "]}\n");
}

static void add_status_text(const struct lab_found *f, const double *trips, struct hm_text *out)
{
    char node[LAB_TEXT], address[LAB_TEXT], shown[HM_SHOWN];

    hm__text_addf(out, "lab %s is up: ", f->spec.name);
    lab_spec_tell(&f->spec, out);
    hm__text_add(out, "\n\n");
    hm__text_addf(out, "%-*s %-12s %9s  %s\n", (int)strlen(f->spec.name) + 4, "node", "address",
                  "processes", "round trip from node 1");
    for (size_t i = 1; i <= f->spec.n; i++)
        hm__text_addf(out, "%-*s %-12s %9zu  %s\n", (int)strlen(f->spec.name) + 4,
                      lab_node(f->spec.name, i, node), lab_address(i, address), f->processes[i],
                      isnan(trips[i - 1]) ? "no answer" : hm__show_time(trips[i - 1], shown));
}

static int show_status(const struct lab_state *s)
{
    struct lab_found found = {0};
    struct hm_text out = {0};
    struct hm_err err = {0};
    double trips[LAB_NODES_MAX];
    int rc = find_whole(s, &found);

    if (rc == 0 && lab_probe(&found.spec, trips, &err))
        rc = cli_report(&err);
    if (rc == 0) {
        if (s->json)
            add_status_json(&found, trips, &out);
        else
            add_status_text(&found, trips, &out);
        rc = cli_put_text(&out);
    }
    hm__text_release(&out);
    lab_found_release(&found);
    return rc;
}

/* ---- up ------------------------------------------------------------------------------------- */

/* What delays packets: nothing where there is nothing to delay or to lose. */
static int choose_way(struct lab_state *s)
{
    struct hm_err err = {0};
    bool has_netem = true;

    if (s->has_way)
        return 0;
    if (s->spec.latency_s == 0 && s->spec.loss == 0) {
        s->spec.way = LAB_PLAIN;
        return 0;
    }
    if (geteuid() == 0) {
        if (lab_has_netem(&has_netem, &err))
            return cli_report(&err);
    } else
        fprintf(stderr, "howmany: only root can find out whether the kernel has netem; with it:\n");
    s->spec.way = has_netem ? LAB_NETEM : LAB_VDE;
    return 0;
}

static int print_plan(const struct lab_plan *plan)
{
    struct hm_text out = {0};

    for (size_t i = 0; i < plan->count; i++) {
        cli_words_quote(&out, &plan->steps[i].words);
        hm__text_add(&out, plan->steps[i].stays ? " &\n" : "\n");
    }
    return cli_put_text(&out);
}

static int check_free(const struct lab_state *s)
{
    struct lab_found found = {0};
    struct hm_err err = {0};
    char space[LAB_TEXT];
    const char *name = s->spec.name;
    int rc = lab_find(name, &found, &err) ? cli_report(&err) : 0;

    if (rc == 0 && !found.place && found.strange >= 0)
        rc = cli_complain("lab up: network namespace %s exists already, and is not of a lab; "
                          "--name gives this lab another name",
                          found.strange ? lab_node(name, (size_t)found.strange, space)
                                        : lab_net(name, space));
    else if (rc == 0 && found.known && found.space_count > 0)
        rc = cli_complain("lab up: lab '%s' is up already, with %zu %s; 'howmany lab down --name "
                          "%s' removes it, --name gives this one another name",
                          name, found.spec.n, found.spec.n == 1 ? "node" : "nodes", name);
    else if (rc == 0 && lab_found_any(&found))
        rc = cli_complain("lab up: something is left of a lab '%s'; 'howmany lab down --name %s' "
                          "removes it",
                          name, name);
    lab_found_release(&found);
    return rc;
}

/* Programs of root are often not where others look for programs. */
static int look_in_sbin(void)
{
    const char *path = getenv("PATH");
    struct hm_text all = {0};

    hm__text_addf(&all, "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
    int rc = all.failed || setenv("PATH", all.data, 1) != 0 ? cli_complain("out of memory") : 0;
    hm__text_release(&all);
    return rc;
}

static int make_lab(const struct lab_state *s, const struct lab_plan *plan)
{
    struct hm_err err = {0};
    int rc = need_root(s);

    if (rc == 0 && lab_check_programs(plan, &err))
        rc = cli_report(&err);
    rc = rc ? rc : check_free(s);
    if (rc)
        return rc;
    cli_interrupt_begin();
    if (lab_up(&s->spec, plan, &err))
        rc = cli_report(&err);
    bool interrupted = cli_interrupted();
    cli_interrupt_end();
    return rc && interrupted ? EXIT_INTERRUPTED : rc;
}

static int run_up(struct lab_state *s)
{
    struct lab_plan plan = {0};
    struct hm_err err = {0};

    if (s->n == 0)
        return cli_complain("lab up: how many nodes? As in howmany lab up -n 4 --latency 20ms");
    s->spec.n = (size_t)s->n;
    int rc = s->dry_run ? 0 : need_root(s);
    rc = rc ? rc : look_in_sbin();
    rc = rc ? rc : choose_way(s);
    if (rc == 0 && lab_plan_make(&s->spec, &plan, &err))
        rc = cli_report(&err);
    if (rc == 0)
        rc = s->dry_run ? print_plan(&plan) : make_lab(s, &plan);
    lab_plan_release(&plan);
    return rc || s->dry_run ? rc : show_status(s);
}

/* ---- down ----------------------------------------------------------------------------------- */

static int check_removable(const struct lab_state *s, const struct lab_found *found)
{
    const char *name = s->spec.name;
    char space[LAB_TEXT];

    if (!lab_found_any(found))
        return no_such_lab(s);
    if (!found->place && found->strange >= 0)
        return cli_complain("lab down: network namespace %s is not of a lab, and stays; 'ip netns "
                            "delete' removes it",
                            found->strange ? lab_node(name, (size_t)found->strange, space)
                                           : lab_net(name, space));
    if (found->inside)
        return cli_complain("lab down: this is a node of lab '%s'; leave it first", name);
    return 0;
}

static int run_down(const struct lab_state *s)
{
    struct lab_found found = {0};
    struct hm_err err = {0};
    int lock = -1, rc = need_root(s);

    if (rc == 0 && lab_find(s->spec.name, &found, &err))
        rc = cli_report(&err);
    rc = rc ? rc : check_removable(s, &found);
    if (rc == 0 && found.place && (lock = lab_lock(s->spec.name)) < 0)
        rc = cli_complain("lab down: another 'howmany lab' is at work on lab '%s'", s->spec.name);
    if (rc == 0 && lab_remove(s->spec.name, &err))
        rc = cli_report(&err);
    if (lock >= 0)
        close(lock);
    lab_found_release(&found);
    return rc;
}

/* ---- run and agent -------------------------------------------------------------------------- */

/* Become the command; returns only if that fails. */
static int become(char *const *argv)
{
    fflush(NULL);
    signal(SIGPIPE, SIG_DFL); /* ours is ignored, which a command would inherit */
    execvp(argv[0], argv);
    return cli_complain("lab: cannot start '%s': %s", argv[0], strerror(errno));
}

static int find_on(const struct lab_state *s, const char *text, size_t n, size_t *ret_node)
{
    char node[LAB_TEXT];

    *ret_node = lab_find_node(s->spec.name, n, text);
    if (*ret_node)
        return 0;
    return cli_complain("lab %s: '%s' is not a node of lab '%s', which are 1 to %zu, or %s-1 to %s",
                        verbs[s->verb], text, s->spec.name, n, s->spec.name,
                        lab_node(s->spec.name, n, node));
}

/* {n}, {hosts} and so on. */
static int fill_words(const struct lab_state *s, size_t n, struct cli_words *filled)
{
    char number[24], node[LAB_TEXT], hostfile[LAB_TEXT], address[LAB_TEXT];
    struct hm_text hosts = {0}, agent = {0};
    struct hm_err err = {0};
    int rc = lab_agent_words(s->spec.name, &agent, &err);

    snprintf(number, sizeof(number), "%zu", n);
    for (size_t i = 1; i <= n; i++)
        hm__text_addf(&hosts, "%s%s", i > 1 ? "," : "", lab_node(s->spec.name, i, node));
    if (rc == 0 && hosts.failed)
        rc = hm__fail_nomem(&err);
    const struct cli_fill fills[] = {
        {"n", number},          {"hosts", hosts.data},
        {"agent", agent.data},  {"hostfile", lab_hostfile(s->spec.name, n, hostfile)},
        {"name", s->spec.name}, {"first", lab_address(1, address)},
    };
    rc = rc ? rc : cli_words_fill(&s->words, fills, sizeof(fills) / sizeof(fills[0]), filled, &err);
    hm__text_release(&hosts);
    hm__text_release(&agent);
    return rc ? cli_report(&err) : 0;
}

static int run_run(const struct lab_state *s)
{
    struct lab_found found = {0};
    struct cli_words filled = {0};
    struct hm_err err = {0};
    size_t node = 1;

    if (s->words.count == 0)
        return cli_complain(
            "lab run: which command? As in howmany lab run -- mpirun -n {n} ./train");
    if (!s->dashes)
        return cli_complain("lab run: put -- before the command: howmany lab run -- %s …",
                            s->words.words[0]);
    int rc = need_root(s);
    rc = rc ? rc : find_whole(s, &found);
    size_t n = s->n > 0 ? (size_t)s->n : found.spec.n;
    if (rc == 0 && n > found.spec.n)
        rc =
            cli_complain("lab run: lab '%s' has %zu nodes, not %zu", s->spec.name, found.spec.n, n);
    if (rc == 0 && s->on)
        rc = find_on(s, s->on, found.spec.n, &node);
    lab_found_release(&found);
    rc = rc ? rc : fill_words(s, n, &filled);
    if (rc == 0 && (lab_environment(s->spec.name, n, &err) || lab_enter(s->spec.name, node, &err)))
        rc = cli_report(&err);
    rc = rc ? rc : become(filled.words);
    cli_words_release(&filled);
    return rc;
}

/* As ssh does: the words with blanks between them are a line for the shell. */
static int run_agent(const struct lab_state *s)
{
    struct lab_found found = {0};
    struct hm_text line = {0};
    struct hm_err err = {0};
    size_t node = 0;

    if (s->words.count < 2)
        return cli_complain("lab agent: a node and a command, as ssh takes them");
    int rc = need_root(s);
    rc = rc ? rc : find_whole(s, &found);
    rc = rc ? rc : find_on(s, s->words.words[0], found.spec.n, &node);
    lab_found_release(&found);
    for (size_t i = 1; i < s->words.count; i++)
        hm__text_addf(&line, "%s%s", i > 1 ? " " : "", s->words.words[i]);
    if (rc == 0 && line.failed)
        rc = cli_complain("out of memory");
    if (rc == 0 && lab_enter(s->spec.name, node, &err))
        rc = cli_report(&err);
    char shell[] = "/bin/sh", dash_c[] = "-c";
    char *argv[] = {shell, dash_c, line.data, NULL};
    rc = rc ? rc : become(argv);
    hm__text_release(&line);
    return rc;
}

static int run(void *state)
{
    struct lab_state *s = state;

    if (s->verb == VERBS)
        return cli_complain(
            "lab: up, run, status or down? As in howmany lab up -n 4 --latency 20ms");
    int rc = check_options(s);
    if (rc)
        return rc;
    switch (s->verb) {
    case UP:
        return run_up(s);
    case RUN:
        return run_run(s);
    case STATUS:
        rc = need_root(s);
        return rc ? rc : show_status(s);
    case DOWN:
        return run_down(s);
    default:
        return run_agent(s);
    }
}

const struct cli_command cli_lab = {
    .name = "lab",
    .arguments = "up|run|status|down [-- COMMAND]",
    .summary = "a laboratory on one machine: nodes joined by a network with real delays",
    .description =
        "lab up makes network namespaces, the nodes, joined by a network that delays, limits and "
        "loses packets as asked for. lab run runs COMMAND on the first node, and tells Open MPI "
        "about the others: mpirun -n {n} PROGRAM starts a rank on each. {n}, {hosts}, {hostfile}, "
        "{agent}, {first} and {name} stand for the number of nodes, their names, a file with them, "
        "the launch agent in place of ssh, the first node's address, and the lab's name. lab "
        "status measures round trips. lab down ends all processes on the nodes and removes "
        "everything, also what is left of a lab that was not finished or that was damaged.\n\n"
        "lab agent NODE COMMAND does what ssh does: it runs a line of shell on a node.\n\n"
        "It needs root. Latency and loss are those of netem where the kernel has it, else of "
        "vde_switch and wirefilter (Debian's vde2), which count whole milliseconds.\n\n"
        "Exit status: that of COMMAND; else 0 done; 1 there is no such lab, or it is not whole; 2 "
        "wrong usage, or it could not be made; 130 interrupted.",
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .operands = "up run status down",
    .dashes = true,
    .accept = accept,
    .run = run,
    .begin = begin,
    .end = end,
};
