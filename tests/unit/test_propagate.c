/*
 * Compares belief propagation with enumeration on trees, with the tables of
 * tools/oracle/propagate.py on grids, with closed forms on chains and stars, and with itself on
 * other numbers of ranks.
 */
#include "propagate_runs.h"

/* ---- enumeration ---------------------------------------------------------------------------- */

static double weight_of(const struct hm_markov *m, const uint32_t *x)
{
    double weight = exp(m->log_scale);

    for (size_t v = 0; v < m->variables; v++)
        weight *= m->unary[m->unary_places[v] + x[v]];
    for (size_t e = 0; e < m->edges; e++) {
        uint32_t a = m->ends[2 * e], b = m->ends[2 * e + 1];
        weight *= m->tables[m->table_places[e] + x[a] * m->states[b] + x[b]];
    }
    return weight;
}

/* Computes the marginals, or max-marginals, of all states of all vertices, each normalised; returns
 * Z. */
static double enumerate(const struct hm_markov *m, bool max, double *marginals, uint32_t *best)
{
    uint32_t x[VERTICES] = {0};
    double sum = 0, most = -1;
    size_t v = 0;

    memset(marginals, 0, m->unary_places[m->variables] * sizeof(*marginals));
    while (v < m->variables) {
        double weight = weight_of(m, x);
        sum += weight;
        if (weight > most) {
            most = weight;
            memcpy(best, x, sizeof(x));
        }
        for (v = 0; v < m->variables; v++) {
            double *at = &marginals[m->unary_places[v] + x[v]];
            *at = max ? fmax(*at, weight) : *at + weight;
        }
        for (v = 0; v < m->variables && ++x[v] == m->states[v]; v++)
            x[v] = 0;
    }
    for (v = 0; v < m->variables; v++) {
        double all = 0;
        for (size_t i = m->unary_places[v]; i < m->unary_places[v + 1]; i++)
            all += marginals[i];
        for (size_t i = m->unary_places[v]; i < m->unary_places[v + 1]; i++)
            marginals[i] /= all;
    }
    return sum;
}

/* Makes a random tree. Its kind is 0: weights; 1: two states with tables; 2: different numbers of
 * states; 3: potentials of zero. */
static void random_tree(struct model *model, size_t vertices, int kind, uint64_t seed)
{
    struct hm_random random;
    double values[STATES * STATES];
    uint32_t parents[VERTICES];

    hm__random_init(&random, seed, (uint64_t)kind);
    model_init(model);
    for (size_t v = 0; v < vertices; v++) {
        size_t states = kind < 2 ? 2 : 2 + hm__random_below(&random, 3);
        for (size_t x = 0; x < states; x++)
            values[x] = hm__random_uniform(&random);
        add_vertex(model, states, values);
        parents[v] = v ? hm__random_below(&random, (uint32_t)v) : 0;
    }
    for (uint32_t a = 0; a < vertices; a++)
        for (uint32_t b = a + 1; b < vertices; b++) {
            if (parents[b] != a)
                continue;
            for (size_t i = 0; i < STATES * STATES; i++)
                values[i] = kind == 3 && i % 3 == 1 ? 0 : hm__random_uniform(&random);
            if (kind == 0)
                values[3] = values[0], values[2] = values[1];
            add_edge(model, a, b, values);
        }
    model->m.log_scale = 0.25;
}

