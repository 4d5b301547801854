/*
 * Declares the readers of the sections of a specification; each fills a struct of the public
 * header.
 */
#ifndef HM_READERS_H
#define HM_READERS_H

#include "howmany_advise.h"
#include "schema.h"

/* Note about a cluster whose description has the key `network`, the old name of `fabric`. */
#define HM_OLD_FABRIC                                                                              \
    "the key network of a cluster is called fabric now; the old name is still read"

/* A specification, as text or as a tree that has already been parsed. */
struct hm_spec {
    const char *text; /* Text of the specification, borrowed; it need not be terminated by NUL. */
    size_t length;
    const char *source; /* Name of the specification in messages; if it ends in .json, the text is
                           JSON. */
    /* Parsed tree to use instead of `text`, or NULL; it must outlive the result. */
    struct hm_value *tree;
    const struct hm_override *overrides;
    size_t override_count;
    bool is_cluster; /* True if the specification is a cluster instead of a job with a cluster. */
    /* True if the specification is not trusted: it may not name files or ask for large graphs. */
    bool closed;
    bool timed; /* True if runs provide the times, so that a job need not describe computation. */
};

/* Reads a job or a cluster. A cluster may also be a string that names a machine in the catalog. */
int hm__job_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                 struct hm_job **ret_job, struct hm_err *err);
int hm__cluster_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                     struct hm_cluster **ret_cluster, struct hm_err *err);

/*
 * Parses a specification into a tree and applies the overrides; *ret_root is in the arena. The old
 * key `network` of a cluster becomes `fabric`; *ret_old is true if that happened.
 */
int hm__read_tree(struct hm_arena *arena, const struct hm_spec *spec, struct hm_value **ret_root,
                  bool *ret_old, struct hm_err *err);
/* Reads a whole file, "-" for standard input, of at most HM_VALUE_BYTES; the caller frees *ret_text
 * with hm_text_free. */
int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);

/* Limits for the graphs of an untrusted specification: the numbers of vertices and edges, and the
 * number of trials of a split. */
enum { HM_CLOSED_GRAPH = 100000, HM_CLOSED_TRIALS = 100 };

/* Reads a stored convergence model from its tree, which may be freed afterwards. */
int hm__convergence_read(const struct hm_value *root, struct hm_convergence **ret_convergence,
                         struct hm_err *err);

/* Returns the keys of a job, of a cluster, and of its stragglers, for schemas and documentation. */
const struct hm_field *hm__job_fields(size_t *ret_count);
const struct hm_field *hm__cluster_fields(size_t *ret_count);
const struct hm_field *hm__straggler_fields(size_t *ret_count);

/* Reads `cluster`: the name of a machine, or a map that may start from a machine. */
int hm__read_cluster(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_cluster *cluster);
/* Reads a mixed cluster: a list of kinds of machines, or a map with the key `kinds`. */
int hm__read_kinds(struct hm_reader *reader, const struct hm_value *value,
                   struct hm_cluster *cluster);
/* Reads a machine from a catalog file, with the keys of a cluster except `machine`. */
int hm__read_machine(struct hm_reader *reader, const struct hm_value *value, const char *name,
                     struct hm_cluster *cluster);
/* Reads `dataflow`: partitions and tasks of a platform with a driver. */
int hm__read_dataflow(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* Reads `epochs`: a number, or a map of batches to the epochs that they need. */
int hm__read_epochs(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* Reads a link: a map {bandwidth, latency}. */
int hm__read_link(struct hm_reader *reader, const struct hm_value *value, struct hm_link *link);
/* Reads `stragglers` of a cluster: how the speeds of workers differ and vary. */
int hm__read_stragglers(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_slowness *slowness);
/* Reads `measured` of a machine: rates and times that were measured on it. */
int hm__read_calibration(struct hm_reader *reader, const struct hm_value *value,
                         struct hm_calibration *calibration);
/* Checks that a network given by name is in the catalog; the value may be NULL. */
int hm__check_network_name(struct hm_reader *reader, const struct hm_value *value);
/* Reads `network`: a name, sizes joined by dashes, or a map with layers or totals. */
int hm__read_network(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_network *network);
/*
 * Reads `precision` and `weights`, which are names of number formats. `weights` is read last,
 * because it overrides the bits of a parameter that `precision` sets.
 */
int hm__read_precision(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
int hm__read_weights(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* Reads `graph`: a file or a recipe, and how to split it. Fills graph, split, trials, seed and
 * states of the job. */
int hm__read_graph(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* Returns the reader's catalog, or the built-in catalog, which is loaded by the first call. */
int hm__reader_catalog(struct hm_reader *reader, const struct hm_catalog **ret_catalog);
/* Frees the built-in catalog, if it was loaded. */
void hm__reader_release(struct hm_reader *reader);

/* Returns whether a machine in the catalog may have several accelerators of a kind. Returns false
 * if the machine has at most one accelerator, or names another kind. The entry of the machine is
 * not parsed for this. */
bool hm__catalog_may_hold_several(const struct hm_catalog *catalog, size_t machine,
                                  const char *accelerator);
/* Returns the tree of a catalog entry, or NULL if there is no such entry. */
const struct hm_value *hm__catalog_find(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                        const char *name);
/* Returns whether the catalog has a name of this kind that is similar to `name` or contains it. */
bool hm__catalog_has_similar(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                             const char *name);
/* Reports that the catalog has no such entry, and suggests a similar name. */
int hm__catalog_unknown(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                        const char *name, struct hm_err *err);
/* Reports the same for a machine, whose name may also be that of an accelerator. */
int hm__catalog_unknown_machine(const struct hm_catalog *catalog, const char *name,
                                struct hm_err *err);

#endif
