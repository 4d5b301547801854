/*
 * Declares the files that are built into the library. tools/embed.c generates the arrays at build
 * time.
 */
#ifndef HM_EMBEDDED_H
#define HM_EMBEDDED_H

#include <stddef.h>
#include <string.h>

/* An entry of a catalog file: its text begins `at` bytes after the beginning of the file. */
struct hm_embedded_entry {
    const char *name;
    size_t at, length;
    const char *aliases; /* Its aliases as in the file, such as "[k80, tesla-k80]"; may be "". */
};

struct hm_embedded {
    const char *name; /* Base name of the file. */
    const char *text;
    size_t length;   /* Number of bytes in the text. */
    const char *tag; /* Hash of the text, used as the ETag in HTTP. */
    /* Entries of a catalog file, up to one without a name; NULL for other files. */
    const struct hm_embedded_entry *entries;
};

/* Files of the catalog, example files, and tables of measurements. Each array ends with an entry
 * whose name is NULL. */
extern const struct hm_embedded hm__catalog_files[];
extern const struct hm_embedded hm__example_files[];
extern const struct hm_embedded hm__data_files[];

/* Finds the built-in table of measurements with this base name; the name of the result is NULL if
 * there is none. */
static inline const struct hm_embedded *hm__data_file(const char *name)
{
    const struct hm_embedded *file = hm__data_files;

    while (file->name && strcmp(file->name, name) != 0)
        file++;
    return file;
}

#endif
