#ifndef CSTATECAST_SODIUM_SHIM_H
#define CSTATECAST_SODIUM_SHIM_H

#include <sodium.h>

#endif
