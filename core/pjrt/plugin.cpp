#include "pjrt/plugin.h"

#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <mutex>

#include "base/system/library.h"
#include "base/system/machine.h"

namespace forerun::pjrt {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& condition, const std::string& got,
                         ErrorKind kind = ErrorKind::value) {
  throw Error(kind, "pjrt: the plugin " + path + " must " + condition + ", got " + got);
}

std::string real_path(const std::string& path) {
  std::error_code error;
  const std::string resolved = std::filesystem::canonical(path, error).string();
  if (error) refuse(path, "be a file", "no such file");
  return resolved;
}

std::string text_of(const abi::NamedValue& value) {
  switch (value.type) {
    case abi::NamedValueType::string: return {value.string_value, value.value_size};
    case abi::NamedValueType::int64: return std::to_string(value.int64_value);
    case abi::NamedValueType::float32: return std::to_string(value.float_value);
    case abi::NamedValueType::boolean: return value.bool_value ? "true" : "false";
    case abi::NamedValueType::int64_list: break;
  }
  std::string text;
  for (size_t i = 0; i < value.value_size; ++i) text += (i ? "." : "") + std::to_string(value.int64_array_value[i]);
  return text;
}

// A plugin that was rebuilt with the same versions has a different file.
std::string file_identity(const std::string& path) {
  struct stat facts{};
  if (stat(path.c_str(), &facts) != 0) return {};
  return std::to_string(facts.st_size) + ' ' + std::to_string(facts.st_mtime) + '\n';
}

const abi::Table* table_of(void* library, const std::string& path) {
  auto get = reinterpret_cast<abi::GetTable>(find_symbol(library, "GetPjrtApi"));
  if (!get) refuse(path, "export GetPjrtApi", "a shared library without it");
  const abi::Table* table = get();
  if (!table || table->struct_size < offsetof(abi::Table, functions)) refuse(path, "return its functions", "none");
  return table;
}

void check_version(const abi::Table& table, const std::string& path) {
  const abi::Version& version = table.version;
  const std::string got = std::to_string(version.major_version) + "." + std::to_string(version.minor_version);
  if (version.major_version != abi::kMajor)
    refuse(path, "have version " + std::to_string(abi::kMajor) + ".x of the PJRT interface", got);
  if (version.minor_version < abi::kMinor)
    refuse(path, "have at least version 0." + std::to_string(abi::kMinor) + " of the PJRT interface", got);
}

}  // namespace

const Plugin& Plugin::load(const std::string& path) {
  static std::mutex mutex;
  static auto& loaded = *new std::map<std::string, std::unique_ptr<const Plugin>>;  // never destroyed
  const std::string real = real_path(path);
  std::lock_guard lock(mutex);
  auto& plugin = loaded[real];
  if (!plugin) plugin.reset(open(real));
  return *plugin;
}

const Plugin* Plugin::open(const std::string& path) {
  std::string error;
  void* library = open_library(path, error);
  if (!library) refuse(path, "be a shared library that can be loaded", error, ErrorKind::runtime);
  const abi::Table* table = table_of(library, path);
  check_version(*table, path);
  return new Plugin(path, table);
}

Plugin::Plugin(std::string path, const abi::Table* table) : path_(std::move(path)), table_(table) {
  auto a = abi::arguments<abi::PluginInitialize>();
  call(a);
  read_attributes();
  fingerprint_ = "api 0." + std::to_string(minor_version()) + '\n' + file_identity(path_) + processor_identity();
  for (const auto& [name, value] : attributes_) fingerprint_ += name + ' ' + value + '\n';
}

void Plugin::read_attributes() {
  auto a = abi::arguments<abi::PluginAttributes>();
  if (!has<abi::PluginAttributes>()) return;
  call(a);
  for (const abi::NamedValue* value = a.attributes; value != a.attributes + a.num_attributes; ++value)
    attributes_.emplace_back(std::string(value->name, value->name_size), text_of(*value));
}

std::unique_ptr<PluginError> Plugin::take(abi::Error* error) const {
  if (!error) return nullptr;
  auto code = abi::arguments<abi::ErrorGetCode>();
  code.error = error;
  if (abi::Error* other = answer(code)) drop(other), code.code = abi::Code::unknown;
  auto text = abi::arguments<abi::ErrorMessage>();
  text.error = error;
  answer(text);  // returns nothing, like the next function
  auto taken = std::make_unique<PluginError>(code.code, std::string(text.message, text.message_size));
  drop(error);
  return taken;
}

void Plugin::drop(abi::Error* error) const {
  auto a = abi::arguments<abi::ErrorDestroy>();
  a.error = error;
  answer(a);
}

void Plugin::throw_error(abi::Error* error) const {
  PluginError taken = *take(error);
  throw taken;
}

void Plugin::throw_missing(int slot) const {
  throw Error(ErrorKind::not_implemented, "pjrt: the plugin " + path_ + " must have function " + std::to_string(slot) +
                                              " of the interface, got none");
}

const abi::Extension* Plugin::extension(int type) const {
  const abi::Extension* at = table_->extension_start;
  while (at && at->type != type) at = at->next;
  return at;
}

}  // namespace forerun::pjrt
