// Compiles Boost.JSON, of which json_reader.cc uses the parser. Debian builds its library for an
// older C++ library, so it is not linked.
#include <boost/json/src.hpp>