static void trees_are_exact(void **state)
{
    static struct model model;
    double marginals[VERTICES * STATES];
    uint32_t best[VERTICES];

    (void)state;
    for (int i = 0; i < 96; i++) {
        int kind = i % 4, general = i / 4 % 2, ranks = 1 + i / 8 % 3;
        bool max = i >= 48;
        struct propagate_run run = {.model = &model, .iterations = 9};
        run.settings = (struct hm_propagate_settings){.max_product = max, .general = general};
        random_tree(&model, 8, kind, (uint64_t)i);
        double z = enumerate(&model.m, max, marginals, best);
        run_on(&run, ranks);
        assert_int_equal(run.binary, kind < 2 && !general);
        for (size_t x = 0; x < model.unary_places[8]; x++)
            if (fabs(run.beliefs[x] - marginals[x]) > 1e-13)
                fail_msg("%d: %zu is %.17g, not %.17g", i, x, run.beliefs[x], marginals[x]);
        if (max) {
            assert_memory_equal(run.states, best, 8 * sizeof(*best));
            assert_near(run.score, log(weight_of(&model.m, best)), 1e-12);
        } else {
            assert_near(run.log_z, log(z), 1e-12);
        }
        assert_true(run.change <= 1e-15);
        run_release(&run);
    }
}

/* Z of an Ising chain without a field is 2^V cosh(J)^(V-1); Z of a Potts chain is S (e^J + (S-1)
 * e^-J)^(V-1). */
static void chains_have_their_closed_form(void **state)
{
    (void)state;
    for (int states = 2; states <= 5; states++)
        for (int ranks = 1; ranks <= 4; ranks++) {
            struct hm_mrf_recipe recipe = {.shape = HM_MRF_GRID,
                                           .rows = 1,
                                           .columns = 50,
                                           .states = states,
                                           .coupling = -0.8,
                                           .fixed = true};
            struct propagate_run run = {.recipe = &recipe, .iterations = 50};
            run_on(&run, ranks);
            double link = exp(-0.8) + (states - 1) * exp(0.8);
            assert_near(run.log_z, log(states) + 49 * log(link), 1e-13);
            for (int i = 0; i < 50 * states; i++)
                assert_near(run.beliefs[i], 1.0 / states, 1e-15);
            run_release(&run);
        }
}

/* ---- tables of the oracle ------------------------------------------------------------------- */

static size_t read_row(char *line, double *values, size_t room)
{
    size_t count = 0;

    for (char *at = strchr(line, '\t'); at && count < room; at = strchr(at + 1, '\t'))
        values[count++] = strtod(at + 1, NULL);
    return count;
}

/*
 * Compares one run of the table with all kernels and numbers of ranks; beliefs must agree to 1e-10,
 * although messages may still oscillate.
 */
static void compare_run(const struct model *model, bool max, double damping, size_t iterations,
                        const double *beliefs, double change, double log_z)
{
    for (int way = 0; way < 4; way++) {
        struct propagate_run run = {.model = model, .iterations = iterations};
        run.settings = (struct hm_propagate_settings){max, way % 2, damping};
        run_on(&run, way < 2 ? 1 : 3);
        for (size_t i = 0; i < model->unary_places[model->m.variables]; i++)
            if (!(fabs(run.beliefs[i] - beliefs[i]) <= 1e-10))
                fail_msg("belief %zu is %.17g, not %.17g", i, run.beliefs[i], beliefs[i]);
        assert_true(fabs(run.change - change) <= 1e-10);
        if (!max)
            assert_near(run.log_z, log_z, 1e-12);
        run_release(&run);
    }
}

static void grids_agree_with_an_independent_program(void **state)
{
    static char line[1 << 16];
    static struct model model;
    static double values[VERTICES * STATES], beliefs[VERTICES * STATES];
    double damping = 0, iterations = 0, change = 0, states[VERTICES];
    FILE *file = open_source("tests/data/propagate.tsv");
    bool max = false;
    int runs = 0;

    (void)state;
    while (next_line(file, line, sizeof(line))) {
        size_t count = read_row(line, values, VERTICES * STATES);
        if (strncmp(line, "model", 5) == 0)
            model_init(&model);
        else if (strncmp(line, "states", 6) == 0)
            memcpy(states, values, sizeof(states));
        else if (strncmp(line, "unary", 5) == 0)
            for (size_t v = 0, at = 0; v < VERTICES; at += (size_t)states[v++])
                add_vertex(&model, (size_t)states[v], values + at);
        else if (strncmp(line, "edge", 4) == 0)
            add_edge(&model, (uint32_t)values[0], (uint32_t)values[1], values + 2);
        else if (strncmp(line, "run", 3) == 0)
            max = line[4] == 'm', damping = values[1], iterations = values[2];
        else if (strncmp(line, "belief", 6) == 0)
            memcpy(beliefs, values, count * sizeof(*values));
        else if (strncmp(line, "change", 6) == 0)
            change = values[0];
        if (strncmp(line, max ? "change" : "logz", 4) == 0) {
            compare_run(&model, max, damping, (size_t)iterations, beliefs, change, values[0]);
            runs++;
        }
    }
    fclose(file);
    assert_int_equal(runs, 20);
}

