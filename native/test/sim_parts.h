// The parts of sim_test: each runs in its own process, with its own GVB_SIM and region.
#pragma once

#include "check.h"
#include "sim_api.h"

namespace test {

struct Part {
  const char* name;
  const char* settings;  // of GVB_SIM, without the region
  void (*run)();
};

void timing();
void kernels();
void occupying();
void multiplying();
void polling();
void echo();
void events();
void graph();
void slices();
void threads();

void memory();
void pool();
void virtualMemory();
void sharing();
void killed();
void forked();

void refusedKey();
void refusedRegion();
void contexts();
void procAddress();
void oldDriver();
void failures_();
void ptx();
void device();
void nvmlAlone();

void initialised();
void initLock();
void compilationCache();
void nvmlCost();

// Runs a part of this program in a process of the same region, with other settings; its exit status.
int runPart(const std::string& name, const std::string& settings, const std::string& region);
int startPart(const std::string& name, const std::string& settings, const std::string& region);  // its pid
std::string ownRegion();

}  // namespace test
