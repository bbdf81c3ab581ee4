#ifndef STATECAST_CPLATFORM_H
#define STATECAST_CPLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
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

#endif
