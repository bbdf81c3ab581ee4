// Drives a Redis server: a stream (XADD or FCALL -> XREAD), or one action at a time (SET and PUBLISH -> SUBSCRIBE, or a
// stream).

#include <hiredis/hiredis.h>

#include "peer.h"

#define KEY "statecast-peer"
#define ROWS "statecast-peer:rows"
#define LIBRARY "statecast_peer"
#define FUNCTION "statecast_put"
#define SENDER "sender"

// CALL_MAX: Lua unpacks at most 8000 values.
enum { BATCH = 256, TRANSACTION = 2048, CALL = 512, CALL_MAX = 3000, BATCH_BYTES = 1 << 20, READ_COUNT = 1000 };

enum kind { WRITER, STREAM_READER, SUBSCRIBER };

// Applies each action exactly once. Arguments: the sender, the number of its first action, the values of the actions.
// The hash has the rows, and the number of the last action of each sender. A call appends one entry to the stream.
static const char library[] =
    "#!lua name=" LIBRARY "\n"
    "redis.register_function('" FUNCTION "', function(keys, arguments)\n"
    "  local call, rows, stream, sender = redis.call, keys[1], keys[2], arguments[1]\n"
    "  local first, count = tonumber(arguments[2]), #arguments - 2\n"
    "  local expected = (tonumber(call('HGET', rows, sender)) or 0) + 1\n"
    "  if first > expected then return redis.error_reply('number ' .. first .. ' instead of ' .. expected) end\n"
    "  if first + count <= expected then return 0 end\n"
    "  if count == 1 then\n"
    "    local row, value = string.sub(arguments[3], 1, 4), arguments[3]\n"
    "    call('HSET', rows, sender, arguments[2], row, value)\n"
    "    call('XADD', stream, '*', row, value)\n"
    "    return 1\n"
    "  end\n"
    "  local changes, size = {}, 0\n"
    "  for index = 3 + expected - first, count + 2 do\n"
    "    changes[size + 1], changes[size + 2] = string.sub(arguments[index], 1, 4), arguments[index]\n"
    "    size = size + 2\n"
    "  end\n"
    "  call('HSET', rows, sender, first + count - 1, unpack(changes))\n"
    "  call('XADD', stream, '*', unpack(changes))\n"
    "  return size / 2\n"
    "end)\n";

// A connection whose replies are used while hiredis parses them: no object is made for them.
struct link {
    redisContext *context;
    enum kind kind;
    struct run *run;
    struct reader *reader;
    uint64_t confirmed;
    char last[64];
};

static bool transactions, trimmed, function, batched;

// MARK: - Replies

// ridx is the depth of what is parsed; XREAD: [[key, [[id, [name, value, ...]], ...]]], a message:
// ["message", key, value].
static void *on_string(const redisReadTask *task, char *bytes, size_t count) {
    struct link *link = task->privdata;
    int depth = link->context->reader->ridx;
    if (task->type == REDIS_REPLY_ERROR) peer_fail("the server says: %.*s", (int)count, bytes);
    if (task->type != REDIS_REPLY_STRING) return link;
    switch (link->kind) {
    case WRITER:
        run_acknowledged(link->run);
        break;
    case STREAM_READER:
        if (depth == 5 && task->idx % 2 == 1) reader_got(link->reader, bytes, count);
        if (depth != 4 || task->idx != 0) break;
        if (count >= sizeof link->last) peer_fail("an id of %zu bytes", count);
        memcpy(link->last, bytes, count);
        link->last[count] = 0;
        break;
    case SUBSCRIBER:
        if (depth == 1 && task->idx == 2) reader_got(link->reader, bytes, count);
        break;
    }
    return link;
}

