/* The readers of the parts of a specification; each fills a struct of the public header. */
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
/* The whole contents of a file, up to the limit for specifications; freed with hm_text_free. */
int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);

/* Limits of a graph that a closed specification makes: vertices and edges, and trials of splits. */
enum { HM_CLOSED_GRAPH = 100000, HM_CLOSED_TRIALS = 100 };

/* A stored fit of convergence from its tree, which may be freed afterwards. */
int hm__convergence_read(const struct hm_value *root, struct hm_convergence **ret_convergence,
                         struct hm_err *err);

/* The keys of a job, of a cluster, and of its stragglers, for whoever describes them. */
const struct hm_field *hm__job_fields(size_t *ret_count);
const struct hm_field *hm__cluster_fields(size_t *ret_count);
const struct hm_field *hm__straggler_fields(size_t *ret_count);

/* `cluster:`: the name of a machine, or a map that may start from one. */
int hm__read_cluster(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_cluster *cluster);
/* A machine of a catalog file: the same keys. */
int hm__read_machine(struct hm_reader *reader, const struct hm_value *value, const char *name,
                     struct hm_cluster *cluster);
/* {bandwidth, latency}. */
int hm__read_link(struct hm_reader *reader, const struct hm_value *value, struct hm_link *link);
/* `stragglers:` of a cluster: how uneven and unsteady workers are. */
int hm__read_stragglers(struct hm_reader *reader, const struct hm_value *value,
                        struct hm_slowness *slowness);
/* `network:`: a name, sizes joined by dashes, or a map with layers or totals. */
int hm__read_network(struct hm_reader *reader, const struct hm_value *value,
                     struct hm_network *network);
/* `graph:`: a file or a recipe, and how to split it; fills graph, split, trials, seed, states. */
int hm__read_graph(struct hm_reader *reader, const struct hm_value *value, struct hm_job *job);
/* The catalog to look names up in: the reader's, or the built-in one. */
int hm__reader_catalog(struct hm_reader *reader, const struct hm_catalog **ret_catalog);
void hm__reader_release(struct hm_reader *reader);

/* The tree of a catalog entry, or NULL; for the readers above. */
const struct hm_value *hm__catalog_find(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                                        const char *name);
/* Fail with "no such machine", with a suggestion. */
int hm__catalog_unknown(const struct hm_catalog *catalog, enum hm_catalog_kind kind,
                        const char *name, struct hm_err *err);

#endif
