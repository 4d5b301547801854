/*
 * Tests that no text of an answer, and no message, has a number that is not finite: requests with
 * sizes, times and prices near the limits of numbers, each drawn from a template, are run, and
 * their texts are searched for the words nan and inf. In JSON such a number is null, and the texts
 * in it are searched as well.
 */
#include "request_testing.h"

#include <ctype.h>
#include <time.h>

#include "random.h"
#include "text.h"

/* Number of draws from each template, and processor time in seconds after which a request ends. */
enum { DRAWS = 40, DRAWS_TORTURE = 4000 };
static const double MOST_S = 0.2;

/* ---- drawing --------------------------------------------------------------------------------- */

static const char *skip_alternative(const char *at)
{
    for (int depth = 0; depth > 0 || (*at != '|' && *at != '>'); at++)
        depth += *at == '<' ? 1 : *at == '>' ? -1 : 0;
    return at;
}

/*
 * Appends the template up to the end of an alternative; in each "<a|b|c>", one alternative is
 * drawn. Alternatives may contain others. Returns the position after the text.
 */
static const char *draw_text(struct hm_text *out, const char *at, struct hm_random *random)
{
    for (; *at && *at != '|' && *at != '>'; at++) {
        if (*at != '<') {
            hm__text_add_n(out, at, 1);
            continue;
        }
        uint32_t count = 1;
        const char *first = ++at, *end = skip_alternative(at);
        for (; *end == '|'; end = skip_alternative(end + 1))
            count++;
        for (uint32_t k = hm__random_below(random, count); k > 0; k--)
            first = skip_alternative(first) + 1;
        draw_text(out, first, random);
        at = end;
    }
    return at;
}

/* Returns whether a text has the word nan or inf, in any case; a word consists of letters and '_'.
 */
static const char *not_finite(const char *text)
{
    for (const char *at = text; *at; at++) {
        bool starts = at == text || !(isalpha((unsigned char)at[-1]) || at[-1] == '_');
        bool ends = at[1] && at[2] && !isalpha((unsigned char)at[3]) && at[3] != '_';
        if (starts && ends && (strncasecmp(at, "nan", 3) == 0 || strncasecmp(at, "inf", 3) == 0))
            return at;
    }
    return NULL;
}

static double processor_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool is_over(void *data)
{
    return processor_s() > *(const double *)data + MOST_S;
}

/* Runs a request, "verb body"; returns whether there is an answer. */
static bool run_text(const char *text)
{
    double from = processor_s();
    const struct hm_context context = {.limits = {.bytes = 256000000, .max_n = 8192},
                                       .cancelled = is_over,
                                       .cancelled_data = &from};
    const char *body = strchr(text, ' ') + 1, *found;
    char verb[20];
    struct hm_err err = {0};
    struct hm_reply *reply = NULL;

    snprintf(verb, sizeof(verb), "%.*s", (int)(body - 1 - text), text);
    struct hm_request *request = new_request(verb);
    int rc = hm_request_read(request, body, strlen(body), "body.json", &err);
    if (rc == 0)
        rc = hm_request_run(request, &context, &reply, &err);
    if (rc == HM_E_SYNTAX || rc == HM_E_KEY)
        fail_msg("%s\n%s", text, err.message);
    assert_true((rc == 0) == (reply != NULL));
    found = not_finite(reply ? reply->text : err.message);
    if (found)
        fail_msg("%s\n%.60s in: %s", text, found, reply ? reply->text : err.message);
    hm_reply_free(reply);
    hm_request_free(request);
    return rc == 0;
}

/* ---- templates ------------------------------------------------------------------------------- */

#define SIZE "<1|1|3|1e-300|1e-9|1e9|1e300>"
#define OUTPUT "\"json\": <true|false>"
#define STRAGGLERS                                                                                 \
    "\"stragglers\": <{}|{\"spread\": 3}|{\"chance\": 1, \"pause\": \"1000000 s\"}|{\"slow\": 1, " \
    "\"slow_factor\": 1000}|{\"speeds\": [0.001, 1000]}>"
