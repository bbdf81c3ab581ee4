#ifndef CSTATECAST_PLATFORM_H
#define CSTATECAST_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#ifdef __linux__
#include <malloc.h>
#include <stdlib.h>
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach/mach.h>
#include <malloc/malloc.h>
#endif

/// The calling thread's `pthread_self`, read at each call.
///
/// glibc and musl declare `pthread_self` as constant, so a compiler may call it once in a function. That is wrong in an
/// async function, which may continue on another thread after each suspension. The compiler does not know what this
/// pointer points to, so it can assume nothing about the call.
static inline uintptr_t statecast_thread_id(void) {
    pthread_t (*self)(void) = pthread_self;
    __asm__ volatile("" : "+r"(self));
    return (uintptr_t)self();
}

#ifdef __linux__
/// Names the calling thread, for debuggers and `top -H`. Linux keeps the first 15 bytes. Swift cannot call `prctl`, which
/// takes any number of arguments.
static inline void statecast_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
#endif

/// Prevents core dumps of this process. On Linux it also prevents other processes of the same user from reading its
/// memory.
static inline bool statecast_disable_core_dumps(void) {
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return false;
#ifdef __linux__
    // A program that collects dumps gets them despite the limit.
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
#else
    return true;
#endif
}

/// Sends a datagram to a socket of the file system, or of Linux's abstract namespace if the path begins with `@`. Does not
/// block.
static inline bool statecast_send_datagram(const char *path, const char *text) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return false;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (descriptor < 0) return false;
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    ssize_t sent = sendto(descriptor, text, strlen(text), MSG_DONTWAIT, (struct sockaddr *)&address,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(descriptor);
    return sent >= 0;
}

/// The processor time that this process has used.
static inline double statecast_processor_seconds(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// The most file descriptors that this process may have open.
static inline double statecast_max_descriptors(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : 0;
}

/// The bytes of this process that are in memory; 0 if that is unknown.
///
/// Linux: keeps a descriptor from the first call on, since none may be free later.
static inline uint64_t statecast_resident_bytes(void) {
#ifdef __linux__
    static int file = -2;
    int opened = __atomic_load_n(&file, __ATOMIC_RELAXED);
    if (opened == -2) {
        int new_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
        if (__atomic_compare_exchange_n(&file, &opened, new_file, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            opened = new_file;
        } else if (new_file >= 0) {
            close(new_file);
        }
    }
    // The second number, in pages.
    char text[128] = {0};
    if (opened < 0 || pread(opened, text, sizeof text - 1, 0) <= 0) return 0;
    char *second = NULL;
    strtoull(text, &second, 10);
    return strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
#elif defined(__APPLE__)
    struct mach_task_basic_info info;
    mach_msg_type_number_t count = MACH_TASK_BASIC_INFO_COUNT;
    if (task_info(mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) return 0;
    return info.resident_size;
#else
    return 0;
#endif
}

/// Whether the process can open one more descriptor.
static inline bool statecast_has_free_descriptor(void) {
    int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return errno != EMFILE && errno != ENFILE;
    close(descriptor);
    return true;
}

/// The bytes that the allocator has handed out; `UINT64_MAX` if it does not count them.
static inline uint64_t statecast_allocated_bytes(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
    struct mallinfo2 info = mallinfo2();
    uint64_t bytes = (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
    // Of a process that has another allocator, or a sanitizer's.
    return bytes == 0 ? UINT64_MAX : bytes;
#elif defined(__APPLE__)
    return mstats().bytes_used;
#else
    return UINT64_MAX;
#endif
}

#endif
