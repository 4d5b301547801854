/*
 * The file: a head of text lines, one "name value" each, a line of blanks and an empty one, the
 * parts as doubles of this machine (w first), and 8 bytes of checksum over everything before them.
 *
 *     howmany checkpoint 1
 *     identity svm a9a rows 32561 ...
 *     algorithm cocoa+
 *     ranks 4
 *     iteration 20
 *     ...
 *     part w 123
 *     part alpha 32561
 *
 * A part that is dealt out over the ranks is written in the order of the ranks, which is the order
 * of the rows. Rank 0 passes pieces on, so that it never holds more than its own and one piece.
 */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agree.h"
#include "err.h"
#include "text.h"

enum { PIECE = 1024, LINE = 2048, PATH = 4096 }; /* small: simulated ranks have small stacks */

#define ITERATIONS 0x1p40 /* more than there can be: what hm__run_random has room for */

static const char magic[] = "howmany checkpoint 1";

/* ---- checksum ------------------------------------------------------------------------------- */

/* FNV-1a over words of 8 bytes, with the bits moved down after each; a rest is filled with 0. */
static uint64_t checksum_add(uint64_t sum, const void *data, size_t bytes)
{
    const char *at = data;

    for (; bytes > 0; at += bytes < 8 ? bytes : 8, bytes -= bytes < 8 ? bytes : 8) {
        uint64_t word = 0;
        memcpy(&word, at, bytes < 8 ? bytes : 8);
        sum = (sum ^ word) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum;
}

/* ---- what there is to save ------------------------------------------------------------------ */

struct contents {
    struct hm_part parts[HM_PARTS + 1];
    size_t count;
    double totals[HM_PARTS + 1]; /* lengths over all ranks */
};

static struct contents contents_of(struct hm_run *run)
{
    struct contents c = {.count = 1};

    c.parts[0] = (struct hm_part){"w", run->w, run->objective->unknowns, false};
    if (run->algorithm->parts)
        c.count += run->algorithm->parts(run, c.parts + 1);
    for (size_t i = 0; i < c.count; i++)
        c.totals[i] = (double)c.parts[i].count;
    double sums[HM_PARTS + 1];
    memcpy(sums, c.totals, sizeof(sums));
    hm__comm_sum_few(run->comm, sums, c.count);
    for (size_t i = 0; i < c.count; i++)
        if (c.parts[i].of_rows)
            c.totals[i] = sums[i];
    return c;
}

static void write_head(struct hm_text *head, const struct hm_run *run, const char *identity,
                       const struct hm_train_totals *totals, const struct contents *c)
{
    hm__text_addf(head, "%s\nidentity %s\nalgorithm %s\nranks %d\n", magic, identity,
                  run->algorithm->name, run->comm->size);
    hm__text_addf(head, "iteration %.17g\nsamples %.17g\nelapsed_s %.17g\ncompute_s %.17g\n",
                  run->iteration, run->samples, totals->elapsed_s, totals->compute_s);
    hm__text_addf(head, "bytes %.17g\nflop %.17g\n", totals->bytes, totals->flop);
    for (size_t i = 0; i < c->count; i++)
        hm__text_addf(head, "part %s %.0f\n", c->parts[i].name, c->totals[i]);
    /* To a whole number of words, so that the checksum does not depend on how the file is read. */
    hm__text_repeat(head, " ", (16 - (head->length + 2) % 8) % 8);
    hm__text_add(head, "\n\n");
}

/* ---- writing -------------------------------------------------------------------------------- */

struct writer {
    FILE *file; /* NULL after a failure: what comes is dropped */
    uint64_t sum;
    char path[PATH], beside[PATH];
};

static int write_failed(struct writer *writer, struct hm_err *err)
{
    int why = errno;

    if (writer->file)
        fclose(writer->file);
    writer->file = NULL;
    hm__err_at(err, writer->path, 0);
    return hm__fail(err, HM_E_IO, "the checkpoint cannot be written: %s", strerror(why));
}

static int put(struct writer *writer, const void *data, size_t bytes, struct hm_err *err)
{
    if (!writer->file || bytes == 0)
        return 0;
    writer->sum = checksum_add(writer->sum, data, bytes);
    return fwrite(data, 1, bytes, writer->file) == bytes ? 0 : write_failed(writer, err);
}

/* Rank 0: our own piece of a part, then the others' in their order. */
static int put_part(struct writer *writer, struct hm_comm *comm, const struct hm_part *part,
                    struct hm_err *err)
{
    double piece[PIECE];
    int rc = put(writer, part->values, part->count * sizeof(double), err);

    for (int from = 1; part->of_rows && from < comm->size; from++) {
        double left;
        hm__comm_receive(comm, from, &left, sizeof(left));
        while (left > 0) {
            size_t count = (size_t)fmin(left, PIECE);
            hm__comm_receive(comm, from, piece, count * sizeof(double));
            int put_rc = put(writer, piece, count * sizeof(double), err);
            rc = rc ? rc : put_rc;
            left -= (double)count;
        }
    }
    return rc;
}

/* Other ranks: our piece of a part, to rank 0. */
static void give_part(struct hm_comm *comm, const struct hm_part *part)
{
    double left = (double)part->count;

    hm__comm_send(comm, 0, &left, sizeof(left));
    for (size_t at = 0; at < part->count; at += PIECE) {
        size_t count = part->count - at < PIECE ? part->count - at : PIECE;
        hm__comm_send(comm, 0, part->values + at, count * sizeof(double));
    }
}

static int sync_folder(const char *path)
{
    char copy[PATH];

    snprintf(copy, sizeof(copy), "%s", path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return -1;
    int rc = fsync(folder);
    close(folder);
    return rc;
}

/* Everything is on the disk under the other name: put it in its place. */
static int finish(struct writer *writer, struct hm_err *err)
{
    if (!writer->file)
        return err ? err->code : HM_E_IO;
    if (fwrite(&writer->sum, 1, sizeof(writer->sum), writer->file) != sizeof(writer->sum) ||
        fflush(writer->file) != 0 || fsync(fileno(writer->file)) != 0)
        return write_failed(writer, err);
    FILE *file = writer->file;
    writer->file = NULL;
    if (fclose(file) != 0 || rename(writer->beside, writer->path) != 0 ||
        sync_folder(writer->path) != 0)
        return write_failed(writer, err);
    return 0;
}

static int save_rank_0(const char *path, struct hm_run *run, const struct hm_text *head,
                       const struct contents *c, struct hm_err *err)
{
    struct writer writer = {0};
    int rc = 0;

    if (!realpath(path, writer.path)) /* a link stays one; a new file has no real path yet */
        snprintf(writer.path, sizeof(writer.path), "%s", path);
    snprintf(writer.beside, sizeof(writer.beside), "%.*s.new", PATH - 8, writer.path);
    writer.file = fopen(writer.beside, "wb");
    if (!writer.file)
        rc = write_failed(&writer, err);
    else
        rc = put(&writer, head->data, head->length, err);
    for (size_t i = 0; i < c->count; i++) {
        int part_rc = put_part(&writer, run->comm, &c->parts[i], err);
        rc = rc ? rc : part_rc;
    }
    rc = rc ? rc : finish(&writer, err);
    if (rc)
        unlink(writer.beside);
    return rc;
}

int hm__checkpoint_save(const char *path, struct hm_run *run, const char *identity,
                        const struct hm_train_totals *totals, struct hm_err *err)
{
    struct contents c = contents_of(run);
    struct hm_text head = {0};
    int rc = 0;

    if (run->comm->rank == 0) {
        write_head(&head, run, identity, totals, &c);
        rc = head.failed ? hm__fail_nomem(err) : 0;
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc == 0 && run->comm->rank == 0)
        rc = save_rank_0(path, run, &head, &c, err);
    for (size_t i = 0; rc == 0 && run->comm->rank > 0 && i < c.count; i++)
        if (c.parts[i].of_rows)
            give_part(run->comm, &c.parts[i]);
    hm__text_release(&head);
    return hm__agree(run->comm, rc, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The head of a file, as far as it is numbers. */
struct head {
    double ranks, iteration, samples;
    struct hm_train_totals totals;
};

static int refuse(struct hm_err *err, const char *path, int line, const char *why)
{
    int rc = hm__fail(err, HM_E_SYNTAX, "%s", why);

    hm__err_at(err, path, line);
    hm__err_hint(err, "remove it, or go on from an older copy");
    return rc;
}

/* Whether the file is whole: all of it is read once before anything is believed. */
static int check_sum(FILE *file, const char *path, struct hm_err *err)
{
    char piece[PIECE * 8];
    uint64_t sum = 0, kept = 0;
    size_t got = fread(piece, 1, sizeof(magic) - 1, file);

    if (got != sizeof(magic) - 1 || memcmp(piece, magic, got) != 0)
        return refuse(err, path, 1, "this is not a checkpoint of this version of howmany");
    if (fseek(file, 0, SEEK_END) != 0)
        return refuse(err, path, 0, "the checkpoint cannot be read");
    long left = ftell(file) - (long)sizeof(sum);
    rewind(file);
    for (; left > 0; left -= (long)sizeof(piece)) {
        size_t want = left < (long)sizeof(piece) ? (size_t)left : sizeof(piece);
        if (fread(piece, 1, want, file) != want)
            return refuse(err, path, 0, "the checkpoint cannot be read to its end");
        sum = checksum_add(sum, piece, want);
    }
    if (fread(&kept, 1, sizeof(kept), file) != sizeof(kept) || kept != sum)
        return refuse(err, path, 0, "the checkpoint is damaged: its checksum does not fit");
    rewind(file);
    return 0;
}

struct reader {
    FILE *file;
    const char *path;
    int line;
    char text[LINE];
};

/* The next line, which must be "name value"; the value, or NULL with an error. */
static const char *next_value(struct reader *reader, const char *name, struct hm_err *err)
{
    char why[160];
    size_t length = strlen(name);

    reader->line++;
    if (fgets(reader->text, sizeof(reader->text), reader->file) &&
        strncmp(reader->text, name, length) == 0 && reader->text[length] == ' ') {
        reader->text[strcspn(reader->text, "\n")] = '\0';
        return reader->text + length + 1;
    }
    snprintf(why, sizeof(why), "the checkpoint does not say '%s' where it should", name);
    refuse(err, reader->path, reader->line, why);
    return NULL;
}

static int next_number(struct reader *reader, const char *name, double *ret_value,
                       struct hm_err *err)
{
    const char *text = next_value(reader, name, err);

    if (!text)
        return HM_E_SYNTAX;
    size_t used = hm__number_read(text, ret_value);
    if (used == 0 || text[used] != '\0' || !(*ret_value >= 0))
        return refuse(err, reader->path, reader->line, "the checkpoint has a bad number");
    return 0;
}

/* A line that must say what this run is too. */
static int expect(struct reader *reader, const char *name, const char *ours, struct hm_err *err)
{
    const char *text = next_value(reader, name, err);

    if (!text)
        return HM_E_SYNTAX;
    if (strcmp(text, ours) == 0)
        return 0;
    int rc = hm__fail(err, HM_E_CONFLICT, "the checkpoint is of another run: its %s is '%s'", name,
                      text);
    hm__err_at(err, reader->path, reader->line);
    hm__err_hint(err, "this run's is '%s'", ours);
    return rc;
}

/* The list of parts, up to the line of blanks. The file is whole: what differs was told so. */
static int expect_part(struct reader *reader, const char *ours, struct hm_err *err)
{
    char *text = reader->text;

    reader->line++;
    if (!fgets(text, sizeof(reader->text), reader->file))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (strcmp(text + (ours[0] ? 0 : strspn(text, " ")), ours) == 0)
        return 0;
    int rc = hm__fail(err, HM_E_CONFLICT, "the checkpoint is of a run with other settings");
    hm__err_at(err, reader->path, reader->line);
    hm__err_hint(err, "--memory and --shrink must be as they were: it has '%.60s', not '%.60s'",
                 text + strspn(text, " "), ours);
    return rc;
}

static int read_head(struct reader *reader, const struct hm_run *run, const char *identity,
                     const struct contents *c, struct head *head, struct hm_err *err)
{
    char part[128];
    int rc = next_value(reader, "howmany", err) ? 0 : HM_E_SYNTAX;

    rc = rc ? rc : expect(reader, "identity", identity, err);
    rc = rc ? rc : expect(reader, "algorithm", run->algorithm->name, err);
    rc = rc ? rc : next_number(reader, "ranks", &head->ranks, err);
    rc = rc ? rc : next_number(reader, "iteration", &head->iteration, err);
    if (rc == 0 && !(head->iteration < ITERATIONS && floor(head->iteration) == head->iteration))
        rc = refuse(err, reader->path, reader->line, "the checkpoint has a bad number");
    rc = rc ? rc : next_number(reader, "samples", &head->samples, err);
    rc = rc ? rc : next_number(reader, "elapsed_s", &head->totals.elapsed_s, err);
    rc = rc ? rc : next_number(reader, "compute_s", &head->totals.compute_s, err);
    rc = rc ? rc : next_number(reader, "bytes", &head->totals.bytes, err);
    rc = rc ? rc : next_number(reader, "flop", &head->totals.flop, err);
    for (size_t i = 0; rc == 0 && i < c->count; i++) {
        snprintf(part, sizeof(part), "part %s %.0f", c->parts[i].name, c->totals[i]);
        rc = expect_part(reader, part, err);
    }
    /* The line of blanks, and the empty one. */
    for (int line = 0; rc == 0 && line < 2; line++)
        rc = expect_part(reader, "", err);
    return rc;
}

static int get(struct reader *reader, double *values, size_t count, struct hm_err *err)
{
    if (fread(values, sizeof(double), count, reader->file) == count)
        return 0;
    return refuse(err, reader->path, 0, "the checkpoint cannot be read to its end");
}

/* Nothing but the checksum may be left. */
static int check_end(struct reader *reader, struct hm_err *err)
{
    long here = ftell(reader->file);

    if (here >= 0 && fseek(reader->file, 0, SEEK_END) == 0 &&
        ftell(reader->file) == here + (long)sizeof(uint64_t))
        return 0;
    return refuse(err, reader->path, 0, "the checkpoint is not as long as it says");
}

/* Rank 0: our own piece of a part, then pass the others theirs. */
static int get_part(struct reader *reader, struct hm_comm *comm, const struct hm_part *part,
                    struct hm_err *err)
{
    double piece[PIECE];
    int rc = get(reader, part->values, part->count, err);

    for (int to = 1; part->of_rows && to < comm->size; to++) {
        double left;
        hm__comm_receive(comm, to, &left, sizeof(left));
        while (left > 0) {
            size_t count = (size_t)fmin(left, PIECE);
            memset(piece, 0, sizeof(piece));
            int get_rc = rc ? rc : get(reader, piece, count, err);
            rc = rc ? rc : get_rc;
            hm__comm_send(comm, to, piece, count * sizeof(double));
            left -= (double)count;
        }
    }
    return rc;
}

static void take_part(struct hm_comm *comm, const struct hm_part *part)
{
    double left = (double)part->count;

    hm__comm_send(comm, 0, &left, sizeof(left));
    for (size_t at = 0; at < part->count; at += PIECE) {
        size_t count = part->count - at < PIECE ? part->count - at : PIECE;
        hm__comm_receive(comm, 0, part->values + at, count * sizeof(double));
    }
}

static int open_rank_0(struct reader *reader, const struct hm_run *run, const char *identity,
                       const struct contents *c, struct head *head, struct hm_err *err)
{
    reader->file = fopen(reader->path, "rb");
    if (!reader->file) {
        int rc = hm__fail(err, HM_E_IO, "the checkpoint cannot be read: %s", strerror(errno));
        hm__err_at(err, reader->path, 0);
        return rc;
    }
    int rc = check_sum(reader->file, reader->path, err);
    return rc ? rc : read_head(reader, run, identity, c, head, err);
}

int hm__checkpoint_load(const char *path, struct hm_run *run, const char *identity,
                        struct hm_train_totals *ret_totals, struct hm_err *err)
{
    struct contents c = contents_of(run);
    struct reader reader = {.path = path};
    struct head head = {0};
    struct hm_comm *comm = run->comm;
    int rc = 0;

    if (comm->rank == 0)
        rc = open_rank_0(&reader, run, identity, &c, &head, err);
    rc = hm__agree(comm, rc, err);
    for (size_t i = 0; rc == 0 && i < c.count; i++) {
        if (comm->rank == 0)
            rc = get_part(&reader, comm, &c.parts[i], err);
        else if (c.parts[i].of_rows)
            take_part(comm, &c.parts[i]);
        rc = hm__agree(comm, rc, err);
        if (rc == 0 && !c.parts[i].of_rows)
            hm__comm_broadcast(comm, 0, c.parts[i].values, c.parts[i].count * sizeof(double));
    }
    if (rc == 0)
        rc = hm__agree(comm, comm->rank == 0 ? check_end(&reader, err) : 0, err);
    if (reader.file)
        fclose(reader.file);
    if (rc)
        return rc;
    hm__comm_broadcast(comm, 0, &head, sizeof(head));
    run->iteration = head.iteration;
    run->samples = head.samples;
    *ret_totals = head.totals;
    if (run->algorithm->resumed)
        rc = hm__agree(comm, run->algorithm->resumed(run, err), err);
    return rc;
}
