//! The dashboard, the alert rules and the runbooks agree with the metrics of the service.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use dermaga::{api, pages};
use serde_json::{Value, json};

use crate::world::World;

const DASHBOARD: &str = include_str!("../../deploy/grafana/dermaga.json");
const ALERTS: &str = include_str!("../../deploy/prometheus/alerts.yml");
const SCRAPE: &str = include_str!("../../deploy/prometheus/prometheus.yml");
const GUIDE: &str = include_str!("../../docs/operating.md");

/// The labels of a metric, and the values that they have.
type Labels = BTreeMap<String, BTreeSet<String>>;

/// What a service offers.
struct Offered {
    metrics: BTreeMap<String, Labels>,
    routes: BTreeSet<String>,
}

/// Metrics of a service that has had some traffic and whose jobs have run: a metric with labels is not
/// written before it has a value.
async fn offered(world: &World) -> Offered {
    let worker = tokio::spawn(world.app.clone().run_jobs());
    let has_counted = async {
        let counted = || {
            let jobs = world.app.jobs.all();
            jobs.iter().any(|job| job.name == "count_set_aside" && job.state().runs > 0)
        };
        while !counted() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), has_counted).await.unwrap();
    let admin = world.admin().await;
    world.get("/user/me").by(&admin).send().await.ok();
    world.get("/made/up").send().await.is(404, "not_found");
    // Routes of OCTO are in no table that tests can read.
    assert_eq!(world.get("/octo/bookings").bytes().await.0, 400, "it has no key");
    // The first answer is counted in the second.
    world.get("/metrics").bytes().await;
    let (status, _, text) = world.get("/metrics").bytes().await;
    assert_eq!(status, 200);
    world.app.stop();
    worker.await.unwrap();
    let metrics = samples(&String::from_utf8(text).unwrap());
    let table = api::table(world.app.clone());
    let operations = table.operations().iter().map(|operation| operation.path.to_owned());
    let pages = pages::pages().pages.into_iter().map(|page| page.path.to_owned());
    let called = metrics["dermaga_requests_total"]["route"].clone();
    Offered { routes: operations.chain(pages).chain(called).collect(), metrics }
}

/// Reads the exposition format.
fn samples(text: &str) -> BTreeMap<String, Labels> {
    let mut metrics = BTreeMap::<String, Labels>::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let name: String = line.chars().take_while(is_word).collect();
        let labels = metrics.entry(name.clone()).or_default();
        for Matcher { label, value, .. } in matchers(&line[name.len()..]).0 {
            labels.entry(label).or_default().insert(value);
        }
    }
    metrics
}

fn is_word(c: &char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | ':')
}

struct Matcher {
    label: String,
    operator: String,
    value: String,
}

/// Reads `{label="value",…}` at the beginning of a text, and returns the rest of it.
fn matchers(text: &str) -> (Vec<Matcher>, &str) {
    let (mut found, Some(mut rest)) = (Vec::new(), text.trim_start().strip_prefix('{')) else {
        return (Vec::new(), text);
    };
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(after) = rest.strip_prefix('}') {
            return (found, after);
        }
        let (head, quoted) = rest.split_once('"').expect("a label has a value in quotes");
        let (value, after) = quoted.split_once('"').expect("a value ends");
        let label: String = head.chars().take_while(is_word).collect();
        let operator = head[label.len()..].trim().to_owned();
        assert!(!value.contains('\\'), "{value} is not understood here");
        found.push(Matcher { label, operator, value: value.to_owned() });
        rest = after;
    }
}

/// What a PromQL expression refers to.
#[derive(Default)]
struct Used {
    metrics: Vec<(String, Vec<Matcher>)>,
    /// Labels after `by`, `on` and the like.
    grouped: Vec<String>,
}

/// Words that are no metrics: aggregations and operators. Functions are followed by a parenthesis.
const WORDS: [&str; 12] =
    ["sum", "min", "max", "avg", "count", "topk", "and", "or", "unless", "offset", "bool", "inf"];
const GROUPING: [&str; 6] = ["by", "without", "on", "ignoring", "group_left", "group_right"];

