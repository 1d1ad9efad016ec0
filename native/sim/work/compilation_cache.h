// The cache of compiled PTX in the folder CUDA_CACHE_PATH names. Without that variable there is none: the simulation
// writes nothing into anybody's HOME.
#pragma once

#include <cstdint>

namespace gvb::sim {

// Whether an earlier load for the compute capability left this text's entry in the folder; the first one leaves it.
bool compiled_before(const char* ptx, int64_t cc);

}  // namespace gvb::sim
