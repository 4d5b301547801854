/*
 * Images like MNIST's without MNIST: 28 x 28 pixels of 0 to 255 in ten classes.
 *
 * Each class is written in a few ways, drawn from the seed: a way is a smooth path of a pen through
 * six points (a Catmull-Rom spline). Each row takes one of them and writes it with an unsteady
 * hand: moved, slanted, larger or smaller, every point a little off, the pen thicker or thinner,
 * the ink uneven. The constants are chosen so that about 80 % of the pixels are zero, as MNIST's
 * are, and a linear classifier gets about nine rows in ten right.
 */
#include <math.h>

#include "data_made.h"
#include "err.h"
#include "memory.h"

enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
    WAYS = 2,   /* of writing each */
    POINTS = 6, /* of a path */
    STEPS = 14, /* between two points */
};

struct point {
    double x, y;
};

struct digits {
    struct point paths[CLASSES][WAYS][POINTS]; /* around 0, in pixels */
    double near[PIXELS];                       /* square of the distance to the pen's path */
    double values[PIXELS];
};

static double between(struct hm_random *random, double low, double high)
{
    return low + (high - low) * hm__random_uniform(random);
}

/* A path whose points are not too near the ones before them. */
static void draw_path(struct hm_random *random, struct point path[POINTS])
{
    const double half = 8, nearest = 6;
    enum { TRIES = 20 };

    for (size_t i = 0; i < POINTS; i++)
        for (int try = 0; try < TRIES; try++) {
            path[i] = (struct point){between(random, -half, half), between(random, -half, half)};
            if (i == 0 || hypot(path[i].x - path[i - 1].x, path[i].y - path[i - 1].y) >= nearest)
                break;
        }
}

static int open_digits(struct hm_data *data, struct hm_err *err)
{
    struct digits *made = data->state = hm__calloc(1, sizeof(*made));

    if (!made)
        return hm__fail_nomem(err);
    data->features = PIXELS;
    for (size_t class = 0; class < CLASSES; class ++) {
        struct hm_random random;
        hm__data_planted(data, class, &random);
        for (size_t way = 0; way < WAYS; way++)
            draw_path(&random, made->paths[class][way]);
    }
    return 0;
}

/* The path as this row's hand goes through it. */
static void vary_path(struct hm_random *random, const struct point *path, struct point *hand)
{
    const double centre = SIDE / 2.0 - 0.5, unsteady = 0.8;
    double size = between(random, 0.85, 1.1), slant = 0.15 * hm__random_normal(random);
    double x = centre + between(random, -1.5, 1.5), y = centre + between(random, -1.5, 1.5);

    for (size_t i = 0; i < POINTS; i++) {
        hand[i].x =
            x + size * (path[i].x + slant * path[i].y) + unsteady * hm__random_normal(random);
        hand[i].y = y + size * path[i].y + unsteady * hm__random_normal(random);
    }
}

/* One coordinate of a Catmull-Rom spline between b and c, t in [0, 1]. */
static double spline(double a, double b, double c, double d, double t)
{
    return b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/* Note how near each pixel around a point is to it. */
static void touch(double near[PIXELS], struct point p, double reach)
{
    int left = (int)fmax(0, ceil(p.x - reach)), right = (int)fmin(SIDE - 1, floor(p.x + reach));
    int top = (int)fmax(0, ceil(p.y - reach)), bottom = (int)fmin(SIDE - 1, floor(p.y + reach));

    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            double square = (x - p.x) * (x - p.x) + (y - p.y) * (y - p.y);
            double *place = &near[y * SIDE + x];
            *place = square < *place ? square : *place;
        }
}

/* Ink falls off over one pixel at the edge of the pen. */
static void write_path(struct digits *made, const struct point hand[POINTS], double pen,
                       struct hm_random *random)
{
    const double far = 1e6, reach = pen + 0.5;

    for (size_t k = 0; k < PIXELS; k++)
        made->near[k] = far;
    for (size_t i = 0; i + 1 < POINTS; i++) {
        struct point a = hand[i > 0 ? i - 1 : 0], b = hand[i], c = hand[i + 1];
        struct point d = hand[i + 2 < POINTS ? i + 2 : POINTS - 1];
        for (int step = 0; step < STEPS; step++) {
            double t = (double)step / STEPS;
            struct point p = {spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)};
            touch(made->near, p, reach);
        }
    }
    for (size_t k = 0; k < PIXELS; k++) {
        made->values[k] = 0;
        if (made->near[k] < far) {
            double ink = fmin(1, reach - sqrt(made->near[k])) * between(random, 0.75, 1.05);
            made->values[k] = fmax(0, fmin(255, floor(256 * ink)));
        }
    }
}

static int next_digits(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct digits *made = data->state;
    struct point hand[POINTS];
    struct hm_random random;

    if (!hm__data_made_row(data, &random))
        return 0;
    uint32_t class = hm__random_below(&random, CLASSES);
    vary_path(&random, made->paths[class][hm__random_below(&random, WAYS)], hand);
    write_path(made, hand, between(&random, 1.0, 1.7), &random);
    if (hm__random_uniform(&random) < data->spec.noise) /* any of the other classes */
        class = (class + 1 + hm__random_below(&random, CLASSES - 1)) % CLASSES;
    int rc = hm__data_put_dense(data, block, class, made->values, err);
    return rc ? rc : 1;
}

static void close_digits(struct hm_data *data)
{
    hm__free(data->state);
}

const struct hm_data_reader hm__data_digits = {"digits", false, open_digits, next_digits,
                                               close_digits};
