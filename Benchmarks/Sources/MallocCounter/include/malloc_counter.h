#ifndef MALLOC_COUNTER_H
#define MALLOC_COUNTER_H

#include <stdint.h>

/// The number of allocations of this thread; a reallocation counts again.
uint64_t malloc_count(void);

#endif
