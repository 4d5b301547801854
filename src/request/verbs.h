/* Declares the verbs, and macros for rows of field tables that several verbs share. */
#ifndef HM_VERBS_H
#define HM_VERBS_H

#include <stddef.h>

#include "load.h"

extern const struct hm_verb hm__verb_plan, hm__verb_fit, hm__verb_design, hm__verb_recommend,
    hm__verb_converge, hm__verb_advise, hm__verb_graph, hm__verb_catalog_list,
    hm__verb_catalog_show, hm__verb_catalog_import, hm__verb_runs_list, hm__verb_runs_show,
    hm__verb_runs_add, hm__verb_runs_import, hm__verb_runs_export, hm__verb_runs_delete,
    hm__verb_runs_check, hm__verb_runs_recover, hm__verb_documents_put, hm__verb_documents_get,
    hm__verb_documents_list, hm__verb_import;

/* Largest seed, 2^53 - 1. A double represents every whole number up to this value exactly. */
static const double HM_SEED_MAX = 9007199254740991;

#define HM_VERB_FIELDS(table) .fields = table, .field_count = sizeof(table) / sizeof(table[0])

/* ---- rows of tables -------------------------------------------------------------------------- */

/*
 * The arguments of each of the following macros are the type of the struct, its member and, if it
 * differs between verbs, the help text of the field.
 */

#define HM_ROW_FLAG(type, member, NAME, LETTER, GROUP, HELP)                                       \
    {                                                                                              \
        .name = NAME, .kind = HM_REQUEST_FLAG, .offset = offsetof(type, member), .letter = LETTER, \
        .group = GROUP, .help = HELP                                                               \
    }
#define HM_ROW_TEXT(type, member, NAME, LETTER, GROUP, ARGUMENT, HELP)                             \
    {                                                                                              \
        .name = NAME, .kind = HM_REQUEST_TEXT, .offset = offsetof(type, member), .letter = LETTER, \
        .group = GROUP, .argument = ARGUMENT, .help = HELP                                         \
    }
#define HM_ROW_DOCUMENT(type, member, NAME, GROUP, ARGUMENT, HELP)                                 \
    {                                                                                              \
        .name = NAME, .kind = HM_REQUEST_DOCUMENT, .offset = offsetof(type, member),               \
        .group = GROUP, .argument = ARGUMENT, .choices = "@file", .help = HELP                     \
    }
/* Defines a field whose value is a number above 0. */
#define HM_ROW_POSITIVE(type, member, NAME, LETTER, DIM, GROUP, ARGUMENT, HELP)                    \
    {                                                                                              \
        .name = NAME, .kind = HM_REQUEST_NUMBER, .offset = offsetof(type, member),                 \
        .letter = LETTER, .dim = DIM, .flags = HM_REQUEST_ABOVE, .group = GROUP,                   \
        .argument = ARGUMENT, .help = HELP                                                         \
    }
#define HM_ROW_WHOLE(type, member, NAME, LETTER, LEAST, MOST, GROUP, ARGUMENT, HELP)               \
    {                                                                                              \
        .name = NAME, .kind = HM_REQUEST_WHOLE, .offset = offsetof(type, member),                  \
        .letter = LETTER, .least = LEAST, .most = MOST, .group = GROUP, .argument = ARGUMENT,      \
        .help = HELP                                                                               \
    }

#define HM_ROW_ON(type, fields, HELP)                                                              \
    {                                                                                              \
        .name = "on", .kind = HM_REQUEST_MACHINES, .offset = offsetof(type, fields.on),            \
        .group = "job", .argument = "MACHINE[,…]", .choices = "@machine", .help = HELP             \
    }
#define HM_ROW_FABRIC(type, fields)                                                                \
    {                                                                                              \
        .name = "fabric", .old = "network", .kind = HM_REQUEST_TEXT,                               \
        .offset = offsetof(type, fields.fabric), .group = "job", .argument = "NAME",               \
        .choices = "@fabric", .help = "fabric between the machines, from the catalog"              \
    }
#define HM_ROW_SET(type, fields)                                                                   \
    {                                                                                              \
        .name = "set", .kind = HM_REQUEST_PAIRS, .offset = offsetof(type, fields.set),             \
        .group = "job", .argument = "KEY=VALUE",                                                   \
        .help = "change a key of the job, such as batch=256 or cluster.price='$1/h'"               \
    }
