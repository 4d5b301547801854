/* The built-in catalog for fuzz targets that look up entries: making it takes longer than reading a
 * small input, so it is made once and kept. */
#ifndef HM_FUZZ_KEPT_CATALOG_H
#define HM_FUZZ_KEPT_CATALOG_H

#include "howmany_inputs.h"

/* Returns the catalog; NULL, which readers accept too, if there is no memory for it. */
static inline const struct hm_catalog *fuzz_catalog(void)
{
    static struct hm_catalog *catalog;

    if (!catalog && hm_catalog_new(&catalog, NULL))
        catalog = NULL;
    return catalog;
}

#endif
