//! The table of pages: path, operations, title, what is shown, where it leads. One line per page.
//!
//! Who may call the operation of a page may see the page; menu and buttons follow the same rule. A form
//! under a record (`/console/boats/{id}/edit`) is a button on the record's page, or on the rows of the
//! list where records have no page.

use crate::{
    console::*,
    pier::*,
    site::*,
    web::{
        cancelling::cancel_passengers,
        page::{Group::*, Pages},
        rescheduling::reschedule,
    },
};

#[rustfmt::skip]
pub fn pages() -> Pages {
    let pages = Pages::default();
    let pages = own(pages);
    let pages = boarding(pages);
    let pages = travellers(pages);
    let pages = sales(pages);
    let pages = fleet(pages);
    let pages = partners(pages);
    let pages = resellers(pages);
    let pages = money(pages);
    let pages = books(pages);
    service(pages)
}

const ACTIVE: &[(&str, &str)] = &[("status", "active")];

/// Signing in, and one's own account.
#[rustfmt::skip]
fn own(pages: Pages) -> Pages {
    pages
    .own("/console/login",   "login",          login,        ("Sign in", "Masuk")).public().also(&["remember_me"])
    .own("/console/logout",  "logout",         logout,       ("Sign out", "Keluar"))
    .own("/console/confirm", "reauthenticate", confirm_page, ("Confirm it is you", "Pastikan ini Anda"))
    .own("/console/stop",    "logout",         stop_acting,  ("Stop acting for the partner", "Berhenti bertindak sebagai mitra"))
    .form("/console/register", "register_mitra", ("Become a partner", "Daftar sebagai mitra")).public().also(&["get_terms"])
        .fields("name partnerType email phone address password cpassword").then("/console/login")
        .says("We mail you a link to verify the address. Then you sign in and hand in your papers.",
              "Kami mengirim tautan verifikasi ke alamat Anda. Setelah itu masuk dan lengkapi dokumen.")
    .form("/console/forgot", "forgot_password", ("Forgotten password", "Lupa kata sandi")).public()
        .fields("email").then("/console/login").button("Send the link", "Kirim tautan")
    .form("/console/reset", "reset_password", ("New password", "Kata sandi baru")).public()
        .fields("token:hidden password cpassword").then("/console/login").button("Save", "Simpan")
    .form("/console/verify-email", "verify_email", ("Verify e-mail address", "Verifikasi alamat e-mail")).public()
        .fields("token:hidden").then("/console/login").button("Verify", "Verifikasi")
    .form("/console/confirm-email", "confirm_email", ("Confirm new e-mail address", "Konfirmasi alamat e-mail baru")).public()
        .fields("token:hidden").then("/console/login").button("Confirm", "Konfirmasi")
    .form("/console/cancel-email-change", "cancel_email_change", ("Keep the old e-mail address", "Pertahankan alamat e-mail lama")).public()
        .fields("token:hidden").then("/console/login").button("Cancel the change", "Batalkan perubahan")

    .own("/console", "get_profile", home, ("Home", "Beranda")).menu(Today, "home").also(&["get_dashboard", "mitra_statistic"])
    .own("/console/find", "get_dashboard", find, ("Search", "Cari")).also(&["list_bookings", "list_partners", "list_speedboats", "list_staff"])
    .own("/console/onboarding", "get_onboarding", onboarding, ("Papers", "Dokumen usaha")).menu(Today, "file")
    .edit("/console/onboarding/business", "update_onboarding", "get_onboarding", ("Business", "Usaha"))
        .fields("business.legal_name business.nib business.npwp business.address business.city business.province business.postal_code business.description:long").then("/console/onboarding")
    .edit("/console/onboarding/pic", "update_onboarding", "get_onboarding", ("Contact person", "Penanggung jawab"))
        .fields("pic.name pic.position pic.nik pic.phone pic.email").then("/console/onboarding")
    .edit("/console/onboarding/bank", "update_onboarding", "get_onboarding", ("Bank account", "Rekening bank"))
        .fields("bank_account.bank_code bank_account.account_number bank_account.account_name").then("/console/onboarding").locked_while_acting()
    .form("/console/onboarding/documents", "update_onboarding", ("Documents", "Dokumen"))
        .about("get_onboarding").heading("-").fields("documents[type file_id]").then("/console/onboarding")
        .says("Photograph the paper flat and in daylight, or choose a PDF. A new file replaces the one of the same kind. Those marked as needed must be there to hand in.",
              "Foto dokumen secara datar di tempat terang, atau pilih PDF. Berkas baru menggantikan yang sejenis. Yang bertanda wajib harus ada untuk pengajuan.")
    .act("/console/onboarding/submit", "update_onboarding", "get_onboarding", ("Hand in", "Ajukan"))
        .fixed(&[("submit", "true")]).then("/console/onboarding")
        .says("We review the papers and tell you the result by e-mail.", "Kami meninjau dokumen dan mengabarkan hasilnya lewat e-mail.")

    .own("/console/account", "get_profile", account, ("Account", "Akun")).also(&["list_sessions"])
    .edit("/console/account/edit", "update_profile", "get_profile", ("Edit profile", "Ubah profil"))
        .fields("name email phone avatar_file_id current_password").then("/console/account").locked_while_acting()
        .says("Another e-mail address needs the current password, and takes effect when you have confirmed it.",
              "Mengganti alamat e-mail memerlukan kata sandi sekarang dan berlaku setelah dikonfirmasi.")
    .form("/console/account/password", "change_password", ("Change password", "Ganti kata sandi"))
        .fields("current_password password cpassword").then("/console/account").locked_while_acting()
    .act("/console/account/sessions/{id}/end", "end_session", "list_sessions", ("End session", "Akhiri sesi"))
        .columns("user_agent address last_used_at").then("/console/account")
    .form("/console/account/second-factor", "enrol_totp", ("Set up a second factor", "Pasang faktor kedua"))
        .fields("current_password").shows_answer("answer_totp.html").button("Continue", "Lanjut")
        .says("An app on your telephone shows a code that you type after the password.",
              "Aplikasi di ponsel menampilkan kode yang diketik setelah kata sandi.")
    .form("/console/account/second-factor/confirm", "confirm_totp", ("Confirm the second factor", "Konfirmasi faktor kedua"))
        .fields("code").shows_answer("answer_codes.html").button("Confirm", "Konfirmasi")
    .form("/console/account/second-factor/remove", "remove_totp", ("Remove the second factor", "Hapus faktor kedua")).danger()
        .fields("current_password code").then("/console/account")
    .act("/console/account/verify", "resend_verification", "get_profile", ("Verify e-mail", "Verifikasi e-mail"))
        .then("/console/account").button("Send the link again", "Kirim ulang tautan")

    .list("/console/notifications", "list_notifications", ("Notifications", "Pemberitahuan")).template("notifications.html")
    .form("/console/notifications/read-all", "read_all_notifications", ("Mark all as read", "Tandai semua sudah dibaca")).then("/console/notifications")
    .own("/console/notifications/{id}", "read_notification", open_notification, ("Notification", "Pemberitahuan")).also(&["get_notification"])
    .file("/console/live", "stream_notifications", ("Live", "Langsung"))
    .file("/console/files/{id}", "download_file", ("File", "Berkas")).only_if("get_profile")
}

