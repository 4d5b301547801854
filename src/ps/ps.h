/*
 * Declares the parameter server of include/howmany_ps.h on any communicator, and the messages
 * between its workers and servers.
 *
 * A message is a header, often followed by a body of doubles; both are sent as non-blocking
 * messages. A worker that waits for replies accepts them in any order, and a server never waits
 * until a reply has been received, so that ranks never wait for each other in a cycle.
 */
#ifndef HM_PS_H
#define HM_PS_H

#include "comm.h"
#include "howmany_ps.h"

enum hm_ps_kind {
    /*
     * The body contains increments: a sequence of records, each with the number of a table, the
     * number of a row, and the values to add.
     */
    HM_PS_PUSH,
    /* The body contains the numbers of the requested rows. The reply is a HM_PS_ROWS message. */
    HM_PS_GET,
    HM_PS_ROWS, /* The body contains the values of the requested rows. */
    HM_PS_DONE, /* The function of the worker has returned; there is no body. */
};

struct hm_ps_header {
    double kind;
    double table; /* In GET messages: number of the table. */
    /*
     * In PUSH messages: clock to which the increments belong. In GET messages: number of clocks
     * that all workers must have finished before the server replies. In ROWS messages: number of
     * clocks that all workers had finished.
     */
    double clock;
    double count;       /* Number of doubles in the body of the message. */
    double ends;        /* In PUSH messages: 1 if this is the last message of its clock. */
    double reserved[3]; /* Unused; it makes the header 64 bytes long. */
};

/*
 * HM_PS_BODY is the largest number of doubles in the body of a message, unless a single row needs
 * more. HM_PS_RECORD is the number of doubles before the values in a record.
 */
enum { HM_PS_BODY = 1 << 20, HM_PS_RECORD = 2 };

/* The checked settings: tables, and the numbers of workers and servers. */
struct hm_ps_layout {
    /* Descriptions of the tables that the servers store; borrowed. */
    const struct hm_ps_table *tables;
    size_t table_count;
    int workers, servers;
    size_t widest; /* Largest number of columns in any table. */
};

/* Checks the settings of a run with `ranks` ranks. */
int hm__ps_check(const struct hm_ps_settings *settings, hm_ps_worker_fn *worker, int ranks,
                 struct hm_err *err);
/* Same as hm_ps_run, but on any communicator. All ranks must call it. */
int hm__ps_run(struct hm_comm *world, const struct hm_ps_settings *settings,
               hm_ps_worker_fn *worker, void *state, struct hm_err *err);

/* A parameter server, which stores some rows of every table. */
struct hm_ps_server;
int hm__ps_server_new(struct hm_comm *world, const struct hm_ps_layout *layout,
                      struct hm_ps_server **ret_server, struct hm_err *err);
/* Processes the workers' messages until all workers have returned. */
void hm__ps_server_run(struct hm_ps_server *server);
void hm__ps_server_free(struct hm_ps_server *server);

int hm__ps_client_new(struct hm_comm *world, const struct hm_ps_layout *layout,
                      struct hm_ps **ret_ps, struct hm_err *err);
/*
 * Sends the increments that have not been sent yet, if `push` is true, and notifies the servers
 * that this worker has returned.
 */
void hm__ps_client_end(struct hm_ps *ps, bool push);
void hm__ps_client_free(struct hm_ps *ps);

#endif
