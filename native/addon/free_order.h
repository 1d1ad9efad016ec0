// The names of the orders in which blocks are freed, which requests of several topics use.
#pragma once

#include "addon/fields.h"
#include "bench/live_blocks.h"

namespace gvb {

inline const Choices<FreeOrder> kFreeOrders{
    "", {{FreeOrder::kFifo, "fifo"}, {FreeOrder::kLifo, "lifo"}, {FreeOrder::kRandom, "random"}}};

}  // namespace gvb
