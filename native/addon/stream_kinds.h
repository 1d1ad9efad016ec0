// The names of the ways to stream memory (read, write, copy), which requests of several topics use.
#pragma once

#include "addon/fields.h"
#include "bench/llm/stream.h"

namespace gvb {

inline const Choices<StreamKind> kStreamKinds{
    "StreamKind", {{StreamKind::kRead, "read"}, {StreamKind::kWrite, "write"}, {StreamKind::kCopy, "copy"}}};

}  // namespace gvb
