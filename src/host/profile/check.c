/* Checks a JSON text before it is parsed: whatever could make the parser slow, deep or ambiguous is refused here.  The
 * grammar itself is checked by the parser, except where two parsers could read two things. */
#include <string.h>

#include "host/profile/store.h"

enum {
    MAX_DEPTH = 16,
    MAX_STRING = 4096,
    MAX_NUMBER = 40,
    MAX_VALUES = GV_PROFILE_ENTRIES * (24 + GV_PROFILE_RESULTS * (GV_MAX_TUNABLES + 10)), /* of a full profile */
    MAX_KEYS = 64,
    MAX_DIGITS = 18,
    MAX_SMALL = 300
};

typedef struct scanner {
    const unsigned char *text;
    size_t size, at, values;
    int depth;
} scanner;

static void skip_blanks(scanner *s)
{
    while (s->at < s->size &&
           (s->text[s->at] == ' ' || s->text[s->at] == '\n' || s->text[s->at] == '\r' || s->text[s->at] == '\t')) {
        s->at++;
    }
}

static const char *check_utf8(scanner *s)
{
    char one[5] = "", clean[GRAVEL_NAME_SIZE];
    size_t n = s->text[s->at] >= 0xf0 ? 4 : s->text[s->at] >= 0xe0 ? 3 : 2;

    if (s->at + n > s->size)
        return "not UTF-8";
    memcpy(one, s->text + s->at, n);
    gv_name_clean(one, clean); /* keeps exactly the valid sequences */
    if (strcmp(one, clean) != 0)
        return "not UTF-8";
    s->at += n;
    return NULL;
}

static const char *check_string(scanner *s, size_t *first, size_t *length)
{
    *first = ++s->at;
    while (s->at < s->size && s->text[s->at] != '"') {
        const char *why = NULL;

        if (s->text[s->at] < ' ')
            return "a control character in a string";
        if (s->at - *first > MAX_STRING)
            return "a string is too long";
        if (s->text[s->at] >= 0x80) {
            why = check_utf8(s);
        } else if (s->text[s->at] == '\\') {
            /* \u0000 would end the string for C, and an escaped key could hide a duplicate */
            if (s->at + 1 >= s->size || strchr("\"\\/bfnrt", s->text[s->at + 1]) == NULL || s->text[s->at + 1] == '\0')
                return "an escape that profiles do not use";
            s->at += 2;
        } else {
            s->at++;
        }
        if (why != NULL)
            return why;
    }
    if (s->at >= s->size)
        return "the text ends inside a string";
    *length = s->at - *first;
    s->at++;
    return NULL;
}

static size_t digits_at(const scanner *s, size_t at)
{
    size_t n = 0;

    while (at + n < s->size && s->text[at + n] >= '0' && s->text[at + n] <= '9' && n <= MAX_NUMBER)
        n++;
    return n;
}

/* By hand, because strtod reads other numbers in other locales. */
static const char *check_number(scanner *s)
{
    size_t at = s->at + (s->text[s->at] == '-'), whole = digits_at(s, at), n;
    long exponent = 0;

    if (whole == 0 || (whole > 1 && s->text[at] == '0'))
        return "not a JSON value";
    at += whole;
    if (at < s->size && s->text[at] == '.') {
        n = digits_at(s, at + 1);
        if (n == 0)
            return "not a JSON value";
        at += n + 1;
    }
    if (at < s->size && (s->text[at] == 'e' || s->text[at] == 'E')) {
        int sign = 1;

        at++;
        if (at < s->size && (s->text[at] == '+' || s->text[at] == '-'))
            sign = s->text[at++] == '-' ? -1 : 1;
        n = digits_at(s, at);
        if (n == 0)
            return "not a JSON value";
        for (size_t i = 0; i < n && exponent < 10000; i++)
            exponent = exponent * 10 + (s->text[at + i] - '0');
        exponent *= sign;
        at += n;
    }
    if (at - s->at > MAX_NUMBER)
        return "a number is too long";
    if ((long)whole + exponent > MAX_DIGITS || exponent < -MAX_SMALL)
        return "a number is too large or too small";
    s->at = at;
    return NULL;
}

static const char *check_value(scanner *s);

static const char *check_members(scanner *s)
{
    struct {
        size_t first, length;
    } key[MAX_KEYS];
    int n_keys = 0;

    for (;;) {
        const char *why;

        skip_blanks(s);
        if (n_keys == 0 && s->at < s->size && s->text[s->at] == '}') {
            s->at++;
            return NULL;
        }
        if (n_keys == MAX_KEYS)
            return "an object has too many members";
        if (s->at >= s->size || s->text[s->at] != '"')
            return "a member's name is missing";
        if ((why = check_string(s, &key[n_keys].first, &key[n_keys].length)) != NULL)
            return why;
        for (int k = 0; k < n_keys; k++) {
            if (key[k].length == key[n_keys].length &&
                memcmp(s->text + key[k].first, s->text + key[n_keys].first, key[k].length) == 0) {
                return "a member appears twice in one object";
            }
        }
        n_keys++;
        skip_blanks(s);
        if (s->at >= s->size || s->text[s->at] != ':')
            return "a colon is missing";
        s->at++;
        if ((why = check_value(s)) != NULL)
            return why;
        skip_blanks(s);
        if (s->at >= s->size || (s->text[s->at] != ',' && s->text[s->at] != '}'))
            return "an object does not end";
        if (s->text[s->at++] == '}')
            return NULL;
    }
}

static const char *check_items(scanner *s)
{
    skip_blanks(s);
    if (s->at < s->size && s->text[s->at] == ']') {
        s->at++;
        return NULL;
    }
    for (;;) {
        const char *why = check_value(s);

        if (why != NULL)
            return why;
        skip_blanks(s);
        if (s->at >= s->size || (s->text[s->at] != ',' && s->text[s->at] != ']'))
            return "a list does not end";
        if (s->text[s->at++] == ']')
            return NULL;
    }
}

static const char *check_value(scanner *s)
{
    static const char *const word[] = {"true", "false", "null"};
    const char *why;
    size_t first, length;

    skip_blanks(s);
    if (s->at >= s->size)
        return "the text ends too early";
    if (++s->values > MAX_VALUES)
        return "too many values";
    if (s->text[s->at] == '{' || s->text[s->at] == '[') {
        int object = s->text[s->at++] == '{';

        if (++s->depth > MAX_DEPTH)
            return "nested too deeply";
        why = object ? check_members(s) : check_items(s);
        s->depth--;
        return why;
    }
    if (s->text[s->at] == '"')
        return check_string(s, &first, &length);
    for (size_t w = 0; w < sizeof word / sizeof word[0]; w++) {
        length = strlen(word[w]);
        if (s->size - s->at >= length && memcmp(s->text + s->at, word[w], length) == 0) {
            s->at += length;
            return NULL;
        }
    }
    return check_number(s);
}

const char *gv_json_check(const char *text, size_t size, size_t *at)
{
    scanner s = {(const unsigned char *)text, size, 0, 0, 0};
    const char *why;

    if (size > GV_PROFILE_FILE_MAX) {
        *at = GV_PROFILE_FILE_MAX;
        return "larger than a profile may be";
    }
    why = check_value(&s);
    skip_blanks(&s);
    if (why == NULL && s.at < s.size)
        why = "something follows the JSON text";
    *at = s.at;
    return why;
}
