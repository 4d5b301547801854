/* Reads jobs that train transformers. docs/reference/large.md describes the keys. */
#ifndef HM_READ_LARGE_JOB_H
#define HM_READ_LARGE_JOB_H

#include "large_job.h"
#include "readers.h"

/*
 * If `network` of a job is the name of a file that ends in .json, replaces it with the contents of
 * the file, which are the keys of a Hugging Face config.json. A relative name is resolved from the
 * folder of the job file or, in an override, from the working directory.
 */
int hm__read_network_file(struct hm_reader *reader, struct hm_value *root);
/* Returns whether a job trains a transformer, based on the keys of its network or on its entry in
 * the catalog. */
bool hm__is_large_job(struct hm_reader *reader, const struct hm_value *root);
/* Reads a job that trains a transformer, without its cluster. job->large is in the arena. */
int hm__read_large_job(struct hm_reader *reader, const struct hm_value *root, struct hm_job *job);
/* Units in which an amount may be given. */
enum hm_amount_unit { HM_AMOUNT_PLAIN, HM_AMOUNT_TOKENS, HM_AMOUNT_SEQUENCES };
/*
 * Reads a number such as "4M tokens", "512 sequences", "15T" or "8192". `example` is a correct
 * value, which the hint of an error shows.
 */
int hm__read_amount(struct hm_reader *reader, const struct hm_value *value, const char *example,
                    double *ret_amount, enum hm_amount_unit *ret_unit);
/* Reads a transformer from its keys, or from the keys of a Hugging Face config.json. */
int hm__read_transformer(struct hm_reader *reader, const struct hm_value *map,
                         struct hm_transformer *network);

#endif
