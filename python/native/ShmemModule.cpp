// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Python module `shmem._pyshmem`: the C API of the symmetric heap with addresses as integers.
// Calls release the interpreter while they work; one that fails raises RuntimeError with the
// reason, except those that are documented to return a code.
#include "python/native/ShmemModule.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <memory>

namespace nb = nanobind;
using namespace nb::literals;
using namespace piton::python;

namespace {

//===-- Callbacks ---------------------------------------------------------------------------===//

/// Python functions that the library calls; never freed, it may call while Python ends.
struct Callbacks {
  nb::object decrypt, logger;
};
Callbacks &callbacks() {
  static Callbacks &instance = *new Callbacks;
  return instance;
}

int decryptTrampoline(const char *cipher, size_t length, char *plain, size_t *plainLength) {
  nb::gil_scoped_acquire locked;
  try {
    auto out = nb::cast<std::string>(callbacks().decrypt(nb::str(cipher, length)));
    if (out.size() > *plainLength)
      return -1;
    std::memcpy(plain, out.data(), out.size());
    *plainLength = out.size();
    return 0;
  } catch (...) {
    PyErr_Clear();
    return -1;
  }
}

void loggerTrampoline(int level, const char *message) {
  if (!Py_IsInitialized())
    return;
  nb::gil_scoped_acquire locked;
  try {
    callbacks().logger(level, message);
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("the logger of shmem.set_extern_logger");
  } catch (...) {
  }
}

//===-- Bindings ----------------------------------------------------------------------------===//

void bindEnums(nb::module_ &m) {
  nb::enum_<data_op_engine_type_t>(m, "OpEngineType", nb::is_arithmetic(), nb::is_flag())
      .value("MTE", ACLSHMEM_DATA_OP_MTE)
      .value("SDMA", ACLSHMEM_DATA_OP_SDMA)
      .value("ROCE", ACLSHMEM_DATA_OP_ROCE)
      .value("UDMA", ACLSHMEM_DATA_OP_UDMA);
  nb::enum_<aclshmemx_init_status_t>(m, "InitStatus", nb::is_arithmetic())
      .value("NOT_INITIALIZED", ACLSHMEM_STATUS_NOT_INITIALIZED)
      .value("SHM_CREATED", ACLSHMEM_STATUS_SHM_CREATED)
      .value("INITIALIZED", ACLSHMEM_STATUS_IS_INITIALIZED)
      .value("INVALID", ACLSHMEM_STATUS_INVALID);
  nb::enum_<aclshmem_mem_type_t>(m, "MemType", nb::is_arithmetic())
      .value("HOST_SIDE", HOST_SIDE)
      .value("DEVICE_SIDE", DEVICE_SIDE);
}

/// A number of a structure as a property.
template <typename C, typename T> auto reads(T C::*field) {
  return [field](const C &self) { return self.*field; };
}
template <typename C, typename T> auto writes(T C::*field) {
  return [field](C &self, Number<T> value) { self.*field = value; };
}

void bindAttributes(nb::module_ &m) {
  using Optional = aclshmem_init_optional_attr_t;
  nb::class_<Optional>(m, "OptionalAttr")
      .def("__init__", [](Optional *self) { new (self) Optional ACLSHMEM_OPTIONAL_ATTR_DEFAULT; })
      .def_prop_rw("version", reads(&Optional::version), writes(&Optional::version))
      .def_prop_rw(
          "data_op_engine_type", [](const Optional &self) { return self.data_op_engine_type; },
          [](Optional &self, nb::object value) {
            self.data_op_engine_type = static_cast<data_op_engine_type_t>(
                nb::cast<int>(nb::module_::import_("operator").attr("index")(value)));
          })
      .def_prop_rw("shm_init_timeout", reads(&Optional::shm_init_timeout),
                   writes(&Optional::shm_init_timeout))
      .def_prop_rw("shm_create_timeout", reads(&Optional::shm_create_timeout),
                   writes(&Optional::shm_create_timeout))
      .def_prop_rw("control_operation_timeout", reads(&Optional::control_operation_timeout),
                   writes(&Optional::control_operation_timeout))
      .def_prop_rw("sockFd", reads(&Optional::sockFd), writes(&Optional::sockFd));

  using Attr = aclshmemx_init_attr_t;
  nb::class_<Attr>(m, "InitAttr")
      .def("__init__", [](Attr *self) { new (self) Attr ACLSHMEMX_INIT_ATTR_DEFAULT; })
      .def_prop_rw("my_rank", reads(&Attr::my_pe), writes(&Attr::my_pe))
      .def_prop_rw("n_ranks", reads(&Attr::n_pes), writes(&Attr::n_pes))
      .def_prop_rw(
          "ip_port",
          [](const Attr &self) {
            return std::string(self.ip_port, strnlen(self.ip_port, sizeof(self.ip_port)));
          },
          [](Attr &self, const std::string &text) {
            constexpr size_t most = sizeof(self.ip_port) - 1;
            if (text.size() > most || text.find('\0') != std::string::npos)
              throw nb::value_error(("ip_port is an address of at most " + std::to_string(most) +
                                     " characters without nulls, this one has " +
                                     std::to_string(text.size()) +
                                     "; a shorter host name or its IP address fits")
                                        .c_str());
            std::memset(self.ip_port, 0, sizeof(self.ip_port));
            std::memcpy(self.ip_port, text.data(), text.size());
          })
      .def_prop_rw("local_mem_size", reads(&Attr::local_mem_size), writes(&Attr::local_mem_size))
      .def_rw("option_attr", &Attr::option_attr);

  using Config = aclshmem_team_config_t;
  nb::class_<Config>(m, "TeamConfig")
      .def("__init__", [](Config *self) { new (self) Config{}; })
      .def_prop_rw("num_contexts", reads(&Config::num_contexts), writes(&Config::num_contexts));

  using Id = aclshmemx_uniqueid_t;
  nb::class_<Id>(m, "UniqueId")
      .def("__init__",
           [](Id *self) {
             new (self) Id{};
             self->version = (1 << 16) + static_cast<int32_t>(sizeof(Id));
           })
      .def_prop_rw("version", reads(&Id::version), writes(&Id::version))
      .def_prop_rw("my_pe", reads(&Id::my_pe), writes(&Id::my_pe))
      .def_prop_rw("n_pes", reads(&Id::n_pes), writes(&Id::n_pes))
      .def_prop_ro("internal",
                   [](const Id &self) { return nb::bytes(self.internal, sizeof(self.internal)); });
}

/// A function or None; it is called later, where nobody could raise.
void requireCallable(const char *what, const nb::object &function) {
  if (!function.is_none() && !PyCallable_Check(function.ptr()))
    throw nb::type_error((std::string(what) + " is a " + Py_TYPE(function.ptr())->tp_name +
                          ", expected a function or None")
                             .c_str());
}

int initUsingUniqueId(Number<int> pe, Number<int> count, Number<int64_t> bytes, nb::bytes id) {
  aclshmemx_uniqueid_t uid = {};
  if (id.size() < sizeof(uid))
    throw nb::value_error("the unique id is too short; it has 136 bytes");
  std::memcpy(&uid, id.data(), sizeof(uid));
  aclshmemx_init_attr_t attr = ACLSHMEMX_INIT_ATTR_DEFAULT;
  return withoutLock([&] {
    int code = aclshmemx_set_attr_uniqueid_args(pe, count, bytes, &uid, &attr);
    return code ? code : aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_UNIQUEID, &attr);
  });
}

