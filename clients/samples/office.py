"""What admins and staff do: accounts, permissions, texts, promotions, files, notifications."""

from __future__ import annotations

import time
from urllib.parse import parse_qsl, urlsplit

from calls import Upload
from journey import GUEST, PADANG_BAI, Account, Journey, code_of
from outside import HOOKS
from stable import EXPIRES, SIGNATURE

PHOTO = Upload("boat.png", "image/png")
KETUT = "ketut@dermaga.example"


def tell(j: Journey) -> None:
    sign_in(j)
    profile(j)
    second_factor(j)
    users(j)
    staff(j)
    promotions(j)
    taxes(j)
    texts(j)
    harbours(j)
    files(j)
    webhooks(j)
    notifications(j)


def sign_in(j: Journey) -> None:
    j.sample(
        "login",
        GUEST,
        body={"email": "admin@dermaga.example", "password": "dermaga demo 2026", "role": "any"},
        show="session: user.name, expires_at",
    )
    j.sample("remember_me", j.admin, body={"email": j.admin.email}, show="device: remember_token")
    j.sample("reauthenticate", j.admin, body={"password": "dermaga demo 2026"})
    j.sample("logout", j.sign_in("dian@dermaga.example"))
    j.sample("forgot_password", GUEST, body={"email": KETUT})
    password = "perahu biru di teluk 41"
    token = j.service.mailed_token(KETUT, "reset-password")
    j.sample(
        "reset_password",
        GUEST,
        body={"token": token, "password": password, "cpassword": password},
    )


def profile(j: Journey) -> None:
    password = "perahu biru di teluk 41"
    ketut = j.sign_in(KETUT, password)
    j.sample("get_profile", ketut, show="me: name, email, role")
    other = j.sign_in(KETUT, password)
    sessions = j.sample("list_sessions", ketut, show="session: address, last_used_at, current")
    [ended] = [session for session in sessions if not session["current"]]
    j.sample("end_session", ketut, ended["id"])
    del other
    new = "karang putih di teluk 42"
    j.sample(
        "change_password",
        ketut,
        body={"current_password": password, "password": new, "cpassword": new},
    )
    moved = "ketut.arta@dermaga.example"
    j.sample(
        "update_profile",
        ketut,
        body={
            "name": "Ketut Arta",
            "email": moved,
            "phone": "081234567890",
            "avatar_file_id": "",
            "current_password": new,
        },
        show="me: name, email, pending_email",
    )
    token = j.service.mailed_token(moved, "confirm-email")
    j.sample("confirm_email", GUEST, body={"token": token})
    token = j.service.mailed_token(KETUT, "cancel-email-change")
    j.sample("cancel_email_change", GUEST, body={"token": token})


def second_factor(j: Journey) -> None:
    email, password = "komang@dermaga.example", "ombak tinggi di selat 17"
    invited = j.sample(
        "invite_admin",
        j.admin,
        body={"name": "Komang Ayu", "email": email, "phone": "081298765432"},
        show="user: id, email, status",
    )
    token = j.service.mailed_token(email, "reset-password")
    j.call(
        "reset_password",
        GUEST,
        body={"token": token, "password": password, "cpassword": password},
    )
    komang = j.sign_in(email, password)
    begun = j.sample(
        "enrol_totp",
        komang,
        body={"current_password": password},
        show="enrolment: secret, otpauth_url",
    )
    code = code_of(begun["secret"], time.time())
    j.stable.stand_in(code, "492038")
    codes = j.sample(
        "confirm_totp",
        komang,
        body={"code": code},
        show="code in codes.recovery_codes:",
    )["recovery_codes"]
    j.stable.stand_in(codes[0], "K7QM-2XRT-9DWP-H4VA")
    j.sample("remove_totp", komang, body={"current_password": password, "code": codes[0]})
    has_second_factor(j, komang, password)
    j.sample("reset_totp", j.admin, invited["id"])
    j.sample(
        "change_admin_status",
        j.admin,
        invited["id"],
        body={"status": "inactive"},
        show="user: email, status",
    )


def has_second_factor(j: Journey, account: Account, password: str) -> None:
    begun = j.call("enrol_totp", account, body={"current_password": password})
    j.call("confirm_totp", account, body={"code": code_of(begun["secret"], time.time())})


def users(j: Journey) -> None:
    found = j.sample(
        "list_users",
        j.admin,
        query={"role": "staff", "search": "dian"},
        show="user: name, email, last_login_at",
    )
    j.sample("user_statistics", j.admin, show="users: total, new_this_month")
    j.sample("get_user", j.admin, found[0]["id"], show="user: name, email, role")


