/* Splits lines of delimited text into cells, and collects the values of columns. */
#ifndef HM_CELLS_H
#define HM_CELLS_H

#include "import.h"

enum { HM_CELLS = 1024 };

/* The cells of one line of delimited text; the pointers to cells point into a copy of the line. */
struct hm_cells {
    char *text; /* Copy of the line, in which each delimiter is replaced by NUL; owned. */
    size_t room;
    char *cell[HM_CELLS];
    size_t count;
    size_t left; /* Number of cells after the first HM_CELLS, which are not stored. */
};

/*
 * Splits a line at the delimiter; quotes around a cell are removed. Returns false if memory runs
 * out.
 */
bool hm__cells_split(struct hm_cells *cells, const struct hm_line *line, char delimiter);
void hm__cells_release(struct hm_cells *cells);
/* Reads a cell as a number; NaN if the cell is empty or is not exactly one number. */
double hm__cell_number(const char *cell);
/*
 * Reads a time such as "2020-02-03 14:08:30.980366" as seconds since 1970; NaN if the cell is not a
 * time.
 */
double hm__cell_time(const char *cell);

/*
 * Reads a duration "[D-]HH:MM:SS", "MM:SS.sss", "D-HH" or "D-HH:MM" as seconds; NaN for NULL and
 * for any other text, such as "UNLIMITED".
 */
double hm__cell_duration(const char *text);
/*
 * Reads an amount of memory such as "3000K" or "2.5G" as bytes; NaN if the text is NULL or not a
 * number.
 */
double hm__cell_memory(const char *text);

/* Summary of a column: the number of filled cells, the number of cells with numbers, and the first,
 * last, smallest and largest of these numbers. */
struct hm_series {
    double filled, numbers, first, last, least, most;
};

void hm__series_add(struct hm_series *series, const char *cell);
/* Writes the summary of a column as a JSON object with all members of struct hm_series. */
void hm__series_put(struct hm_json *json, const char *key, const struct hm_series *series);

#endif