#define CLUSTER                                                                                    \
    "{\"max_nodes\": <1|2|64|1000000>, \"price\": \"<$1/h|$0/h|$1e15/h>\", \"flops\": "            \
    "\"<1 Gflop/s|1e-3 flop/s|1e18 flop/s>\", \"fabric\": {\"bandwidth\": \"<1 Gbit/s|1e-9 bit/s|" \
    "1e30 bit/s>\", \"latency\": \"<0|1 ms|1000 s>\"}, " STRAGGLERS "}"
#define TERMS                                                                                      \
    "\"compute\": \"<10/n|0|1e-300 s|1e300|1e308 s|n|1/(n-1)|ln(n)|exp(n)|10/n+1e-9*n^2>\", "      \
    "\"communicate\": <\"none\"|\"0.5*log2(n)\"|\"1e308\"|\"sqrt(n-2)\"|[{\"bytes\": "             \
    "\"<1 MB|1e-300 B|1e300 B>\", \"scheme\": \"<best|ring|tree>\"}]>"
#define NETWORK                                                                                    \
    "\"network\": <\"resnet-50\"|\"784-2500-10\"|{\"parameters\": <1|1e-9|1e15>, \"forward\": "    \
    "\"<1e-9|1|1e15> flop\"}>, \"batch\": <1|256|1000000000000000>"
#define JOB                                                                                        \
    "\"job\": {\"cluster\": <" CLUSTER "|{\"machine\": \"<p4d.24xlarge|m5.4xlarge>\", "            \
    "\"max_nodes\": <1|8|512>}>, <" TERMS "|" NETWORK ">, \"iterations\": "                        \
    "<1|1000|1000000000000000>, \"overlap\": <\"none\"|{\"norm\": <1|2|1e6>}>}"
#define SECONDS "<1|2|1.7|1e-300|1e-40|1e40|1e49>"
#define NEAR "<1|1.9|3|5.2|9>"
#define RUNS                                                                                       \
    "\"runs\": \"n,<seconds|speedup>\\n1," NEAR "\\n2," NEAR "\\n2," NEAR "\\n4,<" NEAR            \
    "|" SECONDS ">\\n8," NEAR "<|\\n16," SECONDS "|\\n1000000," SECONDS ">\""
#define LOSSES                                                                                     \
    "\"traces\": "                                                                                 \
    "\"m,iteration,loss,seconds<\\n1,1,1,1\\n1,2,.5,1\\n1,3,.3,1\\n1,4,.2,1\\n1,5,.15,1|"          \
    "\\n1,1,1e9,1\\n1,2,1e9,1\\n1,3,1e9,1><|\\n2,1,<1|1e9|1e-30|1e30>," SECONDS                    \
    "\\n2,2,<.6|1e9|1e-31>," SECONDS "\\n2,3,.4,1><|\\n10,1,2," SECONDS                            \
    "\\n10,2,1,1\\n10,3,.9,1>\""

