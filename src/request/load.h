/*
 * Declares functions that several verbs use to load a job with its machines, runs, traces, and fits
 * of the loss. The data come from contents in the request, from files if the context allows them,
 * or from the store.
 */
#ifndef HM_LOAD_H
#define HM_LOAD_H

#include "readers.h"
#include "request.h"
#include "table_add.h"

/* ---- a job and its machines --------------------------------------------------------------------
 */

/* The fields of a request that describe a job; each verb that has a job contains this struct. */
struct hm_job_fields {
    struct hm_document job;
    struct hm_documents on;
    const char *fabric;
    struct hm_texts set;
    /*
     * Fields that are short forms of assignments in `set`, such as the batch; NULL if not given.
     * Only the verb plan has these fields.
     */
    const char *batch, *sequence, *tokens, *epochs, *iterations;
};

enum { HM_MACHINES_MAX = 64 };

/*
 * A job and its machines. Zero-initialise the struct, and release it with hm__loaded_job_release.
 */
struct hm_loaded_job {
    struct hm_job *job;
    /* Clusters from the field `on`, which replace the cluster of the job. */
    struct hm_cluster *clusters[HM_MACHINES_MAX];
    size_t cluster_count;
};

/*
 * Loads the job and every machine in the field `on`. If `timed` is true, the times come from runs,
 * so the request need not have a job. The field `fabric` changes the machines in `on`, or the
 * cluster of the job if `on` is empty.
 */
int hm__load_job(struct hm_call *call, const struct hm_job_fields *fields, bool timed,
                 struct hm_loaded_job *ret_job, struct hm_err *err);
/*
 * Sets *ret_name to the name of a network in the catalog if a document consists of nothing but this
 * name and there is no file of this name; otherwise, sets it to NULL.
 */
int hm__find_network(struct hm_call *call, const struct hm_document *document,
                     const char **ret_name, struct hm_err *err);
/*
 * If the name of a job that could not be opened is similar to the name of a network in the catalog,
 * adds a hint to the error.
 */
void hm__hint_network(struct hm_call *call, const struct hm_document *document, struct hm_err *err);
/*
 * Creates the tree of a job that trains a network in the catalog with its usual batch, data set and
 * sequence, and stores it in the specification. *ret_note lists the usual values that the user did
 * not override.
 */
int hm__load_network_job(struct hm_call *call, const char *name, struct hm_spec *spec,
                         const char **ret_note, struct hm_err *err);
/* Loads one machine: an entry in the catalog, a cluster file, or contents in the request. */
int hm__load_machine(struct hm_call *call, const struct hm_job_fields *fields,
                     const struct hm_document *machine, struct hm_cluster **ret_cluster,
                     struct hm_err *err);
/*
 * Returns whether the field `set` changes a key of the job, instead of only properties of imported
 * files such as n=8.
 */
bool hm__sets_job(const struct hm_texts *set);
/* Returns whether a name in the field `on` is a cluster file and not a machine in the catalog. */
bool hm__is_cluster_file(const char *name);
void hm__loaded_job_release(struct hm_loaded_job *job);
/*
 * Returns the first cluster in the field `on` or, if `on` is empty, the cluster of the job; NULL if
 * there is no job either.
 */
const struct hm_cluster *hm__loaded_cluster(const struct hm_loaded_job *job);
/*
 * Checks that the fields `on`, `fabric` and `set` are given only together with a job and, if
 * `one_machine` is true, that `on` has at most one machine.
 */
int hm__check_job_fields(const struct hm_job_fields *fields, bool one_machine, struct hm_err *err);

/* ---- tables ------------------------------------------------------------------------------------
 */

/*
 * Returns whether a name is the address of a store: it begins with postgresql:// or ends in .db or
 * .sqlite.
 */
bool hm__is_store(const char *name);

/*
 * Loads the runs that meet all conditions from a document or, if there is no document, from the
 * store.
 */
int hm__load_runs(struct hm_call *call, const struct hm_document *document,
                  const struct hm_texts *where, struct hm_runs **ret_runs, struct hm_err *err);

/*
 * The fields of a request that describe traces; the verbs converge and advise contain this struct.
 */
struct hm_trace_fields {
    struct hm_documents traces;
    const char *record;
    struct hm_texts where, algorithms, terms;
    double best; /* Optimal loss P*; NaN if it is not given. */
    const char *measure;
    bool epochs;
    double rows; /* Number of rows in the training data for which the loss is predicted; NaN if not
                    given. */
    double level, seed;
};

/*
 * Traces, and the loss curve g(i, m) that is fitted to them. Zero-initialise the struct, and
 * release it with hm__loaded_traces_release.
 */
struct hm_loaded_traces {
    /* Traces of the request; NULL if the request has a stored fit instead. */
    struct hm_traces *traces;
    /* Fit of the loss g(i, m), which hm__load_convergence sets. */
    struct hm_convergence *convergence;
    struct hm_converge_settings settings;
    const char *fit; /* Name of the file with the stored fit; NULL if traces were fitted. */
};

/*
 * Loads the stored fit if the only document of the request is one; otherwise loads traces and fits
 * them. The traces are refused if the fit, and the hold-outs with the settings `held` unless it is
 * NULL, cannot be done within the time limit.
 */
int hm__load_convergence(struct hm_call *call, const struct hm_trace_fields *fields,
                         const struct hm_holdout_settings *held,
                         struct hm_loaded_traces *ret_loaded, struct hm_err *err);
/* Loads a stored fit from one document. */
int hm__load_fit(struct hm_call *call, const struct hm_document *document,
                 struct hm_convergence **ret_convergence, struct hm_err *err);
/* Loads traces from one document. */
int hm__load_trace_table(struct hm_call *call, const struct hm_document *document,
                         const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                         struct hm_err *err);
void hm__loaded_traces_release(struct hm_loaded_traces *loaded);

/* ---- the store ---------------------------------------------------------------------------------
 */

/*
 * hm__call_store_open opens the store at the address `record` (NULL for the default store).
 * hm__call_store_read is the same, but fails if the named file does not exist, instead of making a
 * new store, which would have nothing to read. hm__call_store_close closes the store, where `rc` is
 * the result of the operations on it. If the request may not access files, error messages do not
 * show the address. hm__call_store_add adds runs to the store at the address `record`.
 */
int hm__call_store_open(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err);
int hm__call_store_read(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err);
void hm__call_store_close(struct hm_call *call, struct hm_store *store, int rc, struct hm_err *err);
int hm__call_store_add(const struct hm_store_access *access, const char *record,
                       struct hm_store_batch *batch, struct hm_err *err);

/*
 * Receives batches of runs and adds them to the store through the context, which may use one writer
 * thread for many requests.
 */
struct hm_call_sink {
    const struct hm_store_access *access;
    const char *record;
    /* Destination of runs; its address is passed to the functions of table_add.h. */
    struct hm_run_sink sink;
};

/*
 * Opens a destination for runs in the store at the address `record`, and closes it. A caller with
 * access to files has exclusive use of the store, so a large table may be added in one transaction.
 * When the destination is closed, `rc` says whether adding the runs succeeded.
 */
int hm__call_sink_open(struct hm_call *call, struct hm_call_sink *sink, const char *record,
                       struct hm_err *err);
void hm__call_sink_close(struct hm_call *call, struct hm_call_sink *sink, int rc,
                         struct hm_err *err);

#endif
