// What the peers share: options, clock, random numbers, percentiles, the window, the line of JSON.
//
// A run has one writer and some readers. Actions have numbers from 0; every reader gets all of them in order.

#ifndef STATECAST_PEER_H
#define STATECAST_PEER_H

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { READERS_MAX = 64, HANG_SECONDS = 60, LATENCY_BUCKETS = 256 + 56 * 128 };

static const char *peer_name = "peer";

// Ends the process. _Exit, because other threads still use what exit would take down.
static inline _Noreturn void peer_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fprintf(stderr, "%s: ", peer_name);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    fflush(stderr);
    va_end(arguments);
    _Exit(1);
}

static inline void *peer_allocate(size_t count, size_t size) {
    void *memory = calloc(count, size);
    if (memory == NULL) peer_fail("no memory for %zu elements of %zu bytes", count, size);
    return memory;
}

static inline uint64_t peer_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// MARK: - Random numbers (xorshift64*)

static inline uint64_t peer_random(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545F4914F6CDD1Du;
}

static inline void peer_random_bytes(uint64_t *state, unsigned char *bytes, size_t count) {
    for (size_t offset = 0; offset < count; offset += 8) {
        uint64_t value = peer_random(state);
        memcpy(bytes + offset, &value, count - offset < 8 ? count - offset : 8);
    }
}

// MARK: - Latencies: buckets that are at most 1/128 of their value wide

struct latencies {
    uint64_t count;
    uint64_t buckets[LATENCY_BUCKETS];
};

static inline void latencies_add(struct latencies *latencies, uint64_t nanoseconds) {
    unsigned shift = nanoseconds < 256 ? 0 : 56 - (unsigned)__builtin_clzll(nanoseconds);
    size_t bucket = shift == 0 ? nanoseconds : 256 + (shift - 1) * 128 + ((nanoseconds >> shift) - 128);
    latencies->buckets[bucket] += 1;
    latencies->count += 1;
}

static inline void latencies_merge(struct latencies *into, const struct latencies *from) {
    into->count += from->count;
    for (size_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++) into->buckets[bucket] += from->buckets[bucket];
}

// In microseconds: the middle of the bucket that holds the value at this share of all values.
static inline double latencies_percentile(const struct latencies *latencies, double share) {
    uint64_t rank = (uint64_t)(share * (double)latencies->count), seen = 0;
    for (size_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
        seen += latencies->buckets[bucket];
        if (seen <= rank) continue;
        if (bucket < 256) return (double)bucket / 1000;
        unsigned shift = (unsigned)(bucket - 256) / 128 + 1;
        return ((double)((bucket - 256) % 128 + 128) + 0.5) * (double)(UINT64_C(1) << shift) / 1000;
    }
    return 0;
}

// MARK: - Options

struct options {
    const char *workload;
    long port, actions, bytes, window, readers, rows, seed, batch;
};

struct flag {
    const char *name;
    bool *value;
};

// batch is 0 if it is not given. flags ends with an element without a name.
static inline struct options peer_options(int count, char **arguments, const struct flag *flags) {
    struct options options = {.actions = 200000, .bytes = 100, .window = 16384, .readers = 1, .rows = 10000, .seed = 1};
    const struct {
        const char *name;
        long *value, least, most;
    } numbers[] = {
        {"--port", &options.port, 1, 65535},
        {"--actions", &options.actions, 1, 1000000000},
        {"--bytes", &options.bytes, 8, 1000000},
        {"--window", &options.window, 1, 1000000000},
        {"--readers", &options.readers, 1, READERS_MAX},
        {"--rows", &options.rows, 1, 100000000},
        {"--seed", &options.seed, 1, INT32_MAX},
        {"--batch", &options.batch, 1, 1000000},
    };
    for (int index = 1; index < count; index++) {
        const char *argument = arguments[index];
        bool known = false;
        for (size_t n = 0; !known && n < sizeof numbers / sizeof numbers[0]; n++) {
            if (strcmp(argument, numbers[n].name) != 0) continue;
            known = true;
            if (++index == count) peer_fail("%s needs a number", argument);
            char *end;
            *numbers[n].value = strtol(arguments[index], &end, 10);
            if (end == arguments[index] || *end != 0) peer_fail("%s: not a number: %s", argument, arguments[index]);
            if (*numbers[n].value < numbers[n].least || *numbers[n].value > numbers[n].most)
                peer_fail("%s must be from %ld to %ld", argument, numbers[n].least, numbers[n].most);
        }
        for (const struct flag *flag = flags; !known && flag->name != NULL; flag++) {
            if (strcmp(argument, flag->name) != 0) continue;
            known = *flag->value = true;
        }
        if (known) continue;
        if (argument[0] == '-') peer_fail("unknown option: %s", argument);
        if (options.workload != NULL) peer_fail("more than one workload: %s", argument);
        options.workload = argument;
    }
    if (options.workload == NULL) peer_fail("which workload?");
    if (options.port == 0) peer_fail("--port is missing");
    return options;
}

// MARK: - A run

