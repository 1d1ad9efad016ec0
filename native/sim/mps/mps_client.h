#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gvb::sim {

// Whether this process is an MPS client: by the `mps` setting, or because CUDA_MPS_PIPE_DIRECTORY holds a control
// daemon's pipe. Like the real driver, it looks once and continues without MPS if there is none.
bool is_mps_client();

// The devices that the daemon serves, as its CUDA_VISIBLE_DEVICES names them; without a value if the process is no
// client of a daemon or the daemon serves all.
std::optional<std::string> served_devices();

// The multiprocessors of CUDA_MPS_SM_PARTITION, or CUDA_MPS_ACTIVE_THREAD_PERCENTAGE of the card's, rounded up; all of
// them if the process is no client. A daemon's default, which clients can only lower, is in the file
// `active_thread_percentage` beside its pipe.
int visible_multiprocessors(int place);

// The same as a fraction of the card; limits what the client's kernels use at a time.
double multiprocessor_limit(int place);

// CUDA_MPS_PINNED_DEVICE_MEM_LIMIT in bytes, for a device index as the client counts; 0: none. A daemon's default,
// which clients can only lower, is in the file `device_pinned_mem_limit` beside its pipe.
int64_t pinned_memory_limit(int ordinal);

}  // namespace gvb::sim
