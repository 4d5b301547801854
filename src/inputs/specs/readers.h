/* The readers of the parts of a specification; each fills a struct of the public header. */
#ifndef HM_READERS_H
#define HM_READERS_H

#include "schema.h"

/* Parse a file into a tree, apply the overrides; *ret_root lives in the arena. */
int hm__read_tree(struct hm_arena *arena, const char *text, size_t length, const char *source,
                  const struct hm_override *overrides, size_t count, struct hm_value **ret_root,
                  struct hm_err *err);
/* The whole contents of a file, up to the limit for specifications; freed with hm_text_free. */
int hm__read_file(const char *path, char **ret_text, size_t *ret_length, struct hm_err *err);

/*
 * As hm_job_parse_with, of a stranger: it cannot name files, and a graph it makes has at most
 * HM_CLOSED_GRAPH vertices and edges, split HM_CLOSED_TRIALS times.
 */
int hm__job_parse_closed(const struct hm_catalog *catalog, const char *text, size_t length,
                         const char *source, const struct hm_override *overrides, size_t count,
                         struct hm_job **ret_job, struct hm_err *err);
enum { HM_CLOSED_GRAPH = 100000, HM_CLOSED_TRIALS = 100 };

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
