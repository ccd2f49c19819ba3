//! A drawing (SVG) some of whose attributes and texts are expressions of a model.
//!
//! It may come from anywhere and is shown inside other pages, so what is copied is what draws: elements and attributes that could run a program,
//! fetch something, or are not known are refused with the reason, and what editors note for themselves is left out.

use quick_xml::XmlVersion;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// What a binding's attribute begins with.
const PREFIX: &str = "data-fabius-";
/// A larger text is no drawing that a person made.
const BYTES_MAX: usize = 1 << 20;
/// More bindings are refused.
const BINDINGS_MAX: usize = 200;
/// Deeper elements are refused.
const DEPTH_MAX: usize = 100;

/// The elements that are copied.
const ELEMENTS: &[&str] = &[
    "svg",
    "g",
    "path",
    "rect",
    "circle",
    "ellipse",
    "line",
    "polyline",
    "polygon",
    "text",
    "tspan",
    "defs",
    "use",
    "symbol",
    "marker",
    "linearGradient",
    "radialGradient",
    "stop",
    "clipPath",
    "mask",
    "pattern",
    "title",
    "desc",
    "style",
];
/// The attributes that can be bound, besides [`TEXT`], [`VALUE`] and [`SHOWN`].
const NUMBERS: &[&str] = &[
    "x",
    "y",
    "width",
    "height",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "x1",
    "y1",
    "x2",
    "y2",
    "dx",
    "dy",
    "font-size",
    "stroke-width",
];
/// The text of an element.
pub const TEXT: &str = "text";
/// The attribute `data-value`, for rules of style.
pub const VALUE: &str = "value";
/// Whether an element is shown.
pub const SHOWN: &str = "shown";

/// A place of a drawing that an expression decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The number of the element, from 0.
    pub element: usize,
    /// [`TEXT`], [`VALUE`], [`SHOWN`], or the name of an attribute.
    pub attribute: String,
    /// The expression as it is written.
    pub expression: String,
}

/// A drawing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// The places that expressions decide.
    pub bound: Vec<Bound>,
    pieces: Vec<Piece>,
}

/// A part of the text of a drawing.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    /// Text that is always the same.
    Fixed(String),
    /// What the binding with this number says.
    Bound(usize),
}

impl Drawing {
    /// Reads a drawing.
    ///
    /// # Errors
    /// Why it cannot be shown, in a sentence without its full stop.
    pub fn read(text: &str) -> Result<Self, String> {
        if BYTES_MAX < text.len() {
            return Err(format!("it is larger than {} KiB", BYTES_MAX >> 10));
        }
        let mut copy = Copy { reader: Reader::from_str(text), drawing: Self::default(), open: Vec::new(), elements: 0 };
        copy.all()?;
        match copy.drawing.pieces.first() {
            Some(Piece::Fixed(start)) if start.starts_with("<svg") => Ok(copy.drawing),
            _ => Err("it is not an SVG drawing: its first element is not `<svg>`".to_owned()),
        }
    }

    /// The text of the drawing where each binding has a value; one without a value leaves its attribute out.
    pub fn with(&self, values: &[Option<String>]) -> String {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Fixed(text) => out.push_str(text),
                Piece::Bound(number) => {
                    let value = values.get(*number).and_then(Option::as_deref);
                    out.push_str(&self.bound[*number].written(value));
                }
            }
        }
        out
    }
}

impl Bound {
    /// What stands in the drawing for a value.
    fn written(&self, value: Option<&str>) -> String {
        let (name, value) = match (self.attribute.as_str(), value) {
            (TEXT, value) => return escape(value.unwrap_or_default()).into_owned(),
            (VALUE, value) => ("data-value", value),
            (SHOWN, value) => ("display", Some(if is_shown(value) { "inline" } else { "none" })),
            (name, value) => (name, value),
        };
        value.map_or_else(String::new, |value| format!(" {name}=\"{}\"", escape(value)))
    }
}

/// Whether an element is shown whose [`SHOWN`] has this value.
fn is_shown(value: Option<&str>) -> bool {
    !matches!(value, None | Some("0" | "false"))
}

/// Copies a drawing, element by element.
struct Copy<'a> {
    reader: Reader<&'a [u8]>,
    drawing: Drawing,
    /// The names of the elements that are open.
    open: Vec<String>,
    /// The number of elements with bindings so far.
    elements: usize,
}

