// Memory of graphs' allocation nodes. Adding a node takes its addresses, launching the graph its bytes. Freed bytes
// stay with this process's graphs until they are trimmed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "driver/cuda_abi.h"
#include "sim/memory/address_space.h"

namespace gvb::sim {

struct Context;

// The addresses of a node, given back with the last graph, executable graph or live block that holds them.
class GraphAddresses {
 public:
  // Returns null if none are left.
  static std::shared_ptr<GraphAddresses> take(int place, size_t size);
  ~GraphAddresses();
  GraphAddresses(const GraphAddresses&) = delete;
  GraphAddresses& operator=(const GraphAddresses&) = delete;

  const int device;
  const uint64_t address;
  const size_t bytes;

 private:
  GraphAddresses(int place, uint64_t at, size_t size) : device(place), address(at), bytes(size) {}
};

abi::CUresult allocate_for_graph(Context* context, const std::shared_ptr<GraphAddresses>& addresses);
void give_graph_memory(const Block& block);

}  // namespace gvb::sim