void bindStart(nb::module_ &m) {
  m.def(
      "aclshmem_init",
      [](aclshmemx_init_attr_t &attr) {
        return withoutLock([&] { return aclshmemx_init_attr(ACLSHMEMX_INIT_WITH_DEFAULT, &attr); });
      },
      "attr"_a);
  m.def("aclshmem_finalize", [] { return withoutLock([] { return aclshmem_finalize(); }); });
  m.def(
      "aclshmemx_finalize",
      [](Number<uint64_t> instance) {
        return withoutLock([=] { return aclshmemx_finalize(instance); });
      },
      "instance_id"_a);
  m.def("aclshmem_get_unique_id", [] {
    aclshmemx_uniqueid_t uid = {};
    if (withoutLock([&] { return aclshmemx_get_uniqueid(&uid); }) != ACLSHMEM_SUCCESS)
      raiseLast();
    return nb::bytes(reinterpret_cast<const char *>(&uid), sizeof(uid));
  });
  m.def("aclshmem_init_using_unique_id", initUsingUniqueId, "mype"_a, "npes"_a, "mem_size"_a,
        "uid"_a);
  m.def(
      "set_conf_store_tls",
      [](bool enable, const std::string &info) {
        return aclshmemx_set_conf_store_tls(enable, info.data(),
                                            static_cast<uint32_t>(info.size()));
      },
      "enable"_a, "info"_a = "");
  m.def(
      "set_conf_store_tls_key",
      [](const std::string &key, const std::string &password, nb::object decrypt) {
        requireCallable("set_conf_store_tls_key: decrypt", decrypt);
        callbacks().decrypt = decrypt;
        return aclshmemx_set_config_store_tls_key(key.data(), static_cast<uint32_t>(key.size()),
                                                  password.data(),
                                                  static_cast<uint32_t>(password.size()),
                                                  decrypt.is_none() ? nullptr : decryptTrampoline);
      },
      "tls_pk"_a, "tls_pk_pw"_a, "decrypt"_a = nb::none());
  m.def("aclshmemx_init_status",
        [] { return static_cast<aclshmemx_init_status_t>(aclshmemx_init_status()); });
  m.def("info_get_version", [] {
    std::pair<int, int> out;
    aclshmem_info_get_version(&out.first, &out.second);
    return out;
  });
  m.def("info_get_name", [] {
    char name[ACLSHMEM_MAX_NAME_LEN];
    aclshmem_info_get_name(name);
    return std::string(name);
  });
  m.def(
      "aclshmem_global_exit",
      [](Number<int> status) { withoutLock([&] { return aclshmem_global_exit(status), 0; }); },
      "status"_a);
  m.def(
      "set_log_level", [](Number<int> level) { return aclshmemx_set_log_level(level); }, "level"_a);
  m.def(
      "set_extern_logger",
      [](nb::object logger) {
        requireCallable("set_extern_logger: logger", logger);
        callbacks().logger = logger;
        return aclshmemx_set_extern_logger(logger.is_none() ? nullptr : loggerTrampoline);
      },
      "logger"_a.none());
  m.def("get_ffts_config", [] { return util_get_ffts_config(); });
  m.def("last_error", [] { return std::string(piton_last_error()); });
}