impl Copy<'_> {
    fn all(&mut self) -> Result<(), String> {
        loop {
            let event = self.reader.read_event().map_err(|error| format!("it is not XML: {error}"))?;
            match event {
                Event::Start(start) if is_note(&start) => self.skip(&start)?,
                Event::Start(start) => {
                    if self.element(&start)? {
                        self.skip(&start)?;
                        self.put(&format!("</{}>", start.name().0));
                    } else {
                        self.put(">");
                        self.open.push(start.name().0.to_owned());
                    }
                    if DEPTH_MAX < self.open.len() {
                        return Err("its elements are nested too deep".to_owned());
                    }
                }
                Event::Empty(start) if is_note(&start) => {}
                Event::Empty(start) => {
                    if !self.element(&start)? {
                        self.put(">");
                    }
                    self.put(&format!("</{}>", start.name().0));
                }
                Event::End(end) => {
                    self.open.pop();
                    self.put(&format!("</{}>", end.name().0));
                }
                Event::Text(text) => self.text(&text.xml10_content())?,
                Event::CData(text) => self.text(&text.xml10_content())?,
                Event::GeneralRef(name) => {
                    let told = quick_xml::escape::unescape(&format!("&{};", name.xml10_content()))
                        .map(|text| text.into_owned());
                    self.text(&told.map_err(|error| format!("it is not XML: {error}"))?)?;
                }
                Event::DocType(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
                Event::Eof if self.open.is_empty() => return Ok(()),
                Event::Eof => return Err("it ends before its elements do".to_owned()),
            }
        }
    }

    fn put(&mut self, text: &str) {
        match self.drawing.pieces.last_mut() {
            Some(Piece::Fixed(last)) => last.push_str(text),
            _ => self.drawing.pieces.push(Piece::Fixed(text.to_owned())),
        }
    }

    /// Text inside an element; what stands outside is left out.
    fn text(&mut self, text: &str) -> Result<(), String> {
        match self.open.last().map(String::as_str) {
            None => return Ok(()),
            Some("style") => refuse_addresses(text)?,
            Some(_) => {}
        }
        self.put(&escape(text));
        Ok(())
    }

    /// Leaves out what is inside an element.
    fn skip(&mut self, start: &BytesStart<'_>) -> Result<(), String> {
        self.reader.read_to_end(start.name()).map(drop).map_err(|error| format!("it is not XML: {error}"))
    }

    /// The beginning of an element. Where its text is bound, it is complete, and what the element contains is to be left out; else its `>` is
    /// still missing.
    fn element(&mut self, start: &BytesStart<'_>) -> Result<bool, String> {
        let name = start.name().0;
        if !ELEMENTS.contains(&name) {
            return Err(format!("`<{name}>` is not allowed in a picture that moves"));
        }
        let mut attributes = Vec::new();
        let first = self.drawing.bound.len();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| format!("it is not XML: {error}"))?;
            let value = attribute
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| format!("it is not XML: {error}"))?;
            match attribute.key.0.strip_prefix(PREFIX) {
                Some(bound) => self.bind(bound, &value)?,
                None => attributes.push((attribute.key.0.to_owned(), value.into_owned())),
            }
        }
        self.write(name, &attributes, first)
    }

    /// Writes the beginning of an element whose bindings are those from a number on.
    fn write(&mut self, name: &str, attributes: &[(String, String)], first: usize) -> Result<bool, String> {
        let bound: Vec<(usize, String)> = (first..self.drawing.bound.len())
            .map(|number| (number, self.drawing.bound[number].attribute.clone()))
            .collect();
        self.put(&format!("<{name}"));
        for (key, value) in attributes {
            let is_bound =
                bound.iter().any(|(_, attribute)| attribute == key || (attribute == SHOWN && key == "display"));
            if !is_bound && is_copied(key, value)? {
                self.put(&format!(" {key}=\"{}\"", escape(value.as_str())));
            }
        }
        if !bound.is_empty() {
            self.put(&format!(" data-bound=\"{}\"", self.elements));
            self.elements += 1;
        }
        for (number, _) in bound.iter().filter(|(_, attribute)| attribute != TEXT) {
            self.drawing.pieces.push(Piece::Bound(*number));
        }
        let Some((number, _)) = bound.iter().find(|(_, attribute)| attribute == TEXT) else {
            return Ok(false);
        };
        self.put(">");
        self.drawing.pieces.push(Piece::Bound(*number));
        Ok(true)
    }

    fn bind(&mut self, attribute: &str, expression: &str) -> Result<(), String> {
        if ![TEXT, VALUE, SHOWN].contains(&attribute) && !NUMBERS.contains(&attribute) {
            let known = [TEXT, VALUE, SHOWN].iter().chain(NUMBERS).copied().collect::<Vec<_>>().join(", ");
            return Err(format!("unknown binding `{PREFIX}{attribute}` (known: {known})"));
        }
        if self.drawing.bound.len() == BINDINGS_MAX {
            return Err(format!("it has more than {BINDINGS_MAX} bindings"));
        }
        let (attribute, expression) = (attribute.to_owned(), expression.trim().to_owned());
        self.drawing.bound.push(Bound { element: self.elements, attribute, expression });
        Ok(())
    }
}

