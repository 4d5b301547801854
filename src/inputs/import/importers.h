/* The readers of all formats, one in each file of this folder. */
#ifndef HM_IMPORTERS_H
#define HM_IMPORTERS_H

#include "import.h"

extern const struct hm_importer hm__importer_hf_config, hm__importer_safetensors,
    hm__importer_weight_index;

#endif
