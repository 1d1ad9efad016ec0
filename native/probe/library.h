// One library of the driver, opened and searched as applications do it.
#pragma once

#include <dlfcn.h>

#include <map>
#include <string>

#include "driver/symbol_paths.h"
#include "probe/function.h"

namespace gvb::probe {

class Library {
 public:
  static constexpr int kUsual = RTLD_NOW | RTLD_GLOBAL;

  explicit Library(SymbolPath path) : path_(path) {}

  // Returns the reason if it cannot be opened, else an empty text.
  std::string open(const std::string& file, int flags = kUsual);
  // For a library that the program is linked with: looks every name up in the global scope.
  void use_global_scope() { handle_ = RTLD_DEFAULT, opened_ = true; }
  void* handle() const { return handle_; }
  bool opened() const { return opened_; }
  void close();

  // Thread-safe.
  void* address(const Symbol& symbol) const;
  struct Found {
    const void* address;
    std::string owner;
  };
  // Like `address`, and remembers what it found.
  void* find(const Symbol& symbol);
  const std::map<std::string, Found>& found() const { return found_; }

 private:
  void* by_runtime(const Symbol& symbol) const;

  SymbolPath path_;
  void* handle_ = nullptr;
  bool opened_ = false;
  std::map<std::string, Found> found_;
};

}  // namespace gvb::probe
