/*
 * Build tool that converts files to a C table: embed [--entries] ARRAY FILE… writes C to standard
 * output. Each file gets a tag, the FNV-1a hash of its bytes. With --entries, the files are
 * catalogs, and each gets a list of its entries, so that programs find them without reading the
 * file.
 */
#include <inttypes.h>
#include <stdbool.h>
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

/* Writes a string in quotes for C. */
static void put_string(const char *text, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++)
        printf(text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    putchar('"');
}

/*
 * Lists the entries of a catalog file, which has one section. An entry begins with a line that
 * consists of two spaces, the name and a colon; it ends where the next one begins. Its aliases are
 * on one line.
 */
static int put_entries(int number, const char *path)
{
    static const char key[] = "    aliases: ";
    FILE *in = fopen(path, "rb");
    char line[4096], aliases[4096] = "";
    long at = 0, begin = -1;

    if (!in) {
        perror(path);
        return 1;
    }
    printf("static const struct hm_embedded_entry entries_%d[] = {\n", number);
    for (bool more = true; more;) {
        more = fgets(line, sizeof(line), in);
        size_t length = more ? strcspn(line, "\n") : 0;
        bool begins = length > 3 && strncmp(line, "  ", 2) == 0 && line[2] != ' ' &&
                      line[2] != '#' && line[length - 1] == ':';
        if (begin >= 0 && (begins || !more)) {
            printf("%ld, ", at - begin);
            put_string(aliases, strlen(aliases));
            printf("},\n");
            aliases[0] = '\0';
        }
        if (begins) {
            begin = at;
            printf("    {");
            put_string(line + 2, length - 3);
            printf(", %ld, ", begin);
        } else if (more && strncmp(line, key, sizeof(key) - 1) == 0)
            snprintf(aliases, sizeof(aliases), "%.*s", (int)(length - (sizeof(key) - 1)),
                     line + sizeof(key) - 1);
        at += more ? (long)strlen(line) : 0;
    }
    printf("    {0, 0, 0, 0},\n};\n");
    return fclose(in) != 0;
}

int main(int argc, char **argv)
{
    const bool entries = argc > 1 && strcmp(argv[1], "--entries") == 0;
    const int first = entries ? 3 : 2;

    if (argc < first)
        return 2;
    printf("#include \"embedded.h\"\n\n");
    for (int i = first; i < argc; i++)
        if (put_file(i, argv[i]) || (entries && put_entries(i, argv[i])))
            return 1;
    printf("const struct hm_embedded %s[] = {\n", argv[first - 1]);
    for (int i = first; i < argc; i++) {
        const char *slash = strrchr(argv[i], '/');
        printf("    {\"%s\", (const char *)file_%d, sizeof(file_%d) - 1, TAG_%d, ",
               slash ? slash + 1 : argv[i], i, i, i);
        if (entries)
            printf("entries_%d},\n", i);
        else
            printf("0},\n");
    }
    printf("    {0, 0, 0, 0, 0},\n};\n");
    return 0;
}
