// Options of plugins given in Python, and information about devices for Python.
#pragma once
#include <nanobind/nanobind.h>

#include "pjrt/modules/module_cache.h"

namespace forerun {

pjrt::ClientOptions options_of(nanobind::handle given);  // of a dict
nanobind::dict device_info(const pjrt::Device& device);  // its model, and bytes of memory
nanobind::dict stats_dict(const pjrt::CompileStats& stats);

}  // namespace forerun
