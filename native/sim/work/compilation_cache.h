// The cache of compiled PTX in the folder CUDA_CACHE_PATH. Without that variable there is no cache: the simulation
// never writes into a user's HOME.
#pragma once

#include <cstdint>

namespace gvb::sim {

// Whether CUDA_DISABLE_PTX_JIT=1 forbids to compile PTX.
bool is_compilation_disabled();

// Whether an earlier load for this compute capability left the text's entry in the folder. The first load creates it.
bool compiled_before(const char* ptx, int64_t cc);

}  // namespace gvb::sim
