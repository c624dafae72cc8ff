//! Checks of file content, and removal of image metadata.
//!
//! Only the parts that make up an image are kept. Location, thumbnails, comments and appended data
//! are removed. An image without any of these is kept byte for byte.

use std::io::Cursor;

use axum::body::Bytes;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits, metadata::Orientation};

use super::model::{Kind, Purpose};

/// Enough for phone cameras, and small enough for the memory of small machines.
const MAX_PIXELS: u64 = 24_000_000;

#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The type is not allowed for the purpose.
    Kind,
    /// Larger than the limit of its type.
    TooLarge,
    /// Damaged, or of another type.
    Broken,
    TooManyPixels,
}

/// Checks content and returns what is to be stored. Slow; call it on a blocking thread.
pub fn inspect(content: Bytes, purpose: Purpose) -> Result<(Kind, Bytes), Refusal> {
    let kind = Kind::sniff(&content).filter(|kind| purpose.allows(*kind)).ok_or(Refusal::Kind)?;
    if content.len() > kind.limit() {
        return Err(Refusal::TooLarge);
    }
    if kind == Kind::Pdf {
        return pdf(&content).then_some((kind, content)).ok_or(Refusal::Broken);
    }
    let (parts, rest) = match kind {
        Kind::Jpeg => jpeg(&content),
        Kind::Png => png(&content),
        _ => webp(&content),
    }
    .ok_or(Refusal::Broken)?;
    if is_something_else(rest) {
        return Err(Refusal::Broken);
    }
    let mut clean = parts;
    // Decodes the cleaned image; only for JPEG the original, which contains the orientation.
    let orientation = decode(if kind == Kind::Jpeg { &content } else { &clean })?;
    if kind == Kind::Jpeg && orientation != Orientation::NoTransforms {
        clean.splice(2..2, upright(orientation));
    }
    Ok((kind, if clean == content { content } else { clean.into() }))
}

/// Starts and ends as a PDF.
fn pdf(content: &[u8]) -> bool {
    let tail = &content[content.len().saturating_sub(1024)..];
    let end = tail.windows(5).rposition(|window| window == b"%%EOF");
    let blank = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    content.starts_with(b"%PDF-") && end.is_some_and(|end| tail[end + 5..].iter().all(blank))
}

/// Whether appended data is an archive, page, script or document. Such files are refused; other
/// appended data, as added by phones, is removed.
fn is_something_else(rest: &[u8]) -> bool {
    const SIGNS: [&[u8]; 9] = [
        b"pk\x03\x04",
        b"pk\x05\x06",
        b"%pdf-",
        b"<?php",
        b"<script",
        b"<html",
        b"<svg",
        b"#!/",
        b"rar!",
    ];
    let padding = rest.iter().take_while(|byte| **byte == 0 || byte.is_ascii_whitespace()).count();
    let start = rest[padding..].iter().take(8).map(u8::to_ascii_lowercase).collect::<Vec<_>>();
    SIGNS.iter().any(|sign| start.starts_with(sign))
}

/// Decodes the image within limits and returns its orientation.
fn decode(content: &[u8]) -> Result<Orientation, Refusal> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(4 * MAX_PIXELS);
    let reader = ImageReader::new(Cursor::new(content)).with_guessed_format();
    let mut reader = reader.map_err(|_| Refusal::Broken)?;
    // Set before the header is read, because a colour profile can be a decompression bomb.
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|_| Refusal::Broken)?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > MAX_PIXELS {
        return Err(Refusal::TooManyPixels);
    }
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    DynamicImage::from_decoder(decoder).map_err(|_| Refusal::Broken)?;
    Ok(orientation)
}

/// An EXIF segment with the orientation only.
fn upright(orientation: Orientation) -> Vec<u8> {
    let mut segment =
        b"\xff\xe1\x00\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0".to_vec();
    segment.push(orientation.to_exif());
    segment.extend([0; 6]);
    segment
}

type Parts<'a> = Option<(Vec<u8>, &'a [u8])>;

fn jpeg(content: &[u8]) -> Parts<'_> {
    let mut clean = content.get(..2)?.to_vec();
    let mut at = 2;
    loop {
        let (&[0xff, marker], _) = content.get(at..)?.split_first_chunk::<2>()? else {
            return None;
        };
        match marker {
            0xff => at += 1,
            0xd9 => {
                clean.extend(&content[at..at + 2]);
                return Some((clean, &content[at + 2..]));
            }
            0x01 | 0xd0..=0xd8 => return None,
            _ => {
                let length = u16::from_be_bytes(*content.get(at + 2..)?.first_chunk()?);
                let mut end = at + 2 + usize::from(length);
                if marker == 0xda {
                    end = end_of_scan(content, end)?;
                }
                let segment = content.get(at..end).filter(|_| length >= 2)?;
                if is_picture(marker, segment.get(4..).unwrap_or_default()) {
                    clean.extend(segment);
                }
                at = end;
            }
        }
    }
}

