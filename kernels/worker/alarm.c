/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "alarm.h"
#include "worker.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { SCRIBBLE_BYTES = 1024 };

static void on_alarm(int number)
{
    volatile unsigned char below[SCRIBBLE_BYTES];

    (void)number;
    for (unsigned i = 0; i < SCRIBBLE_BYTES; i++)
        below[i] = (unsigned char)(i ^ 0x5a);
}

void alarm_start(unsigned long microseconds)
{
    struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };   /* no SA_ONSTACK: that is the point */
    struct itimerval timer = { 0 };

    timer.it_interval.tv_sec = (time_t)(microseconds / 1000000);
    timer.it_interval.tv_usec = (suseconds_t)(microseconds % 1000000);
    timer.it_value = timer.it_interval;
    if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &timer, NULL) < 0) {
        perror("worker: alarm");
        exit(EXIT_USAGE);
    }
}