/// The travellers' site.
#[rustfmt::skip]
fn travellers(pages: Pages) -> Pages {
    pages
    .guest(["/", "/en"], &["list_locations", "list_running_promotions", "get_cta_partnership"], front, ("Speedboats", "Kapal cepat")).indexed()
    .guest(["/search", "/en/search"], &["search_sailings", "list_locations"], site_search, ("Search", "Cari")).indexed().shared()
    .guest(["/p/{slug}", "/en/p/{slug}"], &["get_catalog_partner", "search_sailings", "list_locations"], site_partner, ("Partner", "Mitra")).indexed().shared()
    .guest(["/widget", "/en/widget"], &["list_locations"], site_widget, ("Search", "Cari"))
    .guest(["/p/{slug}/widget", "/en/p/{slug}/widget"], &["get_catalog_partner", "list_locations"], site_widget, ("Search", "Cari"))
    .guest(["/book/{route_time_id}", "/en/book/{route_time_id}"], &["create_booking", "quote_booking", "get_terms"], site_book, ("Book seats", "Pesan kursi"))
    .guest(["/booking", "/en/booking"], &["list_bookings", "find_bookings"], site_bookings, ("My booking", "Pemesanan saya"))
    .guest(["/booking/{code}", "/en/booking/{code}"], &["get_booking", "get_booking_options", "pay_again", "resend_ticket"], site_booking, ("Booking", "Pemesanan"))
    .guest(["/booking/{code}/cancel", "/en/booking/{code}/cancel"], &["cancel_booking", "get_booking", "get_booking_options"], site_cancel, ("Cancel", "Batalkan"))
    .guest(["/booking/{code}/move", "/en/booking/{code}/move"], &["reschedule_booking", "get_booking", "search_sailings"], site_move, ("Another sailing", "Pindah jadwal"))
    .guest(["/booking/{code}/passengers", "/en/booking/{code}/passengers"], &["correct_passengers"], site_change, ("Correct names", "Perbaiki nama")).prefilled("get_booking").heading("code").template("form.html")
        .fields("passengers[id:hidden name identity_type identity_number birth_date gender nationality]")
        .says("For typing errors. The ticket codes stay valid.", "Untuk salah ketik. Kode tiket tetap berlaku.")
    .guest(["/booking/{code}/refund-account", "/en/booking/{code}/refund-account"], &["set_refund_account"], site_change, ("Account for the refund", "Rekening untuk pengembalian")).about("get_booking").heading("code").template("form.html")
        .fields("bank_code account_number account_name")
        .says("Money that cannot go back the way it came is transferred to this account.", "Uang yang tidak dapat dikembalikan lewat cara bayarnya ditransfer ke rekening ini.")
    .guest(["/booking/{code}/ticket", "/en/booking/{code}/ticket"], &["get_ticket"], site_ticket, ("Tickets", "Tiket"))
    .guest(["/terms/{type}", "/en/terms/{type}"], &["get_terms"], site_terms, ("Terms", "Syarat & ketentuan")).indexed()
    .own("/sitemap.xml", "list_catalog_partners", sitemap, ("Sitemap", "Peta situs")).public()
    .own("/sitemap/lines.xml", "list_locations", sitemap_lines, ("Sitemap", "Peta situs")).public()
    .own("/sitemap/partners.xml", "list_catalog_partners", sitemap_partners, ("Sitemap", "Peta situs")).public()
    .own("/robots.txt", "list_locations", robots, ("Robots", "Robots")).public()
}

/// Boarding on a telephone.
#[rustfmt::skip]
fn boarding(pages: Pages) -> Pages {
    pages
    .own("/pier", "list_route_times", pier, ("Pier", "Dermaga")).only_if("check_in").menu(Today, "anchor")
    .own("/pier/data", "list_route_times", pier_data, ("Sailings", "Jadwal")).only_if("check_in").also(&["get_ticket_key"])
    .own("/pier/shell", "get_ticket_key", shell, ("Pier", "Dermaga")).public()
    .own("/pier/{id}", "get_manifest", sailing, ("Boarding", "Naik kapal")).only_if("check_in")
    .own("/pier/{id}/data", "get_manifest", sailing_data, ("Passengers", "Penumpang")).only_if("check_in").also(&["get_ticket_key"])
    .own("/pier/{id}/board", "check_in", board, ("Board", "Naikkan"))
    .own("/pier/{id}/undo", "undo_check_in", undo, ("Undo", "Urungkan"))
}