/// Keeps colour profiles and segments that decoders need; removes EXIF, XMP, previews and comments.
fn is_picture(marker: u8, data: &[u8]) -> bool {
    match marker {
        0xe0 => data.starts_with(b"JFIF\0"),
        0xe2 => data.starts_with(b"ICC_PROFILE\0"),
        0xee => data.starts_with(b"Adobe"),
        0xc0..=0xcf | 0xda..=0xdf => true,
        _ => false,
    }
}

/// Compressed data ends at a marker that is neither an escaped byte nor a restart marker.
fn end_of_scan(content: &[u8], from: usize) -> Option<usize> {
    let data = content.get(from..)?;
    let end = data
        .windows(2)
        .position(|pair| pair[0] == 0xff && !matches!(pair[1], 0x00 | 0xd0..=0xd7 | 0xff))?;
    Some(from + end)
}

/// Compressed size; larger profiles are refused as decompression bombs.
const MAX_PROFILE_SIZE: usize = 64 * 1024;

/// Chunks for pixels, palette, colours, transparency, resolution and animation.
const PNG_CHUNKS: [&[u8]; 14] = [
    b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT",
    b"pHYs", b"acTL", b"fcTL", b"fdAT",
];
const WEBP_CHUNKS: [&[u8]; 7] = [b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"ICCP"];

fn png(content: &[u8]) -> Parts<'_> {
    let mut clean = content.get(..8)?.to_vec();
    let mut at = 8;
    loop {
        let length = u32::from_be_bytes(*content.get(at..)?.first_chunk()?) as usize;
        let end = at.checked_add(length)?.checked_add(12)?;
        let chunk = content.get(at..end)?;
        let kind = &chunk[4..8];
        if PNG_CHUNKS.contains(&kind) && (kind != b"iCCP" || length <= MAX_PROFILE_SIZE) {
            clean.extend(chunk);
        }
        if kind == b"IEND" {
            return Some((clean, &content[end..]));
        }
        at = end;
    }
}

fn webp(content: &[u8]) -> Parts<'_> {
    let size = u32::from_le_bytes(*content.get(4..)?.first_chunk()?) as usize;
    let end = size.checked_add(8)?;
    let body = content.get(12..end)?;
    let mut clean = content[..12].to_vec();
    let mut at = 0;
    while at < body.len() {
        let length = u32::from_le_bytes(*body.get(at + 4..)?.first_chunk()?) as usize;
        // Chunks are padded to an even length.
        let next = at.checked_add(8)?.checked_add(length)?.checked_add(length & 1)?;
        let chunk = body.get(at..next)?;
        if WEBP_CHUNKS.contains(&&chunk[..4]) {
            let start = clean.len();
            clean.extend(chunk);
            if chunk.starts_with(b"VP8X") {
                // Clears the flags of the removed chunks.
                *clean.get_mut(start + 8)? &= !0b1100;
            }
        }
        at = next;
    }
    let size = u32::try_from(clean.len() - 8).ok()?;
    clean[4..8].copy_from_slice(&size.to_le_bytes());
    Some((clean, &content[end..]))
}

#[cfg(test)]
mod tests {
    use image::{ImageFormat, RgbImage};
    use proptest::prelude::*;

    use super::*;

    fn picture(format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        RgbImage::from_fn(20, 10, |x, y| image::Rgb([x as u8 * 9, y as u8 * 20, 7]))
            .write_to(&mut bytes, format)
            .unwrap();
        bytes.into_inner()
    }

    fn check(content: &[u8]) -> Result<(Kind, Bytes), Refusal> {
        inspect(Bytes::copy_from_slice(content), Purpose::Photo)
    }

    /// EXIF with a location in it.
    fn exif(orientation: u8) -> Vec<u8> {
        let mut data = b"Exif\0\0MM\0*\0\0\0\x08\0\x02\x01\x12\0\x03\0\0\0\x01\0".to_vec();
        data.extend([orientation, 0, 0]);
        data.extend(b"\x88\x25\0\x04\0\0\0\x01\0\0\0\x26\0\0\0\0GPS -8.6705 115.2126");
        let mut segment = vec![0xff, 0xe1];
        segment.extend((data.len() as u16 + 2).to_be_bytes());
        segment.extend(data);
        segment
    }

