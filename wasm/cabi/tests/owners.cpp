// What refloat.hpp adds to the functions: exceptions, owners, listeners that throw, and use by several threads.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "refloat.hpp"

namespace {

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  wrong++;
  std::printf("wrong: %s\n", what);
}

template <class Call>
rf_status code_of(Call call) {
  try {
    call();
  } catch (const refloat::Error& error) {
    expect(std::string(error.what()).size() > 10, "an error has words");
    return error.code();
  }
  return RF_OK;
}

double worst(const std::vector<double>& found, const std::vector<double>& wanted) {
  double most = 0;
  for (std::size_t i = 0; i < wanted.size(); i++) most = std::max(most, std::abs(found[i] - wanted[i]));
  return most;
}

// Encrypts with a public key that was sent over a wire, and decrypts as its owner.
template <class Key, class Secret, class Values>
Values from_others(const Secret& secret, const Values& values) {
  const Key made(secret);
  const Key key(made.to_bytes(), refloat::Toys::allowed);
  expect(key.key_id() == secret.key_id() && key.to_bytes() == made.to_bytes(), "the public key is the same");
  expect(code_of([&] { Key(made.to_bytes()); }) == RF_INSECURE, "a toy is refused");
  expect(code_of([&] { Key(secret.to_bytes(), refloat::Toys::allowed); }) == RF_BAD_BYTES, "no public key");
  expect(key.encrypt(values).to_bytes() != key.encrypt(values).to_bytes(), "two encryptions differ");
  return secret.decrypt(key.encrypt(values));
}

template <class Secret, class Key, class Keys, class Ciphertext>
void numbers(const std::string& set, double bound) {
  static_assert(!std::is_copy_constructible_v<Ciphertext> && std::is_nothrow_move_constructible_v<Ciphertext>);
  static_assert(!std::is_copy_constructible_v<Secret> && std::is_nothrow_move_constructible_v<Secret>);
  expect(Secret::sets().find(set) != std::string::npos, "the set is listed");
  expect(code_of([&] { Secret::generate(set); }) == RF_INSECURE, "a toy is refused");
  expect(code_of([&] { Secret::generate("nothing", refloat::Toys::allowed); }) == RF_INVALID_ARGUMENT, "no such set");
  const auto made = Secret::generate(set, refloat::Toys::allowed);
  const auto secret = Secret::from_bytes(made.to_bytes(), refloat::Toys::allowed);
  expect(secret.set() == set && secret.key_id() == made.key_id(), "the key that was written is the key that is read");
  expect(secret.server_token("https://a.example") != secret.server_token("https://b.example"), "a token for each origin");

  // A listener that throws or returns false ends the call, and what it threw arrives.
  const std::vector<double> values = {0.5, -0.25, 1, -1, 0};
  expect(worst(from_others<Key>(secret, values), values) < bound, "numbers from others");
  try {
    Keys(secret, [](auto, auto, auto) -> bool { throw std::out_of_range("mine"); });
    expect(false, "the listener threw");
  } catch (const std::out_of_range& error) {
    expect(std::string(error.what()) == "mine", "what the listener threw arrives");
  }
  const Keys keys(secret, [](std::string_view stage, std::uint64_t done, std::uint64_t total) {
    return stage == "keys" && done <= total;
  });
  const auto exhausted = secret.encrypt(values, {refloat::Mode::real, refloat::exhausted, {}});
  int events = 0;
  const auto stop = [&](auto, auto, auto) { return ++events < 3; };
  expect(code_of([&] { keys.bootstrap(exhausted, refloat::Mode::real, stop); }) == RF_ABORTED, "a bootstrap is cancelled");
  expect(events == 3, "and tells nothing more");

  // Keys that are read in parts equal those that were made; several threads use them and get the same results.
  const Keys parts(set, secret.key_id(), [&](std::size_t index) { return secret.key_part(index); });
  expect(code_of([&] { Keys(set, secret.key_id(), [](auto) { return std::nullopt; }); }) == RF_ABORTED, "no part");
  std::vector<refloat::Bytes> results(3);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); i++) {
    threads.emplace_back([&, i] { results[i] = (i == 0 ? keys : parts).bootstrap(exhausted).to_bytes(); });
  }
  for (auto& thread : threads) thread.join();
  expect(results[0] == results[1] && results[1] == results[2], "threads share keys");

  const auto refreshed = Ciphertext::from_bytes(results[0]);
  expect(refreshed.level() > exhausted.level(), "the level is back");
  expect(worst(secret.decrypt(refreshed), values) < bound, "a bootstrap keeps the message");
  const auto square = keys.multiply(refreshed, refreshed);
  expect(worst(secret.decrypt(square), {0.25, 0.0625, 1, 1, 0}) < 2 * bound, "a product");
  const auto zero = refreshed - refreshed;
  expect(worst(secret.decrypt(zero + zero), {0, 0, 0, 0, 0}) < bound, "a sum and a difference");
  expect(code_of([&] { made.decrypt(Secret::generate(set, refloat::Toys::allowed).encrypt(values)); }) == RF_PARAMS_MISMATCH,
         "another key");
}

