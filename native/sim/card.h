// Facts of a simulated card that both libraries tell: they must agree.
#pragma once

#include <string>

#include "driver/cuda_abi.h"

namespace gvb::sim {

constexpr const char* kCardName = "Simulated GPU (gpu-virt-bench)";
constexpr int kMemoryBusWidth = 6144;

abi::CUuuid cardUuid(int index);
std::string cardUuidText(int index);  // "GPU-67766273-…"
int pciBus(int index);
std::string pciBusId(int index, int domainDigits);
int smClockKHz();      // such that sms * 128 FMA per clock give fp32_tflops
int memoryClockKHz();  // such that 2 * clock * width / 8 gives dram_gbs

// Copies with its NUL; false when it does not fit.
bool copyText(const std::string& text, char* to, size_t size);

}  // namespace gvb::sim