/// A one-dimensional uint8 array over heap memory, for torch.from_dlpack. DLPack's numbers: device
/// type 1 is the CPU, 12 an extension device such as npu.
nb::object bytesAt(Address address, size_t bytes, int deviceType, int deviceId) {
  size_t shape[1] = {bytes};
  nb::ndarray<uint8_t> array(pointer(address), 1, shape, nb::handle(), nullptr,
                             nb::dtype<uint8_t>(), deviceType, deviceId);
  return nb::cast(array, nb::rv_policy::reference);
}

/// The same calls with the kind of memory; the heap on the host side is made by the first one.
void bindTypedMemory(nb::module_ &m) {
  m.def(
      "aclshmemx_malloc",
      [](Number<size_t> size, aclshmem_mem_type_t type) {
        return checkedAddress([&] { return aclshmemx_malloc(size, type); });
      },
      "size"_a, "mem_type"_a = DEVICE_SIDE);
  m.def(
      "aclshmemx_calloc",
      [](Number<size_t> count, Number<size_t> size, aclshmem_mem_type_t type) {
        return checkedAddress([&] { return aclshmemx_calloc(count, size, type); });
      },
      "nmemb"_a, "size"_a, "mem_type"_a = DEVICE_SIDE);
  m.def(
      "aclshmemx_align",
      [](Number<size_t> alignment, Number<size_t> size, aclshmem_mem_type_t type) {
        return checkedAddress([&] { return aclshmemx_align(alignment, size, type); });
      },
      "alignment"_a, "size"_a, "mem_type"_a = DEVICE_SIDE);
  m.def(
      "aclshmemx_free",
      [](Number<Address> address, aclshmem_mem_type_t type) {
        checked([&] { aclshmemx_free(pointer(address), type); });
      },
      "ptr"_a, "mem_type"_a = DEVICE_SIDE);
}

