// Ways to read the memory of a running tenant (IS-005). Success is judged by the bytes read, never only by a return
// code.
#pragma once

#include <cstdint>
#include <string>

#include "bench/residue.h"

namespace gvb {

struct BaitRequest {
  std::string tag;
};

// What a victim exposes to attacks: blocks with the tag, which stay until the session ends.
struct Bait {
  std::string address;        // hexadecimal, of a block that is not shared
  std::string ipc_handle;     // hexadecimal, of a block that the victim shares
  std::string stale_handle;   // of a block that it shared and then freed
  int64_t descriptor = -1;    // number of a shareable handle in the victim's process; -1: it could not be created
  uint64_t bytes = 0;         // size of each block
  uint64_t tagged_bytes = 0;  // the fewest bytes that the victim's own scan of a block found
  std::string no_ipc;         // why there are no handles; empty: there are
  std::string no_descriptor;
};
Bait lay_bait(DeviceSession& session, const BaitRequest& request);

enum class Attack { kIpcHandle, kDescriptor, kAddress };

struct AttackRequest {
  Attack attack = Attack::kIpcHandle;
  std::string target;  // a handle, an address, or PID:DESCRIPTOR
  std::string mark;
  size_t bytes = 0;
};

struct AttackAnswer {
  int code = 0;  // code of the call that refused; 0: none did
  std::string name;
  uint64_t tagged_bytes = 0;
  uint64_t other_bytes = 0;
};
// kAddress may crash the process, so the caller must sacrifice it.
AttackAnswer attack_memory(DeviceSession& session, const AttackRequest& request);

}  // namespace gvb
