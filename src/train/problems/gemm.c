/*
 * Multiplies matrices in single precision with plain loops, for perceptrons if there is no BLAS.
 * Computes C = alpha op(A) op(B) + beta C for row-major matrices, where op may transpose a matrix.
 * A tile of op(B) is copied into the cache, and the inner loop runs along the tile's rows whether
 * or not A and B are transposed. The loop processes four rows of the tile at a time, so that C is
 * read and written only a quarter as often.
 */
#include "objective.h"

/* Numbers of rows and columns of a tile; the number of rows, DEEP, is a multiple of 4. */
enum { DEEP = 64, WIDE = 64 };

/* Copies a tile of op(B), padded with zeros: tile[p][j] = op(B)[p][j]. */
static void gemm_copy_tile(bool transpose, size_t depth, size_t width, const float *b, size_t ldb,
                           float tile[DEEP][WIDE])
{
    for (size_t p = 0; p < DEEP; p++)
        for (size_t j = 0; j < WIDE; j++)
            tile[p][j] = p < depth && j < width ? b[transpose ? j * ldb + p : p * ldb + j] : 0;
}

/*
 * Adds the product of a row of op(A) and the tile to a row of C: row[j] += sum_p factor[p]
 * tile[p][j], for all p below `depth` rounded up to a multiple of 4.
 */
static void gemm_add_rows(size_t depth, size_t width, const float *restrict factor,
                          float tile[restrict DEEP][WIDE], float *restrict row)
{
    for (size_t p = 0; p < depth; p += 4)
        for (size_t j = 0; j < width; j++)
            row[j] += factor[p] * tile[p][j] + factor[p + 1] * tile[p + 1][j] +
                      (factor[p + 2] * tile[p + 2][j] + factor[p + 3] * tile[p + 3][j]);
}

void hm__gemm_plain(bool transpose_a, bool transpose_b, size_t m, size_t n, size_t k, float alpha,
                    const float *a, size_t lda, const float *b, size_t ldb, float beta, float *c,
                    size_t ldc)
{
    float tile[DEEP][WIDE], factor[DEEP];

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    for (size_t p = 0; p < k; p += DEEP)
        for (size_t j = 0; j < n; j += WIDE) {
            size_t depth = k - p < DEEP ? k - p : DEEP, width = n - j < WIDE ? n - j : WIDE;
            gemm_copy_tile(transpose_b, depth, width, b + (transpose_b ? j * ldb + p : p * ldb + j),
                           ldb, tile);
            for (size_t i = 0; i < m; i++) {
                for (size_t q = 0; q < DEEP; q++)
                    factor[q] = q < depth
                                    ? alpha * a[transpose_a ? (p + q) * lda + i : i * lda + p + q]
                                    : 0;
                gemm_add_rows(depth, width, factor, tile, c + i * ldc + j);
            }
        }
}