/* ---- ranks ---------------------------------------------------------------------------------- */

static const struct hm_mrf_recipe made[] = {
    {HM_MRF_GRID, .rows = 9, .columns = 11, .states = 2, .coupling = 1, .field = 0.5, .seed = 1},
    {HM_MRF_TREE, .vertices = 120, .states = 2, .coupling = 2, .field = 1, .seed = 2},
    {HM_MRF_RANDOM, .vertices = 60, .edges = 300, .states = 2, .coupling = 0.3, .seed = 3},
    {HM_MRF_GRID, .rows = 8, .columns = 8, .states = 3, .coupling = 0.7, .field = 1, .seed = 4},
    {HM_MRF_RANDOM, .vertices = 40, .edges = 150, .states = 5, .coupling = 0.3, .seed = 5},
    {HM_MRF_GRID, .rows = 2, .columns = 2, .states = 2, .coupling = 1, .field = 1, .seed = 6},
    {HM_MRF_TREE, .vertices = 1, .states = 4, .coupling = 1, .field = 1, .seed = 7},
};

static void any_number_of_ranks_gives_the_same_bits(void **state)
{
    static const int sizes[] = {2, 3, 7, 16, 61, 130};

    (void)state;
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        for (int way = 0; way < 4; way++) {
            struct propagate_run one = {.recipe = &made[i], .iterations = 12}, many = one;
            one.settings = (struct hm_propagate_settings){way % 2, false, way < 2 ? 0 : 0.25};
            many.settings = one.settings;
            run_on(&one, 1);
            for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
                if (way > 0 && s % 3 != 1 && !is_torture())
                    continue; /* The other kinds of messages are tested on 3 and 61 ranks only. */
                run_on(&many, sizes[s]);
                assert_int_equal(many.total, one.total);
                assert_memory_equal(many.messages, one.messages, one.total * sizeof(double));
                assert_memory_equal(&many.change, &one.change, sizeof(double));
                assert_memory_equal(many.beliefs, one.beliefs, 512 * sizeof(double));
                assert_true(fabs(many.log_z - one.log_z) <= 1e-12 * fabs(one.log_z));
                assert_true(fabs(many.score - one.score) <= 1e-12 * fabs(one.score));
            }
            run_release(&one);
            run_release(&many);
        }
}

struct fingerprint {
    struct propagate_run run;
    double value;
};

static void fingerprint_body(struct hm_comm *comm, void *context)
{
    struct fingerprint *f = context;
    struct hm_mrf *mrf = part_of(&f->run, comm->rank, comm->size);
    double value = hm__mrf_fingerprint(comm, mrf);

    if (comm->rank == 0)
        f->value = value;
    hm__mrf_free(mrf);
}

static double fingerprint_of(const struct propagate_run *run, int ranks)
{
    struct fingerprint f = {.run = *run};

    fake_comm_run(ranks, fingerprint_body, &f);
    return f.value;
}