/// Bookings and what is owed to customers.
#[rustfmt::skip]
fn sales(pages: Pages) -> Pages {
    pages
    .own("/console/sailings", "list_route_times", day, ("Sailings", "Jadwal")).menu(Today, "calendar")
    .list("/console/bookings", "list_bookings", ("Bookings", "Pemesanan")).menu(Sales, "ticket").tabs("status")
        .columns("code sailing.journey sailing.departure_at contact.name qty price.total:money status")
    .own("/console/bookings/new", "search_sailings", search_to_book, ("New booking", "Pesanan baru")).only_if("create_booking").also(&["list_locations"])
    .own("/console/bookings/new/{route_time_id}", "create_booking", book, ("Book seats", "Pesan kursi")).also(&["quote_booking", "get_terms"]).resumes()
    .show("/console/bookings/{id}", "get_booking", ("Booking", "Pemesanan")).template("booking.html").heading("code")
        .also(&["get_booking_options", "list_audit_logs"])
    .act("/console/bookings/{id}/pay-cash", "pay_cash", "get_booking", ("Record cash", "Catat tunai")).heading("code").when("status", &["pending_payment"])
        .columns("contact.name qty price.total:money").says("You have taken the whole amount in cash. The tickets are mailed at once.", "Anda sudah menerima seluruh jumlah tunai. Tiket langsung dikirim lewat e-mail.")
    .edit("/console/bookings/{id}/contact", "correct_contact", "get_booking", ("Correct contact", "Perbaiki kontak")).heading("code").when("status", &["pending_payment", "paid"])
        .part("contact").fields("name email phone").says("Both addresses are told about the change.", "Kedua alamat diberi tahu tentang perubahan ini.")
    .edit("/console/bookings/{id}/passengers", "correct_passengers", "get_booking", ("Correct passengers", "Perbaiki penumpang")).heading("code").when("status", &["pending_payment", "paid"])
        .fields("passengers[id:hidden name identity_type identity_number birth_date gender nationality]")
    .act("/console/bookings/{id}/resend", "resend_ticket", "get_booking", ("Send tickets again", "Kirim ulang tiket")).heading("code").when("status", &["paid", "completed"])
        .fields("email").says("Without an address they go to the contact of the booking.", "Tanpa alamat, tiket dikirim ke kontak pemesanan.")
    .own("/console/bookings/{id}/reschedule", "reschedule_booking", reschedule, ("Move to another sailing", "Pindah jadwal")).also(&["get_booking", "search_sailings"]).resumes()
    .act("/console/bookings/{id}/payment", "pay_again", "get_booking", ("New payment link", "Tautan bayar baru")).heading("code").when("status", &["pending_payment"])
        .says("Opens another payment, for example after a failed one.", "Membuka pembayaran baru, misalnya setelah gagal.")
    .act("/console/bookings/{id}/refund-account", "set_refund_account", "get_booking", ("Account for the refund", "Rekening pengembalian")).heading("code").when("status", &["refund_pending"])
        .fields("bank_code account_number account_name")
    .act("/console/bookings/{id}/refund", "record_refund", "get_booking", ("Record refund", "Catat pengembalian dana")).heading("code").when("status", &["refund_pending"])
        .columns("contact.name owed refund_account").fields("by reference amount note").amount("amount", "owed")
    .act("/console/bookings/{id}/cancel", "cancel_booking", "get_booking", ("Cancel booking", "Batalkan pemesanan")).heading("code").danger().when("status", &["pending_payment", "paid", "completed"])
        .columns("contact.name sailing.journey sailing.departure_at qty price.total:money").fields("reason refund refund_amount borne_by").template("booking_cancel.html").also(&["get_booking_options"])
        .says("The seats are sold again and the customer is told. Without a choice everything that was paid is owed back.",
              "Kursi dijual lagi dan pelanggan diberi tahu. Tanpa pilihan, seluruh pembayaran menjadi utang kepada pelanggan.")
    .own("/console/bookings/{id}/cancel-passengers", "cancel_booking", cancel_passengers, ("Cancel some passengers", "Batalkan sebagian penumpang"))
        .also(&["get_booking", "get_booking_options"]).resumes()
    .file("/console/bookings/{id}/ticket", "get_ticket", ("Tickets", "Tiket"))

    .show("/console/sailings/{id}", "get_route_time", ("Sailing", "Jadwal")).template("sailing.html").heading("from to").also(&["get_manifest"])
    .edit("/console/sailings/{id}/edit", "update_sailing", "get_route_time", ("Change sailing", "Ubah jadwal")).heading("from to").when("status", &["open"])
        .columns("departure_at arrival_at seats").fields("date departure_time arrival_time price speedboat_id reason").choose("speedboat_id", "list_speedboats", "name mitra.name", ACTIVE)
        .says("What is left empty stays as it is. A reason is needed when a time changes and seats are sold.", "Yang dikosongkan tetap seperti semula. Alasan wajib bila jam berubah dan kursi sudah terjual.")
    .act("/console/sailings/{id}/close", "close_manifest", "get_route_time", ("Close manifest", "Tutup manifes")).heading("from to").when("manifest_closed_at", &["null"])
        .columns("departure_at seats checked_in").says("The list is final: nobody can book, move or correct names any more.", "Daftar menjadi final: tidak ada pemesanan, perpindahan, atau perbaikan nama lagi.")
    .act("/console/sailings/{id}/reopen", "reopen_manifest", "get_route_time", ("Reopen manifest", "Buka manifes")).heading("from to")
        .columns("departure_at manifest_closed_at").fields("reason")
    .act("/console/sailings/{id}/cancel", "cancel_sailing", "get_route_time", ("Cancel sailing", "Batalkan jadwal")).heading("from to").danger().when("status", &["open"])
        .columns("departure_at speedboat.name seats").fields("reason").template("sailing_cancel.html").also(&["list_bookings"])
        .says("Every booking is cancelled. Whoever has paid is owed the full price and is told at once. This cannot be undone.",
              "Semua pemesanan dibatalkan. Yang sudah membayar berhak atas seluruh harga dan langsung diberi tahu. Tidak dapat diurungkan.")
    .file("/console/sailings/{id}/manifest", "get_manifest", ("Manifest", "Manifes"))
    .form("/console/sailings/{id}/check-in", "check_in", ("Check in", "Naik kapal")).fields("ticket_code:hidden").then("/console/sailings/{id}")
    .form("/console/sailings/{id}/undo", "undo_check_in", ("Undo check-in", "Urungkan naik kapal")).fields("ticket_code reason").then("/console/sailings/{id}")

    .list("/console/refunds", "list_refunds", ("Refunds", "Pengembalian dana")).menu(Sales, "refund").tabs("status").first(&[("sort_dir", "asc")])
        .columns("code booking_code mitra.name kind unpaid:money due_at by status")
    .show("/console/refunds/{id}", "get_refund", ("Refund", "Pengembalian dana")).heading("code")
        .columns("booking_code mitra.name kind amount unpaid:money account.bank_code account.account_number account.account_name by reference due_at paid_at attempts last_error note")
    .act("/console/refunds/{id}/pay", "pay_refund", "get_refund", ("Record payment", "Catat pembayaran")).heading("code").when("status", &["due", "failed", "returned"])
        .columns("booking_code unpaid:money account.bank_code account.account_number account.account_name").fields("by reference note")
    .act("/console/refunds/{id}/retry", "retry_refund", "get_refund", ("Send again", "Kirim lagi")).heading("code").when("status", &["failed"])
        .columns("booking_code unpaid:money last_error")
    .act("/console/refunds/{id}/return", "return_refund", "get_refund", ("Transfer bounced", "Transfer ditolak bank")).heading("code").when("status", &["paid"])
        .columns("booking_code amount reference").fields("reason").says("The amount is owed again.", "Jumlahnya menjadi utang lagi.")

    .list("/console/payment-reviews", "list_payment_reviews", ("Payment reviews", "Tinjauan pembayaran")).menu(Sales, "warn").tabs("open").first(&[("open", "true")]).empty("Nothing waits", "Tidak ada yang menunggu")
        .columns("booking_code booking_status:chip reason amount expected excess created_at resolution note").says("Payments that do not fit their booking. Each needs a decision.", "Pembayaran yang tidak cocok dengan pemesanannya. Masing-masing perlu keputusan.")
    .act("/console/payment-reviews/{id}/resolve", "resolve_payment_review", "list_payment_reviews", ("Decide", "Putuskan")).heading("-").when("resolved_at", &["null"])
        .columns("booking_code booking_status:chip reason amount expected excess created_at").fields("action by reference note")

    .list("/console/promotions", "list_promotions", ("Promotions", "Promosi")).menu(Sales, "tag").tabs("state")
        .columns("code title discount.value discount.type period uses state")
    .form("/console/promotions/new", "create_promotion", ("New promotion", "Promosi baru"))
        .fields("title code discount.type discount.value discount.max_amount discount.min_purchase period.start_date period.end_date quota per_customer_limit funded_by target_type target_ids status description:long tnc:long image_file_id")
        .stated("quota")
        .choose_if(("target_type", "mitra"), "target_ids", "list_partners", "name", "edit_partner")
        .choose_if(("target_type", "speedboat"), "target_ids", "list_speedboats", "name mitra.name", "get_speedboat")
        .choose_if(("target_type", "route"), "target_ids", "list_routes", "journey speedboat.name", "get_route")
    .show("/console/promotions/{id}", "get_promotion", ("Promotion", "Promosi")).heading("title")
        .columns("code state discount.type discount.value discount.max_amount discount.min_purchase period uses per_customer_limit funded_by target_type description tnc:long")
    .edit("/console/promotions/{id}/edit", "update_promotion", "get_promotion", ("Edit promotion", "Ubah promosi")).heading("code")
        .fields("title code discount.type discount.value discount.max_amount discount.min_purchase period.start_date period.end_date quota per_customer_limit funded_by target_type target_ids status description:long tnc:long image_file_id")
        .choose_if(("target_type", "mitra"), "target_ids", "list_partners", "name", "edit_partner")
        .choose_if(("target_type", "speedboat"), "target_ids", "list_speedboats", "name mitra.name", "get_speedboat")
        .choose_if(("target_type", "route"), "target_ids", "list_routes", "journey speedboat.name", "get_route")
    .act("/console/promotions/{id}/delete", "delete_promotion", "get_promotion", ("Delete promotion", "Hapus promosi")).heading("code").danger().columns("title used quota").then("/console/promotions")
}

