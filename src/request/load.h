/*
 * Declares functions that several verbs use to load a job with its machines, runs, traces, and fits
 * of convergence. The data come from contents in the request, from files if the context allows
 * them, or from the store.
 */
#ifndef HM_LOAD_H
#define HM_LOAD_H

#include "readers.h"
#include "request.h"
#include "table_add.h"

/* ---- a job and its machines --------------------------------------------------------------------
 */

/* The fields that describe a job; part of the struct of each verb that has a job. */
struct hm_job_fields {
    struct hm_document job;
    struct hm_documents on;
    const char *fabric;
    struct hm_texts set;
    /* Short forms of assignments in `set`; NULL if they are not given. Only plan has them. */
    const char *batch, *sequence, *tokens, *epochs, *iterations;
};

enum { HM_MACHINES_MAX = 64 };

/* A job and its machines. Zero-initialise; release with hm__loaded_job_release. */
struct hm_loaded_job {
    struct hm_job *job;
    /* Clusters that replace the cluster of the job. */
    struct hm_cluster *clusters[HM_MACHINES_MAX];
    size_t cluster_count;
};

/*
 * Load the job and every machine in the field `on`. If `timed` is true, the times come from runs,
 * so the job may be missing. The field `fabric` changes the machines in `on`, or the cluster of
 * the job if `on` is empty.
 */
int hm__load_job(struct hm_call *call, const struct hm_job_fields *fields, bool timed,
                 struct hm_loaded_job *ret_job, struct hm_err *err);
/*
 * Sets *ret_name to the name of a network of the catalog if a document consists of nothing but this
 * name and there is no file of this name; otherwise to NULL.
 */
int hm__find_network(struct hm_call *call, const struct hm_document *document,
                     const char **ret_name, struct hm_err *err);
/* Adds a hint to the error that a job could not be opened, if its name may be that of a network. */
void hm__hint_network(struct hm_call *call, const struct hm_document *document, struct hm_err *err);
/*
 * Makes the tree of a job that trains a network of the catalog with its usual batch, data set and
 * sequence, and puts it into the specification. *ret_note lists the values that the overrides of
 * the specification do not give.
 */
int hm__load_network_job(struct hm_call *call, const char *name, struct hm_spec *spec,
                         const char **ret_note, struct hm_err *err);
/* Load one machine, which is given by its name, as a file or as contents. */
int hm__load_machine(struct hm_call *call, const struct hm_job_fields *fields,
                     const struct hm_document *machine, struct hm_cluster **ret_cluster,
                     struct hm_err *err);
/*
 * Whether the field `set` has a key of the job, and not only properties of imported files, such as
 * n=8.
 */
bool hm__sets_job(const struct hm_texts *set);
/* Whether a name in the field `on` is a cluster file, not a machine of the catalog. */
bool hm__is_cluster_file(const char *name);
void hm__loaded_job_release(struct hm_loaded_job *job);
/*
 * Returns the first cluster in the field `on`; if there is none, the cluster of the job; otherwise
 * NULL.
 */
const struct hm_cluster *hm__loaded_cluster(const struct hm_loaded_job *job);
/*
 * Check that the fields `on`, `fabric` and `set` are given only together with a job and, if
 * one_machine is true, that `on` has at most one machine.
 */
int hm__check_job_fields(const struct hm_job_fields *fields, bool one_machine, struct hm_err *err);

/* ---- tables ------------------------------------------------------------------------------------
 */

/*
 * Whether a name is the address of a store: it begins with postgresql:// or ends in .db or .sqlite.
 */
bool hm__is_store(const char *name);

/*
 * Load the runs that meet all conditions, from a document, or from the store if there is no
 * document.
 */
int hm__load_runs(struct hm_call *call, const struct hm_document *document,
                  const struct hm_texts *where, struct hm_runs **ret_runs, struct hm_err *err);

/* The fields that describe traces; part of the structs of converge and advise. */
struct hm_trace_fields {
    struct hm_documents traces;
    const char *record;
    struct hm_texts where, algorithms, terms;
    double best; /* Least loss P* that can be reached; NaN if it is not given. */
    const char *measure;
    bool epochs;
    double rows; /* Number of rows of the training data for which the loss is predicted; NaN if not
                    given. */
    double level, seed;
};

/* Traces and their fit. Zero-initialise; release with hm__loaded_traces_release. */
struct hm_loaded_traces {
    struct hm_traces *traces;           /* The traces; NULL if a stored fit was given. */
    struct hm_convergence *convergence; /* The fit; set by hm__load_convergence. */
    struct hm_converge_settings settings;
    const char *fit; /* Name of the stored fit; NULL if traces were fitted. */
};

/* Load a stored fit if it is the only document; otherwise load traces and fit them. */
int hm__load_convergence(struct hm_call *call, const struct hm_trace_fields *fields,
                         struct hm_loaded_traces *ret_loaded, struct hm_err *err);
/* Load a stored fit from one document. */
int hm__load_fit(struct hm_call *call, const struct hm_document *document,
                 struct hm_convergence **ret_convergence, struct hm_err *err);
/* Load traces from one document. */
int hm__load_trace_table(struct hm_call *call, const struct hm_document *document,
                         const struct hm_traces_settings *settings, struct hm_traces **ret_traces,
                         struct hm_err *err);
void hm__loaded_traces_release(struct hm_loaded_traces *loaded);

/* ---- the store ---------------------------------------------------------------------------------
 */

/*
 * Open the store that `record` names (NULL: the default store), and close it. When it is closed,
 * `rc` is the result of the work on the store. If the caller has no access to files, error messages
 * do not show the address of the store.
 */
int hm__call_store_open(struct hm_call *call, const char *record, struct hm_store **ret_store,
                        struct hm_err *err);
void hm__call_store_close(struct hm_call *call, struct hm_store *store, int rc, struct hm_err *err);

/* A receiver of batches of runs that adds them through the context, which may use one writer thread
 * for many requests. */
struct hm_call_sink {
    const struct hm_store_access *access;
    const char *record;
    struct hm_run_sink sink; /* Pass its address to the functions of table_add.h. */
};

/*
 * Open the receiver of runs for the store that `record` names, and close it. A caller with access
 * to files has the store for itself, so that a large table may be added in one transaction. When
 * the receiver is closed, `rc` is the result of adding.
 */
int hm__call_sink_open(struct hm_call *call, struct hm_call_sink *sink, const char *record,
                       struct hm_err *err);
void hm__call_sink_close(struct hm_call *call, struct hm_call_sink *sink, int rc,
                         struct hm_err *err);

#endif
