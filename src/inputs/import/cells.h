/* Splits lines of delimited text into cells, and collects the values of columns. */
#ifndef HM_CELLS_H
#define HM_CELLS_H

#include "import.h"

enum { HM_CELLS = 1024 };

/* The cells of one line, in a copy of it. */
struct hm_cells {
    char *text; /* Copy of the line, cut into cells; owned. */
    size_t room;
    char *cell[HM_CELLS];
    size_t count;
};

/* Split a line at the delimiter; quotes around a cell are removed. False: out of memory. */
bool hm__cells_split(struct hm_cells *cells, const struct hm_line *line, char delimiter);
void hm__cells_release(struct hm_cells *cells);
/* Read a whole cell as a number; NaN if it is empty or another text. */
double hm__cell_number(const char *cell);
/* Seconds since 1970 of a time such as "2020-02-03 14:08:30.980366"; NaN if it is none. */
double hm__cell_time(const char *cell);

/* What a column of numbers holds. */
struct hm_series {
    double filled, numbers, first, last, least, most;
};

void hm__series_add(struct hm_series *series, const char *cell);
/* Write the series as a fact with all its members. */
void hm__series_put(struct hm_json *json, const char *key, const struct hm_series *series);

#endif
