// Makes one function of several lambdas, for std::visit.
#pragma once

namespace hyperflock::hub {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

}  // namespace hyperflock::hub
