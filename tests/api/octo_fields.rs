//! The fields of every object of OCTO. Each is always there: null is written, never left out.

use serde_json::Value;

/// Asserts that the object has exactly these fields.
#[track_caller]
pub fn has_fields(object: &Value, expected: &str) {
    let mut expected: Vec<_> = expected.split_whitespace().collect();
    let object = object.as_object().unwrap_or_else(|| panic!("{object} has {expected:?}"));
    let mut fields: Vec<_> = object.keys().map(String::as_str).collect();
    expected.sort_unstable();
    fields.sort_unstable();
    assert_eq!(fields, expected);
}

#[track_caller]
fn is_text(value: &Value) {
    assert!(value.as_str().is_some_and(|text| !text.is_empty()), "{value}");
}

#[track_caller]
fn is_utc(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is a time"));
    assert_eq!(text.len(), "2026-11-20T00:00:00Z".len(), "{text}");
    assert!(text.ends_with('Z') && text.parse::<chrono::DateTime<chrono::Utc>>().is_ok(), "{text}");
}

#[track_caller]
fn is_utc_or_null(value: &Value) {
    if !value.is_null() {
        is_utc(value);
    }
}

#[track_caller]
fn is_local(value: &Value) {
    let text = value.as_str().unwrap_or_else(|| panic!("{value} is a time"));
    assert_eq!(text.len(), "2026-11-20T08:00:00+08:00".len(), "{text}");
    assert!(chrono::DateTime::parse_from_rfc3339(text).is_ok(), "{text}");
}

#[track_caller]
pub fn is_supplier(supplier: &Value) {
    has_fields(supplier, "id name endpoint contact");
    has_fields(&supplier["contact"], "website email telephone address");
    for name in ["id", "name", "endpoint"] {
        is_text(&supplier[name]);
    }
}

/// `pricing`: the name of the prices of units, with that capability.
#[track_caller]
pub fn is_product(product: &Value, pricing: Option<&str>) {
    let more = pricing.map_or("", |_| " defaultCurrency availableCurrencies pricingPer");
    let fields = "id internalName reference locale timeZone allowFreesale instantConfirmation \
         instantDelivery availabilityRequired availabilityType deliveryFormats deliveryMethods \
         redemptionMethod options";
    has_fields(product, &format!("{fields}{more}"));
    is_text(&product["id"]);
    is_text(&product["internalName"]);
    assert!(product["reference"].is_null());
    assert_eq!(product["locale"], "id");
    assert_eq!(product["timeZone"], "Asia/Makassar");
    assert_eq!(product["allowFreesale"], false);
    for name in ["instantConfirmation", "instantDelivery", "availabilityRequired"] {
        assert_eq!(product[name], true, "{name}");
    }
    let day = product["id"].as_str().unwrap().ends_with(".day");
    let kind = if day { "OPENING_HOURS" } else { "START_TIME" };
    assert_eq!(product["availabilityType"], kind);
    assert_eq!(product["deliveryFormats"], serde_json::json!(["QRCODE", "PDF_URL"]));
    assert_eq!(product["deliveryMethods"], serde_json::json!(["TICKET", "VOUCHER"]));
    assert_eq!(product["redemptionMethod"], "DIGITAL");
    let options = product["options"].as_array().unwrap();
    assert_eq!(options.len(), 1);
    is_option(&options[0], day, pricing);
}

#[track_caller]
pub fn is_option(option: &Value, day: bool, pricing: Option<&str>) {
    has_fields(
        option,
        "id default internalName reference availabilityLocalStartTimes cancellationCutoff \
         cancellationCutoffAmount cancellationCutoffUnit requiredContactFields restrictions units",
    );
    assert_eq!(option["id"], "DEFAULT");
    assert_eq!(option["default"], true);
    is_text(&option["internalName"]);
    assert!(option["reference"].is_null());
    let times = option["availabilityLocalStartTimes"].as_array().unwrap();
    assert_eq!(times.is_empty(), day, "only a day ticket has no times");
    is_text(&option["cancellationCutoff"]);
    assert!(option["cancellationCutoffAmount"].is_i64());
    is_text(&option["cancellationCutoffUnit"]);
    assert!(option["requiredContactFields"].is_array());
    has_fields(&option["restrictions"], "minUnits maxUnits");
    assert_eq!(option["restrictions"]["minUnits"], 1);
    assert!(option["restrictions"]["maxUnits"].is_i64());
    let units = option["units"].as_array().unwrap();
    assert!(!units.is_empty());
    for unit in units {
        is_unit(unit, pricing);
    }
}

