// A thread of execution that a scheduler resumes and that suspends itself; there is one per thread of an emulated
// block. Only one runs at a time, in an order that a seed determines, so that a failing interleaving can be repeated.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>

namespace gvb::emulator {

class Fibre {
 public:
  explicit Fibre(std::function<void()> body);  // `body` never returns
  ~Fibre();
  Fibre(const Fibre&) = delete;
  Fibre& operator=(const Fibre&) = delete;

  void resume();   // returns when the fibre has suspended itself
  void suspend();  // from inside the fibre

 private:
  static void enter();

  const std::function<void()> body_;
  const std::unique_ptr<char[]> stack_;
  ucontext_t own_{}, scheduler_{};
  // What the sanitizers need to know about a switch of stacks.
  void *own_fake_stack_ = nullptr, *scheduler_fake_stack_ = nullptr;
  const void* scheduler_stack_ = nullptr;
  size_t scheduler_stack_bytes_ = 0;
  void *own_tsan_ = nullptr, *scheduler_tsan_ = nullptr;
};

}  // namespace gvb::emulator
