// Generated from docs/openapi.json by clients/generate.py. Do not edit.

import type { Listing } from "../page.js";
import { segment, type KeyedOptions, type Options, type Transport } from "../transport.js";
import type {
  Admitted,
  AnyObject,
  AnyPayout,
  AuditLog,
  BankApproval,
  Booking,
  BookingForm,
  BookingOptions,
  Breakdown,
  CancelForm,
  CancelSailing,
  CancelSettlement,
  CancelledSailing,
  CashDeposit,
  CashDepositForm,
  CatalogEntry,
  CatalogPartner,
  CatalogSpeedboat,
  ChangeAdminStatus,
  ChangePassword,
  ChangedTerms,
  CheckIn,
  CheckedIn,
  ConfirmTotp,
  CorrectContact,
  CorrectPassengers,
  CrewMember,
  CtaForm,
  CtaPartnership,
  Dashboard,
  Document,
  DocumentReview,
  DownloadFileQuery,
  EmailForm,
  EnrolTotp,
  Entry,
  Erasure,
  ErasureRequest,
  ExportRequest,
  ExtendRoute,
  FileRecord,
  FinanceOverviewQuery,
  FinancePeriod,
  FindBookings,
  GetBookingOptionsQuery,
  GetBookingQuery,
  GetPartnerStatementBody,
  GetPartnerStatementQuery,
  GetReconciliationQuery,
  GetResellerStatementBody,
  GetResellerStatementQuery,
  GetSettlementConfigurationQuery,
  GetTaxReportQuery,
  GetTermsQuery,
  GetTicketQuery,
  GetTrialBalanceQuery,
  Grants,
  GrantsForm,
  GuestCredentials,
  Harbour,
  HarbourChange,
  Health,
  Impersonation,
  InviteAdmin,
  InviteCrew,
  Journal,
  JournalForm,
  Line,
  LineForm,
  LinkToken,
  ListAuditLogsQuery,
  ListBookingsQuery,
  ListCatalogPartnersQuery,
  ListCrewQuery,
  ListDeliveriesQuery,
  ListEntriesQuery,
  ListHarboursQuery,
  ListJournalsQuery,
  ListLinesQuery,
  ListNotificationsBody,
  ListNotificationsOfBody,
  ListNotificationsOfQuery,
  ListNotificationsQuery,
  ListOwnSpeedboatsQuery,
  ListPartnersQuery,
  ListPaymentReviewsQuery,
  ListPeriodsQuery,
  ListPermissionsQuery,
  ListPromotionsQuery,
  ListProviderSettlementsQuery,
  ListReceiptsQuery,
  ListRefundsQuery,
  ListResellerInvoicesQuery,
  ListResellerKeysQuery,
  ListResellersQuery,
  ListRouteTimesQuery,
  ListRoutesQuery,
  ListRunningPromotionsQuery,
  ListSailingsQuery,
  ListSessionsQuery,
  ListSettlementsQuery,
  ListSpeedboatsQuery,
  ListStaffBody,
  ListStaffQuery,
  ListTaxesQuery,
  ListTermsHistoryQuery,
  ListUsersQuery,
  ListWebhooksQuery,
  Location,
  Login,
  Manifest,
  ManualSettlement,
  MergeHarbour,
  MitraStatistic,
  MitraStatisticQuery,
  NewHarbour,
  NewResellerKey,
  NewSpeedboat,
  NewTerms,
  NewWebhook,
  Notification,
  Offer,
  Onboarding,
  OnboardingForm,
  OpenSession,
  Overview,
  Partner,
  PartnerEdit,
  PartnerForm,
  PartnerOverview,
  PartnerStatistics,
  PayRefund,
  Permission,
  PermissionForm,
  PersonalData,
  PresignUrlQuery,
  Presigned,
  Profile,
  PromoVerdict,
  PromotionForm,
  PromotionRecord,
  ProviderSettlement,
  ProviderSettlementDetail,
  ProviderSettlementForm,
  PublishTerms,
  Quote,
  QuoteForm,
  Reauthenticate,
  Receipt,
  ReceiptForm,
  ReceiveFileQuery,
  Reconciliation,
  RecoveryCodes,
  Refund,
  RefundAccountForm,
  RefundForm,
  RegisterMitra,
  Registered,
  ReleaseForm,
  Remembered,
  RemoveTotp,
  ReopenForm,
  ReopenManifest,
  RescheduleForm,
  Rescheduled,
  Reseller,
  ResellerForm,
  ResellerInvoice,
  ResellerInvoiceForm,
  ResellerKey,
  ResellerKeyForm,
  ResellerPayment,
  ResellerPaymentForm,
  ResellerSlice,
  ResellerStatementLine,
  ResellerSuspension,
  ResendTicket,
  ResetPassword,
  Resolve,
  ReturnForm,
  ReturnRefund,
  RevenueByPartnerBody,
  RevenueByPartnerQuery,
  RevenueByPaymentMethodQuery,
  RevenueByResellerBody,
  RevenueByResellerQuery,
  RevenueByTypeQuery,
  Review,
  Reviewed,
  Route,
  RouteForm,
  RouteSailing,
  RuleGroup,
  Sailing,
  SearchForm,
  SearchSailingsBody,
  Settlement,
  SettlementConfigurationForm,
  SettlementConfigurationView,
  SettlementDetail,
  SignedIn,
  Slice,
  Speedboat,
  SpeedboatChange,
  SpeedboatSummary,
  SpeedboatSummaryQuery,
  Staff,
  StaffForm,
  StatementLine,
  Suspension,
  Tax,
  TaxForm,
  TaxPayment,
  TaxPaymentForm,
  TaxReport,
  Terms,
  TermsVersion,
  TicketKeyring,
  TotpEnrolment,
  TrialBalance,
  UndoCheckIn,
  UpdateProfile,
  UpdateSailing,
  UpdateSailings,
  UpdatedSailing,
  UpdatedSailings,
  UploadFileForm,
  User,
  UserStatistics,
  ValidatePromo,
  Webhook,
  WebhookDelivery,
  WebhookForm,
} from "./types.js";

/**
 * Sign-in, passwords, sessions and user accounts. Accounts belong to admins, staff, partners and
 * their crew; passengers book without an account.
 */
