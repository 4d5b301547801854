/*
 * Adds a running command to the list of running commands (board.h), which the page of the server
 * shows.
 */
#ifndef HM_LISTING_H
#define HM_LISTING_H

#include <limits.h>

#include "board.h"

/*
 * Writes the path of the user's list of running commands (board) into path[PATH_MAX]: the value of
 * HOWMANY_PROGRESS, or the file `progress` in the folder of the store. Returns false if there is no
 * such path, or if the value is "none".
 */
bool cli_board_find(char path[PATH_MAX]);

struct cli_listing;

/*
 * Adds a command to the list. `title` says what it runs. Returns NULL if memory runs out; all
 * functions below accept NULL. If a server creates the list later, the command is added at that
 * time.
 */
struct cli_listing *cli_listing_new(const char *command, const char *title);
void cli_listing_free(struct cli_listing *listing);
/*
 * Sets how much of the work is done. The list is written at most five times per second, unless
 * `at_once` is true.
 */
void cli_listing_put(struct cli_listing *listing, double done, double total, bool at_once);
/* Sets the latest message of the command in the list. */
void cli_listing_say(struct cli_listing *listing, const char *message);
/* Adds a measured time, `seconds` on n workers, to the command's entry in the list. */
void cli_listing_point(struct cli_listing *listing, double n, double seconds);

#endif
