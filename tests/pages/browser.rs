//! Chromium, driven by WebDriver. Without a browser the tests that need one say so and pass; with
//! `REQUIRE_BROWSER` they fail.
//!
//! The protocol is a handful of JSON calls. A library for it would enable features of proc-macro crates
//! that the service does not need, and with them rebuild all dependencies for the tests.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock},
    time::{Duration, Instant},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::world::{self, Someone, World};

/// Browsers are heavy, so only a few run at once.
static SLOTS: Semaphore = Semaphore::const_new(2);

pub struct Browser {
    http: reqwest::Client,
    /// The address of the session.
    session: String,
    pub base: String,
    _slot: SemaphorePermit<'static>,
}

#[derive(Clone, Copy)]
pub struct Look {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
}

pub const DESK: Look = Look { width: 1280, height: 900, dark: false };
pub const PHONE: Look = Look { width: 360, height: 640, ..DESK };

/// One driver for all tests. It ends with the process.
fn driver() -> Option<&'static str> {
    static DRIVER: OnceLock<Option<String>> = OnceLock::new();
    static CHILD: Mutex<Option<Child>> = Mutex::new(None);
    let address = DRIVER.get_or_init(|| {
        let name = std::env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        // Ends the driver when its standard input is closed, which happens at the end of this process.
        let script = "\"$1\" --port=0 & driver=$!; cat >/dev/null; kill $driver";
        let is_installed = Command::new(&name).arg("--version").output().is_ok();
        let started = Command::new("sh")
            .args(["-c", script, "sh", &name])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let (true, Ok(mut child)) = (is_installed, started) else {
            assert!(std::env::var_os("REQUIRE_BROWSER").is_none(), "chromedriver is not installed");
            eprintln!("no chromedriver: tests in a browser are skipped");
            return None;
        };
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map_while(Result::ok);
        let port = lines.find_map(|line| {
            let after = line.split("on port ").nth(1)?;
            after.trim_end_matches('.').parse::<u16>().ok().filter(|port| *port != 0)
        });
        // Reads further output, so that a full pipe does not block it.
        std::thread::spawn(move || lines.for_each(drop));
        *CHILD.lock().unwrap() = Some(child);
        Some(format!("http://127.0.0.1:{}", port.expect("the driver says its port")))
    });
    address.as_deref()
}

/// A browser, or `None` where there is none.
pub async fn open(world: &World, look: Look) -> Option<Browser> {
    let driver = driver()?;
    let slot = SLOTS.acquire().await.unwrap();
    let mut arguments = vec![
        "--headless=new".to_owned(),
        "--no-sandbox".into(),
        "--disable-gpu".into(),
        "--disable-quic".into(),
        "--no-first-run".into(),
        "--disable-background-networking".into(),
        "--disable-component-update".into(),
        "--disable-sync".into(),
        "--disable-dev-shm-usage".into(),
        "--lang=en".into(),
        "--accept-lang=en".into(),
        // A camera for the pier.
        "--use-fake-device-for-media-stream".into(),
        "--use-fake-ui-for-media-stream".into(),
        format!("--window-size={},{}", look.width, look.height),
    ];
    if look.dark {
        arguments.push("--blink-settings=preferredColorScheme=0".into());
    }
    let mut options = json!({ "args": arguments });
    if look.width < 500 {
        // A window is not narrower than 500 pixels.
        options["mobileEmulation"] = json!({ "deviceMetrics": { "width": look.width, "height": look.height, "pixelRatio": 1.0 } });
    }
    let wish = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
    let http = world::client();
    let body = json!({ "capabilities": { "alwaysMatch": wish } });
    let made = send(&http, Method::POST, &format!("{driver}/session"), body).await;
    let id = made["sessionId"].as_str().expect("the browser starts");
    let session = format!("{driver}/session/{id}");
    let base = format!("http://{}", world.address);
    Some(Browser { http, session, base, _slot: slot })
}

/// Sends a command and returns its value; a refusal is a panic.
async fn send(http: &reqwest::Client, method: Method, url: &str, body: Value) -> Value {
    let answer = try_send(http, method, url, &body).await;
    answer.unwrap_or_else(|error| panic!("{url} {body}: {error:#}"))
}

/// Sends a command and returns its value, or why the driver refused it.
async fn try_send(
    http: &reqwest::Client,
    method: Method,
    url: &str,
    body: &Value,
) -> Result<Value, Value> {
    let request = http.request(method.clone(), url);
    let request = if method == Method::POST { request.json(body) } else { request };
    let response = request.send().await.expect("the driver answers");
    let status = response.status();
    let mut answer: Value = response.json().await.expect("the driver answers with JSON");
    if status.is_success() { Ok(answer["value"].take()) } else { Err(answer) }
}

