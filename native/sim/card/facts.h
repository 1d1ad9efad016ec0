// Properties of a simulated card that both libraries report and must agree on.
#pragma once

#include <string>

#include "driver/cuda_abi.h"

namespace gvb::sim {

std::string card_name(int place);
abi::CUuuid card_uuid(int place);
std::string card_uuid_text(int place);  // "GPU-67766273-…"; for an instance "MIG-67766273-…"
int pci_bus(int place);                 // an instance has the bus number of its card
std::string pci_bus_id(int place, int domain_digits);
int sm_clock_khz(int place);      // such that an FMA of each core per clock gives fp32_tflops
int memory_clock_khz(int place);  // such that 2 * clock * width / 8 gives dram_gbs

// Copies with the terminating NUL; false if it does not fit.
bool copy_text(const std::string& text, char* to, size_t size);

}  // namespace gvb::sim