void bindMemory(nb::module_ &m) {
  m.def(
      "aclshmem_malloc",
      [](Number<size_t> size) { return checkedAddress([&] { return aclshmem_malloc(size); }); },
      "size"_a);
  m.def(
      "aclshmem_calloc",
      [](Number<size_t> count, Number<size_t> size) {
        return checkedAddress([&] { return aclshmem_calloc(count, size); });
      },
      "nmemb"_a, "size"_a);
  m.def(
      "aclshmem_align",
      [](Number<size_t> alignment, Number<size_t> size) {
        return checkedAddress([&] { return aclshmem_align(alignment, size); });
      },
      "alignment"_a, "size"_a);
  m.def(
      "aclshmem_free",
      [](Number<Address> address) { checked([&] { aclshmem_free(pointer(address)); }); }, "ptr"_a);
  m.def(
      "aclshmem_ptr",
      [](Number<Address> address, Number<int> peer) {
        return checkedAddress([&] { return aclshmem_ptr(pointer(address), peer); });
      },
      "ptr"_a, "peer"_a);
  m.def(
      "aclshmemx_get_heap_base",
      [](std::optional<aclshmem_mem_type_t> type) {
        return checkedAddress([&] { return aclshmemx_get_heap_base(type.value_or(DEVICE_SIDE)); });
      },
      "mem_type"_a = nb::none());
  m.def("bytes_at", bytesAt, "address"_a, "bytes"_a, "device_type"_a, "device_id"_a);
}

void bindTeams(nb::module_ &m) {
  auto myPe = [](std::optional<int> team) {
    return team ? aclshmem_team_my_pe(*team) : aclshmem_my_pe();
  };
  auto count = [](std::optional<int> team) {
    return team ? aclshmem_team_n_pes(*team) : aclshmem_n_pes();
  };
  m.def("my_pe", myPe, "team"_a = nb::none());
  m.def("pe_count", count, "team"_a = nb::none());
  m.def("team_my_pe", [](Number<int> team) { return aclshmem_team_my_pe(team); }, "team"_a);
  m.def("team_n_pes", [](Number<int> team) { return aclshmem_team_n_pes(team); }, "team"_a);
  m.def(
      "team_split_strided",
      [](Number<int> parent, Number<int> start, Number<int> stride, Number<int> size) {
        int team = ACLSHMEM_TEAM_INVALID;
        if (withoutLock([&] {
              return aclshmem_team_split_strided(parent, start, stride, size, &team);
            }) != ACLSHMEM_SUCCESS)
          raiseLast();
        return team;
      },
      "parent"_a, "start"_a, "stride"_a, "size"_a);
  m.def(
      "team_split_2d",
      [](Number<int> parent, Number<int> x) {
        std::pair<int, int> teams;
        if (withoutLock([&] {
              return aclshmem_team_split_2d(parent, x, &teams.first, &teams.second);
            }) != ACLSHMEM_SUCCESS)
          raiseLast();
        return teams;
      },
      "parent"_a, "x"_a);
  m.def(
      "team_translate_pe",
      [](Number<int> from, Number<int> pe, Number<int> to) {
        return aclshmem_team_translate_pe(from, pe, to);
      },
      "src_team"_a, "src_pe"_a, "dest_team"_a);
  m.def(
      "team_destroy", [](Number<int> team) { checked([&] { aclshmem_team_destroy(team); }); },
      "team"_a);
  m.def(
      "aclshmem_team_get_config",
      [](Number<int> team) {
        aclshmem_team_config_t config = {};
        if (aclshmem_team_get_config(team, &config) != ACLSHMEM_SUCCESS)
          raiseLast();
        return config;
      },
      "team"_a);
  m.def("barrier_all", [] { checked([] { aclshmem_barrier_all(); }); });
  m.def("barrier", [](Number<int> team) { checked([&] { aclshmem_barrier(team); }); }, "team"_a);
  m.def("sync_all", [] { checked([] { aclshmem_sync_all(); }); });
  m.def("sync", [](Number<int> team) { checked([&] { aclshmem_sync(team); }); }, "team"_a);
  m.def("fence", [] { checked([] { aclshmem_fence(); }); });
  m.def("quiet", [] { checked([] { aclshmem_quiet(); }); });
}

