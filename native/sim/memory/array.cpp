// CUDA arrays: device memory that programs reach only by copies. One level of a mipmapped array is an array.
#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/exports.h"
#include "sim/memory/allocation.h"
#include "sim/memory/residues.h"
#include "sim/work/context.h"

namespace gvb::sim {
namespace {

struct Array {
  uint64_t address = 0;
  size_t row = 0;  // bytes
  size_t height = 1;
  size_t depth = 1;
  bool level = false;  // a level, freed with its mipmapped array
};

struct Mipmapped {
  std::vector<abi::CUarray> levels;
  uint64_t address = 0;  // holds all levels
};

using ArrayTable = HandleTable<Array, 0x1c>;
using MipmappedTable = HandleTable<Mipmapped, 0x1d>;

ArrayTable& arrays() {
  static ArrayTable& table = *new ArrayTable;
  return table;
}

MipmappedTable& mipmapped_arrays() {
  static MipmappedTable& table = *new MipmappedTable;
  return table;
}

size_t element_bytes(abi::CUarray_format format, unsigned channels) {
  if (channels != 1 && channels != 2 && channels != 4) return 0;
  switch (format) {
    case abi::CU_AD_FORMAT_UNSIGNED_INT8:
      return channels;
    case abi::CU_AD_FORMAT_UNSIGNED_INT16:
      return 2 * channels;
    case abi::CU_AD_FORMAT_UNSIGNED_INT32:
    case abi::CU_AD_FORMAT_FLOAT:
      return 4 * channels;
  }
  return 0;
}

// Each level has half the width, height and depth of the one before, at least one.
Array level_of(const abi::CUDA_ARRAY3D_DESCRIPTOR& from, unsigned level) {
  Array array;
  array.row = std::max<size_t>(1, from.Width >> level) * element_bytes(from.Format, from.NumChannels);
  array.height = std::max<size_t>(1, from.Height >> level);
  array.depth = std::max<size_t>(1, from.Depth >> level);
  return array;
}

size_t bytes_of(const Array& array) { return footprint(array.row) * array.height * array.depth; }

bool is_possible(const abi::CUDA_ARRAY3D_DESCRIPTOR* from) {
  constexpr size_t kMost = 131072;  // per dimension: the H100's limit on a 2D texture's width
  return from != nullptr && from->Width > 0 && from->Width <= kMost && from->Height <= kMost && from->Depth <= kMost &&
         from->Flags == 0 && element_bytes(from->Format, from->NumChannels) > 0;
}

abi::CUarray handle_of(const Array& array) {
  return reinterpret_cast<abi::CUarray>(arrays().insert(std::make_unique<Array>(array)));
}

abi::CUresult make(Context* context, abi::CUarray* handle, const abi::CUDA_ARRAY3D_DESCRIPTOR* from) {
  if (handle == nullptr || !is_possible(from)) return abi::CUDA_ERROR_INVALID_VALUE;
  Array array = level_of(*from, 0);
  abi::CUdeviceptr address = 0;
  if (const abi::CUresult code = allocate_device(context, bytes_of(array), BlockKind::kArray, &address)) return code;
  array.address = address;
  *handle = handle_of(array);
  return abi::CUDA_SUCCESS;
}

abi::CUresult free_memory(Context* context, uint64_t address) {
  const auto block = find_block(address);
  if (!block) return abi::CUDA_ERROR_CONTEXT_IS_DESTROYED;
  settle(context, range_of(block->address, block->bytes), true);
  if (remove_block(address)) free_block(*block);
  return abi::CUDA_SUCCESS;
}

// One side of a copy between an array and memory of the host or the card.
struct Side {
  const Array* array;
  size_t x, y, z;
};

struct Rows {
  uint64_t array;
  uint64_t other;
};

bool fits(const Side& side, const abi::CUDA_MEMCPY3D& copy) {
  const Array& array = *side.array;
  return copy.WidthInBytes <= array.row && side.x <= array.row - copy.WidthInBytes && copy.Height <= array.height &&
         side.y <= array.height - copy.Height && copy.Depth <= array.depth && side.z <= array.depth - copy.Depth;
}

std::vector<Rows> rows_of(const Side& side, const abi::CUDA_MEMCPY3D& copy, uint64_t other, size_t pitch,
                          size_t height) {
  std::vector<Rows> rows;
  for (size_t z = 0; z < copy.Depth; ++z)
    for (size_t y = 0; y < copy.Height; ++y) {
      const size_t line = (side.z + z) * side.array->height + side.y + y;
      rows.push_back({side.array->address + line * footprint(side.array->row) + side.x,
                      other + (z * std::max(height, copy.Height) + y) * std::max(pitch, copy.WidthInBytes)});
    }
  return rows;
}

struct Direction {
  bool to_array;
  bool on_card;  // the other side is device memory too
};

abi::CUresult copy_rows(Context* context, const std::vector<Rows>& rows, size_t width, const Direction& direction) {
  const auto [to_array, on_card] = direction;
  Work work;
  work.seen = Seen::kWhenOver;
  for (const Rows& row : rows) {
    (to_array ? work.writes : work.reads).push_back(range_of(row.array, width));
    if (on_card) (to_array ? work.reads : work.writes).push_back(range_of(row.other, width));
  }
  work.run = [=, into = to_array, card = on_card](const Placement&) {
    for (const Rows& row : rows) {
      const uint64_t to = into ? row.array : row.other, from = into ? row.other : row.array;
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), width);
      if (card) note_copied(from, to, width);
    }
  };
  const auto& settings = card_settings(context->device);
  const double nanoseconds =
      static_cast<double>(rows.size() * width) / (on_card ? settings.dram_gbs / 2 : settings.pcie_gbs);
  enqueue(&context->default_stream, nanoseconds,
          demand_of(on_card    ? kDram
                    : to_array ? kCopyIn
                               : kCopyOut),
          std::move(work));
  return synchronise(context, &context->default_stream);
}

}  // namespace
}  // namespace gvb::sim