/* The fingerprint depends on each potential and on each edge, and not on the number of ranks. */
static void fingerprints_tell_fields_apart(void **state)
{
    struct model model;
    struct propagate_run run = {.model = &model};

    (void)state;
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
        struct hm_mrf_recipe recipe = made[i];
        const struct propagate_run given = {.recipe = &recipe};
        double one = fingerprint_of(&given, 1);
        assert_true(one > 0 && fingerprint_of(&given, 3) == one);
        assert_true(fingerprint_of(&given, 61) == one);
        recipe.seed += 100;
        assert_true(fingerprint_of(&given, 3) != one);
    }
    random_tree(&model, 20, 2, 5);
    double one = fingerprint_of(&run, 1);
    assert_true(fingerprint_of(&run, 7) == one);
    for (size_t i = 0; i < 2; i++) {
        double *changed = i ? &model.unary[model.unary_places[20] - 1]
                            : &model.tables[model.table_places[19] - 1];
        *changed *= 1.5;
        assert_true(fingerprint_of(&run, 7) != one);
        *changed /= 1.5;
    }
}

static void a_thousand_ranks_are_not_too_many(void **state)
{
    struct propagate_run one = {.recipe = &made[0], .iterations = 2}, many = one;

    (void)state;
    run_on(&one, 1);
    run_on(&many, 1024);
    assert_memory_equal(many.messages, one.messages, one.total * sizeof(double));
    run_release(&one);
    run_release(&many);
}

/* Messages that are stored after 5 iterations and continued on another number of ranks have the
 * same bits as after 12 iterations without interruption. */
static void stored_messages_resume(void **state)
{
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        struct propagate_run whole = {.recipe = &made[i], .iterations = 12}, before = whole,
                             after = whole;
        before.iterations = 5;
        after.iterations = 7;
        run_on(&whole, 1);
        run_on(&before, 3);
        after.start = before.messages;
        run_on(&after, 8);
        assert_memory_equal(after.messages, whole.messages, whole.total * sizeof(double));
        assert_memory_equal(&after.change, &whole.change, sizeof(double));
        run_release(&whole);
        run_release(&before);
        run_release(&after);
    }
}

/* The work and the bytes of ten more iterations are counted. Rank 0 has 10 inner edges and 4 cut
 * edges. */
static void work_and_bytes_are_counted(void **state)
{
    struct hm_mrf_recipe recipe = made[0];
    struct propagate_run ten = {.recipe = &recipe, .iterations = 10}, twenty = ten;

    (void)state;
    recipe.rows = 4, recipe.columns = 4;
    twenty.iterations = 20;
    run_on(&ten, 2);
    run_on(&twenty, 2);
    assert_near(twenty.bytes - ten.bytes, 10 * (4 * 8 + ten.reduce_bytes), 0);
    assert_near(twenty.flop - ten.flop, 10 * (14 * 2 * 11 + ten.reduce_flop), 0);
    run_release(&ten);
    run_release(&twenty);
}

static void graphs_get_the_potentials_of_recipes(void **state)
{
    struct hm_recipe recipe = {.kind = HM_RECIPE_GRID, .vertices = 12, .seed = 1};
    struct hm_mrf_recipe potentials = made[0];
    struct propagate_run a = {.recipe = &potentials, .iterations = 8}, b = a;
    struct hm_graph *graph = NULL;
    struct hm_mrf *mrf = NULL;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(hm_graph_make(&recipe, &graph, NULL), 0);
    potentials.rows = 3, potentials.columns = 4;
    run_on(&a, 2);
    b.graph = graph;
    run_on(&b, 3);
    assert_int_equal(a.total, 34);
    assert_memory_equal(a.messages, b.messages, 34 * sizeof(double));
    run_release(&a);
    run_release(&b);
    graph->ends = NULL;
    assert_int_equal(hm__mrf_from_graph(graph, &potentials, 0, 1, &mrf, &err), HM_E_MISSING);
    hm_graph_free(graph);
}

/* ---- hard cases ----------------------------------------------------------------------------- */

