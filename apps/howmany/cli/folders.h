/* Creates the parent folders of a file. */
#ifndef HM_FOLDERS_H
#define HM_FOLDERS_H

#include "howmany_base.h"

/* Creates the parent folders of a file. `path` is modified during the call and then restored.
 * Returns 0, or HM_E_IO. */
int cli_folders_make(char *path, struct hm_err *err);

#endif