// A secret key of a method that computes elsewhere, and the parts of its evaluation keys.
template <class Secret>
Secret parts(const std::string& set) {
  expect(code_of([&] { Secret::generate(set); }) == RF_INSECURE, "a toy is refused");
  auto made = Secret::generate(set, refloat::Toys::allowed);
  const auto secret = Secret::from_bytes(made.to_bytes(), refloat::Toys::allowed);
  expect(secret.set() == set && secret.key_id() == made.key_id() && secret.slots() >= 512, "the key is the same");
  expect(secret.server_token("https://a.example") == made.server_token("https://a.example"), "and so is its token");
  const auto last = secret.key_parts() - 1;
  const auto part = secret.key_part(last);
  expect(part.size() > 1000 && part == made.key_part(last), "a part is made again with the same bytes");
  expect(part != Secret::generate(set, refloat::Toys::allowed).key_part(last), "and is another one of another key");
  expect(code_of([&] { secret.key_part(last + 1); }) == RF_INVALID_ARGUMENT, "there is no part behind the last");
  return made;
}

void reduction() {
  const auto secret = parts<refloat::MsbSecret>("toy-msb10");
  const std::vector<double> values = {0.25, -17.125, 1000, 0};
  const auto x = refloat::MsbCiphertext::from_bytes(secret.encrypt(values).to_bytes());
  const auto y = secret.encrypt({0.5, 1, -999.875, 0});
  expect(worst(from_others<refloat::MsbPublicKey>(secret, values), values) < 1e-4, "numbers from others");
  expect(worst(secret.decrypt(x + y), {0.75, -16.125, 0.125, 0}) < 1e-4, "a sum");
  expect(worst(secret.decrypt(x - y), {-0.25, -18.125, 1999.875, 0}) < 1e-4, "a difference");
  const auto exhausted = x.exhaust();
  expect(exhausted.level() < x.level(), "lower");
  expect(worst(secret.decrypt(exhausted), values) < 1e-4, "and the same");
  expect(code_of([&] { secret.encrypt({2e6}); }) == RF_INVALID_ARGUMENT, "too large");
  expect(code_of([&] { parts<refloat::MsbSecret>("toy-msb10").decrypt(x); }) == RF_PARAMS_MISMATCH, "another key");
}

void comparison() {
  const auto secret = parts<refloat::LinkSecret>("toy-link");
  const std::vector<double> values = {0.25, -1, 0.875, 0};
  const auto x = refloat::LinkCiphertext::from_bytes(secret.encrypt(values).to_bytes());
  expect(worst(secret.decrypt(x), values) < 1e-4, "numbers to compare");
  expect(worst(from_others<refloat::LinkPublicKey>(secret, values), values) < 1e-4, "numbers from others");
  const auto y = secret.encrypt({0.5, 0.75, 0.125, 0});
  expect(worst(secret.decrypt(x + y), {0.75, -0.25, 1, 0}) < 1e-4, "a sum");
  expect(x.exhaust().level() < x.level(), "lower");
  expect(code_of([&] { secret.encrypt({1.5}); }) == RF_INVALID_ARGUMENT, "too large");
  expect(code_of([&] { parts<refloat::LinkSecret>("toy-link").decrypt(x); }) == RF_PARAMS_MISMATCH, "another key");
}

void either_way() {
  const auto secret = parts<refloat::DigitLinkSecret>("toy-msb-link");
  const std::vector<double> values = {0.25, -17.125, 1000, 0};
  const auto x = refloat::DigitLinkCiphertext::from_bytes(secret.encrypt(values).to_bytes());
  expect(worst(from_others<refloat::DigitLinkPublicKey>(secret, values), values) < 1e-4, "numbers from others");
  expect(worst(secret.decrypt(x - secret.encrypt({0.5, 1, -999.875, 0})), {-0.25, -18.125, 1999.875, 0}) < 1e-4, "a difference");
  expect(x.exhaust().level() < x.level(), "lower");
  expect(code_of([&] { secret.encrypt({2e6}); }) == RF_INVALID_ARGUMENT, "too large");
  expect(code_of([&] { refloat::LinkCiphertext::from_bytes(x.to_bytes()); }) != RF_OK, "of another method");
}

