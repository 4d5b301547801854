/*
 * The speed and the memory of reading files of other tools. bench_import FOLDER MEGABYTES makes a
 * Spark event log and a profiler trace of that size in the folder, reads both, and writes a table.
 * The files are made once. The program fails if a reader takes more than 64 MB of memory.
 *
 * A tenth of the size is also read by `jq -c .` and, compressed, by `zstd -d`, in the same run: the
 * ratios of CPU times depend less on the machine and its load than MB/s do. The program fails if a
 * reader is not at least 5 times as fast as jq.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "import.h"

static double cpu_s(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/* One task of an event log, about 2.8 KB. */
static double write_task(FILE *file, int stage, long task, unsigned r)
{
    double bytes = fprintf(
        file,
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":%d,\"Stage Attempt ID\":0,\"Task End "
        "Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":%ld,\"Launch "
        "Time\":%ld,\"Host\":\"10.0.0.%u\",\"Speculative\":false,\"Finish "
        "Time\":%ld,\"Accumulables\":[",
        stage, task, task * 3, r % 250, task * 3 + r % 5000);

    for (unsigned a = 0; a < 16; a++)
        bytes += fprintf(file,
                         "%s{\"ID\":%u,\"Name\":\"internal.metrics.number%u\",\"Update\":%u,"
                         "\"Value\":%u,\"Internal\":true,\"Count Failed Values\":true}",
                         a ? "," : "", a, a, (r * 7 + a) % 100000, r * 31 % 1000000);
    return bytes +
           fprintf(file,
                   "]},\"Task Metrics\":{\"Executor Run Time\":%u,\"Executor CPU "
                   "Time\":%u000,\"JVM GC Time\":%u,\"Shuffle Read Metrics\":{\"Remote Bytes "
                   "Read\":%u},\"Input Metrics\":{\"Bytes Read\":%u}}}\n",
                   r % 4000, r, r % 50, r * 2, r * 11);
}

static void write_log(FILE *file, double size)
{
    unsigned r = 1;
    long task = 0;
    double bytes = 0;

    for (int stage = 0; bytes < size; stage++) {
        bytes +=
            fprintf(file,
                    "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission "
                    "Time\":%ld,\"Stage Infos\":[{\"Stage ID\":%d,\"Stage Name\":\"aggregate at "
                    "Gradient.scala:201\"}]}\n",
                    stage, task * 3, stage);
        for (int k = 0; k < 2000; k++) {
            r = r * 1103515245u + 12345u;
            bytes += write_task(file, stage, ++task, r >> 16);
        }
        bytes += fprintf(file,
                         "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion "
                         "Time\":%ld,\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n",
                         stage, task * 3);
    }
}

static void write_trace(FILE *file, double size)
{
    double bytes = fprintf(file, "{\"schemaVersion\":1,\"traceEvents\":[\n");

    for (long i = 0; bytes < size; i++)
        bytes +=
            fprintf(file,
                    i % 5 == 0 ? "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"void "
                                 "cutlass::Kernel<tensorop_gemm>(Params)\",\"pid\":0,\"tid\":7,"
                                 "\"ts\":%ld.001,\"dur\":10.5,\"args\":{\"External "
                                 "id\":%ld,\"stream\":7,\"grid\":[8,1,1],\"block\":[640,1,1]}},\n"
                               : "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
                                 "\"cudaLaunchKernel\",\"pid\":123,\"tid\":1,\"ts\":%ld.5,"
                                 "\"dur\":3.25,\"args\":{\"External id\":%ld,\"cbid\":211}},\n",
                    1000000 + i * 20, i);
    fprintf(file, "{\"ph\":\"M\",\"name\":\"end\"}]}\n");
}

