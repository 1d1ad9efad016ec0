{
  # Sources: native/libraries.json. Objects that several targets need are static libraries here; nothing is compiled twice.
  # native-units.js groups files, native-sources.js leaves each by itself: for libraries of which others take a few.
  "variables": {
    "bench%": 0,
    "description%": 0,
    # Warnings are errors in CI (GYP_DEFINES=werror=1) and not for users, whose compilers may know warnings that ours does not.
    "werror%": 0,
    # Small, but where fast.gypi is included.
    "flags": ["-Os", "-std=c++17", "-fexceptions", "-frtti", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wconversion", "-Wsign-conversion"],
    # What of Node's own flags and definitions decides whether the precompiled headers fit. Where they do not, the
    # headers themselves are read.
    "nodes_flags": ["-fno-omit-frame-pointer", "-fPIC", "-pthread", "-D_FILE_OFFSET_BITS=64", "-D_LARGEFILE_SOURCE", "-D_GLIBCXX_USE_CXX11_ABI=1", "-D__STDC_FORMAT_MACROS"],
  },
  "target_defaults": {
    "include_dirs": ["<(PRODUCT_DIR)/headers", "native/base", "native"],
    "cflags!": ["-fno-exceptions"],
    "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
    "cflags_cc": ["<@(flags)"],
    "conditions": [["werror==1", { "cflags_cc": ["-Werror"] }]],
    # Sections of their own: the linker leaves out what a library does not use.
    "cflags": ["-ffunction-sections", "-fdata-sections"],
    # libgcc stays shared: a static one needs a newer glibc, and Node has it loaded anyway.
    "ldflags": ["-static-libstdc++", "-Wl,--exclude-libs,libstdc++.a", "-Wl,--gc-sections"],
  },
  "targets": [
    {
      # Actions and not shared_library targets: gyp would copy those beside the addon and add an rpath to find them,
      # and they must never be loaded.
      "target_name": "floor",
      "type": "none",
      "actions": [
        {
          "action_name": "pthread",
          "variables": { "library": "libpthread.so.0", "define": "-DFLOOR_PTHREAD" },
          "includes": ["native/floor/stand_in.gypi"],
        },
        {
          "action_name": "dl",
          "variables": { "library": "libdl.so.2", "define": "-DFLOOR_DL" },
          "includes": ["native/floor/stand_in.gypi"],
        },
        {
          "action_name": "rt",
          "variables": { "library": "librt.so.1", "define": "-DFLOOR_RT" },
          "includes": ["native/floor/stand_in.gypi"],
        },
      ],
    },
    {
      "target_name": "headers",
      "type": "none",
      "actions": [
        {
          "action_name": "precompile",
          "inputs": ["native/base/standard_headers.h"],
          "outputs": ["<(PRODUCT_DIR)/headers/standard_headers.h.gch"],
          "action": ["$(CXX.target)", "<@(nodes_flags)", "<@(flags)", "-x", "c++-header", "-o", "<@(_outputs)", "<@(_inputs)"],
        },
      ],
    },
    {
      "target_name": "base",
      "type": "static_library",
      "includes": ["native/base/precompiled.gypi"],
      "sources": ["<!@(node scripts/native-sources.js base)"],
    },
    {
      "target_name": "driver",
      "type": "static_library",
      "includes": ["native/base/precompiled.gypi"],
      "sources": ["<!@(node scripts/native-sources.js driver)"],
      "dependencies": ["base"],
    },
    {
      # The host computes again what kernels computed.
      "target_name": "references",
      "type": "static_library",
      "includes": ["native/base/fast.gypi"],
      "sources": ["<!@(node scripts/native-units.js references)"],
      "dependencies": ["driver"],
    },
    {
      "target_name": "measuring",
      "type": "static_library",
      "includes": ["native/base/precompiled.gypi"],
      "sources": ["<!@(node scripts/native-units.js measuring)"],
      "dependencies": ["references"],
    },
    {
      # What the simulated libraries share: the settings, and the card's own time.
      "target_name": "settings",
      "type": "static_library",
      "includes": ["native/base/precompiled.gypi"],
      "sources": ["<!@(node scripts/native-units.js settings)"],
      "dependencies": ["base"],
    },
    {
      "target_name": "card",
      "type": "static_library",
      "includes": ["native/base/fast.gypi"],
      "sources": ["<!@(node scripts/native-units.js card)"],
      "dependencies": ["settings"],
    },
    {
      # The simulated driver: what programs call seldom, and what they call all the time.
      "target_name": "simulation",
      "type": "static_library",
      "includes": ["native/base/precompiled.gypi"],
      "sources": ["<!@(node scripts/native-units.js simulation)"],
      "dependencies": ["card"],
    },
    {
      "target_name": "execution",
      "type": "static_library",
      "includes": ["native/base/fast.gypi"],
      "sources": ["<!@(node scripts/native-units.js execution)"],
      "dependencies": ["card"],
    },
    {
      "target_name": "gpu_virt_bench",
      "sources": ["<!@(node scripts/native-units.js addon)"],
      "includes": [
        "native/addon/addon.gypi",
        "native/base/precompiled.gypi",
        "native/base/exports.gypi",
        "native/floor/above.gypi",
      ],
    },
    {
      # A loadable_module takes from the static libraries what it needs, a shared_library takes them whole.
      "target_name": "interposer",
      "type": "loadable_module",
      "product_prefix": "",
      "product_name": "libgvb-interpose",
      "product_dir": "<(PRODUCT_DIR)/interpose",
      "target_conditions": [["_type=='loadable_module'", { "product_extension": "so" }]],
      "sources": ["<!@(node scripts/native-units.js interposer)"],
      "dependencies": ["driver"],
      "includes": ["native/base/precompiled.gypi", "native/base/exports.gypi", "native/floor/above.gypi"],
    },
    {
      # Beside the interposer and not in it: it is loaded into every process of a program, and delays none.
      "target_name": "counter",
      "type": "loadable_module",
      "product_prefix": "",
      "product_name": "libgvb-count",
      "product_dir": "<(PRODUCT_DIR)/interpose",
      "target_conditions": [["_type=='loadable_module'", { "product_extension": "so" }]],
      "sources": ["<!@(node scripts/native-units.js counter)"],
      "dependencies": ["driver"],
      "includes": ["native/base/precompiled.gypi", "native/base/exports.gypi", "native/floor/above.gypi"],
    },
    {
      # Loaded into every process of a user's program: as little as can be.
      "target_name": "witness",
      "type": "loadable_module",
      "product_prefix": "",
      "product_name": "libgvb-witness",
      "product_dir": "<(PRODUCT_DIR)/keeper",
      "target_conditions": [["_type=='loadable_module'", { "product_extension": "so" }]],
      "sources": ["<!@(node scripts/native-units.js witness)"],
      "includes": ["native/base/precompiled.gypi"],
    },
    {
      # Starts the programs of `exec`. It is small, because the memory of a process that forks is that of its child's start.
      "target_name": "keeper",
      "type": "executable",
      "product_name": "gvb-keeper",
      "product_dir": "<(PRODUCT_DIR)/keeper",
      "sources": ["<!@(node scripts/native-units.js keeper)"],
      "dependencies": ["base"],
      "includes": ["native/base/precompiled.gypi", "native/floor/above.gypi"],
    },
    {
      # The program of COMPAT-001, and a child of it that no library can be preloaded into.
      "target_name": "probe",
      "type": "executable",
      "product_name": "gvb-probe",
      "product_dir": "<(PRODUCT_DIR)/probe",
      "sources": ["<!@(node scripts/native-units.js probe)"],
      "dependencies": ["driver"],
      "includes": ["native/base/precompiled.gypi", "native/floor/above.gypi"],
      "actions": [
        {
          "action_name": "static_child",
          "inputs": ["native/probe/static/child.c", "scripts/static-child.js"],
          "outputs": ["<(PRODUCT_DIR)/probe/gvb-probe-static"],
          "action": ["node", "scripts/static-child.js", "$(CC.target)", "native/probe/static/child.c", "<@(_outputs)"],
        },
      ],
    },
    {
      "target_name": "simulated_cuda",
      "type": "shared_library",
      "product_prefix": "",
      "product_name": "libcuda.so",
      "product_extension": "1",
      "product_dir": "<(PRODUCT_DIR)/sim",
      "dependencies": ["simulation", "execution"],
      "ldflags": ["-Wl,-soname,libcuda.so.1"],
      "includes": ["native/base/exports.gypi", "native/floor/above.gypi"],
    },
    {
      "target_name": "simulated_nvml",
      "type": "loadable_module",
      "product_prefix": "",
      "product_name": "libnvidia-ml.so",
      "product_dir": "<(PRODUCT_DIR)/sim",
      "target_conditions": [["_type=='loadable_module'", { "product_extension": "1" }]],
      "sources": ["<!@(node scripts/native-units.js simulated_nvml)"],
      "dependencies": ["card"],
      "ldflags": ["-Wl,-soname,libnvidia-ml.so.1"],
      "includes": ["native/base/precompiled.gypi", "native/base/exports.gypi", "native/floor/above.gypi"],
    },
    {
      # In a folder of its own: like a real NCCL it is found where LD_LIBRARY_PATH names its folder.
      "target_name": "simulated_nccl",
      "type": "loadable_module",
      "product_prefix": "",
      "product_name": "libnccl.so",
      "product_dir": "<(PRODUCT_DIR)/sim/nccl",
      "target_conditions": [["_type=='loadable_module'", { "product_extension": "2" }]],
      "sources": ["<!@(node scripts/native-units.js simulated_nccl)"],
      "dependencies": ["card"],
      "ldflags": ["-Wl,-soname,libnccl.so.2"],
      "includes": ["native/base/precompiled.gypi", "native/base/exports.gypi", "native/floor/above.gypi"],
    },
  ],
  "conditions": [
    [
      # node scripts/build-native.js --description
      "description==1",
      {
        "targets": [
          {
            # The addon once more, with its description of itself: for npm run native-types, and compiled in a hurry.
            "target_name": "description",
            "type": "loadable_module",
            # node-gyp-build would load any .node that lies beside the addon.
            "target_conditions": [["_type=='loadable_module'", { "product_extension": "so" }]],
            "sources": ["<!@(node scripts/native-units.js description)"],
            "defines": ["GVB_DESCRIBED"],
            "cflags_cc": ["-O0"],
            "includes": ["native/addon/addon.gypi"],
          },
        ],
      },
    ],
    [
      # node scripts/build-native.js --bench
      "bench==1",
      {
        "targets": [
          {
            "target_name": "standalone_bench",
            "type": "executable",
            "sources": ["bench/standalone.cpp"],
            "dependencies": ["measuring"],
            "includes": ["native/floor/above.gypi"],
          },
          {
            "target_name": "counted_calls",
            "type": "executable",
            "sources": ["bench/counted-calls.cpp"],
            "dependencies": ["base"],
            "includes": ["native/floor/above.gypi"],
          },
          {
            "target_name": "simulated_launches",
            "type": "executable",
            "sources": ["bench/simulated-launches.cpp"],
            "dependencies": ["base"],
            "includes": ["native/floor/above.gypi"],
          },
        ],
      },
    ],
  ],
}
