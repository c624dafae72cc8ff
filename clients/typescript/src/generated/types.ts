// Generated from docs/openapi.json by clients/generate.py. Do not edit.

export type Account =
  | "gateway_clearing"
  | "customer_deposits"
  | "unapplied_payments"
  | "refund_payable"
  | "partner_payable"
  | "commission_revenue"
  | "promotion_expense"
  | "tax_payable"
  | "bank"
  | "cash"
  | "gateway_fees"
  | "vat_input"
  | "suspense"
  | "losses"
  | "prepaid_pph23"
  | "bank_fees"
  | "equity"
  | "reseller_receivable"
  | "reseller_margin";

/** Debit balances are positive, credit balances negative. */
export interface AccountBalance {
  account: Account;
  /** Whole rupiah. */
  closing: number;
  /** Whole rupiah. */
  credit: number;
  /** Whole rupiah. */
  debit: number;
  /** Whole rupiah. */
  opening: number;
  /** Of `tax_payable`. */
  tax_code?: string | null;
}

export interface AccountData {
  /** Changes that the person made. */
  audit_entries: ExportedAuditEntry[];
  created_at: string;
  /** The partner that the person works for as crew. */
  crew_of?: string | null;
  deleted_at?: string | null;
  email: string;
  email_verified: boolean;
  files: ExportedFile[];
  /** UUID version 7. */
  id: string;
  last_login_at?: string | null;
  mitra?: ExportedPartner | null;
  name: string;
  networks: ExportedNetwork[];
  notifications: ExportedNotification[];
  pending_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  remembered_devices: ExportedDevice[];
  reseller?: ExportedReseller | null;
  role: Role;
  /** Whether sign-in requires a code of an authenticator app. */
  second_factor: boolean;
  sessions: ExportedSession[];
  staff?: ExportedStaff | null;
  status: string;
}

export interface Address {
  city: string;
  postal_code: string;
  province: string;
  street: string;
}

export type AdminStatus = "active" | "inactive";

/** Passenger and booking of a ticket code. */
export interface Admitted {
  boarded_at?: string | null;
  booking_code: string;
  booking_id: string;
  passenger_id: string;
  passenger_name: string;
}

/** In the format of the payment provider. */
export type AnyObject = Record<string, unknown>;

/** In the format of the provider of payouts. */
export type AnyPayout = Record<string, unknown>;

export type AppliesTo = "booking" | "seats" | "charter" | "commission";

export interface AuditLog {
  /** What was done, such as `booking.cancelled`. */
  action: string;
  actor: Person;
  /** IP address of the client. */
  address: string;
  after?: unknown;
  before?: unknown;
  created_at: string;
  entity_id: string;
  /** Kind of record, such as `booking` or `partner`. */
  entity_type: string;
  /** UUID version 7. */
  id: string;
  /** The impersonated account, if the change was made in an impersonated session. */
  on_behalf_of?: Person | null;
  /** Identifies the request in the log and in the response header `X-Request-Id`. */
  request_id: string;
  user_agent?: string | null;
}

export interface BalanceTotal {
  /** Whole rupiah. */
  closing: number;
  /** Whole rupiah. */
  credit: number;
  /** Whole rupiah. */
  debit: number;
  /** Whole rupiah. */
  opening: number;
}

export interface BankAccountForm {
  account_name: string;
  account_number: string;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code: string;
}

export type BankAccountStatus = "pending" | "approved" | "rejected";

export interface BankApproval {
  account_name?: string | null;
  /** What the reviewer has seen; an account that has changed in the meantime is not reviewed. */
  account_number?: string | null;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code?: string | null;
  /** Required for a rejection; the partner reads it. */
  note?: string | null;
  status: Verdict;
}

export type BoatStatus = "active" | "maintenance" | "inactive";

