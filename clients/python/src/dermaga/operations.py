"""The operations of the API, one class per group.

Generated from docs/openapi.json by clients/generate.py. Do not edit.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Literal, cast

from .files import File
from .page import Page, PageWith
from .transport import Call, Group, Transport, segment
from .types import (
    Account,
    Admitted,
    AnyObject,
    AnyPayout,
    AppliesTo,
    AuditLog,
    BankAccountStatus,
    BankApproval,
    BoatStatus,
    Booking,
    BookingForm,
    BookingOptions,
    BookingSort,
    BookingStatus,
    BookingType,
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
    Channel,
    CheckIn,
    CheckedIn,
    ComparisonMode,
    ConfirmTotp,
    CorrectContact,
    CorrectPassengers,
    CrewMember,
    CrewSort,
    CtaForm,
    CtaPartnership,
    Dashboard,
    DeliveryStatus,
    Direction,
    Document,
    DocumentReview,
    EmailForm,
    EnrolTotp,
    Entry,
    Erasure,
    ErasureRequest,
    ExportRequest,
    ExtendRoute,
    FileRecord,
    FinancePeriod,
    FindBookings,
    FundedBy,
    GetPartnerStatementBody,
    GetResellerStatementBody,
    Grants,
    GrantsForm,
    GuestCredentials,
    Harbour,
    HarbourChange,
    HarbourSort,
    HarbourStatus,
    Health,
    Impersonation,
    InviteAdmin,
    InviteCrew,
    InvoiceStatus,
    Journal,
    JournalForm,
    JournalStatus,
    Kind,
    Level,
    Line,
    LineForm,
    LinkToken,
    ListNotificationsBody,
    ListNotificationsOfBody,
    ListStaffBody,
    Location,
    Login,
    Manifest,
    ManualSettlement,
    MergeHarbour,
    MitraStatistic,
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
    Origin,
    Overview,
    PaidBy,
    Partner,
    PartnerEdit,
    PartnerForm,
    PartnerOverview,
    PartnerSort,
    PartnerStatistics,
    PartnerStatus,
    PartnerType,
    PayRefund,
    PayingProvider,
    PeriodType,
    Permission,
    PermissionForm,
    PermissionSort,
    PersonalData,
    Presigned,
    Profile,
    PromoVerdict,
    PromotionForm,
    PromotionRecord,
    PromotionSort,
    PromotionState,
    PromotionStatus,
    ProviderSettlement,
    ProviderSettlementDetail,
    ProviderSettlementForm,
    PublishTerms,
    Purpose,
    Quote,
    QuoteForm,
    Reauthenticate,
    Receipt,
    ReceiptForm,
    ReceiptSort,
    Reconciliation,
    RecoveryCodes,
    Refund,
    RefundAccountForm,
    RefundForm,
    RefundKind,
    RefundStatus,
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
    ResellerSort,
    ResellerStatementLine,
    ResellerStatus,
    ResellerSuspension,
    ResendTicket,
    ResetPassword,
    Resolve,
    ReturnForm,
    ReturnRefund,
    RevenueByPartnerBody,
    RevenueByResellerBody,
    Review,
    ReviewReason,
    Reviewed,
    Role,
    Route,
    RouteForm,
    RouteSailing,
    RouteSort,
    RouteStatus,
    RouteTimeSort,
    RuleGroup,
    Sailing,
    SailingStatus,
    SearchForm,
    SearchSailingsBody,
    Settlement,
    SettlementConfigurationForm,
    SettlementConfigurationView,
    SettlementDetail,
    SettlementSort,
    SettlementStatus,
    SignedIn,
    Slice,
    Source,
    Speedboat,
    SpeedboatChange,
    SpeedboatSort,
    SpeedboatSummary,
    Staff,
    StaffForm,
    StaffSort,
    StaffStatus,
    StatementLine,
    Status,
    Suspension,
    TargetType,
    Tax,
    TaxForm,
    TaxPayment,
    TaxPaymentForm,
    TaxReport,
    TaxSort,
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
    UserSort,
    UserStatistics,
    ValidatePromo,
    Webhook,
    WebhookDelivery,
    WebhookForm,
)


class AccountsApi(Group):
    """Sign-in, passwords, sessions and user accounts. Accounts belong to admins, staff, partners
    and their crew; passengers book without an account.
    """

    def login(self, body: Login, *, timeout: float | None = None) -> SignedIn:
        """Sign in.

        Signs in with e-mail, password and role (`any` accepts the account's own) and returns an
        access token. It is valid for 8 hours, and ends after 2 hours without a request. An
        account with a second factor also needs `code`: without it, a right password is 401
        `second_factor_required`. Ten wrong passwords or codes for one account from one network
        lock that pair for 15 minutes (429 with `Retry-After`). A suspended or inactive account
        is refused with 403.

        **Access:** Public.

        `POST /v1/auth/login`, operation `login`.
        """
        call = Call("POST", "/v1/auth/login", repeat="change", json=body, timeout=timeout)
        return cast(SignedIn, self._transport.data(call))

    def logout(self, *, timeout: float | None = None) -> None:
        """Sign out.

        Ends the session of the bearer token and the impersonations that it started. A remember
        token in the header `X-Remember-Token` or in the cookie is revoked as well.

        **Access:** Every signed-in account.

        `POST /v1/auth/logout`, operation `logout`.
        """
        call = Call("POST", "/v1/auth/logout", repeat="change", timeout=timeout)
        self._transport.data(call)

    def register_mitra(self, body: RegisterMitra, *, timeout: float | None = None) -> Registered:
        """Register partner.

        Creates a partner account in status `draft`, signed up by the partner itself. The partner
        signs in with role `mitra` and completes its onboarding before it can publish routes.
        Sends a welcome mail and a link to verify the e-mail address; a partner that does not
        verify it within 7 days is deleted. Refused with 409 `email_taken` if the e-mail address
        is in use.

        **Access:** Public.

        `POST /auth/register-mitra`, operation `register_mitra`.
        """
        call = Call("POST", "/auth/register-mitra", repeat="change", json=body, timeout=timeout)
        return cast(Registered, self._transport.data(call))

    def forgot_password(self, body: EmailForm, *, timeout: float | None = None) -> None:
        """Request password reset.

        Mails a link to set a new password. The response is the same whether or not the address
        belongs to an account. At most three mails per account and hour are sent; a link is valid
        for 30 minutes.

        **Access:** Public.

        `POST /auth/forgot-password`, operation `forgot_password`.
        """
        call = Call("POST", "/auth/forgot-password", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def reset_password(self, body: ResetPassword, *, timeout: float | None = None) -> None:
        """Reset password.

        Sets a password with the token of a reset mail or of an invitation. The token works once.
        Admins and staff without a second factor need at least 12 characters. All sessions of the
        account end, a pending change of its e-mail address is cancelled, and its current address
        counts as verified.

        **Access:** Public.

        `POST /auth/reset-password`, operation `reset_password`.
        """
        call = Call("POST", "/auth/reset-password", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def remember_me(self, body: EmailForm, *, timeout: float | None = None) -> Remembered:
        """Enrol or resume remembered device.

        With a bearer token: enrols this device and returns a remember token, also as a cookie.
        Without one: exchanges the remember token (header `X-Remember-Token` or cookie) for a new
        session and a new remember token, without a code of the second factor. A token is valid
        for 30 days, a device for 90 days in all. A token that was already exchanged revokes the
        device.

        **Access:** Public; a bearer token identifies the caller.

        `POST /auth/remember-me`, operation `remember_me`.
        """
        call = Call("POST", "/auth/remember-me", repeat="change", json=body, timeout=timeout)
        return cast(Remembered, self._transport.data(call))

    def verify_email(self, body: LinkToken, *, timeout: float | None = None) -> None:
        """Verify e-mail address.

        Verifies an e-mail address with the token of a verification mail. The token works once,
        within 7 days. Until the address is verified, a partner cannot submit its onboarding and
        may store 20 MiB of files.

        **Access:** Public.

        `POST /auth/verify-email`, operation `verify_email`.
        """
        call = Call("POST", "/auth/verify-email", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def resend_verification(self, *, timeout: float | None = None) -> None:
        """Resend verification mail.

        Mails another link to verify the caller's e-mail address. At most three such mails per
        hour; further requests are 429. Refused with 409 `invalid_state` if the address is
        verified.

        **Access:** Every signed-in account.

        `POST /auth/resend-verification`, operation `resend_verification`.
        """
        call = Call("POST", "/auth/resend-verification", repeat="change", timeout=timeout)
        self._transport.data(call)

    def confirm_email(self, body: LinkToken, *, timeout: float | None = None) -> None:
        """Confirm new e-mail address.

        Confirms a requested e-mail address with the token mailed to it; the change takes effect.
        The token works once, within 72 hours. All sessions of the account end, except the one
        that requested the change. Refused with 409 `email_taken` if another account has got the
        address in the meantime.

        **Access:** Public.

        `POST /auth/confirm-email`, operation `confirm_email`.
        """
        call = Call("POST", "/auth/confirm-email", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def cancel_email_change(self, body: LinkToken, *, timeout: float | None = None) -> None:
        """Cancel change of e-mail address.

        Cancels a change of an e-mail address with the token of the mail to the old address,
        within 7 days of the request. A change that was confirmed is undone, together with every
        later one. All sessions, remembered devices and mailed links of the account end.

        **Access:** Public.

        `POST /auth/cancel-email-change`, operation `cancel_email_change`.
        """
        call = Call(
            "POST",
            "/auth/cancel-email-change",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        self._transport.data(call)

    def get_profile(self, *, timeout: float | None = None) -> Profile:
        """Get own profile.

        Returns the caller's account with its permission (staff) or its partnership (partners and
        crew). In an impersonated session `impersonated_by` names the person who acts.

        **Access:** Every signed-in account.

        `GET /user/me`, operation `get_profile`.
        """
        call = Call("GET", "/user/me", repeat="read", timeout=timeout)
        return cast(Profile, self._transport.data(call))

    def update_profile(self, body: UpdateProfile, *, timeout: float | None = None) -> Profile:
        """Update own profile.

        Replaces name, phone and avatar. Another e-mail address requires `current_password` (422,
        rule `required` or `wrong`; wrong passwords count towards the lockout) and becomes
        `pending_email` until it is confirmed by a link to the new address; the old address gets
        a link to cancel. Sending the current address changes nothing, also while a change is
        pending; a newer request replaces it. At most five changes per hour (429). An
        impersonated session cannot change the e-mail address.

        **Access:** Every signed-in account.

        `PUT /user/me`, operation `update_profile`.
        """
        call = Call("PUT", "/user/me", repeat="change", json=body, timeout=timeout)
        return cast(Profile, self._transport.data(call))

    def change_password(self, body: ChangePassword, *, timeout: float | None = None) -> None:
        """Change own password.

        Replaces the caller's password after checking the current one. All other sessions end, a
        pending change of the e-mail address is cancelled, and a confirmation is mailed. Admins
        and staff without a second factor need at least 12 characters. Refused in an impersonated
        session; wrong passwords count towards the lockout.

        **Access:** Every signed-in account.

        `PUT /user/me/password`, operation `change_password`.
        """
        call = Call("PUT", "/user/me/password", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def list_sessions(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[OpenSession]:
        """List own sessions.

        Lists the caller's open sessions with address, user agent and last use. The session of
        this request has `current: true`.

        **Access:** Every signed-in account.

        `GET /user/me/sessions`, operation `list_sessions`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/user/me/sessions",
            repeat="read",
            query={"page": page, "page_size": page_size, "search": search, "sort_dir": sort_dir},
            timeout=timeout,
        )
        return cast(Page[OpenSession], self._transport.page(call, page_in="query"))

    def end_session(self, id: str, *, timeout: float | None = None) -> None:
        """End own session.

        Ends one of the caller's sessions. An unknown session, or one of another account, is 404.

        **Access:** Every signed-in account.

        `DELETE /user/me/sessions/{id}`, operation `end_session`.
        """
        call = Call("DELETE", f"/user/me/sessions/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def reauthenticate(self, body: Reauthenticate, *, timeout: float | None = None) -> None:
        """Confirm own password.

        Confirms the caller's password, and a code if the account has a second factor, so that
        this session may call operations that need a recent sign-in for another hour. Wrong
        passwords and codes are 422 and count towards the lockout. Refused in an impersonated
        session.

        **Access:** Every signed-in account.

        `POST /user/me/reauthenticate`, operation `reauthenticate`.
        """
        call = Call("POST", "/user/me/reauthenticate", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def enrol_totp(self, body: EnrolTotp, *, timeout: float | None = None) -> TotpEnrolment:
        """Enrol second factor.

        Starts the enrolment of a second factor (TOTP, RFC 6238) and returns a secret for an
        authenticator app, also as a QR code. It takes effect when it is confirmed, within 30
        minutes. Refused with 409 `invalid_state` while a second factor exists; a wrong password
        is 422 and counts towards the lockout.

        **Access:** Every signed-in account.

        `POST /user/me/totp`, operation `enrol_totp`.
        """
        call = Call("POST", "/user/me/totp", repeat="change", json=body, timeout=timeout)
        return cast(TotpEnrolment, self._transport.data(call))

    def remove_totp(self, body: RemoveTotp, *, timeout: float | None = None) -> None:
        """Remove own second factor.

        Removes the caller's second factor. Needs the password and a code of the app or a
        recovery code; a wrong one is 422 and counts towards the lockout. Refused in an
        impersonated session.

        **Access:** Every signed-in account.

        `DELETE /user/me/totp`, operation `remove_totp`.
        """
        call = Call("DELETE", "/user/me/totp", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def confirm_totp(self, body: ConfirmTotp, *, timeout: float | None = None) -> RecoveryCodes:
        """Confirm second factor.

        Confirms the second factor with a code of the app and returns ten recovery codes, each of
        which replaces a code once. They are not shown again. All other sessions and remembered
        devices of the account end, and the account holder is notified by mail.

        **Access:** Every signed-in account.

        `POST /user/me/totp/confirm`, operation `confirm_totp`.
        """
        call = Call("POST", "/user/me/totp/confirm", repeat="change", json=body, timeout=timeout)
        return cast(RecoveryCodes, self._transport.data(call))

    def list_users(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        role: Role | None = None,
        search: str | None = None,
        sort_by: UserSort | None = None,
        sort_dir: Direction | None = None,
        status: Status | None = None,
        timeout: float | None = None,
    ) -> Page[User]:
        """List users.

        Lists all accounts, with filters by role and status and a search in name and e-mail.

        **Access:** Admins; staff with `users.read`.

        `GET /v1/users`, operation `list_users`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/users",
            repeat="read",
            query={
                "page": page,
                "page_size": page_size,
                "role": role,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[User], self._transport.page(call, page_in="query"))

    def user_statistics(self, *, timeout: float | None = None) -> UserStatistics:
        """Get user statistics.

        Counts accounts by role and status, and those created this month.

        **Access:** Admins; staff with `users.read`.

        `GET /v1/users/statistics`, operation `user_statistics`.
        """
        call = Call("GET", "/v1/users/statistics", repeat="read", timeout=timeout)
        return cast(UserStatistics, self._transport.data(call))

    def get_user(self, id: str, *, timeout: float | None = None) -> User:
        """Get user.

        Returns one account of any role: profile, status and last sign-in.

        **Access:** Admins; staff with `users.read`.

        `GET /v1/users/{id}`, operation `get_user`.
        """
        call = Call("GET", f"/v1/users/{segment(id)}", repeat="read", timeout=timeout)
        return cast(User, self._transport.data(call))

    def invite_admin(self, body: InviteAdmin, *, timeout: float | None = None) -> User:
        """Invite admin.

        Creates an admin account and mails an invitation that is valid for 72 hours. Refused with
        409 `email_taken` if the e-mail address is in use.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `POST /v1/users/admins`, operation `invite_admin`.
        """
        call = Call("POST", "/v1/users/admins", repeat="change", json=body, timeout=timeout)
        return cast(User, self._transport.data(call))

    def change_admin_status(
        self,
        id: str,
        body: ChangeAdminStatus,
        *,
        timeout: float | None = None,
    ) -> User:
        """Update admin status.

        Activates or deactivates an admin. A deactivated admin is signed out at once. Refused
        with 409 for oneself, for the last active admin, and for accounts that are not admins.

        **Access:** Admins.

        `PUT /v1/users/{id}/status`, operation `change_admin_status`.
        """
        call = Call(
            "PUT",
            f"/v1/users/{segment(id)}/status",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(User, self._transport.data(call))

    def reset_totp(self, id: str, *, timeout: float | None = None) -> None:
        """Reset second factor of an account.

        Removes the second factor of another account whose holder has lost the phone. The
        account's sessions end and the account holder is notified by mail. Refused with 409
        `invalid_state` for oneself, and if there is none.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `DELETE /v1/users/{id}/totp`, operation `reset_totp`.
        """
        call = Call("DELETE", f"/v1/users/{segment(id)}/totp", repeat="change", timeout=timeout)
        self._transport.data(call)


class StaffApi(Group):
    """Staff members, the permissions that they hold, and the audit log of what anybody changed."""

    def list(
        self,
        *,
        level: Level | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: StaffSort | None = None,
        sort_dir: Direction | None = None,
        status: StaffStatus | None = None,
        timeout: float | None = None,
    ) -> PageWith[Staff, ListStaffBody]:
        """List staff members.

        Lists staff with a summary by status. Salaries are null and account numbers masked for
        callers who may not see them.

        **Access:** Admins; staff with `staff.read`.

        `GET /v1/staffs`, operation `list_staff`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/staffs",
            repeat="read",
            query={
                "level": level,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(
            PageWith[Staff, ListStaffBody],
            self._transport.page(call, page_in="query", items="items"),
        )

    def create(self, body: StaffForm, *, timeout: float | None = None) -> Staff:
        """Create staff member.

        Creates a staff member with an account and mails an invitation. Staff can only assign
        permissions of a lower level than their own, with rules that they hold themselves (403).

        **Access:** Admins; staff with `staff.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/staff`, operation `create_staff`.
        """
        call = Call("POST", "/v1/staff", repeat="change", json=body, timeout=timeout)
        return cast(Staff, self._transport.data(call))

    def get(self, id: str, *, timeout: float | None = None) -> Staff:
        """Get staff member.

        Returns one staff member. The salary is null if none is recorded. For callers who may not
        see them it is null, too, and the account number is masked.

        **Access:** Admins; staff with `staff.read`.

        `GET /v1/staff/{id}`, operation `get_staff`.
        """
        call = Call("GET", f"/v1/staff/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Staff, self._transport.data(call))

    def update(self, id: str, body: StaffForm, *, timeout: float | None = None) -> Staff:
        """Update staff member.

        Replaces the data of a staff member. A `salary` of null removes the salary; from callers
        who may not see it, null keeps it. Another e-mail address becomes `pending_email` until
        it is confirmed by a link to the new address; that of a member who has not accepted the
        invitation changes at once. Staff can only change members of a lower level than their own
        (403). A member who is set to `inactive` is signed out.

        **Access:** Admins; staff with `staff.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `PUT /v1/staff/{id}`, operation `update_staff`.
        """
        call = Call("PUT", f"/v1/staff/{segment(id)}", repeat="change", json=body, timeout=timeout)
        return cast(Staff, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete staff member.

        Deletes a staff member and ends the sessions of its account. Staff can only delete
        members of a lower level than their own (403).

        **Access:** Admins; staff with `staff.write`.

        `DELETE /v1/staff/{id}`, operation `delete_staff`.
        """
        call = Call("DELETE", f"/v1/staff/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def list_permissions(
        self,
        *,
        level: Level | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: PermissionSort | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Permission]:
        """List permissions.

        Lists permissions with the number of staff who hold each.

        **Access:** Admins; staff with `permissions.read`.

        `GET /v1/permissions`, operation `list_permissions`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/permissions",
            repeat="read",
            query={
                "level": level,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Permission], self._transport.page(call, page_in="query"))

    def create_permission(
        self,
        body: PermissionForm,
        *,
        timeout: float | None = None,
    ) -> Permission:
        """Create permission.

        Creates a permission: a name, a level and a set of rules. Staff can only create
        permissions of a lower level than their own, with rules that they hold themselves (403).
        Refused with 409 if the name exists.

        **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/permission`, operation `create_permission`.
        """
        call = Call("POST", "/v1/permission", repeat="change", json=body, timeout=timeout)
        return cast(Permission, self._transport.data(call))

    def get_permission_rules(self, *, timeout: float | None = None) -> builtins.list[RuleGroup]:
        """List permission rules.

        Returns the catalogue of rules by group, with labels in the language of the request.

        **Access:** Admins; staff with `permissions.read`.

        `GET /v1/permission/rules`, operation `get_permission_rules`.
        """
        call = Call("GET", "/v1/permission/rules", repeat="read", timeout=timeout)
        return cast(builtins.list[RuleGroup], self._transport.data(call))

    def get_permission(self, id: str, *, timeout: float | None = None) -> Permission:
        """Get permission.

        Returns one permission.

        **Access:** Admins; staff with `permissions.read`.

        `GET /v1/permission/{id}`, operation `get_permission`.
        """
        call = Call("GET", f"/v1/permission/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Permission, self._transport.data(call))

    def update_permission(
        self,
        id: str,
        body: PermissionForm,
        *,
        timeout: float | None = None,
    ) -> Permission:
        """Update permission.

        Replaces a permission. Takes effect with the next request of every staff member who holds
        it. The same limits apply as for its creation.

        **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `PUT /v1/permission/{id}`, operation `update_permission`.
        """
        call = Call(
            "PUT",
            f"/v1/permission/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Permission, self._transport.data(call))

    def delete_permission(self, id: str, *, timeout: float | None = None) -> None:
        """Delete permission.

        Deletes a permission. Refused with 409 `in_use` while staff hold it.

        **Access:** Admins; staff with `permissions.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `DELETE /v1/permission/{id}`, operation `delete_permission`.
        """
        call = Call("DELETE", f"/v1/permission/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def list_audit_logs(
        self,
        *,
        action: str | None = None,
        actor_id: str | None = None,
        end_date: str | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Page[AuditLog]:
        """List audit log entries.

        Lists audit entries: who changed which record, when, from where, with the state before
        and after. What partners do for themselves is not recorded, except their corrections of
        bookings. Filter by actor, entity, action and time. Of personal fields the log holds
        which ones changed (`"[personal]"`), not their values; unchanged ones are left out of an
        update. Secrets are not in the log. With `format=csv` everything that is found is sent as
        a file, at most 50,000 rows.

        **Access:** Admins; staff with `audit.read`.

        `GET /v1/audit-logs`, operation `list_audit_logs`.

        :param action: What was done, such as `booking.cancelled`.
        :param end_date: Inclusive, in the service's time zone.
        :param entity_type: Kind of record, such as `booking` or `partner`.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        :param start_date: Inclusive, in the service's time zone.
        """
        call = Call(
            "GET",
            "/v1/audit-logs",
            repeat="read",
            query={
                "action": action,
                "actor_id": actor_id,
                "end_date": end_date,
                "entity_id": entity_id,
                "entity_type": entity_type,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Page[AuditLog], self._transport.page(call, page_in="query"))

    def list_audit_logs_file(
        self,
        format: Literal["csv"],
        *,
        action: str | None = None,
        actor_id: str | None = None,
        end_date: str | None = None,
        entity_id: str | None = None,
        entity_type: str | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """List audit log entries, as a file. Pages do not apply.

        `GET /v1/audit-logs`, operation `list_audit_logs`.

        :param action: What was done, such as `booking.cancelled`.
        :param end_date: Inclusive, in the service's time zone.
        :param entity_type: Kind of record, such as `booking` or `partner`.
        :param search: Case-insensitive substring.
        :param start_date: Inclusive, in the service's time zone.
        """
        call = Call(
            "GET",
            "/v1/audit-logs",
            repeat="read",
            query={
                "action": action,
                "actor_id": actor_id,
                "end_date": end_date,
                "entity_id": entity_id,
                "entity_type": entity_type,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)


class PartnersApi(Group):
    """Boat operators ("mitra"): onboarding with documents and bank account, review, suspension,
    impersonation, and their crew.
    """

    def get_onboarding(self, *, timeout: float | None = None) -> Onboarding:
        """Get own onboarding.

        Returns the calling partner's business data, documents and bank account, with the steps
        that are still incomplete. `bank_account_status` and `bank_account_note` say what became
        of the bank account; `approved_bank_account` is the one that settlements are paid to.

        **Access:** Partners.

        `GET /v1/mitra/onboarding`, operation `get_onboarding`.
        """
        call = Call("GET", "/v1/mitra/onboarding", repeat="read", timeout=timeout)
        return cast(Onboarding, self._transport.data(call))

    def update_onboarding(
        self,
        body: OnboardingForm,
        *,
        timeout: float | None = None,
    ) -> Onboarding:
        """Update or submit own onboarding.

        Saves parts of the onboarding; fields that are left out stay as they are. With `submit:
        true` it is handed in for review, which requires a verified e-mail address (409
        `email_unverified`) and every step to be complete (422 names what is missing). An
        individual needs neither NIB nor NPWP. A changed bank account holds settlements until it
        is reviewed; going back to the approved one needs no review. Reviewers are notified of a
        changed account and of documents that are replaced after the submission. The bank account
        cannot be changed while impersonating (403).

        **Access:** Partners.

        `PATCH /v1/mitra/onboarding`, operation `update_onboarding`.
        """
        call = Call("PATCH", "/v1/mitra/onboarding", repeat="change", json=body, timeout=timeout)
        return cast(Onboarding, self._transport.data(call))

    def list(
        self,
        *,
        awaiting_review: bool | None = None,
        bank_account_status: BankAccountStatus | None = None,
        page: int | None = None,
        page_size: int | None = None,
        partner_type: PartnerType | None = None,
        search: str | None = None,
        sort_by: PartnerSort | None = None,
        sort_dir: Direction | None = None,
        status: PartnerStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Partner]:
        """List partners.

        Lists partners, with filters by status and type and a search in name and e-mail.
        `awaiting_review=true` finds those with documents to review,
        `bank_account_status=pending` those with a changed bank account to approve. With
        `format=csv` everything that is found is sent as a file, at most 50,000 rows.

        **Access:** Admins; staff with `partners.read`.

        `GET /v1/mitra/manajemen`, operation `list_partners`.

        :param awaiting_review: With `true`, partners with documents that await review; with
            `false`, the others.
        :param bank_account_status: `pending`: accounts of activated partners that await
            approval. Before its activation, the account of a partner is reviewed with its bank
            book.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/manajemen",
            repeat="read",
            query={
                "awaiting_review": awaiting_review,
                "bank_account_status": bank_account_status,
                "page": page,
                "page_size": page_size,
                "partnerType": partner_type,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Partner], self._transport.page(call, page_in="query"))

    def list_file(
        self,
        format: Literal["csv"],
        *,
        awaiting_review: bool | None = None,
        bank_account_status: BankAccountStatus | None = None,
        partner_type: PartnerType | None = None,
        search: str | None = None,
        sort_by: PartnerSort | None = None,
        sort_dir: Direction | None = None,
        status: PartnerStatus | None = None,
        timeout: float | None = None,
    ) -> File:
        """List partners, as a file. Pages do not apply.

        `GET /v1/mitra/manajemen`, operation `list_partners`.

        :param awaiting_review: With `true`, partners with documents that await review; with
            `false`, the others.
        :param bank_account_status: `pending`: accounts of activated partners that await
            approval. Before its activation, the account of a partner is reviewed with its bank
            book.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/manajemen",
            repeat="read",
            query={
                "awaiting_review": awaiting_review,
                "bank_account_status": bank_account_status,
                "partnerType": partner_type,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def create(self, body: PartnerForm, *, timeout: float | None = None) -> Partner:
        """Create partner.

        Creates a partner with an account and mails an invitation that is valid for 72 hours.
        Refused with 409 `email_taken` if the e-mail address is in use.

        **Access:** Admins; staff with `partners.write`.

        `POST /v1/mitra/manajemen`, operation `create_partner`.
        """
        call = Call("POST", "/v1/mitra/manajemen", repeat="change", json=body, timeout=timeout)
        return cast(Partner, self._transport.data(call))

    def statistics(self, *, timeout: float | None = None) -> PartnerStatistics:
        """Get partner statistics.

        Counts partners by status and type, those awaiting review and those created this month.

        **Access:** Admins; staff with `partners.read`.

        `GET /v1/mitra/manajemen/statistics`, operation `partner_statistics`.
        """
        call = Call("GET", "/v1/mitra/manajemen/statistics", repeat="read", timeout=timeout)
        return cast(PartnerStatistics, self._transport.data(call))

    def update(self, id: str, body: PartnerForm, *, timeout: float | None = None) -> Partner:
        """Update partner.

        Replaces name, phone, address, type and commission rate of a partner. Another e-mail
        address becomes `pending_email` until the new address confirms it; the old address gets a
        link to cancel. If the invitation was not accepted yet, the address changes at once. The
        type is fixed once documents were handed in (409).

        **Access:** Admins; staff with `partners.write`.

        `PUT /v1/mitra/manajemen/{id}`, operation `update_partner`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/manajemen/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Partner, self._transport.data(call))

    def get_for_editing(self, id: str, *, timeout: float | None = None) -> PartnerEdit:
        """Get partner for editing.

        Returns a partner together with its onboarding data, as an edit form needs it. Numbers
        are masked for callers who may not approve partners.

        **Access:** Admins; staff with `partners.read`.

        `GET /v1/mitra/manajemen/{id}/edit`, operation `edit_partner`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/manajemen/{segment(id)}/edit",
            repeat="read",
            timeout=timeout,
        )
        return cast(PartnerEdit, self._transport.data(call))

    def overview(self, id: str, *, timeout: float | None = None) -> PartnerOverview:
        """Get partner overview.

        Returns a partner with figures of its fleet, bookings and finance, and its latest
        bookings.

        **Access:** Admins; staff with `partners.read`.

        `GET /v1/mitra/manajemen/{id}/overview`, operation `partner_overview`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/manajemen/{segment(id)}/overview",
            repeat="read",
            timeout=timeout,
        )
        return cast(PartnerOverview, self._transport.data(call))

    def list_documents(self, id: str, *, timeout: float | None = None) -> builtins.list[Document]:
        """List partner documents.

        Lists the current documents of a partner. File addresses are signed, valid for five
        minutes and present only for callers who may approve partners.

        **Access:** Admins; staff with `partners.read`.

        `GET /v1/mitra/manajemen/{id}/documents`, operation `list_documents`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/manajemen/{segment(id)}/documents",
            repeat="read",
            timeout=timeout,
        )
        return cast(builtins.list[Document], self._transport.data(call))

    def review_document(
        self,
        id: str,
        body: DocumentReview,
        *,
        timeout: float | None = None,
    ) -> Reviewed:
        """Review partner document.

        Approves or rejects one document. All submitted documents are reviewed in one round. A
        rejection needs a note, is mailed to the partner and moves it to `revision`; the other
        documents stay open. A decision can be changed until the partner submits again. If the
        last rejection is taken back, the partner is in review again. The last approval activates
        the partner. A document that was replaced, or is not submitted yet, is refused with 409.
        The bank book of a partner that was never active proves its bank account and is approved
        like it (409 `same_person`).

        **Access:** Admins; staff with `partners.approve`.

        `PUT /v1/mitra/manajemen/{id}/document-approval`, operation `review_document`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/manajemen/{segment(id)}/document-approval",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Reviewed, self._transport.data(call))

    def approve_bank_account(
        self,
        id: str,
        body: BankApproval,
        *,
        timeout: float | None = None,
    ) -> Partner:
        """Review partner bank account.

        Approves or rejects a changed bank account. A rejection needs a note, which is mailed to
        the partner, and leaves the last approved account in force. Either verdict ends the hold
        of settlements. `account_number`, `bank_code` and `account_name` state what the reviewer
        has seen; if the account has changed meanwhile the request is refused with 409. Unless
        the service is configured otherwise, whoever last changed the account or the e-mail
        address of the partner, or invited it, cannot approve (409 `same_person`).

        **Access:** Admins; staff with `partners.approve`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `PUT /v1/mitra/manajemen/{id}/bank-approval`, operation `approve_bank_account`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/manajemen/{segment(id)}/bank-approval",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Partner, self._transport.data(call))

    def suspend(self, id: str, body: Suspension, *, timeout: float | None = None) -> Partner:
        """Suspend partner.

        Suspends a partner: its sessions end, its sailings are no longer offered and its
        settlements are held. Paid bookings stay valid, and the partner's crew can still board
        their passengers. The reason is mailed to the partner.

        **Access:** Admins; staff with `partners.suspend`.

        `POST /v1/mitra/manajemen/{id}/suspend`, operation `suspend_partner`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/manajemen/{segment(id)}/suspend",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Partner, self._transport.data(call))

    def unsuspend(self, id: str, *, timeout: float | None = None) -> Partner:
        """Lift partner suspension.

        Lifts a suspension. The partner can sign in again and its sailings are offered as before.

        **Access:** Admins; staff with `partners.suspend`.

        `POST /v1/mitra/manajemen/{id}/unsuspend`, operation `unsuspend_partner`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/manajemen/{segment(id)}/unsuspend",
            repeat="change",
            timeout=timeout,
        )
        return cast(Partner, self._transport.data(call))

    def impersonate(self, id: str, *, timeout: float | None = None) -> Impersonation:
        """Impersonate partner.

        Opens a short session as the partner. An operation needs the rule that guards it for
        staff as well: cancelling a booking needs `bookings.write`; what only partners do needs
        `partners.read` or, for a change, `partners.write`. Every change in it is recorded in the
        audit log with the caller as actor. It cannot change passwords, e-mail addresses or bank
        accounts, and cannot be renewed.

        **Access:** Admins; staff with `partners.impersonate`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/mitra/manajemen/{id}/impersonate`, operation `impersonate_partner`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/manajemen/{segment(id)}/impersonate",
            repeat="change",
            timeout=timeout,
        )
        return cast(Impersonation, self._transport.data(call))

    def resend_invitation(self, id: str, *, timeout: float | None = None) -> None:
        """Resend partner invitation.

        Mails a new invitation and invalidates the earlier one. Refused with 409 once the partner
        has set a password.

        **Access:** Admins; staff with `partners.write`.

        `POST /v1/mitra/manajemen/{id}/resend-invitation`, operation `resend_invitation`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/manajemen/{segment(id)}/resend-invitation",
            repeat="change",
            timeout=timeout,
        )
        self._transport.data(call)

    def list_crew(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: CrewSort | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[CrewMember]:
        """List own crew.

        Lists the calling partner's crew, newest first, with a search in name, e-mail and phone.
        `invited` is true until the invitation is accepted.

        **Access:** Partners.

        `GET /v1/mitra/crew`, operation `list_crew`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/crew",
            repeat="read",
            query={
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[CrewMember], self._transport.page(call, page_in="query"))

    def invite_crew(self, body: InviteCrew, *, timeout: float | None = None) -> CrewMember:
        """Invite crew member.

        Creates an account with role `crew` and mails an invitation that is valid for 72 hours.
        Crew sees the partner's sailings and manifests with masked identity numbers, checks
        passengers in, undoes check-ins and closes manifests. Refused with 409: `email_taken` if
        the e-mail address is in use, `invalid_state` unless the partner is active,
        `quota_exceeded` if it has 100 crew members already.

        **Access:** Partners.

        `POST /v1/mitra/crew`, operation `invite_crew`.
        """
        call = Call("POST", "/v1/mitra/crew", repeat="change", json=body, timeout=timeout)
        return cast(CrewMember, self._transport.data(call))

    def remove_crew(self, id: str, *, timeout: float | None = None) -> None:
        """Remove crew member.

        Deletes the account of a crew member. Its sessions end at once and its e-mail address
        becomes available. Crew of another partner is 404.

        **Access:** Partners.

        `DELETE /v1/mitra/crew/{id}`, operation `remove_crew`.
        """
        call = Call("DELETE", f"/v1/mitra/crew/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def resend_crew_invitation(self, id: str, *, timeout: float | None = None) -> None:
        """Resend crew invitation.

        Mails a new invitation and invalidates the earlier one. Refused with 409 once the crew
        member has set a password, and with 429 within five minutes of the last invitation.

        **Access:** Partners.

        `POST /v1/mitra/crew/{id}/resend-invitation`, operation `resend_crew_invitation`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/crew/{segment(id)}/resend-invitation",
            repeat="change",
            timeout=timeout,
        )
        self._transport.data(call)


class FleetApi(Group):
    """Speedboats of the partners."""

    def list_own_speedboats(
        self,
        *,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: SpeedboatSort | None = None,
        sort_dir: Direction | None = None,
        status: BoatStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Speedboat]:
        """List speedboats of one partner.

        Lists the speedboats of one partner: the caller's own, or the one that admins and staff
        name by `mitra_id`.

        **Access:** Partners for their own; admins; staff with `fleet.read`.

        `GET /v1/mitra/speedboats`, operation `list_own_speedboats`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/speedboats",
            repeat="read",
            query={
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Speedboat], self._transport.page(call, page_in="query"))

    def list_speedboats(
        self,
        *,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: SpeedboatSort | None = None,
        sort_dir: Direction | None = None,
        status: BoatStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Speedboat]:
        """List speedboats.

        Lists speedboats: a partner's own, or those of all partners for admins and staff.

        **Access:** Partners for their own; admins; staff with `fleet.read`.

        `GET /v1/speedboats`, operation `list_speedboats`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/speedboats",
            repeat="read",
            query={
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Speedboat], self._transport.page(call, page_in="query"))

    def create_speedboat(self, body: NewSpeedboat, *, timeout: float | None = None) -> Speedboat:
        """Create speedboat.

        Adds a speedboat. Admins and staff name the owner by `mitra_id`. Refused with 409
        `already_exists` if the registration number exists.

        **Access:** Partners for their own; admins; staff with `fleet.write`.

        `POST /v1/speedboats`, operation `create_speedboat`.
        """
        call = Call("POST", "/v1/speedboats", repeat="change", json=body, timeout=timeout)
        return cast(Speedboat, self._transport.data(call))

    def speedboat_summary(
        self,
        *,
        mitra_id: str | None = None,
        timeout: float | None = None,
    ) -> SpeedboatSummary:
        """Get fleet summary.

        Counts speedboats by status, with the total capacity and the number of upcoming sailings.

        **Access:** Partners for their own; admins; staff with `fleet.read`.

        `GET /v1/speedboats/summary`, operation `speedboat_summary`.

        :param mitra_id: UUID of the partner.
        """
        call = Call(
            "GET",
            "/v1/speedboats/summary",
            repeat="read",
            query={"mitra_id": mitra_id},
            timeout=timeout,
        )
        return cast(SpeedboatSummary, self._transport.data(call))

    def get_speedboat(self, id: str, *, timeout: float | None = None) -> Speedboat:
        """Get speedboat.

        Returns one speedboat. A partner sees its own only.

        **Access:** Partners for their own; admins; staff with `fleet.read`.

        `GET /v1/speedboats/{id}`, operation `get_speedboat`.
        """
        call = Call("GET", f"/v1/speedboats/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Speedboat, self._transport.data(call))

    def update_speedboat(
        self,
        id: str,
        body: SpeedboatChange,
        *,
        timeout: float | None = None,
    ) -> Speedboat:
        """Update speedboat.

        Replaces the data of a speedboat. A new capacity applies to every sailing that has not
        departed and is refused with 409 `in_use` if more seats than that are sold.

        **Access:** Partners for their own; admins; staff with `fleet.write`.

        `PUT /v1/speedboats/{id}`, operation `update_speedboat`.
        """
        call = Call(
            "PUT",
            f"/v1/speedboats/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Speedboat, self._transport.data(call))

    def delete_speedboat(self, id: str, *, timeout: float | None = None) -> None:
        """Delete speedboat.

        Deletes a speedboat, withdraws its empty sailings and archives its routes, except those
        that have upcoming sailings of other boats. Refused with 409 `in_use` while upcoming
        sailings have bookings.

        **Access:** Partners for their own; admins; staff with `fleet.write`.

        `DELETE /v1/speedboats/{id}`, operation `delete_speedboat`.
        """
        call = Call("DELETE", f"/v1/speedboats/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def get_catalog_speedboat(self, id: str, *, timeout: float | None = None) -> CatalogSpeedboat:
        """Get catalog speedboat.

        Returns a speedboat as customers see it: capacity, facilities, description and photos.
        Public. Responses may be up to 5 seconds old. 404 unless the boat is in service and its
        partner is active.

        **Access:** Public.

        `GET /v1/catalog/speedboats/{id}`, operation `get_catalog_speedboat`.
        """
        call = Call("GET", f"/v1/catalog/speedboats/{segment(id)}", repeat="read", timeout=timeout)
        return cast(CatalogSpeedboat, self._transport.data(call))

    def list_catalog_partners(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[CatalogEntry]:
        """List catalog partners.

        Lists the partners whose sailings can be booked, in the order of their addresses. For
        sitemaps and directories.

        **Access:** Public.

        `GET /v1/catalog/partners`, operation `list_catalog_partners`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            "/v1/catalog/partners",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir},
            timeout=timeout,
        )
        return cast(Page[CatalogEntry], self._transport.page(call, page_in="query"))

    def get_catalog_partner(self, slug: str, *, timeout: float | None = None) -> CatalogPartner:
        """Get catalog partner.

        Returns what customers may know of a partner: its lines with published sailings and its
        boats in service. `slug` is the last part of its public page `/p/{slug}`; the partner's
        id is accepted as well. A partner that is suspended or not approved yet is not found.

        **Access:** Public.

        `GET /v1/catalog/partners/{slug}`, operation `get_catalog_partner`.
        """
        call = Call("GET", f"/v1/catalog/partners/{segment(slug)}", repeat="read", timeout=timeout)
        return cast(CatalogPartner, self._transport.data(call))


class RoutesApi(Group):
    """Routes, the dated sailings that they publish, and the public search. A route is a draft until
    it is published; publishing creates its sailings.
    """

    def search_sailings(
        self,
        body: SearchForm,
        *,
        timeout: float | None = None,
    ) -> PageWith[Offer, SearchSailingsBody]:
        """Search sailings.

        Searches sailings between two harbours on one day with enough free seats. Harbours are
        found by name or alias. `return_date` adds the return journey. `fares` has what each kind
        of passenger pays. Public. Responses may be up to 5 seconds old; availability is checked
        again when booking. Only the first 2,000 sailings of a day are searched.

        **Access:** Public.

        `POST /v1/speedboats/search`, operation `search_sailings`.
        """
        call = Call("POST", "/v1/speedboats/search", repeat="read", json=body, timeout=timeout)
        return cast(PageWith[Offer, SearchSailingsBody], self._transport.page(call, page_in="json"))

    def list_locations(self, *, timeout: float | None = None) -> builtins.list[Location]:
        """List locations.

        Lists harbours with upcoming sailings, each with its other names, its position and its
        destinations. Public. Responses may be up to 5 seconds old.

        **Access:** Public.

        `GET /v1/speedboats/locations`, operation `list_locations`.
        """
        call = Call("GET", "/v1/speedboats/locations", repeat="read", timeout=timeout)
        return cast(builtins.list[Location], self._transport.data(call))

    def list(
        self,
        *,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: RouteSort | None = None,
        sort_dir: Direction | None = None,
        speedboat_id: str | None = None,
        status: RouteStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Route]:
        """List routes.

        Lists routes with their departure times: a partner's own, or those of all partners for
        admins and staff.

        **Access:** Partners for their own; admins; staff with `routes.read`.

        `GET /v1/mitra/speedboat-routes`, operation `list_routes`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/speedboat-routes",
            repeat="read",
            query={
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "speedboat_id": speedboat_id,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Route], self._transport.page(call, page_in="query"))

    def create(
        self,
        body: RouteForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Route:
        """Create route.

        Creates a route as a draft. Nothing is on sale until it is published. `from` and `to` are
        matched to harbours by name or alias; an unknown name makes an unverified harbour, and is
        refused on its field (rule `max`) if the partner has 50 of them that no published route
        uses. `timezone` defaults to that of the harbour of departure (of an unverified one: to
        that of the partner's newest route there), and one that contradicts a verified harbour is
        refused. Times of arrival are local to the harbour of arrival. Accepts an
        `Idempotency-Key`.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `POST /v1/mitra/speedboat-routes`, operation `create_route`.
        """
        call = Call(
            "POST",
            "/v1/mitra/speedboat-routes",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def get(self, id: str, *, timeout: float | None = None) -> Route:
        """Get route.

        Returns one route with its departure times. A partner sees its own only.

        **Access:** Partners for their own; admins; staff with `routes.read`.

        `GET /v1/mitra/speedboat-routes/{id}`, operation `get_route`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/speedboat-routes/{segment(id)}",
            repeat="read",
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def update(self, id: str, body: RouteForm, *, timeout: float | None = None) -> Route:
        """Update route.

        Replaces a draft. A published or archived route is refused with 409.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `PUT /v1/mitra/speedboat-routes/{id}`, operation `update_route`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/speedboat-routes/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete or archive route.

        Deletes a draft, or archives a published route. Archiving withdraws sailings without
        bookings; sailings with bookings take place.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `DELETE /v1/mitra/speedboat-routes/{id}`, operation `delete_route`.
        """
        call = Call(
            "DELETE",
            f"/v1/mitra/speedboat-routes/{segment(id)}",
            repeat="change",
            timeout=timeout,
        )
        self._transport.data(call)

    def publish_by_get(self, id: str, *, timeout: float | None = None) -> Route:
        """Publish route (GET).

        Creates every future sailing of a draft and puts them on sale, all or none. Refused with
        409 if the boat or the partner is not active, if a harbour has got another time zone
        since the draft was saved, or if the boat would be in two places at once. Publishing
        again changes nothing. Kept for existing clients: use POST where possible; HEAD requests
        and prefetches are refused.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `GET /v1/mitra/speedboat-routes/{id}/publish`, operation `publish_route`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/speedboat-routes/{segment(id)}/publish",
            repeat="change",
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def publish(self, id: str, *, timeout: float | None = None) -> Route:
        """Publish route.

        Creates every future sailing of a draft and puts them on sale, all or none. Refused with
        409 if the boat or the partner is not active, if a harbour has got another time zone
        since the draft was saved, or if the boat would be in two places at once. Publishing
        again changes nothing.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `POST /v1/mitra/speedboat-routes/{id}/publish`, operation `publish_route_by_post`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/speedboat-routes/{segment(id)}/publish",
            repeat="change",
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def list_sailings(
        self,
        id: str,
        *,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Page[Sailing]:
        """List sailings of a route.

        Lists the sailings of a route with capacity, seats taken and status. Filter by day.

        **Access:** Partners for their own; admins; staff with `routes.read`.

        `GET /v1/mitra/speedboat-routes/{id}/times`, operation `list_sailings`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param start_date: Day of departure in the route's time zone.
        """
        call = Call(
            "GET",
            f"/v1/mitra/speedboat-routes/{segment(id)}/times",
            repeat="read",
            query={
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Page[Sailing], self._transport.page(call, page_in="query"))

    def list_lines(
        self,
        *,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        resale: bool | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Line]:
        """List lines.

        Lists lines: a partner's own, or those of all partners for admins and staff. A line is
        what all routes of a partner between two harbours have in common. It is made with the
        first of them.

        **Access:** Partners for their own; admins; staff with `routes.read`.

        `GET /v1/mitra/lines`, operation `list_lines`.

        :param mitra_id: Ignored for partners, who see their own.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/mitra/lines",
            repeat="read",
            query={
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "resale": resale,
                "search": search,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Line], self._transport.page(call, page_in="query"))

    def get_line(self, id: str, *, timeout: float | None = None) -> Line:
        """Get line.

        Returns one line with its fares. The line of another partner is 404.

        **Access:** Partners for their own; admins; staff with `routes.read`.

        `GET /v1/mitra/lines/{id}`, operation `get_line`.
        """
        call = Call("GET", f"/v1/mitra/lines/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Line, self._transport.data(call))

    def update_line(self, id: str, body: LineForm, *, timeout: float | None = None) -> Line:
        """Update line.

        Updates the fares of a line, and when its sale ends. Fields that are left out keep their
        values. A fare costs a percentage of the sailing's price, rounded half up, or a fixed
        amount; its key follows from category and residency. The first fare is the default of a
        passenger. A fare without a seat can be free, one with a seat costs at least 1 percent or
        1,000 rupiah. New bookings of all its sailings have the new fares; bookings that were
        made before keep theirs. `resale`, `day_ticket`, `names` and `max_party` are for
        resellers.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `PUT /v1/mitra/lines/{id}`, operation `update_line`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/lines/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Line, self._transport.data(call))

    def extend(self, id: str, body: ExtendRoute, *, timeout: float | None = None) -> Route:
        """Extend route.

        Publishes more days of a published route with its own times, prices and boat, all or
        none, and moves its `end_date`. With `speedboat_id` another boat of the partner sails the
        added days and is the boat of the route from then on. It must be in service, as the boat
        of the route must be without it: refused with 422 on `speedboat_id`, rule `unknown` or
        `not_active`. Refused with 422 for an earlier `end_date` than now or more than 366 days
        ahead, and with 409 as publishing is. The same `end_date` again changes nothing. Prices
        and boats that were changed on sailings are not those of the route.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `POST /v1/mitra/speedboat-routes/{id}/extend`, operation `extend_route`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/speedboat-routes/{segment(id)}/extend",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Route, self._transport.data(call))

    def update_sailings(
        self,
        id: str,
        body: UpdateSailings,
        *,
        timeout: float | None = None,
    ) -> UpdatedSailings:
        """Update sailings of a route.

        Changes the sailings of a route in a period of at most 366 days, limited to some `days`
        and `departure_times` if given, in one transaction. `set` has the new values as in
        `update_sailing`, or `withdraw: true`, which takes sailings without bookings off sale.

        Sailings that cannot be changed are skipped with a reason: `withdrawn`, `cancelled`,
        `departed`, `manifest_closed`, `in_use` (bookings, or more seats sold than the boat has),
        `schedule_conflict`, `past` (the new departure). The old time of a sailing that is moved
        by the same request counts as taken. `skipped` has at most 500 sailings, `skipped_count`
        counts all. Everyone who booked is told once per booking; the partner and staff are
        notified of moved sailings with bookings.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `PATCH /v1/mitra/speedboat-routes/{id}/sailings`, operation `update_sailings`.
        """
        call = Call(
            "PATCH",
            f"/v1/mitra/speedboat-routes/{segment(id)}/sailings",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(UpdatedSailings, self._transport.data(call))

    def update_sailing(
        self,
        id: str,
        body: UpdateSailing,
        *,
        timeout: float | None = None,
    ) -> UpdatedSailing:
        """Update sailing.

        Changes a published sailing: its times, and optionally its day, its price or its boat.
        Fields that are left out keep their value; a new departure without an arrival keeps the
        duration.

        A new price is for new bookings. Another boat must be in service (422), free at that time
        (409 `schedule_conflict`) and large enough for the seats sold (409 `in_use` with
        `data.seats_taken`; a chartered boat is not replaced by a smaller one). Bookings stay
        valid, and everyone who booked is notified by mail of a new time or of a boat with
        another name; a change of 30 minutes or more entitles them to cancel or reschedule free
        of charge. `reason` is required when the time of a sailing with bookings changes. The
        partner and staff are notified of a new time; of a sailing without bookings only the
        partner, if somebody else moved it.

        Refused with 409 `withdrawn`, `cancelled`, `departed` or `manifest_closed`. A sailing
        that should have departed can be given a later departure until its time of arrival.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `PUT /v1/mitra/route-times/{id}`, operation `update_sailing`.
        """
        call = Call(
            "PUT",
            f"/v1/mitra/route-times/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(UpdatedSailing, self._transport.data(call))

    def cancel_sailing(
        self,
        id: str,
        body: CancelSailing,
        *,
        timeout: float | None = None,
    ) -> CancelledSailing:
        """Cancel sailing.

        Cancels a sailing and all of its bookings. Paid bookings become `refund_pending` with the
        full amount, unpaid ones are cancelled, and everyone who booked is notified by mail. The
        partner and staff are notified; of a sailing without bookings only the partner, if
        somebody else cancelled it. Refused with 409 once it has departed or was cancelled.

        **Access:** Partners for their own; admins; staff with `routes.write`.

        `POST /v1/mitra/route-times/{id}/cancel`, operation `cancel_sailing`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/route-times/{segment(id)}/cancel",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(CancelledSailing, self._transport.data(call))


class HarboursApi(Group):
    """Where routes start and end. A route names its harbours in free text; the names are matched to
    harbours by name or alias, without regard to case, accents and repeated spaces. An unknown
    name makes an unverified harbour.
    """

    def list(
        self,
        *,
        id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: HarbourSort | None = None,
        sort_dir: Direction | None = None,
        status: HarbourStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Harbour]:
        """List harbours.

        Lists harbours by name. Search covers names, aliases, city and province, without regard
        to accents. Public. The service brings the larger harbours of Indonesia as verified ones.
        Unverified ones are listed while a published route uses them; a partner also sees those
        of its own routes, and whoever has the rule `harbours.write` sees all.

        **Access:** Public; a bearer token identifies the caller.

        `GET /v1/harbours`, operation `list_harbours`.

        :param id: Only the harbour with this id.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        :param sort_by: Default: by name.
        """
        call = Call(
            "GET",
            "/v1/harbours",
            repeat="read",
            query={
                "id": id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Harbour], self._transport.page(call, page_in="query"))

    def create(self, body: NewHarbour, *, timeout: float | None = None) -> Harbour:
        """Create harbour.

        Creates a harbour, verified unless stated otherwise. A name or alias that another harbour
        has is refused with 409 `already_exists`; `data.harbour` says which one.

        **Access:** Admins; staff with `harbours.write`.

        `POST /v1/harbours`, operation `create_harbour`.
        """
        call = Call("POST", "/v1/harbours", repeat="change", json=body, timeout=timeout)
        return cast(Harbour, self._transport.data(call))

    def update(self, id: str, body: HarbourChange, *, timeout: float | None = None) -> Harbour:
        """Update harbour.

        Changes a harbour. Fields that are left out keep their value, null clears. A harbour that
        gets another name keeps the old one as an alias, unless `aliases` are given. The time
        zone of a verified harbour that routes use cannot be changed (409 `in_use`); that of an
        unverified one applies to routes that are saved afterwards.

        **Access:** Admins; staff with `harbours.write`.

        `PUT /v1/harbours/{id}`, operation `update_harbour`.
        """
        call = Call(
            "PUT",
            f"/v1/harbours/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Harbour, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete harbour.

        Deletes a harbour that no route uses. Refused with 409 `in_use` otherwise: merge it into
        another one instead.

        **Access:** Admins; staff with `harbours.write`.

        `DELETE /v1/harbours/{id}`, operation `delete_harbour`.
        """
        call = Call("DELETE", f"/v1/harbours/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def merge(self, id: str, body: MergeHarbour, *, timeout: float | None = None) -> Harbour:
        """Merge harbour into another.

        Moves all routes and sailings of a harbour to another one, which also takes over its
        names as aliases, and deletes it. Times of sailings do not change. The sailings of a
        harbour wait with their sales until it is done: up to a minute for 100,000 of them on
        PostgreSQL. Refused with 409 `connected` if a route runs between the two, and with 409
        `in_use` if the harbour is verified, has routes and lies in another time zone.

        **Access:** Admins; staff with `harbours.write`.

        `POST /v1/harbours/{id}/merge`, operation `merge_harbour`.
        """
        call = Call(
            "POST",
            f"/v1/harbours/{segment(id)}/merge",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Harbour, self._transport.data(call))


class BookingsApi(Group):
    """Bookings of passengers, made by guests or by partners and staff on their behalf. A guest
    proves ownership by the booking's `code` and the contact `email`.
    """

    def list(
        self,
        *,
        channel: Channel | None = None,
        code: str | None = None,
        code_promo: str | None = None,
        email: str | None = None,
        end_date: str | None = None,
        item_id: str | None = None,
        mitra_id: str | None = None,
        note: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        qty: int | None = None,
        refund_due: bool | None = None,
        reseller_id: str | None = None,
        route_time_id: str | None = None,
        search: str | None = None,
        sort_by: BookingSort | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: BookingStatus | None = None,
        type: BookingType | None = None,
        timeout: float | None = None,
    ) -> Page[Booking]:
        """List bookings.

        Lists bookings: all of them for admins and staff, a partner's own, or the one booking
        that a guest names by `code` and `email`. `refund_due=true` finds those with a refund
        that is not paid yet. The search looks in codes, the name, e-mail address and phone
        number of the contact, and names of passengers. Fewer than three characters are searched
        in the first 5,000 bookings of the list. With `format=csv` all bookings that are found
        are sent as a file, at most 50,000 (otherwise 422 `max_items`); pages do not apply.
        Identity numbers are masked unless the caller may read them.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.read`.

        `GET /v1/booking`, operation `list_bookings`.

        :param channel: Who made the booking.
        :param code: Booking code, as printed on tickets.
        :param code_promo: Promotion code; not case-sensitive.
        :param item_id: UUID of the speedboat.
        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param qty: Number of passengers.
        :param refund_due: Whether a refund of the booking is not paid yet.
        :param reseller_id: The reseller that sold it.
        :param route_time_id: UUID of the sailing.
        :param search: Case-insensitive substring.
        :param start_date: Day of departure, in the service's time zone.
        """
        call = Call(
            "GET",
            "/v1/booking",
            repeat="read",
            query={
                "channel": channel,
                "code": code,
                "code_promo": code_promo,
                "email": email,
                "end_date": end_date,
                "item_id": item_id,
                "mitra_id": mitra_id,
                "note": note,
                "page": page,
                "page_size": page_size,
                "qty": qty,
                "refund_due": refund_due,
                "reseller_id": reseller_id,
                "route_time_id": route_time_id,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
                "type": type,
            },
            timeout=timeout,
        )
        return cast(Page[Booking], self._transport.page(call, page_in="query"))

    def list_file(
        self,
        format: Literal["csv"],
        *,
        channel: Channel | None = None,
        code: str | None = None,
        code_promo: str | None = None,
        email: str | None = None,
        end_date: str | None = None,
        item_id: str | None = None,
        mitra_id: str | None = None,
        note: str | None = None,
        qty: int | None = None,
        refund_due: bool | None = None,
        reseller_id: str | None = None,
        route_time_id: str | None = None,
        search: str | None = None,
        sort_by: BookingSort | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: BookingStatus | None = None,
        type: BookingType | None = None,
        timeout: float | None = None,
    ) -> File:
        """List bookings, as a file. Pages do not apply.

        `GET /v1/booking`, operation `list_bookings`.

        :param channel: Who made the booking.
        :param code: Booking code, as printed on tickets.
        :param code_promo: Promotion code; not case-sensitive.
        :param item_id: UUID of the speedboat.
        :param mitra_id: UUID of the partner.
        :param qty: Number of passengers.
        :param refund_due: Whether a refund of the booking is not paid yet.
        :param reseller_id: The reseller that sold it.
        :param route_time_id: UUID of the sailing.
        :param search: Case-insensitive substring.
        :param start_date: Day of departure, in the service's time zone.
        """
        call = Call(
            "GET",
            "/v1/booking",
            repeat="read",
            query={
                "channel": channel,
                "code": code,
                "code_promo": code_promo,
                "email": email,
                "end_date": end_date,
                "item_id": item_id,
                "mitra_id": mitra_id,
                "note": note,
                "qty": qty,
                "refund_due": refund_due,
                "reseller_id": reseller_id,
                "route_time_id": route_time_id,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
                "type": type,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def create(
        self,
        body: BookingForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Booking:
        """Create booking.

        Books seats, or a whole boat with type `charter`, and holds them until `expires_at`; the
        customer pays at `payment.redirect_url`. Each passenger has a fare of the line: `fare`,
        or its first one; a passenger whose fare has no seat needs an adult of their own. The
        booking keeps the prices of its fares in `price.lines` and with the passengers. Charters
        ignore fares. Refused with 409 `sold_out` (with `available_seats`), or `too_many_holds`
        for guests with too many unpaid bookings. Sends a payment mail. Accepts an
        `Idempotency-Key`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `POST /v1/booking`, operation `create_booking`.
        """
        call = Call(
            "POST",
            "/v1/booking",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def validate_promo(self, body: ValidatePromo, *, timeout: float | None = None) -> PromoVerdict:
        """Validate promotion code.

        Checks whether a promotion code can be used for an offer by the caller and returns the
        discounted price. Nothing is reserved. Public; codes that the platform pays for are
        `not_applicable` when a partner asks.

        **Access:** Public; a bearer token identifies the caller.

        `POST /v1/booking/validate-code-promo`, operation `validate_promo`.
        """
        call = Call(
            "POST",
            "/v1/booking/validate-code-promo",
            repeat="read",
            json=body,
            timeout=timeout,
        )
        return cast(PromoVerdict, self._transport.data(call))

    def quote(self, body: QuoteForm, *, timeout: float | None = None) -> Quote:
        """Quote booking.

        Returns what a booking would cost: the price is that of the booking to the rupiah, with
        the same fares, promotion and taxes, as long as nothing changes. `fares` lists what a
        passenger can travel at on this sailing. Nothing is reserved or stored. A promotion that
        cannot be used is reported in `promo` and the price is without it. Too few free seats are
        reported in `available_seats`; a sailing that is no longer on sale is refused with 409.
        Public; codes that the platform pays for are `not_applicable` when a partner asks.

        **Access:** Public; a bearer token identifies the caller.

        `POST /v1/booking/quote`, operation `quote_booking`.
        """
        call = Call("POST", "/v1/booking/quote", repeat="read", json=body, timeout=timeout)
        return cast(Quote, self._transport.data(call))

    def find(self, body: FindBookings, *, timeout: float | None = None) -> None:
        """Find bookings by e-mail address.

        Mails the codes of the bookings of an address to it: those that departed within the last
        month or are to come. The answer is always the same, whether there are any or not; at
        most three requests per address and hour are followed. Public.

        **Access:** Public.

        `POST /v1/booking/find`, operation `find_bookings`.
        """
        call = Call("POST", "/v1/booking/find", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def get(
        self,
        id: str,
        *,
        code: str | None = None,
        email: str | None = None,
        timeout: float | None = None,
    ) -> Booking:
        """Get booking.

        Returns one booking with passengers, price and payment. A paid booking shows the ticket
        code of each passenger to the booker, the partner and callers who may read bookings.
        Guests pass `code` and `email` in the query; without a match the booking is 404.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.read`.

        `GET /v1/booking/{id}`, operation `get_booking`.

        :param code: Booking code, as printed on tickets.
        """
        call = Call(
            "GET",
            f"/v1/booking/{segment(id)}",
            repeat="read",
            query={"code": code, "email": email},
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def get_options(
        self,
        id: str,
        *,
        code: str | None = None,
        email: str | None = None,
        passenger_ids: str | None = None,
        timeout: float | None = None,
    ) -> BookingOptions:
        """Get options of a booking.

        Returns what the caller may do with a booking now: `cancel` (with the refund) and
        `reschedule` (with the fee). Each has the time until which this applies, and the error
        code if it is refused. They are decided by the same rules as the operations themselves; a
        caller who may read but not change bookings gets `forbidden`. With `passenger_ids`
        (separated by commas) `cancel` is about cancelling these passengers alone; 422 on that
        field if they cannot be cancelled together, as in the operation itself.
        `pending_reschedule` is the move whose difference is not paid yet. Guests pass `code` and
        `email` in the query.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.read`.

        `GET /v1/booking/{id}/options`, operation `get_booking_options`.

        :param code: Booking code, as printed on tickets.
        :param passenger_ids: UUIDs of some of the passengers, separated by commas: what `cancel`
            says is about cancelling them alone.
        """
        call = Call(
            "GET",
            f"/v1/booking/{segment(id)}/options",
            repeat="read",
            query={"code": code, "email": email, "passenger_ids": passenger_ids},
            timeout=timeout,
        )
        return cast(BookingOptions, self._transport.data(call))

    def correct_passengers(
        self,
        id: str,
        body: CorrectPassengers,
        *,
        timeout: float | None = None,
    ) -> Booking:
        """Correct passengers.

        Corrects passengers of a booking until its manifest is closed: those that are named by
        `id`, and of them the fields that are given; null clears a field. Passengers of another
        booking are refused with 422 `unknown`. Refused with 409 `manifest_closed`, `departed`,
        `already_cancelled` or `expired`; for guests also `already_boarded` for a passenger who
        is checked in. Ticket codes stay valid, because they name the place in the booking and
        not the person; the booker gets a mail with new tickets. Corrections by a partner are
        recorded in the audit log like those of staff. Guests pass `code` and `email` in the
        body.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `PUT /v1/booking/{id}/passengers`, operation `correct_passengers`.
        """
        call = Call(
            "PUT",
            f"/v1/booking/{segment(id)}/passengers",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def correct_contact(
        self,
        id: str,
        body: CorrectContact,
        *,
        timeout: float | None = None,
    ) -> Booking:
        """Correct contact.

        Corrects name, e-mail address or phone number of the contact, until the manifest is
        closed; fields that are left out keep their value. The address opens the booking: both
        the old and the new one are told, and the new one gets the tickets. Corrections by a
        partner are recorded in the audit log like those of staff. Refused with 409
        `manifest_closed`, `departed`, `already_cancelled` or `expired`.

        **Access:** Partners for their own; admins; staff with `bookings.write`.

        `PUT /v1/booking/{id}/contact`, operation `correct_contact`.
        """
        call = Call(
            "PUT",
            f"/v1/booking/{segment(id)}/contact",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def cancel(
        self,
        id: str,
        body: CancelForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Booking:
        """Cancel booking.

        Cancels a booking. With `passenger_ids`, cancels only these passengers.

        Refund: a guest gets what the refund policy grants, or the full price if the sailing was
        moved by 30 minutes or more or its partner is suspended. Partners and staff refund in
        full, or with `refund` = `policy` as for a guest; a partner cannot choose `policy` for a
        reseller's booking. Staff with `bookings.write` may set `refund_amount` from 0 to the
        price. They may also refund a completed journey, with at least 1; once; the partner bears
        it, or the platform with `borne_by` = `platform`. Other uses of these fields are 422
        `not_allowed`.

        Refusals: `departed` for guests after departure. `already_boarded` and `manifest_closed`
        for guests within 24 hours before departure. `already_refunded` after a refund of a
        completed journey, `already_cancelled` or `expired` if the booking is over otherwise.

        Some passengers: the booking must be paid (`not_paid`), and none of them checked in
        (`already_boarded`, for every caller). `qty`, `passengers` and `price` become those of
        the others; `cancelled_passengers` lists the cancelled ones. Their seats are on sale
        again, and the other tickets stay valid. Their fares, their share of the discount and the
        taxes are refunded as above; `refund_amount` is at most that sum. A reschedule that waits
        for payment is dropped. 422 on `passenger_ids`: `all`, `unknown`, `already_cancelled`,
        `unique`, `adult_required`, `charter`.

        Sends a mail. Accepts an `Idempotency-Key`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/cancel`, operation `cancel_booking`.
        """
        call = Call(
            "POST",
            f"/v1/booking/{segment(id)}/cancel",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def reschedule(
        self,
        id: str,
        body: RescheduleForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Rescheduled:
        """Reschedule booking.

        Moves a booking to another sailing of the same partner between the same harbours. If it
        costs more, the new seats are held and `data.reschedule` says what to pay and where; the
        booking moves when the difference is paid. With `dry_run` nothing is changed:
        `data.reschedule` says the price, the fee and the difference. Refused with 409
        `not_paid`, `departed`, `manifest_closed`, `already_boarded`, `already_cancelled`,
        `expired` or `too_late`. Guests may pay a fee; after a disruption there is none, and the
        refund of a cancelled sailing is exchanged for the new one: refused with 409
        `refund_sent` when that refund is on its way. Accepts an `Idempotency-Key`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/reschedule`, operation `reschedule_booking`.
        """
        call = Call(
            "POST",
            f"/v1/booking/{segment(id)}/reschedule",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Rescheduled, self._transport.data(call))

    def set_refund_account(
        self,
        id: str,
        body: RefundAccountForm,
        *,
        timeout: float | None = None,
    ) -> Booking:
        """Set account for refunds.

        Stores the bank account to which refunds of the booking are transferred that the payment
        provider cannot send. For the booker (`code` and `email` in the body) and staff with
        `bookings.write`, while a refund is due: otherwise refused with 409 `invalid_state`, or
        `paid_in_cash` since cash goes back as cash. The account is encrypted at rest; responses
        show it masked.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `PUT /v1/booking/{id}/refund-account`, operation `set_refund_account`.
        """
        call = Call(
            "PUT",
            f"/v1/booking/{segment(id)}/refund-account",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))


class PaymentsApi(Group):
    """Payment attempts, callbacks of payment providers, cash, refunds, and payments that need a
    decision.
    """

    def pay_again(
        self,
        id: str,
        body: GuestCredentials | None = None,
        *,
        timeout: float | None = None,
    ) -> Booking:
        """Get or open payment attempt.

        Returns an unpaid booking with its open payment attempt, or opens a new attempt if the
        last one failed. Refused with 409 `expired` once the hold has ended, `already_paid` or
        `already_cancelled`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/payment`, operation `pay_again`.
        """
        call = Call(
            "POST",
            f"/v1/booking/{segment(id)}/payment",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def pay_cash(self, id: str, *, timeout: float | None = None) -> Booking:
        """Record cash payment.

        Records that a booking was paid in cash and mails the tickets. Cash that a partner takes
        is deducted from its next settlement. Refused with 409 `already_paid`,
        `already_cancelled` or `expired` if the booking is not awaiting payment.

        **Access:** Partners for their own; admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/pay-cash`, operation `pay_cash`.
        """
        call = Call("POST", f"/v1/booking/{segment(id)}/pay-cash", repeat="change", timeout=timeout)
        return cast(Booking, self._transport.data(call))

    def record_refund(
        self,
        id: str,
        body: RefundForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Booking:
        """Record refund.

        Records the payment of the only due refund of a booking; with several, 409 `several_due`.
        `by` is the method: cash is refunded in cash, by the platform (`cash`) or by the partner
        that took it (`partner`); other payments by `bank` or `provider` (422 otherwise). If the
        booking was paid both ways, record each part separately. `amount`, if given, must equal
        the amount due for this method (422). A reference that has already paid a refund of this
        booking is 409 `already_paid`; 409 `not_enough_cash` if there is less cash. Sends a mail.
        Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/refund`, operation `record_refund`.
        """
        call = Call(
            "POST",
            f"/v1/booking/{segment(id)}/refund",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Booking, self._transport.data(call))

    def callback(self, body: AnyObject, *, timeout: float | None = None) -> None:
        """Receive payment notification.

        Receives notifications of the configured payment provider. The signature or token is
        verified, the state is confirmed with the provider, and each notification is applied
        once, however often and in whatever order it is sent. A refund or chargeback pays the
        refunds that are due; the rest becomes a payment review. 401 if it cannot be verified,
        404 if it is about an unknown payment.

        **Access:** Public.

        `POST /v1/payment/callback`, operation `payment_callback`.
        """
        call = Call("POST", "/v1/payment/callback", repeat="change", json=body, timeout=timeout)
        self._transport.data(call)

    def payout_callback(self, body: AnyPayout, *, timeout: float | None = None) -> None:
        """Receive payout notification.

        Receives notifications of the provider that pays settlements out (Xendit's
        `x-callback-token`, or `Iris-Signature`). The sender is verified, the provider is asked
        for the state, and the answer is applied once, in any order. 401 if it cannot be
        verified, 404 if it is about an unknown payout or no provider is configured.

        **Access:** Public.

        `POST /v1/payment/payout-callback`, operation `payout_callback`.
        """
        call = Call(
            "POST",
            "/v1/payment/payout-callback",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        self._transport.data(call)

    def list_reviews(
        self,
        *,
        id: str | None = None,
        open: bool | None = None,
        page: int | None = None,
        page_size: int | None = None,
        reason: ReviewReason | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Review]:
        """List payment reviews.

        Lists money that needs a decision. Money that came in: a wrong amount, a payment after
        the booking expired or was cancelled, or a duplicate. Money that the provider sent back:
        a refund that was not owed, or a chargeback.

        **Access:** Admins; staff with `bookings.write`.

        `GET /v1/payment/reviews`, operation `list_payment_reviews`.

        :param id: Only the review with this id.
        :param open: Whether it is unresolved.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            "/v1/payment/reviews",
            repeat="read",
            query={
                "id": id,
                "open": open,
                "page": page,
                "page_size": page_size,
                "reason": reason,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Review], self._transport.page(call, page_in="query"))

    def resolve_review(self, id: str, body: Resolve, *, timeout: float | None = None) -> Review:
        """Resolve payment review.

        Resolves a payment review, once.

        Incoming money: `apply` pays the booking or the difference of its reschedule, and any
        excess is owed to the customer. `refund` owes the whole amount to the customer; with
        `reference` (and `by`) the payment is recorded at once. `dismiss` is only for payments
        that the provider has voided (409 `money_taken`); other decisions on a voided payment are
        409 `voided`.

        Money that the provider sent back: `charge_partner` deducts it from the partner's next
        settlement. `write_off` is a loss of the platform. `match` pays refunds that have become
        due (409 `nothing_due` if they are less).

        Refused with 409 if it is already resolved or the booking no longer allows the decision.

        **Access:** Admins; staff with `bookings.write`.

        `POST /v1/payment/reviews/{id}/resolve`, operation `resolve_payment_review`.
        """
        call = Call(
            "POST",
            f"/v1/payment/reviews/{segment(id)}/resolve",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Review, self._transport.data(call))

    def list_refunds(
        self,
        *,
        by: PaidBy | None = None,
        end_date: str | None = None,
        kind: RefundKind | None = None,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: RefundStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Refund]:
        """List refunds.

        Lists what customers are owed and were paid back, newest first, by status, kind, way and
        day. `search` finds the code of a booking or refund. A partner sees the refunds of its
        own bookings, but not those to the account of a reseller.

        **Access:** Partners for their own; admins; staff with `bookings.read`.

        `GET /v1/refunds`, operation `list_refunds`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        :param start_date: Days on which it became due, in the time zone of the service.
        """
        call = Call(
            "GET",
            "/v1/refunds",
            repeat="read",
            query={
                "by": by,
                "end_date": end_date,
                "kind": kind,
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Refund], self._transport.page(call, page_in="query"))

    def get_refund(self, id: str, *, timeout: float | None = None) -> Refund:
        """Get refund.

        Returns a refund: why it is owed, how much of it is unpaid, and how it was paid or failed
        to be paid. While it is unpaid, `bookings.write` sees the whole number of the account
        that the customer has stated.

        **Access:** Partners for their own; admins; staff with `bookings.read`.

        `GET /v1/refunds/{id}`, operation `get_refund`.
        """
        call = Call("GET", f"/v1/refunds/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Refund, self._transport.data(call))

    def pay_refund(
        self,
        id: str,
        body: PayRefund,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Refund:
        """Record payment of a refund.

        Records that a refund was paid. Cash goes back as cash: what staff took by `cash`, what
        the partner took by `partner` (credited to the partner) or `cash`; other money by `bank`
        or `provider` (422 on `by` otherwise). If the booking was paid in both ways, one call
        records one part, and the rest stays unpaid. A partner records only `partner`, for cash
        that it took itself. 409 `invalid_state` if it is paid, void or on its way, 409
        `not_enough_cash` if the till has less. When nothing is left, the booking becomes
        `refunded` and a mail is sent. Accepts an `Idempotency-Key`.

        **Access:** Partners for their own; admins; staff with `bookings.write`.

        `POST /v1/refunds/{id}/pay`, operation `pay_refund`.
        """
        call = Call(
            "POST",
            f"/v1/refunds/{segment(id)}/pay",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Refund, self._transport.data(call))

    def return_refund(
        self,
        id: str,
        body: ReturnRefund | None = None,
        *,
        timeout: float | None = None,
    ) -> Refund:
        """Record returned refund.

        Records that the newest payment of a paid refund bounced. It is due again with status
        `returned`, and its booking becomes `refund_pending`.

        **Access:** Admins; staff with `bookings.write`.

        `POST /v1/refunds/{id}/return`, operation `return_refund`.
        """
        call = Call(
            "POST",
            f"/v1/refunds/{segment(id)}/return",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Refund, self._transport.data(call))

    def retry_refund(self, id: str, *, timeout: float | None = None) -> Refund:
        """Retry refund.

        Sends a refund through the payment provider that was refused, came back or waits for a
        person. 409 `not_refundable` unless automatic refunds are switched on and the payment can
        be refunded there.

        **Access:** Admins; staff with `bookings.write`.

        `POST /v1/refunds/{id}/retry`, operation `retry_refund`.
        """
        call = Call("POST", f"/v1/refunds/{segment(id)}/retry", repeat="change", timeout=timeout)
        return cast(Refund, self._transport.data(call))


class BoardingApi(Group):
    """Sailings, passenger manifests and check-in at the pier, with or without network. Partners and
    their crew board the passengers of their own sailings.
    """

    def list_route_times(
        self,
        *,
        end_date: str | None = None,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        route_id: str | None = None,
        search: str | None = None,
        sort_by: RouteTimeSort | None = None,
        sort_dir: Direction | None = None,
        speedboat_id: str | None = None,
        start_date: str | None = None,
        status: SailingStatus | None = None,
        timeout: float | None = None,
    ) -> Page[RouteSailing]:
        """List sailings of all routes.

        Lists the sailings of all routes by departure, with boat, partner, seats and the number
        of passengers on board. Filter by day of departure, status, route, boat and (for admins
        and staff) partner; the search is in harbours and names of boats. An open sailing whose
        departure has passed is `departed`. With `format=csv` all sailings that are found are
        sent as a file, at most 50,000.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.read` or
        `routes.read`.

        `GET /v1/mitra/route-times`, operation `list_route_times`.

        :param mitra_id: Ignored for partners and crew, who see their own.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        :param sort_by: The only order, earliest first unless `sort_dir` is `desc`.
        :param start_date: Day of departure in the route's time zone.
        """
        call = Call(
            "GET",
            "/v1/mitra/route-times",
            repeat="read",
            query={
                "end_date": end_date,
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "route_id": route_id,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "speedboat_id": speedboat_id,
                "start_date": start_date,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[RouteSailing], self._transport.page(call, page_in="query"))

    def list_route_times_file(
        self,
        format: Literal["csv"],
        *,
        end_date: str | None = None,
        mitra_id: str | None = None,
        route_id: str | None = None,
        search: str | None = None,
        sort_by: RouteTimeSort | None = None,
        sort_dir: Direction | None = None,
        speedboat_id: str | None = None,
        start_date: str | None = None,
        status: SailingStatus | None = None,
        timeout: float | None = None,
    ) -> File:
        """List sailings of all routes, as a file. Pages do not apply.

        `GET /v1/mitra/route-times`, operation `list_route_times`.

        :param mitra_id: Ignored for partners and crew, who see their own.
        :param search: Case-insensitive substring.
        :param sort_by: The only order, earliest first unless `sort_dir` is `desc`.
        :param start_date: Day of departure in the route's time zone.
        """
        call = Call(
            "GET",
            "/v1/mitra/route-times",
            repeat="read",
            query={
                "end_date": end_date,
                "mitra_id": mitra_id,
                "route_id": route_id,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "speedboat_id": speedboat_id,
                "start_date": start_date,
                "status": status,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def get_route_time(self, id: str, *, timeout: float | None = None) -> RouteSailing:
        """Get sailing.

        Returns one sailing with boat, partner, seats and the number of passengers on board.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.read` or
        `routes.read`.

        `GET /v1/mitra/route-times/{id}`, operation `get_route_time`.
        """
        call = Call("GET", f"/v1/mitra/route-times/{segment(id)}", repeat="read", timeout=timeout)
        return cast(RouteSailing, self._transport.data(call))

    def get_manifest(self, id: str, *, timeout: float | None = None) -> Manifest:
        """Get manifest.

        Returns the passengers of one sailing with totals, as JSON, CSV or PDF by `Accept` or
        `format`. Identity numbers are masked for crew and for callers who may not read bookings.
        A closed manifest is returned as it was when it was closed.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.read`.

        `GET /v1/mitra/route-times/{id}/manifest`, operation `get_manifest`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/route-times/{segment(id)}/manifest",
            repeat="read",
            timeout=timeout,
        )
        return cast(Manifest, self._transport.data(call))

    def get_manifest_file(
        self,
        id: str,
        format: Literal["csv", "pdf"],
        *,
        timeout: float | None = None,
    ) -> File:
        """Get manifest, as a file. Pages do not apply.

        `GET /v1/mitra/route-times/{id}/manifest`, operation `get_manifest`.
        """
        call = Call(
            "GET",
            f"/v1/mitra/route-times/{segment(id)}/manifest",
            repeat="read",
            query={"format": format},
            timeout=timeout,
        )
        return self._transport.file(call)

    def close_manifest(self, id: str, *, timeout: float | None = None) -> Manifest:
        """Close manifest.

        Closes the manifest of a sailing: from then on its passengers cannot change, be checked
        in or leave. Closing it again changes nothing. Refused with 409 for a cancelled sailing,
        and with 409 `too_early` earlier than 3 hours before departure; `data.opens_at` says when
        it can be closed.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.

        `POST /v1/mitra/route-times/{id}/manifest/close`, operation `close_manifest`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/route-times/{segment(id)}/manifest/close",
            repeat="change",
            timeout=timeout,
        )
        return cast(Manifest, self._transport.data(call))

    def reopen_manifest(
        self,
        id: str,
        body: ReopenManifest,
        *,
        timeout: float | None = None,
    ) -> Manifest:
        """Reopen manifest.

        Opens a closed manifest again until departure: sales, reschedules and check-in are
        possible as before. Unpaid bookings that expired with the close stay expired. An open
        manifest stays open. Refused with 409 `departed` or `cancelled`.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.

        `POST /v1/mitra/route-times/{id}/manifest/reopen`, operation `reopen_manifest`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/route-times/{segment(id)}/manifest/reopen",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Manifest, self._transport.data(call))

    def check_in(self, id: str, body: CheckIn, *, timeout: float | None = None) -> CheckedIn:
        """Check in passengers.

        Checks passengers in, either by one `ticket_code` or by a batch of `scans` that a device
        recorded offline. A single code that does not admit is refused with 409 and a reason (422
        if it is forged); a batch always succeeds and reports an outcome for each scan. Scans
        that were sent before are reported as repeated.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.

        `POST /v1/mitra/route-times/{id}/check-in`, operation `check_in`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/route-times/{segment(id)}/check-in",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(CheckedIn, self._transport.data(call))

    def undo_check_in(
        self,
        id: str,
        body: UndoCheckIn,
        *,
        timeout: float | None = None,
    ) -> Admitted:
        """Undo check-in.

        Reverts a check-in, for example after a mistaken scan. Refused with 409 if the passenger
        is not checked in or the manifest is closed.

        **Access:** Partners and their crew for their own; admins; staff with `bookings.write`.

        `POST /v1/mitra/route-times/{id}/check-in/undo`, operation `undo_check_in`.
        """
        call = Call(
            "POST",
            f"/v1/mitra/route-times/{segment(id)}/check-in/undo",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Admitted, self._transport.data(call))


class TicketsApi(Group):
    """Signed tickets as PDF, and the public keys to verify them without network."""

    def get(
        self,
        id: str,
        *,
        code: str | None = None,
        email: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get tickets as PDF.

        Returns the tickets of a paid booking as PDF, one page per passenger. Guests pass `code`
        and `email` in the query. Refused with 409 `not_paid`, `already_cancelled` or `expired`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.read`.

        `GET /v1/booking/{id}/ticket`, operation `get_ticket`.

        :param code: Booking code, as printed on tickets.
        """
        call = Call(
            "GET",
            f"/v1/booking/{segment(id)}/ticket",
            repeat="read",
            query={"code": code, "email": email},
            timeout=timeout,
        )
        return self._transport.file(call)

    def resend(
        self,
        id: str,
        body: ResendTicket | None = None,
        *,
        timeout: float | None = None,
    ) -> None:
        """Resend tickets.

        Mails the tickets again to the contact address of the booking. Partners and staff may
        state another address in `email`; for a guest it is the contact address and, with `code`,
        proves ownership. A `code` of another booking is refused with 422 `mismatch`. Refused
        with 409 `not_paid`, `already_cancelled` or `expired`.

        **Access:** Guests with the booking's code and e-mail address; partners for their own;
        admins; staff with `bookings.write`.

        `POST /v1/booking/{id}/resend-ticket`, operation `resend_ticket`.
        """
        call = Call(
            "POST",
            f"/v1/booking/{segment(id)}/resend-ticket",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        self._transport.data(call)

    def get_key(self, *, timeout: float | None = None) -> TicketKeyring:
        """Get ticket public keys.

        Returns the Ed25519 public keys that verify ticket codes: the current one and earlier
        ones whose tickets are still valid. Public.

        **Access:** Public.

        `GET /v1/tickets/public-key`, operation `get_ticket_key`.
        """
        call = Call("GET", "/v1/tickets/public-key", repeat="read", timeout=timeout)
        return cast(TicketKeyring, self._transport.data(call))


class PromotionsApi(Group):
    """Discount codes with period, quota and target. The platform pays for a discount, or
    (`funded_by`: `partner`) the partner whose sailing is booked.
    """

    def list_running(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[PromotionRecord]:
        """List current promotions.

        Lists promotions that can be used today. Public.

        **Access:** Public.

        `GET /v1/contents/promotions`, operation `list_running_promotions`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/contents/promotions",
            repeat="read",
            query={"page": page, "page_size": page_size, "search": search, "sort_dir": sort_dir},
            timeout=timeout,
        )
        return cast(Page[PromotionRecord], self._transport.page(call, page_in="query"))

    def create(self, body: PromotionForm, *, timeout: float | None = None) -> PromotionRecord:
        """Create promotion.

        Creates a promotion. Refused with 409 `already_exists` if the code exists, and with 422
        if a target does not exist. The discount of one that partners pay for (`funded_by`:
        `partner`) reduces what the partner earns; the commission is computed from the price
        before it. Codes that the platform pays for cannot be used for bookings that a partner
        makes itself.

        **Access:** Admins; staff with `promotions.write`.

        `POST /v1/contents/promotion`, operation `create_promotion`.
        """
        call = Call("POST", "/v1/contents/promotion", repeat="change", json=body, timeout=timeout)
        return cast(PromotionRecord, self._transport.data(call))

    def list(
        self,
        *,
        funded_by: FundedBy | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: PromotionSort | None = None,
        sort_dir: Direction | None = None,
        state: PromotionState | None = None,
        status: PromotionStatus | None = None,
        target_type: TargetType | None = None,
        timeout: float | None = None,
    ) -> Page[PromotionRecord]:
        """List promotions.

        Lists all promotions, with filters by status, computed state, target type and who pays.

        **Access:** Admins; staff with `promotions.read`.

        `GET /v1/promotions`, operation `list_promotions`.

        :param funded_by: Who pays for the discount: the platform, or the partner whose sailing
            it is.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/promotions",
            repeat="read",
            query={
                "funded_by": funded_by,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "state": state,
                "status": status,
                "target_type": target_type,
            },
            timeout=timeout,
        )
        return cast(Page[PromotionRecord], self._transport.page(call, page_in="query"))

    def get(self, id: str, *, timeout: float | None = None) -> PromotionRecord:
        """Get promotion.

        Returns one promotion with its uses so far.

        **Access:** Admins; staff with `promotions.read`.

        `GET /v1/promotion/{id}`, operation `get_promotion`.
        """
        call = Call("GET", f"/v1/promotion/{segment(id)}", repeat="read", timeout=timeout)
        return cast(PromotionRecord, self._transport.data(call))

    def update(
        self,
        id: str,
        body: PromotionForm,
        *,
        timeout: float | None = None,
    ) -> PromotionRecord:
        """Update promotion.

        Replaces a promotion. Optional fields that are left out (`target_ids`,
        `per_customer_limit`, `image_file_id`, `funded_by`, `discount.max_amount`,
        `discount.min_purchase`) keep their value, null clears them; targets of another type are
        not kept. The quota cannot be set below the number of uses (422). Bookings that used it
        keep their discount and who pays for it.

        **Access:** Admins; staff with `promotions.write`.

        `PUT /v1/promotion/{id}`, operation `update_promotion`.
        """
        call = Call(
            "PUT",
            f"/v1/promotion/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(PromotionRecord, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete promotion.

        Deletes a promotion that was never used. One that was used is refused with 409 `in_use`;
        set it to `inactive` instead.

        **Access:** Admins; staff with `promotions.write`.

        `DELETE /v1/promotion/{id}`, operation `delete_promotion`.
        """
        call = Call("DELETE", f"/v1/promotion/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)


class TaxesApi(Group):
    """Taxes on bookings and on the platform's commission. Bookings keep the rates with which they
    were sold.
    """

    def list(
        self,
        *,
        applies_to: AppliesTo | None = None,
        is_active: bool | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: TaxSort | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Tax]:
        """List taxes.

        Lists the taxes that are added to prices, active ones and others.

        **Access:** Admins; staff with `taxes.read`.

        `GET /v1/configurations/taxs`, operation `list_taxes`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/configurations/taxs",
            repeat="read",
            query={
                "applies_to": applies_to,
                "is_active": is_active,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Tax], self._transport.page(call, page_in="query"))

    def create(self, body: TaxForm, *, timeout: float | None = None) -> Tax:
        """Create tax.

        Adds a tax to what is sold from now on: `seats`, `charter` or `booking` (both) are paid
        by the customer, `commission` by the partner on the platform's commission. `base_factor`
        is the part of the price that is taxed, as a fraction (`"11/12"`) or a number; it is 1 by
        default. The tax is rounded once, half up. Refused with 409 `already_exists` if the code
        exists, and with `in_use` if a deleted tax with this code was charged on commission and
        this one is not, or the reverse.

        **Access:** Admins; staff with `taxes.write`.

        `POST /v1/configurations/taxs`, operation `create_tax`.
        """
        call = Call("POST", "/v1/configurations/taxs", repeat="change", json=body, timeout=timeout)
        return cast(Tax, self._transport.data(call))

    def update(self, id: str, body: TaxForm, *, timeout: float | None = None) -> Tax:
        """Update tax.

        Replaces a tax. Without `base_factor` it keeps its value; null means 1. Bookings that
        were sold before keep their rates. Once a booking was made while the tax was active, its
        code cannot be changed, nor can a tax on the commission become one on bookings or the
        reverse (409 `in_use`): ledger lines and prices name the tax by its code.

        **Access:** Admins; staff with `taxes.write`.

        `PUT /v1/configurations/taxs/{id}`, operation `update_tax`.
        """
        call = Call(
            "PUT",
            f"/v1/configurations/taxs/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Tax, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete tax.

        Deletes a tax: it is not charged any more. Bookings that were sold before keep it.

        **Access:** Admins; staff with `taxes.write`.

        `DELETE /v1/configurations/taxs/{id}`, operation `delete_tax`.
        """
        call = Call(
            "DELETE",
            f"/v1/configurations/taxs/{segment(id)}",
            repeat="change",
            timeout=timeout,
        )
        self._transport.data(call)


class SettlementsApi(Group):
    """Payouts to partners: completed bookings less commission, tax on the commission and cash that
    the partner collected, with corrections by journal entries.
    """

    def list(
        self,
        *,
        end_date: str | None = None,
        mitra_id: str | None = None,
        origin: Origin | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: SettlementSort | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: SettlementStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Settlement]:
        """List settlements.

        Lists settlements: a partner's own, or those of all partners for admins and staff.
        Account numbers are masked. With `format=csv` everything that is found is sent as a file,
        at most 50,000 rows.

        **Access:** Partners for their own; admins; staff with `settlements.read`.

        `GET /v1/settlements`, operation `list_settlements`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        :param start_date: Settlements whose period overlaps these days.
        """
        call = Call(
            "GET",
            "/v1/settlements",
            repeat="read",
            query={
                "end_date": end_date,
                "mitra_id": mitra_id,
                "origin": origin,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Settlement], self._transport.page(call, page_in="query"))

    def list_file(
        self,
        format: Literal["csv"],
        *,
        end_date: str | None = None,
        mitra_id: str | None = None,
        origin: Origin | None = None,
        search: str | None = None,
        sort_by: SettlementSort | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: SettlementStatus | None = None,
        timeout: float | None = None,
    ) -> File:
        """List settlements, as a file. Pages do not apply.

        `GET /v1/settlements`, operation `list_settlements`.

        :param mitra_id: UUID of the partner.
        :param search: Case-insensitive substring.
        :param start_date: Settlements whose period overlaps these days.
        """
        call = Call(
            "GET",
            "/v1/settlements",
            repeat="read",
            query={
                "end_date": end_date,
                "mitra_id": mitra_id,
                "origin": origin,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def create(
        self,
        body: ManualSettlement,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SettlementDetail:
        """Create settlement.

        Creates a settlement of a partner's completed bookings by day of departure. Debts of the
        partner, money that it paid and corrections are netted, whatever their day. If nothing is
        left to pay out, the settlement is a statement (`status` is `statement`): its items are
        settled, and a debt is carried to the next settlement. Refused with 409
        `nothing_to_settle` if nothing is unsettled but the debt of an earlier statement. Accepts
        an `Idempotency-Key`.

        **Access:** Admins; staff with `settlements.write`.

        `POST /v1/settlements/manual`, operation `create_settlement`.
        """
        call = Call(
            "POST",
            "/v1/settlements/manual",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(SettlementDetail, self._transport.data(call))

    def get_configuration(
        self,
        *,
        mitra_id: str | None = None,
        timeout: float | None = None,
    ) -> SettlementConfigurationView:
        """Get settlement configuration.

        Returns commission rate, commission rate of resold bookings, payout schedule, hold days
        and minimum amount: those of one partner (`mitra_id`), with the values that it inherits,
        or the default. A partner gets its own. For a partner with a schedule it also has the day
        of the next settlement and the last day of departure in it. On that day it is the present
        day until the settlement was created.

        **Access:** Partners for their own; admins; staff with `settlements.configure`.

        `GET /v1/settlements/configuration`, operation `get_settlement_configuration`.

        :param mitra_id: UUID of the partner. Left out: the default. Ignored for partners, who
            get their own.
        """
        call = Call(
            "GET",
            "/v1/settlements/configuration",
            repeat="read",
            query={"mitra_id": mitra_id},
            timeout=timeout,
        )
        return cast(SettlementConfigurationView, self._transport.data(call))

    def configure(
        self,
        body: SettlementConfigurationForm,
        *,
        timeout: float | None = None,
    ) -> SettlementConfigurationView:
        """Update settlement configuration.

        Changes the configuration of one partner (`mitra_id`), or the default. Fields that are
        left out stay as they are; null means the default. Bookings that were sold before keep
        their commission rate.

        **Access:** Admins; staff with `settlements.configure`.

        `POST /v1/settlements/configuration`, operation `configure_settlements`.
        """
        call = Call(
            "POST",
            "/v1/settlements/configuration",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(SettlementConfigurationView, self._transport.data(call))

    def list_receipts(
        self,
        *,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: ReceiptSort | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Receipt]:
        """List receipts from partners.

        Lists money that partners paid for what they owed. Partners see their own only.

        **Access:** Partners for their own; admins; staff with `settlements.read`.

        `GET /v1/settlements/receipts`, operation `list_receipts`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/settlements/receipts",
            repeat="read",
            query={
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Receipt], self._transport.page(call, page_in="query"))

    def record_receipt(
        self,
        body: ReceiptForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Receipt:
        """Record receipt from partner.

        Records money that a partner paid for what it owes, by bank transfer or in cash. It is
        netted in the next settlement and is in the books on `received_on`. Refused with 409
        `nothing_owed` if the partner owes nothing, with 422 if it owes less than `amount`, and
        with 409 `period_closed` if the books of the month are closed. Accepts an
        `Idempotency-Key`.

        **Access:** Admins; staff with `settlements.write`.

        `POST /v1/settlements/receipts`, operation `record_receipt`.
        """
        call = Call(
            "POST",
            "/v1/settlements/receipts",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Receipt, self._transport.data(call))

    def get(self, id: str, *, timeout: float | None = None) -> SettlementDetail:
        """Get settlement.

        Returns a settlement with its items and its releases. Items that are not of a booking
        (receipts, carried debts, corrections) have no `booking_id` and no `code`. Partners see
        their own only.

        **Access:** Partners for their own; admins; staff with `settlements.read`.

        `GET /v1/settlements/{id}`, operation `get_settlement`.
        """
        call = Call("GET", f"/v1/settlements/{segment(id)}", repeat="read", timeout=timeout)
        return cast(SettlementDetail, self._transport.data(call))

    def release(
        self,
        id: str,
        body: ReleaseForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> SettlementDetail:
        """Release settlement.

        Releases a pending settlement: records that it was transferred, with the reference and
        optionally a proof. With `method: payout` the configured provider pays it out; 422 on
        `method` without a provider. It is `processing` until the provider confirms it
        (`released`) or refuses it (`pending`, with `failure`). If the outcome is unknown it
        stays `processing` with `failure`: look it up at the provider, then release it with the
        reference or cancel it. The partner is notified by mail. Refused with 409 if it is not
        pending, the partner is suspended, no bank account is approved, or a changed account
        awaits approval. Refused with 409 `stale` if a booking in it was refunded or charged
        later: cancel it and create a new one. Unless the service is configured otherwise,
        whoever created a settlement, or recorded that its payout came back, cannot release it
        (409 `same_person`); one of the schedule can be released by anybody with the rule.
        Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `settlements.release`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/settlements/{id}/release`, operation `release_settlement`.
        """
        call = Call(
            "POST",
            f"/v1/settlements/{segment(id)}/release",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(SettlementDetail, self._transport.data(call))

    def cancel(
        self,
        id: str,
        body: CancelSettlement | None = None,
        *,
        timeout: float | None = None,
    ) -> SettlementDetail:
        """Cancel settlement.

        Cancels a pending settlement or a statement. Its bookings can be settled again. Refused
        with 409 if it is being paid out, released or cancelled, or if the debt of a statement is
        part of a later settlement.

        **Access:** Admins; staff with `settlements.write`.

        `POST /v1/settlements/{id}/cancel`, operation `cancel_settlement`.
        """
        call = Call(
            "POST",
            f"/v1/settlements/{segment(id)}/cancel",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(SettlementDetail, self._transport.data(call))

    def return_(
        self,
        id: str,
        body: ReturnForm,
        *,
        timeout: float | None = None,
    ) -> SettlementDetail:
        """Return settlement.

        Records that the transfer of a released settlement came back. It is pending and payable
        again, with the reason in `failure`; the partner is notified by mail. Refused with 409 if
        it is not released.

        **Access:** Admins; staff with `settlements.write`.

        `POST /v1/settlements/{id}/return`, operation `return_settlement`.
        """
        call = Call(
            "POST",
            f"/v1/settlements/{segment(id)}/return",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(SettlementDetail, self._transport.data(call))


class ResellersApi(Group):
    """Agencies that sell seats through the OCTO API, on account: their records, API keys, the
    partners that they may sell, and what they owe.
    """

    def list(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_by: ResellerSort | None = None,
        sort_dir: Direction | None = None,
        status: ResellerStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Reseller]:
        """List resellers.

        Lists resellers. A reseller finds itself alone.

        **Access:** Resellers for their own; admins; staff with `resellers.read`.

        `GET /v1/resellers`, operation `list_resellers`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/resellers",
            repeat="read",
            query={
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_by": sort_by,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Reseller], self._transport.page(call, page_in="query"))

    def create(self, body: ResellerForm, *, timeout: float | None = None) -> Reseller:
        """Create reseller.

        Creates a reseller with an account of role `reseller` and sends the invitation by mail.
        It can sell nothing until partners are granted to it. Refused with 409 `email_taken` if
        the address has an account.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `POST /v1/resellers`, operation `create_reseller`.
        """
        call = Call("POST", "/v1/resellers", repeat="change", json=body, timeout=timeout)
        return cast(Reseller, self._transport.data(call))

    def get(self, id: str, *, timeout: float | None = None) -> Reseller:
        """Get reseller.

        Returns a reseller with its credit limit and its balance. A reseller can read only its
        own record (404 otherwise). The NPWP of a person, whose digits are the NIK, is masked for
        staff without `resellers.write`.

        **Access:** Resellers for their own; admins; staff with `resellers.read`.

        `GET /v1/resellers/{id}`, operation `get_reseller`.
        """
        call = Call("GET", f"/v1/resellers/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Reseller, self._transport.data(call))

    def update(self, id: str, body: ResellerForm, *, timeout: float | None = None) -> Reseller:
        """Update reseller.

        Replaces name, addresses and terms. Optional fields that are left out keep their value;
        null clears `npwp` and `ops_email`. Another e-mail address has to be confirmed. A lower
        credit limit ends no booking.

        **Access:** Admins; staff with `resellers.write`.

        `PUT /v1/resellers/{id}`, operation `update_reseller`.
        """
        call = Call(
            "PUT",
            f"/v1/resellers/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Reseller, self._transport.data(call))

    def suspend(
        self,
        id: str,
        body: ResellerSuspension,
        *,
        timeout: float | None = None,
    ) -> Reseller:
        """Suspend reseller.

        Suspends a reseller: its API keys are refused at once, so it cannot sell. Its bookings
        stay valid, and it can still sign in and see what it owes.

        **Access:** Admins; staff with `resellers.write`.

        `POST /v1/resellers/{id}/suspend`, operation `suspend_reseller`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/suspend",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Reseller, self._transport.data(call))

    def unsuspend(self, id: str, *, timeout: float | None = None) -> Reseller:
        """Lift reseller suspension.

        Lifts the suspension of a reseller.

        **Access:** Admins; staff with `resellers.write`.

        `POST /v1/resellers/{id}/unsuspend`, operation `unsuspend_reseller`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/unsuspend",
            repeat="change",
            timeout=timeout,
        )
        return cast(Reseller, self._transport.data(call))

    def resend_invitation(self, id: str, *, timeout: float | None = None) -> None:
        """Resend reseller invitation.

        Sends the invitation of a reseller again. Refused with 409 once it is accepted.

        **Access:** Admins; staff with `resellers.write`.

        `POST /v1/resellers/{id}/resend-invitation`, operation `resend_reseller_invitation`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/resend-invitation",
            repeat="change",
            timeout=timeout,
        )
        self._transport.data(call)

    def list_keys(
        self,
        id: str,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[ResellerKey]:
        """List API keys.

        Lists the API keys of a reseller, also revoked and expired ones. The keys themselves are
        not included.

        **Access:** Resellers for their own; admins; staff with `resellers.write`.

        `GET /v1/resellers/{id}/keys`, operation `list_reseller_keys`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            f"/v1/resellers/{segment(id)}/keys",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir},
            timeout=timeout,
        )
        return cast(Page[ResellerKey], self._transport.page(call, page_in="query"))

    def create_key(
        self,
        id: str,
        body: ResellerKeyForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> NewResellerKey:
        """Create API key.

        Creates an API key for the OCTO API. The response contains the key, which is not shown
        again; only its hash is kept. `mitra_id` must be granted to the reseller (422
        `not_granted`). At most 10 keys can be in use (409 `quota_exceeded`). Accepts an
        `Idempotency-Key`.

        **Access:** Resellers for their own; admins; staff with `resellers.write`. Needs a
        sign-in, or `POST /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/resellers/{id}/keys`, operation `create_reseller_key`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/keys",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(NewResellerKey, self._transport.data(call))

    def revoke_key(self, id: str, key_id: str, *, timeout: float | None = None) -> ResellerKey:
        """Revoke API key.

        Revokes an API key. The next request with it is refused. A revoked key stays in the list.
        Refused with 409 if it is revoked already.

        **Access:** Resellers for their own; admins; staff with `resellers.write`.

        `DELETE /v1/resellers/{id}/keys/{key_id}`, operation `revoke_reseller_key`.
        """
        call = Call(
            "DELETE",
            f"/v1/resellers/{segment(id)}/keys/{segment(key_id)}",
            repeat="change",
            timeout=timeout,
        )
        return cast(ResellerKey, self._transport.data(call))

    def get_grants(self, id: str, *, timeout: float | None = None) -> Grants:
        """Get partners of a reseller.

        Returns the partners that a reseller may sell, with its margin and agreed prices. A grant
        without `mitra_id` is for every partner that has no grant of its own. `allow_loss` is
        null for resellers.

        **Access:** Resellers for their own; admins; staff with `resellers.read`.

        `GET /v1/resellers/{id}/partners`, operation `get_reseller_grants`.
        """
        call = Call("GET", f"/v1/resellers/{segment(id)}/partners", repeat="read", timeout=timeout)
        return cast(Grants, self._transport.data(call))

    def set_grants(self, id: str, body: GrantsForm, *, timeout: float | None = None) -> Grants:
        """Update partners of a reseller.

        Replaces the list of partners that a reseller may sell; a partner that it leaves out is
        withdrawn at once. Optional fields that a grant leaves out keep the value of the
        partner's grant. Bookings that were sold before keep their price. Refused with 422
        `below_cost` if the reseller would keep more than the partner's commission for resold
        bookings (of the default for the grant for all), unless `allow_loss` is set. A net fare
        is compared at the lowest price of the sailings ahead.

        **Access:** Admins; staff with `resellers.write`.

        `PUT /v1/resellers/{id}/partners`, operation `set_reseller_grants`.
        """
        call = Call(
            "PUT",
            f"/v1/resellers/{segment(id)}/partners",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Grants, self._transport.data(call))

    def get_statement(
        self,
        id: str,
        *,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> PageWith[ResellerStatementLine, GetResellerStatementBody]:
        """Get statement of a reseller.

        Returns the account of a reseller: opening balance, lines and closing balance. Positive
        balances are owed by the reseller. JSON is paged; with `format` or `Accept` it is a CSV
        or XLSX file of all lines, at most 20,000.

        **Access:** Resellers for their own; admins; staff with `resellers.finance`.

        `GET /v1/resellers/{id}/statement`, operation `get_reseller_statement`.

        :param end_date: Last day. Default: today.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            f"/v1/resellers/{segment(id)}/statement",
            repeat="read",
            query={
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(
            PageWith[ResellerStatementLine, GetResellerStatementBody],
            self._transport.page(call, page_in="query", items="lines"),
        )

    def get_statement_file(
        self,
        id: str,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get statement of a reseller, as a file. Pages do not apply.

        `GET /v1/resellers/{id}/statement`, operation `get_reseller_statement`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            f"/v1/resellers/{segment(id)}/statement",
            repeat="read",
            query={
                "end_date": end_date,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def list_invoices(
        self,
        id: str,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        status: InvoiceStatus | None = None,
        timeout: float | None = None,
    ) -> Page[ResellerInvoice]:
        """List invoices of a reseller.

        Lists the invoices of a reseller with their first lines: at most 1,000 of each invoice,
        and 2,000 of all invoices of a page (20 invoices: 100 of each). `paid` is what payments
        and credits have settled of it.

        **Access:** Resellers for their own; admins; staff with `resellers.finance`.

        `GET /v1/resellers/{id}/invoices`, operation `list_reseller_invoices`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            f"/v1/resellers/{segment(id)}/invoices",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir, "status": status},
            timeout=timeout,
        )
        return cast(Page[ResellerInvoice], self._transport.page(call, page_in="query"))

    def create_invoice(
        self,
        id: str,
        body: ResellerInvoiceForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ResellerInvoice:
        """Create invoice of a reseller.

        Makes an invoice of all bookings, moves and refunds of these days that are in no invoice
        yet. It is due after the reseller's `terms_days`. What the reseller has paid in advance
        settles it at once; a negative invoice settles others. The schedule of the reseller makes
        invoices by itself: on Mondays for the week before, or on the first day of a month for
        the month before. Refused with 409 `nothing_to_invoice` if everything is invoiced.
        Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `resellers.finance`.

        `POST /v1/resellers/{id}/invoices`, operation `create_reseller_invoice`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/invoices",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(ResellerInvoice, self._transport.data(call))

    def record_payment(
        self,
        id: str,
        body: ResellerPaymentForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ResellerPayment:
        """Record payment of a reseller.

        Records a transfer of a reseller to our bank account. It lowers the balance and settles
        the oldest open invoices. It is in the books on `received_on`. Refused with 409
        `already_recorded` if the reference is recorded, and with 409 `period_closed` if the
        books of the month are closed. Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `resellers.finance`.

        `POST /v1/resellers/{id}/payments`, operation `record_reseller_payment`.
        """
        call = Call(
            "POST",
            f"/v1/resellers/{segment(id)}/payments",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(ResellerPayment, self._transport.data(call))


class FinanceApi(Group):
    """The books: what the ledger says, and what a finance clerk posts into it. Amounts are in
    rupiah; debit balances are positive, credit balances negative. Days are those of the
    service's time zone. Every list and report is also available as CSV or XLSX by `Accept` or
    `format`; a file of a list has at most 20,000 lines.

    What is posted here has a day: not in the future, and in a month that is open (else 409
    `period_closed`).
    """

    def get_trial_balance(
        self,
        *,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> TrialBalance:
        """Get trial balance.

        Returns the opening balance, debits, credits and closing balance of every account, and of
        every tax within `tax_payable`, for the days from `start_date` to `end_date`. The debits
        and credits of all accounts are equal.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/trial-balance`, operation `get_trial_balance`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            "/v1/finance/trial-balance",
            repeat="read",
            query={"end_date": end_date, "start_date": start_date},
            timeout=timeout,
        )
        return cast(TrialBalance, self._transport.data(call))

    def get_trial_balance_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get trial balance, as a file. Pages do not apply.

        `GET /v1/finance/trial-balance`, operation `get_trial_balance`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            "/v1/finance/trial-balance",
            repeat="read",
            query={"end_date": end_date, "start_date": start_date, "format": format},
            timeout=timeout,
        )
        return self._transport.file(call)

    def list_entries(
        self,
        *,
        account: Account | None = None,
        booking_id: str | None = None,
        end_date: str | None = None,
        mitra_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        source: Source | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Page[Entry]:
        """List ledger entries.

        Lists the lines of the ledger, newest first, by account, partner, booking, source and
        day. Lines with the same `source`, `source_id` and `kind` are one posting and add up to
        zero.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/entries`, operation `list_entries`.

        :param mitra_id: UUID of the partner.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            "/v1/finance/entries",
            repeat="read",
            query={
                "account": account,
                "booking_id": booking_id,
                "end_date": end_date,
                "mitra_id": mitra_id,
                "page": page,
                "page_size": page_size,
                "sort_dir": sort_dir,
                "source": source,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Page[Entry], self._transport.page(call, page_in="query"))

    def list_entries_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        account: Account | None = None,
        booking_id: str | None = None,
        end_date: str | None = None,
        mitra_id: str | None = None,
        sort_dir: Direction | None = None,
        source: Source | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """List ledger entries, as a file. Pages do not apply.

        `GET /v1/finance/entries`, operation `list_entries`.

        :param mitra_id: UUID of the partner.
        """
        call = Call(
            "GET",
            "/v1/finance/entries",
            repeat="read",
            query={
                "account": account,
                "booking_id": booking_id,
                "end_date": end_date,
                "mitra_id": mitra_id,
                "sort_dir": sort_dir,
                "source": source,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def get_partner_statement(
        self,
        id: str,
        *,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> PageWith[StatementLine, GetPartnerStatementBody]:
        """Get statement of a partner.

        Returns the account of a partner: opening balance, lines with the balance after each,
        closing balance. Positive amounts are owed to the partner. A partner gets its own; others
        are 404.

        **Access:** Partners for their own; admins; staff with `finance.read`.

        `GET /v1/finance/partners/{id}/statement`, operation `get_partner_statement`.

        :param end_date: Last day. Default: today.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            f"/v1/finance/partners/{segment(id)}/statement",
            repeat="read",
            query={
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(
            PageWith[StatementLine, GetPartnerStatementBody],
            self._transport.page(call, page_in="query", items="lines"),
        )

    def get_partner_statement_file(
        self,
        id: str,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get statement of a partner, as a file. Pages do not apply.

        `GET /v1/finance/partners/{id}/statement`, operation `get_partner_statement`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            f"/v1/finance/partners/{segment(id)}/statement",
            repeat="read",
            query={
                "end_date": end_date,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def get_tax_report(
        self,
        *,
        month: str | None = None,
        timeout: float | None = None,
    ) -> TaxReport:
        """Get monthly tax report.

        Returns the taxes of a month by code. `received` and `received_base` are the taxes in
        payments that were received in the month and what they were charged on: tax on a journey
        is due on the day of the advance payment. A later cancellation does not change them. The
        other amounts are those of the ledger, which posts a tax when the journey is over:
        collected, reversed with refunds, adjusted by journal entries, paid to the state, and
        still owed.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/taxes`, operation `get_tax_report`.

        :param month: Default: the current month.
        """
        call = Call(
            "GET",
            "/v1/finance/taxes",
            repeat="read",
            query={"month": month},
            timeout=timeout,
        )
        return cast(TaxReport, self._transport.data(call))

    def get_tax_report_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        month: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get monthly tax report, as a file. Pages do not apply.

        `GET /v1/finance/taxes`, operation `get_tax_report`.

        :param month: Default: the current month.
        """
        call = Call(
            "GET",
            "/v1/finance/taxes",
            repeat="read",
            query={"month": month, "format": format},
            timeout=timeout,
        )
        return self._transport.file(call)

    def list_provider_settlements(
        self,
        *,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        provider: PayingProvider | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Page[ProviderSettlement]:
        """List provider settlements.

        Lists the payouts of payment providers that were recorded, newest first.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/provider-settlements`, operation `list_provider_settlements`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param provider: `simulator`, `midtrans`, `xendit` or `cash`.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/finance/provider-settlements",
            repeat="read",
            query={
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "provider": provider,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Page[ProviderSettlement], self._transport.page(call, page_in="query"))

    def list_provider_settlements_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        provider: PayingProvider | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """List provider settlements, as a file. Pages do not apply.

        `GET /v1/finance/provider-settlements`, operation `list_provider_settlements`.

        :param provider: `simulator`, `midtrans`, `xendit` or `cash`.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/finance/provider-settlements",
            repeat="read",
            query={
                "end_date": end_date,
                "provider": provider,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def create_provider_settlement(
        self,
        body: ProviderSettlementForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> ProviderSettlementDetail:
        """Record provider settlement.

        Records a payout of a payment provider to the bank account, with the lines of the
        provider's report. Posts `net` to `bank`, `fee` to `gateway_fees` and `fee_tax` to
        `vat_input`, against `gateway_clearing`; lines whose reference is no payment of that
        provider go against `suspense` and are returned as `unknown_references`. A reference is
        ours or the provider's id of the payment, or of a refund of it. Refunds are lines with
        negative amounts. In each line, gross less fee and its tax is net (else 422). The same
        payout twice is 409 `already_exists`. Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/provider-settlements`, operation `create_provider_settlement`.
        """
        call = Call(
            "POST",
            "/v1/finance/provider-settlements",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(ProviderSettlementDetail, self._transport.data(call))

    def get_reconciliation(
        self,
        *,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Reconciliation:
        """Get reconciliation with providers.

        Compares the payments that were received on each day by each method with what the
        providers have settled of them, for at most 92 days: `missing` was received and not
        settled, `extra` was settled and not received. A payment counts on the day and by the
        method of its first receipt, with all that was received and settled of it. The method
        `unknown` has what a provider paid for no payment of ours, by the day of the payout.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/reconciliation`, operation `get_reconciliation`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            "/v1/finance/reconciliation",
            repeat="read",
            query={"end_date": end_date, "start_date": start_date},
            timeout=timeout,
        )
        return cast(Reconciliation, self._transport.data(call))

    def get_reconciliation_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get reconciliation with providers, as a file. Pages do not apply.

        `GET /v1/finance/reconciliation`, operation `get_reconciliation`.

        :param end_date: Last day. Default: today.
        :param start_date: First day. Default: the first day of the month of `end_date`.
        """
        call = Call(
            "GET",
            "/v1/finance/reconciliation",
            repeat="read",
            query={"end_date": end_date, "start_date": start_date, "format": format},
            timeout=timeout,
        )
        return self._transport.file(call)

    def create_tax_payment(
        self,
        body: TaxPaymentForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> TaxPayment:
        """Record tax payment.

        Records a tax that was paid to the state, with the NTPN as `reference`: debits
        `tax_payable` and credits `bank`. More than was owed on that day and since is 422; the
        same reference for the same tax twice is 409 `already_exists`. Accepts an
        `Idempotency-Key`.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/tax-payments`, operation `create_tax_payment`.
        """
        call = Call(
            "POST",
            "/v1/finance/tax-payments",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(TaxPayment, self._transport.data(call))

    def create_cash_deposit(
        self,
        body: CashDepositForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> CashDeposit:
        """Record cash deposit.

        Records cash that was brought to the bank. More than there was on that day and since is
        409 `not_enough_cash`. Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/cash-deposits`, operation `create_cash_deposit`.
        """
        call = Call(
            "POST",
            "/v1/finance/cash-deposits",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(CashDeposit, self._transport.data(call))

    def list_journals(
        self,
        *,
        end_date: str | None = None,
        id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: JournalStatus | None = None,
        timeout: float | None = None,
    ) -> Page[Journal]:
        """List journal entries.

        Lists journal entries with their lines, newest first.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/journals`, operation `list_journals`.

        :param id: Only the journal entry with this id.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/finance/journals",
            repeat="read",
            query={
                "end_date": end_date,
                "id": id,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[Journal], self._transport.page(call, page_in="query"))

    def list_journals_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        end_date: str | None = None,
        id: str | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        status: JournalStatus | None = None,
        timeout: float | None = None,
    ) -> File:
        """List journal entries, as a file. Pages do not apply.

        `GET /v1/finance/journals`, operation `list_journals`.

        :param id: Only the journal entry with this id.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/finance/journals",
            repeat="read",
            query={
                "end_date": end_date,
                "id": id,
                "search": search,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "status": status,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def create_journal(
        self,
        body: JournalForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> Journal:
        """Create journal entry.

        Drafts a journal entry: a correction, an opening balance, or income tax that a partner
        has withheld (`prepaid_pph23` against `partner_payable`). Debits and credits are equal,
        and each account occurs once. A line of `tax_payable` names the tax, a line of
        `partner_payable` requires `mitra_id`. The draft changes nothing until somebody approves
        it. Accepts an `Idempotency-Key`.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/journals`, operation `create_journal`.
        """
        call = Call(
            "POST",
            "/v1/finance/journals",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(Journal, self._transport.data(call))

    def approve_journal(self, id: str, *, timeout: float | None = None) -> Journal:
        """Approve journal entry.

        Posts a draft. A line of `partner_payable` also changes what the partner's next
        settlement pays. Unless the service is configured otherwise, the author cannot approve it
        (409 `same_person`). Refused with 409 `invalid_state` if it is no draft any more, and
        with 409 `not_enough_cash` if it takes more cash than there is.

        **Access:** Admins; staff with `finance.write`. Needs a sign-in, or `POST
        /user/me/reauthenticate`, within the last hour: otherwise 403
        `reauthentication_required`.

        `POST /v1/finance/journals/{id}/approve`, operation `approve_journal`.
        """
        call = Call(
            "POST",
            f"/v1/finance/journals/{segment(id)}/approve",
            repeat="change",
            timeout=timeout,
        )
        return cast(Journal, self._transport.data(call))

    def reject_journal(self, id: str, *, timeout: float | None = None) -> Journal:
        """Reject journal entry.

        Rejects a draft, which is kept and never posted. The author may withdraw it so.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/journals/{id}/reject`, operation `reject_journal`.
        """
        call = Call(
            "POST",
            f"/v1/finance/journals/{segment(id)}/reject",
            repeat="change",
            timeout=timeout,
        )
        return cast(Journal, self._transport.data(call))

    def list_periods(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[FinancePeriod]:
        """List accounting periods.

        Lists the months of the books from the first posting to the current month, newest first.

        **Access:** Admins; staff with `finance.read`.

        `GET /v1/finance/periods`, operation `list_periods`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            "/v1/finance/periods",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir},
            timeout=timeout,
        )
        return cast(Page[FinancePeriod], self._transport.page(call, page_in="query"))

    def list_periods_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> File:
        """List accounting periods, as a file. Pages do not apply.

        `GET /v1/finance/periods`, operation `list_periods`.
        """
        call = Call(
            "GET",
            "/v1/finance/periods",
            repeat="read",
            query={"sort_dir": sort_dir, "format": format},
            timeout=timeout,
        )
        return self._transport.file(call)

    def close_period(self, month: str, *, timeout: float | None = None) -> FinancePeriod:
        """Close month.

        Closes a month (`2026-11`): nothing is posted into it or before it any more; later events
        are posted in the open month. Refused with 409 `too_early` until an hour after its end,
        with `earlier_open` while an earlier month with postings is open, and with
        `already_closed` if it is closed.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/periods/{month}/close`, operation `close_period`.
        """
        call = Call(
            "POST",
            f"/v1/finance/periods/{segment(month)}/close",
            repeat="change",
            timeout=timeout,
        )
        return cast(FinancePeriod, self._transport.data(call))

    def reopen_period(
        self,
        month: str,
        body: ReopenForm | None = None,
        *,
        timeout: float | None = None,
    ) -> FinancePeriod:
        """Reopen month.

        Reopens the month that was closed last, with a reason. Refused with 409 `later_closed`
        while a later month is closed, and with `invalid_state` if it is not closed.

        **Access:** Admins; staff with `finance.write`.

        `POST /v1/finance/periods/{month}/reopen`, operation `reopen_period`.
        """
        call = Call(
            "POST",
            f"/v1/finance/periods/{segment(month)}/reopen",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(FinancePeriod, self._transport.data(call))


class ReportsApi(Group):
    """Finance reports, dashboard and figures of partners. Amounts are in rupiah; days are those of
    the service's time zone. Figures follow sales within seconds; `as_of` says when they were
    read.
    """

    def finance_overview(
        self,
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Overview:
        """Get finance overview.

        Returns revenue, refunds, taxes, commission and bookings of a period beside the period it
        is compared with, as JSON, CSV or XLSX by `Accept` or `format`.

        `gross_revenue` is all money received for bookings on the day on which it was applied,
        including paid differences of reschedules and what was paid too much, twice or too late
        and is owed back. `refunds` is all money paid back on its day, less transfers that
        bounced. A reschedule is not counted as a sale: `discount`, `tax`, `commission` and
        `partner_payable` change by the difference of the prices on its day. `net_revenue` is
        `gross_revenue - refunds - (tax - refund_tax)`. `commission_earned`, `tax_due`,
        `promotion_cost`, `reseller_margin`, `gateway_fees` and `platform_income` are read from
        the ledger by the day of posting; `platform_income` is `commission_earned` less
        promotions, margins of resellers, fees of providers and banks, and losses.

        **Access:** Admins; staff with `reports.read`.

        `GET /v1/finance/reports/overview`, operation `finance_overview`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/overview",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Overview, self._transport.data(call))

    def finance_overview_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get finance overview, as a file. Pages do not apply.

        `GET /v1/finance/reports/overview`, operation `finance_overview`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/overview",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def revenue_by_payment_method(
        self,
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Breakdown:
        """Get revenue by payment method.

        Returns the revenue of a period by payment method, as JSON, CSV or XLSX. The difference
        of a reschedule counts under the method of its own payment. What resellers sell counts
        under `account`, on the day it is confirmed.

        **Access:** Admins; staff with `reports.read`.

        `GET /v1/finance/reports/revenue-breakdown/payment`, operation
        `revenue_by_payment_method`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/payment",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Breakdown, self._transport.data(call))

    def revenue_by_payment_method_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get revenue by payment method, as a file. Pages do not apply.

        `GET /v1/finance/reports/revenue-breakdown/payment`, operation
        `revenue_by_payment_method`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/payment",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def revenue_by_type(
        self,
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> Breakdown:
        """Get revenue by booking type.

        Returns the revenue of a period by booking type, as JSON, CSV or XLSX.

        **Access:** Admins; staff with `reports.read`.

        `GET /v1/finance/reports/revenue-breakdown/type`, operation `revenue_by_type`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/type",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(Breakdown, self._transport.data(call))

    def revenue_by_type_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get revenue by booking type, as a file. Pages do not apply.

        `GET /v1/finance/reports/revenue-breakdown/type`, operation `revenue_by_type`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/type",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def revenue_by_partner(
        self,
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> PageWith[Slice, RevenueByPartnerBody]:
        """Get revenue by partner.

        Returns the revenue of a period by partner. JSON is paged; CSV and XLSX contain all
        partners.

        **Access:** Admins; staff with `reports.read`.

        `GET /v1/finance/reports/revenue-breakdown/partner`, operation `revenue_by_partner`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/partner",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "period_type": period_type,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(
            PageWith[Slice, RevenueByPartnerBody],
            self._transport.page(call, page_in="query", items="items"),
        )

    def revenue_by_partner_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get revenue by partner, as a file. Pages do not apply.

        `GET /v1/finance/reports/revenue-breakdown/partner`, operation `revenue_by_partner`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/partner",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def revenue_by_reseller(
        self,
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> PageWith[ResellerSlice, RevenueByResellerBody]:
        """Get revenue by reseller.

        Returns the revenue of a period by reseller: bookings, passengers, what it owes for them
        (on the day confirmed), the margin left to it, and refunds credited to its account. JSON
        is paged; CSV and XLSX contain all resellers.

        **Access:** Admins; staff with `reports.read`.

        `GET /v1/finance/reports/revenue-breakdown/reseller`, operation `revenue_by_reseller`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/reseller",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "page": page,
                "page_size": page_size,
                "period_type": period_type,
                "sort_dir": sort_dir,
                "start_date": start_date,
            },
            timeout=timeout,
        )
        return cast(
            PageWith[ResellerSlice, RevenueByResellerBody],
            self._transport.page(call, page_in="query", items="items"),
        )

    def revenue_by_reseller_file(
        self,
        format: Literal["csv", "xlsx"],
        *,
        comparison_mode: ComparisonMode,
        period_type: PeriodType,
        end_date: str | None = None,
        sort_dir: Direction | None = None,
        start_date: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Get revenue by reseller, as a file. Pages do not apply.

        `GET /v1/finance/reports/revenue-breakdown/reseller`, operation `revenue_by_reseller`.

        :param end_date: Last day of a `Custom` period of at most five years.
        :param start_date: A day of the period. Default: today. Required for `Custom`.
        """
        call = Call(
            "GET",
            "/v1/finance/reports/revenue-breakdown/reseller",
            repeat="read",
            query={
                "comparison_mode": comparison_mode,
                "end_date": end_date,
                "period_type": period_type,
                "sort_dir": sort_dir,
                "start_date": start_date,
                "format": format,
            },
            timeout=timeout,
        )
        return self._transport.file(call)

    def get_dashboard(self, *, timeout: float | None = None) -> Dashboard:
        """Get dashboard.

        Returns today, this month, upcoming departures and work that is pending: of the platform
        for admins and staff, of its own business for a partner. A partner sees bookings of
        resellers at the retail price; for staff they count with what the reseller owes. Amounts
        are null for staff without `reports.read`. `pending.partner_reviews` counts partners with
        documents to review, `pending.bank_approvals` changed bank accounts. Refused for
        resellers (403).

        **Access:** Admins, staff, partners and resellers.

        `GET /v1/dashboard`, operation `get_dashboard`.
        """
        call = Call("GET", "/v1/dashboard", repeat="read", timeout=timeout)
        return cast(Dashboard, self._transport.data(call))

    def mitra_statistic(
        self,
        *,
        mitra_id: str | None = None,
        timeout: float | None = None,
    ) -> MitraStatistic:
        """Get partner figures.

        Returns figures of one partner: bookings by status, passengers, revenue, occupancy and
        what is not settled yet. A partner sees bookings of resellers at the retail price. Admins
        and staff name the partner by `mitra_id`.

        **Access:** Partners for their own; admins; staff with `partners.read`.

        `GET /v1/dashboard/mitra-statistic`, operation `mitra_statistic`.

        :param mitra_id: UUID of the partner. Default: all partners. Ignored for partners, who
            see themselves.
        """
        call = Call(
            "GET",
            "/v1/dashboard/mitra-statistic",
            repeat="read",
            query={"mitra_id": mitra_id},
            timeout=timeout,
        )
        return cast(MitraStatistic, self._transport.data(call))


class ContentApi(Group):
    """Texts of the public website: the partnership call to action, and versioned terms and
    conditions.
    """

    def get_cta_partnership(self, *, timeout: float | None = None) -> CtaPartnership:
        """Get partnership call to action.

        Returns the call to action that invites operators to become partners. Public; 404 until
        it is saved once.

        **Access:** Public.

        `GET /v1/contents/cta-partnership`, operation `get_cta_partnership`.
        """
        call = Call("GET", "/v1/contents/cta-partnership", repeat="read", timeout=timeout)
        return cast(CtaPartnership, self._transport.data(call))

    def save_cta_partnership(
        self,
        body: CtaForm,
        *,
        timeout: float | None = None,
    ) -> CtaPartnership:
        """Update partnership call to action.

        Replaces the call to action.

        **Access:** Admins; staff with `contents.write`.

        `POST /v1/contents/cta-partnership`, operation `save_cta_partnership`.
        """
        call = Call(
            "POST",
            "/v1/contents/cta-partnership",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(CtaPartnership, self._transport.data(call))

    def get_terms(self, *, type: str, timeout: float | None = None) -> Terms:
        """Get published terms.

        Returns the published terms of a type, such as `customer` or `mitra`. Public; 404 if none
        are published.

        **Access:** Public.

        `GET /v1/configurations/term-conditions`, operation `get_terms`.
        """
        call = Call(
            "GET",
            "/v1/configurations/term-conditions",
            repeat="read",
            query={"type": type},
            timeout=timeout,
        )
        return cast(Terms, self._transport.data(call))

    def list_terms_history(
        self,
        *,
        type: str,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[TermsVersion]:
        """List terms versions.

        Lists all versions of the terms with authors and publishers, newest first.

        **Access:** Admins; staff with `terms.write`.

        `GET /v1/configurations/term-conditions/history`, operation `list_terms_history`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            "/v1/configurations/term-conditions/history",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir, "type": type},
            timeout=timeout,
        )
        return cast(Page[TermsVersion], self._transport.page(call, page_in="query"))

    def create_terms(self, body: NewTerms, *, timeout: float | None = None) -> TermsVersion:
        """Create terms draft.

        Creates a draft of terms. The HTML is sanitised. Refused with 409 `already_exists` while
        there is another draft of the type. `user_creator_id` must be the caller's own id.

        **Access:** Admins; staff with `terms.write`.

        `POST /v1/configurations/term-condition/create`, operation `create_terms`.
        """
        call = Call(
            "POST",
            "/v1/configurations/term-condition/create",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(TermsVersion, self._transport.data(call))

    def update_terms(self, body: ChangedTerms, *, timeout: float | None = None) -> TermsVersion:
        """Update terms draft.

        Changes a draft. For published terms it creates a draft of the next version. Archived
        terms are refused with 409.

        **Access:** Admins; staff with `terms.write`.

        `PUT /v1/configurations/term-condition/update`, operation `update_terms`.
        """
        call = Call(
            "PUT",
            "/v1/configurations/term-condition/update",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(TermsVersion, self._transport.data(call))

    def publish_terms(self, body: PublishTerms, *, timeout: float | None = None) -> TermsVersion:
        """Publish terms.

        Publishes a draft in place of the current version, which is kept in the history. Unless
        the service is configured otherwise, the author of a draft cannot publish it (409
        `same_person`). `user_validator_id` must be the caller's own id.

        **Access:** Admins; staff with `terms.publish`.

        `POST /v1/configurations/term-condition/publish`, operation `publish_terms`.
        """
        call = Call(
            "POST",
            "/v1/configurations/term-condition/publish",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(TermsVersion, self._transport.data(call))


class NotificationsApi(Group):
    """In-app notifications of the signed-in account, as a list and as a live stream."""

    def list(
        self,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        unread: bool | None = None,
        timeout: float | None = None,
    ) -> PageWith[Notification, ListNotificationsBody]:
        """List own notifications.

        Lists the caller's notifications with the number of unread ones, in the language of the
        request.

        **Access:** Admins, staff, partners and resellers.

        `GET /v1/notifications`, operation `list_notifications`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param unread: Only unread notifications.
        """
        call = Call(
            "GET",
            "/v1/notifications",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir, "unread": unread},
            timeout=timeout,
        )
        return cast(
            PageWith[Notification, ListNotificationsBody],
            self._transport.page(call, page_in="query"),
        )

    def stream(self, *, timeout: float | None = None) -> Iterator[Notification]:
        """Stream own notifications.

        Streams new notifications as server-sent events until the session ends. A new stream may
        begin with those of the last 15 seconds. Reconnect with `Last-Event-ID` to receive what
        was missed.

        **Access:** Admins, staff, partners and resellers.

        `GET /v1/notifications/stream`, operation `stream_notifications`.
        """
        call = Call("GET", "/v1/notifications/stream", repeat="read", timeout=timeout)
        return cast(Iterator[Notification], self._transport.events(call))

    def read_all(self, *, timeout: float | None = None) -> None:
        """Mark all notifications as read.

        Marks all of the caller's notifications as read.

        **Access:** Admins, staff, partners and resellers.

        `PUT /v1/notifications/read-all`, operation `read_all_notifications`.
        """
        call = Call("PUT", "/v1/notifications/read-all", repeat="change", timeout=timeout)
        self._transport.data(call)

    def get(self, id: str, *, timeout: float | None = None) -> Notification:
        """Get notification.

        Returns one of the caller's notifications.

        **Access:** Admins, staff, partners and resellers.

        `GET /v1/notifications/{id}`, operation `get_notification`.
        """
        call = Call("GET", f"/v1/notifications/{segment(id)}", repeat="read", timeout=timeout)
        return cast(Notification, self._transport.data(call))

    def read(self, id: str, *, timeout: float | None = None) -> Notification:
        """Mark notification as read.

        Marks one of the caller's notifications as read. Repeating it changes nothing.

        **Access:** Admins, staff, partners and resellers.

        `PUT /v1/notifications/{id}/read`, operation `read_notification`.
        """
        call = Call(
            "PUT",
            f"/v1/notifications/{segment(id)}/read",
            repeat="change",
            timeout=timeout,
        )
        return cast(Notification, self._transport.data(call))

    def list_of(
        self,
        id: str,
        *,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        unread: bool | None = None,
        timeout: float | None = None,
    ) -> PageWith[Notification, ListNotificationsOfBody]:
        """List notifications of an account.

        Lists the notifications of one account: the caller's own, or any for admins. Other
        callers get 404.

        **Access:** Admins, staff, partners and resellers.

        `GET /v1/notification/user/{id}`, operation `list_notifications_of`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param unread: Only unread notifications.
        """
        call = Call(
            "GET",
            f"/v1/notification/user/{segment(id)}",
            repeat="read",
            query={"page": page, "page_size": page_size, "sort_dir": sort_dir, "unread": unread},
            timeout=timeout,
        )
        return cast(
            PageWith[Notification, ListNotificationsOfBody],
            self._transport.page(call, page_in="query"),
        )


class WebhooksApi(Group):
    """Subscriptions of other systems to events. Deliveries follow the Standard Webhooks
    specification and are retried for about a day.
    """

    def list(
        self,
        *,
        active: bool | None = None,
        page: int | None = None,
        page_size: int | None = None,
        search: str | None = None,
        sort_dir: Direction | None = None,
        timeout: float | None = None,
    ) -> Page[Webhook]:
        """List webhooks.

        Lists webhooks. Secrets are not included.

        **Access:** Admins.

        `GET /v1/webhooks`, operation `list_webhooks`.

        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        :param search: Case-insensitive substring.
        """
        call = Call(
            "GET",
            "/v1/webhooks",
            repeat="read",
            query={
                "active": active,
                "page": page,
                "page_size": page_size,
                "search": search,
                "sort_dir": sort_dir,
            },
            timeout=timeout,
        )
        return cast(Page[Webhook], self._transport.page(call, page_in="query"))

    def create(
        self,
        body: WebhookForm,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> NewWebhook:
        """Create webhook.

        Subscribes an address to events. The response contains the signing secret, which is not
        shown again. The address must be public unless the service is configured otherwise (422).
        Accepts an `Idempotency-Key`.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `POST /v1/webhooks`, operation `create_webhook`.
        """
        call = Call(
            "POST",
            "/v1/webhooks",
            repeat="keyed",
            json=body,
            idempotency_key=idempotency_key,
            timeout=timeout,
        )
        return cast(NewWebhook, self._transport.data(call))

    def update(self, id: str, body: WebhookForm, *, timeout: float | None = None) -> Webhook:
        """Update webhook.

        Replaces address, events and whether it is active, and clears the record of failures.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `PUT /v1/webhooks/{id}`, operation `update_webhook`.
        """
        call = Call(
            "PUT",
            f"/v1/webhooks/{segment(id)}",
            repeat="change",
            json=body,
            timeout=timeout,
        )
        return cast(Webhook, self._transport.data(call))

    def delete(self, id: str, *, timeout: float | None = None) -> None:
        """Delete webhook.

        Deletes a webhook. Deliveries that are still waiting are dropped.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `DELETE /v1/webhooks/{id}`, operation `delete_webhook`.
        """
        call = Call("DELETE", f"/v1/webhooks/{segment(id)}", repeat="change", timeout=timeout)
        self._transport.data(call)

    def list_deliveries(
        self,
        id: str,
        *,
        delivery_id: str | None = None,
        page: int | None = None,
        page_size: int | None = None,
        sort_dir: Direction | None = None,
        status: DeliveryStatus | None = None,
        timeout: float | None = None,
    ) -> Page[WebhookDelivery]:
        """List webhook deliveries.

        Lists the deliveries of a webhook with status, attempts and the last error.

        **Access:** Admins.

        `GET /v1/webhooks/{id}/deliveries`, operation `list_deliveries`.

        :param delivery_id: Only this delivery.
        :param page: Page number, starting at 1.
        :param page_size: Items per page. Default: 20.
        """
        call = Call(
            "GET",
            f"/v1/webhooks/{segment(id)}/deliveries",
            repeat="read",
            query={
                "delivery_id": delivery_id,
                "page": page,
                "page_size": page_size,
                "sort_dir": sort_dir,
                "status": status,
            },
            timeout=timeout,
        )
        return cast(Page[WebhookDelivery], self._transport.page(call, page_in="query"))

    def resend_delivery(
        self,
        id: str,
        delivery_id: str,
        *,
        timeout: float | None = None,
    ) -> WebhookDelivery:
        """Resend webhook delivery.

        Queues a delivery again, whatever its status. Its id and body stay the same, so that
        receivers can detect duplicates. Refused with 409 while the webhook is switched off.

        **Access:** Admins. Needs a sign-in, or `POST /user/me/reauthenticate`, within the last
        hour: otherwise 403 `reauthentication_required`.

        `POST /v1/webhooks/{id}/deliveries/{delivery_id}/resend`, operation `resend_delivery`.
        """
        call = Call(
            "POST",
            f"/v1/webhooks/{segment(id)}/deliveries/{segment(delivery_id)}/resend",
            repeat="change",
            timeout=timeout,
        )
        return cast(WebhookDelivery, self._transport.data(call))


class FilesApi(Group):
    """Uploads and downloads: avatars, photos, documents and proofs of payment. Files that nothing
    refers to are deleted after seven days.
    """

    def upload(self, body: UploadFileForm, *, timeout: float | None = None) -> FileRecord:
        """Upload file.

        Uploads a file in one `multipart/form-data` request with `file` and `purpose`. Images
        (JPEG, PNG, WebP) are checked, and metadata and appended data are removed; an image
        without any is stored unchanged. PDF is accepted for documents and proofs. Crew can
        upload an avatar only. Refused with 409 `quota_exceeded` when the account's quota is used
        up: 500 files and 200 MiB, or 20 MiB until the e-mail address is verified.

        **Access:** Every signed-in account.

        `POST /v1/files/upload`, operation `upload_file`.
        """
        call = Call("POST", "/v1/files/upload", repeat="change", form=body, timeout=timeout)
        return cast(FileRecord, self._transport.data(call))

    def presign_url(
        self,
        *,
        content_type: Kind,
        filename: str,
        purpose: Purpose,
        size: int,
        timeout: float | None = None,
    ) -> Presigned:
        """Create upload URL.

        Announces a file and returns a signed address, valid for 10 minutes, to which the client
        uploads the content with PUT. The content type is part of the signature, and the size
        with local storage. With S3 the size is checked after the upload: content of another size
        is deleted. HEAD requests and prefetches are refused.

        **Access:** Every signed-in account.

        `GET /v1/files/presign-url`, operation `presign_url`.

        :param size: Bytes.
        """
        call = Call(
            "GET",
            "/v1/files/presign-url",
            repeat="change",
            query={
                "content_type": content_type,
                "filename": filename,
                "purpose": purpose,
                "size": size,
            },
            timeout=timeout,
        )
        return cast(Presigned, self._transport.data(call))

    def download(
        self,
        id: str,
        *,
        expires: str | None = None,
        signature: str | None = None,
        timeout: float | None = None,
    ) -> File:
        """Download file.

        Returns the content of a file. Public files are open to everyone; private ones need a
        signed address, or a bearer token of the uploader, an admin or (for documents) a
        reviewer. Others receive 404. Supports `If-None-Match`.

        **Access:** Public; a bearer token identifies the caller.

        `GET /v1/files/{id}`, operation `download_file`.

        :param expires: From the signed address.
        :param signature: From the signed address.
        """
        call = Call(
            "GET",
            f"/v1/files/{segment(id)}",
            repeat="read",
            query={"expires": expires, "signature": signature},
            timeout=timeout,
        )
        return self._transport.file(call)

    def receive(
        self,
        id: str,
        body: File,
        *,
        expires: str,
        signature: str,
        timeout: float | None = None,
    ) -> FileRecord:
        """Upload file content to signed URL.

        Receives the content of an announced file at its signed address when files are stored
        locally. The address works once; content type and size must be those that were signed
        (403).

        **Access:** Public.

        `PUT /v1/files/{id}/content`, operation `receive_file`.

        :param expires: From the signed address.
        :param signature: From the signed address.
        """
        call = Call(
            "PUT",
            f"/v1/files/{segment(id)}/content",
            repeat="change",
            query={"expires": expires, "signature": signature},
            content=body,
            timeout=timeout,
        )
        return cast(FileRecord, self._transport.data(call))


class PersonalDataApi(Group):
    """Export and erasure of what is stored about a person (UU 27/2022). A person is found by an
    e-mail address: accounts with it, deleted ones included, bookings with it as contact, and
    resellers that have it as `ops_email`. Passengers of other people's bookings have no address
    and cannot be found.
    """

    def export(self, body: ExportRequest, *, timeout: float | None = None) -> PersonalData:
        """Export personal data.

        Returns everything that is stored under an e-mail address: accounts with sessions,
        networks, notifications, files, staff record, partner or reseller data and the changes
        that the person made; bookings with contact and all passengers; stored mails. A reseller
        that has the address as `ops_email` is listed in `resellers` by id and name alone,
        because its account is somebody else's. Identity and bank account numbers are not masked.
        Each list has at most the newest 1,000 items; `truncated` names those that have more. An
        unknown address has empty lists. The export is recorded in the audit log with a keyed
        hash of the address.

        **Access:** Admins; staff with `privacy.manage`.

        `POST /v1/privacy/export`, operation `export_personal_data`.
        """
        call = Call("POST", "/v1/privacy/export", repeat="change", json=body, timeout=timeout)
        return cast(PersonalData, self._transport.data(call))

    def erase(self, body: ErasureRequest, *, timeout: float | None = None) -> Erasure:
        """Erase personal data.

        Replaces what is stored under an e-mail address by placeholders. Up to 200 accounts and
        bookings that are over are erased at once. The others are counted in `waiting` and erased
        by a job: bookings that have not sailed or for which money is owed, and partners and
        resellers with open business. Amounts, codes and counts are kept. Stored mails to the
        address are deleted; mails to a reseller's `ops_email` are deleted when the reseller is
        erased. If the address is a reseller's `ops_email`, it is removed at once, also for an
        active reseller; its mails then go to its account. `resellers` counts these; `erased` and
        `waiting` do not include them. An unknown address is not an error: all counts are 0.
        Refused with 409 `in_use` if the address belongs to an active admin or staff member, who
        must be deactivated first. Recorded in the audit log with the reason and a keyed hash of
        the address.

        **Access:** Admins; staff with `privacy.manage`.

        `POST /v1/privacy/erase`, operation `erase_personal_data`.
        """
        call = Call("POST", "/v1/privacy/erase", repeat="change", json=body, timeout=timeout)
        return cast(Erasure, self._transport.data(call))


class ServiceApi(Group):
    """Health of the service, for load balancers and monitoring."""

    def health(self, *, timeout: float | None = None) -> Health:
        """Get health.

        Returns version, uptime, database engine and storage. 503 if the database does not
        answer.

        **Access:** Public.

        `GET /health`, operation `health`.
        """
        call = Call("GET", "/health", repeat="read", timeout=timeout)
        return cast(Health, self._transport.data(call))

    def live(self, *, timeout: float | None = None) -> None:
        """Check liveness.

        Answers as long as the process runs. Use it as a liveness probe.

        **Access:** Public.

        `GET /health/live`, operation `live`.
        """
        call = Call("GET", "/health/live", repeat="read", timeout=timeout)
        self._transport.data(call)

    def ready(self, *, timeout: float | None = None) -> None:
        """Check readiness.

        Answers 200 if the database answers and all background jobs of this process succeed,
        otherwise 503. Use it as a readiness probe.

        **Access:** Public.

        `GET /health/ready`, operation `ready`.
        """
        call = Call("GET", "/health/ready", repeat="read", timeout=timeout)
        self._transport.data(call)


class Operations:
    """The operations of the API, one member per group."""

    def __init__(self, transport: Transport) -> None:
        self.accounts = AccountsApi(transport)
        """Sign-in, passwords, sessions and user accounts. Accounts belong to admins, staff,
        partners and their crew; passengers book without an account.
        """
        self.staff = StaffApi(transport)
        """Staff members, the permissions that they hold, and the audit log of what anybody changed.
        """
        self.partners = PartnersApi(transport)
        """Boat operators ("mitra"): onboarding with documents and bank account, review, suspension,
        impersonation, and their crew.
        """
        self.fleet = FleetApi(transport)
        """Speedboats of the partners."""
        self.routes = RoutesApi(transport)
        """Routes, the dated sailings that they publish, and the public search. A route is a draft
        until it is published; publishing creates its sailings.
        """
        self.harbours = HarboursApi(transport)
        """Where routes start and end. A route names its harbours in free text; the names are
        matched to harbours by name or alias, without regard to case, accents and repeated
        spaces. An unknown name makes an unverified harbour.
        """
        self.bookings = BookingsApi(transport)
        """Bookings of passengers, made by guests or by partners and staff on their behalf. A guest
        proves ownership by the booking's `code` and the contact `email`.
        """
        self.payments = PaymentsApi(transport)
        """Payment attempts, callbacks of payment providers, cash, refunds, and payments that need a
        decision.
        """
        self.boarding = BoardingApi(transport)
        """Sailings, passenger manifests and check-in at the pier, with or without network. Partners
        and their crew board the passengers of their own sailings.
        """
        self.tickets = TicketsApi(transport)
        """Signed tickets as PDF, and the public keys to verify them without network."""
        self.promotions = PromotionsApi(transport)
        """Discount codes with period, quota and target. The platform pays for a discount, or
        (`funded_by`: `partner`) the partner whose sailing is booked.
        """
        self.taxes = TaxesApi(transport)
        """Taxes on bookings and on the platform's commission. Bookings keep the rates with which
        they were sold.
        """
        self.settlements = SettlementsApi(transport)
        """Payouts to partners: completed bookings less commission, tax on the commission and cash
        that the partner collected, with corrections by journal entries.
        """
        self.resellers = ResellersApi(transport)
        """Agencies that sell seats through the OCTO API, on account: their records, API keys, the
        partners that they may sell, and what they owe.
        """
        self.finance = FinanceApi(transport)
        """The books: what the ledger says, and what a finance clerk posts into it. Amounts are in
        rupiah; debit balances are positive, credit balances negative. Days are those of the
        service's time zone. Every list and report is also available as CSV or XLSX by `Accept`
        or `format`; a file of a list has at most 20,000 lines.

        What is posted here has a day: not in the future, and in a month that is open (else 409
        `period_closed`).
        """
        self.reports = ReportsApi(transport)
        """Finance reports, dashboard and figures of partners. Amounts are in rupiah; days are those
        of the service's time zone. Figures follow sales within seconds; `as_of` says when they
        were read.
        """
        self.content = ContentApi(transport)
        """Texts of the public website: the partnership call to action, and versioned terms and
        conditions.
        """
        self.notifications = NotificationsApi(transport)
        """In-app notifications of the signed-in account, as a list and as a live stream."""
        self.webhooks = WebhooksApi(transport)
        """Subscriptions of other systems to events. Deliveries follow the Standard Webhooks
        specification and are retried for about a day.
        """
        self.files = FilesApi(transport)
        """Uploads and downloads: avatars, photos, documents and proofs of payment. Files that
        nothing refers to are deleted after seven days.
        """
        self.personal_data = PersonalDataApi(transport)
        """Export and erasure of what is stored about a person (UU 27/2022). A person is found by an
        e-mail address: accounts with it, deleted ones included, bookings with it as contact, and
        resellers that have it as `ops_email`. Passengers of other people's bookings have no
        address and cannot be found.
        """
        self.service = ServiceApi(transport)
        """Health of the service, for load balancers and monitoring."""
