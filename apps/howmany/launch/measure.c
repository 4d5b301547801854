/*
 * Measures a command. The seconds per iteration that the command itself reports are better than its
 * wall time, which includes start-up and reading data. The wall time is used only if the command
 * reports no iterations.
 */
#include "measure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "framework_lines.h"
#include "order.h"
#include "spark_log.h"
#include "text.h"
#include "value.h"

/* The iterations that the command reported. */
struct report {
    const struct launch_measure_settings *settings;
    double *seconds; /* Time of each reported iteration in seconds; owned. */
    size_t count, room;
    bool json; /* True if an iteration was read from a JSON line. */
    double loss;
    struct launch_frameworks *frameworks; /* Compiled expressions of the known frameworks; owned.
                                             NULL if the user gave a regular expression. */
    const char *framework; /* The framework whose lines are read; NULL if none is recognised, or the
                              command writes JSON lines. */
    double invalid_s; /* Time of an iteration that no table of runs can hold; 0 if there is none. */
    bool failed;      /* True if an allocation failed. */
};

static void note_iteration(struct report *a, double seconds)
{
    if (!(seconds > 0))
        return;
    if (seconds > HM_RUN_MOST) {
        a->invalid_s = seconds;
        return;
    }
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

/* Keeps the latest loss. A diverged one that no table of runs can hold makes it unknown. */
static void note_loss(struct report *a, double loss)
{
    if (!isnan(loss))
        a->loss = fabs(loss) <= HM_RUN_MOST ? loss : NAN;
}

/*
 * Replaces NaN and Infinity, which some programs write although JSON does not allow them, with
 * empty strings.
 */
static void replace_nan(char *line)
{
    static const char *const words[] = {"-Infinity", "Infinity", "NaN"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        for (char *at = line; (at = strstr(at, words[i]));) {
            memset(at, ' ', strlen(words[i]));
            memset(at, '"', 2);
        }
}

/*
 * Reads a JSON line that reports an iteration. After the first such line, lines of a framework are
 * ignored, because they may summarise the same iterations. Returns whether the line reports an
 * iteration.
 */
static bool read_json_line(struct report *a, const char *written)
{
    struct hm_arena *arena = hm__arena_new();
    char *line = arena ? hm__arena_strdup(arena, written) : NULL;
    struct hm_value *object;
    bool found = false;

    if (line)
        replace_nan(line);
    /* Lines that are not a JSON object with an iteration are skipped, because most lines are
     * ordinary output of the command. */
    if (line && hm__json_parse(arena, line, strlen(line), "output", &object, NULL) == 0 &&
        object->kind == HM_VALUE_MAP && hm__value_get(object, "iteration")) {
        if (a->framework)
            a->count = 0;
        a->framework = NULL;
        a->json = found = true;
        double loss =
            hm__value_number(object, hm__value_get(object, "loss") ? "loss" : "objective");
        note_iteration(a, hm__value_number(object, "seconds"));
        note_loss(a, loss);
    }
    hm__arena_free(arena);
    return found;
}

/* Reads a line of a known framework. Lines of a second framework are ignored. */
static void read_framework_line(struct report *a, const char *line)
{
    struct launch_framework_line found;

    if (a->json || !a->frameworks || !launch_frameworks_read(a->frameworks, line, &found) ||
        (a->framework && strcmp(a->framework, found.framework) != 0))
        return;
    a->framework = found.framework;
    note_iteration(a, found.seconds);
    note_loss(a, found.loss);
}

/*
 * Returns whether compiling a regular expression needs little memory. The C library copies a group
 * once for each repetition that a count such as {1,50} allows, and the counts of nested groups
 * multiply.
 */
static bool is_small_pattern(const char *value)
{
    enum { LENGTH_MAX = 500, COPIES_MAX = 10000 };
    double copies = 1;

    for (const char *at = value; (at = strchr(at, '{')); at++) {
        double low = 1, high = 1;
        const char *end = at + 1 + hm__number_read(at + 1, &low);
        if (*end == ',')
            hm__number_read(end + 1, &high);
        copies *= fmax(fmax(low, high), 1);
    }
    return strlen(value) <= LENGTH_MAX && copies <= COPIES_MAX;
}

/* Returns whether an extended regular expression refers back to a group, as in (a)\1. */
static bool refers_back(const char *text)
{
    for (; *text; text++) {
        if (*text == '\\') {
            text++;
            if (*text >= '1' && *text <= '9')
                return true;
        } else if (*text == '[') { /* In a list of characters, a backslash is a character. */
            text += text[1] == '^' ? 2 : 1;
            text += *text == ']';
            text += strcspn(text, "]");
        }
        if (!*text)
            break;
    }
    return false;
}

int launch_pattern_compile(const char *name, const char *text, int flags, regex_t *ret_pattern)
{
    char why[160];

    if (!is_small_pattern(text))
        return cli_complain("%s: '%.40s…' is longer than 500 characters, or its counts in braces "
                            "multiply to more than 10000",
                            name, text);
    if (refers_back(text))
        return cli_complain("%s: '%.80s' refers back to a group, which can take very long", name,
                            text);
    int rc = regcomp(ret_pattern, text, REG_EXTENDED | flags);
    if (rc == 0)
        return 0;
    regerror(rc, ret_pattern, why, sizeof(why));
    return cli_complain("%s: '%.80s': %s", name, text, why);
}

bool launch_pattern_find(const regex_t *pattern, const char *line, char *ret_group, size_t room)
{
    char start[LAUNCH_PATTERN_LINE + 1];
    regmatch_t match[2];

    snprintf(start, sizeof(start), "%s", line);
    if (regexec(pattern, start, 2, match, 0) != 0 || match[1].rm_so < 0)
        return false;
    snprintf(ret_group, room, "%.*s", (int)(match[1].rm_eo - match[1].rm_so),
             start + match[1].rm_so);
    return true;
}

/*
 * Reads a line that may match the regular expression; its first group is a number of seconds or a
 * time with a unit.
 */
static void read_matching_line(struct report *a, const char *line)
{
    char text[64];
    double seconds;

    if (!launch_pattern_find(a->settings->iteration, line, text, sizeof(text)))
        return;
    size_t used = hm__number_read(text, &seconds);
    if (used == 0 || text[used] != '\0')
        seconds = hm__quantity_parse(text, HM_DIM_TIME, &seconds, NULL) == 0 ? seconds : NAN;
    note_iteration(a, seconds);
}

static void read_line(void *context, const char *line, double seconds)
{
    struct report *a = context;

    (void)seconds;
    if (a->settings->iteration)
        read_matching_line(a, line);
    else if (line[strspn(line, " \t")] != '{' || !read_json_line(a, line))
        read_framework_line(a, line);
}

/* Copies the last non-blank line of a text into out[room]. */
static void last_line(const char *text, char *out, size_t room)
{
    size_t end = strlen(text), start;

    while (end > 0 && strchr(" \r\n\t", text[end - 1]))
        end--;
    for (start = end; start > 0 && text[start - 1] != '\n'; start--)
        ;
    snprintf(out, room, "%.*s", (int)(end - start), text + start);
    for (char *c = out; *c; c++) /* Control characters are replaced, because they could change the
                                    state of the terminal. */
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
        else if ((unsigned char)*c == 0xc2 && (unsigned char)c[1] >= 0x80 &&
                 (unsigned char)c[1] < 0xa0)
            c[0] = c[1] = ' ';
}

static void measurement_set_status(const struct launch_child *child, struct launch_measurement *m)
{
    last_line(child->tail, m->message, sizeof(m->message));
    switch (child->end) {
    case LAUNCH_CHILD_EXITED:
        if (child->code == 0)
            snprintf(m->status, sizeof(m->status), "ok");
        else
            snprintf(m->status, sizeof(m->status), "exit %d", child->code);
        break;
    case LAUNCH_CHILD_SIGNALLED:
        snprintf(m->status, sizeof(m->status), "signal %d", child->code);
        break;
    case LAUNCH_CHILD_TIMED_OUT:
        snprintf(m->status, sizeof(m->status), "timeout");
        break;
    case LAUNCH_CHILD_STUCK:
        snprintf(m->status, sizeof(m->status), "stuck");
        break;
    case LAUNCH_CHILD_INTERRUPTED:
        snprintf(m->status, sizeof(m->status), "interrupted");
        break;
    case LAUNCH_CHILD_NOT_STARTED:
        snprintf(m->status, sizeof(m->status), "not started");
        snprintf(m->message, sizeof(m->message), "%s", strerror(child->code));
        break;
    }
}

/*
 * Sets the time of an iteration in seconds from the reported iterations. If there are several, the
 * first is ignored, because it often includes initialisation. A time that is too large makes the
 * run fail.
 */
static void measurement_set_seconds(struct launch_measurement *m, const struct report *report,
                                    double whole_s)
{
    size_t first = report->count > 1 ? 1 : 0;

    if (report->invalid_s > 0) {
        snprintf(m->status, sizeof(m->status), "invalid time");
        snprintf(m->message, sizeof(m->message), "it reported an iteration of %g s",
                 report->invalid_s);
        return;
    }
    m->timing = report->count ? LAUNCH_TIMING_ITERATIONS : LAUNCH_TIMING_WHOLE;
    m->seconds =
        report->count ? hm__values_median(report->seconds + first, report->count - first) : whole_s;
}

void launch_measurement_subtract(struct launch_measurement *m, double long_count,
                                 const struct launch_measurement *brief, double short_count)
{
    double seconds = (m->total_s - brief->total_s) / (long_count - short_count);

    if (strcmp(brief->status, "ok") != 0) {
        memcpy(m->status, brief->status, sizeof(m->status));
        memcpy(m->message, brief->message, sizeof(m->message));
        m->seconds = NAN;
    } else if (!(seconds > 0)) {
        snprintf(m->status, sizeof(m->status), "no difference");
        snprintf(m->message, sizeof(m->message),
                 "%g iterations took no longer than %g; give more of them with --iterations",
                 long_count, short_count);
        m->seconds = NAN;
    } else {
        m->seconds = seconds;
        m->startup_s = fmax(m->total_s - long_count * seconds, 0);
        m->iterations = long_count;
        m->timing = LAUNCH_TIMING_DIFFERENCE;
    }
}

/* Reads the iterations from the event log of a Spark program that has printed none. */
static void read_spark_log(struct report *a, const struct launch_spark_log *log)
{
    double *seconds = NULL;
    size_t count = 0;

    if (a->count == 0 && !a->settings->iteration)
        count = launch_spark_log_read(log, &seconds);
    for (size_t i = 0; i < count; i++)
        note_iteration(a, seconds[i]);
    if (count > 0)
        a->framework = "Spark (its event log)";
    free(seconds);
}

static int measure_once(char *const *argv, const struct launch_measure_settings *settings,
                        struct launch_measurement *m, bool *ret_paused)
{
    struct report report = {.settings = settings, .loss = NAN};
    struct launch_child child = {.argv = argv,
                                 .timeout_s = settings->timeout_s,
                                 .line = read_line,
                                 .context = &report,
                                 .show = settings->show};
    struct launch_spark_log log;
    struct hm_err err = {0};

    *m = (struct launch_measurement){.seconds = NAN, .startup_s = NAN};
    *ret_paused = false;
    if (!settings->iteration && !(report.frameworks = launch_frameworks_new()))
        return cli_complain("out of memory");
    launch_spark_log_begin(&log, argv);
    int rc = launch_child_run(&child, &err);
    if (rc == 0)
        read_spark_log(&report, &log);
    launch_spark_log_end(&log);
    if (rc == 0) {
        measurement_set_status(&child, m);
        *ret_paused = child.paused;
        m->total_s = child.seconds;
        m->loss = report.loss;
        m->iterations = (double)report.count;
        m->framework = report.framework;
        if (strcmp(m->status, "ok") == 0)
            measurement_set_seconds(m, &report, child.seconds);
    }
    free(report.seconds);
    launch_frameworks_free(report.frameworks);
    if (rc)
        return cli_report(&err);
    return report.failed ? cli_complain("out of memory") : 0;
}

int launch_measure(char *const *argv, const struct launch_measure_settings *settings,
                   struct launch_measurement *m)
{
    bool paused;
    int rc = measure_once(argv, settings, m, &paused);

    while (rc == 0 && paused && !launch_interrupted()) {
        fputs("howmany: a run is repeated, because this program was stopped during it\n", stderr);
        rc = measure_once(argv, settings, m, &paused);
    }
    return rc;
}
