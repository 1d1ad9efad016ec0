// Branches of drivers, and the CUDA version of each (release notes of the CUDA toolkit, table of toolkits and drivers).
#pragma once

namespace gvb {

struct DriverBranch {
  const char* name;
  int cuda_version;
};

constexpr DriverBranch kDriverBranches[] = {
    {"450", 11000}, {"470", 11040}, {"510", 11060}, {"515", 11070}, {"520", 11080}, {"525", 12000},
    {"530", 12010}, {"535", 12020}, {"545", 12030}, {"550", 12040}, {"555", 12050}, {"560", 12060},
    {"565", 12070}, {"570", 12080}, {"575", 12090}, {"580", 13000}, {"590", 13010}};

}  // namespace gvb
