/* SPDX-License-Identifier: Apache-2.0 */
/* Tries one instruction of every capability and prints `name yes` or `name no` (it raised SIGILL): what the emulated
 * CPU really executes, whatever it says of itself. The table is generated from capabilities.toml. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#include "probe.h"

static sigjmp_buf back;

static void on_illegal_instruction(int number)
{
    (void)number;
    siglongjmp(back, 1);
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_illegal_instruction };
    sigaction(SIGILL, &action, NULL);
    for (unsigned i = 0; probes[i].name; i++) {
        if (sigsetjmp(back, 1) == 0) {
            probes[i].run();
            printf("%s yes\n", probes[i].name);
        } else {
            printf("%s no\n", probes[i].name);
        }
    }
    return 0;
}
