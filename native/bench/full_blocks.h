// Blocks that leave no room on a multiprocessor: cards differ in how many threads one holds.
#pragma once

#include "bench/device_session.h"

namespace gvb {

struct FullBlocks {
  unsigned threads;  // of a block
  unsigned each;     // blocks of a multiprocessor, all of which run at a time
};

// The largest blocks of `kernel`, which needs no shared memory, with which the fewest threads of a multiprocessor stay
// free: two of 1024 threads where it holds 2048, three of 512 where it holds 1536.
FullBlocks full_blocks(const DeviceSession& session, abi::CUfunction kernel);

}  // namespace gvb
