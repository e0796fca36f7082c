#!/bin/sh
# Chromium with all of its processes on one core. ANTWAY_CHROMIUM names this file, and ANTWAY_REAL_CHROMIUM the browser.
exec taskset --cpu-list 0 "${ANTWAY_REAL_CHROMIUM:-chromium}" "$@"