static void lone_vertices_keep_their_potential(void **state)
{
    static struct model model;

    (void)state;
    for (int general = 0; general < 2; general++) {
        struct propagate_run run = {.model = &model, .iterations = 3, .settings.general = general};
        model_init(&model);
        for (int v = 0; v < 5; v++)
            add_vertex(&model, 2, (double[]){1, v == 2 ? 0.25 : 1});
        add_edge(&model, 0, 4, (double[]){1, 0.5, 0.5, 1});
        run_on(&run, 2);
        assert_near(run.beliefs[5], 0.2, 1e-15);
        assert_near(run.beliefs[2], 0.5, 1e-15);
        assert_near(run.log_z, log(3 * 4 * 1.25), 1e-14);
        run_release(&run);
        model.m.edges = 0; /* The field now has no edges. */
        run = (struct propagate_run){.model = &model, .iterations = 1, .settings.general = general};
        run_on(&run, 3);
        assert_near(run.change, 0, 0);
        assert_near(run.log_z, log(16 * 1.25), 1e-14);
        run_release(&run);
    }
}

enum { LEAVES = 100000 };

/* Makes a star whose hub is vertex 0; its leaves contribute factors up to e^+-40000 with both
 * signs. */
static struct hm_mrf *star(double *ret_log_ratio)
{
    struct hm_mrf *mrf = hm__mrf_new(LEAVES + 1, LEAVES, 0, 1);
    struct hm_mrf_edges edges = {0};
    long double log_ratio = logl(1.5L);

    for (uint32_t leaf = 1; leaf <= LEAVES; leaf++)
        assert_int_equal(hm__mrf_add(mrf, &edges, 0, leaf, leaf, NULL), 0);
    assert_int_equal(hm__mrf_connect(mrf, &edges, NULL), 0);
    hm__free(edges.list);
    mrf->unary = hm__calloc(LEAVES + 1, 2 * sizeof(double));
    mrf->weights = hm__calloc(LEAVES, sizeof(double));
    mrf->unary[0] = 1 / 1.5;
    mrf->unary[1] = 1;
    for (size_t v = 0; v <= LEAVES; v++)
        mrf->places[v + 1] = 2 * v + 2;
    for (size_t leaf = 1; leaf <= LEAVES; leaf++) {
        bool up = leaf <= LEAVES / 2;
        double w = exp(1 + 1e-6 * (double)(leaf % 7)), c;
        mrf->unary[2 * leaf] = up ? 1 / 3.0 : 1;
        mrf->unary[2 * leaf + 1] = up ? 1 : 1 / 3.0;
        mrf->weights[leaf - 1] = w;
        c = mrf->unary[2 * leaf + 1] / mrf->unary[2 * leaf];
        log_ratio += logl((1 + (long double)w * c) / (w + (long double)c));
    }
    *ret_log_ratio = (double)log_ratio;
    return mrf;
}