// The integer of PUBLISH is how many got it; that of a subscription's confirmation how many subscriptions there are;
// that of the function how many actions it applied.
static void *on_integer(const redisReadTask *task, long long value) {
    struct link *link = task->privdata;
    if (function) {
        if (value < 1) peer_fail("action %llu was not applied", (unsigned long long)link->run->acknowledged);
        for (; value > 0; value--) run_acknowledged(link->run);
        return link;
    }
    if (value != 1) peer_fail("there are %lld subscriptions instead of 1", value);
    if (link->kind == WRITER)
        run_acknowledged(link->run);
    else
        link->confirmed += 1;
    return link;
}

static void *on_array(const redisReadTask *task, int count) {
    (void)count;
    return task->privdata;
}

static void *on_nil(const redisReadTask *task) { return task->privdata; }

static redisReplyObjectFunctions functions = {on_string, on_array, on_integer, on_nil, NULL};

// MARK: - Connections

static redisContext *connect_to(long port) {
    redisContext *context = redisConnectWithTimeout("127.0.0.1", (int)port, (struct timeval){.tv_sec = 5});
    if (context == NULL) peer_fail("no memory for a connection");
    if (context->err != 0) peer_fail("cannot connect to 127.0.0.1:%ld: %s", port, context->errstr);
    if (redisSetTimeout(context, (struct timeval){0}) != REDIS_OK) peer_fail("%s", context->errstr);
    return context;
}

static struct link *link_create(enum kind kind, struct run *run, struct reader *reader) {
    struct link *link = peer_allocate(1, sizeof *link);
    *link = (struct link){connect_to(run->options.port), kind, run, reader, 0, "0-0"};
    link->context->reader->fn = &functions;
    link->context->reader->privdata = link;
    link->context->reader->maxbuf = 0;  // keeps its buffer
    return link;
}

static void link_write(struct link *link) {
    for (int done = 0; !done;)
        if (redisBufferWrite(link->context, &done) != REDIS_OK) peer_fail("cannot write: %s", link->context->errstr);
}

static void link_read(struct link *link, uint64_t replies) {
    for (void *reply; replies > 0; replies--)
        if (redisGetReply(link->context, &reply) != REDIS_OK) peer_fail("cannot read: %s", link->context->errstr);
}

static void link_append(struct link *link, const char *bytes, size_t count) {
    if (redisAppendFormattedCommand(link->context, bytes, count) != REDIS_OK) peer_fail("%s", link->context->errstr);
}

// MARK: - Setup

static redisReply *ask(redisContext *context, const char *command) {
    redisReply *reply = redisCommand(context, command);
    if (reply == NULL) peer_fail("%s: %s", command, context->errstr);
    if (reply->type == REDIS_REPLY_ERROR) peer_fail("%s: %s", command, reply->str);
    return reply;
}

static void delete_keys(redisContext *context) { freeReplyObject(ask(context, "DEL " KEY " " ROWS)); }

static void find_version(redisContext *context, char *version, size_t size) {
    redisReply *reply = ask(context, "INFO server");
    const char *name = "redis_version:", *found = reply->str == NULL ? NULL : strstr(reply->str, name);
    if (found == NULL) peer_fail("the server has no version");
    found += strlen(name);
    snprintf(version, size, "%.*s", (int)strcspn(found, "\r\n"), found);
    freeReplyObject(reply);
}

// "none", or how often the append-only file is synced: "no", "everysec", "always".
static void find_durability(redisContext *context, char *durability, size_t size) {
    const char *names[] = {"CONFIG GET appendonly", "CONFIG GET appendfsync"};
    for (int index = 0; index < 2; index++) {
        redisReply *reply = ask(context, names[index]);
        if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) peer_fail("no answer to %s", names[index]);
        bool off = index == 0 && strcmp(reply->element[1]->str, "no") == 0;
        snprintf(durability, size, "%s", off ? "none" : reply->element[1]->str);
        freeReplyObject(reply);
        if (off) return;
    }
}

// MARK: - Commands whose values are filled in later

struct commands {
    char *bytes;
    size_t count, value;  // of one command, and where its value starts
};

