// A program that is not linked with the driver: what it finds of it, and when, is the same with and without the
// counting library. Its exit code is 0 if all is as it is without.
#include <dlfcn.h>

#include <cerrno>
#include <cstring>

namespace {

using Version = int (*)(int*);

bool answers(void* function) {
  int version = 0;
  errno = 77;
  return function != nullptr && reinterpret_cast<Version>(function)(&version) == 0 && version >= 1000 && errno == 77;
}

// The driver of a plugin is in the plugin's scope, and not in the program's.
bool with_plugin(const char* plugin) {
  void* const library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  const auto found_by_plugin = reinterpret_cast<void* (*)()>(dlsym(library, "found_by_plugin"));
  return answers(found_by_plugin()) && dlerror() == nullptr && dlsym(RTLD_DEFAULT, "cuDriverGetVersion") == nullptr;
}

bool with_local_driver() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  errno = 78;
  void* const found = dlsym(driver, "cuDriverGetVersion");
  return errno == 78 && dlsym(RTLD_DEFAULT, "cuDriverGetVersion") == nullptr && answers(found);
}

}  // namespace

int main(int argc, char** argv) {
  const bool good = argc > 1 ? with_plugin(argv[1]) : with_local_driver();
  return good ? 0 : 1;
}
