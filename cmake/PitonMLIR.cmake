# Finds MLIR 22.1 and offers the few functions the compiler half needs:
#   piton_tablegen(target td outputs...)   one custom target per .td file
#   piton_link_mlir(target SHARED|STATIC)  tools link libMLIR.so, the Python extension links
#                                          statically
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/lld)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${CMAKE_BINARY_DIR})
add_definitions(${LLVM_DEFINITIONS})

set(PITON_MLIR_TBLGEN /usr/lib/llvm-22/bin/mlir-tblgen)
if(NOT EXISTS ${PITON_MLIR_TBLGEN})
  find_program(PITON_MLIR_TBLGEN_PROGRAM mlir-tblgen-22 mlir-tblgen REQUIRED)
  set(PITON_MLIR_TBLGEN ${PITON_MLIR_TBLGEN_PROGRAM})
endif()

# piton_tablegen(<target> <file.td> <out> <args> [<out> <args> ...]): each <args> is one string.
function(piton_tablegen target td)
  set(outputs)
  set(rest ${ARGN})
  list(LENGTH rest n)
  file(GLOB_RECURSE all_td CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/compiler/*.td)
  while(n GREATER 0)
    list(POP_FRONT rest out args)
    separate_arguments(args)
    set(path ${CMAKE_CURRENT_BINARY_DIR}/${out})
    add_custom_command(OUTPUT ${path}
      COMMAND ${PITON_MLIR_TBLGEN} ${args} -I ${PROJECT_SOURCE_DIR} -I ${MLIR_INCLUDE_DIRS}
              ${CMAKE_CURRENT_SOURCE_DIR}/${td} -o ${path} --write-if-changed
      DEPENDS ${all_td} VERBATIM)
    list(APPEND outputs ${path})
    list(LENGTH rest n)
  endwhile()
  add_custom_target(${target} DEPENDS ${outputs})
  set_property(GLOBAL APPEND PROPERTY PITON_TABLEGEN_TARGETS ${target})
endfunction()

# piton_dialect(<Name> <mnemonic> <namespace> [ENUMS] [ATTRS] [TYPES] [INTERFACES]): the generated files of one dialect folder.
function(piton_dialect name mnemonic ns)
  cmake_parse_arguments(ARG "ENUMS;ATTRS;TYPES;INTERFACES" "" "" ${ARGN})
  set(ops ${name}Ops.td)
  set(gen
    ${name}Dialect.h.inc "-gen-dialect-decls -dialect=${mnemonic}"
    ${name}Dialect.cpp.inc "-gen-dialect-defs -dialect=${mnemonic}"
    ${name}Ops.h.inc "-gen-op-decls -dialect=${mnemonic}"
    ${name}Ops.cpp.inc "-gen-op-defs -dialect=${mnemonic}")
  if(ARG_ENUMS)
    list(APPEND gen ${name}Enums.h.inc "-gen-enum-decls" ${name}Enums.cpp.inc "-gen-enum-defs")
  endif()
  if(ARG_ATTRS)
    list(APPEND gen ${name}Attrs.h.inc "-gen-attrdef-decls -attrdefs-dialect=${mnemonic}"
                    ${name}Attrs.cpp.inc "-gen-attrdef-defs -attrdefs-dialect=${mnemonic}")
  endif()
  if(ARG_TYPES)
    list(APPEND gen ${name}Types.h.inc "-gen-typedef-decls -typedefs-dialect=${mnemonic}"
                    ${name}Types.cpp.inc "-gen-typedef-defs -typedefs-dialect=${mnemonic}")
  endif()
  if(ARG_INTERFACES)
    list(APPEND gen ${name}Interfaces.h.inc "-gen-op-interface-decls"
                    ${name}Interfaces.cpp.inc "-gen-op-interface-defs")
  endif()
  piton_tablegen(Piton${name}IncGen ${ops} ${gen})
endfunction()

# lld initialises every target that LLVM was built with, which would link all of them. Only
# X86 is used, so the others' entry points are defined here, empty, before the archives.
set(text "// Generated: entry points of the code generators that Piton does not use.\n")
foreach(arch ${LLVM_TARGETS_TO_BUILD} ${LLVM_EXPERIMENTAL_TARGETS_TO_BUILD})
  if(NOT arch STREQUAL X86)
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler TargetMCA)
      string(APPEND text "extern \"C\" void LLVMInitialize${arch}${part}();\n"
                         "extern \"C\" void LLVMInitialize${arch}${part}() {}\n")
    endforeach()
  endif()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/OnlyX86.cpp CONTENT "${text}")

function(piton_link_mlir target kind)
  if(kind STREQUAL SHARED)
    target_link_libraries(${target} PRIVATE MLIR LLVM lldELF lldCommon)
    return()
  endif()
  # Debian's imported targets of MLIR's and lld's archives depend on the shared libLLVM, so
  # linking them by name would put two LLVMs into one module, which crashes. The archives
  # themselves are given instead; lld takes out of them what is needed, in any order.
  file(GLOB archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER archives EXCLUDE REGEX "libMLIR(CAPI|Test)|ExecutionEngine|JitRunner|RunnerUtils")
  target_link_libraries(${target} PRIVATE ${LLVM_LIBRARY_DIR}/liblldELF.a
    ${LLVM_LIBRARY_DIR}/liblldCommon.a ${archives} ZLIB::ZLIB zstd::libzstd_shared)
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/NoPolly.cpp
    ${CMAKE_BINARY_DIR}/OnlyX86.cpp)
  target_link_options(${target} PRIVATE -Wl,--gc-sections -Wl,--exclude-libs,ALL)
endfunction()
