/* Tables of benchmarks of communication: what is read, and what is made of it. */
#ifndef HM_COLLECTIVES_H
#define HM_COLLECTIVES_H

#include "import.h"

enum bench_kind { BENCH_NCCL, BENCH_OSU, BENCH_IMB };

enum { BENCH_COLUMNS = 8, BENCH_HOSTS = 1024 };

/* A row. nccl-tests: bytes, elements, and two times microseconds and two bandwidths. Others: the
 * values of the columns. */
struct bench_row {
    double value[8];
    char type[12], wrong[2][16];
    bool bad[2]; /* The result of each side is wrong. */
};

struct bench_section {
    enum bench_kind kind;
    char name[64]; /* Collective, test or benchmark; "": not given. */
    char transport[32], version[32], device[96];
    double ranks, processes, waiting, average; /* NaN: not given; ranks 0. */
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
    bool open; /* A section was begun. */
    char imb_version[64];
    size_t sections;
    double wrong;
};

/* Write the facts of the current section, and make a cluster of the first that gives one. */
void hm__bench_section(struct bench *bench);

#endif
