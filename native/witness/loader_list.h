// The loader's lists of what is loaded, one for each link namespace, as they lie in memory: dl_iterate_phdr shows one
// namespace, and a layer can replace it.
#pragma once

#include <link.h>

#include <cstring>

namespace gvb::witness {

// Namespace of glibc since 2.35, where `r_version` is 2 once there is a second namespace.
struct Namespace {
  r_debug list;
  const Namespace* next;
};

// To be called in a constructor, with the environment that it gets: the kernel's auxiliary vector lies behind it.
void find_loader_list(char* const* environment);
// The program's own; nullptr where it could not be found.
const Namespace* first_namespace();

inline const Namespace* after(const Namespace& space) { return space.list.r_version >= 2 ? space.next : nullptr; }

// Until `visit` returns true. Leaves out the kernel's vDSO, whose entries stay unrelocated in read-only memory.
template <class Visit>
void each_object_of(const Namespace& space, Visit visit) {
  for (const link_map* map = space.list.r_map; map; map = map->l_next)
    if (map->l_name && !std::strstr(map->l_name, "vdso") && visit(*map)) return;
}

// Runs `work` while the loader changes no list. It must not look functions up.
template <class Work>
void while_unchanged(Work work) {
  struct Once {
    Work& work;
    bool done;
  } once{work, false};
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* data) {
        auto& each = *static_cast<Once*>(data);
        if (!each.done) each.work();
        each.done = true;
        return 1;
      },
      &once);
  if (!once.done) work();
}

}  // namespace gvb::witness