// The same command times times. head: what is before the length of the value; tail: what is after the value.
static struct commands commands_create(const struct run *run, const char *head, size_t times, const char *tail) {
    struct commands commands;
    size_t header = strlen(head) + (size_t)snprintf(NULL, 0, "$%zu\r\n", run->value_bytes);
    commands.value = header;
    commands.count = header + run->value_bytes + strlen(tail);
    commands.bytes = peer_allocate(times, commands.count + 1);
    for (size_t index = 0; index < times; index++) {
        char *command = commands.bytes + index * commands.count;
        sprintf(command, "%s$%zu\r\n", head, run->value_bytes);
        memcpy(command + header + run->value_bytes, tail, strlen(tail));
    }
    return commands;
}

static struct commands commands_append(const struct run *run, size_t times) {
    char head[256], length[32];
    const char *start = "$4\r\nXADD\r\n$14\r\n" KEY "\r\n", *end = "$1\r\n*\r\n$1\r\na\r\n";
    // At least what may be in flight is kept.
    int digits = snprintf(length, sizeof length, "%ld", run->options.window * 4);
    if (trimmed)
        snprintf(head, sizeof head, "*8\r\n%s$6\r\nMAXLEN\r\n$1\r\n~\r\n$%d\r\n%s\r\n%s", start, digits, length, end);
    else
        snprintf(head, sizeof head, "*5\r\n%s%s", start, end);
    return commands_create(run, head, times, "\r\n");
}

// Calls the function with actions whose values follow each other. first: the action that values starts with.
static void append_call(struct link *link, uint64_t first, const char *values, size_t value_bytes, size_t count) {
    static const char names[] = "$5\r\nFCALL\r\n$13\r\n" FUNCTION "\r\n$1\r\n2\r\n$19\r\n" ROWS "\r\n$14\r\n" KEY
                                "\r\n$6\r\n" SENDER "\r\n";
    char head[256];
    unsigned long long number = first + 1;
    int digits = snprintf(NULL, 0, "%llu", number);
    int length = snprintf(head, sizeof head, "*%zu\r\n%s$%d\r\n%llu\r\n", 7 + count, names, digits, number);
    link_append(link, head, (size_t)length);
    link_append(link, values, value_bytes * count);
}

// MARK: - Workloads

static void read_more(struct link *link) {
    static const char format[] = "XREAD COUNT %d BLOCK 0 STREAMS " KEY " %s";
    if (redisAppendCommand(link->context, format, READ_COUNT, link->last) != REDIS_OK)
        peer_fail("%s", link->context->errstr);
    link_write(link);
}

static void *read_stream(void *context) {
    struct link *link = context;
    while (link->reader->read < run_total(link->run)) {
        read_more(link);
        link_read(link, 1);
    }
    return NULL;
}

// The replies to a batch are read after the next batch is written, so the server always has one.
static void write_stream(struct link *link) {
    static const char multi[] = "*1\r\n$5\r\nMULTI\r\n", exec[] = "*1\r\n$4\r\nEXEC\r\n";
    struct run *run = link->run;
    size_t batch = (size_t)run->options.batch, most = 1 + BATCH_BYTES / run->value_bytes;
    if (batch > most) batch = most;
    struct commands commands = function ? commands_create(run, "", batch, "\r\n") : commands_append(run, batch);
    uint64_t action = 0, waiting = 0, allowed = 0;
    while (action < run_total(run)) {
        if (allowed == 0) allowed = run_free(run);
        if (allowed == 0) {
            link_read(link, waiting);
            waiting = 0;
            run_wait_free(run);
            continue;
        }
        size_t count = allowed < batch ? (size_t)allowed : batch;
        for (size_t index = 0; index < count; index++)
            run_fill(run, action + index, (unsigned char *)commands.bytes + index * commands.count + commands.value);
        run_sending(run, count);
        if (transactions) link_append(link, multi, sizeof multi - 1);
        size_t calls = batched ? 1 : count;
        if (!function) link_append(link, commands.bytes, count * commands.count);
        for (size_t index = 0; function && index < calls; index++)
            append_call(link, action + index, commands.bytes + index * commands.count, commands.count, count / calls);
        if (transactions) link_append(link, exec, sizeof exec - 1);
        link_write(link);
        link_read(link, waiting);
        waiting = transactions ? calls + 2 : calls;
        allowed -= count;
        action += count;
    }
    link_read(link, waiting);
}

