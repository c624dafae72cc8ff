"""The types of requests and answers.

Generated from docs/openapi.json by clients/generate.py. Do not edit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    # Only type checkers need it, and they bring it.
    from typing_extensions import NotRequired, TypeAlias

    from .files import File


Account: TypeAlias = Literal[
    "gateway_clearing",
    "customer_deposits",
    "unapplied_payments",
    "refund_payable",
    "partner_payable",
    "commission_revenue",
    "promotion_expense",
    "tax_payable",
    "bank",
    "cash",
    "gateway_fees",
    "vat_input",
    "suspense",
    "losses",
    "prepaid_pph23",
    "bank_fees",
    "equity",
    "reseller_receivable",
    "reseller_margin",
]


class AccountBalance(TypedDict):
    """Debit balances are positive, credit balances negative."""

    account: Account
    closing: int
    """Whole rupiah."""
    credit: int
    """Whole rupiah."""
    debit: int
    """Whole rupiah."""
    opening: int
    """Whole rupiah."""
    tax_code: NotRequired[str | None]
    """Of `tax_payable`."""


class AccountData(TypedDict):
    audit_entries: list[ExportedAuditEntry]
    """Changes that the person made."""
    created_at: str
    crew_of: NotRequired[str | None]
    """The partner that the person works for as crew."""
    deleted_at: NotRequired[str | None]
    email: str
    email_verified: bool
    files: list[ExportedFile]
    id: str
    """UUID version 7."""
    last_login_at: NotRequired[str | None]
    mitra: NotRequired[ExportedPartner | None]
    name: str
    networks: list[ExportedNetwork]
    notifications: list[ExportedNotification]
    pending_email: NotRequired[str | None]
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    remembered_devices: list[ExportedDevice]
    reseller: NotRequired[ExportedReseller | None]
    role: Role
    second_factor: bool
    """Whether sign-in requires a code of an authenticator app."""
    sessions: list[ExportedSession]
    staff: NotRequired[ExportedStaff | None]
    status: str


class Address(TypedDict):
    city: str
    postal_code: str
    province: str
    street: str


AdminStatus: TypeAlias = Literal["active", "inactive"]


class Admitted(TypedDict):
    """Passenger and booking of a ticket code."""

    boarded_at: NotRequired[str | None]
    booking_code: str
    booking_id: str
    passenger_id: str
    passenger_name: str


AnyObject: TypeAlias = dict[str, Any]
"""In the format of the payment provider."""


AnyPayout: TypeAlias = dict[str, Any]
"""In the format of the provider of payouts."""


AppliesTo: TypeAlias = Literal["booking", "seats", "charter", "commission"]


class AuditLog(TypedDict):
    action: str
    """What was done, such as `booking.cancelled`."""
    actor: Person
    address: str
    """IP address of the client."""
    after: NotRequired[Any]
    before: NotRequired[Any]
    created_at: str
    entity_id: str
    entity_type: str
    """Kind of record, such as `booking` or `partner`."""
    id: str
    """UUID version 7."""
    on_behalf_of: NotRequired[Person | None]
    """The impersonated account, if the change was made in an impersonated session."""
    request_id: str
    """Identifies the request in the log and in the response header `X-Request-Id`."""
    user_agent: NotRequired[str | None]


class BalanceTotal(TypedDict):
    closing: int
    """Whole rupiah."""
    credit: int
    """Whole rupiah."""
    debit: int
    """Whole rupiah."""
    opening: int
    """Whole rupiah."""


class BankAccountForm(TypedDict):
    account_name: str
    account_number: str
    bank_code: str
    """Code of the bank, such as `BCA` or `BRI`."""


BankAccountStatus: TypeAlias = Literal["pending", "approved", "rejected"]


class BankApproval(TypedDict):
    account_name: NotRequired[str | None]
    account_number: NotRequired[str | None]
    """What the reviewer has seen; an account that has changed in the meantime is not reviewed."""
    bank_code: NotRequired[str | None]
    """Code of the bank, such as `BCA` or `BRI`."""
    note: NotRequired[str | None]
    """Required for a rejection; the partner reads it."""
    status: Verdict


BoatStatus: TypeAlias = Literal["active", "maintenance", "inactive"]


class BookedBoat(TypedDict):
    id: str
    """UUID version 7."""
    name: str


BookedSailing = TypedDict(
    "BookedSailing",
    {
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        "mitra": "Owner",
        "speedboat": "BookedBoat",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)


class Booking(TypedDict):
    type: BookingType
    accepted_terms_id: NotRequired[str | None]
    """Version of the customer terms that was accepted with the booking."""
    cancel_reason: NotRequired[str | None]
    cancelled_at: NotRequired[str | None]
    cancelled_passengers: list[FormerPassenger]
    """Passengers who were cancelled while the rest travels."""
    channel: Channel
    code: str
    """Booking code, as printed on tickets."""
    code_promo: NotRequired[str | None]
    """Promotion code; not case-sensitive."""
    contact: BookingContact
    created_at: str
    expires_at: str
    id: str
    """UUID version 7."""
    item_id: str
    """UUID of the speedboat."""
    note: str
    owed: int
    """What is still owed to the customer: the refunds that are not paid yet."""
    passengers: list[Passenger]
    payment: NotRequired[PaymentRecord | None]
    """Null if nothing has to be paid."""
    price: PriceRecord
    qty: int
    """Number of passengers."""
    refund_account: NotRequired[RefundAccount | None]
    """Where refunds are transferred that the payment provider cannot send, as the booker stated it.
    Null for partners.
    """
    refund_amount: NotRequired[int | None]
    """Amount that is or was to be refunded to the customer. Null for partners if a reseller has
    sold the booking.
    """
    reseller: NotRequired[Owner | None]
    """The reseller that sold it. Null if sold without a reseller."""
    route_time_id: str
    """UUID of the sailing."""
    sailing: BookedSailing
    status: BookingStatus


class BookingContact(TypedDict):
    email: str
    name: str
    phone: str
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


BookingEvent = TypedDict(
    "BookingEvent",
    {
        "booking_id": "str",
        # Of `booking.passengers_cancelled`: how many passengers were cancelled.
        "cancelled_qty": "NotRequired[int | None]",
        # Booking code, as printed on tickets.
        "code": "str",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Of a reschedule: what the customer paid, or (negative) is owed.
        "difference": "NotRequired[int | None]",
        # Harbour of departure.
        "from": "str",
        # UUID of the partner.
        "mitra_id": "str",
        # Number of passengers.
        "qty": "int",
        # Whole rupiah.
        "refund_amount": "NotRequired[int | None]",
        # Harbour of arrival.
        "to": "str",
        # Null for bookings of resellers.
        "total": "NotRequired[int | None]",
    },
)
"""A booking, at the time at which the event is sent."""


class BookingFigures(TypedDict):
    cancelled: int
    completed: int
    paid: int
    passengers: int
    total: int


class BookingForm(TypedDict):
    type: BookingType
    accept_terms: NotRequired[bool | None]
    """Whether the customer accepts the published terms."""
    code_promo: NotRequired[str | None]
    """Promotion code; not case-sensitive."""
    contact: Contact
    item_id: str
    """UUID of the sailing's speedboat."""
    note: NotRequired[str | None]
    passengers: list[PassengerForm]
    qty: int
    """Number of passengers."""
    route_time_id: str
    """UUID of the sailing."""


class BookingOptions(TypedDict):
    """What the caller can do with a booking now. Decided by the rules that cancelling and
    rescheduling follow.
    """

    cancel: CancelOption
    pending_reschedule: NotRequired[PendingReschedule | None]
    """The reschedule whose difference is not paid yet."""
    reschedule: RescheduleOption


BookingSort: TypeAlias = Literal["created_at", "departure_at", "total"]


BookingStatus: TypeAlias = Literal[
    "pending_payment",
    "paid",
    "completed",
    "expired",
    "cancelled",
    "refund_pending",
    "refunded",
]


BookingType: TypeAlias = Literal["speedboat", "charter"]


class BookingsByStatus(TypedDict):
    cancelled: int
    completed: int
    expired: int
    paid: int
    pending_payment: int
    refund_pending: int
    refunded: int


BorneBy: TypeAlias = Literal["partner", "platform"]


class Breakdown(TypedDict):
    as_of: str
    """When the data was read."""
    items: list[Slice]
    period: ReportWindow
    previous: ReportWindow
    total: Figure


class Business(TypedDict):
    """Business data of a partner."""

    description: NotRequired[str | None]
    address: NotRequired[str | None]
    """Postal address."""
    city: NotRequired[str | None]
    legal_name: NotRequired[str | None]
    nib: NotRequired[str | None]
    """Business number (NIB): 13 digits."""
    npwp: NotRequired[str | None]
    """Masked for those who may not read it."""
    postal_code: NotRequired[str | None]
    province: NotRequired[str | None]


class BusinessForm(TypedDict):
    description: NotRequired[str | None]
    address: NotRequired[str | None]
    """Postal address."""
    city: NotRequired[str | None]
    legal_name: NotRequired[str | None]
    nib: NotRequired[str | None]
    """Business number (NIB): 13 digits."""
    npwp: NotRequired[str | None]
    """Tax number (NPWP): 15 or 16 digits."""
    postal_code: NotRequired[str | None]
    province: NotRequired[str | None]


class By(TypedDict):
    id: str
    """UUID version 7."""
    name: str


class ByRole(TypedDict):
    admin: int
    crew: int
    mitra: int
    reseller: int
    staff: int


class ByStatus(TypedDict):
    active: int
    inactive: int
    suspended: int


class CancelForm(TypedDict):
    """Credentials of a guest: both must match the booking."""

    borne_by: NotRequired[BorneBy | None]
    """Staff, after the journey: who bears the refund. Default `partner`."""
    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    email: NotRequired[str | None]
    passenger_ids: NotRequired[list[str] | None]
    """UUIDs of some of the passengers, to cancel them alone; the rest travels. Left out: all."""
    reason: str
    refund: NotRequired[RefundChoice | None]
    """What is paid back: everything (default of partners and staff), or what the refund policy
    grants to the booker.
    """
    refund_amount: NotRequired[int | None]
    """Staff: what is paid back, from 0 to what was paid; at least 1 after the journey."""


class CancelOption(TypedDict):
    allowed: bool
    percent: int
    """The part of the price that would be paid back, in percent."""
    reason: NotRequired[str | None]
    """The error code with which it would be refused."""
    refund_amount: int
    """What would be paid back: for the whole booking, or for `passenger_ids`."""
    until: NotRequired[str | None]
    """Time until which this applies. Null: unlimited, or not allowed."""


class CancelSailing(TypedDict):
    reason: str
    """Sent to everyone who booked."""


class CancelSettlement(TypedDict):
    note: NotRequired[str | None]


class CancelledBookings(TypedDict):
    """Outcome for the bookings of a cancelled sailing."""

    cancelled: int
    """Number of bookings that were unpaid or free of charge."""
    refund_due: int
    """Number of paid bookings that are owed a refund."""
    refund_total: int
    """For partners at the retail price, also of bookings of resellers."""


