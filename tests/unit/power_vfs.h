/*
 * A file system in memory for SQLite that simulates power cuts. Writes, truncations and deletions
 * are durable only after a sync of their file. At a cut, the operation in progress and all later
 * ones fail; power_restart then makes each file from its durable contents and an arbitrary
 * selection of the operations after its last sync: some are dropped, some are torn, and their order
 * is changed.
 */
#ifndef HM_POWER_VFS_H
#define HM_POWER_VFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers the file system as SQLite's default. Returns 0, or an error code of SQLite. */
int power_register(uint64_t seed);
/* Removes all files. */
void power_clear(void);
/*
 * Cuts the power at this operation that changes or syncs a file (1: the next such operation); 0:
 * never.
 */
void power_cut_at(size_t operation);
/* Returns whether the power is off. */
bool power_is_off(void);
/* Switches the power on again, with files as they would be after the cut. */
void power_restart(void);
/* Continues as if only the program had been killed: the files are as it left them, and what was not
 * synced can still be lost by a later cut. */
void power_revive(void);
/* Returns a random number below `limit`. */
size_t power_draw(size_t limit);
/* If `lying` is true, syncs do nothing, as with a disk that confirms writes which are still in its
 * cache. */
void power_set_lying(bool lying);

#endif