static void a_star_neither_overflows_nor_cancels(void **state)
{
    static double beliefs[2 * (LEAVES + 1)];
    double log_ratio;
    struct hm_mrf *mrf = star(&log_ratio);

    (void)state;
    assert_true(fabs(log_ratio) < 1 && fabs(log_ratio) > 1e-3);
    for (int general = 0; general < 2; general++) {
        struct hm_propagate_settings settings = {.general = general};
        struct hm_propagate *p;
        struct hm_comm comm;
        hm__comm_alone(&comm);
        assert_int_equal(hm__propagate_new(mrf, &settings, &comm, &p, NULL), 0);
        assert_int_equal(is_binary(mrf, hm__propagate_message_count(p)), !general);
        hm__propagate_step(p, &comm);
        hm__propagate_step(p, &comm);
        hm__propagate_beliefs(p, beliefs);
        /* The tolerance allows for 1e5 rounding errors of values up to 40000. */
        assert_near(log(beliefs[1] / beliefs[0]), log_ratio, 1e-7);
        double w = mrf->weights[0], hub = exp(log_ratio) / ((1 + 3 * w) / (w + 3));
        double leaf = 3 * (1 + w * hub) / (w + hub);
        assert_near(beliefs[3] / beliefs[2], leaf, 1e-7);
        assert_true(hm__propagate_step(p, &comm) < 1e-12);
        hm__propagate_free(p);
    }
    /* If all leaves favour the same state, the product of the hub is clamped. */
    for (size_t leaf = 1; leaf <= LEAVES; leaf++)
        mrf->unary[2 * leaf] = 1 / 3.0, mrf->unary[2 * leaf + 1] = 1;
    for (int general = 0; general < 2; general++) {
        struct hm_propagate_settings settings = {.general = general};
        struct hm_propagate *p;
        struct hm_comm comm;
        hm__comm_alone(&comm);
        assert_int_equal(hm__propagate_new(mrf, &settings, &comm, &p, NULL), 0);
        for (int iteration = 0; iteration < 3; iteration++)
            hm__propagate_step(p, &comm);
        hm__propagate_beliefs(p, beliefs);
        assert_true(beliefs[1] == 1 && beliefs[0] < 1e-100);
        assert_near(beliefs[3] / beliefs[2], 3 * mrf->weights[0], 1e-14);
        hm__propagate_free(p);
    }
    hm__mrf_free(mrf);
}

/* Tests the independent sets of a cycle of 5 vertices, which have hard constraints and a loop, and
 * then a contradiction. */
static void zeros_give_no_nan(void **state)
{
    static struct model model;
    const double not_both[] = {1, 1, 1, 0}, equal[] = {1, 0, 0, 1};

    (void)state;
    for (int max = 0; max < 2; max++) {
        struct propagate_run run = {.model = &model, .iterations = 60, .settings.max_product = max};
        model_init(&model);
        for (int v = 0; v < 5; v++)
            add_vertex(&model, 2, (double[]){0.8, 1});
        for (uint32_t v = 0; v < 4; v++) {
            add_edge(&model, v, v + 1, not_both);
            if (v == 0)
                add_edge(&model, 0, 4, not_both);
        }
        run_on(&run, 2);
        assert_false(run.binary);
        for (int i = 0; i < 10; i++)
            assert_true(run.beliefs[i] >= 0 && run.beliefs[i] <= 1);
        assert_true(isfinite(run.log_z));
        run_release(&run);

        /* Vertex 0 has state 0 and vertex 2 has state 1, but all vertices must have the same
         * state. */
        model_init(&model);
        add_vertex(&model, 2, (double[]){1, 0});
        add_vertex(&model, 2, (double[]){1, 1});
        add_vertex(&model, 2, (double[]){0, 1});
        add_edge(&model, 0, 1, equal);
        add_edge(&model, 1, 2, equal);
        run = (struct propagate_run){.model = &model, .iterations = 5, .settings.max_product = max};
        run_on(&run, 1);
        assert_near(run.beliefs[2], 0.5, 0);
        assert_false(isnan(run.beliefs[0]) || isnan(run.beliefs[4]) || isnan(run.change));
        run_release(&run);
    }
}

/* Evidence, which gives a potential of 0 to all other states of a vertex, is exact. */
static void evidence_is_exact(void **state)
{
    static struct model model;
    struct propagate_run run = {.model = &model, .iterations = 4};

    (void)state;
    model_init(&model);
    add_vertex(&model, 2, (double[]){0, 1});
    add_vertex(&model, 2, (double[]){1, 1});
    add_edge(&model, 0, 1, (double[]){1, 0.5, 0.5, 1});
    run_on(&run, 1);
    assert_near(run.beliefs[0], 0, 0);
    assert_near(run.beliefs[3], 2.0 / 3, 1e-15);
    assert_near(run.log_z, log(1.5), 1e-14);
    run_release(&run);
}

/* With strong couplings, both kernels must still agree at vertices whose products could overflow
 * (propagate_binary.c). */