/// Boats, routes, lines, harbours, crew.
#[rustfmt::skip]
fn fleet(pages: Pages) -> Pages {
    const BOAT: &str = "name registration_number capacity status manufacturer engine year_built facilities description:long photo_file_ids";
    const ROUTE: &str = "from to speedboat_id price schedule_type start_date end_date times[departure_time arrival_time days price] timezone";
    const HARBOUR: &str = "name aliases city province timezone latitude longitude status";
    pages
    .list("/console/boats", "list_speedboats", ("Boats", "Kapal")).menu(Fleet, "boat").also(&["speedboat_summary"]).columns("name registration_number capacity mitra.name status")
    .form("/console/boats/new", "create_speedboat", ("New boat", "Kapal baru"))
        .fields("mitra_id name registration_number capacity status manufacturer engine year_built facilities description:long photo_file_ids").choose("mitra_id", "list_partners", "name", ACTIVE)
    .show("/console/boats/{id}", "get_speedboat", ("Boat", "Kapal"))
        .columns("registration_number capacity mitra.name manufacturer engine year_built facilities description updated_at")
    .edit("/console/boats/{id}/edit", "update_speedboat", "get_speedboat", ("Edit boat", "Ubah kapal")).fields(BOAT)
    .act("/console/boats/{id}/delete", "delete_speedboat", "get_speedboat", ("Delete boat", "Hapus kapal")).danger().columns("registration_number capacity").then("/console/boats")
        .says("Boats with upcoming sailings cannot be deleted.", "Kapal dengan jadwal mendatang tidak dapat dihapus.")

    .list("/console/routes", "list_routes", ("Routes", "Rute")).menu(Fleet, "route").tabs("status").columns("journey speedboat.name price schedule_type start_date end_date status")
    .form("/console/routes/new", "create_route", ("New route", "Rute baru")).fields(ROUTE).choose("speedboat_id", "list_speedboats", "name mitra.name", ACTIVE)
        .says("A route is a draft until it is published. Then its sailings are on sale.", "Rute menjadi draf sampai diterbitkan. Setelah itu jadwalnya dijual.")
    .show("/console/routes/{id}", "get_route", ("Route", "Rute")).heading("from to")
        .columns("speedboat.name price schedule_type start_date end_date timezone published_at").table("times", "departure_time arrival_time days price")
    .act("/console/routes/{id}/publish", "publish_route_by_post", "get_route", ("Publish", "Terbitkan")).heading("from to").when("status", &["draft"])
        .columns("speedboat.name price schedule_type start_date end_date times").says("All sailings of the schedule go on sale.", "Semua jadwal mulai dijual.")
    .edit("/console/routes/{id}/edit", "update_route", "get_route", ("Edit route", "Ubah rute")).heading("from to").when("status", &["draft"])
        .fields(ROUTE).choose("speedboat_id", "list_speedboats", "name mitra.name", ACTIVE)
    .act("/console/routes/{id}/change", "update_sailings", "get_route", ("Change sailings", "Ubah jadwal")).heading("from to").when("status", &["published"]).shows_answer("answer_changed.html")
        .fields("start_date end_date days departure_times set.price set.speedboat_id set.departure_time set.arrival_time set.withdraw reason").choose("set.speedboat_id", "list_speedboats", "name mitra.name", ACTIVE)
        .says("Changes all sailings between the two days. What is left empty stays as it is; sailings with bookings are never withdrawn.",
              "Mengubah semua jadwal di antara kedua tanggal. Yang dikosongkan tetap; jadwal dengan pemesanan tidak pernah ditarik.")
    .act("/console/routes/{id}/extend", "extend_route", "get_route", ("Extend", "Perpanjang")).heading("from to").when("status", &["published"]).columns("start_date end_date").fields("end_date")
    .list("/console/routes/{id}/sailings", "list_sailings", ("Sailings of the route", "Jadwal rute")).first(&[("start_date", "{today}")]).row("/console/sailings/{sailing_id}").columns("departure_at arrival_at price seats status")
    .act("/console/routes/{id}/delete", "delete_route", "get_route", ("Delete or archive", "Hapus atau arsipkan")).heading("from to").danger().when("status", &["draft", "published"]).then("/console/routes")
        .columns("start_date end_date status").says("A draft is deleted. A published route is archived, and its sailings without bookings leave the sale.", "Draf dihapus. Rute yang sudah terbit diarsipkan, dan jadwal tanpa pemesanan ditarik.")

    .list("/console/lines", "list_lines", ("Lines & fares", "Lintasan & tarif")).menu(Fleet, "fare").columns("journey names max_party cutoff_minutes day_ticket resale updated_at")
    .show("/console/lines/{id}", "get_line", ("Line", "Lintasan")).heading("from to").columns("names max_party cutoff_minutes day_ticket resale timezone updated_at")
        .table("fares", "key category residency min_age max_age price takes_seat id_required")
    .edit("/console/lines/{id}/edit", "update_line", "get_line", ("Edit fares", "Ubah tarif")).heading("from to")
        .fields("fares[category residency min_age max_age price.percent price.amount takes_seat id_required] names max_party cutoff_minutes day_ticket resale")

    .list("/console/harbours", "list_harbours", ("Harbours", "Pelabuhan")).only_if("create_harbour").menu(Fleet, "anchor").columns("name aliases city province timezone status")
    .form("/console/harbours/new", "create_harbour", ("New harbour", "Pelabuhan baru")).fields(HARBOUR).then("/console/harbours")
    .edit("/console/harbours/{id}/edit", "update_harbour", "list_harbours", ("Edit", "Ubah")).fields(HARBOUR).then("/console/harbours")
    .act("/console/harbours/{id}/merge", "merge_harbour", "list_harbours", ("Merge", "Gabungkan")).danger().columns("city province timezone status").fields("into_id").then("/console/harbours")
        .choose("into_id", "list_harbours", "name province", &[]).says("Routes and sailings move to the other harbour, which keeps this name as an alias.", "Rute dan jadwal pindah ke pelabuhan lain, yang menyimpan nama ini sebagai alias.")
    .act("/console/harbours/{id}/delete", "delete_harbour", "list_harbours", ("Delete", "Hapus")).danger().columns("city province timezone status").then("/console/harbours")

    .list("/console/crew", "list_crew", ("Crew", "Awak")).menu(Fleet, "people").columns("name email phone invited last_login_at status")
        .says("Crew sees sailings and passenger lists and boards passengers, and nothing else.", "Awak melihat jadwal dan daftar penumpang serta menaikkan penumpang, tidak lebih.")
    .form("/console/crew/new", "invite_crew", ("Invite", "Undang")).fields("name email phone").then("/console/crew")
    .act("/console/crew/{id}/invite", "resend_crew_invitation", "list_crew", ("Send invitation again", "Kirim ulang undangan")).columns("email phone").then("/console/crew").when("invited", &["true"])
    .act("/console/crew/{id}/remove", "remove_crew", "list_crew", ("Remove", "Keluarkan")).danger().columns("email phone").then("/console/crew")
}

