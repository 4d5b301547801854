/* g(i, m) as a gnuplot script. */
#include "converge_render.h"
int hm_convergence_plot(const struct hm_convergence *convergence,
                        const struct hm_plot_curve *curves, size_t count, const char *file,
                        char **ret_script, struct hm_err *err)
{
    struct hm_text out = {0};
    (void)convergence;
    (void)curves;
    (void)count;
    (void)file;
    return hm_text_take(&out, ret_script, err);
}
