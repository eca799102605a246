// Errors, and the keys of all methods. Included by refloat.hpp.
#ifndef REFLOAT_KEYS_HPP
#define REFLOAT_KEYS_HPP

#include <array>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base.h"

namespace refloat {

// What went wrong: a code of refloat/base.h, and the library's message.
class Error : public std::runtime_error {
 public:
  Error(rf_status code, const std::string& message) : std::runtime_error(message), code_(code) {}

  rf_status code() const noexcept { return code_; }
  const char* name() const noexcept { return rf_status_name(code_); }

 private:
  rf_status code_;
};

using Bytes = std::vector<std::uint8_t>;
using Seed = std::array<std::uint8_t, RF_SEED_BYTES>;
using KeyId = std::array<std::uint8_t, RF_KEY_ID_BYTES>;
using Digest = std::array<std::uint8_t, RF_DIGEST_BYTES>;

// Called for each stage of a long call, with `done` of `total` parts finished; returning false cancels the call.
using Progress = std::function<bool(std::string_view stage, std::uint64_t done, std::uint64_t total)>;

// Called for a part of evaluation keys; returning std::nullopt cancels.
using PartReader = std::function<std::optional<Bytes>(std::size_t index)>;

// Whether sets that protect nothing are accepted.
enum class Toys { refused, allowed };

namespace detail {

inline void check(rf_status status) {
  if (status == RF_OK) return;
  std::string message(rf_last_error(nullptr, 0), '\0');
  rf_last_error(message.data(), message.size());
  message.pop_back();
  throw Error(status, message);
}

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* object) const noexcept { Free(object); }
};

template <class T, void (*Free)(T*)>
using Owner = std::unique_ptr<T, Freed<T, Free>>;

// The object that a function gives through its last argument.
template <class O, class Call>
O made(Call call) {
  typename O::pointer object = nullptr;
  check(call(&object));
  return O(object);
}

// A result of variable length: asks first for the length, then for the items.
template <class T, class Call>
std::vector<T> filled(Call call) {
  std::size_t length = 0;
  const rf_status status = call(static_cast<T*>(nullptr), std::size_t{0}, &length);
  if (status != RF_BUFFER) check(status);
  std::vector<T> out(length);
  check(call(out.data(), out.size(), &length));
  return out;
}

template <class Call>
std::string text(Call call) {
  const std::vector<char> out = filled<char>(call);
  return std::string(out.data());
}

template <class Call>
std::size_t number(Call call) {
  std::size_t value = 0;
  check(call(&value));
  return value;
}

inline const std::uint8_t* seed_of(const std::optional<Seed>& seed) { return seed ? seed->data() : nullptr; }

// Wraps a listener for calls: an exception that it throws ends the call, and is rethrown on this side.
class Listener {
 public:
  explicit Listener(const Progress& progress) : progress_(progress) {}

  rf_progress function() const { return progress_ ? &Listener::told : nullptr; }
  void* user() { return this; }

  void check(rf_status status) const {
    if (thrown_) std::rethrow_exception(thrown_);
    detail::check(status);
  }

 private:
  static bool told(void* user, const char* stage, std::uint64_t done, std::uint64_t total) noexcept {
    auto* self = static_cast<Listener*>(user);
    try {
      return self->progress_(stage, done, total);
    } catch (...) {
      if (!self->thrown_) self->thrown_ = std::current_exception();
      return false;
    }
  }

  const Progress& progress_;
  std::exception_ptr thrown_;
};

class Reader {
 public:
  explicit Reader(const PartReader& read) : read_(read) {}

  static bool asked(void* user, std::size_t index, const std::uint8_t** bytes, std::size_t* length) noexcept {
    auto* self = static_cast<Reader*>(user);
    try {
      self->part_ = self->read_(index);
    } catch (...) {
      if (!self->thrown_) self->thrown_ = std::current_exception();
      return false;
    }
    if (!self->part_) return false;
    *bytes = self->part_->data();
    *length = self->part_->size();
    return true;
  }