struct reader {
    // Alone in its cache lines: the reader writes it for each action, the writer looks at it.
    _Alignas(128) _Atomic uint64_t read;
    _Alignas(128) struct run *run;
    uint64_t finished;
    unsigned char *table;
    struct latencies latencies;
};

struct run {
    struct options options;
    bool rows;
    uint64_t random;
    size_t value_bytes;
    unsigned char *filler, *table;
    _Atomic uint64_t *times;
    struct reader *readers;
    uint64_t started, in_flight_max;
    _Atomic uint64_t sent, acknowledged;
    struct latencies acknowledgements;
    _Atomic uint64_t wanted;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
};

static inline uint64_t run_total(const struct run *run) { return (uint64_t)run->options.actions; }

static inline void *run_watch(void *context) {
    struct run *run = context;
    uint64_t last = 0;
    for (int seconds = 0; seconds < HANG_SECONDS; seconds++) {
        sleep(1);
        uint64_t sum = atomic_load(&run->sent) + atomic_load(&run->acknowledged);
        for (long index = 0; index < run->options.readers; index++) sum += atomic_load(&run->readers[index].read);
        if (sum != last) seconds = 0;
        last = sum;
    }
    peer_fail("no progress for %d s: %llu sent, %llu acknowledged, the first reader has %llu", HANG_SECONDS,
              (unsigned long long)run->sent, (unsigned long long)run->acknowledged,
              (unsigned long long)run->readers[0].read);
}

static inline struct run *run_create(struct options options) {
    struct run *run = peer_allocate(1, sizeof *run);
    run->options = options;
    run->rows = strcmp(options.workload, "rows") == 0;
    run->random = (uint64_t)options.seed * 0x9E3779B97F4A7C15u | 1;
    size_t bytes = (size_t)options.bytes, rows = (size_t)options.rows;
    run->value_bytes = run->rows ? sizeof(uint32_t) + bytes : bytes;
    run->filler = peer_allocate(1, bytes);
    peer_random_bytes(&run->random, run->filler, bytes);
    run->times = peer_allocate((size_t)options.actions, sizeof *run->times);
    size_t size = sizeof *run->readers * (size_t)options.readers;
    run->readers = aligned_alloc(_Alignof(struct reader), size);
    if (run->readers == NULL) peer_fail("no memory for the readers");
    memset(run->readers, 0, size);
    for (long index = 0; index < options.readers; index++) {
        run->readers[index].run = run;
        if (run->rows) run->readers[index].table = peer_allocate(rows, bytes);
    }
    if (run->rows) run->table = peer_allocate(rows, bytes);
    // calloc's pages are made at the first access: not while it is measured.
    for (uint64_t action = 0; action < run_total(run); action += 64) atomic_init(&run->times[action], 1);
    for (size_t byte = 0; run->rows && byte < rows * bytes; byte += 4096) {
        *(volatile unsigned char *)(run->table + byte) = 0;
        for (long index = 0; index < options.readers; index++)
            *(volatile unsigned char *)(run->readers[index].table + byte) = 0;
    }
    atomic_init(&run->wanted, UINT64_MAX);
    pthread_mutex_init(&run->mutex, NULL);
    pthread_cond_init(&run->changed, NULL);
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_watch, run) != 0) peer_fail("no thread");
    pthread_detach(thread);
    return run;
}

// MARK: - The writer

// What the reader of all readers that has the least has read.
static inline uint64_t run_read(struct run *run) {
    uint64_t least = UINT64_MAX;
    for (long index = 0; index < run->options.readers; index++) {
        uint64_t read = atomic_load(&run->readers[index].read);
        if (read < least) least = read;
    }
    return least;
}

static inline void run_wait(struct run *run, uint64_t target) {
    for (int turn = 0; turn < 16; turn++) {
        if (run_read(run) >= target) return;
        sched_yield();
    }
    pthread_mutex_lock(&run->mutex);
    atomic_store(&run->wanted, target);
    while (run_read(run) < target) pthread_cond_wait(&run->changed, &run->mutex);
    atomic_store(&run->wanted, UINT64_MAX);
    pthread_mutex_unlock(&run->mutex);
}

// How many actions may be sent now: at least a quarter of the window if there are as many left, else 0.
static inline uint64_t run_free(struct run *run) {
    uint64_t window = (uint64_t)run->options.window, sent = run->sent, left = run_total(run) - sent;
    uint64_t available = window - (sent - run_read(run)), least = window < 4 ? 1 : window / 4;
    if (least > left) least = left;
    if (available < least) return 0;
    return available < left ? available : left;
}

// Waits until run_free is not 0.
static inline void run_wait_free(struct run *run) {
    uint64_t window = (uint64_t)run->options.window, sent = run->sent, left = run_total(run) - sent;
    uint64_t least = window < 4 ? 1 : window / 4;
    if (least > left) least = left;
    if (sent + least > window) run_wait(run, sent + least - window);
}

