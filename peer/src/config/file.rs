//! The config file: the settings of the flags, in TOML. Flags win over variables, and variables over the file.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, Parser};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

/// The ID of the flag that names the file. The commands must define it as a global flag.
const CONFIG: &str = "config";

/// A setting of the file.
struct Setting {
    key: String,
    line: usize,
    value: Value,
}

/// The value of a setting, in the form of a flag's value.
enum Value {
    /// Switches a flag on or off.
    Switch(bool),
    /// One value, or the values of a repeatable flag.
    Texts(Vec<String>),
}

/// Parses the command line, the environment, and the config file that one of them names.
pub fn parse<P: Parser>(args: impl IntoIterator<Item = OsString>) -> Result<P, clap::Error> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let command = P::command();
    // This reads only which flags are given. The last step reports wrong flags.
    let lenient = command.clone().ignore_errors(true);
    let Ok(matches) = lenient.try_get_matches_from(&args) else {
        return P::try_parse_from(args);
    };
    let Some((name, given)) = matches.subcommand() else {
        return P::try_parse_from(args);
    };
    let Some(path) = given.get_one::<PathBuf>(CONFIG) else {
        return P::try_parse_from(args);
    };
    let invalid = |message: String| command.clone().error(ErrorKind::ValueValidation, message);
    let settings = read(path).map_err(invalid)?;
    let mut applied = Vec::new();
    for setting in &settings {
        let at = || format!("{}, line {}: {}", path.display(), setting.line, setting.key);
        if !command
            .get_subcommands()
            .any(|one| find(one, setting).is_some())
        {
            return Err(invalid(format!("{}: no such setting", at())));
        }
        // One file may serve all commands. Each takes its own settings.
        let own = command
            .find_subcommand(name)
            .and_then(|own| find(own, setting));
        if let Some(flag) = own
            && !is_given(given, flag)
        {
            let added = arguments(flag, setting);
            args.extend(added.map_err(|problem| invalid(format!("{}: {problem}", at())))?);
            applied.push(setting);
        }
    }
    P::try_parse_from(args).map_err(|error| match place(&error, &applied) {
        Some(line) => invalid(format!(
            "{}, line {line}: {}",
            path.display(),
            first_line(&error)
        )),
        None => error,
    })
}

fn find<'a>(command: &'a Command, setting: &Setting) -> Option<&'a Arg> {
    let mut flags = command.get_arguments();
    flags.find(|flag| flag.get_long() == Some(&setting.key))
}

/// Whether the flag or its variable is set. An invalid variable counts: it is an error, not a reason to use the file.
fn is_given(matches: &ArgMatches, flag: &Arg) -> bool {
    let source = matches.value_source(flag.get_id().as_str());
    let variable = flag.get_env().and_then(std::env::var_os);
    source == Some(ValueSource::CommandLine) || variable.is_some()
}

/// The arguments of the command line that have the same meaning as the setting.
fn arguments(flag: &Arg, setting: &Setting) -> Result<Vec<OsString>, &'static str> {
    let key = &setting.key;
    let is_switch = matches!(flag.get_action(), ArgAction::SetTrue);
    match &setting.value {
        Value::Switch(is_on) if is_switch => Ok(match is_on {
            true => vec![format!("--{key}").into()],
            false => Vec::new(),
        }),
        Value::Switch(_) => Err("needs a value other than true or false"),
        Value::Texts(_) if is_switch => Err("is either true or false"),
        Value::Texts(texts) => {
            let is_repeatable = matches!(flag.get_action(), ArgAction::Append);
            match texts.len() > 1 && !is_repeatable {
                true => Err("takes only one value"),
                false => Ok(texts
                    .iter()
                    .map(|text| format!("--{key}={text}").into())
                    .collect()),
            }
        }
    }
}

fn read(path: &Path) -> Result<Vec<Setting>, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("--{CONFIG} {}: {error}", path.display()))?;
    let line_at = |offset: usize| 1 + text[..offset].matches('\n').count();
    let at = |line: usize| format!("{}, line {line}", path.display());
    let table = DeTable::parse(&text).map_err(|error| {
        let line = line_at(error.span().map_or(0, |span| span.start));
        format!("{}: {}", at(line), error.message())
    })?;
    let settings = table.get_ref().iter().map(|(key, value)| {
        let line = line_at(key.span().start);
        let key = key.get_ref().to_string();
        match value_of(value.get_ref()) {
            Some(value) => Ok(Setting { key, line, value }),
            None => Err(format!(
                "{}: {key}: not a text, a whole number, true or false, nor a list of texts or numbers",
                at(line)
            )),
        }
    });
    settings.collect()
}

fn value_of(value: &DeValue<'_>) -> Option<Value> {
    match value {
        DeValue::Boolean(is_on) => Some(Value::Switch(*is_on)),
        DeValue::Array(values) => {
            let texts = values.iter().map(|value| text_of(value.get_ref()));
            texts.collect::<Option<_>>().map(Value::Texts)
        }
        value => Some(Value::Texts(vec![text_of(value)?])),
    }
}

fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            let number = u64::from_str_radix(number.as_str(), number.radix());
            number.ok().map(|number| number.to_string())
        }
        _ => None,
    }
}

/// The line of the setting that the error is about. `None` if it is about the command line or a variable.
fn place(error: &clap::Error, applied: &[&Setting]) -> Option<usize> {
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    // Such as `--store <FOLDER>`.
    let key = flag.split_whitespace().next()?.strip_prefix("--")?;
    let setting = applied.iter().find(|setting| setting.key == key)?;
    Some(setting.line)
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
