// The committed PTX as files of the package (native/kernels/ptx): one copy serves every architecture of the host, and
// most processes need none of it.
#pragma once

#include <string>

namespace gvb {

// The text of a module, by the name of its file; it lives as long as the process. Where a kernel is there for f16 and
// for bf16, the file is that for f16: the PTX for bf16 differs in the names of types only, because both have 16 bits
// and the same instructions (PTX ISA, mma and wgmma).
const std::string& ptx_file(const std::string& module);

}  // namespace gvb
