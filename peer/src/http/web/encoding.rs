//! Parses `Accept-Encoding`.

/// The items of the list that count. Browsers name a few.
const MAX_ITEMS: usize = 32;

/// A compression of prebuilt files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `.br`
    Brotli,
    /// `.gz`
    Gzip,
}

impl Encoding {
    /// The name in `Content-Encoding`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// The suffix of the compressed file's name.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }
}

/// The encodings that the values of `Accept-Encoding` allow, the best compression first.
pub fn accepted<'a>(values: impl Iterator<Item = &'a str>) -> Vec<Encoding> {
    let names: Vec<&str> = values
        .flat_map(|value| value.split(','))
        .take(MAX_ITEMS)
        .filter_map(accepted_name)
        .collect();
    let is_listed = |encoding: &Encoding| {
        let name = encoding.name();
        names
            .iter()
            .any(|accepted| accepted.eq_ignore_ascii_case(name))
    };
    let all = [Encoding::Brotli, Encoding::Gzip];
    all.into_iter().filter(is_listed).collect()
}

/// The name in `name` or `name;q=0.5`. `None` if the weight is zero.
fn accepted_name(item: &str) -> Option<&str> {
    let (name, weight) = item.split_once(';').unwrap_or((item, "q=1"));
    let weight = weight.trim().strip_prefix("q=").unwrap_or("1");
    let is_accepted = weight.trim().parse().is_ok_and(|q: f32| q > 0.0);
    is_accepted.then_some(name.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_of_zero_excludes_an_encoding() {
        let accepted = |value| accepted([value].into_iter());
        assert_eq!(
            accepted("gzip, deflate, br, zstd"),
            [Encoding::Brotli, Encoding::Gzip]
        );
        assert_eq!(accepted("GZIP;q=0.5"), [Encoding::Gzip]);
        assert_eq!(accepted("br;q=0, gzip;q=0.0"), []);
        assert_eq!(accepted(""), []);
    }

    #[test]
    fn only_the_first_items_of_a_long_list_count() {
        let list = format!("gzip{}br", ",".repeat(MAX_ITEMS));
        assert_eq!(accepted([&list[..]].into_iter()), [Encoding::Gzip]);
    }
}
