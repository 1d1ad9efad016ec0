#include "bench/llm/attention_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/elementary.h"
#include "bench/llm/normal_value.h"

namespace gvb {

namespace {

constexpr unsigned kSequences = 2, kRowsOfSequence = 32, kInputsOfSequence = 64;

struct Tensor {
  abi::CUdeviceptr memory;
  unsigned heads;
};

// One sequence of a tensor, [token][head][width].
class Sequence {
 public:
  Sequence(const Cuda& cuda, const AttentionShape& shape, const Tensor& tensor, unsigned which)
      : number_(shape.number),
        heads_(tensor.heads),
        width_(shape.head_dim),
        values_(size_t{shape.length} * heads_ * width_) {
    const size_t bytes = values_.size() * sizeof values_[0];
    GVB_CALL(cuda, "reading a sequence back", cuMemcpyDtoH_v2, values_.data(), tensor.memory + which * bytes, bytes);
  }

  // Checks some of its values against those that the whole tensor was filled with.
  void check_inputs(uint64_t seed, unsigned which, std::mt19937_64& random) const {
    std::uniform_int_distribution<uint64_t> any(0, values_.size() - 1);
    for (unsigned i = 0; i < kInputsOfSequence; ++i) {
      const uint64_t index = any(random);
      uint16_t expected[2] = {};  // as wide as the widest format
      store_number(expected, 0, normal_value(seed, which * values_.size() + index), number_);
      if (values_[index] != expected[0])
        throw Failure(
            FailureKind::kInvalidResult,
            "a call reported success without doing its work: attention's inputs are not what they were filled with.");
    }
  }

  double at(unsigned token, unsigned head, unsigned i) const {
    return load_number(values_.data(), (size_t{token} * heads_ + head) * width_ + i, number_);
  }

 private:
  const Number number_;
  const unsigned heads_, width_;
  std::vector<uint16_t> values_;
};

struct Place {
  unsigned query, head;
};

class Reference {
 public:
  Reference(const Cuda& cuda, const AttentionShape& shape, const Attention::Operands& operands, unsigned sequence)
      : shape_(shape),
        q_(cuda, shape, {operands.q, shape.heads}, sequence),
        k_(cuda, shape, {operands.k, shape.kv_heads}, sequence),
        v_(cuda, shape, {operands.v, shape.kv_heads}, sequence),
        out_(cuda, shape, {operands.out, shape.heads}, sequence) {}

  void check_inputs(uint64_t seed, unsigned sequence, std::mt19937_64& random) const {
    q_.check_inputs(seed, sequence, random);
    k_.check_inputs(seed + 1, sequence, random);
    v_.check_inputs(seed + 2, sequence, random);
  }

  double error_of(const Place& place) const {
    const std::vector<double> row = expected(place);
    double largest = 0, error = 0;
    for (unsigned i = 0; i < shape_.head_dim; ++i) {
      const double difference = std::fabs(out_.at(place.query, place.head, i) - row[i]);
      if (std::isnan(difference)) return std::numeric_limits<double>::infinity();
      largest = std::max(largest, std::fabs(row[i]));
      error = std::max(error, difference);
    }
    return error / largest;
  }

 private:
  std::vector<double> expected(const Place& place) const {
    const unsigned keys = shape_.causal ? place.query + 1 : shape_.length, width = shape_.head_dim;
    const unsigned kv_head = place.head / (shape_.heads / shape_.kv_heads);
    const double scale = 1 / std::sqrt(static_cast<double>(width));
    std::vector<double> scores(keys), row(width);
    for (unsigned key = 0; key < keys; ++key) {
      for (unsigned i = 0; i < width; ++i) scores[key] += q_.at(place.query, place.head, i) * k_.at(key, kv_head, i);
      scores[key] *= scale;
    }
    const double largest = *std::max_element(scores.begin(), scores.end());
    double sum = 0;
    for (unsigned key = 0; key < keys; ++key) {
      const double weight = exponential(scores[key] - largest);
      sum += weight;
      for (unsigned i = 0; i < width; ++i) row[i] += weight * v_.at(key, kv_head, i);
    }
    for (double& value : row) value /= sum;
    return row;
  }

  const AttentionShape shape_;
  const Sequence q_, k_, v_, out_;
};

}  // namespace

RowErrors sample_rows(const Cuda& cuda, const AttentionShape& shape, const Attention::Operands& operands, uint64_t seed,
                      std::mt19937_64& random) {
  const auto below = [&](unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); };
  RowErrors errors;
  for (unsigned i = 0; i < kSequences; ++i) {
    const unsigned sequence = below(shape.batch);
    const Reference reference(cuda, shape, operands, sequence);
    reference.check_inputs(seed, sequence, random);
    for (unsigned j = 0; j < kRowsOfSequence; ++j) {
      const Place place = {below(shape.length), below(shape.heads)};
      errors.worst = std::max(errors.worst, reference.error_of(place));
      ++errors.rows;
    }
  }
  return errors;
}

}  // namespace gvb
