// refloat for C++17: the functions of refloat.h with owners, values and exceptions. Header only; link librefloat_c.
//
//     auto secret = refloat::ShipSecret::generate("ship13");
//     auto keys = refloat::ShipKeys(secret);
//     auto fresh = keys.bootstrap(secret.encrypt({0.5, -0.25}, {refloat::Mode::real, refloat::exhausted}));
//     auto values = secret.decrypt(fresh);
//
// Objects own what they hold, can be moved but not copied, and never change, so threads may share them. Failures throw refloat::Error.
// Listeners may throw: this cancels the call, which then rethrows. Emscripten catches exceptions only if told to: compile and link with
// -fexceptions or -fwasm-exceptions, or any exception ends the program.
#ifndef REFLOAT_HPP
#define REFLOAT_HPP

#include "refloat.h"
#include "refloat/bgv.hpp"
#include "refloat/ckks.hpp"
#include "refloat/gates.hpp"

namespace refloat {

// For each method of CKKS: the type of its functions, and its name here.
REFLOAT_METHOD_OF_CKKS(Ship, ship)
REFLOAT_METHOD_OF_CKKS(Conventional, conventional)
REFLOAT_CLIENT_OF_CKKS(DigitLink, digit_link)
REFLOAT_CLIENT_OF_CKKS(Link, link)
REFLOAT_CLIENT_OF_CKKS(Msb, msb)

}  // namespace refloat

#undef REFLOAT_SECRET
#undef REFLOAT_CIPHERTEXT
#undef REFLOAT_KEYS
#undef REFLOAT_CIPHERTEXT_OF_CKKS
#undef REFLOAT_CLIENT_OF_CKKS
#undef REFLOAT_METHOD_OF_CKKS

#endif
