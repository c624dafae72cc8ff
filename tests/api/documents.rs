//! Documentation agrees with the code.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    path::Path,
};

use dermaga::{api, cli, service, table::document};
use serde_json::{Map, Value, json};

use crate::world::World;

const UPDATE: &str = "run `cargo run -- openapi > docs/openapi.json`";

#[tokio::test]
async fn the_committed_openapi_document_is_the_one_that_is_served() {
    let world = World::on_sqlite().await;
    let made = service::openapi(api::table(world.app.clone()).operations());
    let committed = include_str!("../../docs/openapi.json");
    assert!(made == committed, "docs/openapi.json is out of date: {UPDATE}");
    let served = world.get("/openapi.json").send().await;
    assert_eq!(served.body, serde_json::from_str::<Value>(committed).unwrap());
}

#[tokio::test]
async fn every_operation_is_documented_whole() {
    let world = World::on_sqlite().await;
    let document = world.get("/openapi.json").send().await.body;
    assert_eq!(document["openapi"], "3.1.0");
    let table = api::table(world.app.clone());
    for operation in table.operations() {
        let method = operation.method.as_str().to_lowercase();
        let docs = &document["paths"][operation.path][&method];
        let name = format!("{method} {}", operation.path);
        assert_eq!(docs["operationId"], operation.id, "{name}");
        assert!(docs["summary"].is_string(), "{name}");
        assert_eq!(docs["tags"].as_array().map(Vec::len), Some(1), "{name} has one tag");
        let description = docs["description"].as_str().unwrap_or_default();
        let (text, access) = description.split_once("\n\n**Access:** ").unwrap_or_default();
        assert!(text.len() > 20 && !access.is_empty(), "{name}: write docs/operations/*.md");
        let has_schema = |of: &Value| {
            let of = of["$ref"].as_str().map_or(of, |to| document.pointer(&to[1..]).unwrap());
            let content = of["content"].as_object().into_iter().flatten();
            content.map(|(_, media)| &media["schema"]).any(Value::is_object)
        };
        assert!(has_schema(&docs["responses"]["200"]), "{name} has no answer");
        assert!(has_schema(&docs["responses"]["500"]), "{name} has no errors");
        if let Some(body) = docs.get("requestBody") {
            assert!(has_schema(body) && has_schema(&docs["responses"]["422"]), "{name}");
        }
        let public = operation.access == dermaga::kernel::access::Access::Public;
        let security = docs["security"].as_array().unwrap();
        let by_token = security.iter().any(|one| one.get("bearer").is_some());
        assert_eq!(by_token, !public, "{name}");
    }
    // Every reference leads somewhere.
    let text = document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let pointer = reference.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
    }
}

#[tokio::test]
async fn every_description_belongs_to_an_operation() {
    let world = World::on_sqlite().await;
    let table = api::table(world.app.clone());
    let mut known: Vec<_> = table.operations().iter().map(|operation| operation.id).collect();
    for id in document::operations_with_examples() {
        assert!(known.contains(&id.as_str()), "docs/operations/examples.json: {id} is unknown");
    }
    for id in document::described_operations() {
        let found = known.iter().position(|known| *known == id);
        let found = found.unwrap_or_else(|| panic!("docs/operations: {id} is unknown or twice"));
        known.swap_remove(found);
    }
    assert!(known.is_empty(), "docs/operations: {known:?} are missing");
}

#[tokio::test]
async fn every_tag_is_described_and_used() {
    let world = World::on_sqlite().await;
    let document = world.get("/openapi.json").send().await.body;
    let paths = document["paths"].as_object().unwrap().values();
    let paths = paths.chain(document["webhooks"].as_object().unwrap().values());
    let operations = paths.flat_map(|path| path.as_object().unwrap().values());
    let used: HashSet<_> = operations.map(|docs| docs["tags"][0].as_str().unwrap()).collect();
    let tags = document["tags"].as_array().unwrap();
    let named: HashSet<_> = tags.iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(used, named);
    for tag in tags {
        assert!(tag["description"].as_str().is_some_and(|text| text.len() > 20), "{tag}");
    }
}