pub const TAB: &str = "\u{e004}";
pub const SHIFT: &str = "\u{e008}";
pub const ENTER: &str = "\u{e007}";
pub const SPACE: &str = " ";

/// The key of an element's reference.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

impl Browser {
    async fn post(&self, command: &str, body: Value) -> Value {
        send(&self.http, Method::POST, &format!("{}/{command}", self.session), body).await
    }

    async fn get(&self, command: &str) -> Value {
        send(&self.http, Method::GET, &format!("{}/{command}", self.session), Value::Null).await
    }

    pub async fn goes(&self, path: &str) {
        self.opens(&format!("{}{path}", self.base)).await;
    }

    pub async fn opens(&self, url: &str) {
        self.post("url", json!({ "url": url })).await;
    }

    pub async fn goes_back(&self) {
        self.post("back", json!({})).await;
    }

    pub async fn reloads(&self) {
        self.post("refresh", json!({})).await;
    }

    pub async fn title(&self) -> String {
        self.get("title").await.as_str().unwrap_or_default().to_owned()
    }

    /// The element, once it is there: a page may still be loading.
    pub async fn element(&self, using: &str, value: &str) -> String {
        let (url, wish) =
            (format!("{}/element", self.session), json!({ "using": using, "value": value }));
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            match try_send(&self.http, Method::POST, &url, &wish).await {
                Ok(found) => return found[ELEMENT].as_str().expect(value).to_owned(),
                Err(error) if Instant::now() > until => panic!("{value}: {error:#}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// Which of the elements are displayed.
    pub async fn is_any_displayed(&self, selector: &str) -> bool {
        let wish = json!({ "using": "css selector", "value": selector });
        let found = self.post("elements", wish).await;
        for element in found.as_array().into_iter().flatten() {
            let id = element[ELEMENT].as_str().unwrap();
            if self.get(&format!("element/{id}/displayed")).await == true {
                return true;
            }
        }
        false
    }

    /// Signs in by the cookie of a session.
    pub async fn signs_in(&self, who: &Someone) {
        self.goes("/console/login").await;
        self.cookie("dermaga_session", &who.token).await;
    }

    pub async fn cookie(&self, name: &str, value: &str) {
        let cookie = json!({ "cookie": { "name": name, "value": value, "path": "/" } });
        self.post("cookie", cookie).await;
    }

    /// A command of the DevTools protocol.
    pub async fn devtools(&self, command: &str, params: Value) -> Value {
        let body = json!({ "cmd": command, "params": params });
        self.post("goog/cdp/execute", body).await
    }

    pub async fn types(&self, selector: &str, text: &str) {
        let field = self.element("css selector", selector).await;
        self.post(&format!("element/{field}/clear"), json!({})).await;
        self.post(&format!("element/{field}/value"), json!({ "text": text })).await;
    }

    /// Chooses a file of this machine.
    pub async fn chooses_file(&self, selector: &str, file: &std::path::Path) {
        let field = self.element("css selector", selector).await;
        let text = file.to_str().unwrap();
        self.post(&format!("element/{field}/value"), json!({ "text": text })).await;
    }

    /// Scripts of pages run no more. Those of this driver do.
    pub async fn switches_scripts_off(&self) {
        self.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
    }

    /// The page as it is printed, in the size that its stylesheet says.
    pub async fn prints(&self) -> Vec<u8> {
        let wish = json!({ "preferCSSPageSize": true });
        let printed = self.devtools("Page.printToPDF", wish).await;
        BASE64_STANDARD.decode(printed["data"].as_str().unwrap()).unwrap()
    }

    pub async fn presses(&self, selector: &str) {
        let element = self.element("css selector", selector).await;
        // The driver scrolls without regard to the bar at the foot of a phone.
        let script = "arguments[0].scrollIntoView({ block: 'center' })";
        let wish = json!({ "script": script, "args": [{ ELEMENT: &element }] });
        self.post("execute/sync", wish).await;
        self.post(&format!("element/{element}/click"), json!({})).await;
    }

    /// The page in English, if it is in Indonesian.
    pub async fn goes_in_english(&self) {
        let path = self.path().await;
        if !path.starts_with("/en") {
            self.goes(&format!("/en{path}")).await;
        }
    }

    pub async fn enters_frame(&self, selector: &str) {
        let element = self.element("css selector", selector).await;
        self.post("frame", json!({ "id": { ELEMENT: element } })).await;
    }

    pub async fn leaves_frame(&self) {
        self.post("frame", json!({ "id": null })).await;
    }

    /// Presses a key, or types a text key by key, wherever the focus is.
    pub async fn keys(&self, text: &str) {
        let strokes: Vec<_> = text
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.post("actions", json!({ "actions": [keyboard] })).await;
    }

    /// Presses Tab with Shift.
    pub async fn tabs_back(&self) {
        let strokes = [("keyDown", SHIFT), ("keyDown", TAB), ("keyUp", TAB), ("keyUp", SHIFT)];
        let strokes = strokes.map(|(kind, key)| json!({ "type": kind, "value": key }));
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": strokes });
        self.post("actions", json!({ "actions": [keyboard] })).await;
    }

    /// Presses Tab until the focus is on this element. Whatever has the focus on the way shows it.
    pub async fn tabs_to(&self, selector: &str) {
        let script = format!(
            "const e = document.activeElement, s = getComputedStyle(e);
             return [e.matches({selector:?}),
               e === document.body || (s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2),
               e.outerHTML.slice(0, 200)]"
        );
        for _ in 0..80 {
            self.keys(TAB).await;
            let at = self.runs(&script).await;
            assert_eq!(at[1], true, "the focus cannot be seen: {}", at[2]);
            if at[0] == true {
                return;
            }
        }
        panic!("{selector} is not reached by the keyboard on {}", self.path().await);
    }

    /// Follows a link with this text.
    pub async fn follows(&self, text: &str) {
        // It may be among the further actions.
        let wish = json!({ "using": "link text", "value": text });
        let found = self.post("elements", wish).await;
        if found.as_array().is_some_and(Vec::is_empty) {
            self.presses("[popovertarget]").await;
        }
        let link = self.element("link text", text).await;
        self.post(&format!("element/{link}/click"), json!({})).await;
    }

    /// The path and query of the current page.
    pub async fn path(&self) -> String {
        let url = self.get("url").await;
        let url = url.as_str().unwrap_or_default();
        url.strip_prefix(&self.base).unwrap_or(url).to_owned()
    }

    /// The text of the page as it is seen. Empty while another page is loading: the driver refuses a
    /// script whose page goes away.
    pub async fn text(&self) -> String {
        let script = "return document.body ? document.body.innerText : ''";
        let (url, body) =
            (format!("{}/execute/sync", self.session), json!({ "script": script, "args": [] }));
        let text = try_send(&self.http, Method::POST, &url, &body).await.unwrap_or_default();
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page has these words.
    pub async fn says(&self, words: &str) {
        for _ in 0..300 {
            if self.text().await.contains(words) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{words:?} is not on {}:\n{}", self.path().await, self.text().await);
    }

    /// Waits for the page that a form leads to. Words may be on the page before, too.
    pub async fn arrives(&self, path: &str) {
        for _ in 0..300 {
            if self.path().await == path {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{path} is not {}:\n{}", self.path().await, self.text().await);
    }

    pub async fn runs(&self, script: &str) -> Value {
        self.post("execute/sync", json!({ "script": script, "args": [] })).await
    }

    /// Asserts that the browser has logged no violation and no error. A refused form is answered
    /// with its status, which the browser logs as well. On a busy machine Chromium now and then
    /// renders a page before it has read the rule of its stylesheet that fades pages over: it then
    /// shows the page without the animation, and logs that.
    pub async fn has_empty_log(&self) {
        let log = self.post("se/log", json!({ "type": "browser" })).await;
        let entries = log.as_array().cloned().unwrap_or_default().into_iter().filter(|entry| {
            let message = entry["message"].as_str().unwrap_or_default();
            let is_refusal =
                message.contains("Failed to load resource") && message.contains("status of 4");
            !is_refusal && !message.contains("DOMException: Transition was ")
        });
        let entries: Vec<_> = entries.collect();
        assert!(entries.is_empty(), "{entries:#?}");
    }

    /// Drops what the browser has logged, such as requests that failed while the service was stopped.
    pub async fn forgets_log(&self) {
        self.post("se/log", json!({ "type": "browser" })).await;
    }

    pub async fn closes(self) {
        self.has_empty_log().await;
        self.quits().await;
    }

    pub async fn quits(self) {
        send(&self.http, Method::DELETE, &self.session, Value::Null).await;
    }

    /// Writes a picture of the page to `target/screenshots`.
    pub async fn pictures(&self, name: &str) {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("target/screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        let picture = self.get("screenshot").await;
        let picture = BASE64_STANDARD.decode(picture.as_str().unwrap()).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), picture).unwrap();
    }
}
