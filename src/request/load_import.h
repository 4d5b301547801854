/* Loads runs, traces or a job from files that other tools have written. */
#ifndef HM_LOAD_IMPORT_H
#define HM_LOAD_IMPORT_H

#include "import.h"
#include "readers.h"
#include "request.h"

/*
 * Writes which format was recognised, and which data were imported or ignored: hm__imported_text
 * for one file, hm__imported_json for all files.
 */
void hm__imported_text(struct hm_call *call, const struct hm_imported *im);
void hm__imported_json(struct hm_call *call, struct hm_imported *const *all, size_t count);

/*
 * Returns whether a document was written by another tool. The decision depends on its contents or,
 * if it has only a name, on the contents of the file.
 */
bool hm__is_foreign(struct hm_call *call, const struct hm_document *document);
/* Returns whether a document is a folder or an archive, so that the files in it are imported. */
bool hm__is_import_folder(struct hm_call *call, const struct hm_document *document);
/*
 * Loads runs, traces, a job or a cluster from files that other tools have written. The tree of a
 * job or a cluster is allocated in the arena of the call and stored in the specification. Keys that
 * are missing in the file receive default values; *ret_note lists the values that the user did not
 * override.
 */
int hm__load_foreign_runs(struct hm_call *call, const struct hm_document *document,
                          struct hm_runs **ret_runs, struct hm_err *err);
int hm__load_foreign_traces(struct hm_call *call, const struct hm_documents *documents,
                            const struct hm_traces_settings *settings,
                            struct hm_traces **ret_traces, struct hm_err *err);
int hm__load_foreign_job(struct hm_call *call, const struct hm_document *document,
                         struct hm_spec *spec, const char **ret_note, struct hm_err *err);
int hm__load_foreign_cluster(struct hm_call *call, const struct hm_document *document,
                             struct hm_spec *spec, struct hm_err *err);
/*
 * If an import has times of operations and no document, creates a cluster from these times. If the
 * rates of the machine cannot be computed from them, a note says why.
 */
int hm__import_machine(struct hm_call *call, struct hm_imported *im, struct hm_err *err);
/*
 * Adds the network that the user gave with network=NAME, and its usual values, to the document of a
 * launcher's configuration, which does not name it.
 */
int hm__import_network(struct hm_call *call, struct hm_imported *im, struct hm_err *err);
/*
 * Completes the tree of a job that was read from a launcher's configuration: adds the network that
 * the user sets, and the usual values of that network, which *ret_note lists. `title` is the name
 * of the configuration in messages.
 */
int hm__complete_launch(struct hm_call *call, const char *title, struct hm_spec *spec,
                        const char **ret_note, struct hm_err *err);
/* Returns whether the assignments of a specification set a key of the job. */
bool hm__spec_sets(const struct hm_spec *spec, const char *key);

#endif
