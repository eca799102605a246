// Bootstraps a picture: encrypts its pixels, spends all levels of the ciphertexts, and refreshes them without decrypting.
//
//     picture [set [in.pgm out.pgm]]
//
// ship13 protects the picture at 128 bits, with 1.5 GB of keys. Without arguments there is nothing to protect: the picture is made here,
// and the set is toy10, which is small.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "refloat.hpp"

namespace {

struct Picture {
  std::size_t width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

// A disc above a ramp.
Picture made() {
  Picture picture{48, 32, {}};
  for (std::size_t y = 0; y < picture.height; y++) {
    for (std::size_t x = 0; x < picture.width; x++) {
      const double dx = static_cast<double>(x) - 30, dy = static_cast<double>(y) - 12;
      const bool inside = dx * dx + dy * dy < 64;
      picture.pixels.push_back(static_cast<std::uint8_t>(inside ? 250 : 5 * x));
    }
  }
  return picture;
}

Picture read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  Picture picture;
  std::size_t most = 0;
  if (!(file >> magic >> picture.width >> picture.height >> most) || magic != "P5" || most != 255 ||
      picture.width > 4096 || picture.height > 4096) {
    throw std::runtime_error(path + " is no PGM picture (P5, 255 greys, at most 4096 x 4096)");
  }
  file.get();
  picture.pixels.resize(picture.width * picture.height);
  const auto size = static_cast<std::streamsize>(picture.pixels.size());
  if (!file.read(reinterpret_cast<char*>(picture.pixels.data()), size)) throw std::runtime_error(path + " is cut short");
  return picture;
}

void write(const std::string& path, const Picture& picture) {
  std::ofstream file(path, std::ios::binary);
  file << "P5\n" << picture.width << ' ' << picture.height << "\n255\n";
  file.write(reinterpret_cast<const char*>(picture.pixels.data()), static_cast<std::streamsize>(picture.pixels.size()));
  if (!file.flush()) throw std::runtime_error(path + " cannot be written");
}

double value(std::uint8_t grey) { return grey / 127.5 - 1; }

std::uint8_t grey(double value) {
  return static_cast<std::uint8_t>(std::lround(std::clamp((value + 1) * 127.5, 0.0, 255.0)));
}

int run(const std::vector<std::string>& arguments) {
  const std::string set = arguments.empty() ? "toy10" : arguments[0];
  const Picture before = arguments.size() > 2 ? read(arguments[1]) : made();

  // At home: the keys. The evaluation keys are public.
  const auto toys = arguments.empty() ? refloat::Toys::allowed : refloat::Toys::refused;
  const auto secret = refloat::ShipSecret::generate(set, toys);
  const refloat::ShipKeys keys(secret);

  Picture after{before.width, before.height, {}};
  double worst = 0;
  std::size_t stages = 0, bootstraps = 0;
  for (std::size_t first = 0; first < before.pixels.size(); first += secret.slots()) {
    const std::size_t count = std::min(secret.slots(), before.pixels.size() - first);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; i++) values[i] = value(before.pixels[first + i]);

    // Away: a ciphertext that has no levels left, and a bootstrap that restores them.
    const auto exhausted = secret.encrypt(values).exhaust();
    const auto refreshed = keys.bootstrap(exhausted, refloat::Mode::real, [&](auto, auto done, auto) {
      stages += done == 0;
      return true;
    });
    bootstraps++;

    // At home again: decrypts.
    const auto found = secret.decrypt(refreshed);
    for (std::size_t i = 0; i < count; i++) {
      worst = std::max(worst, std::abs(found[i] - values[i]));
      after.pixels.push_back(grey(found[i]));
    }
  }
  if (arguments.size() > 2) write(arguments[2], after);
  std::printf("%zu x %zu pixels, %zu bootstraps with %s, %zu stages each, %.1f bits kept of the worst pixel\n",
              before.width, before.height, bootstraps, set.c_str(), stages / std::max<std::size_t>(bootstraps, 1),
              -std::log2(worst));
  return worst < 0.05 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const refloat::Error& error) {
    std::cerr << error.name() << ": " << error.what() << '\n';
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  return 1;
}
