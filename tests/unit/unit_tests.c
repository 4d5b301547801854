/* All unit tests as one program: its argument names the test to run. Each test is compiled with its
 * main() renamed to test_main_NAME; meson.build writes the list of names into unit_tests.h. */
#include <stdio.h>
#include <string.h>

#include "unit_tests.h"

#define TEST(name) int test_main_##name(void);
UNIT_TESTS
#undef TEST

static const struct {
    const char *name;
    int (*run)(void);
} unit_tests[] = {
#define TEST(name) {#name, test_main_##name},
    UNIT_TESTS
#undef TEST
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof unit_tests / sizeof unit_tests[0]; i++)
        if (strcmp(argv[1], unit_tests[i].name) == 0)
            return unit_tests[i].run();
    fprintf(stderr, "usage: unit_tests NAME, where NAME is a unit test of tests/meson.build\n");
    return 2;
}
