/*
 * Measuring a command. Its own account of its iterations is better than the clock around it, which
 * counts starting up and reading data as well; where it gives none, the clock has to do.
 */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "value.h"

/* Seconds of the iterations, as they are told. */
struct account {
    const struct cli_watch *watch;
    double *seconds; /* owned */
    size_t count, room;
    double loss;
    bool failed; /* out of memory */
};

static void note_iteration(struct account *a, double seconds)
{
    if (!(seconds > 0) || isinf(seconds))
        return;
    if (a->count == a->room) {
        size_t room = a->room ? 2 * a->room : 64;
        double *larger = realloc(a->seconds, room * sizeof(*larger));
        if (!larger) {
            a->failed = true;
            return;
        }
        a->seconds = larger;
        a->room = room;
    }
    a->seconds[a->count++] = seconds;
}

/* Some write NaN and Infinity, which JSON has not: they become empty texts, in place. */
static void without_nan(char *line)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (char *at = line; (at = strstr(at, words[i]));) {
            memset(at, ' ', strlen(words[i]));
            memset(at, '"', 2);
        }
}

static void read_json(struct account *a, const char *written)
{
    struct hm_arena *arena = hm__arena_new();
    char *line = arena ? hm__arena_strdup(arena, written) : NULL;
    struct hm_value *object;

    if (line)
        without_nan(line);
    /* Most lines are not ours: what cannot be read is none of our business. */
    if (line && hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0 &&
        object->kind == HM_VALUE_MAP && hm__value_get(object, "iteration")) {
        double loss =
            hm__value_number(object, hm__value_get(object, "loss") ? "loss" : "objective");
        note_iteration(a, hm__value_number(object, "seconds"));
        if (!isnan(loss))
            a->loss = loss;
    }
    hm__arena_free(arena);
}

/* The first group, as a number of seconds or as a time with its unit. */
static void read_match(struct account *a, const char *line)
{
    regmatch_t match[2];
    char text[64];
    double seconds;

    if (regexec(a->watch->iteration, line, 2, match, 0) != 0 || match[1].rm_so < 0)
        return;
    snprintf(text, sizeof(text), "%.*s", (int)(match[1].rm_eo - match[1].rm_so),
             line + match[1].rm_so);
    size_t used = hm__number_read(text, &seconds);
    if (used == 0 || text[used] != '\0')
        seconds = hm__quantity_parse(text, HM_DIM_TIME, &seconds, NULL) == 0 ? seconds : NAN;
    note_iteration(a, seconds);
}

static void read_line(void *context, const char *line, double seconds)
{
    struct account *a = context;

    (void)seconds;
    if (a->watch->iteration)
        read_match(a, line);
    else if (line[strspn(line, " \t")] == '{')
        read_json(a, line);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The last line of a text that is not empty. */
static void last_line(const char *text, char *out, size_t room)
{
    size_t end = strlen(text), start;

    while (end > 0 && strchr(" \r\n\t", text[end - 1]))
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n'; start--)
        ;
    snprintf(out, room, "%.*s", (int)(end - start), text + start);
    for (char *c = out; *c; c++) /* it goes to a terminal */
        if ((unsigned char)*c < 0x20)
            *c = ' ';
}

static void say_end(const struct cli_child *child, struct cli_measure *m)
{
    last_line(child->tail, m->words, sizeof(m->words));
    switch (child->end) {
    case CLI_CHILD_EXITED:
        if (child->code == 0)
            snprintf(m->status, sizeof(m->status), "ok");
        else
            snprintf(m->status, sizeof(m->status), "exit %d", child->code);
        break;
    case CLI_CHILD_SIGNALLED:
        snprintf(m->status, sizeof(m->status), "signal %d", child->code);
        break;
    case CLI_CHILD_TIMED_OUT:
        snprintf(m->status, sizeof(m->status), "timeout");
        break;
    case CLI_CHILD_STUCK:
        snprintf(m->status, sizeof(m->status), "stuck");
        break;
    case CLI_CHILD_INTERRUPTED:
        snprintf(m->status, sizeof(m->status), "interrupted");
        break;
    case CLI_CHILD_NOT_STARTED:
        snprintf(m->status, sizeof(m->status), "not started");
        snprintf(m->words, sizeof(m->words), "%s", strerror(child->code));
        break;
    }
}

int cli_measure(char *const *argv, const struct cli_watch *watch, struct cli_measure *m)
{
    struct account account = {.watch = watch, .loss = NAN};
    struct cli_child child = {.argv = argv,
                              .timeout_s = watch->timeout_s,
                              .line = read_line,
                              .context = &account,
                              .show = watch->show};
    struct hm_err err = {0};

    *m = (struct cli_measure){.seconds = NAN};
    int rc = cli_child_run(&child, &err);
    if (rc == 0) {
        say_end(&child, m);
        m->total_s = child.seconds;
        m->loss = account.loss;
        m->iterations = (double)account.count;
        if (strcmp(m->status, "ok") == 0)
            m->seconds = account.count ? median(account.seconds, account.count) : child.seconds;
    }
    free(account.seconds);
    if (rc)
        return cli_report(&err);
    return account.failed ? cli_complain("out of memory") : 0;
}
