/*
 * Reads graph files, plain or gzip, in one streaming pass:
 *
 *     degrees   lines "degree count", as in the files of the SNAP collection
 *     edges     lines "vertex vertex", with ids below 2^63; # and % begin comments
 *     metis     the format of METIS (manual of METIS 5.1, section 4.1): a line "vertices edges
 *               [format [weights]]", then one line of neighbours for each vertex; weights are
 * skipped
 *
 * Numbers are parsed directly from the buffer, which is as fast as decompression.
 */
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "degree_count.h"
#include "err.h"
#include "graph_build.h"
#include "graph_read.h"
#include "memory.h"
#include "source.h"

enum { GRAPH_BUFFER = HM_BUFFER_SIZE(256 * 1024, 512) };

struct graph_lines {
    struct hm_bytes bytes;
    const char *path;
    int line;     /* Line number of the next byte, counted from 1. */
    int row_line; /* Line number of the numbers that were read most recently, counted from 1. */
    bool cut;     /* The file ended within the numbers that were read most recently. */
    struct hm_err *err;
};

static int graph_fail(const struct graph_lines *in, int code, const char *message, const char *hint)
{
    hm__fail(in->err, code, "%s", message);
    hm__err_hint(in->err, "%s", hint);
    hm__err_at(in->err, in->path, in->line);
    return code;
}

/* Skips the rest of the line. Returns its last byte, or a negative value as hm__bytes_next does. */
static int skip_line(struct graph_lines *in)
{
    int c;

    do
        c = hm__bytes_next(&in->bytes);
    while (c >= 0 && c != '\n');
    in->line += c == '\n';
    return c;
}

/*
 * Reads the whole numbers of the next line that is neither empty nor a comment, at most `room` of
 * them. *count is 0 at the end of the file. Lines that begin with # or % are comments.
 */
static int read_numbers(struct graph_lines *in, uint64_t *numbers, size_t room, size_t *count)
{
    int c;

    *count = 0;
    for (;;) {
        c = hm__bytes_next(&in->bytes);
        if (*count == 0 && (c == '#' || c == '%'))
            c = skip_line(in);
        else if (c >= '0' && c <= '9') {
            uint64_t value = 0;
            in->row_line = in->line;
            do {
                uint64_t digit = (uint64_t)(c - '0');
                if (value > ((UINT64_MAX >> 1) - digit) / 10)
                    return graph_fail(in, HM_E_RANGE, "a number of 2^63 or more",
                                      "ids must be below 2^63");
                value = value * 10 + digit;
                c = hm__bytes_next(&in->bytes);
            } while (c >= '0' && c <= '9');
            if (*count == room)
                return graph_fail(in, HM_E_SYNTAX, "too many numbers in a line",
                                  "two are expected: is the format correct?");
            numbers[(*count)++] = value;
            in->bytes.at -= c >= 0;
            continue;
        } else if (c == '\n')
            in->line++;
        if (c < -1)
            return c + 1;
        if (c == -1 || (c == '\n' && *count > 0)) {
            in->cut = in->cut || (c == -1 && *count > 0);
            return 0;
        }
        if (c != ' ' && c != '\t' && c != '\r' && c != '\n' && c != ',')
            return graph_fail(in, HM_E_SYNTAX, "a character that is not part of a number",
                              "a line holds whole numbers; comments begin with #");
    }
}

/* Reads a number of 1 to 18 digits at *at and moves *at past it; returns false if there is no such
 * number. It never reads more than 20 bytes; read_plain_pair relies on this. */
static inline bool read_plain_number(const char **at, uint64_t *value)
{
    const char *p = *at;
    uint64_t v = 0;

    while (*p >= '0' && *p <= '9' && p - *at < 19)
        v = v * 10 + (uint64_t)(*p++ - '0');
    bool plain = p > *at && p - *at <= 18;
    *at = p;
    *value = v;
    return plain;
}