    #[test]
    fn a_plain_picture_is_kept_byte_for_byte() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let original = picture(format);
            assert_eq!(check(&original).unwrap().1, original, "{format:?}");
        }
    }

    #[test]
    fn a_location_is_removed_and_the_right_way_up_stays() {
        let plain = picture(ImageFormat::Jpeg);
        for orientation in [1, 6] {
            let mut located = plain.clone();
            located.splice(2..2, exif(orientation));
            let (_, clean) = check(&located).unwrap();
            assert!(!clean.windows(3).any(|window| window == b"GPS"));
            let turned = decode(&clean).unwrap();
            assert_eq!(turned.to_exif(), orientation);
            assert_eq!(check(&clean).unwrap().1, clean, "cleaning again changes nothing");
        }
        let mut commented = picture(ImageFormat::Png);
        let chunk = b"\0\0\0\x05tEXtGPS\0x\0\0\0\0";
        commented.splice(33..33, chunk.iter().copied());
        let (_, clean) = check(&commented).unwrap();
        assert_eq!(clean, picture(ImageFormat::Png));
    }

    #[test]
    fn what_is_appended_goes_and_what_is_something_else_is_refused() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let plain = picture(format);
            let with = |rest: &[u8]| [plain.as_slice(), rest].concat();
            assert_eq!(check(&with(b"SEFHe\0\0\0SEFT")).unwrap().1, plain);
            for other in
                [&b"PK\x03\x04zip"[..], b"\n<ScRipt>alert(1)</script>", b"<?php x", b"%PDF-1.7"]
            {
                assert_eq!(check(&with(other)), Err(Refusal::Broken));
            }
        }
    }

    #[test]
    fn only_pictures_and_documents_pass() {
        for other in [
            &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
            b"#!/bin/sh\nrm -rf /",
            b"PK\x03\x04",
            b"GIF89a\x01\0\x01\0",
            b"<html>",
            b"",
            b"MZ",
        ] {
            assert_eq!(check(other), Err(Refusal::Kind));
        }
        let pdf = b"%PDF-1.4\n1 0 obj\nendobj\ntrailer\n%%EOF\n";
        assert_eq!(check(pdf), Err(Refusal::Kind), "not for a photo");
        let as_document =
            |content: &[u8]| inspect(Bytes::copy_from_slice(content), Purpose::Document);
        assert!(as_document(pdf).is_ok());
        assert_eq!(as_document(b"%PDF-1.4 and nothing more"), Err(Refusal::Broken));
        assert_eq!(as_document(&[pdf, &b"PK\x03\x04"[..]].concat()), Err(Refusal::Broken));
        let broken = &picture(ImageFormat::Png)[..60];
        assert_eq!(check(broken), Err(Refusal::Broken));
    }

    #[test]
    fn a_flood_of_pixels_is_refused_by_its_head() {
        let mut flood = picture(ImageFormat::Png);
        flood[16..24].copy_from_slice(&[0, 0, 0xc3, 0x50, 0, 0, 0xc3, 0x50]);
        let crc = crc32(&flood[12..29]);
        flood[29..33].copy_from_slice(&crc.to_be_bytes());
        assert_eq!(check(&flood), Err(Refusal::TooManyPixels));
    }

    #[test]
    fn a_vast_colour_profile_is_dropped_unread() {
        let plain = picture(ImageFormat::Png);
        let mut bomb = ((MAX_PROFILE_SIZE + 1) as u32).to_be_bytes().to_vec();
        bomb.extend(b"iCCP");
        bomb.resize(bomb.len() + MAX_PROFILE_SIZE + 1 + 4, 0);
        let mut content = plain.clone();
        content.splice(33..33, bomb);
        assert_eq!(check(&content).unwrap().1, plain);
    }

    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0_u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
            })
        })
    }

    proptest! {
        /// Whatever is damaged or made up, it is refused or cleaned, never a panic.
        #[test]
        fn no_content_breaks_the_parsers(
            which in 0..3, at in 0_usize..400, byte in any::<u8>(), cut in 0_usize..500,
        ) {
            let format = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP][which as usize];
            let mut content = picture(format);
            let at = at % content.len();
            content[at] = byte;
            content.truncate(content.len().saturating_sub(cut % 64));
            if let Ok((_, clean)) = check(&content) {
                prop_assert_eq!(check(&clean).unwrap().1, clean);
            }
        }
    }
}