export interface BookedBoat {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface BookedSailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  mitra: Owner;
  speedboat: BookedBoat;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

export interface Booking {
  type: BookingType;
  /** Version of the customer terms that was accepted with the booking. */
  accepted_terms_id?: string | null;
  cancel_reason?: string | null;
  cancelled_at?: string | null;
  /** Passengers who were cancelled while the rest travels. */
  cancelled_passengers: FormerPassenger[];
  channel: Channel;
  /** Booking code, as printed on tickets. */
  code: string;
  /** Promotion code; not case-sensitive. */
  code_promo?: string | null;
  contact: BookingContact;
  created_at: string;
  expires_at: string;
  /** UUID version 7. */
  id: string;
  /** UUID of the speedboat. */
  item_id: string;
  note: string;
  /** What is still owed to the customer: the refunds that are not paid yet. */
  owed: number;
  passengers: Passenger[];
  /** Null if nothing has to be paid. */
  payment?: PaymentRecord | null;
  price: PriceRecord;
  /** Number of passengers. */
  qty: number;
  /**
   * Where refunds are transferred that the payment provider cannot send, as the booker stated it.
   * Null for partners.
   */
  refund_account?: RefundAccount | null;
  /**
   * Amount that is or was to be refunded to the customer. Null for partners if a reseller has sold
   * the booking.
   */
  refund_amount?: number | null;
  /** The reseller that sold it. Null if sold without a reseller. */
  reseller?: Owner | null;
  /** UUID of the sailing. */
  route_time_id: string;
  sailing: BookedSailing;
  status: BookingStatus;
}

export interface BookingContact {
  email: string;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string;
}

/** A booking, at the time at which the event is sent. */
export interface BookingEvent {
  booking_id: string;
  /** Of `booking.passengers_cancelled`: how many passengers were cancelled. */
  cancelled_qty?: number | null;
  /** Booking code, as printed on tickets. */
  code: string;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Of a reschedule: what the customer paid, or (negative) is owed. */
  difference?: number | null;
  /** Harbour of departure. */
  from: string;
  /** UUID of the partner. */
  mitra_id: string;
  /** Number of passengers. */
  qty: number;
  /** Whole rupiah. */
  refund_amount?: number | null;
  /** Harbour of arrival. */
  to: string;
  /** Null for bookings of resellers. */
  total?: number | null;
}

export interface BookingFigures {
  cancelled: number;
  completed: number;
  paid: number;
  passengers: number;
  total: number;
}

export interface BookingForm {
  type: BookingType;
  /** Whether the customer accepts the published terms. */
  accept_terms?: boolean | null;
  /** Promotion code; not case-sensitive. */
  code_promo?: string | null;
  contact: Contact;
  /** UUID of the sailing's speedboat. */
  item_id: string;
  note?: string | null;
  passengers: PassengerForm[];
  /** Number of passengers. */
  qty: number;
  /** UUID of the sailing. */
  route_time_id: string;
}

/**
 * What the caller can do with a booking now. Decided by the rules that cancelling and rescheduling
 * follow.
 */
export interface BookingOptions {
  cancel: CancelOption;
  /** The reschedule whose difference is not paid yet. */
  pending_reschedule?: PendingReschedule | null;
  reschedule: RescheduleOption;
}

export type BookingSort = "created_at" | "departure_at" | "total";

export type BookingStatus =
  | "pending_payment"
  | "paid"
  | "completed"
  | "expired"
  | "cancelled"
  | "refund_pending"
  | "refunded";

export type BookingType = "speedboat" | "charter";

export interface BookingsByStatus {
  cancelled: number;
  completed: number;
  expired: number;
  paid: number;
  pending_payment: number;
  refund_pending: number;
  refunded: number;
}

export type BorneBy = "partner" | "platform";

export interface Breakdown {
  /** When the data was read. */
  as_of: string;
  items: Slice[];
  period: ReportWindow;
  previous: ReportWindow;
  total: Figure;
}

/** Business data of a partner. */
export interface Business {
  description?: string | null;
  /** Postal address. */
  address?: string | null;
  city?: string | null;
  legal_name?: string | null;
  /** Business number (NIB): 13 digits. */
  nib?: string | null;
  /** Masked for those who may not read it. */
  npwp?: string | null;
  postal_code?: string | null;
  province?: string | null;
}

export interface BusinessForm {
  description?: string | null;
  /** Postal address. */
  address?: string | null;
  city?: string | null;
  legal_name?: string | null;
  /** Business number (NIB): 13 digits. */
  nib?: string | null;
  /** Tax number (NPWP): 15 or 16 digits. */
  npwp?: string | null;
  postal_code?: string | null;
  province?: string | null;
}

export interface By {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface ByRole {
  admin: number;
  crew: number;
  mitra: number;
  reseller: number;
  staff: number;
}

export interface ByStatus {
  active: number;
  inactive: number;
  suspended: number;
}

/** Credentials of a guest: both must match the booking. */
export interface CancelForm {
  /** Staff, after the journey: who bears the refund. Default `partner`. */
  borne_by?: BorneBy | null;
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
  /** UUIDs of some of the passengers, to cancel them alone; the rest travels. Left out: all. */
  passenger_ids?: string[] | null;
  reason: string;
  /**
   * What is paid back: everything (default of partners and staff), or what the refund policy grants
   * to the booker.
   */
  refund?: RefundChoice | null;
  /** Staff: what is paid back, from 0 to what was paid; at least 1 after the journey. */
  refund_amount?: number | null;
}

export interface CancelOption {
  allowed: boolean;
  /** The part of the price that would be paid back, in percent. */
  percent: number;
  /** The error code with which it would be refused. */
  reason?: string | null;
  /** What would be paid back: for the whole booking, or for `passenger_ids`. */
  refund_amount: number;
  /** Time until which this applies. Null: unlimited, or not allowed. */
  until?: string | null;
}

export interface CancelSailing {
  /** Sent to everyone who booked. */
  reason: string;
}

export interface CancelSettlement {
  note?: string | null;
}

/** Outcome for the bookings of a cancelled sailing. */
export interface CancelledBookings {
  /** Number of bookings that were unpaid or free of charge. */
  cancelled: number;
  /** Number of paid bookings that are owed a refund. */
  refund_due: number;
  /** For partners at the retail price, also of bookings of resellers. */
  refund_total: number;
}

export interface CancelledSailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  bookings: CancelledBookings;
  cancelled_at?: string | null;
  /** Number of seats. */
  capacity: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  /** UUID version 7. */
  id: string;
  manifest_closed_at?: string | null;
  /** UUID of the partner. */
  mitra_id: string;
  /** Whole rupiah. */
  price: number;
  /** Why the sailing was cancelled or moved. */
  reason?: string | null;
  route_id: string;
  /** Seats of paid bookings and of unpaid ones that are still held. */
  seats_taken: number;
  speedboat_id: string;
  status: SailingStatus;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

export interface CashDeposit {
  /** Whole rupiah. */
  amount: number;
  created_at: string;
  created_by: string;
  deposited_on: string;
  /** UUID version 7. */
  id: string;
  reference: string;
}

export interface CashDepositForm {
  /** Whole rupiah. */
  amount: number;
  deposited_on: string;
  /** Reference of the deposit at the bank. */
  reference: string;
}

export interface CatalogBoat {
  description?: string | null;
  /** Number of seats. */
  capacity: number;
  facilities: string[];
  /** UUID version 7. */
  id: string;
  name: string;
  photos: Photo[];
}

/** A partner in the list of those that can be booked. */
export interface CatalogEntry {
  /** UUID version 7. */
  id: string;
  name: string;
  /** The partner's public page is `/p/{slug}`. */
  slug: string;
}

export interface CatalogLine {
  /** Harbour of departure. */
  from: string;
  /** Harbour of arrival. */
  to: string;
}

/** A partner as customers see it. */
export interface CatalogPartner {
  description?: string | null;
  city?: string | null;
  /** UUID version 7. */
  id: string;
  /** Between which harbours it sails, while sailings are published. */
  lines: CatalogLine[];
  name: string;
  province?: string | null;
  /** The partner's public page is `/p/{slug}`. */
  slug: string;
  /** Its boats in service, at most 50. */
  speedboats: CatalogBoat[];
}

/** A speedboat as customers see it. */
export interface CatalogSpeedboat {
  description?: string | null;
  /** Number of seats. */
  capacity: number;
  facilities: string[];
  /** UUID version 7. */
  id: string;
  mitra: Owner;
  name: string;
  photos: Photo[];
}

export type Category = "adult" | "child" | "infant" | "senior" | "student";

export interface ChangeAdminStatus {
  status: AdminStatus;
}

export interface ChangePassword {
  /** Confirmation: the same as `password`. */
  cpassword: string;
  /** The password that is replaced. */
  current_password: string;
  /** 8 to 128 characters. Passwords that are easy to guess are refused. */
  password: string;
}

export interface ChangedTerms {
  /** HTML. */
  content: string;
  /** UUID version 7. */
  id: string;
  /** The caller's own id. */
  user_creator_id: string;
}

export type Channel = "web" | "staff" | "mitra" | "reseller";

/** One ticket code, or a batch of scans made offline. */
export interface CheckIn {
  scans?: Scan[] | null;
  /** Text of the QR code on a ticket. */
  ticket_code?: string | null;
}

/** Result for one code, or for a batch. */
export type CheckedIn = Admitted | CheckedInBoarded;

export interface CheckedInBoarded {
  boarded: number;
  results: ScanResult[];
}

export type ComparisonMode = "Month-over-month" | "Quarter-over-Quarter" | "Year-over-Year";

export interface ConfirmTotp {
  /** Six digits of the authenticator app. */
  code: string;
}

export interface Contact {
  email: string;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
}

/** Fields that are left out keep their value. */
export interface CorrectContact {
  email?: string | null;
  name?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | number | null;
}

/** Passengers that are not named stay as they are. */
export interface CorrectPassengers {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
  passengers: PassengerCorrection[];
}

export interface CrewMember {
  created_at: string;
  email: string;
  /** UUID of the account. */
  id: string;
  /** Whether the invitation has not been accepted yet. */
  invited: boolean;
  last_login_at?: string | null;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  status: Status;
}

export type CrewSort = "name" | "created_at";

export interface CtaForm {
  title: string;
  description: string;
  button_label: string;
  /** `http` or `https`. */
  button_url: string;
  /** An empty string removes the image. */
  image_file_id?: string | null;
  is_active: boolean;
}

export interface CtaPartnership {
  title: string;
  description: string;
  button_label: string;
  button_url: string;
  image_file_id?: string | null;
  image_url?: string | null;
  is_active: boolean;
  updated_at: string;
}

export interface Dashboard {
  /** When the data was read. */
  as_of: string;
  /** This month, compared with the previous one. */
  month: ThisMonth;
  pending: Pending;
  /** Null, like every amount, for staff without `reports.read`. */
  revenue_series?: Point[] | null;
  today: Today;
  /** This month; null for a partner. */
  top_partners?: PartnerSales[] | null;
  /** This month. */
  top_routes?: RouteSales[] | null;
  upcoming_departures: Departure[];
}

export type DeliveryStatus = "pending" | "delivered" | "failed";

export interface DepartingBoat {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface Departure {
  /** Number of seats. */
  capacity: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  mitra: Seller;
  /** UUID of the sailing. */
  route_time_id: string;
  /** Seats of paid bookings and of unpaid ones that are still held. */
  seats_taken: number;
  speedboat: DepartingBoat;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

export type Direction = "asc" | "desc";

export type DisabledReason = "gone" | "failing";

export interface DiscountForm {
  type: DiscountType;
  /** Upper bound of a percentage discount, in whole rupiah. */
  max_amount?: number | null;
  /** Minimum subtotal, in whole rupiah. */
  min_purchase?: number | null;
  /** Percent with at most two decimals or whole rupiah, by `type`. */
  value: number;
}

export interface DiscountRecord {
  type: DiscountType;
  /** Whole rupiah. */
  max_amount?: number | null;
  /** Whole rupiah. */
  min_purchase?: number | null;
  /** Percent or whole rupiah, by `type`. */
  value: number;
}

export type DiscountType = "percentage" | "fixed";

export interface Document {
  type: DocumentType;
  created_at: string;
  file: DocumentFile;
  /** UUID version 7. */
  id: string;
  note?: string | null;
  reviewed_at?: string | null;
  status: DocumentStatus;
}

export interface DocumentFile {
  filename: string;
  /** UUID version 7. */
  id: string;
  /** Signed address, valid for five minutes; null for callers who may not read the document. */
  url?: string | null;
}

export interface DocumentForm {
  type: DocumentType;
  file_id: string;
}

export interface DocumentReview {
  document_id: string;
  /** Required for a rejection. */
  note?: string | null;
  status: Verdict;
}

export type DocumentStatus = "pending" | "approved" | "rejected";

export type DocumentType = "ktp" | "npwp" | "nib" | "deed" | "bank_book" | "operating_permit";

export type DueKind =
  | "sale"
  | "kept"
  | "reversal"
  | "returned"
  | "charge"
  | "receipt"
  | "carried"
  | "journal";

export interface EmailForm {
  email: string;
}

export interface EnrolTotp {
  /** The account's password. */
  current_password: string;
}

/** A line of the ledger. */
export interface Entry {
  account: Account;
  booking_code?: string | null;
  booking_id?: string | null;
  created_at: string;
  /** Whole rupiah. */
  credit: number;
  /** Whole rupiah. */
  debit: number;
  /** UUID version 7. */
  id: string;
  /** What happened to the source. */
  kind: string;
  /** Of `partner_payable`. */
  mitra_id?: string | null;
  posted_on: string;
  source: Source;
  /** Lines with the same source, `source_id` and kind are one posting. */
  source_id: string;
  /** Of `tax_payable`. */
  tax_code?: string | null;
}

export interface ErasedKind {
  erased: number;
  waiting: number;
}

/** Result of an erasure. */
export interface Erasure {
  accounts: ErasedKind;
  bookings: ErasedKind;
  /** Number of accounts and bookings that were erased now. */
  erased: number;
  /** Number of stored mails to the address that were deleted. */
  letters: number;
  /**
   * Number of resellers that had the address as `ops_email`. Their mails go to `email` from now on.
   */
  resellers: number;
  /** Number of accounts and bookings that will be erased when they are over. */
  waiting: number;
}

export interface ErasureRequest {
  email: string;
  /** Kept in the audit log, so it must not contain the address. */
  reason: string;
}

/** Envelope of every error. */
export interface ErrorBody {
  /** HTTP status code. */
  code: number;
  data?: unknown;
  /** Stable error code. */
  error: string;
  /** The invalid fields, at most 100; only with `validation_failed`. */
  errors?: Fault[] | null;
  /** Whether there are more faults than `errors` lists. */
  errors_truncated?: boolean;
  /** For people, in the language of the request. */
  message: string;
  /** Identifies the request in the log and in the response header `X-Request-Id`. */
  request_id: string;
  /** Always `error`. */
  status: string;
}

export type EventName =
  | "booking.created"
  | "booking.paid"
  | "booking.expired"
  | "booking.cancelled"
  | "booking.passengers_cancelled"
  | "booking.completed"
  | "booking.refunded"
  | "booking.rescheduled"
  | "payment.review"
  | "refund.due"
  | "refund.failed"
  | "partner.registered"
  | "partner.submitted"
  | "partner.approved"
  | "partner.revision"
  | "partner.review_resumed"
  | "partner.document_replaced"
  | "partner.bank_changed"
  | "partner.bank_approved"
  | "partner.bank_rejected"
  | "partner.suspended"
  | "partner.unsuspended"
  | "settlement.created"
  | "settlement.released"
  | "settlement.returned"
  | "settlement.failed"
  | "sailing.cancelled"
  | "sailing.moved"
  | "terms.published";

export interface ExportRequest {
  email: string;
}

export interface ExportedAuditEntry {
  /** What was done, such as `booking.cancelled`. */
  action: string;
  /** IP address of the client. */
  address: string;
  created_at: string;
  entity_id: string;
  /** Kind of record, such as `booking` or `partner`. */
  entity_type: string;
  user_agent?: string | null;
}

export interface ExportedDevice {
  created_at: string;
  expires_at: string;
}

export interface ExportedDocument {
  type: string;
  created_at: string;
  file_id: string;
  /** UUID version 7. */
  id: string;
  note?: string | null;
  status: string;
}

export interface ExportedFile {
  content_type: string;
  created_at: string;
  filename: string;
  /** UUID version 7. */
  id: string;
  purpose: string;
  /** Bytes. */
  size: number;
}

export interface ExportedLetter {
  /** Name of the file. */
  filename: string;
  /** Bytes. */
  size: number;
  written_at: string;
}

export interface ExportedNetwork {
  /** Time of the last request, to the minute. */
  last_used_at: string;
  /** IPv4 address, or the /64 of an IPv6 address. */
  network: string;
}

export interface ExportedNotification {
  type: string;
  created_at: string;
  data: unknown;
  /** UUID version 7. */
  id: string;
}

export interface ExportedOnboarding {
  description?: string | null;
  account_name?: string | null;
  account_number?: string | null;
  /** Postal address. */
  address?: string | null;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code?: string | null;
  city?: string | null;
  legal_name?: string | null;
  /** Business number (NIB): 13 digits. */
  nib?: string | null;
  /** Tax number (NPWP): 15 or 16 digits. */
  npwp?: string | null;
  pic_email?: string | null;
  pic_name?: string | null;
  pic_nik?: string | null;
  pic_phone?: string | null;
  pic_position?: string | null;
  postal_code?: string | null;
  province?: string | null;
}

/** A reseller, for the person behind its `ops_email`. */
export interface ExportedOpsReseller {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface ExportedPartner {
  /** Postal address. */
  address: string;
  created_at: string;
  documents: ExportedDocument[];
  /** UUID version 7. */
  id: string;
  onboarding?: ExportedOnboarding | null;
  /** Bank accounts that settlements were paid to, masked. */
  paid_to: unknown[];
  partnerType: string;
  status: string;
  suspended_reason?: string | null;
}

export interface ExportedReseller {
  /** Postal address. */
  address: string;
  created_at: string;
  /** UUID version 7. */
  id: string;
  /** API keys, without the keys themselves. */
  keys: ExportedResellerKey[];
  legal_name: string;
  /** Tax number (NPWP): 15 or 16 digits. */
  npwp?: string | null;
  ops_email?: string | null;
  status: string;
  /** Why it was suspended. */
  status_reason?: string | null;
  /** Addresses that it is notified at. */
  subscriptions: string[];
}

export interface ExportedResellerKey {
  /** Networks that it may be used from. */
  addresses: string[];
  created_at: string;
  last_used_address?: string | null;
  /** Time of the last request, to the minute. */
  last_used_at?: string | null;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  revoked_at?: string | null;
}

export interface ExportedSession {
  /** IP address of the client. */
  address: string;
  created_at: string;
  expires_at: string;
  /** UUID version 7. */
  id: string;
  user_agent?: string | null;
}

export interface ExportedStaff {
  account_name: string;
  account_number: string;
  address: unknown;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code: string;
  /** UUID version 7. */
  id: string;
  join_date: string;
  /** Whole rupiah. */
  salary?: number | null;
  working_type: string;
}

export interface ExtendRoute {
  /** New last day of the route. */
  end_date: string;
  /**
   * The boat of the added sailings, and of the route from then on. Default: the boat of the route.
   */
  speedboat_id?: string | null;
}

export interface FailedSignIns {
  failures: number;
  /** IPv4 address, or the /64 of an IPv6 address. */
  network: string;
  since: string;
}

export interface Fare {
  category: Category;
  /** Whether a passenger has to state an identity number. */
  id_required: boolean;
  /** The category, or `category_residency` unless the residency is `any`. */
  key: string;
  /** Highest age on the day of departure; 120 is no limit. */
  max_age: number;
  /** Lowest age on the day of departure; 0 is no limit. */
  min_age: number;
  price: FarePrice;
  residency: Residency;
  /** A passenger without a seat travels with an adult. */
  takes_seat: boolean;
}

export interface FareForm {
  category: Category;
  /** Default false. */
  id_required?: boolean | null;
  /** May be left out: it follows from category and residency. */
  key?: string | null;
  /** Default 120, which is no limit. */
  max_age?: number | null;
  /** Default 0, which is no limit. */
  min_age?: number | null;
  price: FarePriceForm;
  /** Default `any`. */
  residency?: Residency | null;
  takes_seat?: boolean | null;
}

/** Percent of the sailing's price, or a fixed amount. */
export type FarePrice = FarePricePercent | FarePriceAmount;

export interface FarePriceAmount {
  /** Whole rupiah. */
  amount: number;
}

/** Percent of the sailing's price, or a fixed amount: exactly one of them. */
export interface FarePriceForm {
  amount?: number | null;
  percent?: number | null;
}

export interface FarePricePercent {
  percent: number;
}

/** A violated rule of a field. */
export interface Fault {
  /** Path of the field, such as `passengers[1].name`. */
  field: string;
  /** For people, in the language of the request. */
  message: string;
  /** Stable code of the rule. */
  rule: string;
}

/** A figure and that of the compared period. */
export interface Figure {
  /** Null if the previous figure is 0. */
  change_percent?: number | null;
  current: number;
  previous: number;
}

export interface FileRecord {
  content_type: Kind;
  created_at: string;
  filename: string;
  /** UUID version 7. */
  id: string;
  purpose: Purpose;
  /** Bytes. */
  size: number;
  status: FileStatus;
  /** Signed and valid for five minutes if the file is private. */
  url: string;
}

export type FileStatus = "pending" | "ready";

export interface FinanceFigures {
  /** Whole rupiah. */
  commission: number;
  /** Whole rupiah. */
  gross: number;
  /**
   * What the partner has earned: gross less commission and its tax of journeys that were sailed and
   * of money that was kept.
   */
  net: number;
  /** Whole rupiah. */
  settled: number;
  /** What of it was not paid out; negative if the partner owes. */
  unsettled: number;
}

/** A month of the books. */
export interface FinancePeriod {
  closed_at?: string | null;
  closed_by?: string | null;
  /** A month, written `2026-11`. */
  month: string;
  /** Why it was reopened. */
  reason?: string | null;
  reopened_at?: string | null;
  reopened_by?: string | null;
  status: PeriodStatus;
}

export interface FindBookings {
  /** The contact address of the bookings. */
  email: string;
}

export interface FleetFigures {
  active_routes: number;
  speedboats: number;
  upcoming_sailings: number;
}

export type Format = "json" | "csv" | "xlsx";

export interface FormerPassenger {
  cancelled_at: string;
  /** UUID version 7. */
  id: string;
  name: string;
}

export type FundedBy = "platform" | "partner";

export type Gender = "male" | "female";

/** Envelope of a list. */
export interface GetPartnerStatementBody {
  code: number;
  data: PartnerStatement;
  message: string;
  pagination: Pagination;
  status: string;
}

/** Envelope of a list. */
export interface GetResellerStatementBody {
  code: number;
  data: ResellerStatement;
  message: string;
  pagination: Pagination;
  status: string;
}

/** A partner that a reseller may sell. */
export interface Grant {
  /** The margin may be higher than the partner's commission. Null for resellers. */
  allow_loss?: boolean | null;
  /** Percent of the fare that the reseller keeps. */
  margin_rate: number;
  mitra?: Owner | null;
  /** Null: every partner that has no grant of its own. */
  mitra_id?: string | null;
  /** Agreed prices, instead of the margin. */
  net_fares: NetFare[];
  /** What a cancellation gives back, longest first; null: the policy of the service. */
  refund_policy?: PolicyStep[] | null;
}

export interface GrantForm {
  /**
   * Allows a margin above the partner's commission. Default: false. Left out: that of the partner's
   * grant stays.
   */
  allow_loss?: boolean | null;
  /** Percent of the fare that the reseller keeps. */
  margin_rate: number;
  /** Null or left out: every partner that has no grant of its own. */
  mitra_id?: string | null;
  /** Agreed prices, instead of the margin. Left out: those of the partner's grant stay. */
  net_fares?: NetFare[] | null;
  /**
   * What a cancellation gives back: fewer hours give less. Null: the policy of the service. Left
   * out: that of the partner's grant stays.
   */
  refund_policy?: PolicyStep[] | null;
}

export interface Grants {
  grants: Grant[];
}

/** The whole list: what it leaves out is withdrawn. */
export interface GrantsForm {
  grants: GrantForm[];
}

/** Credentials of a guest: both must match the booking. */
export interface GuestCredentials {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
}

export interface Harbour {
  /** Other names that find it. */
  aliases: string[];
  city?: string | null;
  /** UUID version 7. */
  id: string;
  latitude?: number | null;
  longitude?: number | null;
  name: string;
  province?: string | null;
  status: HarbourStatus;
  timezone: Zone;
}

/** Fields that are left out keep their value. */
export interface HarbourChange {
  aliases?: string[] | null;
  city?: string | null;
  latitude?: number | null;
  longitude?: number | null;
  /** The old name becomes an alias, unless `aliases` are given. */
  name?: string | null;
  province?: string | null;
  status?: HarbourStatus | null;
  /** Time zone of the harbour. */
  timezone?: Zone | null;
}

export type HarbourSort = "name" | "created_at";

export type HarbourStatus = "verified" | "unverified";

export interface Health {
  /** Engine of the database. */
  database: string;
  /** Whether the production guard is disabled. */
  insecure_demo: boolean;
  /** `local` or `s3`. */
  storage: string;
  uptime_seconds: number;
  version: string;
}

export interface HeldPermission {
  /** UUID version 7. */
  id: string;
  level: Level;
  name: string;
}

export type IdentityType = "nik" | "passport";

/** A short session as a partner. */
export interface Impersonation {
  /** Bearer token for the `Authorization` header. */
  access_token: string;
  /** Seconds until the token expires. */
  expires_in: number;
  user: User;
}

export interface Impersonator {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface InviteAdmin {
  email: string;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | number | null;
}

export interface InviteCrew {
  email: string;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
}

export type InvoiceSchedule = "weekly" | "monthly";

export type InvoiceStatus = "open" | "paid";

export interface Journal {
  /** Sum of the debits. */
  amount: number;
  created_at: string;
  created_by: string;
  decided_at?: string | null;
  /** Who approved or rejected it. */
  decided_by?: string | null;
  /** UUID version 7. */
  id: string;
  lines: JournalLine[];
  memo: string;
  /** UUID of the partner. */
  mitra_id?: string | null;
  posted_on: string;
  status: JournalStatus;
}

export interface JournalForm {
  /** Debits and credits are equal; each account occurs once. */
  lines: JournalLineForm[];
  /** What it is for. */
  memo: string;
  /** The partner of the line of `partner_payable`. */
  mitra_id?: string | null;
  /** The day in the books. */
  posted_on: string;
}

export interface JournalLine {
  account: Account;
  /** Whole rupiah. */
  credit: number;
  /** Whole rupiah. */
  debit: number;
  tax_code?: string | null;
}

/** Either a debit or a credit. */
export interface JournalLineForm {
  account: Account;
  /** Whole rupiah. */
  credit?: number | null;
  /** Whole rupiah. */
  debit?: number | null;
  /** Of `tax_payable`. */
  tax_code?: string | null;
}

export type JournalStatus = "draft" | "posted" | "rejected";

export type Kind = "image/jpeg" | "image/png" | "image/webp" | "application/pdf";

export type Level = "owner" | "manager" | "supervisor" | "operator" | "viewer";

export interface Line {
  /** Minutes before departure at which the sale ends. Null: the service's setting. */
  cutoff_minutes?: number | null;
  /** Whether resellers may also sell tickets for any sailing of a day. */
  day_ticket: boolean;
  /** The first one is the default of a passenger. */
  fares: Fare[];
  /** Harbour of departure. */
  from: string;
  /** UUID version 7. */
  id: string;
  /** The most passengers of one booking of a reseller. */
  max_party: number;
  /** UUID of the partner. */
  mitra_id: string;
  names: PassengerNames;
  /** Whether resellers may sell it. */
  resale: boolean;
  /** Time zone of the harbour of departure. */
  timezone: string;
  /** Harbour of arrival. */
  to: string;
  updated_at: string;
}

/** Fields that are left out keep their values. */
export interface LineForm {
  /** Null: the service's setting. */
  cutoff_minutes?: number | null;
  day_ticket?: boolean | null;
  /** Null: one fare for everybody, the price of the sailing. */
  fares?: FareForm[] | null;
  max_party?: number | null;
  names?: PassengerNames | null;
  resale?: boolean | null;
}

export interface LinkToken {
  /** Token from the link in the mail. It works once. */
  token: string;
}

export type ListFormat = "json" | "csv";

/** Envelope of a list. */
export interface ListNotificationsBody {
  code: number;
  data: Notification[];
  message: string;
  pagination: Pagination;
  status: string;
  unread_count: number;
}

/** Envelope of a list. */
export interface ListNotificationsOfBody {
  code: number;
  data: Notification[];
  message: string;
  pagination: Pagination;
  status: string;
  unread_count: number;
}

/** Envelope of a list. */
export interface ListStaffBody {
  code: number;
  data: StaffList;
  message: string;
  pagination: Pagination;
  status: string;
}

/** A passenger of the manifest. */
export interface Listed {
  /** On the day of departure. */
  age?: number | null;
  birth_date?: string | null;
  booking_code: string;
  checked_in_at?: string | null;
  contact: ListedContact;
  /** Key of the fare. Null on a charter. */
  fare?: string | null;
  gender?: Gender | null;
  /** Masked for those who may not read it. */
  identity_number?: string | null;
  identity_type?: IdentityType | null;
  name: string;
  /** False if a reseller named the booker alone: then it is that name. */
  name_given?: boolean;
  nationality?: string | null;
  /** Position in the list. */
  number: number;
  passenger_id: string;
  takes_seat: boolean;
  /** For checking in manually. */
  ticket_code: string;
}

export interface ListedBoat {
  /** Number of seats. */
  capacity: number;
  /** UUID version 7. */
  id: string;
  name: string;
  /** Registration number of the vessel; unique. */
  registration_number: string;
}

export interface ListedContact {
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string;
}

export interface ListedSailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  /** UUID version 7. */
  id: string;
  mitra: Owner;
  speedboat: ListedBoat;
  status: SailingStatus;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

/** A harbour with upcoming departures. */
export interface Location {
  /** Other names that find it. */
  aliases: string[];
  city?: string | null;
  /** Harbours that can be reached from here. */
  destinations: string[];
  /** UUID of the harbour. */
  harbour_id: string;
  latitude?: number | null;
  longitude?: number | null;
  /** Name of the harbour. */
  name: string;
  province?: string | null;
  timezone: Zone;
}

export interface Login {
  /** Six digits of the authenticator app, or a recovery code. */
  code?: string | null;
  email: string;
  /** The account's password. */
  password: string;
  role: LoginRole;
}

export type LoginRole = "admin" | "staff" | "mitra" | "crew" | "reseller" | "any";

/** Passengers of a sailing. */
export interface Manifest {
  /** When the data was read. */
  as_of: string;
  /** When the manifest was closed. It does not change afterwards. */
  closed_at?: string | null;
  passengers: Listed[];
  sailing: ListedSailing;
  totals: Totals;
}

export type ManifestFormat = "json" | "csv" | "pdf";

export interface ManualSettlement {
  end_date: string;
  /** UUID of the partner. */
  mitra_id: string;
  note?: string | null;
  /** First day of departure. */
  start_date: string;
}

export interface MergeHarbour {
  /** UUID of the harbour that remains. */
  into_id: string;
}

export interface MitraStatistic {
  /** When the data was read. */
  as_of: string;
  bookings: BookingsByStatus;
  /** Whole rupiah. */
  gross: number;
  /**
   * What was earned: gross less commission and its tax of journeys that were sailed and of money
   * that was kept.
   */
  net: number;
  /**
   * Seats taken as a percentage of seats offered, of sailings that have departed in the last 30
   * days, by the day at the harbour.
   */
  occupancy_percent: number;
  /** Passengers of all paid and completed bookings, like the amounts. */
  passengers: number;
  /** Published routes. */
  routes: number;
  sailings_today: number;
  series: Point[];
  speedboats: number;
  /** What of it was not paid out; negative if partners owe. */
  unsettled: number;
}

/** The price of a fare that was agreed with a reseller, instead of a margin. */
export interface NetFare {
  /** Key of the fare. */
  fare: string;
  line_id: string;
  /** Before taxes. Whole rupiah. */
  net: number;
}

export interface NewHarbour {
  aliases?: string[] | null;
  city?: string | null;
  latitude?: number | null;
  longitude?: number | null;
  name: string;
  province?: string | null;
  /** Default: verified. */
  status?: HarbourStatus | null;
  timezone: Zone;
}

/** A key with its text, which is returned on creation only. */
export interface NewResellerKey {
  /** Networks that it may be used from; empty: all. */
  addresses: string[];
  created_at: string;
  expires_at?: string | null;
  /** UUID version 7. */
  id: string;
  /** The key. Not shown again. */
  key: string;
  last_used_address?: string | null;
  /** Exact to a minute. */
  last_used_at?: string | null;
  /** The only partner that it is for; null: all that are granted. */
  mitra_id?: string | null;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  revoked_at?: string | null;
  scopes: ResellerKeyScope[];
}

/** In an update, optional fields that are left out keep their value. */
export interface NewSpeedboat {
  description?: string | null;
  /** Number of seats. */
  capacity: number;
  engine?: string | null;
  facilities?: string[] | null;
  manufacturer?: string | null;
  /** Owner of the boat; only for admins and staff. */
  mitra_id?: string | null;
  name: string;
  /** UUIDs of uploaded files with purpose `photo`. */
  photo_file_ids?: string[] | null;
  /** Registration number of the vessel; unique. */
  registration_number: string;
  status?: BoatStatus | null;
  year_built?: number | null;
}

export interface NewTerms {
  /** Type of the terms, such as `customer` or `mitra`. */
  type: string;
  /** HTML. */
  content: string;
  /** The caller's own id. */
  user_creator_id: string;
}

/** A webhook with its signing secret, which is returned on creation only. */
export interface NewWebhook {
  active: boolean;
  created_at: string;
  /** Why it was deactivated automatically. */
  disabled_reason?: DisabledReason | null;
  /** Names of events. */
  events: string[];
  /** Time since which all deliveries fail. */
  failing_since?: string | null;
  /** UUID version 7. */
  id: string;
  /** Signs every delivery. */
  secret: string;
  updated_at: string;
  /** Address that receives deliveries by POST. */
  url: string;
}

export interface Notification {
  title: string;
  /** Name of the event. */
  type: string;
  body: string;
  created_at: string;
  /** What the event says: the same as `data` of its webhook. */
  data: BookingEvent | PaymentReviewEvent | RefundEvent | PartnerEvent | SettlementEvent | SailingEvent | TermsEvent;
  /** UUID version 7. */
  id: string;
  read_at?: string | null;
  user_id: string;
}

/** A sailing that can be booked. */
export interface Offer {
  type: BookingType;
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  /** Seats that can still be booked. */
  available_seats: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  duration_minutes: number;
  /** The first one is the default. Empty for charters. */
  fares: OfferFare[];
  /** Harbour of departure. */
  from: string;
  /** UUID of the speedboat. */
  item_id: string;
  mitra: Owner;
  /** Whole rupiah per seat. */
  price: number;
  /** UUID of the sailing. */
  route_time_id: string;
  speedboat: OfferBoat;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
  /** For all passengers at the first fare, or for the whole boat. */
  total_price: number;
}

export interface OfferBoat {
  /** Number of seats. */
  capacity: number;
  facilities: string[];
  /** UUID version 7. */
  id: string;
  name: string;
  photo_url?: string | null;
}

/** What a passenger pays by fare. */
export interface OfferFare {
  /** Key of a fare. */
  key: string;
  /** Whole rupiah. */
  price: number;
  takes_seat: boolean;
}

export type OfferSort = "departure" | "price" | "duration";

/** Onboarding data of a partner. Numbers are masked for callers who may not read them. */
export interface Onboarding {
  /** The account that settlements are paid to: the last one that was approved. */
  approved_bank_account?: PartnerBankAccount | null;
  bank_account: PartnerBankAccount;
  /** Why the account was rejected. */
  bank_account_note?: string | null;
  /**
   * Settlements are held while a changed account is `pending`. After a rejection they are paid to
   * the last approved account.
   */
  bank_account_status?: BankAccountStatus | null;
  business: Business;
  documents: Document[];
  pic: Pic;
  /** What the reviewers ask to correct. */
  review_note?: string | null;
  /** The partner's public page is `/p/{slug}`. Null until the first activation. */
  slug?: string | null;
  status: PartnerStatus;
  steps: Step[];
  submitted_at?: string | null;
}

/** Fields that are left out keep their value; null or an empty string clears them. */
export interface OnboardingForm {
  bank_account?: PartnerBankAccountForm | null;
  business?: BusinessForm | null;
  documents?: DocumentForm[] | null;
  pic?: PicForm | null;
  /** Hand in for review; requires all steps to be complete. */
  submit?: boolean | null;
}

export interface OpenSession {
  /** IP address of the client. */
  address: string;
  created_at: string;
  /** Whether it is the session of this request. */
  current: boolean;
  expires_at: string;
  /** UUID version 7. */
  id: string;
  /** Time of the last request, to the minute. */
  last_used_at: string;
  user_agent?: string | null;
}

export type Origin = "manual" | "scheduled";

export type Outcome =
  | "boarded"
  | "already_boarded"
  | "forged"
  | "wrong_sailing"
  | "ticket_replaced"
  | "unpaid"
  | "cancelled"
  | "refunded"
  | "manifest_closed"
  | "undone"
  | "scan_id_reused"
  | "not_boarded";

export interface Overview {
  /** When the data was read. */
  as_of: string;
  average_booking: Figure;
  bookings: Figure;
  /** As sold; `commission_earned` has what the books have. */
  commission: Figure;
  /** Commission and fees by the books: of journeys that took place and of money that was kept. */
  commission_earned: Figure;
  /** Of the bookings sold; a reschedule counts with the change of the price. */
  discount: Figure;
  /** What payment providers have charged. */
  gateway_fees: Figure;
  /**
   * Money received for bookings, without deducting refunds. Includes the paid difference of a
   * reschedule, and money that was paid too much, twice or too late as soon as it is owed back.
   */
  gross_revenue: Figure;
  /** Gross revenue less refunds, and less the tax that is not refunded. */
  net_revenue: Figure;
  /** As sold. */
  partner_payable: Figure;
  passengers: Figure;
  period: ReportWindow;
  /**
   * Commission earned less promotions, margins of resellers, fees of providers and banks, and
   * losses.
   */
  platform_income: Figure;
  previous: ReportWindow;
  /** Discounts that the platform has paid for. */
  promotion_cost: Figure;
  /** The tax in the refunds. */
  refund_tax: Figure;
  /** Money paid back, less transfers that bounced. */
  refunds: Figure;
  /** What was left to resellers, by the books. */
  reseller_margin: Figure;
  series: Point[];
  /** Of the bookings sold; a reschedule counts with the change of the price. */
  tax: Figure;
  /** Tax that became due by the books, whether or not it was paid to the state yet. */
  tax_due: Figure;
}

/** Reference to a partner. */
export interface Owner {
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface Pagination {
  page: number;
  page_size: number;
  /**
   * True if there may be more items and pages than these; pages beyond can be requested. Left out
   * if the numbers are exact.
   */
  total_is_minimum?: boolean;
  /** Exact up to 10,000. */
  total_items: number;
  total_pages: number;
}

export type PaidBy = "provider" | "bank" | "cash" | "partner" | "account";

/** A partner, for the platform's staff. */
export interface Partner {
  /** Postal address. */
  address: string;
  /** Percent; null means the platform's default. */
  commission_rate?: number | null;
  created_at: string;
  email: string;
  /** UUID version 7. */
  id: string;
  name: string;
  partnerType: PartnerType;
  /** The requested e-mail address, until it is confirmed. */
  pending_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  /** The partner's public page is `/p/{slug}`. Null until the first activation. */
  slug?: string | null;
  speedboat_count: number;
  status: PartnerStatus;
  suspended_at?: string | null;
  suspended_reason?: string | null;
  user_id: string;
  /** When the partner was first activated. */
  verified_at?: string | null;
}

/** Bank account for settlements. */
export interface PartnerBankAccount {
  account_name?: string | null;
  /** Masked for those who may not read it. */
  account_number?: string | null;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code?: string | null;
}

export interface PartnerBankAccountForm {
  account_name?: string | null;
  account_number?: string | null;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code?: string | null;
}

/** Data and onboarding of a partner, for an edit form. */
export interface PartnerEdit {
  /** Postal address. */
  address: string;
  /** The account that settlements are paid to: the last one that was approved. */
  approved_bank_account?: PartnerBankAccount | null;
  bank_account: PartnerBankAccount;
  /** Why the account was rejected. */
  bank_account_note?: string | null;
  /**
   * Settlements are held while a changed account is `pending`. After a rejection they are paid to
   * the last approved account.
   */
  bank_account_status?: BankAccountStatus | null;
  business: Business;
  /** Percent; null means the platform's default. */
  commission_rate?: number | null;
  created_at: string;
  documents: Document[];
  email: string;
  /** UUID version 7. */
  id: string;
  name: string;
  partnerType: PartnerType;
  /** The requested e-mail address, until it is confirmed. */
  pending_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  pic: Pic;
  review_note?: string | null;
  /** The partner's public page is `/p/{slug}`. Null until the first activation. */
  slug?: string | null;
  speedboat_count: number;
  status: PartnerStatus;
  steps: Step[];
  submitted_at?: string | null;
  suspended_at?: string | null;
  suspended_reason?: string | null;
  user_id: string;
  /** When the partner was first activated. */
  verified_at?: string | null;
}

export interface PartnerEvent {
  /** UUID of the partner. */
  mitra_id: string;
  name: string;
  reason?: string | null;
}

export interface PartnerForm {
  /** Postal address. */
  address: string;
  /** Percent; null means the platform's default. */
  commission_rate?: number | null;
  email: string;
  name: string;
  partnerType: PartnerType;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
}

export interface PartnerOverview {
  bookings: BookingFigures;
  finance: FinanceFigures;
  fleet: FleetFigures;
  mitra: Partner;
  recent_bookings: Booking[];
}

export interface PartnerSales {
  bookings: number;
  /** Whole rupiah. */
  gross_revenue: number;
  /** UUID version 7. */
  id: string;
  name: string;
}

export type PartnerSort = "name" | "status" | "created_at";

/** The account of a partner. Positive balances are owed to the partner. */
export interface PartnerStatement {
  /** Balance after the last day. */
  closing: number;
  end_date: string;
  lines: StatementLine[];
  /** UUID of the partner. */
  mitra_id: string;
  /** Balance before the first day. */
  opening: number;
  start_date: string;
}

export interface PartnerStatistics {
  /** Partners with documents that await review. */
  awaiting_review: number;
  by_status: PartnersByStatus;
  by_type: PartnersByType;
  new_this_month: number;
  total: number;
}

export type PartnerStatus = "draft" | "in_review" | "revision" | "active" | "suspended";

export type PartnerType = "individual" | "company";

export interface PartnersByStatus {
  active: number;
  draft: number;
  in_review: number;
  revision: number;
  suspended: number;
}

export interface PartnersByType {
  company: number;
  individual: number;
}

export interface Partnership {
  /** UUID version 7. */
  id: string;
  partnerType: string;
  status: string;
}

export interface Passenger {
  birth_date?: string | null;
  checked_in_at?: string | null;
  /** Key of the fare. Null on a charter. */
  fare?: string | null;
  gender?: Gender | null;
  /** UUID version 7. */
  id: string;
  /** Masked for those who may not read it. */
  identity_number?: string | null;
  identity_type?: IdentityType | null;
  name: string;
  nationality?: string | null;
  takes_seat: boolean;
  /**
   * Code of the ticket, as in its QR code. Null unless the booking is paid and the caller may read
   * identity numbers.
   */
  ticket_code?: string | null;
  /** What the fare cost. Null on a charter. */
  unit_price?: number | null;
}

/** Details that are left out keep their value; null clears them. */
export interface PassengerCorrection {
  birth_date?: string | null;
  gender?: Gender | null;
  /** UUID of the passenger. */
  id: string;
  /** NIK (16 digits) or passport number. */
  identity_number?: string | null;
  identity_type?: IdentityType | null;
  name?: string | null;
  nationality?: string | null;
}

export interface PassengerForm {
  birth_date?: string | null;
  /** Key of a fare of the line; default: its first one. Ignored by charters. */
  fare?: string | null;
  gender?: Gender | null;
  /** NIK (16 digits) or passport number. */
  identity_number?: string | null;
  identity_type?: IdentityType | null;
  name: string;
  nationality?: string | null;
}

export type PassengerNames = "lead" | "all";

export interface PayRefund {
  /** How it was paid. Cash goes back as cash. */
  by: PaidBy;
  note?: string | null;
  /** Reference of the transfer or receipt. */
  reference: string;
}

export type PayingProvider = "midtrans" | "xendit" | "simulator";

export interface PaymentRecord {
  /** Payment method; null until paid. */
  method?: string | null;
  paid_at?: string | null;
  /** `simulator`, `midtrans`, `xendit` or `cash`. */
  provider: string;
  /** Payment page; null until the provider has responded. */
  redirect_url?: string | null;
  /** Reference of the attempt at the provider. */
  reference: string;
  /** Status of the attempt. */
  status: string;
}

/** A payment that needs a manual review. */
export interface PaymentReviewEvent {
  /** Whole rupiah. */
  amount: number;
  booking_id: string;
  /** Booking code, as printed on tickets. */
  code: string;
  reason: string;
}

export type PayoutMethod = "manual" | "payout";

/** Work that is pending. */
export interface Pending {
  /** Changed bank accounts to approve. Null for a partner. */
  bank_approvals?: number | null;
  /** Partners with documents to review. Null for a partner. */
  partner_reviews?: number | null;
  /** Null for a partner. */
  payment_reviews?: number | null;
  /** Refunds that are not paid. */
  refunds: number;
  /** What is unpaid of them. */
  refunds_amount?: number | null;
  settlements: number;
}

export interface PendingReschedule {
  /** Amount to pay. */
  difference: number;
  /** Deadline of the payment. */
  expires_at: string;
  /** Payment page; null until the provider has responded. */
  redirect_url?: string | null;
  /** UUID of the sailing. */
  route_time_id: string;
}

export interface Period {
  /** Last day on which it can be used. */
  end_date: string;
  start_date: string;
}

export type PeriodStatus = "open" | "closed";

export type PeriodType = "Bulanan" | "Kuartalan" | "Tahunan" | "Custom";

export interface Permission {
  description: string;
  created_at: string;
  /** UUID version 7. */
  id: string;
  level: Level;
  name: string;
  rules: Rule[];
  /** Number of staff who hold it. */
  staff_count: number;
  updated_at: string;
}

export interface PermissionForm {
  description: string;
  level: Level;
  name: string;
  rules: Rule[];
}

export type PermissionSort = "name" | "level" | "created_at";

export interface Person {
  email: string;
  /** UUID version 7. */
  id: string;
  name: string;
}

/** Everything that is stored about a person. */
export interface PersonalData {
  /** Accounts with this address, deleted ones included. */
  accounts: AccountData[];
  /** Bookings with this contact address, with all of their passengers. Newest first. */
  bookings: Booking[];
  /** Networks with failed sign-ins to this address. */
  failed_sign_ins: FailedSignIns[];
  /** Mails to this address that are stored as files. Oldest first. */
  letters: ExportedLetter[];
  /** Resellers that have this address as `ops_email`. Newest first. */
  resellers: ExportedOpsReseller[];
  /** The lists that are longer than the export shows: it has the newest 1,000 items of each. */
  truncated: string[];
}

export interface Photo {
  file_id: string;
  url: string;
}

/** The person in charge. */
export interface Pic {
  email?: string | null;
  name?: string | null;
  /** Masked for those who may not read it. */
  nik?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  /** Position in the company. */
  position?: string | null;
}

export interface PicForm {
  email?: string | null;
  name?: string | null;
  /** Identity number of the person in charge: 16 digits. */
  nik?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | number | null;
  /** Position in the company. */
  position?: string | null;
}

/** Figures of a day, or of a month in long periods. */
export interface Point {
  bookings: number;
  /** `YYYY-MM-DD`, or `YYYY-MM` in long windows. */
  bucket: string;
  /** Whole rupiah. */
  gross_revenue: number;
}

/**
 * A step of a refund policy: the percentage that a cancellation gives back until so many hours
 * before departure.
 */
export interface PolicyStep {
  hours_before: number;
  percent: number;
}

export interface Presigned {
  expires_at: string;
  file_id: string;
  /** Headers that the upload must send unchanged. */
  headers: Record<string, string>;
  /** HTTP method of the upload. */
  method: string;
  upload_url: string;
}

export interface PriceLine {
  count: number;
  /** Key of a fare of the line. */
  fare: string;
  /** Whole rupiah. */
  unit_price: number;
}

export interface PriceRecord {
  /** Always `IDR`. Amounts are integers, without decimals. */
  currency: string;
  /** Whole rupiah. */
  discount: number;
  /** The subtotal by fare. Empty on a charter. */
  lines: PriceLine[];
  /**
   * What the platform leaves to the reseller of the subtotal. Only of bookings that a reseller has
   * sold, and for admins and staff with `bookings.read`.
   */
  margin?: number | null;
  /** Whole rupiah. */
  subtotal: number;
  /** Whole rupiah. */
  tax: number;
  taxes: TaxAmount[];
  /**
   * What is to be paid. Partners see a reseller's booking at the retail price: `total`, `tax` and
   * `taxes` are those of the fares.
   */
  total: number;
  /** Price of the sailing per seat. */
  unit_price: number;
}

/** The caller's own account. */
export interface Profile {
  avatar_file_id?: string | null;
  /** Address of the avatar. */
  avatar_url?: string | null;
  created_at: string;
  email: string;
  /** Whether a link that was mailed to the address has been used. */
  email_verified: boolean;
  /** UUID version 7. */
  id: string;
  impersonated_by?: Impersonator | null;
  last_login_at?: string | null;
  mitra?: Partnership | null;
  name: string;
  /** The requested address, until it is confirmed. */
  pending_email?: string | null;
  permission?: ProfilePermission | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  role: Role;
  /** Whether sign-in requires a code of an authenticator app. */
  second_factor: boolean;
  status: Status;
}

export interface ProfilePermission {
  /** UUID version 7. */
  id: string;
  level: Level;
  name: string;
  rules: Rule[];
}

export interface PromoVerdict {
  /** Whole rupiah. */
  discount?: number | null;
  /** Whole rupiah per seat. */
  price?: PriceRecord | null;
  reason?: Reason | null;
  valid: boolean;
}

/** Optional fields that are left out of an update keep their value; null clears them. */
export interface PromotionForm {
  title: string;
  description: string;
  /** 3 to 32 characters of A–Z, 0–9, - and _; stored in upper case. */
  code: string;
  discount: DiscountForm;
  /**
   * `platform` if it is left out. The partner pays for it only on its own sailings: `partner` needs
   * another `target_type` than `all`.
   */
  funded_by?: FundedBy | null;
  image_file_id?: string | null;
  /** Uses per contact e-mail; null means no limit. */
  per_customer_limit?: number | null;
  period: Period;
  /** Null: no limit. A new promotion states it. */
  quota?: number | null;
  status: PromotionStatus;
  /** Required unless `target_type` is `all` or stays the same. */
  target_ids?: string[] | null;
  target_type: TargetType;
  /** Terms and conditions of the promotion. */
  tnc: string;
}

export interface PromotionRecord {
  title: string;
  description: string;
  /** Booking code, as printed on tickets. */
  code: string;
  created_at: string;
  discount: DiscountRecord;
  /** Who pays for the discount. */
  funded_by: FundedBy;
  /** UUID version 7. */
  id: string;
  image_file_id?: string | null;
  image_url?: string | null;
  /** Uses per contact e-mail; null means no limit. */
  per_customer_limit?: number | null;
  period: Period;
  /** Null: no limit. */
  quota?: number | null;
  /** Uses that are left; null without a quota. */
  remaining?: number | null;
  state: PromotionState;
  status: PromotionStatus;
  /** UUIDs of the partners, routes or speedboats that it is limited to. */
  target_ids: string[];
  target_type: TargetType;
  /** Terms and conditions of the promotion. */
  tnc: string;
  /** Uses so far. */
  used: number;
}

export type PromotionSort = "title" | "code" | "start_date" | "end_date" | "created_at";

export type PromotionState = "draft" | "inactive" | "scheduled" | "running" | "exhausted" | "ended";

export type PromotionStatus = "draft" | "active" | "inactive";

/** A payout of a provider to our bank account. */
export interface ProviderSettlement {
  created_at: string;
  created_by: string;
  /** Whole rupiah. */
  fee: number;
  /** Whole rupiah. */
  fee_tax: number;
  /** Whole rupiah. */
  gross: number;
  /** UUID version 7. */
  id: string;
  line_count: number;
  /** Whole rupiah. */
  net: number;
  paid_on: string;
  payout_id: string;
  provider: PayingProvider;
  /** The part of `gross` that belongs to no payment of ours; it waits in `suspense`. */
  unknown_gross: number;
}

/** A payout of a provider to our bank account. */
export interface ProviderSettlementDetail {
  created_at: string;
  created_by: string;
  /** Whole rupiah. */
  fee: number;
  /** Whole rupiah. */
  fee_tax: number;
  /** Whole rupiah. */
  gross: number;
  /** UUID version 7. */
  id: string;
  line_count: number;
  /** Whole rupiah. */
  net: number;
  paid_on: string;
  payout_id: string;
  provider: PayingProvider;
  /** The part of `gross` that belongs to no payment of ours; it waits in `suspense`. */
  unknown_gross: number;
  /** References that no payment of ours has. */
  unknown_references: string[];
}

export interface ProviderSettlementForm {
  lines: SettledLine[];
  /** The day on which it reached our bank account. */
  paid_on: string;
  /** The provider's name for the payout. */
  payout_id: string;
  provider: PayingProvider;
}

export interface PublishTerms {
  /** UUID version 7. */
  id: string;
  /** The caller's own id. */
  user_validator_id: string;
}

export type Purpose = "avatar" | "photo" | "content" | "document" | "proof";

/** What a booking would cost now. */
export interface Quote {
  /** Seats that can still be booked. */
  available_seats: number;
  /** When the sale ends. */
  closes_at: string;
  /** What a passenger can travel at. The first one is the default. Empty for charters. */
  fares: QuotedFare[];
  /** With the discount of the promotion, if it is valid. */
  price: PriceRecord;
  /** Null if no code was stated. */
  promo?: QuotedPromo | null;
  /** What the booker gets back, by the hours that are left until departure. */
  refund_policy: RefundStep[];
  sailing: BookedSailing;
}

/** An offer that is asked for. */
export interface QuoteForm {
  type: BookingType;
  /** Promotion code; not case-sensitive. */
  code_promo?: string | null;
  /** Of the booker, for promotions that are limited per customer. */
  email?: string | null;
  /** UUID of the sailing's speedboat. */
  item_id: string;
  /** One per passenger; left out: all at the first fare. */
  passengers?: QuotedPassenger[] | null;
  /** Number of passengers. */
  qty: number;
  /** UUID of the sailing. */
  route_time_id: string;
}

/** A fare of the line, with its price on this sailing. */
export interface QuotedFare {
  category: Category;
  id_required: boolean;
  /** Key of a fare. */
  key: string;
  /** Highest age on the day of departure; 120 is no limit. */
  max_age: number;
  /** Lowest age on the day of departure; 0 is no limit. */
  min_age: number;
  /** Whole rupiah. */
  price: number;
  residency: Residency;
  takes_seat: boolean;
}

export interface QuotedPassenger {
  /** Key of a fare of the line; default: its first one. */
  fare?: string | null;
}

export interface QuotedPromo {
  reason?: Reason | null;
  valid: boolean;
}

export type Reason =
  | "unknown"
  | "inactive"
  | "not_started"
  | "ended"
  | "exhausted"
  | "not_applicable"
  | "below_minimum"
  | "limit_reached";

export interface Reauthenticate {
  /** Required if the account has a second factor. */
  code?: string | null;
  /** The account's password. */
  password: string;
}

/** Money that a partner paid us. */
export interface Receipt {
  /** Whole rupiah. */
  amount: number;
  /** Human-readable code of the receipt. */
  code: string;
  created_at: string;
  /** UUID version 7. */
  id: string;
  method: ReceiptMethod;
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  received_on: string;
  recorded_by: By;
  reference: string;
}

export interface ReceiptForm {
  /** Whole rupiah. */
  amount: number;
  method: ReceiptMethod;
  /** UUID of the partner. */
  mitra_id: string;
  /** Day on which the money arrived: today or earlier, in a month that is open. */
  received_on: string;
  /** Reference of the transfer, or number of the cash receipt. */
  reference: string;
}

export type ReceiptMethod = "bank" | "cash";

export type ReceiptSort = "created_at" | "received_on" | "amount";

/** Payments that we received on a day by one method, and what the provider has settled of them. */
export interface ReconciledDay {
  day: string;
  /** Settled and not received. */
  extra: number;
  /** Whole rupiah. */
  fee_taxes: number;
  /** Whole rupiah. */
  fees: number;
  /**
   * Method of payment; `unknown` for what the provider paid for no payment of ours, by the day of
   * the payout.
   */
  method: string;
  /** Received and not settled yet. */
  missing: number;
  /** Received according to our books. */
  ours: number;
  /** Refunds in the provider's reports. */
  refunds: number;
  /** Settled according to the provider. */
  theirs: number;
}

export interface ReconciledTotal {
  /** Settled and not received. */
  extra: number;
  /** Whole rupiah. */
  fee_taxes: number;
  /** Whole rupiah. */
  fees: number;
  /** Received and not settled yet. */
  missing: number;
  /** Received according to our books. */
  ours: number;
  /** Refunds in the provider's reports. */
  refunds: number;
  /** Settled according to the provider. */
  theirs: number;
}

export interface Reconciliation {
  /** When the data was read. */
  as_of: string;
  end_date: string;
  rows: ReconciledDay[];
  start_date: string;
  total: ReconciledTotal;
}

export interface RecoveryCodes {
  /** Each replaces a code of the app once. They are not shown again. */
  recovery_codes: string[];
}

/** What a customer is owed, or was paid back. */
export interface Refund {
  /**
   * Where the customer wants it, if the provider cannot refund the payment. The number is masked,
   * except for those who pay a refund and ask for it alone. Null for partners.
   */
  account?: PartnerBankAccount | null;
  /** Whole rupiah. */
  amount: number;
  /** How often it was sent to the provider. */
  attempts: number;
  booking_code: string;
  booking_id: string;
  /** How it was paid last, or how it is being sent. */
  by?: PaidBy | null;
  /** Human-readable code of the refund. */
  code: string;
  due_at: string;
  /** UUID version 7. */
  id: string;
  /** Why it is owed. */
  kind: RefundKind;
  /** Why it was refused or came back. */
  last_error?: string | null;
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  note?: string | null;
  paid_at?: string | null;
  reference?: string | null;
  status: RefundStatus;
  /** What is still owed. A provider may pay in parts. */
  unpaid: number;
}

/**
 * The bank account to which the booker wants refunds that no provider can send. It is stored
 * encrypted as a whole.
 */
export interface RefundAccount {
  account_name: string;
  /** Masked for those who may not read it. */
  account_number: string;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code: string;
}

/** A bank account for refunds. */
export interface RefundAccountForm {
  account_name: string;
  account_number: string;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code: string;
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
}

export type RefundChoice = "full" | "policy";

/** A refund that is due or has failed. */
export interface RefundEvent {
  /** Whole rupiah. */
  amount: number;
  booking_id: string;
  /** Code of the booking. */
  code: string;
  kind: string;
  /** UUID of the partner. */
  mitra_id: string;
  /** Why the last attempt failed. */
  reason?: string | null;
  refund_code: string;
  refund_id: string;
  /** Whole rupiah. */
  unpaid: number;
}

export interface RefundForm {
  /** Transferred amount; must equal the amount due. */
  amount?: number | null;
  /** Default: cash in cash, by the party that took it; other money by bank. */
  by?: PaidBy | null;
  note?: string | null;
  /** Reference of the transfer. */
  reference: string;
}

export type RefundKind =
  | "cancellation"
  | "excess"
  | "difference"
  | "duplicate"
  | "late"
  | "complaint";

export type RefundStatus = "due" | "sent" | "paid" | "failed" | "returned" | "void";

export interface RefundStep {
  hours_before: number;
  percent: number;
}

export interface RegisterMitra {
  /** Postal address. */
  address: string;
  /** Confirmation: the same as `password`. */
  cpassword: string;
  email: string;
  name: string;
  partnerType: PartnerType;
  /** 8 to 128 characters. Passwords that are easy to guess are refused. */
  password: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
}

export interface Registered {
  mitra: Partner;
  user: User;
}

export interface ReleaseForm {
  /** `manual` by default. */
  method?: ReleaseMethod | null;
  note?: string | null;
  /** UUID of an uploaded file with purpose `proof`. */
  proof_file_id?: string | null;
  /** Reference of the transfer. Required unless the provider pays it out. */
  reference?: string | null;
}

export type ReleaseMethod = "manual" | "payout";

/** The token of an enrolment, or a resumed session. */
export type Remembered = RememberedRememberToken | SignedIn;

export interface RememberedRememberToken {
  expires_at: string;
  remember_token: string;
}

export interface RemoveTotp {
  /** Six digits of the authenticator app, or a recovery code. */
  code: string;
  /** The account's password. */
  current_password: string;
}

export interface ReopenForm {
  /** Why the month is reopened. */
  reason?: string | null;
}

export interface ReopenManifest {
  /** For the audit log. */
  reason: string;
}

/** A range of days, both included. Empty if it ends before it begins. */
export interface ReportWindow {
  end_date: string;
  start_date: string;
}

export interface Reschedule {
  /** Amount to pay; negative if owed to the customer. */
  difference: number;
  /** Deadline of the payment. */
  expires_at?: string | null;
  /** Whole rupiah. */
  fee: number;
  /** Null in a dry run. */
  id?: string | null;
  /** Payment of the difference. */
  payment?: PaymentRecord | null;
  price: PriceRecord;
  reason: string;
  /** UUID of the sailing. */
  route_time_id: string;
  /** `pending` until the difference is paid; until then the booking keeps its sailing. */
  status: RescheduleStatus;
}

/** Credentials of a guest: both must match the booking. */
export interface RescheduleForm {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  /** Only compute the price, the fee and the difference. */
  dry_run?: boolean | null;
  email?: string | null;
  reason?: string | null;
  /** UUID of the new sailing: of the same partner, between the same harbours. */
  route_time_id: string;
}

export interface RescheduleOption {
  allowed: boolean;
  /** Paid besides the difference of the prices. */
  fee: number;
  /** The error code with which it would be refused. */
  reason?: string | null;
  /** Time until which this applies. Null: unlimited, or not allowed. */
  until?: string | null;
}

export type RescheduleStatus = "pending" | "done" | "dropped";

/** The booking and its reschedule. */
export interface Rescheduled {
  type: BookingType;
  /** Version of the customer terms that was accepted with the booking. */
  accepted_terms_id?: string | null;
  cancel_reason?: string | null;
  cancelled_at?: string | null;
  /** Passengers who were cancelled while the rest travels. */
  cancelled_passengers: FormerPassenger[];
  channel: Channel;
  /** Booking code, as printed on tickets. */
  code: string;
  /** Promotion code; not case-sensitive. */
  code_promo?: string | null;
  contact: BookingContact;
  created_at: string;
  expires_at: string;
  /** UUID version 7. */
  id: string;
  /** UUID of the speedboat. */
  item_id: string;
  note: string;
  /** What is still owed to the customer: the refunds that are not paid yet. */
  owed: number;
  passengers: Passenger[];
  /** Null if nothing has to be paid. */
  payment?: PaymentRecord | null;
  price: PriceRecord;
  /** Number of passengers. */
  qty: number;
  /**
   * Where refunds are transferred that the payment provider cannot send, as the booker stated it.
   * Null for partners.
   */
  refund_account?: RefundAccount | null;
  /**
   * Amount that is or was to be refunded to the customer. Null for partners if a reseller has sold
   * the booking.
   */
  refund_amount?: number | null;
  /** Null if the booking already has this sailing. */
  reschedule?: Reschedule | null;
  /** The reseller that sold it. Null if sold without a reseller. */
  reseller?: Owner | null;
  /** UUID of the sailing. */
  route_time_id: string;
  sailing: BookedSailing;
  status: BookingStatus;
}

/** A reseller. */
export interface Reseller {
  /** Postal address. */
  address: string;
  /** What it owes; negative if it has paid in advance. Whole rupiah. */
  balance: number;
  created_at: string;
  /** The highest balance. 0: it pays in advance. Whole rupiah. */
  credit_limit: number;
  /** Decimals of amounts in the OCTO API. */
  currency_precision: number;
  email: string;
  /** UUID version 7. */
  id: string;
  invoice_schedule: InvoiceSchedule;
  legal_name: string;
  /** The most unpaid bookings at a time. */
  max_holds: number;
  name: string;
  /** Masked for those who may not read it. */
  npwp?: string | null;
  /** Address for notices about changed sailings; null: `email`. */
  ops_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  /** Requests per minute and key. */
  rate_per_minute: number;
  status: ResellerStatus;
  /** Days in which an invoice is to be paid. */
  terms_days: number;
  /** UUID of its account. */
  user_id: string;
}

/** Revenue by reseller. */
export interface ResellerBreakdown {
  /** When the data was read. */
  as_of: string;
  items: ResellerSlice[];
  period: ReportWindow;
  previous: ReportWindow;
  total: Figure;
}

/** Optional fields that an update leaves out keep their value. */
export interface ResellerForm {
  /** Postal address. */
  address: string;
  /** Default: 0. Whole rupiah. */
  credit_limit?: number | null;
  /** 0 or 2. Default: 0. */
  currency_precision?: number | null;
  email: string;
  /** Default: `monthly`. */
  invoice_schedule?: InvoiceSchedule | null;
  legal_name: string;
  /** Default: 200. */
  max_holds?: number | null;
  name: string;
  /** 15 or 16 digits. */
  npwp?: string | null;
  /** Null: `email`. */
  ops_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
  /** Default: 1,200. */
  rate_per_minute?: number | null;
  /** Default: 14. */
  terms_days?: number | null;
}

export interface ResellerInvoice {
  /** The sum of its lines; negative: a credit. Whole rupiah. */
  amount: number;
  /** Booking code, as printed on tickets. */
  code: string;
  created_at: string;
  due_on: string;
  /** Last day of the period. */
  end_date: string;
  /** UUID version 7. */
  id: string;
  line_count: number;
  /**
   * The first ones: at most 1,000, and at most 2,000 of all invoices of a page. The statement has
   * all.
   */
  lines: ResellerInvoiceLine[];
  /** What payments and credits have settled of it. Whole rupiah. */
  paid: number;
  /** First day of the period. */
  start_date: string;
  status: InvoiceStatus;
}

export interface ResellerInvoiceForm {
  /** Today or earlier. */
  end_date: string;
  start_date: string;
}

/** A booking, a move or a refund. */
export interface ResellerInvoiceLine {
  /** Negative for a refund. Whole rupiah. */
  amount: number;
  booking_code?: string | null;
  booking_id?: string | null;
  kind: string;
  posted_on: string;
  /** The reseller's own reference of the booking. */
  reseller_reference?: string | null;
  source: Source;
}

export interface ResellerKey {
  /** Networks that it may be used from; empty: all. */
  addresses: string[];
  created_at: string;
  expires_at?: string | null;
  /** UUID version 7. */
  id: string;
  last_used_address?: string | null;
  /** Exact to a minute. */
  last_used_at?: string | null;
  /** The only partner that it is for; null: all that are granted. */
  mitra_id?: string | null;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  revoked_at?: string | null;
  scopes: ResellerKeyScope[];
}

export interface ResellerKeyForm {
  /**
   * Addresses, or networks in CIDR notation, that it may be used from. Left out, null or empty:
   * all.
   */
  addresses?: string[] | null;
  /** In the future. Left out or null: never. */
  expires_at?: string | null;
  /** The only partner that it is for. Left out or null: all that are granted. */
  mitra_id?: string | null;
  name: string;
  scopes: ResellerKeyScope[];
}

export type ResellerKeyScope = "catalog" | "bookings.read" | "bookings.write";

/** A transfer of a reseller. */
export interface ResellerPayment {
  /** Whole rupiah. */
  amount: number;
  /** What the reseller owes after it; negative if it has paid in advance. */
  balance: number;
  created_at: string;
  /** UUID version 7. */
  id: string;
  received_on: string;
  /** UUID of the account that recorded it. */
  recorded_by: string;
  reference: string;
  reseller_id: string;
}

export interface ResellerPaymentForm {
  /** Whole rupiah. */
  amount: number;
  /** Day on which the money arrived: today or earlier, in a month that is open. */
  received_on: string;
  /** Reference of the transfer. Each is recorded once. */
  reference: string;
}

export interface ResellerSlice {
  bookings: Figure;
  /** Key of a fare. */
  key: string;
  label: string;
  /** What the platform leaves to the reseller, as sold; a reschedule counts with the change. */
  margin: Figure;
  passengers: Figure;
  /** Money credited to the account of the reseller. */
  refunds: Figure;
  revenue: Figure;
  /** Share of the total of the current period. */
  share_percent: number;
}

export type ResellerSort = "name" | "balance" | "created_at";

/** The account of a reseller. Positive balances are owed by the reseller. */
export interface ResellerStatement {
  /** Balance after the last day. */
  closing: number;
  end_date: string;
  lines: ResellerStatementLine[];
  /** Balance before the first day. */
  opening: number;
  reseller_id: string;
  start_date: string;
}

export interface ResellerStatementLine {
  /** Positive: owed by the reseller. */
  amount: number;
  /** Balance after this line. */
  balance: number;
  booking_code?: string | null;
  booking_id?: string | null;
  kind: string;
  posted_on: string;
  /** The reseller's own reference of the booking. */
  reseller_reference?: string | null;
  source: Source;
}

export type ResellerStatus = "active" | "suspended";

export interface ResellerSuspension {
  reason: string;
}

/** Who wants the tickets, and where they are sent. */
export interface ResendTicket {
  /** The booking's code: proves a guest's ownership together with `email`. */
  code?: string | null;
  /**
   * Guests: the contact address of the booking. Partners and staff: the address that the tickets
   * are sent to; default: the contact address.
   */
  email?: string | null;
}

export interface ResetPassword {
  /** Confirmation: the same as `password`. */
  cpassword: string;
  /** 8 to 128 characters. Passwords that are easy to guess are refused. */
  password: string;
  /** Token from the link in the mail. It works once. */
  token: string;
}

export type Residency = "any" | "domestic" | "foreign";

export type Resolution = "apply" | "refund" | "dismiss" | "charge_partner" | "write_off" | "match";

export interface Resolve {
  action: Resolution;
  /** Of a refund that is paid at once: how. Default: by bank. */
  by?: PaidBy | null;
  note: string;
  /**
   * Of a refund that is paid at once: reference of the transfer. Without it the refund stays due.
   */
  reference?: string | null;
}

export interface ReturnForm {
  /** Why the transfer came back. */
  reason: string;
}

export interface ReturnRefund {
  /** Why the transfer came back. */
  reason?: string | null;
}

/** Envelope of a list. */
export interface RevenueByPartnerBody {
  code: number;
  data: Breakdown;
  message: string;
  pagination: Pagination;
  status: string;
}

/** Envelope of a list. */
export interface RevenueByResellerBody {
  code: number;
  data: ResellerBreakdown;
  message: string;
  pagination: Pagination;
  status: string;
}

/** A payment that needs a decision. */
export interface Review {
  /** Whole rupiah. */
  amount: number;
  booking_code: string;
  booking_id: string;
  booking_status: BookingStatus;
  created_at: string;
  /** Amount above the total, owed to the customer. */
  excess: number;
  /** Whole rupiah. */
  expected: number;
  /** UUID version 7. */
  id: string;
  note?: string | null;
  reason: ReviewReason;
  resolution?: Resolution | null;
  resolved_at?: string | null;
}

export type ReviewReason = "wrong_amount" | "late" | "duplicate" | "unowed_refund" | "chargeback";

/** A reviewed document and the resulting status of the partner. */
export interface Reviewed {
  type: DocumentType;
  created_at: string;
  file: DocumentFile;
  /** UUID version 7. */
  id: string;
  mitra_status: PartnerStatus;
  note?: string | null;
  reviewed_at?: string | null;
  status: DocumentStatus;
}

export type Role = "admin" | "staff" | "mitra" | "crew" | "reseller";

export interface Route {
  arrival_timezone: Zone;
  created_at: string;
  end_date: string;
  /** Harbour of departure. */
  from: string;
  /** UUID of the harbour. */
  from_harbour_id: string;
  /** UUID version 7. */
  id: string;
  /** UUID of the line, which has the fares. */
  line_id: string;
  /** UUID of the partner. */
  mitra_id: string;
  /** Whole rupiah per seat. */
  price: number;
  published_at?: string | null;
  schedule_type: ScheduleType;
  speedboat: RouteBoat;
  speedboat_id: string;
  start_date: string;
  status: RouteStatus;
  times: RouteTime[];
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
  /** UUID of the harbour. */
  to_harbour_id: string;
}

export interface RouteBoat {
  /** Number of seats. */
  capacity: number;
  /** UUID version 7. */
  id: string;
  name: string;
}

export interface RouteForm {
  end_date: string;
  /** Harbour of departure. */
  from: string;
  /** Whole rupiah per seat. */
  price: number;
  schedule_type: ScheduleType;
  speedboat_id: string;
  start_date: string;
  times: RouteTimeForm[];
  /**
   * Of the harbour of departure. Default: that of the harbour, else the service's. Left out of an
   * update from the same harbour it stays as it is.
   */
  timezone?: Zone | null;
  /** Harbour of arrival. */
  to: string;
}

/** A sailing with its boat, its partner and the number of passengers on board. */
export interface RouteSailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  cancelled_at?: string | null;
  /** Number of seats. */
  capacity: number;
  /** Passengers on board. */
  checked_in: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  /** UUID version 7. */
  id: string;
  manifest_closed_at?: string | null;
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  /** Whole rupiah. */
  price: number;
  /** Why the sailing was cancelled or moved. */
  reason?: string | null;
  route_id: string;
  /** Seats of paid bookings and of unpaid ones that are still held. */
  seats_taken: number;
  speedboat: ListedBoat;
  speedboat_id: string;
  status: SailingStatus;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

export interface RouteSales {
  bookings: number;
  /** Harbour of departure. */
  from: string;
  /** Whole rupiah. */
  gross_revenue: number;
  mitra: Seller;
  passengers: number;
  route_id: string;
  /** Harbour of arrival. */
  to: string;
}

export type RouteSort = "start_date" | "price" | "created_at";

export type RouteStatus = "draft" | "published" | "archived";

/** A departure time of a route, with the day of its arrival. */
export interface RouteTime {
  /**
   * Calendar days from departure to arrival, each in the time zone of its harbour: 1 if it arrives
   * on the next day, and -1 on the day before, which happens in a zone further west.
   */
  arrival_day_offset: number;
  /** `HH:MM`, local to the harbour. */
  arrival_time: string;
  /** Days of a weekly route. */
  days?: Weekday[] | null;
  /** `HH:MM`, local to the harbour. */
  departure_time: string;
  /** UUID version 7. */
  id: string;
  /** Whole rupiah per seat, if it differs from the route's price. */
  price?: number | null;
}

export interface RouteTimeForm {
  /** Local to the harbour of arrival. */
  arrival_time: string;
  days?: Weekday[] | null;
  /** `HH:MM`, local to the harbour. */
  departure_time: string;
  /** Whole rupiah per seat. */
  price?: number | null;
}

export type RouteTimeSort = "departure_at";

export type Rule =
  | "users.read"
  | "staff.read"
  | "staff.write"
  | "permissions.read"
  | "permissions.write"
  | "partners.read"
  | "partners.write"
  | "partners.approve"
  | "partners.suspend"
  | "partners.impersonate"
  | "fleet.read"
  | "fleet.write"
  | "routes.read"
  | "routes.write"
  | "harbours.write"
  | "bookings.read"
  | "bookings.write"
  | "promotions.read"
  | "promotions.write"
  | "contents.write"
  | "terms.write"
  | "terms.publish"
  | "taxes.read"
  | "taxes.write"
  | "settlements.read"
  | "settlements.write"
  | "settlements.release"
  | "settlements.configure"
  | "finance.read"
  | "finance.write"
  | "reports.read"
  | "audit.read"
  | "privacy.manage"
  | "resellers.read"
  | "resellers.write"
  | "resellers.finance";

export interface RuleGroup {
  group: string;
  label: string;
  rules: RuleInfo[];
}

export interface RuleInfo {
  description: string;
  key: Rule;
  label: string;
}

/** A dated departure of a boat. */
export interface Sailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  /** Number of seats. */
  capacity: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** UUID version 7. */
  id: string;
  /** Whole rupiah. */
  price: number;
  /** Seats of paid bookings and of unpaid ones that are still held. */
  seats_taken: number;
  status: SailingStatus;
  timezone: Zone;
}

export interface SailingEvent {
  /** How many bookings were cancelled or moved with it. */
  bookings: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  /** UUID of the partner. */
  mitra_id: string;
  reason?: string | null;
  sailing_id: string;
  /** Harbour of arrival. */
  to: string;
  /** Of `sailing.moved`: the time before. */
  was_departure_at?: string | null;
}

export type SailingStatus = "open" | "cancelled" | "withdrawn" | "departed";

/** Fields that are left out keep their value. */
export interface SailingValues {
  /** `HH:MM`, local to the harbour. */
  arrival_time?: string | null;
  /** `HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before. */
  departure_time?: string | null;
  /** Whole rupiah per seat, for new bookings. */
  price?: number | null;
  /** Another boat of the partner. */
  speedboat_id?: string | null;
  /** Takes sailings without bookings off sale. Not together with other values. */
  withdraw?: boolean | null;
}

export interface Scan {
  /** Unique id of the scan, chosen by the device. */
  scan_id: string;
  scanned_at: string;
  /** Text of the QR code on a ticket. */
  ticket_code: string;
}

/** Passenger and booking of a ticket code. */
export interface ScanResult {
  boarded_at?: string | null;
  booking_code?: string;
  booking_id?: string;
  message: string;
  outcome: Outcome;
  passenger_id?: string;
  passenger_name?: string;
  /** Whether the scan was submitted before. */
  repeated: boolean;
  scan_id: string;
}

export type Schedule = "manual" | "daily" | "weekly" | "monthly";

export type ScheduleType = "once" | "daily" | "weekly";

export interface SearchForm {
  type?: BookingType | null;
  /** Day of departure in the route's time zone. */
  date: string;
  /** Harbour of departure. */
  from: string;
  /** Only sailings of this partner. */
  mitra_id?: string | null;
  page?: number | null;
  page_size?: number | null;
  /** Number of seats that must be free. */
  qty: number;
  /** Also searches the return journey on this day. */
  return_date?: string | null;
  sort_by?: OfferSort | null;
  /** Harbour of arrival. */
  to: string;
}

/** Envelope of a list. */
export interface SearchSailingsBody {
  code: number;
  data: Offer[];
  message: string;
  pagination: Pagination;
  return?: Offer[] | null;
  status: string;
}

/** Reference to a partner. */
export interface Seller {
  /** UUID version 7. */
  id: string;
  name: string;
}

/** A line of a provider's report. */
export interface SettledLine {
  /** Whole rupiah. */
  fee: number;
  /** VAT on the fee. */
  fee_tax: number;
  /** Negative for a refund. */
  gross: number;
  /** Gross less fee and its tax. */
  net: number;
  /** Our reference of the payment, or the provider's id of it. */
  reference: string;
}

export interface Settlement {
  /** Corrections by journal entries; negative: at the partner's expense. */
  adjustment: number;
  /** Account of the payout; the partner's approved account while pending. The number is masked. */
  bank_account?: PartnerBankAccount | null;
  booking_count: number;
  cancelled_at?: string | null;
  /** Human-readable code of the settlement. */
  code: string;
  /** Cash that the partner collected. */
  collected: number;
  /** Whole rupiah. */
  commission: number;
  /** Whole rupiah. */
  commission_tax: number;
  created_at: string;
  /** Null if created by the schedule. */
  created_by?: By | null;
  /** Why the last payout failed or came back. */
  failure?: string | null;
  /** Whole rupiah. */
  gross: number;
  /** UUID version 7. */
  id: string;
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  /**
   * Amount of the payout: gross less commission, its tax and collected cash, with the adjustment.
   * Zero or less in a statement.
   */
  net: number;
  note: string;
  origin: Origin;
  period: SettlementPeriod;
  /** UUID of an uploaded file with purpose `proof`. */
  proof_file_id?: string | null;
  /** Signed address, valid for five minutes. */
  proof_url?: string | null;
  reference?: string | null;
  released_at?: string | null;
  released_by?: By | null;
  status: SettlementStatus;
}

/** Fields that are left out keep their value; null means the default. */
export interface SettlementConfigurationForm {
  /** Percent, at most two decimals. */
  commission_rate?: number | null;
  /** 1 to 7 for `weekly` (Monday is 1), 1 to 28 for `monthly`; requires `schedule`. */
  day?: number | null;
  hold_days?: number | null;
  /** Whole rupiah. */
  minimum_amount?: number | null;
  /** Null or left out: changes the default. */
  mitra_id?: string | null;
  /** For bookings that resellers sell. Null in the default: `commission_rate`. */
  resale_commission_rate?: number | null;
  schedule?: Schedule | null;
}

/** A configuration with the next settlement that it leads to. */
export interface SettlementConfigurationView {
  /** Percent, at most two decimals. */
  commission_rate: number;
  /** Day of the week (Monday is 1) or of the month. */
  day?: number | null;
  /** Days after departure before a scheduled settlement includes a booking. */
  hold_days: number;
  /** Fields for which the partner uses the default. */
  inherited: string[];
  /** Smaller amounts wait for the next scheduled settlement. Whole rupiah. */
  minimum_amount: number;
  /** Null for the default. */
  mitra_id?: string | null;
  /**
   * Day of the partner's next scheduled settlement, in the service's time zone. It is left out if
   * less than `minimum_amount` is owed then. Null for the default, and with `schedule` `manual`.
   */
  next_settlement_on?: string | null;
  /**
   * Last day of departure that this settlement includes. Earlier departures that are unsettled are
   * in it, too.
   */
  next_settlement_until?: string | null;
  /** Percent, for bookings that resellers have sold; null: `commission_rate`. */
  resale_commission_rate?: number | null;
  schedule: Schedule;
}

/** A settlement with its items and releases. */
export interface SettlementDetail {
  /** Corrections by journal entries; negative: at the partner's expense. */
  adjustment: number;
  /** Account of the payout; the partner's approved account while pending. The number is masked. */
  bank_account?: PartnerBankAccount | null;
  booking_count: number;
  cancelled_at?: string | null;
  /** Human-readable code of the settlement. */
  code: string;
  /** Cash that the partner collected. */
  collected: number;
  /** Whole rupiah. */
  commission: number;
  /** Whole rupiah. */
  commission_tax: number;
  created_at: string;
  /** Null if created by the schedule. */
  created_by?: By | null;
  /** Why the last payout failed or came back. */
  failure?: string | null;
  /** Whole rupiah. */
  gross: number;
  /** UUID version 7. */
  id: string;
  items: SettlementItem[];
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  /**
   * Amount of the payout: gross less commission, its tax and collected cash, with the adjustment.
   * Zero or less in a statement.
   */
  net: number;
  note: string;
  origin: Origin;
  /** Its releases, including those that came back. */
  payouts: SettlementPayout[];
  period: SettlementPeriod;
  /** UUID of an uploaded file with purpose `proof`. */
  proof_file_id?: string | null;
  /** Signed address, valid for five minutes. */
  proof_url?: string | null;
  reference?: string | null;
  released_at?: string | null;
  released_by?: By | null;
  status: SettlementStatus;
}

export interface SettlementEvent {
  /** Booking code, as printed on tickets. */
  code: string;
  /** UUID of the partner. */
  mitra_id: string;
  /** Whole rupiah. */
  net: number;
  /** Why the last payout failed or came back. */
  reason?: string | null;
  settlement_id: string;
}

export interface SettlementItem {
  /** A correction by a journal entry; negative: at the partner's expense. */
  adjustment: number;
  /** Null if it is not of a booking, e.g. a receipt. */
  booking_id?: string | null;
  /** Who made the booking. */
  channel?: Channel | null;
  /** Booking code, as printed on tickets. */
  code?: string | null;
  /** Whole rupiah. */
  collected: number;
  /** Whole rupiah. */
  commission: number;
  /** Whole rupiah. */
  commission_tax: number;
  /** Local day of departure, or the day of the cause. */
  day: string;
  /** RFC 3339 in UTC. */
  departure_at?: string | null;
  /** Whole rupiah. */
  gross: number;
  kind: DueKind;
  /** Whole rupiah. */
  net: number;
}

export interface SettlementPayout {
  /** Whole rupiah. */
  amount: number;
  /** UUID version 7. */
  id: string;
  method: PayoutMethod;
  reference: string;
  released_at: string;
  return_reason?: string | null;
  /** When the transfer came back. */
  returned_at?: string | null;
}

export interface SettlementPeriod {
  end_date: string;
  start_date: string;
}

export type SettlementSort = "created_at" | "end_date" | "net" | "status";

export type SettlementStatus = "pending" | "processing" | "released" | "cancelled" | "statement";

export interface SignedIn {
  /** Bearer token for the `Authorization` header. */
  access_token: string;
  expires_at: string;
  /** Seconds until the token expires. */
  expires_in: number;
  /** Token for the next resume; only present after a resume. */
  remember_token?: string | null;
  token_type: string;
  user: User;
}

export type SkipReason =
  | "withdrawn"
  | "cancelled"
  | "departed"
  | "manifest_closed"
  | "in_use"
  | "schedule_conflict"
  | "past";

export interface SkippedSailing {
  reason: SkipReason;
  /** UUID of the sailing. */
  route_time_id: string;
}

export interface Slice {
  bookings: Figure;
  /** Payment method, booking type or UUID of the partner. */
  key: string;
  label: string;
  revenue: Figure;
  /** Share of the total of the current period. */
  share_percent: number;
}

export type Source =
  | "booking"
  | "payment"
  | "review"
  | "settlement"
  | "reschedule"
  | "cancellation"
  | "refund"
  | "receipt"
  | "provider_settlement"
  | "tax_payment"
  | "cash_deposit"
  | "journal"
  | "reseller_payment";

export interface Speedboat {
  description?: string | null;
  /** Number of seats. */
  capacity: number;
  created_at: string;
  engine?: string | null;
  facilities: string[];
  /** UUID version 7. */
  id: string;
  manufacturer?: string | null;
  mitra: Owner;
  /** UUID of the partner. */
  mitra_id: string;
  name: string;
  photos: Photo[];
  /** Registration number of the vessel; unique. */
  registration_number: string;
  status: BoatStatus;
  updated_at: string;
  year_built?: number | null;
}

/** In an update, optional fields that are left out keep their value. */
export interface SpeedboatChange {
  description?: string | null;
  /** Number of seats. */
  capacity: number;
  engine?: string | null;
  facilities?: string[] | null;
  manufacturer?: string | null;
  name: string;
  /** UUIDs of uploaded files with purpose `photo`. */
  photo_file_ids?: string[] | null;
  /** Registration number of the vessel; unique. */
  registration_number: string;
  status?: BoatStatus | null;
  year_built?: number | null;
}

export type SpeedboatSort = "name" | "capacity" | "status" | "created_at";

export interface SpeedboatSummary {
  active: number;
  inactive: number;
  maintenance: number;
  total: number;
  total_capacity: number;
  upcoming_sailings: number;
}

export interface Staff {
  address: Address;
  bank_account: StaffBankAccount;
  created_at: string;
  email: string;
  /** UUID version 7. */
  id: string;
  join_date: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  msisdn?: string | null;
  name: string;
  /** The requested e-mail address, until it is confirmed. */
  pending_email?: string | null;
  permission: HeldPermission;
  permission_id: string;
  /** Whole rupiah per month; null if none is recorded, and for callers who may not see it. */
  salary?: number | null;
  /** Whether others who may see staff also see the salary. */
  show_salary: boolean;
  status: StaffStatus;
  updated_at: string;
  user_id: string;
  working_type: WorkingType;
}

export interface StaffBankAccount {
  account_name: string;
  /** Masked for those who may not read it. */
  account_number: string;
  /** Code of the bank, such as `BCA` or `BRI`. */
  bank_code: string;
}

export interface StaffForm {
  address: Address;
  bank_account: BankAccountForm;
  email: string;
  join_date: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  msisdn: string | number;
  name: string;
  permission_id: string;
  /**
   * Required for a new member. Left out of an update it stays as it is; null removes it, but not
   * from somebody who may not see it.
   */
  salary?: number | null;
  /** Whether others who may see staff also see the salary. */
  show_salary: boolean;
  status: StaffStatus;
  working_type: WorkingType;
}

export interface StaffList {
  items: Staff[];
  summary: StaffSummary;
}

export type StaffSort = "name" | "email" | "join_date" | "level" | "status" | "created_at";

export type StaffStatus = "active" | "inactive";

export interface StaffSummary {
  active: number;
  inactive: number;
  total: number;
}

export interface StatementLine {
  /** Positive: owed to the partner. */
  amount: number;
  /** Balance after this line. */
  balance: number;
  booking_code?: string | null;
  booking_id?: string | null;
  /** What happened to the source. */
  kind: string;
  posted_on: string;
  source: Source;
}

export type Status = "active" | "inactive" | "suspended";

/** A step of the onboarding. */
export interface Step {
  complete: boolean;
  key: StepKey;
  /** Those of them that are missing. */
  missing: string[];
  /** Fields, or types of documents, without which the papers cannot be handed in. */
  required: string[];
}

export type StepKey = "business" | "pic" | "bank_account" | "documents";

export interface Suspension {
  reason: string;
}

export type TargetType = "all" | "mitra" | "speedboat" | "route";

export interface Tax {
  applies_to: AppliesTo;
  /** The part of the price that is taxed. */
  base_factor: string | number;
  /** Booking code, as printed on tickets. */
  code: string;
  created_at: string;
  /** UUID version 7. */
  id: string;
  is_active: boolean;
  name: string;
  /** Percent, at most two decimals. */
  rate: number;
}

/** A tax that was charged. */
export interface TaxAmount {
  /** Whole rupiah. */
  amount: number;
  /** The part of the price that it was charged on. */
  base_factor?: string | number;
  /** Booking code, as printed on tickets. */
  code: string;
  name: string;
  /** Percent, at most two decimals. */
  rate: number;
}

export interface TaxForm {
  applies_to: AppliesTo;
  /** Left out when a tax is created, or null: 1. */
  base_factor?: string | number | null;
  /** Booking code, as printed on tickets. */
  code: string;
  is_active: boolean;
  name: string;
  /** Percent, at most two decimals. */
  rate: number;
}

/**
 * One tax in a month. `received` is what customers paid, by the day of the payment, on which the
 * tax is due; the other amounts are those of the ledger, which knows the tax when the journey is
 * over.
 */
export interface TaxOfMonth {
  /** By journal entries. */
  adjusted: number;
  /** Of journeys and kept money of the month. */
  collected: number;
  /** Owed before the month. */
  opening: number;
  /** Owed after the month. */
  owed: number;
  /** Paid to the state. */
  paid: number;
  /**
   * Tax in the payments of bookings that were received in the month. Zero for taxes on commission.
   */
  received: number;
  /** The part of these payments that the tax was charged on. */
  received_base: number;
  /** Taken back with journeys that were refunded. */
  reversed: number;
  tax_code: string;
}

export interface TaxPayment {
  /** Whole rupiah. */
  amount: number;
  created_at: string;
  created_by: string;
  /** UUID version 7. */
  id: string;
  paid_on: string;
  reference: string;
  tax_code: string;
}

export interface TaxPaymentForm {
  /** Whole rupiah. */
  amount: number;
  paid_on: string;
  /** NTPN: the state's number of the payment. */
  reference: string;
  /** Code of the tax. */
  tax_code: string;
}

export interface TaxReport {
  /** When the data was read. */
  as_of: string;
  /** A month, written `2026-11`. */
  month: string;
  taxes: TaxOfMonth[];
}

export type TaxSort = "name" | "code" | "created_at";

export interface Terms {
  /** Type of the terms, such as `customer` or `mitra`. */
  type: string;
  /** Sanitised HTML. */
  content: string;
  /** UUID version 7. */
  id: string;
  published_at?: string | null;
  status: TermsStatus;
  version: number;
}

export interface TermsEvent {
  type: string;
  terms_id: string;
  version: number;
}

export type TermsStatus = "draft" | "published" | "archived";

/** A version of terms with its author and publisher. */
export interface TermsVersion {
  /** Type of the terms, such as `customer` or `mitra`. */
  type: string;
  /** Sanitised HTML. */
  content: string;
  created_at: string;
  creator_name: string;
  /** UUID version 7. */
  id: string;
  published_at?: string | null;
  status: TermsStatus;
  updated_at: string;
  user_creator_id: string;
  user_editor_id: string;
  user_validator_id?: string | null;
  validator_name?: string | null;
  version: number;
}

export interface ThisMonth {
  bookings: Figure;
  departures: Figure;
  /** Whole rupiah. */
  gross_revenue?: Figure | null;
  passengers: Figure;
}

/** A public key that verifies tickets. */
export interface TicketKey {
  /** Key id, as contained in ticket codes. */
  key_id: string;
  /** The key in PEM format. */
  pem: string;
  /** The 32 bytes of the key in base64. */
  public_key: string;
}

/** Public keys that verify tickets offline. */
export interface TicketKeyring {
  algorithm: string;
  /** Key id, as contained in ticket codes. */
  key_id: string;
  /** Earlier keys whose tickets are still valid. */
  older: TicketKey[];
  /** The key in PEM format. */
  pem: string;
  /** The 32 bytes of the key in base64. */
  public_key: string;
}

export interface Today {
  bookings: number;
  departures: number;
  /** Whole rupiah. */
  gross_revenue?: number | null;
  passengers: number;
}

export interface Totals {
  /** 12 years and older. */
  adults: number;
  age_unknown: number;
  bookings: number;
  /** Number of passengers by nationality. */
  by_nationality: Record<string, number>;
  /** Passengers on board. */
  checked_in: number;
  /** 2 to 11 years. */
  children: number;
  female: number;
  gender_unknown: number;
  infants: number;
  male: number;
  passengers: number;
}

/** A secret for an authenticator app. It counts once a code of it was confirmed. */
export interface TotpEnrolment {
  otpauth_url: string;
  /** `otpauth_url` as a QR code. */
  qr_svg: string;
  /** In base32, for typing. */
  secret: string;
}

export interface TrialBalance {
  accounts: AccountBalance[];
  /** When the data was read. */
  as_of: string;
  end_date: string;
  start_date: string;
  /** Sums of the accounts. Debit and credit are equal. */
  total: BalanceTotal;
}

export interface UndoCheckIn {
  reason?: string | null;
  /** Text of the QR code on a ticket. */
  ticket_code: string;
}

export interface UpdateProfile {
  /** An empty string removes the avatar. */
  avatar_file_id: string;
  /** Required for another e-mail address. */
  current_password?: string | null;
  /** Another address than the current one becomes `pending_email` until it is confirmed. */
  email: string;
  name: string;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone: string | number;
}

/** Fields that are left out keep their value. */
export interface UpdateSailing {
  /** `HH:MM`, local to the harbour. */
  arrival_time?: string | null;
  /** New day of departure. Default: unchanged. */
  date?: string | null;
  /** `HH:MM`, local to the route. Without `arrival_time` the journey takes as long as before. */
  departure_time?: string | null;
  /** Whole rupiah per seat, for new bookings. */
  price?: number | null;
  /** Sent to everyone who booked. Required if the time of a sailing with bookings changes. */
  reason?: string | null;
  /** Another boat of the partner. */
  speedboat_id?: string | null;
}

/** A change of many sailings of a route. */
export interface UpdateSailings {
  /** Only sailings on these days. */
  days?: Weekday[] | null;
  /** Only sailings that depart at these times. */
  departure_times?: string[] | null;
  /** Last day of departure, at most 366 days. */
  end_date: string;
  /** Sent to everyone who booked. Required if the time of a sailing with bookings changes. */
  reason?: string | null;
  set: SailingValues;
  /** First day of departure, in the route's time zone. */
  start_date: string;
}

export interface UpdatedSailing {
  /** RFC 3339 in UTC. */
  arrival_at: string;
  arrival_timezone: Zone;
  cancelled_at?: string | null;
  /** Number of seats. */
  capacity: number;
  /** RFC 3339 in UTC. */
  departure_at: string;
  /** Harbour of departure. */
  from: string;
  /** UUID version 7. */
  id: string;
  manifest_closed_at?: string | null;
  /** UUID of the partner. */
  mitra_id: string;
  /** Number of bookings that have the new times or the new boat. */
  moved_bookings: number;
  /** Whole rupiah. */
  price: number;
  /** Why the sailing was cancelled or moved. */
  reason?: string | null;
  route_id: string;
  /** Seats of paid bookings and of unpaid ones that are still held. */
  seats_taken: number;
  speedboat_id: string;
  status: SailingStatus;
  timezone: Zone;
  /** Harbour of arrival. */
  to: string;
}

export interface UpdatedSailings {
  /** Number of sailings that were changed. */
  changed: number;
  /** Sailings that were not changed, at most 500. */
  skipped: SkippedSailing[];
  /** Number of all sailings that were not changed. */
  skipped_count: number;
  /** Number of sailings that had these values already. */
  unchanged: number;
}

export interface UploadFileForm {
  file: Blob;
  purpose: "avatar" | "photo" | "content" | "document" | "proof";
}

/** An account. */
export interface User {
  avatar_file_id?: string | null;
  /** Address of the avatar. */
  avatar_url?: string | null;
  created_at: string;
  email: string;
  /** Whether a link that was mailed to the address has been used. */
  email_verified: boolean;
  /** UUID version 7. */
  id: string;
  last_login_at?: string | null;
  name: string;
  /** The requested address, until it is confirmed. */
  pending_email?: string | null;
  /**
   * Phone number in E.164 format. Indonesian numbers are also accepted as 0812… or as a JSON
   * number.
   */
  phone?: string | null;
  role: Role;
  /** Whether sign-in requires a code of an authenticator app. */
  second_factor: boolean;
  status: Status;
}

export type UserSort = "name" | "email" | "role" | "created_at";

export interface UserStatistics {
  by_role: ByRole;
  by_status: ByStatus;
  new_this_month: number;
  total: number;
}

export interface ValidatePromo {
  type: BookingType;
  /** Promotion code; not case-sensitive. */
  code_promo: string;
  email?: string | null;
  /** UUID of the speedboat. */
  item_id: string;
  /** Number of passengers. */
  qty: number;
  /** UUID of the sailing. */
  route_time_id: string;
}

export type Verdict = "approved" | "rejected";

export interface Webhook {
  active: boolean;
  created_at: string;
  /** Why it was deactivated automatically. */
  disabled_reason?: DisabledReason | null;
  /** Names of events. */
  events: string[];
  /** Time since which all deliveries fail. */
  failing_since?: string | null;
  /** UUID version 7. */
  id: string;
  updated_at: string;
  /** Address that receives deliveries by POST. */
  url: string;
}

export interface WebhookDelivery {
  type: string;
  attempts: number;
  created_at: string;
  delivered_at?: string | null;
  /** Id of the event, the same for every attempt (`webhook-id`). */
  event_id: string;
  /** UUID version 7. */
  id: string;
  last_attempt_at?: string | null;
  last_error?: string | null;
  payload: unknown;
  /** HTTP status of the last response; null without a response. */
  response_status?: number | null;
  status: DeliveryStatus;
}

export interface WebhookForm {
  /** Default: `true`. An update without it keeps the value; null sets `true`. */
  active?: boolean | null;
  /** Names of the events that are delivered. */
  events: EventName[];
  /** Address that receives deliveries by POST. */
  url: string;
}

export type Weekday = "mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun";

export type WorkingType = "full_time" | "part_time" | "contract" | "freelance";

export type Zone = "Asia/Jakarta" | "Asia/Makassar" | "Asia/Jayapura";

/** Parameters of `accounts.listSessions`. */
export interface ListSessionsQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
}

/** Parameters of `accounts.listUsers`. */
export interface ListUsersQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  role?: Role | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: UserSort | null;
  sort_dir?: Direction | null;
  status?: Status | null;
}

/** Parameters of `staff.list`. */
export interface ListStaffQuery {
  level?: Level | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: StaffSort | null;
  sort_dir?: Direction | null;
  status?: StaffStatus | null;
}

/** Parameters of `staff.listPermissions`. */
export interface ListPermissionsQuery {
  level?: Level | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: PermissionSort | null;
  sort_dir?: Direction | null;
}

/** Parameters of `staff.listAuditLogs`. */
export interface ListAuditLogsQuery {
  /** What was done, such as `booking.cancelled`. */
  action?: string | null;
  actor_id?: string | null;
  /** Inclusive, in the service's time zone. */
  end_date?: string | null;
  entity_id?: string | null;
  /** Kind of record, such as `booking` or `partner`. */
  entity_type?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
  /** Inclusive, in the service's time zone. */
  start_date?: string | null;
}

/** Parameters of `partners.list`. */
export interface ListPartnersQuery {
  /** With `true`, partners with documents that await review; with `false`, the others. */
  awaiting_review?: boolean | null;
  /**
   * `pending`: accounts of activated partners that await approval. Before its activation, the
   * account of a partner is reviewed with its bank book.
   */
  bank_account_status?: BankAccountStatus | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  partnerType?: PartnerType | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: PartnerSort | null;
  sort_dir?: Direction | null;
  status?: PartnerStatus | null;
}

/** Parameters of `partners.listCrew`. */
export interface ListCrewQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: CrewSort | null;
  sort_dir?: Direction | null;
}

/** Parameters of `fleet.listOwnSpeedboats`. */
export interface ListOwnSpeedboatsQuery {
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: SpeedboatSort | null;
  sort_dir?: Direction | null;
  status?: BoatStatus | null;
}

/** Parameters of `fleet.listSpeedboats`. */
export interface ListSpeedboatsQuery {
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: SpeedboatSort | null;
  sort_dir?: Direction | null;
  status?: BoatStatus | null;
}

/** Parameters of `fleet.speedboatSummary`. */
export interface SpeedboatSummaryQuery {
  /** UUID of the partner. */
  mitra_id?: string | null;
}

/** Parameters of `fleet.listCatalogPartners`. */
export interface ListCatalogPartnersQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
}

/** Parameters of `routes.list`. */
export interface ListRoutesQuery {
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: RouteSort | null;
  sort_dir?: Direction | null;
  speedboat_id?: string | null;
  status?: RouteStatus | null;
}

/** Parameters of `routes.listSailings`. */
export interface ListSailingsQuery {
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  /** Day of departure in the route's time zone. */
  start_date?: string | null;
}

/** Parameters of `routes.listLines`. */
export interface ListLinesQuery {
  /** Ignored for partners, who see their own. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  resale?: boolean | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
}

/** Parameters of `harbours.list`. */
export interface ListHarboursQuery {
  /** Only the harbour with this id. */
  id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  /** Default: by name. */
  sort_by?: HarbourSort | null;
  sort_dir?: Direction | null;
  status?: HarbourStatus | null;
}

/** Parameters of `bookings.list`. */
export interface ListBookingsQuery {
  /** Who made the booking. */
  channel?: Channel | null;
  /** Booking code, as printed on tickets. */
  code?: string | null;
  /** Promotion code; not case-sensitive. */
  code_promo?: string | null;
  email?: string | null;
  end_date?: string | null;
  /** UUID of the speedboat. */
  item_id?: string | null;
  /** UUID of the partner. */
  mitra_id?: string | null;
  note?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Number of passengers. */
  qty?: number | null;
  /** Whether a refund of the booking is not paid yet. */
  refund_due?: boolean | null;
  /** The reseller that sold it. */
  reseller_id?: string | null;
  /** UUID of the sailing. */
  route_time_id?: string | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: BookingSort | null;
  sort_dir?: Direction | null;
  /** Day of departure, in the service's time zone. */
  start_date?: string | null;
  status?: BookingStatus | null;
  type?: BookingType | null;
}

/** Parameters of `bookings.get`. */
export interface GetBookingQuery {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
}

/** Parameters of `bookings.getOptions`. */
export interface GetBookingOptionsQuery {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
  /**
   * UUIDs of some of the passengers, separated by commas: what `cancel` says is about cancelling
   * them alone.
   */
  passenger_ids?: string | null;
}

/** Parameters of `payments.listReviews`. */
export interface ListPaymentReviewsQuery {
  /** Only the review with this id. */
  id?: string | null;
  /** Whether it is unresolved. */
  open?: boolean | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  reason?: ReviewReason | null;
  sort_dir?: Direction | null;
}

/** Parameters of `payments.listRefunds`. */
export interface ListRefundsQuery {
  by?: PaidBy | null;
  end_date?: string | null;
  kind?: RefundKind | null;
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
  /** Days on which it became due, in the time zone of the service. */
  start_date?: string | null;
  status?: RefundStatus | null;
}

/** Parameters of `boarding.listRouteTimes`. */
export interface ListRouteTimesQuery {
  end_date?: string | null;
  /** Ignored for partners and crew, who see their own. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  route_id?: string | null;
  /** Case-insensitive substring. */
  search?: string | null;
  /** The only order, earliest first unless `sort_dir` is `desc`. */
  sort_by?: RouteTimeSort | null;
  sort_dir?: Direction | null;
  speedboat_id?: string | null;
  /** Day of departure in the route's time zone. */
  start_date?: string | null;
  status?: SailingStatus | null;
}

/** Parameters of `tickets.get`. */
export interface GetTicketQuery {
  /** Booking code, as printed on tickets. */
  code?: string | null;
  email?: string | null;
}

/** Parameters of `promotions.listRunning`. */
export interface ListRunningPromotionsQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
}

/** Parameters of `promotions.list`. */
export interface ListPromotionsQuery {
  /** Who pays for the discount: the platform, or the partner whose sailing it is. */
  funded_by?: FundedBy | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: PromotionSort | null;
  sort_dir?: Direction | null;
  state?: PromotionState | null;
  status?: PromotionStatus | null;
  target_type?: TargetType | null;
}

/** Parameters of `taxes.list`. */
export interface ListTaxesQuery {
  applies_to?: AppliesTo | null;
  is_active?: boolean | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: TaxSort | null;
  sort_dir?: Direction | null;
}

/** Parameters of `settlements.list`. */
export interface ListSettlementsQuery {
  end_date?: string | null;
  /** UUID of the partner. */
  mitra_id?: string | null;
  origin?: Origin | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: SettlementSort | null;
  sort_dir?: Direction | null;
  /** Settlements whose period overlaps these days. */
  start_date?: string | null;
  status?: SettlementStatus | null;
}

/** Parameters of `settlements.getConfiguration`. */
export interface GetSettlementConfigurationQuery {
  /** UUID of the partner. Left out: the default. Ignored for partners, who get their own. */
  mitra_id?: string | null;
}

/** Parameters of `settlements.listReceipts`. */
export interface ListReceiptsQuery {
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: ReceiptSort | null;
  sort_dir?: Direction | null;
}

/** Parameters of `resellers.list`. */
export interface ListResellersQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_by?: ResellerSort | null;
  sort_dir?: Direction | null;
  status?: ResellerStatus | null;
}

/** Parameters of `resellers.listKeys`. */
export interface ListResellerKeysQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
}

