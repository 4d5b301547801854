/*
 * Tests the paths of the loss from which an advice is computed: how they follow traces, continue
 * beyond them and end where traces diverge; and the iterations and seconds to a loss, on paths made
 * by hand.
 */
#include "testing.h"

#include "runner.h"

/* ---- paths made by hand ---------------------------------------------------------------------- */

/* Makes a runner in which draw 0 falls to 0, draw 64 stays at 2.5, and draw 1 begins at the second
 * grid point. */
static struct hm_runner *make_runner(void)
{
    static double y[HM_G_DRAWS * 4];
    static struct hm_runner r;
    static const double rows[][4] = {
        {3, 2, 1, 0}, {INFINITY, 2, 2, 1}, {3, 2.5, 2.5, 2.5}, {4, 3, 2, 1}};

    r = (struct hm_runner){.grid = {.iterations = {1, 2, 4, 8}, .count = 4}, .y = y};
    for (size_t d = 0; d < HM_G_DRAWS; d++) {
        memcpy(y + 4 * d, rows[d == 0 ? 0 : d == 1 ? 1 : d == 64 ? 2 : 3], sizeof(rows[0]));
        r.paces[d] = d == 0 ? 2 : 0.5;
    }
    return &r;
}

static void levels_are_hit_between_points(void **state)
{
    const struct hm_runner *r = make_runner();

    (void)state;
    assert_near(hm__runner_hit(r, 0, 5), 1, 0);
    assert_near(hm__runner_hit(r, 0, 3), 1, 0);
    assert_near(hm__runner_hit(r, 0, 2.9), 2, 0);
    assert_near(hm__runner_hit(r, 0, 2), 2, 0);
    assert_near(hm__runner_hit(r, 0, 1.5), 3, 0);
    assert_near(hm__runner_hit(r, 0, 0.75), 5, 0); /* 5 is a quarter of the way from 4 to 8. */
    assert_near(hm__runner_hit(r, 0, 0), 8, 0);
    assert_true(isinf(hm__runner_hit(r, 0, -0.1)));
    assert_near(hm__runner_hit(r, 1, 2.5), 2, 0);
    assert_near(hm__runner_hit(r, 1, 1.75), 5, 0);
    assert_near(hm__grid_hit(&r->grid, r->y, 2.25), 1.75, 1e-15);
    assert_near(hm__grid_hit(&r->grid, r->y, 0.5), 6, 1e-15);
}

static void iterations_reach_a_level(void **state)
{
    const struct hm_runner *r = make_runner();

    (void)state;
    assert_true(isinf(hm__runner_reach(r, 0, 0.5)));
    assert_near(hm__runner_reach(r, 0, 1), 3, 0);
    assert_near(hm__runner_reach(r, 0, 1.25), 2.75, 1e-15);
    assert_near(hm__runner_reach(r, 0, 3), 1.5, 1e-15);
    assert_near(hm__runner_reach(r, 0, 5), 0.75, 1e-15);
    assert_near(hm__runner_reach(r, 0, 8), 0, 0);
    assert_near(hm__runner_reach(r, 0, 100), 0, 0);
    assert_true(isinf(hm__runner_reach(r, 1, 1)));
    assert_near(hm__runner_reach(r, 1, 3), 2, 0);
    assert_near(hm__runner_reach(r, 64, 6), 2.5, 0);
    /* Only the last finite point decides whether the level is interpolated. */
    static double late[] = {INFINITY, INFINITY, 3, 1};
    const struct hm_runner begins_late = {.grid = r->grid, .y = late};
    assert_true(isinf(hm__runner_reach(&begins_late, 0, 3)));
    assert_near(hm__runner_reach(&begins_late, 0, 4), 3, 0);
    assert_near(hm__runner_reach(&begins_late, 0, 6), 2, 1e-15);
}