/// Reads as much of PromQL as the files use.
fn used(expression: &str) -> Used {
    let (mut used, mut rest) = (Used::default(), expression);
    while let Some(c) = rest.chars().next() {
        let word: String = rest.chars().take_while(is_word).collect();
        if c == '[' {
            rest = rest.split_once(']').expect("a range ends").1;
        } else if word.is_empty() {
            rest = &rest[c.len_utf8()..];
        } else {
            rest = &rest[word.len()..];
            let opens = rest.trim_start().strip_prefix('(');
            if let Some(list) = opens.filter(|_| GROUPING.contains(&word.as_str())) {
                let (list, after) = list.split_once(')').expect("a list ends");
                let labels = list.split(',').map(|label| label.trim().to_owned());
                used.grouped.extend(labels.filter(|label| !label.is_empty()));
                rest = after;
            } else if opens.is_none() && !c.is_ascii_digit() && !WORDS.contains(&word.as_str()) {
                let (matchers, after) = matchers(rest);
                used.metrics.push((word, matchers));
                rest = after;
            }
        }
    }
    used
}

/// The labels in `{{label}}` of a legend and `{{ $labels.label }}` of an annotation.
fn shown_labels(text: &str) -> Vec<String> {
    let shown = text.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
    let names = shown.map(|(name, _)| name.trim());
    let names = names.filter_map(|name| match name.strip_prefix('$') {
        Some(variable) => variable.strip_prefix("labels."),
        None => Some(name),
    });
    names.map(|name| name.split([' ', '|']).next().unwrap_or_default().to_owned()).collect()
}

impl Offered {
    /// What an expression, and a text about its result, name that does not exist.
    fn faults(&self, expression: &str, text: &str) -> Vec<String> {
        let (used, mut faults) = (used(expression), Vec::new());
        for (metric, matchers) in &used.metrics {
            // Made by Prometheus for each target.
            if metric == "up" {
                continue;
            }
            let Some(labels) = self.metrics.get(metric) else {
                faults.push(format!("{metric} is no metric"));
                continue;
            };
            for matcher in matchers.iter().filter(|matcher| matcher.label != "instance") {
                match labels.get(&matcher.label) {
                    Some(values) => faults.extend(self.unknown_values(matcher, values)),
                    None => faults.push(format!("{metric} has no label {}", matcher.label)),
                }
            }
        }
        for label in used.grouped.iter().chain(&shown_labels(text)) {
            let has = |(metric, _): &(String, _)| {
                label == "instance"
                    || self.metrics.get(metric).is_some_and(|of| of.contains_key(label))
            };
            if !used.metrics.iter().any(has) {
                faults.push(format!("{label} is a label of none of the metrics"));
            }
        }
        if used.metrics.is_empty() {
            faults.push("no metric".into());
        }
        faults.into_iter().map(|fault| format!("{fault}: {expression}")).collect()
    }

    /// Alternatives of a matcher that no series can have: jobs, outcomes and routes are known. An
    /// alternative with a wildcard must fit one.
    fn unknown_values(&self, matcher: &Matcher, values: &BTreeSet<String>) -> Vec<String> {
        let known = match matcher.label.as_str() {
            "route" => &self.routes,
            "task" | "outcome" | "le" => values,
            _ => return Vec::new(),
        };
        let fits = |pattern: &str, value: &str| {
            let mut rest = value;
            let mut parts = pattern.split(".*").peekable();
            let first = parts.next().unwrap_or_default();
            let Some(after) = rest.strip_prefix(first) else { return false };
            rest = after;
            let open = parts.peek().is_some();
            for part in parts {
                let Some((_, after)) = rest.split_once(part) else { return false };
                rest = after;
            }
            rest.is_empty() || open && pattern.ends_with(".*")
        };
        let is_regex = matcher.operator.ends_with('~');
        let alternatives: Vec<_> = match is_regex {
            true => matcher.value.split('|').collect(),
            false => vec![matcher.value.as_str()],
        };
        let unknown = alternatives.into_iter().filter(|pattern| {
            !pattern.starts_with('$')
                && !known.iter().any(|value| match is_regex {
                    true => fits(pattern, value),
                    false => value == pattern,
                })
        });
        unknown.map(|value| format!("{} is never {value}", matcher.label)).collect()
    }
}

/// A rule of alerts.yml.
struct Alert {
    name: String,
    /// `expr`, `for`, and the labels and annotations.
    fields: BTreeMap<String, String>,
}