/** Parameters of `resellers.getStatement`. */
export interface GetResellerStatementQuery {
  /** Last day. Default: today. */
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  /** First day. Default: the first day of the month of `end_date`. */
  start_date?: string | null;
}

/** Parameters of `resellers.listInvoices`. */
export interface ListResellerInvoicesQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  status?: InvoiceStatus | null;
}

/** Parameters of `finance.getTrialBalance`. */
export interface GetTrialBalanceQuery {
  /** Last day. Default: today. */
  end_date?: string | null;
  /** First day. Default: the first day of the month of `end_date`. */
  start_date?: string | null;
}

/** Parameters of `finance.listEntries`. */
export interface ListEntriesQuery {
  account?: Account | null;
  booking_id?: string | null;
  end_date?: string | null;
  /** UUID of the partner. */
  mitra_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  source?: Source | null;
  start_date?: string | null;
}

/** Parameters of `finance.getPartnerStatement`. */
export interface GetPartnerStatementQuery {
  /** Last day. Default: today. */
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  /** First day. Default: the first day of the month of `end_date`. */
  start_date?: string | null;
}

/** Parameters of `finance.getTaxReport`. */
export interface GetTaxReportQuery {
  /** Default: the current month. */
  month?: string | null;
}

/** Parameters of `finance.listProviderSettlements`. */
export interface ListProviderSettlementsQuery {
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** `simulator`, `midtrans`, `xendit` or `cash`. */
  provider?: PayingProvider | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
  start_date?: string | null;
}

