// The devices of PJRT plugins as devices of forerun.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/engine.h"
#include "pjrt/backend/backend.h"
#include "python/bindings.h"
#include "python/devices/pjrt.h"
#include "python/runtime/accelerators.h"
#include "python/runtime/errors.h"
#include "python/runtime/gil.h"

namespace forerun {

namespace {

// The function of Python that writes the module of an operation; null until a plugin has been opened.
PyObject* emit_function = nullptr;
auto& backends = *new std::vector<std::unique_ptr<pjrt::Backend>>;  // never freed: storages refer to their devices

nb::tuple tuple_of(const Dims& dims) {
  nb::object made = checked(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); ++i) PyTuple_SET_ITEM(made.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::cast<nb::tuple>(made);
}

DType storage_dtype(const Storage& storage) {
  return storage.form.dtype == DebugShape::kNone ? DType::u8 : static_cast<DType>(storage.form.dtype);
}

// (dtype, shape, strides, offset, dtype and elements of the storage, whether it is a scalar), and "mode" of outputs.
nb::object operand_tuple(const OpSpec::Operand& operand, Op& op, bool output) {
  const Layout& layout = operand.layout;
  if (operand.access < 0)
    return nb::make_tuple(name(layout.dtype), nb::make_tuple(), nb::make_tuple(), 0, name(layout.dtype), 1, true);
  const Access& access = op.access(operand.access);
  const DType of_storage = storage_dtype(*access.storage);
  nb::tuple view = nb::make_tuple(name(layout.dtype), tuple_of(layout.shape), tuple_of(layout.strides), layout.offset,
                                  name(of_storage), access.storage->bytes / item_size(of_storage), false);
  if (!output) return view;
  return view + nb::make_tuple(access.mode == Mode::write ? "write" : "update");
}

nb::object attribute_object(const OpSpec::Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> nb::object {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return nb::none();
        } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
          return nb::cast(value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          return nb::str(value.c_str());
        } else {
          nb::list all;
          for (const auto& one : value) {
            if constexpr (std::is_same_v<T, std::vector<DType>>)
              all.append(nb::str(name(one)));
            else if constexpr (std::is_same_v<T, std::vector<std::string>>)
              all.append(nb::str(one.c_str()));
            else
              all.append(nb::int_(one));
          }
          return nb::tuple(all);
        }
      },
      attribute);
}

nb::list operand_list(const std::vector<OpSpec::Operand>& operands, Op& op, bool output) {
  nb::list all;
  for (const OpSpec::Operand& operand : operands) all.append(operand_tuple(operand, op, output));
  return all;
}

std::optional<std::string> emit(const OpSpec& spec, Op& op) {
  nb::dict attributes;
  for (const auto& [attribute, value] : spec.attributes) attributes[attribute] = attribute_object(value);
  nb::object text;
  try {
    text = nb::handle(emit_function)(spec.kind, spec.name.c_str(), operand_list(spec.inputs, op, false),
                                     operand_list(spec.outputs, op, true), attributes);
  } catch (nb::python_error& error) {
    error.restore();
    throw PythonError{};
  }
  if (text.is_none()) return std::nullopt;
  return nb::cast<std::string>(text);
}

nb::object open_accelerators(const char* path, nb::handle given, nb::handle folder, size_t most, int first,
                             const char* name, nb::handle memory, nb::object write) {
  std::optional<std::filesystem::path> files;
  if (!folder.is_none()) files = nb::cast<std::string>(folder);
  const pjrt::ClientOptions options = options_of(given);
  const std::string file = path;
  auto client = without_lock([&] { return pjrt::Client::create(pjrt::Plugin::load(file), options); });
  if (!client) return nb::int_(0);
  Py_XSETREF(emit_function, write.release().ptr());
  auto& backend =
      *backends.emplace_back(std::make_unique<pjrt::Backend>(std::move(client), std::move(files), most, emit));
  const size_t n = std::min<size_t>(backend.client().devices().size(), DeviceTable::kMostDevices - first);
  for (size_t i = 0; i < n; ++i) {
    const int number = first + static_cast<int>(i);
    backend.set_name(i, std::string(name) + "(" + std::to_string(number - kFirstAccelerator) + ")");
    Accelerator& device = backend.device(i);
    size_t bytes = SIZE_MAX;
    if (auto stats = backend.client().devices()[i].memory(); stats && stats->limit)
      bytes = static_cast<size_t>(static_cast<double>(*stats->limit) * nb::cast<double>(memory));
    Engine::get().set_accelerator(number, device, device.lane(Queue::Kind::compute), device.lane(Queue::Kind::copy),
                                  bytes);
  }
  has_accelerators = true;
  return nb::int_(n);
}

// The device of an engine's number, of those of all plugins.
const pjrt::Client& client_of(int number, size_t& i) {
  i = static_cast<size_t>(number - kFirstAccelerator);
  for (const auto& backend : backends) {
    const size_t n = backend->client().devices().size();
    if (number >= kFirstAccelerator && i < n) return backend->client();
    i -= n;
  }
  throw Error(ErrorKind::index,
              "accelerator_info: there must be a device of that number, got " + std::to_string(number));
}

nb::dict accelerator_info(int number) {
  size_t i;
  const pjrt::Client& client = client_of(number, i);
  nb::dict d = device_info(client.devices()[i]);
  d["platform"] = client.platform();
  return d;
}

nb::list all_compile_stats() {
  nb::list all;
  for (const auto& backend : backends) all.append(stats_dict(backend->modules().stats()));
  return all;
}

}  // namespace

void init_pjrt_accelerators(nb::module_& m) {
  m.attr("FIRST_ACCELERATOR") = kFirstAccelerator;
  m.def("open_accelerators", open_accelerators, nb::arg("path"), nb::arg("options"), nb::arg("folder").none(),
        nb::arg("most"), nb::arg("first"), nb::arg("name"), nb::arg("memory"), nb::arg("emit"),
        nb::sig("def open_accelerators(path: str, options: dict[str, bool | int | float | str], folder: str | None, "
                "most: int, first: int, name: str, memory: float, emit: Any) -> int"),
        "Makes the devices that a plugin finds those of the numbers from `first` on, and returns how many there are. "
        "`memory` is the part of each one's memory that arrays may take.");
  m.def("accelerator_info", accelerator_info, nb::arg("number"),
        nb::sig("def accelerator_info(number: int) -> dict[str, Any]"),
        "Return the model, the platform and the bytes of memory of the accelerator that is the engine's device "
        "`number`.");
  m.def("accelerator_compile_stats", all_compile_stats,
        nb::sig("def accelerator_compile_stats() -> list[dict[str, Any]]"),
        "Return for each plugin how many modules were compiled, in which time, and how many were found.");
}

}  // namespace forerun
