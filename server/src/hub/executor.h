// The executors of connections and of the hub as concrete types. Asio's type-erased executor would
// make each step slower. It also counts references with fences that GCC's thread sanitizer does not
// understand.
#pragma once

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <chrono>

namespace hyperflock::hub {

using Strand = boost::asio::strand<boost::asio::io_context::executor_type>;
// A timer on the steady clock that uses the concrete executor.
using Timer =
    boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                      boost::asio::wait_traits<std::chrono::steady_clock>, Strand>;

}  // namespace hyperflock::hub