/// Reads the rules line by line: a key, a value in quotes or without, or a folded block.
fn alerts(yaml: &str) -> Vec<Alert> {
    let mut alerts = Vec::<Alert>::new();
    let mut block: Option<(usize, String)> = None;
    for line in yaml.lines() {
        let (content, indent) = (line.trim(), line.len() - line.trim_start().len());
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        block = block.filter(|(outer, _)| indent > *outer);
        if let (Some((_, key)), Some(alert)) = (&block, alerts.last_mut()) {
            let text = alert.fields.entry(key.clone()).or_default();
            *text = format!("{text} {content}").trim().to_owned();
            continue;
        }
        let Some((key, value)) = content.split_once(": ") else { continue };
        let value = value.trim_matches('"').to_owned();
        match (key, alerts.last_mut()) {
            ("- alert", _) => alerts.push(Alert { name: value, fields: BTreeMap::new() }),
            (_, Some(_)) if value == ">-" => block = Some((indent, key.to_owned())),
            (key, Some(alert)) if !key.starts_with('-') => {
                alert.fields.insert(key.to_owned(), value);
            }
            _ => {}
        }
    }
    alerts
}

/// Level, text and address of the headings of a Markdown file, as GitHub makes them.
fn headings(markdown: &str) -> Vec<(usize, &str, String)> {
    let mut is_code = false;
    let lines = markdown.lines().filter(|line| {
        is_code ^= line.trim_start().starts_with("```");
        !is_code
    });
    let found = lines.filter_map(|line| {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        let text = text.strip_prefix(' ').filter(|_| level > 0)?.trim();
        let kept = text.to_lowercase().replace(' ', "-");
        let anchor = kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        Some((level, text, anchor.collect()))
    });
    found.collect()
}

/// The addresses of the sections under "Runbooks", each with its text.
fn runbooks() -> BTreeMap<String, &'static str> {
    let (_, after) = GUIDE.split_once("\n## Runbooks\n").expect("the guide has runbooks");
    let all = after.split("\n## ").next().unwrap_or_default();
    let sections = all.split("\n### ").skip(1).map(|section| {
        let title = section.lines().next().unwrap_or_default();
        let anchor = headings(GUIDE).into_iter().find(|(_, text, _)| *text == title);
        (anchor.expect("a heading").2, section)
    });
    sections.collect()
}

