/* SPDX-License-Identifier: Apache-2.0 */
#include "thunk.h"
THUNK 0, toy_nothing
THUNK 1, toy_poke
THUNK 2, toy_dispatch
