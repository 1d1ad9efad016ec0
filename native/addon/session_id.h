// The number by which JavaScript names a session.
#pragma once

#include "addon/executor.h"
#include "addon/js.h"

namespace gvb {

// Throws a TypeError into JavaScript where `value` is none.
SessionId session_id(js::Env env, js::Value value);

}  // namespace gvb