/** Parameters of `finance.getReconciliation`. */
export interface GetReconciliationQuery {
  /** Last day. Default: today. */
  end_date?: string | null;
  /** First day. Default: the first day of the month of `end_date`. */
  start_date?: string | null;
}

/** Parameters of `finance.listJournals`. */
export interface ListJournalsQuery {
  end_date?: string | null;
  /** Only the journal entry with this id. */
  id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
  start_date?: string | null;
  status?: JournalStatus | null;
}

/** Parameters of `finance.listPeriods`. */
export interface ListPeriodsQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
}

/** Parameters of `reports.financeOverview`. */
export interface FinanceOverviewQuery {
  comparison_mode: ComparisonMode;
  /** Last day of a `Custom` period of at most five years. */
  end_date?: string | null;
  period_type: PeriodType;
  /** A day of the period. Default: today. Required for `Custom`. */
  start_date?: string | null;
}

/** Parameters of `reports.revenueByPaymentMethod`. */
export interface RevenueByPaymentMethodQuery {
  comparison_mode: ComparisonMode;
  /** Last day of a `Custom` period of at most five years. */
  end_date?: string | null;
  period_type: PeriodType;
  /** A day of the period. Default: today. Required for `Custom`. */
  start_date?: string | null;
}

/** Parameters of `reports.revenueByType`. */
export interface RevenueByTypeQuery {
  comparison_mode: ComparisonMode;
  /** Last day of a `Custom` period of at most five years. */
  end_date?: string | null;
  period_type: PeriodType;
  /** A day of the period. Default: today. Required for `Custom`. */
  start_date?: string | null;
}