/// Whether an element is something that a drawing program notes for itself.
fn is_note(start: &BytesStart<'_>) -> bool {
    start.name().0 == "metadata" || start.name().prefix().is_some()
}

/// Whether an attribute is copied: all but those of drawing programs.
fn is_copied(name: &str, value: &str) -> Result<bool, String> {
    let lower = name.to_ascii_lowercase();
    if lower.starts_with("on") {
        return Err(format!("the attribute `{name}` could run a program"));
    }
    if lower == "href" || lower == "xlink:href" {
        return match value.trim().starts_with('#') {
            true => Ok(true),
            false => Err(format!("`{name}` refers to something outside of the picture")),
        };
    }
    refuse_addresses(value)?;
    Ok(lower == "xml:space" || lower == "xmlns:xlink" || !name.contains(':'))
}

/// Refuses style that fetches something.
fn refuse_addresses(style: &str) -> Result<(), String> {
    let lower: String =
        style.to_ascii_lowercase().chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"')).collect();
    let outside = lower.split("url(").skip(1).any(|address| !address.starts_with('#'));
    if outside || ["@import", "image(", "image-set(", "src(", "\\"].iter().any(|word| lower.contains(word)) {
        return Err("its style refers to something outside of the picture".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Drawing, String> {
        Drawing::read(&format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{text}</svg>"))
    }

    #[test]
    fn bound_places_get_their_values() {
        let text = "<rect id=\"a\" x=\"1\" y=\"2\" data-fabius-x=\"10 * n\"/><text data-fabius-text=\"n\" data-fabius-shown=\"n > 0\"><tspan>?</tspan></text>";
        let drawing = read(text).expect("a drawing");
        let told: Vec<(usize, &str, &str)> = drawing
            .bound
            .iter()
            .map(|bound| (bound.element, bound.attribute.as_str(), bound.expression.as_str()))
            .collect();
        assert_eq!(told, [(0, "x", "10 * n"), (1, "text", "n"), (1, "shown", "n > 0")]);
        let value = |text: &str| Some(text.to_owned());
        let shown = drawing.with(&[value("30"), value("<3>"), value("false")]);
        assert!(shown.contains("<rect id=\"a\" y=\"2\" data-bound=\"0\" x=\"30\"></rect>"), "{shown}");
        assert!(shown.contains("<text data-bound=\"1\" display=\"none\">&lt;3&gt;</text>"), "{shown}");
        assert!(drawing.with(&[]).contains("<rect id=\"a\" y=\"2\" data-bound=\"0\"></rect>"));
    }

    #[test]
    fn notes_of_drawing_programs_are_left_out() {
        let text = "<?x y?><!-- c --><metadata><rdf:RDF><a/></rdf:RDF></metadata><sodipodi:namedview id=\"v\"/>\
                    <g inkscape:label=\"l\" fill=\"url(#g)\">a &amp; b&#33;<![CDATA[<]]></g>";
        let shown = read(text).expect("a drawing").with(&[]);
        assert_eq!(shown, "<svg xmlns=\"http://www.w3.org/2000/svg\"><g fill=\"url(#g)\">a &amp; b!&lt;</g></svg>");
    }

    #[test]
    fn what_could_run_or_fetch_something_is_refused() {
        for text in [
            "<script>x</script>",
            "<foreignObject/>",
            "<image href=\"a.png\"/>",
            "<a href=\"#b\"/>",
            "<animate/>",
            "<g onclick=\"x\"/>",
            "<g OnLoad=\"x\"/>",
            "<use href=\"http://a/b#c\"/>",
            "<use xlink:href=\"data:image/svg+xml,x\"/>",
            "<g style=\"fill: url( 'http://a' )\"/>",
            "<g fill=\"url(a.svg#b)\"/>",
            "<style>@import 'a';</style>",
            "<style>g { background: u\\72l(a) }</style>",
            "<style><![CDATA[g { fill: url(\"http://a\") }]]></style>",
            "<g data-fabius-onclick=\"n\"/>",
            "<g>",
            "</g>",
            "<g a=\"1\" a=\"2\"/>",
            "&unknown;",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["", "x", "<g/>", "<?xml version=\"1.0\"?>"] {
            assert!(Drawing::read(text).is_err(), "{text}");
        }
    }
}
