/* Devices and questions for tests of transformers. */
#ifndef LARGE_TESTING_H
#define LARGE_TESTING_H

#include <math.h>

#include "large_plan.h"
#include "testing.h"

static inline void device_named(const char *name, struct hm_large_device *device)
{
    struct hm_catalog *catalog;
    struct hm_cluster *cluster;

    assert_int_equal(hm_catalog_new(&catalog, NULL), 0);
    assert_int_equal(hm_catalog_machine(catalog, name, &cluster, NULL), 0);
    assert_int_equal(hm__large_device_set(cluster, device, NULL), 0);
    hm_cluster_free(cluster);
    hm_catalog_free(catalog);
}

/* Returns a question for n workers without limits; if n is NaN, for any number of workers. */
static inline struct hm_large_question large_question(double n)
{
    struct hm_large_question question = HM_LARGE_QUESTION_INIT;

    question.n = n;
    return question;
}

/* Reads a job that trains a transformer, from two texts. */
static inline struct hm_job *large_job(const char *start, const char *more)
{
    char text[4096];
    struct hm_err err = {0};
    struct hm_job *job = NULL;

    snprintf(text, sizeof(text), "%s%s", start, more);
    if (hm_job_parse(text, strlen(text), "job", NULL, 0, &job, &err))
        fail_msg("%s: %s", more, err.message);
    assert_non_null(job->large);
    return job;
}

#endif
