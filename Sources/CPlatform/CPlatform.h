#ifndef STATECAST_CPLATFORM_H
#define STATECAST_CPLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
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

/// The soft limit of the descriptors that this process may have open.
static inline uint64_t statecast_open_files_max(void) {
    struct rlimit limit = {0, 0};
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

/// The address of the peer of a `tcp` connection.
struct statecast_peer {
    struct sockaddr_storage address;
    socklen_t size;
};

/// Returns false if the descriptor is no connected `tcp` socket.
static inline bool statecast_peer_of(int descriptor, struct statecast_peer *peer) {
    memset(peer, 0, sizeof *peer);
    peer->size = sizeof peer->address;
    if (getpeername(descriptor, (struct sockaddr *)&peer->address, &peer->size) != 0) return false;
    return peer->address.ss_family == AF_INET || peer->address.ss_family == AF_INET6;
}

static inline bool statecast_is_equal(struct statecast_peer left, struct statecast_peer right) {
    return left.size == right.size && memcmp(&left.address, &right.address, left.size) == 0;
}

/// The port of this side of a `tcp` socket, in network order; 0 if it is none.
static inline uint16_t statecast_port_of(int descriptor) {
    struct sockaddr_storage address = {0};
    socklen_t size = sizeof address;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) return 0;
    if (address.ss_family == AF_INET) return ((struct sockaddr_in *)&address)->sin_port;
    return address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port : 0;
}

/// The bytes that a `tcp` connection has received; 0 if that is unknown.
static inline uint64_t statecast_bytes_received(int descriptor) {
#ifdef __linux__
    // The beginning of Linux's `tcp_info`: that of glibc lacks the last field, and <linux/tcp.h> conflicts with it.
    struct {
        uint8_t bytes[8];
        uint32_t words[24];
        uint64_t pacing_rate, max_pacing_rate, bytes_acked, bytes_received;
    } info = {0};
    socklen_t size = sizeof info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.bytes_received : 0;
#else
    struct tcp_connection_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(descriptor, IPPROTO_TCP, TCP_CONNECTION_INFO, &info, &size) == 0 ? info.tcpi_rxbytes : 0;
#endif
}

/// A listening `tcp` socket, as the operating system knows it.
struct statecast_listener {
    int descriptor;
    /// Of the socket: the descriptor may belong to another one later.
    uint64_t cookie;
};

/// Returns false if the descriptor is no listening `tcp` socket, and on other systems than Linux.
static inline bool statecast_listener_of(int descriptor, struct statecast_listener *listener) {
#ifdef __linux__
    int domain = 0, listens = 0;
    socklen_t size = sizeof domain, cookie_size = sizeof listener->cookie;
    listener->descriptor = descriptor;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0
        && (domain == AF_INET || domain == AF_INET6)
        && getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens
        && getsockopt(descriptor, SOL_SOCKET, SO_COOKIE, &listener->cookie, &cookie_size) == 0;
#else
    (void)descriptor, (void)listener;
    return false;
#endif
}

#ifdef __linux__
/// Lets the system drop all packets that arrive at a socket, or no more of them.
static inline bool statecast_drop_packets(int descriptor, bool drops) {
    // A program of the packet filter that keeps no byte of a packet: `struct sock_fprog` of <linux/filter.h>.
    struct { uint16_t code; uint8_t jump_true, jump_false; uint32_t operand; } keep_none = {.code = 6};
    struct { unsigned short length; void *instructions; } program = {1, &keep_none};
    int option = drops ? SO_ATTACH_FILTER : SO_DETACH_FILTER;
    return setsockopt(descriptor, SOL_SOCKET, option, &program, sizeof program) == 0;
}
#endif

/// Lets the system drop all requests for connections to a listening socket, or accept them again. Returns false if it
/// does not: the socket is closed.
static inline bool statecast_drop_requests(struct statecast_listener listener, bool drops) {
#ifdef __linux__
    struct statecast_listener current;
    if (!statecast_listener_of(listener.descriptor, &current) || current.cookie != listener.cookie) return false;
    return statecast_drop_packets(listener.descriptor, drops);
#else
    (void)listener, (void)drops;
    return false;
#endif
}

/// Another descriptor of a connection, to be closed; -1 if the descriptor belongs to another connection by now, or too
/// many are open.
static inline int statecast_duplicate_of(int descriptor, struct statecast_peer peer) {
    struct statecast_peer current;
    int duplicate = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (duplicate < 0 || (statecast_peer_of(duplicate, &current) && statecast_is_equal(current, peer))) return duplicate;
    close(duplicate);
    return -1;
}

/// Lets a connection receive no more than it has, and stay open; on other systems than Linux, ends it. Returns false if
/// it has ended.
static inline bool statecast_stop_receiving(int descriptor, struct statecast_peer peer) {
    int duplicate = statecast_duplicate_of(descriptor, peer);
    if (duplicate < 0) return false;
#ifdef __linux__
    bool is_stopped = statecast_drop_packets(duplicate, true);
#else
    bool is_stopped = shutdown(duplicate, SHUT_RDWR) == 0;
#endif
    close(duplicate);
    return is_stopped;
}

/// Ends a connection in both directions, if it has not ended. Its peer receives what was sent before.
static inline void statecast_end_connection(int descriptor, struct statecast_peer peer) {
    int duplicate = statecast_duplicate_of(descriptor, peer);
    if (duplicate < 0) return;
    shutdown(duplicate, SHUT_RDWR);
#ifdef __linux__
    // Otherwise it never learns what the peer has received. What arrives now is refused.
    statecast_drop_packets(duplicate, false);
#endif
    close(duplicate);
}

#endif
