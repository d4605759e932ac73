#include "base/shape.h"

namespace forerun {

std::string to_string(const Dims& shape) {
  std::string text = "(";
  for (int i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace forerun