static void kernels_agree_on_strong_couplings(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        struct hm_mrf_recipe recipe = made[2];
        struct propagate_run fast = {.recipe = &recipe, .iterations = 6}, slow = fast;
        recipe.coupling = 12;
        recipe.field = 20;
        fast.settings = slow.settings =
            (struct hm_propagate_settings){way % 2, false, way < 2 ? 0 : 0.5};
        slow.settings.general = true;
        run_on(&fast, 2);
        run_on(&slow, 1);
        assert_true(fast.binary && !slow.binary);
        for (size_t i = 0; i < 120; i++)
            assert_true(fabs(fast.beliefs[i] - slow.beliefs[i]) <= 1e-9);
        assert_true(fabs(fast.change - slow.change) <= 1e-9);
        /* This coupling is beyond the range of the binary kernel, so the general kernel is used. */
        recipe.coupling = 30;
        run_on(&fast, 1);
        assert_false(fast.binary);
        run_release(&fast);
        run_release(&slow);
    }
}

/* ---- recipes -------------------------------------------------------------------------------- */

static void random_graphs_have_as_many_edges_as_asked(void **state)
{
    struct hm_mrf_recipe recipe = {HM_MRF_RANDOM, .vertices = 200, .edges = 19900, .states = 2};
    struct hm_mrf *mrf;

    (void)state;
    /* The graph has all pairs of vertices, each once. */
    assert_int_equal(hm__mrf_make(&recipe, 0, 1, &mrf, NULL), 0);
    assert_int_equal(mrf->edge_count, 19900);
    for (size_t e = 0, a = 0, b = 1; e < 19900; e++) {
        assert_int_equal(mrf->ends[2 * e], a);
        assert_int_equal(mrf->ends[2 * e + 1], b);
        if (++b == 200)
            a++, b = a + 1;
    }
    hm__mrf_free(mrf);
    recipe.vertices = 1000, recipe.edges = 20000;
    double square = 0; /* The degrees have the mean 40 and the variance 40 (1 - 40/999). */
    for (int rank = 0; rank < 4; rank++) {
        size_t degrees[250] = {0};
        assert_int_equal(hm__mrf_make(&recipe, rank, 4, &mrf, NULL), 0);
        for (size_t i = 0; i < 2 * mrf->edge_count; i++)
            if (mrf->ends[i] < 250)
                degrees[mrf->ends[i]]++;
        for (size_t v = 0; v < 250; v++)
            square += ((double)degrees[v] - 40) * ((double)degrees[v] - 40);
        hm__mrf_free(mrf);
    }
    assert_true(fabs(square / 1000 - 38.4) < 7); /* The tolerance is four standard errors. */
}

