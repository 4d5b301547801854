/* The table of formats. A reader that is more certain than others wins; their order has no effect.
 */
#include "importers.h"

const struct hm_importer *const hm__importers[] = {
    &hm__importer_hf_config, &hm__importer_safetensors, &hm__importer_weight_index, NULL};
