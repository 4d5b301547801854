/*
 * The board is a file of fixed size to which the commands that run on this machine write their
 * progress, so that the web page of the server can show it. The server creates it when it starts
 * and keeps it open, so that a request opens no file. A command that takes a long time claims a
 * slot, writes its progress there, and holds a lock on the slot; the kernel removes the lock when
 * the command ends, even after kill -9.
 */
#ifndef HM_BOARD_H
#define HM_BOARD_H

#include <stddef.h>

#include "howmany_base.h"

enum { HM_BOARD_SLOTS = 32, HM_BOARD_POINTS = 24 };

/*
 * The progress of one command. Strings are terminated by a zero byte; longer strings are truncated.
 */
struct hm_board_task {
    char command[16];  /* Name of the command, such as "bench". */
    char title[128];   /* Description of what the command runs, for people. */
    char message[160]; /* Latest message of the command; empty if there is none. */
    /* Number of completed steps, and total number of steps, which is 0 if unknown. */
    double done, total;
    double started_s; /* Time at which the command started, in seconds since 1970. */
    double updated_s; /* Time of the latest update, in seconds since 1970. */
    /*
     * Number of used elements in `n` and `seconds`, which hold the latest measurements; at most
     * HM_BOARD_POINTS.
     */
    double point_count;
    double n[HM_BOARD_POINTS];
    double seconds[HM_BOARD_POINTS];
};

struct hm_board;

/*
 * Opens the board (the file with the progress of running commands); creates it if it does not
 * exist, is empty or has another version of the format. Any other file is left alone
 * (HM_E_CONFLICT).
 */
int hm__board_create(const char *path, struct hm_board **ret_board, struct hm_err *err);
/* Reads the progress of all commands that are still running. Returns their number. */
size_t hm__board_read(const struct hm_board *board, struct hm_board_task tasks[HM_BOARD_SLOTS]);

/*
 * Opens an existing board, and claims a slot in it for the progress of this process. Returns NULL
 * if there is no board or no free slot.
 */
struct hm_board *hm__board_join(const char *path);
/*
 * Writes the progress of a command into the claimed slot. Errors are ignored, because the command
 * can continue without the board.
 */
void hm__board_put(struct hm_board *board, const struct hm_board_task *task);
/* Closes the board and releases the slot; accepts NULL. */
void hm__board_close(struct hm_board *board);

#endif
