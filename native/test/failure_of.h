#pragma once

#include <string>

#include "driver/error.h"

namespace test {

// The message of the failure that an attempt ends with; empty where it does not fail.
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
