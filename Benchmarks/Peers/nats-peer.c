// Drives a NATS server: a JetStream stream, read by consumers that are pushed to or that pull.

#include <arpa/inet.h>
#include <errno.h>
#include <nats/nats.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "peer.h"

#define STREAM "statecast-peer"
#define SUBJECT "statecast-peer.actions"

static const int64_t DUPLICATES = INT64_C(120) * 1000000000;  // nanoseconds; the server's default

enum { BATCH = 256, SMALL_WINDOW = 64, FETCH_COUNT = 512, PENDING_MAX = 1 << 20 };

static bool memory, library_async, pull, ordered, deduplicated;
static _Atomic bool finished;

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    const char *detail = nats_GetLastError(NULL);
    peer_fail("%s: %s%s%s", what, natsStatus_GetText(status), detail == NULL ? "" : ": ", detail == NULL ? "" : detail);
}

// MARK: - Connections

static void on_closed(natsConnection *connection, void *context) {
    (void)connection;
    (void)context;
    if (!finished) peer_fail("the server closed the connection");
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *context) {
    (void)connection;
    (void)subscription;
    (void)context;
    if (!finished) check(status, "connection");
}

// asap: the thread that publishes also writes; otherwise messages are collected for another thread, which writes them
// after at most a millisecond.
static natsConnection *connect_to(long port, bool asap) {
    char url[64];
    snprintf(url, sizeof url, "nats://127.0.0.1:%ld", port);
    natsOptions *options = NULL;
    natsConnection *connection = NULL;
    check(natsOptions_Create(&options), "options");
    check(natsOptions_SetURL(options, url), "options");
    check(natsOptions_SetAllowReconnect(options, false), "options");
    check(natsOptions_SetSendAsap(options, asap), "options");
    check(natsOptions_SetMaxPendingMsgs(options, PENDING_MAX), "options");
    check(natsOptions_SetClosedCB(options, on_closed, NULL), "options");
    check(natsOptions_SetErrorHandler(options, on_error, NULL), "options");
    check(natsConnection_Connect(&connection, options), url);
    natsOptions_Destroy(options);
    return connection;
}

// libnats 3.4 does not tell the server's version: it is read from the line that a server starts each connection with.
static void find_version(long port, char *version, size_t size) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int descriptor = socket(AF_INET, SOCK_STREAM, 0);
    struct timeval limit = {.tv_sec = 5};
    if (descriptor < 0 || setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0)
        peer_fail("no socket");
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0)
        peer_fail("cannot connect to 127.0.0.1:%ld: %s", port, strerror(errno));
    char line[4096];
    size_t count = 0;
    while (count < sizeof line - 1) {
        ssize_t received = recv(descriptor, line + count, sizeof line - 1 - count, 0);
        if (received <= 0) break;
        count += (size_t)received;
        if (memchr(line, '\n', count) != NULL) break;
    }
    line[count] = 0;
    close(descriptor);
    const char *name = "\"version\":\"", *found = strstr(line, name);
    if (strncmp(line, "INFO ", 5) != 0 || found == NULL) peer_fail("127.0.0.1:%ld is not a NATS server", port);
    found += strlen(name);
    snprintf(version, size, "%.*s", (int)strcspn(found, "\""), found);
}

// MARK: - The stream

static void delete_stream(jsCtx *js) {
    jsErrCode code = 0;
    natsStatus status = js_DeleteStream(js, STREAM, NULL, &code);
    if (code == JSStreamNotFoundErr) return;
    check(status, "deleting the stream (does the server have JetStream?)");
}

static void create_stream(jsCtx *js) {
    const char *subjects[] = {SUBJECT};
    jsStreamConfig config;
    check(jsStreamConfig_Init(&config), "stream");
    config.Name = STREAM;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    if (deduplicated) config.Duplicates = DUPLICATES;
    config.Storage = memory ? js_MemoryStorage : js_FileStorage;
    check(js_AddStream(NULL, js, &config, NULL, NULL), "creating the stream");
}

// MARK: - The writer

struct writer {
    struct run *run;
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *subscription;
    natsInbox *inbox;
    unsigned char *value;
};

// {"stream":"statecast-peer","seq":1}, or {"error":{...},...}. Without messages that expire, action 0 has sequence 1.
static void on_acknowledgement(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                               void *context) {
    (void)connection;
    (void)subscription;
    struct writer *writer = context;
    const char *data = natsMsg_GetData(message), *name = "\"seq\":";
    int count = natsMsg_GetDataLength(message);
    const char *found = data == NULL ? NULL : strstr(data, name);
    if (found == NULL) peer_fail("not acknowledged: %.*s", count, data == NULL ? "" : data);
    if (strtoull(found + strlen(name), NULL, 10) != writer->run->acknowledged + 1)
        peer_fail("not the next acknowledgement: %.*s", count, data);
    run_acknowledged(writer->run);
    natsMsg_Destroy(message);
}

