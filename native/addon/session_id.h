// The number of a session in JavaScript.
#pragma once

#include "addon/executor.h"
#include "addon/js.h"

namespace gvb {

// Throws a TypeError into JavaScript if `value` is not one.
SessionId session_id(js::Env env, js::Value value);

}  // namespace gvb
