/* Checks the arguments of a plan: clusters, schemes, and settings that exclude one another. */
#include "checks.h"
#include "err.h"
#include "search.h"

/* Checks that the job has an all-reduce step if the question names all-reduce schemes. */
static int check_schemes(const struct hm_job *job, size_t scheme_count, struct hm_err *err)
{
    for (size_t i = 0; i < job->communicate_count; i++)
        if (!job->communicate[i].time && hm_scheme_is_allreduce(job->communicate[i].scheme))
            return 0;
    if (scheme_count == 0)
        return 0;
    hm__fail(err, HM_E_CONFLICT, "a scheme is chosen, but the job has no all-reduce step");
    hm__err_hint(err, "give it one: communicate: [{what: gradients, scheme: best}]");
    hm__err_field(err, "scheme");
    hm__err_at(err, job->source, 0);
    return HM_E_CONFLICT;
}

int hm__plan_check(const struct hm_job *job, const struct hm_cluster *const *clusters,
                   size_t cluster_count, const enum hm_scheme *schemes, size_t scheme_count,
                   const struct hm_question *question, struct hm_err *err)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < cluster_count; i++)
        rc = hm_cluster_check(clusters[i], err);
    if (rc == 0 && question->fit)
        rc = hm__cluster_one_kind(cluster_count      ? clusters[0]
                                  : job->has_cluster ? &job->cluster
                                                     : NULL,
                                  err);
    for (size_t i = 0; rc == 0 && i < scheme_count; i++)
        rc = hm__check_enum("schemes", (int)schemes[i], HM_SCHEME_BEST + 1, err);
    if (rc == 0)
        rc = check_schemes(job, scheme_count, err);
    if (rc == 0 && question->way_count > 0 && (question->fit || scheme_count > 0))
        rc =
            hm__fail(err, HM_E_CONFLICT,
                     question->fit ? "the runs were made on one platform: they cannot compare "
                                     "platforms"
                                   : "a platform has its own schemes: give platform or scheme, not "
                                     "both");
    if (rc == 0 && question->fit && (cluster_count > 1 || scheme_count > 1))
        rc = hm__fail(err, HM_E_CONFLICT,
                      "the runs were made on one machine with one scheme: they cannot compare "
                      "several");
    return rc;
}
