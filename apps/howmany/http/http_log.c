/*
 * Implements the log of the server. Lines are collected in one buffer while the thread writes
 * those of the other. After lines were dropped, the next line that can be written says how many.
 */
#include "http_log.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "http_connections.h"
#include "text.h"

enum { LOG_ROOM = 1 << 18 }; /* Size of a buffer in bytes, about 1500 lines. */

struct http_log {
    int file;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t more; /* Signalled when there is a line, or when the log ends. */
    pthread_cond_t done; /* Signalled when all lines are written. */
    char *waiting;       /* Lines that the thread has not taken yet. */
    size_t length;       /* Number of bytes in `waiting`. */
    char *taken;         /* Lines that the thread writes. */
    bool busy;           /* True while the thread writes. */
    bool ending;
    atomic_ullong dropped;       /* Number of dropped lines. */
    unsigned long long reported; /* Number of dropped lines that the log has reported. */
};

/* ---- the thread ------------------------------------------------------------------------------ */

/* Writes all bytes, and waits until this is possible. Returns whether it succeeded. */
static bool write_all(int file, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t written = write(file, data, length);
        if (written >= 0) {
            data += written;
            length -= (size_t)written;
        } else if (errno == EAGAIN) { /* Another program has made the descriptor non-blocking. */
            struct pollfd ready = {.fd = file, .events = POLLOUT};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

static unsigned long long count_lines(const char *data, size_t length)
{
    unsigned long long lines = 0;

    for (size_t i = 0; i < length; i++)
        lines += data[i] == '\n';
    return lines;
}

/*
 * Returns the length of the first lines that fit into PIPE_BUF bytes, or of the first line. Such a
 * piece is not mixed with what other programs write to the same pipe.
 */
static size_t first_lines(const char *data, size_t length)
{
    size_t end = 0;

    for (size_t i = 0; i < length && (end == 0 || i < PIPE_BUF); i++)
        if (data[i] == '\n')
            end = i + 1;
    return end ? end : length;
}

/* Reports lines that were dropped since the last report. */
static void report_dropped(struct http_log *log)
{
    unsigned long long dropped = atomic_load(&log->dropped);
    struct hm_text line = {0};
    struct hm_json json = {.out = &line};

    if (dropped == log->reported)
        return;
    http_log_begin(&json);
    hm__json_put_number(&json, "dropped", (double)(dropped - log->reported));
    hm__json_close(&json);
    hm__text_add(&line, "\n");
    if (!line.failed && write_all(log->file, line.data, line.length))
        log->reported = dropped;
    hm__text_release(&line);
}

static void write_taken(struct http_log *log, size_t length)
{
    for (size_t at = 0, size; at < length; at += size) {
        size = first_lines(log->taken + at, length - at);
        if (write_all(log->file, log->taken + at, size))
            report_dropped(log);
        else
            atomic_fetch_add(&log->dropped, count_lines(log->taken + at, size));
    }
}

static void *log_run(void *context)
{
    struct http_log *log = context;

    pthread_mutex_lock(&log->lock);
    for (;;) {
        while (log->length == 0 && !log->ending)
            pthread_cond_wait(&log->more, &log->lock);
        if (log->length == 0)
            break;
        char *lines = log->waiting;
        size_t length = log->length;
        log->waiting = log->taken;
        log->taken = lines;
        log->length = 0;
        log->busy = true;
        pthread_mutex_unlock(&log->lock);
        write_taken(log, length);
        pthread_mutex_lock(&log->lock);
        log->busy = false;
        if (log->length == 0)
            pthread_cond_broadcast(&log->done);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/* ---- starting and stopping ------------------------------------------------------------------- */

static void log_release(struct http_log *log)
{
    pthread_cond_destroy(&log->more);
    pthread_cond_destroy(&log->done);
    pthread_mutex_destroy(&log->lock);
    free(log->waiting);
    free(log->taken);
    free(log);
}

struct http_log *http_log_new(int file)
{
    struct http_log *log = calloc(1, sizeof(*log));
    pthread_condattr_t steady; /* A clock that is set must not change how long threads wait. */
    sigset_t all, before;

    if (!log)
        return NULL;
    log->file = file;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->more, NULL);
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&log->done, &steady);
    pthread_condattr_destroy(&steady);
    log->waiting = malloc(LOG_ROOM);
    log->taken = malloc(LOG_ROOM);
    /* Signals must reach the thread that waits for them. */
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool started =
        log->waiting && log->taken && pthread_create(&log->thread, NULL, log_run, log) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        return log;
    log_release(log);
    return NULL;
}

bool http_log_flush(struct http_log *log, double seconds)
{
    double end_s = http_now() + seconds, whole = floor(end_s);
    const struct timespec until = {(time_t)whole, (long)(1e9 * (end_s - whole))};
    int late = 0;

    if (!log)
        return true;
    pthread_mutex_lock(&log->lock);
    while ((log->length > 0 || log->busy) && !late)
        late = pthread_cond_timedwait(&log->done, &log->lock, &until);
    bool written = log->length == 0 && !log->busy;
    pthread_mutex_unlock(&log->lock);
    return written;
}

void http_log_free(struct http_log *log)
{
    /* A thread whose reader has stopped cannot be ended, so its buffers must remain. */
    if (!log || !http_log_flush(log, 1))
        return;
    pthread_mutex_lock(&log->lock);
    log->ending = true;
    pthread_mutex_unlock(&log->lock);
    pthread_cond_signal(&log->more);
    pthread_join(log->thread, NULL);
    log_release(log);
}

/* ---- lines ----------------------------------------------------------------------------------- */

void http_log_begin(struct hm_json *json)
{
    struct timespec now;
    struct tm parts;
    char text[32], stamp[48];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &parts);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(stamp, sizeof(stamp), "%s.%03ldZ", text, now.tv_nsec / 1000000);
    hm__json_open(json, NULL, HM_JSON_OBJECT);
    hm__json_put_text(json, "time", stamp);
}

void http_log_end(struct http_log *log, struct hm_json *json)
{
    struct hm_text *line = json->out;

    hm__json_close(json);
    hm__text_add(line, "\n");
    pthread_mutex_lock(&log->lock);
    bool fits = !line->failed && line->length <= LOG_ROOM - log->length, first = log->length == 0;
    if (fits) {
        memcpy(log->waiting + log->length, line->data, line->length);
        log->length += line->length;
    } else {
        atomic_fetch_add(&log->dropped, 1);
    }
    pthread_mutex_unlock(&log->lock);
    if (fits && first)
        pthread_cond_signal(&log->more);
    hm__text_release(line);
}

unsigned long long http_log_dropped(const struct http_log *log)
{
    return atomic_load(&log->dropped);
}
