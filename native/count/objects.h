// The loaded objects, found without the loader's lock: a thread may hold it while it waits for the one that asks.
#pragma once

#include <string>

namespace gvb::count {

struct Object {
  const void* base = nullptr;
  const void* dynamic = nullptr;  // tells it from one that was loaded at the same place before
  bool is_driver = false;         // exports cuInit: the driver, or a layer in front of it
  bool forwards = false;          // a layer or a libcuda, which looks functions up for itself
  bool simulated = false;
  std::string path;
};

// The object that contains the address. One of nothing for an address outside all objects, and for our own.
const Object& object_of(const void* address);

// The exported name of the function at the address that is `base` or begins with `base` and '_'; empty if there is
// none.
std::string exported_name_at(const void* address, const char* base);

// The function as a program that was linked with it would get it, were we not there: null if no library of the
// program's start has it.
void* linked_at_start(const char* name);
void note_start();  // to be called once the program's own libraries are loaded

}  // namespace gvb::count
