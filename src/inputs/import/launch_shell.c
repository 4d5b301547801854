/*
 * Reads settings from a command line or a shell script: flags --name value or --name=value,
 * including flags inside quotes and arrays, as in ARGS="--num-layers 12" or ARGS=(--num-layers 12).
 * Variables that the script sets to plain values are replaced in the forms $N, ${N}, ${N:-8} and
 * $((N * 8)). No command is executed, so a value that depends on other features of the shell stays
 * unknown.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "launch.h"
#include "text.h"

enum { VARIABLES = 256, WORD_ROOM = 256 };

struct variable {
    char name[48], value[80];
    size_t length; /* Number of characters of the name. */
};

struct shell {
    struct launch *launch;
    struct variable variables[VARIABLES];
    size_t count;
    /* Last flag that was read, if the next word may be its value; "" if there is none. */
    char flag[64];
};

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static const char *find_variable(const struct shell *s, const char *name, size_t length)
{
    for (size_t i = s->count; i-- > 0;)
        if (s->variables[i].length == length && memcmp(s->variables[i].name, name, length) == 0)
            return s->variables[i].value;
    return NULL;
}

/*
 * Evaluates an expression such as $((A * 8)): numbers and variables joined by + - * /, from left to
 * right.
 */
static double evaluate_sum(const struct shell *s, const char *text, const char *end)
{
    double total = 0;
    char operation = '+';

    while (text < end) {
        double value = NAN;
        size_t length = 0;
        while (text < end && (*text == ' ' || *text == '$' || *text == '{' || *text == '}'))
            text++;
        while (text + length < end && is_name(text[length]))
            length++;
        if (length == 0 || length > 40)
            return NAN;
        if (isdigit((unsigned char)*text)) {
            hm__number_read(text, &value);
        } else {
            const char *known = find_variable(s, text, length);
            if (!known || hm__number_read(known, &value) != strlen(known))
                return NAN;
        }
        total = operation == '+'   ? total + value
                : operation == '-' ? total - value
                : operation == '*' ? total * value
                                   : floor(total / value);
        text += length;
        while (text < end && (*text == ' ' || *text == '}'))
            text++;
        if (text < end && !strchr("+-*/", *text))
            return NAN;
        operation = text < end ? *text++ : '+';
    }
    return total;
}

/* Replaces the variables in a word with their values; returns false if a value is not known. */
static bool expand_word(const struct shell *s, const char *word, char *out, size_t room)
{
    size_t used = 0;

    while (*word && used + 1 < room) {
        const char *value = NULL, *end;
        char number[40];
        if (*word != '$') {
            out[used++] = *word++;
            continue;
        }
        if (strncmp(word, "$((", 3) == 0) {
            end = strstr(word, "))");
            double result = end ? evaluate_sum(s, word + 3, end) : NAN;
            if (!isfinite(result) || fabs(result) > 1e15)
                return false;
            snprintf(number, sizeof(number), "%.0f", result);
            value = number;
            word = end + 2;
        } else {
            bool braces = word[1] == '{';
            const char *name = word + 1 + braces;
            size_t length = 0;
            while (is_name(name[length]))
                length++;
            value = find_variable(s, name, length);
            end = name + length;
            if (braces && !value && strncmp(end, ":-", 2) == 0) {
                size_t size = strcspn(end + 2, "}");
                snprintf(number, sizeof(number), "%.*s", (int)(size < 39 ? size : 39), end + 2);
                value = number;
            }
            if (braces)
                end += strcspn(end, "}");
            word = *end == '}' ? end + braces : end;
        }
        if (!value || used + strlen(value) + 1 > room)
            return false;
        memcpy(out + used, value, strlen(value));
        used += strlen(value);
    }
    out[used] = '\0';
    return *word == '\0';
}

/*
 * Stores the variable of an assignment NAME=VALUE. If the value cannot be determined, an earlier
 * value of the variable is removed.
 */
static void set_variable(struct shell *s, const char *word, size_t length)
{
    char value[80];

    if (length >= sizeof(s->variables[0].name))
        return;
    size_t i = 0;
    while (i < s->count &&
           (s->variables[i].length != length || memcmp(s->variables[i].name, word, length) != 0))
        i++;
    if (i == VARIABLES)
        return;
    if (!expand_word(s, word + length + 1, value, sizeof(value)))
        value[0] = '\0';
    snprintf(s->variables[i].name, sizeof(s->variables[i].name), "%.*s", (int)length, word);
    s->variables[i].length = length;
    snprintf(s->variables[i].value, sizeof(s->variables[i].value), "%s", value);
    s->count += i == s->count;
}

static void end_flag(struct shell *s, const char *value)
{
    if (s->flag[0])
        hm__launch_set(s->launch, s->flag, value);
    s->flag[0] = '\0';
}

static void take_word(struct shell *s, const char *word)
{
    char value[WORD_ROOM];
    size_t name = 0;

    while (is_name(word[name]))
        name++;
    if (strncmp(word, "--", 2) == 0) {
        size_t length = strcspn(word + 2, "=");
        end_flag(s, NULL);
        snprintf(s->flag, sizeof(s->flag), "%.*s", (int)(length < 63 ? length : 63), word + 2);
        if (word[2 + length] == '=')
            end_flag(s, expand_word(s, word + 3 + length, value, sizeof(value)) ? value : "?");
    } else if (name > 0 && word[name] == '=') {
        end_flag(s, NULL);
        set_variable(s, word, name);
    } else {
        end_flag(s, expand_word(s, word, value, sizeof(value)) ? value : "?");
    }
}

/*
 * Returns whether a character separates words. Quotes and brackets count as separators, so that
 * flags inside them are found.
 */
static bool is_gap(char c)
{
    return isspace((unsigned char)c) || strchr("\"'`()[],;\\", c);
}

/*
 * Returns the length of a quoted value without spaces, as in TP="8", including its quotes; 0 if the
 * text does not begin with such a value.
 */
static size_t quoted_length(const char *text)
{
    size_t length = *text == '"' || *text == '\'' ? strcspn(text + 1, "\"' \t\n") : 0;

    return length > 0 && text[1 + length] == *text && strncmp(text + 1, "--", 2) != 0 ? length + 2
                                                                                      : 0;
}

void hm__launch_shell(struct launch *launch, const char *text)
{
    struct shell s = {.launch = launch};
    char word[WORD_ROOM];
    bool closed = true; /* False if it is known that no "))" follows. */

    while (*text) {
        size_t length = 0;
        while (*text && is_gap(*text))
            text++;
        if (*text == '#') { /* Skip a comment, which may be the initial line "#!...". */
            text += strcspn(text, "\n");
            continue;
        }
        while (*text && !is_gap(*text)) {
            /*
             * An arithmetic expression $((…)) may contain spaces and brackets, so it is read as one
             * word.
             */
            bool opens = closed && strncmp(text, "$((", 3) == 0;
            const char *end = opens ? strstr(text, "))") : NULL;
            closed = closed && (!opens || end);
            size_t size = end ? (size_t)(end + 2 - text) : 1;
            if (*text == '=')
                size += quoted_length(text + 1);
            for (size_t i = 0; i < size; i++, text++)
                if (length < sizeof(word) - 1 && !strchr(" \t\n\"'", *text))
                    word[length++] = *text;
        }
        word[length] = '\0';
        if (length > 0)
            take_word(&s, word);
    }
    end_flag(&s, NULL);
}
