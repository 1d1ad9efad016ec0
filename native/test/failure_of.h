#pragma once

#include <string>

#include "driver/error.h"

namespace test {

// The message of the attempt's failure; empty if it succeeds.
template <class Attempt>
std::string failure_of(const Attempt& attempt) {
  try {
    attempt();
  } catch (const gvb::Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace test
