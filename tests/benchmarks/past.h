#pragma once

/* A function of the library itself: dlsym() does not see the wrappers of a recording. */

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void* past(const char* name) {
    void* found = dlsym(RTLD_DEFAULT, name);
    if (!found) {
        fprintf(stderr, "%s was not found\n", name);
        exit(1);
    }
    return found;
}
