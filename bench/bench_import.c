/*
 * The speed and the memory of reading files of other tools. bench_import FOLDER MEGABYTES makes a
 * Spark event log and a profiler trace of that size in the folder, reads both, and writes a table.
 * The files are made once. The program fails if a reader takes more than 64 MB of memory.
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

static void time_import(const char *path, const char *name)
{
    struct hm_import_from from = {.name = path};
    struct hm_imported *im = NULL;
    struct hm_err err = {0};
    struct rusage usage;
    struct stat status;
    double start = cpu_s();

    if (hm__import_new(&from, &im, &err) || stat(path, &status)) {
        fprintf(stderr, "%s: %s\n", path, err.message);
        exit(1);
    }
    double seconds = cpu_s() - start, megabytes = (double)status.st_size / 1e6;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-24s %8.0f MB %8.2f s of CPU %8.0f MB/s %8.1f MB of memory\n", name, megabytes,
           seconds, megabytes / seconds, (double)usage.ru_maxrss / 1e3);
    hm__import_free(im);
    if (usage.ru_maxrss > 64000) {
        fprintf(stderr, "%s: more than 64 MB of memory\n", path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"events.json", "trace.json"};
    double size = argc > 2 ? atof(argv[2]) * 1e6 : 0;
    char path[1024];

    if (!(size > 0)) {
        fprintf(stderr, "usage: bench_import FOLDER MEGABYTES\n");
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        struct stat status;
        snprintf(path, sizeof(path), "%s/%s", argv[1], names[i]);
        if (stat(path, &status)) {
            FILE *file = fopen(path, "w");
            if (!file)
                return 1;
            if (i == 0)
                write_log(file, size);
            else
                write_trace(file, size);
            fclose(file);
        }
        time_import(path, i == 0 ? "Spark event log" : "profiler trace");
    }
    return 0;
}
