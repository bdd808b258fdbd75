/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRASH_H
#define CRASH_H

/*
 * Report deadly signals in a last frame and exit with EXIT_SIGNAL. SIGTERM, which a host sends when its deadline has
 * passed, is reported in the same way while a function runs: where it hangs, and every reply from before, get out.
 */
void crash_install(void);

#endif