/* The time of a draw that never reaches the loss is ten times the mean of the other draws. */
static void times_of_draws_that_never_end(void **state)
{
    const struct hm_runner *r = make_runner();
    double times[HM_G_DRAWS];
    size_t there = 99;

    (void)state;
    assert_near(hm__runner_times(r, 1.5, 64, times, &there), (6 + 60) / 2., 1e-12);
    assert_int_equal(there, 1);
    assert_near(times[0], 6, 0);
    assert_near(times[1], 60, 1e-12);
    assert_near(hm__runner_times(r, 2.5, 64, times, &there), (4 + 1) / 2., 1e-12);
    assert_int_equal(there, 2);
    assert_near(times[1], 1, 0);
    assert_true(isinf(hm__runner_times(r, -1, 64, times, &there)));
    assert_int_equal(there, 0);
    struct hm_runner first = *r; /* The draw that never reaches the loss may also be draw 0. */
    static double y[HM_G_DRAWS * 4];
    memcpy(y, r->y, sizeof(y));
    for (size_t p = 0; p < 4; p++)
        y[p] = 5;
    first.y = y;
    assert_near(hm__runner_times(&first, 2.5, 64, times, &there), (10 + 1) / 2., 1e-12);
    assert_near(times[0], 10, 1e-12);
    /* Only draw 0 reaches 0; it takes 16 s. */
    assert_near(hm__runner_times(r, 0, 1, times, NULL), (16 + 127 * 160) / 128., 1e-12);
    /* The loss 1.5 is reached after 6 s in draw 0, after 6 iterations of 0.5 s in the other draws,
     * and never in draw 64. */
    double sum = 6 + 126 * 3.;
    assert_near(hm__runner_times(r, 1.5, 1, times, &there), (sum + 10 * sum / 127) / 128, 1e-12);
    assert_int_equal(there, 127);
}

/* ---- paths of a fitted g --------------------------------------------------------------------- */

enum { POINTS = 4 };

/* An algorithm with ln(P - P*) = ln 0.5 - 0.8 ln i and traces on 1, 4 and 16 workers, of which the
 * one on 4 workers diverges. */
struct path_world {
    double m[3], spread[3], apart[3], iteration[POINTS], loss[3][POINTS];
    struct hm_g_parameter terms[2];
    struct hm_g_curve curves[3];
    struct hm_g g;
};

static double g_at(double i)
{
    return log(0.5) - 0.8 * log(i);
}

static void make_path_world(struct path_world *w, double shift)
{
    *w = (struct path_world){.m = {1, 4, 16},
                             .iteration = {1, 3, 10, 30},
                             .terms = {{"1", log(0.5), NAN, NAN}, {"ln(i)", -0.8, NAN, NAN}}};
    for (size_t k = 0; k < 3; k++) {
        for (size_t p = 0; p < POINTS; p++)
            w->loss[k][p] = 1 + exp(g_at(w->iteration[p]) + shift * (double)p);
        w->curves[k] = (struct hm_g_curve){.m = w->m[k],
                                           .count = POINTS,
                                           .iteration = w->iteration,
                                           .loss = w->loss[k],
                                           .diverged = k == 1};
    }
    w->g = (struct hm_g){.algorithm = "gd",
                         .form = HM_G_TERMS,
                         .parameters = w->terms,
                         .parameter_count = 2,
                         .m = w->m,
                         .m_count = 3,
                         .spread = w->spread,
                         .apart = w->apart,
                         .last = 30,
                         .curves = w->curves,
                         .curve_count = 3};
}

/* Checks the grid: iterations 1 to 20, then steps of a constant ratio up to 8 * 30, at least 1
 * apart. */
static void check_grid(const struct hm_grid *grid)
{
    double next = 20;

    assert_int_equal(grid->count, 80);
    for (size_t p = 0; p < 80; p++) {
        next = p < 20 ? (double)p + 1 : fmax(next * pow(12, 1. / 60), floor(next) + 1);
        assert_near(grid->iterations[p], floor(next), 0);
    }
}

/*
 * Within the trace, y is interpolated over ln i between the points of the trace; beyond it, y falls
 * as g does.
 */
static void paths_follow_traces(void **state)
{
    struct path_world w;
    struct hm_runner r = {.seconds = 1};

    (void)state;
    make_path_world(&w, -0.3);
    assert_int_equal(hm__runner_init(&r, &w.g, 1, 1, 0, NULL), 0);
    check_grid(&r.grid);
    assert_int_equal(r.curves, 1);
    for (size_t p = 0; p < r.grid.count; p++) {
        double i = r.grid.iterations[p], wanted;
        size_t c = 0;
        while (c + 1 < POINTS && w.iteration[c + 1] <= i)
            c++;
        if (c + 1 < POINTS) {
            double at = log(i / w.iteration[c]) / log(w.iteration[c + 1] / w.iteration[c]);
            wanted = g_at(i) - 0.3 * ((double)c + at);
        } else {
            wanted = g_at(i) - 0.3 * 3;
        }
        /* The grid may have no point at iteration 30, where the trace ends; the slope then changes
         * at the last grid point before iteration 30. */
        assert_near(r.y[p], wanted, i <= 30 ? 1e-9 : 0.03);
        assert_near(r.y[(HM_G_DRAWS - 1) * r.grid.count + p], r.y[p], 0);
        if (i > 30 && r.grid.iterations[p - 1] > 30)
            assert_near(r.y[p] - r.y[p - 1], g_at(i) - g_at(r.grid.iterations[p - 1]), 1e-9);
    }
    hm__runner_release(&r);
}

