/* Calls the library that `tdlc build` makes of smooth.tdl. */
#include "smooth.h"

#include <stdio.h>
#include <string.h>

enum { HEIGHT = 5, WIDTH = 9 };

static void show(const float *picture) {
    static const char shades[] = " .:-=+*#%@";
    for (int i = 0; i < HEIGHT; ++i) {
        for (int j = 0; j < WIDTH; ++j) {
            putchar(shades[(int)(picture[i * WIDTH + j] * 9)]);
        }
        putchar('\n');
    }
}

int main(void) {
    float picture[HEIGHT * WIDTH] = {0}, smoothed[HEIGHT * WIDTH];
    for (int i = 0; i < HEIGHT; ++i) {
        picture[i * WIDTH + 4] = 1;
    }
    show(picture);
    int32_t code = smooth_smooth(HEIGHT, WIDTH, picture, smoothed);
    if (code != SMOOTH_OK) {
        fprintf(stderr, "smooth: %s\n", smooth_message(code));
        return 1;
    }
    show(smoothed);

    /* What goes wrong with data is told with its place in the program. */
    const uint8_t numbers[] = {0, 1, 7}, colours[2][3] = {{0, 0, 0}, {255, 0, 0}};
    uint8_t painted[3][3];
    smooth_run run = {0};
    code = smooth_paint_run(&run, 3, 2, numbers, &colours[0][0], &painted[0][0]);
    printf("paint: %s (%s)\n", smooth_message(code), smooth_place(&run.error));
    return code == SMOOTH_OUT_OF_BOUNDS ? 0 : 1;
}