/// Binds a call of the shape (destination, source, amount, pe).
template <typename T, typename Amount>
void bindTransfer(nb::module_ &m, const std::string &name,
                  void (*call)(T *, T *, Amount, int32_t)) {
  m.def(
      name.c_str(),
      [call](Number<Address> dst, Number<Address> src, Number<Amount> amount, Number<int> pe) {
        checked([&] { call(pointer<T>(dst), pointer<T>(src), amount, pe); });
      },
      "dst"_a, "src"_a, "size"_a, "pe"_a);
}

template <typename Function>
void bindStrided(nb::module_ &m, const std::string &name, Function function) {
  m.def(
      name.c_str(),
      [function](Number<Address> dst, Number<Address> src, Number<ptrdiff_t> dstStride,
                 Number<ptrdiff_t> srcStride, Number<size_t> n, Number<int> pe) {
        checked([&] { function(dst, src, dstStride, srcStride, n, pe); });
      },
      "dst"_a, "src"_a, "dst_stride"_a, "src_stride"_a, "nelems"_a, "pe"_a);
}

template <typename Function>
void bindSignalled(nb::module_ &m, const std::string &name, Function function) {
  m.def(
      name.c_str(),
      [function](Number<Address> dst, Number<Address> src, Number<size_t> amount,
                 Number<Address> sig, Number<int32_t> signal, Number<int> op, Number<int> pe) {
        checked([&] { function(dst, src, amount, sig, signal, op, pe); });
      },
      "dst"_a, "src"_a, "size"_a, "sig_addr"_a, "signal"_a, "sig_op"_a, "pe"_a);
}

