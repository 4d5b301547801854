/* All verbs, in the order in which the help shows them. */
#include "verbs.h"

const struct hm_verb *const hm__verbs[] = {&hm__verb_plan,
                                           &hm__verb_fit,
                                           &hm__verb_design,
                                           &hm__verb_converge,
                                           &hm__verb_advise,
                                           &hm__verb_runs_list,
                                           &hm__verb_runs_show,
                                           &hm__verb_runs_add,
                                           &hm__verb_runs_import,
                                           &hm__verb_runs_export,
                                           &hm__verb_runs_delete,
                                           &hm__verb_documents_put,
                                           &hm__verb_documents_get,
                                           &hm__verb_documents_list,
                                           &hm__verb_recommend,
                                           &hm__verb_graph,
                                           &hm__verb_catalog_list,
                                           &hm__verb_catalog_show,
                                           &hm__verb_catalog_import,
                                           &hm__verb_import,
                                           NULL};
