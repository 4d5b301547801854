/*
 * What several verbs load in the same way: a job with its machines, runs, traces and fits of
 * convergence, from contents that came with the request, from files where the context has them, or
 * from the store.
 */
#ifndef HM_LOAD_H
#define HM_LOAD_H

#include "request.h"

/* ---- a job and its machines --------------------------------------------------------------------
 */

/* The fields of a job; part of the struct of each verb that has them. */
struct hm_job_fields {
    struct hm_document job;
    struct hm_documents on;
    const char *network;
    struct hm_texts set;
};

enum { HM_MACHINES_MAX = 64 };

/* Zero-initialise; release with hm__loaded_job_release. */
struct hm_loaded_job {
    struct hm_job *job;
    struct hm_cluster *clusters[HM_MACHINES_MAX]; /* In the place of the job's own. */
    size_t cluster_count;
};

/*
 * Load the job and every machine of `on`. timed: runs give the times, so the job itself may be
 * missing. The network field changes the machines of `on`, or the job's own cluster without any.
 */
int hm__load_job(struct hm_call *call, const struct hm_job_fields *fields, bool timed,
                 struct hm_loaded_job *ret_job, struct hm_err *err);
/* One machine by its name, file or contents. */
int hm__load_machine(struct hm_call *call, const struct hm_job_fields *fields,
                     const struct hm_document *machine, struct hm_cluster **ret_cluster,
                     struct hm_err *err);
void hm__loaded_job_release(struct hm_loaded_job *job);
/* The one cluster: that of `on`, or the job's own, or NULL. */
const struct hm_cluster *hm__loaded_cluster(const struct hm_loaded_job *job);
/* Fields on, network and set need a job; a verb that plans for one machine takes one in `on`. */
int hm__check_job_fields(const struct hm_job_fields *fields, bool one_machine, struct hm_err *err);

/* ---- tables ------------------------------------------------------------------------------------
 */

/* Whether a name is that of a store: postgresql://…, or a file that ends in .db or .sqlite. */
bool hm__is_store(const char *name);

/* Runs of a document, or of the store where there is none, that meet all conditions. */
int hm__load_runs(struct hm_call *call, const struct hm_document *document,
                  const struct hm_texts *where, struct hm_runs **ret_runs, struct hm_err *err);

/* The fields of traces; part of the structs of converge and advise. */
struct hm_trace_fields {
    struct hm_documents traces;
    const char *record;
    struct hm_texts where, algorithms, terms;
    double best; /* NaN: not given */
    const char *measure;
    bool epochs;
    double level, seed;
};

/* Zero-initialise; release with hm__loaded_traces_release. */
struct hm_loaded_traces {
    struct hm_traces *traces;           /* NULL where a stored fit was given. */
    struct hm_convergence *convergence; /* After hm__load_convergence. */
    struct hm_converge_settings settings;
    const char *fit; /* Name of the stored fit; NULL: traces were fitted. */
};

/* A stored fit, where the one document is one; else traces and the fit of them. */
int hm__load_convergence(struct hm_call *call, const struct hm_trace_fields *fields,
                         struct hm_loaded_traces *ret_loaded, struct hm_err *err);
/* One document as a stored fit. */
int hm__load_fit(struct hm_call *call, const struct hm_document *document,
                 struct hm_convergence **ret_convergence, struct hm_err *err);
/* One document as traces. */
int hm__load_trace_table(struct hm_call *call, const struct hm_document *document,
                         const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                         struct hm_err *err);
void hm__loaded_traces_release(struct hm_loaded_traces *loaded);

/* ---- the store ---------------------------------------------------------------------------------
 */

/* Open the store that `record` names (NULL: the default one), and give it back with the code of
 * what was done. A caller without files does not learn from an error where the store is. */
int hm__call_store_open(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err);
void hm__call_store_close(struct hm_call *call, struct hm_store *store, int rc, struct hm_err *err);

#endif