static void run_stream(struct run *run) {
    struct link *writer = link_create(WRITER, run, NULL);
    pthread_t threads[READERS_MAX];
    struct link *links[READERS_MAX];
    for (long index = 0; index < run->options.readers; index++) {
        links[index] = link_create(STREAM_READER, run, &run->readers[index]);
        if (pthread_create(&threads[index], NULL, read_stream, links[index]) != 0) peer_fail("no thread");
    }
    write_stream(writer);
    for (long index = 0; index < run->options.readers; index++) {
        pthread_join(threads[index], NULL);
        redisFree(links[index]->context);
    }
    redisFree(writer->context);
}

static void load_function(redisContext *context) {
    redisReply *reply = redisCommand(context, "FUNCTION LOAD REPLACE %s", library);
    if (reply == NULL) peer_fail("FUNCTION LOAD: %s", context->errstr);
    if (reply->type == REDIS_REPLY_ERROR) peer_fail("FUNCTION LOAD: %s", reply->str);
    freeReplyObject(reply);
}

static long long stream_length(redisContext *context) {
    redisReply *reply = ask(context, "XLEN " KEY);
    long long length = reply->integer;
    freeReplyObject(reply);
    return length;
}

// Calls the function with another value than the action of this number had.
static redisReply *call_again(redisContext *context, const struct run *run, uint64_t number) {
    static const char format[] = "FCALL " FUNCTION " 2 " ROWS " " KEY " " SENDER " %llu %b";
    unsigned char *value = peer_allocate(1, run->value_bytes);
    memcpy(value + sizeof(uint32_t), run->filler, (size_t)run->options.bytes);
    redisReply *reply = redisCommand(context, format, (unsigned long long)number, value, run->value_bytes);
    if (reply == NULL) peer_fail("FCALL: %s", context->errstr);
    free(value);
    return reply;
}

// A number that is repeated is not applied again, and one after a gap is refused.
static void check_numbers(redisContext *context, const struct run *run) {
    uint64_t last = run_total(run);
    long long length = stream_length(context);
    if (run->acknowledged != last) peer_fail("%llu actions were applied", (unsigned long long)run->acknowledged);
    redisReply *repeated = call_again(context, run, last), *gap = call_again(context, run, last + 2);
    if (repeated->type != REDIS_REPLY_INTEGER || repeated->integer != 0) peer_fail("a repeated number was applied");
    if (gap->type != REDIS_REPLY_ERROR) peer_fail("a number after a gap was applied");
    if (stream_length(context) != length) peer_fail("a repeated number or one after a gap is in the stream");
    freeReplyObject(repeated);
    freeReplyObject(gap);
}

// Compares the server's hash with each reader's table.
static void check_rows(redisContext *context, const struct run *run) {
    size_t bytes = (size_t)run->options.bytes, rows = (size_t)run->options.rows;
    unsigned char *table = peer_allocate(rows, bytes);
    redisReply *reply = ask(context, "HGETALL " ROWS);
    for (size_t index = 0; index + 1 < reply->elements; index += 2) {
        redisReply *field = reply->element[index], *value = reply->element[index + 1];
        uint32_t row;
        if (strcmp(field->str, SENDER) == 0) continue;
        if (field->len != sizeof row || value->len != run->value_bytes) peer_fail("the hash has another field");
        memcpy(&row, field->str, sizeof row);
        if (row >= rows) peer_fail("the hash has a row %u", row);
        memcpy(table + row * bytes, value->str + sizeof row, bytes);
    }
    freeReplyObject(reply);
    for (long index = 0; index < run->options.readers; index++)
        if (memcmp(run->readers[index].table, table, rows * bytes) != 0)
            peer_fail("the table of reader %ld is not equal to the server's hash", index);
    free(table);
}

