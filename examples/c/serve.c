/* Answers HTTP requests on standard input, to which inetd or systemd connects the client. */
#include <howmany_request.h>
#include <stdio.h>
#include <string.h>

/* Answers a body that asks for a plan. The context allows no files, so none can be opened. */
static void answer(const char *body, size_t length)
{
    const struct hm_context context = {.limits = {.max_n = 8192}};
    struct hm_request *request = NULL;
    struct hm_reply *reply = NULL;
    struct hm_err err = {0};
    int rc = hm_request_new("plan", &request, &err);

    if (rc == 0)
        rc = hm_request_read(request, body, length, "body.json", &err);
    if (rc == 0)
        rc = hm_request_run(request, &context, &reply, &err);
    const char *text = rc ? err.message : reply->text, *status = rc ? "422 Invalid" : "200 OK";
    printf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s\n", status, strlen(text) + 1, text);
    hm_reply_free(reply);
    hm_request_free(request);
}

int main(void)
{
    static char line[1024], body[65536];
    size_t length = 0;

    while (fgets(line, sizeof(line), stdin)) {
        sscanf(line, "Content-Length: %zu", &length);
        if (line[0] == '\r' && length < sizeof(body)) {
            answer(body, fread(body, 1, length, stdin));
            length = 0;
        }
    }
    return 0;
}
