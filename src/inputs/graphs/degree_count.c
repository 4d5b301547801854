/*
 * Counts degrees without storing edges.
 *
 * As long as ids are dense, the counts are stored in pages indexed by id: 4 bytes for each id, and
 * no search. When the pages are mostly empty, or an id is too large for the table of pages, all
 * counts are moved into two sorted arrays, ids and counts, with 12 bytes for each id. New ids are
 * then collected in a buffer with a sixth of that length, radix-sorted, and merged into the arrays
 * from the back, in place, so that no second copy is needed.
 */
#include "degree_count.h"

#include <string.h>

#include "err.h"
#include "memory.h"

enum {
    PAGE_BITS = 10,
    PAGE = 1 << PAGE_BITS,
    /* Largest number of pages of counts, for ids below 2^32. The table of pages takes 32 MiB. */
    PAGES_MAX = HM_BUFFER_SIZE(1 << 22, 1 << 7),
    BUFFER_MIN = HM_BUFFER_SIZE(1 << 16, 8),
    /* Pages may be mostly empty as long as the counter uses at most this many bytes in total. */
    SMALL = HM_BUFFER_SIZE(32 << 20, 32 << 10)
};

struct hm_degree_count {
    uint32_t **pages;
    size_t page_room, page_count; /* Capacity of the page table, and number of allocated pages. */
    size_t distinct;              /* Number of distinct ids in the pages. */
    bool sorted; /* True if the counts are in the sorted arrays instead of pages. */
    uint64_t *ids;
    uint32_t *counts;
    size_t used; /* Number of entries in `ids` and in `counts`. */
    uint64_t *buffer, *scratch;
    size_t buffered,
        buffer_room; /* Number of ids in the buffer, and capacity of `buffer` and `scratch`. */
};

struct hm_degree_count *hm__degree_count_new(void)
{
    return hm__calloc(1, sizeof(struct hm_degree_count));
}

static void free_pages(struct hm_degree_count *c)
{
    for (size_t i = 0; i < c->page_room; i++)
        hm__free(c->pages[i]);
    hm__free(c->pages);
    c->pages = NULL;
    c->page_room = c->page_count = 0;
}

void hm__degree_count_free(struct hm_degree_count *c)
{
    if (!c)
        return;
    free_pages(c);
    hm__free(c->ids);
    hm__free(c->counts);
    hm__free(c->buffer);
    hm__free(c->scratch);
    hm__free(c);
}

size_t hm__degree_count_bytes(const struct hm_degree_count *c)
{
    return c->page_room * sizeof(*c->pages) + c->page_count * PAGE * sizeof(uint32_t) +
           c->used * (sizeof(*c->ids) + sizeof(*c->counts)) +
           2 * c->buffer_room * sizeof(*c->buffer);
}

/* Changes the capacity of the sorted arrays to `length` entries. */
static int resize_arrays(struct hm_degree_count *c, size_t length, struct hm_err *err)
{
    uint64_t *ids = hm__realloc(c->ids, length, sizeof(*ids));

    if (ids)
        c->ids = ids;
    uint32_t *counts = ids ? hm__realloc(c->counts, length, sizeof(*counts)) : NULL;
    if (counts)
        c->counts = counts;
    return counts ? 0 : hm__fail_nomem(err);
}

/* Moves the counts from the pages to the sorted arrays and frees each page after moving it. The
 * pages are in the order of the ids, so the arrays are sorted. */
static int convert_pages(struct hm_degree_count *c, struct hm_err *err)
{
    enum { BATCH = 1024 };
    size_t gone = 0;

    for (size_t i = 0; i < c->page_room; i++) {
        if (!c->pages[i])
            continue;
        int rc = resize_arrays(c, c->used + PAGE, err);
        if (rc)
            return rc;
        for (size_t k = 0; k < PAGE; k++) {
            if (c->pages[i][k] == 0)
                continue;
            c->ids[c->used] = (uint64_t)i << PAGE_BITS | k;
            c->counts[c->used++] = c->pages[i][k];
        }
        hm__free(c->pages[i]);
        c->pages[i] = NULL;
        c->page_count--;
        if (++gone % BATCH == 0)
            hm__trim();
    }
    free_pages(c);
    if (gone >= BATCH)
        hm__trim();
    c->sorted = true;
    return 0;
}

/*
 * Radix-sorts the buffer, starting with the lowest byte; a byte that is the same in all ids is
 * skipped.
 */
static void sort_buffer(struct hm_degree_count *c)
{
    for (int shift = 0; shift < 64; shift += 8) {
        size_t starts[257] = {0};
        for (size_t i = 0; i < c->buffered; i++)
            starts[(c->buffer[i] >> shift & 255) + 1]++;
        if (starts[(c->buffer[0] >> shift & 255) + 1] == c->buffered)
            continue;
        for (int b = 0; b < 256; b++)
            starts[b + 1] += starts[b];
        for (size_t i = 0; i < c->buffered; i++)
            c->scratch[starts[c->buffer[i] >> shift & 255]++] = c->buffer[i];
        uint64_t *swap = c->buffer;
        c->buffer = c->scratch;
        c->scratch = swap;
    }
}

/* Returns the number of distinct ids in the sorted buffer that are not in the arrays yet. */
static size_t count_new_ids(const struct hm_degree_count *c)
{
    size_t fresh = 0, at = 0;

    for (size_t i = 0; i < c->buffered; i++) {
        if (i > 0 && c->buffer[i] == c->buffer[i - 1])
            continue;
        while (at < c->used && c->ids[at] < c->buffer[i])
            at++;
        fresh += at == c->used || c->ids[at] != c->buffer[i];
    }
    return fresh;
}

