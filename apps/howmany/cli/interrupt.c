/*
 * Handles Ctrl-C during a request. The first SIGINT asks the request to end. If the request has not
 * ended after a short time, it is executing code that cannot be interrupted, so the program exits
 * without waiting for it.
 */
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "verb.h"

enum { PATIENCE_US = 60000 };

static volatile sig_atomic_t interrupted;

static void exit_at_once(int signal)
{
    static const char message[] = "howmany: interrupted\n";

    (void)signal;
    cli_drafts_abandon();
    _exit(write(STDERR_FILENO, message, sizeof(message) - 1) < 0 ? EXIT_USAGE : EXIT_INTERRUPTED);
}

static void ask_to_end(int signal)
{
    const struct itimerval soon = {.it_value = {.tv_usec = PATIENCE_US}};

    (void)signal;
    interrupted = 1;
    setitimer(ITIMER_REAL, &soon, NULL);
}

bool cli_interrupted(void *unused)
{
    (void)unused;
    return interrupted != 0;
}

void cli_interrupt_watch(struct cli_interrupt *before)
{
    struct sigaction ask = {.sa_handler = ask_to_end}, end = {.sa_handler = exit_at_once};

    sigaction(SIGINT, NULL, &before->interrupt);
    sigaction(SIGALRM, &end, &before->alarm);
    /* A program that a shell runs in the background ignores SIGINT, so the handler is not installed
     * then. */
    if (before->interrupt.sa_handler != SIG_IGN)
        sigaction(SIGINT, &ask, NULL);
}

void cli_interrupt_restore(const struct cli_interrupt *before)
{
    const struct itimerval off = {.it_value = {.tv_usec = 0}};

    setitimer(ITIMER_REAL, &off, NULL);
    sigaction(SIGINT, &before->interrupt, NULL);
    sigaction(SIGALRM, &before->alarm, NULL);
}
