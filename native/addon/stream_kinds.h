// What a stream of memory may do, for several topics.
#pragma once

#include "addon/fields.h"
#include "bench/llm/stream.h"

namespace gvb {

inline const Choices<StreamKind> kStreamKinds{
    "StreamKind", {{StreamKind::kRead, "read"}, {StreamKind::kWrite, "write"}, {StreamKind::kCopy, "copy"}}};

}  // namespace gvb
