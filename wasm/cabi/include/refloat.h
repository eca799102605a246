/* refloat: fully homomorphic encryption centred on bootstrapping. C11, and C++ from C++11; for C++17 see refloat.hpp.
 *
 * The library is librefloat_c. What holds for every function is in refloat/base.h. Each method has a header of its own: */
#ifndef REFLOAT_H
#define REFLOAT_H

#include "refloat/base.h"
#include "refloat/bgv.h"          /* BGV, for the owners of secret keys: exact integers */
#include "refloat/conventional.h" /* CKKS, conventional bootstrapping: many slots, many products between two bootstraps */
#include "refloat/digit_link.h"   /* CKKS, modular reduction linked to DM/CGGI, for the owners of secret keys */
#include "refloat/gates.h"        /* DM/CGGI: gates, look-ups and circuits on encrypted bits and small integers */
#include "refloat/link.h"         /* CKKS linked to DM/CGGI, for the owners of secret keys: numbers that gates compare */
#include "refloat/msb.h"          /* CKKS, modular reduction, for the owners of secret keys */
#include "refloat/ship.h"         /* CKKS, SHIP: bootstrapping through roots of unity */

#endif
