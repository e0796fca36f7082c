#!/bin/sh
# Chromium with all of its processes on one core. Name this file in ANTWAY_CHROMIUM.
exec taskset --cpu-list 0 "${ANTWAY_REAL_CHROMIUM:-chromium}" "$@"
