#pragma once

namespace gvb::sim {

// Whether this process is an MPS client: by the `mps` setting, or because a control daemon's pipe is where
// CUDA_MPS_PIPE_DIRECTORY says. Like the real driver it looks once, and goes on without where there is none.
bool isMpsClient();

// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of the card's multiprocessors, rounded up; all of them for what is no client.
int visibleMultiprocessors();

}  // namespace gvb::sim
