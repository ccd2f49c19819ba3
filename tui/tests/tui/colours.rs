//! Every colour on every screen can be read on the background that it is meant for, and nothing hangs on colour alone.

use super::support::Player;
use fabius_engine::Settings;
use fabius_testkit::models::{RACE, TALK};
use fabius_tui::Theme;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};

const POLITE: &str = include_str!("../../../models/retry_forever.pml");

/// The sixteen colours as two widespread palettes have them: that of xterm, and that of VGA text screens.
const PALETTES: [[u32; 16]; 2] = [
    [
        0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
        0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
    ],
    [
        0x000000, 0xAA0000, 0x00AA00, 0xAA5500, 0x0000AA, 0xAA00AA, 0x00AAAA, 0xAAAAAA, 0x555555, 0xFF5555, 0x55FF55,
        0xFFFF55, 0x5555FF, 0xFF55FF, 0x55FFFF, 0xFFFFFF,
    ],
];
/// What the guidelines for accessible content ask of signs and large text (WCAG 2.1, 1.4.11); …
const CONTRAST_MIN: f64 = 3.0;
/// … what stands back on purpose may have a little less on a black screen.
const QUIET_MIN: f64 = 2.5;

/// The place of a colour among the sixteen; `None` for the terminal's own.
fn index(colour: Color) -> Option<usize> {
    use Color::{
        Black, Blue, Cyan, DarkGray, Gray, Green, LightBlue, LightCyan, LightGreen, LightMagenta, LightRed,
        LightYellow, Magenta, Red, Reset, White, Yellow,
    };
    let all = [
        Black,
        Red,
        Green,
        Yellow,
        Blue,
        Magenta,
        Cyan,
        Gray,
        DarkGray,
        LightRed,
        LightGreen,
        LightYellow,
        LightBlue,
        LightMagenta,
        LightCyan,
        White,
    ];
    let found = all.iter().position(|known| *known == colour);
    assert!(found.is_some() || colour == Reset, "{colour} is none of the sixteen");
    found
}

/// Relative luminance (WCAG 2.1).
fn luminance(rgb: u32) -> f64 {
    let part = |shift: u32| {
        let value = f64::from((rgb >> shift) & 0xFF) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0)
}

fn contrast(one: u32, other: u32) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Every kind of screen, each with a name.
fn screens(theme: Theme) -> Vec<(&'static str, Buffer)> {
    let open = |text: &str, keys: &str| {
        let settings = Settings { properties: vec!["safety".to_owned(), "progress".to_owned()], ..Settings::default() };
        let mut player = Player::with(text, (160, 50), settings, theme);
        player.keys(keys);
        player.buffer()
    };
    let crowd = TALK.replace("active proctype Client", "active [7] proctype Client");
    vec![
        ("steps", open(TALK, "n n n")),
        ("many processes", open(&crowd, "n n n l")),
        ("an error", open(RACE, "S end")),
        ("holds", open(RACE, "tab h d enter")),
        ("branches", open(RACE, "n n p 2 b enter l l")),
        ("a ring", open(POLITE, "S [ l l l")),
        ("a question", open(TALK, "c \"asked== enter")),
        ("why", open(TALK, "tab down W")),
        ("help", open(TALK, "?")),
        ("a search", open(POLITE, "S f2 f")),
        ("a broken model", open("active proctype P() { x = }", "")),
    ]
}

fn cells(buffer: &Buffer) -> impl Iterator<Item = &Cell> {
    buffer.content().iter().filter(|cell| !cell.symbol().trim().is_empty())
}

#[test]
fn every_colour_can_be_read_on_its_background() {
    for light in [false, true] {
        let theme = Theme { colour: true, light, ascii: false };
        let (background, quiet) = (if light { 0xFF_FFFF } else { 0 }, index(Color::DarkGray));
        let mut used = std::collections::BTreeSet::new();
        for (name, buffer) in screens(theme) {
            for cell in cells(&buffer) {
                assert_eq!(cell.bg, Color::Reset, "{name}: only the terminal's own background is drawn on");
                let Some(colour) = index(cell.fg) else { continue };
                used.insert(colour);
                let least = if Some(colour) == quiet { QUIET_MIN } else { CONTRAST_MIN };
                for palette in PALETTES {
                    let found = contrast(palette[colour], background);
                    assert!(least <= found, "{name}, light {light}: {} is drawn at {found:.1}:1", cell.fg);
                }
            }
        }
        assert!(5 <= used.len(), "the screens show the colours: {used:?}");
    }
}

#[test]
fn without_colours_there_are_none() {
    for (name, buffer) in screens(Theme { colour: false, light: false, ascii: false }) {
        let coloured = cells(&buffer).find(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert!(coloured.is_none(), "{name}: {coloured:?}");
        let cursor = cells(&buffer).any(|cell| cell.modifier.contains(Modifier::REVERSED));
        assert!(
            cursor || matches!(name, "a ring" | "why" | "help" | "a search" | "a broken model"),
            "{name}: no mark is seen"
        );
    }
}

#[test]
fn themes_differ_in_nothing_but_colours() {
    let texts = |theme: Theme| -> Vec<String> {
        let screens = screens(theme);
        screens.iter().map(|(_, buffer)| buffer.content().iter().map(Cell::symbol).collect()).collect()
    };
    let dark = texts(Theme::default());
    assert_eq!(texts(Theme { light: true, ..Theme::default() }), dark);
    assert_eq!(texts(Theme { colour: false, ..Theme::default() }), dark);
    for ((name, _), text) in screens(Theme::default()).iter().zip(texts(Theme { ascii: true, ..Theme::default() })) {
        let others: String = text.chars().filter(|c| !c.is_ascii()).collect();
        assert!(others.is_empty(), "{name}: {others}");
    }
}

#[test]
fn contrast_is_what_the_guidelines_say() {
    assert!((contrast(0, 0xFF_FFFF) - 21.0).abs() < 1e-9);
    assert!((contrast(0x77_7777, 0xFF_FFFF) - 4.48).abs() < 0.01);
}
