/* Loads the built-in catalog and the files in the user's own catalog folder. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"
#include "readers.h"

bool cli_catalog_folder(char *path, size_t room)
{
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    int length = -1;

    if (data && data[0] == '/')
        length = snprintf(path, room, "%s/howmany/catalog", data);
    else if (home && home[0] == '/')
        length = snprintf(path, room, "%s/.local/share/howmany/catalog", home);
    return length > 0 && (size_t)length < room;
}

bool cli_has_own_catalog(void)
{
    char folder[512];
    struct stat info;

    return cli_catalog_folder(folder, sizeof(folder)) && stat(folder, &info) == 0;
}

static int is_catalog(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 5 &&
           strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

static int add_file(struct hm_catalog *catalog, const char *folder, const char *name)
{
    char path[1024];
    struct hm_err err = {0};
    char *text = NULL;
    size_t length;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int rc = hm__read_file(path, &text, &length, &err);
    if (rc == 0)
        rc = hm_catalog_add(catalog, text, length, path, &err);
    hm_text_free(text);
    return rc ? cli_report(&err) : 0;
}

struct hm_catalog *cli_catalog_load(void)
{
    struct hm_catalog *catalog;
    struct hm_err err = {0};
    struct dirent **names = NULL;
    char folder[512];
    int rc = 0;

    if (hm_catalog_new(&catalog, &err)) {
        cli_report(&err);
        return NULL;
    }
    if (!cli_catalog_folder(folder, sizeof(folder)))
        return catalog;
    int count = scandir(folder, &names, is_catalog, alphasort);
    for (int i = 0; i < count; i++) {
        if (rc == 0)
            rc = add_file(catalog, folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    if (rc) {
        hm_catalog_free(catalog);
        return NULL;
    }
    return catalog;
}