/// Partners, their papers and their bank accounts.
#[rustfmt::skip]
fn partners(pages: Pages) -> Pages {
    const PARTNER: &str = "name email phone address partnerType commission_rate";
    pages
    .list("/console/partners", "list_partners", ("Partners", "Mitra")).menu(Partners, "people").also(&["partner_statistics"]).tabs("status").columns("name email partnerType speedboat_count created_at status")
    .form("/console/partners/new", "create_partner", ("New partner", "Mitra baru")).fields(PARTNER)
    .show("/console/partners/{id}", "partner_overview", ("Partner", "Mitra")).template("partner.html").heading("mitra.name")
    .edit("/console/partners/{id}/edit", "update_partner", "edit_partner", ("Edit", "Ubah")).fields(PARTNER)
    .show("/console/partners/{id}/documents", "edit_partner", ("Papers and bank account", "Dokumen dan rekening")).template("papers.html").also(&["list_documents"])
    .form("/console/partners/{id}/documents/review", "review_document", ("Review document", "Tinjau dokumen")).fields("document_id:hidden status note").then("/console/partners/{id}/documents")
    .form("/console/partners/{id}/documents/bank", "approve_bank_account", ("Review bank account", "Tinjau rekening")).fields("status bank_code account_number account_name note").then("/console/partners/{id}/documents")
    .act("/console/partners/{id}/impersonate", "impersonate_partner", "edit_partner", ("Act for the partner", "Bertindak sebagai mitra")).when("mitra.status", &["active"]).then("/console")
        .says("For 15 minutes you see and do what the partner sees and does, limited by your own rights. Everything is recorded under your name.",
              "Selama 15 menit Anda melihat dan melakukan apa yang dapat dilakukan mitra, dibatasi hak Anda sendiri. Semuanya tercatat atas nama Anda.")
    .act("/console/partners/{id}/invite", "resend_invitation", "edit_partner", ("Send invitation again", "Kirim ulang undangan")).columns("email").when("mitra.status", &["draft"])
    .act("/console/partners/{id}/suspend", "suspend_partner", "edit_partner", ("Suspend", "Tangguhkan")).danger().when("mitra.status", &["active"]).columns("email speedboat_count").fields("reason")
        .says("The partner's sailings leave the sale and its people cannot change anything. Passengers already sold can still board.",
              "Jadwal mitra ditarik dari penjualan dan mitra tidak dapat mengubah apa pun. Penumpang yang sudah membeli tetap dapat naik.")
    .act("/console/partners/{id}/unsuspend", "unsuspend_partner", "edit_partner", ("Lift suspension", "Cabut penangguhan")).when("mitra.status", &["suspended"]).columns("suspended_at suspended_reason")
}

