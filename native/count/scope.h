#pragma once

namespace gvb::count {

// The function as RTLD_DEFAULT finds it for the caller beyond the global scope: in what was loaded, by RTLD_LOCAL,
// together with the caller. Null if there is none.
void* loaded_beside(const void* caller, const char* name);

}  // namespace gvb::count
