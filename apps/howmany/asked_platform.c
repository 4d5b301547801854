/* Platforms as they are asked for. */
#include "asked_platform.h"

#include <string.h>

#include "cli.h"

static int take_platform(void *state, const char *piece)
{
    struct cli_platform *p = state;
    int found = hm_platform_find(piece);

    p->any = true;
    if (strcmp(piece, "all") == 0) {
        p->all = true;
        for (int i = HM_PLATFORM_ALLREDUCE; i <= HM_PLATFORM_SERVER; i++)
            p->platforms[i] = true;
        return 0;
    }
    if (found < 0)
        return cli_complain("--platform: '%s' is not allreduce, driver, server or all", piece);
    p->platforms[found] = true;
    return 0;
}

static int take_consistency(void *state, const char *piece)
{
    struct cli_platform *p = state;
    int found = hm_consistency_find(piece);

    p->consistency = true;
    if (strcmp(piece, "all") == 0) {
        for (int i = 0; i <= HM_CONSISTENCY_ASYNC; i++)
            p->consistencies[i] = true;
        return 0;
    }
    if (found < 0)
        return cli_complain("--consistency: '%s' is not bsp, ssp, async or all", piece);
    p->consistencies[found] = true;
    return 0;
}

int cli_platform_add(struct cli_platform *p, const char *list)
{
    return cli_each(list, take_platform, p);
}

int cli_consistency_add(struct cli_platform *p, const char *list)
{
    return cli_each(list, take_consistency, p);
}

/* Without --consistency: all where all platforms are asked for, else what other options imply. */
static void imply(struct cli_platform *p)
{
    if (p->consistency)
        return;
    p->consistencies[HM_CONSISTENCY_BSP] = p->all || !p->staleness;
    p->consistencies[HM_CONSISTENCY_SSP] = p->all || p->staleness;
    p->consistencies[HM_CONSISTENCY_ASYNC] = p->all;
}

static int check(const struct cli_platform *p)
{
    const bool *c = p->consistencies;

    if (!p->platforms[HM_PLATFORM_SERVER])
        return cli_complain("plan: --consistency, --staleness, --servers, --colocated, --backups "
                            "and --stale-cost are of --platform server or all");
    if (p->staleness && !c[HM_CONSISTENCY_SSP])
        return cli_complain("plan: --staleness goes with --consistency ssp");
    if (p->backups > 0 && !c[HM_CONSISTENCY_BSP])
        return cli_complain("plan: --backups go with --consistency bsp: otherwise nobody waits for "
                            "a whole step");
    if (p->stale_cost > 0 && !c[HM_CONSISTENCY_SSP] && !c[HM_CONSISTENCY_ASYNC])
        return cli_complain("plan: --stale-cost goes with --consistency ssp or async");
    return 0;
}

static void add_way(struct cli_platform *p, struct hm_way way)
{
    p->ways[p->way_count++] = way;
}

static void add_servers(struct cli_platform *p)
{
    struct hm_way way = {
        .platform = HM_PLATFORM_SERVER, .servers = p->servers, .colocated = p->colocated};

    if (p->consistencies[HM_CONSISTENCY_BSP] && (p->all || p->backups == 0))
        add_way(p, way);
    if (p->consistencies[HM_CONSISTENCY_BSP] && p->backups > 0) {
        struct hm_way backed = way;
        backed.backups = p->backups;
        add_way(p, backed);
    }
    way.stale_cost = p->stale_cost;
    if (p->consistencies[HM_CONSISTENCY_SSP]) {
        struct hm_way ssp = way;
        ssp.consistency = HM_CONSISTENCY_SSP;
        ssp.staleness = p->staleness ? p->stale : CLI_STALENESS;
        add_way(p, ssp);
    }
    way.consistency = HM_CONSISTENCY_ASYNC;
    if (p->consistencies[HM_CONSISTENCY_ASYNC])
        add_way(p, way);
}

int cli_platform_finish(struct cli_platform *p)
{
    bool more = p->consistency || p->staleness || p->servers > 0 || p->backups > 0 ||
                p->stale_cost > 0 || p->colocated;

    if (!p->any && !more)
        return 0;
    imply(p);
    int rc = more ? check(p) : 0;
    if (rc)
        return rc;
    if (p->platforms[HM_PLATFORM_ALLREDUCE])
        add_way(p, (struct hm_way){.platform = HM_PLATFORM_ALLREDUCE});
    if (p->platforms[HM_PLATFORM_DRIVER])
        add_way(p, (struct hm_way){.platform = HM_PLATFORM_DRIVER});
    if (p->platforms[HM_PLATFORM_SERVER])
        add_servers(p);
    return 0;
}
