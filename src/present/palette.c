/*
 * Defines the palette of Okabe and Ito with two additional colours. The colours are darkened for a
 * white background, so that lines have a contrast of at least 3 to 1. Charts also use different
 * shapes of points, so that no information depends on colour alone.
 */
#include "palette.h"

const char *hm__palette(size_t i)
{
    static const char *const colours[HM_PALETTE_SIZE] = {
        "#0072b2", "#c4500a", "#00795c", "#a0357c", "#8a6500", "#5f5f5f", "#6a51c7", "#b3261e"};
    return colours[i % HM_PALETTE_SIZE];
}

const char *hm__palette_dark(size_t i)
{
    static const char *const colours[HM_PALETTE_SIZE] = {
        "#5db8f0", "#ff9d57", "#35cfa0", "#f08bc8", "#e6c84a", "#bdbdbd", "#b9a7ff", "#ff8a80"};
    return colours[i % HM_PALETTE_SIZE];
}