/// Checks all examples of the document at once, each by its schema.
#[tokio::test]
async fn every_operation_and_event_has_valid_examples() {
    let world = World::on_sqlite().await;
    let document = world.get("/openapi.json").send().await.body;
    let (mut properties, mut examples) = (Map::new(), Map::new());
    let mut add = |name: String, schema: &Value, example: &Value| {
        assert!(!example.is_null(), "docs/operations/examples.json: {name} is missing");
        properties.insert(name.clone(), schema.clone());
        examples.insert(name, example.clone());
    };
    let paths = document["paths"].as_object().unwrap().values();
    for docs in paths.flat_map(|path| path.as_object().unwrap().values()) {
        let id = docs["operationId"].as_str().unwrap();
        for parameter in docs["parameters"].as_array().into_iter().flatten() {
            let name = format!("{id} {}", parameter["name"].as_str().unwrap());
            match &parameter["example"] {
                Value::Null if parameter["in"] != "path" => {}
                example => add(name, &parameter["schema"], example),
            }
        }
        let request = &docs["requestBody"]["content"]["application/json"];
        if !request.is_null() {
            add(format!("{id} request"), &request["schema"], &request["example"]);
        }
        for (status, response) in docs["responses"].as_object().unwrap() {
            let json = &response["content"]["application/json"];
            if status.starts_with('2') && !json.is_null() {
                add(format!("{id} {status}"), &json["schema"], &json["example"]);
            }
        }
        let samples = docs["x-codeSamples"].as_array().unwrap_or_else(|| panic!("{id}"));
        assert!(samples.iter().all(|sample| sample["source"].as_str().is_some()), "{id}");
    }
    for event in document["webhooks"].as_object().unwrap().values() {
        let schema = &event["post"]["requestBody"]["content"]["application/json"]["schema"];
        let data = &schema["properties"]["data"];
        let name = data["$ref"].as_str().unwrap().strip_prefix("#/components/schemas/").unwrap();
        add(name.into(), data, &document["components"]["schemas"][name]["examples"][0]);
    }
    let all = json!({ "properties": properties, "components": document["components"] });
    let validator = jsonschema::options().should_validate_formats(true).build(&all).unwrap();
    let examples = Value::Object(examples);
    let errors = validator.iter_errors(&examples);
    let errors: Vec<_> =
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "docs/operations: {errors:#?}");
    // The check can fail.
    let mut wrong = examples.clone();
    wrong["create_booking request"]["qty"] = json!("two");
    assert!(!validator.is_valid(&wrong));
}

#[tokio::test]
async fn every_error_is_documented_with_a_valid_example() {
    let world = World::on_sqlite().await;
    let document = world.get("/openapi.json").send().await.body;
    let schema =
        json!({ "$ref": "#/components/schemas/Error", "components": document["components"] });
    let validator = jsonschema::options().build(&schema).unwrap();
    let text = document.to_string();
    for code in document::error_codes() {
        let example = &document["components"]["examples"][code]["value"];
        assert_eq!(example["error"], code);
        assert!(validator.is_valid(example), "{example}");
        let reference = format!("\"#/components/examples/{code}\"");
        assert!(text.contains(&reference), "docs/operations/errors.json: no operation has {code}");
    }
}

#[tokio::test]
async fn every_described_field_exists() {
    fn collect(schema: &Value, owner: &str, found: &mut HashSet<String>) {
        for branch in schema["anyOf"].as_array().into_iter().flatten() {
            collect(branch, owner, found);
        }
        for field in schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name) {
            found.insert(field.clone());
            found.insert(format!("{owner}.{field}"));
        }
    }
    let world = World::on_sqlite().await;
    let document = world.get("/openapi.json").send().await.body;
    let mut found = HashSet::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        collect(schema, name, &mut found);
    }
    let paths = document["paths"].as_object().unwrap().values();
    for docs in paths.flat_map(|path| path.as_object().unwrap().values()) {
        let parameters = docs["parameters"].as_array().into_iter().flatten();
        found.extend(parameters.map(|one| one["name"].as_str().unwrap().to_owned()));
    }
    let unknown: Vec<_> = document::field_keys().filter(|key| !found.contains(*key)).collect();
    assert!(unknown.is_empty(), "docs/operations/fields.json: {unknown:?}");
}

#[tokio::test]
async fn the_reference_works_without_the_internet() {
    let world = World::on_sqlite().await;
    let page = world.get("/docs").send().await;
    assert!(page.header("content-type").starts_with("text/html"));
    let html = page.body.as_str().unwrap();
    assert!(html.contains("/openapi.json"));
    assert!(!html.contains("//") && !html.contains("<link"), "{html}");
    let policy = page.header("content-security-policy");
    assert!(policy.starts_with("default-src 'self'; ") && !policy.contains("script-src"));
    let script = world.get("/docs/reference.js").send().await;
    assert!(script.header("content-type").starts_with("text/javascript"));
    let script = script.body.as_str().unwrap();
    assert!(script.starts_with("/**") && script.len() > 1_000_000);
}