  void check(rf_status status) const {
    if (thrown_) std::rethrow_exception(thrown_);
    detail::check(status);
  }

 private:
  const PartReader& read_;
  std::optional<Bytes> part_;
  std::exception_ptr thrown_;
};

}  // namespace detail

// A secret key of a method M; wiped when it is destroyed.
template <class M>
class Secret {
 public:
  // Names of the sets that keys can be made for, one per line.
  static std::string sets() { return detail::text(M::sets); }

  // Makes a key of a named set. A seed is for toys only.
  static Secret generate(const std::string& set, Toys toys = Toys::refused, const std::optional<Seed>& seed = {}) {
    return Secret(detail::made<typename M::SecretOwner>([&](auto** out) {
      return M::secret_new(set.c_str(), toys == Toys::allowed, detail::seed_of(seed), out);
    }));
  }

  // The wire form, for its owner's own storage.
  static Secret from_bytes(const Bytes& bytes, Toys toys = Toys::refused) {
    return Secret(detail::made<typename M::SecretOwner>([&](auto** out) {
      return M::secret_from_bytes(bytes.data(), bytes.size(), toys == Toys::allowed, out);
    }));
  }
  Bytes to_bytes() const {
    return detail::filled<std::uint8_t>(
        [&](auto* out, auto capacity, auto* length) { return M::secret_to_bytes(raw(), out, capacity, length); });
  }

  std::string set() const {
    return detail::text([&](auto* out, auto capacity, auto* length) { return M::set(raw(), out, capacity, length); });
  }
  std::size_t slots() const {
    return detail::number([&](auto* out) { return M::slots(raw(), out); });
  }
  KeyId key_id() const {
    KeyId id{};
    detail::check(M::key_id(raw(), id.data()));
    return id;
  }

  // For clients of the server: the token for an origin, which is secret, and the parts of the evaluation keys.
  Digest server_token(const std::string& origin) const {
    Digest token{};
    detail::check(M::server_token(raw(), origin.c_str(), token.data()));
    return token;
  }
  std::size_t key_parts() const {
    return detail::number([&](auto* out) { return M::key_part_count(raw(), out); });
  }
  Bytes key_part(std::size_t index) const {
    return detail::filled<std::uint8_t>(
        [&](auto* out, auto capacity, auto* length) { return M::key_part(raw(), index, out, capacity, length); });
  }

  // The object, for functions of refloat.h.
  const typename M::SecretOwner::element_type* raw() const noexcept { return owner_.get(); }

 protected:
  explicit Secret(typename M::SecretOwner owner) : owner_(std::move(owner)) {}

 private:
  typename M::SecretOwner owner_;
};

// A public key of a method M: others encrypt with it for the owner of the secret key, and decrypt nothing.
template <class M>
class PublicKey {
 public:
  // Makes the public key of a secret key.
  explicit PublicKey(const Secret<M>& secret)
      : owner_(detail::made<typename M::PublicKeyOwner>([&](auto** out) { return M::public_key_new(secret.raw(), out); })) {}

  // Reads the wire form, in which others get the key.
  explicit PublicKey(const Bytes& bytes, Toys toys = Toys::refused)
      : owner_(detail::made<typename M::PublicKeyOwner>([&](auto** out) {
          return M::public_key_from_bytes(bytes.data(), bytes.size(), toys == Toys::allowed, out);
        })) {}
  Bytes to_bytes() const {
    return detail::filled<std::uint8_t>(
        [&](auto* out, auto capacity, auto* length) { return M::public_key_to_bytes(raw(), out, capacity, length); });
  }

  // Identifier of the key, which is that of the secret key.
  KeyId key_id() const {
    KeyId id{};
    detail::check(M::public_key_id(raw(), id.data()));
    return id;
  }

