#ifndef CSTATECAST_SQLITE_SHIM_H
#define CSTATECAST_SQLITE_SHIM_H

#include <sqlite3.h>

/// Binds a copy of a text. Swift does not import `SQLITE_TRANSIENT`, which is a cast.
static inline int statecast_bind_text(sqlite3_stmt *statement, int index, const char *text) {
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

#endif
