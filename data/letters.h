#pragma once

#include <heed/autograd/rng.h>
#include <heed/data/option.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

// What tasks that draw letters share.

inline constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Stands between what is given and what is asked.
inline constexpr char kSeparator = '|';

inline constexpr Option<Whole> kAlphabet{
    "alphabet", "letters to draw from", {2, std::ssize(kLetters)}, 16};

/// The first `count` letters, ids 0 to count - 1.
std::string letters(std::int64_t count);

/// How many letters are given where as many are asked for after a separator. Throws ValueError,
/// naming the task, unless the context is even and at least 2.
std::int64_t payload_of(std::string_view task, std::int64_t context);

/// `count` ids below `symbols`, each as likely as any other.
std::vector<std::int64_t> draw_ids(std::int64_t count, std::int64_t symbols, Rng& rng);

}  // namespace heed