/* Merges the buffer into the arrays, which have room for `total` ids. The merge starts at the back,
 * so that no entry is overwritten before it is read. */
static void merge_back(struct hm_degree_count *c, size_t total)
{
    size_t from = c->used, to = total, left = c->buffered;

    while (left > 0) {
        uint64_t id = c->buffer[left - 1];
        if (from > 0 && c->ids[from - 1] > id) {
            c->ids[--to] = c->ids[--from];
            c->counts[to] = c->counts[from];
            continue;
        }
        uint32_t count = from > 0 && c->ids[from - 1] == id ? c->counts[--from] : 0;
        while (left > 0 && c->buffer[left - 1] == id) {
            count += count < UINT32_MAX;
            left--;
        }
        c->ids[--to] = id;
        c->counts[to] = count;
    }
    c->used = total;
    c->buffered = 0;
}

static int merge_buffer(struct hm_degree_count *c, struct hm_err *err)
{
    sort_buffer(c);
    size_t total = c->used + count_new_ids(c);
    int rc = resize_arrays(c, total, err);
    if (rc == 0)
        merge_back(c, total);
    return rc;
}

static int add_sorted(struct hm_degree_count *c, uint64_t id, struct hm_err *err)
{
    if (c->buffered == c->buffer_room) {
        if (c->buffered > 0) {
            int rc = merge_buffer(c, err);
            if (rc)
                return rc;
        }
        size_t room = c->used / 6 > BUFFER_MIN ? c->used / 6 : BUFFER_MIN;
        uint64_t *buffer = hm__realloc(c->buffer, room, sizeof(*buffer));
        if (buffer)
            c->buffer = buffer;
        uint64_t *scratch = buffer ? hm__realloc(c->scratch, room, sizeof(*scratch)) : NULL;
        if (!scratch)
            return hm__fail_nomem(err);
        c->scratch = scratch;
        c->buffer_room = room;
    }
    c->buffer[c->buffered++] = id;
    return 0;
}

/* Grows the table of pages until it has an entry for the given page; returns false if memory runs
 * out. */
static bool reserve_page(struct hm_degree_count *c, uint64_t page)
{
    size_t room = c->page_room ? c->page_room : 64;

    if (page < c->page_room)
        return true;
    while (room <= page)
        room *= 2;
    uint32_t **pages = hm__realloc(c->pages, room, sizeof(*pages));
    if (!pages)
        return false;
    memset(pages + c->page_room, 0, (room - c->page_room) * sizeof(*pages));
    c->pages = pages;
    c->page_room = room;
    return true;
}

static bool pages_are_sparse(const struct hm_degree_count *c)
{
    size_t bytes = hm__degree_count_bytes(c);
    return bytes > SMALL && bytes > 14 * c->distinct;
}

int hm__degree_count_add(struct hm_degree_count *c, uint64_t id, struct hm_err *err)
{
    uint64_t page = id >> PAGE_BITS;

    /* In most cases, the page with the count of this id already exists, so this case is handled
     * first. */
    if (!c->sorted && page < c->page_room && c->pages[page]) {
        uint32_t *count = &c->pages[page][id & (PAGE - 1)];
        c->distinct += *count == 0;
        *count += *count < UINT32_MAX;
        return 0;
    }
    if (!c->sorted && (page >= PAGES_MAX || pages_are_sparse(c))) {
        int rc = convert_pages(c, err);
        if (rc)
            return rc;
    }
    if (c->sorted)
        return add_sorted(c, id, err);
    if (!reserve_page(c, page) || !(c->pages[page] = hm__calloc(PAGE, sizeof(uint32_t))))
        return hm__fail_nomem(err);
    c->page_count++;
    return hm__degree_count_add(c, id, err);
}

/* Returns the largest count of any id. If `histogram` is not NULL, adds 1 to histogram[c] for each
 * stored count c. */
static uint32_t fill_histogram(const struct hm_degree_count *c, double *histogram)
{
    uint32_t most = 0;

    for (size_t i = 0; i < c->page_room; i++) {
        for (size_t k = 0; c->pages[i] && k < PAGE; k++) {
            most = c->pages[i][k] > most ? c->pages[i][k] : most;
            if (histogram)
                histogram[c->pages[i][k]]++;
        }
    }
    for (size_t i = 0; i < c->used; i++) {
        most = c->counts[i] > most ? c->counts[i] : most;
        if (histogram)
            histogram[c->counts[i]]++;
    }
    return most;
}

int hm__degree_count_take(struct hm_degree_count *c, struct hm_degree **ret_degrees,
                          size_t *ret_length, struct hm_err *err)
{
    int rc = c->buffered > 0 ? merge_buffer(c, err) : 0;

    if (rc)
        return rc;
    uint32_t most = fill_histogram(c, NULL);
    double *histogram = hm__calloc((size_t)most + 1, sizeof(*histogram));
    if (!histogram)
        return hm__fail_nomem(err);
    fill_histogram(c, histogram);
    size_t length = 0;
    for (uint32_t d = 1; d <= most; d++)
        length += histogram[d] > 0;
    struct hm_degree *degrees = hm__calloc(length, sizeof(*degrees));
    length = 0;
    for (uint32_t d = 1; degrees && d <= most; d++)
        if (histogram[d] > 0)
            degrees[length++] = (struct hm_degree){d, histogram[d]};
    hm__free(histogram);
    if (!degrees)
        return hm__fail_nomem(err);
    *ret_degrees = degrees;
    *ret_length = length;
    return 0;
}