/*
 * Reads a line of the common form "number blank number newline" directly from the buffer. Returns
 * false in all other cases (a comment, the end of the file, an error); read_numbers then handles
 * the line.
 */
static inline bool read_plain_pair(struct graph_lines *in, uint64_t ids[2])
{
    /*
     * Largest number of bytes that a pair of numbers can occupy. If the buffer holds at least this
     * many bytes, it contains the whole pair.
     */
    enum { LONGEST = 48 };
    const char *start = in->bytes.buffer + in->bytes.at, *at = start;

    if (in->bytes.length - in->bytes.at < LONGEST || !read_plain_number(&at, &ids[0]) ||
        (*at != '\t' && *at != ' '))
        return false;
    at++;
    if (!read_plain_number(&at, &ids[1]) || *at != '\n')
        return false;
    in->bytes.at += (size_t)(at + 1 - start);
    in->row_line = in->line++;
    return true;
}

/* Reads the next edge. *count is 2, or 1 for an incomplete edge, or 0 at the end of the file. */
static inline int read_edge(struct graph_lines *in, uint64_t ids[2], size_t *count)
{
    if (read_plain_pair(in, ids)) {
        *count = 2;
        return 0;
    }
    return read_numbers(in, ids, 2, count);
}

/* Makes the next error name the line of the numbers that were read most recently. */
static void use_row_line(struct graph_lines *in)
{
    in->line = in->row_line;
}

static int read_degrees(struct graph_lines *in, struct hm_graph **ret_graph)
{
    struct hm_degree *degrees = NULL;
    size_t used = 0, room = 0, count;
    uint64_t numbers[2];
    double sum = 0, vertices = 0, most = 0;
    int rc;

    while ((rc = read_numbers(in, numbers, 2, &count)) == 0 && count > 0) {
        if (count != 2) {
            use_row_line(in);
            rc = graph_fail(in, HM_E_SYNTAX, "one number where two are expected",
                            "a line has the form: degree count");
            break;
        }
        struct hm_degree *more = hm__grow(degrees, used, &room, sizeof(*degrees));
        if (!more) {
            rc = hm__fail_nomem(in->err);
            break;
        }
        degrees = more;
        degrees[used++] = (struct hm_degree){(double)numbers[0], (double)numbers[1]};
        sum += (double)numbers[0] * (double)numbers[1];
        vertices += (double)numbers[1];
        most = (double)numbers[0] > most && numbers[1] > 0 ? (double)numbers[0] : most;
    }
    if (rc == 0)
        in->line = 0;
    if (rc == 0 && (vertices == 0 || sum == 0))
        rc = graph_fail(in, HM_E_MISSING, "the graph has no edge",
                        "a line has the form: degree count");
    if (rc == 0 && (sum >= 9007199254740992.0 || vertices >= 9007199254740992.0))
        rc = graph_fail(in, HM_E_LIMIT, "more than 2^52 vertices or edges",
                        "is this a degree distribution?");
    if (rc == 0 && (sum / 2) * 2 == sum && ((uint64_t)sum & 1))
        rc = graph_fail(in, HM_E_RANGE, "the degrees add up to an odd number",
                        "every edge has two ends: a line is missing or wrong");
    if (rc == 0 && most >= vertices)
        rc = graph_fail(in, HM_E_RANGE, "a degree is not below the number of vertices",
                        "a line has the form: degree count");
    if (rc == 0)
        rc = hm__graph_from_degrees(degrees, used, in->path, ret_graph, in->err);
    hm__free(degrees);
    return rc;
}

/* Creates a graph from the counted degrees. */
static int graph_from_counts(struct graph_lines *in, struct hm_degree_count *counts,
                             struct hm_graph **ret_graph)
{
    struct hm_degree *degrees;
    size_t length;
    int rc = hm__degree_count_take(counts, &degrees, &length, in->err);

    if (rc)
        return rc;
    rc = length == 0 ? graph_fail(in, HM_E_MISSING, "the graph has no edge",
                                  "a line has the form: vertex vertex")
                     : hm__graph_from_degrees(degrees, length, in->path, ret_graph, in->err);
    hm__free(degrees);
    return rc;
}