/* Reads a file; returns the CPU time in seconds, and its size in bytes. */
static double read_file(const char *path, double *ret_bytes)
{
    struct hm_import_from from = {.name = path};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    struct stat status;
    double start = cpu_s();

    if (hm__import_new(&from, &im, &err) || stat(path, &status)) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        exit(1);
    }
    double seconds = cpu_s() - start;
    hm__import_free(im);
    *ret_bytes = (double)status.st_size;
    return seconds;
}

static void time_import(const char *path, const char *name)
{
    struct rusage usage;
    double bytes, seconds = read_file(path, &bytes), megabytes = bytes / 1e6;

    getrusage(RUSAGE_SELF, &usage);
    printf("%-24s %8.0f MB %8.2f s of CPU %8.0f MB/s %8.1f MB of memory\n", name, megabytes,
           seconds, megabytes / seconds, (double)usage.ru_maxrss / 1e3);
    if (usage.ru_maxrss > 64000) {
        fprintf(stderr, "%s: more than 64 MB of memory\n", path);
        exit(1);
    }
}

/* Runs a command; returns its CPU time in seconds, or a negative number if it fails. */
static double time_command(const char *command)
{
    struct rusage before, after;

    getrusage(RUSAGE_CHILDREN, &before);
    int rc = system(command);
    getrusage(RUSAGE_CHILDREN, &after);
    if (rc)
        return -1;
    return (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
           (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
           1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
}

/* Compares the reader with jq on the same file. Returns whether it is fast enough. */
static bool compare_jq(const char *path, const char *name)
{
    char command[1200];
    double bytes, seconds = read_file(path, &bytes);

    snprintf(command, sizeof(command), "jq -c . '%s' >/dev/null", path);
    double jq = time_command(command);
    if (jq < 0) {
        printf("%-24s skipped: jq is missing\n", name);
        return true;
    }
    printf("%-24s %8.0f MB %8.2f s of CPU, jq -c . %.2f s: %.1f times as fast\n", name, bytes / 1e6,
           seconds, jq, jq / seconds);
    return jq > 5 * seconds;
}

/* Compares the reader on a zstd file with decompression alone. */
static void compare_zstd(const char *path)
{
    char command[2400], packed[1100];
    double bytes;

    snprintf(packed, sizeof(packed), "%s.zst", path);
    snprintf(command, sizeof(command), "zstd -q -f '%s' -o '%s'", path, packed);
    if (time_command(command) < 0) {
        printf("%-24s skipped: zstd is missing\n", "event log in zstd");
        return;
    }
    double seconds = read_file(packed, &bytes);
    snprintf(command, sizeof(command), "zstd -q -dc '%s' >/dev/null", packed);
    double zstd = time_command(command);
    printf("%-24s %8.0f MB %8.2f s of CPU, zstd -d %.2f s: %.1f times that\n", "event log in zstd",
           bytes / 1e6, seconds, zstd, seconds / zstd);
}

/* Makes a file if it does not exist. */
static void make_file(const char *path, bool trace, double size)
{
    struct stat status;
    FILE *file = stat(path, &status) ? fopen(path, "w") : NULL;

    if (!file)
        return;
    if (trace)
        write_trace(file, size);
    else
        write_log(file, size);
    fclose(file);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"events", "trace"};
    static const char *const titles[] = {"Spark event log", "profiler trace"};
    double size = argc > 2 ? atof(argv[2]) * 1e6 : 0;
    char path[1024];
    bool fast = true;

    if (!(size > 0)) {
        fprintf(stderr, "usage: bench_import FOLDER MEGABYTES\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s.json", argv[1], names[i]);
        make_file(path, i == 1, size);
        time_import(path, titles[i]);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof(path), "%s/%s-small.json", argv[1], names[i]);
        make_file(path, i == 1, size / 10);
        fast &= compare_jq(path, titles[i]);
        if (i == 0)
            compare_zstd(path);
    }
    if (!fast)
        fprintf(stderr, "a reader is less than 5 times as fast as jq\n");
    return fast ? 0 : 1;
}