/// Expression and legend of every query of the dashboard, with the title of its panel.
fn queries(dashboard: &Value) -> Vec<(&str, &str, &str)> {
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| {
        let title = panel["title"].as_str().unwrap();
        let targets = panel["targets"].as_array().into_iter().flatten();
        targets.map(move |target| {
            let legend = target["legendFormat"].as_str().unwrap_or_default();
            (title, target["expr"].as_str().unwrap(), legend)
        })
    });
    targets.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_dashboard_and_the_alerts_use_metrics_that_exist() {
    let world = World::on_sqlite().await;
    let offered = offered(&world).await;
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let mut faults = Vec::new();
    let queries = queries(&dashboard);
    assert!(queries.len() > 30, "queries are found");
    for (title, expression, legend) in queries {
        let found = offered.faults(expression, legend);
        faults.extend(found.into_iter().map(|fault| format!("{title}: {fault}")));
    }
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let query = variable["definition"].as_str().unwrap();
        let query = query.strip_prefix("label_values(").and_then(|rest| rest.strip_suffix(')'));
        let (series, label) = query.and_then(|query| query.rsplit_once(',')).unwrap();
        faults.extend(offered.faults(series, &format!("{{{{{}}}}}", label.trim())));
    }
    let alerts = alerts(ALERTS);
    assert_eq!(alerts.len(), ALERTS.matches("- alert: ").count(), "alerts are found");
    for Alert { name, fields } in &alerts {
        let text = format!("{} {}", fields["summary"], fields["description"]);
        let found = offered.faults(&fields["expr"], &text);
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{faults:#?}");

    // The check can fail.
    for (expression, legend, fault) in [
        ("rate(dermaga_made_up_total[5m])", "", "dermaga_made_up_total is no metric"),
        ("sum(rate(dermaga_requests[5m])) > 1", "", "dermaga_requests is no metric"),
        ("process_open_fds", "", "process_open_fds is no metric"),
        ("dermaga_connections{color=\"red\"}", "", "dermaga_connections has no label color"),
        ("dermaga_rows_set_aside{job=\"expire_holds\"}", "", "has no label job"),
        ("dermaga_rows_set_aside{task=~\"idle|expire_.*\"}", "", "is never idle"),
        ("dermaga_requests_total{route=\"/v1/bookings\"}", "", "route is never /v1/bookings"),
        ("sum by (color) (dermaga_connections)", "", "color is a label of none"),
        ("dermaga_statements_total", "{{route}}", "route is a label of none"),
        ("dermaga_statements_total", "{{ $labels.route }}", "route is a label of none"),
        ("vector(1)", "", "no metric"),
    ] {
        let found = offered.faults(expression, legend);
        assert!(found.len() == 1 && found[0].contains(fault), "{expression}: {found:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_guide_describes_every_metric() {
    let world = World::on_sqlite().await;
    let offered = offered(&world).await;
    let (_, table) = GUIDE.split_once("\n| Metric |").expect("the guide has a table of metrics");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let described = rows.map(|row| {
        let name = row.split('`').nth(1).expect("a row begins with the metric");
        name.split('{').next().unwrap_or_default().to_owned()
    });
    let families = offered.metrics.keys().map(|name| {
        let parts = ["_bucket", "_sum", "_count"];
        let family = parts.iter().find_map(|part| name.strip_suffix(part));
        family.unwrap_or(name).to_owned()
    });
    assert_eq!(described.collect::<BTreeSet<_>>(), families.collect::<BTreeSet<_>>());
}

#[test]
fn every_alert_leads_to_a_runbook() {
    let runbooks = runbooks();
    for Alert { name, fields } in alerts(ALERTS) {
        for field in ["expr", "severity", "summary", "description", "runbook"] {
            assert!(fields.get(field).is_some_and(|text| !text.is_empty()), "{name}: no {field}");
        }
        let runbook = fields["runbook"].strip_prefix("docs/operating.md#");
        let runbook = runbook.unwrap_or_else(|| panic!("{name}: {}", fields["runbook"]));
        assert!(runbooks.contains_key(runbook), "{name}: {runbook} is none of {runbooks:#?}");
    }
    for (anchor, text) in runbooks {
        for part in ["**Symptoms.**", "**Check.**", "**Steps.**", "**Afterwards.**"] {
            assert!(text.contains(part), "{anchor} has no {part}");
        }
    }
}

#[test]
fn every_link_inside_the_guide_leads_somewhere() {
    let headings = headings(GUIDE);
    let anchors: BTreeSet<_> = headings.iter().map(|(_, _, anchor)| anchor.as_str()).collect();
    assert_eq!(anchors.len(), headings.len(), "no two sections have the same heading");
    let links: Vec<_> =
        GUIDE.split("](#").skip(1).filter_map(|rest| rest.split_once(')')).collect();
    assert!(!links.is_empty());
    for (link, _) in links {
        assert!(anchors.contains(link), "#{link}");
    }
}

#[test]
fn the_dashboard_can_be_imported() {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let ids: BTreeSet<_> = panels.iter().map(|panel| panel["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), panels.len(), "every panel has an id of its own");
    // Grafana asks for the data source, and puts it in place of the variable.
    assert_eq!(dashboard["__inputs"][0]["name"], "DS_PROMETHEUS");
    let source = json!({ "type": "prometheus", "uid": "${DS_PROMETHEUS}" });
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        assert_eq!(panel["datasource"], source, "{}", panel["title"]);
        for target in panel["targets"].as_array().unwrap() {
            assert_eq!(target["datasource"], source, "{}", panel["title"]);
        }
    }
    // The rules and the dashboard select this name.
    assert!(SCRAPE.contains("\n  - job_name: dermaga\n"));
    for text in [ALERTS, DASHBOARD] {
        let jobs = text.split("{job=").skip(1).map(|rest| rest.trim_start_matches(['\\', '"']));
        assert!(jobs.clone().count() > 0);
        assert!(jobs.clone().all(|job| job.starts_with("dermaga")));
    }
}

#[test]
fn expressions_are_read() {
    let used = used("topk(3, sum by (a, b) (rate(m_total{c=\"x}\",d!~\"y|z\"}[5m]))) > 1e3 or n");
    let names: Vec<_> = used.metrics.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["m_total", "n"]);
    assert_eq!(used.grouped, ["a", "b"]);
    let matchers = &used.metrics[0].1;
    let read: Vec<_> = matchers.iter().map(|of| (&*of.label, &*of.operator, &*of.value)).collect();
    assert_eq!(read, [("c", "=", "x}"), ("d", "!~", "y|z")]);
    assert_eq!(shown_labels("{{a}} {{ $labels.b }} {{ $value | humanize }}"), ["a", "b"]);
    let yaml = "
    rules:
      - alert: A
        expr: >-
          a > 1
          and b
        labels:
          severity: x
      # A comment.
      - alert: B
        expr: c == 0
        annotations:
          summary: \"d: e\"";
    let alerts = alerts(yaml);
    assert_eq!(alerts.len(), 2);
    assert_eq!((&*alerts[0].fields["expr"], &*alerts[0].fields["severity"]), ("a > 1 and b", "x"));
    assert_eq!((&*alerts[1].fields["expr"], &*alerts[1].fields["summary"]), ("c == 0", "d: e"));
}
