#include "CStatecastChecksum.h"

#if defined(__x86_64__)
#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")
#define TARGET __attribute__((target("sse4.2")))
#define CRC_WORD(remainder, word) ((uint32_t)__builtin_ia32_crc32di((remainder), (word)))
#define CRC_BYTE(remainder, byte) __builtin_ia32_crc32qi((remainder), (byte))
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
// All of Apple's processors; elsewhere, if the compiler may use the instruction.
#define HAS_INSTRUCTION 1
#define TARGET
#define CRC_WORD(remainder, word) __builtin_arm_crc32cd((remainder), (word))
#define CRC_BYTE(remainder, byte) __builtin_arm_crc32cb((remainder), (byte))
#endif

#ifdef TARGET

bool statecast_has_crc32c(void) { return HAS_INSTRUCTION; }

TARGET uint32_t statecast_crc32c(uint32_t remainder, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        __builtin_memcpy(&word, next, 8);
        remainder = CRC_WORD(remainder, word);
    }
    for (; count > 0; count -= 1, next += 1) remainder = CRC_BYTE(remainder, *next);
    return remainder;
}

#else

bool statecast_has_crc32c(void) { return false; }

uint32_t statecast_crc32c(uint32_t remainder, const void *bytes, size_t count) {
    (void)remainder, (void)bytes, (void)count;
    __builtin_trap();
}

#endif
