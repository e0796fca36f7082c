#!/usr/bin/env bash
# Makes the sample site's bitmaps and film anew; see NOTE.md. Needs ffmpeg, librsvg2-bin and webp.
set -euo pipefail
cd "$(dirname "$0")/sample"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

rsvg-convert --width 720 ../crab.svg --output assets/img/crab.png

# Light on shallow water: two crossed ripples over dark stones.
ffmpeg -loglevel error -y -f lavfi -i "nullsrc=size=640x400,format=rgb24,geq=\
r='40+60*pow(0.5+0.5*sin(X/23+3*sin(Y/41)+2*sin((X+Y)/67)),6)+25*sin(X/90)*cos(Y/70)':\
g='88+110*pow(0.5+0.5*sin(X/23+3*sin(Y/41)+2*sin((X+Y)/67)),6)+18*sin(X/90)*cos(Y/70)':\
b='92+105*pow(0.5+0.5*sin(X/23+3*sin(Y/41)+2*sin((X+Y)/67)),6)'" \
  -frames:v 1 -q:v 6 -bitexact assets/img/pool.jpg

# The bands of a cliff's foot, each with a wavering edge and some grain.
ffmpeg -loglevel error -y -f lavfi -i "nullsrc=size=640x400,format=rgb24,geq=\
r='st(0,Y+9*sin(X/37)+5*sin(X/11));12*sin(X*7.3+Y*3.1)*sin(Y*5.7)+if(lt(ld(0),80),168,if(lt(ld(0),150),60,if(lt(ld(0),230),206,if(lt(ld(0),330),112,120))))':\
g='st(0,Y+9*sin(X/37)+5*sin(X/11));12*sin(X*7.3+Y*3.1)*sin(Y*5.7)+if(lt(ld(0),80),170,if(lt(ld(0),150),66,if(lt(ld(0),230),200,if(lt(ld(0),330),104,58))))':\
b='st(0,Y+9*sin(X/37)+5*sin(X/11));12*sin(X*7.3+Y*3.1)*sin(Y*5.7)+if(lt(ld(0),80),160,if(lt(ld(0),150),68,if(lt(ld(0),230),184,if(lt(ld(0),330),52,60))))'" \
  -frames:v 1 "$work/zones.png"
cwebp -quiet -q 60 "$work/zones.png" -o assets/img/zones.webp

# Thirty seconds: three layers of waves under an evening sky, and pink noise that swells with them.
wave() { echo "gt(Y,$1+$2*sin(X/$3+$4*T)+3*sin(X/17-T))"; }
far=$(wave 128 4 70 0.8)
middle=$(wave 168 7 95 -1.1)
near=$(wave 212 10 130 1.4)
ffmpeg -loglevel error -y \
  -f lavfi -i "nullsrc=size=480x270:rate=12:duration=30,format=rgb24,geq=\
r='if($near,12,if($middle,38,if($far,84,188+40*Y/128)))':\
g='if($near,60,if($middle,104,if($far,152,206+14*Y/128)))':\
b='if($near,70,if($middle,112,if($far,154,214-20*Y/128)))'" \
  -f lavfi -i "anoisesrc=color=pink:sample_rate=48000:amplitude=0.5:duration=30:seed=7,tremolo=f=0.14:d=0.85,lowpass=f=2400" \
  -c:v libvpx-vp9 -b:v 90k -g 24 -pix_fmt yuv420p -c:a libopus -b:a 24k -ac 1 \
  -map_metadata -1 -fflags +bitexact -flags:v +bitexact -flags:a +bitexact media/waves.webm
ffmpeg -loglevel error -y -ss 4 -i media/waves.webm -frames:v 1 "$work/poster.png"
cwebp -quiet -q 60 "$work/poster.png" -o assets/img/waves.webp