void integers() {
  const auto secret = parts<refloat::BgvSecret>("toy-bgv10");
  const auto modulus = static_cast<std::uint32_t>(secret.modulus());
  const std::vector<std::uint32_t> values = {0, 1, modulus - 1, 12345};
  const auto fresh = secret.encrypt(values);
  const auto x = refloat::BgvCiphertext::from_bytes(fresh.to_bytes());
  auto found = secret.decrypt(x);
  expect(found.size() == secret.slots(), "a value a slot");
  expect(found[4] == 0 && std::equal(values.begin(), values.end(), found.begin()), "what was encrypted");
  expect(from_others<refloat::BgvPublicKey>(secret, values) == found, "integers from others");
  const auto y = secret.encrypt({5, modulus - 1, modulus - 1, 1}, refloat::exhausted);
  expect(y.level() < x.level() && x.capacity() > y.capacity() && y.capacity() > 0, "levels and room for noise");
  found = secret.decrypt(x + y);
  expect(found[0] == 5 && found[1] == 0 && found[2] == modulus - 2 && found[3] == 12346, "sums");
  found = secret.decrypt(x - y);
  expect(found[0] == modulus - 5 && found[1] == 2 && found[2] == 0 && found[3] == 12344, "differences");
  expect(code_of([&] { secret.encrypt({modulus}); }) == RF_INVALID_ARGUMENT, "too large");
  expect(code_of([&] { refloat::BgvCiphertext::from_bytes(secret.to_bytes()); }) == RF_BAD_BYTES, "no ciphertext");
  const auto fields = refloat::BgvSecret::generate("toy-bgv-gf4", refloat::Toys::allowed);
  expect(secret.slot_degree() == 1 && fields.slots() == 256 && fields.slot_degree() == 4, "integers in a slot");
  const auto one = fields.encrypt({1, 2, 3, 4, 5});
  found = fields.decrypt(one + one);
  expect(found.size() == 1024 && found[3] == 8 && found[4] == 10 && found[5] == 0, "sums of elements of a field");
  const auto other = refloat::BgvSecret::generate("toy-bgv10", refloat::Toys::allowed);
  expect(code_of([&] { other.decrypt(x); }) == RF_PARAMS_MISMATCH, "another key");
  expect(code_of([&] { x + other.encrypt(values); }) == RF_PARAMS_MISMATCH, "a sum with another key");
}

void gates() {
  const auto secret = refloat::GateSecret::generate("toy-bool", refloat::Toys::allowed);
  const refloat::GateKeys keys(secret);
  const auto bits = secret.encrypt({0, 0, 1, 1}).join(secret.encrypt({0, 1, 0, 1}));
  expect(secret.decrypt(keys.evaluate("xor", bits)) == std::vector<std::uint32_t>({0, 1, 1, 0}), "xor");
  expect(bits.size() == 8 && bits.slice(2, 4).size() == 2, "lists");
  const auto sum = keys.run(refloat::circuit("adder", 4), refloat::GateCiphertext::from_bytes(bits.to_bytes()));
  expect(secret.decrypt(sum) == std::vector<std::uint32_t>({0, 1, 1, 0, 1}), "12 + 10");
  expect(code_of([&] { keys.evaluate("nor2", bits); }) == RF_INVALID_ARGUMENT, "no such gate");
  const auto stop = [](auto, auto, auto) { return false; };
  expect(code_of([&] { keys.run(refloat::circuit("adder", 4), bits, stop); }) == RF_ABORTED, "a circuit is cancelled");
  const auto small = refloat::GateSecret::generate("toy-fbs", refloat::Toys::allowed);
  const refloat::GateKeys tables(small);
  std::vector<std::uint32_t> squares(16);
  for (std::uint32_t m = 0; m < 16; m++) squares[m] = m * m % 16;
  const auto looked = tables.look_up(small.encrypt({3, 5, 0}, 16), squares, 16);
  expect(small.decrypt(looked) == std::vector<std::uint32_t>({9, 9, 0}), "a look-up");
  expect(small.decrypt(tables.weighted_sum(small.encrypt({3, 5}, 16), {2, 1}, 4)) == std::vector<std::uint32_t>({15}),
         "a weighted sum");
}

}  // namespace

int main() {
  try {
    gates();
    reduction();
    comparison();
    either_way();
    integers();
    numbers<refloat::ShipSecret, refloat::ShipPublicKey, refloat::ShipKeys, refloat::ShipCiphertext>("toy10", 0.01);
    numbers<refloat::ConventionalSecret, refloat::ConventionalPublicKey, refloat::ConventionalKeys, refloat::ConventionalCiphertext>(
        "toy-conventional10-sparse", 0.01);
  } catch (const std::exception& error) {
    wrong++;
    std::printf("%s\n", error.what());
  }
  std::printf("%d wrong\n", wrong);
  return wrong;
}
