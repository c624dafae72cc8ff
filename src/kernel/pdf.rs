//! PDF pages, readable on a phone and in black-and-white print.
//!
//! Lengths are in points; `y` is the baseline of a text, counted from the top.

use std::sync::LazyLock;

use fast_qr::{ECL, QRBuilder};
use krilla::{
    Document,
    color::luma,
    geom::{PathBuilder, Point, Rect, Transform},
    metadata::Metadata,
    page::PageSettings,
    paint::Fill,
    text::{Font, TextDirection},
};
use ttf_parser::Face;
use unicode_normalization::UnicodeNormalization;

use super::{
    error::{Error, Result},
    lang::Lang,
};

pub const A4: (f32, f32) = (595.3, 841.9);
pub const A5: (f32, f32) = (419.5, 595.3);

/// A font face with its metrics.
struct FontFace {
    font: Font,
    face: Face<'static>,
    /// Advances of Latin characters, by code point. Almost all texts consist of them, and each text is
    /// measured several times.
    latin: Vec<Option<u16>>,
}

impl FontFace {
    fn new(data: &'static [u8]) -> Self {
        let face = Face::parse(data, 0).expect("the embedded fonts are valid");
        let latin = ('\0'..='\u{24F}').map(|c| advance(&face, c)).collect();
        let font = Font::new(data.into(), 0).expect("the embedded fonts are valid");
        Self { font, face, latin }
    }

    /// `None`: the font has no such character.
    fn advance(&self, c: char) -> Option<u16> {
        match self.latin.get(c as usize) {
            Some(known) => *known,
            None => advance(&self.face, c),
        }
    }

    fn width(&self, size: f32, text: &str) -> f32 {
        let units: u32 = text.chars().map(|c| u32::from(self.advance(c).unwrap_or(0))).sum();
        units as f32 * size / f32::from(self.face.units_per_em())
    }

    /// Replaces characters without a glyph by `?`.
    fn drawable(&self, text: &str) -> String {
        text.nfc().map(|c| if self.advance(c).is_some() { c } else { '?' }).collect()
    }
}

fn advance(face: &Face<'_>, c: char) -> Option<u16> {
    face.glyph_hor_advance(face.glyph_index(c)?)
}

static REGULAR: LazyLock<FontFace> =
    LazyLock::new(|| FontFace::new(include_bytes!("../../assets/fonts/Roboto-Regular.ttf")));
static BOLD: LazyLock<FontFace> =
    LazyLock::new(|| FontFace::new(include_bytes!("../../assets/fonts/Roboto-Bold.ttf")));

/// Size, weight and shade of a text.
#[derive(Clone, Copy)]
pub struct Style {
    size: f32,
    bold: bool,
    grey: bool,
}

impl Style {
    pub const fn plain(size: f32) -> Self {
        Self { size, bold: false, grey: false }
    }

    pub const fn bold(size: f32) -> Self {
        Self { size, bold: true, grey: false }
    }

    /// Grey, for labels.
    pub const fn grey(size: f32) -> Self {
        Self { size, bold: false, grey: true }
    }

    fn face(self) -> &'static FontFace {
        if self.bold { &BOLD } else { &REGULAR }
    }

    /// Width of the drawn text.
    pub fn width(self, text: &str) -> f32 {
        self.face().width(self.size, &self.face().drawable(text))
    }

    /// Wraps the text. A word that exceeds the width gets its own line.
    pub fn wrap(self, width: f32, text: &str) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(&format!("{line} {word}")) <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }
}

/// A PDF document under construction.
pub struct PdfDocument(Document);

impl PdfDocument {
    pub fn new(title: &str, lang: Lang) -> Self {
        let mut document = Document::new();
        let metadata = Metadata::new().title(title.to_owned()).language(lang.to_string());
        document.set_metadata(metadata.creator("Dermaga".into()));
        Self(document)
    }

