/*
 * Writes and reads checkpoints. A file consists of a header of text lines "name value", a line of
 * spaces, an empty line, the arrays as doubles in this machine's representation (w first), and a
 * checksum of 8 bytes over everything before it.
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
 * An array that is distributed over the ranks is written in the order of the ranks, which is also
 * the order of the rows. If each rank has its own copy of w, the copies are written one after
 * another as one array. Rank 0 forwards the values of other ranks in chunks, so that it never holds
 * more than its own values and one chunk.
 */
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agree.h"
#include "err.h"
#include "text.h"

/*
 * Size of a chunk in values, and of lines and paths in bytes. The chunk is small, because simulated
 * ranks have small stacks.
 */
enum { CHUNK = 1024, LINE_MAX_BYTES = 2048, PATH_MAX_BYTES = 4096 };

/* Limit on iteration numbers, because hm__run_random uses 40 bits for them. */
#define ITERATIONS 0x1p40
/*
 * Largest number of values in all arrays together, so that positions in the file fit into a long.
 */
#define VALUES_MOST 0x1p50

static const char magic[] = "howmany checkpoint 1";

/* ---- checksum ------------------------------------------------------------------------------- */

/*
 * Computes an FNV-1a hash over words of 8 bytes, in which the high bits are mixed into the low bits
 * after each word; the last word is padded with 0.
 */
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

/* ---- contents ------------------------------------------------------------------------------- */

struct checkpoint_contents {
    struct hm_part parts[HM_PARTS + 1];
    size_t count;
    double totals[HM_PARTS + 1]; /* Number of values in each array, summed over all ranks. */
    /*
     * Number of values in the file before each array; negative if the array is missing in the file.
     * It is used on rank 0 when a checkpoint is read.
     */
    double before[HM_PARTS + 1];
};

/* Returns whether the values of the array are distributed over the ranks. */
static bool part_is_distributed(const struct hm_part *part)
{
    return part->of_rows || part->of_ranks;
}

static struct checkpoint_contents checkpoint_contents_of(struct hm_run *run)
{
    struct checkpoint_contents c = {.count = 1};

    c.parts[0] = (struct hm_part){"w", run->w, run->objective->unknowns, false};
    if (run->algorithm->parts)
        c.count += run->algorithm->parts(run, c.parts + 1);
    for (size_t i = 0; i < c.count; i++)
        c.totals[i] = (double)c.parts[i].count;
    double sums[HM_PARTS + 1];
    memcpy(sums, c.totals, sizeof(sums));
    hm__comm_sum_few(run->comm, sums, c.count);
    for (size_t i = 0; i < c.count; i++)
        if (part_is_distributed(&c.parts[i]))
            c.totals[i] = sums[i];
    return c;
}

static void header_write(struct hm_text *head, const struct hm_run *run, const char *identity,
                         const struct hm_train_totals *totals, const struct checkpoint_contents *c)
{
    hm__text_addf(head, "%s\nidentity %s\nalgorithm %s\nranks %d\n", magic, identity,
                  run->algorithm->name, run->comm->size);
    hm__text_addf(head, "iteration %.17g\nsamples %.17g\nelapsed_s %.17g\ncompute_s %.17g\n",
                  run->iteration, run->samples, totals->elapsed_s, totals->compute_s);
    hm__text_addf(head, "bytes %.17g\nflop %.17g\n", totals->bytes, totals->flop);
    for (size_t i = 0; i < c->count; i++)
        hm__text_addf(head, "part %s %.0f\n", c->parts[i].name, c->totals[i]);
    /*
     * Pad the header to a multiple of 8 bytes, because the checksum is computed over words of 8
     * bytes.
     */
    hm__text_repeat(head, " ", (16 - (head->length + 2) % 8) % 8);
    hm__text_add(head, "\n\n");
}

/* ---- writing -------------------------------------------------------------------------------- */

struct checkpoint_writer {
    FILE *file; /* The temporary file; NULL after an error, so that later writes are ignored. */
    uint64_t sum;
    char path[PATH_MAX_BYTES], temporary[PATH_MAX_BYTES];
};

static int writer_fail(struct checkpoint_writer *writer, struct hm_err *err)
{
    int why = errno;

    if (writer->file)
        fclose(writer->file);
    writer->file = NULL;
    hm__err_at(err, writer->path, 0);
    return hm__fail(err, HM_E_IO, "the checkpoint cannot be written: %s", strerror(why));
}

