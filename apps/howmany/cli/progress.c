/*
 * Shows progress as one line on standard error. The line is rewritten at each change and cleared at
 * the end.
 */
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"
#include "clock.h"
#include "format.h"
#include "listing.h"

/* Rewrites the progress line. A string that is wider than the terminal is truncated, because a
 * wrapped line could not be cleared. */
static void show_line(struct cli_progress *p, const char *text, double now)
{
    struct winsize size = {0};
    int room =
        ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1 : 79;
    char line[400];

    snprintf(line, sizeof(line), "%s: %s", p->what, text);
    size_t bytes = 0;
    for (int columns = 0; line[bytes] && columns < room; columns++)
        do
            bytes++;
        /* Include the continuation bytes of the last UTF-8 character. */
        while (((unsigned char)line[bytes] & 0xc0) == 0x80);
    fprintf(stderr, "\r\033[K%.*s", (int)bytes, line);
    p->shown_s = now;
}

struct cli_progress cli_progress_start(const char *what, size_t total)
{
    return (struct cli_progress){.what = what, .total = total, .started_s = cli_now_s()};
}

void cli_progress_step(struct cli_progress *p, size_t done)
{
    double now = cli_now_s(), spent = now - p->started_s;
    char left[HM_SHOWN], text[HM_SHOWN + 80];

    cli_listing_put(p->listing, (double)done, (double)p->total, false);
    if (spent < 1 || now - p->shown_s < 0.2 || done == 0 || !isatty(STDERR_FILENO))
        return;
    hm__show_time(spent / (double)done * (double)(p->total - done), left);
    snprintf(text, sizeof(text), "%zu of %zu, about %s left", done, p->total, left);
    show_line(p, text, now);
}

void cli_progress_say(struct cli_progress *p, const char *text)
{
    double now = cli_now_s();

    cli_listing_say(p->listing, text);
    if (now - p->shown_s < 0.2 || !isatty(STDERR_FILENO))
        return;
    show_line(p, text, now);
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
