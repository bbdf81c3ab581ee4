#ifndef CSTATECAST_ZEROMQ_SHIM_H
#define CSTATECAST_ZEROMQ_SHIM_H

#include <zmq.h>

#endif