static int writer_put(struct checkpoint_writer *writer, const void *data, size_t bytes,
                      struct hm_err *err)
{
    if (!writer->file || bytes == 0)
        return 0;
    writer->sum = checksum_add(writer->sum, data, bytes);
    return fwrite(data, 1, bytes, writer->file) == bytes ? 0 : writer_fail(writer, err);
}

/*
 * Called on rank 0: writes the values of rank 0 in an array, then the values of the other ranks in
 * ascending order.
 */
static int writer_put_array(struct checkpoint_writer *writer, struct hm_comm *comm,
                            const struct hm_part *part, struct hm_err *err)
{
    double chunk[CHUNK];
    int rc = writer_put(writer, part->values, part->count * sizeof(double), err);

    for (int from = 1; part_is_distributed(part) && from < comm->size; from++) {
        double left;
        hm__comm_receive(comm, from, &left, sizeof(left));
        while (left > 0) {
            size_t count = (size_t)fmin(left, CHUNK);
            hm__comm_receive(comm, from, chunk, count * sizeof(double));
            int put_rc = writer_put(writer, chunk, count * sizeof(double), err);
            rc = rc ? rc : put_rc;
            left -= (double)count;
        }
    }
    return rc;
}

/* Called on the other ranks: sends the values of an array to rank 0. */
static void checkpoint_send_array(struct hm_comm *comm, const struct hm_part *part)
{
    double left = (double)part->count;

    hm__comm_send(comm, 0, &left, sizeof(left));
    for (size_t at = 0; at < part->count; at += CHUNK) {
        size_t count = part->count - at < CHUNK ? part->count - at : CHUNK;
        hm__comm_send(comm, 0, part->values + at, count * sizeof(double));
    }
}

static int writer_sync_folder(const char *path)
{
    char copy[PATH_MAX_BYTES];

    snprintf(copy, sizeof(copy), "%s", path);
    int folder = open(dirname(copy), O_RDONLY | O_DIRECTORY);
    if (folder < 0)
        return -1;
    int rc = fsync(folder);
    close(folder);
    return rc;
}

/* Syncs the temporary file to disk and renames it to its final name. */
static int writer_finish(struct checkpoint_writer *writer, struct hm_err *err)
{
    if (!writer->file)
        return err ? err->code : HM_E_IO;
    if (fwrite(&writer->sum, 1, sizeof(writer->sum), writer->file) != sizeof(writer->sum) ||
        fflush(writer->file) != 0 || fsync(fileno(writer->file)) != 0)
        return writer_fail(writer, err);
    FILE *file = writer->file;
    writer->file = NULL;
    if (fclose(file) != 0 || rename(writer->temporary, writer->path) != 0 ||
        writer_sync_folder(writer->path) != 0)
        return writer_fail(writer, err);
    return 0;
}

static int checkpoint_write(const char *path, struct hm_run *run, const struct hm_text *head,
                            const struct checkpoint_contents *c, struct hm_err *err)
{
    struct checkpoint_writer writer = {0};
    struct stat found;
    int rc = 0;

    /*
     * If the path is a symbolic link, the file that it points to is replaced. For a file that does
     * not exist yet, the given path is used.
     */
    if (!realpath(path, writer.path))
        snprintf(writer.path, sizeof(writer.path), "%s", path);
    snprintf(writer.temporary, sizeof(writer.temporary), "%.*s.new", PATH_MAX_BYTES - 8,
             writer.path);
    /*
     * Remove an old temporary file, and never follow a link that another user may have put in its
     * place.
     */
    bool special = stat(path, &found) == 0 && !S_ISREG(found.st_mode);
    if (!special && (unlink(writer.temporary) == 0 || errno == ENOENT))
        writer.file = fopen(writer.temporary, "wbx");
    if (special)
        rc = hm__fail(err, HM_E_IO, "%s is not a regular file", path);
    else if (!writer.file)
        rc = writer_fail(&writer, err);
    else
        rc = writer_put(&writer, head->data, head->length, err);
    for (size_t i = 0; i < c->count; i++) {
        int part_rc = writer_put_array(&writer, run->comm, &c->parts[i], err);
        rc = rc ? rc : part_rc;
    }
    rc = rc ? rc : writer_finish(&writer, err);
    if (rc)
        unlink(writer.temporary);
    return rc;
}

