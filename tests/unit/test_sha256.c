/* Compares SHA-256 with the vectors of FIPS 180-4 and NIST's examples, and tests tokens. */
#include <stdlib.h>
#include <string.h>

#include "sha256.h"
#include "testing.h"
#include "tokens.h"

static void check(const void *data, size_t length, const char *expected)
{
    uint8_t digest[SHA256_BYTES];
    char text[SHA256_HEX];

    sha256(data, length, digest);
    sha256_hex(digest, text);
    assert_string_equal(text, expected);
}

static void test_vectors(void **state)
{
    (void)state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
          "lmnopqrsmnopqrstnopqrstu",
          112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    check("\xbd", 1, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
}

static void test_million(void **state)
{
    char *a = malloc(1000000);

    (void)state;
    assert_non_null(a);
    memset(a, 'a', 1000000);
    check(a, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(a);
}

/* Inputs of zeros whose lengths are around the end of a block; the hashes were checked with
 * sha256sum. */
static void test_padding(void **state)
{
    static const char zeros[65];

    (void)state;
    check(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
    check(zeros, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
    check(zeros, 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
    check(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

static void test_tokens(void **state)
{
    char token[TOKEN_TEXT], hash[TOKEN_TEXT], file[400], line[200];
    struct tokens *tokens;
    struct hm_err err = {0};

    (void)state;
    assert_int_equal(tokens_make(token, hash, &err), 0);
    assert_int_equal(strlen(token), 64);
    snprintf(file, sizeof(file),
             "# people\n\n%s read,write\n"
             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\tread\r\n",
             hash);
    assert_int_equal(tokens_parse(file, strlen(file), "tokens", &tokens, &err), 0);
    snprintf(line, sizeof(line), "Bearer %s", token);
    assert_int_equal(tokens_scopes(tokens, line), TOKEN_READ | TOKEN_WRITE);
    assert_int_equal(tokens_scopes(tokens, "bearer abc"), TOKEN_READ);
    assert_int_equal(tokens_scopes(tokens, "Bearer abd"), 0);
    assert_int_equal(tokens_scopes(tokens, "Basic abc"), 0);
    assert_int_equal(tokens_scopes(tokens, ""), 0);
    assert_int_equal(tokens_scopes(tokens, "Bearer "), 0);
    tokens_free(tokens);
}

static void refused(const char *text, int line)
{
    struct tokens *tokens = NULL;
    struct hm_err err = {0};

    assert_true(tokens_parse(text, strlen(text), "tokens", &tokens, &err) < 0);
    assert_null(tokens);
    assert_int_equal(err.line, line);
}

static void test_bad_tokens(void **state)
{
    (void)state;
    refused("", 0);
    refused("# nobody\n", 1);
    refused("abc read\n", 1);
    refused("\nba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad all\n", 2);
    refused("BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad read\n", 1);
    refused("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),    cmocka_unit_test(test_million),
        cmocka_unit_test(test_padding),    cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_bad_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