static const char *const templates[] = {
    "plan {" JOB ", \"certainty\": <0.001|0.5|0.99>, " OUTPUT "}",
    "plan {" JOB ", \"goal\": \"<time|cost|balance>\", \"deadline\": \"<1|1e-300|1e15> s\", " OUTPUT
    "}",
    "plan {" JOB ", \"platform\": \"<all|server|driver|gossip-ring|federated>\", \"consistency\": "
    "\"<bsp|ssp|async|all>\", " OUTPUT "}",
    "plan {" JOB ", <\"weak\": true|\"faster\": " SIZE "|\"work\": " SIZE "|\"slack\": " SIZE
    "|\"alpha\": 1e300>, " OUTPUT "}",
    "plan {" JOB ", " RUNS ", " OUTPUT "}",
    "fit {" RUNS ", \"residuals\": <true|false>, \"target\": \"<64|n=2|1e50|1e300>\", " OUTPUT "}",
    "fit {" RUNS ", \"residuals\": <true|false>, \"terms\": <[\"1e200*n\", \"1\"]|[\"1e300*n\", "
    "\"1\"]|[\"n^50\"]|[\"0*n\"]|[\"1\", \"1/n\", \"n\"]>, " OUTPUT "}",
    "fit {" RUNS ", " JOB ", \"residuals\": true, \"width\": <0.5|1e-300|1e300>, " OUTPUT "}",
    "converge {" LOSSES ", \"best\": <0|0.1|-1e300|1e-320>, \"leave_out\": \"<each|1>\", " OUTPUT
    "}",
    "converge {" LOSSES ", " OUTPUT "}",
    "advise {" LOSSES ", \"loss\": <0.3|1e-9|1e9|0.1>, \"m\": \"<1..8|1|1000000000>\", " OUTPUT "}",
    "advise {" LOSSES ", \"best\": <0|0.1|1e-320>, \"loss\": <0.3|1e-9>, \"price\": "
    "\"<$1/h|$1e-300/h|$1e300/h>\", \"adaptive\": <true|false>, " OUTPUT "}",
    "recommend {" RUNS
    ", \"goal\": \"<time|cost|balance>\", \"price\": \"<$1/h|$1e300/h>\", " OUTPUT "}",
    "recommend {" RUNS ", " JOB ", " OUTPUT "}",
    "design {\"n\": \"<1..8|1|1..64:5>\", \"budget\": <1|5|1e-300|1e300>, \"cost\": "
    "\"<1|n|0|1e-300|n*1e300>\", \"target\": \"<64|n=2|1e300>\", \"criterion\": "
    "\"<A|D|I>\", " OUTPUT "}",
    "design {\"n\": \"1..8\", " JOB ", \"budget\": <1|5|1e-300|1e300>, " OUTPUT "}",
};

static void drawn_requests(void **state)
{
    const int draws = is_torture() ? DRAWS_TORTURE : DRAWS;
    int answers = 0, requests = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(templates) / sizeof(templates[0]); i++) {
        struct hm_random random;
        hm__random_init(&random, 1, i);
        for (int k = 0; k < draws; k++, requests++) {
            struct hm_text text = {0};
            draw_text(&text, templates[i], &random);
            assert_false(text.failed);
            answers += run_text(text.data);
            hm__text_release(&text);
        }
    }
    print_message("# %d of %d requests have an answer\n", answers, requests);
    assert_true(answers > requests / 5);
}

#define DEFAULT_RUNS "\"runs\": \"n,seconds\\n1,10\\n2,5.5\\n4,3\\n4,3.1\""