static int read_edge_degrees(struct graph_lines *in, struct hm_graph **ret_graph)
{
    struct hm_degree_count *counts = hm__degree_count_new();
    uint64_t ids[2];
    size_t count = 0;
    double read = 0, loops = 0;
    int rc = counts ? 0 : hm__fail_nomem(in->err);

    while (rc == 0 && (rc = read_edge(in, ids, &count)) == 0 && count == 2) {
        read++;
        loops += ids[0] == ids[1];
        if (ids[0] == ids[1])
            continue;
        rc = hm__degree_count_add(counts, ids[0], in->err);
        if (rc == 0)
            rc = hm__degree_count_add(counts, ids[1], in->err);
    }
    if (rc == 0 && count == 1) {
        use_row_line(in);
        rc = graph_fail(in, HM_E_SYNTAX, "one id where two are expected",
                        "a line has the form: vertex vertex");
    }
    if (rc == 0) {
        in->line = 0;
        rc = graph_from_counts(in, counts, ret_graph);
    }
    if (rc == 0) {
        (*ret_graph)->lines = read;
        (*ret_graph)->self_loops = loops;
    }
    hm__degree_count_free(counts);
    return rc;
}

static int read_edges(struct graph_lines *in, struct hm_graph **ret_graph)
{
    struct hm_edge_list list = {0};
    uint64_t ids[2];
    size_t count;
    int rc;

    while ((rc = read_edge(in, ids, &count)) == 0 && count == 2)
        if ((rc = hm__edge_list_add(&list, ids[0], ids[1], in->err)))
            break;
    if (rc == 0 && count == 1) {
        use_row_line(in);
        rc = graph_fail(in, HM_E_SYNTAX, "one id where two are expected",
                        "a line has the form: vertex vertex");
    }
    if (rc == 0) {
        rc = hm__graph_from_edges(&list, 0, in->path, ret_graph, in->err);
        hm__err_at(rc ? in->err : NULL, in->path, 0);
    }
    hm__edge_list_release(&list);
    return rc;
}

/* The numbers in one line of the file. */
struct numbers {
    uint64_t *values;
    size_t count, room;
};

static int add_number(struct graph_lines *in, struct numbers *n, uint64_t value)
{
    uint64_t *values = hm__grow(n->values, n->count, &n->room, sizeof(*values));
    if (!values)
        return hm__fail_nomem(in->err);
    n->values = values;
    n->values[n->count++] = value;
    return 0;
}

/*
 * Reads the next line of a METIS file that is not a comment (a line that begins with %). An empty
 * line is a vertex without neighbours. Returns 0 after a line, 1 at the end of the file, or a
 * negative error code.
 */
static int read_metis_line(struct graph_lines *in, struct numbers *n)
{
    int c = hm__bytes_next(&in->bytes), rc;

    n->count = 0;
    while (c == '%')
        if ((c = skip_line(in)) >= 0)
            c = hm__bytes_next(&in->bytes);
    if (c == -1)
        return 1;
    in->row_line = in->line;
    while (c >= 0 && c != '\n') {
        if (c == ' ' || c == '\t' || c == '\r') {
            c = hm__bytes_next(&in->bytes);
            continue;
        }
        uint64_t value = 0;
        if (c < '0' || c > '9')
            return graph_fail(in, HM_E_SYNTAX, "a character that is not part of a number",
                              "a line of a METIS file holds the neighbours of one vertex");
        for (; c >= '0' && c <= '9'; c = hm__bytes_next(&in->bytes)) {
            if (value > UINT32_MAX)
                return graph_fail(in, HM_E_RANGE, "a number above 2^32",
                                  "METIS numbers vertices from 1");
            value = value * 10 + (uint64_t)(c - '0');
        }
        if ((rc = add_number(in, n, value)))
            return rc;
    }
    in->line += c == '\n';
    return c < -1 ? c + 1 : 0;
}

