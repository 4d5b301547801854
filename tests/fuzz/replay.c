/* Runs a fuzz target on every file of a folder, as one TAP test for each file. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name, int number)
{
    static uint8_t data[1 << 20];
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return 1;
    size_t size = fread(data, 1, sizeof(data), file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    printf("ok %d - %s\n", number, name);
    return 0;
}

int main(int argc, char **argv)
{
    struct dirent **names = NULL;
    int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1, done = 0;

    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && replay(argv[1], names[i]->d_name, done + 1) == 0)
            done++;
        free(names[i]);
    }
    free(names);
    printf("1..%d\n", done);
    return done == 0; /* A folder without files is an error. */
}
