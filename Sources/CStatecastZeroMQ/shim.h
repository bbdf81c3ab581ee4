#ifndef STATECAST_CZEROMQ_SHIM_H
#define STATECAST_CZEROMQ_SHIM_H

#include <zmq.h>

#endif
