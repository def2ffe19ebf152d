// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bisheng back end for Python: how the real compiler spells a SoC, and the image
// around what it made. Running it is python/piton/bisheng.py.
#include "compiler/Python/IR.h"

#include "abi/HardwareModel.h"
#include "abi/KernelImage.h"
#include "compiler/Target/Bisheng.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace piton::python {

void bindBisheng(nb::module_ &m) {
  m.def(
      "bisheng_target",
      [](const std::string &soc) {
        std::string error;
        const HardwareModel *model = findHardwareModel(soc, &error);
        if (!model)
          throw nb::value_error(error.c_str());
        if (!model->compilerTarget)
          throw nb::value_error(("no Ascend compiler builds for " + soc).c_str());
        bool isA5 = bishengFamilyOf(soc) == BishengFamily::A5;
        return std::pair<std::string, std::string>(model->compilerTarget, isA5 ? "a5" : "c220");
      },
      nb::arg("soc"), "SoC name as the compiler spells it, and which compiler: c220 or a5.");
  m.def(
      "make_bisheng_image",
      [](nb::bytes object, const std::string &name, const std::string &soc,
         const std::string &mixMode, const std::string &parallelMode) {
        KernelMetadata metadata;
        metadata.kind = ImageKind::Bisheng;
        metadata.name = name;
        metadata.target = soc;
        metadata.mixMode = mixMode;
        metadata.parallelMode = parallelMode;
        std::string image = writeKernelImage(metadata, {object.c_str(), object.size()});
        return nb::bytes(image.data(), image.size());
      },
      nb::arg("object"), nb::arg("name"), nb::arg("soc"), nb::arg("mix_mode"),
      nb::arg("parallel_mode"), "Kernel image around an NPU object; it cannot be launched here.");
}

} // namespace piton::python