  // The object, for functions of refloat.h.
  const typename M::PublicKeyOwner::element_type* raw() const noexcept { return owner_.get(); }

 private:
  typename M::PublicKeyOwner owner_;
};

// The evaluation keys of a method M, which are public.
template <class M>
class Keys {
 public:
  // Makes the evaluation keys of a secret key.
  explicit Keys(const Secret<M>& secret, const Progress& progress = {}) {
    detail::Listener listener(progress);
    typename M::KeysOwner::pointer keys = nullptr;
    const rf_status status = M::keys_new(secret.raw(), listener.function(), listener.user(), &keys);
    owner_.reset(keys);
    listener.check(status);
  }

  // Reads evaluation keys part by part, and checks them.
  Keys(const std::string& set, const KeyId& key_id, const PartReader& read) {
    detail::Reader reader(read);
    typename M::KeysOwner::pointer keys = nullptr;
    const rf_status status = M::keys_from_parts(set.c_str(), key_id.data(), &detail::Reader::asked, &reader, &keys);
    owner_.reset(keys);
    reader.check(status);
  }

  // The object, for functions of refloat.h.
  const typename M::KeysOwner::element_type* raw() const noexcept { return owner_.get(); }

 private:
  typename M::KeysOwner owner_;
};

// BLAKE3, 32 bytes.
inline Digest digest(const Bytes& bytes) {
  Digest out{};
  detail::check(rf_digest(bytes.data(), bytes.size(), out.data()));
  return out;
}

}  // namespace refloat

// The functions of a method as the templates know them: those of its secret keys, of the objects they encrypt, and of its evaluation keys
// if it can compute here.
#define REFLOAT_SECRET(m)                                                     \
    using SecretOwner = detail::Owner<rf_##m##_secret, rf_##m##_secret_free>; \
    static constexpr auto sets = rf_##m##_sets;                               \
    static constexpr auto secret_new = rf_##m##_secret_new;                   \
    static constexpr auto secret_from_bytes = rf_##m##_secret_from_bytes;     \
    static constexpr auto secret_to_bytes = rf_##m##_secret_to_bytes;         \
    static constexpr auto set = rf_##m##_set;                                 \
    static constexpr auto slots = rf_##m##_slots;                             \
    static constexpr auto key_id = rf_##m##_key_id;                           \
    static constexpr auto server_token = rf_##m##_server_token;               \
    static constexpr auto key_part_count = rf_##m##_key_part_count;           \
    static constexpr auto key_part = rf_##m##_key_part;

#define REFLOAT_CIPHERTEXT(m)                                                             \
    using CiphertextOwner = detail::Owner<rf_##m##_ciphertext, rf_##m##_ciphertext_free>; \
    static constexpr auto encrypt = rf_##m##_encrypt;                                     \
    static constexpr auto decrypt = rf_##m##_decrypt;                                     \
    static constexpr auto from_bytes = rf_##m##_ciphertext_from_bytes;                    \
    static constexpr auto to_bytes = rf_##m##_ciphertext_to_bytes;

#define REFLOAT_PUBLIC_KEY(m)                                                            \
    using PublicKeyOwner = detail::Owner<rf_##m##_public_key, rf_##m##_public_key_free>; \
    static constexpr auto public_key_new = rf_##m##_public_key_new;                      \
    static constexpr auto public_key_from_bytes = rf_##m##_public_key_from_bytes;        \
    static constexpr auto public_key_to_bytes = rf_##m##_public_key_to_bytes;            \
    static constexpr auto public_key_id = rf_##m##_public_key_id;                        \
    static constexpr auto encrypt_for = rf_##m##_encrypt_for;

#define REFLOAT_KEYS(m)                                                 \
    using KeysOwner = detail::Owner<rf_##m##_keys, rf_##m##_keys_free>; \
    static constexpr auto keys_new = rf_##m##_keys_new;                 \
    static constexpr auto keys_from_parts = rf_##m##_keys_from_parts;

#endif