int hm__checkpoint_save(const char *path, struct hm_run *run, const char *identity,
                        const struct hm_train_totals *totals, struct hm_err *err)
{
    if (run->algorithm->gather)
        run->algorithm->gather(run);
    struct checkpoint_contents c = checkpoint_contents_of(run);
    struct hm_text head = {0};
    int rc = 0;

    if (run->comm->rank == 0) {
        header_write(&head, run, identity, totals, &c);
        rc = head.failed ? hm__fail_nomem(err) : 0;
    }
    rc = hm__agree(run->comm, rc, err);
    if (rc == 0 && run->comm->rank == 0)
        rc = checkpoint_write(path, run, &head, &c, err);
    for (size_t i = 0; rc == 0 && run->comm->rank > 0 && i < c.count; i++)
        if (part_is_distributed(&c.parts[i]))
            checkpoint_send_array(run->comm, &c.parts[i]);
    hm__text_release(&head);
    return hm__agree(run->comm, rc, err);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Values that are read from the header of a checkpoint. */
struct checkpoint_header {
    double ranks, iteration, samples;
    struct hm_train_totals totals;
    /*
     * True if the checkpoint comes from another algorithm, or from the same algorithm with other
     * settings.
     */
    bool adopted;
    bool missing[HM_PARTS + 1]; /* For each array of this run: true if it is missing in the file. */
};

static int checkpoint_refuse(struct hm_err *err, const char *path, int line, const char *why)
{
    int rc = hm__fail(err, HM_E_SYNTAX, "%s", why);

    hm__err_at(err, path, line);
    hm__err_hint(err, "remove it, or resume from an older copy");
    return rc;
}

/* Fails because a file has wrong contents or could not be read. */
static int checkpoint_refuse_read(FILE *file, struct hm_err *err, const char *path, int line,
                                  const char *why)
{
    if (!ferror(file))
        return checkpoint_refuse(err, path, line, why);
    int rc = hm__fail(err, HM_E_IO, "cannot read: %s", strerror(errno));
    hm__err_at(err, path, 0);
    return rc;
}

/* Verifies the checksum of the whole file before any of its values is used. */
static int checkpoint_verify(FILE *file, const char *path, struct hm_err *err)
{
    char chunk[CHUNK * 8];
    uint64_t sum = 0, kept = 0;
    size_t got = fread(chunk, 1, sizeof(magic) - 1, file);

    if (got != sizeof(magic) - 1 || memcmp(chunk, magic, got) != 0)
        return checkpoint_refuse_read(file, err, path, 1,
                                      "this is not a checkpoint of this version of howmany");
    if (fseek(file, 0, SEEK_END) != 0)
        return checkpoint_refuse(err, path, 0, "the checkpoint cannot be read");
    long left = ftell(file) - (long)sizeof(sum);
    rewind(file);
    for (; left > 0; left -= (long)sizeof(chunk)) {
        size_t want = left < (long)sizeof(chunk) ? (size_t)left : sizeof(chunk);
        if (fread(chunk, 1, want, file) != want)
            return checkpoint_refuse_read(file, err, path, 0,
                                          "the checkpoint cannot be read to its end");
        sum = checksum_add(sum, chunk, want);
    }
    if (fread(&kept, 1, sizeof(kept), file) != sizeof(kept) || kept != sum)
        return checkpoint_refuse_read(file, err, path, 0,
                                      "the checkpoint is damaged: its checksum does not match");
    rewind(file);
    return 0;
}

struct checkpoint_reader {
    FILE *file;
    const char *path;
    int line;
    long arrays;   /* Offset of the first array in the file, in bytes. */
    double values; /* Number of values in all arrays of the file. */
    char text[LINE_MAX_BYTES];
};

/* Reads the next line, which must be "name value". Returns the value, or NULL with an error. */
static const char *reader_next_value(struct checkpoint_reader *reader, const char *name,
                                     struct hm_err *err)
{
    char why[160];
    size_t length = strlen(name);

    reader->line++;
    if (fgets(reader->text, sizeof(reader->text), reader->file) &&
        strncmp(reader->text, name, length) == 0 && reader->text[length] == ' ') {
        reader->text[strcspn(reader->text, "\n")] = '\0';
        return reader->text + length + 1;
    }
    snprintf(why, sizeof(why), "the checkpoint has no '%s' where it is expected", name);
    checkpoint_refuse_read(reader->file, err, reader->path, reader->line, why);
    return NULL;
}

static int reader_next_number(struct checkpoint_reader *reader, const char *name, double *ret_value,
                              struct hm_err *err)
{
    const char *text = reader_next_value(reader, name, err);

    if (!text)
        return HM_E_SYNTAX;
    size_t used = hm__number_read(text, ret_value);
    if (used == 0 || text[used] != '\0' || !(*ret_value >= 0))
        return checkpoint_refuse(err, reader->path, reader->line,
                                 "the checkpoint contains an invalid number");
    return 0;
}

/* Reads a header line whose value must be equal to `ours`, the value of this run. */
static int reader_expect(struct checkpoint_reader *reader, const char *name, const char *ours,
                         struct hm_err *err)
{
    const char *text = reader_next_value(reader, name, err);

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

/*
 * Reads the header line that describes one array; it must be equal to `ours`. The checksum was
 * correct, so a different line means that the checkpoint comes from a run with other settings.
 */
static int reader_expect_array(struct checkpoint_reader *reader, const char *ours,
                               struct hm_err *err)
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
    hm__err_hint(err,
                 "memory and shrink must have the values of that run: the checkpoint has '%.60s', "
                 "this run '%.60s'",
                 text + strspn(text, " "), ours);
    return rc;
}

/* Returns the number of values that an array has in a checkpoint written by `ranks` ranks. */
static double part_saved(const struct checkpoint_contents *c, size_t part, double ranks)
{
    return c->parts[part].of_ranks ? ranks * (double)c->parts[part].count : c->totals[part];
}

/* Reads the header lines that describe the arrays; they must be equal to the lines of this run. */
static int header_expect_arrays(struct checkpoint_reader *reader, struct checkpoint_contents *c,
                                const struct checkpoint_header *head, double *ret_values,
                                struct hm_err *err)
{
    double before = 0;
    char part[128];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->count; i++) {
        double total = part_saved(c, i, head->ranks);
        snprintf(part, sizeof(part), "part %s %.0f", c->parts[i].name, total);
        rc = reader_expect_array(reader, part, err);
        c->before[i] = before;
        before += total;
    }
    *ret_values = before;
    /* The header ends with a line of spaces and an empty line. */
    for (int line = 0; rc == 0 && line < 2; line++)
        rc = reader_expect_array(reader, "", err);
    return rc;
}

