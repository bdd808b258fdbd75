/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker.h"

/* Number of frames, or -1 if the bytes are no sequence of frames. */
static long once(const uint8_t *bytes, size_t size, void (*handle)(const struct frame *))
{
    struct frame frame;
    size_t at = 0;
    long frames = 0;

    while (at < size) {
        long taken = frame_parse(bytes + at, size - at, &frame);

        if (taken <= 0) {
            fprintf(stderr, "worker: no frame at byte %lu\n", (unsigned long)at);
            return -1;
        }
        handle(&frame);
        at += (size_t)taken;
        frames++;
    }
    return frames;
}

int replay(const char *path, unsigned long repeat, void (*handle)(const struct frame *))
{
    struct stat status;
    void *bytes = NULL;
    long frames = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fstat(file, &status) < 0) {
        perror(path);
        return EXIT_USAGE;
    }
    if (status.st_size > 0) {
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes == MAP_FAILED) {
            perror(path);
            return EXIT_USAGE;
        }
    }
    close(file);
    frame_discard();
    for (unsigned long i = 0; i < repeat; i++) {
        frames = once(bytes, (size_t)status.st_size, handle);
        if (frames < 0)
            return EXIT_FRAMING;
    }
    fprintf(stderr, "worker: %ld frames, %lu times, %lu not ok\n", frames, repeat, reply_failures());
    return reply_failures() ? EXIT_REPLAY : EXIT_CLEAN;
}
