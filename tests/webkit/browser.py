#!/usr/bin/python3
"""WebKitGTK with a persistent profile: MiniBrowser stores nothing while a driver controls it.

Usage: browser.py <profile folder>. WebKitWebDriver starts it.
"""

import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2  # noqa: E402

profile = sys.argv[-1]
context = WebKit2.WebContext(
    website_data_manager=WebKit2.WebsiteDataManager(
        base_data_directory=f"{profile}/data", base_cache_directory=f"{profile}/cache"
    )
)


def open_window(_session):
    view = WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
    window = Gtk.Window(default_width=1000, default_height=700)
    window.add(view)
    window.show_all()
    view.connect("close", lambda _view: window.destroy())
    return view


def start(_context, session):
    information = WebKit2.ApplicationInfo()
    information.set_name("antway-webkit")
    session.set_application_info(information)
    session.connect("create-web-view", open_window)


context.connect("automation-started", start)
context.set_automation_allowed(True)
Gtk.main()
