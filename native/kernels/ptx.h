// The committed PTX, embedded into the binary. NUL-terminated, as cuModuleLoadDataEx wants text.
#pragma once

extern "C" const char gvb_ptx_base[];
extern "C" const char gvb_ptx_work[];