/** Parameters of `reports.revenueByPartner`. */
export interface RevenueByPartnerQuery {
  comparison_mode: ComparisonMode;
  /** Last day of a `Custom` period of at most five years. */
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  period_type: PeriodType;
  sort_dir?: Direction | null;
  /** A day of the period. Default: today. Required for `Custom`. */
  start_date?: string | null;
}

/** Parameters of `reports.revenueByReseller`. */
export interface RevenueByResellerQuery {
  comparison_mode: ComparisonMode;
  /** Last day of a `Custom` period of at most five years. */
  end_date?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  period_type: PeriodType;
  sort_dir?: Direction | null;
  /** A day of the period. Default: today. Required for `Custom`. */
  start_date?: string | null;
}

/** Parameters of `reports.mitraStatistic`. */
export interface MitraStatisticQuery {
  /** UUID of the partner. Default: all partners. Ignored for partners, who see themselves. */
  mitra_id?: string | null;
}

/** Parameters of `content.getTerms`. */
export interface GetTermsQuery {
  type: string;
}

/** Parameters of `content.listTermsHistory`. */
export interface ListTermsHistoryQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  type: string;
}

/** Parameters of `notifications.list`. */
export interface ListNotificationsQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  /** Only unread notifications. */
  unread?: boolean | null;
}

