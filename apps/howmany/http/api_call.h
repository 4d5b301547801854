/*
 * A request as a command: the query and the keys of the body are its options, documents take the
 * place of files. The command itself does the rest, so an answer is that of the command line.
 */
#ifndef HM_API_CALL_H
#define HM_API_CALL_H

#include "cli.h"
#include "guest.h"
#include "http.h"
#include "text.h"

/* How a command is asked over HTTP. */
struct api_command {
    const struct cli_command *command;
    const char *operand; /* key of what the command line takes as its operand; NULL: nothing */
    const char
        *documents[4];      /* options that take a document; the other @file options are refused */
    const char *table;      /* key of what a body of CSV or JSON lines is; NULL: there is none */
    const char *refused[4]; /* options that make no sense here */
    bool bare;              /* a body without the key `operand` is the operand itself */
    const char *word;       /* what comes before the operand: `list` of `runs list` */
    const char *only[8];    /* options that make sense here; none: all but the refused ones */
    const char *given[2];   /* switches that are always given */
};

/* The option, or -1. */
int api_option_find(const struct cli_command *command, const char *name);
bool api_is_document(const struct api_command *how, const char *name);
bool api_is_refused(const struct api_command *how, const struct cli_option *option);

/* What bodies are made of. */
enum api_body { API_BODY_NONE, API_BODY_JSON, API_BODY_YAML, API_BODY_TABLE, API_BODY_OTHER };
enum api_body api_body_kind(const char *content_type);

/* What the server has for its guests. */
struct api_host {
    struct hm_catalog *catalog;
    const struct cli_guest_store *store; /* NULL: none */
};

/* What an answer is. */
struct api_called {
    bool csv;    /* not JSON */
    bool stored; /* it depends on the store */
};

/* Run it: the text the command prints, or an error. */
int api_call(const struct api_command *how, const struct api_host *host,
             const struct http_request *request, struct hm_text *ret_out,
             struct api_called *ret_called, struct hm_err *err);
/* A command with plain words, as `howmany catalog list --json`. */
int api_call_words(const struct cli_command *command, const struct api_host *host,
                   const char *const *words, size_t count, struct hm_text *ret_out,
                   struct hm_err *err);

#endif
