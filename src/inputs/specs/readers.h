/* Readers of the parts of a specification; each fills a struct of the public header. */
#ifndef HM_READERS_H
#define HM_READERS_H

#include "howmany_advise.h"
#include "schema.h"

/* A specification and where it comes from: text, or a tree that was read already. */
struct hm_spec {
    const char *text; /* Borrowed; need not end in NUL. */
    size_t length;
    const char *source;    /* Name for messages; one that ends in .json makes the text JSON. */
    struct hm_value *tree; /* Used in place of text; must outlive what is read from it. */
    const struct hm_override *overrides;
    size_t override_count;
    bool closed; /* The specification cannot name files, and its graphs are limited in size. */
    bool timed;  /* Runs give the times, so a job may say nothing about computing. */
};

/* Read a job or a cluster. A cluster whose tree is a text is the machine of that name. */
int hm__job_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                 struct hm_job **ret_job, struct hm_err *err);
int hm__cluster_read(const struct hm_catalog *catalog, const struct hm_spec *spec,
                     struct hm_cluster **ret_cluster, struct hm_err *err);

/* Parse a specification into a tree and apply the overrides; *ret_root lives in the arena. */
int hm__read_tree(struct hm_arena *arena, const struct hm_spec *spec, struct hm_value **ret_root,
                  struct hm_err *err);
/* Reads a whole file of at most HM_VALUE_BYTES; *ret_text is freed with hm_text_free. */
int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);

/* Limits of a graph that a closed specification makes: vertices and edges, and trials of splits. */
enum { HM_CLOSED_GRAPH = 100000, HM_CLOSED_TRIALS = 100 };

/* A stored fit of convergence from its tree, which may be freed afterwards. */
int hm__convergence_read(const struct hm_value *root, struct hm_convergence **ret_convergence,
                         struct hm_err *err);

/* The keys of a job, of a cluster, and of its stragglers, for schemas and documentation. */
const struct hm_field *hm__job_fields(size_t *ret_count);
const struct hm_field *hm__cluster_fields(size_t *ret_count);
const struct hm_field *hm__straggler_fields(size_t *ret_count);

/* Reads `cluster`: the name of a machine, or a map that may start from a machine. */
int hm__read_cluster(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_cluster *cluster);
/* Reads a machine of a catalog file, which has the same keys. */
int hm__read_machine(struct hm_reader *reader, const struct hm_value *value, const char *name,
                     struct hm_cluster *cluster);
/* Reads {bandwidth, latency}. */
int hm__read_link(struct hm_reader *reader, const struct hm_value *value, struct hm_link *link);
/* Reads `stragglers` of a cluster: how the speeds of workers differ and vary. */
int hm__read_stragglers(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_slowness *slowness);
/* Reads `network`: a name, sizes joined by dashes, or a map with layers or totals. */
int hm__read_network(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_network *network);
/* Reads `graph`: a file or a recipe, and how to split it. Fills graph, split, trials, seed and
 * states of the job. */
int hm__read_graph(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* Returns the catalog of the reader, or the built-in one, which is loaded at the first call. */
int hm__reader_catalog(struct hm_reader *reader, const struct hm_catalog **ret_catalog);
/* Frees the built-in catalog, if it was loaded. */
void hm__reader_release(struct hm_reader *reader);

/* Returns the tree of a catalog entry, or NULL. */
const struct hm_value *hm__catalog_find(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                        const char *name);
/* Reports that the catalog has no such entry, and suggests a similar name. */
int hm__catalog_unknown(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                        const char *name, struct hm_err *err);

#endif
