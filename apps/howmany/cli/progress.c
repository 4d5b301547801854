/*
 * Shows progress as one line on standard error. The line is rewritten at each change and cleared at
 * the end.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "format.h"
#include "listing.h"

struct cli_progress cli_progress_start(const char *what, size_t total)
{
    return (struct cli_progress){.what = what, .total = total, .started_s = cli_now_s()};
}

void cli_progress_step(struct cli_progress *p, size_t done)
{
    double now = cli_now_s(), spent = now - p->started_s;
    char left[HM_SHOWN];

    cli_listing_put(p->listing, (double)done, (double)p->total, false);
    if (spent < 1 || now - p->shown_s < 0.2 || done == 0 || !isatty(STDERR_FILENO))
        return;
    hm__show_time(spent / (double)done * (double)(p->total - done), left);
    fprintf(stderr, "\r\033[K%s: %zu of %zu, about %s left", p->what, done, p->total, left);
    p->shown_s = now;
}

void cli_progress_say(struct cli_progress *p, const char *text)
{
    double now = cli_now_s();

    cli_listing_say(p->listing, text);
    if (now - p->shown_s < 0.2 || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%s: %s", p->what, text);
    p->shown_s = now;
}

void cli_progress_end(struct cli_progress *p)
{
    if (p->shown_s > 0)
        fputs("\r\033[K", stderr);
}

void cli_progress_list(struct cli_progress *p, const char *title)
{
    p->listing = cli_listing_new(p->what, title);
    cli_listing_put(p->listing, 0, (double)p->total, true);
}

void cli_progress_close(struct cli_progress *p)
{
    cli_progress_end(p);
    cli_listing_free(p->listing);
    p->listing = NULL;
}