#define HM_ROW_WHERE(type, member, HELP)                                                           \
    {                                                                                              \
        .name = "where", .kind = HM_REQUEST_PAIRS, .offset = offsetof(type, member),               \
        .letter = 'w', .group = "runs", .argument = "COLUMN=VALUE", .help = HELP                   \
    }
#define HM_ROW_TERMS(type, member, LETTER, HELP)                                                   \
    {                                                                                              \
        .name = "terms", .kind = HM_REQUEST_TERMS, .offset = offsetof(type, member),               \
        .letter = LETTER, .group = "fit", .argument = "LIST", .choices = "auto", .help = HELP      \
    }
#define HM_ROW_LEVEL(type, member, LETTER)                                                         \
    {                                                                                              \
        .name = "level", .kind = HM_REQUEST_NUMBER, .offset = offsetof(type, member),              \
        .letter = LETTER, .flags = HM_REQUEST_ABOVE | HM_REQUEST_BELOW, .most = 1, .group = "fit", \
        .argument = "P", .help = "probability of the intervals (default 90%)"                      \
    }
#define HM_ROW_CERTAINTY(type, member)                                                             \
    {                                                                                              \
        .name = "certainty", .kind = HM_REQUEST_NUMBER, .offset = offsetof(type, member),          \
        .least = 0.001, .most = 0.99, .group = "question", .argument = "P",                        \
        .help = "probability with which limits of time and money must be met, such as 80% "        \
                "(default 90%)"                                                                    \
    }
#define HM_ROW_SLACK(type, member)                                                                 \
    {                                                                                              \
        .name = "slack", .kind = HM_REQUEST_NUMBER, .offset = offsetof(type, member),              \
        .group = "question", .argument = "SHARE",                                                  \
        .help = "recommend the fewest workers within this share of the best, such as 10% "         \
                "(default 5%)"                                                                     \
    }
#define HM_ROW_SEED(type, member, FALLBACK)                                                        \
    {                                                                                              \
        .name = "seed", .kind = HM_REQUEST_WHOLE, .offset = offsetof(type, member),                \
        .most = HM_SEED_MAX, .fallback = FALLBACK, .group = "fit", .argument = "N",                \
        .help = "seed of random numbers (default " FALLBACK ")"                                    \
    }
#define HM_ROW_GOAL(type, member)                                                                  \
    {                                                                                              \
        .name = "goal", .kind = HM_REQUEST_CHOICE, .offset = offsetof(type, member),               \
        .letter = 'g', .group = "question", .argument = "GOAL", .choices = "time cost balance",    \
        .help = "what to minimise: time, cost, or balance (alpha * seconds + beta * money)"        \
    }
#define HM_ROW_ALPHA(type, member)                                                                 \
    HM_ROW_POSITIVE(type, member, "alpha", 0, HM_DIM_NONE, "question", "A",                        \
                    "weight of a second in the balance")
#define HM_ROW_BETA(type, member)                                                                  \
    HM_ROW_POSITIVE(type, member, "beta", 0, HM_DIM_NONE, "question", "B",                         \
                    "weight of a dollar in the balance")
#define HM_ROW_PLOT(type, member, HELP)                                                            \
    {                                                                                              \
        .name = "plot", .kind = HM_REQUEST_OUTPUT, .offset = offsetof(type, member),               \
        .group = "output", .argument = "FILE", .choices = "@file", .help = HELP                    \
    }
#define HM_ROW_JSON(type, member)                                                                  \
    HM_ROW_FLAG(type, member, "json", 'j', "output", "the whole answer as JSON")
#define HM_ROW_CSV(type, member, HELP) HM_ROW_FLAG(type, member, "csv", 0, "output", HELP)
#define HM_ROW_RECORD(type, member, LETTER)                                                        \
    {                                                                                              \
        .name = "record", .kind = HM_REQUEST_TEXT, .offset = offsetof(type, member),               \
        .letter = LETTER, .flags = HM_REQUEST_LOCAL, .group = "store", .argument = "STORE",        \
        .choices = "@file",                                                                        \
        .help = "a file (.db) or postgresql://… (default: HOWMANY_DB, else your own)"            \
    }

#endif
