#ifndef STATECAST_CSODIUM_SHIM_H
#define STATECAST_CSODIUM_SHIM_H

#include <sodium.h>

#endif
