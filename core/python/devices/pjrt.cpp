// Plugins and the devices that they found, for `forerun info`; and modules run at once, with arrays of NumPy, for tests
// of plugins and of the compiled texts.
#include "python/devices/pjrt.h"

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/modules/module_cache.h"
#include "pjrt/modules/topology.h"
#include "python/bindings.h"
#include "python/numpy_api.h"
#include "python/object/conversion/dtypes.h"
#include "python/runtime/interpreter/gil.h"

namespace forerun {

pjrt::ClientOptions options_of(nb::handle given) {
  pjrt::ClientOptions options;
  for (auto [name, value] : nb::borrow<nb::dict>(given)) {
    auto& option = options.emplace_back(nb::cast<std::string>(name), false);
    if (PyBool_Check(value.ptr())) {
      option.second = nb::cast<bool>(value);
    } else if (PyLong_Check(value.ptr())) {
      option.second = nb::cast<int64_t>(value);
    } else if (PyFloat_Check(value.ptr())) {
      option.second = nb::cast<float>(value);
    } else {
      option.second = nb::cast<std::string>(value);
    }
  }
  return options;
}

nb::dict stats_dict(const pjrt::CompileStats& stats) {
  nb::dict d;
  d["compiled"] = stats.compiled, d["seconds"] = stats.seconds;
  d["from_disk"] = stats.from_disk, d["disk_seconds"] = stats.disk_seconds;
  d["found"] = stats.found, d["dropped"] = stats.dropped, d["held"] = stats.held;
  return d;
}

namespace {

nb::object or_none(const std::optional<int64_t>& value) { return value ? nb::object(nb::int_(*value)) : nb::none(); }

}  // namespace

nb::dict device_info(const pjrt::Device& device) {
  nb::dict d;
  d["id"] = device.id(), d["kind"] = device.kind();
  const std::optional<pjrt::MemoryStats> memory = device.memory();
  d["memory_in_use"] = or_none(memory ? std::optional(memory->in_use) : std::nullopt);
  d["memory_peak"] = or_none(memory ? memory->peak : std::nullopt);
  d["memory_limit"] = or_none(memory ? memory->limit : std::nullopt);
  return d;
}

namespace {

struct Opened {
  std::unique_ptr<pjrt::Client> client;
  std::unique_ptr<pjrt::ModuleCache> modules;
};

// The open clients, by number. A client has threads, so it ends when it is closed, or with the process.
std::mutex opened_mutex;
auto& opened = *new std::map<int, std::shared_ptr<Opened>>;
int next_number = 0;

std::shared_ptr<Opened> find(int number) {
  std::lock_guard lock(opened_mutex);
  auto found = opened.find(number);
  if (found == opened.end())
    throw Error(ErrorKind::index, "pjrt: the client must be open, got number " + std::to_string(number));
  return found->second;
}

// Opens a client and returns its number; no value: the plugin has no device.
std::optional<int> open_client(const std::string& path, const pjrt::ClientOptions& options,
                               std::optional<std::filesystem::path> folder, size_t most) {
  auto client = pjrt::Client::create(pjrt::Plugin::load(path), options);
  if (!client) return std::nullopt;
  auto one = std::make_shared<Opened>();
  one->modules = std::make_unique<pjrt::ModuleCache>(*client, std::move(folder), most);
  one->client = std::move(client);
  std::lock_guard lock(opened_mutex);
  opened.emplace(next_number, std::move(one));
  return next_number++;
}

nb::object load(const char* path, const nb::dict& given, nb::handle folder, size_t most) {
  std::optional<std::filesystem::path> files;
  if (!folder.is_none()) files = nb::cast<std::string>(folder);
  const pjrt::ClientOptions options = options_of(given);
  const std::string file = path;
  const auto number = without_lock([&] { return open_client(file, options, std::move(files), most); });
  return number ? nb::object(nb::int_(*number)) : nb::none();
}

void close(int number) {
  std::shared_ptr<Opened> one = find(number);
  {
    std::lock_guard lock(opened_mutex);
    opened.erase(number);
  }
  without_lock([&] { one->modules.reset(), one.reset(); });
}

nb::dict plugin_info(const pjrt::Plugin& plugin) {
  nb::dict d, attributes;
  for (const auto& [name, value] : plugin.attributes()) attributes[name.c_str()] = value;
  d["path"] = plugin.path();
  d["api"] = "0." + std::to_string(plugin.minor_version());
  d["attributes"] = attributes;
  return d;
}

nb::dict info(int number) {
  std::shared_ptr<Opened> one = find(number);
  nb::dict d = plugin_info(one->client->plugin());
  d["platform"] = one->client->platform();
  d["platform_version"] = one->client->platform_version();
  nb::list devices;
  for (const pjrt::Device& device : one->client->devices()) devices.append(device_info(device));
  d["devices"] = devices;
  return d;
}

nb::dict compile_stats(int number) { return stats_dict(find(number)->modules->stats()); }

// --- execution -------------------------------------------------------------------------------------------------------

// An array of NumPy in the form that the plugin needs: dense, in C order.
struct HostArray {
  nb::object owner;
  const void* data;
  DType dtype;
  std::vector<int64_t> shape;
};

HostArray host_array(nb::handle given) {
  nb::object owner = checked(PyArray_FROM_OF(given.ptr(), NPY_ARRAY_CARRAY_RO));
  auto* array = reinterpret_cast<PyArrayObject*>(owner.ptr());
  bool known = false;
  const DType dtype = dtype_of_typenum(PyArray_TYPE(array), &known);
  if (!known)
    throw Error(ErrorKind::type, std::string("pjrt: the dtype must be ") + kSupportedDTypes + ", got another");
  const npy_intp* dims = PyArray_DIMS(array);
  return {owner, PyArray_DATA(array), dtype, {dims, dims + PyArray_NDIM(array)}};
}

void check(std::unique_ptr<pjrt::PluginError> failure) {
  if (failure) throw *failure;
}

const pjrt::Device& device_at(const pjrt::Client& client, size_t place) {
  if (place >= client.devices().size())
    throw Error(ErrorKind::index, "pjrt: the device must be below " + std::to_string(client.devices().size()) +
                                      ", got " + std::to_string(place));
  return client.devices()[place];
}

std::vector<pjrt::Buffer> execute(const Opened& one, size_t place, const std::string& text,
                                  const std::vector<HostArray>& arrays, const std::vector<int64_t>& kept,
                                  const char* call_location) {
  const pjrt::Device& device = device_at(*one.client, place);
  const auto module = one.modules->get(text);
  std::vector<pjrt::Buffer> arguments;
  std::vector<pjrt::Event> copied(arrays.size());
  std::vector<pjrt::abi::Buffer*> raw;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const HostArray& a = arrays[i];
    arguments.push_back(pjrt::Buffer::from_host(device, a.data, a.dtype, a.shape, false, copied[i]));
    raw.push_back(arguments.back().raw());
  }
  for (const pjrt::Event& event : copied) check(event.wait());  // afterwards the arrays may be freed
  std::vector<pjrt::Buffer> results = module->execute(device, raw, kept, call_location);
  for (const pjrt::Buffer& result : results) check(result.ready().wait());
  return results;
}

// A module with its arguments on the device.
struct Prepared {
  pjrt::ModuleCache::ModulePtr module;
  std::vector<pjrt::Buffer> arguments;
  std::vector<pjrt::abi::Buffer*> raw;
  std::vector<int64_t> kept;
};

Prepared prepare(const Opened& one, const pjrt::Device& device, const std::string& text,
                 const std::vector<HostArray>& arrays) {
  Prepared made{one.modules->get(text), {}, {}, {}};
  for (const HostArray& a : arrays) {
    pjrt::Event copied;
    pjrt::Buffer& buffer =
        made.arguments.emplace_back(pjrt::Buffer::from_host(device, a.data, a.dtype, a.shape, false, copied));
    check(copied.wait());
    check(buffer.ready().wait());
    made.kept.push_back(static_cast<int64_t>(made.raw.size()));
    made.raw.push_back(buffer.raw());
  }
  return made;
}

// Executes all of them, each after the one before has ended.
double seconds_of_round(const std::vector<Prepared>& all, const pjrt::Device& device) {
  const auto begun = std::chrono::steady_clock::now();
  for (const Prepared& one : all) {
    pjrt::Event done;
    const std::vector<pjrt::Buffer> results = one.module->execute(device, one.raw, one.kept, nullptr, &done);
    check(done.wait());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

nb::list seconds(int number, size_t place, nb::handle given, int rounds) {
  std::shared_ptr<Opened> one = find(number);
  const pjrt::Device& device = device_at(*one->client, place);
  std::vector<Prepared> all;
  for (nb::handle each : given) {
    std::vector<HostArray> arrays;
    for (nb::handle array : each[1]) arrays.push_back(host_array(array));
    const auto text = nb::cast<std::string>(each[0]);
    without_lock([&] { all.push_back(prepare(*one, device, text, arrays)); });
  }
  nb::list found;
  for (int i = 0; i < rounds; ++i) found.append(without_lock([&] { return seconds_of_round(all, device); }));
  return found;
}

nb::object numpy_array(const pjrt::Buffer& buffer) {
  const std::vector<int64_t> sizes = buffer.shape();
  const std::vector<npy_intp> shape(sizes.begin(), sizes.end());
  nb::object made =
      checked(PyArray_SimpleNew(static_cast<int>(shape.size()), shape.data(), typenum_of(buffer.dtype())));
  auto* array = reinterpret_cast<PyArrayObject*>(made.ptr());
  without_lock([&] { check(buffer.to_host(PyArray_DATA(array), PyArray_NBYTES(array)).wait()); });
  return made;
}

nb::list run(int number, size_t device, const char* stablehlo, nb::handle given, nb::handle kept, nb::handle location) {
  std::shared_ptr<Opened> one = find(number);
  std::vector<HostArray> arrays;
  for (nb::handle each : given) arrays.push_back(host_array(each));
  const std::vector<int64_t> places = list_of<int64_t>(kept);
  const std::string text = stablehlo, where = location.is_none() ? "" : nb::cast<std::string>(location);
  std::vector<pjrt::Buffer> results = without_lock(
      [&] { return execute(*one, device, text, arrays, places, location.is_none() ? nullptr : where.c_str()); });
  nb::list all;
  for (const pjrt::Buffer& result : results) all.append(numpy_array(result));
  return all;
}

// Seconds, or the compiler's text, for each module.
nb::list compile_for(const char* path, nb::handle given, nb::handle texts, bool deterministic) {
  const pjrt::Topology topology(pjrt::Plugin::load(path), options_of(given));
  nb::list all;
  for (const std::string& text : list_of<std::string>(texts)) {
    std::string failure;
    const auto begun = std::chrono::steady_clock::now();
    without_lock([&] {
      try {
        topology.compile(text, deterministic);
      } catch (const Error& error) {
        failure = error.what();
      }
    });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    all.append(failure.empty() ? nb::object(nb::float_(took.count())) : nb::object(nb::str(failure.c_str())));
  }
  return all;
}

}  // namespace

void init_pjrt(Module& m) {
  m.def("pjrt_load", load, nb::arg("path"), nb::arg("options"), nb::arg("folder").none() = nb::none(),
        nb::arg("most") = pjrt::ModuleCache::kMost,
        nb::sig("def pjrt_load(path: str, options: dict[str, bool | int | float | str], folder: str | None = None, "
                "most: int = 512) -> int | None"),
        "Opens a plugin and returns the number of its client; None where it has no device. Compiled modules are kept "
        "in the folder.");
  m.def("pjrt_close", close, nb::arg("client"), "Ends a client; its devices are gone.");
  m.def("pjrt_info", info, nb::arg("client"), nb::sig("def pjrt_info(client: int) -> dict[str, Any]"),
        "Return information about a plugin, its platform and its devices.");
  m.def("pjrt_compile_stats", compile_stats, nb::arg("client"),
        nb::sig("def pjrt_compile_stats(client: int) -> dict[str, Any]"),
        "Return how many modules were compiled, in which time, and how many were found.");
  m.def("pjrt_compile_for", compile_for, nb::arg("path"), nb::arg("options"), nb::arg("modules"),
        nb::arg("deterministic") = true,
        nb::sig("def pjrt_compile_for(path: str, options: dict[str, bool | int | float | str], modules: Sequence[str], "
                "deterministic: bool = True) -> list[float | str]"),
        "Compiles modules for devices that are not there, which the options describe. Returns the seconds that each "
        "took, or the compiler's text.");
  m.def("pjrt_run", run, nb::arg("client"), nb::arg("device"), nb::arg("stablehlo"), nb::arg("arrays"),
        nb::arg("kept") = nb::make_tuple(), nb::arg("call_location").none() = nb::none(),
        nb::sig("def pjrt_run(client: int, device: int, stablehlo: str, arrays: Sequence[Any], kept: Sequence[int] = "
                "(), call_location: str | None = None) -> list[Any]"),
        "Compiles a module, runs it with copies of these arrays, and returns its results. Waits for them.");
  m.def("pjrt_seconds", seconds, nb::arg("client"), nb::arg("device"), nb::arg("modules"), nb::arg("rounds"),
        nb::sig("def pjrt_seconds(client: int, device: int, modules: Sequence[tuple[str, Sequence[Any]]], rounds: int) "
                "-> list[float]"),
        "Compiles modules, and returns the seconds of each round of executing them with copies of these arrays, each "
        "when the one before it has ended.");
}

}  // namespace forerun
