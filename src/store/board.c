/*
 * Implements the board, a file in which running commands share their progress. A slot of the file
 * begins and ends with a counter, which increases with each write. A reader that finds two
 * different counters has read the slot while it was written, and reads it again. A board works only
 * for one machine, because network file systems may not support locks.
 */
#include "board.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"

enum { BOARD_HEAD = 64, BOARD_READS = 5 };

/* Name and version of the file format; the version must change if struct hm_board_task changes. */
static const char board_name[BOARD_HEAD] = "howmany board 1\n";

struct board_slot {
    uint64_t begin;
    struct hm_board_task task;
    uint64_t end;
};

struct hm_board {
    int file;
    /*
     * Index of the slot of the file that this process has claimed; the server, which only creates
     * the file, does not use it.
     */
    size_t slot;
    uint64_t counter; /* Value of the counter at the most recent write to the claimed slot. */
};

static off_t slot_offset(size_t slot)
{
    return (off_t)(BOARD_HEAD + slot * sizeof(struct board_slot));
}

static off_t board_bytes(void)
{
    return slot_offset(HM_BOARD_SLOTS);
}

static struct flock slot_range(size_t slot)
{
    return (struct flock){.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = slot_offset(slot),
                          .l_len = sizeof(struct board_slot)};
}

/*
 * Returns whether an open file is a board (list of running commands) with the current version of
 * the format.
 */
static bool is_board(int file)
{
    char head[BOARD_HEAD];
    struct stat facts;

    return fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size == board_bytes() &&
           pread(file, head, sizeof(head), 0) == BOARD_HEAD &&
           memcmp(head, board_name, BOARD_HEAD) == 0;
}

/*
 * Returns whether an open file may be made a board: it is empty, or a board with another version of
 * the format, or one whose creation was interrupted before its head was written.
 */
static bool is_free_for_board(int file)
{
    static const char none[BOARD_HEAD];
    const size_t name = strlen("howmany board ");
    char head[BOARD_HEAD] = {0};
    struct stat facts;

    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))
        return false;
    if (facts.st_size == 0)
        return true;
    if (pread(file, head, sizeof(head), 0) < (ssize_t)name)
        return false;
    return memcmp(head, board_name, name) == 0 ||
           (facts.st_size == board_bytes() && memcmp(head, none, sizeof(head)) == 0);
}

static struct hm_board *board_of(int file)
{
    struct hm_board *board = file < 0 ? NULL : calloc(1, sizeof(*board));

    if (board)
        board->file = file;
    else if (file >= 0)
        close(file);
    return board;
}

int hm__board_create(const char *path, struct hm_board **ret_board, struct hm_err *err)
{
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (file < 0)
        return hm__fail(err, HM_E_IO, "%s cannot be opened: %s", path, strerror(errno));
    if (!is_board(file) && !is_free_for_board(file)) {
        close(file);
        hm__fail(err, HM_E_CONFLICT, "%s is another file, which would be overwritten", path);
        hm__err_hint(err, "give a file that does not exist");
        return HM_E_CONFLICT;
    }
    if (!is_board(file) && (ftruncate(file, 0) != 0 || ftruncate(file, board_bytes()) != 0 ||
                            pwrite(file, board_name, BOARD_HEAD, 0) != BOARD_HEAD)) {
        hm__fail(err, HM_E_IO, "%s cannot be written: %s", path, strerror(errno));
        close(file);
        return HM_E_IO;
    }
    struct hm_board *board = board_of(file);
    if (!board)
        return hm__fail_nomem(err);
    *ret_board = board;
    return 0;
}

/* Returns whether another process has claimed a slot of the board. */
static bool slot_is_claimed(const struct hm_board *board, size_t slot)
{
    struct flock range = slot_range(slot);

    return fcntl(board->file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/*
 * Terminates the strings of a task and replaces impossible numbers, because the file may be
 * damaged.
 */
static void task_repair(struct hm_board_task *t)
{
    t->command[sizeof(t->command) - 1] = '\0';
    t->title[sizeof(t->title) - 1] = '\0';
    t->message[sizeof(t->message) - 1] = '\0';
    t->total = t->total > 0 && isfinite(t->total) ? t->total : 0;
    t->done = t->done > 0 && isfinite(t->done) ? t->done : 0;
    t->point_count = t->point_count > 0 ? fmin(floor(t->point_count), HM_BOARD_POINTS) : 0;
}

static bool slot_read(const struct hm_board *board, size_t slot, struct hm_board_task *ret_task)
{
    struct board_slot found;

    for (int i = 0; i < BOARD_READS; i++)
        if (pread(board->file, &found, sizeof(found), slot_offset(slot)) ==
                (ssize_t)sizeof(found) &&
            found.begin == found.end && found.begin > 0) {
            task_repair(&found.task);
            *ret_task = found.task;
            return true;
        }
    return false;
}

size_t hm__board_read(const struct hm_board *board, struct hm_board_task tasks[HM_BOARD_SLOTS])
{
    size_t count = 0;

    for (size_t i = 0; i < HM_BOARD_SLOTS; i++)
        if (slot_is_claimed(board, i) && slot_read(board, i, &tasks[count]))
            count++;
    return count;
}

struct hm_board *hm__board_join(const char *path)
{
    int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    const struct board_slot empty = {.begin = 0};
    struct hm_board *board = file >= 0 && is_board(file) ? board_of(file) : NULL;

    if (!board && file >= 0)
        close(file);
    for (size_t i = 0; board && i < HM_BOARD_SLOTS; i++) {
        struct flock range = slot_range(i);
        if (fcntl(board->file, F_OFD_SETLK, &range) != 0)
            continue;
        board->slot = i;
        /*
         * Remove the progress of an earlier command from this slot, so that no reader mistakes it
         * for the progress of this command.
         */
        if (pwrite(board->file, &empty, sizeof(empty), slot_offset(i)) == (ssize_t)sizeof(empty))
            return board;
        break;
    }
    hm__board_close(board);
    return NULL;
}

void hm__board_put(struct hm_board *board, const struct hm_board_task *task)
{
    struct board_slot slot = {.task = *task};

    slot.begin = slot.end = ++board->counter;
    /* The write failed, so the web page will show the earlier state; the command continues. */
    if (pwrite(board->file, &slot, sizeof(slot), slot_offset(board->slot)) < 0)
        return;
}

void hm__board_close(struct hm_board *board)
{
    if (!board)
        return;
    close(board->file);
    free(board);
}