static void impossible_recipes_are_refused(void **state)
{
    static const struct {
        struct hm_mrf_recipe recipe;
        const char *message;
    } rows[] = {
        {{HM_MRF_GRID, .rows = 0, .columns = 3, .states = 2},
         "a grid of 0 x 3: both must be whole numbers, with at most 2^32 - 1 vertices in all"},
        {{HM_MRF_GRID, .rows = 1e6, .columns = 1e6, .states = 2},
         "a grid of 1e+06 x 1e+06: both must be whole numbers, with at most 2^32 - 1 vertices in "
         "all"},
        {{HM_MRF_TREE, .vertices = 0.5, .states = 2},
         "vertices: 0.5 is not a whole number from 1 to 2^32 - 1"},
        {{HM_MRF_RANDOM, .vertices = 1, .edges = 1, .states = 2},
         "vertices: 1 is not a whole number from 2 to 2^32 - 1"},
        {{HM_MRF_RANDOM, .vertices = 4, .edges = 7, .states = 2},
         "edges: 7 is not a whole number from 1 to 6"},
        {{HM_MRF_TREE, .vertices = 4, .states = 1},
         "states: 1 is not a whole number from 2 to 4096"},
        {{HM_MRF_TREE, .vertices = 4, .states = 2, .coupling = 31},
         "coupling: 31 is not from -30 to 30"},
        {{HM_MRF_TREE, .vertices = 4, .states = 2, .field = -1}, "field: -1 is not from 0 to 30"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hm_mrf *mrf = NULL;
        struct hm_err err = {0};
        assert_int_equal(hm__mrf_make(&rows[i].recipe, 0, 1, &mrf, &err), HM_E_RANGE);
        assert_string_equal(err.message, rows[i].message);
    }
    struct hm_propagate_settings settings = {.damping = 1};
    struct hm_propagate *p = NULL;
    struct hm_mrf *mrf = NULL;
    struct hm_err err = {0};
    struct hm_comm comm;
    hm__comm_alone(&comm);
    assert_int_equal(hm__mrf_make(&made[0], 0, 1, &mrf, NULL), 0);
    assert_int_equal(hm__propagate_new(mrf, &settings, &comm, &p, &err), HM_E_RANGE);
    assert_string_equal(err.message, "damping: 1 is not from 0 to below 1");
    hm__mrf_free(mrf);
}

/* ---- memory --------------------------------------------------------------------------------- */

static int whole_way(const struct hm_mrf_recipe *recipe, const struct model *model,
                     struct hm_err *err)
{
    struct hm_propagate_settings settings = {0};
    struct hm_propagate *p = NULL;
    struct hm_mrf *mrf = NULL;
    double messages[2048];
    struct hm_comm comm;
    int rc = recipe ? hm__mrf_make(recipe, 0, 1, &mrf, err)
                    : hm__mrf_from_markov(&model->m, 0, 1, &mrf, err);

    hm__comm_alone(&comm);
    if (rc == 0)
        rc = hm__propagate_new(mrf, &settings, &comm, &p, err);
    if (rc == 0) {
        hm__propagate_step(p, &comm);
        hm__propagate_get(p, messages);
        rc = hm__propagate_put(p, messages, &comm, err);
    }
    hm__propagate_free(p);
    hm__mrf_free(mrf);
    return rc;
}

static void failed_allocations_are_reported(void **state)
{
    static struct model model;

    (void)state;
    for (int way = 0; way < 6; way++) {
        const struct hm_mrf_recipe *recipe = way < 4 ? &made[way] : NULL;
        long after = 0;
        random_tree(&model, 8, way < 5 ? 1 : 3, 1);
        for (;; after++) {
            struct hm_err err = {0};
            hm__alloc_fail_after(after);
            int rc = whole_way(recipe, &model, &err);
            hm__alloc_fail_after(-1);
            if (rc == 0)
                break;
            assert_int_equal(rc, HM_E_NOMEM);
            assert_string_equal(err.message, "out of memory");
        }
        assert_true(after > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_exact),
        cmocka_unit_test(chains_have_their_closed_form),
        cmocka_unit_test(grids_agree_with_an_independent_program),
        cmocka_unit_test(any_number_of_ranks_gives_the_same_bits),
        cmocka_unit_test(fingerprints_tell_fields_apart),
        cmocka_unit_test(a_thousand_ranks_are_not_too_many),
        cmocka_unit_test(stored_messages_resume),
        cmocka_unit_test(work_and_bytes_are_counted),
        cmocka_unit_test(graphs_get_the_potentials_of_recipes),
        cmocka_unit_test(lone_vertices_keep_their_potential),
        cmocka_unit_test(a_star_neither_overflows_nor_cancels),
        cmocka_unit_test(zeros_give_no_nan),
        cmocka_unit_test(evidence_is_exact),
        cmocka_unit_test(kernels_agree_on_strong_couplings),
        cmocka_unit_test(random_graphs_have_as_many_edges_as_asked),
        cmocka_unit_test(impossible_recipes_are_refused),
        cmocka_unit_test(failed_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
