/* Creates the parent folders of a file. */
#include "folders.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "err.h"

int cli_folders_make(char *path, struct hm_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        int rc = mkdir(path, 0777);
        int why = errno;
        *slash = '/';
        if (rc != 0 && why != EEXIST)
            return hm__fail(err, HM_E_IO, "the folder of %s cannot be created: %s", path,
                            strerror(why));
    }
    return 0;
}
