// A file mapped for reading; empty when it cannot be.
#pragma once

#include <cstddef>
#include <string>

#include "rawlog.h"

namespace logpost::assembler {

class Mapping {
  public:
    explicit Mapping(const std::string& path);
    ~Mapping();
    Mapping(Mapping&& other) noexcept;
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping& operator=(Mapping&&) = delete;

    const std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    // Its header; all zero when it has none.
    lp_file_header header() const;

  private:
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace logpost::assembler