export class AccountsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Sign in.
   *
   * Signs in with e-mail, password and role (`any` accepts the account's own) and returns an access
   * token. It is valid for 8 hours, and ends after 2 hours without a request. An account with a
   * second factor also needs `code`: without it, a right password is 401 `second_factor_required`.
   * Ten wrong passwords or codes for one account from one network lock that pair for 15 minutes
   * (429 with `Retry-After`). A suspended or inactive account is refused with 403.
   *
   * **Access:** Public.
   *
   * `POST /v1/auth/login`, operation `login`.
   */
  login(body: Login, options?: Options): Promise<SignedIn> {
    return this.transport.data(
      { method: "POST", path: "/v1/auth/login", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Sign out.
   *
   * Ends the session of the bearer token and the impersonations that it started. A remember token
   * in the header `X-Remember-Token` or in the cookie is revoked as well.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /v1/auth/logout`, operation `logout`.
   */
  logout(options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/v1/auth/logout", repeat: "change" },
      options,
    );
  }

  /**
   * Register partner.
   *
   * Creates a partner account in status `draft`, signed up by the partner itself. The partner signs
   * in with role `mitra` and completes its onboarding before it can publish routes. Sends a welcome
   * mail and a link to verify the e-mail address; a partner that does not verify it within 7 days
   * is deleted. Refused with 409 `email_taken` if the e-mail address is in use.
   *
   * **Access:** Public.
   *
   * `POST /auth/register-mitra`, operation `register_mitra`.
   */
  registerMitra(body: RegisterMitra, options?: Options): Promise<Registered> {
    return this.transport.data(
      { method: "POST", path: "/auth/register-mitra", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Request password reset.
   *
   * Mails a link to set a new password. The response is the same whether or not the address belongs
   * to an account. At most three mails per account and hour are sent; a link is valid for 30
   * minutes.
   *
   * **Access:** Public.
   *
   * `POST /auth/forgot-password`, operation `forgot_password`.
   */
  forgotPassword(body: EmailForm, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/forgot-password", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Reset password.
   *
   * Sets a password with the token of a reset mail or of an invitation. The token works once.
   * Admins and staff without a second factor need at least 12 characters. All sessions of the
   * account end, a pending change of its e-mail address is cancelled, and its current address
   * counts as verified.
   *
   * **Access:** Public.
   *
   * `POST /auth/reset-password`, operation `reset_password`.
   */
  resetPassword(body: ResetPassword, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/reset-password", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Enrol or resume remembered device.
   *
   * With a bearer token: enrols this device and returns a remember token, also as a cookie. Without
   * one: exchanges the remember token (header `X-Remember-Token` or cookie) for a new session and a
   * new remember token, without a code of the second factor. A token is valid for 30 days, a device
   * for 90 days in all. A token that was already exchanged revokes the device.
   *
   * **Access:** Public; a bearer token identifies the caller.
   *
   * `POST /auth/remember-me`, operation `remember_me`.
   */
  rememberMe(body: EmailForm, options?: Options): Promise<Remembered> {
    return this.transport.data(
      { method: "POST", path: "/auth/remember-me", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Verify e-mail address.
   *
   * Verifies an e-mail address with the token of a verification mail. The token works once, within
   * 7 days. Until the address is verified, a partner cannot submit its onboarding and may store 20
   * MiB of files.
   *
   * **Access:** Public.
   *
   * `POST /auth/verify-email`, operation `verify_email`.
   */
  verifyEmail(body: LinkToken, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/verify-email", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Resend verification mail.
   *
   * Mails another link to verify the caller's e-mail address. At most three such mails per hour;
   * further requests are 429. Refused with 409 `invalid_state` if the address is verified.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /auth/resend-verification`, operation `resend_verification`.
   */
  resendVerification(options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/resend-verification", repeat: "change" },
      options,
    );
  }

  /**
   * Confirm new e-mail address.
   *
   * Confirms a requested e-mail address with the token mailed to it; the change takes effect. The
   * token works once, within 72 hours. All sessions of the account end, except the one that
   * requested the change. Refused with 409 `email_taken` if another account has got the address in
   * the meantime.
   *
   * **Access:** Public.
   *
   * `POST /auth/confirm-email`, operation `confirm_email`.
   */
  confirmEmail(body: LinkToken, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/confirm-email", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Cancel change of e-mail address.
   *
   * Cancels a change of an e-mail address with the token of the mail to the old address, within 7
   * days of the request. A change that was confirmed is undone, together with every later one. All
   * sessions, remembered devices and mailed links of the account end.
   *
   * **Access:** Public.
   *
   * `POST /auth/cancel-email-change`, operation `cancel_email_change`.
   */
  cancelEmailChange(body: LinkToken, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/auth/cancel-email-change", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get own profile.
   *
   * Returns the caller's account with its permission (staff) or its partnership (partners and
   * crew). In an impersonated session `impersonated_by` names the person who acts.
   *
   * **Access:** Every signed-in account.
   *
   * `GET /user/me`, operation `get_profile`.
   */
  getProfile(options?: Options): Promise<Profile> {
    return this.transport.data({ method: "GET", path: "/user/me", repeat: "read" }, options);
  }

  /**
   * Update own profile.
   *
   * Replaces name, phone and avatar. Another e-mail address requires `current_password` (422, rule
   * `required` or `wrong`; wrong passwords count towards the lockout) and becomes `pending_email`
   * until it is confirmed by a link to the new address; the old address gets a link to cancel.
   * Sending the current address changes nothing, also while a change is pending; a newer request
   * replaces it. At most five changes per hour (429). An impersonated session cannot change the
   * e-mail address.
   *
   * **Access:** Every signed-in account.
   *
   * `PUT /user/me`, operation `update_profile`.
   */
  updateProfile(body: UpdateProfile, options?: Options): Promise<Profile> {
    return this.transport.data(
      { method: "PUT", path: "/user/me", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Change own password.
   *
   * Replaces the caller's password after checking the current one. All other sessions end, a
   * pending change of the e-mail address is cancelled, and a confirmation is mailed. Admins and
   * staff without a second factor need at least 12 characters. Refused in an impersonated session;
   * wrong passwords count towards the lockout.
   *
   * **Access:** Every signed-in account.
   *
   * `PUT /user/me/password`, operation `change_password`.
   */
  changePassword(body: ChangePassword, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "PUT", path: "/user/me/password", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List own sessions.
   *
   * Lists the caller's open sessions with address, user agent and last use. The session of this
   * request has `current: true`.
   *
   * **Access:** Every signed-in account.
   *
   * `GET /user/me/sessions`, operation `list_sessions`.
   */
  listSessions(query: ListSessionsQuery = {}, options?: Options): Listing<OpenSession> {
    return this.transport.list(
      { method: "GET", path: "/user/me/sessions", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * End own session.
   *
   * Ends one of the caller's sessions. An unknown session, or one of another account, is 404.
   *
   * **Access:** Every signed-in account.
   *
   * `DELETE /user/me/sessions/{id}`, operation `end_session`.
   */
  endSession(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/user/me/sessions/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * Confirm own password.
   *
   * Confirms the caller's password, and a code if the account has a second factor, so that this
   * session may call operations that need a recent sign-in for another hour. Wrong passwords and
   * codes are 422 and count towards the lockout. Refused in an impersonated session.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /user/me/reauthenticate`, operation `reauthenticate`.
   */
  reauthenticate(body: Reauthenticate, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/user/me/reauthenticate", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Enrol second factor.
   *
   * Starts the enrolment of a second factor (TOTP, RFC 6238) and returns a secret for an
   * authenticator app, also as a QR code. It takes effect when it is confirmed, within 30 minutes.
   * Refused with 409 `invalid_state` while a second factor exists; a wrong password is 422 and
   * counts towards the lockout.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /user/me/totp`, operation `enrol_totp`.
   */
  enrolTotp(body: EnrolTotp, options?: Options): Promise<TotpEnrolment> {
    return this.transport.data(
      { method: "POST", path: "/user/me/totp", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Remove own second factor.
   *
   * Removes the caller's second factor. Needs the password and a code of the app or a recovery
   * code; a wrong one is 422 and counts towards the lockout. Refused in an impersonated session.
   *
   * **Access:** Every signed-in account.
   *
   * `DELETE /user/me/totp`, operation `remove_totp`.
   */
  removeTotp(body: RemoveTotp, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: "/user/me/totp", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Confirm second factor.
   *
   * Confirms the second factor with a code of the app and returns ten recovery codes, each of which
   * replaces a code once. They are not shown again. All other sessions and remembered devices of
   * the account end, and the account holder is notified by mail.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /user/me/totp/confirm`, operation `confirm_totp`.
   */
  confirmTotp(body: ConfirmTotp, options?: Options): Promise<RecoveryCodes> {
    return this.transport.data(
      { method: "POST", path: "/user/me/totp/confirm", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List users.
   *
   * Lists all accounts, with filters by role and status and a search in name and e-mail.
   *
   * **Access:** Admins; staff with `users.read`.
   *
   * `GET /v1/users`, operation `list_users`.
   */
  listUsers(query: ListUsersQuery = {}, options?: Options): Listing<User> {
    return this.transport.list(
      { method: "GET", path: "/v1/users", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Get user statistics.
   *
   * Counts accounts by role and status, and those created this month.
   *
   * **Access:** Admins; staff with `users.read`.
   *
   * `GET /v1/users/statistics`, operation `user_statistics`.
   */
  userStatistics(options?: Options): Promise<UserStatistics> {
    return this.transport.data(
      { method: "GET", path: "/v1/users/statistics", repeat: "read" },
      options,
    );
  }

  /**
   * Get user.
   *
   * Returns one account of any role: profile, status and last sign-in.
   *
   * **Access:** Admins; staff with `users.read`.
   *
   * `GET /v1/users/{id}`, operation `get_user`.
   */
  getUser(id: string, options?: Options): Promise<User> {
    return this.transport.data(
      { method: "GET", path: `/v1/users/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Invite admin.
   *
   * Creates an admin account and mails an invitation that is valid for 72 hours. Refused with 409
   * `email_taken` if the e-mail address is in use.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/users/admins`, operation `invite_admin`.
   */
  inviteAdmin(body: InviteAdmin, options?: Options): Promise<User> {
    return this.transport.data(
      { method: "POST", path: "/v1/users/admins", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Update admin status.
   *
   * Activates or deactivates an admin. A deactivated admin is signed out at once. Refused with 409
   * for oneself, for the last active admin, and for accounts that are not admins.
   *
   * **Access:** Admins.
   *
   * `PUT /v1/users/{id}/status`, operation `change_admin_status`.
   */
  changeAdminStatus(id: string, body: ChangeAdminStatus, options?: Options): Promise<User> {
    return this.transport.data(
      { method: "PUT", path: `/v1/users/${segment(id)}/status`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Reset second factor of an account.
   *
   * Removes the second factor of another account whose holder has lost the phone. The account's
   * sessions end and the account holder is notified by mail. Refused with 409 `invalid_state` for
   * oneself, and if there is none.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `DELETE /v1/users/{id}/totp`, operation `reset_totp`.
   */
  resetTotp(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/users/${segment(id)}/totp`, repeat: "change" },
      options,
    );
  }
}

/** Staff members, the permissions that they hold, and the audit log of what anybody changed. */
export class StaffApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List staff members.
   *
   * Lists staff with a summary by status. Salaries are null and account numbers masked for callers
   * who may not see them.
   *
   * **Access:** Admins; staff with `staff.read`.
   *
   * `GET /v1/staffs`, operation `list_staff`.
   */
  list(query: ListStaffQuery = {}, options?: Options): Listing<Staff, ListStaffBody> {
    return this.transport.list(
      { method: "GET", path: "/v1/staffs", repeat: "read", query },
      { pageIn: "query", items: "items" },
      options,
    );
  }

  /**
   * Create staff member.
   *
   * Creates a staff member with an account and mails an invitation. Staff can only assign
   * permissions of a lower level than their own, with rules that they hold themselves (403).
   *
   * **Access:** Admins; staff with `staff.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/staff`, operation `create_staff`.
   */
  create(body: StaffForm, options?: Options): Promise<Staff> {
    return this.transport.data(
      { method: "POST", path: "/v1/staff", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get staff member.
   *
   * Returns one staff member. The salary is null if none is recorded. For callers who may not see
   * them it is null, too, and the account number is masked.
   *
   * **Access:** Admins; staff with `staff.read`.
   *
   * `GET /v1/staff/{id}`, operation `get_staff`.
   */
  get(id: string, options?: Options): Promise<Staff> {
    return this.transport.data(
      { method: "GET", path: `/v1/staff/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update staff member.
   *
   * Replaces the data of a staff member. A `salary` of null removes the salary; from callers who
   * may not see it, null keeps it. Another e-mail address becomes `pending_email` until it is
   * confirmed by a link to the new address; that of a member who has not accepted the invitation
   * changes at once. Staff can only change members of a lower level than their own (403). A member
   * who is set to `inactive` is signed out.
   *
   * **Access:** Admins; staff with `staff.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `PUT /v1/staff/{id}`, operation `update_staff`.
   */
  update(id: string, body: StaffForm, options?: Options): Promise<Staff> {
    return this.transport.data(
      { method: "PUT", path: `/v1/staff/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete staff member.
   *
   * Deletes a staff member and ends the sessions of its account. Staff can only delete members of a
   * lower level than their own (403).
   *
   * **Access:** Admins; staff with `staff.write`.
   *
   * `DELETE /v1/staff/{id}`, operation `delete_staff`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/staff/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * List permissions.
   *
   * Lists permissions with the number of staff who hold each.
   *
   * **Access:** Admins; staff with `permissions.read`.
   *
   * `GET /v1/permissions`, operation `list_permissions`.
   */
  listPermissions(query: ListPermissionsQuery = {}, options?: Options): Listing<Permission> {
    return this.transport.list(
      { method: "GET", path: "/v1/permissions", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create permission.
   *
   * Creates a permission: a name, a level and a set of rules. Staff can only create permissions of
   * a lower level than their own, with rules that they hold themselves (403). Refused with 409 if
   * the name exists.
   *
   * **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/permission`, operation `create_permission`.
   */
  createPermission(body: PermissionForm, options?: Options): Promise<Permission> {
    return this.transport.data(
      { method: "POST", path: "/v1/permission", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List permission rules.
   *
   * Returns the catalogue of rules by group, with labels in the language of the request.
   *
   * **Access:** Admins; staff with `permissions.read`.
   *
   * `GET /v1/permission/rules`, operation `get_permission_rules`.
   */
  getPermissionRules(options?: Options): Promise<RuleGroup[]> {
    return this.transport.data(
      { method: "GET", path: "/v1/permission/rules", repeat: "read" },
      options,
    );
  }

  /**
   * Get permission.
   *
   * Returns one permission.
   *
   * **Access:** Admins; staff with `permissions.read`.
   *
   * `GET /v1/permission/{id}`, operation `get_permission`.
   */
  getPermission(id: string, options?: Options): Promise<Permission> {
    return this.transport.data(
      { method: "GET", path: `/v1/permission/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update permission.
   *
   * Replaces a permission. Takes effect with the next request of every staff member who holds it.
   * The same limits apply as for its creation.
   *
   * **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `PUT /v1/permission/{id}`, operation `update_permission`.
   */
  updatePermission(id: string, body: PermissionForm, options?: Options): Promise<Permission> {
    return this.transport.data(
      { method: "PUT", path: `/v1/permission/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete permission.
   *
   * Deletes a permission. Refused with 409 `in_use` while staff hold it.
   *
   * **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `DELETE /v1/permission/{id}`, operation `delete_permission`.
   */
  deletePermission(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/permission/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * List audit log entries.
   *
   * Lists audit entries: who changed which record, when, from where, with the state before and
   * after. What partners do for themselves is not recorded, except their corrections of bookings.
   * Filter by actor, entity, action and time. Of personal fields the log holds which ones changed
   * (`"[personal]"`), not their values; unchanged ones are left out of an update. Secrets are not
   * in the log. With `format=csv` everything that is found is sent as a file, at most 50,000 rows.
   *
   * **Access:** Admins; staff with `audit.read`.
   *
   * `GET /v1/audit-logs`, operation `list_audit_logs`.
   */
  listAuditLogs(query: ListAuditLogsQuery = {}, options?: Options): Listing<AuditLog> {
    return this.transport.list(
      { method: "GET", path: "/v1/audit-logs", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List audit log entries, as a file. Pages do not apply.
   *
   * `GET /v1/audit-logs`, operation `list_audit_logs`.
   */
  listAuditLogsFile(
    format: "csv",
    query: Omit<ListAuditLogsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/audit-logs", repeat: "read", query: { ...query, format } },
      options,
    );
  }
}

/**
 * Boat operators ("mitra"): onboarding with documents and bank account, review, suspension,
 * impersonation, and their crew.
 */
export class PartnersApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get own onboarding.
   *
   * Returns the calling partner's business data, documents and bank account, with the steps that
   * are still incomplete. `bank_account_status` and `bank_account_note` say what became of the bank
   * account; `approved_bank_account` is the one that settlements are paid to.
   *
   * **Access:** Partners.
   *
   * `GET /v1/mitra/onboarding`, operation `get_onboarding`.
   */
  getOnboarding(options?: Options): Promise<Onboarding> {
    return this.transport.data(
      { method: "GET", path: "/v1/mitra/onboarding", repeat: "read" },
      options,
    );
  }

  /**
   * Update or submit own onboarding.
   *
   * Saves parts of the onboarding; fields that are left out stay as they are. With `submit: true`
   * it is handed in for review, which requires a verified e-mail address (409 `email_unverified`)
   * and every step to be complete (422 names what is missing). An individual needs neither NIB nor
   * NPWP. A changed bank account holds settlements until it is reviewed; going back to the approved
   * one needs no review. Reviewers are notified of a changed account and of documents that are
   * replaced after the submission. The bank account cannot be changed while impersonating (403).
   *
   * **Access:** Partners.
   *
   * `PATCH /v1/mitra/onboarding`, operation `update_onboarding`.
   */
  updateOnboarding(body: OnboardingForm, options?: Options): Promise<Onboarding> {
    return this.transport.data(
      { method: "PATCH", path: "/v1/mitra/onboarding", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List partners.
   *
   * Lists partners, with filters by status and type and a search in name and e-mail.
   * `awaiting_review=true` finds those with documents to review, `bank_account_status=pending`
   * those with a changed bank account to approve. With `format=csv` everything that is found is
   * sent as a file, at most 50,000 rows.
   *
   * **Access:** Admins; staff with `partners.read`.
   *
   * `GET /v1/mitra/manajemen`, operation `list_partners`.
   */
  list(query: ListPartnersQuery = {}, options?: Options): Listing<Partner> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/manajemen", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List partners, as a file. Pages do not apply.
   *
   * `GET /v1/mitra/manajemen`, operation `list_partners`.
   */
  listFile(
    format: "csv",
    query: Omit<ListPartnersQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/mitra/manajemen", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Create partner.
   *
   * Creates a partner with an account and mails an invitation that is valid for 72 hours. Refused
   * with 409 `email_taken` if the e-mail address is in use.
   *
   * **Access:** Admins; staff with `partners.write`.
   *
   * `POST /v1/mitra/manajemen`, operation `create_partner`.
   */
  create(body: PartnerForm, options?: Options): Promise<Partner> {
    return this.transport.data(
      { method: "POST", path: "/v1/mitra/manajemen", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get partner statistics.
   *
   * Counts partners by status and type, those awaiting review and those created this month.
   *
   * **Access:** Admins; staff with `partners.read`.
   *
   * `GET /v1/mitra/manajemen/statistics`, operation `partner_statistics`.
   */
  statistics(options?: Options): Promise<PartnerStatistics> {
    return this.transport.data(
      { method: "GET", path: "/v1/mitra/manajemen/statistics", repeat: "read" },
      options,
    );
  }

  /**
   * Update partner.
   *
   * Replaces name, phone, address, type and commission rate of a partner. Another e-mail address
   * becomes `pending_email` until the new address confirms it; the old address gets a link to
   * cancel. If the invitation was not accepted yet, the address changes at once. The type is fixed
   * once documents were handed in (409).
   *
   * **Access:** Admins; staff with `partners.write`.
   *
   * `PUT /v1/mitra/manajemen/{id}`, operation `update_partner`.
   */
  update(id: string, body: PartnerForm, options?: Options): Promise<Partner> {
    return this.transport.data(
      { method: "PUT", path: `/v1/mitra/manajemen/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get partner for editing.
   *
   * Returns a partner together with its onboarding data, as an edit form needs it. Numbers are
   * masked for callers who may not approve partners.
   *
   * **Access:** Admins; staff with `partners.read`.
   *
   * `GET /v1/mitra/manajemen/{id}/edit`, operation `edit_partner`.
   */
  getForEditing(id: string, options?: Options): Promise<PartnerEdit> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/manajemen/${segment(id)}/edit`, repeat: "read" },
      options,
    );
  }

  /**
   * Get partner overview.
   *
   * Returns a partner with figures of its fleet, bookings and finance, and its latest bookings.
   *
   * **Access:** Admins; staff with `partners.read`.
   *
   * `GET /v1/mitra/manajemen/{id}/overview`, operation `partner_overview`.
   */
  overview(id: string, options?: Options): Promise<PartnerOverview> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/manajemen/${segment(id)}/overview`, repeat: "read" },
      options,
    );
  }

  /**
   * List partner documents.
   *
   * Lists the current documents of a partner. File addresses are signed, valid for five minutes and
   * present only for callers who may approve partners.
   *
   * **Access:** Admins; staff with `partners.read`.
   *
   * `GET /v1/mitra/manajemen/{id}/documents`, operation `list_documents`.
   */
  listDocuments(id: string, options?: Options): Promise<Document[]> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/manajemen/${segment(id)}/documents`, repeat: "read" },
      options,
    );
  }

  /**
   * Review partner document.
   *
   * Approves or rejects one document. All submitted documents are reviewed in one round. A
   * rejection needs a note, is mailed to the partner and moves it to `revision`; the other
   * documents stay open. A decision can be changed until the partner submits again. If the last
   * rejection is taken back, the partner is in review again. The last approval activates the
   * partner. A document that was replaced, or is not submitted yet, is refused with 409. The bank
   * book of a partner that was never active proves its bank account and is approved like it (409
   * `same_person`).
   *
   * **Access:** Admins; staff with `partners.approve`.
   *
   * `PUT /v1/mitra/manajemen/{id}/document-approval`, operation `review_document`.
   */
  reviewDocument(id: string, body: DocumentReview, options?: Options): Promise<Reviewed> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/mitra/manajemen/${segment(id)}/document-approval`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Review partner bank account.
   *
   * Approves or rejects a changed bank account. A rejection needs a note, which is mailed to the
   * partner, and leaves the last approved account in force. Either verdict ends the hold of
   * settlements. `account_number`, `bank_code` and `account_name` state what the reviewer has seen;
   * if the account has changed meanwhile the request is refused with 409. Unless the service is
   * configured otherwise, whoever last changed the account or the e-mail address of the partner, or
   * invited it, cannot approve (409 `same_person`).
   *
   * **Access:** Admins; staff with `partners.approve`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `PUT /v1/mitra/manajemen/{id}/bank-approval`, operation `approve_bank_account`.
   */
  approveBankAccount(id: string, body: BankApproval, options?: Options): Promise<Partner> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/mitra/manajemen/${segment(id)}/bank-approval`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Suspend partner.
   *
   * Suspends a partner: its sessions end, its sailings are no longer offered and its settlements
   * are held. Paid bookings stay valid, and the partner's crew can still board their passengers.
   * The reason is mailed to the partner.
   *
   * **Access:** Admins; staff with `partners.suspend`.
   *
   * `POST /v1/mitra/manajemen/{id}/suspend`, operation `suspend_partner`.
   */
  suspend(id: string, body: Suspension, options?: Options): Promise<Partner> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/manajemen/${segment(id)}/suspend`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Lift partner suspension.
   *
   * Lifts a suspension. The partner can sign in again and its sailings are offered as before.
   *
   * **Access:** Admins; staff with `partners.suspend`.
   *
   * `POST /v1/mitra/manajemen/{id}/unsuspend`, operation `unsuspend_partner`.
   */
  unsuspend(id: string, options?: Options): Promise<Partner> {
    return this.transport.data(
      { method: "POST", path: `/v1/mitra/manajemen/${segment(id)}/unsuspend`, repeat: "change" },
      options,
    );
  }

  /**
   * Impersonate partner.
   *
   * Opens a short session as the partner. An operation needs the rule that guards it for staff as
   * well: cancelling a booking needs `bookings.write`; what only partners do needs `partners.read`
   * or, for a change, `partners.write`. Every change in it is recorded in the audit log with the
   * caller as actor. It cannot change passwords, e-mail addresses or bank accounts, and cannot be
   * renewed.
   *
   * **Access:** Admins; staff with `partners.impersonate`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/mitra/manajemen/{id}/impersonate`, operation `impersonate_partner`.
   */
  impersonate(id: string, options?: Options): Promise<Impersonation> {
    return this.transport.data(
      { method: "POST", path: `/v1/mitra/manajemen/${segment(id)}/impersonate`, repeat: "change" },
      options,
    );
  }

  /**
   * Resend partner invitation.
   *
   * Mails a new invitation and invalidates the earlier one. Refused with 409 once the partner has
   * set a password.
   *
   * **Access:** Admins; staff with `partners.write`.
   *
   * `POST /v1/mitra/manajemen/{id}/resend-invitation`, operation `resend_invitation`.
   */
  resendInvitation(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/manajemen/${segment(id)}/resend-invitation`,
        repeat: "change",
      },
      options,
    );
  }

  /**
   * List own crew.
   *
   * Lists the calling partner's crew, newest first, with a search in name, e-mail and phone.
   * `invited` is true until the invitation is accepted.
   *
   * **Access:** Partners.
   *
   * `GET /v1/mitra/crew`, operation `list_crew`.
   */
  listCrew(query: ListCrewQuery = {}, options?: Options): Listing<CrewMember> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/crew", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Invite crew member.
   *
   * Creates an account with role `crew` and mails an invitation that is valid for 72 hours. Crew
   * sees the partner's sailings and manifests with masked identity numbers, checks passengers in,
   * undoes check-ins and closes manifests. Refused with 409: `email_taken` if the e-mail address is
   * in use, `invalid_state` unless the partner is active, `quota_exceeded` if it has 100 crew
   * members already.
   *
   * **Access:** Partners.
   *
   * `POST /v1/mitra/crew`, operation `invite_crew`.
   */
  inviteCrew(body: InviteCrew, options?: Options): Promise<CrewMember> {
    return this.transport.data(
      { method: "POST", path: "/v1/mitra/crew", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Remove crew member.
   *
   * Deletes the account of a crew member. Its sessions end at once and its e-mail address becomes
   * available. Crew of another partner is 404.
   *
   * **Access:** Partners.
   *
   * `DELETE /v1/mitra/crew/{id}`, operation `remove_crew`.
   */
  removeCrew(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/mitra/crew/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * Resend crew invitation.
   *
   * Mails a new invitation and invalidates the earlier one. Refused with 409 once the crew member
   * has set a password, and with 429 within five minutes of the last invitation.
   *
   * **Access:** Partners.
   *
   * `POST /v1/mitra/crew/{id}/resend-invitation`, operation `resend_crew_invitation`.
   */
  resendCrewInvitation(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: `/v1/mitra/crew/${segment(id)}/resend-invitation`, repeat: "change" },
      options,
    );
  }
}

/** Speedboats of the partners. */
export class FleetApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List speedboats of one partner.
   *
   * Lists the speedboats of one partner: the caller's own, or the one that admins and staff name by
   * `mitra_id`.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.read`.
   *
   * `GET /v1/mitra/speedboats`, operation `list_own_speedboats`.
   */
  listOwnSpeedboats(query: ListOwnSpeedboatsQuery = {}, options?: Options): Listing<Speedboat> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/speedboats", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List speedboats.
   *
   * Lists speedboats: a partner's own, or those of all partners for admins and staff.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.read`.
   *
   * `GET /v1/speedboats`, operation `list_speedboats`.
   */
  listSpeedboats(query: ListSpeedboatsQuery = {}, options?: Options): Listing<Speedboat> {
    return this.transport.list(
      { method: "GET", path: "/v1/speedboats", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create speedboat.
   *
   * Adds a speedboat. Admins and staff name the owner by `mitra_id`. Refused with 409
   * `already_exists` if the registration number exists.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.write`.
   *
   * `POST /v1/speedboats`, operation `create_speedboat`.
   */
  createSpeedboat(body: NewSpeedboat, options?: Options): Promise<Speedboat> {
    return this.transport.data(
      { method: "POST", path: "/v1/speedboats", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get fleet summary.
   *
   * Counts speedboats by status, with the total capacity and the number of upcoming sailings.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.read`.
   *
   * `GET /v1/speedboats/summary`, operation `speedboat_summary`.
   */
  speedboatSummary(
    query: SpeedboatSummaryQuery = {},
    options?: Options,
  ): Promise<SpeedboatSummary> {
    return this.transport.data(
      { method: "GET", path: "/v1/speedboats/summary", repeat: "read", query },
      options,
    );
  }

  /**
   * Get speedboat.
   *
   * Returns one speedboat. A partner sees its own only.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.read`.
   *
   * `GET /v1/speedboats/{id}`, operation `get_speedboat`.
   */
  getSpeedboat(id: string, options?: Options): Promise<Speedboat> {
    return this.transport.data(
      { method: "GET", path: `/v1/speedboats/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update speedboat.
   *
   * Replaces the data of a speedboat. A new capacity applies to every sailing that has not departed
   * and is refused with 409 `in_use` if more seats than that are sold.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.write`.
   *
   * `PUT /v1/speedboats/{id}`, operation `update_speedboat`.
   */
  updateSpeedboat(id: string, body: SpeedboatChange, options?: Options): Promise<Speedboat> {
    return this.transport.data(
      { method: "PUT", path: `/v1/speedboats/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete speedboat.
   *
   * Deletes a speedboat, withdraws its empty sailings and archives its routes, except those that
   * have upcoming sailings of other boats. Refused with 409 `in_use` while upcoming sailings have
   * bookings.
   *
   * **Access:** Partners for their own; admins; staff with `fleet.write`.
   *
   * `DELETE /v1/speedboats/{id}`, operation `delete_speedboat`.
   */
  deleteSpeedboat(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/speedboats/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * Get catalog speedboat.
   *
   * Returns a speedboat as customers see it: capacity, facilities, description and photos. Public.
   * Responses may be up to 5 seconds old. 404 unless the boat is in service and its partner is
   * active.
   *
   * **Access:** Public.
   *
   * `GET /v1/catalog/speedboats/{id}`, operation `get_catalog_speedboat`.
   */
  getCatalogSpeedboat(id: string, options?: Options): Promise<CatalogSpeedboat> {
    return this.transport.data(
      { method: "GET", path: `/v1/catalog/speedboats/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * List catalog partners.
   *
   * Lists the partners whose sailings can be booked, in the order of their addresses. For sitemaps
   * and directories.
   *
   * **Access:** Public.
   *
   * `GET /v1/catalog/partners`, operation `list_catalog_partners`.
   */
  listCatalogPartners(
    query: ListCatalogPartnersQuery = {},
    options?: Options,
  ): Listing<CatalogEntry> {
    return this.transport.list(
      { method: "GET", path: "/v1/catalog/partners", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Get catalog partner.
   *
   * Returns what customers may know of a partner: its lines with published sailings and its boats
   * in service. `slug` is the last part of its public page `/p/{slug}`; the partner's id is
   * accepted as well. A partner that is suspended or not approved yet is not found.
   *
   * **Access:** Public.
   *
   * `GET /v1/catalog/partners/{slug}`, operation `get_catalog_partner`.
   */
  getCatalogPartner(slug: string, options?: Options): Promise<CatalogPartner> {
    return this.transport.data(
      { method: "GET", path: `/v1/catalog/partners/${segment(slug)}`, repeat: "read" },
      options,
    );
  }
}

/**
 * Routes, the dated sailings that they publish, and the public search. A route is a draft until it
 * is published; publishing creates its sailings.
 */
export class RoutesApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Search sailings.
   *
   * Searches sailings between two harbours on one day with enough free seats. Harbours are found by
   * name or alias. `return_date` adds the return journey. `fares` has what each kind of passenger
   * pays. Public. Responses may be up to 5 seconds old; availability is checked again when booking.
   * Only the first 2,000 sailings of a day are searched.
   *
   * **Access:** Public.
   *
   * `POST /v1/speedboats/search`, operation `search_sailings`.
   */
  searchSailings(body: SearchForm, options?: Options): Listing<Offer, SearchSailingsBody> {
    return this.transport.list(
      { method: "POST", path: "/v1/speedboats/search", repeat: "read", json: body },
      { pageIn: "json" },
      options,
    );
  }

  /**
   * List locations.
   *
   * Lists harbours with upcoming sailings, each with its other names, its position and its
   * destinations. Public. Responses may be up to 5 seconds old.
   *
   * **Access:** Public.
   *
   * `GET /v1/speedboats/locations`, operation `list_locations`.
   */
  listLocations(options?: Options): Promise<Location[]> {
    return this.transport.data(
      { method: "GET", path: "/v1/speedboats/locations", repeat: "read" },
      options,
    );
  }

  /**
   * List routes.
   *
   * Lists routes with their departure times: a partner's own, or those of all partners for admins
   * and staff.
   *
   * **Access:** Partners for their own; admins; staff with `routes.read`.
   *
   * `GET /v1/mitra/speedboat-routes`, operation `list_routes`.
   */
  list(query: ListRoutesQuery = {}, options?: Options): Listing<Route> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/speedboat-routes", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create route.
   *
   * Creates a route as a draft. Nothing is on sale until it is published. `from` and `to` are
   * matched to harbours by name or alias; an unknown name makes an unverified harbour, and is
   * refused on its field (rule `max`) if the partner has 50 of them that no published route uses.
   * `timezone` defaults to that of the harbour of departure (of an unverified one: to that of the
   * partner's newest route there), and one that contradicts a verified harbour is refused. Times of
   * arrival are local to the harbour of arrival. Accepts an `Idempotency-Key`.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `POST /v1/mitra/speedboat-routes`, operation `create_route`.
   */
  create(body: RouteForm, options?: KeyedOptions): Promise<Route> {
    return this.transport.data(
      { method: "POST", path: "/v1/mitra/speedboat-routes", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Get route.
   *
   * Returns one route with its departure times. A partner sees its own only.
   *
   * **Access:** Partners for their own; admins; staff with `routes.read`.
   *
   * `GET /v1/mitra/speedboat-routes/{id}`, operation `get_route`.
   */
  get(id: string, options?: Options): Promise<Route> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/speedboat-routes/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update route.
   *
   * Replaces a draft. A published or archived route is refused with 409.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `PUT /v1/mitra/speedboat-routes/{id}`, operation `update_route`.
   */
  update(id: string, body: RouteForm, options?: Options): Promise<Route> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/mitra/speedboat-routes/${segment(id)}`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Delete or archive route.
   *
   * Deletes a draft, or archives a published route. Archiving withdraws sailings without bookings;
   * sailings with bookings take place.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `DELETE /v1/mitra/speedboat-routes/{id}`, operation `delete_route`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/mitra/speedboat-routes/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * Publish route (GET).
   *
   * Creates every future sailing of a draft and puts them on sale, all or none. Refused with 409 if
   * the boat or the partner is not active, if a harbour has got another time zone since the draft
   * was saved, or if the boat would be in two places at once. Publishing again changes nothing.
   * Kept for existing clients: use POST where possible; HEAD requests and prefetches are refused.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `GET /v1/mitra/speedboat-routes/{id}/publish`, operation `publish_route`.
   */
  publishByGet(id: string, options?: Options): Promise<Route> {
    return this.transport.data(
      {
        method: "GET",
        path: `/v1/mitra/speedboat-routes/${segment(id)}/publish`,
        repeat: "change",
      },
      options,
    );
  }

  /**
   * Publish route.
   *
   * Creates every future sailing of a draft and puts them on sale, all or none. Refused with 409 if
   * the boat or the partner is not active, if a harbour has got another time zone since the draft
   * was saved, or if the boat would be in two places at once. Publishing again changes nothing.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `POST /v1/mitra/speedboat-routes/{id}/publish`, operation `publish_route_by_post`.
   */
  publish(id: string, options?: Options): Promise<Route> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/speedboat-routes/${segment(id)}/publish`,
        repeat: "change",
      },
      options,
    );
  }

  /**
   * List sailings of a route.
   *
   * Lists the sailings of a route with capacity, seats taken and status. Filter by day.
   *
   * **Access:** Partners for their own; admins; staff with `routes.read`.
   *
   * `GET /v1/mitra/speedboat-routes/{id}/times`, operation `list_sailings`.
   */
  listSailings(id: string, query: ListSailingsQuery = {}, options?: Options): Listing<Sailing> {
    return this.transport.list(
      {
        method: "GET",
        path: `/v1/mitra/speedboat-routes/${segment(id)}/times`,
        repeat: "read",
        query,
      },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List lines.
   *
   * Lists lines: a partner's own, or those of all partners for admins and staff. A line is what all
   * routes of a partner between two harbours have in common. It is made with the first of them.
   *
   * **Access:** Partners for their own; admins; staff with `routes.read`.
   *
   * `GET /v1/mitra/lines`, operation `list_lines`.
   */
  listLines(query: ListLinesQuery = {}, options?: Options): Listing<Line> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/lines", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Get line.
   *
   * Returns one line with its fares. The line of another partner is 404.
   *
   * **Access:** Partners for their own; admins; staff with `routes.read`.
   *
   * `GET /v1/mitra/lines/{id}`, operation `get_line`.
   */
  getLine(id: string, options?: Options): Promise<Line> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/lines/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update line.
   *
   * Updates the fares of a line, and when its sale ends. Fields that are left out keep their
   * values. A fare costs a percentage of the sailing's price, rounded half up, or a fixed amount;
   * its key follows from category and residency. The first fare is the default of a passenger. A
   * fare without a seat can be free, one with a seat costs at least 1 percent or 1,000 rupiah. New
   * bookings of all its sailings have the new fares; bookings that were made before keep theirs.
   * `resale`, `day_ticket`, `names` and `max_party` are for resellers.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `PUT /v1/mitra/lines/{id}`, operation `update_line`.
   */
  updateLine(id: string, body: LineForm, options?: Options): Promise<Line> {
    return this.transport.data(
      { method: "PUT", path: `/v1/mitra/lines/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Extend route.
   *
   * Publishes more days of a published route with its own times, prices and boat, all or none, and
   * moves its `end_date`. With `speedboat_id` another boat of the partner sails the added days and
   * is the boat of the route from then on. It must be in service, as the boat of the route must be
   * without it: refused with 422 on `speedboat_id`, rule `unknown` or `not_active`. Refused with
   * 422 for an earlier `end_date` than now or more than 366 days ahead, and with 409 as publishing
   * is. The same `end_date` again changes nothing. Prices and boats that were changed on sailings
   * are not those of the route.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `POST /v1/mitra/speedboat-routes/{id}/extend`, operation `extend_route`.
   */
  extend(id: string, body: ExtendRoute, options?: Options): Promise<Route> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/speedboat-routes/${segment(id)}/extend`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Update sailings of a route.
   *
   * Changes the sailings of a route in a period of at most 366 days, limited to some `days` and
   * `departure_times` if given, in one transaction. `set` has the new values as in
   * `update_sailing`, or `withdraw: true`, which takes sailings without bookings off sale.
   *
   * Sailings that cannot be changed are skipped with a reason: `withdrawn`, `cancelled`,
   * `departed`, `manifest_closed`, `in_use` (bookings, or more seats sold than the boat has),
   * `schedule_conflict`, `past` (the new departure). The old time of a sailing that is moved by the
   * same request counts as taken. `skipped` has at most 500 sailings, `skipped_count` counts all.
   * Everyone who booked is told once per booking; the partner and staff are notified of moved
   * sailings with bookings.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `PATCH /v1/mitra/speedboat-routes/{id}/sailings`, operation `update_sailings`.
   */
  updateSailings(id: string, body: UpdateSailings, options?: Options): Promise<UpdatedSailings> {
    return this.transport.data(
      {
        method: "PATCH",
        path: `/v1/mitra/speedboat-routes/${segment(id)}/sailings`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Update sailing.
   *
   * Changes a published sailing: its times, and optionally its day, its price or its boat. Fields
   * that are left out keep their value; a new departure without an arrival keeps the duration.
   *
   * A new price is for new bookings. Another boat must be in service (422), free at that time (409
   * `schedule_conflict`) and large enough for the seats sold (409 `in_use` with `data.seats_taken`;
   * a chartered boat is not replaced by a smaller one). Bookings stay valid, and everyone who
   * booked is notified by mail of a new time or of a boat with another name; a change of 30 minutes
   * or more entitles them to cancel or reschedule free of charge. `reason` is required when the
   * time of a sailing with bookings changes. The partner and staff are notified of a new time; of a
   * sailing without bookings only the partner, if somebody else moved it.
   *
   * Refused with 409 `withdrawn`, `cancelled`, `departed` or `manifest_closed`. A sailing that
   * should have departed can be given a later departure until its time of arrival.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `PUT /v1/mitra/route-times/{id}`, operation `update_sailing`.
   */
  updateSailing(id: string, body: UpdateSailing, options?: Options): Promise<UpdatedSailing> {
    return this.transport.data(
      { method: "PUT", path: `/v1/mitra/route-times/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Cancel sailing.
   *
   * Cancels a sailing and all of its bookings. Paid bookings become `refund_pending` with the full
   * amount, unpaid ones are cancelled, and everyone who booked is notified by mail. The partner and
   * staff are notified; of a sailing without bookings only the partner, if somebody else cancelled
   * it. Refused with 409 once it has departed or was cancelled.
   *
   * **Access:** Partners for their own; admins; staff with `routes.write`.
   *
   * `POST /v1/mitra/route-times/{id}/cancel`, operation `cancel_sailing`.
   */
  cancelSailing(id: string, body: CancelSailing, options?: Options): Promise<CancelledSailing> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/route-times/${segment(id)}/cancel`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/**
 * Where routes start and end. A route names its harbours in free text; the names are matched to
 * harbours by name or alias, without regard to case, accents and repeated spaces. An unknown name
 * makes an unverified harbour.
 */
export class HarboursApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List harbours.
   *
   * Lists harbours by name. Search covers names, aliases, city and province, without regard to
   * accents. Public. The service brings the larger harbours of Indonesia as verified ones.
   * Unverified ones are listed while a published route uses them; a partner also sees those of its
   * own routes, and whoever has the rule `harbours.write` sees all.
   *
   * **Access:** Public; a bearer token identifies the caller.
   *
   * `GET /v1/harbours`, operation `list_harbours`.
   */
  list(query: ListHarboursQuery = {}, options?: Options): Listing<Harbour> {
    return this.transport.list(
      { method: "GET", path: "/v1/harbours", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create harbour.
   *
   * Creates a harbour, verified unless stated otherwise. A name or alias that another harbour has
   * is refused with 409 `already_exists`; `data.harbour` says which one.
   *
   * **Access:** Admins; staff with `harbours.write`.
   *
   * `POST /v1/harbours`, operation `create_harbour`.
   */
  create(body: NewHarbour, options?: Options): Promise<Harbour> {
    return this.transport.data(
      { method: "POST", path: "/v1/harbours", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Update harbour.
   *
   * Changes a harbour. Fields that are left out keep their value, null clears. A harbour that gets
   * another name keeps the old one as an alias, unless `aliases` are given. The time zone of a
   * verified harbour that routes use cannot be changed (409 `in_use`); that of an unverified one
   * applies to routes that are saved afterwards.
   *
   * **Access:** Admins; staff with `harbours.write`.
   *
   * `PUT /v1/harbours/{id}`, operation `update_harbour`.
   */
  update(id: string, body: HarbourChange, options?: Options): Promise<Harbour> {
    return this.transport.data(
      { method: "PUT", path: `/v1/harbours/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete harbour.
   *
   * Deletes a harbour that no route uses. Refused with 409 `in_use` otherwise: merge it into
   * another one instead.
   *
   * **Access:** Admins; staff with `harbours.write`.
   *
   * `DELETE /v1/harbours/{id}`, operation `delete_harbour`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/harbours/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * Merge harbour into another.
   *
   * Moves all routes and sailings of a harbour to another one, which also takes over its names as
   * aliases, and deletes it. Times of sailings do not change. The sailings of a harbour wait with
   * their sales until it is done: up to a minute for 100,000 of them on PostgreSQL. Refused with
   * 409 `connected` if a route runs between the two, and with 409 `in_use` if the harbour is
   * verified, has routes and lies in another time zone.
   *
   * **Access:** Admins; staff with `harbours.write`.
   *
   * `POST /v1/harbours/{id}/merge`, operation `merge_harbour`.
   */
  merge(id: string, body: MergeHarbour, options?: Options): Promise<Harbour> {
    return this.transport.data(
      { method: "POST", path: `/v1/harbours/${segment(id)}/merge`, repeat: "change", json: body },
      options,
    );
  }
}

/**
 * Bookings of passengers, made by guests or by partners and staff on their behalf. A guest proves
 * ownership by the booking's `code` and the contact `email`.
 */
export class BookingsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List bookings.
   *
   * Lists bookings: all of them for admins and staff, a partner's own, or the one booking that a
   * guest names by `code` and `email`. `refund_due=true` finds those with a refund that is not paid
   * yet. The search looks in codes, the name, e-mail address and phone number of the contact, and
   * names of passengers. Fewer than three characters are searched in the first 5,000 bookings of
   * the list. With `format=csv` all bookings that are found are sent as a file, at most 50,000
   * (otherwise 422 `max_items`); pages do not apply. Identity numbers are masked unless the caller
   * may read them.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.read`.
   *
   * `GET /v1/booking`, operation `list_bookings`.
   */
  list(query: ListBookingsQuery = {}, options?: Options): Listing<Booking> {
    return this.transport.list(
      { method: "GET", path: "/v1/booking", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List bookings, as a file. Pages do not apply.
   *
   * `GET /v1/booking`, operation `list_bookings`.
   */
  listFile(
    format: "csv",
    query: Omit<ListBookingsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/booking", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Create booking.
   *
   * Books seats, or a whole boat with type `charter`, and holds them until `expires_at`; the
   * customer pays at `payment.redirect_url`. Each passenger has a fare of the line: `fare`, or its
   * first one; a passenger whose fare has no seat needs an adult of their own. The booking keeps
   * the prices of its fares in `price.lines` and with the passengers. Charters ignore fares.
   * Refused with 409 `sold_out` (with `available_seats`), or `too_many_holds` for guests with too
   * many unpaid bookings. Sends a payment mail. Accepts an `Idempotency-Key`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `POST /v1/booking`, operation `create_booking`.
   */
  create(body: BookingForm, options?: KeyedOptions): Promise<Booking> {
    return this.transport.data(
      { method: "POST", path: "/v1/booking", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Validate promotion code.
   *
   * Checks whether a promotion code can be used for an offer by the caller and returns the
   * discounted price. Nothing is reserved. Public; codes that the platform pays for are
   * `not_applicable` when a partner asks.
   *
   * **Access:** Public; a bearer token identifies the caller.
   *
   * `POST /v1/booking/validate-code-promo`, operation `validate_promo`.
   */
  validatePromo(body: ValidatePromo, options?: Options): Promise<PromoVerdict> {
    return this.transport.data(
      { method: "POST", path: "/v1/booking/validate-code-promo", repeat: "read", json: body },
      options,
    );
  }

  /**
   * Quote booking.
   *
   * Returns what a booking would cost: the price is that of the booking to the rupiah, with the
   * same fares, promotion and taxes, as long as nothing changes. `fares` lists what a passenger can
   * travel at on this sailing. Nothing is reserved or stored. A promotion that cannot be used is
   * reported in `promo` and the price is without it. Too few free seats are reported in
   * `available_seats`; a sailing that is no longer on sale is refused with 409. Public; codes that
   * the platform pays for are `not_applicable` when a partner asks.
   *
   * **Access:** Public; a bearer token identifies the caller.
   *
   * `POST /v1/booking/quote`, operation `quote_booking`.
   */
  quote(body: QuoteForm, options?: Options): Promise<Quote> {
    return this.transport.data(
      { method: "POST", path: "/v1/booking/quote", repeat: "read", json: body },
      options,
    );
  }

  /**
   * Find bookings by e-mail address.
   *
   * Mails the codes of the bookings of an address to it: those that departed within the last month
   * or are to come. The answer is always the same, whether there are any or not; at most three
   * requests per address and hour are followed. Public.
   *
   * **Access:** Public.
   *
   * `POST /v1/booking/find`, operation `find_bookings`.
   */
  find(body: FindBookings, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/v1/booking/find", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get booking.
   *
   * Returns one booking with passengers, price and payment. A paid booking shows the ticket code of
   * each passenger to the booker, the partner and callers who may read bookings. Guests pass `code`
   * and `email` in the query; without a match the booking is 404.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.read`.
   *
   * `GET /v1/booking/{id}`, operation `get_booking`.
   */
  get(id: string, query: GetBookingQuery = {}, options?: Options): Promise<Booking> {
    return this.transport.data(
      { method: "GET", path: `/v1/booking/${segment(id)}`, repeat: "read", query },
      options,
    );
  }

  /**
   * Get options of a booking.
   *
   * Returns what the caller may do with a booking now: `cancel` (with the refund) and `reschedule`
   * (with the fee). Each has the time until which this applies, and the error code if it is
   * refused. They are decided by the same rules as the operations themselves; a caller who may read
   * but not change bookings gets `forbidden`. With `passenger_ids` (separated by commas) `cancel`
   * is about cancelling these passengers alone; 422 on that field if they cannot be cancelled
   * together, as in the operation itself. `pending_reschedule` is the move whose difference is not
   * paid yet. Guests pass `code` and `email` in the query.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.read`.
   *
   * `GET /v1/booking/{id}/options`, operation `get_booking_options`.
   */
  getOptions(
    id: string,
    query: GetBookingOptionsQuery = {},
    options?: Options,
  ): Promise<BookingOptions> {
    return this.transport.data(
      { method: "GET", path: `/v1/booking/${segment(id)}/options`, repeat: "read", query },
      options,
    );
  }

  /**
   * Correct passengers.
   *
   * Corrects passengers of a booking until its manifest is closed: those that are named by `id`,
   * and of them the fields that are given; null clears a field. Passengers of another booking are
   * refused with 422 `unknown`. Refused with 409 `manifest_closed`, `departed`, `already_cancelled`
   * or `expired`; for guests also `already_boarded` for a passenger who is checked in. Ticket codes
   * stay valid, because they name the place in the booking and not the person; the booker gets a
   * mail with new tickets. Corrections by a partner are recorded in the audit log like those of
   * staff. Guests pass `code` and `email` in the body.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `PUT /v1/booking/{id}/passengers`, operation `correct_passengers`.
   */
  correctPassengers(id: string, body: CorrectPassengers, options?: Options): Promise<Booking> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/booking/${segment(id)}/passengers`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Correct contact.
   *
   * Corrects name, e-mail address or phone number of the contact, until the manifest is closed;
   * fields that are left out keep their value. The address opens the booking: both the old and the
   * new one are told, and the new one gets the tickets. Corrections by a partner are recorded in
   * the audit log like those of staff. Refused with 409 `manifest_closed`, `departed`,
   * `already_cancelled` or `expired`.
   *
   * **Access:** Partners for their own; admins; staff with `bookings.write`.
   *
   * `PUT /v1/booking/{id}/contact`, operation `correct_contact`.
   */
  correctContact(id: string, body: CorrectContact, options?: Options): Promise<Booking> {
    return this.transport.data(
      { method: "PUT", path: `/v1/booking/${segment(id)}/contact`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Cancel booking.
   *
   * Cancels a booking. With `passenger_ids`, cancels only these passengers.
   *
   * Refund: a guest gets what the refund policy grants, or the full price if the sailing was moved
   * by 30 minutes or more or its partner is suspended. Partners and staff refund in full, or with
   * `refund` = `policy` as for a guest; a partner cannot choose `policy` for a reseller's booking.
   * Staff with `bookings.write` may set `refund_amount` from 0 to the price. They may also refund a
   * completed journey, with at least 1; once; the partner bears it, or the platform with `borne_by`
   * = `platform`. Other uses of these fields are 422 `not_allowed`.
   *
   * Refusals: `departed` for guests after departure. `already_boarded` and `manifest_closed` for
   * guests within 24 hours before departure. `already_refunded` after a refund of a completed
   * journey, `already_cancelled` or `expired` if the booking is over otherwise.
   *
   * Some passengers: the booking must be paid (`not_paid`), and none of them checked in
   * (`already_boarded`, for every caller). `qty`, `passengers` and `price` become those of the
   * others; `cancelled_passengers` lists the cancelled ones. Their seats are on sale again, and the
   * other tickets stay valid. Their fares, their share of the discount and the taxes are refunded
   * as above; `refund_amount` is at most that sum. A reschedule that waits for payment is dropped.
   * 422 on `passenger_ids`: `all`, `unknown`, `already_cancelled`, `unique`, `adult_required`,
   * `charter`.
   *
   * Sends a mail. Accepts an `Idempotency-Key`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/cancel`, operation `cancel_booking`.
   */
  cancel(id: string, body: CancelForm, options?: KeyedOptions): Promise<Booking> {
    return this.transport.data(
      { method: "POST", path: `/v1/booking/${segment(id)}/cancel`, repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Reschedule booking.
   *
   * Moves a booking to another sailing of the same partner between the same harbours. If it costs
   * more, the new seats are held and `data.reschedule` says what to pay and where; the booking
   * moves when the difference is paid. With `dry_run` nothing is changed: `data.reschedule` says
   * the price, the fee and the difference. Refused with 409 `not_paid`, `departed`,
   * `manifest_closed`, `already_boarded`, `already_cancelled`, `expired` or `too_late`. Guests may
   * pay a fee; after a disruption there is none, and the refund of a cancelled sailing is exchanged
   * for the new one: refused with 409 `refund_sent` when that refund is on its way. Accepts an
   * `Idempotency-Key`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/reschedule`, operation `reschedule_booking`.
   */
  reschedule(id: string, body: RescheduleForm, options?: KeyedOptions): Promise<Rescheduled> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/booking/${segment(id)}/reschedule`,
        repeat: "keyed",
        json: body,
      },
      options,
    );
  }

  /**
   * Set account for refunds.
   *
   * Stores the bank account to which refunds of the booking are transferred that the payment
   * provider cannot send. For the booker (`code` and `email` in the body) and staff with
   * `bookings.write`, while a refund is due: otherwise refused with 409 `invalid_state`, or
   * `paid_in_cash` since cash goes back as cash. The account is encrypted at rest; responses show
   * it masked.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `PUT /v1/booking/{id}/refund-account`, operation `set_refund_account`.
   */
  setRefundAccount(id: string, body: RefundAccountForm, options?: Options): Promise<Booking> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/booking/${segment(id)}/refund-account`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/**
 * Payment attempts, callbacks of payment providers, cash, refunds, and payments that need a
 * decision.
 */
export class PaymentsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get or open payment attempt.
   *
   * Returns an unpaid booking with its open payment attempt, or opens a new attempt if the last one
   * failed. Refused with 409 `expired` once the hold has ended, `already_paid` or
   * `already_cancelled`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/payment`, operation `pay_again`.
   */
  payAgain(id: string, body?: GuestCredentials, options?: Options): Promise<Booking> {
    return this.transport.data(
      { method: "POST", path: `/v1/booking/${segment(id)}/payment`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Record cash payment.
   *
   * Records that a booking was paid in cash and mails the tickets. Cash that a partner takes is
   * deducted from its next settlement. Refused with 409 `already_paid`, `already_cancelled` or
   * `expired` if the booking is not awaiting payment.
   *
   * **Access:** Partners for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/pay-cash`, operation `pay_cash`.
   */
  payCash(id: string, options?: Options): Promise<Booking> {
    return this.transport.data(
      { method: "POST", path: `/v1/booking/${segment(id)}/pay-cash`, repeat: "change" },
      options,
    );
  }

  /**
   * Record refund.
   *
   * Records the payment of the only due refund of a booking; with several, 409 `several_due`. `by`
   * is the method: cash is refunded in cash, by the platform (`cash`) or by the partner that took
   * it (`partner`); other payments by `bank` or `provider` (422 otherwise). If the booking was paid
   * both ways, record each part separately. `amount`, if given, must equal the amount due for this
   * method (422). A reference that has already paid a refund of this booking is 409 `already_paid`;
   * 409 `not_enough_cash` if there is less cash. Sends a mail. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/refund`, operation `record_refund`.
   */
  recordRefund(id: string, body: RefundForm, options?: KeyedOptions): Promise<Booking> {
    return this.transport.data(
      { method: "POST", path: `/v1/booking/${segment(id)}/refund`, repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Receive payment notification.
   *
   * Receives notifications of the configured payment provider. The signature or token is verified,
   * the state is confirmed with the provider, and each notification is applied once, however often
   * and in whatever order it is sent. A refund or chargeback pays the refunds that are due; the
   * rest becomes a payment review. 401 if it cannot be verified, 404 if it is about an unknown
   * payment.
   *
   * **Access:** Public.
   *
   * `POST /v1/payment/callback`, operation `payment_callback`.
   */
  callback(body: AnyObject, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/v1/payment/callback", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Receive payout notification.
   *
   * Receives notifications of the provider that pays settlements out (Xendit's `x-callback-token`,
   * or `Iris-Signature`). The sender is verified, the provider is asked for the state, and the
   * answer is applied once, in any order. 401 if it cannot be verified, 404 if it is about an
   * unknown payout or no provider is configured.
   *
   * **Access:** Public.
   *
   * `POST /v1/payment/payout-callback`, operation `payout_callback`.
   */
  payoutCallback(body: AnyPayout, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: "/v1/payment/payout-callback", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List payment reviews.
   *
   * Lists money that needs a decision. Money that came in: a wrong amount, a payment after the
   * booking expired or was cancelled, or a duplicate. Money that the provider sent back: a refund
   * that was not owed, or a chargeback.
   *
   * **Access:** Admins; staff with `bookings.write`.
   *
   * `GET /v1/payment/reviews`, operation `list_payment_reviews`.
   */
  listReviews(query: ListPaymentReviewsQuery = {}, options?: Options): Listing<Review> {
    return this.transport.list(
      { method: "GET", path: "/v1/payment/reviews", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Resolve payment review.
   *
   * Resolves a payment review, once.
   *
   * Incoming money: `apply` pays the booking or the difference of its reschedule, and any excess is
   * owed to the customer. `refund` owes the whole amount to the customer; with `reference` (and
   * `by`) the payment is recorded at once. `dismiss` is only for payments that the provider has
   * voided (409 `money_taken`); other decisions on a voided payment are 409 `voided`.
   *
   * Money that the provider sent back: `charge_partner` deducts it from the partner's next
   * settlement. `write_off` is a loss of the platform. `match` pays refunds that have become due
   * (409 `nothing_due` if they are less).
   *
   * Refused with 409 if it is already resolved or the booking no longer allows the decision.
   *
   * **Access:** Admins; staff with `bookings.write`.
   *
   * `POST /v1/payment/reviews/{id}/resolve`, operation `resolve_payment_review`.
   */
  resolveReview(id: string, body: Resolve, options?: Options): Promise<Review> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/payment/reviews/${segment(id)}/resolve`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * List refunds.
   *
   * Lists what customers are owed and were paid back, newest first, by status, kind, way and day.
   * `search` finds the code of a booking or refund. A partner sees the refunds of its own bookings,
   * but not those to the account of a reseller.
   *
   * **Access:** Partners for their own; admins; staff with `bookings.read`.
   *
   * `GET /v1/refunds`, operation `list_refunds`.
   */
  listRefunds(query: ListRefundsQuery = {}, options?: Options): Listing<Refund> {
    return this.transport.list(
      { method: "GET", path: "/v1/refunds", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Get refund.
   *
   * Returns a refund: why it is owed, how much of it is unpaid, and how it was paid or failed to be
   * paid. While it is unpaid, `bookings.write` sees the whole number of the account that the
   * customer has stated.
   *
   * **Access:** Partners for their own; admins; staff with `bookings.read`.
   *
   * `GET /v1/refunds/{id}`, operation `get_refund`.
   */
  getRefund(id: string, options?: Options): Promise<Refund> {
    return this.transport.data(
      { method: "GET", path: `/v1/refunds/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Record payment of a refund.
   *
   * Records that a refund was paid. Cash goes back as cash: what staff took by `cash`, what the
   * partner took by `partner` (credited to the partner) or `cash`; other money by `bank` or
   * `provider` (422 on `by` otherwise). If the booking was paid in both ways, one call records one
   * part, and the rest stays unpaid. A partner records only `partner`, for cash that it took
   * itself. 409 `invalid_state` if it is paid, void or on its way, 409 `not_enough_cash` if the
   * till has less. When nothing is left, the booking becomes `refunded` and a mail is sent. Accepts
   * an `Idempotency-Key`.
   *
   * **Access:** Partners for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/refunds/{id}/pay`, operation `pay_refund`.
   */
  payRefund(id: string, body: PayRefund, options?: KeyedOptions): Promise<Refund> {
    return this.transport.data(
      { method: "POST", path: `/v1/refunds/${segment(id)}/pay`, repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Record returned refund.
   *
   * Records that the newest payment of a paid refund bounced. It is due again with status
   * `returned`, and its booking becomes `refund_pending`.
   *
   * **Access:** Admins; staff with `bookings.write`.
   *
   * `POST /v1/refunds/{id}/return`, operation `return_refund`.
   */
  returnRefund(id: string, body?: ReturnRefund, options?: Options): Promise<Refund> {
    return this.transport.data(
      { method: "POST", path: `/v1/refunds/${segment(id)}/return`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Retry refund.
   *
   * Sends a refund through the payment provider that was refused, came back or waits for a person.
   * 409 `not_refundable` unless automatic refunds are switched on and the payment can be refunded
   * there.
   *
   * **Access:** Admins; staff with `bookings.write`.
   *
   * `POST /v1/refunds/{id}/retry`, operation `retry_refund`.
   */
  retryRefund(id: string, options?: Options): Promise<Refund> {
    return this.transport.data(
      { method: "POST", path: `/v1/refunds/${segment(id)}/retry`, repeat: "change" },
      options,
    );
  }
}

/**
 * Sailings, passenger manifests and check-in at the pier, with or without network. Partners and
 * their crew board the passengers of their own sailings.
 */
export class BoardingApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List sailings of all routes.
   *
   * Lists the sailings of all routes by departure, with boat, partner, seats and the number of
   * passengers on board. Filter by day of departure, status, route, boat and (for admins and staff)
   * partner; the search is in harbours and names of boats. An open sailing whose departure has
   * passed is `departed`. With `format=csv` all sailings that are found are sent as a file, at most
   * 50,000.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.read` or
   * `routes.read`.
   *
   * `GET /v1/mitra/route-times`, operation `list_route_times`.
   */
  listRouteTimes(query: ListRouteTimesQuery = {}, options?: Options): Listing<RouteSailing> {
    return this.transport.list(
      { method: "GET", path: "/v1/mitra/route-times", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List sailings of all routes, as a file. Pages do not apply.
   *
   * `GET /v1/mitra/route-times`, operation `list_route_times`.
   */
  listRouteTimesFile(
    format: "csv",
    query: Omit<ListRouteTimesQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/mitra/route-times", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Get sailing.
   *
   * Returns one sailing with boat, partner, seats and the number of passengers on board.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.read` or
   * `routes.read`.
   *
   * `GET /v1/mitra/route-times/{id}`, operation `get_route_time`.
   */
  getRouteTime(id: string, options?: Options): Promise<RouteSailing> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/route-times/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Get manifest.
   *
   * Returns the passengers of one sailing with totals, as JSON, CSV or PDF by `Accept` or `format`.
   * Identity numbers are masked for crew and for callers who may not read bookings. A closed
   * manifest is returned as it was when it was closed.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.read`.
   *
   * `GET /v1/mitra/route-times/{id}/manifest`, operation `get_manifest`.
   */
  getManifest(id: string, options?: Options): Promise<Manifest> {
    return this.transport.data(
      { method: "GET", path: `/v1/mitra/route-times/${segment(id)}/manifest`, repeat: "read" },
      options,
    );
  }

  /**
   * Get manifest, as a file. Pages do not apply.
   *
   * `GET /v1/mitra/route-times/{id}/manifest`, operation `get_manifest`.
   */
  getManifestFile(id: string, format: "csv" | "pdf", options?: Options): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: `/v1/mitra/route-times/${segment(id)}/manifest`,
        repeat: "read",
        query: { format },
      },
      options,
    );
  }

  /**
   * Close manifest.
   *
   * Closes the manifest of a sailing: from then on its passengers cannot change, be checked in or
   * leave. Closing it again changes nothing. Refused with 409 for a cancelled sailing, and with 409
   * `too_early` earlier than 3 hours before departure; `data.opens_at` says when it can be closed.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/mitra/route-times/{id}/manifest/close`, operation `close_manifest`.
   */
  closeManifest(id: string, options?: Options): Promise<Manifest> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/route-times/${segment(id)}/manifest/close`,
        repeat: "change",
      },
      options,
    );
  }

  /**
   * Reopen manifest.
   *
   * Opens a closed manifest again until departure: sales, reschedules and check-in are possible as
   * before. Unpaid bookings that expired with the close stay expired. An open manifest stays open.
   * Refused with 409 `departed` or `cancelled`.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/mitra/route-times/{id}/manifest/reopen`, operation `reopen_manifest`.
   */
  reopenManifest(id: string, body: ReopenManifest, options?: Options): Promise<Manifest> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/route-times/${segment(id)}/manifest/reopen`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Check in passengers.
   *
   * Checks passengers in, either by one `ticket_code` or by a batch of `scans` that a device
   * recorded offline. A single code that does not admit is refused with 409 and a reason (422 if it
   * is forged); a batch always succeeds and reports an outcome for each scan. Scans that were sent
   * before are reported as repeated.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/mitra/route-times/{id}/check-in`, operation `check_in`.
   */
  checkIn(id: string, body: CheckIn, options?: Options): Promise<CheckedIn> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/route-times/${segment(id)}/check-in`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Undo check-in.
   *
   * Reverts a check-in, for example after a mistaken scan. Refused with 409 if the passenger is not
   * checked in or the manifest is closed.
   *
   * **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.
   *
   * `POST /v1/mitra/route-times/{id}/check-in/undo`, operation `undo_check_in`.
   */
  undoCheckIn(id: string, body: UndoCheckIn, options?: Options): Promise<Admitted> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/mitra/route-times/${segment(id)}/check-in/undo`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/** Signed tickets as PDF, and the public keys to verify them without network. */
export class TicketsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get tickets as PDF.
   *
   * Returns the tickets of a paid booking as PDF, one page per passenger. Guests pass `code` and
   * `email` in the query. Refused with 409 `not_paid`, `already_cancelled` or `expired`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.read`.
   *
   * `GET /v1/booking/{id}/ticket`, operation `get_ticket`.
   */
  get(id: string, query: GetTicketQuery = {}, options?: Options): Promise<File> {
    return this.transport.file(
      { method: "GET", path: `/v1/booking/${segment(id)}/ticket`, repeat: "read", query },
      options,
    );
  }

  /**
   * Resend tickets.
   *
   * Mails the tickets again to the contact address of the booking. Partners and staff may state
   * another address in `email`; for a guest it is the contact address and, with `code`, proves
   * ownership. A `code` of another booking is refused with 422 `mismatch`. Refused with 409
   * `not_paid`, `already_cancelled` or `expired`.
   *
   * **Access:** Guests with the booking's code and e-mail address; partners for their own; admins;
   * staff with `bookings.write`.
   *
   * `POST /v1/booking/{id}/resend-ticket`, operation `resend_ticket`.
   */
  resend(id: string, body?: ResendTicket, options?: Options): Promise<void> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/booking/${segment(id)}/resend-ticket`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Get ticket public keys.
   *
   * Returns the Ed25519 public keys that verify ticket codes: the current one and earlier ones
   * whose tickets are still valid. Public.
   *
   * **Access:** Public.
   *
   * `GET /v1/tickets/public-key`, operation `get_ticket_key`.
   */
  getKey(options?: Options): Promise<TicketKeyring> {
    return this.transport.data(
      { method: "GET", path: "/v1/tickets/public-key", repeat: "read" },
      options,
    );
  }
}

/**
 * Discount codes with period, quota and target. The platform pays for a discount, or (`funded_by`:
 * `partner`) the partner whose sailing is booked.
 */
export class PromotionsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List current promotions.
   *
   * Lists promotions that can be used today. Public.
   *
   * **Access:** Public.
   *
   * `GET /v1/contents/promotions`, operation `list_running_promotions`.
   */
  listRunning(query: ListRunningPromotionsQuery = {}, options?: Options): Listing<PromotionRecord> {
    return this.transport.list(
      { method: "GET", path: "/v1/contents/promotions", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create promotion.
   *
   * Creates a promotion. Refused with 409 `already_exists` if the code exists, and with 422 if a
   * target does not exist. The discount of one that partners pay for (`funded_by`: `partner`)
   * reduces what the partner earns; the commission is computed from the price before it. Codes that
   * the platform pays for cannot be used for bookings that a partner makes itself.
   *
   * **Access:** Admins; staff with `promotions.write`.
   *
   * `POST /v1/contents/promotion`, operation `create_promotion`.
   */
  create(body: PromotionForm, options?: Options): Promise<PromotionRecord> {
    return this.transport.data(
      { method: "POST", path: "/v1/contents/promotion", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List promotions.
   *
   * Lists all promotions, with filters by status, computed state, target type and who pays.
   *
   * **Access:** Admins; staff with `promotions.read`.
   *
   * `GET /v1/promotions`, operation `list_promotions`.
   */
  list(query: ListPromotionsQuery = {}, options?: Options): Listing<PromotionRecord> {
    return this.transport.list(
      { method: "GET", path: "/v1/promotions", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Get promotion.
   *
   * Returns one promotion with its uses so far.
   *
   * **Access:** Admins; staff with `promotions.read`.
   *
   * `GET /v1/promotion/{id}`, operation `get_promotion`.
   */
  get(id: string, options?: Options): Promise<PromotionRecord> {
    return this.transport.data(
      { method: "GET", path: `/v1/promotion/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update promotion.
   *
   * Replaces a promotion. Optional fields that are left out (`target_ids`, `per_customer_limit`,
   * `image_file_id`, `funded_by`, `discount.max_amount`, `discount.min_purchase`) keep their value,
   * null clears them; targets of another type are not kept. The quota cannot be set below the
   * number of uses (422). Bookings that used it keep their discount and who pays for it.
   *
   * **Access:** Admins; staff with `promotions.write`.
   *
   * `PUT /v1/promotion/{id}`, operation `update_promotion`.
   */
  update(id: string, body: PromotionForm, options?: Options): Promise<PromotionRecord> {
    return this.transport.data(
      { method: "PUT", path: `/v1/promotion/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete promotion.
   *
   * Deletes a promotion that was never used. One that was used is refused with 409 `in_use`; set it
   * to `inactive` instead.
   *
   * **Access:** Admins; staff with `promotions.write`.
   *
   * `DELETE /v1/promotion/{id}`, operation `delete_promotion`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/promotion/${segment(id)}`, repeat: "change" },
      options,
    );
  }
}

/**
 * Taxes on bookings and on the platform's commission. Bookings keep the rates with which they were
 * sold.
 */
export class TaxesApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List taxes.
   *
   * Lists the taxes that are added to prices, active ones and others.
   *
   * **Access:** Admins; staff with `taxes.read`.
   *
   * `GET /v1/configurations/taxs`, operation `list_taxes`.
   */
  list(query: ListTaxesQuery = {}, options?: Options): Listing<Tax> {
    return this.transport.list(
      { method: "GET", path: "/v1/configurations/taxs", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create tax.
   *
   * Adds a tax to what is sold from now on: `seats`, `charter` or `booking` (both) are paid by the
   * customer, `commission` by the partner on the platform's commission. `base_factor` is the part
   * of the price that is taxed, as a fraction (`"11/12"`) or a number; it is 1 by default. The tax
   * is rounded once, half up. Refused with 409 `already_exists` if the code exists, and with
   * `in_use` if a deleted tax with this code was charged on commission and this one is not, or the
   * reverse.
   *
   * **Access:** Admins; staff with `taxes.write`.
   *
   * `POST /v1/configurations/taxs`, operation `create_tax`.
   */
  create(body: TaxForm, options?: Options): Promise<Tax> {
    return this.transport.data(
      { method: "POST", path: "/v1/configurations/taxs", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Update tax.
   *
   * Replaces a tax. Without `base_factor` it keeps its value; null means 1. Bookings that were sold
   * before keep their rates. Once a booking was made while the tax was active, its code cannot be
   * changed, nor can a tax on the commission become one on bookings or the reverse (409 `in_use`):
   * ledger lines and prices name the tax by its code.
   *
   * **Access:** Admins; staff with `taxes.write`.
   *
   * `PUT /v1/configurations/taxs/{id}`, operation `update_tax`.
   */
  update(id: string, body: TaxForm, options?: Options): Promise<Tax> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/configurations/taxs/${segment(id)}`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Delete tax.
   *
   * Deletes a tax: it is not charged any more. Bookings that were sold before keep it.
   *
   * **Access:** Admins; staff with `taxes.write`.
   *
   * `DELETE /v1/configurations/taxs/{id}`, operation `delete_tax`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/configurations/taxs/${segment(id)}`, repeat: "change" },
      options,
    );
  }
}

/**
 * Payouts to partners: completed bookings less commission, tax on the commission and cash that the
 * partner collected, with corrections by journal entries.
 */
export class SettlementsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List settlements.
   *
   * Lists settlements: a partner's own, or those of all partners for admins and staff. Account
   * numbers are masked. With `format=csv` everything that is found is sent as a file, at most
   * 50,000 rows.
   *
   * **Access:** Partners for their own; admins; staff with `settlements.read`.
   *
   * `GET /v1/settlements`, operation `list_settlements`.
   */
  list(query: ListSettlementsQuery = {}, options?: Options): Listing<Settlement> {
    return this.transport.list(
      { method: "GET", path: "/v1/settlements", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List settlements, as a file. Pages do not apply.
   *
   * `GET /v1/settlements`, operation `list_settlements`.
   */
  listFile(
    format: "csv",
    query: Omit<ListSettlementsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/settlements", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Create settlement.
   *
   * Creates a settlement of a partner's completed bookings by day of departure. Debts of the
   * partner, money that it paid and corrections are netted, whatever their day. If nothing is left
   * to pay out, the settlement is a statement (`status` is `statement`): its items are settled, and
   * a debt is carried to the next settlement. Refused with 409 `nothing_to_settle` if nothing is
   * unsettled but the debt of an earlier statement. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `settlements.write`.
   *
   * `POST /v1/settlements/manual`, operation `create_settlement`.
   */
  create(body: ManualSettlement, options?: KeyedOptions): Promise<SettlementDetail> {
    return this.transport.data(
      { method: "POST", path: "/v1/settlements/manual", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Get settlement configuration.
   *
   * Returns commission rate, commission rate of resold bookings, payout schedule, hold days and
   * minimum amount: those of one partner (`mitra_id`), with the values that it inherits, or the
   * default. A partner gets its own. For a partner with a schedule it also has the day of the next
   * settlement and the last day of departure in it. On that day it is the present day until the
   * settlement was created.
   *
   * **Access:** Partners for their own; admins; staff with `settlements.configure`.
   *
   * `GET /v1/settlements/configuration`, operation `get_settlement_configuration`.
   */
  getConfiguration(
    query: GetSettlementConfigurationQuery = {},
    options?: Options,
  ): Promise<SettlementConfigurationView> {
    return this.transport.data(
      { method: "GET", path: "/v1/settlements/configuration", repeat: "read", query },
      options,
    );
  }

  /**
   * Update settlement configuration.
   *
   * Changes the configuration of one partner (`mitra_id`), or the default. Fields that are left out
   * stay as they are; null means the default. Bookings that were sold before keep their commission
   * rate.
   *
   * **Access:** Admins; staff with `settlements.configure`.
   *
   * `POST /v1/settlements/configuration`, operation `configure_settlements`.
   */
  configure(
    body: SettlementConfigurationForm,
    options?: Options,
  ): Promise<SettlementConfigurationView> {
    return this.transport.data(
      { method: "POST", path: "/v1/settlements/configuration", repeat: "change", json: body },
      options,
    );
  }

  /**
   * List receipts from partners.
   *
   * Lists money that partners paid for what they owed. Partners see their own only.
   *
   * **Access:** Partners for their own; admins; staff with `settlements.read`.
   *
   * `GET /v1/settlements/receipts`, operation `list_receipts`.
   */
  listReceipts(query: ListReceiptsQuery = {}, options?: Options): Listing<Receipt> {
    return this.transport.list(
      { method: "GET", path: "/v1/settlements/receipts", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Record receipt from partner.
   *
   * Records money that a partner paid for what it owes, by bank transfer or in cash. It is netted
   * in the next settlement and is in the books on `received_on`. Refused with 409 `nothing_owed` if
   * the partner owes nothing, with 422 if it owes less than `amount`, and with 409 `period_closed`
   * if the books of the month are closed. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `settlements.write`.
   *
   * `POST /v1/settlements/receipts`, operation `record_receipt`.
   */
  recordReceipt(body: ReceiptForm, options?: KeyedOptions): Promise<Receipt> {
    return this.transport.data(
      { method: "POST", path: "/v1/settlements/receipts", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Get settlement.
   *
   * Returns a settlement with its items and its releases. Items that are not of a booking
   * (receipts, carried debts, corrections) have no `booking_id` and no `code`. Partners see their
   * own only.
   *
   * **Access:** Partners for their own; admins; staff with `settlements.read`.
   *
   * `GET /v1/settlements/{id}`, operation `get_settlement`.
   */
  get(id: string, options?: Options): Promise<SettlementDetail> {
    return this.transport.data(
      { method: "GET", path: `/v1/settlements/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Release settlement.
   *
   * Releases a pending settlement: records that it was transferred, with the reference and
   * optionally a proof. With `method: payout` the configured provider pays it out; 422 on `method`
   * without a provider. It is `processing` until the provider confirms it (`released`) or refuses
   * it (`pending`, with `failure`). If the outcome is unknown it stays `processing` with `failure`:
   * look it up at the provider, then release it with the reference or cancel it. The partner is
   * notified by mail. Refused with 409 if it is not pending, the partner is suspended, no bank
   * account is approved, or a changed account awaits approval. Refused with 409 `stale` if a
   * booking in it was refunded or charged later: cancel it and create a new one. Unless the service
   * is configured otherwise, whoever created a settlement, or recorded that its payout came back,
   * cannot release it (409 `same_person`); one of the schedule can be released by anybody with the
   * rule. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `settlements.release`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/settlements/{id}/release`, operation `release_settlement`.
   */
  release(id: string, body: ReleaseForm, options?: KeyedOptions): Promise<SettlementDetail> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/settlements/${segment(id)}/release`,
        repeat: "keyed",
        json: body,
      },
      options,
    );
  }

  /**
   * Cancel settlement.
   *
   * Cancels a pending settlement or a statement. Its bookings can be settled again. Refused with
   * 409 if it is being paid out, released or cancelled, or if the debt of a statement is part of a
   * later settlement.
   *
   * **Access:** Admins; staff with `settlements.write`.
   *
   * `POST /v1/settlements/{id}/cancel`, operation `cancel_settlement`.
   */
  cancel(id: string, body?: CancelSettlement, options?: Options): Promise<SettlementDetail> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/settlements/${segment(id)}/cancel`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Return settlement.
   *
   * Records that the transfer of a released settlement came back. It is pending and payable again,
   * with the reason in `failure`; the partner is notified by mail. Refused with 409 if it is not
   * released.
   *
   * **Access:** Admins; staff with `settlements.write`.
   *
   * `POST /v1/settlements/{id}/return`, operation `return_settlement`.
   */
  return(id: string, body: ReturnForm, options?: Options): Promise<SettlementDetail> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/settlements/${segment(id)}/return`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/**
 * Agencies that sell seats through the OCTO API, on account: their records, API keys, the partners
 * that they may sell, and what they owe.
 */
export class ResellersApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List resellers.
   *
   * Lists resellers. A reseller finds itself alone.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.read`.
   *
   * `GET /v1/resellers`, operation `list_resellers`.
   */
  list(query: ListResellersQuery = {}, options?: Options): Listing<Reseller> {
    return this.transport.list(
      { method: "GET", path: "/v1/resellers", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create reseller.
   *
   * Creates a reseller with an account of role `reseller` and sends the invitation by mail. It can
   * sell nothing until partners are granted to it. Refused with 409 `email_taken` if the address
   * has an account.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/resellers`, operation `create_reseller`.
   */
  create(body: ResellerForm, options?: Options): Promise<Reseller> {
    return this.transport.data(
      { method: "POST", path: "/v1/resellers", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get reseller.
   *
   * Returns a reseller with its credit limit and its balance. A reseller can read only its own
   * record (404 otherwise). The NPWP of a person, whose digits are the NIK, is masked for staff
   * without `resellers.write`.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.read`.
   *
   * `GET /v1/resellers/{id}`, operation `get_reseller`.
   */
  get(id: string, options?: Options): Promise<Reseller> {
    return this.transport.data(
      { method: "GET", path: `/v1/resellers/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Update reseller.
   *
   * Replaces name, addresses and terms. Optional fields that are left out keep their value; null
   * clears `npwp` and `ops_email`. Another e-mail address has to be confirmed. A lower credit limit
   * ends no booking.
   *
   * **Access:** Admins; staff with `resellers.write`.
   *
   * `PUT /v1/resellers/{id}`, operation `update_reseller`.
   */
  update(id: string, body: ResellerForm, options?: Options): Promise<Reseller> {
    return this.transport.data(
      { method: "PUT", path: `/v1/resellers/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Suspend reseller.
   *
   * Suspends a reseller: its API keys are refused at once, so it cannot sell. Its bookings stay
   * valid, and it can still sign in and see what it owes.
   *
   * **Access:** Admins; staff with `resellers.write`.
   *
   * `POST /v1/resellers/{id}/suspend`, operation `suspend_reseller`.
   */
  suspend(id: string, body: ResellerSuspension, options?: Options): Promise<Reseller> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/resellers/${segment(id)}/suspend`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Lift reseller suspension.
   *
   * Lifts the suspension of a reseller.
   *
   * **Access:** Admins; staff with `resellers.write`.
   *
   * `POST /v1/resellers/{id}/unsuspend`, operation `unsuspend_reseller`.
   */
  unsuspend(id: string, options?: Options): Promise<Reseller> {
    return this.transport.data(
      { method: "POST", path: `/v1/resellers/${segment(id)}/unsuspend`, repeat: "change" },
      options,
    );
  }

  /**
   * Resend reseller invitation.
   *
   * Sends the invitation of a reseller again. Refused with 409 once it is accepted.
   *
   * **Access:** Admins; staff with `resellers.write`.
   *
   * `POST /v1/resellers/{id}/resend-invitation`, operation `resend_reseller_invitation`.
   */
  resendInvitation(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "POST", path: `/v1/resellers/${segment(id)}/resend-invitation`, repeat: "change" },
      options,
    );
  }

  /**
   * List API keys.
   *
   * Lists the API keys of a reseller, also revoked and expired ones. The keys themselves are not
   * included.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.write`.
   *
   * `GET /v1/resellers/{id}/keys`, operation `list_reseller_keys`.
   */
  listKeys(id: string, query: ListResellerKeysQuery = {}, options?: Options): Listing<ResellerKey> {
    return this.transport.list(
      { method: "GET", path: `/v1/resellers/${segment(id)}/keys`, repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create API key.
   *
   * Creates an API key for the OCTO API. The response contains the key, which is not shown again;
   * only its hash is kept. `mitra_id` must be granted to the reseller (422 `not_granted`). At most
   * 10 keys can be in use (409 `quota_exceeded`). Accepts an `Idempotency-Key`.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.write`. Needs a sign-in, or
   * `POST /user/me/reauthenticate`, within the last hour: otherwise 403
   * `reauthentication_required`.
   *
   * `POST /v1/resellers/{id}/keys`, operation `create_reseller_key`.
   */
  createKey(id: string, body: ResellerKeyForm, options?: KeyedOptions): Promise<NewResellerKey> {
    return this.transport.data(
      { method: "POST", path: `/v1/resellers/${segment(id)}/keys`, repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Revoke API key.
   *
   * Revokes an API key. The next request with it is refused. A revoked key stays in the list.
   * Refused with 409 if it is revoked already.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.write`.
   *
   * `DELETE /v1/resellers/{id}/keys/{key_id}`, operation `revoke_reseller_key`.
   */
  revokeKey(id: string, keyId: string, options?: Options): Promise<ResellerKey> {
    return this.transport.data(
      {
        method: "DELETE",
        path: `/v1/resellers/${segment(id)}/keys/${segment(keyId)}`,
        repeat: "change",
      },
      options,
    );
  }

  /**
   * Get partners of a reseller.
   *
   * Returns the partners that a reseller may sell, with its margin and agreed prices. A grant
   * without `mitra_id` is for every partner that has no grant of its own. `allow_loss` is null for
   * resellers.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.read`.
   *
   * `GET /v1/resellers/{id}/partners`, operation `get_reseller_grants`.
   */
  getGrants(id: string, options?: Options): Promise<Grants> {
    return this.transport.data(
      { method: "GET", path: `/v1/resellers/${segment(id)}/partners`, repeat: "read" },
      options,
    );
  }

  /**
   * Update partners of a reseller.
   *
   * Replaces the list of partners that a reseller may sell; a partner that it leaves out is
   * withdrawn at once. Optional fields that a grant leaves out keep the value of the partner's
   * grant. Bookings that were sold before keep their price. Refused with 422 `below_cost` if the
   * reseller would keep more than the partner's commission for resold bookings (of the default for
   * the grant for all), unless `allow_loss` is set. A net fare is compared at the lowest price of
   * the sailings ahead.
   *
   * **Access:** Admins; staff with `resellers.write`.
   *
   * `PUT /v1/resellers/{id}/partners`, operation `set_reseller_grants`.
   */
  setGrants(id: string, body: GrantsForm, options?: Options): Promise<Grants> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/resellers/${segment(id)}/partners`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Get statement of a reseller.
   *
   * Returns the account of a reseller: opening balance, lines and closing balance. Positive
   * balances are owed by the reseller. JSON is paged; with `format` or `Accept` it is a CSV or XLSX
   * file of all lines, at most 20,000.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.finance`.
   *
   * `GET /v1/resellers/{id}/statement`, operation `get_reseller_statement`.
   */
  getStatement(
    id: string,
    query: GetResellerStatementQuery = {},
    options?: Options,
  ): Listing<ResellerStatementLine, GetResellerStatementBody> {
    return this.transport.list(
      { method: "GET", path: `/v1/resellers/${segment(id)}/statement`, repeat: "read", query },
      { pageIn: "query", items: "lines" },
      options,
    );
  }

  /**
   * Get statement of a reseller, as a file. Pages do not apply.
   *
   * `GET /v1/resellers/{id}/statement`, operation `get_reseller_statement`.
   */
  getStatementFile(
    id: string,
    format: "csv" | "xlsx",
    query: Omit<GetResellerStatementQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: `/v1/resellers/${segment(id)}/statement`,
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * List invoices of a reseller.
   *
   * Lists the invoices of a reseller with their first lines: at most 1,000 of each invoice, and
   * 2,000 of all invoices of a page (20 invoices: 100 of each). `paid` is what payments and credits
   * have settled of it.
   *
   * **Access:** Resellers for their own; admins; staff with `resellers.finance`.
   *
   * `GET /v1/resellers/{id}/invoices`, operation `list_reseller_invoices`.
   */
  listInvoices(
    id: string,
    query: ListResellerInvoicesQuery = {},
    options?: Options,
  ): Listing<ResellerInvoice> {
    return this.transport.list(
      { method: "GET", path: `/v1/resellers/${segment(id)}/invoices`, repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create invoice of a reseller.
   *
   * Makes an invoice of all bookings, moves and refunds of these days that are in no invoice yet.
   * It is due after the reseller's `terms_days`. What the reseller has paid in advance settles it
   * at once; a negative invoice settles others. The schedule of the reseller makes invoices by
   * itself: on Mondays for the week before, or on the first day of a month for the month before.
   * Refused with 409 `nothing_to_invoice` if everything is invoiced. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `resellers.finance`.
   *
   * `POST /v1/resellers/{id}/invoices`, operation `create_reseller_invoice`.
   */
  createInvoice(
    id: string,
    body: ResellerInvoiceForm,
    options?: KeyedOptions,
  ): Promise<ResellerInvoice> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/resellers/${segment(id)}/invoices`,
        repeat: "keyed",
        json: body,
      },
      options,
    );
  }

  /**
   * Record payment of a reseller.
   *
   * Records a transfer of a reseller to our bank account. It lowers the balance and settles the
   * oldest open invoices. It is in the books on `received_on`. Refused with 409 `already_recorded`
   * if the reference is recorded, and with 409 `period_closed` if the books of the month are
   * closed. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `resellers.finance`.
   *
   * `POST /v1/resellers/{id}/payments`, operation `record_reseller_payment`.
   */
  recordPayment(
    id: string,
    body: ResellerPaymentForm,
    options?: KeyedOptions,
  ): Promise<ResellerPayment> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/resellers/${segment(id)}/payments`,
        repeat: "keyed",
        json: body,
      },
      options,
    );
  }
}

/**
 * The books: what the ledger says, and what a finance clerk posts into it. Amounts are in rupiah;
 * debit balances are positive, credit balances negative. Days are those of the service's time zone.
 * Every list and report is also available as CSV or XLSX by `Accept` or `format`; a file of a list
 * has at most 20,000 lines.
 *
 * What is posted here has a day: not in the future, and in a month that is open (else 409
 * `period_closed`).
 */
export class FinanceApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get trial balance.
   *
   * Returns the opening balance, debits, credits and closing balance of every account, and of every
   * tax within `tax_payable`, for the days from `start_date` to `end_date`. The debits and credits
   * of all accounts are equal.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/trial-balance`, operation `get_trial_balance`.
   */
  getTrialBalance(query: GetTrialBalanceQuery = {}, options?: Options): Promise<TrialBalance> {
    return this.transport.data(
      { method: "GET", path: "/v1/finance/trial-balance", repeat: "read", query },
      options,
    );
  }

  /**
   * Get trial balance, as a file. Pages do not apply.
   *
   * `GET /v1/finance/trial-balance`, operation `get_trial_balance`.
   */
  getTrialBalanceFile(
    format: "csv" | "xlsx",
    query: GetTrialBalanceQuery = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/trial-balance",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * List ledger entries.
   *
   * Lists the lines of the ledger, newest first, by account, partner, booking, source and day.
   * Lines with the same `source`, `source_id` and `kind` are one posting and add up to zero.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/entries`, operation `list_entries`.
   */
  listEntries(query: ListEntriesQuery = {}, options?: Options): Listing<Entry> {
    return this.transport.list(
      { method: "GET", path: "/v1/finance/entries", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List ledger entries, as a file. Pages do not apply.
   *
   * `GET /v1/finance/entries`, operation `list_entries`.
   */
  listEntriesFile(
    format: "csv" | "xlsx",
    query: Omit<ListEntriesQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/finance/entries", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Get statement of a partner.
   *
   * Returns the account of a partner: opening balance, lines with the balance after each, closing
   * balance. Positive amounts are owed to the partner. A partner gets its own; others are 404.
   *
   * **Access:** Partners for their own; admins; staff with `finance.read`.
   *
   * `GET /v1/finance/partners/{id}/statement`, operation `get_partner_statement`.
   */
  getPartnerStatement(
    id: string,
    query: GetPartnerStatementQuery = {},
    options?: Options,
  ): Listing<StatementLine, GetPartnerStatementBody> {
    return this.transport.list(
      {
        method: "GET",
        path: `/v1/finance/partners/${segment(id)}/statement`,
        repeat: "read",
        query,
      },
      { pageIn: "query", items: "lines" },
      options,
    );
  }

  /**
   * Get statement of a partner, as a file. Pages do not apply.
   *
   * `GET /v1/finance/partners/{id}/statement`, operation `get_partner_statement`.
   */
  getPartnerStatementFile(
    id: string,
    format: "csv" | "xlsx",
    query: Omit<GetPartnerStatementQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: `/v1/finance/partners/${segment(id)}/statement`,
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get monthly tax report.
   *
   * Returns the taxes of a month by code. `received` and `received_base` are the taxes in payments
   * that were received in the month and what they were charged on: tax on a journey is due on the
   * day of the advance payment. A later cancellation does not change them. The other amounts are
   * those of the ledger, which posts a tax when the journey is over: collected, reversed with
   * refunds, adjusted by journal entries, paid to the state, and still owed.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/taxes`, operation `get_tax_report`.
   */
  getTaxReport(query: GetTaxReportQuery = {}, options?: Options): Promise<TaxReport> {
    return this.transport.data(
      { method: "GET", path: "/v1/finance/taxes", repeat: "read", query },
      options,
    );
  }

  /**
   * Get monthly tax report, as a file. Pages do not apply.
   *
   * `GET /v1/finance/taxes`, operation `get_tax_report`.
   */
  getTaxReportFile(
    format: "csv" | "xlsx",
    query: GetTaxReportQuery = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/finance/taxes", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * List provider settlements.
   *
   * Lists the payouts of payment providers that were recorded, newest first.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/provider-settlements`, operation `list_provider_settlements`.
   */
  listProviderSettlements(
    query: ListProviderSettlementsQuery = {},
    options?: Options,
  ): Listing<ProviderSettlement> {
    return this.transport.list(
      { method: "GET", path: "/v1/finance/provider-settlements", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List provider settlements, as a file. Pages do not apply.
   *
   * `GET /v1/finance/provider-settlements`, operation `list_provider_settlements`.
   */
  listProviderSettlementsFile(
    format: "csv" | "xlsx",
    query: Omit<ListProviderSettlementsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/provider-settlements",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Record provider settlement.
   *
   * Records a payout of a payment provider to the bank account, with the lines of the provider's
   * report. Posts `net` to `bank`, `fee` to `gateway_fees` and `fee_tax` to `vat_input`, against
   * `gateway_clearing`; lines whose reference is no payment of that provider go against `suspense`
   * and are returned as `unknown_references`. A reference is ours or the provider's id of the
   * payment, or of a refund of it. Refunds are lines with negative amounts. In each line, gross
   * less fee and its tax is net (else 422). The same payout twice is 409 `already_exists`. Accepts
   * an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/provider-settlements`, operation `create_provider_settlement`.
   */
  createProviderSettlement(
    body: ProviderSettlementForm,
    options?: KeyedOptions,
  ): Promise<ProviderSettlementDetail> {
    return this.transport.data(
      { method: "POST", path: "/v1/finance/provider-settlements", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Get reconciliation with providers.
   *
   * Compares the payments that were received on each day by each method with what the providers
   * have settled of them, for at most 92 days: `missing` was received and not settled, `extra` was
   * settled and not received. A payment counts on the day and by the method of its first receipt,
   * with all that was received and settled of it. The method `unknown` has what a provider paid for
   * no payment of ours, by the day of the payout.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/reconciliation`, operation `get_reconciliation`.
   */
  getReconciliation(
    query: GetReconciliationQuery = {},
    options?: Options,
  ): Promise<Reconciliation> {
    return this.transport.data(
      { method: "GET", path: "/v1/finance/reconciliation", repeat: "read", query },
      options,
    );
  }

  /**
   * Get reconciliation with providers, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reconciliation`, operation `get_reconciliation`.
   */
  getReconciliationFile(
    format: "csv" | "xlsx",
    query: GetReconciliationQuery = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reconciliation",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Record tax payment.
   *
   * Records a tax that was paid to the state, with the NTPN as `reference`: debits `tax_payable`
   * and credits `bank`. More than was owed on that day and since is 422; the same reference for the
   * same tax twice is 409 `already_exists`. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/tax-payments`, operation `create_tax_payment`.
   */
  createTaxPayment(body: TaxPaymentForm, options?: KeyedOptions): Promise<TaxPayment> {
    return this.transport.data(
      { method: "POST", path: "/v1/finance/tax-payments", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Record cash deposit.
   *
   * Records cash that was brought to the bank. More than there was on that day and since is 409
   * `not_enough_cash`. Accepts an `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/cash-deposits`, operation `create_cash_deposit`.
   */
  createCashDeposit(body: CashDepositForm, options?: KeyedOptions): Promise<CashDeposit> {
    return this.transport.data(
      { method: "POST", path: "/v1/finance/cash-deposits", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * List journal entries.
   *
   * Lists journal entries with their lines, newest first.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/journals`, operation `list_journals`.
   */
  listJournals(query: ListJournalsQuery = {}, options?: Options): Listing<Journal> {
    return this.transport.list(
      { method: "GET", path: "/v1/finance/journals", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List journal entries, as a file. Pages do not apply.
   *
   * `GET /v1/finance/journals`, operation `list_journals`.
   */
  listJournalsFile(
    format: "csv" | "xlsx",
    query: Omit<ListJournalsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/finance/journals", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Create journal entry.
   *
   * Drafts a journal entry: a correction, an opening balance, or income tax that a partner has
   * withheld (`prepaid_pph23` against `partner_payable`). Debits and credits are equal, and each
   * account occurs once. A line of `tax_payable` names the tax, a line of `partner_payable`
   * requires `mitra_id`. The draft changes nothing until somebody approves it. Accepts an
   * `Idempotency-Key`.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/journals`, operation `create_journal`.
   */
  createJournal(body: JournalForm, options?: KeyedOptions): Promise<Journal> {
    return this.transport.data(
      { method: "POST", path: "/v1/finance/journals", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Approve journal entry.
   *
   * Posts a draft. A line of `partner_payable` also changes what the partner's next settlement
   * pays. Unless the service is configured otherwise, the author cannot approve it (409
   * `same_person`). Refused with 409 `invalid_state` if it is no draft any more, and with 409
   * `not_enough_cash` if it takes more cash than there is.
   *
   * **Access:** Admins; staff with `finance.write`. Needs a sign-in, or `POST
   * /user/me/reauthenticate`, within the last hour: otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/finance/journals/{id}/approve`, operation `approve_journal`.
   */
  approveJournal(id: string, options?: Options): Promise<Journal> {
    return this.transport.data(
      { method: "POST", path: `/v1/finance/journals/${segment(id)}/approve`, repeat: "change" },
      options,
    );
  }

  /**
   * Reject journal entry.
   *
   * Rejects a draft, which is kept and never posted. The author may withdraw it so.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/journals/{id}/reject`, operation `reject_journal`.
   */
  rejectJournal(id: string, options?: Options): Promise<Journal> {
    return this.transport.data(
      { method: "POST", path: `/v1/finance/journals/${segment(id)}/reject`, repeat: "change" },
      options,
    );
  }

  /**
   * List accounting periods.
   *
   * Lists the months of the books from the first posting to the current month, newest first.
   *
   * **Access:** Admins; staff with `finance.read`.
   *
   * `GET /v1/finance/periods`, operation `list_periods`.
   */
  listPeriods(query: ListPeriodsQuery = {}, options?: Options): Listing<FinancePeriod> {
    return this.transport.list(
      { method: "GET", path: "/v1/finance/periods", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * List accounting periods, as a file. Pages do not apply.
   *
   * `GET /v1/finance/periods`, operation `list_periods`.
   */
  listPeriodsFile(
    format: "csv" | "xlsx",
    query: Omit<ListPeriodsQuery, "page" | "page_size"> = {},
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      { method: "GET", path: "/v1/finance/periods", repeat: "read", query: { ...query, format } },
      options,
    );
  }

  /**
   * Close month.
   *
   * Closes a month (`2026-11`): nothing is posted into it or before it any more; later events are
   * posted in the open month. Refused with 409 `too_early` until an hour after its end, with
   * `earlier_open` while an earlier month with postings is open, and with `already_closed` if it is
   * closed.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/periods/{month}/close`, operation `close_period`.
   */
  closePeriod(month: string, options?: Options): Promise<FinancePeriod> {
    return this.transport.data(
      { method: "POST", path: `/v1/finance/periods/${segment(month)}/close`, repeat: "change" },
      options,
    );
  }

  /**
   * Reopen month.
   *
   * Reopens the month that was closed last, with a reason. Refused with 409 `later_closed` while a
   * later month is closed, and with `invalid_state` if it is not closed.
   *
   * **Access:** Admins; staff with `finance.write`.
   *
   * `POST /v1/finance/periods/{month}/reopen`, operation `reopen_period`.
   */
  reopenPeriod(month: string, body?: ReopenForm, options?: Options): Promise<FinancePeriod> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/finance/periods/${segment(month)}/reopen`,
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/**
 * Finance reports, dashboard and figures of partners. Amounts are in rupiah; days are those of the
 * service's time zone. Figures follow sales within seconds; `as_of` says when they were read.
 */
export class ReportsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get finance overview.
   *
   * Returns revenue, refunds, taxes, commission and bookings of a period beside the period it is
   * compared with, as JSON, CSV or XLSX by `Accept` or `format`.
   *
   * `gross_revenue` is all money received for bookings on the day on which it was applied,
   * including paid differences of reschedules and what was paid too much, twice or too late and is
   * owed back. `refunds` is all money paid back on its day, less transfers that bounced. A
   * reschedule is not counted as a sale: `discount`, `tax`, `commission` and `partner_payable`
   * change by the difference of the prices on its day. `net_revenue` is `gross_revenue - refunds -
   * (tax - refund_tax)`. `commission_earned`, `tax_due`, `promotion_cost`, `reseller_margin`,
   * `gateway_fees` and `platform_income` are read from the ledger by the day of posting;
   * `platform_income` is `commission_earned` less promotions, margins of resellers, fees of
   * providers and banks, and losses.
   *
   * **Access:** Admins; staff with `reports.read`.
   *
   * `GET /v1/finance/reports/overview`, operation `finance_overview`.
   */
  financeOverview(query: FinanceOverviewQuery, options?: Options): Promise<Overview> {
    return this.transport.data(
      { method: "GET", path: "/v1/finance/reports/overview", repeat: "read", query },
      options,
    );
  }

  /**
   * Get finance overview, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reports/overview`, operation `finance_overview`.
   */
  financeOverviewFile(
    format: "csv" | "xlsx",
    query: FinanceOverviewQuery,
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reports/overview",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get revenue by payment method.
   *
   * Returns the revenue of a period by payment method, as JSON, CSV or XLSX. The difference of a
   * reschedule counts under the method of its own payment. What resellers sell counts under
   * `account`, on the day it is confirmed.
   *
   * **Access:** Admins; staff with `reports.read`.
   *
   * `GET /v1/finance/reports/revenue-breakdown/payment`, operation `revenue_by_payment_method`.
   */
  revenueByPaymentMethod(
    query: RevenueByPaymentMethodQuery,
    options?: Options,
  ): Promise<Breakdown> {
    return this.transport.data(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/payment",
        repeat: "read",
        query,
      },
      options,
    );
  }

  /**
   * Get revenue by payment method, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reports/revenue-breakdown/payment`, operation `revenue_by_payment_method`.
   */
  revenueByPaymentMethodFile(
    format: "csv" | "xlsx",
    query: RevenueByPaymentMethodQuery,
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/payment",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get revenue by booking type.
   *
   * Returns the revenue of a period by booking type, as JSON, CSV or XLSX.
   *
   * **Access:** Admins; staff with `reports.read`.
   *
   * `GET /v1/finance/reports/revenue-breakdown/type`, operation `revenue_by_type`.
   */
  revenueByType(query: RevenueByTypeQuery, options?: Options): Promise<Breakdown> {
    return this.transport.data(
      { method: "GET", path: "/v1/finance/reports/revenue-breakdown/type", repeat: "read", query },
      options,
    );
  }

  /**
   * Get revenue by booking type, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reports/revenue-breakdown/type`, operation `revenue_by_type`.
   */
  revenueByTypeFile(
    format: "csv" | "xlsx",
    query: RevenueByTypeQuery,
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/type",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get revenue by partner.
   *
   * Returns the revenue of a period by partner. JSON is paged; CSV and XLSX contain all partners.
   *
   * **Access:** Admins; staff with `reports.read`.
   *
   * `GET /v1/finance/reports/revenue-breakdown/partner`, operation `revenue_by_partner`.
   */
  revenueByPartner(
    query: RevenueByPartnerQuery,
    options?: Options,
  ): Listing<Slice, RevenueByPartnerBody> {
    return this.transport.list(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/partner",
        repeat: "read",
        query,
      },
      { pageIn: "query", items: "items" },
      options,
    );
  }

  /**
   * Get revenue by partner, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reports/revenue-breakdown/partner`, operation `revenue_by_partner`.
   */
  revenueByPartnerFile(
    format: "csv" | "xlsx",
    query: Omit<RevenueByPartnerQuery, "page" | "page_size">,
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/partner",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get revenue by reseller.
   *
   * Returns the revenue of a period by reseller: bookings, passengers, what it owes for them (on
   * the day confirmed), the margin left to it, and refunds credited to its account. JSON is paged;
   * CSV and XLSX contain all resellers.
   *
   * **Access:** Admins; staff with `reports.read`.
   *
   * `GET /v1/finance/reports/revenue-breakdown/reseller`, operation `revenue_by_reseller`.
   */
  revenueByReseller(
    query: RevenueByResellerQuery,
    options?: Options,
  ): Listing<ResellerSlice, RevenueByResellerBody> {
    return this.transport.list(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/reseller",
        repeat: "read",
        query,
      },
      { pageIn: "query", items: "items" },
      options,
    );
  }

  /**
   * Get revenue by reseller, as a file. Pages do not apply.
   *
   * `GET /v1/finance/reports/revenue-breakdown/reseller`, operation `revenue_by_reseller`.
   */
  revenueByResellerFile(
    format: "csv" | "xlsx",
    query: Omit<RevenueByResellerQuery, "page" | "page_size">,
    options?: Options,
  ): Promise<File> {
    return this.transport.file(
      {
        method: "GET",
        path: "/v1/finance/reports/revenue-breakdown/reseller",
        repeat: "read",
        query: { ...query, format },
      },
      options,
    );
  }

  /**
   * Get dashboard.
   *
   * Returns today, this month, upcoming departures and work that is pending: of the platform for
   * admins and staff, of its own business for a partner. A partner sees bookings of resellers at
   * the retail price; for staff they count with what the reseller owes. Amounts are null for staff
   * without `reports.read`. `pending.partner_reviews` counts partners with documents to review,
   * `pending.bank_approvals` changed bank accounts. Refused for resellers (403).
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `GET /v1/dashboard`, operation `get_dashboard`.
   */
  getDashboard(options?: Options): Promise<Dashboard> {
    return this.transport.data({ method: "GET", path: "/v1/dashboard", repeat: "read" }, options);
  }

  /**
   * Get partner figures.
   *
   * Returns figures of one partner: bookings by status, passengers, revenue, occupancy and what is
   * not settled yet. A partner sees bookings of resellers at the retail price. Admins and staff
   * name the partner by `mitra_id`.
   *
   * **Access:** Partners for their own; admins; staff with `partners.read`.
   *
   * `GET /v1/dashboard/mitra-statistic`, operation `mitra_statistic`.
   */
  mitraStatistic(query: MitraStatisticQuery = {}, options?: Options): Promise<MitraStatistic> {
    return this.transport.data(
      { method: "GET", path: "/v1/dashboard/mitra-statistic", repeat: "read", query },
      options,
    );
  }
}

/**
 * Texts of the public website: the partnership call to action, and versioned terms and conditions.
 */
export class ContentApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get partnership call to action.
   *
   * Returns the call to action that invites operators to become partners. Public; 404 until it is
   * saved once.
   *
   * **Access:** Public.
   *
   * `GET /v1/contents/cta-partnership`, operation `get_cta_partnership`.
   */
  getCtaPartnership(options?: Options): Promise<CtaPartnership> {
    return this.transport.data(
      { method: "GET", path: "/v1/contents/cta-partnership", repeat: "read" },
      options,
    );
  }

  /**
   * Update partnership call to action.
   *
   * Replaces the call to action.
   *
   * **Access:** Admins; staff with `contents.write`.
   *
   * `POST /v1/contents/cta-partnership`, operation `save_cta_partnership`.
   */
  saveCtaPartnership(body: CtaForm, options?: Options): Promise<CtaPartnership> {
    return this.transport.data(
      { method: "POST", path: "/v1/contents/cta-partnership", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Get published terms.
   *
   * Returns the published terms of a type, such as `customer` or `mitra`. Public; 404 if none are
   * published.
   *
   * **Access:** Public.
   *
   * `GET /v1/configurations/term-conditions`, operation `get_terms`.
   */
  getTerms(query: GetTermsQuery, options?: Options): Promise<Terms> {
    return this.transport.data(
      { method: "GET", path: "/v1/configurations/term-conditions", repeat: "read", query },
      options,
    );
  }

  /**
   * List terms versions.
   *
   * Lists all versions of the terms with authors and publishers, newest first.
   *
   * **Access:** Admins; staff with `terms.write`.
   *
   * `GET /v1/configurations/term-conditions/history`, operation `list_terms_history`.
   */
  listTermsHistory(query: ListTermsHistoryQuery, options?: Options): Listing<TermsVersion> {
    return this.transport.list(
      { method: "GET", path: "/v1/configurations/term-conditions/history", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create terms draft.
   *
   * Creates a draft of terms. The HTML is sanitised. Refused with 409 `already_exists` while there
   * is another draft of the type. `user_creator_id` must be the caller's own id.
   *
   * **Access:** Admins; staff with `terms.write`.
   *
   * `POST /v1/configurations/term-condition/create`, operation `create_terms`.
   */
  createTerms(body: NewTerms, options?: Options): Promise<TermsVersion> {
    return this.transport.data(
      {
        method: "POST",
        path: "/v1/configurations/term-condition/create",
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Update terms draft.
   *
   * Changes a draft. For published terms it creates a draft of the next version. Archived terms are
   * refused with 409.
   *
   * **Access:** Admins; staff with `terms.write`.
   *
   * `PUT /v1/configurations/term-condition/update`, operation `update_terms`.
   */
  updateTerms(body: ChangedTerms, options?: Options): Promise<TermsVersion> {
    return this.transport.data(
      {
        method: "PUT",
        path: "/v1/configurations/term-condition/update",
        repeat: "change",
        json: body,
      },
      options,
    );
  }

  /**
   * Publish terms.
   *
   * Publishes a draft in place of the current version, which is kept in the history. Unless the
   * service is configured otherwise, the author of a draft cannot publish it (409 `same_person`).
   * `user_validator_id` must be the caller's own id.
   *
   * **Access:** Admins; staff with `terms.publish`.
   *
   * `POST /v1/configurations/term-condition/publish`, operation `publish_terms`.
   */
  publishTerms(body: PublishTerms, options?: Options): Promise<TermsVersion> {
    return this.transport.data(
      {
        method: "POST",
        path: "/v1/configurations/term-condition/publish",
        repeat: "change",
        json: body,
      },
      options,
    );
  }
}

/** In-app notifications of the signed-in account, as a list and as a live stream. */
export class NotificationsApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List own notifications.
   *
   * Lists the caller's notifications with the number of unread ones, in the language of the
   * request.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `GET /v1/notifications`, operation `list_notifications`.
   */
  list(
    query: ListNotificationsQuery = {},
    options?: Options,
  ): Listing<Notification, ListNotificationsBody> {
    return this.transport.list(
      { method: "GET", path: "/v1/notifications", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Stream own notifications.
   *
   * Streams new notifications as server-sent events until the session ends. A new stream may begin
   * with those of the last 15 seconds. Reconnect with `Last-Event-ID` to receive what was missed.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `GET /v1/notifications/stream`, operation `stream_notifications`.
   */
  stream(options?: Options): AsyncGenerator<Notification> {
    return this.transport.events(
      { method: "GET", path: "/v1/notifications/stream", repeat: "read" },
      options,
    );
  }

  /**
   * Mark all notifications as read.
   *
   * Marks all of the caller's notifications as read.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `PUT /v1/notifications/read-all`, operation `read_all_notifications`.
   */
  readAll(options?: Options): Promise<void> {
    return this.transport.data(
      { method: "PUT", path: "/v1/notifications/read-all", repeat: "change" },
      options,
    );
  }

  /**
   * Get notification.
   *
   * Returns one of the caller's notifications.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `GET /v1/notifications/{id}`, operation `get_notification`.
   */
  get(id: string, options?: Options): Promise<Notification> {
    return this.transport.data(
      { method: "GET", path: `/v1/notifications/${segment(id)}`, repeat: "read" },
      options,
    );
  }

  /**
   * Mark notification as read.
   *
   * Marks one of the caller's notifications as read. Repeating it changes nothing.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `PUT /v1/notifications/{id}/read`, operation `read_notification`.
   */
  read(id: string, options?: Options): Promise<Notification> {
    return this.transport.data(
      { method: "PUT", path: `/v1/notifications/${segment(id)}/read`, repeat: "change" },
      options,
    );
  }

  /**
   * List notifications of an account.
   *
   * Lists the notifications of one account: the caller's own, or any for admins. Other callers get
   * 404.
   *
   * **Access:** Admins, staff, partners and resellers.
   *
   * `GET /v1/notification/user/{id}`, operation `list_notifications_of`.
   */
  listOf(
    id: string,
    query: ListNotificationsOfQuery = {},
    options?: Options,
  ): Listing<Notification, ListNotificationsOfBody> {
    return this.transport.list(
      { method: "GET", path: `/v1/notification/user/${segment(id)}`, repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }
}

/**
 * Subscriptions of other systems to events. Deliveries follow the Standard Webhooks specification
 * and are retried for about a day.
 */
export class WebhooksApi {
  constructor(private readonly transport: Transport) {}

  /**
   * List webhooks.
   *
   * Lists webhooks. Secrets are not included.
   *
   * **Access:** Admins.
   *
   * `GET /v1/webhooks`, operation `list_webhooks`.
   */
  list(query: ListWebhooksQuery = {}, options?: Options): Listing<Webhook> {
    return this.transport.list(
      { method: "GET", path: "/v1/webhooks", repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Create webhook.
   *
   * Subscribes an address to events. The response contains the signing secret, which is not shown
   * again. The address must be public unless the service is configured otherwise (422). Accepts an
   * `Idempotency-Key`.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/webhooks`, operation `create_webhook`.
   */
  create(body: WebhookForm, options?: KeyedOptions): Promise<NewWebhook> {
    return this.transport.data(
      { method: "POST", path: "/v1/webhooks", repeat: "keyed", json: body },
      options,
    );
  }

  /**
   * Update webhook.
   *
   * Replaces address, events and whether it is active, and clears the record of failures.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `PUT /v1/webhooks/{id}`, operation `update_webhook`.
   */
  update(id: string, body: WebhookForm, options?: Options): Promise<Webhook> {
    return this.transport.data(
      { method: "PUT", path: `/v1/webhooks/${segment(id)}`, repeat: "change", json: body },
      options,
    );
  }

  /**
   * Delete webhook.
   *
   * Deletes a webhook. Deliveries that are still waiting are dropped.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `DELETE /v1/webhooks/{id}`, operation `delete_webhook`.
   */
  delete(id: string, options?: Options): Promise<void> {
    return this.transport.data(
      { method: "DELETE", path: `/v1/webhooks/${segment(id)}`, repeat: "change" },
      options,
    );
  }

  /**
   * List webhook deliveries.
   *
   * Lists the deliveries of a webhook with status, attempts and the last error.
   *
   * **Access:** Admins.
   *
   * `GET /v1/webhooks/{id}/deliveries`, operation `list_deliveries`.
   */
  listDeliveries(
    id: string,
    query: ListDeliveriesQuery = {},
    options?: Options,
  ): Listing<WebhookDelivery> {
    return this.transport.list(
      { method: "GET", path: `/v1/webhooks/${segment(id)}/deliveries`, repeat: "read", query },
      { pageIn: "query" },
      options,
    );
  }

  /**
   * Resend webhook delivery.
   *
   * Queues a delivery again, whatever its status. Its id and body stay the same, so that receivers
   * can detect duplicates. Refused with 409 while the webhook is switched off.
   *
   * **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last hour:
   * otherwise 403 `reauthentication_required`.
   *
   * `POST /v1/webhooks/{id}/deliveries/{delivery_id}/resend`, operation `resend_delivery`.
   */
  resendDelivery(id: string, deliveryId: string, options?: Options): Promise<WebhookDelivery> {
    return this.transport.data(
      {
        method: "POST",
        path: `/v1/webhooks/${segment(id)}/deliveries/${segment(deliveryId)}/resend`,
        repeat: "change",
      },
      options,
    );
  }
}

/**
 * Uploads and downloads: avatars, photos, documents and proofs of payment. Files that nothing
 * refers to are deleted after seven days.
 */
export class FilesApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Upload file.
   *
   * Uploads a file in one `multipart/form-data` request with `file` and `purpose`. Images (JPEG,
   * PNG, WebP) are checked, and metadata and appended data are removed; an image without any is
   * stored unchanged. PDF is accepted for documents and proofs. Crew can upload an avatar only.
   * Refused with 409 `quota_exceeded` when the account's quota is used up: 500 files and 200 MiB,
   * or 20 MiB until the e-mail address is verified.
   *
   * **Access:** Every signed-in account.
   *
   * `POST /v1/files/upload`, operation `upload_file`.
   */
  upload(body: UploadFileForm, options?: Options): Promise<FileRecord> {
    return this.transport.data(
      { method: "POST", path: "/v1/files/upload", repeat: "change", form: body },
      options,
    );
  }

  /**
   * Create upload URL.
   *
   * Announces a file and returns a signed address, valid for 10 minutes, to which the client
   * uploads the content with PUT. The content type is part of the signature, and the size with
   * local storage. With S3 the size is checked after the upload: content of another size is
   * deleted. HEAD requests and prefetches are refused.
   *
   * **Access:** Every signed-in account.
   *
   * `GET /v1/files/presign-url`, operation `presign_url`.
   */
  presignUrl(query: PresignUrlQuery, options?: Options): Promise<Presigned> {
    return this.transport.data(
      { method: "GET", path: "/v1/files/presign-url", repeat: "change", query },
      options,
    );
  }

  /**
   * Download file.
   *
   * Returns the content of a file. Public files are open to everyone; private ones need a signed
   * address, or a bearer token of the uploader, an admin or (for documents) a reviewer. Others
   * receive 404. Supports `If-None-Match`.
   *
   * **Access:** Public; a bearer token identifies the caller.
   *
   * `GET /v1/files/{id}`, operation `download_file`.
   */
  download(id: string, query: DownloadFileQuery = {}, options?: Options): Promise<File> {
    return this.transport.file(
      { method: "GET", path: `/v1/files/${segment(id)}`, repeat: "read", query },
      options,
    );
  }

  /**
   * Upload file content to signed URL.
   *
   * Receives the content of an announced file at its signed address when files are stored locally.
   * The address works once; content type and size must be those that were signed (403).
   *
   * **Access:** Public.
   *
   * `PUT /v1/files/{id}/content`, operation `receive_file`.
   */
  receive(id: string, body: Blob, query: ReceiveFileQuery, options?: Options): Promise<FileRecord> {
    return this.transport.data(
      {
        method: "PUT",
        path: `/v1/files/${segment(id)}/content`,
        repeat: "change",
        query,
        content: body,
      },
      options,
    );
  }
}

/**
 * Export and erasure of what is stored about a person (UU 27/2022). A person is found by an e-mail
 * address: accounts with it, deleted ones included, bookings with it as contact, and resellers that
 * have it as `ops_email`. Passengers of other people's bookings have no address and cannot be
 * found.
 */
export class PersonalDataApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Export personal data.
   *
   * Returns everything that is stored under an e-mail address: accounts with sessions, networks,
   * notifications, files, staff record, partner or reseller data and the changes that the person
   * made; bookings with contact and all passengers; stored mails. A reseller that has the address
   * as `ops_email` is listed in `resellers` by id and name alone, because its account is somebody
   * else's. Identity and bank account numbers are not masked. Each list has at most the newest
   * 1,000 items; `truncated` names those that have more. An unknown address has empty lists. The
   * export is recorded in the audit log with a keyed hash of the address.
   *
   * **Access:** Admins; staff with `privacy.manage`.
   *
   * `POST /v1/privacy/export`, operation `export_personal_data`.
   */
  export(body: ExportRequest, options?: Options): Promise<PersonalData> {
    return this.transport.data(
      { method: "POST", path: "/v1/privacy/export", repeat: "change", json: body },
      options,
    );
  }

  /**
   * Erase personal data.
   *
   * Replaces what is stored under an e-mail address by placeholders. Up to 200 accounts and
   * bookings that are over are erased at once. The others are counted in `waiting` and erased by a
   * job: bookings that have not sailed or for which money is owed, and partners and resellers with
   * open business. Amounts, codes and counts are kept. Stored mails to the address are deleted;
   * mails to a reseller's `ops_email` are deleted when the reseller is erased. If the address is a
   * reseller's `ops_email`, it is removed at once, also for an active reseller; its mails then go
   * to its account. `resellers` counts these; `erased` and `waiting` do not include them. An
   * unknown address is not an error: all counts are 0. Refused with 409 `in_use` if the address
   * belongs to an active admin or staff member, who must be deactivated first. Recorded in the
   * audit log with the reason and a keyed hash of the address.
   *
   * **Access:** Admins; staff with `privacy.manage`.
   *
   * `POST /v1/privacy/erase`, operation `erase_personal_data`.
   */
  erase(body: ErasureRequest, options?: Options): Promise<Erasure> {
    return this.transport.data(
      { method: "POST", path: "/v1/privacy/erase", repeat: "change", json: body },
      options,
    );
  }
}

/** Health of the service, for load balancers and monitoring. */
export class ServiceApi {
  constructor(private readonly transport: Transport) {}

  /**
   * Get health.
   *
   * Returns version, uptime, database engine and storage. 503 if the database does not answer.
   *
   * **Access:** Public.
   *
   * `GET /health`, operation `health`.
   */
  health(options?: Options): Promise<Health> {
    return this.transport.data({ method: "GET", path: "/health", repeat: "read" }, options);
  }

  /**
   * Check liveness.
   *
   * Answers as long as the process runs. Use it as a liveness probe.
   *
   * **Access:** Public.
   *
   * `GET /health/live`, operation `live`.
   */
  live(options?: Options): Promise<void> {
    return this.transport.data({ method: "GET", path: "/health/live", repeat: "read" }, options);
  }

  /**
   * Check readiness.
   *
   * Answers 200 if the database answers and all background jobs of this process succeed, otherwise
   * 503. Use it as a readiness probe.
   *
   * **Access:** Public.
   *
   * `GET /health/ready`, operation `ready`.
   */
  ready(options?: Options): Promise<void> {
    return this.transport.data({ method: "GET", path: "/health/ready", repeat: "read" }, options);
  }
}

/** The operations of the API, one member per group. */
export class Operations {
  /**
   * Sign-in, passwords, sessions and user accounts. Accounts belong to admins, staff, partners and
   * their crew; passengers book without an account.
   */
  readonly accounts: AccountsApi;
  /** Staff members, the permissions that they hold, and the audit log of what anybody changed. */
  readonly staff: StaffApi;
  /**
   * Boat operators ("mitra"): onboarding with documents and bank account, review, suspension,
   * impersonation, and their crew.
   */
  readonly partners: PartnersApi;
  /** Speedboats of the partners. */
  readonly fleet: FleetApi;
  /**
   * Routes, the dated sailings that they publish, and the public search. A route is a draft until
   * it is published; publishing creates its sailings.
   */
  readonly routes: RoutesApi;
  /**
   * Where routes start and end. A route names its harbours in free text; the names are matched to
   * harbours by name or alias, without regard to case, accents and repeated spaces. An unknown name
   * makes an unverified harbour.
   */
  readonly harbours: HarboursApi;
  /**
   * Bookings of passengers, made by guests or by partners and staff on their behalf. A guest proves
   * ownership by the booking's `code` and the contact `email`.
   */
  readonly bookings: BookingsApi;
  /**
   * Payment attempts, callbacks of payment providers, cash, refunds, and payments that need a
   * decision.
   */
  readonly payments: PaymentsApi;
  /**
   * Sailings, passenger manifests and check-in at the pier, with or without network. Partners and
   * their crew board the passengers of their own sailings.
   */
  readonly boarding: BoardingApi;
  /** Signed tickets as PDF, and the public keys to verify them without network. */
  readonly tickets: TicketsApi;
  /**
   * Discount codes with period, quota and target. The platform pays for a discount, or
   * (`funded_by`: `partner`) the partner whose sailing is booked.
   */
  readonly promotions: PromotionsApi;
  /**
   * Taxes on bookings and on the platform's commission. Bookings keep the rates with which they
   * were sold.
   */
  readonly taxes: TaxesApi;
  /**
   * Payouts to partners: completed bookings less commission, tax on the commission and cash that
   * the partner collected, with corrections by journal entries.
   */
  readonly settlements: SettlementsApi;
  /**
   * Agencies that sell seats through the OCTO API, on account: their records, API keys, the
   * partners that they may sell, and what they owe.
   */
  readonly resellers: ResellersApi;
  /**
   * The books: what the ledger says, and what a finance clerk posts into it. Amounts are in rupiah;
   * debit balances are positive, credit balances negative. Days are those of the service's time
   * zone. Every list and report is also available as CSV or XLSX by `Accept` or `format`; a file of
   * a list has at most 20,000 lines.
   *
   * What is posted here has a day: not in the future, and in a month that is open (else 409
   * `period_closed`).
   */
  readonly finance: FinanceApi;
  /**
   * Finance reports, dashboard and figures of partners. Amounts are in rupiah; days are those of
   * the service's time zone. Figures follow sales within seconds; `as_of` says when they were read.
   */
  readonly reports: ReportsApi;
  /**
   * Texts of the public website: the partnership call to action, and versioned terms and
   * conditions.
   */
  readonly content: ContentApi;
  /** In-app notifications of the signed-in account, as a list and as a live stream. */
  readonly notifications: NotificationsApi;
  /**
   * Subscriptions of other systems to events. Deliveries follow the Standard Webhooks specification
   * and are retried for about a day.
   */
  readonly webhooks: WebhooksApi;
  /**
   * Uploads and downloads: avatars, photos, documents and proofs of payment. Files that nothing
   * refers to are deleted after seven days.
   */
  readonly files: FilesApi;
  /**
   * Export and erasure of what is stored about a person (UU 27/2022). A person is found by an
   * e-mail address: accounts with it, deleted ones included, bookings with it as contact, and
   * resellers that have it as `ops_email`. Passengers of other people's bookings have no address
   * and cannot be found.
   */
  readonly personalData: PersonalDataApi;
  /** Health of the service, for load balancers and monitoring. */
  readonly service: ServiceApi;

  constructor(transport: Transport) {
    this.accounts = new AccountsApi(transport);
    this.staff = new StaffApi(transport);
    this.partners = new PartnersApi(transport);
    this.fleet = new FleetApi(transport);
    this.routes = new RoutesApi(transport);
    this.harbours = new HarboursApi(transport);
    this.bookings = new BookingsApi(transport);
    this.payments = new PaymentsApi(transport);
    this.boarding = new BoardingApi(transport);
    this.tickets = new TicketsApi(transport);
    this.promotions = new PromotionsApi(transport);
    this.taxes = new TaxesApi(transport);
    this.settlements = new SettlementsApi(transport);
    this.resellers = new ResellersApi(transport);
    this.finance = new FinanceApi(transport);
    this.reports = new ReportsApi(transport);
    this.content = new ContentApi(transport);
    this.notifications = new NotificationsApi(transport);
    this.webhooks = new WebhooksApi(transport);
    this.files = new FilesApi(transport);
    this.personalData = new PersonalDataApi(transport);
    this.service = new ServiceApi(transport);
  }
}