namespace gvb::abi {

using sim::Array;
using sim::HostCost;

CUresult cuArrayCreate_v2(CUarray* handle, const CUDA_ARRAY_DESCRIPTOR* from) {
  GVB_SIM_ENTER_CONTEXT(cuArrayCreate_v2);
  const HostCost cost(sim::settings().alloc_us * 1e3);
  if (from == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_ARRAY3D_DESCRIPTOR flat = {from->Width, from->Height, 0, from->Format, from->NumChannels, 0};
  return sim::make(context, handle, &flat);
}

CUresult cuArray3DCreate_v2(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR* from) {
  GVB_SIM_ENTER_CONTEXT(cuArray3DCreate_v2);
  const HostCost cost(sim::settings().alloc_us * 1e3);
  return sim::make(context, handle, from);
}

CUresult cuArrayDestroy(CUarray handle) {
  GVB_SIM_ENTER_CONTEXT(cuArrayDestroy);
  const HostCost cost(sim::settings().free_us * 1e3);
  const Array* array = sim::arrays().find(reinterpret_cast<uint64_t>(handle));
  if (array == nullptr || array->level) return CUDA_ERROR_INVALID_HANDLE;
  const uint64_t address = array->address;
  sim::arrays().remove(reinterpret_cast<uint64_t>(handle));
  return sim::free_memory(context, address);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* from, unsigned levels) {
  GVB_SIM_ENTER_CONTEXT(cuMipmappedArrayCreate);
  const HostCost cost(sim::settings().alloc_us * 1e3);
  if (handle == nullptr || !sim::is_possible(from) || levels == 0 || levels > 17) return CUDA_ERROR_INVALID_VALUE;
  size_t bytes = 0;
  for (unsigned level = 0; level < levels; ++level) bytes += sim::bytes_of(sim::level_of(*from, level));
  CUdeviceptr address = 0;
  if (const CUresult code = sim::allocate_device(context, bytes, sim::BlockKind::kArray, &address)) return code;
  auto made = std::make_unique<sim::Mipmapped>();
  made->address = address;
  for (unsigned level = 0; level < levels; ++level) {
    Array array = sim::level_of(*from, level);
    array.address = address;
    array.level = true;
    address += sim::bytes_of(array);
    made->levels.push_back(sim::handle_of(array));
  }
  *handle = reinterpret_cast<CUmipmappedArray>(sim::mipmapped_arrays().insert(std::move(made)));
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned level) {
  GVB_SIM_ENTER_CONTEXT(cuMipmappedArrayGetLevel);
  const sim::Mipmapped* mipmapped = sim::mipmapped_arrays().find(reinterpret_cast<uint64_t>(handle));
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (array == nullptr || level >= mipmapped->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *array = mipmapped->levels[level];
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  GVB_SIM_ENTER_CONTEXT(cuMipmappedArrayDestroy);
  const HostCost cost(sim::settings().free_us * 1e3);
  const auto mipmapped = sim::mipmapped_arrays().remove(reinterpret_cast<uint64_t>(handle));
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const CUarray level : mipmapped->levels) sim::arrays().remove(reinterpret_cast<uint64_t>(level));
  return sim::free_memory(context, mipmapped->address);
}

// Copies between an array and memory of the host or the card; no other use of this call is simulated.
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  GVB_SIM_ENTER_CONTEXT(cuMemcpy3D_v2);
  if (copy == nullptr || copy->reserved0 != nullptr || copy->reserved1 != nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool to_array = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY;
  const CUmemorytype other_type = to_array ? copy->srcMemoryType : copy->dstMemoryType;
  if ((!to_array && copy->srcMemoryType != CU_MEMORYTYPE_ARRAY) || other_type == CU_MEMORYTYPE_ARRAY)
    return CUDA_ERROR_NOT_SUPPORTED;
  const bool on_card = other_type == CU_MEMORYTYPE_DEVICE;
  const CUarray handle = to_array ? copy->dstArray : copy->srcArray;
  const Array* array = sim::arrays().find(reinterpret_cast<uint64_t>(handle));
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const sim::Side side = to_array ? sim::Side{array, copy->dstXInBytes, copy->dstY, copy->dstZ}
                                  : sim::Side{array, copy->srcXInBytes, copy->srcY, copy->srcZ};
  const uint64_t other = on_card ? (to_array ? copy->srcDevice : copy->dstDevice)
                                 : reinterpret_cast<uint64_t>(to_array ? copy->srcHost : copy->dstHost);
  const bool offset = to_array ? copy->srcXInBytes + copy->srcY + copy->srcZ + copy->srcLOD + copy->dstLOD != 0
                               : copy->dstXInBytes + copy->dstY + copy->dstZ + copy->srcLOD + copy->dstLOD != 0;
  if (other == 0 || offset || !sim::fits(side, *copy)) return CUDA_ERROR_INVALID_VALUE;
  const auto rows = sim::rows_of(side, *copy, other, to_array ? copy->srcPitch : copy->dstPitch,
                                 to_array ? copy->srcHeight : copy->dstHeight);
  if (on_card && (!sim::find_block(other) || !sim::find_block(rows.back().other + copy->WidthInBytes - 1)))
    return CUDA_ERROR_INVALID_VALUE;
  return sim::copy_rows(context, rows, copy->WidthInBytes, {to_array, on_card});
}

}  // namespace gvb::abi
