/* Creates temporary folders, which are removed even if this process is killed. */
#ifndef HM_TEMPORARY_H
#define HM_TEMPORARY_H

#include "guard.h"

enum { LAUNCH_FOLDER = LAUNCH_GUARD_NAME };

/* Returns the folder for temporary files: TMPDIR if it is an absolute path, otherwise /tmp. */
const char *launch_temporary_parent(void);
/* Creates a folder with a unique name in `parent`. Returns 0, or -1 with an empty `folder`. */
int launch_folder_make(const char *parent, char folder[LAUNCH_FOLDER]);
/*
 * Removes a folder with everything in it, and sets `folder` to an empty string. Does nothing if
 * `folder` is empty.
 */
void launch_folder_remove(char folder[LAUNCH_FOLDER]);

#endif
