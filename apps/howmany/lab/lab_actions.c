/*
 * Implements the actions of `howmany lab`. A lab is a cluster that network namespaces emulate on
 * one machine.
 *
 * `lab run` and `lab agent` enter a node and then replace this process with the command, so that
 * signals, streams and the exit code need not be forwarded.
 */
#include "lab_actions.h"

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
#include "lab_enter.h"
#include "lab_find.h"
#include "lab_probe.h"
#include "lab_status.h"
#include "lab_up.h"
#include "text.h"

static int check_root(const struct lab_request *r)
{
    if (geteuid() == 0)
        return 0;
    return cli_complain("lab %s: it needs root, since it %s network namespaces: sudo howmany lab "
                        "%s …",
                        r->verb,
                        strcmp(r->verb, "up") == 0     ? "makes"
                        : strcmp(r->verb, "down") == 0 ? "removes"
                                                       : "enters",
                        r->verb);
}

static void add_lab_name(void *context, const char *name)
{
    struct hm_text *list = context;
    hm__text_addf(list, "%s%s", list->length ? ", " : "", name);
}

static int fail_no_lab(const struct lab_request *r)
{
    struct hm_text others = {0};

    lab_each(add_lab_name, &others);
    cli_complain("lab %s: there is no lab '%s'%s%s", r->verb, r->spec.name,
                 others.length ? "; existing labs: "
                               : "; make one: howmany lab up -n 4 --latency 20ms",
                 others.length ? others.data : "");
    hm__text_release(&others);
    return EXIT_NO_ANSWER;
}

/*
 * Finds the requested lab and checks that it is complete. Returns 0, or an exit code with a
 * message.
 */
static int find_complete_lab(const struct lab_request *r, struct lab_found *found)
{
    struct hm_err err = {0};
    struct hm_text why = {0};

    if (lab_find(r->spec.name, found, &err))
        return cli_report(&err);
    if (!lab_found_any(found) || (!found->folder && found->foreign >= 0))
        return fail_no_lab(r);
    int rc = 0;
    if (lab_status_broken(found, &why)) {
        cli_complain("lab %s: lab '%s' is incomplete: %s; 'howmany lab down --name %s' removes "
                     "the rest",
                     r->verb, r->spec.name, why.data ? why.data : "", r->spec.name);
        rc = EXIT_NO_ANSWER;
    }
    hm__text_release(&why);
    return rc;
}

/* ---- status --------------------------------------------------------------------------------- */

static int show_status(const struct lab_request *r)
{
    struct lab_found found = {0};
    struct hm_text out = {0};
    struct hm_err err = {0};
    double round_trips[LAB_NODES_MAX];
    int rc = find_complete_lab(r, &found);

    if (rc == 0 && lab_probe(&found.spec, round_trips, &err))
        rc = cli_report(&err);
    if (rc == 0) {
        if (r->json)
            lab_status_json(&found, round_trips, &out);
        else
            lab_status_text(&found, round_trips, &out);
        rc = cli_put_text(&out);
    }
    hm__text_release(&out);
    lab_found_release(&found);
    return rc;
}

int lab_action_status(const struct lab_request *r)
{
    int rc = check_root(r);
    return rc ? rc : show_status(r);
}

/* ---- up ------------------------------------------------------------------------------------- */

/*
 * Chooses the mechanism that emulates latency and loss; a lab without latency and loss needs none.
 */
static int choose_way(struct lab_request *r)
{
    struct hm_err err = {0};
    bool has_netem = true;

    if (r->way_given)
        return 0;
    if (r->spec.latency_s == 0 && r->spec.loss == 0) {
        r->spec.way = LAB_PLAIN;
        return 0;
    }
    if (geteuid() == 0) {
        if (lab_has_netem(&has_netem, &err))
            return cli_report(&err);
    } else
        fprintf(stderr, "howmany: only root can find out whether the kernel has netem; the "
                        "commands with netem are:\n");
    r->spec.way = has_netem ? LAB_NETEM : LAB_VDE;
    return 0;
}

static int print_plan(const struct lab_plan *plan)
{
    struct hm_text out = {0};

    for (size_t i = 0; i < plan->count; i++) {
        launch_command_quote(&out, &plan->steps[i].command);
        hm__text_add(&out, plan->steps[i].background ? " &\n" : "\n");
    }
    return cli_put_text(&out);
}

/*
 * Returns the name of an existing namespace that the lab needs but that does not belong to any lab;
 * NULL if there is none.
 */
