//! Every flag has a test.

use crate::running_peer::program;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

use crate::process::RunningPeer;

fn flags_of(command: &str) -> BTreeSet<String> {
    let output = program(&[command, "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let lines = help.lines().filter_map(|line| {
        // "-h, --help", or "--store <FOLDER>"
        let (_, flag) = line.trim_start().split_once("--")?;
        let is_first = line.trim_start().starts_with('-');
        let name = flag.split([' ', '=']).next()?;
        is_first.then(|| name.to_owned())
    });
    lines.collect()
}

fn read_sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_sources(&path, text);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn the_tests_name_every_flag_and_its_value() {
    let mut sources = String::new();
    read_sources(
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")),
        &mut sources,
    );
    for command in ["serve", "check", "gc", "import", "healthcheck"] {
        let flags = flags_of(command);
        assert!(flags.len() > 4, "{command}: {flags:?}");
        for flag in flags {
            // Also `list("pin-file", …)`, which makes the flag of a file.
            let forms = [format!("--{flag}"), format!("(\"{flag}\"")];
            let is_named = forms.iter().any(|form| {
                sources.match_indices(form).any(|(at, _)| {
                    let next = sources[at + form.len()..].chars().next();
                    next.is_none_or(|next| !next.is_ascii_alphanumeric() && next != '-')
                })
            });
            assert!(is_named, "no test names --{flag} of {command}");
        }
    }
}

#[test]
fn licenses_prints_the_licences_of_all_crates() {
    let output = program(&["licenses"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let notices = String::from_utf8(output.stdout).unwrap();
    let (list, texts) = notices.split_once("\n\n====").unwrap();
    let lock = include_str!("../../Cargo.lock");
    let mut listed = BTreeSet::new();
    for line in list.lines().filter_map(|line| line.strip_prefix("  ")) {
        let (crate_, licence) = line.split_once(", ").unwrap();
        let (name, version) = crate_.split_once(' ').unwrap();
        let package = format!("name = \"{name}\"\nversion = \"{version}\"\n");
        assert!(lock.contains(&package), "{crate_} is not in Cargo.lock");
        assert!(
            texts.contains(&format!("\n{crate_}\n")),
            "{crate_} has no text"
        );
        assert!(!licence.is_empty() && !licence.contains("GPL"), "{licence}");
        listed.insert(name);
    }
    for direct in ["axum", "ant-protocol", "quinn", "ring", "rustls", "tokio"] {
        assert!(listed.contains(direct), "{direct}");
    }
    for text in ["Apache License", "Permission is hereby granted"] {
        assert!(texts.contains(text), "{text}");
    }
}

#[test]
fn the_certificates_are_in_the_certificate_folder() {
    let folder = TempDir::new().unwrap();
    let flag = |name: &str| format!("--{name}={}", folder.path().join(name).display());
    let start = |flags: &[&str]| {
        let (store, listen) = (
            flag("store"),
            ["--http=127.0.0.1:0", "--webtransport=127.0.0.1:0"],
        );
        let flags = [&["serve", &*store][..], &listen, flags].concat();
        let (peer, line) = RunningPeer::start(&mut program(&flags));
        peer.signal("TERM");
        assert_eq!(peer.end().0, Some(0));
        line["certificateHashes"].clone()
    };
    let certificates = flag("certificate-folder");
    let first = start(&[&certificates]);
    let files = fs::read_dir(folder.path().join("certificate-folder")).unwrap();
    assert!(files.count() > 0);
    assert_eq!(start(&[&certificates]), first, "the same certificates");
    assert_ne!(start(&[]), first, "those of the store's folder");
}
