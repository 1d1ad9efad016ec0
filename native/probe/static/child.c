// A statically linked program, into which no library can be preloaded, that reports how much memory its GPU has. It is
// started like other second processes of gvb-probe (process.cpp), and writes the number of bytes to the shared
// descriptor.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { kShared = 9, kOver = 3 };

static int over(const char* what, int code) {
  printf("\n{\"gvb\":\"over\",\"reason\":\"a statically linked program: %s answered %d\"}\n", what, code);
  return kOver;
}

static const char* option(int count, char** arguments, const char* name) {
  for (int i = 2; i + 1 < count; i += 2)
    if (strcmp(arguments[i], name) == 0) return arguments[i + 1];
  return "";
}

static int is_device(const unsigned char* uuid, const char* wanted) {
  char text[33] = {0}, digits[33] = {0};
  int length = 0;
  for (int i = 0; i < 16; i++) sprintf(text + 2 * i, "%02x", uuid[i]);
  for (const char* c = strlen(wanted) > 4 ? wanted + 4 : ""; *c && length < 32; c++)
    if (*c != '-') digits[length++] = *c;
  return strncmp(text, digits, (size_t)length) == 0;
}

static void* driver;

#define CALL(name, types, ...)                                 \
  do {                                                         \
    int(*function) types = (int(*) types)dlsym(driver, #name); \
    const int code = function ? function(__VA_ARGS__) : 500;   \
    if (code != 0) return over(#name, code);                   \
  } while (0)

int main(int count, char** arguments) {
  const char* wanted = option(count, arguments, "--device");
  int gpus = 0, device = 0;
  size_t total;
  alarm(60);
  driver = dlopen(option(count, arguments, "--libcuda"), RTLD_NOW);
  if (!driver) {
    printf("\n{\"gvb\":\"over\",\"reason\":\"a statically linked program cannot load libcuda here\"}\n");
    fprintf(stderr, "%s\n", dlerror());
    return kOver;
  }
  CALL(cuInit, (unsigned), 0);
  CALL(cuDeviceGetCount, (int*), &gpus);
  for (int i = 0; i < gpus; i++) {
    unsigned char uuid[16];
    CALL(cuDeviceGet, (int*, int), &device, i);
    CALL(cuDeviceGetUuid_v2, (unsigned char*, int), uuid, device);
    if (is_device(uuid, wanted)) break;
  }
  // Without a context: a driver's thread-local variables may not work in a library that a static program has opened.
  CALL(cuDeviceTotalMem_v2, (size_t*, int), &total, device);
  return write(kShared, &total, sizeof total) == sizeof total ? 0 : 1;
}
