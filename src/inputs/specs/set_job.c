/* Sets the network and the machine of a job, which are looked up by name in the catalog. */
#include <string.h>

#include "checks.h"
#include "err.h"
#include "readers.h"

int hm_job_set_network(struct hm_job *job, const struct hm_catalog *catalog, const char *name,
                       struct hm_err *err)
{
    int rc = hm__check_pointers(err, "job", job, "job->memory", job ? job->memory : NULL, "name",
                                name, NULL);

    if (rc)
        return rc;
    struct hm_reader reader = {.arena = job->memory, .catalog = catalog, .err = err};
    struct hm_network *network = hm__arena_alloc(job->memory, 1, sizeof(*network));
    struct hm_value value = {.kind = HM_VALUE_SCALAR, .text = hm__arena_strdup(job->memory, name)};
    rc = network && value.text ? 0 : hm__fail_nomem(err);
    if (rc == 0) {
        hm__reader_enter(&reader, "network");
        rc = hm__read_network(&reader, &value, network);
    }
    hm__reader_release(&reader);
    if (rc)
        return rc;
    job->network = network;
    return hm__job_assume_allreduce(job, err);
}

/* Finds a machine in the catalog. If `fabric` is not NULL, the fabric with that name replaces the
 * fabric of the machine. */
static int find_cluster(const struct hm_catalog *catalog, const char *machine, const char *fabric,
                        struct hm_cluster **ret_cluster, struct hm_err *err)
{
    struct hm_cluster *cluster = NULL;
    int rc = hm_catalog_machine(catalog, machine, &cluster, err);

    if (rc == 0 && fabric) {
        rc = hm_catalog_fabric(catalog, fabric, &cluster->fabric, err);
        /* The name of the fabric is borrowed here and copied when the caller copies the cluster. */
        cluster->fabric_name = fabric;
    }
    if (rc)
        hm_cluster_free(cluster);
    else
        *ret_cluster = cluster;
    return rc;
}

int hm_job_set_machine(struct hm_job *job, const struct hm_catalog *catalog, const char *machine,
                       const char *fabric, struct hm_err *err)
{
    struct hm_catalog *made = NULL;
    struct hm_cluster *cluster = NULL;
    int rc = hm__check_pointers(err, "job", job, "job->memory", job ? job->memory : NULL, "machine",
                                machine, NULL);

    if (rc == 0 && !catalog)
        rc = hm_catalog_new(&made, err);
    if (rc == 0)
        rc = find_cluster(catalog ? catalog : made, machine, fabric, &cluster, err);
    if (rc == 0)
        rc = hm_job_set_cluster(job, cluster, err);
    hm_cluster_free(cluster);
    hm_catalog_free(made);
    return rc;
}
