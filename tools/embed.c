/*
 * Build tool that converts files to a C table: embed ARRAY FILE… writes C to standard output. Each
 * file gets a tag, the FNV-1a hash of its bytes.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int put_file(int number, const char *path)
{
    FILE *in = fopen(path, "rb");
    uint64_t tag = UINT64_C(14695981039346656037);
    int c, column = 0;

    if (!in) {
        perror(path);
        return 1;
    }
    printf("static const unsigned char file_%d[] = {\n", number);
    while ((c = getc(in)) != EOF) {
        printf("%d,", c);
        tag = (tag ^ (uint64_t)c) * UINT64_C(1099511628211);
        if (++column % 24 == 0)
            putchar('\n');
    }
    printf("0};\n#define TAG_%d \"%016" PRIx64 "\"\n", number, tag);
    return fclose(in) != 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    printf("#include \"embedded.h\"\n\n");
    for (int i = 2; i < argc; i++)
        if (put_file(i, argv[i]))
            return 1;
    printf("const struct hm_embedded %s[] = {\n", argv[1]);
    for (int i = 2; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        printf("    {\"%s\", (const char *)file_%d, sizeof(file_%d) - 1, TAG_%d},\n",
               slash ? slash + 1 : argv[i], i, i, i);
    }
    printf("    {0, 0, 0, 0},\n};\n");
    return 0;
}
