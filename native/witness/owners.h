// Who owns the driver's functions in this process, on each path on which a program looks them up (symbol_paths.h). Asks
// the look-up functions that the program itself uses, which may be a layer's, and compares their answers with the
// addresses in the driver's own table. Allocates nothing and uses little stack.
#pragma once

#include <cstddef>

namespace gvb::witness {

// To be called when the program's own libraries are loaded, and no more.
void note_start();

// Receives a line of the record.
using AddLine = void (*)(const char* text, size_t length);

// Adds what is found as lines that begin with '>'; none in a process that has not loaded the driver:
//   >driver PATH             the library whose functions count as the driver's own
//   >looked PATH COUNT       how many functions were found on a path
//   >owned PATH OWNER NAMES  functions that are not the driver's own; OWNER is in quotes
//   >patched OWNER NAMES     functions of the driver whose code jumps out of it
void look_at_owners(AddLine add);

}  // namespace gvb::witness