def staff(j: Journey) -> None:
    j.sample("list_permissions", j.admin, show="permission: name, level, staff_count")
    j.sample("get_permission_rules", j.admin, show="group in groups: label, rules")
    form = {
        "name": "Ticket desk",
        "description": "Sells and changes bookings at the counter in Sanur",
        "level": "operator",
        "rules": ["bookings.read", "bookings.write"],
    }
    made = j.sample("create_permission", j.admin, body=form, show="permission: id, name")
    id = made["id"]
    j.sample("get_permission", j.admin, id, show="permission: name, level, rules")
    j.sample(
        "update_permission",
        j.admin,
        id,
        body={**form, "rules": ["bookings.read", "bookings.write", "routes.read"]},
        show="permission: name, rules",
    )
    person = {
        "name": "Ni Luh Ayu",
        "email": "ayu@dermaga.example",
        "msisdn": "081236547890",
        "join_date": j.day(0),
        "status": "active",
        "permission_id": id,
        "working_type": "full_time",
        "show_salary": False,
        "salary": 5_500_000,
        "address": {
            "street": "Jl. Bypass Ngurah Rai 20",
            "city": "Denpasar",
            "province": "Bali",
            "postal_code": "80228",
        },
        "bank_account": {
            "bank_code": "BCA",
            "account_number": "7700112233",
            "account_name": "Ni Luh Ayu",
        },
    }
    member = j.sample("create_staff", j.admin, body=person, show="member: id, name, status")
    j.sample("get_staff", j.admin, member["id"], show="member: name, permission.name")
    j.sample(
        "update_staff",
        j.admin,
        member["id"],
        body={**person, "working_type": "part_time", "salary": 3_200_000},
        show="member: name, working_type",
    )
    j.sample(
        "list_staff",
        j.admin,
        query={"status": "active"},
        show="member: name, permission.name, join_date",
    )
    j.sample("delete_staff", j.admin, member["id"])
    j.sample("delete_permission", j.admin, id)
    j.sample(
        "list_audit_logs",
        j.admin,
        query={"entity_type": "permission", "entity_id": id},
        show="entry: created_at, actor.email, action",
    )


def promotions(j: Journey) -> None:
    form = {
        "title": "Nyepi long weekend",
        "code": "NYEPI2027",
        "description": "Rp 25.000 off every booking",
        "quota": 300,
        "target_type": "all",
        "status": "active",
        "tnc": "Cannot be exchanged for cash.",
        "discount": {"type": "fixed", "value": 25_000, "min_purchase": 200_000},
        "period": {"start_date": j.day(0), "end_date": j.day(30)},
    }
    made = j.sample("create_promotion", j.admin, body=form, show="promotion: id, code, state")
    j.sample("get_promotion", j.admin, made["id"], show="promotion: code, used, remaining")
    j.sample(
        "update_promotion",
        j.admin,
        made["id"],
        body={**form, "quota": 500},
        show="promotion: code, quota, remaining",
    )
    j.sample(
        "list_promotions",
        j.admin,
        query={"state": "running"},
        show="promotion: code, used, funded_by",
    )
    j.sample("delete_promotion", j.admin, made["id"])


def taxes(j: Journey) -> None:
    j.sample("list_taxes", j.admin, show="tax: code, rate, applies_to, is_active")
    form = {
        "name": "Retribusi dermaga",
        "code": "RETRIBUSI",
        "rate": 2.5,
        "applies_to": "seats",
        "is_active": False,
    }
    made = j.sample("create_tax", j.admin, body=form, show="tax: id, code, rate")
    j.sample("update_tax", j.admin, made["id"], body={**form, "rate": 3}, show="tax: code, rate")
    j.sample("delete_tax", j.admin, made["id"])


def texts(j: Journey) -> None:
    j.sample(
        "save_cta_partnership",
        j.editor,
        body={
            "title": "Punya kapal cepat?",
            "description": "Jual kursi Anda bersama kami.",
            "button_label": "Daftar",
            "button_url": "https://dermaga.example/mitra",
            "is_active": True,
        },
        show="call: title, is_active",
    )
    author = j.call("get_profile", j.editor)["id"]
    publisher = j.call("get_profile", j.admin)["id"]
    draft = j.sample(
        "create_terms",
        j.editor,
        body={
            "type": "luggage",
            "content": "<h1>Bagasi</h1><p>20 kg per penumpang.</p>",
            "user_creator_id": author,
        },
        show="terms: id, version, status",
    )
    j.sample(
        "update_terms",
        j.editor,
        body={
            "id": draft["id"],
            "content": "<h1>Bagasi</h1><p>23 kg per penumpang.</p>",
            "user_creator_id": author,
        },
        show="terms: version, status",
    )
    j.sample(
        "publish_terms",
        j.admin,
        body={"id": draft["id"], "user_validator_id": publisher},
        show="terms: version, status, published_at",
    )
    j.sample(
        "list_terms_history",
        j.admin,
        query={"type": "luggage"},
        show="terms: version, status, creator_name",
    )


