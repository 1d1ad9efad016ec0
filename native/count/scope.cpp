#include "count/scope.h"

#include <algorithm>
#include <string>
#include <vector>

#include "count/object_list.h"
#include "count/slots.h"
#include "driver/elf_image.h"

namespace gvb::count {

namespace {

struct Member {
  std::string name;  // soname, or the last part of the path
  ElfImage image;
};

std::vector<Member> loaded() {
  std::vector<Listed> all;
  all.reserve(4096);
  each_object([&](const dl_phdr_info& info) {
    if (is_readable(info) && all.size() < all.capacity()) all.push_back({map_of(info), info.dlpi_name});
    return false;
  });
  std::vector<Member> members;
  for (const Listed& listed : all) {
    const ElfImage image(listed.map);
    const std::string soname = image.soname(), path = listed.name;
    members.push_back({soname.empty() ? path.substr(path.rfind('/') + 1) : soname, image});
  }
  return members;
}

using Scope = std::vector<const Member*>;

// An object, the libraries that it names, and those that they name, in the order in which the loader searches them.
Scope scope_of(const Member& root, const std::vector<Member>& all) {
  Scope scope{&root};
  for (size_t i = 0; i < scope.size(); ++i)
    for (const std::string& needed : scope[i]->image.needed())
      for (const Member& member : all)
        if (member.name == needed && std::find(scope.begin(), scope.end(), &member) == scope.end())
          scope.push_back(&member);
  return scope;
}

}  // namespace

void* loaded_beside(const void* caller, const char* name) {
  const std::optional<Listed> own = find_object(caller);
  if (!own) return nullptr;
  const std::vector<Member> all = loaded();
  for (const Member& root : all) {
    const Scope scope = scope_of(root, all);
    if (std::none_of(scope.begin(), scope.end(),
                     [&](const Member* member) { return member->image.dynamic() == own->map.l_ld; }))
      continue;
    for (const Member* member : scope)
      if (void* function = member->image.find(name); function && !is_entry(function)) return function;
  }
  return nullptr;
}

}  // namespace gvb::count