/** Parameters of `notifications.listOf`. */
export interface ListNotificationsOfQuery {
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  /** Only unread notifications. */
  unread?: boolean | null;
}

/** Parameters of `webhooks.list`. */
export interface ListWebhooksQuery {
  active?: boolean | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  /** Case-insensitive substring. */
  search?: string | null;
  sort_dir?: Direction | null;
}

/** Parameters of `webhooks.listDeliveries`. */
export interface ListDeliveriesQuery {
  /** Only this delivery. */
  delivery_id?: string | null;
  /** Page number, starting at 1. */
  page?: number | null;
  /** Items per page. Default: 20. */
  page_size?: number | null;
  sort_dir?: Direction | null;
  status?: DeliveryStatus | null;
}

/** Parameters of `files.presignUrl`. */
export interface PresignUrlQuery {
  content_type: Kind;
  filename: string;
  purpose: Purpose;
  /** Bytes. */
  size: number;
}

/** Parameters of `files.download`. */
export interface DownloadFileQuery {
  /** From the signed address. */
  expires?: string | null;
  /** From the signed address. */
  signature?: string | null;
}

/** Parameters of `files.receive`. */
export interface ReceiveFileQuery {
  /** From the signed address. */
  expires: string;
  /** From the signed address. */
  signature: string;
}
