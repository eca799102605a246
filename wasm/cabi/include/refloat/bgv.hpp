// Exact integers, for the owners of secret keys. Included by refloat.hpp.
#ifndef REFLOAT_BGV_HPP
#define REFLOAT_BGV_HPP

#include "bgv.h"
#include "keys.hpp"

namespace refloat {

struct BgvMethod {
  REFLOAT_SECRET(bgv)
  REFLOAT_PUBLIC_KEY(bgv)
  REFLOAT_CIPHERTEXT(bgv)
};

// An encrypted vector of integers.
class BgvCiphertext {
 public:
  // The wire form.
  static BgvCiphertext from_bytes(const Bytes& bytes) {
    return make([&](auto** out) { return rf_bgv_ciphertext_from_bytes(bytes.data(), bytes.size(), out); });
  }
  Bytes to_bytes() const {
    return detail::filled<std::uint8_t>([&](auto* out, auto capacity, auto* length) {
      return rf_bgv_ciphertext_to_bytes(raw(), out, capacity, length);
    });
  }

  std::size_t level() const {
    return detail::number([&](auto* out) { return rf_bgv_level(raw(), out); });
  }

  // Bits by which the noise may grow before the integers are lost.
  double capacity() const {
    double bits = 0;
    detail::check(rf_bgv_capacity(raw(), &bits));
    return bits;
  }

  friend BgvCiphertext operator+(const BgvCiphertext& x, const BgvCiphertext& y) {
    return make([&](auto** out) { return rf_bgv_add(x.raw(), y.raw(), out); });
  }
  friend BgvCiphertext operator-(const BgvCiphertext& x, const BgvCiphertext& y) {
    return make([&](auto** out) { return rf_bgv_subtract(x.raw(), y.raw(), out); });
  }

  // Takes an object that a function of refloat.h gave.
  explicit BgvCiphertext(BgvMethod::CiphertextOwner owner) : owner_(std::move(owner)) {}
  const rf_bgv_ciphertext* raw() const noexcept { return owner_.get(); }

  template <class Call>
  static BgvCiphertext make(Call call) {
    return BgvCiphertext(detail::made<BgvMethod::CiphertextOwner>(call));
  }

 private:
  BgvMethod::CiphertextOwner owner_;
};

// A public key of BGV.
class BgvPublicKey : public PublicKey<BgvMethod> {
 public:
  using PublicKey<BgvMethod>::PublicKey;

  // Encrypts as BgvSecret does.
  BgvCiphertext encrypt(const std::vector<std::uint32_t>& values, std::int32_t level = RF_LEVEL_FRESH,
                        const std::optional<Seed>& seed = {}) const {
    return BgvCiphertext::make([&](auto** out) {
      return rf_bgv_encrypt_for(raw(), values.data(), values.size(), level, detail::seed_of(seed), out);
    });
  }
};

// A secret key of BGV.
class BgvSecret : public Secret<BgvMethod> {
 public:
  BgvSecret(Secret<BgvMethod> secret) : Secret<BgvMethod>(std::move(secret)) {}

  static BgvSecret generate(const std::string& set, Toys toys = Toys::refused, const std::optional<Seed>& seed = {}) {
    return Secret<BgvMethod>::generate(set, toys, seed);
  }
  static BgvSecret from_bytes(const Bytes& bytes, Toys toys = Toys::refused) {
    return Secret<BgvMethod>::from_bytes(bytes, toys);
  }

  // Modulus of the integers.
  std::uint64_t modulus() const {
    std::uint64_t value = 0;
    detail::check(rf_bgv_modulus(raw(), &value));
    return value;
  }

  // Integers in a slot: 1, or the coordinates of an element of a Galois ring.
  std::size_t slot_degree() const {
    return detail::number([&](auto* out) { return rf_bgv_slot_degree(raw(), out); });
  }

  // Encrypts integers below the modulus, slot_degree() of them per slot. `level` may be refloat::exhausted; a seed is for toys only.
  BgvCiphertext encrypt(const std::vector<std::uint32_t>& values, std::int32_t level = RF_LEVEL_FRESH,
                        const std::optional<Seed>& seed = {}) const {
    return BgvCiphertext::make([&](auto** out) {
      return rf_bgv_encrypt(raw(), values.data(), values.size(), level, detail::seed_of(seed), out);
    });
  }

  // Decrypts every integer of every slot, for the owner of the key.
  std::vector<std::uint32_t> decrypt(const BgvCiphertext& x) const {
    return detail::filled<std::uint32_t>(
        [&](auto* out, auto capacity, auto* length) { return rf_bgv_decrypt(raw(), x.raw(), out, capacity, length); });
  }
};

}  // namespace refloat

#endif
