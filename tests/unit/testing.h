/* Includes, assertions and switches that every unit test uses. */
#ifndef HM_TESTING_H
#define HM_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "howmany.h"

/* Whether this is a build with AddressSanitizer, which is up to ten times slower. */
#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/*
 * Returns whether `make torture` runs the tests (HM_TORTURE=1). Then each test makes all its
 * trials; otherwise the long ones make a smaller number, which finds gross errors within seconds.
 */
static inline bool is_torture(void)
{
    const char *value = getenv("HM_TORTURE");

    return value && strcmp(value, "1") == 0;
}

/* Checks that a value is within a relative error of `wanted`, or that both are NaN. */
#define assert_near(value, wanted, relative)                                                       \
    hm_assert_near(value, wanted, relative, #value, __LINE__)

static inline void hm_assert_near(double value, double wanted, double relative, const char *what,
                                  int line)
{
    if (isnan(value) && isnan(wanted))
        return;
    double allowed = relative * fmax(fabs(wanted), 1e-300);
    if (fabs(value - wanted) <= allowed)
        return;
    fail_msg("line %d: %s is %.17g, not %.17g", line, what, value, wanted);
}

/* Opens a file of the repository; the test fails if it does not exist. */
static inline FILE *open_source(const char *name)
{
    char path[1024];
    const char *root = getenv("HM_SOURCE");

    snprintf(path, sizeof(path), "%s/%s", root ? root : ".", name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    return file;
}

/* Reads the next line that is neither empty nor a comment, without its line break; false at the
 * end. */
static inline bool next_line(FILE *file, char *line, size_t room)
{
    while (fgets(line, (int)room, file)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] && line[0] != '#')
            return true;
    }
    return false;
}

/* Returns the name of a built-in example, preceded by the folder of the data that it may need; see
 * HOWMANY_DATA. */
static inline const char *example_source(const char *name)
{
    static char source[1024];
    const char *data = getenv("HOWMANY_DATA"), *root = getenv("HM_SOURCE");

    if (data)
        snprintf(source, sizeof(source), "%s/%s", data, name);
    else
        snprintf(source, sizeof(source), "%s/../shared/data/%s", root ? root : ".", name);
    return source;
}

static inline struct hm_job *parse_job(const char *text)
{
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    if (hm_job_parse(text, strlen(text), "test.yaml", NULL, 0, &job, &err))
        fail_msg("%s:%d: %s: %s", err.source, err.line, err.field, err.message);
    return job;
}

static inline struct hm_answer *ask(const struct hm_job *job, const struct hm_question *question)
{
    struct hm_err err = {0};
    struct hm_answer *answer = NULL;

    if (hm_plan(job, NULL, 0, NULL, 0, question, &answer, &err))
        fail_msg("%s: %s: %s", err.source, err.field, err.message);
    return answer;
}

/*
 * Plans a job given as YAML for up to max_n workers. `way` is the platform; NULL: that of the job.
 */
static inline struct hm_answer *plan_way(double max_n, const char *text, const struct hm_way *way)
{
    struct hm_job *job = parse_job(text);
    struct hm_question q = HM_QUESTION_INIT;

    q.max_n = max_n;
    q.ways = way;
    q.way_count = way ? 1 : 0;
    struct hm_answer *answer = ask(job, &q);
    hm_job_free(job);
    return answer;
}

#endif