/// Agencies that sell through the API, and what they owe.
#[rustfmt::skip]
fn resellers(pages: Pages) -> Pages {
    const RESELLER: &str = "name legal_name npwp email ops_email phone address credit_limit invoice_schedule terms_days max_holds rate_per_minute currency_precision";
    pages
    .list("/console/resellers", "list_resellers", ("Resellers", "Agen penjual")).menu(Partners, "globe").tabs("status").columns("name legal_name email credit_limit balance created_at status")
    .form("/console/resellers/new", "create_reseller", ("New reseller", "Agen penjual baru")).fields(RESELLER)
        .says("It is invited by e-mail. It can sell nothing until partners are granted to it.", "Undangan dikirim lewat e-mail. Agen belum dapat menjual sebelum diberi mitra.")
    .show("/console/resellers/{id}", "get_reseller", ("Reseller", "Agen penjual")).columns("legal_name npwp email ops_email phone address credit_limit balance invoice_schedule terms_days max_holds rate_per_minute currency_precision created_at")
    .edit("/console/resellers/{id}/edit", "update_reseller", "get_reseller", ("Edit", "Ubah")).fields(RESELLER)
    .list("/console/resellers/{id}/partners", "get_reseller_grants", ("Granted partners", "Mitra yang diberikan")).rows("grants").columns("mitra.name margin_rate net_fares refund_policy allow_loss")
        .says("A row without a partner is for every partner that has none of its own.", "Baris tanpa mitra berlaku bagi setiap mitra yang tidak memiliki baris sendiri.")
    .edit("/console/resellers/{id}/partners/edit", "set_reseller_grants", "get_reseller_grants", ("Edit partners", "Ubah mitra")).heading("-").fields("grants[mitra_id margin_rate allow_loss]").choose("mitra_id", "list_partners", "name", &[]).then("/console/resellers/{id}/partners")
        .says("A partner that is not in the list can no longer be sold. A row without a partner is for all others. Agreed prices and refund policies stay as they are.",
              "Mitra yang tidak ada dalam daftar tidak dapat dijual lagi. Baris tanpa mitra berlaku bagi semua yang lain. Harga khusus dan aturan pengembalian tetap.")
    .list("/console/resellers/{id}/keys", "list_reseller_keys", ("API keys", "Kunci API")).columns("name prefix scopes addresses expires_at last_used_at last_used_address revoked_at")
    .form("/console/resellers/{id}/keys/new", "create_reseller_key", ("New key", "Kunci baru")).fields("name scopes mitra_id addresses").choose("mitra_id", "get_reseller_grants", "mitra.name", &[]).shows_answer("answer_key.html")
        .says("Whoever has the key sells on this account. Leave the addresses empty to allow all of them.", "Pemegang kunci dapat menjual atas akun ini. Kosongkan alamat untuk mengizinkan semuanya.")
    .act("/console/resellers/{id}/keys/{key_id}/revoke", "revoke_reseller_key", "list_reseller_keys", ("Revoke", "Cabut")).danger().when("revoked_at", &["null"]).columns("prefix scopes last_used_at").then("/console/resellers/{id}/keys")
        .says("The next request with this key is refused. This cannot be undone.", "Permintaan berikutnya dengan kunci ini ditolak. Tidak dapat diurungkan.")
    .list("/console/resellers/{id}/statement", "get_reseller_statement", ("Statement", "Rekening koran")).rows("lines").columns("posted_on kind source booking_code reseller_reference amount balance")
    .list("/console/resellers/{id}/invoices", "list_reseller_invoices", ("Invoices", "Tagihan")).tabs("status").columns("code start_date end_date line_count amount paid:money due_on status")
    .form("/console/resellers/{id}/invoices/new", "create_reseller_invoice", ("New invoice", "Tagihan baru")).fields("start_date end_date").then("/console/resellers/{id}/invoices")
        .says("Takes everything of these days that is in no invoice yet. The schedule does the same by itself.", "Memuat semua transaksi pada tanggal tersebut yang belum ditagih. Jadwal melakukannya secara otomatis.")
    .form("/console/resellers/{id}/pay", "record_reseller_payment", ("Record payment", "Catat pembayaran")).fields("amount reference received_on").then("/console/resellers/{id}/statement")
        .says("A transfer that has arrived in the bank account. The oldest invoices are settled first.", "Transfer yang sudah masuk ke rekening bank. Tagihan terlama dilunasi lebih dulu.")
    .act("/console/resellers/{id}/invite", "resend_reseller_invitation", "get_reseller", ("Send invitation again", "Kirim ulang undangan")).columns("email")
    .act("/console/resellers/{id}/suspend", "suspend_reseller", "get_reseller", ("Suspend", "Tangguhkan")).danger().when("status", &["active"]).columns("email balance").fields("reason")
        .says("Its keys are refused at once. What it has sold stays sold, and it still sees its account.", "Kuncinya langsung ditolak. Yang sudah terjual tetap berlaku, dan agen masih melihat akunnya.")
    .act("/console/resellers/{id}/unsuspend", "unsuspend_reseller", "get_reseller", ("Lift suspension", "Cabut penangguhan")).when("status", &["suspended"]).columns("email balance")
}

