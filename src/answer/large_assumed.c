/*
 * Adds notes about what a plan for a transformer assumes about its machines: values that the
 * cluster does not specify, which are set to values typical of the generation of its devices, and
 * values in the catalog that are not from a data sheet.
 */
#include <stdio.h>
#include <string.h>

#include "large_plan.h"

/* Returns whether the answer has a point on this machine that uses several nodes or, if `nodes` is
 * false, several workers of a node. */
static bool has_point(const struct hm_large_answer *a, const struct hm_large_machine *m, int index,
                      bool nodes)
{
    for (size_t i = 0; i < a->point_count; i++)
        if (a->points[i].machine == index && (nodes ? a->points[i].n > m->device.per_node
                                                    : a->points[i].n > 1 && m->device.per_node > 1))
            return true;
    return false;
}

/* Appends a value to the list of assumed values. */
static void list_figure(char *text, size_t room, const char *format, double value)
{
    size_t used = strlen(text);

    if (used > 0)
        used += (size_t)snprintf(text + used, room - used, ", ");
    if (used < room)
        snprintf(text + used, room - used, format, value);
}

/* Adds the note about values that the cluster does not specify and on which the answer depends. */
static void note_usual(struct hm_large_answer *a, const struct hm_large_machine *m, int index,
                       const char *name)
{
    const struct hm_large_device *d = &m->device;
    char text[160] = "";

    if (d->assumed & HM_LARGE_ASSUMED_FABRIC && has_point(a, m, index, true))
        list_figure(text, sizeof(text), "fabric %g Gbit/s a node", d->network_bytes_per_s / 125e6);
    if (d->assumed & HM_LARGE_ASSUMED_LINK && has_point(a, m, index, false))
        list_figure(text, sizeof(text), "link %g GB/s", d->link_bytes_per_s / 1e9);
    if (d->assumed & HM_LARGE_ASSUMED_BANDWIDTH)
        list_figure(text, sizeof(text), "memory_bandwidth %g GB/s", d->bandwidth_bytes_per_s / 1e9);
    if (d->assumed & HM_LARGE_ASSUMED_MEMORY)
        list_figure(text, sizeof(text), "memory of which %.3g GB are usable",
                    d->memory_bytes / 1e9);
    if (text[0])
        hm__large_note(a,
                       "not given for %s and assumed as usual for its generation: %s "
                       "(the same keys of cluster give other figures)",
                       name, text);
}

/*
 * Adds the note about assumed values in the catalog. The efficiency of matrix products is omitted,
 * because this model has its own efficiency, fitted to measured steps.
 */
static void note_catalog(struct hm_large_answer *a, const char *name, const char *assumed)
{
    static const char own[] = "matrix_efficiency";

    if (assumed && strncmp(assumed, own, sizeof(own) - 1) == 0) {
        assumed = strchr(assumed, ',');
        assumed = assumed ? assumed + 2 : NULL;
    }
    if (assumed)
        hm__large_note(a, "of %s, these figures are assumed: %.100s", name, assumed);
}

/* Adds the note about a precision that the devices do not support, so that 16 bits are used. */
static void note_precision(struct hm_large_answer *a, const struct hm_large_machine *m,
                           const char *name)
{
    const int precision = (int)m->work.precision;

    if (precision == HM_FORMAT_NVFP4 && !(m->device.flops_4 > 0))
        hm__large_note(a, "%s has no units for nvfp4: its products are computed in bf16", name);
    if ((precision == HM_FORMAT_FP8 || precision == HM_FORMAT_MXFP8) && !(m->device.flops_8 > 0))
        hm__large_note(a, "%s has no units for fp8: its products are computed in bf16", name);
}

/* Adds the note that the width of the interval is a guess, because no such steps were measured. */
static void note_unmeasured(struct hm_large_answer *a, const struct hm_large_machine *m,
                            const char *name)
{
    if (m->device.unmeasured)
        hm__large_note(a,
                       "no steps on devices like those of %s were measured: the interval is wider "
                       "by a guess",
                       name);
}

void hm__large_note_assumed(const struct hm_large_machines *machines, const struct hm_job *job,
                            const struct hm_cluster *const *clusters, struct hm_large_answer *a)
{
    for (size_t i = 0; i < machines->count; i++) {
        const struct hm_cluster *cluster = clusters ? clusters[i] : &job->cluster;
        const char *name = cluster->name ? cluster->name : "the machine";
        note_unmeasured(a, &machines->items[i], name);
        note_usual(a, &machines->items[i], (int)i, name);
        note_catalog(a, name, cluster->assumed);
        note_precision(a, &machines->items[i], name);
    }
    if (!job->large->software_given)
        hm__large_note(a,
                       "tuned software with fused kernels, such as Megatron, is assumed; software "
                       "can be eager or compiled");
}
