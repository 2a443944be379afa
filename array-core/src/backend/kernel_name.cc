#include "backend/kernel_name.h"

#include <utility>

#include "dtype/dtype.h"

namespace arraycore {

std::string operation_name(const ir::Kernel& kernel) {
  std::string text = kernel.name + " (kernel '" + kernel.name + "(";
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    if (i != 0) text += ", ";
    text += std::string(name_of(kernel.params[i].dtype)) + " " + kernel.params[i].name;
  }
  return text + ")')";
}

Error named(Error error, const std::string& operation) {
  error.message = operation + ": " + std::move(error.message);
  return error;
}

}  // namespace arraycore