static void on_async(jsCtx *js, natsMsg *message, jsPubAck *acknowledgement, jsPubAckErr *error, void *context) {
    (void)js;
    struct writer *writer = context;
    if (error != NULL) peer_fail("not acknowledged: %s", error->ErrText == NULL ? "" : error->ErrText);
    if (acknowledgement->Sequence != writer->run->acknowledged + 1) peer_fail("not the next acknowledgement");
    run_acknowledged(writer->run);
    natsMsg_Destroy(message);
}

static void publish(struct writer *writer, uint64_t action) {
    run_fill(writer->run, action, writer->value);
    int count = (int)writer->run->value_bytes;
    char identifier[24];
    snprintf(identifier, sizeof identifier, "%llu", (unsigned long long)action);
    if (library_async) {
        jsPubOptions options;
        check(jsPubOptions_Init(&options), "publishing");
        if (deduplicated) options.MsgId = identifier;
        check(js_PublishAsync(writer->js, SUBJECT, writer->value, count, &options), "publishing");
    } else if (deduplicated) {
        natsMsg *message = NULL;
        const char *value = (const char *)writer->value;
        check(natsMsg_Create(&message, SUBJECT, writer->inbox, value, count), "publishing");
        check(natsMsgHeader_Set(message, "Nats-Msg-Id", identifier), "publishing");
        check(natsConnection_PublishMsg(writer->connection, message), "publishing");
        natsMsg_Destroy(message);
    } else {
        check(natsConnection_PublishRequest(writer->connection, SUBJECT, writer->inbox, writer->value, count),
              "publishing");
    }
}

// The last action is published again: the stream already has it.
static void check_duplicate(struct writer *writer) {
    uint64_t total = run_total(writer->run);
    int count = (int)writer->run->value_bytes;
    char identifier[24];
    snprintf(identifier, sizeof identifier, "%llu", (unsigned long long)(total - 1));
    jsPubOptions options;
    jsPubAck *acknowledgement = NULL;
    check(jsPubOptions_Init(&options), "publishing again");
    options.MsgId = identifier;
    check(js_Publish(&acknowledgement, writer->js, SUBJECT, writer->value, count, &options, NULL), "publishing again");
    if (!acknowledgement->Duplicate || acknowledgement->Sequence != total) peer_fail("an action was stored again");
    jsPubAck_Destroy(acknowledgement);
}

static void writer_open(struct writer *writer, struct run *run, bool asap) {
    jsOptions options;
    *writer = (struct writer){.run = run, .connection = connect_to(run->options.port, asap)};
    writer->value = peer_allocate(1, run->value_bytes);
    check(jsOptions_Init(&options), "options");
    options.PublishAsync.MaxPending = run->options.window;
    options.PublishAsync.AckHandler = on_async;
    options.PublishAsync.AckHandlerClosure = writer;
    check(natsConnection_JetStream(&writer->js, writer->connection, &options), "JetStream");
    if (library_async) return;
    natsConnection *connection = writer->connection;
    natsSubscription **subscription = &writer->subscription;
    check(natsInbox_Create(&writer->inbox), "inbox");
    check(natsConnection_Subscribe(subscription, connection, writer->inbox, on_acknowledgement, writer), "inbox");
    check(natsSubscription_SetPendingLimits(*subscription, -1, -1), "inbox");
    check(natsConnection_Flush(connection), "inbox");
}

static void writer_close(struct writer *writer) {
    natsSubscription_Destroy(writer->subscription);
    natsInbox_Destroy(writer->inbox);
    jsCtx_Destroy(writer->js);
    natsConnection_Destroy(writer->connection);
    free(writer->value);
}

// MARK: - Readers

struct link {
    struct reader *reader;
    struct writer *writer;  // that publishes the next action when the reader has got one
    natsConnection *connection;
    jsCtx *js;
    natsSubscription *subscription;
    pthread_t thread;
};