/* The first line of a METIS file: vertices edges [format [weights of a vertex]]. */
struct metis_header {
    uint64_t vertices, edges;
    /* Number of values that are skipped before the neighbours: the size and the weights of the
     * vertex. */
    size_t skip;
    bool edge_weights; /* True if each neighbour is followed by a weight. */
};

static int read_metis_header(struct graph_lines *in, struct numbers *n, struct metis_header *h)
{
    int rc;

    do
        rc = read_metis_line(in, n);
    while (rc == 0 && n->count == 0);
    if (rc < 0)
        return rc;
    if (rc > 0 || n->count < 2 || n->count > 4)
        return graph_fail(in, HM_E_SYNTAX, "no METIS header", "the first line is: vertices edges");
    uint64_t format = n->count > 2 ? n->values[2] : 0, weights = n->count > 3 ? n->values[3] : 1;
    use_row_line(in);
    if (format % 10 > 1 || format / 10 % 10 > 1 || format / 100 > 1 || weights > 1000)
        return graph_fail(in, HM_E_RANGE, "an unknown METIS format",
                          "the format has up to three digits, each 0 or 1");
    if (n->values[0] == 0 || n->values[0] > UINT32_MAX)
        return graph_fail(in, HM_E_RANGE, "the number of vertices is out of range",
                          "it must be 1 to 4294967295");
    in->line++;
    h->vertices = n->values[0];
    h->edges = n->values[1];
    h->edge_weights = format % 10 == 1;
    h->skip = (size_t)((format / 10 % 10 == 1 ? weights : 0) + (format / 100 == 1));
    return 0;
}

static int read_metis_vertex(struct graph_lines *in, struct hm_edge_list *list, uint64_t v,
                             const struct metis_header *h, const struct numbers *n, uint64_t *ends)
{
    size_t step = h->edge_weights ? 2 : 1;
    int rc = 0;

    if (n->count < h->skip || (n->count - h->skip) % step != 0) {
        use_row_line(in);
        return graph_fail(in, HM_E_SYNTAX, "weights are missing",
                          "the format in the first line says that they follow");
    }
    for (size_t i = h->skip; rc == 0 && i < n->count; i += step) {
        if (n->values[i] < 1 || n->values[i] > h->vertices) {
            use_row_line(in);
            return graph_fail(in, HM_E_RANGE, "a neighbour is not a vertex",
                              "vertices are numbered from 1");
        }
        ++*ends;
        /*
         * The file lists every edge at both ends, so the edge is added only once, at the smaller
         * vertex.
         */
        if (n->values[i] - 1 >= v)
            rc = hm__edge_list_add(list, v, n->values[i] - 1, in->err);
    }
    return rc;
}

/* Reads the lines of all vertices; only comments and empty lines may follow. The file must list
 * every edge at both of its ends. */
static int read_metis_body(struct graph_lines *in, struct hm_edge_list *list, struct numbers *n,
                           const struct metis_header *h)
{
    uint64_t ends = 0;
    int rc = 0;

    for (uint64_t v = 0; rc == 0 && v < h->vertices; v++) {
        rc = read_metis_line(in, n);
        if (rc > 0)
            return graph_fail(in, HM_E_SYNTAX, "the file ends before its last vertex",
                              "is it complete?");
        if (rc == 0)
            rc = read_metis_vertex(in, list, v, h, n, &ends);
    }
    while (rc == 0 && (rc = read_metis_line(in, n)) == 0) {
        if (n->count > 0) {
            use_row_line(in);
            return graph_fail(in, HM_E_SYNTAX, "more lines than vertices",
                              "the first number of the file is the number of vertices");
        }
    }
    if (rc < 0)
        return rc;
    if (list->count != h->edges || ends != 2 * h->edges)
        return graph_fail(
            in, HM_E_CONFLICT, "the number of edges differs from the first line",
            "the second number counts every edge once, and every edge is listed at both ends");
    return 0;
}

