#include "bench/ipc_handle.h"

#include "base/hexadecimal.h"
#include "driver/error.h"

namespace gvb {

std::string ipc_handle_text(const abi::CUipcMemHandle& handle) {
  return hexadecimal(handle.reserved, sizeof handle.reserved);
}

abi::CUipcMemHandle ipc_handle(const std::string& text) {
  abi::CUipcMemHandle handle{};
  if (!read_hexadecimal(text, handle.reserved, sizeof handle.reserved))
    throw Failure(FailureKind::kInvalidResult,
                  "Expected a memory handle to be 128 hexadecimal digits but received '" + text + "'.");
  return handle;
}

}  // namespace gvb