// One thread has both connections: no thread has to be woken between an action and the next one.
static void run_single(struct run *run, bool stream) {
    struct link *writer = link_create(WRITER, run, NULL);
    struct link *reader = link_create(stream ? STREAM_READER : SUBSCRIBER, run, &run->readers[0]);
    struct commands commands[2];
    int count = stream ? 1 : 2;
    if (stream) {
        commands[0] = commands_append(run, 1);
    } else {
        commands[0] = commands_create(run, "*3\r\n$3\r\nSET\r\n$14\r\n" KEY "\r\n", 1, "\r\n");
        commands[1] = commands_create(run, "*3\r\n$7\r\nPUBLISH\r\n$14\r\n" KEY "\r\n", 1, "\r\n");
        if (redisAppendCommand(reader->context, "SUBSCRIBE " KEY) != REDIS_OK) peer_fail("%s", reader->context->errstr);
        link_write(reader);
        link_read(reader, 1);
        if (reader->confirmed != 1) peer_fail("no subscription");
    }
    for (uint64_t action = 0; action < run_total(run); action++) {
        if (stream) read_more(reader);
        run_fill(run, action, (unsigned char *)commands[0].bytes + commands[0].value);
        if (!stream)
            memcpy(commands[1].bytes + commands[1].value, commands[0].bytes + commands[0].value, run->value_bytes);
        run_sending(run, 1);
        for (int index = 0; index < count; index++) link_append(writer, commands[index].bytes, commands[index].count);
        link_write(writer);
        while (run->readers[0].read <= action) link_read(reader, 1);
        link_read(writer, (uint64_t)count);
    }
    redisFree(reader->context);
    redisFree(writer->context);
}

int main(int count, char **arguments) {
    peer_name = "redis";
    const struct flag flags[] = {
        {"--transactions", &transactions}, {"--trimmed", &trimmed}, {"--function", &function}, {"--batched", &batched},
        {NULL, NULL},
    };
    struct options options = peer_options(count, arguments, flags);
    if (options.batch == 0) options.batch = transactions ? TRANSACTION : batched ? CALL : BATCH;
    const char *workload = options.workload;
    bool stream = strcmp(workload, "stream") == 0 || strcmp(workload, "rows") == 0;
    bool single = strcmp(workload, "single") == 0 || strcmp(workload, "single-stream") == 0;
    if (!stream && !single) peer_fail("unknown workload: %s (stream, rows, single, single-stream)", workload);
    if (single && (options.readers != 1 || transactions)) peer_fail("%s has one reader, no transactions", workload);
    if (trimmed && strcmp(workload, "single") == 0) peer_fail("single has no stream to trim");
    if (function && (strcmp(workload, "rows") != 0 || trimmed)) peer_fail("--function is for rows, without --trimmed");
    if (batched && (!function || transactions)) peer_fail("--batched is for --function, without --transactions");
    if (batched && options.batch > CALL_MAX) peer_fail("a call has at most %d actions", CALL_MAX);

    redisContext *context = connect_to(options.port);
    char version[64], durability[32], way[128];
    find_version(context, version, sizeof version);
    find_durability(context, durability, sizeof durability);
    snprintf(way, sizeof way, "\"durability\":\"%s\",\"transactions\":%s,\"trimmed\":%s,\"function\":%s,\"batched\":%s",
             durability, transactions ? "true" : "false", trimmed ? "true" : "false", function ? "true" : "false",
             batched ? "true" : "false");
    delete_keys(context);
    if (function) load_function(context);
    struct run *run = run_create(options);
    if (stream)
        run_stream(run);
    else
        run_single(run, strcmp(workload, "single-stream") == 0);
    if (function) {
        check_numbers(context, run);
        check_rows(context, run);
        freeReplyObject(ask(context, "FUNCTION DELETE " LIBRARY));
    }
    delete_keys(context);
    redisFree(context);
    return run_report(run, version, way);
}