/* Requests whose answers once had such a number, or ended with one. */
static void known_requests(void **state)
{
    static const char *const requests[] = {
        "advise {\"traces\": \"m,iteration,loss,seconds,rows\\n4,26,0.6289,1,20\\n4,27,0.6161"
        ",1,20\\n4,28,0.6036,1,20\\n4,29,0.5914,1,20\\n4,30,0.5795,1,20\\n4,31,0.5679,1,20\\n"
        "4,32,0.5566,1,20\\n4,33,0.5455,1,20\\n1,17,0.2955,1,40\\n1,18,0.2776,1,40\\n1,19,0.2"
        "614,1,40\\n1,20,0.2466,1,40\\n1,21,0.2332,1,40\\n1,22,0.221,1,40\\n1,23,0.2099,1,40"
        "\\n1,24,0.1999,1,40\", \"loss\": 0.3}",
        "fit {\"runs\": \"n,speedup\\n2,1.9\\n4,3\\n8,5\", \"job\": {\"compute\": \"ln(n)\", "
        "\"communicate\": \"none\"}}",
        "fit {\"runs\": \"n,seconds\\n1,10\\n2,5.5\\n4,3\\n4,3.1\", \"terms\": [\"1e200*n\", "
        "\"1\"]}",
        "fit {\"runs\": \"n,seconds\\n3,1\\n3,4.3896e-300\\n1000000,9.7642e-296\\n1000000,3.4"
        "414e-297\\n64,2.5521e-300\\n64,1.7458e-300\\n64,6.3973e-300\"}",
        "fit {\"runs\": \"n,speedup\\n1,1\\n2,1.7\\n4,3\\n8,5.3\\n16,9\", \"job\": "
        "{\"compute\": \"1e308 s\", \"communicate\": \"none\"}}",
        "plan {\"job\": {\"compute\": \"1e-300 s\", \"communicate\": \"none\", \"cluster\": "
        "{\"max_nodes\": 4, \"stragglers\": {\"chance\": 1, \"pause\": \"1000000 s\"}}}}",
        "plan {\"job\": {\"network\": \"resnet-50\", \"batch\": 256, \"overlap\": {\"norm\": "
        "1000000}, \"communicate\": [{\"bytes\": \"1e300 B\", \"scheme\": \"ring\"}], "
        "\"cluster\": {\"max_nodes\": 4, \"machine\": \"p4d.24xlarge\"}}}",
        "plan {\"job\": {\"compute\": \"1e308 s\", \"communicate\": [{\"bytes\": \"1e300 "
        "B\", \"scheme\": \"ring\"}], \"overlap\": {\"norm\": 1000000.0}, \"cluster\": "
        "{\"max_nodes\": 64, \"price\": \"$0/h\", \"flops\": \"1 Gflop/s\", \"fabric\": "
        "{\"bandwidth\": \"1e30 bit/s\", \"latency\": \"1 ms\"}}}, \"platform\": \"server\", "
        "\"consistency\": \"async\"}",
        "design {\"n\": \"1..8\", \"budget\": 1e-300}",
        "plan {\"job\": {\"network\": {\"kind\": \"transformer\", \"layers\": 4, \"hidden\": "
        "64, \"heads\": 4, \"vocabulary\": 100}, \"sequence\": 64, \"batch\": 16, "
        "\"cluster\": {\"max_nodes\": 2, \"price\": \"$0/h\", \"flops\": \"1 Tflop/s\"}}, "
        "\"goal\": \"balance\", \"alpha\": 1}",
        "converge {\"traces\": \"m,iteration,loss\\n2,1,1e+09\\n2,2,1e+09\\n2,9,1e+09\\n16,1,"
        "1e+09\\n4,1,9.7531e+29\\n4,2,9.51229e+29\\n4,3,9.27743e+29\\n4,4,9.04837e+29\\n4,20,"
        "6.06531e+29\\n4,21,5.91555e+29\\n4,22,5.7695e+29\\n4,23,5.62705e+29\\n4,24,5.48812e+"
        "29\\n4,25,5.35261e+29\\n8,1,9.87578e+29\\n16,2,9.87578e+29\\n16,3,9.81425e+29\\n1000"
        ",1,1e+09\", \"best\": 0, \"leave_out\": \"each\"}",
        "converge {\"traces\": \"m,iteration,loss,staleness,rows,restarts,lower_bound\\n16,22"
        ",8.71534e+29,0,40,0,1e-09\\n16,23,8.66104e+29,0,40,0,1e-09\\n16,24,8.60708e+29,0,40,"
        "0,1e-09\\n16,2,0.987578,3,80,0,1e-09\\n16,1,1e-09,0,80,0,1e-09\\n16,2,1e-09,0,80,0,1"
        "e-09\\n4,1,1e-09,0,40,0,1e-09\\n4,2,1e-09,0,40,0,1e-09\\n4,3,1e-09,0,40,0,1e-09\\n4,"
        "4,1e-09,0,40,0,1e-09\\n4,5,1e-09,0,40,0,1e-09\\n4,6,1e-09,0,40,0,1e-09\\n4,7,1e-09,0"
        ",40,0,1e-09\\n4,8,1e-09,0,40,0,1e-09\\n2,3,1e-09,3,80,0,1e-09\\n2,4,1e-09,3,80,0,1e-"
        "09\\n2,5,1e-09,3,80,0,1e-09\\n2,6,1e-09,3,80,0,1e-09\\n2,7,1e-09,3,80,0,1e-09\\n2,8,"
        "1e-09,3,80,0,1e-09\\n2,9,1e-09,3,80,0,1e-09\\n2,10,1e-09,3,80,0,1e-09\\n2,17,0.42741"
        "5,1,20,0,1e-09\\n2,18,0.40657,1,20,0,1e-09\\n2,19,0.386741,1,20,0,1e-09\\n2,20,0.367"
        "879,1,20,0,1e-09\\n2,21,0.349938,1,20,0,1e-09\\n2,22,0.332871,1,20,0,1e-09\\n2,23,0."
        "316637,1,20,0,1e-09\\n2,24,0.301194,1,20,0,1e-09\\n\"}",
        "fit {\"runs\": \"n,size,seconds\\n1,1,1.101e-299\\n16,1,2.4232e-300\\n16,0.5,2.9607e"
        "-300\\n16,1,2.2461e-300\\n1000000,0.5,1.1776e-296\\n4,0.5,3.7703e-300\\n8,0.5,2.9148"
        "e-300\\n8,1,2.9763e-300\\n3,0.5,4.4432e-300\\n3,0.5,4.5951e-300\\n3,0.5,4.384e-300"
        "\\n1000,0.5,5.5485e-299\\n1000,1,6.0639e-300\", \"residuals\": true, \"errors\": "
        "\"equal\"}",
        "advise {\"traces\": \"m,iteration,loss,seconds\\n1,1,0.8408,1\\n1,2,0.6488,1\\n1,3,0"
        ".5066,1\\n1,4,0.4012,1\\n1,5,0.3231,1\\n1,6,0.2653,1\\n1,7,0.2225,1\\n1,8,0.1907,1"
        "\\n1,9,0.1672,1\\n1,10,0.1498,1\\n2,1,0.9607,1\\n2,2,0.8408,1\\n2,3,0.7376,1\\n2,4,0"
        ".6488,1\\n2,5,0.5724,1\\n2,6,0.5066,1\\n2,7,0.4499,1\\n2,8,0.4012,1\\n2,9,0.3592,1"
        "\\n2,10,0.3231,1\", \"within\": \"1e-300 s\", \"all\": true}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        run_text(requests[i]);
}

static void refused(const char *verb, const char *body, const char *message)
{
    struct hm_request *request = new_request(verb);
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};

    assert_int_equal(hm_request_read(request, body, strlen(body), "body.json", &err), 0);
    assert_int_equal(hm_request_run(request, NULL, &reply, &err), HM_E_RANGE);
    if (!strstr(err.message, message))
        fail_msg("%s", err.message);
    hm_request_free(request);
}

