/* Fits measured seconds per iteration, given as arrays, and predicts those on 64 workers. */
#include <howmany_fit.h>
#include <stdio.h>

int main(void)
{
    const double n[] = {1, 2, 4, 8, 16, 1, 4, 16};
    const double seconds[] = {10.1, 5.4, 3.05, 2.02, 1.71, 9.9, 3.1, 1.68};
    const double at[] = {32, 64};
    struct hm_prediction p[2];
    struct hm_runs *runs = NULL;
    struct hm_fit *fit = NULL;
    struct hm_err err = {0};
    int rc = hm_runs_new(n, seconds, 8, NULL, 0, &runs, &err);

    if (rc == 0)
        rc = hm_fit_new(runs, NULL, &fit, &err);
    if (rc == 0)
        rc = hm_fit_predict(fit, NULL, 0, at, 2, p, &err);
    for (int i = 0; rc == 0 && i < 2; i++)
        printf("n = %g: %.2f s, %.2f to %.2f\n", p[i].n, p[i].time_s, p[i].low_s, p[i].high_s);
    if (rc)
        fprintf(stderr, "%s: %s\n", err.field, err.message);
    hm_fit_free(fit);
    hm_runs_free(runs);
    return rc != 0;
}
