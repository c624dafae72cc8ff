//! Bodies of the type `multipart/form-data`.

const BOUNDARY: &str = "boundary-of-the-tests";

#[derive(Default)]
pub struct Form {
    parts: Vec<u8>,
}

impl Form {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn text(self, name: &str, value: &str) -> Self {
        self.part(&format!("name=\"{name}\""), value.as_bytes())
    }

    /// A part named `file`.
    pub fn file(self, file_name: &str, content: &[u8]) -> Self {
        self.file_as("file", file_name, content)
    }

    pub fn file_as(self, name: &str, file_name: &str, content: &[u8]) -> Self {
        self.part(&format!("name=\"{name}\"; filename=\"{file_name}\""), content)
    }

    fn part(mut self, disposition: &str, content: &[u8]) -> Self {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n");
        self.parts.extend([head.as_bytes(), content, b"\r\n"].concat());
        self
    }

    /// The content type and the body.
    pub fn finish(mut self) -> (String, Vec<u8>) {
        self.parts.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
        (format!("multipart/form-data; boundary={BOUNDARY}"), self.parts)
    }
}
