// A file mapped for reading, or read where the kernel gives no more maps; empty when it cannot be opened.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "rawlog.h"

namespace logpost::assembler {

class Mapping {
  public:
    // Throws std::runtime_error when the file is there but its bytes cannot be had.
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
    std::unique_ptr<std::byte[]> read_;  // its bytes where they are not mapped
};

}  // namespace logpost::assembler
