/* Checks whether all namespaces and processes of a laboratory (a cluster of network namespaces on
 * one machine) exist, and describes the laboratory as text and JSON. */
#include "lab_status.h"

#include <math.h>
#include <string.h>

#include "format.h"
#include "json.h"
#include "text.h"

bool lab_status_broken(const struct lab_found *f, struct hm_text *why)
{
    char node[LAB_TEXT];
    size_t due = f->spec.way == LAB_VDE ? 2 * f->spec.n + 1 : 0;

    if (!f->known) {
        hm__text_add(why, "'lab up' did not finish");
        return true;
    }
    if (!f->spaces[0])
        hm__text_addf(why, "network namespace %s is gone", lab_net(f->spec.name, node));
    for (size_t i = 1; i <= f->spec.n && !why->length; i++)
        if (!f->spaces[i])
            hm__text_addf(why, "network namespace %s is gone", lab_node(f->spec.name, i, node));
    if (!why->length && f->processes[0] < due)
        hm__text_addf(why, "%zu of the %zu processes of its network have ended",
                      due - f->processes[0], due);
    return why->length > 0;
}

void lab_status_json(const struct lab_found *f, const double *round_trips, struct hm_text *out)
{
    struct hm_json json = {.out = out};
    char text[LAB_TEXT];

    hm__json_open(&json, NULL, HM_JSON_OBJECT);
    lab_spec_put(&f->spec, &json);
    hm__json_open(&json, "nodes", HM_JSON_LIST);
    for (size_t i = 1; i <= f->spec.n; i++) {
        hm__json_open(&json, NULL, HM_JSON_OBJECT);
        hm__json_put_number(&json, "node", (double)i);
        hm__json_put_text(&json, "name", lab_node(f->spec.name, i, text));
        hm__json_put_text(&json, "address", lab_address(i, text));
        hm__json_put_number(&json, "processes", (double)f->processes[i]);
        hm__json_put_number(&json, "round_trip_s", round_trips[i - 1]);
        hm__json_close(&json);
    }
    hm__json_close(&json);
    hm__json_close(&json);
    hm__text_add(out, "\n");
}

void lab_status_text(const struct lab_found *f, const double *round_trips, struct hm_text *out)
{
    char node[LAB_TEXT], address[LAB_TEXT], shown[HM_SHOWN];

    hm__text_addf(out, "lab %s is up: ", f->spec.name);
    lab_spec_describe(&f->spec, out);
    hm__text_add(out, "\n\n");
    hm__text_addf(out, "%-*s %-12s %9s  %s\n", (int)strlen(f->spec.name) + 4, "node", "address",
                  "processes", "round trip from node 1");
    for (size_t i = 1; i <= f->spec.n; i++)
        hm__text_addf(out, "%-*s %-12s %9zu  %s\n", (int)strlen(f->spec.name) + 4,
                      lab_node(f->spec.name, i, node), lab_address(i, address), f->processes[i],
                      isnan(round_trips[i - 1]) ? "no answer"
                                                : hm__show_time(round_trips[i - 1], shown));
}
