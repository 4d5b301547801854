/*
 * Generates images similar to MNIST: 28 x 28 pixels of 0 to 255 in ten classes.
 *
 * The seed determines two shapes for each class; a shape is a smooth pen stroke through six points
 * (a Catmull-Rom spline). Each row is one of the shapes with random variations: position, slant,
 * size, each of the points, the width of the pen and the brightness of each pixel. The constants
 * are chosen so that about 80 % of the pixels are zero, as in MNIST, and a linear classifier has an
 * accuracy of about 90 %.
 */
#include <math.h>

#include "data_made.h"
#include "err.h"
#include "memory.h"

enum {
    SIDE = 28,
    PIXELS = SIDE * SIDE,
    CLASSES = 10,
    SHAPES = 2, /* Number of pen strokes (shapes) for each class of images. */
    POINTS = 6, /* Number of points through which a pen stroke passes. */
    STEPS = 14, /* Number of steps of the pen between two points of a path. */
};

struct pen_point {
    double x, y;
};

struct digits {
    /* The points of each path, in pixels from the image centre. */
    struct pen_point paths[CLASSES][SHAPES][POINTS];
    double near[PIXELS]; /* Squared distance of each pixel from the path. */
    double values[PIXELS];
};

static double random_between(struct hm_random *random, double low, double high)
{
    return low + (high - low) * hm__random_uniform(random);
}

/* Draws a random path whose consecutive points are not too close to each other. */
static void draw_path(struct hm_random *random, struct pen_point path[POINTS])
{
    const double half = 8, nearest = 6;
    enum { TRIES = 20 };

    for (size_t i = 0; i < POINTS; i++)
        for (int try = 0; try < TRIES; try++) {
            path[i] = (struct pen_point){random_between(random, -half, half),
                                         random_between(random, -half, half)};
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
        for (size_t shape = 0; shape < SHAPES; shape++)
            draw_path(&random, made->paths[class][shape]);
    }
    return 0;
}

/*
 * Creates the stroke of one row: the path with a random position, size and slant, and with random
 * points.
 */
static void vary_path(struct hm_random *random, const struct pen_point *path,
                      struct pen_point *stroke)
{
    const double centre = SIDE / 2.0 - 0.5, jitter = 0.8;
    double size = random_between(random, 0.85, 1.1), slant = 0.15 * hm__random_normal(random);
    double x = centre + random_between(random, -1.5, 1.5),
           y = centre + random_between(random, -1.5, 1.5);

    for (size_t i = 0; i < POINTS; i++) {
        stroke[i].x =
            x + size * (path[i].x + slant * path[i].y) + jitter * hm__random_normal(random);
        stroke[i].y = y + size * path[i].y + jitter * hm__random_normal(random);
    }
}

/* Returns one coordinate of the Catmull-Rom spline of four points a, b, c and d, between b and c; t
 * in [0, 1] is the position. */
static double spline_at(double a, double b, double c, double d, double t)
{
    return b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

/*
 * Updates the squared distances of the pixels within `reach` of a point of the path; a distance
 * changes only if the new one is smaller.
 */
static void update_distances(double near[PIXELS], struct pen_point p, double reach)
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

/*
 * Fills the pixels along a path. The brightness decreases to 0 over one pixel at the edge of the
 * pen.
 */
static void write_path(struct digits *made, const struct pen_point stroke[POINTS], double pen,
                       struct hm_random *random)
{
    const double far = 1e6, reach = pen + 0.5;

    for (size_t k = 0; k < PIXELS; k++)
        made->near[k] = far;
    for (size_t i = 0; i + 1 < POINTS; i++) {
        struct pen_point a = stroke[i > 0 ? i - 1 : 0], b = stroke[i], c = stroke[i + 1];
        struct pen_point d = stroke[i + 2 < POINTS ? i + 2 : POINTS - 1];
        for (int step = 0; step < STEPS; step++) {
            double t = (double)step / STEPS;
            struct pen_point p = {spline_at(a.x, b.x, c.x, d.x, t),
                                  spline_at(a.y, b.y, c.y, d.y, t)};
            update_distances(made->near, p, reach);
        }
    }
    for (size_t k = 0; k < PIXELS; k++) {
        made->values[k] = 0;
        if (made->near[k] < far) {
            double brightness =
                fmin(1, reach - sqrt(made->near[k])) * random_between(random, 0.75, 1.05);
            made->values[k] = fmax(0, fmin(255, floor(256 * brightness)));
        }
    }
}

static int next_digits(struct hm_data *data, struct hm_rows *block, struct hm_err *err)
{
    struct digits *made = data->state;
    struct pen_point stroke[POINTS];
    struct hm_random random;

    if (!hm__data_made_row(data, &random))
        return 0;
    uint32_t class = hm__random_below(&random, CLASSES);
    vary_path(&random, made->paths[class][hm__random_below(&random, SHAPES)], stroke);
    write_path(made, stroke, random_between(&random, 1.0, 1.7), &random);
    if (hm__random_uniform(&random) <
        data->spec.noise) /* The label is replaced with a wrong one, as noise. */
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