/// What partners are paid, reports and taxes.
#[rustfmt::skip]
fn money(pages: Pages) -> Pages {
    const TAX: &str = "name code rate applies_to base_factor is_active";
    const AGREEMENT: &str = "commission_rate resale_commission_rate schedule day minimum_amount hold_days";
    pages
    .list("/console/settlements", "list_settlements", ("Settlements", "Pembayaran mitra")).menu(Money, "wallet").tabs("status").columns("code mitra.name period booking_count gross net created_at status")
        .template("settlements.html").of_partner(&["get_settlement_configuration", "mitra_statistic"])
    .form("/console/settlements/new", "create_settlement", ("New settlement", "Pembayaran baru")).fields("mitra_id start_date end_date note").choose("mitra_id", "list_partners", "name", &[]).choose("mitra_id", "list_catalog_partners", "name", &[])
    .show("/console/settlements/{id}", "get_settlement", ("Settlement", "Pembayaran mitra")).template("settlement.html").heading("code")
    .act("/console/settlements/{id}/release", "release_settlement", "get_settlement", ("Pay out", "Bayarkan")).heading("code").when("status", &["pending"])
        .columns("mitra.name net bank_account").fields("method reference proof_file_id note")
    .act("/console/settlements/{id}/cancel", "cancel_settlement", "get_settlement", ("Cancel settlement", "Batalkan")).heading("code").danger().when("status", &["pending"]).columns("mitra.name net").fields("note")
        .says("The bookings can be settled again.", "Pemesanannya dapat dibayarkan lagi.")
    .act("/console/settlements/{id}/return", "return_settlement", "get_settlement", ("Transfer bounced", "Transfer ditolak bank")).heading("code").when("status", &["released"]).columns("mitra.name net reference").fields("reason")
    .list("/console/receipts", "list_receipts", ("Receipts from partners", "Penerimaan dari mitra")).menu(Money, "receipt").columns("code mitra.name amount method received_on reference recorded_by.name")
    .form("/console/receipts/new", "record_receipt", ("Record receipt", "Catat penerimaan")).fields("mitra_id amount method received_on reference").choose("mitra_id", "list_partners", "name", &[]).choose("mitra_id", "list_catalog_partners", "name", &[]).then("/console/receipts")
    .show("/console/agreement", "get_settlement_configuration", ("Agreement", "Kesepakatan")).menu(Money, "handshake").heading("-").columns("commission_rate resale_commission_rate schedule day minimum_amount hold_days next_settlement_on next_settlement_until inherited")
    .edit("/console/agreement/edit", "configure_settlements", "get_settlement_configuration", ("Edit agreement", "Ubah kesepakatan")).heading("-").fields(AGREEMENT)
        .says("Holds for every partner without an agreement of its own.", "Berlaku bagi setiap mitra tanpa kesepakatan sendiri.")
    .show("/console/agreement/{mitra_id}", "get_settlement_configuration", ("Agreement of the partner", "Kesepakatan mitra")).heading("-").columns("commission_rate resale_commission_rate schedule day minimum_amount hold_days next_settlement_on next_settlement_until inherited")
    .edit("/console/agreement/{mitra_id}/edit", "configure_settlements", "get_settlement_configuration", ("Edit agreement", "Ubah kesepakatan")).heading("-").fields(AGREEMENT)
        .says("What is left empty is inherited from the platform.", "Yang dikosongkan mengikuti platform.")
    .own("/console/reports", "finance_overview", reports, ("Reports", "Laporan")).menu(Money, "chart").also(&["revenue_by_payment_method", "revenue_by_type", "revenue_by_partner", "revenue_by_reseller"])
    .list("/console/taxes", "list_taxes", ("Taxes", "Pajak")).menu(Money, "percent").columns("name code rate applies_to base_factor is_active")
    .form("/console/taxes/new", "create_tax", ("New tax", "Pajak baru")).fields(TAX).then("/console/taxes")
    .edit("/console/taxes/{id}/edit", "update_tax", "list_taxes", ("Edit", "Ubah")).fields(TAX).then("/console/taxes")
    .act("/console/taxes/{id}/delete", "delete_tax", "list_taxes", ("Delete", "Hapus")).danger().columns("code rate applies_to").then("/console/taxes")
}

/// The books of the finance clerk.
#[rustfmt::skip]
fn books(pages: Pages) -> Pages {
    pages
    .list("/console/finance/balance", "get_trial_balance", ("Trial balance", "Neraca saldo")).menu(Books, "book").rows("accounts").columns("account tax_code opening debit credit closing")
    .list("/console/finance/entries", "list_entries", ("Entries", "Buku besar")).menu(Books, "list").columns("posted_on account kind source booking_code tax_code debit credit")
    .list("/console/finance/taxes", "get_tax_report", ("Taxes of a month", "Pajak bulanan")).menu(Books, "percent").rows("taxes").columns("tax_code opening:money collected reversed:money adjusted:money received:money paid:money owed")
    .form("/console/finance/taxes/pay", "create_tax_payment", ("Record tax payment", "Catat setoran pajak")).fields("tax_code amount paid_on reference").then("/console/finance/taxes")
    .list("/console/finance/reconciliation", "get_reconciliation", ("Reconciliation", "Rekonsiliasi")).menu(Books, "check").rows("rows").columns("day method ours theirs fees fee_taxes refunds:money missing:money extra:money")
    .list("/console/finance/providers", "list_provider_settlements", ("Provider payouts", "Pencairan penyedia")).menu(Books, "bank").columns("paid_on provider payout_id line_count gross fee fee_tax net unknown_gross")
    .form("/console/finance/providers/new", "create_provider_settlement", ("Record provider payout", "Catat pencairan")).fields("provider payout_id paid_on lines[reference gross fee fee_tax net]").then("/console/finance/providers")
    .list("/console/finance/journals", "list_journals", ("Journals", "Jurnal")).menu(Books, "edit").tabs("status").columns("posted_on memo amount created_at decided_at status")
    .form("/console/finance/journals/new", "create_journal", ("New journal entry", "Jurnal baru")).fields("posted_on memo mitra_id lines[account debit credit tax_code]").choose("mitra_id", "list_partners", "name", &[]).choose("mitra_id", "list_catalog_partners", "name", &[]).then("/console/finance/journals")
        .says("Debit and credit are equal. Another person approves it.", "Debit dan kredit sama besar. Disetujui orang lain.")
    .act("/console/finance/journals/{id}/approve", "approve_journal", "list_journals", ("Approve", "Setujui")).heading("memo").columns("posted_on amount lines").when("status", &["draft"]).then("/console/finance/journals")
    .act("/console/finance/journals/{id}/reject", "reject_journal", "list_journals", ("Reject", "Tolak")).heading("memo").danger().columns("posted_on amount").when("status", &["draft"]).then("/console/finance/journals")
    .form("/console/finance/cash", "create_cash_deposit", ("Record cash deposit", "Catat setoran tunai")).menu(Books, "wallet").fields("amount deposited_on reference").then("/console/finance/entries")
    .list("/console/finance/periods", "list_periods", ("Months", "Bulan buku")).menu(Books, "lock").columns("month status closed_at reopened_at reason:long")
    .act("/console/finance/periods/{month}/close", "close_period", "list_periods", ("Close", "Tutup")).heading("month").when("status", &["open"]).then("/console/finance/periods")
        .says("Nothing can be posted into a closed month; later events go to the open one.", "Tidak ada yang dapat dibukukan ke bulan tertutup; kejadian berikutnya masuk ke bulan terbuka.")
    .act("/console/finance/periods/{month}/reopen", "reopen_period", "list_periods", ("Reopen", "Buka lagi")).heading("month").when("status", &["closed"]).fields("reason").then("/console/finance/periods")
    .list("/console/finance/partners/{id}", "get_partner_statement", ("Statement", "Rekening koran mitra")).rows("lines").columns("posted_on kind source booking_code amount balance")
}

