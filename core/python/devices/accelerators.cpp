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
#include "python/runtime/call_sites/call_site.h"
#include "python/runtime/errors/errors.h"
#include "python/runtime/interpreter/gil.h"
#include "python/runtime/submission/accelerators.h"

namespace forerun {

namespace {

auto& backends = *new std::vector<std::unique_ptr<pjrt::Backend>>;  // never freed: storages refer to their devices

nb::tuple tuple_of(const Dims& dims) {
  nb::object made = checked(PyTuple_New(dims.size()));
  for (int i = 0; i < dims.size(); ++i) PyTuple_SET_ITEM(made.ptr(), i, PyLong_FromLongLong(dims[i]));
  return nb::cast<nb::tuple>(made);
}

// (dtype, shape, strides, offset or None, dtype and elements of the storage, whether it is a scalar), and "mode" for
// outputs.
nb::object operand_tuple(const OpSpec::Operand& operand, bool output) {
  const Layout& layout = operand.layout;
  if (operand.access < 0)
    return nb::make_tuple(name(layout.dtype), nb::make_tuple(), nb::make_tuple(), 0, name(layout.dtype), 1, true);
  const nb::object offset = operand.moves ? nb::none() : nb::object(nb::int_(layout.offset));
  nb::tuple view = nb::make_tuple(name(layout.dtype), tuple_of(layout.shape), tuple_of(layout.strides), offset,
                                  name(operand.storage_dtype), operand.storage_size, false);
  if (!output) return view;
  return view + nb::make_tuple(operand.mode == Mode::write ? "write" : "update");
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

nb::list operand_list(const std::vector<OpSpec::Operand>& operands, bool output) {
  nb::list all;
  for (const OpSpec::Operand& operand : operands) all.append(operand_tuple(operand, output));
  return all;
}

nb::tuple spec_tuple(const OpSpec& spec) {
  nb::dict attributes;
  for (const auto& [attribute, value] : spec.attributes) attributes[attribute] = attribute_object(value);
  return nb::make_tuple(spec.kind, spec.name.c_str(), operand_list(spec.inputs, false),
                        operand_list(spec.outputs, true), attributes);
}

template <class T>
nb::tuple tuple_of_all(const std::vector<T>& values) {
  nb::list all;
  for (const T& value : values) all.append(value);
  return nb::tuple(all);
}

// Writes modules by calling forerun._pjrt.lowering.
class PythonWriter final : public pjrt::Writer {
 public:
  PythonWriter(nb::object operation, nb::object program)
      : operation_(std::move(operation)), program_(std::move(program)) {}

  std::optional<std::string> operation(const OpSpec& spec) const override {
    return text([&] { return operation_(*spec_tuple(spec)); });
  }
  std::optional<std::string> program(const std::vector<Step>& steps, const std::vector<Slot>& slots,
                                     const std::vector<int>& donated) const override {
    return text([&] {
      nb::list all_steps, all_slots;
      for (const Step& step : steps)
        all_steps.append(nb::make_tuple(spec_tuple(*step.spec), tuple_of_all(step.inputs), tuple_of_all(step.outputs)));
      for (const Slot& slot : slots)
        all_slots.append(nb::make_tuple(name(slot.dtype), slot.size, slot.kept, slot.scalar));
      return program_(all_steps, all_slots, tuple_of_all(donated));
    });
  }

 private:
  template <class F>
  static std::optional<std::string> text(F f) {
    nb::object written;
    try {
      written = f();
    } catch (nb::python_error& error) {
      error.restore();
      throw PythonError{};
    }
    if (written.is_none()) return std::nullopt;
    return nb::cast<std::string>(written);
  }
  const nb::object operation_, program_;
};

nb::object open_accelerators(const char* path, nb::handle given, nb::handle folder, size_t most, int first,
                             const char* name, nb::handle memory, nb::object operation, nb::object program) {
  std::optional<std::filesystem::path> files;
  if (!folder.is_none()) files = nb::cast<std::string>(folder);
  const pjrt::ClientOptions options = options_of(given);
  const std::string file = path;
  auto client = without_lock([&] { return pjrt::Client::create(pjrt::Plugin::load(file), options); });
  if (!client) return nb::int_(0);
  auto writer = std::make_unique<PythonWriter>(std::move(operation), std::move(program));
  auto& backend = *backends.emplace_back(
      std::make_unique<pjrt::Backend>(std::move(client), std::move(files), most, std::move(writer)));
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

// The client of an engine's device, and the device's number within the client.
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

void record_modules(bool on) {
  for (const auto& backend : backends) backend->modules().record(on);
}

nb::list recorded_modules() {
  nb::list all;
  for (const auto& backend : backends)
    for (const std::string& text : backend->modules().recorded()) all.append(nb::str(text.c_str()));
  return all;
}

nb::list all_compiled() {
  nb::list all;
  for (const auto& backend : backends)
    for (const auto& [issuer, compiled] : backend->modules().issuers()) {
      const Site where = site(issuer.second);
      all.append(nb::make_tuple(issuer.first, where.file, where.line, compiled.modules, compiled.seconds));
    }
  return all;
}

}  // namespace

void init_pjrt_accelerators(Module& m) {
  m.attr("FIRST_ACCELERATOR") = kFirstAccelerator;
  m.def("open_accelerators", open_accelerators, nb::arg("path"), nb::arg("options"), nb::arg("folder").none(),
        nb::arg("most"), nb::arg("first"), nb::arg("name"), nb::arg("memory"), nb::arg("operation"), nb::arg("program"),
        nb::sig("def open_accelerators(path: str, options: dict[str, bool | int | float | str], folder: str | None, "
                "most: int, first: int, name: str, memory: float, operation: Any, program: Any) -> int"),
        "Makes the devices that a plugin finds those of the numbers from `first` on, and returns how many there are. "
        "`memory` is the part of each one's memory that arrays may take; `operation` and `program` write modules "
        "(forerun._pjrt.lowering).");
  m.def("accelerator_info", accelerator_info, nb::arg("number"),
        nb::sig("def accelerator_info(number: int) -> dict[str, Any]"),
        "Return the model, the platform and the bytes of memory of the accelerator that is the engine's device "
        "`number`.");
  m.def("accelerator_compile_stats", all_compile_stats,
        nb::sig("def accelerator_compile_stats() -> list[dict[str, Any]]"),
        "Return for each plugin how many modules were compiled, in which time, and how many were found.");
  m.def("record_modules", record_modules, nb::arg("on"),
        "Keep the texts of the modules that are executed from now on.");
  m.def("recorded_modules", recorded_modules, nb::sig("def recorded_modules() -> list[str]"),
        "Return the texts of the modules that were executed since, in their order.");
  m.def("compiled_modules", all_compiled, nb::sig("def compiled_modules() -> list[tuple[str, str, int, int, float]]"),
        "Return for which operations modules were compiled: name, file, line, how many, and the seconds that took.");
}

}  // namespace forerun