// Makes the next action of this writer and sets its sending time. value has room for value_bytes.
static inline void run_fill(struct run *run, uint64_t action, unsigned char *value) {
    size_t bytes = (size_t)run->options.bytes;
    if (run->rows) {
        uint32_t row = (uint32_t)(((peer_random(&run->random) >> 32) * (uint64_t)run->options.rows) >> 32);
        memcpy(value, &row, sizeof row);
        peer_random_bytes(&run->random, value + sizeof row, bytes);
        memcpy(run->table + row * bytes, value + sizeof row, bytes);
    } else {
        memcpy(value, run->filler, bytes);
        memcpy(value, &action, sizeof action);
    }
    uint64_t now = peer_now();
    if (action == 0) run->started = now;
    atomic_store_explicit(&run->times[action], now, memory_order_relaxed);
}

// Called before the actions leave. Only the writer changes sent.
static inline void run_sending(struct run *run, uint64_t count) {
    uint64_t sent = run->sent + count, in_flight = sent - run_read(run);
    if (in_flight > run->in_flight_max) run->in_flight_max = in_flight;
    atomic_store_explicit(&run->sent, sent, memory_order_relaxed);
}

// Acknowledgements come in order and in one thread.
static inline void run_acknowledged(struct run *run) {
    uint64_t action = run->acknowledged;
    if (action >= run->sent) peer_fail("more acknowledgements than actions");
    latencies_add(&run->acknowledgements, peer_now() - run->times[action]);
    atomic_store_explicit(&run->acknowledged, action + 1, memory_order_release);
}

// MARK: - A reader

static inline void reader_got(struct reader *reader, const void *value, size_t count) {
    struct run *run = reader->run;
    uint64_t action = atomic_load_explicit(&reader->read, memory_order_relaxed);
    if (action >= run_total(run)) peer_fail("a reader got more actions than were sent");
    if (count != run->value_bytes) peer_fail("action %llu has %zu bytes", (unsigned long long)action, count);
    if (run->rows) {
        uint32_t row;
        size_t bytes = (size_t)run->options.bytes;
        memcpy(&row, value, sizeof row);
        if (row >= (uint64_t)run->options.rows) peer_fail("there is no row %u", row);
        memcpy(reader->table + row * bytes, (const unsigned char *)value + sizeof row, bytes);
    } else {
        uint64_t number;
        memcpy(&number, value, sizeof number);
        if (number != action)
            peer_fail("a reader got action %llu instead of %llu", (unsigned long long)number,
                      (unsigned long long)action);
    }
    uint64_t now = peer_now();
    latencies_add(&reader->latencies, now - atomic_load_explicit(&run->times[action], memory_order_relaxed));
    if (action + 1 == run_total(run)) reader->finished = now;
    atomic_store(&reader->read, action + 1);
    if (action + 1 != atomic_load(&run->wanted)) return;
    pthread_mutex_lock(&run->mutex);
    pthread_cond_signal(&run->changed);
    pthread_mutex_unlock(&run->mutex);
}

// MARK: - The result

// The exit code. way: how it was stored and sent, as members of a JSON object.
static inline int run_report(struct run *run, const char *version, const char *way) {
    struct latencies *all = peer_allocate(1, sizeof *all);
    uint64_t finished = 0;
    bool equal = true;
    for (long index = 0; index < run->options.readers; index++) {
        struct reader *reader = &run->readers[index];
        latencies_merge(all, &reader->latencies);
        if (reader->finished > finished) finished = reader->finished;
        if (run->rows)
            equal &= memcmp(reader->table, run->table, (size_t)(run->options.rows * run->options.bytes)) == 0;
    }
    double seconds = (double)(finished - run->started) / 1e9;
    printf("{\"peer\":\"%s\",\"version\":\"%s\",\"workload\":\"%s\"", peer_name, version, run->options.workload);
    printf(",%s", way);
    printf(",\"actions\":%ld,\"bytes\":%ld,\"window\":%ld,\"batch\":%ld,\"readers\":%ld", run->options.actions,
           run->options.bytes, run->options.window, run->options.batch, run->options.readers);
    printf(",\"seconds\":%.6f,\"rate\":%.0f", seconds, (double)run->options.actions / seconds);
    printf(",\"p50\":%.1f,\"p99\":%.1f,\"p999\":%.1f", latencies_percentile(all, 0.5), latencies_percentile(all, 0.99),
           latencies_percentile(all, 0.999));
    if (run->acknowledgements.count == run_total(run))
        printf(",\"p50_acknowledged\":%.1f,\"p99_acknowledged\":%.1f,\"p999_acknowledged\":%.1f",
               latencies_percentile(&run->acknowledgements, 0.5), latencies_percentile(&run->acknowledgements, 0.99),
               latencies_percentile(&run->acknowledgements, 0.999));
    printf(",\"in_flight_max\":%llu", (unsigned long long)run->in_flight_max);
    if (run->rows) printf(",\"rows\":%ld,\"tables_equal\":%s", run->options.rows, equal ? "true" : "false");
    printf("}\n");
    if (fflush(stdout) != 0) peer_fail("cannot write the result");
    if (!equal) peer_fail("the tables are not equal");
    return 0;
}

#endif
