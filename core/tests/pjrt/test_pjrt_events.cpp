// A callback of an event of a device is called once, within the request or by a thread of the plugin. Memory that was
// registered with a client is unregistered when the client is destroyed. FORERUN_TEST_PLUGIN names the plugin; skipped
// without one.
#include <cstdio>
#include <cstdlib>
#include <future>
#include <vector>

#include "pjrt/modules/module.h"

using namespace forerun;
using namespace forerun::pjrt;

namespace {

constexpr char kDouble[] =
    "module @m { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "%0 = stablehlo.add %a, %a : tensor<4xf32>\n return %0 : tensor<4xf32> } }";

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

void follow_one(const Device& device, const Module& module) {
  alignas(64) float ones[4] = {1, 1, 1, 1};
  float back[4] = {};
  const int64_t shape[] = {4};
  std::promise<bool> reported, freed;
  {
    Event done;
    Buffer x = Buffer::from_host(device, ones, DType::f32, shape, true, done);
    std::move(done).on_ready([&](auto failure) { freed.set_value(!failure); });
    abi::Buffer* arguments[] = {x.raw()};
    std::vector<Buffer> y = module.execute(device, arguments);
    y[0].to_host(back, sizeof back).on_ready([&](auto failure) { reported.set_value(!failure); });
  }
  expect(reported.get_future().get(), "the copy ends well");
  expect(freed.get_future().get(), "the host's memory is given back");
  expect(back[0] == 2 && back[3] == 2, "values are right");
}

// Plugins for processors refuse to register memory.
void register_memory_with(const Client& client, bool registers) {
  alignas(4096) static char memory[8192];
  RegisteredBlocks& blocks = RegisteredBlocks::get();
  blocks.set_limit(sizeof memory);
  blocks.add(memory, sizeof memory, client);
  expect(blocks.holds(memory) == registers, "the memory is registered");
}

}  // namespace

int main() {
  const char* path = std::getenv("FORERUN_TEST_PLUGIN");
  if (!path) return std::printf("skipped: FORERUN_TEST_PLUGIN names no plugin\n"), 0;
  auto client = Client::create(Plugin::load(path), {{"cpu_device_count", int64_t{2}}});
  auto module = Module::compile(*client, kDouble);
  for (int i = 0; i < 300; ++i) follow_one(client->devices()[i % 2], *module);
  register_memory_with(*client, client->platform() == "fake_gpu");
  module.reset(), client.reset();
  expect(RegisteredBlocks::get().bytes() == 0, "nothing is registered with a client that is gone");
  return 0;
}
