# Finds the Python interpreter and nanobind for the extension modules. The interpreter is
# the active virtual environment, the tree's .venv (what `make` sets up), or
# -DPython_EXECUTABLE=...; without nanobind the Python side is left out, with a warning.
if(NOT Python_EXECUTABLE AND NOT DEFINED ENV{VIRTUAL_ENV} AND NOT SKBUILD
   AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python CACHE FILEPATH "")
endif()
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
set(PITON_HAVE_PYTHON OFF)
if(Python_FOUND)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_package(nanobind CONFIG QUIET)
  if(nanobind_FOUND)
    set(PITON_HAVE_PYTHON ON)
  endif()
endif()
if(NOT PITON_HAVE_PYTHON)
  message(WARNING "No Python 3.10+ with nanobind (pip install nanobind, or -DPython_EXECUTABLE=...): "
                  "the Python side is not built")
endif()