CancelledSailing = TypedDict(
    "CancelledSailing",
    {
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        "bookings": "CancelledBookings",
        "cancelled_at": "NotRequired[str | None]",
        # Number of seats.
        "capacity": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        # UUID version 7.
        "id": "str",
        "manifest_closed_at": "NotRequired[str | None]",
        # UUID of the partner.
        "mitra_id": "str",
        # Whole rupiah.
        "price": "int",
        # Why the sailing was cancelled or moved.
        "reason": "NotRequired[str | None]",
        "route_id": "str",
        # Seats of paid bookings and of unpaid ones that are still held.
        "seats_taken": "int",
        "speedboat_id": "str",
        "status": "SailingStatus",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)


class CashDeposit(TypedDict):
    amount: int
    """Whole rupiah."""
    created_at: str
    created_by: str
    deposited_on: str
    id: str
    """UUID version 7."""
    reference: str


class CashDepositForm(TypedDict):
    amount: int
    """Whole rupiah."""
    deposited_on: str
    reference: str
    """Reference of the deposit at the bank."""


class CatalogBoat(TypedDict):
    description: NotRequired[str | None]
    capacity: int
    """Number of seats."""
    facilities: list[str]
    id: str
    """UUID version 7."""
    name: str
    photos: list[Photo]


class CatalogEntry(TypedDict):
    """A partner in the list of those that can be booked."""

    id: str
    """UUID version 7."""
    name: str
    slug: str
    """The partner's public page is `/p/{slug}`."""


CatalogLine = TypedDict(
    "CatalogLine",
    {
        # Harbour of departure.
        "from": "str",
        # Harbour of arrival.
        "to": "str",
    },
)


class CatalogPartner(TypedDict):
    """A partner as customers see it."""

    description: NotRequired[str | None]
    city: NotRequired[str | None]
    id: str
    """UUID version 7."""
    lines: list[CatalogLine]
    """Between which harbours it sails, while sailings are published."""
    name: str
    province: NotRequired[str | None]
    slug: str
    """The partner's public page is `/p/{slug}`."""
    speedboats: list[CatalogBoat]
    """Its boats in service, at most 50."""


class CatalogSpeedboat(TypedDict):
    """A speedboat as customers see it."""

    description: NotRequired[str | None]
    capacity: int
    """Number of seats."""
    facilities: list[str]
    id: str
    """UUID version 7."""
    mitra: Owner
    name: str
    photos: list[Photo]


Category: TypeAlias = Literal["adult", "child", "infant", "senior", "student"]


class ChangeAdminStatus(TypedDict):
    status: AdminStatus


class ChangePassword(TypedDict):
    cpassword: str
    """Confirmation: the same as `password`."""
    current_password: str
    """The password that is replaced."""
    password: str
    """8 to 128 characters. Passwords that are easy to guess are refused."""


class ChangedTerms(TypedDict):
    content: str
    """HTML."""
    id: str
    """UUID version 7."""
    user_creator_id: str
    """The caller's own id."""


Channel: TypeAlias = Literal["web", "staff", "mitra", "reseller"]


class CheckIn(TypedDict):
    """One ticket code, or a batch of scans made offline."""

    scans: NotRequired[list[Scan] | None]
    ticket_code: NotRequired[str | None]
    """Text of the QR code on a ticket."""


CheckedIn: TypeAlias = "Admitted | CheckedInBoarded"
"""Result for one code, or for a batch."""


class CheckedInBoarded(TypedDict):
    boarded: int
    results: list[ScanResult]


ComparisonMode: TypeAlias = Literal["Month-over-month", "Quarter-over-Quarter", "Year-over-Year"]


class ConfirmTotp(TypedDict):
    code: str
    """Six digits of the authenticator app."""


class Contact(TypedDict):
    email: str
    name: str
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class CorrectContact(TypedDict):
    """Fields that are left out keep their value."""

    email: NotRequired[str | None]
    name: NotRequired[str | None]
    phone: NotRequired[str | int | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class CorrectPassengers(TypedDict):
    """Passengers that are not named stay as they are."""

    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    email: NotRequired[str | None]
    passengers: list[PassengerCorrection]


class CrewMember(TypedDict):
    created_at: str
    email: str
    id: str
    """UUID of the account."""
    invited: bool
    """Whether the invitation has not been accepted yet."""
    last_login_at: NotRequired[str | None]
    name: str
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    status: Status


CrewSort: TypeAlias = Literal["name", "created_at"]


class CtaForm(TypedDict):
    title: str
    description: str
    button_label: str
    button_url: str
    """`http` or `https`."""
    image_file_id: NotRequired[str | None]
    """An empty string removes the image."""
    is_active: bool


class CtaPartnership(TypedDict):
    title: str
    description: str
    button_label: str
    button_url: str
    image_file_id: NotRequired[str | None]
    image_url: NotRequired[str | None]
    is_active: bool
    updated_at: str


class Dashboard(TypedDict):
    as_of: str
    """When the data was read."""
    month: ThisMonth
    """This month, compared with the previous one."""
    pending: Pending
    revenue_series: NotRequired[list[Point] | None]
    """Null, like every amount, for staff without `reports.read`."""
    today: Today
    top_partners: NotRequired[list[PartnerSales] | None]
    """This month; null for a partner."""
    top_routes: NotRequired[list[RouteSales] | None]
    """This month."""
    upcoming_departures: list[Departure]


DeliveryStatus: TypeAlias = Literal["pending", "delivered", "failed"]


class DepartingBoat(TypedDict):
    id: str
    """UUID version 7."""
    name: str


Departure = TypedDict(
    "Departure",
    {
        # Number of seats.
        "capacity": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        "mitra": "Seller",
        # UUID of the sailing.
        "route_time_id": "str",
        # Seats of paid bookings and of unpaid ones that are still held.
        "seats_taken": "int",
        "speedboat": "DepartingBoat",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)


Direction: TypeAlias = Literal["asc", "desc"]


DisabledReason: TypeAlias = Literal["gone", "failing"]


class DiscountForm(TypedDict):
    type: DiscountType
    max_amount: NotRequired[int | None]
    """Upper bound of a percentage discount, in whole rupiah."""
    min_purchase: NotRequired[int | None]
    """Minimum subtotal, in whole rupiah."""
    value: float
    """Percent with at most two decimals or whole rupiah, by `type`."""


class DiscountRecord(TypedDict):
    type: DiscountType
    max_amount: NotRequired[int | None]
    """Whole rupiah."""
    min_purchase: NotRequired[int | None]
    """Whole rupiah."""
    value: float
    """Percent or whole rupiah, by `type`."""


DiscountType: TypeAlias = Literal["percentage", "fixed"]


class Document(TypedDict):
    type: DocumentType
    created_at: str
    file: DocumentFile
    id: str
    """UUID version 7."""
    note: NotRequired[str | None]
    reviewed_at: NotRequired[str | None]
    status: DocumentStatus


class DocumentFile(TypedDict):
    filename: str
    id: str
    """UUID version 7."""
    url: NotRequired[str | None]
    """Signed address, valid for five minutes; null for callers who may not read the document."""


class DocumentForm(TypedDict):
    type: DocumentType
    file_id: str


class DocumentReview(TypedDict):
    document_id: str
    note: NotRequired[str | None]
    """Required for a rejection."""
    status: Verdict


DocumentStatus: TypeAlias = Literal["pending", "approved", "rejected"]


DocumentType: TypeAlias = Literal["ktp", "npwp", "nib", "deed", "bank_book", "operating_permit"]


DueKind: TypeAlias = Literal[
    "sale",
    "kept",
    "reversal",
    "returned",
    "charge",
    "receipt",
    "carried",
    "journal",
]


class EmailForm(TypedDict):
    email: str


class EnrolTotp(TypedDict):
    current_password: str
    """The account's password."""


class Entry(TypedDict):
    """A line of the ledger."""

    account: Account
    booking_code: NotRequired[str | None]
    booking_id: NotRequired[str | None]
    created_at: str
    credit: int
    """Whole rupiah."""
    debit: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    kind: str
    """What happened to the source."""
    mitra_id: NotRequired[str | None]
    """Of `partner_payable`."""
    posted_on: str
    source: Source
    source_id: str
    """Lines with the same source, `source_id` and kind are one posting."""
    tax_code: NotRequired[str | None]
    """Of `tax_payable`."""


class ErasedKind(TypedDict):
    erased: int
    waiting: int


class Erasure(TypedDict):
    """Result of an erasure."""

    accounts: ErasedKind
    bookings: ErasedKind
    erased: int
    """Number of accounts and bookings that were erased now."""
    letters: int
    """Number of stored mails to the address that were deleted."""
    resellers: int
    """Number of resellers that had the address as `ops_email`. Their mails go to `email` from now
    on.
    """
    waiting: int
    """Number of accounts and bookings that will be erased when they are over."""


class ErasureRequest(TypedDict):
    email: str
    reason: str
    """Kept in the audit log, so it must not contain the address."""


class ErrorBody(TypedDict):
    """Envelope of every error."""

    code: int
    """HTTP status code."""
    data: NotRequired[Any]
    error: str
    """Stable error code."""
    errors: NotRequired[list[Fault] | None]
    """The invalid fields, at most 100; only with `validation_failed`."""
    errors_truncated: NotRequired[bool]
    """Whether there are more faults than `errors` lists."""
    message: str
    """For people, in the language of the request."""
    request_id: str
    """Identifies the request in the log and in the response header `X-Request-Id`."""
    status: str
    """Always `error`."""


EventName: TypeAlias = Literal[
    "booking.created",
    "booking.paid",
    "booking.expired",
    "booking.cancelled",
    "booking.passengers_cancelled",
    "booking.completed",
    "booking.refunded",
    "booking.rescheduled",
    "payment.review",
    "refund.due",
    "refund.failed",
    "partner.registered",
    "partner.submitted",
    "partner.approved",
    "partner.revision",
    "partner.review_resumed",
    "partner.document_replaced",
    "partner.bank_changed",
    "partner.bank_approved",
    "partner.bank_rejected",
    "partner.suspended",
    "partner.unsuspended",
    "settlement.created",
    "settlement.released",
    "settlement.returned",
    "settlement.failed",
    "sailing.cancelled",
    "sailing.moved",
    "terms.published",
]


class ExportRequest(TypedDict):
    email: str


class ExportedAuditEntry(TypedDict):
    action: str
    """What was done, such as `booking.cancelled`."""
    address: str
    """IP address of the client."""
    created_at: str
    entity_id: str
    entity_type: str
    """Kind of record, such as `booking` or `partner`."""
    user_agent: NotRequired[str | None]


class ExportedDevice(TypedDict):
    created_at: str
    expires_at: str


class ExportedDocument(TypedDict):
    type: str
    created_at: str
    file_id: str
    id: str
    """UUID version 7."""
    note: NotRequired[str | None]
    status: str


class ExportedFile(TypedDict):
    content_type: str
    created_at: str
    filename: str
    id: str
    """UUID version 7."""
    purpose: str
    size: int
    """Bytes."""


class ExportedLetter(TypedDict):
    filename: str
    """Name of the file."""
    size: int
    """Bytes."""
    written_at: str


class ExportedNetwork(TypedDict):
    last_used_at: str
    """Time of the last request, to the minute."""
    network: str
    """IPv4 address, or the /64 of an IPv6 address."""


class ExportedNotification(TypedDict):
    type: str
    created_at: str
    data: Any
    id: str
    """UUID version 7."""


class ExportedOnboarding(TypedDict):
    description: NotRequired[str | None]
    account_name: NotRequired[str | None]
    account_number: NotRequired[str | None]
    address: NotRequired[str | None]
    """Postal address."""
    bank_code: NotRequired[str | None]
    """Code of the bank, such as `BCA` or `BRI`."""
    city: NotRequired[str | None]
    legal_name: NotRequired[str | None]
    nib: NotRequired[str | None]
    """Business number (NIB): 13 digits."""
    npwp: NotRequired[str | None]
    """Tax number (NPWP): 15 or 16 digits."""
    pic_email: NotRequired[str | None]
    pic_name: NotRequired[str | None]
    pic_nik: NotRequired[str | None]
    pic_phone: NotRequired[str | None]
    pic_position: NotRequired[str | None]
    postal_code: NotRequired[str | None]
    province: NotRequired[str | None]


class ExportedOpsReseller(TypedDict):
    """A reseller, for the person behind its `ops_email`."""

    id: str
    """UUID version 7."""
    name: str


class ExportedPartner(TypedDict):
    address: str
    """Postal address."""
    created_at: str
    documents: list[ExportedDocument]
    id: str
    """UUID version 7."""
    onboarding: NotRequired[ExportedOnboarding | None]
    paid_to: list[Any]
    """Bank accounts that settlements were paid to, masked."""
    partnerType: str
    status: str
    suspended_reason: NotRequired[str | None]


class ExportedReseller(TypedDict):
    address: str
    """Postal address."""
    created_at: str
    id: str
    """UUID version 7."""
    keys: list[ExportedResellerKey]
    """API keys, without the keys themselves."""
    legal_name: str
    npwp: NotRequired[str | None]
    """Tax number (NPWP): 15 or 16 digits."""
    ops_email: NotRequired[str | None]
    status: str
    status_reason: NotRequired[str | None]
    """Why it was suspended."""
    subscriptions: list[str]
    """Addresses that it is notified at."""


class ExportedResellerKey(TypedDict):
    addresses: list[str]
    """Networks that it may be used from."""
    created_at: str
    last_used_address: NotRequired[str | None]
    last_used_at: NotRequired[str | None]
    """Time of the last request, to the minute."""
    name: str
    prefix: str
    """The first characters of the key."""
    revoked_at: NotRequired[str | None]


class ExportedSession(TypedDict):
    address: str
    """IP address of the client."""
    created_at: str
    expires_at: str
    id: str
    """UUID version 7."""
    user_agent: NotRequired[str | None]


class ExportedStaff(TypedDict):
    account_name: str
    account_number: str
    address: Any
    bank_code: str
    """Code of the bank, such as `BCA` or `BRI`."""
    id: str
    """UUID version 7."""
    join_date: str
    salary: NotRequired[int | None]
    """Whole rupiah."""
    working_type: str


class ExtendRoute(TypedDict):
    end_date: str
    """New last day of the route."""
    speedboat_id: NotRequired[str | None]
    """The boat of the added sailings, and of the route from then on. Default: the boat of the
    route.
    """


class FailedSignIns(TypedDict):
    failures: int
    network: str
    """IPv4 address, or the /64 of an IPv6 address."""
    since: str


class Fare(TypedDict):
    category: Category
    id_required: bool
    """Whether a passenger has to state an identity number."""
    key: str
    """The category, or `category_residency` unless the residency is `any`."""
    max_age: int
    """Highest age on the day of departure; 120 is no limit."""
    min_age: int
    """Lowest age on the day of departure; 0 is no limit."""
    price: FarePrice
    residency: Residency
    takes_seat: bool
    """A passenger without a seat travels with an adult."""


class FareForm(TypedDict):
    category: Category
    id_required: NotRequired[bool | None]
    """Default false."""
    key: NotRequired[str | None]
    """May be left out: it follows from category and residency."""
    max_age: NotRequired[int | None]
    """Default 120, which is no limit."""
    min_age: NotRequired[int | None]
    """Default 0, which is no limit."""
    price: FarePriceForm
    residency: NotRequired[Residency | None]
    """Default `any`."""
    takes_seat: NotRequired[bool | None]


FarePrice: TypeAlias = "FarePricePercent | FarePriceAmount"
"""Percent of the sailing's price, or a fixed amount."""


class FarePriceAmount(TypedDict):
    amount: int
    """Whole rupiah."""


class FarePriceForm(TypedDict):
    """Percent of the sailing's price, or a fixed amount: exactly one of them."""

    amount: NotRequired[int | None]
    percent: NotRequired[int | None]


class FarePricePercent(TypedDict):
    percent: int


class Fault(TypedDict):
    """A violated rule of a field."""

    field: str
    """Path of the field, such as `passengers[1].name`."""
    message: str
    """For people, in the language of the request."""
    rule: str
    """Stable code of the rule."""


class Figure(TypedDict):
    """A figure and that of the compared period."""

    change_percent: NotRequired[float | None]
    """Null if the previous figure is 0."""
    current: int
    previous: int


class FileRecord(TypedDict):
    content_type: Kind
    created_at: str
    filename: str
    id: str
    """UUID version 7."""
    purpose: Purpose
    size: int
    """Bytes."""
    status: FileStatus
    url: str
    """Signed and valid for five minutes if the file is private."""


FileStatus: TypeAlias = Literal["pending", "ready"]


class FinanceFigures(TypedDict):
    commission: int
    """Whole rupiah."""
    gross: int
    """Whole rupiah."""
    net: int
    """What the partner has earned: gross less commission and its tax of journeys that were sailed
    and of money that was kept.
    """
    settled: int
    """Whole rupiah."""
    unsettled: int
    """What of it was not paid out; negative if the partner owes."""


class FinancePeriod(TypedDict):
    """A month of the books."""

    closed_at: NotRequired[str | None]
    closed_by: NotRequired[str | None]
    month: str
    """A month, written `2026-11`."""
    reason: NotRequired[str | None]
    """Why it was reopened."""
    reopened_at: NotRequired[str | None]
    reopened_by: NotRequired[str | None]
    status: PeriodStatus


class FindBookings(TypedDict):
    email: str
    """The contact address of the bookings."""


class FleetFigures(TypedDict):
    active_routes: int
    speedboats: int
    upcoming_sailings: int


Format: TypeAlias = Literal["json", "csv", "xlsx"]


class FormerPassenger(TypedDict):
    cancelled_at: str
    id: str
    """UUID version 7."""
    name: str


FundedBy: TypeAlias = Literal["platform", "partner"]


Gender: TypeAlias = Literal["male", "female"]


class GetPartnerStatementBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: PartnerStatement
    message: str
    pagination: Pagination
    status: str


class GetResellerStatementBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: ResellerStatement
    message: str
    pagination: Pagination
    status: str


class Grant(TypedDict):
    """A partner that a reseller may sell."""

    allow_loss: NotRequired[bool | None]
    """The margin may be higher than the partner's commission. Null for resellers."""
    margin_rate: float
    """Percent of the fare that the reseller keeps."""
    mitra: NotRequired[Owner | None]
    mitra_id: NotRequired[str | None]
    """Null: every partner that has no grant of its own."""
    net_fares: list[NetFare]
    """Agreed prices, instead of the margin."""
    refund_policy: NotRequired[list[PolicyStep] | None]
    """What a cancellation gives back, longest first; null: the policy of the service."""


class GrantForm(TypedDict):
    allow_loss: NotRequired[bool | None]
    """Allows a margin above the partner's commission. Default: false. Left out: that of the
    partner's grant stays.
    """
    margin_rate: float
    """Percent of the fare that the reseller keeps."""
    mitra_id: NotRequired[str | None]
    """Null or left out: every partner that has no grant of its own."""
    net_fares: NotRequired[list[NetFare] | None]
    """Agreed prices, instead of the margin. Left out: those of the partner's grant stay."""
    refund_policy: NotRequired[list[PolicyStep] | None]
    """What a cancellation gives back: fewer hours give less. Null: the policy of the service. Left
    out: that of the partner's grant stays.
    """


class Grants(TypedDict):
    grants: list[Grant]


class GrantsForm(TypedDict):
    """The whole list: what it leaves out is withdrawn."""

    grants: list[GrantForm]


class GuestCredentials(TypedDict):
    """Credentials of a guest: both must match the booking."""

    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    email: NotRequired[str | None]


class Harbour(TypedDict):
    aliases: list[str]
    """Other names that find it."""
    city: NotRequired[str | None]
    id: str
    """UUID version 7."""
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    name: str
    province: NotRequired[str | None]
    status: HarbourStatus
    timezone: Zone


class HarbourChange(TypedDict):
    """Fields that are left out keep their value."""

    aliases: NotRequired[list[str] | None]
    city: NotRequired[str | None]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    name: NotRequired[str | None]
    """The old name becomes an alias, unless `aliases` are given."""
    province: NotRequired[str | None]
    status: NotRequired[HarbourStatus | None]
    timezone: NotRequired[Zone | None]
    """Time zone of the harbour."""


HarbourSort: TypeAlias = Literal["name", "created_at"]


HarbourStatus: TypeAlias = Literal["verified", "unverified"]


class Health(TypedDict):
    database: str
    """Engine of the database."""
    insecure_demo: bool
    """Whether the production guard is disabled."""
    storage: str
    """`local` or `s3`."""
    uptime_seconds: int
    version: str


class HeldPermission(TypedDict):
    id: str
    """UUID version 7."""
    level: Level
    name: str


IdentityType: TypeAlias = Literal["nik", "passport"]


class Impersonation(TypedDict):
    """A short session as a partner."""

    access_token: str
    """Bearer token for the `Authorization` header."""
    expires_in: int
    """Seconds until the token expires."""
    user: User


class Impersonator(TypedDict):
    id: str
    """UUID version 7."""
    name: str


class InviteAdmin(TypedDict):
    email: str
    name: str
    phone: NotRequired[str | int | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class InviteCrew(TypedDict):
    email: str
    name: str
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


InvoiceSchedule: TypeAlias = Literal["weekly", "monthly"]


InvoiceStatus: TypeAlias = Literal["open", "paid"]


class Journal(TypedDict):
    amount: int
    """Sum of the debits."""
    created_at: str
    created_by: str
    decided_at: NotRequired[str | None]
    decided_by: NotRequired[str | None]
    """Who approved or rejected it."""
    id: str
    """UUID version 7."""
    lines: list[JournalLine]
    memo: str
    mitra_id: NotRequired[str | None]
    """UUID of the partner."""
    posted_on: str
    status: JournalStatus


class JournalForm(TypedDict):
    lines: list[JournalLineForm]
    """Debits and credits are equal; each account occurs once."""
    memo: str
    """What it is for."""
    mitra_id: NotRequired[str | None]
    """The partner of the line of `partner_payable`."""
    posted_on: str
    """The day in the books."""


class JournalLine(TypedDict):
    account: Account
    credit: int
    """Whole rupiah."""
    debit: int
    """Whole rupiah."""
    tax_code: NotRequired[str | None]


class JournalLineForm(TypedDict):
    """Either a debit or a credit."""

    account: Account
    credit: NotRequired[int | None]
    """Whole rupiah."""
    debit: NotRequired[int | None]
    """Whole rupiah."""
    tax_code: NotRequired[str | None]
    """Of `tax_payable`."""


JournalStatus: TypeAlias = Literal["draft", "posted", "rejected"]


Kind: TypeAlias = Literal["image/jpeg", "image/png", "image/webp", "application/pdf"]


Level: TypeAlias = Literal["owner", "manager", "supervisor", "operator", "viewer"]


Line = TypedDict(
    "Line",
    {
        # Minutes before departure at which the sale ends. Null: the service's setting.
        "cutoff_minutes": "NotRequired[int | None]",
        # Whether resellers may also sell tickets for any sailing of a day.
        "day_ticket": "bool",
        # The first one is the default of a passenger.
        "fares": "list[Fare]",
        # Harbour of departure.
        "from": "str",
        # UUID version 7.
        "id": "str",
        # The most passengers of one booking of a reseller.
        "max_party": "int",
        # UUID of the partner.
        "mitra_id": "str",
        "names": "PassengerNames",
        # Whether resellers may sell it.
        "resale": "bool",
        # Time zone of the harbour of departure.
        "timezone": "str",
        # Harbour of arrival.
        "to": "str",
        "updated_at": "str",
    },
)


class LineForm(TypedDict):
    """Fields that are left out keep their values."""

    cutoff_minutes: NotRequired[int | None]
    """Null: the service's setting."""
    day_ticket: NotRequired[bool | None]
    fares: NotRequired[list[FareForm] | None]
    """Null: one fare for everybody, the price of the sailing."""
    max_party: NotRequired[int | None]
    names: NotRequired[PassengerNames | None]
    resale: NotRequired[bool | None]


class LinkToken(TypedDict):
    token: str
    """Token from the link in the mail. It works once."""


ListFormat: TypeAlias = Literal["json", "csv"]


class ListNotificationsBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: list[Notification]
    message: str
    pagination: Pagination
    status: str
    unread_count: int


class ListNotificationsOfBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: list[Notification]
    message: str
    pagination: Pagination
    status: str
    unread_count: int


class ListStaffBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: StaffList
    message: str
    pagination: Pagination
    status: str


class Listed(TypedDict):
    """A passenger of the manifest."""

    age: NotRequired[int | None]
    """On the day of departure."""
    birth_date: NotRequired[str | None]
    booking_code: str
    checked_in_at: NotRequired[str | None]
    contact: ListedContact
    fare: NotRequired[str | None]
    """Key of the fare. Null on a charter."""
    gender: NotRequired[Gender | None]
    identity_number: NotRequired[str | None]
    """Masked for those who may not read it."""
    identity_type: NotRequired[IdentityType | None]
    name: str
    name_given: NotRequired[bool]
    """False if a reseller named the booker alone: then it is that name."""
    nationality: NotRequired[str | None]
    number: int
    """Position in the list."""
    passenger_id: str
    takes_seat: bool
    ticket_code: str
    """For checking in manually."""


class ListedBoat(TypedDict):
    capacity: int
    """Number of seats."""
    id: str
    """UUID version 7."""
    name: str
    registration_number: str
    """Registration number of the vessel; unique."""


class ListedContact(TypedDict):
    name: str
    phone: str
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


ListedSailing = TypedDict(
    "ListedSailing",
    {
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        # UUID version 7.
        "id": "str",
        "mitra": "Owner",
        "speedboat": "ListedBoat",
        "status": "SailingStatus",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)


class Location(TypedDict):
    """A harbour with upcoming departures."""

    aliases: list[str]
    """Other names that find it."""
    city: NotRequired[str | None]
    destinations: list[str]
    """Harbours that can be reached from here."""
    harbour_id: str
    """UUID of the harbour."""
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    name: str
    """Name of the harbour."""
    province: NotRequired[str | None]
    timezone: Zone


class Login(TypedDict):
    code: NotRequired[str | None]
    """Six digits of the authenticator app, or a recovery code."""
    email: str
    password: str
    """The account's password."""
    role: LoginRole


LoginRole: TypeAlias = Literal["admin", "staff", "mitra", "crew", "reseller", "any"]


class Manifest(TypedDict):
    """Passengers of a sailing."""

    as_of: str
    """When the data was read."""
    closed_at: NotRequired[str | None]
    """When the manifest was closed. It does not change afterwards."""
    passengers: list[Listed]
    sailing: ListedSailing
    totals: Totals


ManifestFormat: TypeAlias = Literal["json", "csv", "pdf"]


class ManualSettlement(TypedDict):
    end_date: str
    mitra_id: str
    """UUID of the partner."""
    note: NotRequired[str | None]
    start_date: str
    """First day of departure."""


class MergeHarbour(TypedDict):
    into_id: str
    """UUID of the harbour that remains."""


class MitraStatistic(TypedDict):
    as_of: str
    """When the data was read."""
    bookings: BookingsByStatus
    gross: int
    """Whole rupiah."""
    net: int
    """What was earned: gross less commission and its tax of journeys that were sailed and of money
    that was kept.
    """
    occupancy_percent: float
    """Seats taken as a percentage of seats offered, of sailings that have departed in the last 30
    days, by the day at the harbour.
    """
    passengers: int
    """Passengers of all paid and completed bookings, like the amounts."""
    routes: int
    """Published routes."""
    sailings_today: int
    series: list[Point]
    speedboats: int
    unsettled: int
    """What of it was not paid out; negative if partners owe."""


class NetFare(TypedDict):
    """The price of a fare that was agreed with a reseller, instead of a margin."""

    fare: str
    """Key of the fare."""
    line_id: str
    net: int
    """Before taxes. Whole rupiah."""


class NewHarbour(TypedDict):
    aliases: NotRequired[list[str] | None]
    city: NotRequired[str | None]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    name: str
    province: NotRequired[str | None]
    status: NotRequired[HarbourStatus | None]
    """Default: verified."""
    timezone: Zone


class NewResellerKey(TypedDict):
    """A key with its text, which is returned on creation only."""

    addresses: list[str]
    """Networks that it may be used from; empty: all."""
    created_at: str
    expires_at: NotRequired[str | None]
    id: str
    """UUID version 7."""
    key: str
    """The key. Not shown again."""
    last_used_address: NotRequired[str | None]
    last_used_at: NotRequired[str | None]
    """Exact to a minute."""
    mitra_id: NotRequired[str | None]
    """The only partner that it is for; null: all that are granted."""
    name: str
    prefix: str
    """The first characters of the key."""
    revoked_at: NotRequired[str | None]
    scopes: list[ResellerKeyScope]


class NewSpeedboat(TypedDict):
    """In an update, optional fields that are left out keep their value."""

    description: NotRequired[str | None]
    capacity: int
    """Number of seats."""
    engine: NotRequired[str | None]
    facilities: NotRequired[list[str] | None]
    manufacturer: NotRequired[str | None]
    mitra_id: NotRequired[str | None]
    """Owner of the boat; only for admins and staff."""
    name: str
    photo_file_ids: NotRequired[list[str] | None]
    """UUIDs of uploaded files with purpose `photo`."""
    registration_number: str
    """Registration number of the vessel; unique."""
    status: NotRequired[BoatStatus | None]
    year_built: NotRequired[int | None]


class NewTerms(TypedDict):
    type: str
    """Type of the terms, such as `customer` or `mitra`."""
    content: str
    """HTML."""
    user_creator_id: str
    """The caller's own id."""


class NewWebhook(TypedDict):
    """A webhook with its signing secret, which is returned on creation only."""

    active: bool
    created_at: str
    disabled_reason: NotRequired[DisabledReason | None]
    """Why it was deactivated automatically."""
    events: list[str]
    """Names of events."""
    failing_since: NotRequired[str | None]
    """Time since which all deliveries fail."""
    id: str
    """UUID version 7."""
    secret: str
    """Signs every delivery."""
    updated_at: str
    url: str
    """Address that receives deliveries by POST."""


class Notification(TypedDict):
    title: str
    type: str
    """Name of the event."""
    body: str
    created_at: str
    data: BookingEvent | PaymentReviewEvent | RefundEvent | PartnerEvent | SettlementEvent | SailingEvent | TermsEvent
    """What the event says: the same as `data` of its webhook."""
    id: str
    """UUID version 7."""
    read_at: NotRequired[str | None]
    user_id: str


Offer = TypedDict(
    "Offer",
    {
        "type": "BookingType",
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        # Seats that can still be booked.
        "available_seats": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        "duration_minutes": "int",
        # The first one is the default. Empty for charters.
        "fares": "list[OfferFare]",
        # Harbour of departure.
        "from": "str",
        # UUID of the speedboat.
        "item_id": "str",
        "mitra": "Owner",
        # Whole rupiah per seat.
        "price": "int",
        # UUID of the sailing.
        "route_time_id": "str",
        "speedboat": "OfferBoat",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
        # For all passengers at the first fare, or for the whole boat.
        "total_price": "int",
    },
)
"""A sailing that can be booked."""


class OfferBoat(TypedDict):
    capacity: int
    """Number of seats."""
    facilities: list[str]
    id: str
    """UUID version 7."""
    name: str
    photo_url: NotRequired[str | None]


class OfferFare(TypedDict):
    """What a passenger pays by fare."""

    key: str
    """Key of a fare."""
    price: int
    """Whole rupiah."""
    takes_seat: bool


OfferSort: TypeAlias = Literal["departure", "price", "duration"]


class Onboarding(TypedDict):
    """Onboarding data of a partner. Numbers are masked for callers who may not read them."""

    approved_bank_account: NotRequired[PartnerBankAccount | None]
    """The account that settlements are paid to: the last one that was approved."""
    bank_account: PartnerBankAccount
    bank_account_note: NotRequired[str | None]
    """Why the account was rejected."""
    bank_account_status: NotRequired[BankAccountStatus | None]
    """Settlements are held while a changed account is `pending`. After a rejection they are paid to
    the last approved account.
    """
    business: Business
    documents: list[Document]
    pic: Pic
    review_note: NotRequired[str | None]
    """What the reviewers ask to correct."""
    slug: NotRequired[str | None]
    """The partner's public page is `/p/{slug}`. Null until the first activation."""
    status: PartnerStatus
    steps: list[Step]
    submitted_at: NotRequired[str | None]


class OnboardingForm(TypedDict):
    """Fields that are left out keep their value; null or an empty string clears them."""

    bank_account: NotRequired[PartnerBankAccountForm | None]
    business: NotRequired[BusinessForm | None]
    documents: NotRequired[list[DocumentForm] | None]
    pic: NotRequired[PicForm | None]
    submit: NotRequired[bool | None]
    """Hand in for review; requires all steps to be complete."""


class OpenSession(TypedDict):
    address: str
    """IP address of the client."""
    created_at: str
    current: bool
    """Whether it is the session of this request."""
    expires_at: str
    id: str
    """UUID version 7."""
    last_used_at: str
    """Time of the last request, to the minute."""
    user_agent: NotRequired[str | None]


Origin: TypeAlias = Literal["manual", "scheduled"]


Outcome: TypeAlias = Literal[
    "boarded",
    "already_boarded",
    "forged",
    "wrong_sailing",
    "ticket_replaced",
    "unpaid",
    "cancelled",
    "refunded",
    "manifest_closed",
    "undone",
    "scan_id_reused",
    "not_boarded",
]


class Overview(TypedDict):
    as_of: str
    """When the data was read."""
    average_booking: Figure
    bookings: Figure
    commission: Figure
    """As sold; `commission_earned` has what the books have."""
    commission_earned: Figure
    """Commission and fees by the books: of journeys that took place and of money that was kept."""
    discount: Figure
    """Of the bookings sold; a reschedule counts with the change of the price."""
    gateway_fees: Figure
    """What payment providers have charged."""
    gross_revenue: Figure
    """Money received for bookings, without deducting refunds. Includes the paid difference of a
    reschedule, and money that was paid too much, twice or too late as soon as it is owed back.
    """
    net_revenue: Figure
    """Gross revenue less refunds, and less the tax that is not refunded."""
    partner_payable: Figure
    """As sold."""
    passengers: Figure
    period: ReportWindow
    platform_income: Figure
    """Commission earned less promotions, margins of resellers, fees of providers and banks, and
    losses.
    """
    previous: ReportWindow
    promotion_cost: Figure
    """Discounts that the platform has paid for."""
    refund_tax: Figure
    """The tax in the refunds."""
    refunds: Figure
    """Money paid back, less transfers that bounced."""
    reseller_margin: Figure
    """What was left to resellers, by the books."""
    series: list[Point]
    tax: Figure
    """Of the bookings sold; a reschedule counts with the change of the price."""
    tax_due: Figure
    """Tax that became due by the books, whether or not it was paid to the state yet."""


class Owner(TypedDict):
    """Reference to a partner."""

    id: str
    """UUID version 7."""
    name: str


class Pagination(TypedDict):
    page: int
    page_size: int
    total_is_minimum: NotRequired[bool]
    """True if there may be more items and pages than these; pages beyond can be requested. Left out
    if the numbers are exact.
    """
    total_items: int
    """Exact up to 10,000."""
    total_pages: int


PaidBy: TypeAlias = Literal["provider", "bank", "cash", "partner", "account"]


class Partner(TypedDict):
    """A partner, for the platform's staff."""

    address: str
    """Postal address."""
    commission_rate: NotRequired[float | None]
    """Percent; null means the platform's default."""
    created_at: str
    email: str
    id: str
    """UUID version 7."""
    name: str
    partnerType: PartnerType
    pending_email: NotRequired[str | None]
    """The requested e-mail address, until it is confirmed."""
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    slug: NotRequired[str | None]
    """The partner's public page is `/p/{slug}`. Null until the first activation."""
    speedboat_count: int
    status: PartnerStatus
    suspended_at: NotRequired[str | None]
    suspended_reason: NotRequired[str | None]
    user_id: str
    verified_at: NotRequired[str | None]
    """When the partner was first activated."""


class PartnerBankAccount(TypedDict):
    """Bank account for settlements."""

    account_name: NotRequired[str | None]
    account_number: NotRequired[str | None]
    """Masked for those who may not read it."""
    bank_code: NotRequired[str | None]
    """Code of the bank, such as `BCA` or `BRI`."""


class PartnerBankAccountForm(TypedDict):
    account_name: NotRequired[str | None]
    account_number: NotRequired[str | None]
    bank_code: NotRequired[str | None]
    """Code of the bank, such as `BCA` or `BRI`."""


class PartnerEdit(TypedDict):
    """Data and onboarding of a partner, for an edit form."""

    address: str
    """Postal address."""
    approved_bank_account: NotRequired[PartnerBankAccount | None]
    """The account that settlements are paid to: the last one that was approved."""
    bank_account: PartnerBankAccount
    bank_account_note: NotRequired[str | None]
    """Why the account was rejected."""
    bank_account_status: NotRequired[BankAccountStatus | None]
    """Settlements are held while a changed account is `pending`. After a rejection they are paid to
    the last approved account.
    """
    business: Business
    commission_rate: NotRequired[float | None]
    """Percent; null means the platform's default."""
    created_at: str
    documents: list[Document]
    email: str
    id: str
    """UUID version 7."""
    name: str
    partnerType: PartnerType
    pending_email: NotRequired[str | None]
    """The requested e-mail address, until it is confirmed."""
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    pic: Pic
    review_note: NotRequired[str | None]
    slug: NotRequired[str | None]
    """The partner's public page is `/p/{slug}`. Null until the first activation."""
    speedboat_count: int
    status: PartnerStatus
    steps: list[Step]
    submitted_at: NotRequired[str | None]
    suspended_at: NotRequired[str | None]
    suspended_reason: NotRequired[str | None]
    user_id: str
    verified_at: NotRequired[str | None]
    """When the partner was first activated."""


class PartnerEvent(TypedDict):
    mitra_id: str
    """UUID of the partner."""
    name: str
    reason: NotRequired[str | None]


class PartnerForm(TypedDict):
    address: str
    """Postal address."""
    commission_rate: NotRequired[float | None]
    """Percent; null means the platform's default."""
    email: str
    name: str
    partnerType: PartnerType
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class PartnerOverview(TypedDict):
    bookings: BookingFigures
    finance: FinanceFigures
    fleet: FleetFigures
    mitra: Partner
    recent_bookings: list[Booking]


class PartnerSales(TypedDict):
    bookings: int
    gross_revenue: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    name: str


PartnerSort: TypeAlias = Literal["name", "status", "created_at"]


class PartnerStatement(TypedDict):
    """The account of a partner. Positive balances are owed to the partner."""

    closing: int
    """Balance after the last day."""
    end_date: str
    lines: list[StatementLine]
    mitra_id: str
    """UUID of the partner."""
    opening: int
    """Balance before the first day."""
    start_date: str


class PartnerStatistics(TypedDict):
    awaiting_review: int
    """Partners with documents that await review."""
    by_status: PartnersByStatus
    by_type: PartnersByType
    new_this_month: int
    total: int


PartnerStatus: TypeAlias = Literal["draft", "in_review", "revision", "active", "suspended"]


PartnerType: TypeAlias = Literal["individual", "company"]


class PartnersByStatus(TypedDict):
    active: int
    draft: int
    in_review: int
    revision: int
    suspended: int


class PartnersByType(TypedDict):
    company: int
    individual: int


class Partnership(TypedDict):
    id: str
    """UUID version 7."""
    partnerType: str
    status: str


class Passenger(TypedDict):
    birth_date: NotRequired[str | None]
    checked_in_at: NotRequired[str | None]
    fare: NotRequired[str | None]
    """Key of the fare. Null on a charter."""
    gender: NotRequired[Gender | None]
    id: str
    """UUID version 7."""
    identity_number: NotRequired[str | None]
    """Masked for those who may not read it."""
    identity_type: NotRequired[IdentityType | None]
    name: str
    nationality: NotRequired[str | None]
    takes_seat: bool
    ticket_code: NotRequired[str | None]
    """Code of the ticket, as in its QR code. Null unless the booking is paid and the caller may
    read identity numbers.
    """
    unit_price: NotRequired[int | None]
    """What the fare cost. Null on a charter."""


class PassengerCorrection(TypedDict):
    """Details that are left out keep their value; null clears them."""

    birth_date: NotRequired[str | None]
    gender: NotRequired[Gender | None]
    id: str
    """UUID of the passenger."""
    identity_number: NotRequired[str | None]
    """NIK (16 digits) or passport number."""
    identity_type: NotRequired[IdentityType | None]
    name: NotRequired[str | None]
    nationality: NotRequired[str | None]


class PassengerForm(TypedDict):
    birth_date: NotRequired[str | None]
    fare: NotRequired[str | None]
    """Key of a fare of the line; default: its first one. Ignored by charters."""
    gender: NotRequired[Gender | None]
    identity_number: NotRequired[str | None]
    """NIK (16 digits) or passport number."""
    identity_type: NotRequired[IdentityType | None]
    name: str
    nationality: NotRequired[str | None]


PassengerNames: TypeAlias = Literal["lead", "all"]


class PayRefund(TypedDict):
    by: PaidBy
    """How it was paid. Cash goes back as cash."""
    note: NotRequired[str | None]
    reference: str
    """Reference of the transfer or receipt."""


PayingProvider: TypeAlias = Literal["midtrans", "xendit", "simulator"]


class PaymentRecord(TypedDict):
    method: NotRequired[str | None]
    """Payment method; null until paid."""
    paid_at: NotRequired[str | None]
    provider: str
    """`simulator`, `midtrans`, `xendit` or `cash`."""
    redirect_url: NotRequired[str | None]
    """Payment page; null until the provider has responded."""
    reference: str
    """Reference of the attempt at the provider."""
    status: str
    """Status of the attempt."""


class PaymentReviewEvent(TypedDict):
    """A payment that needs a manual review."""

    amount: int
    """Whole rupiah."""
    booking_id: str
    code: str
    """Booking code, as printed on tickets."""
    reason: str


PayoutMethod: TypeAlias = Literal["manual", "payout"]


class Pending(TypedDict):
    """Work that is pending."""

    bank_approvals: NotRequired[int | None]
    """Changed bank accounts to approve. Null for a partner."""
    partner_reviews: NotRequired[int | None]
    """Partners with documents to review. Null for a partner."""
    payment_reviews: NotRequired[int | None]
    """Null for a partner."""
    refunds: int
    """Refunds that are not paid."""
    refunds_amount: NotRequired[int | None]
    """What is unpaid of them."""
    settlements: int


class PendingReschedule(TypedDict):
    difference: int
    """Amount to pay."""
    expires_at: str
    """Deadline of the payment."""
    redirect_url: NotRequired[str | None]
    """Payment page; null until the provider has responded."""
    route_time_id: str
    """UUID of the sailing."""


class Period(TypedDict):
    end_date: str
    """Last day on which it can be used."""
    start_date: str


PeriodStatus: TypeAlias = Literal["open", "closed"]


PeriodType: TypeAlias = Literal["Bulanan", "Kuartalan", "Tahunan", "Custom"]


class Permission(TypedDict):
    description: str
    created_at: str
    id: str
    """UUID version 7."""
    level: Level
    name: str
    rules: list[Rule]
    staff_count: int
    """Number of staff who hold it."""
    updated_at: str


class PermissionForm(TypedDict):
    description: str
    level: Level
    name: str
    rules: list[Rule]


PermissionSort: TypeAlias = Literal["name", "level", "created_at"]


class Person(TypedDict):
    email: str
    id: str
    """UUID version 7."""
    name: str


class PersonalData(TypedDict):
    """Everything that is stored about a person."""

    accounts: list[AccountData]
    """Accounts with this address, deleted ones included."""
    bookings: list[Booking]
    """Bookings with this contact address, with all of their passengers. Newest first."""
    failed_sign_ins: list[FailedSignIns]
    """Networks with failed sign-ins to this address."""
    letters: list[ExportedLetter]
    """Mails to this address that are stored as files. Oldest first."""
    resellers: list[ExportedOpsReseller]
    """Resellers that have this address as `ops_email`. Newest first."""
    truncated: list[str]
    """The lists that are longer than the export shows: it has the newest 1,000 items of each."""


class Photo(TypedDict):
    file_id: str
    url: str


class Pic(TypedDict):
    """The person in charge."""

    email: NotRequired[str | None]
    name: NotRequired[str | None]
    nik: NotRequired[str | None]
    """Masked for those who may not read it."""
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    position: NotRequired[str | None]
    """Position in the company."""


class PicForm(TypedDict):
    email: NotRequired[str | None]
    name: NotRequired[str | None]
    nik: NotRequired[str | None]
    """Identity number of the person in charge: 16 digits."""
    phone: NotRequired[str | int | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    position: NotRequired[str | None]
    """Position in the company."""


class Point(TypedDict):
    """Figures of a day, or of a month in long periods."""

    bookings: int
    bucket: str
    """`YYYY-MM-DD`, or `YYYY-MM` in long windows."""
    gross_revenue: int
    """Whole rupiah."""


class PolicyStep(TypedDict):
    """A step of a refund policy: the percentage that a cancellation gives back until so many hours
    before departure.
    """

    hours_before: int
    percent: int


class Presigned(TypedDict):
    expires_at: str
    file_id: str
    headers: dict[str, str]
    """Headers that the upload must send unchanged."""
    method: str
    """HTTP method of the upload."""
    upload_url: str


class PriceLine(TypedDict):
    count: int
    fare: str
    """Key of a fare of the line."""
    unit_price: int
    """Whole rupiah."""


class PriceRecord(TypedDict):
    currency: str
    """Always `IDR`. Amounts are integers, without decimals."""
    discount: int
    """Whole rupiah."""
    lines: list[PriceLine]
    """The subtotal by fare. Empty on a charter."""
    margin: NotRequired[int | None]
    """What the platform leaves to the reseller of the subtotal. Only of bookings that a reseller
    has sold, and for admins and staff with `bookings.read`.
    """
    subtotal: int
    """Whole rupiah."""
    tax: int
    """Whole rupiah."""
    taxes: list[TaxAmount]
    total: int
    """What is to be paid. Partners see a reseller's booking at the retail price: `total`, `tax` and
    `taxes` are those of the fares.
    """
    unit_price: int
    """Price of the sailing per seat."""


class Profile(TypedDict):
    """The caller's own account."""

    avatar_file_id: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    """Address of the avatar."""
    created_at: str
    email: str
    email_verified: bool
    """Whether a link that was mailed to the address has been used."""
    id: str
    """UUID version 7."""
    impersonated_by: NotRequired[Impersonator | None]
    last_login_at: NotRequired[str | None]
    mitra: NotRequired[Partnership | None]
    name: str
    pending_email: NotRequired[str | None]
    """The requested address, until it is confirmed."""
    permission: NotRequired[ProfilePermission | None]
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    role: Role
    second_factor: bool
    """Whether sign-in requires a code of an authenticator app."""
    status: Status


class ProfilePermission(TypedDict):
    id: str
    """UUID version 7."""
    level: Level
    name: str
    rules: list[Rule]


class PromoVerdict(TypedDict):
    discount: NotRequired[int | None]
    """Whole rupiah."""
    price: NotRequired[PriceRecord | None]
    """Whole rupiah per seat."""
    reason: NotRequired[Reason | None]
    valid: bool


class PromotionForm(TypedDict):
    """Optional fields that are left out of an update keep their value; null clears them."""

    title: str
    description: str
    code: str
    """3 to 32 characters of A–Z, 0–9, - and _; stored in upper case."""
    discount: DiscountForm
    funded_by: NotRequired[FundedBy | None]
    """`platform` if it is left out. The partner pays for it only on its own sailings: `partner`
    needs another `target_type` than `all`.
    """
    image_file_id: NotRequired[str | None]
    per_customer_limit: NotRequired[int | None]
    """Uses per contact e-mail; null means no limit."""
    period: Period
    quota: NotRequired[int | None]
    """Null: no limit. A new promotion states it."""
    status: PromotionStatus
    target_ids: NotRequired[list[str] | None]
    """Required unless `target_type` is `all` or stays the same."""
    target_type: TargetType
    tnc: str
    """Terms and conditions of the promotion."""


class PromotionRecord(TypedDict):
    title: str
    description: str
    code: str
    """Booking code, as printed on tickets."""
    created_at: str
    discount: DiscountRecord
    funded_by: FundedBy
    """Who pays for the discount."""
    id: str
    """UUID version 7."""
    image_file_id: NotRequired[str | None]
    image_url: NotRequired[str | None]
    per_customer_limit: NotRequired[int | None]
    """Uses per contact e-mail; null means no limit."""
    period: Period
    quota: NotRequired[int | None]
    """Null: no limit."""
    remaining: NotRequired[int | None]
    """Uses that are left; null without a quota."""
    state: PromotionState
    status: PromotionStatus
    target_ids: list[str]
    """UUIDs of the partners, routes or speedboats that it is limited to."""
    target_type: TargetType
    tnc: str
    """Terms and conditions of the promotion."""
    used: int
    """Uses so far."""


PromotionSort: TypeAlias = Literal["title", "code", "start_date", "end_date", "created_at"]


PromotionState: TypeAlias = Literal[
    "draft",
    "inactive",
    "scheduled",
    "running",
    "exhausted",
    "ended",
]


PromotionStatus: TypeAlias = Literal["draft", "active", "inactive"]


class ProviderSettlement(TypedDict):
    """A payout of a provider to our bank account."""

    created_at: str
    created_by: str
    fee: int
    """Whole rupiah."""
    fee_tax: int
    """Whole rupiah."""
    gross: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    line_count: int
    net: int
    """Whole rupiah."""
    paid_on: str
    payout_id: str
    provider: PayingProvider
    unknown_gross: int
    """The part of `gross` that belongs to no payment of ours; it waits in `suspense`."""


class ProviderSettlementDetail(TypedDict):
    """A payout of a provider to our bank account."""

    created_at: str
    created_by: str
    fee: int
    """Whole rupiah."""
    fee_tax: int
    """Whole rupiah."""
    gross: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    line_count: int
    net: int
    """Whole rupiah."""
    paid_on: str
    payout_id: str
    provider: PayingProvider
    unknown_gross: int
    """The part of `gross` that belongs to no payment of ours; it waits in `suspense`."""
    unknown_references: list[str]
    """References that no payment of ours has."""


class ProviderSettlementForm(TypedDict):
    lines: list[SettledLine]
    paid_on: str
    """The day on which it reached our bank account."""
    payout_id: str
    """The provider's name for the payout."""
    provider: PayingProvider


class PublishTerms(TypedDict):
    id: str
    """UUID version 7."""
    user_validator_id: str
    """The caller's own id."""


Purpose: TypeAlias = Literal["avatar", "photo", "content", "document", "proof"]


class Quote(TypedDict):
    """What a booking would cost now."""

    available_seats: int
    """Seats that can still be booked."""
    closes_at: str
    """When the sale ends."""
    fares: list[QuotedFare]
    """What a passenger can travel at. The first one is the default. Empty for charters."""
    price: PriceRecord
    """With the discount of the promotion, if it is valid."""
    promo: NotRequired[QuotedPromo | None]
    """Null if no code was stated."""
    refund_policy: list[RefundStep]
    """What the booker gets back, by the hours that are left until departure."""
    sailing: BookedSailing


class QuoteForm(TypedDict):
    """An offer that is asked for."""

    type: BookingType
    code_promo: NotRequired[str | None]
    """Promotion code; not case-sensitive."""
    email: NotRequired[str | None]
    """Of the booker, for promotions that are limited per customer."""
    item_id: str
    """UUID of the sailing's speedboat."""
    passengers: NotRequired[list[QuotedPassenger] | None]
    """One per passenger; left out: all at the first fare."""
    qty: int
    """Number of passengers."""
    route_time_id: str
    """UUID of the sailing."""


class QuotedFare(TypedDict):
    """A fare of the line, with its price on this sailing."""

    category: Category
    id_required: bool
    key: str
    """Key of a fare."""
    max_age: int
    """Highest age on the day of departure; 120 is no limit."""
    min_age: int
    """Lowest age on the day of departure; 0 is no limit."""
    price: int
    """Whole rupiah."""
    residency: Residency
    takes_seat: bool


class QuotedPassenger(TypedDict):
    fare: NotRequired[str | None]
    """Key of a fare of the line; default: its first one."""


class QuotedPromo(TypedDict):
    reason: NotRequired[Reason | None]
    valid: bool


Reason: TypeAlias = Literal[
    "unknown",
    "inactive",
    "not_started",
    "ended",
    "exhausted",
    "not_applicable",
    "below_minimum",
    "limit_reached",
]


class Reauthenticate(TypedDict):
    code: NotRequired[str | None]
    """Required if the account has a second factor."""
    password: str
    """The account's password."""


class Receipt(TypedDict):
    """Money that a partner paid us."""

    amount: int
    """Whole rupiah."""
    code: str
    """Human-readable code of the receipt."""
    created_at: str
    id: str
    """UUID version 7."""
    method: ReceiptMethod
    mitra: Owner
    mitra_id: str
    """UUID of the partner."""
    received_on: str
    recorded_by: By
    reference: str


class ReceiptForm(TypedDict):
    amount: int
    """Whole rupiah."""
    method: ReceiptMethod
    mitra_id: str
    """UUID of the partner."""
    received_on: str
    """Day on which the money arrived: today or earlier, in a month that is open."""
    reference: str
    """Reference of the transfer, or number of the cash receipt."""


ReceiptMethod: TypeAlias = Literal["bank", "cash"]


ReceiptSort: TypeAlias = Literal["created_at", "received_on", "amount"]


class ReconciledDay(TypedDict):
    """Payments that we received on a day by one method, and what the provider has settled of them.
    """

    day: str
    extra: int
    """Settled and not received."""
    fee_taxes: int
    """Whole rupiah."""
    fees: int
    """Whole rupiah."""
    method: str
    """Method of payment; `unknown` for what the provider paid for no payment of ours, by the day of
    the payout.
    """
    missing: int
    """Received and not settled yet."""
    ours: int
    """Received according to our books."""
    refunds: int
    """Refunds in the provider's reports."""
    theirs: int
    """Settled according to the provider."""


class ReconciledTotal(TypedDict):
    extra: int
    """Settled and not received."""
    fee_taxes: int
    """Whole rupiah."""
    fees: int
    """Whole rupiah."""
    missing: int
    """Received and not settled yet."""
    ours: int
    """Received according to our books."""
    refunds: int
    """Refunds in the provider's reports."""
    theirs: int
    """Settled according to the provider."""


class Reconciliation(TypedDict):
    as_of: str
    """When the data was read."""
    end_date: str
    rows: list[ReconciledDay]
    start_date: str
    total: ReconciledTotal


class RecoveryCodes(TypedDict):
    recovery_codes: list[str]
    """Each replaces a code of the app once. They are not shown again."""


class Refund(TypedDict):
    """What a customer is owed, or was paid back."""

    account: NotRequired[PartnerBankAccount | None]
    """Where the customer wants it, if the provider cannot refund the payment. The number is masked,
    except for those who pay a refund and ask for it alone. Null for partners.
    """
    amount: int
    """Whole rupiah."""
    attempts: int
    """How often it was sent to the provider."""
    booking_code: str
    booking_id: str
    by: NotRequired[PaidBy | None]
    """How it was paid last, or how it is being sent."""
    code: str
    """Human-readable code of the refund."""
    due_at: str
    id: str
    """UUID version 7."""
    kind: RefundKind
    """Why it is owed."""
    last_error: NotRequired[str | None]
    """Why it was refused or came back."""
    mitra: Owner
    mitra_id: str
    """UUID of the partner."""
    note: NotRequired[str | None]
    paid_at: NotRequired[str | None]
    reference: NotRequired[str | None]
    status: RefundStatus
    unpaid: int
    """What is still owed. A provider may pay in parts."""


class RefundAccount(TypedDict):
    """The bank account to which the booker wants refunds that no provider can send. It is stored
    encrypted as a whole.
    """

    account_name: str
    account_number: str
    """Masked for those who may not read it."""
    bank_code: str
    """Code of the bank, such as `BCA` or `BRI`."""


class RefundAccountForm(TypedDict):
    """A bank account for refunds."""

    account_name: str
    account_number: str
    bank_code: str
    """Code of the bank, such as `BCA` or `BRI`."""
    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    email: NotRequired[str | None]


RefundChoice: TypeAlias = Literal["full", "policy"]


class RefundEvent(TypedDict):
    """A refund that is due or has failed."""

    amount: int
    """Whole rupiah."""
    booking_id: str
    code: str
    """Code of the booking."""
    kind: str
    mitra_id: str
    """UUID of the partner."""
    reason: NotRequired[str | None]
    """Why the last attempt failed."""
    refund_code: str
    refund_id: str
    unpaid: int
    """Whole rupiah."""


class RefundForm(TypedDict):
    amount: NotRequired[int | None]
    """Transferred amount; must equal the amount due."""
    by: NotRequired[PaidBy | None]
    """Default: cash in cash, by the party that took it; other money by bank."""
    note: NotRequired[str | None]
    reference: str
    """Reference of the transfer."""


RefundKind: TypeAlias = Literal[
    "cancellation",
    "excess",
    "difference",
    "duplicate",
    "late",
    "complaint",
]


RefundStatus: TypeAlias = Literal["due", "sent", "paid", "failed", "returned", "void"]


class RefundStep(TypedDict):
    hours_before: int
    percent: int


class RegisterMitra(TypedDict):
    address: str
    """Postal address."""
    cpassword: str
    """Confirmation: the same as `password`."""
    email: str
    name: str
    partnerType: PartnerType
    password: str
    """8 to 128 characters. Passwords that are easy to guess are refused."""
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class Registered(TypedDict):
    mitra: Partner
    user: User


class ReleaseForm(TypedDict):
    method: NotRequired[ReleaseMethod | None]
    """`manual` by default."""
    note: NotRequired[str | None]
    proof_file_id: NotRequired[str | None]
    """UUID of an uploaded file with purpose `proof`."""
    reference: NotRequired[str | None]
    """Reference of the transfer. Required unless the provider pays it out."""


ReleaseMethod: TypeAlias = Literal["manual", "payout"]


Remembered: TypeAlias = "RememberedRememberToken | SignedIn"
"""The token of an enrolment, or a resumed session."""


class RememberedRememberToken(TypedDict):
    expires_at: str
    remember_token: str


class RemoveTotp(TypedDict):
    code: str
    """Six digits of the authenticator app, or a recovery code."""
    current_password: str
    """The account's password."""


class ReopenForm(TypedDict):
    reason: NotRequired[str | None]
    """Why the month is reopened."""


class ReopenManifest(TypedDict):
    reason: str
    """For the audit log."""


class ReportWindow(TypedDict):
    """A range of days, both included. Empty if it ends before it begins."""

    end_date: str
    start_date: str


class Reschedule(TypedDict):
    difference: int
    """Amount to pay; negative if owed to the customer."""
    expires_at: NotRequired[str | None]
    """Deadline of the payment."""
    fee: int
    """Whole rupiah."""
    id: NotRequired[str | None]
    """Null in a dry run."""
    payment: NotRequired[PaymentRecord | None]
    """Payment of the difference."""
    price: PriceRecord
    reason: str
    route_time_id: str
    """UUID of the sailing."""
    status: RescheduleStatus
    """`pending` until the difference is paid; until then the booking keeps its sailing."""


class RescheduleForm(TypedDict):
    """Credentials of a guest: both must match the booking."""

    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    dry_run: NotRequired[bool | None]
    """Only compute the price, the fee and the difference."""
    email: NotRequired[str | None]
    reason: NotRequired[str | None]
    route_time_id: str
    """UUID of the new sailing: of the same partner, between the same harbours."""


class RescheduleOption(TypedDict):
    allowed: bool
    fee: int
    """Paid besides the difference of the prices."""
    reason: NotRequired[str | None]
    """The error code with which it would be refused."""
    until: NotRequired[str | None]
    """Time until which this applies. Null: unlimited, or not allowed."""


RescheduleStatus: TypeAlias = Literal["pending", "done", "dropped"]


class Rescheduled(TypedDict):
    """The booking and its reschedule."""

    type: BookingType
    accepted_terms_id: NotRequired[str | None]
    """Version of the customer terms that was accepted with the booking."""
    cancel_reason: NotRequired[str | None]
    cancelled_at: NotRequired[str | None]
    cancelled_passengers: list[FormerPassenger]
    """Passengers who were cancelled while the rest travels."""
    channel: Channel
    code: str
    """Booking code, as printed on tickets."""
    code_promo: NotRequired[str | None]
    """Promotion code; not case-sensitive."""
    contact: BookingContact
    created_at: str
    expires_at: str
    id: str
    """UUID version 7."""
    item_id: str
    """UUID of the speedboat."""
    note: str
    owed: int
    """What is still owed to the customer: the refunds that are not paid yet."""
    passengers: list[Passenger]
    payment: NotRequired[PaymentRecord | None]
    """Null if nothing has to be paid."""
    price: PriceRecord
    qty: int
    """Number of passengers."""
    refund_account: NotRequired[RefundAccount | None]
    """Where refunds are transferred that the payment provider cannot send, as the booker stated it.
    Null for partners.
    """
    refund_amount: NotRequired[int | None]
    """Amount that is or was to be refunded to the customer. Null for partners if a reseller has
    sold the booking.
    """
    reschedule: NotRequired[Reschedule | None]
    """Null if the booking already has this sailing."""
    reseller: NotRequired[Owner | None]
    """The reseller that sold it. Null if sold without a reseller."""
    route_time_id: str
    """UUID of the sailing."""
    sailing: BookedSailing
    status: BookingStatus


class Reseller(TypedDict):
    """A reseller."""

    address: str
    """Postal address."""
    balance: int
    """What it owes; negative if it has paid in advance. Whole rupiah."""
    created_at: str
    credit_limit: int
    """The highest balance. 0: it pays in advance. Whole rupiah."""
    currency_precision: int
    """Decimals of amounts in the OCTO API."""
    email: str
    id: str
    """UUID version 7."""
    invoice_schedule: InvoiceSchedule
    legal_name: str
    max_holds: int
    """The most unpaid bookings at a time."""
    name: str
    npwp: NotRequired[str | None]
    """Masked for those who may not read it."""
    ops_email: NotRequired[str | None]
    """Address for notices about changed sailings; null: `email`."""
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    rate_per_minute: int
    """Requests per minute and key."""
    status: ResellerStatus
    terms_days: int
    """Days in which an invoice is to be paid."""
    user_id: str
    """UUID of its account."""


class ResellerBreakdown(TypedDict):
    """Revenue by reseller."""

    as_of: str
    """When the data was read."""
    items: list[ResellerSlice]
    period: ReportWindow
    previous: ReportWindow
    total: Figure


class ResellerForm(TypedDict):
    """Optional fields that an update leaves out keep their value."""

    address: str
    """Postal address."""
    credit_limit: NotRequired[int | None]
    """Default: 0. Whole rupiah."""
    currency_precision: NotRequired[int | None]
    """0 or 2. Default: 0."""
    email: str
    invoice_schedule: NotRequired[InvoiceSchedule | None]
    """Default: `monthly`."""
    legal_name: str
    max_holds: NotRequired[int | None]
    """Default: 200."""
    name: str
    npwp: NotRequired[str | None]
    """15 or 16 digits."""
    ops_email: NotRequired[str | None]
    """Null: `email`."""
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    rate_per_minute: NotRequired[int | None]
    """Default: 1,200."""
    terms_days: NotRequired[int | None]
    """Default: 14."""


class ResellerInvoice(TypedDict):
    amount: int
    """The sum of its lines; negative: a credit. Whole rupiah."""
    code: str
    """Booking code, as printed on tickets."""
    created_at: str
    due_on: str
    end_date: str
    """Last day of the period."""
    id: str
    """UUID version 7."""
    line_count: int
    lines: list[ResellerInvoiceLine]
    """The first ones: at most 1,000, and at most 2,000 of all invoices of a page. The statement has
    all.
    """
    paid: int
    """What payments and credits have settled of it. Whole rupiah."""
    start_date: str
    """First day of the period."""
    status: InvoiceStatus


class ResellerInvoiceForm(TypedDict):
    end_date: str
    """Today or earlier."""
    start_date: str


class ResellerInvoiceLine(TypedDict):
    """A booking, a move or a refund."""

    amount: int
    """Negative for a refund. Whole rupiah."""
    booking_code: NotRequired[str | None]
    booking_id: NotRequired[str | None]
    kind: str
    posted_on: str
    reseller_reference: NotRequired[str | None]
    """The reseller's own reference of the booking."""
    source: Source


class ResellerKey(TypedDict):
    addresses: list[str]
    """Networks that it may be used from; empty: all."""
    created_at: str
    expires_at: NotRequired[str | None]
    id: str
    """UUID version 7."""
    last_used_address: NotRequired[str | None]
    last_used_at: NotRequired[str | None]
    """Exact to a minute."""
    mitra_id: NotRequired[str | None]
    """The only partner that it is for; null: all that are granted."""
    name: str
    prefix: str
    """The first characters of the key."""
    revoked_at: NotRequired[str | None]
    scopes: list[ResellerKeyScope]


class ResellerKeyForm(TypedDict):
    addresses: NotRequired[list[str] | None]
    """Addresses, or networks in CIDR notation, that it may be used from. Left out, null or empty:
    all.
    """
    expires_at: NotRequired[str | None]
    """In the future. Left out or null: never."""
    mitra_id: NotRequired[str | None]
    """The only partner that it is for. Left out or null: all that are granted."""
    name: str
    scopes: list[ResellerKeyScope]


ResellerKeyScope: TypeAlias = Literal["catalog", "bookings.read", "bookings.write"]


class ResellerPayment(TypedDict):
    """A transfer of a reseller."""

    amount: int
    """Whole rupiah."""
    balance: int
    """What the reseller owes after it; negative if it has paid in advance."""
    created_at: str
    id: str
    """UUID version 7."""
    received_on: str
    recorded_by: str
    """UUID of the account that recorded it."""
    reference: str
    reseller_id: str


class ResellerPaymentForm(TypedDict):
    amount: int
    """Whole rupiah."""
    received_on: str
    """Day on which the money arrived: today or earlier, in a month that is open."""
    reference: str
    """Reference of the transfer. Each is recorded once."""


class ResellerSlice(TypedDict):
    bookings: Figure
    key: str
    """Key of a fare."""
    label: str
    margin: Figure
    """What the platform leaves to the reseller, as sold; a reschedule counts with the change."""
    passengers: Figure
    refunds: Figure
    """Money credited to the account of the reseller."""
    revenue: Figure
    share_percent: float
    """Share of the total of the current period."""


ResellerSort: TypeAlias = Literal["name", "balance", "created_at"]


class ResellerStatement(TypedDict):
    """The account of a reseller. Positive balances are owed by the reseller."""

    closing: int
    """Balance after the last day."""
    end_date: str
    lines: list[ResellerStatementLine]
    opening: int
    """Balance before the first day."""
    reseller_id: str
    start_date: str


class ResellerStatementLine(TypedDict):
    amount: int
    """Positive: owed by the reseller."""
    balance: int
    """Balance after this line."""
    booking_code: NotRequired[str | None]
    booking_id: NotRequired[str | None]
    kind: str
    posted_on: str
    reseller_reference: NotRequired[str | None]
    """The reseller's own reference of the booking."""
    source: Source


ResellerStatus: TypeAlias = Literal["active", "suspended"]


class ResellerSuspension(TypedDict):
    reason: str


class ResendTicket(TypedDict):
    """Who wants the tickets, and where they are sent."""

    code: NotRequired[str | None]
    """The booking's code: proves a guest's ownership together with `email`."""
    email: NotRequired[str | None]
    """Guests: the contact address of the booking. Partners and staff: the address that the tickets
    are sent to; default: the contact address.
    """


class ResetPassword(TypedDict):
    cpassword: str
    """Confirmation: the same as `password`."""
    password: str
    """8 to 128 characters. Passwords that are easy to guess are refused."""
    token: str
    """Token from the link in the mail. It works once."""


Residency: TypeAlias = Literal["any", "domestic", "foreign"]


Resolution: TypeAlias = Literal[
    "apply",
    "refund",
    "dismiss",
    "charge_partner",
    "write_off",
    "match",
]


class Resolve(TypedDict):
    action: Resolution
    by: NotRequired[PaidBy | None]
    """Of a refund that is paid at once: how. Default: by bank."""
    note: str
    reference: NotRequired[str | None]
    """Of a refund that is paid at once: reference of the transfer. Without it the refund stays due.
    """


class ReturnForm(TypedDict):
    reason: str
    """Why the transfer came back."""


class ReturnRefund(TypedDict):
    reason: NotRequired[str | None]
    """Why the transfer came back."""


class RevenueByPartnerBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: Breakdown
    message: str
    pagination: Pagination
    status: str


class RevenueByResellerBody(TypedDict):
    """Envelope of a list."""

    code: int
    data: ResellerBreakdown
    message: str
    pagination: Pagination
    status: str


class Review(TypedDict):
    """A payment that needs a decision."""

    amount: int
    """Whole rupiah."""
    booking_code: str
    booking_id: str
    booking_status: BookingStatus
    created_at: str
    excess: int
    """Amount above the total, owed to the customer."""
    expected: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    note: NotRequired[str | None]
    reason: ReviewReason
    resolution: NotRequired[Resolution | None]
    resolved_at: NotRequired[str | None]


ReviewReason: TypeAlias = Literal[
    "wrong_amount",
    "late",
    "duplicate",
    "unowed_refund",
    "chargeback",
]


class Reviewed(TypedDict):
    """A reviewed document and the resulting status of the partner."""

    type: DocumentType
    created_at: str
    file: DocumentFile
    id: str
    """UUID version 7."""
    mitra_status: PartnerStatus
    note: NotRequired[str | None]
    reviewed_at: NotRequired[str | None]
    status: DocumentStatus


Role: TypeAlias = Literal["admin", "staff", "mitra", "crew", "reseller"]


Route = TypedDict(
    "Route",
    {
        "arrival_timezone": "Zone",
        "created_at": "str",
        "end_date": "str",
        # Harbour of departure.
        "from": "str",
        # UUID of the harbour.
        "from_harbour_id": "str",
        # UUID version 7.
        "id": "str",
        # UUID of the line, which has the fares.
        "line_id": "str",
        # UUID of the partner.
        "mitra_id": "str",
        # Whole rupiah per seat.
        "price": "int",
        "published_at": "NotRequired[str | None]",
        "schedule_type": "ScheduleType",
        "speedboat": "RouteBoat",
        "speedboat_id": "str",
        "start_date": "str",
        "status": "RouteStatus",
        "times": "list[RouteTime]",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
        # UUID of the harbour.
        "to_harbour_id": "str",
    },
)


class RouteBoat(TypedDict):
    capacity: int
    """Number of seats."""
    id: str
    """UUID version 7."""
    name: str


RouteForm = TypedDict(
    "RouteForm",
    {
        "end_date": "str",
        # Harbour of departure.
        "from": "str",
        # Whole rupiah per seat.
        "price": "int",
        "schedule_type": "ScheduleType",
        "speedboat_id": "str",
        "start_date": "str",
        "times": "list[RouteTimeForm]",
        # Of the harbour of departure. Default: that of the harbour, else the service's. Left out of
        # an update from the same harbour it stays as it is.
        "timezone": "NotRequired[Zone | None]",
        # Harbour of arrival.
        "to": "str",
    },
)


RouteSailing = TypedDict(
    "RouteSailing",
    {
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        "cancelled_at": "NotRequired[str | None]",
        # Number of seats.
        "capacity": "int",
        # Passengers on board.
        "checked_in": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        # UUID version 7.
        "id": "str",
        "manifest_closed_at": "NotRequired[str | None]",
        "mitra": "Owner",
        # UUID of the partner.
        "mitra_id": "str",
        # Whole rupiah.
        "price": "int",
        # Why the sailing was cancelled or moved.
        "reason": "NotRequired[str | None]",
        "route_id": "str",
        # Seats of paid bookings and of unpaid ones that are still held.
        "seats_taken": "int",
        "speedboat": "ListedBoat",
        "speedboat_id": "str",
        "status": "SailingStatus",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)
"""A sailing with its boat, its partner and the number of passengers on board."""


RouteSales = TypedDict(
    "RouteSales",
    {
        "bookings": "int",
        # Harbour of departure.
        "from": "str",
        # Whole rupiah.
        "gross_revenue": "int",
        "mitra": "Seller",
        "passengers": "int",
        "route_id": "str",
        # Harbour of arrival.
        "to": "str",
    },
)


RouteSort: TypeAlias = Literal["start_date", "price", "created_at"]


RouteStatus: TypeAlias = Literal["draft", "published", "archived"]


class RouteTime(TypedDict):
    """A departure time of a route, with the day of its arrival."""

    arrival_day_offset: int
    """Calendar days from departure to arrival, each in the time zone of its harbour: 1 if it
    arrives on the next day, and -1 on the day before, which happens in a zone further west.
    """
    arrival_time: str
    """`HH:MM`, local to the harbour."""
    days: NotRequired[list[Weekday] | None]
    """Days of a weekly route."""
    departure_time: str
    """`HH:MM`, local to the harbour."""
    id: str
    """UUID version 7."""
    price: NotRequired[int | None]
    """Whole rupiah per seat, if it differs from the route's price."""


class RouteTimeForm(TypedDict):
    arrival_time: str
    """Local to the harbour of arrival."""
    days: NotRequired[list[Weekday] | None]
    departure_time: str
    """`HH:MM`, local to the harbour."""
    price: NotRequired[int | None]
    """Whole rupiah per seat."""


RouteTimeSort: TypeAlias = Literal["departure_at"]


Rule: TypeAlias = Literal[
    "users.read",
    "staff.read",
    "staff.write",
    "permissions.read",
    "permissions.write",
    "partners.read",
    "partners.write",
    "partners.approve",
    "partners.suspend",
    "partners.impersonate",
    "fleet.read",
    "fleet.write",
    "routes.read",
    "routes.write",
    "harbours.write",
    "bookings.read",
    "bookings.write",
    "promotions.read",
    "promotions.write",
    "contents.write",
    "terms.write",
    "terms.publish",
    "taxes.read",
    "taxes.write",
    "settlements.read",
    "settlements.write",
    "settlements.release",
    "settlements.configure",
    "finance.read",
    "finance.write",
    "reports.read",
    "audit.read",
    "privacy.manage",
    "resellers.read",
    "resellers.write",
    "resellers.finance",
]


class RuleGroup(TypedDict):
    group: str
    label: str
    rules: list[RuleInfo]


class RuleInfo(TypedDict):
    description: str
    key: Rule
    label: str


class Sailing(TypedDict):
    """A dated departure of a boat."""

    arrival_at: str
    """RFC 3339 in UTC."""
    arrival_timezone: Zone
    capacity: int
    """Number of seats."""
    departure_at: str
    """RFC 3339 in UTC."""
    id: str
    """UUID version 7."""
    price: int
    """Whole rupiah."""
    seats_taken: int
    """Seats of paid bookings and of unpaid ones that are still held."""
    status: SailingStatus
    timezone: Zone


SailingEvent = TypedDict(
    "SailingEvent",
    {
        # How many bookings were cancelled or moved with it.
        "bookings": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        # UUID of the partner.
        "mitra_id": "str",
        "reason": "NotRequired[str | None]",
        "sailing_id": "str",
        # Harbour of arrival.
        "to": "str",
        # Of `sailing.moved`: the time before.
        "was_departure_at": "NotRequired[str | None]",
    },
)


SailingStatus: TypeAlias = Literal["open", "cancelled", "withdrawn", "departed"]


class SailingValues(TypedDict):
    """Fields that are left out keep their value."""

    arrival_time: NotRequired[str | None]
    """`HH:MM`, local to the harbour."""
    departure_time: NotRequired[str | None]
    """`HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before."""
    price: NotRequired[int | None]
    """Whole rupiah per seat, for new bookings."""
    speedboat_id: NotRequired[str | None]
    """Another boat of the partner."""
    withdraw: NotRequired[bool | None]
    """Takes sailings without bookings off sale. Not together with other values."""


class Scan(TypedDict):
    scan_id: str
    """Unique id of the scan, chosen by the device."""
    scanned_at: str
    ticket_code: str
    """Text of the QR code on a ticket."""


class ScanResult(TypedDict):
    """Passenger and booking of a ticket code."""

    boarded_at: NotRequired[str | None]
    booking_code: NotRequired[str]
    booking_id: NotRequired[str]
    message: str
    outcome: Outcome
    passenger_id: NotRequired[str]
    passenger_name: NotRequired[str]
    repeated: bool
    """Whether the scan was submitted before."""
    scan_id: str


Schedule: TypeAlias = Literal["manual", "daily", "weekly", "monthly"]


ScheduleType: TypeAlias = Literal["once", "daily", "weekly"]


SearchForm = TypedDict(
    "SearchForm",
    {
        "type": "NotRequired[BookingType | None]",
        # Day of departure in the route's time zone.
        "date": "str",
        # Harbour of departure.
        "from": "str",
        # Only sailings of this partner.
        "mitra_id": "NotRequired[str | None]",
        "page": "NotRequired[int | None]",
        "page_size": "NotRequired[int | None]",
        # Number of seats that must be free.
        "qty": "int",
        # Also searches the return journey on this day.
        "return_date": "NotRequired[str | None]",
        "sort_by": "NotRequired[OfferSort | None]",
        # Harbour of arrival.
        "to": "str",
    },
)


SearchSailingsBody = TypedDict(
    "SearchSailingsBody",
    {
        "code": "int",
        "data": "list[Offer]",
        "message": "str",
        "pagination": "Pagination",
        "return": "NotRequired[list[Offer] | None]",
        "status": "str",
    },
)
"""Envelope of a list."""


class Seller(TypedDict):
    """Reference to a partner."""

    id: str
    """UUID version 7."""
    name: str


class SettledLine(TypedDict):
    """A line of a provider's report."""

    fee: int
    """Whole rupiah."""
    fee_tax: int
    """VAT on the fee."""
    gross: int
    """Negative for a refund."""
    net: int
    """Gross less fee and its tax."""
    reference: str
    """Our reference of the payment, or the provider's id of it."""


class Settlement(TypedDict):
    adjustment: int
    """Corrections by journal entries; negative: at the partner's expense."""
    bank_account: NotRequired[PartnerBankAccount | None]
    """Account of the payout; the partner's approved account while pending. The number is masked."""
    booking_count: int
    cancelled_at: NotRequired[str | None]
    code: str
    """Human-readable code of the settlement."""
    collected: int
    """Cash that the partner collected."""
    commission: int
    """Whole rupiah."""
    commission_tax: int
    """Whole rupiah."""
    created_at: str
    created_by: NotRequired[By | None]
    """Null if created by the schedule."""
    failure: NotRequired[str | None]
    """Why the last payout failed or came back."""
    gross: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    mitra: Owner
    mitra_id: str
    """UUID of the partner."""
    net: int
    """Amount of the payout: gross less commission, its tax and collected cash, with the adjustment.
    Zero or less in a statement.
    """
    note: str
    origin: Origin
    period: SettlementPeriod
    proof_file_id: NotRequired[str | None]
    """UUID of an uploaded file with purpose `proof`."""
    proof_url: NotRequired[str | None]
    """Signed address, valid for five minutes."""
    reference: NotRequired[str | None]
    released_at: NotRequired[str | None]
    released_by: NotRequired[By | None]
    status: SettlementStatus


class SettlementConfigurationForm(TypedDict):
    """Fields that are left out keep their value; null means the default."""

    commission_rate: NotRequired[float | None]
    """Percent, at most two decimals."""
    day: NotRequired[int | None]
    """1 to 7 for `weekly` (Monday is 1), 1 to 28 for `monthly`; requires `schedule`."""
    hold_days: NotRequired[int | None]
    minimum_amount: NotRequired[int | None]
    """Whole rupiah."""
    mitra_id: NotRequired[str | None]
    """Null or left out: changes the default."""
    resale_commission_rate: NotRequired[float | None]
    """For bookings that resellers sell. Null in the default: `commission_rate`."""
    schedule: NotRequired[Schedule | None]


class SettlementConfigurationView(TypedDict):
    """A configuration with the next settlement that it leads to."""

    commission_rate: float
    """Percent, at most two decimals."""
    day: NotRequired[int | None]
    """Day of the week (Monday is 1) or of the month."""
    hold_days: int
    """Days after departure before a scheduled settlement includes a booking."""
    inherited: list[str]
    """Fields for which the partner uses the default."""
    minimum_amount: int
    """Smaller amounts wait for the next scheduled settlement. Whole rupiah."""
    mitra_id: NotRequired[str | None]
    """Null for the default."""
    next_settlement_on: NotRequired[str | None]
    """Day of the partner's next scheduled settlement, in the service's time zone. It is left out if
    less than `minimum_amount` is owed then. Null for the default, and with `schedule` `manual`.
    """
    next_settlement_until: NotRequired[str | None]
    """Last day of departure that this settlement includes. Earlier departures that are unsettled
    are in it, too.
    """
    resale_commission_rate: NotRequired[float | None]
    """Percent, for bookings that resellers have sold; null: `commission_rate`."""
    schedule: Schedule


class SettlementDetail(TypedDict):
    """A settlement with its items and releases."""

    adjustment: int
    """Corrections by journal entries; negative: at the partner's expense."""
    bank_account: NotRequired[PartnerBankAccount | None]
    """Account of the payout; the partner's approved account while pending. The number is masked."""
    booking_count: int
    cancelled_at: NotRequired[str | None]
    code: str
    """Human-readable code of the settlement."""
    collected: int
    """Cash that the partner collected."""
    commission: int
    """Whole rupiah."""
    commission_tax: int
    """Whole rupiah."""
    created_at: str
    created_by: NotRequired[By | None]
    """Null if created by the schedule."""
    failure: NotRequired[str | None]
    """Why the last payout failed or came back."""
    gross: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    items: list[SettlementItem]
    mitra: Owner
    mitra_id: str
    """UUID of the partner."""
    net: int
    """Amount of the payout: gross less commission, its tax and collected cash, with the adjustment.
    Zero or less in a statement.
    """
    note: str
    origin: Origin
    payouts: list[SettlementPayout]
    """Its releases, including those that came back."""
    period: SettlementPeriod
    proof_file_id: NotRequired[str | None]
    """UUID of an uploaded file with purpose `proof`."""
    proof_url: NotRequired[str | None]
    """Signed address, valid for five minutes."""
    reference: NotRequired[str | None]
    released_at: NotRequired[str | None]
    released_by: NotRequired[By | None]
    status: SettlementStatus


class SettlementEvent(TypedDict):
    code: str
    """Booking code, as printed on tickets."""
    mitra_id: str
    """UUID of the partner."""
    net: int
    """Whole rupiah."""
    reason: NotRequired[str | None]
    """Why the last payout failed or came back."""
    settlement_id: str


class SettlementItem(TypedDict):
    adjustment: int
    """A correction by a journal entry; negative: at the partner's expense."""
    booking_id: NotRequired[str | None]
    """Null if it is not of a booking, e.g. a receipt."""
    channel: NotRequired[Channel | None]
    """Who made the booking."""
    code: NotRequired[str | None]
    """Booking code, as printed on tickets."""
    collected: int
    """Whole rupiah."""
    commission: int
    """Whole rupiah."""
    commission_tax: int
    """Whole rupiah."""
    day: str
    """Local day of departure, or the day of the cause."""
    departure_at: NotRequired[str | None]
    """RFC 3339 in UTC."""
    gross: int
    """Whole rupiah."""
    kind: DueKind
    net: int
    """Whole rupiah."""


class SettlementPayout(TypedDict):
    amount: int
    """Whole rupiah."""
    id: str
    """UUID version 7."""
    method: PayoutMethod
    reference: str
    released_at: str
    return_reason: NotRequired[str | None]
    returned_at: NotRequired[str | None]
    """When the transfer came back."""


class SettlementPeriod(TypedDict):
    end_date: str
    start_date: str


SettlementSort: TypeAlias = Literal["created_at", "end_date", "net", "status"]


SettlementStatus: TypeAlias = Literal["pending", "processing", "released", "cancelled", "statement"]


class SignedIn(TypedDict):
    access_token: str
    """Bearer token for the `Authorization` header."""
    expires_at: str
    expires_in: int
    """Seconds until the token expires."""
    remember_token: NotRequired[str | None]
    """Token for the next resume; only present after a resume."""
    token_type: str
    user: User


SkipReason: TypeAlias = Literal[
    "withdrawn",
    "cancelled",
    "departed",
    "manifest_closed",
    "in_use",
    "schedule_conflict",
    "past",
]


class SkippedSailing(TypedDict):
    reason: SkipReason
    route_time_id: str
    """UUID of the sailing."""


class Slice(TypedDict):
    bookings: Figure
    key: str
    """Payment method, booking type or UUID of the partner."""
    label: str
    revenue: Figure
    share_percent: float
    """Share of the total of the current period."""


Source: TypeAlias = Literal[
    "booking",
    "payment",
    "review",
    "settlement",
    "reschedule",
    "cancellation",
    "refund",
    "receipt",
    "provider_settlement",
    "tax_payment",
    "cash_deposit",
    "journal",
    "reseller_payment",
]


class Speedboat(TypedDict):
    description: NotRequired[str | None]
    capacity: int
    """Number of seats."""
    created_at: str
    engine: NotRequired[str | None]
    facilities: list[str]
    id: str
    """UUID version 7."""
    manufacturer: NotRequired[str | None]
    mitra: Owner
    mitra_id: str
    """UUID of the partner."""
    name: str
    photos: list[Photo]
    registration_number: str
    """Registration number of the vessel; unique."""
    status: BoatStatus
    updated_at: str
    year_built: NotRequired[int | None]


class SpeedboatChange(TypedDict):
    """In an update, optional fields that are left out keep their value."""

    description: NotRequired[str | None]
    capacity: int
    """Number of seats."""
    engine: NotRequired[str | None]
    facilities: NotRequired[list[str] | None]
    manufacturer: NotRequired[str | None]
    name: str
    photo_file_ids: NotRequired[list[str] | None]
    """UUIDs of uploaded files with purpose `photo`."""
    registration_number: str
    """Registration number of the vessel; unique."""
    status: NotRequired[BoatStatus | None]
    year_built: NotRequired[int | None]


SpeedboatSort: TypeAlias = Literal["name", "capacity", "status", "created_at"]


class SpeedboatSummary(TypedDict):
    active: int
    inactive: int
    maintenance: int
    total: int
    total_capacity: int
    upcoming_sailings: int


class Staff(TypedDict):
    address: Address
    bank_account: StaffBankAccount
    created_at: str
    email: str
    id: str
    """UUID version 7."""
    join_date: str
    msisdn: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    name: str
    pending_email: NotRequired[str | None]
    """The requested e-mail address, until it is confirmed."""
    permission: HeldPermission
    permission_id: str
    salary: NotRequired[int | None]
    """Whole rupiah per month; null if none is recorded, and for callers who may not see it."""
    show_salary: bool
    """Whether others who may see staff also see the salary."""
    status: StaffStatus
    updated_at: str
    user_id: str
    working_type: WorkingType


class StaffBankAccount(TypedDict):
    account_name: str
    account_number: str
    """Masked for those who may not read it."""
    bank_code: str
    """Code of the bank, such as `BCA` or `BRI`."""


class StaffForm(TypedDict):
    address: Address
    bank_account: BankAccountForm
    email: str
    join_date: str
    msisdn: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    name: str
    permission_id: str
    salary: NotRequired[int | None]
    """Required for a new member. Left out of an update it stays as it is; null removes it, but not
    from somebody who may not see it.
    """
    show_salary: bool
    """Whether others who may see staff also see the salary."""
    status: StaffStatus
    working_type: WorkingType


class StaffList(TypedDict):
    items: list[Staff]
    summary: StaffSummary


StaffSort: TypeAlias = Literal["name", "email", "join_date", "level", "status", "created_at"]


StaffStatus: TypeAlias = Literal["active", "inactive"]


class StaffSummary(TypedDict):
    active: int
    inactive: int
    total: int


class StatementLine(TypedDict):
    amount: int
    """Positive: owed to the partner."""
    balance: int
    """Balance after this line."""
    booking_code: NotRequired[str | None]
    booking_id: NotRequired[str | None]
    kind: str
    """What happened to the source."""
    posted_on: str
    source: Source


Status: TypeAlias = Literal["active", "inactive", "suspended"]


class Step(TypedDict):
    """A step of the onboarding."""

    complete: bool
    key: StepKey
    missing: list[str]
    """Those of them that are missing."""
    required: list[str]
    """Fields, or types of documents, without which the papers cannot be handed in."""


StepKey: TypeAlias = Literal["business", "pic", "bank_account", "documents"]


class Suspension(TypedDict):
    reason: str


TargetType: TypeAlias = Literal["all", "mitra", "speedboat", "route"]


class Tax(TypedDict):
    applies_to: AppliesTo
    base_factor: str | float
    """The part of the price that is taxed."""
    code: str
    """Booking code, as printed on tickets."""
    created_at: str
    id: str
    """UUID version 7."""
    is_active: bool
    name: str
    rate: float
    """Percent, at most two decimals."""


class TaxAmount(TypedDict):
    """A tax that was charged."""

    amount: int
    """Whole rupiah."""
    base_factor: NotRequired[str | float]
    """The part of the price that it was charged on."""
    code: str
    """Booking code, as printed on tickets."""
    name: str
    rate: float
    """Percent, at most two decimals."""


class TaxForm(TypedDict):
    applies_to: AppliesTo
    base_factor: NotRequired[str | float | None]
    """Left out when a tax is created, or null: 1."""
    code: str
    """Booking code, as printed on tickets."""
    is_active: bool
    name: str
    rate: float
    """Percent, at most two decimals."""


class TaxOfMonth(TypedDict):
    """One tax in a month. `received` is what customers paid, by the day of the payment, on which
    the tax is due; the other amounts are those of the ledger, which knows the tax when the
    journey is over.
    """

    adjusted: int
    """By journal entries."""
    collected: int
    """Of journeys and kept money of the month."""
    opening: int
    """Owed before the month."""
    owed: int
    """Owed after the month."""
    paid: int
    """Paid to the state."""
    received: int
    """Tax in the payments of bookings that were received in the month. Zero for taxes on
    commission.
    """
    received_base: int
    """The part of these payments that the tax was charged on."""
    reversed: int
    """Taken back with journeys that were refunded."""
    tax_code: str


class TaxPayment(TypedDict):
    amount: int
    """Whole rupiah."""
    created_at: str
    created_by: str
    id: str
    """UUID version 7."""
    paid_on: str
    reference: str
    tax_code: str


class TaxPaymentForm(TypedDict):
    amount: int
    """Whole rupiah."""
    paid_on: str
    reference: str
    """NTPN: the state's number of the payment."""
    tax_code: str
    """Code of the tax."""


class TaxReport(TypedDict):
    as_of: str
    """When the data was read."""
    month: str
    """A month, written `2026-11`."""
    taxes: list[TaxOfMonth]


TaxSort: TypeAlias = Literal["name", "code", "created_at"]


class Terms(TypedDict):
    type: str
    """Type of the terms, such as `customer` or `mitra`."""
    content: str
    """Sanitised HTML."""
    id: str
    """UUID version 7."""
    published_at: NotRequired[str | None]
    status: TermsStatus
    version: int


class TermsEvent(TypedDict):
    type: str
    terms_id: str
    version: int


TermsStatus: TypeAlias = Literal["draft", "published", "archived"]


class TermsVersion(TypedDict):
    """A version of terms with its author and publisher."""

    type: str
    """Type of the terms, such as `customer` or `mitra`."""
    content: str
    """Sanitised HTML."""
    created_at: str
    creator_name: str
    id: str
    """UUID version 7."""
    published_at: NotRequired[str | None]
    status: TermsStatus
    updated_at: str
    user_creator_id: str
    user_editor_id: str
    user_validator_id: NotRequired[str | None]
    validator_name: NotRequired[str | None]
    version: int


class ThisMonth(TypedDict):
    bookings: Figure
    departures: Figure
    gross_revenue: NotRequired[Figure | None]
    """Whole rupiah."""
    passengers: Figure


class TicketKey(TypedDict):
    """A public key that verifies tickets."""

    key_id: str
    """Key id, as contained in ticket codes."""
    pem: str
    """The key in PEM format."""
    public_key: str
    """The 32 bytes of the key in base64."""


class TicketKeyring(TypedDict):
    """Public keys that verify tickets offline."""

    algorithm: str
    key_id: str
    """Key id, as contained in ticket codes."""
    older: list[TicketKey]
    """Earlier keys whose tickets are still valid."""
    pem: str
    """The key in PEM format."""
    public_key: str
    """The 32 bytes of the key in base64."""


class Today(TypedDict):
    bookings: int
    departures: int
    gross_revenue: NotRequired[int | None]
    """Whole rupiah."""
    passengers: int


class Totals(TypedDict):
    adults: int
    """12 years and older."""
    age_unknown: int
    bookings: int
    by_nationality: dict[str, int]
    """Number of passengers by nationality."""
    checked_in: int
    """Passengers on board."""
    children: int
    """2 to 11 years."""
    female: int
    gender_unknown: int
    infants: int
    male: int
    passengers: int


class TotpEnrolment(TypedDict):
    """A secret for an authenticator app. It counts once a code of it was confirmed."""

    otpauth_url: str
    qr_svg: str
    """`otpauth_url` as a QR code."""
    secret: str
    """In base32, for typing."""


class TrialBalance(TypedDict):
    accounts: list[AccountBalance]
    as_of: str
    """When the data was read."""
    end_date: str
    start_date: str
    total: BalanceTotal
    """Sums of the accounts. Debit and credit are equal."""


class UndoCheckIn(TypedDict):
    reason: NotRequired[str | None]
    ticket_code: str
    """Text of the QR code on a ticket."""


class UpdateProfile(TypedDict):
    avatar_file_id: str
    """An empty string removes the avatar."""
    current_password: NotRequired[str | None]
    """Required for another e-mail address."""
    email: str
    """Another address than the current one becomes `pending_email` until it is confirmed."""
    name: str
    phone: str | int
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """


class UpdateSailing(TypedDict):
    """Fields that are left out keep their value."""

    arrival_time: NotRequired[str | None]
    """`HH:MM`, local to the harbour."""
    date: NotRequired[str | None]
    """New day of departure. Default: unchanged."""
    departure_time: NotRequired[str | None]
    """`HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before."""
    price: NotRequired[int | None]
    """Whole rupiah per seat, for new bookings."""
    reason: NotRequired[str | None]
    """Sent to everyone who booked. Required if the time of a sailing with bookings changes."""
    speedboat_id: NotRequired[str | None]
    """Another boat of the partner."""


class UpdateSailings(TypedDict):
    """A change of many sailings of a route."""

    days: NotRequired[list[Weekday] | None]
    """Only sailings on these days."""
    departure_times: NotRequired[list[str] | None]
    """Only sailings that depart at these times."""
    end_date: str
    """Last day of departure, at most 366 days."""
    reason: NotRequired[str | None]
    """Sent to everyone who booked. Required if the time of a sailing with bookings changes."""
    set: SailingValues
    start_date: str
    """First day of departure, in the route's time zone."""


UpdatedSailing = TypedDict(
    "UpdatedSailing",
    {
        # RFC 3339 in UTC.
        "arrival_at": "str",
        "arrival_timezone": "Zone",
        "cancelled_at": "NotRequired[str | None]",
        # Number of seats.
        "capacity": "int",
        # RFC 3339 in UTC.
        "departure_at": "str",
        # Harbour of departure.
        "from": "str",
        # UUID version 7.
        "id": "str",
        "manifest_closed_at": "NotRequired[str | None]",
        # UUID of the partner.
        "mitra_id": "str",
        # Number of bookings that have the new times or the new boat.
        "moved_bookings": "int",
        # Whole rupiah.
        "price": "int",
        # Why the sailing was cancelled or moved.
        "reason": "NotRequired[str | None]",
        "route_id": "str",
        # Seats of paid bookings and of unpaid ones that are still held.
        "seats_taken": "int",
        "speedboat_id": "str",
        "status": "SailingStatus",
        "timezone": "Zone",
        # Harbour of arrival.
        "to": "str",
    },
)


class UpdatedSailings(TypedDict):
    changed: int
    """Number of sailings that were changed."""
    skipped: list[SkippedSailing]
    """Sailings that were not changed, at most 500."""
    skipped_count: int
    """Number of all sailings that were not changed."""
    unchanged: int
    """Number of sailings that had these values already."""


class UploadFileForm(TypedDict):
    file: File
    purpose: Literal["avatar", "photo", "content", "document", "proof"]


class User(TypedDict):
    """An account."""

    avatar_file_id: NotRequired[str | None]
    avatar_url: NotRequired[str | None]
    """Address of the avatar."""
    created_at: str
    email: str
    email_verified: bool
    """Whether a link that was mailed to the address has been used."""
    id: str
    """UUID version 7."""
    last_login_at: NotRequired[str | None]
    name: str
    pending_email: NotRequired[str | None]
    """The requested address, until it is confirmed."""
    phone: NotRequired[str | None]
    """Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
    number.
    """
    role: Role
    second_factor: bool
    """Whether sign-in requires a code of an authenticator app."""
    status: Status


UserSort: TypeAlias = Literal["name", "email", "role", "created_at"]


class UserStatistics(TypedDict):
    by_role: ByRole
    by_status: ByStatus
    new_this_month: int
    total: int


class ValidatePromo(TypedDict):
    type: BookingType
    code_promo: str
    """Promotion code; not case-sensitive."""
    email: NotRequired[str | None]
    item_id: str
    """UUID of the speedboat."""
    qty: int
    """Number of passengers."""
    route_time_id: str
    """UUID of the sailing."""


Verdict: TypeAlias = Literal["approved", "rejected"]


class Webhook(TypedDict):
    active: bool
    created_at: str
    disabled_reason: NotRequired[DisabledReason | None]
    """Why it was deactivated automatically."""
    events: list[str]
    """Names of events."""
    failing_since: NotRequired[str | None]
    """Time since which all deliveries fail."""
    id: str
    """UUID version 7."""
    updated_at: str
    url: str
    """Address that receives deliveries by POST."""


class WebhookDelivery(TypedDict):
    type: str
    attempts: int
    created_at: str
    delivered_at: NotRequired[str | None]
    event_id: str
    """Id of the event, the same for every attempt (`webhook-id`)."""
    id: str
    """UUID version 7."""
    last_attempt_at: NotRequired[str | None]
    last_error: NotRequired[str | None]
    payload: Any
    response_status: NotRequired[int | None]
    """HTTP status of the last response; null without a response."""
    status: DeliveryStatus


class WebhookForm(TypedDict):
    active: NotRequired[bool | None]
    """Default: `true`. An update without it keeps the value; null sets `true`."""
    events: list[EventName]
    """Names of the events that are delivered."""
    url: str
    """Address that receives deliveries by POST."""


Weekday: TypeAlias = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


WorkingType: TypeAlias = Literal["full_time", "part_time", "contract", "freelance"]


Zone: TypeAlias = Literal["Asia/Jakarta", "Asia/Makassar", "Asia/Jayapura"]
