#include "count/objects.h"

#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "count/object_list.h"
#include "count/slots.h"
#include "driver/elf_image.h"

namespace gvb::count {

namespace {

Object look_at(const Listed& found) {
  const ElfImage image(found.map);
  Object object;
  object.base = reinterpret_cast<const void*>(found.map.l_addr);
  object.dynamic = found.map.l_ld;
  object.is_driver = image.find("cuInit") != nullptr;
  if (!object.is_driver) return object;
  object.path = found.name;
  object.simulated = image.find("gvbSimError") != nullptr;
  // A program may contain stubs of the driver's functions, which look up the functions that the program then calls.
  object.forwards = image.find("dlsym") != nullptr || image.soname().rfind("libcuda.so", 0) == 0;
  return object;
}

// There are few: the driver, layers, and objects that look functions up.
std::array<std::atomic<const Object*>, 64> known;

const Object& remembered(Object object) {
  const auto* made = new Object(std::move(object));
  for (auto& place : known) {
    const Object* nothing = nullptr;
    if (place.compare_exchange_strong(nothing, made)) break;
  }
  return *made;
}

std::atomic<size_t> objects_at_start{0};

}  // namespace

const Object& object_of(const void* address) {
  static const Object nothing;
  if (is_entry(address)) return nothing;
  const std::optional<Listed> found = find_object(address);
  if (!found) return nothing;
  for (const auto& place : known) {
    const Object* object = place.load(std::memory_order_acquire);
    if (!object) break;
    if (object->dynamic == found->map.l_ld && object->base == reinterpret_cast<const void*>(found->map.l_addr))
      return *object;
  }
  return remembered(look_at(*found));
}

std::string exported_name_at(const void* address, const char* base) {
  const std::optional<Listed> found = find_object(address);
  return found ? ElfImage(found->map).name_at(address, base) : "";
}

void note_start() {
  size_t count = 0;
  each_object([&](const dl_phdr_info&) {
    ++count;
    return false;
  });
  objects_at_start = count;
}

void* linked_at_start(const char* name) {
  void* function = nullptr;
  bool after_us = false;
  size_t left = objects_at_start;
  each_object([&](const dl_phdr_info& info) {
    if (left-- == 0) return true;
    if (after_us && is_readable(info)) function = ElfImage(map_of(info)).find(name);
    after_us = after_us || contains(info, &known);
    return function != nullptr;
  });
  return function;
}

}  // namespace gvb::count