    pub fn page(
        &mut self,
        (width, height): (f32, f32),
        draw: impl FnOnce(&mut Canvas<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let settings = PageSettings::from_wh(width, height);
        let settings = settings.ok_or_else(|| Error::internal("a page without size"))?;
        let mut page = self.0.start_page_with(settings);
        let mut surface = page.surface();
        draw(&mut Canvas(&mut surface))?;
        surface.finish();
        page.finish();
        Ok(())
    }

    pub fn finish(self) -> Result<Vec<u8>> {
        self.0.finish().map_err(|error| Error::internal(format!("{error:?}")))
    }
}

/// Draws on one page.
pub struct Canvas<'p, 's>(&'p mut krilla::surface::Surface<'s>);

impl Canvas<'_, '_> {
    pub fn text(&mut self, x: f32, y: f32, style: Style, text: &str) {
        let text = style.face().drawable(text);
        self.shade(if style.grey { 85 } else { 0 });
        let (at, font) = (Point::from_xy(x, y), style.face().font.clone());
        self.0.draw_text(at, font, style.size, &text, false, TextDirection::Auto);
    }

    /// Shrinks the text to the width, then truncates it.
    pub fn fitted(&mut self, x: f32, y: f32, width: f32, style: Style, text: &str) {
        let text = style.face().drawable(text);
        let wanted = style.width(&text);
        let size = style.size * (width / wanted.max(1.0)).clamp(0.7, 1.0);
        let style = Style { size, ..style };
        let mut shown = text.clone();
        while style.width(&shown) > width + 0.5 {
            shown = shown.trim_end_matches('…').to_owned();
            if shown.pop().is_none() {
                return;
            }
            shown.push('…');
        }
        self.text(x, y, style, &shown);
    }

    pub fn right(&mut self, x: f32, y: f32, style: Style, text: &str) {
        self.text(x - style.width(text), y, style, text);
    }

    pub fn line(&mut self, x: f32, y: f32, width: f32) {
        self.shade(0);
        self.block(x, y, width, 0.7);
    }

    /// A light background.
    pub fn ground(&mut self, x: f32, y: f32, width: f32, height: f32) {
        self.shade(230);
        self.block(x, y, width, height);
    }

    /// A QR code with the given side, without a quiet zone.
    pub fn qr(&mut self, x: f32, y: f32, side: f32, text: &str) -> Result<()> {
        let code = QRBuilder::new(text).ecl(ECL::M).build();
        let code = code.map_err(|_| Error::internal("the text is too long for a QR code"))?;
        let mut path = PathBuilder::new();
        for row in 0..code.size {
            // Adjacent modules are drawn as one block to avoid hairlines.
            let mut column = 0;
            for run in code[row].chunk_by(|a, b| a.value() == b.value()) {
                let rect = Rect::from_xywh(column as f32, row as f32, run.len() as f32, 1.0);
                if let Some(rect) = rect.filter(|_| run[0].value()) {
                    path.push_rect(rect);
                }
                column += run.len();
            }
        }
        self.shade(0);
        if let Some(path) = path.finish() {
            // Whole numbers of modules take half of the bytes that lengths on the page take.
            let unit = side / code.size as f32;
            self.0.push_transform(&Transform::from_row(unit, 0.0, 0.0, unit, x, y));
            self.0.draw_path(&path);
            self.0.pop();
        }
        Ok(())
    }

    fn shade(&mut self, lightness: u8) {
        let paint = luma::Color::new(lightness).into();
        self.0.set_fill(Some(Fill { paint, ..Fill::default() }));
    }

    fn block(&mut self, x: f32, y: f32, width: f32, height: f32) {
        let mut path = PathBuilder::new();
        if let Some(rect) = Rect::from_xywh(x, y, width, height) {
            path.push_rect(rect);
        }
        if let Some(path) = path.finish() {
            self.0.draw_path(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_wrapped_and_what_has_no_picture_is_asked_for() {
        let style = Style::plain(10.0);
        let lines = style.wrap(60.0, "Be at the pier half an hour before departure");
        assert!(lines.len() > 2 && lines.iter().all(|line| style.width(line) <= 60.0));
        assert_eq!(lines.join(" "), "Be at the pier half an hour before departure");
        assert_eq!(REGULAR.drawable("Nguyễn Ệ Ж 王"), "Nguyễn Ệ Ж ?");
    }
}