static const char *foreign_space(const struct lab_request *r, const struct lab_found *found,
                                 char *text)
{
    return found->foreign ? lab_node(r->spec.name, (size_t)found->foreign, text)
                          : lab_net(r->spec.name, text);
}

/* Checks that no part of the lab exists yet, neither a namespace nor its folder. */
static int check_name_free(const struct lab_request *r)
{
    struct lab_found found = {0};
    struct hm_err err = {0};
    char space[LAB_TEXT];
    const char *name = r->spec.name;
    int rc = lab_find(name, &found, &err) ? cli_report(&err) : 0;

    if (rc == 0 && !found.folder && found.foreign >= 0)
        rc = cli_complain("lab up: network namespace %s exists already and does not belong to a "
                          "lab; --name gives this lab another name",
                          foreign_space(r, &found, space));
    else if (rc == 0 && found.known && found.space_count > 0)
        rc = cli_complain("lab up: lab '%s' is up already, with %zu %s; 'howmany lab down --name "
                          "%s' removes it, --name gives this one another name",
                          name, found.spec.n, found.spec.n == 1 ? "node" : "nodes", name);
    else if (rc == 0 && lab_found_any(&found))
        rc = cli_complain("lab up: parts of an earlier lab '%s' exist; 'howmany lab down --name "
                          "%s' removes them",
                          name, name);
    lab_found_release(&found);
    return rc;
}

