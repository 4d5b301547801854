/*
 * Adds a running command to the user's list of running commands (board.h), if a server has created
 * one.
 */
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"

/*
 * Minimum time in seconds between two attempts to open the list of running commands, and between
 * two writes to it.
 */
#define JOIN_S 1.0
#define PUT_S 0.2

struct cli_listing {
    struct hm_board *board; /* List of running commands; NULL until a server has created one. */
    struct hm_board_task task;
    double tried_s, put_s; /* Times (cli_now_s) of the last attempt to open the list and of the last
                              write to it. */
};

bool cli_board_find(char path[PATH_MAX])
{
    const char *named = getenv("HOWMANY_PROGRESS");
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;

    if (named && *named)
        length = strcmp(named, "none") ? snprintf(path, PATH_MAX, "%s", named) : -1;
    else if (data && data[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/howmany/progress", data);
    else if (home && home[0] == '/')
        length = snprintf(path, PATH_MAX, "%s/.local/share/howmany/progress", home);
    return length > 0 && length < PATH_MAX;
}

static double seconds_since_1970(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct cli_listing *cli_listing_new(const char *command, const char *title)
{
    struct cli_listing *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    snprintf(l->task.command, sizeof(l->task.command), "%s", command);
    snprintf(l->task.title, sizeof(l->task.title), "%s", title);
    l->task.started_s = seconds_since_1970();
    return l;
}

void cli_listing_free(struct cli_listing *l)
{
    if (!l)
        return;
    hm__board_close(l->board);
    free(l);
}

/*
 * Writes the entry of this command to the list of running commands, which is opened first if
 * necessary.
 */
static void listing_write(struct cli_listing *l, bool at_once)
{
    char path[PATH_MAX];
    double now = cli_now_s();

    if (!l->board && (l->tried_s == 0 || now - l->tried_s >= JOIN_S)) {
        l->tried_s = now;
        l->board = cli_board_find(path) ? hm__board_join(path) : NULL;
    }
    if (!l->board || (!at_once && now - l->put_s < PUT_S))
        return;
    l->put_s = now;
    l->task.updated_s = seconds_since_1970();
    hm__board_put(l->board, &l->task);
}

void cli_listing_put(struct cli_listing *l, double done, double total, bool at_once)
{
    if (!l)
        return;
    l->task.done = done;
    l->task.total = total;
    listing_write(l, at_once);
}

void cli_listing_say(struct cli_listing *l, const char *message)
{
    if (!l)
        return;
    snprintf(l->task.message, sizeof(l->task.message), "%s", message);
    listing_write(l, false);
}

void cli_listing_point(struct cli_listing *l, double n, double seconds)
{
    if (!l)
        return;
    struct hm_board_task *t = &l->task;
    size_t count = (size_t)t->point_count;
    if (count == HM_BOARD_POINTS) { /* The array is full, so the oldest measurement is removed. */
        memmove(t->n, t->n + 1, sizeof(t->n) - sizeof(t->n[0]));
        memmove(t->seconds, t->seconds + 1, sizeof(t->seconds) - sizeof(t->seconds[0]));
        count--;
    }
    t->n[count] = n;
    t->seconds[count] = seconds;
    t->point_count = (double)(count + 1);
    listing_write(l, true);
}
