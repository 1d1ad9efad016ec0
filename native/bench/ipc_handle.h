// A handle of cuIpcGetMemHandle as text, for another process.
#pragma once

#include <string>

#include "driver/cuda_abi.h"

namespace gvb {

std::string ipc_handle_text(const abi::CUipcMemHandle& handle);
// Throws if the text is not a handle.
abi::CUipcMemHandle ipc_handle(const std::string& text);

}  // namespace gvb
