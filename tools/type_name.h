/* Prints the names of types in the code that tools/types.c and tools/python.c generate. */
#ifndef HM_TYPE_NAME_H
#define HM_TYPE_NAME_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints a name in camel case: "range_of_n" as RangeOfN, "runs list" as RunsList. */
static inline void print_type_name(const char *name)
{
    bool upper = true;

    for (; *name; name++) {
        if (*name == '_' || *name == ' ') {
            upper = true;
            continue;
        }
        putchar(upper ? toupper((unsigned char)*name) : *name);
        upper = false;
    }
}

#endif
