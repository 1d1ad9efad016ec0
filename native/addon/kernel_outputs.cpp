// Outputs of kernels, to compare bit by bit.
#include "bench/llm/kernel_outputs.h"

#include "addon/topic.h"

namespace gvb {

namespace {

const Choices<OutputKernel> kOutputKernels{"OutputKernel",
                                           {{OutputKernel::kAttention, "attention"},
                                            {OutputKernel::kLinearLayer, "linearLayer"},
                                            {OutputKernel::kDecoder, "decoder"},
                                            {OutputKernel::kProduct, "product"},
                                            {OutputKernel::kUnitAttention, "unitAttention"},
                                            {OutputKernel::kOrderedSum, "orderedSum"}}};

}  // namespace

template <>
struct Fields<OutputsRequest> : FieldsOf<OutputsRequest> {
  static constexpr const char* kName = "OutputsRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(kernel).one_of(kOutputKernels));
    visit(GVB_FIELD(size).above_zero().says("Size of the inputs, a multiple of 64."));
    visit(GVB_FIELD(seed).says("Seed of all inputs."));
    visit(GVB_FIELD(first).says("Number of the first repetition. Equal numbers have equal inputs."));
    visit(GVB_FIELD(repetitions).above_zero());
  }
};

template <>
struct Fields<Outputs> : FieldsOf<Outputs> {
  static constexpr const char* kName = "Outputs";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(number).says("Number format of the output."));
    visit(GVB_FIELD(bytes).says("Size of an output in bytes."));
    visit(GVB_FIELD(digests).says("Digest of each repetition's output."));
  }
};

template <>
struct Fields<KeptOutputRequest> : FieldsOf<KeptOutputRequest> {
  static constexpr const char* kName = "KeptOutputRequest";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(index).says("Index among the repetitions of the last `kernelOutputs`."));
  }
};

template <>
struct Fields<KeptOutput> : FieldsOf<KeptOutput> {
  static constexpr const char* kName = "KeptOutput";
  template <class Visit>
  static void each(const Visit& visit) {
    visit(GVB_FIELD(bytes).says("Hexadecimal."));
  }
};

namespace {

const Topic kernel_outputs_topic{
    "Outputs of kernels",
    {in_session("kernelOutputs", kernel_outputs)
         .says("Runs a kernel on inputs that follow from a seed, each time on others, and keeps what it wrote."),
     in_session("keptOutput", kept_output).says("An output of the last `kernelOutputs`.")}};

}  // namespace

}  // namespace gvb