static void on_action(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *context) {
    (void)connection;
    (void)subscription;
    struct link *link = context;
    struct run *run = link->reader->run;
    uint64_t next = link->reader->read + 1;
    reader_got(link->reader, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
    natsMsg_Destroy(message);
    if (link->writer == NULL || next == run_total(run)) return;
    run_sending(run, 1);
    publish(link->writer, next);
}

static void *read_pull(void *context) {
    struct link *link = context;
    struct run *run = link->reader->run;
    uint64_t total = run_total(run);
    while (link->reader->read < total) {
        uint64_t left = total - link->reader->read, count = left < FETCH_COUNT ? left : FETCH_COUNT;
        // The writer waits until a quarter of the window is free: this many come without more being read.
        uint64_t most = (uint64_t)run->options.window / 2;
        if (count > most) count = most == 0 ? 1 : most;
        natsMsgList list = {0};
        natsStatus status = natsSubscription_Fetch(&list, link->subscription, (int)count, 1000, NULL);
        if (status != NATS_TIMEOUT) check(status, "fetching");
        for (int index = 0; index < list.Count; index++) {
            natsMsg *message = list.Msgs[index];
            reader_got(link->reader, natsMsg_GetData(message), (size_t)natsMsg_GetDataLength(message));
        }
        natsMsgList_Destroy(&list);
    }
    return NULL;
}

static void link_open(struct link *link, struct reader *reader, struct writer *writer) {
    long port = reader->run->options.port;
    *link = (struct link){.reader = reader, .writer = writer, .connection = connect_to(port, false)};
    check(natsConnection_JetStream(&link->js, link->connection, NULL), "JetStream");
    jsSubOptions options;
    check(jsSubOptions_Init(&options), "subscribing");
    options.Stream = STREAM;
    options.Config.MemoryStorage = true;
    if (!ordered) options.Config.AckPolicy = js_AckNone;
    options.Ordered = ordered;
    jsErrCode code = 0;
    if (pull)
        check(js_PullSubscribe(&link->subscription, link->js, SUBJECT, NULL, NULL, &options, &code), "subscribing");
    else
        check(js_Subscribe(&link->subscription, link->js, SUBJECT, on_action, link, NULL, &options, &code),
              "subscribing");
    check(natsSubscription_SetPendingLimits(link->subscription, -1, -1), "subscribing");
    if (pull && pthread_create(&link->thread, NULL, read_pull, link) != 0) peer_fail("no thread");
}

static void link_close(struct link *link) {
    if (pull) pthread_join(link->thread, NULL);
    natsSubscription_Destroy(link->subscription);
    jsCtx_Destroy(link->js);
    natsConnection_Destroy(link->connection);
}

// MARK: - Workloads

static void write_stream(struct writer *writer) {
    struct run *run = writer->run;
    uint64_t action = 0, allowed = 0, batch = (uint64_t)run->options.batch;
    while (action < run_total(run)) {
        if (allowed == 0) allowed = run_free(run);
        if (allowed == 0) {
            run_wait_free(run);
            continue;
        }
        uint64_t count = allowed < batch ? allowed : batch;
        run_sending(run, count);
        for (uint64_t index = 0; index < count; index++) publish(writer, action + index);
        allowed -= count;
        action += count;
    }
}

int main(int count, char **arguments) {
    peer_name = "nats";
    const struct flag flags[] = {
        {"--memory", &memory}, {"--async", &library_async}, {"--pull", &pull}, {"--ordered", &ordered},
        {"--deduplicated", &deduplicated}, {NULL, NULL},
    };
    struct options options = peer_options(count, arguments, flags);
    if (options.batch == 0) options.batch = BATCH;
    const char *workload = options.workload;
    bool stream = strcmp(workload, "stream") == 0 || strcmp(workload, "rows") == 0;
    bool single = strcmp(workload, "single") == 0;
    if (!stream && !single) peer_fail("unknown workload: %s (stream, rows, single)", workload);
    if (single && (options.readers != 1 || pull)) peer_fail("single has one reader, and it does not pull");
    if (pull && ordered) peer_fail("--pull and --ordered exclude each other");

    char version[64], way[128];
    find_version(options.port, version, sizeof version);
    snprintf(way, sizeof way, "\"storage\":\"%s\",\"publisher\":\"%s\",\"consumer\":\"%s\",\"deduplicated\":%s",
             memory ? "memory" : "file", library_async ? "library" : "inbox",
             pull ? "pull" : ordered ? "ordered" : "push", deduplicated ? "true" : "false");

    struct run *run = run_create(options);
    struct writer writer;
    struct link links[READERS_MAX];
    writer_open(&writer, run, single || options.window < SMALL_WINDOW);
    delete_stream(writer.js);
    create_stream(writer.js);
    for (long index = 0; index < options.readers; index++)
        link_open(&links[index], &run->readers[index], single ? &writer : NULL);
    if (single) {
        run_sending(run, 1);
        publish(&writer, 0);
    } else {
        write_stream(&writer);
    }
    run_wait(run, run_total(run));
    while (run->acknowledged < run_total(run)) nats_Sleep(1);
    if (deduplicated) check_duplicate(&writer);
    finished = true;
    for (long index = 0; index < options.readers; index++) link_close(&links[index]);
    delete_stream(writer.js);
    writer_close(&writer);
    nats_Close();
    return run_report(run, version, way);
}