/*
 * Returns whether an array has the same meaning in all algorithms in which it occurs. This is the
 * case for the weights w and for arrays with one value per row of the data.
 */
static bool part_is_shared(const struct checkpoint_contents *c, size_t part)
{
    return part == 0 || c->parts[part].of_rows;
}

/*
 * Reads the header lines that describe the arrays of any algorithm. For each array of this run that
 * the file contains, stores its position in the file. *ret_values is set to the total number of
 * values in all arrays.
 */
static int header_find_arrays(struct checkpoint_reader *reader, struct checkpoint_contents *c,
                              bool same, double ranks, double *ret_values, struct hm_err *err)
{
    double before = 0, total = 0;

    for (size_t i = 0; i < c->count; i++)
        c->before[i] = -1;
    for (;;) {
        char name[64], *text = reader->text;
        int used = 0;
        reader->line++;
        if (!fgets(text, sizeof(reader->text), reader->file))
            return checkpoint_refuse(err, reader->path, reader->line, "the header has no end");
        if (text[strspn(text, " ")] == '\n')
            break;
        if (sscanf(text, "part %63s %n", name, &used) != 1 || used == 0 ||
            hm__number_read(text + used, &total) == 0 || !(total >= 0 && total <= VALUES_MOST) ||
            floor(total) != total || before > VALUES_MOST)
            return checkpoint_refuse(err, reader->path, reader->line,
                                     "the checkpoint contains an invalid number");
        for (size_t i = 0; i < c->count; i++)
            if (strcmp(c->parts[i].name, name) == 0 && part_saved(c, i, ranks) == total &&
                (same || part_is_shared(c, i)))
                c->before[i] = before;
        before += total;
    }
    *ret_values = before;
    return reader_expect_array(reader, "", err);
}

/*
 * Reads the descriptions of the arrays of a checkpoint, which may come from another algorithm. If
 * the algorithm and the arrays are the same as in this run, everything is loaded.
 */
static int header_adopt_arrays(struct checkpoint_reader *reader, struct checkpoint_contents *c,
                               bool same, struct checkpoint_header *head, double *ret_values,
                               struct hm_err *err)
{
    int rc = header_find_arrays(reader, c, same, head->ranks, ret_values, err);
    double ours = 0;

