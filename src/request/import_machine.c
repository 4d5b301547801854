/*
 * Computes the rates of the machine on which an imported trace was recorded, from the times of
 * operations in the trace. The method is the same as in `howmany calibrate`.
 */
#include "calibration.h"
#include "err.h"
#include "load_import.h"
#include "servers.h"

int hm__import_machine(struct hm_call *call, struct hm_imported *im, struct hm_err *err)
{
    const struct hm_catalog *catalog;
    struct hm_cluster *sheet = NULL;
    struct hm_calibrated machine;
    struct hm_err own = {0};
    char name[128];

    if (im->timings.count == 0 || im->document.length > 0)
        return 0;
    int rc = hm__call_catalog(call, &catalog, err);
    if (rc)
        return rc;
    hm__catalog_device_name(im->timings.name, name, sizeof(name));
    bool known = hm_catalog_machine(catalog, name, &sheet, NULL) == 0;
    rc = hm__calibrate(&im->timings, known ? &sheet->node : NULL, &machine, &own);
    if (rc == 0) {
        hm__calibration_yaml(&im->document, &im->timings, &machine, known ? name : NULL);
        im->document_kind = "cluster";
        hm__import_note(im, "the model is within %.0f %% of half of its %zu kinds of operations",
                        100 * machine.model_error, im->timings.count);
        rc = im->document.failed ? hm__fail_nomem(err) : 0;
    } else if (rc != HM_E_NOMEM) {
        hm__import_note(im, "no machine is described: %.200s", own.message);
        rc = 0;
    } else if (err) {
        *err = own;
    }
    hm_cluster_free(sheet);
    return rc;
}