#[track_caller]
pub fn is_unit(unit: &Value, pricing: Option<&str>) {
    let fields = "id internalName reference type restrictions requiredContactFields ";
    has_fields(unit, &format!("{fields}{}", pricing.unwrap_or_default()));
    is_text(&unit["id"]);
    is_text(&unit["internalName"]);
    assert!(unit["reference"].is_null());
    let kinds = ["ADULT", "CHILD", "INFANT", "SENIOR", "STUDENT"];
    assert!(kinds.contains(&unit["type"].as_str().unwrap()));
    let restrictions = &unit["restrictions"];
    has_fields(
        restrictions,
        "minAge maxAge idRequired minQuantity maxQuantity paxCount accompaniedBy",
    );
    assert!(restrictions["minAge"].is_i64() && restrictions["maxAge"].is_i64());
    assert!(restrictions["idRequired"].is_boolean());
    assert!(restrictions["minQuantity"].is_null() && restrictions["maxQuantity"].is_null());
    assert_eq!(restrictions["paxCount"], 1);
    assert!(restrictions["accompaniedBy"].is_array());
    assert!(unit["requiredContactFields"].is_array());
    if let Some(name) = pricing {
        for price in unit[name].as_array().unwrap() {
            is_pricing(price, "");
        }
    }
}

/// `more` are the fields beside those of a price.
#[track_caller]
pub fn is_pricing(pricing: &Value, more: &str) {
    let fields = "original retail net currency currencyPrecision includedTaxes";
    has_fields(pricing, &format!("{fields} {more}"));
    for name in ["original", "retail", "net", "currencyPrecision"] {
        assert!(pricing[name].is_i64(), "{name}");
    }
    assert_eq!(pricing["currency"], "IDR");
    for tax in pricing["includedTaxes"].as_array().unwrap() {
        has_fields(tax, "name original retail net");
    }
}

/// `more` are the fields of pricing.
#[track_caller]
pub fn is_availability(availability: &Value, more: &str) {
    let fields = "id localDateTimeStart localDateTimeEnd utcCutoffAt allDay available status \
         vacancies capacity maxUnits openingHours";
    has_fields(availability, &format!("{fields} {more}"));
    is_text(&availability["id"]);
    is_local(&availability["localDateTimeStart"]);
    is_local(&availability["localDateTimeEnd"]);
    is_utc(&availability["utcCutoffAt"]);
    is_status(availability);
    for name in ["vacancies", "capacity", "maxUnits"] {
        assert!(availability[name].as_i64().is_some_and(|count| count >= 0), "{name}");
    }
    let hours = availability["openingHours"].as_array().unwrap();
    assert_eq!(availability["allDay"], !hours.is_empty());
    are_hours(hours);
}

#[track_caller]
fn is_status(availability: &Value) {
    let status = availability["status"].as_str().unwrap();
    assert!(["AVAILABLE", "LIMITED", "SOLD_OUT", "CLOSED"].contains(&status), "{status}");
    let is_open = ["AVAILABLE", "LIMITED"].contains(&status);
    assert_eq!(availability["available"], is_open);
}

#[track_caller]
fn are_hours(hours: &[Value]) {
    for span in hours {
        has_fields(span, "from to");
        for name in ["from", "to"] {
            assert_eq!(span[name].as_str().unwrap().len(), 5, "HH:MM");
        }
    }
}

#[track_caller]
pub fn is_calendar_day(day: &Value, more: &str) {
    let fields = "localDate available status vacancies capacity openingHours";
    has_fields(day, &format!("{fields} {more}"));
    assert!(day["localDate"].as_str().unwrap().parse::<chrono::NaiveDate>().is_ok());
    is_status(day);
    for name in ["vacancies", "capacity"] {
        assert!(day[name].is_i64(), "{name}");
    }
    are_hours(day["openingHours"].as_array().unwrap());
}

