// The cache of compiled PTX in the folder CUDA_CACHE_PATH names. Without that variable there is none: the simulation
// writes nothing into anybody's HOME.
#pragma once

namespace gvb::sim {

// Whether an earlier load left this text's entry in the folder; the first one leaves it.
bool compiledBefore(const char* ptx);

}  // namespace gvb::sim
