// PTX that libraries and programs without the package use too, embedded as NUL-terminated text for cuModuleLoadDataEx.
// All other modules are files (ptx_file.h).
#pragma once

extern "C" const char gvb_ptx_base[];
extern "C" const char gvb_ptx_faults[];
extern "C" const char gvb_ptx_load[];