#[track_caller]
pub fn is_booking(booking: &Value, is_priced: bool) {
    let more = if is_priced { "pricing" } else { "" };
    let fields = "id uuid testMode resellerReference supplierReference status utcCreatedAt \
         utcUpdatedAt utcExpiresAt utcRedeemedAt utcConfirmedAt productId product optionId option \
         cancellable cancellation freesale availabilityId availability contact notes \
         deliveryMethods voucher unitItems";
    has_fields(booking, &format!("{fields} {more}"));
    is_text(&booking["id"]);
    let uuid = booking["uuid"].as_str().unwrap();
    assert_eq!(uuid, uuid.to_lowercase());
    assert!(uuid.parse::<dermaga::kernel::ids::Uuid>().is_ok());
    assert_eq!(booking["testMode"], false);
    assert!(booking["supplierReference"].as_str().unwrap().starts_with("DMG-"));
    let status = booking["status"].as_str().unwrap();
    assert!(["ON_HOLD", "CONFIRMED", "EXPIRED", "CANCELLED", "REDEEMED"].contains(&status));
    is_utc(&booking["utcCreatedAt"]);
    is_utc(&booking["utcUpdatedAt"]);
    for name in ["utcExpiresAt", "utcRedeemedAt", "utcConfirmedAt"] {
        is_utc_or_null(&booking[name]);
    }
    let expires = ["ON_HOLD", "EXPIRED"].contains(&status);
    assert_eq!(booking["utcExpiresAt"].is_string(), expires, "{status}");
    assert_eq!(booking["product"]["id"], booking["productId"]);
    let pricing = is_priced.then_some("pricingFrom");
    is_product(&booking["product"], pricing);
    assert_eq!(booking["option"]["id"], booking["optionId"]);
    let day = booking["productId"].as_str().unwrap().ends_with(".day");
    is_option(&booking["option"], day, pricing);
    assert!(booking["cancellable"].is_boolean());
    if !booking["cancellation"].is_null() {
        has_fields(&booking["cancellation"], "refund reason utcCancelledAt");
        is_utc(&booking["cancellation"]["utcCancelledAt"]);
    }
    assert_eq!(booking["freesale"], false);
    assert_eq!(booking["availability"]["id"], booking["availabilityId"]);
    is_availability(&booking["availability"], if is_priced { "unitPricing" } else { "" });
    is_contact(&booking["contact"]);
    assert_eq!(booking["deliveryMethods"], booking["product"]["deliveryMethods"]);
    is_ticket(&booking["voucher"]);
    if is_priced {
        is_pricing(&booking["pricing"], "");
    }
    for (index, item) in booking["unitItems"].as_array().unwrap().iter().enumerate() {
        is_unit_item(item, is_priced);
        let code = booking["supplierReference"].as_str().unwrap();
        assert_eq!(item["supplierReference"], format!("{code}-{}", index + 1));
    }
}

#[track_caller]
fn is_contact(contact: &Value) {
    has_fields(
        contact,
        "fullName firstName lastName emailAddress phoneNumber locales postalCode country notes",
    );
    assert!(contact["locales"].is_array());
}

#[track_caller]
fn is_unit_item(item: &Value, is_priced: bool) {
    let more = if is_priced { "pricing" } else { "" };
    let fields = "uuid resellerReference supplierReference unitId unit status utcRedeemedAt \
         contact ticket";
    has_fields(item, &format!("{fields} {more}"));
    is_text(&item["uuid"]);
    assert_eq!(item["unit"]["id"], item["unitId"]);
    is_unit(&item["unit"], is_priced.then_some("pricing"));
    is_contact(&item["contact"]);
    is_ticket(&item["ticket"]);
    if is_priced {
        is_pricing(&item["pricing"], "");
    }
}

#[track_caller]
fn is_ticket(ticket: &Value) {
    has_fields(ticket, "redemptionMethod utcRedeemedAt deliveryOptions");
    assert_eq!(ticket["redemptionMethod"], "DIGITAL");
    is_utc_or_null(&ticket["utcRedeemedAt"]);
    for option in ticket["deliveryOptions"].as_array().unwrap() {
        has_fields(option, "deliveryFormat deliveryValue");
        is_text(&option["deliveryValue"]);
    }
}