def harbours(j: Journey) -> None:
    made = j.sample(
        "create_harbour",
        j.admin,
        body={
            "name": "Tulamben",
            "aliases": ["Pantai Tulamben"],
            "city": "Karangasem",
            "province": "Bali",
            "latitude": -8.2743,
            "longitude": 115.5936,
            "timezone": "Asia/Makassar",
        },
        show="harbour: id, name, status",
    )
    j.sample(
        "update_harbour",
        j.admin,
        made["id"],
        body={"aliases": ["Pantai Tulamben", "Pelabuhan Tulamben"]},
        show="harbour: name, aliases",
    )
    other = {"name": "Tulamben Lama", "timezone": "Asia/Makassar"}
    old = j.call("create_harbour", j.admin, body=other)
    j.sample(
        "merge_harbour",
        j.admin,
        old["id"],
        body={"into_id": made["id"]},
        show="harbour: name, aliases",
    )
    j.sample("delete_harbour", j.admin, made["id"])


def files(j: Journey) -> None:
    uploaded = j.sample(
        "upload_file",
        j.partner,
        body={"file": PHOTO, "purpose": "photo"},
        show="record: id, url",
    )
    j.sample("download_file", j.partner, uploaded["id"], show="photo.png")
    size = (j.direct.folder / PHOTO.name).stat().st_size
    signed = j.sample(
        "presign_url",
        j.partner,
        query={
            "filename": PHOTO.name,
            "content_type": PHOTO.content_type,
            "size": size,
            "purpose": "photo",
        },
        show="signed: file_id, upload_url",
    )
    query = dict(parse_qsl(urlsplit(signed["upload_url"]).query))
    j.stable.stand_in(query["expires"], EXPIRES)
    j.stable.stand_in(query["signature"], SIGNATURE)
    j.sample(
        "receive_file",
        GUEST,
        signed["file_id"],
        query=query,
        body=PHOTO,
        show="record: id, status, url",
    )


def webhooks(j: Journey) -> None:
    address = j.outside.url + HOOKS
    j.stable.stand_in(address, "https://hooks.example/booked")
    form = {"url": address, "events": ["booking.paid", "booking.cancelled"]}
    made = j.sample("create_webhook", j.admin, body=form, show="webhook: id, secret")
    id = made["id"]
    j.paid_booking(6, "Made Santika", "made.santika@example.com")
    for _ in range(100):
        deliveries = j.call("list_deliveries", j.admin, id)
        if deliveries and deliveries[0]["status"] == "delivered":
            break
        time.sleep(0.1)
    j.sample("list_webhooks", j.admin, show="webhook: url, events, active")
    j.sample(
        "list_deliveries",
        j.admin,
        id,
        query={"status": "delivered"},
        show="delivery: type, attempts, delivered_at",
    )
    j.sample("resend_delivery", j.admin, id, deliveries[0]["id"], show="delivery: type, status")
    j.sample(
        "update_webhook",
        j.admin,
        id,
        body={**form, "events": ["booking.paid"], "active": True},
        show="webhook: url, events",
    )
    j.sample("delete_webhook", j.admin, id)


def notifications(j: Journey) -> None:
    # A partner to whom nothing has happened meanwhile.
    partner = j.account("putu@gili.example")
    me = j.call("get_profile", partner)["id"]
    guest = "nadia.utami@example.com"
    j.sample(
        "stream_notifications",
        partner,
        show="notification: title, body",
        meanwhile=lambda: j.booking(6, "Nadia Utami", guest, line=PADANG_BAI),
    )
    j.service.wait_for_events()
    found = j.sample(
        "list_notifications",
        partner,
        query={"unread": True},
        show="notification: title, body",
    )
    id = found[0]["id"]
    j.sample("get_notification", partner, id, show="notification: title, body")
    j.sample("read_notification", partner, id, show="notification: title, read_at")
    j.sample("list_notifications_of", j.admin, me, show="notification: title, read_at")
    j.sample("read_all_notifications", partner)