/// People, rights and the service itself.
#[rustfmt::skip]
fn service(pages: Pages) -> Pages {
    const STAFF: &str = "name email msisdn permission_id status join_date working_type salary show_salary address.street address.city address.province address.postal_code bank_account.bank_code bank_account.account_number bank_account.account_name";
    pages
    .list("/console/staff", "list_staff", ("Staff", "Staf")).menu(Service, "people").rows("items").columns("name email permission.name permission.level working_type join_date status")
    .form("/console/staff/new", "create_staff", ("New staff member", "Staf baru")).fields(STAFF).choose("permission_id", "list_permissions", "name", &[])
    .show("/console/staff/{id}", "get_staff", ("Staff member", "Staf")).columns("email msisdn permission.name permission.level working_type join_date salary address bank_account pending_email created_at")
    .edit("/console/staff/{id}/edit", "update_staff", "get_staff", ("Edit", "Ubah")).fields(STAFF).choose("permission_id", "list_permissions", "name", &[])
    .act("/console/staff/{id}/delete", "delete_staff", "get_staff", ("Delete", "Hapus")).danger().columns("email permission.name").then("/console/staff")

    .list("/console/permissions", "list_permissions", ("Permissions", "Hak akses")).menu(Service, "key").columns("name level description staff_count updated_at")
    .form("/console/permissions/new", "create_permission", ("New permission", "Hak akses baru")).template("permission.html").fields("name level description:long rules").also(&["get_permission_rules"])
    .show("/console/permissions/{id}", "get_permission", ("Permission", "Hak akses")).columns("level description rules staff_count created_at updated_at")
    .edit("/console/permissions/{id}/edit", "update_permission", "get_permission", ("Edit", "Ubah")).template("permission.html").fields("name level description:long rules").also(&["get_permission_rules"])
    .act("/console/permissions/{id}/delete", "delete_permission", "get_permission", ("Delete", "Hapus")).danger().columns("level staff_count").then("/console/permissions")

    .list("/console/users", "list_users", ("Accounts", "Akun pengguna")).menu(Service, "person").also(&["user_statistics"]).columns("name email role last_login_at second_factor status")
    .form("/console/users/new", "invite_admin", ("Invite admin", "Undang admin")).fields("name email phone")
    .show("/console/users/{id}", "get_user", ("Account", "Akun")).columns("email phone role status email_verified pending_email second_factor last_login_at created_at")
    .act("/console/users/{id}/status", "change_admin_status", "get_user", ("Change status", "Ubah status")).columns("email status").fields("status").when("role", &["admin"])
    .act("/console/users/{id}/second-factor", "reset_totp", "get_user", ("Reset second factor", "Hapus faktor kedua")).danger().columns("email role").when("second_factor", &["true"])
    .list("/console/users/{id}/notifications", "list_notifications_of", ("Notifications", "Pemberitahuan")).columns("title body created_at read_at")

    .list("/console/audit", "list_audit_logs", ("Audit log", "Jejak audit")).menu(Service, "eye").template("audit.html").record(audit_entry)

    .own("/console/terms", "list_terms_history", terms, ("Terms", "Syarat & ketentuan")).menu(Service, "file").also(&["get_terms"])
    .form("/console/terms/new", "create_terms", ("New draft", "Draf baru")).fields("type content:long").fixed(&[("user_creator_id", "{me}")]).then("/console/terms?type={type}")
    .edit("/console/terms/{type}/{id}/edit", "update_terms", "list_terms_history", ("Edit draft", "Ubah draf")).heading("type").fields("content:long").fixed(&[("user_creator_id", "{me}")]).then("/console/terms?type={type}")
    .act("/console/terms/{type}/{id}/publish", "publish_terms", "list_terms_history", ("Publish terms", "Terbitkan syarat")).heading("type").columns("version creator_name updated_at").fixed(&[("user_validator_id", "{me}")]).then("/console/terms?type={type}")
        .says("Whoever wrote a version does not publish it.", "Penulis sebuah versi tidak menerbitkannya sendiri.")
    .show("/console/contents", "get_cta_partnership", ("Partnership page", "Halaman kemitraan")).only_if("save_cta_partnership").menu(Service, "globe").heading("title").columns("description button_label button_url is_active updated_at")
    .edit("/console/contents/edit", "save_cta_partnership", "get_cta_partnership", ("Edit", "Ubah")).heading("-").fields("title description:long button_label button_url image_file_id is_active")

    .list("/console/webhooks", "list_webhooks", ("Webhooks", "Webhook")).menu(Service, "link").columns("url events active failing_since disabled_reason updated_at").row("/console/webhooks/{webhook_id}/deliveries")
    .form("/console/webhooks/new", "create_webhook", ("New webhook", "Webhook baru")).fields("url events active").shows_answer("answer_webhook.html")
    .list("/console/webhooks/{id}/deliveries", "list_deliveries", ("Deliveries", "Pengiriman")).tabs("status").columns("created_at type attempts response_status last_error status")
    .edit("/console/webhooks/{id}/edit", "update_webhook", "list_webhooks", ("Edit", "Ubah")).heading("url").fields("url events active").then("/console/webhooks")
    .act("/console/webhooks/{id}/delete", "delete_webhook", "list_webhooks", ("Delete", "Hapus")).heading("url").danger().then("/console/webhooks")
    .act("/console/webhooks/{id}/deliveries/{delivery_id}/resend", "resend_delivery", "list_deliveries", ("Send again", "Kirim lagi")).heading("type").columns("attempts response_status last_error").then("/console/webhooks/{id}/deliveries")

    .form("/console/privacy/export", "export_personal_data", ("Export personal data", "Ekspor data pribadi")).menu(Service, "shield").fields("email").shows_answer("answer_export.html")
        .says("Everything that is held about one person, by e-mail address.", "Semua data tentang seseorang, menurut alamat e-mail.")
    .form("/console/privacy/erase", "erase_personal_data", ("Erase personal data", "Hapus data pribadi")).menu(Service, "bin").danger().fields("email reason").shows_answer("answer_export.html")
        .says("What is over is made anonymous now, the rest when it is over. This cannot be undone.", "Yang sudah selesai dianonimkan sekarang, sisanya setelah selesai. Tidak dapat diurungkan.")
    .show("/console/system", "health", ("System", "Sistem")).only_if("list_webhooks").menu(Service, "shield").template("system.html").heading("-").columns("version database storage uptime_seconds insecure_demo")
}
