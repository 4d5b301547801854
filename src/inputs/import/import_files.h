/* Folders: the files of one log, and all files below a path. */
#ifndef HM_IMPORT_FILES_H
#define HM_IMPORT_FILES_H

#include "import.h"

/* If the path is a folder of one log in several files, set the parts of the import. A folder of
 * another kind is an error; a file has no parts. */
int hm__import_parts(struct hm_imported *im, const char *path, struct hm_err *err);

#endif