void bindData(nb::module_ &m) {
  bindTransfer(m, "aclshmem_putmem", aclshmem_putmem);
  bindTransfer(m, "aclshmem_getmem", aclshmem_getmem);
  bindTransfer(m, "aclshmem_putmem_nbi", aclshmem_putmem_nbi);
  bindTransfer(m, "aclshmem_getmem_nbi", aclshmem_getmem_nbi);
  auto signalled = [&](const char *name, auto call) {
    bindSignalled(
        m, name,
        [call](Number<Address> d, Number<Address> s, Number<size_t> n, Number<Address> sig,
               Number<int32_t> signal, Number<int> op,
               Number<int> pe) { call(pointer(d), pointer(s), n, pointer(sig), signal, op, pe); });
  };
  signalled("aclshmemx_putmem_signal", aclshmemx_putmem_signal);
  signalled("aclshmemx_putmem_signal_nbi", aclshmemx_putmem_signal_nbi);
  m.def(
      "aclshmemx_signal_op",
      [](Number<Address> sig, Number<int32_t> signal, Number<int> op, Number<int> pe) {
        checked([&] { aclshmemx_signal_op(pointer<int32_t>(sig), signal, op, pe); });
      },
      "sig_addr"_a, "signal"_a, "sig_op"_a, "pe"_a);
  m.def(
      "aclshmem_signal_wait_until",
      [](Number<Address> sig, Number<int> cmp, Number<int32_t> value) {
        checked([&] { aclshmem_signal_wait_until(pointer<int32_t>(sig), cmp, value); });
      },
      "sig_addr"_a, "cmp"_a, "value"_a);

  // The lower-level names.
#define BIND_SIZED(BITS)                                                                           \
  bindTransfer(m, "aclshmem_put" #BITS, aclshmem_put##BITS);                                       \
  bindTransfer(m, "aclshmem_get" #BITS, aclshmem_get##BITS);                                       \
  bindTransfer(m, "aclshmem_put" #BITS "_nbi", aclshmem_put##BITS##_nbi);                          \
  bindTransfer(m, "aclshmem_get" #BITS "_nbi", aclshmem_get##BITS##_nbi);                          \
  bindStrided(m, "aclshmem_iput" #BITS,                                                            \
              [](Number<Address> d, Number<Address> s, Number<ptrdiff_t> x, Number<ptrdiff_t> y,   \
                 Number<size_t> n,                                                                 \
                 Number<int> pe) { aclshmem_iput##BITS(pointer(d), pointer(s), x, y, n, pe); });   \
  bindStrided(m, "aclshmem_iget" #BITS,                                                            \
              [](Number<Address> d, Number<Address> s, Number<ptrdiff_t> x, Number<ptrdiff_t> y,   \
                 Number<size_t> n,                                                                 \
                 Number<int> pe) { aclshmem_iget##BITS(pointer(d), pointer(s), x, y, n, pe); });   \
  bindSignalled(m, "aclshmem_put" #BITS "_signal",                                                 \
                [](Number<Address> d, Number<Address> s, Number<size_t> n, Number<Address> g,      \
                   Number<int32_t> v, Number<int> op, Number<int> pe) {                            \
                  aclshmem_put##BITS##_signal(pointer(d), pointer(s), n, pointer<int32_t>(g), v,   \
                                              op, pe);                                             \
                });                                                                                \
  bindSignalled(m, "aclshmem_put" #BITS "_signal_nbi",                                             \
                [](Number<Address> d, Number<Address> s, Number<size_t> n, Number<Address> g,      \
                   Number<int32_t> v, Number<int> op, Number<int> pe) {                            \
                  aclshmem_put##BITS##_signal_nbi(pointer(d), pointer(s), n, pointer<int32_t>(g),  \
                                                  v, op, pe);                                      \
                });
  ACLSHMEM_RMA_BITS(BIND_SIZED)

#define BIND_TYPED(name, T)                                                                        \
  m.def(                                                                                           \
      "aclshmem_" #name "_p",                                                                      \
      [](Number<Address> dst, T value, Number<int> pe) {                                           \
        checked([&] { aclshmem_##name##_p(pointer<T>(dst), value, pe); });                         \
      },                                                                                           \
      "dst"_a, "value"_a, "pe"_a);                                                                 \
  m.def(                                                                                           \
      "aclshmem_" #name "_g",                                                                      \
      [](Number<Address> src, Number<int> pe) {                                                    \
        T out = {};                                                                                \
        checked([&] { out = aclshmem_##name##_g(pointer<T>(src), pe); });                          \
        return out;                                                                                \
      },                                                                                           \
      "src"_a, "pe"_a);                                                                            \
  bindStrided(m, "aclshmem_" #name "_iput",                                                        \
              [](Number<Address> d, Number<Address> s, Number<ptrdiff_t> x, Number<ptrdiff_t> y,   \
                 Number<size_t> n, Number<int> pe) {                                               \
                aclshmem_##name##_iput(pointer<T>(d), pointer<T>(s), x, y, n, pe);                 \
              });                                                                                  \
  bindStrided(m, "aclshmem_" #name "_iget",                                                        \
              [](Number<Address> d, Number<Address> s, Number<ptrdiff_t> x, Number<ptrdiff_t> y,   \
                 Number<size_t> n, Number<int> pe) {                                               \
                aclshmem_##name##_iget(pointer<T>(d), pointer<T>(s), x, y, n, pe);                 \
              });
  ACLSHMEM_RMA_TYPES(BIND_TYPED)
}

/// Binds a call in stream order of the shape (destination, source, bytes, pe, stream).
void bindStreamTransfer(nb::module_ &m, const char *name,
                        void (*call)(void *, void *, size_t, int32_t, aclrtStream)) {
  m.def(
      name,
      [call](Number<Address> dst, Number<Address> src, Number<size_t> bytes, Number<int> pe,
             Number<Address> stream) {
        checked([&] { call(pointer(dst), pointer(src), bytes, pe, pointer(stream)); });
      },
      "dst"_a, "src"_a, "size"_a, "pe"_a, "stream"_a);
}

void bindStreams(nb::module_ &m) {
  bindStreamTransfer(m, "aclshmemx_putmem_on_stream", aclshmemx_putmem_on_stream);
  bindStreamTransfer(m, "aclshmemx_getmem_on_stream", aclshmemx_getmem_on_stream);
  m.def(
      "aclshmemx_signal_op_on_stream",
      [](Number<Address> sig, Number<int32_t> signal, Number<int> op, Number<int> pe,
         Number<Address> stream) {
        checked([&] {
          aclshmemx_signal_op_on_stream(pointer<int32_t>(sig), signal, op, pe, pointer(stream));
        });
      },
      "sig_addr"_a, "signal"_a, "sig_op"_a, "pe"_a, "stream"_a);
  m.def(
      "aclshmemx_signal_wait_until_on_stream",
      [](Number<Address> sig, Number<int> cmp, Number<int32_t> value, Number<Address> stream) {
        checked([&] {
          aclshmemx_signal_wait_until_on_stream(pointer<int32_t>(sig), cmp, value, pointer(stream));
        });
      },
      "sig_addr"_a, "cmp"_a, "value"_a, "stream"_a);
  m.def(
      "aclshmemx_barrier_on_stream",
      [](Number<int> team, Number<Address> stream) {
        checked([&] { aclshmemx_barrier_on_stream(team, pointer(stream)); });
      },
      "team"_a, "stream"_a);
  m.def(
      "aclshmemx_barrier_all_on_stream",
      [](Number<Address> stream) {
        checked([&] { aclshmemx_barrier_all_on_stream(pointer(stream)); });
      },
      "stream"_a);
  m.def(
      "aclshmemx_quiet_on_stream",
      [](Number<Address> stream) { checked([&] { aclshmemx_quiet_on_stream(pointer(stream)); }); },
      "stream"_a);
  m.def(
      "aclshmemx_handle_wait",
      [](Number<int> team, Number<Address> stream) {
        checked([&] { aclshmemx_handle_wait({team}, pointer(stream)); });
      },
      "team"_a, "stream"_a);
}

/// Buffers of the engines, and cycle profiles.
void bindEngines(nb::module_ &m) {
  auto config = [&](const char *name, int (*call)(uint64_t, uint32_t, uint32_t)) {
    m.def(
        name,
        [call](Number<uint64_t> offset, Number<uint32_t> bytes, Number<uint32_t> syncId) {
          return call(offset, bytes, syncId);
        },
        "ub_offset"_a, "ub_size"_a, "sync_id"_a);
  };
  config("aclshmemx_set_mte_config", aclshmemx_set_mte_config);
  config("aclshmemx_set_sdma_config", aclshmemx_set_sdma_config);
  config("aclshmemx_set_rdma_config", aclshmemx_set_rdma_config);
  config("aclshmemx_set_udma_config", aclshmemx_set_udma_config);
  m.def("aclshmemx_show_prof", [] { checked([] { aclshmemx_show_prof(); }); });
  m.def(
      "aclshmemx_get_prof",
      [](bool verbose) -> nb::object {
        aclshmem_prof_pe_t *profile = nullptr;
        checked([&] { aclshmemx_get_prof(&profile, verbose); });
        if (!profile)
          return nb::none();
        nb::list blocks;
        for (const aclshmem_prof_block_t &block : profile->block_prof)
          blocks.append(nb::make_tuple(
              std::vector<int64_t>(std::begin(block.ccount), std::end(block.ccount)),
              std::vector<int64_t>(std::begin(block.cycles), std::end(block.cycles))));
        return nb::make_tuple(profile->pe_id, blocks);
      },
      "verbose"_a = false);
}

} // namespace

NB_MODULE(_pyshmem, m) {
  m.doc() = "The symmetric heap of Piton; see include/piton/shmem.h";
  nb::set_leak_warnings(false);
  bindEnums(m);
  bindAttributes(m);
  bindStart(m);
  bindMemory(m);
  bindTypedMemory(m);
  bindTeams(m);
  bindData(m);
  bindStreams(m);
  bindEngines(m);
  bindWaits(m);
}
