#ifndef STATECAST_CTHREADS_H
#define STATECAST_CTHREADS_H

#include <pthread.h>
#include <stdint.h>

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

#endif
