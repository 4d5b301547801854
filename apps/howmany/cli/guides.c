/*
 * Finds guides and examples. Messages and the help refer to them by names such as
 * "docs/reference/formats.md" and "examples/fig1.yaml". Outside the source folder, the paths of the
 * installed files are shown instead.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/*
 * Writes the folder of the installed guides and examples into folder[PATH_MAX]. Returns false if
 * there is none next to this program.
 */
static bool guides_folder(char folder[PATH_MAX])
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (length <= 0)
        return false;
    program[length] = '\0';
    for (int i = 0; i < 2; i++) { /* Remove "/bin/howmany" from the path of the program. */
        char *slash = strrchr(program, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    int used = snprintf(folder, PATH_MAX, "%s/share/doc/howmany", program);
    return used > 0 && used < PATH_MAX && access(folder, R_OK) == 0;
}

/* Returns the first name of a guide or example in a string and sets *ret_length to its length; NULL
 * if there is none. */
static const char *guide_name(const char *text, size_t *ret_length)
{
    static const char *const folders[] = {"docs/", "examples/"};
    const char *first = NULL;

    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        const char *found = strstr(text, folders[i]);
        if (found && (!first || found < first))
            first = found;
    }
    if (first)
        *ret_length = strspn(first, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789/._-");
    /* A full stop at the end belongs to the sentence, not to the file name. */
    while (first && *ret_length > 0 && first[*ret_length - 1] == '.')
        --*ret_length;
    return first;
}

void cli_put_guides(FILE *to, const char *text)
{
    char folder[PATH_MAX], path[PATH_MAX];
    size_t length = 0;

    for (const char *name; (name = guide_name(text, &length)); text = name + length) {
        snprintf(path, sizeof(path), "%.*s", (int)length, name);
        bool installed = access(path, R_OK) != 0 && guides_folder(folder);
        fprintf(to, "%.*s%s%s%s", (int)(name - text), text, installed ? folder : "",
                installed ? "/" : "", path);
    }
    fputs(text, to);
}
