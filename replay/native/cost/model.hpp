#pragma once

/// The models that a message can be split under, and what a machine's values are to each of them.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "replay/native/cost/parameters.hpp"

namespace logpost::replay {

enum class Model : std::uint8_t { full, loggp, logpc, log3p, logp };
inline constexpr std::size_t kModels = 5;

/// As users name them, in the order of Model.
inline constexpr std::array<std::string_view, kModels> kModelNames{"full", "loggp", "logpc", "log3p", "logp"};

/// The model of that name; nothing where there is none.
[[nodiscard]] std::optional<Model> model_named(std::string_view name) noexcept;

/// What of a machine a model knows: terms that it lacks cost nothing, queues that it lacks let no message wait.
/// Everything that splits messages reads the result, and nothing else depends on models.
[[nodiscard]] Parameters reduced(Parameters machine, Model model);

}  // namespace logpost::replay
