#ifndef CSTATECAST_POSTGRES_SHIM_H
#define CSTATECAST_POSTGRES_SHIM_H

#include <libpq-fe.h>

#endif
