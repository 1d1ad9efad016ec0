// The parts of kernels_test.cpp: one function per topic, each in a file kernels_TOPIC_parts.cpp that includes the .cu
// files it tests.
#pragma once

void test_attention();
void test_bandwidth_kernels();
void test_chase_kernels();
void test_emulator();
void test_skinny();
void test_decode_product();
void test_decoder();
void test_gemm();
void test_memory_kernels();
void test_result_kernels();
