#ifndef MALLOC_COUNTER_H
#define MALLOC_COUNTER_H

#include <stdint.h>

/// How many times this thread has allocated memory so far; a block that was asked to grow counts again.
uint64_t malloc_count(void);

#endif
