/*
 * Declares the tables of communication benchmarks: the values that are read, and the function that
 * writes them as JSON members (facts).
 */
#ifndef HM_COLLECTIVES_H
#define HM_COLLECTIVES_H

#include "import.h"

enum bench_kind { BENCH_NCCL, BENCH_OSU, BENCH_IMB };

enum { BENCH_COLUMNS = 8, BENCH_HOSTS = 1024 };

/*
 * A row of a benchmark table. For nccl-tests, its values are bytes and elements, then the time in
 * microseconds and two bandwidths of the out-of-place operation, then the same three values of the
 * in-place operation. For other benchmarks, they are the values of the columns.
 */
struct bench_row {
    double value[8];
    char type[12], wrong[2][16];
    bool bad[2]; /* bad[0] is true if the out-of-place result is wrong, and bad[1] is true if the
                    in-place result is wrong. */
};

struct bench_section {
    enum bench_kind kind;
    char name[64]; /* Name of the collective, test or benchmark; "" if it is not given. */
    char transport[32], version[32], device[96];
    /*
     * Number of ranks (0 if not given), of processes (NaN if not given) and of processes that only
     * wait (0 if not given), and average bus bandwidth (NaN if not given).
     */
    double ranks, processes, waiting, average;
    char hosts[BENCH_HOSTS][64];
    size_t host_count;
    char columns[BENCH_COLUMNS][48];
    size_t column_count;
    struct bench_row *row;
    size_t rows, room;
};

struct bench {
    struct hm_imported *im;
    struct bench_section s;
    bool open; /* True if a section has begun and has not ended yet. */
    char imb_version[64];
    size_t sections;
    double wrong;
};

/*
 * Writes the values of the current section as JSON members (facts). The first section that
 * determines a latency and a bandwidth also gives a cluster.
 */
void hm__bench_section(struct bench *bench);

#endif
