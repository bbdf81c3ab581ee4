#ifndef CSTATECAST_CHECKSUM_H
#define CSTATECAST_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether the processor has an instruction for CRC-32C.
bool statecast_has_crc32c(void);

/// The remainder of CRC-32C after further bytes. The processor must have the instruction.
uint32_t statecast_crc32c(uint32_t remainder, const void *bytes, size_t count);

#endif