#[test]
fn the_readme_lists_every_setting() {
    let readme = include_str!("../../README.md");
    let table = cli::settings_table();
    assert!(readme.contains(&table), "README.md: paste `cargo run -- config --markdown`");
}

#[test]
fn rules_are_pure() {
    fn rules(folder: &std::path::Path, found: &mut Vec<std::path::PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            let is_part = folder.ends_with("rules");
            match path.is_dir() {
                true => rules(&path, found),
                false if is_part || path.ends_with("rules.rs") || path.ends_with("prices.rs") => {
                    found.push(path)
                }
                false => {}
            }
        }
    }
    let mut found = Vec::new();
    rules(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(!found.is_empty());
    for file in found {
        let code = std::fs::read_to_string(&file).unwrap();
        for impure in ["rusqlite", "axum", "tokio", "Utc::now", "kernel::db", "async "] {
            assert!(!code.contains(impure), "{} has {impure}", file.display());
        }
    }
}

/// SQLite plans a statement again for every value of a bare `LIMIT` parameter; see
/// docs/adr/0017-overload.md.
#[test]
fn limits_do_not_change_plans() {
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let code = std::fs::read_to_string(&path).unwrap();
                    assert!(!code.contains("LIMIT $"), "{}", path.display());
                }
            }
        }
    }
}

/// Which modules of the crate each of its modules imports. Tests inside a module do not count.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut imports = BTreeMap::<String, BTreeSet<String>>::new();
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let inside = path.strip_prefix(&src).unwrap();
            let module = Path::new(inside.iter().next().unwrap()).file_stem().unwrap();
            let code = std::fs::read_to_string(&path).unwrap();
            let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default());
            let code = lines.collect::<Vec<_>>().join("\n");
            let found = imports.entry(module.to_str().unwrap().to_owned()).or_default();
            found.extend(code.split("crate::").skip(1).flat_map(imported));
        }
    }
    // Whatever else is named after `crate::` is a macro.
    let modules: BTreeSet<_> = imports.keys().cloned().collect();
    for (module, found) in &mut imports {
        found.retain(|name| name != module && modules.contains(name));
    }
    imports
}

/// The modules at the beginning of what follows `crate::`, which may be a list in braces.
fn imported(rest: &str) -> Vec<String> {
    let first = |path: &str| {
        let is_name = |c: &char| c.is_alphanumeric() || *c == '_';
        path.trim_start().chars().take_while(is_name).collect::<String>()
    };
    let Some(list) = rest.strip_prefix('{') else { return vec![first(rest)] };
    let (mut depth, mut names) = (1, vec![first(list)]);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => names.push(first(&list[at + 1..])),
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

#[test]
fn imports_are_read_from_lists_and_paths() {
    let list = "{\n    app::App,\n    kernel::{db::Db, error},\n    staff,\n};\nuse b::{c, d};";
    assert_eq!(imported(list), ["app", "kernel", "staff", ""]);
    assert_eq!(imported("kernel::ids::fresh()"), ["kernel"]);
}

#[test]
fn the_kernel_and_the_state_know_no_domain() {
    let imports = imports();
    let of = |module: &str| imports[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("kernel"), [""; 0]);
    assert_eq!(of("app"), ["config", "kernel"]);
}

#[test]
fn modules_import_one_another_without_a_cycle() {
    let mut left = imports();
    assert!(left["bookings"].contains("sailings"), "imports are found");
    loop {
        let before = left.len();
        let remaining: BTreeSet<_> = left.keys().cloned().collect();
        left.retain(|_, imports| !imports.is_disjoint(&remaining));
        if left.len() == before {
            break;
        }
    }
    let in_cycles: BTreeSet<_> = left.keys().cloned().collect();
    for imports in left.values_mut() {
        imports.retain(|name| in_cycles.contains(name));
    }
    assert!(left.is_empty(), "these import one another, or what does: {left:#?}");
}

/// Domains announce typed events: names of messages are written down in one file.
#[test]
fn only_events_put_messages_into_the_outbox() {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![source.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let of = path.strip_prefix(&source).unwrap();
            if of.starts_with("kernel") || of == std::path::Path::new("events.rs") {
                continue;
            }
            let code = std::fs::read_to_string(&path).unwrap();
            for call in ["outbox::put(", "outbox::put_about(", "topic: \""] {
                assert!(!code.contains(call), "{} has {call}", of.display());
            }
        }
    }
}