/*
 * Refuses a file in which nearly all vertices have no neighbour. Such a vertex is one byte of text
 * (which may be compressed a thousand times), but twelve bytes of memory.
 */
static int check_isolated(struct graph_lines *in, const struct hm_edge_list *list,
                          const struct metis_header *h)
{
    enum { ISOLATED_FREE = 1000000, ISOLATED_EACH = 100 };

    if (h->vertices <= ISOLATED_FREE + ISOLATED_EACH * (uint64_t)list->count)
        return 0;
    in->line = 0;
    return graph_fail(in, HM_E_LIMIT, "nearly all vertices have no neighbour",
                      "leave out vertices without neighbours: only edges are split");
}

static int read_metis(struct graph_lines *in, bool degrees_only, struct hm_graph **ret_graph)
{
    struct hm_edge_list list = {0};
    struct numbers n = {0};
    struct metis_header h = {0};
    int rc = read_metis_header(in, &n, &h);

    if (rc == 0)
        rc = read_metis_body(in, &list, &n, &h);
    if (rc == 0)
        rc = check_isolated(in, &list, &h);
    if (rc == 0) {
        rc = hm__graph_from_edges(&list, (double)h.vertices, in->path, ret_graph, in->err);
        hm__err_at(rc ? in->err : NULL, in->path, 0);
    }
    if (rc == 0 && degrees_only)
        (*ret_graph)->ends = NULL;
    hm__edge_list_release(&list);
    hm__free(n.values);
    return rc;
}

/* Returns whether a path ends with `end`, or with `end` and .gz. */
static bool has_suffix(const char *path, const char *end)
{
    size_t length = strlen(path), ending = strlen(end);

    if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
        length -= 3;
    return length > ending && strncmp(path + length - ending, end, ending) == 0;
}

static enum hm_graph_format guess_format(const char *path)
{
    if (has_suffix(path, ".graph") || has_suffix(path, ".metis"))
        return HM_GRAPH_METIS;
    if (has_suffix(path, ".degree_dist") || has_suffix(path, ".degrees"))
        return HM_GRAPH_DEGREES;
    return HM_GRAPH_EDGES;
}

/* Reads a graph from an open stream, and closes the stream. */
static int read_graph(struct graph_lines *in, enum hm_graph_format format, bool degrees_only,
                      struct hm_graph **ret_graph)
{
    int rc;

    if (format == HM_GRAPH_AUTO)
        format = guess_format(in->path);
    if (format == HM_GRAPH_DEGREES)
        rc = read_degrees(in, ret_graph);
    else if (format == HM_GRAPH_METIS)
        rc = read_metis(in, degrees_only, ret_graph);
    else
        rc = degrees_only ? read_edge_degrees(in, ret_graph) : read_edges(in, ret_graph);
    hm__bytes_close(&in->bytes);
    if (rc == 0)
        (*ret_graph)->may_be_cut = in->cut;
    return rc;
}

int hm_graph_load(const char *path, enum hm_graph_format format, bool degrees_only,
                  struct hm_graph **ret_graph, struct hm_err *err)
{
    int bad = hm__check_pointers(err, "path", path, "ret_graph", ret_graph, NULL);
    if (bad == 0)
        bad = hm__check_enum("format", (int)format, HM_GRAPH_METIS + 1, err);
    if (bad)
        return bad;
    struct graph_lines in = {.path = path, .line = 1, .err = err};
    int rc = hm__bytes_open(&in.bytes, path, GRAPH_BUFFER, err);

    return rc ? rc : read_graph(&in, format, degrees_only, ret_graph);
}

int hm__graph_parse(const char *text, size_t length, const char *name, enum hm_graph_format format,
                    bool degrees_only, struct hm_graph **ret_graph, struct hm_err *err)
{
    struct graph_lines in = {.path = name, .line = 1, .err = err};
    int rc = hm__bytes_open_memory(&in.bytes, text, length, name, GRAPH_BUFFER, err);

    return rc ? rc : read_graph(&in, format, degrees_only, ret_graph);
}