/* If g rises, the path continues with the slope of the trace, which here is the same power of i
 * everywhere. */
static void paths_keep_the_slope_of_their_trace(void **state)
{
    struct path_world w;
    struct hm_runner r = {.seconds = 1};

    (void)state;
    make_path_world(&w, 0);
    w.terms[1].value = 0.3;
    assert_int_equal(hm__runner_init(&r, &w.g, 1, 1, 0, NULL), 0);
    for (size_t p = 0; p < r.grid.count; p++)
        assert_near(r.y[p], g_at(r.grid.iterations[p]), 1e-4);
    hm__runner_release(&r);
}

/* Before the first point of a trace, the loss is unknown; a trace may have a single point. */
static void traces_may_begin_late(void **state)
{
    struct path_world w;

    (void)state;
    for (size_t count = 1; count <= 4; count += 3) {
        struct hm_runner r = {.seconds = 1};
        make_path_world(&w, 0);
        const double late[] = {3, 5, 10, 30};
        for (size_t p = 0; p < POINTS; p++) {
            w.iteration[p] = late[p];
            w.loss[0][p] = 1 + exp(g_at(late[p]));
        }
        w.curves[0].count = count;
        assert_int_equal(hm__runner_init(&r, &w.g, 1, 1, 0, NULL), 0);
        for (size_t p = 0; p < r.grid.count; p++)
            if (r.grid.iterations[p] < 3)
                assert_true(isinf(r.y[p]));
            else
                assert_near(r.y[p], g_at(r.grid.iterations[p]), 1e-4);
        hm__runner_release(&r);
    }
}

/* The path on 4 workers ends where its trace diverges; 2 and 8 workers also have a neighbour that
 * does not diverge. */
static void paths_end_where_traces_diverge(void **state)
{
    struct path_world w;
    const double ms[] = {1, 2, 4, 8, 16, 32};

    (void)state;
    make_path_world(&w, 0);
    for (size_t k = 0; k < 6; k++) {
        struct hm_runner r = {.seconds = 1};
        assert_int_equal(hm__runner_init(&r, &w.g, ms[k], 1, 0, NULL), 0);
        assert_int_equal(r.curves, ms[k] == 1 || ms[k] == 4 || ms[k] == 16);
        for (size_t p = 0; p < r.grid.count; p++)
            if (ms[k] == 4 && r.grid.iterations[p] > 30)
                assert_near(r.y[p], r.y[p - 1],
                            0); /* The path continues with the smallest loss so far. */
            else
                assert_near(r.y[p], g_at(r.grid.iterations[p]), 1e-4);
        hm__runner_release(&r);
    }
    /* Both neighbours of 2 diverge; for 0.5 and 32 only the nearest m diverges. */
    w.curves[0].diverged = w.curves[2].diverged = true;
    for (size_t k = 0; k < 6; k++) {
        struct hm_runner r = {.seconds = 1};
        assert_int_equal(hm__runner_init(&r, &w.g, ms[k], 1, 0, NULL), 0);
        assert_true(isinf(hm__runner_hit(&r, 0, g_at(60))));
        assert_true(isfinite(hm__runner_hit(&r, 0, g_at(25))));
        hm__runner_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_hit_between_points),
        cmocka_unit_test(iterations_reach_a_level),
        cmocka_unit_test(times_of_draws_that_never_end),
        cmocka_unit_test(paths_follow_traces),
        cmocka_unit_test(paths_keep_the_slope_of_their_trace),
        cmocka_unit_test(traces_may_begin_late),
        cmocka_unit_test(paths_end_where_traces_diverge),
    };
    return cmocka_run_group_tests_name("edges_runner", tests, NULL, NULL);
}
