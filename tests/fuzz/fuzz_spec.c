/* Fuzzes the readers of jobs and studies in YAML and JSON; valid jobs are planned. */
#include <stdint.h>
#include <string.h>

#include "kept_catalog.h"
#include "study.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void plan(const struct hm_job *job)
{
    struct hm_question question = HM_QUESTION_INIT;
    struct hm_answer *answer = NULL;
    struct hm_err err = {0};

    question.max_n = job->reference > 16 ? job->reference : 16;
    if (job->reference <= 64 && hm_plan(job, NULL, 0, NULL, 0, &question, &answer, &err) == 0)
        hm_answer_free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const sources[] = {"fuzz.yaml", "fuzz.json"};

    if (size == 0)
        return 0;
    /* The first byte selects the format, so that one corpus contains both formats. */
    const char *source = sources[data[0] == '{' || data[0] == '['];
    struct hm_job *job = NULL;
    struct hm_err err = {0};
    if (hm_job_parse_with(fuzz_catalog(), (const char *)data, size, source, NULL, 0, &job, &err) ==
        0)
        plan(job);
    hm_job_free(job);
    struct hm_study_spec *study = NULL;
    if (hm__study_spec_parse((const char *)data, size, source, NULL, 0, &study, &err) == 0)
        hm__study_spec_free(study);
    return 0;
}
