// Keys and ciphertexts of every method of CKKS. Included by refloat.hpp.
#ifndef REFLOAT_CKKS_HPP
#define REFLOAT_CKKS_HPP

#include "keys.hpp"

namespace refloat {

// What the slots hold.
enum class Mode : std::int32_t { real = RF_REAL, complex = RF_COMPLEX, bits = RF_BITS };

// Levels by name.
inline constexpr std::int32_t fresh = RF_LEVEL_FRESH;
inline constexpr std::int32_t exhausted = RF_LEVEL_EXHAUSTED;

// How numbers are encrypted.
struct Encryption {
  Mode mode = Mode::real;
  std::int32_t level = fresh;
  std::optional<Seed> seed = {};  // for toys alone
};

// An encrypted vector.
template <class M>
class CkksCiphertext {
 public:
  // The wire form.
  static CkksCiphertext from_bytes(const Bytes& bytes) {
    return make([&](auto** out) { return M::from_bytes(bytes.data(), bytes.size(), out); });
  }
  Bytes to_bytes() const {
    return detail::filled<std::uint8_t>(
        [&](auto* out, auto capacity, auto* length) { return M::to_bytes(raw(), out, capacity, length); });
  }

  std::size_t level() const {
    return detail::number([&](auto* out) { return M::level(raw(), out); });
  }

  // The same slots at the lowest level that can be bootstrapped.
  CkksCiphertext exhaust() const {
    return make([&](auto** out) { return M::exhaust(raw(), out); });
  }

  friend CkksCiphertext operator+(const CkksCiphertext& x, const CkksCiphertext& y) {
    return make([&](auto** out) { return M::add(x.raw(), y.raw(), out); });
  }
  friend CkksCiphertext operator-(const CkksCiphertext& x, const CkksCiphertext& y) {
    return make([&](auto** out) { return M::subtract(x.raw(), y.raw(), out); });
  }

  // Takes an object that a function of refloat.h gave.
  explicit CkksCiphertext(typename M::CiphertextOwner owner) : owner_(std::move(owner)) {}
  const typename M::CiphertextOwner::element_type* raw() const noexcept { return owner_.get(); }

 private:
  template <class Call>
  static CkksCiphertext make(Call call) {
    return CkksCiphertext(detail::made<typename M::CiphertextOwner>(call));
  }

  typename M::CiphertextOwner owner_;
};

// A secret key of CKKS.
template <class M>
class CkksSecret : public Secret<M> {
 public:
  CkksSecret(Secret<M> secret) : Secret<M>(std::move(secret)) {}

  static CkksSecret generate(const std::string& set, Toys toys = Toys::refused, const std::optional<Seed>& seed = {}) {
    return Secret<M>::generate(set, toys, seed);
  }
  static CkksSecret from_bytes(const Bytes& bytes, Toys toys = Toys::refused) {
    return Secret<M>::from_bytes(bytes, toys);
  }

  // Encrypts numbers in [-1, 1], one per slot, or two for complex ones.
  CkksCiphertext<M> encrypt(const std::vector<double>& values, const Encryption& how = {}) const {
    return CkksCiphertext<M>(detail::made<typename M::CiphertextOwner>([&](auto** out) {
      return M::encrypt(this->raw(), values.data(), values.size(), static_cast<std::int32_t>(how.mode), how.level,
                        detail::seed_of(how.seed), out);
    }));
  }

  // Decrypts every slot, for the owner of the key.
  std::vector<double> decrypt(const CkksCiphertext<M>& x, Mode mode = Mode::real) const {
    return detail::filled<double>([&](auto* out, auto capacity, auto* length) {
      return M::decrypt(this->raw(), x.raw(), static_cast<std::int32_t>(mode), out, capacity, length);
    });
  }
};

// A public key of CKKS.
template <class M>
class CkksPublicKey : public PublicKey<M> {
 public:
  using PublicKey<M>::PublicKey;

  // Encrypts as CkksSecret does.
  CkksCiphertext<M> encrypt(const std::vector<double>& values, const Encryption& how = {}) const {
    return CkksCiphertext<M>(detail::made<typename M::CiphertextOwner>([&](auto** out) {
      return M::encrypt_for(this->raw(), values.data(), values.size(), static_cast<std::int32_t>(how.mode), how.level,
                            detail::seed_of(how.seed), out);
    }));
  }
};

// Evaluation keys of CKKS, and what computes with them.
template <class M>
class CkksKeys : public Keys<M> {
 public:
  using Keys<M>::Keys;

  // x y in every slot; takes one level.
  CkksCiphertext<M> multiply(const CkksCiphertext<M>& x, const CkksCiphertext<M>& y) const {
    return CkksCiphertext<M>(detail::made<typename M::CiphertextOwner>(
        [&](auto** out) { return M::multiply(this->raw(), x.raw(), y.raw(), out); }));
  }

  // The same slots at the level of fresh ciphertexts.
  CkksCiphertext<M> bootstrap(const CkksCiphertext<M>& x, Mode mode = Mode::real, const Progress& progress = {}) const {
    detail::Listener listener(progress);
    typename M::CiphertextOwner::pointer refreshed = nullptr;
    const rf_status status = M::bootstrap(this->raw(), x.raw(), static_cast<std::int32_t>(mode), listener.function(),
                                          listener.user(), &refreshed);
    typename M::CiphertextOwner owner(refreshed);
    listener.check(status);
    return CkksCiphertext<M>(std::move(owner));
  }
};

}  // namespace refloat

#define REFLOAT_CIPHERTEXT_OF_CKKS(m)                   \
    REFLOAT_CIPHERTEXT(m)                               \
    static constexpr auto level = rf_##m##_level;       \
    static constexpr auto add = rf_##m##_add;           \
    static constexpr auto subtract = rf_##m##_subtract; \
    static constexpr auto exhaust = rf_##m##_exhaust;

// A method with only its secret and public keys here.
#define REFLOAT_CLIENT_OF_CKKS(Name, m)                \
  struct Name##Method {                                \
    REFLOAT_SECRET(m)                                  \
    REFLOAT_PUBLIC_KEY(m)                              \
    REFLOAT_CIPHERTEXT_OF_CKKS(m)                      \
  };                                                   \
  using Name##Secret = CkksSecret<Name##Method>;       \
  using Name##PublicKey = CkksPublicKey<Name##Method>; \
  using Name##Ciphertext = CkksCiphertext<Name##Method>;

#define REFLOAT_METHOD_OF_CKKS(Name, m)                   \
  struct Name##Method {                                   \
    REFLOAT_SECRET(m)                                     \
    REFLOAT_PUBLIC_KEY(m)                                 \
    REFLOAT_CIPHERTEXT_OF_CKKS(m)                         \
    REFLOAT_KEYS(m)                                       \
    static constexpr auto multiply = rf_##m##_multiply;   \
    static constexpr auto bootstrap = rf_##m##_bootstrap; \
  };                                                      \
  using Name##Secret = CkksSecret<Name##Method>;          \
  using Name##PublicKey = CkksPublicKey<Name##Method>;    \
  using Name##Keys = CkksKeys<Name##Method>;              \
  using Name##Ciphertext = CkksCiphertext<Name##Method>;

#endif
