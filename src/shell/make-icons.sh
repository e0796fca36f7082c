#!/bin/sh
# Makes the icons that need pixels from public/icon.svg. Run it after a change of the mark, and commit the
# results. Needs rsvg-convert (librsvg2-bin) and Python.
set -eu
cd "$(dirname "$0")/../../public"

# Platforms cut maskable and Apple icons to a shape of their own: the ground fills the square, and the mark
# stays within the middle 80 %.
full_bleed() {
  sed -e 's/ rx="15"//' -e 's/<g id="mark">/<g transform="translate(7.7 7) scale(.76)">/' icon.svg
}

rsvg-convert -w 192 icon.svg -o icon-192.png
rsvg-convert -w 512 icon.svg -o icon-512.png
full_bleed | rsvg-convert -w 512 -o icon-maskable-512.png
full_bleed | rsvg-convert -w 180 -o apple-touch-icon.png
for size in 16 32 48; do rsvg-convert -w "$size" icon.svg -o "favicon-$size.png"; done
# The PNGs as they are: with bitmaps the file has seven times as many bytes.
python3 - <<'END'
import struct
pictures = [(size, open(f'favicon-{size}.png', 'rb').read()) for size in (16, 32, 48)]
offset = 6 + 16 * len(pictures)
with open('favicon.ico', 'wb') as icon:
    icon.write(struct.pack('<HHH', 0, 1, len(pictures)))
    for size, png in pictures:
        icon.write(struct.pack('<BBBBHHII', size, size, 0, 0, 1, 32, len(png), offset))
        offset += len(png)
    for _, png in pictures:
        icon.write(png)
END
rm favicon-16.png favicon-32.png favicon-48.png