    if (rc)
        return rc;
    if (c->before[0] < 0)
        return checkpoint_refuse(err, reader->path, 0, "the checkpoint has no w of this problem");
    for (size_t i = 0; i < c->count; i++) {
        head->missing[i] = c->before[i] < 0;
        ours += head->missing[i] ? NAN : part_saved(c, i, head->ranks);
    }
    head->adopted = !same || ours != *ret_values;
    /*
     * If some arrays of this run are missing in the file, the rest of the state is not loaded
     * either, as for a checkpoint of another algorithm.
     */
    for (size_t i = 0; head->adopted && i < c->count; i++)
        if (!part_is_shared(c, i))
            head->missing[i] = true;
    return 0;
}

static int header_read(struct checkpoint_reader *reader, const struct hm_run *run,
                       const char *identity, bool adopt, struct checkpoint_contents *c,
                       struct checkpoint_header *head, struct hm_err *err)
{
    bool same = true;
    int rc = reader_next_value(reader, "howmany", err) ? 0 : HM_E_SYNTAX;

    rc = rc ? rc : reader_expect(reader, "identity", identity, err);
    if (rc == 0 && adopt) {
        const char *name = reader_next_value(reader, "algorithm", err);
        rc = name ? 0 : HM_E_SYNTAX;
        same = name && strcmp(name, run->algorithm->name) == 0;
    } else
        rc = rc ? rc : reader_expect(reader, "algorithm", run->algorithm->name, err);
    rc = rc ? rc : reader_next_number(reader, "ranks", &head->ranks, err);
    rc = rc ? rc : reader_next_number(reader, "iteration", &head->iteration, err);
    if (rc == 0 && !(head->iteration < ITERATIONS && floor(head->iteration) == head->iteration))
        rc = checkpoint_refuse(err, reader->path, reader->line,
                               "the checkpoint contains an invalid number");
    rc = rc ? rc : reader_next_number(reader, "samples", &head->samples, err);
    rc = rc ? rc : reader_next_number(reader, "elapsed_s", &head->totals.elapsed_s, err);
    rc = rc ? rc : reader_next_number(reader, "compute_s", &head->totals.compute_s, err);
    rc = rc ? rc : reader_next_number(reader, "bytes", &head->totals.bytes, err);
    rc = rc ? rc : reader_next_number(reader, "flop", &head->totals.flop, err);
    double values = 0;
    if (rc == 0 && adopt)
        rc = header_adopt_arrays(reader, c, same, head, &values, err);
    else
        rc = rc ? rc : header_expect_arrays(reader, c, head, &values, err);
    reader->values = values;
    reader->arrays = ftell(reader->file);
    return rc;
}

static int reader_get(struct checkpoint_reader *reader, double *values, size_t count,
                      struct hm_err *err)
{
    if (fread(values, sizeof(double), count, reader->file) == count)
        return 0;
    return checkpoint_refuse_read(reader->file, err, reader->path, 0,
                                  "the checkpoint cannot be read to its end");
}

/* Checks that nothing but the checksum follows the arrays. */
static int reader_check_end(struct checkpoint_reader *reader, struct hm_err *err)
{
    double expected = (double)reader->arrays + 8 * reader->values + (double)sizeof(uint64_t);

    if (fseek(reader->file, 0, SEEK_END) == 0 && (double)ftell(reader->file) == expected)
        return 0;
    return checkpoint_refuse(err, reader->path, 0,
                             "the checkpoint does not have the length that its header states");
}

/*
 * Called on rank 0: reads the values of rank 0 in an array, then reads the values of the other
 * ranks and sends them.
 */
static int reader_get_array(struct checkpoint_reader *reader, struct hm_comm *comm,
                            const struct hm_part *part, double before, struct hm_err *err)
{
    double chunk[CHUNK];
    int rc = fseek(reader->file, reader->arrays + 8 * (long)before, SEEK_SET) == 0
                 ? reader_get(reader, part->values, part->count, err)
                 : checkpoint_refuse(err, reader->path, 0, "the checkpoint cannot be read");

    for (int to = 1; part_is_distributed(part) && to < comm->size; to++) {
        double left;
        hm__comm_receive(comm, to, &left, sizeof(left));
        while (left > 0) {
            size_t count = (size_t)fmin(left, CHUNK);
            memset(chunk, 0, sizeof(chunk));
            int get_rc = rc ? rc : reader_get(reader, chunk, count, err);
            rc = rc ? rc : get_rc;
            hm__comm_send(comm, to, chunk, count * sizeof(double));
            left -= (double)count;
        }
    }
    return rc;
}