/* Adds the folders of system programs to PATH, because the PATH of root may not contain them. */
static int extend_path(void)
{
    const char *path = getenv("PATH");
    struct hm_text all = {0};

    hm__text_addf(&all, "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
    int rc = all.failed || setenv("PATH", all.data, 1) != 0 ? cli_complain("out of memory") : 0;
    hm__text_release(&all);
    return rc;
}

static int make_lab(const struct lab_request *r, const struct lab_plan *plan)
{
    struct hm_err err = {0};
    int rc = check_root(r);

    if (rc == 0 && lab_check_programs(plan, &err))
        rc = cli_report(&err);
    rc = rc ? rc : check_name_free(r);
    if (rc)
        return rc;
    launch_interrupt_begin();
    if (lab_up(&r->spec, plan, &err))
        rc = cli_report(&err);
    bool interrupted = launch_interrupted();
    launch_interrupt_end();
    return rc && interrupted ? EXIT_INTERRUPTED : rc;
}

int lab_action_up(struct lab_request *r)
{
    struct lab_plan plan = {0};
    struct hm_err err = {0};

    if (r->n == 0)
        return cli_complain("lab up: the number of nodes is missing: howmany lab up -n 4 --latency "
                            "20ms");
    r->spec.n = (size_t)r->n;
    int rc = r->dry_run ? 0 : check_root(r);
    rc = rc ? rc : extend_path();
    rc = rc ? rc : choose_way(r);
    if (rc == 0 && lab_plan_make(&r->spec, &plan, &err))
        rc = cli_report(&err);
    if (rc == 0)
        rc = r->dry_run ? print_plan(&plan) : make_lab(r, &plan);
    lab_plan_release(&plan);
    return rc || r->dry_run ? rc : show_status(r);
}

/* ---- down ----------------------------------------------------------------------------------- */

static int check_removable(const struct lab_request *r, const struct lab_found *found)
{
    char space[LAB_TEXT];

    if (!lab_found_any(found))
        return fail_no_lab(r);
    if (!found->folder && found->foreign >= 0)
        return cli_complain("lab down: network namespace %s does not belong to a lab and is kept; "
                            "'ip netns delete' removes it",
                            foreign_space(r, found, space));
    if (found->inside)
        return cli_complain("lab down: this is a node of lab '%s'; leave it first", r->spec.name);
    return 0;
}

int lab_action_down(const struct lab_request *r)
{
    struct lab_found found = {0};
    struct hm_err err = {0};
    int lock = -1, rc = check_root(r);

    if (rc == 0 && lab_find(r->spec.name, &found, &err))
        rc = cli_report(&err);
    rc = rc ? rc : check_removable(r, &found);
    if (rc == 0 && found.folder && (lock = lab_lock(r->spec.name)) < 0)
        rc = cli_complain("lab down: another 'howmany lab' is changing lab '%s'", r->spec.name);
    if (rc == 0 && lab_remove(r->spec.name, &err))
        rc = cli_report(&err);
    if (lock >= 0)
        close(lock);
    lab_found_release(&found);
    return rc;
}

/* ---- run and agent -------------------------------------------------------------------------- */

/* Replaces this process with the command; returns only if that fails. */
static int exec_command(char *const *argv)
{
    fflush(NULL);
    /* This process ignores these signals. The command would inherit this, so the defaults are
     * restored. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(argv[0], argv);
    return cli_complain("lab: cannot start '%s': %s", argv[0], strerror(errno));
}

static int find_node(const struct lab_request *r, const char *text, size_t n, size_t *ret_node)
{
    char node[LAB_TEXT];

    *ret_node = lab_find_node(r->spec.name, n, text);
    if (*ret_node)
        return 0;
    return cli_complain("lab %s: '%s' is not a node of lab '%s', which are 1 to %zu, or %s-1 to %s",
                        r->verb, text, r->spec.name, n, r->spec.name,
                        lab_node(r->spec.name, n, node));
}

/* Replaces {n}, {hosts} and the other placeholders of the command. */
static int fill_command(const struct lab_request *r, size_t n, struct launch_command *filled)
{
    char number[24], node[LAB_TEXT], hostfile[LAB_TEXT], address[LAB_TEXT];
    struct hm_text hosts = {0}, agent = {0};
    struct hm_err err = {0};
    int rc = lab_agent_command(r->spec.name, &agent, &err);

    snprintf(number, sizeof(number), "%zu", n);
    for (size_t i = 1; i <= n; i++)
        hm__text_addf(&hosts, "%s%s", i > 1 ? "," : "", lab_node(r->spec.name, i, node));
    if (rc == 0 && hosts.failed)
        rc = hm__fail_nomem(&err);
    const struct launch_placeholder placeholders[] = {
        {"n", number},          {"hosts", hosts.data},
        {"agent", agent.data},  {"hostfile", lab_hostfile(r->spec.name, n, hostfile)},
        {"name", r->spec.name}, {"first", lab_address(1, address)},
    };
    rc = rc ? rc
            : launch_command_fill(&r->command, placeholders,
                                  sizeof(placeholders) / sizeof(placeholders[0]), filled, &err);
    hm__text_release(&hosts);
    hm__text_release(&agent);
    return rc ? cli_report(&err) : 0;
}

static int check_run_command(const struct lab_request *r)
{
    if (r->command.count == 0)
        return cli_complain("lab run: the command is missing: howmany lab run -- mpirun -n {n} "
                            "./train");
    if (!r->dashes)
        return cli_complain("lab run: put -- before the command: howmany lab run -- %s …",
                            r->command.argv[0]);
    return check_root(r);
}

int lab_action_run(const struct lab_request *r)
{
    struct lab_found found = {0};
    struct launch_command filled = {0};
    struct hm_err err = {0};
    size_t node = 1;
    int rc = check_run_command(r);

    rc = rc ? rc : find_complete_lab(r, &found);
    size_t n = r->n > 0 ? (size_t)r->n : found.spec.n;
    if (rc == 0 && n > found.spec.n)
        rc =
            cli_complain("lab run: lab '%s' has %zu nodes, not %zu", r->spec.name, found.spec.n, n);
    if (rc == 0 && r->node)
        rc = find_node(r, r->node, found.spec.n, &node);
    lab_found_release(&found);
    rc = rc ? rc : fill_command(r, n, &filled);
    if (rc == 0 && (lab_environment(r->spec.name, n, &err) || lab_enter(r->spec.name, node, &err)))
        rc = cli_report(&err);
    rc = rc ? rc : exec_command(filled.argv);
    launch_command_release(&filled);
    return rc;
}

/*
 * Runs a command as ssh does: the arguments after the node are joined with spaces, and a shell runs
 * the result.
 */
int lab_action_agent(const struct lab_request *r)
{
    struct lab_found found = {0};
    struct hm_text line = {0};
    struct hm_err err = {0};
    size_t node = 0;

    if (r->command.count < 2)
        return cli_complain("lab agent: it takes a node and a command, as ssh does");
    int rc = check_root(r);
    rc = rc ? rc : find_complete_lab(r, &found);
    rc = rc ? rc : find_node(r, r->command.argv[0], found.spec.n, &node);
    lab_found_release(&found);
    for (size_t i = 1; i < r->command.count; i++)
        hm__text_addf(&line, "%s%s", i > 1 ? " " : "", r->command.argv[i]);
    if (rc == 0 && line.failed)
        rc = cli_complain("out of memory");
    if (rc == 0 && lab_enter(r->spec.name, node, &err))
        rc = cli_report(&err);
    char shell[] = "/bin/sh", dash_c[] = "-c";
    char *argv[] = {shell, dash_c, line.data, NULL};
    rc = rc ? rc : exec_command(argv);
    hm__text_release(&line);
    return rc;
}
