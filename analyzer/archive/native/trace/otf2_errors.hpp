#pragma once

#include <string>

namespace logpost::analyzer {

/// While one of these lives, what libotf2 would print on stderr is kept per thread instead. libotf2 has one handler per
/// process; nested and concurrent uses are counted.
class Otf2Errors {
  public:
    Otf2Errors();
    ~Otf2Errors();
    Otf2Errors(const Otf2Errors&) = delete;
    Otf2Errors& operator=(const Otf2Errors&) = delete;
};

/// What libotf2 said on this thread since the last call, in one line: the first, deepest message.
std::string take_otf2_errors();

}  // namespace logpost::analyzer