static void checkpoint_receive_array(struct hm_comm *comm, const struct hm_part *part)
{
    double left = (double)part->count;

    hm__comm_send(comm, 0, &left, sizeof(left));
    for (size_t at = 0; at < part->count; at += CHUNK) {
        size_t count = part->count - at < CHUNK ? part->count - at : CHUNK;
        hm__comm_receive(comm, 0, part->values + at, count * sizeof(double));
    }
}

static int checkpoint_open(struct checkpoint_reader *reader, const struct hm_run *run,
                           const char *identity, bool adopt, struct checkpoint_contents *c,
                           struct checkpoint_header *head, struct hm_err *err)
{
    reader->file = fopen(reader->path, "rb");
    if (!reader->file) {
        int rc = hm__fail(err, HM_E_IO, "the checkpoint cannot be read: %s", strerror(errno));
        hm__err_at(err, reader->path, 0);
        return rc;
    }
    int rc = checkpoint_verify(reader->file, reader->path, err);
    return rc ? rc : header_read(reader, run, identity, adopt, c, head, err);
}

/*
 * Derives the dual variables from w if the algorithm has dual variables and the file does not
 * contain them.
 */
static void checkpoint_complete(struct hm_run *run, const struct checkpoint_contents *c,
                                const struct checkpoint_header *head)
{
    for (size_t i = 1; i < c->count; i++)
        if (head->missing[i] && c->parts[i].of_rows && strcmp(c->parts[i].name, "alpha") == 0)
            hm__run_derive_dual(run, c->parts[i].values);
}

static int checkpoint_read(const char *path, struct hm_run *run, const char *identity, bool adopt,
                           struct hm_train_totals *ret_totals, struct hm_err *err)
{
    struct checkpoint_contents c = checkpoint_contents_of(run);
    struct checkpoint_reader reader = {.path = path};
    struct checkpoint_header head = {0};
    struct hm_comm *comm = run->comm;
    int rc = 0;

    if (comm->rank == 0)
        rc = checkpoint_open(&reader, run, identity, adopt, &c, &head, err);
    rc = hm__agree(comm, rc, err);
    if (rc == 0)
        hm__comm_broadcast(comm, 0, &head, sizeof(head));
    for (size_t i = 0; rc == 0 && i < c.count; i++) {
        const struct hm_part *part = &c.parts[i];
        bool distributed = part_is_distributed(part);
        /*
         * If each rank has its own copy of the weights w, and the copies were not saved or were
         * saved on another number of ranks, all copies are set to w.
         */
        bool copies = part->of_ranks && (head.missing[i] || head.ranks != comm->size);
        if (copies)
            memcpy(part->values, run->w, part->count * sizeof(double));
        if (copies || head.missing[i])
            continue;
        if (comm->rank == 0)
            rc = reader_get_array(&reader, comm, part, c.before[i], err);
        else if (distributed)
            checkpoint_receive_array(comm, &c.parts[i]);
        rc = hm__agree(comm, rc, err);
        if (rc == 0 && !distributed)
            hm__comm_broadcast(comm, 0, c.parts[i].values, c.parts[i].count * sizeof(double));
    }
    if (rc == 0)
        rc = hm__agree(comm, comm->rank == 0 ? reader_check_end(&reader, err) : 0, err);
    if (reader.file)
        fclose(reader.file);
    if (rc)
        return rc;
    run->iteration = head.iteration;
    run->samples = head.samples;
    *ret_totals = head.totals;
    if (head.adopted)
        checkpoint_complete(run, &c, &head);
    else if (run->algorithm->resumed)
        rc = hm__agree(comm, run->algorithm->resumed(run, err), err);
    return rc;
}

int hm__checkpoint_load(const char *path, struct hm_run *run, const char *identity,
                        struct hm_train_totals *ret_totals, struct hm_err *err)
{
    return checkpoint_read(path, run, identity, false, ret_totals, err);
}

int hm__checkpoint_adopt(const char *path, struct hm_run *run, const char *identity,
                         struct hm_train_totals *ret_totals, struct hm_err *err)
{
    return checkpoint_read(path, run, identity, true, ret_totals, err);
}