/* Fits without a meaning are refused instead of answered with times of 0 or without an end. */
static void meaningless_fits_are_refused(void **state)
{
    (void)state;
    refused("fit",
            "{\"runs\": \"n,speedup\\n2,1.9\\n4,3\\n8,5\", \"job\": {\"compute\": \"ln(n)\", "
            "\"communicate\": \"none\"}}",
            "one worker takes no time");
    refused("fit",
            "{\"runs\": \"n,speedup\\n2,1.9\\n4,3\\n8,5\", \"job\": {\"compute\": \"1e60/n\", "
            "\"communicate\": \"none\"}}",
            "one worker takes too long");
    refused("fit",
            "{\"runs\": \"n,seconds\\n2,1e40\\n4,1e40\\n8,1e40\", \"job\": {\"compute\": "
            "\"1e-100/n\", \"communicate\": \"none\"}}",
            "more than 1e+100 times longer or shorter");
    refused("fit", "{" DEFAULT_RUNS ", \"target\": \"1.1e50\"}",
            "1.1e+50 cannot be predicted; it must be from 1 to 1e+50");
}

/* A number above the largest one is refused when the request is read, whatever plan it is for. */
static void infinite_numbers_are_refused(void **state)
{
    static const char *const fields[] = {"alpha", "beta", "budget", "deadline", "stale_cost"};
    char body[100];

    (void)state;
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        struct hm_request *request = new_request("plan");
        struct hm_err err = {0};
        const char *unit = strcmp(fields[i], "deadline") == 0 ? " s" : "";
        snprintf(body, sizeof(body), "{\"job\": \"\", \"%s\": \"1e400%s\"}", fields[i], unit);
        int rc = hm_request_read(request, body, strlen(body), "body.json", &err);
        if (rc != HM_E_RANGE || strcmp(err.field, fields[i]) != 0 || !strstr(err.message, "1e400"))
            fail_msg("%s: %d, %s: %s", body, rc, err.field, err.message);
        hm_request_free(request);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infinite_numbers_are_refused),
        cmocka_unit_test(drawn_requests),
        cmocka_unit_test(known_requests),
        cmocka_unit_test(meaningless_fits_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
