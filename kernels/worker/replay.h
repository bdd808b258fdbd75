/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REPLAY_H
#define REPLAY_H

#include "frame.h"

/*
 * Handle the request frames of a file `repeat` times with no peer; replies are made and thrown away, texts go to
 * stderr. Signals keep their default action, so that a debugger or a core file sees them. Returns an exit code.
 */
int replay(const char *path, unsigned long repeat, void (*handle)(const struct frame *));

#endif
