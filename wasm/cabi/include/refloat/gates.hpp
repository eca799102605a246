// Gates, look-ups and circuits. Included by refloat.hpp.
#ifndef REFLOAT_GATES_HPP
#define REFLOAT_GATES_HPP

#include "gates.h"
#include "keys.hpp"

namespace refloat {

struct GateMethod {
  REFLOAT_SECRET(gate)
  REFLOAT_CIPHERTEXT(gate)
  REFLOAT_KEYS(gate)
};

// A list of encrypted bits or integers of one key.
class GateCiphertext {
 public:
  // The wire form.
  static GateCiphertext from_bytes(const Bytes& bytes) {
    return make([&](auto** out) { return rf_gate_ciphertext_from_bytes(bytes.data(), bytes.size(), out); });
  }
  Bytes to_bytes() const {
    return detail::filled<std::uint8_t>([&](auto* out, auto capacity, auto* length) {
      return rf_gate_ciphertext_to_bytes(raw(), out, capacity, length);
    });
  }

  std::size_t size() const {
    return detail::number([&](auto* out) { return rf_gate_length(raw(), out); });
  }
  GateCiphertext slice(std::size_t start, std::size_t end) const {
    return make([&](auto** out) { return rf_gate_slice(raw(), start, end, out); });
  }
  GateCiphertext join(const GateCiphertext& other) const {
    return make([&](auto** out) { return rf_gate_join(raw(), other.raw(), out); });
  }

  // Takes an object that a function of refloat.h gave.
  explicit GateCiphertext(GateMethod::CiphertextOwner owner) : owner_(std::move(owner)) {}
  const rf_gate_ciphertext* raw() const noexcept { return owner_.get(); }

  template <class Call>
  static GateCiphertext make(Call call) {
    return GateCiphertext(detail::made<GateMethod::CiphertextOwner>(call));
  }

 private:
  GateMethod::CiphertextOwner owner_;
};

// A secret key of gates.
class GateSecret : public Secret<GateMethod> {
 public:
  GateSecret(Secret<GateMethod> secret) : Secret<GateMethod>(std::move(secret)) {}

  static GateSecret generate(const std::string& set, Toys toys = Toys::refused, const std::optional<Seed>& seed = {}) {
    return Secret<GateMethod>::generate(set, toys, seed);
  }
  static GateSecret from_bytes(const Bytes& bytes, Toys toys = Toys::refused) {
    return Secret<GateMethod>::from_bytes(bytes, toys);
  }

  // Encrypts bits, 0 or 1, or with `messages` integers below it.
  GateCiphertext encrypt(const std::vector<std::uint32_t>& values, std::uint32_t messages = RF_GATE_BITS,
                         const std::optional<Seed>& seed = {}) const {
    return GateCiphertext::make([&](auto** out) {
      return rf_gate_encrypt(raw(), values.data(), values.size(), messages, detail::seed_of(seed), out);
    });
  }

  // Decrypts every item, for the owner of the key.
  std::vector<std::uint32_t> decrypt(const GateCiphertext& x) const {
    return detail::filled<std::uint32_t>([&](auto* out, auto capacity, auto* length) {
      return rf_gate_decrypt(raw(), x.raw(), out, capacity, length);
    });
  }
};

// The text of an "adder" or a "comparator" of numbers of `width` bits.
inline std::string circuit(const std::string& kind, std::size_t width, bool prefix = false) {
  return detail::text([&](auto* out, auto capacity, auto* length) {
    return rf_gate_circuit(kind.c_str(), width, prefix, out, capacity, length);
  });
}

// Evaluation keys of gates, and what computes with them.
class GateKeys : public Keys<GateMethod> {
 public:
  using Keys<GateMethod>::Keys;

  // Applies a gate to each position of its operands, which follow one another in x.
  GateCiphertext evaluate(const std::string& gate, const GateCiphertext& x) const {
    return GateCiphertext::make([&](auto** out) { return rf_gate_evaluate(raw(), gate.c_str(), x.raw(), out); });
  }

  // table[m] for each item m, as a bit or an integer below `messages`.
  GateCiphertext look_up(const GateCiphertext& x, const std::vector<std::uint32_t>& table, std::uint32_t messages) const {
    return GateCiphertext::make([&](auto** out) {
      return rf_gate_look_up(raw(), x.raw(), table.data(), table.size(), messages, out);
    });
  }

  // constant + the sum of weights times integers; the terms follow one another in x.
  GateCiphertext weighted_sum(const GateCiphertext& x, const std::vector<std::int32_t>& weights,
                              std::uint32_t constant = 0) const {
    return GateCiphertext::make([&](auto** out) {
      return rf_gate_weighted_sum(raw(), x.raw(), weights.data(), weights.size(), constant, out);
    });
  }

  // Evaluates a circuit, given as text, on one bit for each input.
  GateCiphertext run(const std::string& circuit, const GateCiphertext& x, const Progress& progress = {}) const {
    detail::Listener listener(progress);
    rf_gate_ciphertext* results = nullptr;
    const rf_status status =
        rf_gate_run(raw(), circuit.c_str(), x.raw(), listener.function(), listener.user(), &results);
    GateMethod::CiphertextOwner owner(results);
    listener.check(status);
    return GateCiphertext(std::move(owner));
  }
};

}  // namespace refloat

#endif
