/* Defines macros for rows of field tables that the verbs converge and advise share. */
#ifndef HM_REQUEST_TRACES_H
#define HM_REQUEST_TRACES_H

#include "verbs.h"

#define HM_ROWS_TRACES(type, m)                                                                    \
    {.name = "traces",                                                                             \
     .kind = HM_REQUEST_DOCUMENTS,                                                                 \
     .offset = offsetof(type, m.traces),                                                           \
     .flags = HM_REQUEST_ROWS,                                                                     \
     .group = "traces",                                                                            \
     .argument = "TRACES",                                                                         \
     .choices = "@file",                                                                           \
     .help = "traces of training runs, or a saved fit (.json)"},                                   \
        HM_ROW_RECORD(type, m.record, 'r'),                                                        \
        HM_ROW_WHERE(type, m.where, "with a store: only runs that have this value"),               \
        {.name = "algorithms",                                                                     \
         .kind = HM_REQUEST_TEXTS,                                                                 \
         .offset = offsetof(type, m.algorithms),                                                   \
         .letter = 'a',                                                                            \
         .group = "traces",                                                                        \
         .argument = "LIST",                                                                       \
         .help = "only these algorithms"},                                                         \
        {.name = "best",                                                                           \
         .kind = HM_REQUEST_NUMBER,                                                                \
         .offset = offsetof(type, m.best),                                                         \
         .least = -INFINITY,                                                                       \
         .group = "traces",                                                                        \
         .argument = "P",                                                                          \
         .help = "the lowest possible loss (default: as given in the traces, else estimated)"},    \
        {.name = "measure",                                                                        \
         .kind = HM_REQUEST_TEXT,                                                                  \
         .offset = offsetof(type, m.measure),                                                      \
         .group = "traces",                                                                        \
         .argument = "COLUMN",                                                                     \
         .choices = "objective loss test_error accuracy",                                          \
         .help = "the column with the loss: objective (default), loss, test_error, accuracy"},     \
        HM_ROW_FLAG(type, m.epochs, "epochs", 0, "traces",                                         \
                    "count epochs instead of iterations, for asynchronous runs"),                  \
        HM_ROW_WHOLE(type, m.rows, "rows", 0, 1, 1e15, "traces", "R",                              \
                     "number of training rows to predict for, from traces on samples of the rows " \
                     "(default: the largest number in a trace)"),                                  \
        HM_ROW_TERMS(type, m.terms, 't',                                                           \
                     "formulas over i and m to choose from, such as i/m,ln(i),ln(m) (default: "    \
                     "built-in terms, and forms known from theory)"),                              \
        HM_ROW_LEVEL(type, m.level, 'l'), HM_ROW_SEED(type, m.seed, "0")

#endif
